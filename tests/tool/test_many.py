"""Rankings of many models or judges: what is kept, left out and said."""

import re
import sys
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest

from judgerank import Status, fit, rank
from judgerank.data.errors import NoIntervalError
from judgerank.engine import penalised as divergence
from judgerank.inference import uncertainty
from judgerank.order.scale import best_known_scores
from judgerank.ranking import exports
from judgerank.ranking.candidates import Candidates
from judgerank.ranking.ranking import MOST_ROWS
from judgerank.ranking.studies.next_comparisons import next_comparisons
from tests.tool.command import judgerank

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
    short = judgerank("rank", "many.csv", "-o", "out", cwd=tmp_path).stdout
    full = judgerank("rank", "many.csv", "-o", "out", "--verbose", cwd=tmp_path).stdout
    ranks = [re.findall(r"^ *(\d+) +\S+ +-?\d\.\d{3} ", said, re.MULTILINE) for said in (short, full)]
    assert ranks == [[str(rank + 1) for rank in range(many)] for many in (MOST_ROWS, MOST_ROWS + 3)]
    assert "and 3 more models on the page; --verbose prints them." in short
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
