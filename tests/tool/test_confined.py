"""Small files that stand for any number of rows end in one sentence, within limits of memory and time."""

import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from judgerank import DataError, read
from judgerank.reading import confined
from judgerank.reading.contents import Content
from judgerank.reading.file_formats import opened
from replication.config import ROOT

COLUMNS = ("model_a", "model_b", "winner")
ROWS = 10**9
ENDLESS = (
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    "SELECT 'm' || (x % 3) AS model_a, 'm' || ((x + 1) % 3) AS model_b, 'model_a' AS winner FROM c"
)


def arrow(path: Path, table: pa.Table) -> None:
    with pa.OSFile(str(path), "wb") as file, ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def without_values(path: Path) -> None:
    arrow(path, pa.table({name: pa.nulls(ROWS) for name in COLUMNS}))


def run_ends(path: Path) -> None:
    column = pa.RunEndEncodedArray.from_arrays(pa.array([ROWS], pa.int64()), pa.array(["x"]))
    batch = pa.record_batch([column] * len(COLUMNS), names=COLUMNS)
    with pa.OSFile(str(path), "wb") as file, ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)


def constants(path: Path) -> None:
    rows = 10**7
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), pa.array(["x"]))
    table = pa.table(dict.fromkeys(COLUMNS, column))
    with parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(4):
            writer.write_table(table, row_group_size=rows)


def long_texts(path: Path) -> None:
    """Few rows, all of one text of ten megabytes, which the file holds once."""
    rows = 400
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 10**7]))
    parquet.write_table(pa.table(dict.fromkeys(COLUMNS, column)), path, compression="zstd", store_schema=False)


def far_cell(path: Path) -> None:
    content = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
    header = "".join(content.format(f"{letter}1", name) for letter, name in zip("ABC", COLUMNS, strict=True))
    last = content.format("XFD1048576", "x")
    pd.DataFrame(columns=COLUMNS).to_excel(path.with_name("empty.xlsx"), index=False)
    with zipfile.ZipFile(path.with_name("empty.xlsx")) as empty, zipfile.ZipFile(path, "w") as archive:
        for name in empty.namelist():
            archive.writestr(name, empty.read(name))
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
            f'<row r="1">{header}</row><row r="1048576">{last}</row></sheetData></worksheet>',
        )


def view(path: Path, statement: str = ENDLESS) -> None:
    with sqlite3.connect(str(path).split("::", maxsplit=1)[0]) as database:
        database.execute(f"CREATE VIEW judgments AS {statement}")


def large_value(path: Path) -> None:
    view(path, "SELECT 'x' AS model_a, 'y' AS model_b, 'model_a' AS winner, hex(zeroblob(800000000)) AS reply")


BOMBS = {
    "nulls.arrow": without_values,
    "runs.arrow": run_ends,
    "constants.parquet": constants,
    "texts.parquet": long_texts,
    "far.xlsx": far_cell,
    "view.db": view,
    "view.db::judgments": view,
    "value.db::judgments": large_value,
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_one_sentence(name, tmp_path):
    BOMBS[name](tmp_path / name)
    with pytest.raises(DataError) as error:
        read(tmp_path / name)
    assert str(error.value).startswith(f"{name}: ") and "\n" not in str(error.value)


def test_what_takes_too_long_ends_in_one_sentence(tmp_path, monkeypatch):
    view(tmp_path / "slow.db", f"{ENDLESS} WHERE x < 0")  # without a row, and so without memory
    monkeypatch.setattr(confined, "SECONDS", 0.5)
    with pytest.raises(DataError, match="takes more than"):
        read(tmp_path / "slow.db::judgments")


def test_a_view_is_read_where_it_is_named(tmp_path):
    view(tmp_path / "m.db", "SELECT 'x' AS model_a, 'y' AS model_b, 'model_b' AS winner")
    assert read(tmp_path / "m.db::judgments").comparisons.models == ("x", "y")
    with sqlite3.connect(tmp_path / "m.db") as database:
        database.execute("CREATE TABLE votes AS SELECT 'u' AS model_a, 'v' AS model_b, 'model_b' AS winner")
    assert read(tmp_path / "m.db").comparisons.models == ("u", "v")


def test_more_is_read_where_the_environment_allows_it(tmp_path, monkeypatch):
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, np.int8)), pa.array(["x"]))
    arrow(tmp_path / "m.arrow", pa.table(dict.fromkeys(COLUMNS, column)))
    monkeypatch.setenv("JUDGERANK_INFLATE_GB", ".001")
    with pytest.raises(DataError):
        opened(tmp_path / "m.arrow", None).read()
    monkeypatch.setenv("JUDGERANK_INFLATE_GB", "1")
    assert len(opened(tmp_path / "m.arrow", None).read()) == 200_000


def of_our_own(content: Content) -> pd.DataFrame:
    raise KeyError(len(content.data))


def test_a_fault_of_the_code_is_no_want_of_memory(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with pytest.raises(RuntimeError, match="KeyError: 3"):
        confined.confined(of_our_own)(Content(b"abc", Path("m.db")))


def test_nothing_is_run_from_the_folder_in_which_a_file_is_read(tmp_path, monkeypatch):
    (tmp_path / "pandas.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    view(tmp_path / "m.db", "SELECT 'x' AS model_a, 'y' AS model_b, 'model_b' AS winner")
    assert len(read("m.db::judgments").frame) == 1
