"""Files and tables as other programs write them: each is read as the same records out of a plain CSV."""

import bz2
import gzip
import io
import json
import lzma
import os
import re
import shutil
import sqlite3
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import feather

import judgerank as jr
from judgerank import fit, rank, read
from judgerank.data.errors import ConfigError, DataError, DataUnavailableError, JudgerankError
from judgerank.data.frames import NO_QUESTION
from judgerank.data.modules import needed
from judgerank.reading.contents import FORMS
from judgerank.reading.file_formats import READERS
from judgerank.reading.files import behind
from judgerank.reading.layouts.words import everyday
from tests.forked import judgerank as run
from tests.tool.test_reading import same

MODELS = ("x", "y", "zoë")
RECORDS = [
    {"question": f"q{q}", "model_a": MODELS[q % 3], "model_b": MODELS[(q + 1 + q // 3 % 2) % 3], "judge": judge}
    for q in range(12)
    for judge in ("j", "k")
]
SAID = ["model_a", "model_b", "tie", "model_a", None]
RECORDS = [record | {"winner": SAID[place * 7 % 5]} for place, record in enumerate(RECORDS)]
FRAME = pd.DataFrame(RECORDS)
TEXT = FRAME.to_csv(index=False)


@pytest.fixture
def plain(tmp_path):
    """The comparisons as they are read from CSV."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "m.csv").write_text(TEXT, encoding="utf-8")
    return read(tmp_path / "plain" / "m.csv").comparisons


def to_sqlite(path: Path, **tables: pd.DataFrame) -> Path:
    with sqlite3.connect(path) as db:
        for name, frame in tables.items():
            frame.to_sql(name, db, index=False)
    db.close()
    return path


def to_duckdb(path: Path, **tables: pd.DataFrame) -> Path:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as db:
        for name, frame in tables.items():
            db.register("given", frame)
            db.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
    return path


def to_excel(path: Path, **sheets: pd.DataFrame) -> Path:
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    with pd.ExcelWriter(path) as book:
        for name, frame in sheets.items():
            frame.to_excel(book, sheet_name=name, index=False)
    return path


def zipped(content: bytes) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m.csv", content)
    return found.getvalue()


def to_arrow_stream(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, pa.Table.from_pandas(FRAME).schema) as writer:
        writer.write_table(pa.Table.from_pandas(FRAME))


def excels(path: Path) -> None:
    to_excel(path, one=FRAME)


WRITTEN = {  # name of the file, and what writes it
    "sep.csv": lambda path: path.write_text(
        "sep=;\r\n" + FRAME.to_csv(index=False, sep=";"), encoding="utf-8-sig"
    ),
    "pipe.csv": lambda path: path.write_text(FRAME.to_csv(index=False, sep="|"), encoding="utf-8"),
    "excel.csv": lambda path: path.write_text(FRAME.to_csv(index=False, sep="\t"), encoding="utf-16"),
    "wide.tsv": lambda path: path.write_text(FRAME.to_csv(index=False, sep="\t"), encoding="utf-32"),
    "commas.csv": lambda path: path.write_text(TEXT.replace("\n", ",,\n") + ",,,,,,\n", encoding="utf-8"),
    "ragged.csv": lambda path: path.write_text(
        TEXT.replace("\n", ",\n").replace(",\n", "\n", 1), encoding="utf-8"
    ),
    "book.xlsx": excels,
    "m.csv.gz": lambda path: path.write_bytes(gzip.compress(TEXT.encode())),
    "m.csv.bz2": lambda path: path.write_bytes(bz2.compress(TEXT.encode())),
    "m.csv.xz": lambda path: path.write_bytes(lzma.compress(TEXT.encode())),
    "m.csv.zip": lambda path: path.write_bytes(zipped(TEXT.encode())),
    "m.zip": lambda path: path.write_bytes(zipped(TEXT.encode())),
    "m.feather": lambda path: feather.write_feather(FRAME, path),
    "plain.feather": lambda path: feather.write_feather(FRAME, path, compression="uncompressed"),
    "stream.arrow": to_arrow_stream,
    "data.json": lambda path: path.write_text(json.dumps({"name": "n", "data": RECORDS, "tags": ["t"]})),
    "columns.json": lambda path: FRAME.to_json(path),
    "index.json": lambda path: FRAME.to_json(path, orient="index"),
    "split.json": lambda path: FRAME.to_json(path, orient="split"),
    "table.json": lambda path: FRAME.to_json(path, orient="table"),
    "lists.json": lambda path: path.write_text(json.dumps({name: [r[name] for r in RECORDS] for name in FRAME})),
    "m.db": lambda path: to_sqlite(path, votes=FRAME),
    "m.sqlite": lambda path: to_sqlite(path, votes=FRAME),
    "m.sqlite3::votes": lambda path: to_sqlite(Path(str(path).split("::")[0]), votes=FRAME, other=FRAME[:1]),
    "m.duckdb": lambda path: to_duckdb(path, votes=FRAME),
    "duck.db::a b": lambda path: to_duckdb(Path(str(path).split("::")[0]), **{"a b": FRAME, "other": FRAME[:1]}),
    "two.json::votes": lambda path: Path(str(path).split("::")[0]).write_text(
        json.dumps({"votes": RECORDS, "failed": RECORDS[:1]})
    ),
    "lines.json": lambda path: path.write_text("\n".join(map(json.dumps, RECORDS))),
    "list.jsonl": lambda path: path.write_text(json.dumps(RECORDS)),
    "printed.ndjson": lambda path: path.write_text(json.dumps(RECORDS, indent=1)),
    "blank.xlsx": lambda path: to_excel(path, notes=FRAME[:0][[]], June=FRAME),
    "two.xlsx::June": lambda path: to_excel(Path(str(path).split("::")[0]), May=FRAME[:3], June=FRAME),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_files_of_other_programs_are_read_as_plain_ones(name, tmp_path, plain):
    WRITTEN[name](tmp_path / name)
    there = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    found = read(tmp_path / name)
    same(found.comparisons, plain)
    assert_array_equal(found.question, read(tmp_path / "plain" / "m.csv").question)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == there  # nothing is written beside it
    assert all(Path(path).is_file() for path in behind(found))


def test_cells_of_a_sheet_are_the_texts_of_csv(tmp_path):
    frame = FRAME.assign(question=range(24), length=[place + 0.5 for place in range(24)], model_a=7, model_b=8)
    found = read(to_excel(tmp_path / "m.xlsx", one=frame))
    assert found.comparisons.models == ("7", "8")
    assert set(found.frame["question_id"]) == {str(place) for place in range(24)}
    frame.to_csv(tmp_path / "m.csv", index=False)
    assert_array_equal(found.comparisons.covariate, read(tmp_path / "m.csv").comparisons.covariate)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("m.db", r"^m.db: there are 2 tables \(other, votes\): name one as m.db::other"),
        ("m.db::vote", r"^m.db::vote: there is no table 'vote' \(there is: other, votes\)"),
        ("two.json", r"^two.json: there are 2 lists of records \(a, b\): name one as FILE::a"),
        ("title.csv", "^title.csv: line 1 is a title, 'My votes', and no header: delete what is above the header"),
        ("commas.csv", "^commas.csv: line 1 is a title, 'My votes', and no header"),
        ("latin.csv", r"^latin.csv: this is not UTF-8 text \(byte \d+\); --encoding cp1252 reads what older"),
        ("book.xlsx::No", r"^book.xlsx::No: there is no sheet 'No' \(there is: one\)"),
        ("books.xlsx", r"^books.xlsx: there are 2 sheets \(May, June\): name one as books.xlsx::May"),
        ("no.xlsx", "^no.xlsx: this is not an Excel workbook that can be read"),
        ("no.sqlite", "^no.sqlite: this is neither a SQLite nor a DuckDB file"),
        ("cut.sqlite", "^cut.sqlite: this is not SQLite, or damaged"),
        ("empty.sqlite", "^empty.sqlite: there is no table in it"),
        ("no.arrow", "^no.arrow: this is not Arrow"),
        ("lists.jsonl", "^lists.jsonl: line 1 is not a JSON object"),
        ("cut.json", "^cut.json: line 2 is not JSON"),
        ("uneven.json", "^uneven.json: this is not a JSON list of records: 'b' has 1 values, and 'a' 2"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(name, sentence, tmp_path):
    to_sqlite(tmp_path / "m.db", votes=FRAME, other=FRAME)
    content = to_sqlite(tmp_path / "whole.sqlite", votes=pd.concat([FRAME] * 20)).read_bytes()
    (tmp_path / "cut.sqlite").write_bytes(content[:100] + b"\0" * 3000)
    sqlite3.connect(tmp_path / "empty.sqlite").executescript("CREATE TABLE a (b); DROP TABLE a").connection.close()
    (tmp_path / "two.json").write_text(json.dumps({"a": RECORDS, "b": RECORDS}))
    (tmp_path / "uneven.json").write_text('{"a": [1, 2], "b": [1]}')
    (tmp_path / "title.csv").write_text("My votes\n\n" + TEXT)
    (tmp_path / "commas.csv").write_text("My votes,,,,\n" + TEXT)
    (tmp_path / "latin.csv").write_text(TEXT, encoding="cp1252")
    for other in ("no.xlsx", "no.sqlite", "no.arrow"):
        (tmp_path / other).write_text(TEXT)
    (tmp_path / "lists.jsonl").write_text("[1, 2]\n[3, 4]\n")
    (tmp_path / "cut.json").write_text(json.dumps(RECORDS[0]) + '\n{"model_a": ')
    if name.startswith("book"):
        excels(tmp_path / "book.xlsx")
        to_excel(tmp_path / "books.xlsx", May=FRAME, June=FRAME)
    with pytest.raises(DataError, match=sentence) as refused:
        read(tmp_path / name)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("reader", [read, jr.aggregate])
def test_a_pipe_is_no_file_and_is_not_waited_for(reader, tmp_path):
    os.mkfifo(tmp_path / "m.csv")
    with pytest.raises(DataUnavailableError, match=r"m\.csv' .*\bpipe\b.*: name - to"):
        reader(tmp_path / "m.csv")


def test_an_encoding_is_told_and_never_guessed(tmp_path, plain):
    (tmp_path / "latin.csv").write_text(TEXT, encoding="cp1252")
    same(read(tmp_path / "latin.csv", encoding="cp1252").comparisons, plain)
    with pytest.raises(ConfigError, match="the encoding 'klingon' is not known"):
        read(tmp_path / "latin.csv", encoding="klingon")
    done = run("doctor", "latin.csv", "--encoding", "cp1252", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.splitlines()[-1].split()[-2:] == ["--encoding", "cp1252"]


def test_a_database_that_is_being_written_is_left_alone(tmp_path):
    path = to_sqlite(tmp_path / "m.db", votes=FRAME[:5])
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    FRAME[5:].to_sql("votes", writer, index=False, if_exists="append")
    there = sorted(tmp_path.iterdir())
    with pytest.raises(DataError, match=r"^m\.db: m\.db-wal beside it holds unsaved changes: close the program"):
        read(path)
    assert sorted(tmp_path.iterdir()) == there
    writer.close()  # which puts all into the file, still marked as one with such a journal
    assert len(read(path).frame) == len(FRAME)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [
        ("python_calamine", "m.xlsx", "excel"),
        ("duckdb", "m.duckdb", "scale"),
        ("pyarrow", "m.arrow", "parquet"),
        ("zstandard", "m.csv.zst", "zstd"),
    ],
)
def test_a_missing_package_is_one_sentence(package, name, extra, tmp_path, monkeypatch):
    content = {"m.duckdb": b"\0" * 8 + b"DUCK", "m.csv.zst": b"\x28\xb5\x2f\xfd"}.get(name, b"")
    (tmp_path / name).write_bytes(content)
    monkeypatch.setitem(sys.modules, package, None)
    hidden = tmp_path / "hidden"  # from the child process that reads foreign forms
    hidden.mkdir()
    (hidden / f"{package}.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(hidden))
    with pytest.raises(ConfigError, match=rf"requires {re.escape(needed(extra))}"):
        read(tmp_path / name)


# folders, standard input, parts


def test_a_folder_is_its_files(tmp_path, plain):
    folder = tmp_path / "hub" / "data"
    folder.mkdir(parents=True)
    for place, part in enumerate((FRAME[:10], FRAME[10:])):
        part.to_parquet(folder / f"train-{place:05}.parquet")
    (tmp_path / "hub" / "README.md").write_text("a set")
    (tmp_path / "hub" / "dataset_info.json").write_text("{}")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "x.csv").write_text("")
    same(read(tmp_path / "hub").comparisons, plain)
    (folder / "more.csv").write_text(TEXT)
    with pytest.raises(
        ConfigError, match=r"the folder .*hub' holds csv, parquet: name one form, such as .*\*.csv'"
    ):
        read(tmp_path / "hub")
    shutil.rmtree(folder)
    with pytest.raises(DataUnavailableError, match=r"\bno file\b.*\bhub\b"):
        read(tmp_path / "hub")


def test_what_was_written_beside_the_records_of_a_folder_is_none_of_them(tmp_path, plain):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "judgments.jsonl").write_text(FRAME.to_json(orient="records", lines=True))
    for name in ("run", "charges", "batches"):
        (folder / f"judgments.jsonl.{name}.json").write_text("{}")
    same(read(folder).comparisons, plain)
    ranked = rank(folder)
    ranked.write(folder / "rankings")
    assert list((folder / "rankings").glob("*.csv"))
    same(read(folder).comparisons, plain)
    (folder / "rankings" / "more.jsonl").write_text("[]")  # somebody else's, and read
    with pytest.raises(DataError, match=r"more\.jsonl"):
        read(folder)


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet", "gz"])
def test_standard_input_is_read(form, plain, monkeypatch):
    content = {
        "csv": TEXT.encode(),
        "json": json.dumps(RECORDS).encode(),
        "jsonl": "".join(json.dumps(record) + "\n" for record in RECORDS).encode(),
        "parquet": FRAME.to_parquet(),
        "gz": gzip.compress(TEXT.encode()),
    }[form]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    found = read("-")
    same(found.comparisons, plain)
    assert found.name == "stdin" and behind(found) == []


def test_a_part_is_for_files_that_have_some(tmp_path):
    (tmp_path / "m.csv").write_text(TEXT)
    with pytest.raises(ConfigError, match=r"^m\.csv::votes: csv has no parts to name"):
        read(tmp_path / "m.csv::votes")
    to_sqlite(tmp_path / "a.db", votes=FRAME[:10])
    to_sqlite(tmp_path / "b.db", votes=FRAME[10:])
    assert len(read(tmp_path / "*.db::votes").frame) == len(FRAME)
    with pytest.raises(ConfigError, match=r"a\.db is read\b"):
        rank(tmp_path / "a.db::votes", solver="penalised").export(tmp_path / "a.db", form="csv")


# words for the winner

WORDS = {
    "A": ("A", "B", "Tie"),
    "a": (" a ", "b", "TIE"),
    "C": ("A", "B", "C"),
    "model": ("Model A", "model b", "Draw"),
    "names": ("model1", "model2", "tie"),
    "brackets": ("[[A]]", "[[B]]", "[[C]]"),
    "signs": ("A>B", "B > A", "A=B"),
    "graded": ("A>>B", "B>>A", "A=B"),
    "turned": ("B<A", "A<B", "B=A"),
    "sides": ("Left", "right", "tie"),
    "order": ("first", "Second", "equal"),
    "assistants": ("Assistant A", "assistant_b", "both bad"),
    "arena": ("model_a", "model_b", "Tie (bothbad)"),
}
SIGNS = {"texts": ("+1", "-1", "0"), "numbers": (1, -1, 0), "halves": (1.0, -1.0, 0.0), "strengths": (2, -3, 0)}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_everyday_words_for_a_winner_are_read(words, plain):
    meant = dict(zip(("model_a", "model_b", "tie"), words, strict=True))
    said = [meant.get(value) for value in FRAME["winner"]]
    found = read(FRAME.assign(winner=pd.Series(said, dtype=object)))
    same(found.comparisons, plain)


def test_everyday_words_are_listed_in_the_order_of_the_records():
    cells = ["tie", *(f"Answer {side}" for side in "BA"), "Right", "Left", "first", "Second", "B>A", "Right"]
    assert [*everyday(cells, ["x", "y"])] == [*dict.fromkeys(cells[1:])]  # tie is the arena's own word


@pytest.mark.parametrize("words", SIGNS.values(), ids=SIGNS)
def test_a_number_with_a_sign_is_whose_it_is_told_to_be(words, plain):
    meant = dict(zip(("model_a", "model_b", "tie"), words, strict=True))
    signed = FRAME.assign(winner=pd.Series([meant.get(value) for value in FRAME["winner"]], dtype=object))
    with pytest.raises(DataError, match=r"\bwinner\b.*--winner-values -1=a\b.*--winner-values -1=b\b"):
        read(signed)
    turned = FRAME.assign(winner=FRAME["winner"].map({"model_a": "b", "model_b": "a", "tie": "c"}))
    for one, letter, expected in (("1", "a", plain), ("-1", "a", read(turned).comparisons)):
        found = read(signed, winner_values={one: letter}).comparisons  # the others follow by their signs
        assert_array_equal(found.outcome, expected.outcome)
    named = signed.rename(columns={"winner": "b_preferred"})
    found = read(named, columns={"winner": "b_preferred"}).comparisons
    assert_array_equal(found.outcome, read(turned).comparisons.outcome)
    with pytest.raises(DataError, match=r"--winner-values -1=a\b"):
        read(signed, winner_values={"1": "a", "-9": "a"})


def test_one_and_two_are_places():
    decided = FRAME[FRAME["winner"] != "tie"]
    places = decided["winner"].map({"model_a": 1, "model_b": 2})
    same(read(decided.assign(winner=places)).comparisons, read(decided).comparisons)


def test_a_doctor_says_how_words_were_read(tmp_path):
    FRAME.assign(winner=FRAME["winner"].map({"model_a": "A>B", "model_b": "B>>A", "tie": "A=B"})).to_csv(
        tmp_path / "m.csv", index=False
    )
    said = run("doctor", "m.csv", cwd=tmp_path).stdout
    assert "Winners read: 'A>B' as a (9), " in said and "'A=B' as tie (5)" in said
    assert re.search(r"\(5\).*; --winner-values WORD=VALUE\b", said)
    assert "--winner-values" not in " ".join(read(FRAME).remarks)


@pytest.mark.parametrize(
    ("models", "winner", "outcome"),
    [
        (("A", "B"), "A", 1.0),  # by name
        (("B", "A"), "A", 0.0),  # by name, though it could be a word
        (("x", "A"), "a", None),  # a word for the other
        (("x", "y"), "A", None),  # another record's model
    ],
)
def test_a_word_that_names_a_model_is_a_name(models, winner, outcome):
    records = [
        {"model_a": models[0], "model_b": models[1], "winner": winner},
        {"model_a": "A", "model_b": "x", "winner": "tie"},
    ]
    if outcome is None and winner == "A":
        with pytest.raises(DataError, match="record 1 has the unknown winner 'A'"):
            read(records)
    elif outcome is not None:
        assert read(records).comparisons.outcome[0] == outcome


def test_numbers_that_could_mean_several_things_are_refused():
    for odd in ([1, -1, 0.5], [1, 2, 3], [1, 2, 0], ["A", "B", 0]):
        with pytest.raises(DataError, match="has the unknown winner"):
            read(FRAME[:3].assign(winner=odd))


@pytest.mark.parametrize(
    "names",
    [
        {"model_a": "model1", "model_b": "model2"},
        {"model_a": "model_1", "model_b": "model_2", "question": "prompt"},
        {"judge": "annotator", "question": "instruction"},
        {"judge": "judge_name", "question": "prompt_id"},
    ],
)
def test_columns_go_by_the_names_that_everybody_uses(names, plain):
    found = read(FRAME.rename(columns=names))
    same(found.comparisons, plain)
    assert_array_equal(found.question, read(FRAME).question)


# empty questions


def test_a_few_records_without_a_question_are_left_out_and_counted(tmp_path):
    records = [record | {"question": f"{part}-{record['question']}"} for part in range(5) for record in RECORDS]
    records[7]["question"] = None
    (tmp_path / "m.json").write_text(json.dumps(records))
    found = read(tmp_path / "m.json")
    without = read(records[:7] + records[8:])
    for name in ("first", "second", "judge", "outcome"):
        assert_array_equal(getattr(found.comparisons, name), getattr(without.comparisons, name))
    assert found.comparisons.dropped[NO_QUESTION] == 1
    assert re.search(r": 1 judgment\b.*\bquestion\b", found.remarks[0])
    assert "1 without a question" in run("doctor", "m.json", cwd=tmp_path).stdout
    records[100]["model_b"] = None
    with pytest.raises(DataError, match="record 101 has no 'model_b'"):  # of those in the file
        read(records)
    for record in records[:100]:
        record["question"] = None
    with pytest.raises(DataError, match="record 1 has no 'question', like 100 of 120: name another column"):
        read(records, copies="keep")


# tables in memory


def tables():
    yield "records", lambda: RECORDS
    yield "columns", lambda: {name: [record[name] for record in RECORDS] for name in FRAME}
    yield "pandas", lambda: FRAME
    yield "pyarrow", lambda: pa.Table.from_pandas(FRAME)
    yield "polars", lambda: pytest.importorskip("polars").DataFrame(RECORDS)
    yield "duckdb", lambda: pytest.importorskip("duckdb").from_arrow(pa.Table.from_pandas(FRAME))
    yield "datasets", lambda: pytest.importorskip("datasets").Dataset.from_list(RECORDS)


@pytest.mark.parametrize(("name", "table"), list(tables()), ids=[name for name, _ in tables()])
def test_tables_in_memory_are_read_by_every_verb(name, table, plain):
    source = table()
    same(read(source).comparisons, plain)
    if name in ("records", "polars"):
        assert_array_equal(fit(source, "btl").scores, fit(plain, "btl").scores)
        board = rank(source, model="btl").leaderboard
        pd.testing.assert_frame_equal(board, rank(FRAME, model="btl").leaderboard)


def test_the_index_of_a_frame_is_read_where_it_is_named_as_a_known_column():
    table = FRAME.assign(question_id=[f"q{row % 5}" for row in range(len(FRAME))])
    expected = read(table)
    for indexed in (table.set_index("question_id"), table.set_index(["question_id", "judge"], append=True)):
        found = read(indexed)
        same(found.comparisons, expected.comparisons)
        assert_array_equal(found.question, expected.question)
    other = table.rename_axis("row")
    assert read(other).frame.columns.tolist() == read(table.rename_axis("question_id")).frame.columns.tolist()


def test_what_was_read_is_fitted_as_it_is(tmp_path, plain):
    judgments = read(FRAME)
    assert read(judgments) is judgments
    for source in (judgments, FRAME, tmp_path / "plain" / "m.csv"):
        assert_array_equal(fit(source, "btl").scores, fit(plain, "btl").scores)
    assert (
        jr.fit(FRAME, "btl_ties", questions="effects").sigma
        == jr.fit(judgments, "btl_ties", questions="effects").sigma
    )


def test_what_is_no_table_is_refused_in_a_sentence(monkeypatch):
    polars = pytest.importorskip("polars")
    refused = {
        r"\bLazyFrame\b.*\bcollect\b": polars.LazyFrame(RECORDS),
        r"polars\.Series\b": polars.Series("winner", ["a"]),
        r"builtins\.int": 3,
        r"\brecord 2\b.*\bdict\b": [RECORDS[0], "x"],
        r"\bcolumns\b.*\bsame length": {"model_a": ["x"], "model_b": ["y", "z"]},
        r"^no file\b": [],
    }
    for named, source in refused.items():
        with pytest.raises(JudgerankError, match=named):
            read(source)
    with pytest.raises(ConfigError, match=r"\bform\b.*\bencoding\b"):
        read(FRAME, form="csv")
    table = polars.DataFrame(RECORDS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"a table of polars.DataFrame requires the extra 'parquet'"):
        read(table)


def test_a_ranking_shows_itself_in_a_notebook():
    board = FRAME.assign(model_a=FRAME["model_a"].replace("x", "<b>x</b>"))
    board["model_b"] = board["model_b"].replace("x", "<b>x</b>")
    shown = rank(board, model="btl")._repr_html_()
    assert "&lt;b&gt;x&lt;/b&gt;" in shown and "<b>x</b>" not in shown and "<table" in shown


# promptfoo


def output(provider: str, test: int, prompt: str, *scores: tuple[str, float], **own: object) -> dict:
    """One result, as promptfoo 0.115 writes it, without what is not read."""
    parts = [{"pass": score > 0.5, "score": score, "assertion": {"type": kind}} for kind, score in scores]
    grading = {"pass": True, "score": 1, "reason": "", "componentResults": parts}
    return {
        "provider": {"id": "echo", "label": provider},
        "prompt": {"raw": f"{prompt} {test}", "label": f"{prompt} {{{{word}}}}"},
        "vars": {"word": str(test)},
        "testIdx": test,
        "success": True,
        "score": float(np.mean([score for _, score in scores])) if scores else 1,
        "gradingResult": grading if scores else None,
    } | own


OUTPUTS = [
    output("x", 1, "Say", ("contains", 1), ("equals", 1)),
    output("y", 1, "Say", ("contains", 0), ("equals", 1)),
    output("x", 2, "Say", ("llm-rubric", 0.4)),
    output("y", 2, "Say", ("llm-rubric", 0.9)),
    output("x", 2, "Shout", ("llm-rubric", 0.7)),
    output("y", 2, "Shout", ("llm-rubric", 0.7)),
]


def test_promptfoos_assertions_are_judges(tmp_path):
    report = {"evalId": "e", "results": {"version": 3, "prompts": [], "results": OUTPUTS}, "config": {}}
    (tmp_path / "report.json").write_text(json.dumps(report | {"shareableUrl": None}))
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(one) + "\n" for one in OUTPUTS))
    for name in ("report.json", "lines.jsonl"):
        found = read(tmp_path / name)
        c = found.comparisons
        told = sorted(zip([c.judges[k] for k in c.judge], c.outcome, found.frame["question_id"], strict=True))
        assert c.models == ("x", "y") and not c.ordered
        assert told == [
            ("contains", 1.0, "1"),
            ("equals", 0.5, "1"),
            ("llm-rubric", 0.0, "2"),
            ("llm-rubric", 0.5, "2"),
        ]
    assert re.search(r"\bassertion\b.*\bjudge\b", found.remarks[0])


def test_promptfoos_outputs_without_assertions_have_one_score():
    plain = [
        output("x", 1, "Say"),
        output("y", 1, "Say", score=0.2),
        output("x", 2, "Say", error="timeout", score=0),
    ]
    report = [{"results": {"version": 2, "results": [*plain, output("y", 2, "Say")]}, "config": {}}]
    found = read(report)
    assert found.comparisons.judges == ("score",) and found.comparisons.outcome.tolist() == [1.0]
    assert found.comparisons.dropped["null"] == 1
    with pytest.raises(DataError, match="result 2 does not name its provider"):
        read([{"results": {"results": [*plain[:1], plain[1] | {"provider": {}}]}, "config": {}}])


def test_the_forms_that_options_name_are_those_that_are_read():
    assert tuple(READERS) == FORMS
