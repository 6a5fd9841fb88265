"""Large files are read by an engine as the other reader does, and many models or judges are ranked."""

import json
import re
import sys
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import judgerank
from judgerank import Status, fit, rank
from judgerank.data.errors import DataError, NoIntervalError
from judgerank.engine import penalised as divergence
from judgerank.fits import errors_by_question
from judgerank.inference import uncertainty
from judgerank.order.scale import best_known_scores
from judgerank.ranking import exports, study
from judgerank.ranking.candidates import Candidates
from judgerank.ranking.ranking import MOST_ROWS
from judgerank.ranking.studies.next_comparisons import next_comparisons
from judgerank.reading import read
from judgerank.reading.large import from_engine
from replication.config import ROOT
from replication.datasets import find_file
from tests.forked import judgerank as command
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
    assert whole.fit.errors.n_clusters == part.fit.errors.n_clusters == judgments.n_questions
    assert part.fit.errors.by_cluster.shape[0] == 700
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


# Rankings of many models or judges: what is kept, left out and said.

SCORES, GAMMA = np.linspace(1.5, -1.5, 12), (0.5, 1.0, 2.0)


@pytest.fixture(scope="module")
def raw(simulated):
    return simulated(41, SCORES, GAMMA, 2_500, ties=0.15)


# candidates


@pytest.mark.parametrize(
    "member", ["btl", "judge_aware", "position_aware", "judge_aware_ties", "position_aware_ties"]
)
def test_candidates_that_are_left_out_could_not_have_been_the_best(raw, member, monkeypatch):
    fitted = fit(raw, member)
    looked = []
    outcomes = Candidates.outcomes

    def counted(self, who):
        looked.append(who.shape[1])
        return outcomes(self, who)

    monkeypatch.setattr(Candidates, "outcomes", counted)
    plan, some = next_comparisons(fitted, picks=6), sum(looked)
    looked.clear()
    above = Candidates._above
    monkeypatch.setattr(Candidates, "_above", lambda self, top, w, size: above(self, -1.0, w, size))
    pd.testing.assert_frame_equal(next_comparisons(fitted, picks=6), plan)
    assert some < 0.6 * sum(looked)


def test_no_candidate_of_a_fall_that_is_asked_for_is_left_out_where_answers_are_often_strong(raw):
    """The variance of an answer is then far above one quarter."""
    much = np.random.default_rng(2).random(len(raw)) < 0.95
    strong = np.stack([much & (raw.outcome == 1), much & (raw.outcome == 0)], axis=1).astype(float)
    fitted = fit(replace(raw, strong=strong), "position_aware_graded")
    those, v, to_scores = Candidates(fitted, 0), fitted.covariance, best_known_scores(fitted)
    pairs = [(i, j) for i in range(len(SCORES)) for j in range(i)]
    every = np.concatenate([those.between(*pair) for pair in pairs], axis=1)
    for pair in ((0, 1), (5, 6)):
        c = to_scores[pair[0]] - to_scores[pair[1]]
        asked = those.outcomes(every)
        falls = asked.caution * asked.falls(v, c)[1]
        for top in np.quantile(falls, [0.5, 0.9, 0.99, 1.0]):
            kept = set(map(tuple, those._above(top, v @ c, 1).T.tolist()))
            assert kept >= set(map(tuple, every[:, falls >= top].T.tolist()))


# the terminal


def test_the_terminal_prints_the_first_models_and_counts_the_rest(simulated, tmp_path):
    raw = simulated(5, np.linspace(2, -2, MOST_ROWS + 3), GAMMA, 3_000)
    raw.to_frame().rename(columns={"judge_preferred_model": "winner"}).to_csv(tmp_path / "many.csv", index=False)
    short = command("rank", "many.csv", "-o", "out", cwd=tmp_path).stdout
    full = command("rank", "many.csv", "-o", "out", "--verbose", cwd=tmp_path).stdout
    ranks = [re.findall(r"^ *(\d+) +\S+ +-?\d\.\d{3} ", said, re.MULTILINE) for said in (short, full)]
    assert ranks == [[str(rank + 1) for rank in range(many)] for many in (MOST_ROWS, MOST_ROWS + 3)]
    assert "and 3 more models: --verbose, or the page." in short
    assert str(rank(tmp_path / "many.csv")).endswith("\n... and 3 more models")


# tables


@pytest.mark.parametrize("there", [True, False])
def test_long_tables_are_parquet_where_that_can_be_written(raw, tmp_path, monkeypatch, there):
    pytest.importorskip("pyarrow")
    ranking = rank(raw.to_frame().rename(columns={"judge_preferred_model": "winner"}))
    monkeypatch.setattr(exports, "LONG", 50)
    if not there:
        monkeypatch.setattr(exports, "find_spec", lambda name: None)
    ranking.write(tmp_path / "out")
    name = "pairs.parquet" if there else "pairs.csv"
    found = {path.name for path in (tmp_path / "out").iterdir()}
    assert {name, "leaderboard.csv"} <= found
    assert not {"pairs.parquet", "pairs.csv"} - {name} & found
    page = (tmp_path / "out" / "index.html").read_text()
    assert f'href="{name}"' in page
    assert ("the extra 'parquet' (pip install 'pyarrow>=" in unescape(page)) == (not there)
    read = pd.read_parquet if there else pd.read_csv
    again = read(tmp_path / "out" / name)
    pd.testing.assert_frame_equal(again[["first", "second"]], ranking.tables["pairs"][["first", "second"]])
    assert "pyarrow" in sys.modules or not there


# too many for a covariance


def test_beyond_so_many_parameters_there_is_a_ranking_without_intervals(raw, monkeypatch):
    monkeypatch.setattr(uncertainty, "MOST_PARAMETERS", 10)
    with pytest.raises(NoIntervalError, match="18 parameters are more than the 10"):
        fit(raw, "position_aware").confidence_intervals()
    with pytest.raises(NoIntervalError, match="18 parameters"):
        fit(raw, "position_aware").clustered(raw, np.arange(len(raw)))
    ranking = rank(raw.to_frame().rename(columns={"judge_preferred_model": "winner"}))
    board = ranking.tables["leaderboard"]
    assert board["low"].isna().all()
    assert board["rank"].tolist() == list(range(1, 13))
    assert len(ranking.tables["pairs"]) == 66
    assert ranking.tables["next"].empty
    assert any(text.startswith("No intervals: 12 models and 3 judges") for text in ranking.remarks)


def test_judges_who_run_off_are_not_held_where_they_are_too_many(cells_of, monkeypatch):
    rows = [("x", "y", "j0", 3, 0), ("y", "z", "j0", 3, 0), ("x", "y", "j1", 3, 2), ("y", "z", "j1", 1, 2)]
    cells = cells_of(*rows, ("x", "z", "j1", 2, 1))
    assert fit(cells).solution.alone is not None
    monkeypatch.setattr(divergence, "MOST_PARAMETERS", 4)
    found = fit(cells)
    assert found.solution.alone is None
    assert found.status is Status.UNBOUNDED
