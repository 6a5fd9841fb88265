"""Newcomers on the human scale: brute force, closed forms, invariances, coverage and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judgerank import on_human_board, people_report
from judgerank.data.errors import ConfigError, DataError
from judgerank.engine.information import zero_sum_basis
from judgerank.fits.fit import fit
from judgerank.people.human_scale import (
    POINTS,
    HumanBoard,
    conformal_interval,
    highest_level,
    human_scale,
    left_out,
)
from judgerank.people.toward_panel import Published, drawn, drawn_toward_panel
from judgerank.reading.read import judgments_of, read_judgments
from replication.datasets import find_file
from studies.human_boards import Board, drawn_board, left_off, published_board
from tests.library.test_people import frame_of
from tests.real_data import FILES, needs_data

RNG = np.random.default_rng(0)


def studentised(s, h, w):
    """Residuals of weighted least squares over their standard errors, by the normal equations."""
    x = np.column_stack([np.ones_like(s), s])
    inverse = np.linalg.inv(x.T @ (w[:, None] * x))
    r = h - x @ (inverse @ (x.T @ (w * h)))
    return r / np.sqrt(1 / w - np.einsum("ij,jk,ik->i", x, inverse, x))


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_the_conformal_interval_is_the_set_of_scores_that_the_other_models_do_not_make_extreme(level):
    """Beside a search over candidates, each with a fit of its own."""
    n, step = 12, 0.005
    s, w = RNG.normal(size=n), RNG.uniform(0.5, 2.0, n)
    h = 0.8 * s + RNG.normal(size=n) * 0.4
    low, high = conformal_interval(s, h, w, 1.3, 0.7, level)
    held = []
    for y in np.arange(-6.0, 8.0, step):
        r = np.abs(studentised(np.r_[s, 1.3], np.r_[h, y], np.r_[w, 0.7]))
        if (r >= r[-1] - 1e-12).mean() > 1 - level:
            held.append(y)
    assert low == pytest.approx(min(held), abs=step) and high == pytest.approx(max(held), abs=step)


def test_no_finite_interval_exists_above_n_over_n_plus_one():
    s, h, w = np.arange(4.0), np.array([0.1, 0.9, 2.2, 2.8]), np.ones(4)
    assert highest_level(4) == 0.8
    assert np.isinf(conformal_interval(s, h, w, 1.0, 1.0, 0.81)).all()
    assert np.isfinite(conformal_interval(s, h, w, 1.0, 1.0, 0.8)).all()


def test_conformal_intervals_cover_as_nominal_where_models_are_exchangeable():
    rng, held = np.random.default_rng(1), []
    for _ in range(2000):
        s = rng.normal(size=20)
        h = s + rng.standard_t(3, size=20)
        low, high = conformal_interval(s[1:], h[1:], np.ones(19), s[0], 1.0, 0.9)
        held.append(low <= h[0] <= high)
    assert np.mean(held) == pytest.approx(18 / 20, abs=0.02)  # exactly 18 of 20 in theory


def test_a_conformal_interval_moves_with_the_scale_of_the_board():
    s, w = RNG.normal(size=9), np.ones(9)
    h = s + RNG.normal(size=9)
    ends = np.array(conformal_interval(s, h, w, 0.2, 1.0, 0.9))
    moved = conformal_interval(3 * s - 1, 50 * h + 7, 4 * w, 3 * 0.2 - 1, 4.0, 0.9)
    np.testing.assert_allclose(moved, 50 * ends + 7, rtol=1e-9)


def test_left_out_predictions_are_those_of_the_line_through_the_others():
    s, w = RNG.normal(size=8), RNG.uniform(1, 3, 8)
    h = 2 * s + RNG.normal(size=8)
    line, mean = left_out(s, h, w)
    for i in range(8):
        rest = np.arange(8) != i
        slope, base = np.polyfit(s[rest], h[rest], 1, w=np.sqrt(w[rest]))
        assert line[i] == pytest.approx(base + slope * s[i])
        assert mean[i] == pytest.approx(np.average(h[rest], weights=w[rest]))


def test_a_board_known_exactly_gives_people_its_scores_and_the_panels_line_elsewhere():
    panel, board, _ = fitted(12, 4, 0.0, seed=2)
    models = panel.comparisons.models
    exact = replace(board, error=np.zeros(len(board.models)))
    found = drawn(exact.evidence(models), panel, models)
    old = [models.index(name) for name in board.models]
    gaps = found.scores[old] - found.scores[old].mean()
    np.testing.assert_allclose(POINTS * gaps, exact.elo - exact.elo.mean(), atol=0.5)


def test_votes_of_very_many_people_and_a_board_of_their_scores_agree():
    """Votes by Laplace's approximation against a normal board at the same scores, with the same information."""
    _, _, frame = fitted(8, 4, 0.2, seed=3, votes=4000)
    report = people_report(judgments_of(frame, copies="keep"))  # people saw some answers many times
    items = report.people.items
    here = HumanBoard.of_votes(items)
    votes = drawn_toward_panel(items, report.panel)
    place = [items.models.index(name) for name in here.models]
    v = np.linalg.pinv(fit_of_votes(items, place).covariance, hermitian=True)
    precision, values = np.zeros((len(items.models), len(items.models))), np.zeros(len(items.models))
    precision[np.ix_(place, place)] = v
    values[place] = here.elo / POINTS
    basis = zero_sum_basis(len(items.models))
    normal = drawn(
        Published(basis.T @ precision @ basis, basis.T @ precision @ values), report.panel, items.models
    )
    np.testing.assert_allclose(normal.scores, votes.scores, atol=0.03)
    assert normal.slope == pytest.approx(votes.slope, abs=0.05)


class AsNoisyAsTold(Published):
    """A board in clusters, whose gradient varies by just what it tells."""

    def meat(self, t):
        return self.precision


def test_clusters_as_noisy_as_their_information_says_leave_the_errors_of_people_as_they_are():
    panel, _, _ = fitted(5, 3, 0.2, seed=9)
    models = panel.comparisons.models
    precision = np.diag(np.geomspace(0.1, 30, len(models) - 1))
    weighted = precision @ np.linspace(-1, 1, len(models) - 1)
    plain, clustered = (drawn(kind(precision, weighted), panel, models) for kind in (Published, AsNoisyAsTold))
    np.testing.assert_allclose(clustered.covariance, plain.covariance, rtol=1e-9, atol=1e-12)


def fit_of_votes(items, place):
    rows = items.comparisons()
    names = tuple(items.models[i] for i in place)
    ends = [np.searchsorted(place, end) for end in (rows.first, rows.second)]
    return fit(replace(rows, models=names, first=ends[0], second=ends[1]), "btl")


def fitted(models, judges, tastes, seed, votes=150):
    """A simulated panel's fit, the board of people's true scores, and the judgments as a table."""
    board = Board(models=models, judges=judges, tastes=tastes, votes=votes)
    found = drawn_board(board, np.random.default_rng(seed))
    panel = fit(replace(found.verdicts, strong=None), "judge_aware")
    truth = POINTS * found.truth[:models]
    board = HumanBoard(found.verdicts.models[:models], 1000 + truth, np.zeros(models))
    return panel, board, frame_of(*found.together())


def test_newcomers_are_placed_by_votes_with_an_interval_about_the_score_that_is_reported():
    _, _, frame = fitted(12, 4, 0.2, seed=4)
    report = people_report(judgments_of(frame), level=0.9)
    placed = report.newcomers.newcomers.set_index("model")
    scores = report.table.set_index("model")["score"]
    old = report.newcomers.board.models
    assert set(placed.index) == set(scores.index) - set(old)
    for name, row in placed.iterrows():
        assert row["elo"] == pytest.approx(1000 + POINTS * (scores[name] - scores[list(old)].mean()))
        assert row["conformal_low"] < row["elo"] < row["conformal_high"]
    assert "conformal_low" in str(report)


def test_a_panel_that_says_nothing_of_people_is_told_and_its_interval_is_wide():
    panel, board, _ = fitted(20, 4, 0.2, seed=5)
    shuffled = replace(board, elo=np.random.default_rng(6).permutation(board.elo))
    blind, seeing = human_scale(panel, shuffled, 0.9), human_scale(panel, board, 0.9)
    assert not blind.informative and "WARNING" in str(blind) and f"(p {blind.p_value:.2g})" in str(blind)
    assert seeing.informative and "WARNING" not in str(seeing)
    wide, narrow = (
        (x.newcomers["conformal_high"] - x.newcomers["conformal_low"]).to_numpy() for x in (blind, seeing)
    )
    assert (wide > 2 * narrow).all() and (wide > board.elo.std()).all()


def test_four_models_have_no_interval_of_ninety_percent_and_it_is_said():
    panel, board, _ = fitted(4, 2, 0.0, seed=7)
    found = human_scale(panel, board, 0.9)
    assert np.isinf(found.newcomers[["conformal_low", "conformal_high"]]).all(axis=None)
    assert "4 models allow at most 80%" in str(found) and "none" in str(found)
    with pytest.raises(DataError, match="has 3 of the models"):
        human_scale(panel, board.without(board.models[0]), 0.5)


@needs_data
def test_the_arena_leaving_every_model_out_is_as_stated():
    """Golden on the paper's verdicts and the published Elo."""
    judgments = read_judgments(find_file(FILES["chatbot_arena"]))
    table = left_off(published_board(judgments), 0.9)
    assert (table["elo"] - table["human"]).abs().mean() == pytest.approx(14.12, abs=0.01)
    assert ((table["conformal_low"] <= table["human"]) & (table["human"] <= table["conformal_high"])).sum() == 18


def test_what_a_human_board_must_be_is_said(tmp_path):
    frame = pd.DataFrame({"model": ["x", "y"], "elo": [1000, 1100]})
    for broken, said in (
        (frame.drop(columns="elo"), r"columns model\b.*\belo\b"),
        (frame.assign(elo=["1000", "many"]), "row 2 has no model, or no number"),
        (frame.assign(model="x"), "row 2 has a model of an earlier row"),
        (frame.assign(standard_error=[1.0, -1.0]), "row 2 has a negative error"),
    ):
        with pytest.raises(DataError, match=said):
            HumanBoard.given(broken)
    in_odds = HumanBoard.given(frame.rename(columns={"elo": "score"}).assign(score=[0.0, 1.0]))
    assert in_odds.elo[1] == pytest.approx(400 / np.log(10))
    with pytest.raises(DataError, match=r"missing\.csv"):
        HumanBoard.given(tmp_path / "missing.csv")


def test_what_cannot_be_placed_is_said():
    panel, board, frame = fitted(6, 2, 0.0, seed=8)
    with pytest.raises(DataError, match="people's"):
        on_human_board(judgments_of(frame), board)
    with pytest.raises(ConfigError):
        human_scale(panel, board, 1.0)
    everyone = HumanBoard(
        panel.comparisons.models, np.arange(len(panel.scores)) * 10.0, np.zeros(len(panel.scores))
    )
    with pytest.raises(DataError, match="human board"):
        human_scale(panel, everyone)
    more = HumanBoard((*board.models, "elsewhere"), np.r_[board.elo, 900.0], np.r_[board.error, 0.0])
    assert "Not used, because no judge compared them: elsewhere" in str(human_scale(panel, more, 0.5))
