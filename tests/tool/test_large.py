"""Large files are read by an engine: the judgments, the words and the ranking are those of the other reader."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import judgerank
from judgerank.data.errors import DataError
from judgerank.fits import errors_by_question
from judgerank.ranking import study
from judgerank.reading import read
from judgerank.reading.large import from_engine
from replication.config import ROOT
from replication.datasets import find_file
from tests.real_data import FILES, needs_data
from tests.tool.test_scale import HEADER, RECORDS, in_form

pytest.importorskip("duckdb")

EXAMPLE = ROOT / "examples/judgments.csv"
WORDS = {"a": "Model A", "b": "model b", "c": "draw"}


def both(monkeypatch, *asked, **how):
    """What each of the readers gives."""
    monkeypatch.setattr(read, "are_large", lambda *_: False)
    small = judgerank.read(*asked, **how)
    monkeypatch.undo()
    monkeypatch.setattr(from_engine, "LARGE", 1)
    monkeypatch.setattr(from_engine, "BYTES", 1)
    return judgerank.read(*asked, **how), small


def by_engine(judgments):
    return isinstance(judgments.frame["model_a"].dtype, pd.CategoricalDtype)


def require_same(large, small):
    for name in ("first", "second", "judge", "outcome", "count"):
        assert_array_equal(getattr(large.comparisons, name), getattr(small.comparisons, name), err_msg=name)
    strong = large.comparisons.strong, small.comparisons.strong
    assert np.array_equal(*strong) if all(one is not None for one in strong) else strong == (None, None)
    for name in ("models", "judges", "dropped", "ordered"):
        assert getattr(large.comparisons, name) == getattr(small.comparisons, name)
    frames = [one.frame.astype(object).where(one.frame.notna(), None) for one in (large, small)]
    pd.testing.assert_frame_equal(*(frame.drop(columns="count", errors="ignore") for frame in frames))
    assert (large.name, large.remarks, large.source) == (small.name, small.remarks, small.source)
    pd.testing.assert_frame_equal(large.judges, small.judges)
    if "question_id" in small.frame:
        assert_array_equal(large.question, small.question)
        assert_array_equal(large.question_keys, small.question_keys)
        assert (large.question_ids, large.n_questions) == (small.question_ids, small.n_questions)


@pytest.mark.parametrize("form", ["csv", "csv.gz", "tsv", "jsonl", "ndjson.gz", "json", "parquet"])
def test_every_form_is_read_alike(form, tmp_path, monkeypatch):
    large, small = both(monkeypatch, in_form(tmp_path, form))
    assert by_engine(large) and not by_engine(small)
    require_same(large, small)


@pytest.mark.parametrize("name", [name for name in FILES if name != "in_house"])
@needs_data
def test_real_judgments_are_read_and_ranked_alike(name, monkeypatch):
    large, small = both(monkeypatch, find_file(FILES[name]))
    assert by_engine(large)
    require_same(large, small)
    if name == "chatbot_arena":
        one, other = (judgerank.rank(judgments) for judgments in (large, small))
        assert one.remarks == other.remarks and one.tables.keys() == other.tables.keys()
        for table in ("leaderboard", "pairs", "judges"):
            pd.testing.assert_frame_equal(one.tables[table], other.tables[table], rtol=1e-8)
        assert one.to_html() == other.to_html()


def test_patterns_and_several_files_are_read_alike(tmp_path, monkeypatch):
    frame = pd.read_csv(EXAMPLE)
    for number in range(3):
        frame.iloc[number::3].to_csv(tmp_path / f"part{number}.csv", index=False)
    large, small = both(monkeypatch, str(tmp_path / "part*.csv"))
    assert by_engine(large) and large.source["file"] == "3 files"
    require_same(large, small)


def table(**changed):
    frame = pd.DataFrame(RECORDS * 3, columns=HEADER).assign(judge_preferred_model=list("abcabc") * 3)
    frame["question_id"] = [f"q{number}" for number in range(len(frame))]
    return frame.assign(**changed)


CASES = {
    "everyday words": table(judge_preferred_model=[WORDS[letter] for letter in "abcabc"] * 3),
    "numbers": table(judge_preferred_model=[1, 2, 1, 2, 2, 1] * 3),
    "names of models": table().assign(judge_preferred_model=lambda frame: frame["model_b"]),
    "numbers for questions": table(question_id=[*range(2, 20)]),
    "another spelling": table().rename(columns={"judge_model": "Judge-Model"}),
    "no questions": table().drop(columns="question_id"),
    "no judges": table().drop(columns="judge_model"),
    "copies": pd.concat([table(), table().iloc[:3]], ignore_index=True),
    "silent judges": table(
        judge_model=[*"jkjkjkjkjkjkjkjk", "m", "a"],
        judge_preferred_model=[*"abcabcabcabcabca", "unknown", None],
    ),
    "texts beside": table(answer_a="yes", answer_b="no"),
}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("case", CASES)
def test_what_an_engine_reads_is_read_alike(case, form, tmp_path, monkeypatch):
    path = tmp_path / f"mine.{form}"
    CASES[case].to_csv(path, index=False) if form == "csv" else CASES[case].to_parquet(path)
    large, small = both(monkeypatch, path)
    assert by_engine(large)
    if case == "texts beside":  # which are not held of many records
        small = small.__class__(**vars(small) | {"frame": small.frame.drop(columns=["answer_a", "answer_b"])})
    require_same(large, small)


OTHERS = {
    "lengths of answers": (table(length_a=5, length_b=[*range(18)]), {}),
    "categories": (table(category="maths"), {}),
    "names in two cases": (table(judge_model=["J", "j"] * 9), {"names": "fold"}),
    "a question missing": (table(question_id=[None, *map(str, range(17))]), {}),
    "copies to leave out": (pd.concat([table(), table().iloc[:3]]), {"copies": "drop"}),
    "copies but for a column": (pd.concat([table(n=1), table(n=1).iloc[:3]]), {"columns": {"count": None}}),
    "the winner first": (table(judge_preferred_model="a").loc[[*range(18)] * 2].assign(question_id=range(36)), {}),
    "an unused order": (table(order="ab"), {}),
    "strength in a column": (table(strength=[1, 2, None] * 6), {}),
    "strength in words": (table(judge_preferred_model=["A>>B", "B>A", "A=B"] * 6), {}),
    "two bad answers": (table(judge_preferred_model=["a", "b", "tie (bothbad)"] * 6), {}),
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_an_engine_would_read_otherwise_is_left_to_the_other_reader(case, tmp_path, monkeypatch):
    frame, how = OTHERS[case]
    path = tmp_path / "mine.csv"
    frame.to_csv(path, index=False)
    large, small = both(monkeypatch, path, **how)
    assert not by_engine(large)
    assert (small.comparisons.strong is not None) == case.startswith("strength")
    require_same(large, small)


def test_questions_that_are_lists_are_named_alike(tmp_path, monkeypatch):
    rows = [{**row, "question_id": ["set", number, "x"]} for number, row in enumerate(table().to_dict("records"))]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    large, small = both(monkeypatch, path)
    assert by_engine(large) and large.question_ids[0] == "set/0/x"
    require_same(large, small)


def test_counts_are_read_alike(tmp_path, monkeypatch):
    path = tmp_path / "mine.csv"
    table(times=[*range(1, 19)]).to_csv(path, index=False)
    large, small = both(monkeypatch, path, columns={"count": "times"})
    assert by_engine(large) and large.comparisons.n_comparisons == 171
    require_same(large, small)
    assert_array_equal(large.comparisons.tied, small.comparisons.tied)


def test_the_record_at_fault_is_named_alike(tmp_path, monkeypatch):
    path = tmp_path / "mine.csv"
    frame = table()
    frame.loc[11, "judge_preferred_model"] = "perhaps"
    frame.to_csv(path, index=False)
    said = []
    for large in (False, True):
        monkeypatch.setattr(read, "are_large", lambda *_, large=large: large)
        with pytest.raises(DataError) as raised:
            judgerank.read(path)
        said.append(str(raised.value))
    assert said[0] == said[1] and "record 12" in said[0]


def test_small_files_and_those_of_other_kinds_are_not_for_an_engine(tmp_path):
    small, other = tmp_path / "small.csv", tmp_path / "large.xlsx"
    small.write_bytes(b"x" * 90_000)
    other.write_bytes(b"x" * 30_000_000)
    assert not from_engine.are_large([small], None) and not from_engine.are_large([other], None)
    assert not from_engine.are_large([tmp_path / "nowhere.csv"], None)
    (tmp_path / "long.csv").write_bytes((b"x" * 999 + b"\n") * 20_000)  # few records, each a long one
    assert not from_engine.are_large([tmp_path / "long.csv"], None)
    (tmp_path / "large.csv").write_bytes(b"a,b,c,a\n" * 110_000)
    assert from_engine.are_large([tmp_path / "large.csv"], None)
    assert not from_engine.are_large([tmp_path / "large.csv", other], None)


def many_questions(size=6_000, questions=2_000):
    rng = np.random.default_rng(5)
    first = rng.integers(0, 6, size)
    second = (first + rng.integers(1, 6, size)) % 6
    lean = rng.normal(0, 0.8, (questions, 6))  # what judges of a question share
    question = rng.integers(0, questions, size)
    lead = (second - first) * 0.4 + lean[question, first] - lean[question, second]
    answer = np.where(rng.random(size) < 1 / (1 + np.exp(-lead)), "a", "b")
    judge = rng.integers(0, 4, size).astype(str)
    names = np.array([*"uvwxyz"])
    columns = {"question_id": question.astype(str), "model_a": names[first], "model_b": names[second]}
    return pd.DataFrame({**columns, "judge_model": judge, "judge_preferred_model": answer})


def test_errors_from_part_of_the_questions_are_near_those_of_all_and_the_page_says_so(monkeypatch):
    judgments = judgerank.read(many_questions())
    whole = judgerank.rank(judgments)
    monkeypatch.setattr(errors_by_question, "MOST_QUESTIONS", 700)
    monkeypatch.setattr("judgerank.ranking.studies.coverage.MOST_QUESTIONS", 700)
    part = judgerank.rank(judgments)
    assert whole.fit.n_clusters == part.fit.n_clusters == judgments.n_questions
    assert part.fit.by_cluster.shape[0] == 700
    errors = [np.sqrt(np.diag(one.fit.covariance)[:6]) for one in (whole, part)]
    assert_allclose(errors[0], errors[1], rtol=0.12)
    assert np.abs(errors[0] / errors[1] - 1).max() > 1e-6
    assert_array_equal(whole.fit.scores, part.fit.scores)
    said = f"Standard errors by question come from 700 of {judgments.n_questions:,} questions, drawn at random."
    assert said in part.remarks and said not in whole.remarks
    differences = [one.tables["pairs"]["standard_error"].to_numpy() for one in (whole, part)]
    assert_allclose(*differences, rtol=0.12)


def test_all_clusters_give_the_same_errors_as_no_bound_on_them():
    fitted = judgerank.fit(judgerank.read(many_questions(900, 300)))
    assert_array_equal(fitted.clustered().covariance, fitted.clustered(most=300).covariance)


def test_studies_of_records_look_at_whole_questions_whatever_the_order_of_the_records(monkeypatch):
    frame = many_questions()
    monkeypatch.setattr(study, "MOST_SAMPLED", 1_000)
    one = study.sampled(judgerank.read(frame))
    other = study.sampled(judgerank.read(frame.sample(frac=1, random_state=1)))
    assert 900 < len(one.comparisons) <= 1_000 and {*one.question_ids} == {*other.question_ids}
    sizes = frame["question_id"].value_counts()
    assert len(one.comparisons) == sum(sizes[name] for name in one.question_ids)
    ranking = judgerank.rank(frame)
    assert any(re.search(r"\brequests were\b.* [\d,]+ ", remark) for remark in ranking.remarks)


def test_a_ranking_says_what_it_left_out(monkeypatch):
    frame = many_questions()
    assert not any(" 12 parameters" in remark for remark in judgerank.rank(frame).remarks)
    monkeypatch.setattr("judgerank.trust.sentences.MOST_ROWS", 1_000)
    monkeypatch.setattr("judgerank.ranking.study.MOST_ROWS", 1_000)
    (said,) = [remark for remark in judgerank.rank(frame).remarks if " 12 parameters" in remark]
    assert said == (
        "Not computed for 6,000 judgments and 12 parameters, since it takes long: the fit without shrinkage, the "
        "smallest removals that change the leader (judgerank trust FILE finds them, in minutes)."
    )
