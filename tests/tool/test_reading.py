"""One's own judgments: every form reads to the same comparisons; what cannot be read is named in a sentence."""

import bz2
import gzip
import io
import json
import lzma
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from judgerank import Comparisons
from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.reading import decompress
from judgerank.reading.decompress import inflated
from judgerank.reading.read import ONE_JUDGE, read_judgments

RECORDS = [
    {
        "question_id": q,
        "model_a": a,
        "model_b": b,
        "judge_model": j,
        "judge_preferred_model": w,
        "judge_confidence": 0.5,
    }
    for q, a, b, j, w in [
        ("q1", "m1", "m2", "j1", "a"),
        ("q2", "m2", "m3", "j1", "c"),
        ("q1", "m3", "m1", "j2", "b"),
        ("q3", "m1", "m2", "j2", None),
        ("q3", "m2", "m1", "j2", "unknown"),
        ("q2", "m3", "m2", "j2", "a"),
    ]
]
ARENA = {"a": "model_a", "b": "model_b", "c": "tie (bothbad)", "unknown": "unknown", None: None}
COLUMNS = ("first", "second", "judge", "outcome", "count")


def written(folder: Path, form: str, records: list[dict]) -> Path:
    path = folder / f"mine.{form}"
    if form == "json":
        path.write_text(json.dumps(records))
    elif form == "jsonl":
        path.write_text("\n\n".join(map(json.dumps, records)) + "\n")
    elif form == "csv":
        pd.DataFrame(records).to_csv(path, index=False)
    else:
        pd.DataFrame(records).to_parquet(path)
    return path


def same(found: Comparisons, expected: Comparisons) -> None:
    assert (found.models, found.judges) == (expected.models, expected.judges)
    assert sum(found.dropped.values()) == sum(expected.dropped.values())
    for name in COLUMNS:
        assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "parquet"])
def test_every_form_reads_to_the_same_comparisons(form, tmp_path):
    judgments = read_judgments(written(tmp_path, form, RECORDS))
    expected = Comparisons.from_frame(pd.DataFrame(RECORDS, dtype=object))
    same(judgments.comparisons, expected)
    assert judgments.comparisons.dropped == {"unknown": 1, "null": 1}
    assert_array_equal(judgments.question, [0, 1, 0, 1])  # of the four that could be read
    assert judgments.source["records"] == 6


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "parquet"])
def test_the_arenas_columns_and_words_read_to_the_same(form, tmp_path):
    arena = [
        {
            "model_a": r["model_a"],
            "model_b": r["model_b"],
            "winner": ARENA[r["judge_preferred_model"]],
            "judge": r["judge_model"],
        }
        for r in RECORDS
    ]
    same(
        read_judgments(written(tmp_path, form, arena)).comparisons,
        Comparisons.from_frame(pd.DataFrame(RECORDS, dtype=object)),
    )


def test_columns_go_by_any_name_and_a_form_by_any_ending(tmp_path):
    names = {"model_a": "left", "model_b": "right", "judge_model": "who", "judge_preferred_model": "said"}
    path = written(tmp_path, "jsonl", [{names.get(k, k): v for k, v in r.items()} for r in RECORDS])
    path = path.rename(tmp_path / "mine.txt")
    given = {"model_a": "left", "model_b": "right", "judge": "who", "winner": "said", "question": None}
    found = read_judgments(path, "jsonl", given).comparisons
    same(found, Comparisons.from_frame(pd.DataFrame(RECORDS, dtype=object)))


def test_without_a_judge_all_records_are_by_one(tmp_path):
    path = written(tmp_path, "csv", [{k: v for k, v in r.items() if k != "judge_model"} for r in RECORDS])
    assert read_judgments(path).comparisons.judges == (ONE_JUDGE,)


def test_names_that_look_like_numbers_or_nothing_stay_names_in_csv(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes("model_a,model_b,winner\n007,NA,model_a\nNA,7,model_b\n7,007,tie\n".encode("utf-8-sig"))
    assert read_judgments(path).comparisons.models == ("007", "7", "NA")
    path.write_bytes("model_a,model_b,winner\n007,NA,model_a\nNA,nan,model_b\nnan,007,tie\n".encode("utf-8-sig"))
    assert read_judgments(path, names="exact").comparisons.models == ("007", "NA", "nan")


def test_questions_may_be_numbers_or_lists(tmp_path):
    questions = [81, 81, ["file", 3], ["file", 3], 7, 81]
    records = [r | {"question_id": q} for r, q in zip(RECORDS, questions, strict=True)]
    assert_array_equal(read_judgments(written(tmp_path, "json", records)).question, [0, 0, 1, 0])
    lists = [r | {"question_id": ["file", str(q)]} for r, q in zip(RECORDS, questions, strict=True)]
    assert_array_equal(read_judgments(written(tmp_path, "parquet", lists)).question, [0, 0, 1, 0])


def test_columns_that_are_not_used_may_hold_anything(tmp_path):
    path = written(tmp_path, "csv", [r | {"conversation": "long" * 50_000, "turn": None} for r in RECORDS])
    same(read_judgments(path).comparisons, Comparisons.from_frame(pd.DataFrame(RECORDS, dtype=object)))


def test_lengths_become_the_standardised_covariate(tmp_path):
    lengths = [10, 200, 3000, None, 5, 40]
    path = written(tmp_path, "jsonl", [r | {"length": n} for r, n in zip(RECORDS, lengths, strict=True)])
    logs = np.log1p([10, 200, 3000, 40])
    found = read_judgments(path).comparisons
    np.testing.assert_allclose(found.covariate, (logs - logs.mean()) / logs.std(), rtol=1e-12)
    same(replace(found, covariate=None), Comparisons.from_frame(pd.DataFrame(RECORDS, dtype=object)))


LINE = '{"model_a": "x", "model_b": "y", "winner": "tie"}\n'
HEAD = "model_a,model_b,winner\n"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("m.jsonl", LINE + "{oops\n", "m.jsonl: line 2 is not JSON: "),
        ("m.jsonl", LINE + "\n[1]\n", "m.jsonl: line 3 is not a JSON object"),
        ("m.jsonl", "", "m.jsonl: there are no comparisons: the set is empty"),
        ("m.json", "[]", "m.json: there are no comparisons: the set is empty"),
        ("m.json", "[1]" + LINE, "m.json: this is not JSON: Extra data.*jsonl reads one record a line"),
        ("m.json", HEAD + "x,y,a\n", "m.json: this is not JSON: .*--format csv reads comma-separated values"),
        ("m.csv", (HEAD + "x,y,a\n").encode("utf-16-be"), "m.csv: this looks like UTF-16 .*--encoding utf-16-be"),
        ("m.csv", (HEAD + "x,y,a\n").encode("utf-16-le"), "m.csv: this looks like UTF-16 .*--encoding utf-16-le"),
        (
            "m.csv",
            HEAD + "".join(f"x,y,0.{n}\n" for n in range(1, 9)),
            "m.csv: record 1 has the unknown winner '0.1' .*If these are probabilities .* p_a",
        ),
        (
            "m.csv",
            HEAD + "".join(f"x,y,{n}\n" for n in range(1, 8)),
            "m.csv: record 2 has the unknown winner '2' .*subtract its middle",
        ),
        (
            "m.jsonl",
            '{"model_a": "x", "model_b": "y", "winner": ["a"]}',
            r"m.jsonl: record 1 has the unknown winner \['a'\] .*one word or number: name another column",
        ),
        ("m.json", '{"records": 1}', "m.json: this is not a JSON list of records"),
        ("m.json", "[1]", "m.json: record 1 is not a JSON object"),
        ("m.json", b"[\xff]", r"m.json: this is not UTF-8 text \(byte 2\)"),
        ("m.csv", "", "m.csv: there are no comparisons: the set is empty"),
        ("m.csv", HEAD, "m.csv: there are no comparisons: the set is empty"),
        ("m.csv", HEAD + "x,y,tie\nx,y\n", "m.csv: line 3 has 2 fields, and the header 3"),
        ("m.csv", HEAD + 'x,y,"tie\n', "m.csv: line 2 is not CSV: "),
        (
            "m.csv",
            HEAD + "x,y,up\n",
            "m.csv: record 1 has the unknown winner 'up' .known: a, b, c.* --winner-values up=VALUE, VALUE",
        ),
        ("m.csv", HEAD + "x,y,a\nx,,a\n", "m.csv: record 2 has no 'model_b'"),
        ("m.csv", HEAD + "x,y,\n", "m.csv: no judge has a usable record"),
        (
            "m.csv",
            "model_a,winner\nx,a\n",
            "m.csv: the table has no column 'model_b' or .* .it has: model_a, winner; ",
        ),
        ("m.csv", "question," + HEAD + ",x,y,a\n", "m.csv: record 1 has no 'question', like"),
        ("m.csv", "length," + HEAD + "1,x,y,a\n-2,x,y,b\n", "m.csv: lengths cannot be negative"),
        (
            "m.csv",
            "length," + HEAD + "1,x,y,a\nlong,x,y,b\n",
            "m.csv: record 2 has 'long' as 'length', not a finite",
        ),
        ("m.csv", "length," + HEAD + "1,x,y,a\n1,x,y,b\n", "m.csv: all lengths are equal"),
        ("m.jsonl", LINE.replace('"y"', "[4]"), r"m.jsonl: record 1 has \[4\] as 'model_b', not a name"),
        ("m.jsonl", LINE.replace('"tie"', '["a"]'), "m.jsonl: record 1 has the unknown winner"),
        ("m.parquet", "oops", "m.parquet: this is not Parquet: "),
    ],
)
def test_bad_data_are_named_in_one_sentence(name, content, sentence, tmp_path):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=f"^{sentence}"):
        read_judgments(path)


def test_a_column_that_is_named_must_be_there(tmp_path):
    with pytest.raises(DataError, match=r"no column 'who' .*column judge=NAME"):
        read_judgments(written(tmp_path, "csv", RECORDS), columns={"judge": "who"})


def test_a_file_that_is_not_there_or_of_no_known_form_is_refused(tmp_path):
    with pytest.raises(DataUnavailableError, match=r"no file .*nowhere.csv"):
        read_judgments(tmp_path / "nowhere.csv")
    path = written(tmp_path, "csv", RECORDS).rename(tmp_path / "mine.doc")
    with pytest.raises(ConfigError, match=r"'doc' is not a form .*--format json.jsonl"):
        read_judgments(path)


# counts


def test_records_that_stand_for_many_are_read_like_the_many(tmp_path):
    times = [3, 1, 2, 4, 5, 1]
    counted = [r | {"n": n} for r, n in zip(RECORDS, times, strict=True)]
    many = [r for r, n in zip(RECORDS, times, strict=True) for _ in range(n)]
    for form in ("json", "csv"):
        found = read_judgments(written(tmp_path, form, counted), columns={"count": "n"})
        (tmp_path / "many").mkdir(exist_ok=True)
        expected = read_judgments(written(tmp_path / "many", form, many))
        same(found.comparisons.aggregate(), expected.comparisons.aggregate())
        assert found.comparisons.dropped == {"unknown": 5, "null": 4}
        pd.testing.assert_frame_equal(found.judges, expected.judges, check_dtype=False)
        with_ties = (c.with_ties().aggregate() for c in (found.comparisons, expected.comparisons))
        assert_array_equal(*(c.tied for c in with_ties))


@pytest.mark.parametrize("name", ["n", "Count", "weight", "votes"])
def test_a_column_that_looks_like_counts_is_used_or_set_aside_only_on_request(name, tmp_path):
    path = written(tmp_path, "csv", [r | {name: 1 + n % 2} for n, r in enumerate(RECORDS)])
    for columns in (None, {"count": "ask"}, {"judge": None}):
        with pytest.raises(DataError, match=rf"mine.csv: column '{name}' looks like .*column count={name}"):
            read_judgments(path, columns=columns)
    same(
        read_judgments(path, columns={"count": None}).comparisons,
        Comparisons.from_frame(pd.DataFrame(RECORDS, dtype=object)),
    )
    assert read_judgments(path, columns={"count": name}).comparisons.n_comparisons == 6


def test_counts_of_one_and_words_are_no_counts(tmp_path):
    path = written(tmp_path, "csv", [r | {"n": 1, "votes": "secret"} for r in RECORDS])
    assert read_judgments(path).comparisons.n_comparisons == 4


@pytest.mark.parametrize("value", [0, -2, 1.5, None, "many", float("inf"), 1e13])
def test_counts_are_whole_numbers_from_one_up(value, tmp_path):
    path = written(tmp_path, "json", [r | {"n": value if k == 2 else 2} for k, r in enumerate(RECORDS)])
    with pytest.raises(DataError, match=r"record 3 has .* as 'n', not a whole number of judgments"):
        read_judgments(path, columns={"count": "n"})


# silent merges and contradictions


@pytest.mark.parametrize(
    ("first", "second"), [(1, "1"), (["a", "b"], "a/b"), (["a", "b/c"], ["a/b", "c"]), ([1, "x"], ["1", "x"])]
)
def test_different_questions_are_not_merged(first, second, tmp_path):
    questions = ["q", first, "q", second, "q", first]
    path = written(tmp_path, "json", [r | {"question_id": q} for r, q in zip(RECORDS, questions, strict=True)])
    with pytest.raises(DataError, match=r"record 4 has the question .*, and another record "):
        read_judgments(path)


@pytest.mark.parametrize(
    ("models", "winner", "sentence"),
    [
        (("b", "a"), "a", "record 1 has the winner 'a', the name of the model shown second"),
        (("b", "x"), "b", "record 1 has the winner 'b', the name of the model shown first"),
        (("x", "tie"), "tie", "record 1 has the winner 'tie', the name of the model shown second"),
        (("a", "b"), "a", None),
        (("b", "a"), "tie", None),
    ],
)
def test_a_winner_that_could_be_a_name_or_a_word_is_refused(models, winner, sentence, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(f"model_a,model_b,winner\n{','.join(models)},{winner}\n")
    if sentence:
        with pytest.raises(DataError, match=sentence):
            read_judgments(path)
    else:
        assert read_judgments(path).comparisons.outcome.tolist() == [1.0 if winner == "a" else 0.5]


def test_two_columns_of_winners_must_agree_unless_one_is_chosen(tmp_path):
    twice = [r | {"winner": ARENA[r["judge_preferred_model"]]} for r in RECORDS]
    expected = Comparisons.from_frame(pd.DataFrame(RECORDS, dtype=object))
    same(read_judgments(written(tmp_path, "json", twice)).comparisons, expected)
    twice[1] |= {"winner": "model_b"}
    path = written(tmp_path, "json", twice)
    with pytest.raises(DataError, match=r"record 2 has one winner as .*another as 'winner'"):
        read_judgments(path)
    same(read_judgments(path, columns={"winner": "judge_preferred_model"}).comparisons, expected)
    assert read_judgments(path, columns={"winner": "winner"}).comparisons.outcome[1] == 0


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("m.csv", "model_a,model_a,model_b,winner\nx,z,y,a\n", "the table has 2 columns 'model_a'"),
        ("m.csv", "model_a,model_b,winner,winner\nx,z,a,b\n", "the table has 2 columns 'winner'"),
        ("m.jsonl", LINE.replace("}", ', "winner": "model_a"}'), "an object has the key 'winner' twice"),
        ("m.json", "[" + LINE.replace("}", ', "model_b": "z"}') + "]", "an object has the key 'model_b' twice"),
    ],
)
def test_names_that_are_there_twice_are_refused(name, content, sentence, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=f"^{name}: {sentence}"):
        read_judgments(tmp_path / name)


def test_other_columns_may_be_there_twice(tmp_path):
    (tmp_path / "m.csv").write_text("model_a,note,model_b,note,winner\nx,1,y,2,a\n")
    assert read_judgments(tmp_path / "m.csv").comparisons.models == ("x", "y")


def test_paths_that_cannot_be_read_end_in_a_sentence(tmp_path, monkeypatch):
    path = written(tmp_path, "csv", RECORDS)
    with pytest.raises(DataUnavailableError, match=r"x{300}"):
        read_judgments(tmp_path / ("x" * 300 + ".csv"))
    with pytest.raises(DataUnavailableError, match=r"below\.csv"):
        read_judgments(path / "below.csv")

    def refused(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(DataUnavailableError, match=r"mine.csv' cannot be read: Permission denied"):
        read_judgments(path)


def test_a_number_too_large_to_be_one_is_refused_where_it_stands(tmp_path):
    for name, said in (("count", ".* whole"), ("length", ".* finite")):
        records = [record | {name: number} for number, record in enumerate(RECORDS[:3], 1)]
        records[1][name] = 10**400
        path = written(tmp_path, "json", records)
        with pytest.raises(DataError, match=f"record 2 has 1000.* as '{name}', {said}"):
            read_judgments(path, columns={name: name})


def test_a_number_with_more_digits_than_python_reads_is_refused(tmp_path):
    (tmp_path / "m.json").write_text('[{"model_a": "x", "n": ' + "1" * 5000 + "}]")
    with pytest.raises(DataError, match=r"^m.json: a number has 5000 digits$"):
        read_judgments(tmp_path / "m.json")


# Compressed content: the same as before, or one sentence; never more than memory holds.
TEXT = b"model_a,model_b,winner\n" + b"x,y,a\n" * 1000
KINDS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda content: pytest.importorskip("zstandard").ZstdCompressor().compress(content),
}


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_content_comes_back_from_one_part_and_from_many(kind):
    squeeze = KINDS[kind]
    assert inflated(squeeze(TEXT)) == TEXT
    assert inflated(b"".join(squeeze(TEXT[at : at + 7]) for at in range(0, len(TEXT), 7))) == TEXT
    assert inflated(squeeze(b"")) == b""


@pytest.mark.parametrize("kind", KINDS)
def test_content_that_is_cut_short_is_refused(kind):
    packed = KINDS[kind](TEXT)
    for end in (12, len(packed) // 2, len(packed) - 1):
        with pytest.raises(DataError, match=f"this is not {kind}"):
            inflated(packed[:end])


def test_plain_content_stays():
    for content in (TEXT, b"", b"BZhang,model_b,winner\n", zipped(("header.json", b"{}"))):
        assert inflated(content, "log.eval") == content


def test_a_zip_gives_its_only_file():
    assert inflated(zipped(("m.csv", TEXT)), "m.zip") == TEXT
    assert inflated(zipped(("m.csv", TEXT), ("__MACOSX/._m.csv", b"x"), ("d/", b"")), "M.ZIP") == TEXT
    with pytest.raises(DataError, match="holds 2 files: extract the one"):
        inflated(zipped(("a.csv", TEXT), ("b.csv", TEXT)), "m.zip")
    with pytest.raises(DataError, match="uses method 12: deflate"):
        inflated(zipped(("a.csv", TEXT), method=zipfile.ZIP_BZIP2), "m.zip")
    with pytest.raises(DataError, match="zip archive"):
        inflated(zipped(("a.csv", TEXT))[:-30], "m.zip")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [1, 3])
def test_a_bomb_is_refused_before_it_is_inflated(kind, parts, monkeypatch):
    monkeypatch.setattr(decompress, "ALWAYS", 2**20)
    monkeypatch.setattr(decompress, "RATIO", 2)
    packed = KINDS[kind](bytes(2**22 // parts)) * parts
    with pytest.raises(DataError, match=r"inflate to more than 0.001 GB.*JUDGERANK_INFLATE_GB=8"):
        inflated(packed)
    monkeypatch.setenv("JUDGERANK_INFLATE_GB", "1")
    assert inflated(packed) == bytes(2**22 // parts * parts)


def test_a_zip_that_lies_about_its_size_gives_no_more(monkeypatch):
    monkeypatch.setattr(decompress, "ALWAYS", 2**20)
    packed = zipped(("m.csv", bytes(2**22)))
    with pytest.raises(DataError, match=r"GB\b.*JUDGERANK_INFLATE_GB"):
        inflated(packed, "m.zip")
    size = (2**22).to_bytes(4, "little")
    with pytest.raises(DataError, match="zip archive"):
        inflated(packed.replace(size, (10).to_bytes(4, "little")), "m.zip")


@pytest.mark.parametrize("said", ["much", "0", "-1", "nan", "inf"])
def test_the_limit_is_a_number(said, monkeypatch):
    monkeypatch.setenv("JUDGERANK_INFLATE_GB", said)
    with pytest.raises(ConfigError, match="JUDGERANK_INFLATE_GB"):
        inflated(gzip.compress(TEXT))
