"""Planning: the formulas against independent computations and closed forms, the section as a user runs it."""

import re
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf
from scipy.special import expit

from experiments.beyond.plan import assumed_panel, panel_of
from judgerank import fit, rank
from judgerank.data.arrays import generator
from judgerank.data.errors import (
    ConfigError,
    DisconnectedError,
    NoIntervalError,
    NoMaximumError,
    NotIdentifiedError,
)
from judgerank.fits.errors_by_question import least_questions, questions_of
from judgerank.fits.presentation import leaderboard
from judgerank.inference.wald import normal_quantile
from judgerank.model.members import NAMED, POSITION_AWARE, Parameters
from judgerank.order.claims import holm
from judgerank.order.pairs import pairwise
from judgerank.order.scale import reported_covariance
from judgerank.planning import USUAL
from judgerank.planning.panels import Panel, assumed, sub_panels
from judgerank.planning.plans import WANTED as PLANNED
from judgerank.planning.plans import (
    asked_as,
    best_first,
    fitted_panel,
    least_told,
    pair_of,
    plan_table,
    questions_like,
    spread_told,
    to_make,
    two_best_told,
)
from judgerank.planning.precision import (
    DOUBTED,
    GOALS,
    POWERS,
    RELIABLE,
    WIDTHS,
    Precision,
    achieved,
    design_effect,
    expected,
    needed,
    power,
    precision_of,
    whole,
)
from judgerank.planning.questions import Questions, deviation, shared_variance
from judgerank.ranking.choices import DEFAULT, FALLBACK
from judgerank.reading.read import read_judgments
from replication.config import ROOT
from replication.outputs import load_section_data
from studies.planning import (
    MEDIAN,
    defaults_table,
    drawn,
    drawn_in_questions,
    grid,
    rejected,
    simulated,
    study_of,
)
from tests import forked
from tests.real_data import needs_data, needs_in_house
from tests.replication.test_config import composed, options

Z = NormalDist().inv_cdf(0.975)
WANTED = {"score_width": 0.3, "score_width_worst": 0.5, "standardised_width": 0.2, "standardised_width_worst": 0.4}
WANTED |= {"pair_power": 0.9, "pairs_interval_excludes_zero": 0.8, "separated": 0.6}


class OfModel(Precision):
    """Errors of the model, as of infinitely many questions: what few of them add is left out."""

    def freedom(self, size: float) -> float:
        return np.inf

    def longer(self, whose: str, size: float) -> np.ndarray:
        return np.ones_like(self.few[whose])


def by_model(panel: Panel) -> OfModel:
    told = precision_of(panel)
    return OfModel(**{name: getattr(told, name) for name in Precision.__dataclass_fields__})


@pytest.fixture(scope="module")
def panel() -> Panel:
    scores = {"a": 1.0, "b": 0.4, "c": 0.1, "d": -0.5}
    return Panel.of(scores, {"x": 2.0, "y": 1.0, "z": 0.4})


def errors_at(panel: Panel, size: float, dense_information) -> np.ndarray:
    """Standard errors of the reported scores, the constraints as a border of the information built row by row.

    The scale's derivatives are by differences of what is reported.
    """
    info = dense_information(panel.design(size), panel.at)
    n, many = len(panel.models), len(info)
    border = np.zeros((2, many))
    border[0, :n] = border[1, n:] = 1.0
    v = np.linalg.inv(np.block([[info, border.T], [border, np.zeros((2, 2))]]))[:many, :many]
    at, step = np.r_[panel.at.scores, panel.at.judges[0]], 1e-5
    to_scores = np.column_stack(
        [(reported(panel, at + e) - reported(panel, at - e)) / (2 * step) for e in step * np.eye(many)]
    )
    return np.sqrt(np.diag(to_scores @ v @ to_scores.T))


def reported(panel: Panel, at: np.ndarray) -> np.ndarray:
    """Scores as log-odds of the preference of a judge drawn as the design asks them, at the usual difference."""
    cells, n = panel.design(), len(panel.models)
    s, gamma = at[:n], np.exp(at[n:])
    share = np.bincount(cells.judge, cells.count) / cells.count.sum()
    usual = np.sqrt(np.mean([(x - y) ** 2 for x, y in combinations(s, 2)]))
    preference = share @ expit(gamma * usual)
    return s * np.log(preference / (1 - preference)) / usual


def test_a_design_spreads_its_comparisons_evenly_and_by_weight(panel):
    even = panel.design(360.0)
    assert len(even) == 18
    assert np.allclose(even.count, 20.0)
    tilted = panel.weighted({"x": 3.0, "z": 0.0}, [("d", "a", 5.0)]).design(80.0)
    assert tilted.judges == ("x", "y")
    assert tilted.n_comparisons == pytest.approx(80.0)
    count = dict(zip(zip(tilted.first, tilted.second, tilted.judge, strict=True), tilted.count, strict=True))
    assert count[0, 3, 0] == pytest.approx(15 * count[0, 1, 1])
    assert count[0, 1, 0] == pytest.approx(3 * count[0, 1, 1])


def test_information_is_linear_in_the_number_of_comparisons(panel, dense_information):
    one, many = (dense_information(panel.design(size), panel.at) for size in (1.0, 4321.0))
    assert np.allclose(many, 4321 * one, rtol=1e-12, atol=1e-12)
    for goal in WIDTHS:
        widths = [achieved(goal, by_model(panel), size) for size in (500.0, 2000.0)]
        assert widths[0] == pytest.approx(2 * widths[1], rel=1e-12)


def test_the_planned_number_achieves_the_wanted_width_and_one_less_does_not(panel, dense_information):
    for goal, summary in (("score_width", np.mean), ("score_width_worst", np.max)):
        size = whole(needed(goal, WANTED[goal], [by_model(panel)]))
        assert 2 * Z * summary(errors_at(panel, size, dense_information)) <= WANTED[goal]
        assert 2 * Z * summary(errors_at(panel, size - 1, dense_information)) > WANTED[goal]


@pytest.mark.parametrize("goal", GOALS)
def test_what_is_needed_is_where_the_expectation_over_panels_is_as_wanted(panel, goal):
    precisions = [precision_of(part) for part in sub_panels(panel, 2, 10, seed=1)]
    size = needed(goal, WANTED[goal], precisions, pair=1)
    assert expected(goal, precisions, size, pair=1) == pytest.approx(WANTED[goal], abs=1e-3)
    assert size > 1


def test_power_of_two_models_and_one_judge_is_the_closed_form():
    difference, size = 0.6, 150.0
    pair = Panel.of({"better": 0.3, "worse": -0.3}, {"judge": 1.0})
    p = 1 / (1 + np.exp(-difference))
    mean = difference * np.sqrt(size * p * (1 - p))
    normal = NormalDist()
    closed = normal.cdf(mean - Z) + normal.cdf(-mean - Z)
    for goal in POWERS[:2]:
        assert achieved(goal, by_model(pair), size) == pytest.approx(closed, rel=1e-9)
        assert needed(goal, closed, [by_model(pair)]) == pytest.approx(size, rel=1e-6)
    assert achieved("score_width", by_model(pair), size) == pytest.approx(
        Z / np.sqrt(size * p * (1 - p)), rel=1e-9
    )


def test_holms_share_is_the_unadjusted_one_less_what_holms_p_values_cost(panel):
    precision = by_model(panel)
    statistics = np.abs(precision.distance * np.sqrt(60.0) + precision.noise)
    p = np.array([[2 * NormalDist().cdf(-z) for z in row] for row in statistics])
    cost = (p <= 0.05).mean() - np.mean([holm(row) <= 0.05 for row in p])
    plain, adjusted = (achieved(goal, precision, 60.0) for goal in POWERS[1:])
    assert adjusted == pytest.approx(plain - cost)
    assert 0.01 < cost < plain


def test_the_errors_of_pairs_are_those_of_differences_over_their_standard_errors(panel):
    precision = precision_of(panel)
    assert np.allclose((precision.contrasts**2).sum(axis=1), 1.0)
    s = panel.at.scores
    apart = {pair: abs(s[pair[0]] - s[pair[1]]) for pair in combinations(range(4), 2)}
    error = np.array(list(apart.values())) / precision.distance
    of_difference = dict(zip(apart, precision.contrasts * error[:, None], strict=True))
    assert of_difference[0, 1] + of_difference[1, 2] == pytest.approx(of_difference[0, 2])


def test_a_judge_close_to_zero_does_not_widen_scores_for_their_scale():
    scores = {"a": 0.8, "b": 0.1, "c": -0.9}
    kinds = ({"x": 1.0, "y": 1.0, "z": 0.5}, {"x": 1.0, "y": 1.0, "z": 0.01})
    plain, weak = (precision_of(Panel.of(scores, gamma)) for gamma in kinds)

    def relative(precision: object, panel: Panel) -> float:
        return achieved("score_width", precision, 1.0) / panel.scale.scores.std()

    with_weak = relative(weak, Panel.of(scores, kinds[1])) / relative(plain, Panel.of(scores, kinds[0]))
    assert with_weak < 2
    assert achieved("standardised_width", weak, 1.0) < 2 * achieved("standardised_width", plain, 1.0)


def test_the_design_effect_multiplies_what_is_needed_in_whole_repeats():
    assert design_effect(1, 0.9) == 1.0
    assert design_effect(5, 0.25) == 2.0
    assert design_effect(4, 1.0) == 4.0
    assert whole(1000.0, 5, 0.25) == 2000
    assert whole(1001.3, 5, 0.0) == 1005


def test_repeats_are_drawn_with_the_wanted_correlation(panel):
    data = drawn(generator(3, "repeats"), panel, 120_000, repeats=4, correlation=0.3)
    assert data.n_comparisons == 120_000
    design = panel.design()
    mean = {
        key: p
        for *key, p in zip(design.first, design.second, design.judge, design.outcome, strict=True)
        for key in [tuple(key)]
    }
    p = np.array([mean[key] for key in zip(data.first, data.second, data.judge, strict=True)])
    inflation = np.mean((data.outcome - p) ** 2 / (p * (1 - p) / 4))
    assert inflation == pytest.approx(design_effect(4, 0.3), rel=0.03)


@pytest.mark.parametrize(("repeats", "correlation"), [(1, 0.0), (4, 0.5)])
def test_simulated_scores_spread_as_the_formula_says(panel, repeats, correlation):
    size, many = 12_000, 250
    rng = generator(5, "spread", repeats)
    scores = np.array([fit(drawn(rng, panel, size, repeats, correlation)).scores.to_numpy() for _ in range(many)])
    spread = (scores / scores.std(axis=1, keepdims=True)).std(axis=0)
    planned = precision_of(panel).standardised * np.sqrt(design_effect(repeats, correlation) / size)
    assert np.sqrt(np.mean((spread / planned) ** 2)) == pytest.approx(1.0, abs=3 / np.sqrt(2 * many))


@pytest.mark.parametrize(("repeats", "correlation"), [(1, 0.0), (4, 0.5)])
def test_simulated_widths_and_power_agree_with_the_formula(repeats, correlation):
    panel = Panel.of({"a": 0.5, "b": 0.1, "c": 0.0, "d": -0.6}, {"x": 2.0, "y": 1.0, "z": 0.7})
    settings = {"n_judges": 3, "draw": 0, "n_comparisons": 6000, "repeats": repeats, "correlation": correlation}
    settings |= {"questions": {}, "level": 0.95, "pair": panel.pair(["b", "c"], "pair")}
    rng = generator(7, "agree", repeats)
    records = pd.DataFrame([simulated(settings, rng, {3: [panel]}) for _ in range(150)])
    assert (records["status"] == "interior").all()
    effective = 6000 / design_effect(repeats, correlation)
    for goal in GOALS:
        formula = achieved(goal, precision_of(panel), effective, pair=settings["pair"])
        if goal in WIDTHS:  # they vary by less than the formula's next term
            assert records[goal].median() == pytest.approx(formula, rel=0.03)
        else:
            assert 0.2 < formula < 0.99
            assert records[goal].mean() == pytest.approx(formula, abs=3 * records[goal].std() / np.sqrt(150))


def mean_width(fitted) -> float:
    """Of the intervals of the reported scores, as `leaderboard` has them."""
    errors = np.sqrt(np.diag(reported_covariance(fitted)))
    reach = [normal_quantile(0.95, own) for own in fitted.degrees_of_scores]
    return 2 * float(np.mean(reach * errors))


def test_the_widths_that_plans_are_held_against_are_those_of_the_leaderboard(panel):
    asked = Questions(0.6, 12, 1)
    data, question = drawn_in_questions(generator(11, "widths"), panel, 1200, asked)
    plain = fit(data, panel.model.name)
    for fitted in (plain, plain.clustered(data, question)):
        board = leaderboard(fitted, 0.95)
        assert mean_width(fitted) == pytest.approx((board["high"] - board["low"]).mean(), rel=1e-12)


def by_hand(panel: Panel, asked: Questions) -> np.ndarray:
    """The shared variance by a sum over every two outcomes of a question, in any order of presentation."""
    cells, n = panel.design(), len(panel.models)
    normal, share = NormalDist(), cells.count / cells.count.sum()
    vectors, keys = [], []
    for i, j, k, p in zip(cells.first, cells.second, cells.judge, cells.outcome, strict=True):
        g, u = np.exp(panel.at.judges[0, k]), np.zeros(n + panel.at.judges.size)
        u[i], u[j], u[n + k] = g, -g, g * (panel.at.scores[i] - panel.at.scores[j])
        if panel.model.has_position:
            u[n + len(panel.judges) + k] = 1.0
        noise = 2 * (asked.sd * g / panel.scale.factor) ** 2  # the deviation is in the units of reported scores
        felt = np.sqrt(noise / (noise + np.pi**2 / 3) / 2) * normal.pdf(normal.inv_cdf(p))
        x = np.zeros(n)
        x[i], x[j] = 1.0, -1.0
        vectors.append(np.outer(u * felt, x))
        keys.append((frozenset((i, j)), k))
    total = np.zeros((len(vectors[0]), len(vectors[0])))
    pair_share = {pair: sum(w for w, (at, _) in zip(share, keys, strict=True) if at == pair) for pair, _ in keys}
    judge = panel.judge_weight / panel.judge_weight.sum()
    for one, first, (pair, k) in zip(share, vectors, keys, strict=True):
        for other, second, (pair2, k2) in zip(share, vectors, keys, strict=True):
            chance = (asked.pairs - 1) * asked.judges * one * other
            if pair == pair2 and k != k2:
                chance += (asked.judges - 1) * one * other / pair_share[pair] / (1 - judge @ judge)
            total += chance * first @ second.T
    return total


@pytest.fixture(scope="module")
def leaning_panel(panel) -> Panel:
    at = Parameters(panel.at.scores, np.vstack([panel.at.judges, [0.6, 0.0, -0.4]]))
    return replace(panel, at=at, model=POSITION_AWARE)


@pytest.fixture(scope="module")
def panels_of_levels(panel) -> tuple[Panel, Panel]:
    """With ties, and with strength; one judge never ties, and one never says much better."""
    ties = np.vstack([panel.at.judges, [0.6, 0.0, -0.4], [np.log(0.5), np.log(1.5), -np.inf]])
    graded = np.vstack([panel.at.judges, np.log([0.5, 1.0, 0.3]), [np.log(0.6), -np.inf, np.log(1.4)]])
    return tuple(
        replace(panel, at=Parameters(panel.at.scores, rows), model=NAMED[name])
        for name, rows in (("position_aware_ties", ties), ("judge_aware_graded", graded))
    )


def test_errors_of_levels_are_the_inverse_of_the_information_by_differences(panels_of_levels):
    """The information of a design is the covariance of the gradients, by level and by differences."""
    for one in panels_of_levels:
        cells, free = one.design(), one.free
        share = one.probabilities(cells.first, cells.second, cells.judge)
        assert np.allclose(share.sum(axis=1), 1.0, rtol=1e-14)
        at = np.r_[one.at.scores, one.at.judges[free]]

        def logarithms(x, one=one, cells=cells, free=free):
            rows = one.at.judges.copy()
            rows[free] = x[4:]
            moved = replace(one, at=Parameters(x[:4], rows))
            with np.errstate(divide="ignore"):
                return np.log(moved.probabilities(cells.first, cells.second, cells.judge))

        step = 1e-5
        with np.errstate(invalid="ignore"):  # of levels that a judge never gives
            slopes = [(logarithms(at + e) - logarithms(at - e)) / (2 * step) for e in step * np.eye(len(at))]
        slopes = np.nan_to_num(np.array(slopes))
        weight = share * (cells.count / cells.count.sum())[:, None]
        info = np.einsum("dtl,etl,tl->de", slopes, slopes, weight)
        border = np.zeros((2, len(at)))
        border[0, :4] = border[1, 4:7] = 1.0
        inverse = np.linalg.inv(np.block([[info, border.T], [border, np.zeros((2, 2))]]))[: len(at), : len(at)]
        assert np.allclose(one.covariance, inverse, rtol=1e-6, atol=1e-8)


def test_levels_are_planned_as_they_are_drawn_and_ranked(panels_of_levels):
    rng, size, many = generator(23, "levels"), 4_000, 100
    for one in panels_of_levels:
        told, widths, spread = precision_of(one), [], []
        for _ in range(many):
            fitted = fit(drawn(rng, one, size), one.model.name)
            widths.append(mean_width(fitted))
            spread.append(fitted.scores.to_numpy() / fitted.scores.to_numpy().std())
        assert np.median(widths) == pytest.approx(achieved("score_width", told, size), rel=0.03)
        ratio = np.std(spread, axis=0) / (told.standardised / np.sqrt(size))
        assert np.sqrt(np.mean(ratio**2)) == pytest.approx(1.0, abs=3 / np.sqrt(2 * many))


def test_levels_of_one_question_spread_as_planned(panels_of_levels):
    rng, asked, size, many = generator(29, "levels"), Questions(0.8, 2, 3), 3_600, 80
    for one in panels_of_levels:
        told, spread = precision_of(one, asked), []
        for _ in range(many):
            data, _ = drawn_in_questions(rng, one, size, asked)
            scores = fit(data, one.model.name).scores.to_numpy()
            spread.append(scores / scores.std())
        ratio = np.std(spread, axis=0) / (told.standardised / np.sqrt(size))
        assert np.sqrt(np.mean(ratio**2)) == pytest.approx(1.0, abs=3 / np.sqrt(2 * many))
        assert (told.standardised > 1.1 * precision_of(one).standardised).all()


def test_levels_drawn_in_questions_are_as_often_as_without(panels_of_levels):
    for one in panels_of_levels:
        data, _ = drawn_in_questions(generator(4, "levels"), one, 120_000, Questions(1.0, 2, 3))
        share = one.probabilities(data.first, data.second, data.judge)
        seen = [data.outcome - data.known_ties / 2, data.known_ties]
        expected = [share[:, one.levels > 0].sum(axis=1), share[:, one.levels == 0].sum(axis=1)]
        if data.strong is not None:
            seen, expected = [*seen, data.strong[:, 0]], [*expected, share[:, 0]]
        for got, wanted in zip(seen, expected, strict=True):
            for k in range(3):
                assert abs((got - wanted)[data.judge == k].mean()) < 4 * 0.5 / np.sqrt(40_000)


@pytest.mark.parametrize("asked", [Questions(0.7, 4, 1), Questions(0.7, 1, 3), Questions(1.5, 2, 2)])
def test_what_questions_share_is_the_sum_over_every_two_of_their_outcomes(asked, panel, leaning_panel):
    for one in (panel, leaning_panel, panel.weighted({"x": 3.0}, [("a", "b", 2.0)])):
        assert np.allclose(shared_variance(one, asked), by_hand(one, asked), rtol=1e-10, atol=1e-14)


def test_questions_that_share_nothing_change_nothing(panel):
    plain = precision_of(panel)
    for asked in (Questions(0.0, 9, 3), Questions(2.0, 1, 1)):
        assert np.array_equal(precision_of(panel, asked).score, plain.score)
    assert (precision_of(panel, Questions(0.5, 9, 3)).score > plain.score).all()


@pytest.mark.parametrize("asked", [Questions(0.6, 12, 1), Questions(0.8, 2, 3)])
def test_data_drawn_in_questions_spread_and_are_ranked_as_planned(asked, panel, leaning_panel):
    rng, size, many = generator(11, "questions", asked.pairs), 3600, 80
    for one in (panel, leaning_panel):
        told, widths, spread = precision_of(one, asked), [], []
        for _ in range(many):
            data, question = drawn_in_questions(rng, one, size, asked)
            assert len(data) == size
            plain = fit(data, one.model.name)
            widths.append(mean_width(plain.clustered(data, question)))
            spread.append(plain.scores.to_numpy() / plain.scores.to_numpy().std())
        assert np.median(widths) == pytest.approx(achieved("score_width", told, size), rel=0.04)
        ratio = np.std(spread, axis=0) / (told.standardised / np.sqrt(size))
        assert np.sqrt(np.mean(ratio**2)) == pytest.approx(1.0, abs=3 / np.sqrt(2 * many))
        assert achieved("score_width", told, size) > 1.04 * achieved("score_width", precision_of(one), size)


def test_every_outcome_by_itself_is_as_without_questions(leaning_panel):
    data, question = drawn_in_questions(generator(4, "margins"), leaning_panel, 240_000, Questions(1.0, 2, 3))
    assert np.array_equal(np.bincount(question), np.full(40_000, 6))
    asked = data.judge.reshape(-1, 3)
    assert (np.sort(asked, axis=1) == [0, 1, 2]).all()  # different judges on each pair
    off = data.outcome - leaning_panel.probabilities(data.first, data.second, data.judge)[:, 0]
    for k in range(3):
        for shown in (data.first < data.second, data.first > data.second):
            mine = off[(data.judge == k) & shown]
            assert abs(mine.mean()) < 4 * 0.5 / np.sqrt(len(mine))


def test_a_plan_from_a_file_is_what_ranking_that_file_measures(tmp_path):
    truth = Panel.of({f"m{i}": 0.8 - 0.25 * i for i in range(7)}, {"x": 2.0, "y": 1.0, "z": 0.6})
    asked = Questions(0.7, 20, 3)
    data, question = drawn_in_questions(generator(21, "file"), truth, 6000, asked)
    path = tmp_path / "mine.csv"
    data.to_frame().assign(question=question).to_csv(path, index=False)
    cfg = composed("plan", "model=judge_aware")
    _, panel, found = panel_of(cfg, {"mine": read_judgments(path)})
    assert (found.judges, found.size) == (3, pytest.approx(60, abs=10))
    assert found.sd == pytest.approx(asked.sd, rel=0.25)
    board = rank(path, model="judge_aware").tables["leaderboard"]
    measured = (board["high"] - board["low"]).mean()
    told = precision_of(panel, found)
    assert achieved("score_width", told, 6000) == pytest.approx(measured, rel=0.03)
    assert achieved("score_width", precision_of(panel), 6000) < 0.8 * measured
    # as many new questions as the plan says bring the ranking to the wanted width
    more = found.whole(needed("score_width", 0.15, [told]))
    widths = []
    for seed in range(10):
        data, question = drawn_in_questions(generator(seed, "new file"), truth, more, asked)
        widths.append(mean_width(fit(data).clustered(data, question)))
    assert np.mean(widths) == pytest.approx(0.15, rel=0.1)


@pytest.mark.parametrize("wrong", [{"sd": -1.0}, {"sd": np.nan}, {"pairs": 0}, {"judges": 0}])
def test_questions_that_cannot_be_are_refused(wrong):
    with pytest.raises(ConfigError, match="questions"):
        Questions(**wrong)


def test_fits_without_an_interior_maximum_are_told_apart(panel):
    settings = {"n_judges": 3, "draw": 0, "n_comparisons": 60, "repeats": 1, "correlation": 0.0}
    settings |= {"questions": {}, "level": 0.95, "pair": 0}
    rng = generator(9, "few")
    records = pd.DataFrame([simulated(settings, rng, {3: [panel]}) for _ in range(60)])
    assert {"interior", "boundary", "NoMaximumError"} <= set(records["status"])
    by_status = records.groupby("status")
    assert by_status["score_width"].count()["boundary"] == 0 < by_status["standardised_width"].count()["boundary"]
    assert records.loc[records["status"] == "NoMaximumError", list(GOALS)].isna().all(axis=None)


def test_sub_panels_are_all_or_random_nested_and_on_their_own_scale(panel):
    assert [part.judges for part in sub_panels(panel, 2, 3, 1)] == [("x", "y"), ("x", "z"), ("y", "z")]
    wide = Panel.of({"a": 1.0, "b": 0.0}, {f"j{k}": 1.0 + k for k in range(8)})
    small, large = (sub_panels(wide, size, 12, 1) for size in (3, 4))
    assert all(set(a.judges) < set(b.judges) for a, b in zip(small, large, strict=True))
    assert len({part.judges for part in small}) > 5
    part = small[0]
    assert part.at.judges.sum() == pytest.approx(0.0, abs=1e-12)
    probability = dict(zip(wide.judges, wide.design().outcome, strict=True))
    assert part.design().outcome == pytest.approx([probability[judge] for judge in part.judges])


def test_the_panel_of_a_fit_leaves_out_judges_at_zero(cells_of):
    rows = [("a", "b", "x", 8, 3), ("b", "c", "x", 7, 4), ("a", "c", "x", 8, 2)]
    weak = [("a", "b", "w", 3, 8), ("b", "c", "w", 3, 7), ("a", "c", "w", 2, 8)]
    fitted = fit(cells_of(*rows, *[(a, b, "y", w, lost) for a, b, _, w, lost in rows], *weak))
    assert fitted.judges_at_zero == ("w",)
    panel = Panel.fitted(fitted)
    assert panel.judges == ("x", "y")
    assert panel.at.scores == pytest.approx(fitted.scores.to_numpy())
    unbounded = fit(cells_of(*rows, ("a", "b", "u", 9, 0), ("b", "c", "u", 9, 0)))
    with pytest.raises(NoIntervalError, match=r"\bu\b.*without limit"):
        Panel.fitted(unbounded)


@pytest.mark.parametrize(
    ("goal", "value", "names"),
    [
        ("score_width", 0.0, "score_width .* above zero, not 0"),
        ("standardised_width_worst", -1.0, "standardised_width_worst .* above zero, not -1"),
        ("score_width", np.nan, "score_width .* not nan"),
        ("pair_power", 1.0, "pair_power lies between zero and one, not at 1"),
        ("separated", 0.0, "separated lies between zero and one, not at 0"),
        ("speed", 1.0, "no goal 'speed'"),
    ],
)
def test_goals_out_of_range_are_named(panel, goal, value, names):
    with pytest.raises(ConfigError, match=names):
        needed(goal, value, [precision_of(panel)])


def test_what_no_number_of_comparisons_reaches_is_named():
    twins = precision_of(Panel.of({"a": 1.0, "b": 0.0, "twin of b": 0.0}, {"x": 1.0}))
    with pytest.raises(ConfigError, match=r"pairs_interval_excludes_zero=0.9 is out of reach: .* give 0.683"):
        needed("pairs_interval_excludes_zero", 0.9, [twins])


@pytest.mark.parametrize(
    ("judges", "pairs", "kind", "names"),
    [
        ({"nobody": 1.0}, [], ConfigError, "weights: there is no judge 'nobody' among x, y, z"),
        ({"x": -1.0}, [], ConfigError, "weight of 'x': -1.0 is not a weight"),
        ({}, [("a", "q", 1.0)], ConfigError, "weights: there is no model 'q' among a, b, c, d"),
        ({}, [("a", "b")], ConfigError, "weights: .* is not a model, another one and a weight"),
        ({}, [("a", other, 0.0) for other in "bcd"], DisconnectedError, "a; b, c, d"),
        ({"x": 0.0, "y": 0.0, "z": 0.0}, [], ConfigError, "weights: .* above zero"),
    ],
)
def test_impossible_weights_are_named(panel, judges, pairs, kind, names):
    with pytest.raises(kind, match=names):
        panel.weighted(judges, pairs)


def test_a_design_that_leaves_something_open_is_refused():
    # two pairs of equal models, compared only within
    panel = Panel.of({"a": 1.0, "b": 1.0, "c": 0.0}, {"x": 1.0, "y": 1.0})
    chain = panel.weighted({}, [("a", "c", 0.0)])
    assert precision_of(chain).score.shape == (3,)
    alone = replace(panel, pair_weight=np.array([1.0, 0.0, 0.0]))
    with pytest.raises(NotIdentifiedError):
        precision_of(alone)


@pytest.mark.parametrize(
    ("override", "names"),
    [
        ("assumed.scores=[1]", r"scores\b.*\btwo\b"),
        ("assumed.scores=[1,x]", "scores holds 'x'"),
        ("assumed.scores=high", "scores is a list of numbers, or numbers by name"),
        ("assumed.discrimination=[1,-1]", "discrimination must be .* above zero"),
        ("assumed.n_judges=0", "discrimination: 0 of them"),
        ("assumed.sigma_scores=0", "scores must be .* not all equal"),
    ],
)
def test_panels_that_cannot_be_are_named(override, names):
    with pytest.raises(ConfigError, match=names):
        assumed_panel(composed("plan", override))


def test_an_assumed_panel_has_the_spreads_or_the_values_given():
    panel = assumed_panel(composed("plan", "assumed.n_models=7"))
    assert (len(panel.models), len(panel.judges)) == (7, USUAL.n_judges)
    assert panel.scale.scores.std() == pytest.approx(USUAL.sigma_scores)
    assert panel.at.judges.std() == pytest.approx(USUAL.sigma_discrimination)
    given = ["assumed.scores={best: 1, worst: -1}", "assumed.discrimination=[2,0.5]"]
    panel = assumed_panel(composed("plan", *given))
    assert (panel.models, panel.judges) == (("best", "worst"), ("j01", "j02"))
    assert np.exp(panel.at.judges[0]) == pytest.approx([2.0, 0.5])


@pytest.mark.parametrize("profile", options("profile"))
@pytest.mark.parametrize("dataset", [None, *options("dataset")])
def test_the_section_composes_with_every_set_and_profile(profile, dataset):
    chosen = [f"dataset={dataset}"] if dataset else []
    cfg = composed("plan", f"profile={profile}", *chosen)
    assert not OmegaConf.missing_keys(cfg)
    assert (cfg.dataset is None) == (dataset is None)


def run(tmp_path, *overrides: str):
    folders = [f"{name}={tmp_path / name}" for name in ("results", "figures", "cache")]
    return forked.run_anew(["experiments/beyond/plan.py", "profile=smoke", *folders, *overrides])


def test_a_file_of_ones_own_is_planned_for_under_its_name(tmp_path, simulated):
    frame = simulated(4, [0.8, 0.0, -0.8], [1.5, 0.7], 600).to_frame()
    frame.to_csv(tmp_path / "mine.csv", index=False)
    few = ["n_judges=[1]", "promises.n_comparisons=[200]", "promises.times=1", "n_comparisons=[1000]"]
    done = run(tmp_path, f"data.path={tmp_path / 'mine.csv'}", *few, "parallel=sequential")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results/beyond/plan/mine"
    assert pd.read_csv(folder / "plan.csv")["goal"].tolist() == list(GOALS)
    assert pd.read_csv(folder / "by_judges.csv")["n_judges"].unique().tolist() == [1, 2]
    assert (tmp_path / "figures/beyond/plan/mine/plan.png").is_file()


def test_stored_plans_are_this_codes():
    cfg = composed("plan")
    assert cfg.wanted == PLANNED  # what the command plans for, too
    panel = assumed_panel(cfg)
    stored = pd.read_csv(ROOT / "results/beyond/plan/assumed/plan.csv").set_index("goal")
    pair, precision = pair_of(panel), precision_of(panel)
    for goal, row in stored.iterrows():
        assert whole(needed(goal, cfg.wanted[goal], [precision], pair=pair)) == row["comparisons"]
        assert achieved(goal, precision, row["comparisons"], pair=pair) == pytest.approx(row["formula"], rel=1e-7)
    assert stored["n_replications"].eq(cfg.replications).all()
    size = int(stored.at["standardised_width", "comparisons"])
    panels = {USUAL.n_judges: [panel]}
    study = study_of(cfg, panels, {"standardised_width": size}, pair)
    cell = f"k{USUAL.n_judges}-t{size}-draw0"
    first = simulated(study.cells[cell], generator(study.seed, "plan", cell, 0), panels)
    assert first["status"] in ("interior", "boundary")
    assert grid(cfg)[-1] == 32000
    assert_the_usual_panel(pd.read_csv(ROOT / "results/beyond/plan/assumed/defaults.csv"))


def assert_the_usual_panel(table: pd.DataFrame):
    medians = table.set_index("dataset").loc[MEDIAN].astype(float)
    assert [*USUAL[:2]] == medians[["n_models", "n_judges"]].round().tolist()
    assert [*USUAL[2:]] == medians[["sigma_scores", "sigma_discrimination"]].round(2).tolist()


@needs_data
@needs_in_house
def test_what_is_assumed_without_a_file_is_the_median_of_the_public_sets():
    data, kind = load_section_data(composed("plan", "surrogate=never"))
    assert len(data) == 4 and not kind
    table = defaults_table(data)
    assert_the_usual_panel(table)
    sets, (median,) = table.drop(columns="dataset")[:-1], table.drop(columns="dataset")[-1:].to_numpy()
    assert len(sets) == 4 and (sets.median() == median).all()


def test_power_from_a_file_is_the_mean_over_half_the_variance_that_the_file_leaves_open(panel):
    doubtful = replace(panel, doubt=np.full(6, 0.3))
    known, told = precision_of(panel), precision_of(doubtful)
    draws = known.distance[2] + np.sqrt(DOUBTED) * told.doubt[2] * generator(3, "doubt").standard_normal(400_000)
    means = np.abs(draws) * np.sqrt(90.0)
    normal = np.vectorize(NormalDist().cdf)
    by_draws = np.mean(normal(means[:4000] - Z) + normal(-means[:4000] - Z))
    assert achieved("pair_power", told, 90.0, pair=2) == pytest.approx(by_draws, abs=0.02)
    assert needed("pair_power", 0.999, [told], pair=1) > needed("pair_power", 0.999, [known], pair=1)
    assert needed("score_width", 0.3, [told]) == needed("score_width", 0.3, [known])
    for goal in POWERS[1:]:  # of all pairs, which nobody chose
        assert achieved(goal, told, 90.0) == achieved(goal, known, 90.0)


@pytest.mark.parametrize("lead", [1.5, 2.5, 4.0, 6.0])
def test_a_plan_keeps_on_average_what_it_promises_whatever_the_true_difference(panel, lead):
    """Files estimate a difference of `lead` standard errors; data of the sizes planned from them are tested."""
    known, normal = by_model(panel), np.vectorize(NormalDist().cdf)
    estimates, kept, weight = np.linspace(lead - 4, lead + 4, 161), [], []
    for estimate in estimates:
        one = replace(known, distance=np.full(6, abs(estimate) / 10), doubt=np.full(6, 0.1), least=1.0)
        with suppress(ConfigError):  # out of reach
            reached = lead / 10 * np.sqrt(needed("pair_power", 0.8, [one]))
            kept.append(float(normal(reached - Z) + normal(-reached - Z)))
            weight.append(np.exp(-((estimate - lead) ** 2) / 2))
    assert np.average(kept, weights=weight) == pytest.approx(0.8, abs=0.015)


@pytest.mark.parametrize("difference", [0.3, 1.0, 2.5])
def test_a_difference_over_its_error_varies_less_than_the_difference(difference):
    """One judge and two models: z = d (p q)^(1/2), whose error is dz/dd (p q)^(-1/2)."""
    panel = Panel.of({"a": difference / 2, "b": -difference / 2}, {"judge": 1.0})
    p = 1 / (1 + np.exp(-difference))
    assert panel._steady() == pytest.approx([abs(1 - difference * (2 * p - 1) / 2)], abs=1e-4)
    told = precision_of(replace(panel, doubt=np.array([0.3]), steadiness=np.array([0.5])))
    assert told.doubt == pytest.approx(0.5 * precision_of(replace(panel, doubt=np.array([0.3]))).doubt)


def test_stored_plans_keep_what_they_promise():
    """Of a pair named beforehand, and of the two best; a file that takes others for these keeps more."""
    stored = pd.read_csv(ROOT / "results/beyond/plan/assumed/promises.csv")
    named, best = (stored[stored["pair"] == pair] for pair in ("named", "best"))
    off = best["power_of_two_best"] - best["wanted"]
    assert (off > -0.03).all()
    # small files leave the size open, and where it comes out low, the fewest that are planned keep more
    large = best["file"] >= 600
    assert (off[large].abs() < 0.03 + 2 * best["power_of_two_best_se"][large]).all()
    assert abs(off[large].mean()) < 0.03
    assert (named["power"] > named["wanted"] - 0.03 - 2 * named["power_se"]).all()
    assert best["two_best"].is_monotonic_increasing and best["two_best"].iloc[0] < 0.95 < best["two_best"].iloc[-1]
    small = best.iloc[0]
    assert small["power_of_others"] - 2 * small["power_of_others_se"] > small["wanted"] + 0.03
    mixed = best["two_best"] * best["power_of_two_best"]
    mixed += (1 - best["two_best"]) * best["power_of_others"].fillna(0.0)
    np.testing.assert_allclose(best["power"], mixed, atol=1e-6)
    assert named["power_of_others"].isna().all()


def test_a_file_that_leaves_open_which_two_are_best_says_so(simulated):
    few, many = (simulated(4, [0.9, 0.3, 0.2, -1.4], [1.5, 0.7, 1.0], size) for size in (300, 60_000))
    panels = [Panel.fitted(fit(rows, "judge_aware")) for rows in (few, many)]
    (said,) = two_best_told(panels[0], 0.95)
    _, second, *others = best_first(panels[0])
    assert said.index(others[0]) < said.index(second) and others[1] not in said
    assert not list(two_best_told(panels[1], 0.95))
    assert panels[0].pair(best_first(panels[0])[:2], "pair") == pair_of(panels[0])


def test_a_plan_for_a_pair_says_how_many_comparisons_are_of_it():
    panel = Panel.of({"a": 0.5, "b": 0.0, "c": -0.5}, {"x": 2.0, "y": 1.0}).weighted({}, [("a", "b", 2.0)])
    table = pd.DataFrame({"goal": ["pair_power", "score_width"], "comparisons": [4_000, 100], "wanted": 0.9})
    (said,) = spread_told(panel, panel.pair(["a", "b"], "pair"), table)
    assert "the 4,000 comparisons are spread over 3 pairs of models. About 2,000 are of a against b, " in said
    assert "which gives 90% power." in said
    pair = Panel.of({"a": 0.5, "b": -0.5}, {"x": 2.0, "y": 1.0})
    assert not list(spread_told(pair, 0, table))  # all comparisons are of the only pair
    assert not list(spread_told(panel, 0, table[1:]))


def test_no_power_is_planned_with_fewer_comparisons_than_its_formula_needs(panel):
    precision = precision_of(panel)
    least = RELIABLE * (len(panel.models) - 1 + len(panel.judges) - 1)
    assert precision.least == least
    low, high = (float(power(precision, size, 0.95)[0]) for size in (least / 2, 2 * least))
    assert needed("pair_power", low, [precision]) == least
    assert needed("pair_power", high, [precision]) == pytest.approx(2 * least)
    width = achieved("score_width", precision, least / 2)
    assert needed("score_width", width, [precision]) == pytest.approx(least / 2)  # widths are not affected
    table = pd.DataFrame({"goal": ["pair_power", "separated"], "comparisons": [least, least + 1]})
    (said,) = least_told(table, panel, whole)
    assert "pair_power" in said and f"{least:,} comparisons" in said and f"{RELIABLE} for each" in said
    assert not list(least_told(table[1:], panel, whole))


@pytest.mark.parametrize("sd", [0.0, 0.5])
def test_questions_are_never_so_few_that_a_ranking_has_no_errors_by_question(sd):
    truth, asked = assumed(6, 10, 0.85, 0.5), Questions(sd, 15, 10)
    told = precision_of(truth, asked)
    fewest = least_questions(truth.n_parameters)
    table = plan_table(truth, asked, dict.fromkeys(POWERS, 0.5), partial(to_make, asked), {})
    assert (table["questions"] == fewest).all() and told.fewest == fewest * asked.size
    (said,) = least_told(table, truth, partial(to_make, asked), asked)
    assert "pair_power, pairs_interval_excludes_zero" in said and "25 questions" in said
    data, question = drawn_in_questions(generator(6, "floor"), truth, 3_750, asked)
    fitted = fit(data, truth.model.name)
    assert questions_of(fitted, data, question).enough  # as `judgerank rank` has it
    assert not questions_of(fitted, data, np.minimum(question, fewest - 2)).enough
    assert needed("score_width", 9.0, [told]) == told.fewest  # widths likewise
    assert needed("score_width", 90.0, [by_model(truth)]) == pytest.approx(1.0)


def test_few_questions_have_the_errors_that_a_ranking_states_and_its_power():
    """Twice as many questions as parameters, ranked as by default: t, and the allowance for few clusters."""
    truth, asked, size, many = assumed(6, 4, 0.85, 0.5), Questions(1.0, 5, 4), 480, 40
    told, plain = precision_of(truth, asked), precision_of(truth)
    pair, widths, rejections = pair_of(truth), [], []
    for seed in range(many):
        data, question = drawn_in_questions(generator(seed, "few"), truth, size, asked)
        found = fit(data, truth.model.name, "penalised").clustered(data, question)
        pairs = pairwise(found).set_index(["first", "second"])
        widths.append(mean_width(found))
        one, other = truth.pairs[pair]
        mine = pairs.loc[(one, other) if (one, other) in pairs.index else (other, one)]
        rejections.append([mine["p_value"] <= 0.05, (pairs["p_value"] <= 0.05).mean()])
    assert np.median(widths) == pytest.approx(achieved("score_width", told, size), rel=0.06)
    for goal, seen in zip(POWERS, np.array(rejections, float).T, strict=False):
        error = max(seen.std(), 0.3) / np.sqrt(many)
        assert seen.mean() == pytest.approx(achieved(goal, told, size, pair=pair), abs=0.03 + 2 * error)
    assert achieved("score_width", told, size) > 1.3 * achieved("score_width", plain, size)
    assert told.freedom(size) == 23 and plain.freedom(size) == size - 1
    assert (told.longer("score", size) > 1.1).all()
    assert plain.longer("score", size) == pytest.approx(np.sqrt(1 + 12 / (size - 12)))  # 12 parameters


def test_a_file_of_few_questions_is_planned_from_with_errors_by_question():
    """Two equal models, ten pairs of each question by six judges: fewer questions than parameters."""
    gamma = dict(zip("uvwxyz", [1.3, 1.2, 1.0, 1.0, 0.8, 0.7], strict=True))
    scores = {"m1": 0.9, "m2": 0.301, "m3": 0.3, "m4": -0.5, "m5": -1.0}
    truth = assumed(5, 6, 0.0, 0.0, scores, gamma)
    asked, left_out, found = Questions(1.0, 10, 6), [], []
    for seed in range(20):
        data, question = drawn_in_questions(generator(seed, "file of few"), truth, 720, asked)
        judgments = read_judgments(data.to_frame().assign(question_id=question))
        panel, fitted = fitted_panel(judgments, partial(fit, judgments.comparisons), DEFAULT)
        assert panel.freedom == 11 and not questions_of(fitted, judgments.comparisons, judgments.question).enough
        _, low, high = panel.difference(panel.pair(["m2", "m3"], "pair"), 0.95)
        left_out.append(not low <= 0 <= high)
        found.append(questions_like(panel, fitted, judgments))
    assert np.mean(left_out) <= 0.1
    assert {one.judges for one in found} == {6} and {one.pairs for one in found} <= set(range(9, 14))
    assert np.median([one.sd for one in found]) == pytest.approx(1.0, abs=0.25)


def test_a_plan_from_few_questions_says_so(caplog):
    caplog.set_level("INFO", "judgerank")
    truth = assumed(4, 3, 0.85, 0.5)
    data, question = drawn_in_questions(generator(1, "few"), truth, 108, Questions(0.5, 6, 3))
    judgments = read_judgments(data.to_frame().assign(question_id=question))
    fitted_panel(judgments, partial(fit, judgments.comparisons))
    assert "6 questions and 8 free parameters" in caplog.text and "rough" in caplog.text


def test_an_assumed_panel_is_of_the_member_that_ranks_unless_another_is_named():
    default, without = assumed(6, 4, 0.85, 0.5), assumed(6, 4, 0.85, 0.5, model=FALLBACK)
    assert (default.model.name, default.n_parameters, without.n_parameters) == (DEFAULT, 12, 8)
    for goal in WIDTHS:  # a balanced order costs no precision
        widths = [achieved(goal, by_model(one), 900.0) for one in (default, without)]
        assert widths[0] == pytest.approx(widths[1], rel=1e-9)
    with pytest.raises(ConfigError, match="position_aware, judge_aware, not for position_aware_ties"):
        assumed(6, 4, 0.85, 0.5, model="position_aware_ties")


def test_repeats_are_planned_for_on_questions_of_one_comparison(panel):
    assert asked_as(Questions(0.0, 4, 3), panel, {}, 2) == Questions()
    for asked in ({"sd": 0.4}, {"judges": 3}, {"pairs": 2}):
        with pytest.raises(ConfigError, match="repeats"):
            asked_as(Questions(), panel, asked, 2)


def test_tests_have_the_power_of_the_formula_from_the_fewest_comparisons_that_are_planned():
    """And much less with a third of these: pairs are judged by the stricter of two tests."""
    many = 80
    for model, share, most in ((FALLBACK, 1.0, None), (FALLBACK, 0.3, 0.35), (DEFAULT, 1.0, None)):
        truth = assumed(10, 5, 0.85, 0.6, model=model)
        precision = precision_of(truth)
        size = int(share * precision.least)
        said = power(precision, size, 0.95)
        pair = int(np.argmin(np.abs(said - 0.7)))
        count = 0.0
        for n in range(many):
            with suppress(NoMaximumError, NoIntervalError):  # such data reject nothing
                count += rejected(generator(2, "reliable", size, n), truth, size, pair, 0.95)
        kept = count / many
        error = np.sqrt(said[pair] * (1 - said[pair]) / many)
        assert kept > said[pair] - 0.03 - 2 * error if most is None else kept < most < said[pair] - 2 * error


def test_the_doubt_of_a_fitted_panel_is_the_error_of_its_differences(simulated):
    fitted = fit(simulated(4, [0.9, 0.2, -0.3, -0.8], [1.5, 0.7, 1.0], 900), "judge_aware")
    panel = Panel.fitted(fitted)
    place = pair_of(panel)
    first, second = panel.pairs[place]
    pairs = pairwise(fitted).set_index(["first", "second"])
    told = pairs.loc[(first, second) if (first, second) in pairs.index else (second, first)]
    middle, low, high = panel.difference(place, 0.95)
    assert {first, second} == set(fitted.scores.nlargest(2).index)
    ratio = abs(told["difference"]) / told["standard_error"] / 2 / Z
    assert abs(middle) / (high - low) == pytest.approx(ratio, rel=1e-6)


def test_a_deviation_that_questions_cannot_explain_is_said_to_be_a_bound(panel, caplog):
    caplog.set_level("INFO", "judgerank")
    asked_as(Questions(0.5, 3, 2, (0.31, 0.72)), panel, {})
    asked_as(Questions(0.5, 3, 2, (0.31, np.inf)), panel, {})
    asked_as(Questions(20.0, 3, 2, (4.0, np.inf)), panel, {})
    asked_as(Questions(0.5, 3, 2, (0.31, 0.72)), panel, {"sd": 0.4})
    said = [re.search(r"deviation of (.*?)\. Pairs", record.getMessage())[1] for record in caplog.records]
    assert said[:2] == ["0.50 (95% interval: 0.31 to 0.72)", "0.50 (95% interval: 0.31 or more)"]
    assert said[2].startswith("more than 20")
    assert said[3] == "0.40"


def test_the_interval_of_the_deviation_holds_the_truth(panel):
    asked, held = Questions(0.8, 6, 2), 0
    for seed in range(60):
        data, question = drawn_in_questions(generator(seed, "interval"), panel, 1800, asked)
        fitted = fit(data, "judge_aware")
        low, high = deviation(Panel.fitted(fitted), fitted, data, question, asked.pairs, asked.judges)[1]
        held += low <= asked.sd <= high
    assert held >= 50
