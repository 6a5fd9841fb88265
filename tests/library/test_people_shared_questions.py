"""Votes and verdicts on the same questions: the errors of people's scores against derivatives by differences."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from judgerank import fit
from judgerank.data.comparisons import Comparisons
from judgerank.engine.ascent import peak
from judgerank.engine.information import zero_sum_basis
from judgerank.inference.wald import normal_quantile, wald
from judgerank.people import toward_panel
from judgerank.people.human_scale import human_scale
from judgerank.people.items import PairedRows, items_of
from judgerank.people.report import panel_of
from judgerank.people.toward_panel import FLAT, Votes, drawn_toward_panel
from tests.library.test_human_scale import fitted

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
    assert panel.n_parameters >= 5 and panel.robust is not None
    few = question < MODELS - 1
    panel, why = panel_of(rows.take(np.flatnonzero(few)), question[few])
    assert panel.robust is None and "count judgments as independent: 3 questions for 4 models are too few." in why
