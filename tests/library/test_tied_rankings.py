"""Rankings with ties as an outcome: against pairs, the definition, another optimiser and published estimates."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.stats import chisquare

from judgerank import fit, load, pairwise, place, rank, read
from judgerank.data.errors import DataError, NoMaximumError
from judgerank.data.rankings import with_tied_choices
from judgerank.data.tied_choices import is_choice
from judgerank.engine import rows as layout
from judgerank.engine.existence import near_maximum, rising_direction
from judgerank.engine.levels import choices_at_zero, mean_at_zero, net_wins, ties_used
from judgerank.engine.likelihood import evaluate, row_by_row
from judgerank.engine.penalised import Penalised
from judgerank.engine.solution import Status
from judgerank.fits.heldout import choice_losses, losses_with_ties
from judgerank.inference.clusters import cluster_gradients
from judgerank.model.judge_blocks import judge_block
from judgerank.model.members import MODELS, JudgeValues, Parameters
from judgerank.model.naming import get_model
from judgerank.order.scale import scale_at
from judgerank.planning.plans import fitted_panel
from judgerank.ranking.studies.coverage import MODELLED
from judgerank.ranking.studies.prediction import compared
from tests.drawn import draw_rankings

NAMES = tuple("abcdef")
SCORES = np.linspace(1.0, -1.0, 6)
PUDDING = [  # brands i and j, how many prefer i, j, and neither
    (1, 2, 19, 22, 16),
    (1, 3, 16, 19, 12),
    (2, 3, 19, 19, 10),
    (1, 4, 18, 23, 13),
    (2, 4, 23, 19, 9),
    (3, 4, 19, 20, 15),
    (1, 5, 13, 19, 18),
    (2, 5, 16, 20, 12),
    (3, 5, 16, 15, 17),
    (4, 5, 17, 14, 16),
    (1, 6, 18, 21, 12),
    (2, 6, 22, 20, 12),
    (3, 6, 13, 18, 10),
    (4, 6, 14, 19, 18),
    (5, 6, 11, 21, 12),
]
MEMBERS = ["btl_ties", "judge_aware_ties", "position_aware_ties"]


def sets(left, sizes):
    """All sets that may be chosen among answers that are left."""
    return [one for size in sizes if size <= len(left) for one in combinations(left, size)]


def chances(left, sizes, u, log_delta):
    """Probability of each of those."""
    of = sets(left, sizes)
    height = np.array([log_delta[len(one)] + np.mean(u[list(one)]) for one in of])
    return of, np.exp(height) / np.exp(height).sum()


def drawn(many, size, gamma, ties, position=None, seed=1) -> pd.DataFrame:
    """Rankings by the law, judges in turn; `ties` has a mapping from size to propensity for each."""
    rng, records = np.random.default_rng(seed), []
    for number in range(many):
        k = number % len(gamma)
        shown = rng.permutation(6)[:size]
        u = np.full(6, np.nan)
        u[shown] = gamma[k] * SCORES[shown] - (0.0 if position is None else position[k]) * np.arange(size)
        log_delta = {1: 0.0, **{tie: np.log(own) for tie, own in ties[k].items()}}
        left, groups = list(shown), []
        while len(left) > 1:
            of, p = chances(left, log_delta, u, log_delta)
            groups.append(of[rng.choice(len(of), p=p)])
            left = [one for one in left if one not in groups[-1]]
        groups += [(one,) for one in left]
        text = ">".join("=".join(NAMES[one] for one in group) for group in groups)
        record = {"judge": f"j{k}", "question": f"q{number // 4:03}", "ranking": text}
        records.append(record | {"shown": ", ".join(NAMES[one] for one in shown)})
    return pd.DataFrame(records)


def direct(frame, scores, alpha, position, log_tie, sizes) -> float:
    """The log-likelihood written down as the definition has it."""
    total = 0.0
    for record in frame.itertuples():
        k = int(record.judge[1:])
        u = np.exp(alpha[k]) * np.asarray(scores)
        for shown, name in enumerate(record.shown.split(", ")):
            u[NAMES.index(name)] -= position[k] * shown
        log_delta = {1: 0.0, **{size: own[k] for size, own in zip(sizes, log_tie, strict=True)}}
        groups = [[NAMES.index(name) for name in text.split("=")] for text in record.ranking.split(">")]
        left = [one for group in groups for one in group]
        for group in groups:
            if len(left) > 1:
                of, p = chances(left, log_delta, u, log_delta)
                total += np.log(p[[{*one} for one in of].index({*group})])
            left = [one for one in left if one not in group]
    return total


TIES = ({2: 0.6, 3: 0.3}, {2: 0.3, 3: 0.2}, {2: 1.0, 3: 0.5})


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return drawn(240, 4, (1.6, 0.9, 0.5), TIES, (0.3, 0.0, -0.2))


@pytest.fixture(scope="module")
def point(frame):
    """A model, its comparisons, and parameters that are no maximum."""
    cells = read(frame).comparisons
    model = get_model("position_aware_ties", cells)
    rng = np.random.default_rng(3)
    return model, model.observed(cells), Parameters(rng.normal(size=6), rng.normal(0, 0.4, (4, 3)))


def as_pairs_of(rankings: pd.DataFrame) -> pd.DataFrame:
    """Rankings of two as records of pairs."""
    shown, best = rankings["shown"].str.split(", "), rankings["ranking"].str.split(">").str[0]
    winner = np.where(best.str.contains("="), "tie", np.where(shown.str[0] == best, "model_a", "model_b"))
    return rankings[["judge", "question"]].assign(model_a=shown.str[0], model_b=shown.str[1], winner=winner)


def at_vector(x, many=3):
    return Parameters(x[:6], x[6:].reshape(-1, many))


def vector(at):
    return np.r_[at.scores, at.judges.ravel()]


def test_a_tie_of_each_size_has_a_block(point, frame):
    model = point[0]
    assert model.judge_blocks == ("log_discrimination", "position", "log_tie", "log_tie_3")
    table = fit(frame, "btl_ties").confidence_intervals()
    assert table["parameter"].unique().tolist() == ["score", "tie", "tie_3"]


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("shrink", [False, True])
def test_rankings_of_two_are_pairs_with_ties(member, shrink):
    rankings = drawn(600, 2, (1.5, 0.7, 0.3), ({2: 0.8}, {2: 0.4}, {2: 1.5}), (0.4, -0.2, 0.1))
    data = rankings, as_pairs_of(rankings)
    ours, theirs = (fit(each, member, shrink=shrink, cluster="question") for each in data)
    assert ours.comparisons.stages is not None and theirs.comparisons.stages is None
    # rounding decides where the search for standard deviations ends: parameters then differ by some 1e-9
    near, relative = (1e-8, 1e-7) if shrink else (1e-10, 1e-8)
    assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-11)
    for name in ("scores", "judges"):
        one, other = (getattr(each.solution.parameters, name) for each in (ours, theirs))
        np.testing.assert_allclose(one, other, rtol=0, atol=near)
    np.testing.assert_allclose(ours.covariance, theirs.covariance, rtol=relative, atol=near)
    numbers = [pairwise(each).select_dtypes("number") for each in (ours, theirs)]
    np.testing.assert_allclose(*numbers, rtol=1e-7, atol=1e-9)


def test_the_likelihood_is_the_definition(point, frame):
    model, cells, at = point
    expected = direct(frame, at.scores, *at.judges[:2], at.judges[2:], (2, 3))
    assert evaluate(cells, model, at).log_likelihood == pytest.approx(expected, abs=1e-9)


def test_derivatives_are_those_of_differences(point):
    model, cells, at = point

    def gradient(x):
        here = evaluate(cells, model, at_vector(x))
        return np.r_[here.top_gradient, here.judge_gradient.ravel()]

    x = vector(at)
    height = approx_fprime(x, lambda y: evaluate(cells, model, at_vector(y)).log_likelihood, 1e-7)
    np.testing.assert_allclose(gradient(x), height, rtol=1e-4, atol=1e-3)
    here = evaluate(cells, model, at, "observed")
    hessian = np.array([(gradient(x + h) - gradient(x - h)) / 2e-5 for h in 1e-5 * np.eye(len(x))])
    np.testing.assert_allclose(here.top_information, -hessian[:6, :6], atol=1e-5)
    for row in range(4):
        np.testing.assert_allclose(here.cross_information[row], -hessian[6 + 3 * row : 9 + 3 * row, :6], atol=1e-5)
    # the block of discriminations is in gamma itself, relative to it
    own = -hessian[6:, 6:] + np.diag(np.r_[here.judge_gradient[0], np.zeros(9)])
    by_judge = own.reshape(4, 3, 4, 3)
    for k in range(3):
        np.testing.assert_allclose(here.judge_information[k], by_judge[:, k, :, k], atol=1e-5)


def test_the_information_is_the_variance_of_the_gradient():
    """Over all first choices that there could be among four answers, each with its probability."""
    log_tie, alpha, b = np.log([0.7, 0.4]), 0.3, 0.25
    at = Parameters(SCORES[:4] - SCORES[:4].mean(), np.array([[alpha], [b], *log_tie[:, None]]))
    u = np.exp(alpha) * at.scores - b * np.arange(4)
    of, p = chances(range(4), (1, 2, 3), u, {1: 0.0, 2: log_tie[0], 3: log_tie[1]})
    shown = {"ranking": ["a=b=c>d", "a=b>c>d"], "shown": ["a, b, c, d"] * 2}
    model = get_model("position_aware_ties", read(pd.DataFrame(shown)).comparisons)
    total, squares = np.zeros((8, 8)), np.zeros((8, 8))
    for one, chance in zip(of, p, strict=True):
        rest = [NAMES[other] for other in range(4) if other not in one]
        below = rest[0] if len(rest) == 1 else f"{{{', '.join(rest)}}}"
        text = f"{'='.join(NAMES[each] for each in one)} > {below}"
        frame = pd.DataFrame({"ranking": [text, "a>b>c>d"], "shown": ["a, b, c, d"] * 2, "judge": ["x", "y"]})
        cells = model.observed(read(frame).comparisons).with_judges(["x"])
        here = evaluate(cells, model, at, "expected")
        gradient = np.r_[here.top_gradient, here.judge_gradient.ravel()]
        cross = here.cross_information[:, 0]
        squares += chance * np.outer(gradient, gradient)
        total += chance * np.block([[here.top_information, cross.T], [cross, here.judge_information[0]]])
    np.testing.assert_allclose(squares, total, atol=1e-12)


def test_the_reported_scale_has_the_derivatives_of_differences(point):
    model, cells, at = point
    free, chosen = np.ones((4, 3), bool), np.ones(18, bool)
    found = scale_at(cells, model, at, free, chosen).derivative
    shift = approx_fprime(vector(at), lambda x: scale_at(cells, model, at_vector(x), free, chosen).shift, 1e-7)
    np.testing.assert_allclose(found, shift, atol=1e-5)


def test_estimates_equal_another_optimiser(frame):
    ours = fit(frame, "position_aware_ties")
    at = ours.solution.parameters
    x = vector(at)

    def lost(x):
        judges = x[6:].reshape(4, 3)
        return -direct(small, x[:6], *judges[:2], judges[2:], (2, 3))

    small = frame
    assert -lost(x) == pytest.approx(ours.log_likelihood, abs=1e-8)
    cells, model = ours.comparisons, ours.model

    def slopes(x):  # the other likelihood's slopes by differences would take minutes; these are tested above
        here = evaluate(cells, model, at_vector(x))
        return -np.r_[here.top_gradient, here.judge_gradient.ravel()]

    found = minimize(lost, x + 0.03 * np.cos(np.arange(18)), jac=slopes, method="BFGS", options={"gtol": 1e-7})
    there = at_vector(found.x).normalised()
    np.testing.assert_allclose(there.scores, at.scores, atol=1e-6)
    np.testing.assert_allclose(there.judges, at.judges, atol=1e-5)


def test_rankings_of_three_equal_an_optimiser_that_knows_nothing_of_ours():
    frame = drawn(60, 3, (1.0,), ({2: 0.6, 3: 0.4},), seed=5)
    ours = fit(frame, "btl_ties")

    def lost(x):
        return -direct(frame, np.r_[x[:5], -x[:5].sum()], [0.0], [0.0], x[5:, None], (2, 3))

    found = minimize(lost, np.zeros(7), jac="3-point", method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(ours.scores.to_numpy()[:5], found.x[:5], atol=1e-6)
    np.testing.assert_allclose(ours.solution.parameters.judges[1:, 0], found.x[5:], atol=1e-5)


def test_pudding_has_the_published_estimates_and_errors():
    """Pairs of six brands of chocolate pudding (Davidson, 1970, example 2), as rankings of two.

    Published by R's PlackettLuce (its vignette, section 2): worths that sum to one, the tie parameter, standard
    errors of log worths over brand 1, and the deviance. Its iterations were stopped after seven, as Davidson's
    were, so the worths agree to four digits.
    """
    rankings = []
    for i, j, *counts in PUDDING:
        for sign, count in zip(("b{}>b{}", "b{1}>b{0}", "b{}=b{}"), counts, strict=True):
            rankings += [sign.format(i, j)] * count
    found = fit({"ranking": rankings}, "btl_ties")
    brands = [f"b{number}" for number in range(1, 7)]
    worth = np.exp(found.scores[brands].to_numpy())
    published = [0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855]
    assert (worth / worth.sum()).round(4).tolist() == np.round(published, 4).tolist()
    assert found.tie.iloc[0] == pytest.approx(0.7468147, abs=5e-5)
    contrasts = np.eye(6)[1:] - np.eye(6)[0]
    order = [found.comparisons.models.index(name) for name in brands]
    covariance = found.covariance[np.ix_(order, order)]
    errors = np.sqrt(np.einsum("ci,ij,cj->c", contrasts, covariance, contrasts))
    assert errors.round(4).tolist() == [0.1872, 0.1935, 0.1882, 0.1927, 0.1924]
    of_tie = np.sqrt(found.covariance[-1, -1])
    assert of_tie == pytest.approx(0.0825, abs=5e-5)
    assert -2 * found.log_likelihood == pytest.approx(1619.4, abs=0.05)


def test_choices_have_the_published_probabilities():
    """Six rankings of two or three fruits, two of them with a tie of two.

    R's PlackettLuce has published log worths and the tie parameter, and the probabilities that these give to every
    choice (snapshots of its tests of S3 methods).
    """
    told = ["apple>banana", "banana>orange>apple", "banana=orange>apple", "apple>banana>orange"]
    told += ["banana=orange>apple", "apple>orange"]
    model = MODELS["btl_ties"]
    cells = model.observed(read(pd.DataFrame({"ranking": told})).comparisons)
    at = Parameters(np.array([0.0, 0.2867987, -0.4636687]), np.array([[0.0], [-1.0701129]]))
    starts, rows = cells.stages.first_rows, row_by_row(cells, model, at).log_likelihood * cells.count
    found = np.exp(np.add.reduceat(rows, starts))[is_choice(cells)[starts]]
    published = [0.36656777, 0.33785994, 0.33086831, 0.07962156, 0.2536189, 0.58554515, 0.07962156, 0.52604625]
    np.testing.assert_allclose(found, published, atol=1e-7)


def test_scores_and_ties_are_recovered():
    """Of 24 panels: the mean is within Monte Carlo error of the truth, and intervals hold it as often as told."""
    estimates, held = [], []
    truth = np.log([[0.6, 0.3, 1.0], [0.3, 0.2, 0.5]])
    for seed in range(24):
        found = fit(drawn(300, 4, (1.6, 0.9, 0.5), TIES, seed=seed), "judge_aware_ties")
        estimates.append(np.r_[found.solution.parameters.judges[1:].ravel(), found.scores["a"]])
        table = found.confidence_intervals()
        ties = table[table["parameter"].str.startswith("tie")]
        held.append(((np.log(ties["low"]) <= truth.ravel()) & (truth.ravel() <= np.log(ties["high"]))).mean())
    mean, error = np.mean(estimates, axis=0), np.std(estimates, axis=0) / np.sqrt(24)
    scale = np.exp(np.mean(np.log([1.6, 0.9, 0.5])))
    # log propensities are biased by a few hundredths in sets of this size
    assert np.all(np.abs(mean - np.r_[truth.ravel(), scale]) < 3.5 * error + 0.03)
    assert 0.9 < np.mean(held) < 0.99


def test_judges_at_zero_have_their_best_positions_and_ties():
    frame = drawn(300, 4, (0.0, 0.0), ({2: 0.6, 3: 0.3}, {2: 1.5}), (0.4, -0.3))
    cells = read(frame).comparisons
    cells = get_model("position_aware_ties", cells).observed(cells)
    b, log_delta = choices_at_zero(cells, True)
    for k in range(2):
        own = frame[frame["judge"] == f"j{k}"]

        def height(x, own=own, k=k):
            ties = np.full((2, 2), -60.0)
            ties[: len(x) - 1, k] = x[1:]
            return direct(own, np.zeros(6), [0.0, 0.0], [x[0]] * 2, ties, (2, 3))

        x = np.array([b[k], *(own_of[k] for own_of in log_delta.values() if np.isfinite(own_of[k]))])
        assert len(x) == 3 - k  # the second never ties three
        np.testing.assert_allclose(approx_fprime(x, height, 1e-6), 0, atol=1e-3)
    at = Parameters(np.zeros(6), np.array([[-np.inf] * 2, b, *log_delta.values()]))
    model = get_model("position_aware_ties", cells)
    np.testing.assert_allclose(mean_at_zero(cells), row_by_row(cells, model, at).law.mean)
    expected = cells.count * (cells.outcome - mean_at_zero(cells))
    wins = np.zeros((2, 6))
    np.add.at(wins, (cells.judge, cells.first), expected)
    np.subtract.at(wins, (cells.judge, cells.second), expected)
    np.testing.assert_allclose(net_wins(cells, True), wins, atol=1e-12)


def test_without_ties_the_fit_is_that_of_members_without():
    frame = drawn(200, 4, (1.5, 0.7), ({}, {}))
    ours, plain = fit(frame, "judge_aware_ties"), fit(frame, "judge_aware")
    assert (ours.tie == 0).all()
    assert ours.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(ours.scores, plain.scores, atol=1e-9)


def test_a_judge_who_does_nothing_but_tie_has_no_maximum_of_its_own():
    frame = drawn(200, 3, (1.2, 0.9), ({2: 0.5, 3: 0.2}, {2: 0.5}))
    mine = frame["judge"] == "j1"
    frame.loc[mine, "ranking"] = frame.loc[mine, "ranking"].str.replace(">", "=")
    found = fit(frame, "judge_aware_ties")
    assert found.status is Status.UNBOUNDED and found.unbounded_judges == ("j1",)
    assert np.isfinite(found.solution.parameters.scores).all()


def test_a_judge_whose_ties_follow_the_order_is_unbounded():
    """It ties the best two of any four, and otherwise has the one order."""
    frame = drawn(300, 4, (1.0, 1.0), ({2: 0.5}, {2: 0.5}))
    mine = frame["judge"] == "j1"
    order = [sorted(text.replace("=", ">").split(">")) for text in frame.loc[mine, "ranking"]]
    frame.loc[mine, "ranking"] = [">".join(one) for one in order]
    for member in ("judge_aware_ties", "position_aware_ties"):
        assert "j1" in fit(frame, member).unbounded_judges


def test_where_every_choice_is_a_tie_there_is_no_maximum():
    """As of pairs that are all tied."""
    rankings = pd.DataFrame({"ranking": ["a=b>c", "b=c>a", "a=c>b"] * 3})
    pairs = pd.DataFrame({"model_a": list("abc"), "model_b": list("bca"), "winner": ["tie"] * 3})
    assert fit(rankings, "btl_ties").status is fit(pairs, "btl_ties").status is Status.UNBOUNDED
    for data in (rankings, pairs):
        with pytest.raises(NoMaximumError, match="each judge"):
            fit(data, "judge_aware_ties")


def test_the_two_certificates_agree_with_the_likelihood():
    """Where a direction rises, the likelihood does along it; where none does, it falls along any other."""
    rng, seen = np.random.default_rng(7), set()
    for seed in range(30):
        frame = drawn(int(rng.integers(4, 14)), 3, (0.8, 0.8), ({2: 0.5}, {2: 0.5}), (0.2, 0.0), seed)
        cells = read(frame).comparisons
        model = get_model("position_aware_ties", cells)
        if len(cells.models) < 3 or len(cells.judges) < 2:
            continue
        cells = model.observed(cells)
        n, free = len(cells.models), np.array([ties_used(cells, size) for size in model.tie_sizes])
        judges = np.zeros((len(model.blocks), 2))
        judges[2:][~free] = -np.inf
        at = Parameters(np.zeros(n), judges)
        direction = rising_direction(cells, model)
        seen.add(direction is None)

        def height(v, t, n=n, judges=judges, cells=cells, model=model):
            moved = judges.copy()
            moved[1:] += t * v[n:].reshape(-1, 2)
            return evaluate(cells, model, Parameters(t * v[:n], moved)).log_likelihood

        if direction is not None:
            assert not near_maximum(cells, model, at)
            heights = [height(direction, t) for t in (0.0, 1.0, 3.0, 9.0, 27.0)]
            assert np.all(np.diff(heights) > -1e-9) and heights[-1] > heights[0]
            continue
        for _ in range(200):
            v = rng.normal(size=n + 2 * (len(model.blocks) - 1))
            v[:n] -= v[:n].mean()
            v[n:].reshape(-1, 2)[1:][~free] = 0.0
            assert height(v, 60.0) < height(v, 0.0)
    assert seen == {True, False}


def test_a_fit_needs_no_linear_program_to_be_certified(point):
    model, cells, _ = point
    assert near_maximum(cells, model, fit(cells, model).solution.parameters)


def test_clusters_are_sums_of_the_gradients_of_rankings(point, frame):
    model, cells, at = point
    found = cluster_gradients(cells, model, at, read(frame).question)[:4]
    for number in range(4):
        part = frame[frame["question"] == f"q{number:03}"]

        def height(x, part=part):
            judges = x[6:].reshape(4, 3)
            return direct(part, x[:6], *judges[:2], judges[2:], (2, 3))

        np.testing.assert_allclose(found[number], approx_fprime(vector(at), height, 1e-7), atol=1e-5)


def test_shrinkage_draws_larger_ties_to_the_panel_too(frame):
    plain, shrunk = fit(frame, "position_aware_ties"), fit(frame, "position_aware_ties", shrink=True)
    assert {"log_tie", "log_tie_3"} <= {*shrunk.spread}
    spread = [np.log(each._of_judges(judge_block("log_tie_3"))).std() for each in (shrunk, plain)]
    assert spread[0] < spread[1]
    again = fit(frame, "position_aware_ties", Penalised().held_at(shrunk.solution.spread))
    assert dict(again.solution.spread) == dict(shrunk.solution.spread)
    np.testing.assert_allclose(again.scores, shrunk.scores, atol=1e-7)


def test_parts_of_the_rows_keep_choices_whole(point, monkeypatch):
    model, cells, at = point
    whole_set = evaluate(cells, model, at, "observed")
    monkeypatch.setattr(layout, "MAX_CACHED_ROWS", 0)
    monkeypatch.setattr("judgerank.engine.likelihood.CHUNK", 7)
    parted = evaluate(cells.take(np.arange(len(cells))), model, at, "observed")
    for name in ("log_likelihood", "top_gradient", "judge_gradient", "top_information", "judge_information"):
        np.testing.assert_allclose(getattr(whole_set, name), getattr(parted, name), atol=1e-9)


def test_rankings_and_pairs_are_fitted_together(frame):
    pairs = pd.DataFrame({"judge": ["j0", "j1", "j2"], "ranking": ["a=b", "a>b", "b=c"], "question": [99] * 3})
    pairs["shown"] = ["b, a", "a, b", "b, c"]
    both = pd.concat([frame, pairs], ignore_index=True)
    found = fit(both, "position_aware_ties")
    at = found.solution.parameters
    assert found.log_likelihood == pytest.approx(direct(both, at.scores, *at.judges[:2], at.judges[2:], (2, 3)))


def test_weights_between_two_answers_stay_what_they_are_in_pairs():
    """Beside rankings, too: neither a tie nor refused."""
    rankings = drawn(300, 2, (1.2, 0.8), ({2: 0.6}, {2: 0.9}), (0.3, 0.0))
    cells = [read(each).comparisons for each in (rankings, as_pairs_of(rankings))]
    weighed = np.random.default_rng(4).random(len(rankings)) < 0.2
    cells = [replace(each, outcome=np.where(weighed, 0.3 + 0.5 * each.outcome, each.outcome)) for each in cells]
    ours, theirs = (fit(each, "position_aware_ties") for each in cells)
    assert ours.comparisons.stages is not None
    assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-11)
    np.testing.assert_allclose(ours.solution.parameters.judges, theirs.solution.parameters.judges, atol=1e-9)
    assert rising_direction(ours.comparisons, ours.model) is None


def test_a_fit_is_saved_with_its_ties(tmp_path, frame):
    found = fit(frame, "position_aware_ties", cluster="question")
    found.save(tmp_path / "fit.npz")
    again = load(tmp_path / "fit.npz")
    np.testing.assert_array_equal(again.covariance, found.covariance)
    assert again.model == found.model
    pd.testing.assert_frame_equal(again.confidence_intervals(), found.confidence_intervals())


def test_what_does_not_go_with_ties_is_said(frame):
    many = [">".join(f"m{number}" for number in range(60)), "m1=m0>" + ">".join(f"m{n}" for n in range(2, 60))]
    with pytest.raises(DataError, match="does not read rankings of 60 answers with ties of up to 2"):
        fit({"ranking": many}, "btl_ties")
    model = get_model("btl_ties", read(frame).comparisons)
    larger = pd.DataFrame({"ranking": ["a=b=c=d>e", "e>d>c>b>a"]})
    with pytest.raises(DataError, match="ties of 4 answers"):
        model.observed(read(larger).comparisons)
    with pytest.raises(DataError, match=r"ties.*already"):
        fit(fit(frame, "btl_ties").comparisons, "btl")


def test_held_out_losses_are_those_of_the_choices(frame):
    """Of a member with ties: minus the log-likelihood, where it knows all ties of all judges."""
    train, test = frame[:200], frame[200:]
    sets = [read(part).comparisons for part in (train, test)]
    fitted = fit(train, "position_aware_ties")
    count, sizes = with_tied_choices(sets[1]).count, (2, 3)
    at = fitted.solution.parameters
    found = float(count @ choice_losses(fitted, *sets, sizes))
    assert found == pytest.approx(-direct(test, at.scores, *at.judges[:2], at.judges[2:], sizes), rel=1e-9)
    # of one without: judges tie as often as in training, and sets of a size have the chances that scores give them
    plain = fit(train, "judge_aware").solution.parameters
    expected = 0.0
    for record in test.itertuples():
        k = int(record.judge[1:])
        groups = [[NAMES.index(name) for name in text.split("=")] for text in record.ranking.split(">")]
        left = [one for group in groups for one in group]
        for group in groups:
            if len(left) == 1:
                break
            share = {size: tie_share(train, k, size) for size in sizes if size <= len(left)}
            share[1] = 1 - sum(share.values())
            of, p = chances(left, [len(group)], np.exp(plain.judges[0, k]) * plain.scores, {len(group): 0.0})
            expected -= np.log(share[len(group)]) + np.log(p[[{*one} for one in of].index({*group})])
            left = [one for one in left if one not in group]
    found = float(count @ choice_losses(fit(train, "judge_aware"), *sets, sizes))
    assert found == pytest.approx(expected, rel=1e-9)


def tie_share(frame, k, size):
    many = tied = 0
    for text in frame.loc[frame["judge"] == f"j{k}", "ranking"]:
        left = len(text.replace("=", ">").split(">"))
        for group in text.split(">"):
            many, tied = many + (left >= size), tied + (len(group.split("=")) == size)
            left -= len(group.split("="))
            if left < 2:
                break
    return (tied + 0.5) / (many + 1)


def test_held_out_losses_of_rankings_of_two_are_those_of_pairs():
    rankings = drawn(400, 2, (1.5, 0.7), ({2: 0.8}, {}), (0.4, -0.2))
    train, test = rankings[:300], rankings[300:]
    sets = [read(part).comparisons for part in (train, test)]
    pairs = [read(as_pairs_of(part)).comparisons for part in (train, test)]
    for member in ("position_aware", "position_aware_ties"):
        ours = choice_losses(fit(train, member), *sets, (2,)).sum()
        theirs = losses_with_ties(fit(as_pairs_of(train), member), *pairs).sum()
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_the_page_compares_members_with_ties(frame):
    table, _ = compared(read(frame), "position_aware")
    losses = table.set_index("member")["log_loss"]
    assert losses.notna().all() and {*MEMBERS} <= {*losses.index}
    assert losses["judge_aware_ties"] < losses["judge_aware"]  # here ties say who is close


def test_positions_by_category_count_the_places_between(frame):
    """As a judge's own position does; else a choice's rows contradict each other, and no mode is found."""
    found = fit(frame.assign(category=["x", "y"] * 120), "position_aware", blocks=["category_position"])
    cells = found.comparisons
    np.testing.assert_array_equal(cells.columns.sum(axis=1), cells.apart)


def test_further_blocks_have_the_derivatives_of_differences(frame):
    found = fit(frame.assign(category=["x", "y"] * 120), "position_aware_ties", blocks=["category_position"])
    model, cells = found.model, found.comparisons
    rng = np.random.default_rng(2)
    at = Parameters(rng.normal(size=6), rng.normal(0, 0.4, (4, 3)), np.array([0.3, -0.2]))

    def height(common):
        return evaluate(cells, model, replace(at, common=common)).log_likelihood

    found = evaluate(cells, model, at).top_gradient[6:]
    np.testing.assert_allclose(found, approx_fprime(at.common, height, 1e-6), rtol=1e-5)


def test_the_page_of_rankings_with_ties(frame):
    found = rank(frame, model="position_aware_ties")
    assert {"tie", "tie_3", "low_tie_3"} <= {*found.tables["judges"].columns}
    assert "tie of 3" in found.to_html()
    assert any(MODELLED in remark for remark in found.remarks)
    # a ranking of four compares each of its models with three others, tied or not
    times = frame["ranking"].str.split("[>=]").explode().value_counts() * 3
    compared = found.leaderboard.set_index("model")["comparisons"]
    assert compared.to_dict() == times.to_dict()


def test_the_other_commands_take_fits_with_ties(frame, tmp_path):
    board = fit(frame[~frame["ranking"].str.contains("f")], "position_aware_ties", cluster="question")
    new = frame[frame["ranking"].str.contains("f")]
    found = place(board, read(new))
    refit = found.newcomers.iloc[0]
    assert found.newcomers["model"].tolist() == ["f"] and refit["low"] < refit["refit"] < refit["high"]
    judgments = read(frame)
    panel, _ = fitted_panel(judgments, lambda name: fit(judgments, name), "position_aware_ties")
    assert panel.model.judge_blocks == MODELS["position_aware_ties"].judge_blocks


def test_the_probabilities_of_all_rankings_add_up_to_one(frame):
    """Of three answers there are 13 with ties, and six without; judges and models in another order."""
    texts = [">".join(order) for order in permutations("abc")] + ["a=b=c"]
    texts += [text for x, y, z in ("abc", "acb", "bca") for text in (f"{x}={y}>{z}", f"{z}>{x}={y}")]
    assert len(texts) == 13
    rankings = pd.DataFrame({"ranking": texts * 2, "judge": ["j2"] * 13 + ["j0"] * 13, "shown": ["c, a, b"] * 26})
    rankings["question"] = [f"q{number:02}" for number in range(26)]
    found = fit(frame, "position_aware_ties")
    p = found.ranking_probability(read(rankings).comparisons)
    np.testing.assert_allclose([p[:13].sum(), p[13:].sum()], 1.0, rtol=1e-12)
    at = found.solution.parameters
    log_p = direct(rankings.iloc[[8]], at.scores, *at.judges[:2], at.judges[2:], (2, 3))
    assert p[8] == pytest.approx(np.exp(log_p), rel=1e-12)
    plain = fit(frame, "judge_aware")
    p = plain.ranking_probability(read(rankings.iloc[:6]).comparisons)
    assert p.sum() == pytest.approx(1.0, rel=1e-12)
    with pytest.raises(DataError, match="requires rankings without ties"):
        plain.ranking_probability(read(rankings).comparisons)


def test_rankings_are_drawn_by_the_law():
    """Frequencies of the 13 rankings of three answers by one judge, against products of the choices' chances."""
    scores, values = np.array([0.6, -0.6, 0.0]), JudgeValues(np.array([1.4]), np.zeros(1), np.array([0.3]), None)
    log_delta = {2: np.log([0.7]), 3: np.log([0.4])}
    many, shown = 3_000, np.array([2, 0, 1])
    drawn_ = draw_rankings(
        np.random.default_rng(8), scores, values, log_delta, np.zeros(many, int), np.tile(shown, (many, 1))
    )
    assert all(one.shown == ("m2", "m0", "m1") for one in drawn_)
    times = Counter(tuple(frozenset(group) for group in one.groups) for one in drawn_)
    u, expected = 1.4 * scores - 0.3 * np.argsort(shown), dict[tuple[frozenset[str], ...], float]()

    def follow(left, groups, chance):
        if len(left) < 2:
            groups = groups + [left] * bool(left)
            expected[tuple(frozenset(f"m{one}" for one in group) for group in groups)] = chance
            return
        for one, p in zip(*chances(left, (1, 2, 3), u, {1: 0.0, 2: np.log(0.7), 3: np.log(0.4)}), strict=True):
            follow(tuple(other for other in left if other not in one), [*groups, one], chance * p)

    follow((0, 1, 2), [], 1.0)
    assert len(expected) == 13 and {*times} <= {*expected}
    assert chisquare([times[each] for each in expected], many * np.array([*expected.values()])).pvalue > 0.01
