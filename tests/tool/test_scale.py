"""Cells from an engine are those of the reader, and so are its refusals; errors and resamples by question."""

import gzip
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare, poisson

import judgerank
from judgerank.data.errors import ConfigError, DataError, DataUnavailableError, NoIntervalError
from replication.config import ROOT
from replication.datasets import find_file
from tests.forked import environment
from tests.real_data import FILES, needs_data

pytest.importorskip("duckdb")

from judgerank.fits.errors_by_question import clustered, resampled, weight_of
from judgerank.reading.large import sources

EXAMPLE = ROOT / "examples/judgments.csv"
HEADER = ["question_id", "model_a", "model_b", "judge_model", "judge_preferred_model"]
RECORDS = [
    ["q1", "x", "y", "j", "a"],
    ["q2", "y", "z", "k", "b"],
    ["q3", "x", "z", "j", "c"],
    ["q3", "x", "z", "j", "a"],
    ["q4", "z", "é", "k", "unknown"],
    ["q5", "y", "x", "j", ""],
]
FIELDS = ("models", "judges", "first", "second", "judge", "outcome", "count", "tied", "dropped")
ODD = ["q6", "x", "y", "j", "a"]


def same(found, expected):
    for name in FIELDS:
        one, other = getattr(found, name), getattr(expected, name)
        assert_array_equal(one, other, err_msg=name) if isinstance(one, np.ndarray) else one == other
        assert type(one) is type(other), name
    assert (found.models, found.judges, found.dropped) == (expected.models, expected.judges, expected.dropped)


def text(records, header=HEADER):
    return "".join(",".join(map(str, row)) + "\n" for row in [header, *records])


def objects(records, header=HEADER):
    return [dict(zip(header, [value or None for value in row], strict=True)) for row in records]


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def in_form(folder, form, records=RECORDS, header=HEADER):
    path, rows = folder / f"mine.{form}", objects(records, header)
    if form == "parquet":
        pd.DataFrame(rows).to_parquet(path)
        return path
    csv = text(records, header)
    lines = "\n".join(map(json.dumps, rows))
    made = {
        "csv": csv,
        "csv.gz": gzip.compress(csv.encode()),
        "tsv": csv.replace(",", "\t"),
        "jsonl": lines,
        "ndjson.gz": gzip.compress(lines.encode()),
        "json": json.dumps(rows, indent=1),
    }
    return written(path, made[form])


@pytest.mark.parametrize("form", ["csv", "csv.gz", "tsv", "jsonl", "ndjson.gz", "json", "parquet"])
def test_every_form_gives_the_cells_of_the_reader(form, tmp_path):
    path = in_form(tmp_path, form)
    found = judgerank.aggregate(path)
    same(found, judgerank.read(path).comparisons.aggregate())
    assert found.dropped == {"unknown": 1, "null": 1}
    assert len(found) == 3
    same(judgerank.aggregate(path, ties=True), judgerank.read(path).comparisons.with_ties().aggregate())


def test_the_example_can_be_fitted_from_an_engine_by_a_path_a_pattern_and_an_address(tmp_path):
    whole = judgerank.read(EXAMPLE).comparisons
    expected = judgerank.fit(whole, "position_aware")
    for place in (EXAMPLE, f"file://{EXAMPLE}"):
        assert judgerank.fit(judgerank.aggregate(place), "position_aware").scores.equals(expected.scores)
    table = pd.read_csv(EXAMPLE)
    for part in range(3):
        table[part::3].to_csv(tmp_path / f"part [{part}].csv", index=False)  # brackets are no pattern in a name
    same(judgerank.aggregate(str(tmp_path / "*.csv")), whole.aggregate())


def test_errors_by_question_are_those_without_judges_who_are_not_heard(tmp_path):
    table = pd.read_csv(EXAMPLE)
    silent = table.iloc[:3].assign(judge="a-silent-one", winner="unknown")
    pd.concat([table, silent]).to_csv(tmp_path / "all.csv", index=False)
    fitted = judgerank.fit(judgerank.aggregate(tmp_path / "all.csv"), "position_aware")
    expected = clustered(judgerank.fit(judgerank.aggregate(EXAMPLE), "position_aware"), EXAMPLE)
    assert_allclose(
        clustered(fitted, tmp_path / "all.csv").errors.robust, expected.errors.robust, rtol=1e-9, atol=1e-12
    )


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_real_judgments_give_the_cells_of_the_reader(name):
    path = find_file(FILES[name])
    same(judgerank.aggregate(path), judgerank.read(path).comparisons.aggregate())


LIKE_THE_READER = {
    "windows": ("csv", "\ufeff" + text(RECORDS).replace("\n", "\r\n\r\n"), {}),
    "quoted": ("csv", text(RECORDS).replace("x", '"x\n,""é"'), {}),
    "semicolons": ("csv", text(RECORDS).replace(",", ";"), {}),
    "packed, but not by name": ("csv", gzip.compress(text(RECORDS).encode()), {}),
    "named winners": ("csv", text([[*row[:4], row[2]] for row in RECORDS]), {}),
    "shares": ("jsonl", "\n".join(json.dumps(row | {HEADER[4]: 0.5}) for row in objects(RECORDS)), {}),
    "arena": ("csv", "model_a,model_b,winner\nx,y,model_a\ny,z,tie (bothbad)\n", {}),
    "numbers for names": (
        "jsonl",
        "\n".join(
            json.dumps({"model_a": a, "model_b": b, "winner": "a", "judge": 0})
            for a, b in ((4, 5), (5.0, 4), (60, "4"))
        ),
        {},
    ),
    "a silent judge": ("csv", text([*RECORDS, ["q", "x", "y", "a", "unknown"], ["q", "y", "z", "m", ""]]), {}),
    "a model with itself": (
        "csv",
        text([*RECORDS, ["q", "x", "x", "j", "a"], ["q", "y", "y", "j", "unknown"]]),
        {},
    ),
    "which model won": ("csv", "model_a,model_b,a_wins\nx,y,1\ny,x,0\n", {}),
    "published words": ("csv", "model_a,model_b,winner\nx,y,tie (inconsistent)\nx,y,ignore\nx,y,model_a\n", {}),
    "everyday words": (
        "csv",
        "model_1,model_2,winner,annotator\nx,y,A,j\ny,z,Tie,j\nz,x, b ,k\nx,z,Model B,k\nx,z,,k\n",
        {},
    ),
    "signs": ("csv", "model_a,model_b,winner\nx,y,+1\ny,z,-1\nz,x,0\n", {"winner_values": {"-1": "a"}}),
    "bars": ("csv", text(RECORDS).replace(",", "|"), {}),
    "own names": (
        "csv",
        "A,B,W\nx,y,left\ny,z,b\n",
        {"columns": {"model_a": "A", "model_b": "B", "winner": "W"}, "winner_values": {"left": "a"}},
    ),
    "counts": (
        "csv",
        text([[*row, many] for many, row in enumerate(RECORDS, 1)], [*HEADER, "n"]),
        {"columns": {"count": "n"}},
    ),
    "counts of one": ("csv", text([[*row, 1] for row in RECORDS], [*HEADER, "n"]), {}),
}


@pytest.mark.parametrize("case", LIKE_THE_READER)
def test_what_the_reader_takes_is_taken(case, tmp_path):
    form, content, said = LIKE_THE_READER[case]
    path = written(tmp_path / f"mine.{form}", content)
    same(judgerank.aggregate(path, **said), judgerank.read(path, **said).comparisons.aggregate())


REFUSED = {
    "no model": ("csv", text([*RECORDS, ["q", "", "x", "j", "a"], ODD]), "record 7 has no 'model_a'"),
    "no judge": (
        "jsonl",
        "\n".join(map(json.dumps, objects([ODD, [*ODD[:3], "", "a"]]))),
        "record 2 has no 'j",
    ),
    "no judge in a column of another name": (
        "csv",
        text([*RECORDS, [*ODD[:3], "", "a"]], [*HEADER[:3], "judge", HEADER[4]]),
        "record 7 has no 'judge': fill in the name",
    ),
    "no model in a column of another spelling": (
        "csv",
        text([*RECORDS, ["q", "x", "", "j", "a"]], [HEADER[0], "Model A", "Model B", *HEADER[3:]]),
        "record 7 has no 'Model B': fill in the name",
    ),
    "a list": (
        "jsonl",
        json.dumps(objects([ODD])[0] | {"model_b": [3]}),
        r"record 1 has \[3\] as 'model_b', not a name",
    ),
    "empty": ("jsonl", json.dumps(objects([ODD])[0] | {"model_b": ""}), "record 1 has '' as 'model_b'"),
    "answer": ("csv", text([*RECORDS, [*ODD[:4], "up"]]), "record 7 has the unknown winner 'up'"),
    "share among words": ("csv", text([*RECORDS, [*ODD[:4], "1"]]), "record 7 has the unknown winner '1'"),
    "two meanings": ("csv", text([ODD, ["q", "a", "y", "j", "c"], ["q", "y", "a", "j", "a"]]), "record 3 has the"),
    "silent": ("csv", text([[*ODD[:4], "unknown"], [*ODD[:4], ""]]), "no judge "),
    "fields": ("csv", text(RECORDS) + "q,x,y\n", "line 8 has 3 fields, and the header 5"),
    "counts": ("csv", text([[*row, 2] for row in RECORDS], [*HEADER, "n"]), "'n' .*column count=null"),
    "twice": ("csv", "model_a,model_b,winner,winner\nx,y,a,a\n", "the table has 2 columns 'winner'"),
    "no column": ("csv", "model_a,winner\nx,a\n", "the table has no column 'model_b'"),
    "nothing": ("csv", "", "no comparisons"),
    "only a header": ("csv", text([]), "no comparisons"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_those_of_the_reader(case, tmp_path):
    form, content, sentence = REFUSED[case]
    path = written(tmp_path / f"mine.{form}", content)
    with pytest.raises(DataError, match=sentence) as found:
        judgerank.aggregate(path)
    with pytest.raises(DataError) as expected:
        judgerank.read(path)
    assert str(found.value) == str(expected.value)


def test_the_record_at_fault_is_named_in_its_file_far_from_the_start(tmp_path):
    rng = np.random.default_rng(0)
    first = rng.integers(50, size=300_000)
    table = pd.DataFrame({"model_a": first, "model_b": (first + rng.integers(1, 50, len(first))) % 50})
    table = table.map("m{}".format).assign(winner="a")
    table.to_csv(tmp_path / "one.csv", index=False)
    table.loc[234_566, "winner"] = "neither"
    table.to_csv(tmp_path / "two.csv", index=False)
    with pytest.raises(DataError, match=r"^two.csv: record 234567 has the unknown winner 'neither'"):
        judgerank.aggregate([tmp_path / "one.csv", tmp_path / "two.csv"])


NOT_FOR_AN_ENGINE = {
    "another layout": ("csv", "left,right,winner\nx,y,left\n", "LLMFAO.*use judgerank.read"),
    "a covariate": ("csv", text([[*ODD, 3]], [*HEADER, "length"]), "'length' .*covariate"),
    "strength": ("csv", text([[*ODD, 2]], [*HEADER, "strength"]), "'strength' .*: use judgerank.read"),
    "strength in words": (
        "csv",
        "model_a,model_b,winner\nx,y,A>>B\ny,x,A>B\n",
        "'winner' .*: use judgerank.read",
    ),
    "two winners": ("csv", text([[*ODD, "a"]], [*HEADER, "winner"]), "winner=NAME"),
    "a late judge": (
        "jsonl",
        '{"model_a": "x", "model_b": "y", "winner": "a"}\n' * 1000
        + '{"model_a": "x", "model_b": "y", "winner": "a", "judge": "j"}\n',
        "1 records have 'judge', and the first ones do not",
    ),
    "cut short": (
        "csv.gz",
        gzip.compress(text(RECORDS).encode())[:-9],
        "the engine cannot read this: .*GZIP.*mine",
    ),
    "no Parquet": ("parquet", "certainly not Parquet", "the engine cannot read this: .*mine.parquet"),
    "no object": ("jsonl", json.dumps(objects([ODD])[0]) + "\n{\n", "mine.jsonl: line 2 is not JSON"),
    "a key twice": (
        "jsonl",
        '{"model_a": "x", "model_b": "y", "winner": "a", "winner": "b"}',
        "line 1 .*duplicate key",
    ),
    "quotes": ("csv", text([ODD]) + 'q,x,"y,j,a\n', "mine.csv: line 3 is not CSV: Value with unterminated quote"),
}


@pytest.mark.parametrize("case", NOT_FOR_AN_ENGINE)
def test_what_is_not_for_an_engine_is_refused_in_a_sentence(case, tmp_path):
    form, content, sentence = NOT_FOR_AN_ENGINE[case]
    with pytest.raises(DataError, match=sentence):
        judgerank.aggregate(written(tmp_path / f"mine.{form}", content))


def test_files_that_do_not_go_together_or_are_not_there_are_refused(tmp_path):
    one, other = in_form(tmp_path, "csv"), in_form(tmp_path, "jsonl")
    with pytest.raises(ConfigError, match=r"mine.csv and mine.jsonl are in different forms"):
        judgerank.aggregate([one, other])
    lacking = written(tmp_path / "lacking.csv", "model_a,model_b,winner\nx,y,a\n")
    with pytest.raises(DataError, match=r"mine.csv and lacking.csv have different columns"):
        judgerank.aggregate([one, lacking])
    with pytest.raises(DataUnavailableError, match=r"nothing\.parquet"):
        judgerank.aggregate(tmp_path / "nothing.parquet")
    with pytest.raises(ConfigError, match="'eval' is not a form that an engine reads"):
        judgerank.aggregate(tmp_path / "log.eval")
    with pytest.raises(ConfigError, match="memory 'much' is not an amount"):
        judgerank.aggregate(one, memory="much")


def test_without_the_extra_a_sentence_says_what_it_takes(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ConfigError, match=r"the extra 'scale' \(pip install 'duckdb>="):
        judgerank.aggregate(EXAMPLE)


def test_little_memory_spills_and_gives_the_same_cells_and_none_at_all_is_refused(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spilled"))
    (tmp_path / "spilled").mkdir()
    rng = np.random.default_rng(1)
    first = rng.integers(1000, size=1_000_000)
    table = pd.DataFrame({"model_a": first, "model_b": (first + rng.integers(1, 1000, len(first))) % 1000})
    table = table.map("m{}".format).assign(winner=rng.choice(["a", "b", "tie"], len(first)))
    table.to_parquet(tmp_path / "many.parquet")
    path = tmp_path / "many.parquet"
    same(judgerank.aggregate(path, memory="50MB"), judgerank.aggregate(path))

    @contextmanager
    def without_disk(memory):
        with sources.session(memory) as db:
            db.rows("SET max_temp_directory_size = '0KB'")
            yield db

    with monkeypatch.context() as patched:
        patched.setattr("judgerank.reading.large.cells.session", without_disk)
        with pytest.raises(ConfigError, match="memory '50MB' does not suffice"):
            judgerank.aggregate(path, memory="50MB")
    with pytest.raises(ConfigError, match="memory '1MB' does not suffice"):
        judgerank.aggregate(path, memory="1MB")
    assert list((tmp_path / "spilled").iterdir()) == []
    assert capfd.readouterr() == ("", "")  # a bar is for terminals


ENDLESS = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from judgerank.reading.large.sources import session
def handed_over(call):
    del db._thread.submit
    db._thread.submit(call)
    time.sleep(60)
with session() as db:
    if sys.argv[1] == "as it is handed over":
        db._thread.submit = handed_over
    print("begun", flush=True)
    db.rows("SELECT i % 1000, count(*) FROM range(10_000_000_000_000) t(i) GROUP BY ALL")
"""


@pytest.mark.parametrize("when", ["at any time", "as it is handed over"])
def test_an_interrupt_ends_a_query_and_leaves_nothing(tmp_path, when):
    where = environment() | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", ENDLESS, when]
    with subprocess.Popen(command, env=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "begun\n"
        assert len(list(tmp_path.iterdir())) == 1
        if when == "as it is handed over":
            time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        try:
            run.wait(60)
        finally:
            run.kill()
        assert run.stderr.read().rstrip().endswith("KeyboardInterrupt")
    assert list(tmp_path.iterdir()) == []


MODELS = ["btl", "judge_aware", "position_aware", "judge_aware_ties", "position_aware_ties"]


@pytest.mark.parametrize("model", MODELS)
def test_errors_by_question_are_those_in_memory_though_questions_cross_batches(model, monkeypatch):
    monkeypatch.setattr(sources, "BATCH", 7)
    judgments = judgerank.read(EXAMPLE)
    fitted = judgerank.fit(judgments.comparisons, model)
    expected = fitted.clustered(judgments.comparisons, judgments.question)
    found = clustered(fitted, EXAMPLE, residuals=True)
    assert_allclose(
        found.errors.robust, expected.errors.robust, rtol=0, atol=1e-11 * np.abs(expected.errors.robust).max()
    )
    assert found.degrees_of_freedom == expected.degrees_of_freedom
    assert_allclose(found.degrees_of_pairs, expected.degrees_of_pairs)
    for one, other in zip(judgerank.pairwise(found).items(), judgerank.pairwise(expected).items(), strict=True):
        assert_allclose(one[1], other[1]) if one[1].dtype == float else one[1].equals(other[1])


@needs_data
@pytest.mark.parametrize("name", ["mt_bench", "chatbot_arena"])
def test_errors_by_question_of_real_judgments_are_those_in_memory(name):
    path = find_file(FILES[name])
    judgments = judgerank.read(path)
    fitted = judgerank.fit(judgerank.aggregate(path), "position_aware")
    expected = fitted.clustered(judgments.comparisons, judgments.question)
    found = clustered(fitted, path)
    assert_allclose(
        found.errors.robust, expected.errors.robust, rtol=0, atol=1e-9 * np.abs(expected.errors.robust).max()
    )
    with pytest.raises(NoIntervalError, match=r"\bresiduals\b"):
        judgerank.pairwise(found)


def test_a_shrunk_fit_allows_for_few_questions_as_in_memory():
    judgments = judgerank.read(EXAMPLE)
    fitted = judgerank.fit(judgments.comparisons, solver="penalised")
    expected = fitted.clustered(judgments.comparisons, judgments.question)
    assert_allclose(clustered(fitted, EXAMPLE).errors.robust, expected.errors.robust, rtol=1e-9, atol=1e-12)


def test_questions_that_are_not_there_or_of_others_are_refused(tmp_path):
    fitted = judgerank.fit(judgerank.aggregate(EXAMPLE))
    table = pd.read_csv(EXAMPLE)
    table.drop(columns=[name for name in table if name.startswith("question")]).to_csv(
        tmp_path / "n.csv", index=False
    )
    with pytest.raises(DataError, match="no column for the question"):
        clustered(fitted, tmp_path / "n.csv")
    table[:-1].to_csv(tmp_path / "fewer.csv", index=False)
    with pytest.raises(DataError, match=r"^clusters\b"):
        clustered(fitted, tmp_path / "fewer.csv")
    name = next(name for name in table if name.startswith("question"))
    table.assign(**{name: "one"}).to_csv(tmp_path / "one.csv", index=False)
    with pytest.raises(DataError, match="in 1 question: two questions are needed"):
        clustered(fitted, tmp_path / "one.csv")
    table.loc[4, name] = None
    table.to_csv(tmp_path / "none.csv", index=False)
    for run in (lambda path: clustered(fitted, path), lambda path: list(resampled(path, 1, 0))):
        with pytest.raises(DataError, match=r"none.csv: record 5 has no 'question'"):
            run(tmp_path / "none.csv")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_resampled_questions_count_by_their_ids_alone(form, tmp_path):
    table = pd.read_csv(EXAMPLE, dtype=str)
    path = in_form(tmp_path, form, table.to_numpy().tolist(), list(table))
    judgments = judgerank.read(EXAMPLE)
    asked = judgments.frame["question_id"]
    found = list(resampled(path, 3, seed=5))
    for replicate, cells in enumerate(found):
        times = [weight_of(5, replicate, question) for question in asked]
        same(cells, judgments.comparisons.take(np.repeat(np.arange(len(asked)), times)).aggregate())
    assert len({cells.n_comparisons for cells in found}) > 1
    backwards = in_form(tmp_path, form, table[::-1].to_numpy().tolist(), list(table))
    for one, other in zip(found, resampled(backwards, 3, seed=5, memory="200MB"), strict=True):
        same(one, other)


def test_judges_whose_questions_all_count_nothing_are_left_out(tmp_path):
    never = next(str(one) for one in range(100) if weight_of(0, 0, str(one)) == 0)
    once = next(str(one) for one in range(100) if weight_of(0, 0, str(one)) == 1)
    path = in_form(tmp_path, "csv", [[never, "x", "y", "silent", "a"], [once, "x", "y", "heard", "a"]])
    (cells,) = resampled(path, 1, 0)
    assert (cells.judges, cells.models, cells.n_comparisons) == (("heard",), ("x", "y"), 1)


def test_weights_are_poisson_with_mean_one():
    """Wrongly refused once in a million by chance; the seed is fixed."""
    many = Counter(min(weight_of(1, 0, str(question)), 5) for question in range(20_000))
    expected = [*poisson.pmf(range(5), 1), poisson.sf(4, 1)]
    assert chisquare([many[k] for k in range(6)], 20_000 * np.array(expected)).pvalue > 1e-6
