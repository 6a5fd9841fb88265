"""Judges with few answers: one label for all, their discrimination at the mean of the others'."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from judgerank import fit, load, rank, read
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.errors import DataError
from judgerank.engine.penalised import Penalised
from judgerank.engine.problem import BlockProblem, Problem
from judgerank.fits.storing import save
from judgerank.model.members import MODELS, Parameters
from judgerank.ranking import studies
from judgerank.ranking.choices import DEFAULT, SHRUNK
from judgerank.ranking.studies import coverage, leaderboards, one_sided_votes
from judgerank.ranking.studies.one_sided_votes import ONE_SIDED, one_sided
from judgerank.ranking.studies.panel import TOO_FEW
from judgerank.ranking.verdict import verdict

SCORES = np.array([1.2, 0.4, -0.4, -1.2])
MODEL = MODELS[DEFAULT]


def votes(seed: int, panel: int = 3, each: int = 60, crowd: int = 80, answers: int = 1) -> Comparisons:
    """A panel of some judges, and a crowd of judges with few answers."""
    rng = np.random.default_rng(seed)
    judge = np.r_[np.repeat(np.arange(panel), each), panel + np.repeat(np.arange(crowd), answers)]
    i = rng.integers(0, 4, len(judge))
    j = (i + rng.integers(1, 4, len(judge))) % 4
    gamma, position = np.exp(np.linspace(-0.5, 0.5, panel)), np.linspace(-0.4, 0.4, panel)
    g, b = np.r_[gamma, np.ones(crowd)][judge], np.r_[position, np.full(crowd, 0.2)][judge]
    won = (rng.random(len(judge)) < expit(g * (SCORES[i] - SCORES[j]) + b)).astype(float)
    names = tuple("wxyz"), (*(f"judge-{k}" for k in range(panel)), *(f"guest-{k}" for k in range(crowd)))
    return Comparisons(*names, i, j, judge, won)


def bloc(size: int, model: int = 3) -> Comparisons:
    """The panel, and accounts with one vote each, all for one model."""
    honest = votes(1, crowd=size)
    rival = np.array([k for k in range(4) if k != model])[np.arange(len(honest)) % 3]
    guest = honest.judge >= 3
    first = np.arange(len(honest)) % 2 == 0
    i, j = np.where(first, model, rival), np.where(first, rival, model)
    return replace(
        honest,
        first=np.where(guest, i, honest.first),
        second=np.where(guest, j, honest.second),
        outcome=np.where(guest, first, honest.outcome).astype(float),
    )


def table(comparisons: Comparisons, questions: np.ndarray) -> pd.DataFrame:
    return comparisons.to_frame().assign(question_id=questions)


def test_judges_with_few_answers_have_one_label_and_rows_stay():
    raw = votes(0, panel=2, crowd=5, answers=FEW_ANSWERS - 1)
    pooled = raw.pool_few()
    assert pooled.judges == ("judge-0", "judge-1", FEW_JUDGES)
    assert (pooled.first == raw.first).all() and (pooled.outcome == raw.outcome).all()
    assert (pooled.judge == np.minimum(raw.judge, 2)).all() and pooled.pool_few() is pooled
    kept = votes(0, panel=2, crowd=5, answers=FEW_ANSWERS)
    assert kept.pool_few() is kept
    assert raw.pool_few(keep=("guest-3",)).judges == ("judge-0", "judge-1", "guest-3", FEW_JUDGES)
    assert list(pooled.is_pooled) == [False, False, True] == list(pooled.at_mean)


def test_a_judge_whose_answers_tell_no_order_gives_no_mean():
    raw = votes(0, panel=1, crowd=30)
    assert raw.pool_few().at_mean.any()
    always_first = replace(raw, outcome=np.where(raw.judge == 0, 1.0, raw.outcome))
    assert not always_first.pool_few().at_mean.any()
    assert not raw.pool_few().with_judges([FEW_JUDGES]).at_mean.any()


@pytest.mark.parametrize("solver", [SHRUNK, "newton"])
@pytest.mark.parametrize("name", [DEFAULT, "judge_aware", "position_aware_ties"])
def test_their_discrimination_is_the_geometric_mean_of_the_others(solver, name):
    raw = votes(2)
    raw = replace(raw, outcome=np.where(np.arange(len(raw)) % 9 == 0, 0.5, raw.outcome))
    fitted = fit(raw.pool_few(), name, solver)
    own = fitted.discrimination.drop(FEW_JUDGES)
    assert fitted.converged and fitted.discrimination[FEW_JUDGES] == pytest.approx(1)
    assert np.log(own).mean() == pytest.approx(0, abs=1e-9) and own.std() > 0
    assert not fitted.free[0, -1] and fitted.free[0, :-1].all()
    assert fitted.judge_status[FEW_JUDGES] == "pooled"
    assert np.isfinite(fitted.standard_errors[: 4 + 3]).all() and np.isnan(fitted.standard_errors[4 + 3])


def test_it_is_the_maximum_under_that_constraint():
    """No point nearby that keeps to it is higher, by the exact fit's own likelihood."""
    cells = votes(3).pool_few().aggregate()
    fitted = fit(cells, DEFAULT)
    best, rng = fitted.solution.parameters, np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            judges = best.judges + size * rng.normal(size=best.judges.shape)
            judges[0, -1] = 0.0
            judges[0, :-1] -= judges[0, :-1].mean()
            scores = best.scores + size * rng.normal(size=4)
            other = Parameters(scores - scores.mean(), judges)
            assert likelihood(cells, other) < fitted.log_likelihood
    free = fit(replace(cells, judges=(*cells.judges[:-1], "guests")), DEFAULT)
    assert free.log_likelihood >= fitted.log_likelihood


def likelihood(cells: Comparisons, at: Parameters) -> float:
    eta = np.exp(at.judges[0])[cells.judge] * (at.scores[cells.first] - at.scores[cells.second])
    eta = eta + at.judges[1][cells.judge]
    return float(cells.count @ (cells.outcome * eta - np.logaddexp(0, eta)))


def test_the_information_by_blocks_is_that_of_one_matrix():
    cells = votes(4, panel=6, each=40).pool_few().aggregate()
    spread = {"scores": 0.9, "log_discrimination": 0.4, "position": 0.3}
    whole, blocks = Problem(cells, MODEL), BlockProblem(cells, MODEL)
    x = np.zeros(len(whole.coordinates.free_columns))
    modes = [problem.mode(x, spread, Penalised())[0] for problem in (whole, blocks)]
    assert_allclose(*modes, atol=1e-8)
    assert whole.marginal(modes[0], spread) == pytest.approx(blocks.marginal(modes[0], spread), rel=1e-12)


def test_many_accounts_move_a_ranking_hardly_more_than_they_move_bradley_terry():
    """Where each had a discrimination of its own, those of the panel fell to nearly nothing."""
    panel = votes(1, crowd=1)
    before, plain = fit(panel.pool_few(), DEFAULT, SHRUNK).scores, fit(panel, "btl").scores
    for size in (40, 120):
        shared, equal = fit(bloc(size).pool_few(), DEFAULT, SHRUNK), fit(bloc(size), "btl")
        assert shared.ranks.idxmin() == equal.ranks.idxmin() == "w"
        assert abs(shared.scores - before).max() < 1.5 * abs(equal.scores - plain).max()
    own = fit(bloc(120), DEFAULT, SHRUNK)
    assert own.ranks.idxmin() == "z"


LAYOUTS = {
    "one vote a judge": lambda frame: frame.assign(judge_model=[f"p{k}" for k in range(len(frame))]),
    "two votes a judge": lambda frame: frame.assign(judge_model=[f"p{k // 2}" for k in range(len(frame))]),
    "judges within questions": lambda frame: frame.assign(
        question_id=[f"q{k // 6}" for k in range(len(frame))],
        judge_model=[f"q{k // 6}-p{k % 3}" for k in range(len(frame))],
    ),
}


@pytest.mark.parametrize("columns", ["paper", "arena", "one-hot"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", [0, 1])
def test_where_nobody_has_ten_answers_a_ranking_is_that_of_equal_weights(layout, columns, seed):
    raw = votes(seed, panel=2, each=90, crowd=0)
    frame = LAYOUTS[layout](table(raw, [f"q{k}" for k in range(len(raw))]))
    given = frame
    if columns == "arena":
        winner = frame["judge_preferred_model"].map({"a": "model_a", "b": "model_b"})
        given = frame.drop(columns=["judge_preferred_model"]).assign(winner=winner)
        given = given.rename(columns={"judge_model": "judge"})
    elif columns == "one-hot":
        hot = {f"winner_model_{x}": (frame["judge_preferred_model"] == x).astype(int) for x in "ab"}
        given = frame.drop(columns="judge_preferred_model").assign(**hot, winner_tie=0)
    ranking = rank(given)
    one_judge = fit(raw.pool_judges(), "position_only", SHRUNK)
    assert_allclose(ranking.fit.scores, one_judge.scores, rtol=1e-6)
    assert list(ranking.fit.ranks) == list(fit(raw, "btl").ranks)
    assert ranking.judgments.n_judges == frame["judge_model"].nunique()
    assert "members" in ranking.tables and ranking.tables["pairs"]["separated"].notna().all()


def test_a_ranking_says_so_and_its_table_has_one_row_for_them(tmp_path):
    raw = votes(5)
    ranking = rank(table(raw, [f"q{k}" for k in range(len(raw))]))
    judges = ranking.tables["judges"].set_index("judge")
    assert list(judges.index.sort_values()) == sorted(["judge-0", "judge-1", "judge-2", FEW_JUDGES])
    assert judges.loc[FEW_JUDGES, "verdict"] == TOO_FEW and judges.loc[FEW_JUDGES, "status"] == "pooled"
    (remark,) = (text for text in ranking.remarks if text.startswith("80 judges with fewer than 10 answers"))
    assert "discrimination" in remark
    assert not any(FEW_JUDGES in text for text in verdict(ranking).warnings)
    assert FEW_JUDGES not in set(ranking.tables["next"]["judge_model"])
    ranking.write(tmp_path / "out")
    save(ranking.fit, tmp_path / "board.npz")
    board = load(tmp_path / "board.npz")
    assert_allclose(board.discrimination, ranking.fit.discrimination)


def test_new_votes_on_a_board_count_with_those_of_its_judges_with_few_answers():
    from judgerank.boards.moving import place

    raw = votes(6)
    board = fit(raw.pool_few(), DEFAULT, SHRUNK)
    frame = (
        votes(7, panel=1, each=40, crowd=30).to_frame().replace({"model_a": {"z": "new"}, "model_b": {"z": "new"}})
    )
    frame["judge_model"] = frame["judge_model"].str.replace("guest", "other")
    placed = place(board, Comparisons.from_frame(frame))
    (without_newcomer,) = placed.anchored.left_out.values()
    assert without_newcomer == (frame[["model_a", "model_b"]] != "new").all(axis=1).sum()


def test_a_bloc_is_named_with_the_ranking_without_it():
    frame = bloc(120).to_frame()
    ranking = rank(frame)
    (remark,) = (text for text in ranking.remarks if text.startswith(ONE_SIDED))
    assert "120 judges" in remark and "chose z in 100%" in remark and "w still has the highest score" in remark
    assert remark.removeprefix(ONE_SIDED) in verdict(ranking).warnings
    judges = ranking.tables["judges"].set_index("judge")
    assert judges.loc[FEW_JUDGES, "verdict"] == TOO_FEW
    (group,) = one_sided(bloc(120).pool_few(), MODEL)
    assert group.model == "z" and group.share == 1 and group.expected < 0.4 and group.first == "w"


def test_an_honest_crowd_is_not_accused():
    accused = [one_sided(votes(seed, answers=1 + seed % 3).pool_few(), MODEL) for seed in range(20)]
    assert not any(accused)


def test_accounts_with_many_votes_for_one_model_are_one_group():
    raw = bloc(60)
    ten = replace(
        raw,
        judges=(*raw.judges[:3], *(f"fan-{k}" for k in range(6))),
        judge=np.where(raw.judge < 3, raw.judge, 3 + raw.judge % 6),
    )
    (group,) = one_sided(ten.pool_few(), MODEL)
    assert group.judges == tuple(f"fan-{k}" for k in range(6)) and group.model == "z"


def test_no_study_ends_a_ranking(monkeypatch):
    raw = votes(8)

    def refuses(*_):
        raise DataError("there is nothing to see")

    monkeypatch.setattr(coverage, "left_out", refuses)
    monkeypatch.setattr(one_sided_votes, "of_component", lambda _: np.linalg.inv(np.zeros((2, 2))))
    remarks = rank(raw.to_frame()).remarks
    assert any("left out" in text and "there is nothing to see" in text for text in remarks)
    assert any("one sided votes" in text and "Singular" in text for text in remarks)


def test_faults_of_the_code_are_raised_and_so_are_those_of_the_ranking_itself(monkeypatch):
    raw = votes(8).to_frame()
    monkeypatch.setattr(coverage, "left_out", lambda _: [].missing)
    with pytest.raises(AttributeError):
        rank(raw)
    monkeypatch.undo()

    def refuses(_):
        raise DataError("no board")

    monkeypatch.setattr(leaderboards, "leaderboard", refuses)
    with pytest.raises(DataError):
        rank(raw)
    assert studies.REQUIRED[0] == "leaderboard"


def test_records_marked_as_not_counting_are_refused_until_it_is_said_whether_they_count():
    frame = votes(9).to_frame()
    marked = frame.assign(anony=np.arange(len(frame)) >= 80, is_refusal=False, archived=[None] * len(frame))
    with pytest.raises(DataError, match="anony"):
        read(marked)
    (warning,) = read(marked, columns={"valid": None}).warnings
    assert f"80 of {len(frame)} records" in warning and "anony" in warning
    assert len(read(marked, columns={"valid": "anony"}).frame) == len(frame) - 80
    assert not read(frame.assign(anony=True)).warnings
    nested = frame.assign(dedup_tag=[{"sampled": k > 4} for k in range(len(frame))])
    (warning,) = read(nested, columns={"valid": None}).warnings
    assert "5 of" in warning and "dedup_tag.sampled" in warning
