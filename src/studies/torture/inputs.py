"""Files of judgments with random damage: refused in one sentence, or read as any other reader reads them."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from judgerank.data.errors import JudgerankError
from judgerank.reading.read import ANSWERS, COLUMNS, read_judgments
from replication.replicate import Record

KEYS = ("question_id", "model_a", "model_b", "judge_model", "judge_preferred_model")
WORDS = [
    b'"',
    b",",
    b"\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\\",
    b"a",
    b"b",
    b"c",
    b"1",
    b"null",
    b"NaN",
    b"\xff",
    b"\x00",
]


def misread(settings: dict, rng: np.random.Generator) -> Record:
    """One damaged file of the ``form``: what became of it, and whether that is a fault."""
    content = _damaged(_written(settings["form"], rng), rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"judgments.{settings['form']}")
        path.write_bytes(content)
        try:
            frame = read_judgments(path, columns={"count": None}).frame
        except JudgerankError as error:
            return {"status": "refused", "bad": int(len(str(error).splitlines()) != 1)}
        except Exception as error:
            return {"status": type(error).__name__, "bad": 1}
    ours = [
        [None if pd.isna(value) else str(value) for value in row]
        for row in frame.reindex(columns=list(KEYS)).to_numpy()
    ]
    return {"status": "read", "bad": int(ours != _plainly_read(settings["form"], content))}


def _written(form: str, rng: np.random.Generator) -> bytes:
    rows = []
    for question in range(int(rng.integers(3, 9))):
        a, b = rng.choice(4, 2, replace=False)
        answer = ("a", "b", "c", "unknown")[rng.integers(4)]
        rows.append(
            dict(zip(KEYS, (f"q{question}", f"m{a}", f"m{b}", f"j{rng.integers(3)}", answer), strict=True))
        )
    if form == "json":
        return json.dumps(rows, indent=int(rng.integers(3)) or None).encode()
    if form == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    text = io.StringIO()
    writer = csv.DictWriter(text, KEYS, lineterminator="\n", quoting=int(rng.integers(2)))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """One or two random changes: bytes taken out, put in, replaced or doubled, or the end cut off."""
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(len(content) + 1))
        stop = at + int(rng.integers(1, 6))
        word = WORDS[rng.integers(len(WORDS))]
        changes = (b"", word + content[at:stop], word, content[at:stop] * 2)
        kind = int(rng.integers(len(changes) + 1))
        content = content[:at] if kind == len(changes) else content[:at] + changes[kind] + content[stop:]
    return content


def _plainly_read(form: str, content: bytes) -> list[list[str | None]]:
    """The same records by the standard readers, with names in small letters and without what nobody sees."""
    text = content.decode("utf-8-sig")
    if form == "csv":
        header, *rows = [row for row in csv.reader(io.StringIO(text)) if any(row)]
        header = [re.sub(r"[\s_.-]+", "_", name.strip().lower()).strip("_") for name in header]
        records = [{key: value or None for key, value in zip(header, row, strict=True)} for row in rows]
    else:
        records = (
            json.loads(text) if form == "json" else [json.loads(row) for row in text.split("\n") if row.strip()]
        )
    ours = dict(COLUMNS.values())
    rows = []
    for record in records:
        row = [next((record[name] for name in ours[key] if name in record), None) for key in KEYS]
        row[1:] = [value.strip() if isinstance(value, str) else value for value in row[1:]]
        row[-1] = ANSWERS.get(row[-1], {row[1]: "a", row[2]: "b"}.get(row[-1]))
        if row[3] is None and not any(set(ours[KEYS[3]]) & set(other) for other in records):
            row[3] = "one judge"
        rows.append(
            [
                None if value is None else "/".join(map(str, value)) if isinstance(value, list) else str(value)
                for value in row
            ]
        )
    return rows
