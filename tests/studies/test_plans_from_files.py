"""Plans from a file: by the fit that ranks it, for all its judges, and for judges like these."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from judgerank.cli.plan import Assumption, _on_tastes, fitted_to
from judgerank.data.arrays import generator
from judgerank.data.listing import p_of
from judgerank.fits.errors_by_question import by_question
from judgerank.inference.taste_errors import TASTE
from judgerank.planning.judges import fit_with_tastes, judges_needed, per_judge, tastes_shown
from judgerank.planning.panels import Panel
from judgerank.planning.plans import (
    fitted_panel,
    informative_shares,
    left_out_told,
    plan_table,
    tastes_told,
    to_make,
    uninformative_told,
)
from judgerank.planning.precision import achieved, needed, precision_of
from judgerank.planning.questions import INDEPENDENT, deviation
from judgerank.ranking.choices import EXACT, SHRUNK
from judgerank.ranking.components import fit_member
from judgerank.ranking.ranking import rank
from studies.planning import KeptPlan, _file, _judges, new_data

AT = {"level": 0.95, "pair": 0}
CELL = KeptPlan(500, 1, 6, 6, 3, 0.6, 0.4, 0.0, 0.0, 0.6, 0.95)


def files(cell: KeptPlan, times: int):
    """Files of random panels, with the panel's scores and discriminations."""
    for seed in range(times):
        rng = generator(seed, "plans", cell.useless, cell.per_question)
        scores = np.linspace(-1, 1, cell.n_models) * cell.sigma_scores * 1.4
        judges = _judges(cell, rng, cell.n_judges)
        yield _file(cell, rng, scores, judges, cell.file), scores, judges[0]


def from_file(judgments, solver: str = SHRUNK):
    return fitted_panel(judgments, partial(fit_member, judgments.comparisons, solver=solver))


@pytest.mark.parametrize(("solver", "least", "most"), [(SHRUNK, 0.55, 0.7), (EXACT, 0.0, 0.53)])
def test_the_fit_that_ranks_plans_for_judges_who_answer_at_random(solver, least, most):
    """By the formula at the truth; the exact fit, which drops them, asks for too little."""
    power = []
    for judgments, scores, gamma in files(CELL, 40):
        panel, _ = from_file(judgments, solver)
        planned = plan_table(panel, INDEPENDENT, {"separated": 0.6}, partial(to_make, INDEPENDENT), AT)
        names = {f"model_a{i}": score for i, score in enumerate(scores)}
        truth = Panel.of(names, {f"judge{k}": max(value, 1e-2) for k, value in enumerate(gamma)})
        power.append(achieved("separated", precision_of(truth), float(planned["comparisons"].iloc[0]), 0.95))
        assert solver == EXACT or len(panel.judges) == 6
    assert least < np.mean(power) < most


@pytest.mark.parametrize("per_question", [1, 12])
def test_plans_keep_what_they_expect(per_question):
    cell = KeptPlan(500, per_question, 6, 6, 3, 0.6, 0.4, 0.4 if per_question > 1 else 0.0, 0.0, 0.6, 0.95)
    outcomes = pd.DataFrame([new_data(cell, generator(seed, "kept", per_question)) for seed in range(30)])
    assert (outcomes["status"] == "planned").all()
    difference = outcomes["separated"] - outcomes["expected"]
    assert abs(difference.mean()) < 0.03 + 2.5 * difference.sem()


@pytest.mark.parametrize("solver", [SHRUNK, EXACT])
@pytest.mark.parametrize("ties", [0.3, 0.65])
def test_half_wins_vary_as_little_as_in_the_errors_of_the_ranking(ties, solver):
    """Widths planned for the file's own size are those of its board, whose errors the answers themselves give."""
    judgments, *_ = next(files(replace(CELL, file=6000, useless=0, ties=ties), 1))
    share = judgments.comparisons.share_of_ties
    panel, fitted = from_file(judgments, solver)
    assert ties - 0.05 < share < ties and panel.dispersion == pytest.approx(1 - share, abs=1e-3)
    board = by_question(fitted, judgments.comparisons, judgments.question).leaderboard()
    width = achieved("score_width", precision_of(panel), 6000.0)
    assert width == pytest.approx((board["high"] - board["low"]).mean(), rel=0.05)


def test_ties_as_an_outcome_have_their_own_variance():
    judgments, *_ = next(files(replace(CELL, file=2000, useless=0, ties=0.3), 1))
    refit = partial(fit_member, judgments.comparisons, solver=SHRUNK)
    assert fitted_panel(judgments, refit, "position_aware_ties")[0].dispersion == 1.0


def test_few_questions_show_what_their_answers_share_without_bias():
    """The allowance of errors by question for few clusters, in the estimate, would double it."""
    cell, found = KeptPlan(504, 12, 6, 6, 0, 0.6, 0.0, 0.5, 0.0, 0.6, 0.95), []
    for judgments, *_ in files(cell, 25):
        panel, fitted = from_file(judgments)
        found.append(deviation(panel, fitted, judgments.comparisons, judgments.question, 6, 2)[0])
    assert 0.3 < np.mean(found) < 0.7


def test_a_plan_says_what_is_in_all_what_is_more_and_what_to_expect():
    judgments, *_ = next(files(CELL, 1))
    panel, _ = from_file(judgments)
    wanted = {"score_width": 3.0, "separated": 0.7, "pairs_interval_excludes_zero": 0.1}
    table = plan_table(panel, INDEPENDENT, wanted, partial(to_make, INDEPENDENT), AT, 500).set_index("goal")
    assert (table["more"] == (table["comparisons"] - 500).clip(lower=0)).all()
    assert table.loc["score_width", "more"] == 0 < table.loc["separated", "more"]
    assert table.loc["separated", "expected"] == pytest.approx(0.7, abs=1e-3)
    assert table.loc["pairs_interval_excludes_zero", "expected"] > 0.2  # no fewer comparisons are planned
    assert table["judges"].isna().all()


def test_judges_who_answer_at_random_are_named_with_the_plan_without_them():
    judgments, *_ = next(files(CELL, 1))
    panel, fitted = from_file(judgments)
    make = partial(to_make, INDEPENDENT)
    table = plan_table(panel, INDEPENDENT, {"separated": 0.6}, make, AT)
    (note,) = uninformative_told(panel, INDEPENDENT, table, make, AT)
    share = informative_shares(panel)
    assert share.mean() == pytest.approx(1.0)
    assert np.argsort(share).tolist() == np.argsort(panel.at.judges[0]).tolist()
    assert all((name in note) == (own < 0.1) for name, own in zip(panel.judges, share, strict=True))
    rest = panel.subset(np.flatnonzero(share >= 0.1))
    size = make(needed("separated", 0.6, [precision_of(rest)], **AT))
    assert f"{size:,}" in note and size < table["comparisons"].iloc[0]
    assert not list(left_out_told(fitted.judges_at_zero))
    exact = from_file(judgments, EXACT)[1]
    (left_out,) = left_out_told(exact.judges_at_zero)
    assert exact.judges_at_zero and all(name in left_out for name in exact.judges_at_zero)


@pytest.fixture(scope="module")
def tasteful():
    """A file of judges with tastes, and its fit."""
    cell = KeptPlan(1800, 1, 6, 6, 0, 0.6, 0.3, 0.0, 0.4, 0.6, 0.95)
    judgments, *_ = next(files(cell, 1))
    return judgments, from_file(judgments)[1]


def test_judges_like_these_are_counted_where_judges_have_tastes(tasteful):
    judgments, fitted = tasteful
    with_tastes = fit_with_tastes(judgments, fitted, SHRUNK)
    one = per_judge(with_tastes)
    board = with_tastes.leaderboard()
    assert achieved("score_width", one, 6.0) == pytest.approx((board["high"] - board["low"]).mean(), rel=0.02)
    judges = judges_needed(with_tastes, {"score_width": 0.5, "score_width_worst": 0.5, "separated": 0.7}, AT)
    assert achieved("score_width", one, judges["score_width"]) <= 0.5
    assert achieved("score_width", one, judges["score_width"] - 1) > 0.5
    half = judges_needed(with_tastes, {"score_width": 0.25}, AT)["score_width"]
    assert half == pytest.approx(4 * judges["score_width"], rel=0.15)  # quantiles by few judges are larger
    table = plan_table(
        from_file(judgments)[0], INDEPENDENT, {"separated": 0.7}, partial(to_make, INDEPENDENT), AT, 0, judges
    )
    assert table["judges"].tolist() == [judges["separated"]]
    (note,) = tastes_told(with_tastes, table)
    assert f"{with_tastes.spread[TASTE]:.2f}" in note and "300 comparisons" in note


def test_a_plan_has_the_tastes_and_the_intervals_of_the_ranking(tasteful):
    judgments = tasteful[0]
    basis, ranking = fitted_to(judgments, {}, (None, SHRUNK), 0.95, Assumption(*[None] * 4)), rank(judgments)
    (opinion,) = (text for text in ranking.remarks if text.startswith("Whose opinion"))
    said = f"standard deviation {basis.tastes.spread:.2f} log-odds, p {p_of(basis.tastes.p_value)}"
    assert said in opinion
    table = pd.DataFrame({"goal": ["separated"], "judges": [3]})
    assert said in next(_on_tastes(basis, table))
    board = ranking.tables["leaderboard"]
    mean_width = (board["high"] - board["low"]).mean()
    # whose degrees of freedom are those of judges and questions together
    assert 1 <= achieved("score_width", per_judge(basis.with_tastes), 6.0) / mean_width < 1.05


def test_tastes_whose_fit_would_take_long_are_still_told(tasteful, monkeypatch):
    judgments, fitted = tasteful
    monkeypatch.setattr("judgerank.planning.judges.MOST_TASTES", 1)
    assert fit_with_tastes(judgments, fitted, SHRUNK) is None
    shown = tastes_shown(judgments, fitted)
    assert 0.2 < shown < 0.7
    table = plan_table(from_file(judgments)[0], INDEPENDENT, {"separated": 0.7}, partial(to_make, INDEPENDENT), AT)
    (note,) = tastes_told(None, table, shown)
    assert f"{shown:.2f}" in note and not list(tastes_told(None, table, 0.0))


def test_no_judges_are_counted_where_they_have_no_tastes():
    cell = KeptPlan(1800, 1, 6, 6, 0, 0.6, 0.3, 0.0, 0.0, 0.6, 0.95)
    shown = [fit_with_tastes(judgments, from_file(judgments)[1], SHRUNK) for judgments, *_ in files(cell, 8)]
    assert sum(fit is not None for fit in shown) <= 2  # the test's level
    assert judges_needed(None, {"separated": 0.5}, AT) == {"separated": None}


def test_the_study_plans_judges_where_they_have_tastes():
    cell = KeptPlan(1200, 1, 6, 6, 0, 0.6, 0.3, 0.0, 0.4, 0.4, 0.95)
    outcome = new_data(cell, generator(3, "kept"))
    assert outcome.status == "planned" and 2 <= outcome.planned < 40
    assert 0 <= outcome.separated <= 1
