"""The human scale: newcomers on it, and errors of scores of people who vote often or on the judges' questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from judgerank import fit, on_human_board, people_report
from judgerank.data.arrays import generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.engine.ascent import peak
from judgerank.engine.information import zero_sum_basis
from judgerank.inference.wald import normal_quantile, wald
from judgerank.people import toward_panel
from judgerank.people.anchor import anchored_by_people
from judgerank.people.human_scale import (
    POINTS,
    HumanBoard,
    conformal_interval,
    highest_level,
    human_scale,
    left_out,
)
from judgerank.people.items import PairedRows, items_of
from judgerank.people.report import panel_of
from judgerank.people.toward_panel import FLAT, Published, Votes, drawn, drawn_toward_panel
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


# People who vote again and again: errors of scores on the human scale by question, by person, and by both.


SCORES = np.array([0.9, 0.3, -0.3, -0.9])


def voted(seed: str, n_questions: int = 30, n_people: int = 15, n_votes: int = 300, tastes: float = 1.5):
    """A panel of three on every pair of a question's answers; people with tastes of their own on some."""
    rng = generator(0, "people clusters", seed)
    n, (i, j) = len(SCORES), np.triu_indices(len(SCORES), 1)
    question, first, second = (
        np.repeat(np.arange(n_questions), len(i)),
        np.tile(i, n_questions),
        np.tile(j, n_questions),
    )
    quality, taste = rng.normal(0, 0.6, (n_questions, n)), rng.normal(0, tastes, (n_people, n))
    lead = SCORES[first] - SCORES[second] + quality[question, first] - quality[question, second]
    judged = rng.random((len(lead), 3)) < expit(1.5 * lead)[:, None]
    item, person = rng.integers(0, len(lead), n_votes), np.arange(n_votes) % n_people
    own = lead[item] + taste[person, first[item]] - taste[person, second[item]]
    votes = rng.random(n_votes) < expit(own)
    names = (
        tuple(f"m{x}" for x in range(n)),
        (*(f"j{k}" for k in range(3)), *(f"p{x:02d}" for x in range(n_people))),
    )
    ends = (np.r_[end.repeat(3), end[item]] for end in (first, second))
    judge = np.r_[np.tile(np.arange(3), len(lead)), 3 + person]
    rows = Comparisons(*names, *ends, judge, np.r_[judged.ravel(), votes].astype(float))
    return rows, np.r_[question.repeat(3), question[item]], judge >= 3


@pytest.fixture(scope="module")
def crowd():
    return voted("crowd")


@pytest.fixture(scope="module")
def panel(crowd):
    rows, question, human = crowd
    judges = rows.take(np.flatnonzero(~human))
    return fit(judges, "judge_aware").clustered(judges, question[~human])


def covariances(items, panel):
    return anchored_by_people(items).covariance, drawn_toward_panel(items, panel).covariance


def test_questions_as_units_are_the_default(crowd, panel):
    _, question, _ = crowd
    items = [
        items_of(*crowd, panel, units) for units in (None, {"question": question}, {"unit": 97 * question % 30})
    ]
    for other in items[1:]:
        assert_allclose(covariances(other, panel), covariances(items[0], panel), rtol=1e-9, atol=1e-14)


def test_the_two_ways_are_the_sum_of_either_less_both(crowd, panel):
    rows, question, human = crowd
    person = np.where(human, rows.judge, -1 - question)  # a verdict is nobody's vote
    units = {"question": question, "person": rows.judge}
    both = anchored_by_people(items_of(*crowd, panel, units))
    parts = [{"question": question}, {"person": person}]
    alone = [anchored_by_people(items_of(*crowd, panel, part)).covariance_alone for part in parts]
    cell = anchored_by_people(items_of(*crowd, panel, {"person": question * 100 + rows.judge})).covariance_alone
    assert_allclose(both.covariance_alone, alone[0] + alone[1] - cell, rtol=1e-9, atol=1e-14)
    assert 13.0 < both.degrees_of_freedom <= 14.0


def clustered_frame(crowd) -> pd.DataFrame:
    rows, question, human = crowd
    frame = rows.to_frame().assign(question_id=[f"q{n:02d}" for n in question], human=human)
    return frame.assign(template=[f"t{n // 5}" for n in question])


def test_people_who_come_again_are_a_unit_by_default(crowd):
    frame = clustered_frame(crowd)
    report = people_report(frame)
    assert report.cluster == ("question", "person")
    wide, narrow = (people_report(frame, cluster=name) for name in (("question", "person"), "question"))
    pd.testing.assert_frame_equal(report.table, wide.table)
    assert narrow.cluster == ("question",)
    assert report.table["standard_error"].mean() > narrow.table["standard_error"].mean()
    few = people_report(clustered_frame(voted("few", n_people=5)))
    assert few.cluster == ("question",)


def test_a_column_of_the_file_can_be_the_unit(crowd):
    frame = clustered_frame(crowd)
    by_template, by_name = (people_report(frame, cluster=name) for name in ("template", "judge"))
    assert by_template.cluster == ("template",) and by_name.cluster == ("person",)
    assert by_template.people.degrees_of_freedom < 6
    assert any("--cluster template" in remark for remark in people_report(frame).remarks)
    assert not any("--cluster template" in remark for remark in by_template.remarks)


@pytest.mark.parametrize(
    ("cluster", "error"), [("none", ConfigError), ("templat", DataError), ("a,b,c", ConfigError)]
)
def test_what_is_no_unit_is_refused(crowd, cluster, error):
    with pytest.raises(error):
        people_report(clustered_frame(crowd), cluster=cluster)


# Votes and verdicts on the same questions: the errors of people's scores against derivatives by differences.


MODELS, JUDGES, OMEGA, SLOPE, STEP = 4, 3, 0.4, 0.8, 1e-4


def seen(seed: int, questions: int, voted: int, per: int = 6):
    """Some pairs of every question by three judges and, of the first questions, by a person; the question; who."""
    rng, pairs = np.random.default_rng(seed), np.array(np.triu_indices(MODELS, 1)).T
    scores, gamma, rows = np.linspace(0.8, -0.8, MODELS), np.array([0.8, 1.0, 1.25, 0.8]), []
    for q in range(questions):
        quality = scores + rng.normal(size=MODELS)
        for i, j in pairs[rng.permutation(len(pairs))[:per]]:
            for k in range(JUDGES + (q < voted)):
                rows.append((i, j, k, rng.random() < expit(gamma[k] * (quality[i] - quality[j])), q))
    i, j, k, won, q = np.array(rows, float).T
    names = tuple("abcd"), (*(f"j{k}" for k in range(JUDGES)), "person")
    return Comparisons(*names, *np.array([i, j, k], int), won), q.astype(int), k == JUDGES


def parts(*design):
    rows, question, human = seen(*design)
    mine = np.flatnonzero(~human)
    panel = fit(rows.take(mine), "judge_aware").clustered(rows.take(mine), question[mine])
    return rows.take(mine), question[mine], panel, items_of(rows, question, human, panel)


def votes_of(items):
    asked, basis = items.asked, zero_sum_basis(MODELS)
    question = items.question[asked]
    rows = PairedRows(MODELS, items.first[asked], items.second[asked])
    return Votes(rows, items.human[asked], question, items.steps.of(np.unique(question)) @ basis)


def weighed_mode(votes, panel_rows, question, v, weight):
    """The mode with the votes and the verdicts of every question counted so many times."""
    basis = zero_sum_basis(MODELS)
    s = basis.T @ fit(replace(panel_rows, count=weight[question]), "judge_aware").scores.to_numpy()
    whole = OMEGA**2 * np.eye(len(s)) + SLOPE**2 * v + FLAT**2 * np.outer(s, s)
    w = weight[votes.question]

    def look(t):
        height, gradient, known = votes.rows.logistic(w * votes.y, w, t)
        prior = np.linalg.inv(whole)
        return height - 0.5 * t @ prior @ t, gradient - prior @ t, known + prior

    return peak(look, np.zeros(len(s)), "unsettled")[0]


def test_errors_square_what_votes_and_verdicts_on_a_question_do_together():
    """The mode's derivative by the weight of every question, by differences with panel and votes fitted anew."""
    panel_rows, question, panel, items = parts(1, 14, 14)
    basis, votes, many = zero_sum_basis(MODELS), votes_of(items), 14
    s, v = basis.T @ panel.scores.to_numpy(), basis.T @ panel.covariance[:MODELS, :MODELS] @ basis
    _, t, covariance, _ = toward_panel._posterior(votes, s, v, SLOPE, OMEGA, np.zeros(len(s)))
    moved = []
    for q in range(many):
        up, down = (1 + sign * STEP * (np.arange(many) == q) for sign in (1, -1))
        ends = [weighed_mode(votes, panel_rows, question, v, weight) for weight in (up, down)]
        moved.append((ends[0] - ends[1]) / (2 * STEP))
    by_question = np.array(moved).T @ np.array(moved) * many / (many - 1)
    rest = OMEGA**2 * np.eye(len(s)) + FLAT**2 * np.outer(s, s)
    prior = np.linalg.inv(rest + SLOPE**2 * v)
    inverse = np.linalg.inv(votes.at(t)[2] + prior)
    np.testing.assert_allclose(
        covariance, by_question + inverse @ prior @ rest @ prior @ inverse, rtol=2e-4, atol=1e-7
    )


@pytest.mark.parametrize("design", [(30, 30), (200, 200, 1)])
def test_what_votes_and_verdicts_share_makes_errors_larger_and_nothing_shared_leaves_them(design):
    """Also with one item on each question, where the votes' own variance is their information."""
    larger = []
    for seed in range(4):
        *_, panel, items = parts(seed, *design)
        assert (votes_of(items).meat(np.zeros(MODELS - 1)) is None) == (design[-1] == 1)
        elsewhere = replace(items.steps, question=items.steps.question + 1000)
        ways = items, replace(items, steps=None), replace(items, steps=elsewhere)
        shared, apart, unshared = (np.trace(drawn_toward_panel(each, panel).covariance) for each in ways)
        assert unshared == pytest.approx(apart, rel=0.02)
        larger.append(shared / apart)
    assert np.mean(larger) > 1.04


def test_steps_are_those_of_the_questions_that_people_saw_and_unknown_of_another_panel():
    rows, question, human = seen(4, 20, 8)
    mine = np.flatnonzero(~human)
    judged, asked = rows.take(mine), question[mine]
    panel = fit(judged, "judge_aware")
    steps = items_of(rows, question, human, panel).steps
    np.testing.assert_array_equal(steps.question, np.arange(8))
    np.testing.assert_array_equal(steps.of(np.array([3, 12])), [steps.steps[3], np.zeros(MODELS)])
    whole = items_of(rows, question, human | (question < 0), panel.clustered(judged, asked)).steps
    np.testing.assert_allclose(whole.steps, steps.steps)
    some = np.flatnonzero(~human & (question < 19))
    assert items_of(rows, question, human, fit(rows.take(some), "judge_aware")).steps is None


def test_intervals_take_students_t_on_the_questions_that_people_were_asked():
    *_, panel, items = parts(5, 12, 12)
    found = drawn_toward_panel(items, panel)
    assert found.degrees_of_freedom == found.drawn.degrees_of_freedom == 11
    row = found.table().iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(wald(row["score"], row["standard_error"], 0.95, 11))
    lopsided = replace(items, question=np.where(items.question == 0, 0, 1))
    assert drawn_toward_panel(lopsided, panel).degrees_of_freedom == 1


def test_intervals_of_newcomers_take_the_same_t():
    panel, board, _ = fitted(6, 2, 0.2, seed=4)
    models = panel.comparisons.models
    found = toward_panel.drawn(board.evidence(models), panel, models)
    normal, students = (
        human_scale(panel, board, 0.5, found._replace(degrees_of_freedom=freedom)).newcomers
        for freedom in (np.inf, 3)
    )
    times = normal_quantile(0.5, 3) / normal_quantile(0.5)
    np.testing.assert_allclose(students["high"] - students["elo"], times * (normal["high"] - normal["elo"]))


def test_errors_of_the_panel_are_by_question_where_there_are_more_questions_than_free_scores():
    rows, question, human = seen(8, 5, 0)  # no judge at zero, who would have no parameter
    panel, _ = panel_of(rows.take(np.flatnonzero(~human)), question)
    assert panel.n_parameters >= 5 and panel.errors.robust is not None
    few = question < MODELS - 1
    panel, why = panel_of(rows.take(np.flatnonzero(few)), question[few])
    assert (
        panel.errors.robust is None
        and "count judgments as independent: 3 questions for 4 models are too few." in why
    )
