"""Small files that stand for very much: read, or refused in one sentence, within bounds of memory and time."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from replication.replicate import Record
from replication.sources import SOURCES
from studies.torture.commands import faults_of

LEAST, MOST = 1e3, 1e8  # rows, characters, brackets or columns that a file stands for
BYTES, SECONDS = 2e9, 60  # that a command may take
HEAD, ROW = "question,model_a,model_b,judge,winner\n", "1,x,y,j,model_a\n"
PART = 2**16  # rows that are compressed at once
GZIP_TWICE = 0.5  # share of the gzip files that are compressed again


def outgrown(settings: dict, rng: np.random.Generator) -> Record:
    """One file of the ``form`` for `doctor` or `rank`: how it ended, and whether it took too much."""
    n = int(LEAST * (MOST / LEAST) ** rng.random())
    command = str(rng.choice(["doctor", "rank"]))
    with tempfile.TemporaryDirectory() as folder:
        source = FORMS[settings["form"]](Path(folder), n, rng)
        before = {*Path(folder).rglob("*")}
        code, stdout, stderr, memory, seconds = _measured(
            [command, source, "--column", "count=null", "--json"], folder
        )
        faults = list(faults_of(command, code, stdout, stderr, {*Path(folder).rglob("*")} - before))
    faults += [f"{memory / 1e9:.1f} GB"] if memory > BYTES else []
    faults += [f"{seconds:.0f} s"] if seconds > SECONDS else []
    told = json.dumps(
        {"n": n, "command": command, "faults": faults, "stdout": stdout[:300], "stderr": stderr[-300:]}
    )
    return {"status": f"exit {code}", "bad": int(bool(faults)), "told": told}


def _measured(words: list[str], folder: str) -> tuple[int, str, str, int, float]:
    """Exit code, both outputs, the largest memory in bytes and the seconds of a command with its children."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "judgerank", *words],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(SOURCES)},
            stdout=out,
            stderr=err,
            stdin=subprocess.DEVNULL,
        )
        clock = threading.Timer(2 * SECONDS, process.kill)
        clock.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        clock.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        texts = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    return process.returncode, *texts, used.ru_maxrss * 1024, seconds


def _long_text(folder: Path, n: int, rng: np.random.Generator) -> str:
    """CSV with one long line, or with many columns, of at most a few megabytes."""
    n = min(n, 2 * 10**6)
    lines = {
        "field": HEAD + ROW + f'1,x,y,"{"j" * n}",model_a\n',
        "quote": HEAD + '1,x,y,"' + ROW * (n // len(ROW)),
        "columns": HEAD.strip() + "".join(f",c{i}" for i in range(n // 8)) + "\n" + ROW,
        "commas": HEAD + ROW.strip() + "," * n + "\n",
    }
    return _written(folder / "file.csv", str(rng.choice(list(lines.values()))).encode())


def _deep_json(folder: Path, n: int, rng: np.random.Generator) -> str:
    """JSON of brackets, objects within objects, a long number or a long key."""
    n = min(n, 2 * 10**6)
    texts = [
        "[" * n,
        "[" * n + "]" * n,
        '{"a":' * (n // 5) + "1" + "}" * (n // 5),
        '[{"model_a": ' + "9" * n + "}]",
        '[{"model_a": 1e' + "9" * n + "}]",
        '[{"' + "k" * n + '": 1}]',
        "[" + "{}," * (n // 3) + "{}]",
    ]
    name = str(rng.choice(["file.json", "file.jsonl"]))
    return _written(folder / name, texts[rng.integers(len(texts))].encode())


def _compressed(folder: Path, n: int, rng: np.random.Generator) -> str:
    """CSV of one row, many times: the parts of a compressed file may follow each other."""
    kinds = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    kind = str(rng.choice(list(kinds)))
    part = kinds[kind]((ROW * PART).encode())
    content = kinds[kind](HEAD.encode()) + part * max(n // PART, 1)
    if rng.random() < GZIP_TWICE:
        content = gzip.compress(content)
    return _written(folder / f"file.csv.{kind}", content)


def _zipped(folder: Path, n: int, rng: np.random.Generator) -> str:
    with zipfile.ZipFile(folder / "file.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.csv", "b.csv")[: int(rng.integers(1, 3))]:
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(HEAD.encode())
                for _ in range(max(min(n, 10**7) // PART, 1)):
                    member.write((ROW * PART).encode())
    return "file.zip"


def _workbook(folder: Path, n: int, rng: np.random.Generator) -> str:
    """A workbook that says it has cells in its last row, or has very many rows."""
    last, many = min(n, 2**20), min(n // 10, 2**20)
    cells = "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in ROW.strip().split(","))
    titles = "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in HEAD.strip().split(","))
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    related = "http://schemas.openxmlformats.org/package/2006/relationships"
    far = f'<row r="{last}"><c r="XFD{last}" t="inlineStr"><is><t>x</t></is></c></row>'
    rows = far if rng.random() < 1 / 2 else f"<row>{cells}</row>" * many
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{related}"><Relationship Id="r1" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {space} xmlns:r="{office}"><sheets><sheet name="s" sheetId="1" r:id="r1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{related}"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f"<worksheet {space}><sheetData><row>{titles}</row>{rows}</sheetData>"
        "</worksheet>",
    }
    with zipfile.ZipFile(folder / "file.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return "file.xlsx"


def _database(folder: Path, n: int, rng: np.random.Generator) -> str:
    """A view without end, a large product, or a value of many bytes."""
    columns = "1 question, 'x' model_a, 'y' model_b, 'j' judge, 'model_a' winner"
    count = f"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT {n}) "
    views = [
        f"CREATE VIEW votes AS {count} SELECT {columns} FROM c",
        f"CREATE VIEW votes AS {count.replace(f' LIMIT {n}', '')} SELECT {columns} FROM c",
        f"CREATE VIEW votes AS SELECT {columns}, zeroblob({n}) z",
        f"CREATE VIEW votes AS SELECT {columns}, printf('%.*c', {n}, 'x') z",
    ]
    with sqlite3.connect(folder / "file.db") as connection:
        connection.execute(views[rng.integers(len(views))])
    connection.close()
    return "file.db::votes" if rng.random() < 2 / 3 else "file.db"


def _columnar(folder: Path, n: int, rng: np.random.Generator) -> str:
    """Constants: Arrow's run ends say a length, and Parquet counts groups of equal rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = dict(zip(HEAD.strip().split(","), ROW.strip().split(","), strict=True))
    if rng.random() < 1 / 2:
        ends = pa.array([n], pa.int64())
        table = pa.table(
            {name: pa.RunEndEncodedArray.from_arrays(ends, [value]) for name, value in values.items()}
        )
        with pa.OSFile(str(folder / "file.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        return "file.arrow"
    group = min(n, 10**6)
    table = pa.table(
        {name: pa.array([value]).dictionary_encode().take([0] * group) for name, value in values.items()}
    )
    with pq.ParquetWriter(folder / "file.parquet", table.schema) as writer:
        for _ in range(n // group):
            writer.write_table(table)
    return "file.parquet"


def _written(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return path.name


FORMS: dict[str, Callable[[Path, int, np.random.Generator], str]] = {
    "text": _long_text,
    "json": _deep_json,
    "compressed": _compressed,
    "zip": _zipped,
    "workbook": _workbook,
    "database": _database,
    "columnar": _columnar,
}
