"""Newcomers on boards, boards compared, and boards kept: beside refits, closed forms and simulated data."""

import re
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from judgerank import Comparisons, compare, fit, load, place
from judgerank.boards.comparing import change_of, fit_by_judges
from judgerank.boards.moving import by_judge
from judgerank.boards.panel_tastes import panel_tastes
from judgerank.boards.placing import anchored, prior_precision
from judgerank.boards.reported import OTHER_UNIT, changelog_of, difference_text, placement_text
from judgerank.data.errors import DataError, NoMaximumError
from judgerank.engine.likelihood import evaluate
from judgerank.fits.errors_by_question import by_question
from judgerank.fits.presentation import leaderboard
from judgerank.fits.result import about
from judgerank.order.scale import scale_by, scale_of, weights_of
from studies.boards import NEWCOMER, SCORES, UNIT, drawn
from tests.library.test_fitness import asked


def board_and_new(seed, board=1500, own=300, favour=0.0, member="judge_aware"):
    rng = np.random.default_rng(seed)
    fitted = fit(drawn(rng, SCORES, board), member)
    return fitted, drawn(rng, np.r_[SCORES, NEWCOMER], own, True, favour)


@pytest.mark.parametrize("member", ["btl", "judge_aware", "position_aware", "position_aware_ties"])
def test_the_newcomer_is_at_the_maximum_of_its_own_likelihood(member):
    fitted, new = board_and_new(1, member="judge_aware")
    if member != "judge_aware":
        rng = np.random.default_rng(1)
        rows = drawn(rng, SCORES, 1500)
        ties = rng.random(len(rows)) < 0.2
        fitted = fit(replace(rows, outcome=np.where(ties, 0.5, rows.outcome)), member)
        new = replace(new, outcome=np.where(rng.random(len(new)) < 0.2, 0.5, new.outcome))
    held = anchored(fitted, new)
    assert np.array_equal(held.at.scores[:-1], fitted.scores)  # the board is as it was
    here = evaluate(held.comparisons, fitted.model, held.at)
    assert abs(here.top_gradient[-1]) < 1e-8

    def height(shift):
        moved = replace(held.at, scores=held.at.scores + np.r_[np.zeros(len(SCORES)), shift])
        return evaluate(held.comparisons, fitted.model, moved).log_likelihood

    assert height(0.0) > max(height(-1e-3), height(1e-3))
    curvature = (height(1e-3) - 2 * height(0.0) + height(-1e-3)) / 1e-6
    assert held.own[0] == pytest.approx(1 / np.sqrt(-curvature), rel=0.05)


def test_a_large_board_places_as_a_refit_does():
    fitted, new = board_and_new(2, 60_000, 100)
    row = place(fitted, new).newcomers.iloc[0]
    assert abs(row["score"] - row["refit"]) < 0.02 * row["standard_error"]
    assert row["standard_error"] == pytest.approx(row["own_error"], rel=0.02)
    small, new = board_and_new(2, 300, 1500)
    row = place(small, new).newcomers.iloc[0]
    assert row["standard_error"] > 1.1 * row["own_error"]


def test_the_boards_uncertainty_is_that_of_redrawn_boards():
    """The part of the error that the board brings is the spread over boards drawn from the fit, newcomer held."""
    rng = np.random.default_rng(3)
    truth = fit(drawn(rng, SCORES, 20_000), "judge_aware")
    new, placed, said = drawn(rng, np.r_[SCORES, NEWCOMER], 4_000, True), [], []
    for _ in range(80):
        held = anchored(fit(drawn(rng, SCORES, 500), "judge_aware"), new)
        placed.append(held.scores.iloc[0])
        said.append(held.reported[-1, -1] - (scale_of(held.board).factor * held.own[0]) ** 2)
    assert truth.converged
    ratio = np.var(placed, ddof=1) / np.mean(said)
    assert 0.6 < ratio < 1.6  # 80 draws know a variance to a sixth


def test_intervals_hold_and_warnings_are_as_rare_as_said():
    level, held, warned, partial = 0.95, [], [], []
    for seed in range(60):
        placed = place(*board_and_new(seed, 800, 300), level=level)
        row = placed.newcomers.iloc[0]
        held.append(row["low"] <= UNIT * NEWCOMER <= row["high"])
        warned.append(bool(placed.moved))
        partial.append(bool(placed.partial))
    assert np.mean(held) > 0.86  # below that once in 2,000 times
    assert max(np.mean(warned), np.mean(partial)) < 0.17


def test_a_judge_who_favours_the_newcomer_is_named():
    placed = place(*board_and_new(4, 2000, 400, favour=2.0))
    assert placed.partial[0] == ("j0", "m8")
    assert placed.judges.iloc[0]["lead"] > 0 > placed.judges.iloc[1]["lead"]  # others are below the mean with it


def test_a_lead_is_where_the_judges_own_comparisons_put_the_newcomer():
    placed = place(*board_and_new(4, 2000, 400, favour=2.0))
    held = placed.anchored
    row = placed.judges.iloc[0]
    mine = held.comparisons._rows(np.flatnonzero(held.comparisons.judge == 0))
    there = held.at.scores + np.r_[np.zeros(8), row["lead"] / scale_of(held.board).factor]
    here = evaluate(mine, held.board.model, replace(held.at, scores=there), "expected")
    assert abs(here.top_gradient[8]) < 1e-6
    one_step = row["lead"] / row["standard_error"]
    assert abs(one_step) != pytest.approx(NormalDist().inv_cdf(1 - row["p_value"] / 2), rel=1e-3)


@pytest.mark.parametrize(("wins", "word"), [(1.0, "always"), (0.0, "never")])
def test_a_judge_of_one_mind_on_a_newcomer_is_said_to_be_so(wins, word):
    fitted, new = board_and_new(4, 2000, 400)
    place_of = new.models.index("m8")
    with_it = np.where(new.first == place_of, wins, 1 - wins)
    new = replace(new, outcome=np.where(new.judge == 0, with_it, new.outcome))
    placed = place(fitted, new)
    assert np.isinf(placed.judges.set_index("judge").loc["j0", "lead"])
    assert np.isfinite(placed.judges.set_index("judge").loc["j1":, "lead"]).all()
    assert f"WARNING: j0 {word} prefers m8, unlike the panel" in "\n".join(placement_text(placed))


def information(rows: Comparisons, scores: np.ndarray) -> np.ndarray:
    """Of plain scores in the model of Bradley and Terry, shape (N, N), row by row."""
    x = np.zeros((len(rows), len(scores)))
    x[np.arange(len(rows)), rows.first], x[np.arange(len(rows)), rows.second] = 1.0, -1.0
    p = 1 / (1 + np.exp(-x @ scores))
    return x.T @ ((p * (1 - p) * rows.count)[:, None] * x)


def test_models_move_with_the_variance_that_further_comparisons_take_away():
    """Without judges, that is the board's variance less that of all comparisons together (Hausman, 1978)."""
    fitted, new = board_and_new(21, 600, 400, member="btl")
    found = place(fitted, new)
    held = found.anchored
    board = information(fitted.comparisons, fitted.scores.to_numpy())
    both = information(held.comparisons, held.at.scores)
    both[:8, :8] += board
    centre = np.eye(8, 9) - np.r_[np.ones(8), 0.0] / 8
    taken = np.linalg.pinv(board) - centre @ np.linalg.pinv(both) @ centre.T
    moves = found.moves.set_index("model").loc[list(fitted.comparisons.models)]
    np.testing.assert_allclose(moves["standard_error"], np.sqrt(np.diag(taken)), rtol=1e-6)


def test_questions_of_one_comparison_each_change_errors_by_their_number_over_one_less_alone():
    """Where every pair is decided just as often as the scores say, so that squares are their expectation."""
    first, second = np.repeat([0, 1, 0], [20, 20, 20]), np.repeat([1, 0, 1], [20, 20, 20])
    one = np.zeros(60, int)
    board = fit(Comparisons(("a", "b"), ("x",), first, second, one, np.tile([1.0, 0.0], 30)), "btl")
    ends, won = np.repeat([0, 1], [12, 24]), np.tile(np.r_[np.ones(4), np.zeros(8)], 3)
    new = Comparisons(("a", "b", "c"), ("x",), ends, np.full(36, 2), np.zeros(36, int), won)
    plain, by = (anchored(board, new, question) for question in (None, np.arange(36)))
    assert by.own[0] ** 2 == pytest.approx(36 / 35 * plain.own[0] ** 2)
    np.testing.assert_allclose(by.errors.squares, 36 / 35 * plain.errors.squares, atol=1e-10)
    np.testing.assert_allclose(plain.errors.squares, plain.information, atol=1e-12)
    assert plain.errors.squares[0, 0] == pytest.approx(8 / 3 * 16 / 3 / (8 / 3 + 16 / 3))  # n p (1 - p) in a row


def test_two_judges_who_answered_alike_have_no_lead_and_the_newcomers_own_error():
    """Each knows it from half of the comparisons: a half's variance less the whole's is the whole's.

    Discriminations are taken as known, so that what is not known of the board, its scores, moves both alike.
    """
    rng = np.random.default_rng(22)
    rows, new = (drawn(rng, scores, 900, more) for scores, more in ((SCORES, False), (np.r_[SCORES, 0.3], True)))
    names = tuple(f"j{k}" for k in range(2))
    rows, new = (
        replace(c.take(np.tile(np.arange(900), 2)), judges=names, judge=np.repeat([0, 1], 900))
        for c in (rows, new)
    )
    board = fit(rows, "judge_aware")
    known = board.covariance.copy()
    known[8:] = known[:, 8:] = 0.0
    placed = place(board._with_errors(robust=known), new)
    np.testing.assert_allclose(placed.judges["lead"], 0, atol=1e-9)
    np.testing.assert_allclose(placed.judges["standard_error"], placed.newcomers["own_error"].iloc[0], rtol=1e-6)


def test_models_that_move_are_named():
    """Judges who weigh the board's models otherwise since the newcomer came: the scores of two are exchanged."""
    rng = np.random.default_rng(5)
    fitted = fit(drawn(rng, SCORES, 3000), "judge_aware")
    turned = SCORES[[1, 0, 2, 3, 4, 5, 7, 6]] * 2
    placed = place(fitted, drawn(rng, np.r_[turned, NEWCOMER], 3000, True))
    assert placed.moved
    row = placed.moves.set_index("model").loc[placed.moved[0]]
    on_board = placed.refit.scores - placed.refit.scores[list(fitted.scores.index)].mean()
    scale = scale_by(placed.refit, weights_of(fitted), list(fitted.scores.index))
    assert row["after"] == pytest.approx(scale.factor * on_board[placed.moved[0]])


def test_what_does_not_place_is_left_out_and_counted():
    fitted, new = board_and_new(6)
    rng = np.random.default_rng(6)
    others = drawn(rng, SCORES, 40)
    frame = [new.to_frame(), others.to_frame(), new.to_frame().head(30).assign(judge_model="stranger")]
    held = anchored(fitted, Comparisons.from_frame(pd.concat(frame)))
    assert [*held.left_out.values()] == [30, 40]  # by judges who are not on the board, and without a newcomer
    assert held.scores.iloc[0] == pytest.approx(anchored(fitted, new).scores.iloc[0], abs=1e-10)


def test_several_newcomers_are_placed_together():
    fitted, new = board_and_new(7)
    rng = np.random.default_rng(8)
    second = drawn(rng, np.r_[SCORES, -0.5], 200, True).to_frame().replace("m8", "other")
    both = Comparisons.from_frame(pd.concat([new.to_frame(), second]))
    placed = place(fitted, both)
    assert list(placed.newcomers["model"]) == ["m8", "other"]
    alone = place(fitted, new).newcomers.iloc[0]
    assert placed.newcomers.iloc[0]["score"] == pytest.approx(alone["score"])  # they never met
    assert len(placed.differences) == 2 * len(SCORES)


def test_what_cannot_be_placed_is_said():
    fitted, new = board_and_new(9)
    with pytest.raises(DataError, match="already"):
        place(fitted, drawn(np.random.default_rng(1), SCORES, 50))
    first = new.first == len(SCORES)
    with pytest.raises(NoMaximumError, match="m8"):
        place(fitted, replace(new, outcome=first.astype(float)))
    strangers = Comparisons.from_frame(new.to_frame().assign(judge_model="stranger"))
    with pytest.raises(DataError, match=r"judge\b.*\bm8\b"):
        place(fitted, strangers)


def test_questions_widen_the_newcomers_error():
    fitted, new = board_and_new(10, own=200)
    many = 8
    tiled = replace(new.take(np.repeat(np.arange(200), many)), count=np.ones(200 * many))
    apart, by = (anchored(fitted, tiled, q) for q in (None, np.repeat(np.arange(200), many)))
    assert by.own[0] == pytest.approx(apart.own[0] * np.sqrt(many), rel=0.1)


def newcomers_asked(seed: int, newcomers: int, questions: int, effect: float = 1.0):
    """Every newcomer meets every model of the board twice with every judge, on questions of its own."""
    rng = np.random.default_rng(seed)
    shape = (newcomers, questions, len(SCORES), 5, 2)
    new, asked, model, judge, _ = (x.ravel() for x in np.indices(shape))
    shared = effect * rng.standard_normal((newcomers, questions))[new, asked]
    won = rng.random(len(new)) < 1 / (1 + np.exp(SCORES[model] - shared))
    names = tuple(f"m{i}" for i in range(len(SCORES) + newcomers)), tuple(f"j{k}" for k in range(5))
    rows = Comparisons(*names, len(SCORES) + new, model, judge, won.astype(float))
    return rows, new * questions + asked


def test_newcomers_who_never_met_have_the_errors_that_each_has_alone():
    """Three newcomers with three questions each: by each one's own questions, however many newcomers there are."""
    board, _ = board_and_new(27)
    rows, asked = newcomers_asked(28, 3, 3)
    held = anchored(board, rows, asked)
    table, z = held.table().set_index("model"), held.differences().set_index("newcomer")
    for number in range(3):
        mine = rows.first == 8 + number
        alone = anchored(board, Comparisons.from_frame(rows.take(np.flatnonzero(mine)).to_frame()), asked[mine])
        name, columns = f"m{8 + number}", ["score", "standard_error", "low", "high", "own_error"]
        pd.testing.assert_frame_equal(alone.table().set_index("model")[columns], table.loc[[name], columns])
        p = alone.differences().set_index("model")["p_value"]
        here = z.loc[name].set_index("model")["p_value"]
        np.testing.assert_allclose(p[here.index], here, rtol=1e-6)
    assert held.errors.degrees_of_freedom.tolist() == [2.0] * 3 and held.errors.of_moves == 8


def test_two_questions_give_an_error_with_one_degree_of_freedom():
    """Nine and three of twelve comparisons won with models of equal score: two squares of three, times two."""
    first, second = np.repeat([0, 1], 20), np.repeat([1, 0], 20)
    board = fit(Comparisons(("a", "b"), ("x",), first, second, 0 * first, np.tile([1.0, 0.0], 20)), "btl")
    won = np.r_[np.ones(9), np.zeros(3), np.ones(3), np.zeros(9)]
    rows = Comparisons(("a", "b", "c"), ("x",), np.full(24, 2), np.tile([0, 1], 12), np.zeros(24, int), won)
    held = anchored(board, rows, np.repeat([5, 9], 12))
    assert held.own[0] ** 2 == pytest.approx(2 * (3**2 + 3**2) / (24 / 4) ** 2)
    low, high = held.table().loc[0, ["low", "high"]]
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 1) * held.table()["standard_error"][0])


def test_a_newcomer_with_one_question_has_no_interval_and_the_others_have_theirs():
    board, _ = board_and_new(27)
    rows, asked = newcomers_asked(29, 2, 4)
    keep = np.flatnonzero((asked == 0) | (asked >= 4))
    placed = place(board, rows.take(keep), asked[keep])
    one, four = placed.newcomers.to_dict("records")
    assert np.isfinite(one["score"]) and np.isnan([one["low"], one["high"]]).all()
    assert four["low"] < four["score"] < four["high"]
    pairs = placed.differences.set_index("newcomer").loc["m8"]
    assert pairs["p_value"].isna().all() and not pairs["separated"].any()
    assert placed.judges.set_index("newcomer").loc["m8", "p_value"].isna().all()
    text = "\n".join(placement_text(placed))
    assert "Too few questions to tell the uncertainty of m8: there is 1 question and 1 free parameter, and" in text
    assert "m8 is not separated" not in text and "m9 is not separated" in text


def test_a_board_of_few_questions_gives_no_newcomer_an_interval():
    rows, question = asked(1, 8, (1.0, 0.3, -0.3, -1.0), 1.0)
    board = by_question(fit(rows, "position_aware"), rows, question)
    new, on = asked(2, 30, (1.0, 0.3, -0.3, -1.0, 0.5))
    placed = place(board, new, on)
    assert placed.newcomers["low"].isna().all() and not placed.differences["separated"].any()
    assert placed.moved == [] and placed.partial == []
    text = "\n".join(placement_text(placed))
    assert "Too few questions to tell the uncertainty of the board: there are 8 questions and 14 free" in text
    assert "noise" not in text


def test_a_judges_lead_has_the_error_of_its_questions():
    """Every judgment eight times in a question: by question the error is that of a judgment for each."""
    board, new = board_and_new(10, 60_000, 400)
    once, asked = place(board, new), np.repeat(np.arange(400), 8)
    tiled = new.take(asked)
    apart, by = (by_judge(anchored(board, tiled, q)).set_index("judge") for q in (None, asked))
    single = once.judges.set_index("judge")["standard_error"]
    np.testing.assert_allclose(by["standard_error"], single[by.index], rtol=0.1)
    np.testing.assert_allclose(apart["standard_error"], single[apart.index] / np.sqrt(8), rtol=0.1)
    several = by_judge(anchored(board, tiled, np.arange(len(tiled)))).set_index("judge")["standard_error"]
    np.testing.assert_allclose(several, apart["standard_error"][several.index], rtol=0.1)


def test_a_judge_on_questions_of_its_own_is_not_named_for_what_these_have_in_common():
    """Questions that favour the newcomer or the others, each asked of one judge: nobody is partial."""
    board, _ = board_and_new(27, 20_000)
    named = []
    for seed in range(30):
        rows, question = newcomers_asked(seed, 1, 25)
        own = np.flatnonzero(question % 5 == rows.judge)
        named.append((by_judge(anchored(board, rows.take(own), question[own]))["p_holm"] <= 0.05).any())
    assert np.mean(named) <= 0.1  # of independent comparisons: most


def test_a_judge_who_saw_one_question_has_no_test():
    board, _ = board_and_new(27)
    rows, question = newcomers_asked(30, 1, 4)
    keep = np.flatnonzero((rows.judge > 0) | (question == 0))
    judges = by_judge(anchored(board, rows.take(keep), question[keep])).set_index("judge")
    assert np.isnan(judges.loc["j0", "p_value"]) and judges["p_value"].drop("j0").notna().all()
    assert np.isfinite(judges.loc["j0", "lead"])


def test_one_model_has_one_number_on_its_board_placed_refitted_and_ranked():
    fitted, new = board_and_new(16, 3000, 1500)
    placed = place(fitted, new)
    board = leaderboard(fitted, 0.95).set_index("model")["score"]
    moves = placed.moves.set_index("model")
    np.testing.assert_allclose(moves["before"][board.index], board)  # as the board's page prints them
    whole = fit(fitted.comparisons.extended(new.to_frame()), "judge_aware")
    ranked = leaderboard(whole, 0.95).set_index("model")["score"]
    ranked -= ranked[board.index].mean()
    row = placed.newcomers.iloc[0]
    assert row["refit"] == pytest.approx(ranked["m8"], rel=0.02)
    assert row["score"] == pytest.approx(ranked["m8"], abs=row["standard_error"])
    np.testing.assert_allclose(moves["after"][board.index], ranked[board.index], rtol=0.02)


def test_a_useless_judge_lowers_scores_and_moves_none_from_board_to_board():
    fitted, _ = board_and_new(17, 3000)
    coin = drawn(np.random.default_rng(17), 0 * SCORES, 2500).to_frame().assign(judge_model="coin")
    other = fit(Comparisons.from_frame(pd.concat([fitted._require_raw().to_frame(), coin])), "judge_aware")
    one, same = (leaderboard(each, 0.95).set_index("model")["score"] for each in (fitted, other))
    assert same.std() < 0.7 * one.std()
    for old, new in ((fitted, other), (other, fitted)):
        difference = compare(old, new)
        assert not difference.moved
        moves = difference.moves.set_index("model")
        np.testing.assert_allclose(moves["new"], moves["old"], atol=0.05 * one.std())
        np.testing.assert_allclose(moves["old"][one.index], one, atol=0.05 * one.std())


# boards compared


def test_a_board_is_the_same_as_itself():
    fitted, _ = board_and_new(11)
    found = compare(fitted, fitted)
    assert found.relation == "same" and not found.moved
    assert (found.moves["change"] == 0).all() and (found.moves["p_holm"] == 1).all()


def test_a_board_that_grew_is_known_as_such_and_its_noise_is_smaller():
    rng = np.random.default_rng(12)
    rows = drawn(rng, SCORES, 1000)
    old, grown = fit(rows, "judge_aware"), fit(rows.extended(drawn(rng, SCORES, 100).to_frame()), "judge_aware")
    other = fit(drawn(rng, SCORES, 1100), "judge_aware")
    assert compare(old, grown).relation == "more" and compare(grown, old).relation == "fewer"
    apart = compare(old, other)
    assert apart.relation == "other"
    assert compare(old, grown).moves["standard_error"].mean() < 0.5 * apart.moves["standard_error"].mean()


def test_a_model_without_further_comparisons_moves_by_their_share_of_its_variance_at_least():
    """A third of all comparisons is new, of two other models: its variance hardly falls, and that is no error."""
    rng = np.random.default_rng(23)
    rows = drawn(rng, SCORES, 1000)
    further = rows.take(np.flatnonzero((rows.first < 2) & (rows.second < 2)))
    further = further.take(rng.integers(len(further), size=500))
    old = fit(rows, "btl")
    grown = fit(rows.extended(further.to_frame()), "btl")
    moves = compare(old, grown).moves.set_index("model")
    least = pd.Series(np.sqrt(np.diag(old.covariance) / 3), old.scores.index)[moves.index]
    assert (moves["standard_error"] >= least * (1 - 1e-9)).all()
    np.testing.assert_allclose(moves["standard_error"]["m7"], least["m7"])


def test_a_move_is_tested_by_one_step_and_the_variance_that_the_further_comparisons_take_away():
    """The step from all comparisons to the old board's, in the model of Bradley and Terry."""
    rng = np.random.default_rng(24)
    rows = drawn(rng, SCORES, 800)
    old, grown = fit(rows, "btl"), fit(rows.extended(drawn(rng, SCORES, 500).to_frame()), "btl")
    s = grown.scores.to_numpy()
    before, after = (np.linalg.pinv(information(c, s)) for c in (rows, grown.comparisons))
    won = rows.outcome - 1 / (1 + np.exp(-(s[rows.first] - s[rows.second])))
    gradient = np.bincount(rows.first, won, 8) - np.bincount(rows.second, won, 8)
    z = -before @ gradient / np.sqrt(np.diag(before - after))
    moves = compare(old, grown).moves.set_index("model").loc[list(grown.comparisons.models)]
    np.testing.assert_allclose(moves["p_value"], 2 * norm.sf(np.abs(z)), rtol=1e-5)


def test_three_models_move_as_one_where_no_judge_is_on_both_boards():
    """Mean and scale are free on either board: one thing is left that may move, and has one p-value."""
    rng = np.random.default_rng(26)
    rows = [drawn(rng, SCORES[[0, 2, 7]], size).with_judges([name]) for size, name in ((2000, "j1"), (3000, "j3"))]
    p = compare(*(fit(one, "judge_aware") for one in rows)).moves["p_value"]
    assert 0.01 < p.iloc[0] < 0.99
    np.testing.assert_allclose(p, p.iloc[0], rtol=1e-6)


def test_clustered_errors_twice_as_large_halve_the_statistics_of_moves():
    rng = np.random.default_rng(25)
    boards = [fit(drawn(rng, SCORES, 900), "btl") for _ in range(2)]
    z = []
    for times in (1, 2):
        wider = [one._with_errors(robust=times**2 * one.covariance) for one in boards]
        z.append(norm.isf(compare(*wider).moves.set_index("model")["p_value"].sort_index() / 2))
    np.testing.assert_allclose(z[1], z[0] / 2, rtol=1e-6)


def test_scales_and_models_that_only_one_has_do_not_matter():
    rng = np.random.default_rng(13)
    rows = drawn(rng, SCORES, 2000)
    old = fit(rows, "judge_aware")
    weak = drawn(np.random.default_rng(14), SCORES, 2000)
    new = fit(replace(weak, judges=tuple(f"n{k}" for k in range(5))), "judge_aware")
    found = compare(old, new)
    assert found.judges == (rows.judges, new.comparisons.judges) and found.models == ((), ())
    assert found.moves["change"].mean() == pytest.approx(0, abs=1e-12) and not found.moved
    fewer = fit(
        Comparisons.from_frame(rows.to_frame().query("model_a != 'm0' and model_b != 'm0'")), "judge_aware"
    )
    found = compare(old, fewer)
    assert found.models == (("m0",), ()) and len(found.moves) == 7
    two = rows.to_frame().query("model_a < 'm2' and model_b < 'm2'").replace("m0", "x")
    with pytest.raises(DataError, match="share 1 models"):
        compare(old, fit(Comparisons.from_frame(two), "btl"))


def test_old_scores_are_those_of_the_old_board_and_new_ones_are_on_its_scale():
    rng = np.random.default_rng(18)
    old, new = (fit(drawn(rng, SCORES, 1500), "judge_aware") for _ in range(2))
    moves = compare(old, new).moves.set_index("model")
    board = leaderboard(old, 0.95).set_index("model")["score"]
    np.testing.assert_allclose(moves["old"][board.index], board)
    unit = scale_by(new, weights_of(old)).factor
    np.testing.assert_allclose(moves["new"][new.scores.index], unit * new.scores)


def test_questions_that_two_boards_share_cancel():
    """Errors of a grown board: by questions of one comparison each, and by what is known of independent ones."""
    rng = np.random.default_rng(19)
    rows = drawn(rng, SCORES, 1600)
    first = rows.take(np.arange(1200))

    def by_question(c, start=0):
        return fit(c, "judge_aware", question=start + np.arange(len(c)), cluster="question")

    apart = compare(fit(first, "judge_aware"), fit(rows, "judge_aware")).moves["standard_error"]
    shared = compare(by_question(first), by_question(rows)).moves["standard_error"]
    others = compare(by_question(first, 5000), by_question(rows)).moves["standard_error"]
    assert abs((shared / apart).mean() - 1) < 0.15
    assert (others > 1.5 * shared).all()


def test_a_model_that_moved_is_found_and_no_other():
    rng = np.random.default_rng(20)
    old = fit(drawn(rng, SCORES, 4000), "judge_aware")
    new = fit(drawn(rng, SCORES + 0.8 * (np.arange(8) == 2), 4000), "judge_aware")
    assert "m2" in compare(old, new).moved
    moves = compare(old, new).moves
    assert moves["model"][moves["change"].idxmax()] == "m2"


def test_what_a_fit_is_about_is_kept_with_it(tmp_path):
    fitted, _ = board_and_new(15)
    fitted.save(tmp_path / "a.npz", {"notes": {"prompt": "v1"}})
    fitted.save(tmp_path / "b.npz")
    assert about(tmp_path / "a.npz") == {"notes": {"prompt": "v1"}} and about(tmp_path / "b.npz") == {}
    assert load(tmp_path / "a.npz").scores.equals(fitted.scores)
    (tmp_path / "c.npz").write_text("nothing")
    with pytest.raises(DataError, match=r"c\.npz is not a fit"):
        about(tmp_path / "c.npz")


@pytest.mark.parametrize("member", ["judge_aware_ties", "judge_aware_graded"])
def test_boards_whose_scores_have_different_units_say_so(member):
    """Ties as an outcome stretch scores: the same judgments, and differences that are no moves."""
    rng = np.random.default_rng(5)
    rows = drawn(rng, SCORES, 3000)
    tied = rng.random(len(rows)) < 0.3
    outcome = np.where(tied, 0.5, rows.outcome)
    strong = np.where(rng.random(len(rows))[:, None] < 0.3, np.stack([outcome == 1, outcome == 0], axis=1), False)
    rows = replace(rows, outcome=outcome, strong=strong.astype(float))
    halves, ties = fit(rows, "judge_aware"), fit(rows, member)
    said = " ".join(difference_text(compare(halves, ties), {}, {}))
    assert compare(halves, ties).other_unit and OTHER_UNIT in said
    assert not compare(halves, fit(rows, "btl")).other_unit


def test_boards_of_few_questions_are_not_said_to_move():
    """Judges of a question share its effects: by independent errors, every other pair of boards has a move."""
    boards = []
    for seed in (1, 2):
        rows, question = asked(seed, 8, (1.0, 0.3, -0.3, -1.0), 1.0)
        boards.append(by_question(fit(rows, "position_aware"), rows, question))
    plain, few = compare(*(each._with_errors(flips=None) for each in boards)), compare(*boards)
    assert plain.few is None and plain.moves["p_value"].notna().all()
    assert few.few is not None and few.moved == []
    assert few.moves["p_value"].isna().all() and few.moves["p_holm"].isna().all()
    np.testing.assert_allclose(few.moves["change"], plain.moves["change"])
    text = list(difference_text(few, {}, {}))[-1]
    assert text.startswith("Too few questions to tell whether a model moved: there are 8 questions and 14 free")
    assert text in list(changelog_of(*boards, "old").sentences)
    assert compare(boards[0], boards[0]).few is None


def test_degrees_of_freedom_of_a_change_are_those_of_the_smaller_board():
    boards = []
    for seed, many in ((1, 20), (2, 200)):
        rows, question = asked(seed, many, (1.0, 0.3, -0.3, -1.0), 1.0)
        boards.append(fit(rows, "btl", question=np.char.add(f"{seed} ", question.astype(str)), cluster="question"))
    shared = list(boards[0].comparisons.models)
    freedom = change_of(*boards, shared, "other").degrees_of_freedom
    assert (freedom <= 19).all() and (freedom > 17).all()  # every question has every model


# Judges with tastes, and newcomers whom not all judges compared.

MODELS, JUDGES = 6, 4
SPREAD = np.linspace(0.9, -0.9, MODELS)


def by_tasteful_judges(rng, size, tastes, judges, scores=SPREAD, newcomer=False, expected=False):
    """Comparisons of random pairs by some judges, whose tastes are a row each; equal discriminations."""
    n = len(scores)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    if newcomer:
        opponent, turn = rng.integers(n - 1, size=size), rng.random(size) < 0.5
        first, second = np.where(turn, n - 1, opponent), np.where(turn, opponent, n - 1)
    judge = rng.choice(judges, size=size)
    q = scores + tastes
    p = 1 / (1 + np.exp(q[judge, second] - q[judge, first]))
    won = p if expected else (rng.random(size) < p).astype(float)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{k}" for k in range(len(tastes)))
    return Comparisons(*names, first, second, judge, won).heard()


@pytest.mark.parametrize("size", [0.0, 0.5])
def test_the_variance_of_tastes_is_that_of_the_judges_drawn(size):
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        tastes = size * rng.standard_normal((JUDGES, MODELS))
        board = fit(by_tasteful_judges(rng, 3000, tastes, range(JUDGES)), "judge_aware", "penalised")
        found.append(panel_tastes(board).variance)
    if size:
        assert 0.75 * size**2 < np.mean(found) < 1.25 * size**2
    else:
        assert np.mean(found) < 0.02


def test_tastes_of_missing_judges_widen_the_error_by_their_part_of_the_panel():
    """Of judges alike one of four stands for the panel with an error of 3/4 of a taste, its own and opponents'."""
    rng = np.random.default_rng(1)
    tastes = rng.standard_normal((JUDGES, MODELS + 1))
    board = fit(by_tasteful_judges(rng, 4000, tastes[:, :MODELS], range(JUDGES)), "judge_aware", "penalised")
    scores = np.r_[SPREAD, 0.0]
    one, every = (
        anchored(board, by_tasteful_judges(rng, 40_000, tastes, judges, scores, True))
        for judges in ([2], range(JUDGES))
    )
    assert one.missing_judges == {"m6": ("j0", "j1", "j3")} and every.missing_judges == {}
    gamma, weights = board.discrimination.to_numpy(), one.tastes.weights
    assert weights @ gamma == pytest.approx(1)
    left = (np.eye(JUDGES)[2] - gamma[2] * weights) / gamma[2]
    expected = one.tastes.variance * (left @ left) * (1 + 1 / MODELS)
    assert one.own[0] ** 2 == pytest.approx(expected, rel=0.1)
    assert every.own[0] < 0.1 * one.own[0]
    text = "\n".join(placement_text(place(board, one.comparisons)))
    assert "Missing: j0, j1, j3" in text


def test_a_newcomer_that_won_everything_is_placed_on_a_shrunk_board_as_a_refit_does():
    rng = np.random.default_rng(2)
    tastes = np.zeros((JUDGES, MODELS + 1))
    board = fit(by_tasteful_judges(rng, 20_000, tastes[:, :MODELS], range(JUDGES)), "judge_aware", "penalised")
    new = by_tasteful_judges(rng, 10, tastes, range(JUDGES), np.r_[SPREAD, 0.0], True)
    new = replace(new, outcome=(new.first == MODELS).astype(float))
    row = place(board, new).newcomers.iloc[0]
    together = leaderboard(place(board, new).refit, 0.95).set_index("model").loc["m6"]
    assert row["score"] == pytest.approx(row["refit"], abs=0.35 * row["standard_error"])
    assert row["low"] < 0.5 < row["high"] and row["rank_low"] == 1
    assert row["high"] - row["low"] == pytest.approx(together["high"] - together["low"], rel=0.35)
    with pytest.raises(NoMaximumError):
        place(fit(board.comparisons, "judge_aware"), new)


def test_a_newcomer_without_answers_would_be_as_the_boards_models_are():
    board = fit(drawn(np.random.default_rng(3), SCORES, 3000), "judge_aware", "penalised")
    precision = prior_precision(board.spread["scores"], 8, 2)
    variance = board.spread["scores"] ** 2
    np.testing.assert_allclose(np.linalg.inv(precision), variance * (np.eye(2) + 1 / 8))
    assert variance == pytest.approx(board.scores.to_numpy().var(ddof=1), rel=0.2)


def test_the_rank_of_a_newcomer_has_the_interval_of_its_tests():
    fitted, new = board_and_new(31, 2000, 400)
    placed = place(fitted, new)
    tests, row = placed.differences, placed.newcomers.iloc[0]
    better = int((tests["separated"] & (tests["difference"] < 0)).sum())
    worse = int((tests["separated"] & (tests["difference"] > 0)).sum())
    assert better and worse
    assert (row["rank_low"], row["rank_high"]) == (1 + better, 9 - worse)
    assert row["rank_low"] <= row["rank"] <= row["rank_high"]


def test_moves_say_their_size_in_places_and_beside_the_models_own_intervals():
    rng = np.random.default_rng(5)
    fitted = fit(drawn(rng, SCORES, 3000), "judge_aware")
    placed = place(fitted, drawn(rng, np.r_[SCORES[[1, 0, 2, 3, 4, 5, 7, 6]] * 2, NEWCOMER], 3000, True))
    moves, board = placed.moves.set_index("model"), leaderboard(fitted, 0.95).set_index("model")
    width = board["high"] - board["low"]
    np.testing.assert_allclose(moves["share_of_interval"], (moves["change"].abs() / width)[moves.index])
    assert sorted(moves["rank_after"]) == list(range(1, 9))
    text = "\n".join(placement_text(placed))
    for model in placed.moved:
        assert re.search(rf"\b{model}\b.*\b{moves['share_of_interval'][model]:.0%} of\b", text)


def tasteful_boards(seed, by_old_judges=0, moved=0.0, size=1.0, clustered=True):
    """A board of four judges, and it with answers of a fifth who has tastes, and of the four if models changed."""
    rng = np.random.default_rng(seed)
    tastes = np.zeros((JUDGES + 1, MODELS))
    tastes[JUDGES] = size * rng.standard_normal(MODELS)
    old = by_tasteful_judges(rng, 1000, tastes, range(JUDGES)).to_frame()
    parts = [old, by_tasteful_judges(rng, 400, tastes, [JUDGES]).to_frame()]
    if by_old_judges:
        now = SPREAD + moved * (np.arange(MODELS) == 2)
        parts.append(by_tasteful_judges(rng, by_old_judges, tastes, range(JUDGES), now).to_frame())
    fits = []
    for frame in (old, pd.concat(parts, ignore_index=True)):
        rows, question = Comparisons.from_frame(frame), [f"q{i}" for i in range(len(frame))]
        fitted = fit(rows, "judge_aware", "penalised", question=question)
        fits.append(fitted.clustered() if clustered else fitted)
    return fits


@pytest.mark.parametrize("clustered", [True, False])
def test_a_judge_with_tastes_moves_no_model(clustered):
    moved = [bool(compare(*tasteful_boards(seed, 200, clustered=clustered)).moved) for seed in range(16)]
    assert np.mean(moved) < 0.25
    difference = compare(*tasteful_boards(3, clustered=clustered))
    assert (difference.moves["by_same_judges"] == 0).all() and not difference.moved
    assert np.abs(difference.moves["change"]).max() > 0.05 and difference.n_same_judges == JUDGES
    log = " ".join(changelog_of(*tasteful_boards(3, clustered=clustered), "then.npz").sentences)
    assert "By the 4 judges on both boards" in log


def test_a_change_that_the_judges_on_both_boards_see_is_named():
    old, new = tasteful_boards(4, 3000, 0.8)
    difference = compare(old, new)
    assert "m2" in difference.moved
    row = difference.moves.set_index("model").loc["m2"]
    both = compare(old, fit_by_judges(new, old.comparisons.judges)).moves.set_index("model").loc["m2"]
    assert row["by_same_judges"] == pytest.approx(both["change"]) and row["p_value"] == pytest.approx(
        both["p_value"]
    )


def test_boards_without_a_judge_in_common_allow_for_tastes():
    plain, allowed = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        tastes = 0.5 * rng.standard_normal((2 * JUDGES, MODELS))
        sides = [by_tasteful_judges(rng, 2000, tastes, judges) for judges in (range(4), range(4, 8))]
        old, new = (fit(rows, "judge_aware", "penalised") for rows in sides)
        difference = compare(old, new)
        assert difference.n_same_judges == 0 and not difference.untested
        change = change_of(old, new, list(old.comparisons.models), "other")
        plain.append(bool((2 * norm.sf(np.abs(change.statistic)) < 0.05 / MODELS).any()))
        allowed.append(bool(difference.moved))
    assert np.mean(plain) > 0.6 > 0.3 > np.mean(allowed)


def test_where_the_judges_on_both_boards_did_not_compare_all_models_no_test_is_made():
    old, new = tasteful_boards(7)
    rows = new.raw.to_frame()
    apart = rows["model_a"].isin(["m0", "m1", "m2"]) ^ rows["model_b"].isin(["m0", "m1", "m2"])
    rows = rows[rows["judge_model"].eq("j4") | ~apart]
    difference = compare(old, fit(Comparisons.from_frame(rows), "judge_aware", "penalised"))
    assert difference.n_same_judges and difference.untested and difference.moves["p_value"].isna().all()
    assert difference.untested in "\n".join(difference_text(difference, {}, {}))


def test_half_wins_are_allowed_for_in_a_newcomers_error_as_on_its_board():
    """Each judgment is tied or not by a coin. Errors by the dispersion and by the answers themselves agree."""
    rng = np.random.default_rng(8)
    tastes, errors = np.zeros((JUDGES, MODELS + 1)), []
    rows = by_tasteful_judges(rng, 6000, tastes[:, :MODELS], range(JUDGES))
    rows = replace(rows, outcome=np.where(rng.random(len(rows)) < 0.7, 0.5, rows.outcome))
    board = fit(rows, "judge_aware", "penalised")
    assert board.dispersion < 0.4
    new = by_tasteful_judges(rng, 400, tastes, range(JUDGES), np.r_[SPREAD, 0.3], True)
    new = replace(new, outcome=np.where(rng.random(len(new)) < 0.7, 0.5, new.outcome))
    questions = np.arange(len(new))
    errors = [anchored(board, new, question).own[0] for question in (None, questions)]
    assert errors[0] == pytest.approx(errors[1], rel=0.15)
