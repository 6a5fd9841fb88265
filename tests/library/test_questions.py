"""Question effects integrated out: closed forms, other rules, random draws, second derivatives."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad, quad_vec
from scipy.sparse import csr_array
from scipy.special import expit
from scipy.stats import norm

from judgerank import Fit, Status, fit
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError, NoMaximumError, NotIdentifiedError
from judgerank.data.frames import strength_by_side
from judgerank.engine.questions import laplace, quadrature
from judgerank.engine.questions.curvature import of_modes
from judgerank.engine.questions.groups import at_rows, grouped, merged
from judgerank.engine.questions.marginal import Marginal
from judgerank.fits.heldout import held_out, log_likelihoods
from judgerank.fits.same_judges import with_one_vote
from judgerank.inference.estimates import covariances
from judgerank.inference.intervals import RELATIVE
from judgerank.model.block import Placed, Role
from judgerank.model.law import ByOdds, Law, draw_levels, graded_comparisons
from judgerank.model.members import MODELS, NAMED, Parameters

MEMBER = "position_aware_ties"
NO_FURTHER = np.zeros(0, bool)


def fit_questions(judgments, question=None, model=MEMBER, merge_copies=False):
    return fit(judgments, model, questions="effects", question=question, merge_copies=merge_copies)


def truth_of(rng, n_models, n_judges):
    scores = np.linspace(1, -1, n_models)
    alpha = np.linspace(-0.4, 0.4, n_judges)
    position, log_tie = rng.normal(0, 0.3, n_judges), np.full(n_judges, np.log(0.5))
    return Parameters(scores - scores.mean(), np.array([alpha, position, log_tie]))


def panel(seed, sigma, n_questions=150, n_models=4, n_judges=4, pairs=1, judges_each=4):
    """Raw comparisons, the question behind each, and the truth: `pairs` of each question, to so many judges."""
    rng = np.random.default_rng(seed)
    truth = truth_of(rng, n_models, n_judges)
    ends = np.array([rng.permutation(n_models)[:2] for _ in range(n_questions * pairs)])
    asked = np.repeat(np.arange(n_questions), pairs)
    judge = np.concatenate([rng.permutation(n_judges)[:judges_each] for _ in ends])
    ends, asked = ends.repeat(judges_each, axis=0), asked.repeat(judges_each)
    u = rng.normal(0, sigma, (n_questions, n_models))
    (i, j), s = ends.T, truth.scores
    apart = s[i] - s[j] + u[asked, i] - u[asked, j]
    law = Law(np.exp(truth.judges[0])[judge] * apart + truth.judges[1][judge], np.exp(truth.judges[2])[judge])
    draw, first = rng.random(len(judge)), law.mean - law.tie / 2
    outcome = np.where(draw < first, 1.0, np.where(draw < first + law.tie, 0.5, 0.0))
    names = tuple(f"m{k}" for k in range(n_models)), tuple(f"j{k}" for k in range(n_judges))
    return Comparisons(*names, i, j, judge, outcome), asked, truth


def fine(comparisons, question, at, sigma, digits=20.0):
    c = comparisons.with_ties()
    gamma = np.exp(at.judges[0])
    return Marginal.fine(grouped(c, question), MODELS[MEMBER], gamma, sigma, digits)


def test_the_derivatives_of_the_law():
    eta, log_nu, h = np.linspace(-6, 6, 41), np.log(0.7), 1e-5

    def law(move=0.0, by_tie=0.0):
        return Law(eta + move, np.exp(log_nu + by_tie))

    assert_allclose(law().skewness, (law(h).variance - law(-h).variance) / (2 * h), atol=1e-9)
    assert_allclose(law().variance_with_ties, (law(0, h).variance - law(0, -h).variance) / (2 * h), atol=1e-9)


def test_a_pair_of_models_beside_adaptive_integration():
    c, question, at = panel(1, 1.0, n_questions=12)
    sigma = 1.3
    values = fine(c, question, at, sigma).values(at, sigma, 12)
    for q in range(12):
        rows = np.flatnonzero(question == q)
        low = c.first[rows] < c.second[rows]

        def chance(v, rows=rows, low=low):
            d = at.scores[c.first[rows]] - at.scores[c.second[rows]] + np.where(low, v, -v)
            k = c.judge[rows]
            e, nu = np.exp(at.judges[0])[k] * d + at.judges[1][k], np.exp(at.judges[2])[k]
            odds = np.array([np.exp(-e / 2), nu, np.exp(e / 2)])
            given = odds[(2 * c.outcome[rows]).astype(int), np.arange(len(rows))] / odds.sum(axis=0)
            return given.prod() * norm.pdf(v, scale=np.sqrt(2) * sigma)

        assert_allclose(
            values[q], np.log(quad(chance, -15, 15, epsabs=1e-13, epsrel=1e-11, limit=200)[0]), atol=1e-6
        )


def test_three_models_beside_another_rule():
    c, question, at = panel(2, 1.0, n_questions=30, n_models=3, n_judges=3, pairs=2, judges_each=2)
    c, sigma = c.with_ties(), 0.8
    group = next(group for group in grouped(c, question) if group.size == 3)
    assert group.exact
    here = at_rows(group, MODELS[MEMBER], at, sigma)
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    z = np.stack(np.meshgrid(nodes, nodes, nodes, indexing="ij")).reshape(3, -1)[:, :]
    logw = np.log(weights / weights.sum())
    logw = (logw[:, None, None] + logw[None, :, None] + logw[None, None, :]).ravel()
    apart = here.difference[:, None] + sigma * (z[group.first_place] - z[group.second_place])
    logs = Law(here.gamma[:, None] * apart + here.position[:, None], here.nu[:, None]).log_likelihood(
        group.outcome[:, None], group.tied[:, None]
    )
    total = group.by_question(group.count[:, None] * logs) + logw
    assert_allclose(quadrature.look(group, here, 0.18).value, np.logaddexp.reduce(total, axis=1), atol=1e-5)


def test_the_step_keeps_what_it_promises():
    """Rules chosen for a steep judge are as good as ones twice as fine."""
    c, question, at = panel(3, 1.0)
    steep = Parameters(at.scores, at.judges + np.array([[1.2], [0.0], [0.0]]))
    (group,) = grouped(c.with_ties(), question)
    here = at_rows(group, MODELS[MEMBER], steep, 1.5)
    for step in np.unique(quadrature.wanted(group, np.exp(steep.judges[0]), 1.5, 12.0)):
        chosen = group.only(quadrature.wanted(group, np.exp(steep.judges[0]), 1.5, 12.0) == step)
        here = at_rows(chosen, MODELS[MEMBER], steep, 1.5)
        exact = quadrature.look(chosen, here, step / 4).value
        assert np.abs(quadrature.look(chosen, here, step).value - exact).max() < 2e-5


@pytest.mark.parametrize("shape", ["pairs", "threes", "many"])
def test_the_gradient_beside_differences(shape):
    """In every parameter: of the rules, and of Laplace's approximation with its modes moving along."""
    sizes = {"pairs": {}, "threes": {"n_models": 3, "pairs": 3, "judges_each": 2}, "many": {"pairs": 6}}[shape]
    c, question, at = panel(4, 0.9, n_questions=25, **sizes)
    marginal, sigma = fine(c, question, at, 0.9), 0.9
    assert {group.exact for group in marginal.groups} >= {shape != "many"}
    free = np.ones(at.judges.shape, bool)
    gradient, h = marginal.gradient(at, sigma, free, NO_FURTHER), 1e-3
    whole = np.r_[at.scores, at.judges.ravel(), np.log(sigma)]
    for place in range(len(whole)):
        ends = []
        for step in (-2 * h, -h, h, 2 * h):  # differences of fourth order
            moved = whole + step * (np.arange(len(whole)) == place)
            there = Parameters(moved[: len(at.scores)], moved[len(at.scores) : -1].reshape(at.judges.shape))
            ends.append(marginal.slopes(there, np.exp(moved[-1])).value)
        assert_allclose(gradient[place], np.dot([1, -8, 8, -1], ends) / (12 * h), atol=1e-7)


def test_curvature_by_parts_is_that_of_the_whole():
    c, question, at = panel(5, 0.7, n_questions=40, n_models=5, pairs=2, judges_each=2)
    marginal, free = fine(c, question, at, 0.7), np.ones(at.judges.shape, bool)
    hessian, rng = marginal.hessian(at, 0.7, free, NO_FURTHER), np.random.default_rng(0)
    v, h, n = rng.normal(size=len(hessian)), 1e-4, len(at.scores)
    ends = []
    for step in (h, -h):
        judges = at.judges + step * v[n:-1].reshape(at.judges.shape)
        ends.append(
            marginal.gradient(
                Parameters(at.scores + step * v[:n], judges), 0.7 * np.exp(step * v[-1]), free, NO_FURTHER
            )
        )
    assert_allclose(hessian @ v, (ends[0] - ends[1]) / (2 * h), rtol=1e-4, atol=1e-3)


def test_a_slope_at_no_discrimination():
    c, question, at = panel(6, 0.9, n_questions=30, pairs=6)
    judges = at.judges.copy()
    judges[0, 1] = -np.inf
    at, h = Parameters(at.scores, judges), 1e-6
    marginal = fine(c, question, at, 0.9)
    judges = judges.copy()
    judges[0, 1] = np.log(h)
    rise = marginal.slopes(Parameters(at.scores, judges), 0.9).value - marginal.slopes(at, 0.9).value
    assert_allclose(marginal.slopes(at, 0.9).judges[0, 1], rise / h, rtol=1e-3)


def test_laplace_beside_random_draws():
    """The error on questions with 48 comparisons of four models, and that on pairs, which are not done so."""
    c, question, at = panel(7, 0.9, n_questions=10, n_models=4, pairs=12)
    (group,) = grouped(c.with_ties(), question)
    assert not group.exact
    here = at_rows(group, MODELS[MEMBER], at, 0.9)
    value, error = quadrature.sampled(group, here, np.random.default_rng(0), 4000)
    assert error.max() < 0.01
    assert np.abs(laplace.look(group, here)[0].value - value).max() < 0.02 + 4 * error.max()
    pairs, asked, at = panel(8, 0.9, n_questions=20)
    (group,) = grouped(pairs.with_ties(), asked)
    here = at_rows(group, MODELS[MEMBER], at, 0.9)
    value, error = quadrature.sampled(group, here, np.random.default_rng(0), 4000)
    assert np.abs((quadrature.look(group, here, 0.25).value - value) / error).max() < 4.5
    assert np.abs(laplace.look(group, here)[0].value - value).max() > 5 * error.max()


def test_modes_are_where_the_gradient_is_zero():
    c, question, at = panel(9, 2.0, n_questions=20, pairs=12)
    (group,) = grouped(c.with_ties(), question)
    mode = laplace.Mode(group, at_rows(group, MODELS[MEMBER], at, 5.0))
    assert np.abs(mode.gradient).max() < 1e-9
    away = mode.heights(mode.deviates + np.random.default_rng(0).normal(0, 0.1, mode.deviates.shape))
    assert (away < mode.height).all()


def test_no_effect_is_the_likelihood_itself():
    c, question, at = panel(10, 0.0, pairs=3)
    found = fit(c, MEMBER)
    at = found.solution.parameters
    assert_allclose(fine(c, question, at, 1e-9).slopes(at, 1e-9).value, found.log_likelihood, rtol=1e-9)


def test_components_of_a_question_are_apart():
    """Two pairs without a common model are two questions."""
    c, question, at = panel(11, 1.0, n_questions=20, n_models=2)
    other = replace(c, models=("m0", "m1", "m2", "m3"), first=c.first + 2, second=c.second + 2)
    both = replace(
        other,
        **{
            name: np.concatenate([getattr(c, name), getattr(other, name)])
            for name in ("first", "second", "judge", "outcome", "count")
        },
    )
    at = Parameters(np.tile(at.scores, 2), at.judges)
    groups = grouped(both.with_ties(), np.tile(question, 2))
    assert [(group.size, len(group)) for group in groups] == [(2, 40)]
    values = fine(both, np.tile(question, 2), at, 0.8).values(at, 0.8, 20)
    apart = fine(both, np.r_[question, question + 20], at, 0.8).values(at, 0.8, 40)
    assert_allclose(values, apart[:20] + apart[20:], rtol=1e-12)


@pytest.mark.parametrize("pairs", [1, 6])
def test_a_fit_is_a_maximum_and_finds_the_truth(pairs):
    c, question, truth = panel(12, 1.0, n_questions=600 if pairs == 1 else 120, pairs=pairs)
    found = fit_questions(c, question)
    assert found.status is Status.INTERIOR and found.effects.relative_gradient < 1e-7
    table = found.confidence_intervals(0.9999)
    true = np.r_[truth.scores, np.exp(truth.judges[0]), truth.judges[1], np.exp(truth.judges[2]), 1.0]
    true = np.r_[true, 1.0 / truth.scores.std()]
    assert ((table["low"] <= true) & (true <= table["high"])).all()
    statistic, p = found.likelihood_ratio()
    assert p < 1e-10 and statistic == pytest.approx(2 * (found.log_likelihood - fit(c, MEMBER).log_likelihood))
    rng, at = np.random.default_rng(0), found.solution.parameters
    marginal = fine(c, question, at, found.sigma)
    for _ in range(5):
        moved = Parameters(at.scores + rng.normal(0, 0.05, 4), at.judges + rng.normal(0, 0.05, at.judges.shape))
        sigma = found.sigma * np.exp(rng.normal(0, 0.05))
        assert marginal.slopes(moved, sigma).value < found.log_likelihood


def test_errors_are_larger_than_without_effects():
    """120 judgments a question: beside those clustered by question, which need no model of the dependence."""
    c, question, _ = panel(13, 1.0, n_questions=150, pairs=6)
    found = fit_questions(c, question)
    n = len(found.scores)
    plug_in, clustered = fit(c, MEMBER), fit(c, MEMBER).clustered(c, question)

    def relative(result):
        s = result.scores.to_numpy()
        to_shape = (np.eye(n) - np.outer(s, s) / (s @ s)) / s.std()
        return np.sqrt(np.diag(to_shape @ result.covariance[:n, :n] @ to_shape.T)).mean()

    assert relative(plug_in) < 0.75 * relative(clustered)
    assert relative(found) == pytest.approx(relative(clustered), rel=0.2)


def test_sigma_over_the_spread_of_the_scores_is_known_exactly_where_only_the_scale_is_not():
    """If scores and sigma can only grow together, their ratio has no error, and sigma all of it."""
    found = fit_questions(*panel(13, 1.0, n_questions=60)[:2])
    growth = np.zeros(len(found.covariance))
    growth[: len(found.scores)] = found.scores
    effects = replace(found.effects, with_log_sigma=0.2**2 * np.r_[growth, 1.0])
    scaled = replace(found._with_errors(robust=0.2**2 * np.outer(growth, growth)), effects=effects)
    rows = scaled.to_frame().set_index("parameter")
    assert rows.loc["sigma", "standard_error"] == pytest.approx(0.2 * found.sigma)
    assert rows.loc[RELATIVE, "standard_error"] == pytest.approx(0, abs=1e-7)


def test_independent_judges_have_no_effect():
    """Sigma is zero in about half of all sets without effects; then the fit is the one without."""
    fits = [fit_questions(*panel(seed, 0.0, n_questions=100)[:2]) for seed in range(12)]
    zero = [found for found in fits if found.sigma == 0]
    assert 2 <= len(zero) <= 10  # binomial(12, 1/2) leaves that range once in 150 times
    for found in zero:
        assert found.status is Status.BOUNDARY and found.likelihood_ratio() == (0.0, 1.0)
        assert_allclose(found.covariance, found.without.covariance)
        assert found.confidence_intervals()["low"].isna().sum() == 2
        assert re.search(r"^sigma\b.*\bzero\b", found.summary(), re.MULTILINE)
    assert max(found.likelihood_ratio()[0] for found in fits) < 9  # p = .001 each


def test_names_and_order_do_not_matter():
    c, question, _ = panel(14, 1.0, n_questions=80, pairs=2)
    found = fit_questions(c, question)
    order = np.random.default_rng(0).permutation(len(c))
    shuffled = c.take(order)
    again = fit_questions(shuffled, np.array([f"q{k}" for k in 7 * question])[order])
    assert again.log_likelihood == pytest.approx(found.log_likelihood, abs=1e-8)
    assert_allclose(again.scores, found.scores, atol=1e-5)
    turned = replace(c, first=c.second, second=c.first, outcome=1 - c.outcome)
    turned = fit_questions(turned, question)
    assert_allclose(turned.position, -found.position, atol=1e-5)
    assert turned.sigma == pytest.approx(found.sigma, rel=1e-5)


def test_predictions_are_averages_over_questions():
    found = fit_questions(*panel(15, 1.0, n_questions=200)[:2])
    at = found.solution.parameters

    def chances(v):
        d = at.scores[0] - at.scores[1] + v
        law = Law(np.exp(at.judges[0]) * d + at.judges[1], np.exp(at.judges[2]))
        return (law.mean - law.tie / 2) * norm.pdf(v, scale=np.sqrt(2) * found.sigma)

    exact = quad_vec(chances, -15, 15)[0]
    by_judge = found.predict("m0", "m1", ["j0", "j1", "j2", "j3"])
    assert_allclose(by_judge, exact, atol=1e-6)
    assert found.predict("m0", "m1") == pytest.approx(exact.mean(), abs=1e-6)
    certain = replace(found, effects=None).predict("m0", "m3")
    assert 0.5 < found.predict("m0", "m3") < certain  # what a question adds is noise to who does not know it
    with pytest.raises(DataError, match="'nobody'"):
        found.predict("m0", "nobody")


@pytest.mark.parametrize("model", ["judge_aware_ties", "btl_ties"])
def test_other_members(model):
    c, question, _ = panel(16, 1.0, n_questions=200)
    found = fit_questions(c, question, model)
    assert found.status is Status.INTERIOR and found.effects.relative_gradient < 1e-7
    assert (found.position == 0).all()
    if model == "btl_ties":
        assert (found.discrimination == 1).all()


def test_members_without_ties_take_comparisons_without():
    c, question, _ = panel(17, 1.0, n_questions=250)
    with pytest.raises(ConfigError, match="half a win"):
        fit_questions(c, question, "position_aware")
    kept = np.flatnonzero(c.outcome != 0.5)
    found = fit_questions(c.take(kept), question[kept], "position_aware")
    assert found.status is Status.INTERIOR and found.tie.isna().all()
    assert fit_questions(c.take(kept), question[kept], "btl").likelihood_ratio()[0] > 20


def test_what_cannot_be_fitted_is_refused():
    c, question, _ = panel(18, 1.0, n_questions=200, judges_each=1)
    with pytest.raises(NotIdentifiedError):
        fit_questions(c, question)
    with pytest.raises(DataError, match=rf"\b{len(c) - 1} .*\b{len(c)} "):
        fit_questions(c, question[1:])
    with pytest.raises(DataError, match="question_id"):
        fit_questions(c)
    unbeaten = c.take(np.flatnonzero(~(((c.first == 0) & (c.outcome < 1)) | ((c.second == 0) & (c.outcome > 0)))))
    with pytest.raises(NoMaximumError, match="m0"):
        fit_questions(unbeaten, np.arange(len(unbeaten)) // 2)


def test_a_judge_without_noise_of_its_own_is_named():
    """Two judges who answer by the sign of the question's own difference: their noise has no lower end."""
    c, question, _ = panel(19, 0.0, n_questions=300, judges_each=2, n_judges=2)
    rng = np.random.default_rng(0)
    s = np.linspace(1, -1, 4)[None, :] + rng.normal(0, 1, (300, 4))
    sure = (s[question, c.first] > s[question, c.second]).astype(float)
    with pytest.raises(NoMaximumError, match=r"own noise of j0, j1 vanishes"):
        fit_questions(replace(c, outcome=sure), question, "judge_aware")


def test_copies_are_flagged_or_merged():
    c, question, _ = panel(20, 0.5, n_questions=300)
    copied = c.judge == 0
    twice = replace(
        c,
        judges=(*c.judges, "copy"),
        **{
            name: np.r_[getattr(c, name), getattr(c, name)[copied]]
            for name in ("first", "second", "outcome", "count")
        },
        judge=np.r_[c.judge, np.full(copied.sum(), 4)],
    )
    asked = np.r_[question, question[copied]]
    with pytest.raises(NoMaximumError, match=r"own noise of j0, copy vanishes .* copy, j0.* merge_copies=True"):
        fit_questions(twice, asked)
    rng = np.random.default_rng(0)
    slips = (twice.judge == 4) & (rng.random(len(twice)) < 0.03)
    twice = replace(twice, outcome=np.where(slips, 1 - twice.outcome, twice.outcome))
    left = fit_questions(twice, asked)
    assert "copy, j0" in left.remarks[0] and "merge_copies=True" in left.summary()
    merged = fit_questions(twice, asked, merge_copies=True)
    alone = fit_questions(c, question)
    assert alone.remarks == () and re.search(r"one judge: .*\bcopy\b", merged.remarks[0])
    assert merged.comparisons.n_comparisons == len(c)
    assert merged.relative_sigma == pytest.approx(alone.relative_sigma, rel=0.1)
    assert left.relative_sigma > 1.2 * alone.relative_sigma  # what is left in passes for the answers' quality


def test_one_vote_is_the_mean_of_answers():
    c, question, _ = panel(21, 0.5, n_questions=50)
    tracked = c.with_ties()
    merged, asked = with_one_vote(tracked, question, {"j1": "j0", "j2": "j0"})
    assert merged.judges == ("j0", "j3") and merged.n_comparisons == 100
    for q in range(50):
        of = [(question == q) & np.isin(c.judge, [0, 1, 2]), (asked == q) & (merged.judge == 0)]
        assert merged.outcome[of[1]] == pytest.approx(c.outcome[of[0]].mean())
        assert merged.tied[of[1]] == pytest.approx(tracked.tied[of[0]].mean())


def test_held_out_questions_are_predicted_better_with_effects():
    c, question, _ = panel(22, 1.2, n_questions=300)
    table = held_out(c, question % 3, MEMBER, questions="effects", question=question)
    assert len(table) == 300 and table["comparisons"].sum() == len(c)
    assert table["described"].sum() > table["without"].sum() + 30
    whole = fit_questions(c, question)
    seen = log_likelihoods(whole, c, question)
    assert seen["described"].sum() == pytest.approx(whole.log_likelihood, abs=1e-4)
    assert seen["without"].sum() == pytest.approx(whole.without.log_likelihood, rel=1e-9)


def test_a_single_answer_is_a_logistic_normal_integral():
    """P(first) of one judgment without ties, beside the integral of the logistic curve."""
    at = Parameters(np.array([0.4, -0.4]), np.array([[0.0], [0.2]]))
    c = Comparisons(("a", "b"), ("j",), np.array([0]), np.array([1]), np.array([0]), np.array([1.0]))
    marginal = Marginal.fine(grouped(c, np.array([0])), MODELS["position_aware"], np.ones(1), 1.5, 20.0)
    exact = quad(lambda v: expit(1.0 + v) * norm.pdf(v, scale=1.5 * np.sqrt(2)), -20, 20)[0]
    assert marginal.slopes(at, 1.5).value == pytest.approx(
        np.log(exact), abs=4e-8
    )  # the normal's mass beyond the nodes


def test_it_says_what_it_is():
    found = fit_questions(*panel(23, 1.0)[:2])
    assert isinstance(found, Fit) and "150 questions" in repr(found)
    text = str(found)
    for said in (
        "150 of them with several",
        f"{found.likelihood_ratio()[0]:.1f}, p = ",
        "score (in log",
    ):
        assert said in text


# Question effects with graded answers: the marginal likelihood, its gradient, the fit, and what it predicts.
GRADED = NAMED["position_aware_graded"]
AT = Parameters(
    np.array([0.8, 0.1, -0.9]),
    np.array([[-0.3, 0.1, 0.2], [0.3, 0.0, -0.2], [-0.7, 0.0, -1.0], [-0.5, 0.4, 0.0]]),
)


def graded_panel(seed: int, sigma: float, questions: int, pairs: int = 1) -> tuple[Comparisons, np.ndarray]:
    """Every pair of a question is shown to all three judges."""
    rng = np.random.default_rng(seed)
    ends = np.array([rng.permutation(3)[:2] for _ in range(questions * pairs)]).repeat(3, axis=0)
    asked = np.repeat(np.arange(questions), 3 * pairs)
    u, judge = rng.normal(0, sigma, (questions, 3)), np.tile(np.arange(3), questions * pairs)
    (i, j), (alpha, b, tie, strong) = ends.T, AT.judges[:, judge]
    eta = np.exp(alpha) * (AT.scores[i] + u[asked, i] - AT.scores[j] - u[asked, j]) + b
    level = draw_levels(rng, Law(eta, np.exp(tie), strong).levels)
    names = tuple(f"m{k}" for k in range(3)), tuple(f"j{k}" for k in range(3))
    return graded_comparisons(*names, np.array([i, j, judge]), level), asked


def test_a_graded_pair_of_models_beside_adaptive_integration():
    c, asked = graded_panel(1, 1.0, 10)
    sigma = 1.3
    fine = Marginal.fine(grouped(c, asked), GRADED, np.exp(AT.judges[0]), sigma, 20.0)
    values, level = fine.values(AT, sigma, 10), np.round(2 * c.response + 1).astype(int)
    for q in range(10):
        rows = np.flatnonzero(asked == q)
        alpha, b, tie, strong = AT.judges[:, c.judge[rows]]
        sign = np.where(c.first[rows] < c.second[rows], 1, -1)
        lead = AT.scores[c.first[rows]] - AT.scores[c.second[rows]]

        def chance(v: float, rows=rows, sign=sign, lead=lead, of=(alpha, b, tie, strong)) -> float:
            eta = np.exp(of[0]) * (lead + sign * v) + of[1]
            p = Law(eta, np.exp(of[2]), of[3]).levels[np.arange(len(rows)), level[rows]]
            return float(p.prod() * norm.pdf(v, scale=np.sqrt(2) * sigma))

        assert_allclose(values[q], np.log(quad(chance, -15, 15, epsabs=1e-13, limit=200)[0]), atol=1e-6)


def test_the_step_keeps_what_it_promises_with_poles_half_as_far():
    c, asked = graded_panel(3, 1.0, 60)
    steep = Parameters(AT.scores, AT.judges + np.array([[1.0], [0.0], [0.0], [6.0]]))  # all but no weak answer
    for group in grouped(c, asked):
        wanted = quadrature.wanted(group, np.exp(steep.judges[0]), 1.2, 12.0)
        for step in np.unique(wanted):
            chosen = group.only(wanted == step)
            here = at_rows(chosen, GRADED, steep, 1.2)
            exact = quadrature.look(chosen, here, step / 4).value
            assert np.abs(quadrature.look(chosen, here, step).value - exact).max() < 2e-4


@pytest.mark.parametrize("pairs", [1, 6])
def test_the_gradient_of_graded_answers_beside_differences(pairs):
    """By a rule for pairs of models, and by Laplace's approximation for many rows."""
    c, asked = graded_panel(4, 0.9, 20, pairs)
    sigma, h = 0.8, 1e-5
    marginal = Marginal.fine(grouped(c, asked), GRADED, np.exp(AT.judges[0]), sigma, 20.0)
    here = marginal.slopes(AT, sigma)

    def value(scores=0.0, judges=0.0, log_sigma=0.0) -> float:
        there = Parameters(AT.scores + scores, AT.judges + judges)
        return marginal.slopes(there, sigma * np.exp(log_sigma)).value

    for i, unit in enumerate(np.eye(3)):
        assert here.scores[i] == pytest.approx((value(h * unit) - value(-h * unit)) / (2 * h), abs=1e-4)
    for row in range(4):
        for k in range(3):
            unit = np.zeros((4, 3))
            unit[row, k] = h
            slope = (value(judges=unit) - value(judges=-unit)) / (2 * h)
            in_log = here.judges[row, k] * (np.exp(AT.judges[0, k]) if row == 0 else 1.0)
            assert in_log == pytest.approx(slope, abs=1e-4)
    assert here.log_sigma == pytest.approx((value(log_sigma=h) - value(log_sigma=-h)) / (2 * h), abs=1e-4)


def test_the_fit_finds_the_effects_and_its_predictions_are_averages_over_them():
    c, asked = graded_panel(5, 0.8, 500)
    found = fit(c, GRADED, questions="effects", question=asked)
    assert found.effects.sigma == pytest.approx(0.8, abs=0.25)
    assert_allclose(found.scores, AT.scores - AT.scores.mean(), atol=0.3)
    assert np.isfinite(found.confidence_intervals()["low"]).all()
    levels, p = found.level_probabilities(c), found.probability(c)
    assert_allclose(levels.sum(axis=1), 1.0, atol=1e-9)
    assert_allclose(p, levels[:, 3:].sum(axis=1) + levels[:, 2] / 2, atol=1e-9)
    draws = np.random.default_rng(0).normal(size=200_000)
    at, k = found.solution.parameters, 1
    eta = np.exp(at.judges[0, k]) * (at.scores[0] - at.scores[2] + np.sqrt(2) * found.effects.sigma * draws)
    drawn = Law(
        eta + at.judges[1, k], np.full(len(draws), np.exp(at.judges[2, k])), np.full(len(draws), at.judges[3, k])
    )
    row = np.flatnonzero((c.first == 0) & (c.second == 2) & (c.judge == k))[0]
    assert_allclose(levels[row], drawn.levels.mean(axis=0), atol=0.005)


def test_covariances_given_the_question_are_less_than_the_whole():
    eta, one = np.array([0.5, -1.0]), np.ones(2)
    whole, given = covariances(0.9, eta, one, one, 0 * one)
    assert (np.linalg.eigvalsh(whole - given) > -1e-12).all() and (given[:, 0, 0] < whole[:, 0, 0]).all()
    alike, same = covariances(0.0, eta, one, one, 0 * one)
    law = Law(eta, one, 0 * one)
    assert_allclose(alike, same, atol=1e-12)
    assert_allclose(alike[:, 0, 0], law.variance, atol=1e-12)
    assert_allclose(alike[:, 0, 2], law.with_strong[0], atol=1e-12)
    assert_allclose(alike[:, 1, 2], -law.tie * law.strong[0], atol=1e-12)


SIGMA, JUDGES = 0.9, 4


def answers_to_questions(member, per_question, n_models=3, columns=False, n_questions=40, strengths=1):
    """Random answers, so many to each question, on its two models or on three; columns of every role there is."""
    rng, model = np.random.default_rng(per_question), NAMED[member]
    further = tuple(f"log_strong_{strength}" for strength in range(3, strengths + 2))
    model = replace(model, judge_blocks=(*model.judge_blocks, *further))
    many = n_questions * per_question
    question, number = (
        np.repeat(np.arange(n_questions), per_question),
        np.tile(np.arange(per_question), n_questions),
    )
    first = number % (n_models - 1)
    outcome = rng.choice([0.0, 0.5, 1.0], many)
    degree = np.floor(1 + rng.random(many) * (0.4 + strengths))
    degree[:2], outcome[:2] = [2, strengths + 1], 1.0  # all of them are there
    strong = strength_by_side(degree, outcome == 1, outcome == 0)
    names = tuple(f"m{n}" for n in range(n_models)), tuple(f"j{k}" for k in range(JUDGES))
    c = Comparisons(*names, first, first + 1, rng.integers(0, JUDGES, many), outcome)
    own, common = {Role.QUALITY, Role.WEIGHT, Role.OFFSET, *(block.role for block in model.blocks)}, np.empty(0)
    if columns:
        blocks = [Placed(role.name, role, ("x", "y"), False, "") for role in sorted(own)]
        values = np.round(rng.normal(size=(many, 2 * len(blocks))), 1) * (
            rng.random((many, 2 * len(blocks))) < 0.6
        )
        common = rng.normal(0, 0.2, 2 * len(blocks))
        model, c = replace(model, further=tuple(blocks)), replace(c, columns=csr_array(values))
    c = model.alone.observed(replace(c.with_ties(), strong=strong if Role.STRONG in own else None))
    judges = rng.normal(0, 0.3, (len(model.blocks), JUDGES))
    return model, c, question, Parameters(np.linspace(0.8, -0.9, n_models), judges, common)


def marginal_of(model, c, question, at):
    return Marginal.fine(grouped(c, question), model, model.of_judges(at).gamma, SIGMA, 12.0)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("n_models", [2, 3])
@pytest.mark.parametrize("member", ["btl_ties", "position_aware", "position_aware_ties", "position_aware_graded"])
def test_second_derivatives_of_rules_beside_differences(member, n_models, columns):
    model, c, question, at = answers_to_questions(member, 3, n_models, columns)
    marginal = marginal_of(model, c, question, at)
    assert all(group.exact for group in marginal.groups)
    free, free_common = np.ones(at.judges.shape, bool), np.ones(len(at.common), bool)
    free[: model.fixed_scale] = False
    exact = marginal.hessian(at, SIGMA, free, free_common)
    assert_allclose(exact, marginal.differences(at, SIGMA, free, free_common), atol=1e-5)


def test_second_derivatives_of_seven_levels_beside_differences():
    model, c, question, at = answers_to_questions("position_aware_graded", 3, strengths=2)
    marginal, common = marginal_of(model, c, question, at), np.ones(0, bool)
    free = np.ones(at.judges.shape, bool)
    exact = marginal.hessian(at, SIGMA, free, common)
    assert_allclose(exact, marginal.differences(at, SIGMA, free, common), atol=1e-5)


@pytest.mark.parametrize("strengths", [1, 2])
@pytest.mark.parametrize("columns", [False, True])
def test_second_derivatives_of_the_heights_of_modes_beside_differences(columns, strengths):
    model, c, question, at = answers_to_questions(
        "position_aware_graded", 8, 3, columns, n_questions=6, strengths=strengths
    )
    (group,) = grouped(c, question)

    def mode_at(at, sigma):
        return laplace.Mode(group, at_rows(group, model, at, sigma))

    rng, h = np.random.default_rng(0), 1e-3
    whole = np.r_[at.scores, np.exp(at.judges[0]), at.judges[1:].ravel(), at.common, np.log(SIGMA)]
    n, end = len(at.scores), len(at.scores) + at.judges.size

    def height(step):
        moved = whole + step
        judges = moved[n:end].reshape(at.judges.shape).copy()
        judges[0] = np.log(judges[0])
        return mode_at(Parameters(moved[:n], judges, moved[end:-1]), np.exp(moved[-1])).height.sum()

    mode = mode_at(at, SIGMA)
    second, inverse = (
        of_modes(group, model, at, at_rows(group, model, at, SIGMA), mode),
        np.linalg.inv(mode.curvature),
    )
    second[-1, -1] += (
        2 * (np.trace(inverse, axis1=1, axis2=2) - (inverse**2).sum(axis=(1, 2))).sum()
    )  # not heights'
    for _ in range(5):
        v = rng.normal(size=len(whole))
        ends = [height(k * h * v) for k in (-2, -1, 0, 1, 2)]
        assert v @ second @ v == pytest.approx(np.dot([-1, 16, -30, 16, -1], ends) / (12 * h**2), rel=1e-5)


@pytest.mark.parametrize("columns", [False, True])
def test_questions_that_are_alike_are_integrated_once(columns):
    model, c, question, at = answers_to_questions("position_aware_ties", 2, columns=columns, n_questions=60)
    twice = c._rows(np.tile(np.arange(len(c)), 2))
    asked = np.r_[question, question + 60]
    groups = grouped(twice, asked)
    fewer = [merged(group) for group in groups]
    assert sum(map(len, fewer)) <= 60 and sum(group.alike.sum() for group in fewer) == 120
    free, free_common = np.ones(at.judges.shape, bool), np.ones(len(at.common), bool)
    every, once = (Marginal.fine(of, model, model.of_judges(at).gamma, SIGMA, 12.0) for of in (groups, fewer))
    assert_allclose(once.slopes(at, SIGMA).value, every.slopes(at, SIGMA).value, rtol=1e-13)
    for name in ("gradient", "hessian"):
        one, other = (getattr(of, name)(at, SIGMA, free, free_common) for of in (once, every))
        assert_allclose(one, other, atol=1e-11)


def test_questions_with_unlike_answers_or_columns_are_not_alike():
    _, c, question, _ = answers_to_questions("position_aware_ties", 1, n_questions=4)
    same = replace(c, judge=np.zeros(4, int), first=np.zeros(4, int), second=np.ones(4, int))
    same = replace(same, outcome=np.array([1.0, 1.0, 0.5, 1.0]), tied=np.array([0.0, 0.0, 1.0, 0.0]))
    (group,) = grouped(same, question)
    assert merged(group).alike.tolist() == [3, 1]
    (group,) = grouped(replace(same, columns=csr_array([[1.0], [1.0], [1.0], [2.0]])), question)
    assert merged(group).alike.tolist() == [2, 1, 1]


@pytest.mark.parametrize("n_models", [2, 3])
def test_products_of_odds_say_what_logarithms_say(n_models, monkeypatch):
    model, c, question, at = answers_to_questions("position_aware_ties", 3, n_models)
    c = replace(c, count=np.random.default_rng(1).integers(1, 4, len(c)) * 1.0)
    groups = grouped(c, question)
    for group in groups:
        here = at_rows(group, model, at, SIGMA)
        by_odds = quadrature.look(group, here, 0.5)
        with monkeypatch.context() as patched:
            patched.setattr(quadrature, "FAR", 0.0)
            by_law = quadrature.look(group, here, 0.5)
        for name in ("value", "by_eta", "by_gamma", "by_log_nu"):
            assert_allclose(getattr(by_odds, name), getattr(by_law, name), rtol=1e-12, atol=1e-13)


def test_far_predictors_overflow_nowhere():
    model, c, question, at = answers_to_questions("position_aware_ties", 3)
    far = Parameters(at.scores * 2000.0, at.judges)
    here = marginal_of(model, c, question, far).slopes(far, SIGMA)
    assert np.isfinite(here.value) and np.isfinite(here.judges).all()


def test_the_law_by_odds():
    eta = np.linspace(-40, 40, 161)
    one, other = ByOdds(np.exp(eta / 2), np.full(161, 0.7)), Law(eta, np.full(161, 0.7))
    for name in ("mean", "tie", "variance", "with_ties", "skewness", "variance_with_ties"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-11, atol=1e-15)
    assert_allclose(eta - np.log(one.total), other.log_likelihood(np.ones(161), np.zeros(161)), atol=1e-13)
