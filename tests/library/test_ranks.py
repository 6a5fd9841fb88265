"""Pairs, ranks and clusters: what a fit says of the order of the models."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.sparse import csr_array
from scipy.special import expit, ndtr
from scipy.stats import binom, norm
from scipy.stats import t as student

import judgerank
from judgerank import Comparisons, Fit, fit
from judgerank.data.errors import DataError, NoIntervalError
from judgerank.engine import likelihood
from judgerank.engine.information import zero_sum_basis
from judgerank.engine.likelihood import evaluate
from judgerank.inference.clusters import cluster_gradients, squares_by_cluster
from judgerank.model.members import BTL, JUDGE_AWARE, LENGTH, POSITION_AWARE
from judgerank.order import equality
from judgerank.order import pairs as ranks
from judgerank.order.claims import Claims, closed
from judgerank.order.equality import PRIOR, NetResults, differences_under_equality
from judgerank.order.flips import p_either
from judgerank.order.head_to_head import LOPSIDED, PRICE, own_tests
from judgerank.order.head_to_head import _p_of_exchanges as exchanges
from judgerank.order.head_to_head import _Pool as Pool
from judgerank.order.pairs import orders, pairwise, rank_intervals
from studies.validity import fit_components

SCORES, GAMMA = (1.0, 0.3, 0.2, -0.6, -0.9), (0.5, 1.0, 2.0)
N, K = len(SCORES), len(GAMMA)


@pytest.fixture(scope="module")
def raw(simulated) -> Comparisons:
    return simulated(61, SCORES, GAMMA, 900, ties=0.1)


@pytest.fixture(scope="module")
def fitted(raw) -> Fit:
    return fit(raw)


# pairs


def test_holm_by_hand():
    assert_allclose(ranks.holm(np.array([0.04, 0.01, 0.03, 0.005])), [0.06, 0.03, 0.06, 0.02])
    assert_allclose(ranks.holm(np.array([0.9, 0.5])), [1.0, 1.0])


def test_pairs_are_wald_tests_with_the_better_model_first(raw):
    unweighted = fit(raw, "btl")
    pairs = ranks.pairwise(unweighted, 0.9)
    assert len(pairs) == N * (N - 1) // 2
    assert (pairs["difference"] >= 0).all()
    row = pairs.iloc[3]
    contrast = unweighted.contrast({row["first"]: 1.0, row["second"]: -1.0}, 0.9)
    assert_allclose(row["standard_error"], contrast["standard_error"])
    assert_allclose([row["low"], row["high"]], [contrast["low"], contrast["high"]])
    assert_allclose(row["p_value"], 2 * norm.sf(contrast["estimate"] / contrast["standard_error"]))
    assert (pairs["separated"] == (pairs["p_holm"] <= 0.1 + 1e-15)).all()


def test_clusters_that_vary_as_the_model_says_give_the_errors_of_the_model_under_equality():
    """Weights shrunk toward one among them: their prior is an observation of its own."""
    rng = np.random.default_rng(4)
    roots = rng.normal(size=(K, 30, N))
    roots -= roots.mean(axis=2, keepdims=True)
    information = np.einsum("kqa,kqb->kab", roots, roots)
    net = np.einsum("k,kab,b->ka", GAMMA, information, SCORES) / 20
    results = NetResults(net, information / 20, np.array(GAMMA), True, np.zeros((K, 0, N)), np.full(K, PRIOR))
    q = 30 * K
    clusters = csr_array(block_diag(*roots) * np.sqrt((q - 1) / q / 20))
    _, (by_model, by_cluster) = differences_under_equality(results.with_clusters(None, clusters))
    assert_allclose(by_cluster, by_model, rtol=1e-9)


# ranks


def order(scores, variance: float, dof: float = np.inf, equal=None) -> ranks.Order:
    """Independent scores of one variance, seen alike by both tests unless the scores of the other are given."""
    difference = np.array([np.subtract.outer(s, s) for s in (scores, scores if equal is None else equal)], float)
    error = np.full_like(difference, np.sqrt(2 * variance))
    error[:, range(len(scores)), range(len(scores))] = np.inf
    names = np.array([f"m{i}" for i in range(len(scores))], object)
    return ranks.Order(names, difference, error, variance * np.eye(len(scores)), dof)


def test_ranks_are_as_wide_as_the_differences_that_are_not_sure():
    def found(scores, variance, equal=None):
        return rank_intervals([order(scores, variance, equal=equal)])[["low", "high"]].to_numpy().T.tolist()

    assert found([2, 1, 0, -1, -2], 1e-4) == [[1, 2, 3, 4, 5]] * 2
    assert found([2, 1, 0, -1, -2], 1e4) == [[1] * N, [N] * N]
    # two pairs closer than their errors in a row of models otherwise far apart
    pairs = [[1, 1, 3, 4, 4], [2, 2, 3, 5, 5]]
    assert found([2, 1.99, 0, -1.99, -2], 1e-4) == pairs
    # and the same if one of the tests alone sees them so, or the other way round
    assert found([2, 1, 0, -1, -2], 1e-4, [2, 1.99, 0, -1.99, -2]) == pairs
    assert found([2, 1, 0, -1, -2], 1e-4, [1, 2, 0, -2, -1]) == pairs


def test_a_pair_is_judged_by_the_test_that_is_less_sure():
    found = order([1.0, 0.0], 0.5, equal=[0.2, 0.0])
    assert_allclose(found.statistic[0, 1], 0.2)
    assert_allclose(found.p_value[0, 1], 2 * norm.sf(0.2))
    row = pairwise([found]).iloc[0]
    assert row["test"] == "equality"
    assert_allclose([row["low"], row["high"]], [0.2 - norm.ppf(0.975), 1.0 + norm.ppf(0.975)])
    few = order([1.0, 0.0], 0.5, 4.0)
    assert_allclose(few.p_value[0, 1], 2 * student.sf(1.0, 4))


def test_a_rank_lies_in_its_interval_which_grows_with_the_level(fitted):
    narrow, wide = (rank_intervals(fitted, level) for level in (0.5, 0.999))
    for found in (narrow, wide):
        assert ((found["low"] <= found["rank"]) & (found["rank"] <= found["high"])).all()
    assert ((wide["low"] <= narrow["low"]) & (wide["high"] >= narrow["high"])).all()
    assert wide["high"].sum() - wide["low"].sum() > narrow["high"].sum() - narrow["low"].sum()


def test_there_are_no_ranks_without_intervals(fitted):
    with pytest.raises(NoIntervalError):
        rank_intervals(fitted._with_errors(robust=np.zeros_like(fitted.covariance)))


# components


@pytest.fixture(scope="module")
def islands(simulated) -> Comparisons:
    """Five models and, apart from them, three."""
    one, two = simulated(64, SCORES, GAMMA, 600), simulated(65, SCORES[:3], GAMMA, 400)
    columns = {name: np.r_[getattr(one, name), getattr(two, name) + N] for name in ("first", "second")}
    models = tuple(f"m{i}" for i in range(N + 3))
    judge, outcome = np.r_[one.judge, two.judge], np.r_[one.outcome, two.outcome]
    return Comparisons(models, one.judges, columns["first"], columns["second"], judge, outcome)


@pytest.mark.parametrize("solver", ["newton", "penalised"])
def test_models_that_nothing_connects_are_never_compared(islands, solver):
    found = fit_components(islands) if solver == "newton" else fit(islands, solver=solver)
    pairs = ranks.pairwise(found)
    assert len(pairs) == 28
    assert pairs["comparable"].dtype == pairs["separated"].dtype == bool
    two = {f"m{i}" for i in range(N, N + 3)}
    across = pairs["first"].isin(two) != pairs["second"].isin(two)
    assert (pairs["comparable"] == ~across).all()
    assert not pairs.loc[across, "separated"].any()
    assert pairs.loc[across, ["difference", "low", "high", "p_value", "p_holm"]].isna().all(axis=None)
    assert_allclose(pairs.loc[~across, "p_holm"], ranks.holm(pairs.loc[~across, "p_value"].to_numpy()))
    places = rank_intervals(found)
    assert places["rank"].tolist() == [1, 2, 3, 4, 5, 1, 2, 3]
    assert set(places["model"][N:]) == two
    assert places["high"][N:].max() <= 3


def test_components_fitted_apart_are_the_fits_of_their_comparisons(islands):
    question = np.random.default_rng(3).integers(40, size=len(islands))
    found = fit_components(islands, "position_aware", cluster=question)
    for part, rows in zip(found, (islands.first < N, islands.first >= N), strict=True):
        alone = Comparisons.from_frame(islands.take(np.flatnonzero(rows)).to_frame())
        expected = fit(alone, "position_aware").clustered(alone, question[rows])
        assert_allclose(part.scores[list(expected.scores.index)], expected.scores, atol=1e-10)
        assert_allclose(part.covariance, expected.covariance, atol=1e-10)


# weights under equality


@pytest.mark.parametrize("member", ["btl", "position_only", "btl_ties"])
def test_where_judges_weigh_the_same_both_tests_are_one(raw, member):
    plain = fit(raw, member)
    kinds = plain, plain.clustered(raw, np.arange(len(raw)) // 3)
    for result, (found,) in zip(kinds, ranks.orders_by_errors(*kinds), strict=True):
        assert_allclose(found.error, next(ranks.orders(result)).error)
        assert_allclose(found.difference[1], found.difference[0], atol=1e-8)
        # the reported scale of a member with positions is estimated, too, and is in the error of the fit alone
        is_one_error = result.errors.by_cluster is None and member != "position_only"
        assert_allclose(found.error[1], found.error[0], rtol=1e-8 if is_one_error else 1e-2)


def test_an_equal_pair_without_noise_differs_by_nothing():
    """Judges of very different discrimination on uneven designs; only the prior keeps weights from being exact."""
    rng = np.random.default_rng(4)
    scores, gamma = np.array([0.8, 0.5, 0.5, -0.6, -1.2]), np.array([0.2, 1.0, 1.5, 3.0])
    pairs = rng.integers(50, 2000, size=(4, N, N)).astype(float)
    pairs = np.triu(pairs, 1) + np.triu(pairs, 1).transpose(0, 2, 1)
    information = np.array([np.diag(p.sum(axis=1)) - p for p in pairs])
    net = np.einsum("k,kab,b->ka", gamma, information, scores)
    exact = NetResults(net, information, gamma, True, np.zeros((4, 0, N)), np.full(4, PRIOR))
    difference, error = differences_under_equality(exact)
    assert abs(difference[1, 2]) < 1e-3 * error[0, 1, 2]
    assert_allclose(difference, -difference.T)
    apart = np.subtract.outer(scores, scores)
    assert (np.sign(difference) == np.sign(np.where(np.abs(apart) > 0, apart, difference))).all()
    assert_allclose(difference[1, 0], apart[1, 0], rtol=0.2)
    flat = replace(
        exact, net=exact.net[:1], information=exact.information[:1], prior=exact.prior[:1], weighted=False
    )
    first = differences_under_equality(replace(flat, discrimination=np.ones(1)))[0]
    assert_allclose(first, gamma[0] * apart, atol=1e-9)


def test_equal_models_are_rarely_separated_though_weights_suit_the_noise(simulated):
    """Forty data sets of three equal models: at 5% seven rejections or more have a probability below .004."""
    alone = both = 0
    for seed in range(40):
        result = fit(simulated(900 + seed, np.zeros(3), np.ones(16), 1000))
        (found,) = ranks.orders(result)
        i, j = np.triu_indices(3, 1)
        statistic = (found.difference[0] / found.error[0])[i, j]
        alone += bool((ranks.holm(2 * norm.sf(np.abs(statistic))) <= 0.05).any())
        both += bool(ranks.pairwise(result)["separated"].any())
    assert alone > 20
    assert both < 7


# clusters


def test_a_pair_does_not_depend_on_the_pairs_that_are_tested_with_it(monkeypatch):
    rng, scores, gamma, size = (
        np.random.default_rng(136),
        np.linspace(0.6, -0.6, 6),
        np.array([1.2, -0.8, 0.2]),
        90,
    )
    first = rng.integers(0, 6, size)
    second = (first + rng.integers(1, 6, size)) % 6
    judge = rng.integers(0, 3, size)
    chance = expit(gamma[judge] * (scores[first] - scores[second]))
    won = (rng.random(size) < chance).astype(float)
    rows = Comparisons(tuple("abcdef"), tuple("wxy"), first, second, judge, won, np.ones(size))
    fitted = fit(rows, "judge_aware", "penalised")
    results = NetResults.of(fitted.comparisons, fitted.model, fitted.solution.parameters)
    together = differences_under_equality(results)
    monkeypatch.setattr(equality, "AT_ONCE", 1)  # a pair at a time
    for each, alone in zip(together, differences_under_equality(results), strict=True):
        assert_allclose(each, alone, atol=1e-9)


@pytest.mark.parametrize("model", [BTL, JUDGE_AWARE, LENGTH, POSITION_AWARE], ids=lambda model: model.name)
def test_cluster_gradients_are_those_of_the_clusters_alone(simulated, model):
    raw = simulated(62, SCORES, GAMMA, 300, slope=(0.2, 0.0, -0.3))
    cluster = np.random.default_rng(1).choice([3, 7, 11, 20], len(raw))
    at = fit(raw, model.name).solution.parameters
    found = cluster_gradients(raw, model, at, cluster)
    for row, name in zip(found, (3, 7, 11, 20), strict=True):
        alone = evaluate(raw._rows(cluster == name), model, at)
        assert_allclose(row, np.concatenate([alone.top_gradient, alone.judge_gradient.ravel()]), atol=1e-12)


@pytest.mark.parametrize("model", [BTL, POSITION_AWARE], ids=lambda model: model.name)
def test_squares_of_gradients_are_the_same_in_parts(simulated, model, monkeypatch):
    raw = simulated(63, SCORES, GAMMA, 400)
    cluster = np.random.default_rng(2).permutation(np.repeat(np.arange(101), 4))[: len(raw)]
    fitted = fit(raw, model.name)
    at, chosen = fitted.solution.parameters, fitted._chosen
    own = cluster_gradients(raw, model, at, cluster)[:, chosen]
    for most in (1, 150, 10**6):  # numbers at once: two clusters, some, all
        monkeypatch.setattr("judgerank.inference.clusters.AT_ONCE", most)
        squares, many = squares_by_cluster(raw, model, at, cluster, chosen)
        assert many == len(own) and len(squares) == chosen.sum()
        assert_allclose(squares, own.T @ own, rtol=1e-12, atol=1e-12)


def test_the_sandwich_with_one_row_a_cluster_is_the_textbook_one(raw):
    fitted = fit(raw)
    found = fitted.clustered(raw, np.arange(len(raw))).covariance
    at = fitted.solution.parameters
    gradients = cluster_gradients(raw, JUDGE_AWARE, at, np.arange(len(raw)))
    basis = block_diag(zero_sum_basis(N), zero_sum_basis(K))
    here = evaluate(raw, JUDGE_AWARE, at, "observed")
    hessian = np.zeros((N + K, N + K))
    step = 1e-5
    for d in range(N + K):  # the observed information by central differences of the gradient
        sides = []
        for way in (step, -step):
            theta = np.concatenate([at.scores, at.judges[0]])
            theta[d] += way
            there = evaluate(raw, JUDGE_AWARE, replace(at, scores=theta[:N], judges=theta[None, N:]))
            sides.append(np.concatenate([there.top_gradient, there.judge_gradient[0]]))
        hessian[d] = (sides[1] - sides[0]) / (2 * step)
    assert here.relative_gradient < 1e-9
    bread = np.linalg.inv(basis.T @ hessian @ basis)
    meat = basis.T @ gradients.T @ gradients @ basis * len(raw) / (len(raw) - 1)
    assert_allclose(found, basis @ bread @ meat @ bread @ basis.T, rtol=1e-5, atol=1e-8)


def test_copies_of_a_comparison_in_one_cluster_add_no_knowledge(raw):
    copies = raw.take(np.repeat(np.arange(len(raw)), 4))
    once, often = fit(raw), fit(copies)
    assert_allclose(often.standard_errors, once.standard_errors / 2, rtol=1e-6)
    cluster = np.arange(len(raw))
    robust = [once.clustered(raw, cluster), often.clustered(copies, np.repeat(cluster, 4))]
    assert_allclose(robust[0].standard_errors, robust[1].standard_errors, rtol=1e-6)
    assert (robust[0].confidence_intervals()["low"] != once.confidence_intervals()["low"]).any()


def test_weights_that_are_no_whole_numbers_have_clustered_errors_free_of_their_unit(raw):
    weight = np.random.default_rng(3).uniform(0.5, 1.5, len(raw))
    cluster = np.arange(len(raw))
    errors = [
        fit(rows).clustered(rows, cluster).standard_errors
        for rows in (replace(raw, count=weight), replace(raw, count=weight / 3))  # sums that round
    ]
    assert_allclose(*errors, rtol=1e-6)


def test_clusters_must_be_of_the_comparisons_fitted(raw, fitted):
    with pytest.raises(DataError, match="clusters"):
        fitted.clustered(raw.take(np.arange(50)), np.arange(50))
    with pytest.raises(DataError, match=rf"\b{len(raw)} .*\b1 cluster\b"):
        fitted.clustered(raw, np.zeros(len(raw), int))
    with pytest.raises(DataError, match=rf"\b{len(raw)} .*\b3 clusters"):
        fitted.clustered(raw, np.arange(3))


# what a mutation would change that no other test sees


def test_claims_are_those_of_holm_and_what_follows_from_them():
    p = np.ones((4, 4))
    p[0, 1], p[1, 2], p[0, 2], p[2, 3], p[0, 3] = 0.01, 0.04, 0.5, 0.06, 0.2
    found = closed(p)
    assert_allclose([found[0, 2], found[1, 3], found[0, 3], found[2, 3]], [0.04, 0.06, 0.06, 0.06])
    claims = Claims(tuple("abcd"), found <= 0.05)
    assert claims.best_rank.tolist() == [1, 2, 3, 1]
    assert claims.worst_rank.tolist() == [2, 3, 4, 4]
    assert (claims.leaders, claims.shared_lead, claims.contenders) == (("a", "d"), ("a",), ("d",))
    assert claims.undecided == ("a", "d")
    assert claims.groups == ("a", "b", "c", "abc")
    with pytest.raises(ValueError, match="against"):
        Claims(tuple("ab"), np.array([[False, False], [True, False]]))


def test_closed_claims_are_transitive_and_keep_every_other_p_value():
    rng = np.random.default_rng(5)
    for n in (2, 3, 5, 9):
        p = np.where(rng.random((n, n)) < 0.4, rng.random((n, n)) / 20, 1.0)
        found, better = closed(p), np.triu(p, 1) <= 0.03
        better &= np.triu(np.ones((n, n), bool), 1)
        reach = better.copy()
        for _ in range(n):
            reach |= (reach.astype(int) @ reach.astype(int)) > 0
        assert ((found <= 0.03) == reach).all()
        assert (found <= np.where(np.triu(np.ones((n, n), bool), 1), p, 1.0)).all()


def test_two_models_share_a_letter_exactly_if_they_are_not_separated():
    rng = np.random.default_rng(6)
    for _ in range(60):
        n = int(rng.integers(2, 12))
        p = np.where(rng.random((n, n)) < rng.random(), 0.01, 1.0)
        claims = Claims(tuple(f"m{i}" for i in range(n)), closed(p) <= 0.05)
        share = [[bool({*x} & {*y}) for y in claims.groups] for x in claims.groups]
        assert (np.array(share) == ~claims.is_separated).all()
    many = Claims(tuple(f"m{i}" for i in range(40)), np.triu(np.ones((40, 40), bool), 1))
    assert many.groups[25:28] == ("z", "a1", "b1")


def test_weights_under_equality_have_settled(monkeypatch):
    """For most pairs four rounds are near the end of many; one round is not, where models are near equality."""
    rng, n, k, size = np.random.default_rng(11), 6, 6, 900
    ends = np.array([rng.permutation(n)[:2] for _ in range(size)])
    judge, scores, gamma = rng.integers(k, size=size), rng.normal(0, 0.05, n), np.exp(rng.normal(0, 1.0, k))
    eta = gamma[judge] * (scores[ends[:, 0]] - scores[ends[:, 1]])
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    y = (rng.random(size) < 1 / (1 + np.exp(-eta))).astype(float)
    found = fit(Comparisons(*names, *ends.T, judge, y))
    results = NetResults.of(found.comparisons, found.model, found.solution.parameters)

    def statistics(rounds):
        monkeypatch.setattr("judgerank.order.equality.ROUNDS", rounds)
        difference, error = differences_under_equality(results)
        return (difference / error[0])[np.triu_indices(n, 1)]

    settled = statistics(40)
    monkeypatch.undo()
    difference, error = differences_under_equality(results)
    here = (difference / error[0])[np.triu_indices(n, 1)]
    apart, after_one = (np.median(np.abs(one - settled)) for one in (here, statistics(1)))
    assert apart < 0.06 and after_one > 2 * apart, (apart, after_one)


def test_a_difference_under_equality_is_a_gauss_newton_step_of_the_shrunk_least_squares(monkeypatch):
    """A dense step from the fit with equal scores; few comparisons, so that shrinking the weights matters."""
    rounds = 2000
    monkeypatch.setattr("judgerank.order.equality.ROUNDS", rounds)
    rng, n, k, tau = np.random.default_rng(5), 4, 3, 2.0
    weight = rng.uniform(0.5, 2, (k, n, n))
    weight = np.triu(weight, 1) + np.triu(weight, 1).transpose(0, 2, 1)
    information = np.array([np.diag(w.sum(axis=0)) - w for w in weight])
    net = np.einsum("kij,j->ki", information, [0.9, 0.5, -0.2, -1.2]) * [[0.6], [1.0], [1.7]]
    noise = rng.normal(size=(k, n))
    net += noise - noise.mean(axis=1, keepdims=True)
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        contrast = np.eye(n)[i] - np.eye(n)[j]
        basis = np.linalg.svd(np.stack([contrast, np.ones(n)]))[2][2:].T  # scores that are equal there
        gamma = np.ones(k)
        for _ in range(rounds):
            total = np.einsum("k,kij->ij", gamma**2, information)
            v = basis @ np.linalg.solve(basis.T @ total @ basis, basis.T @ (gamma @ net))
            precision = information @ v @ v + tau**-2
            gamma = (net @ v + tau**-2) / precision
        assert gamma.min() > 0.05
        across = gamma[:, None] * (information @ v)
        normal = np.block([[total + 1.0, across.T], [across, np.diag(precision)]])
        step = np.linalg.solve(normal, np.r_[gamma @ net - total @ v, np.zeros(k)])[:n]
        results = NetResults(net, information, gamma, True, np.zeros((k, 0, n)), np.full(k, PRIOR))
        assert_allclose(differences_under_equality(results)[0][i, j], contrast @ step, rtol=1e-9)


# Pairs of which one model wins nearly all, told apart by their own comparisons.


def judged(wins, questions=60, judges=("j0",)):
    """Every judge on every pair of every question; `wins` says of how many questions the first is preferred."""
    rows = []
    for judge in judges:
        for (a, b), won in wins.items():
            for question in range(questions):
                names = (a, b) if question % 2 else (b, a)
                better = a if question < won.get(judge, 0) else b
                rows.append((*names, judge, "model_a" if names[0] == better else "model_b", f"q{question}"))
    return pd.DataFrame(rows, columns=["model_a", "model_b", "judge", "winner", "question_id"])


def swept(lost=0, questions=60):
    every = {"j0": questions - lost}
    return judged({("big", "mid"): every, ("mid", "tiny"): every, ("big", "tiny"): every}, questions)


def mixed():
    """Two good judges, and one who tosses a coin, on two models alike and one far worse."""
    rng = np.random.default_rng(3)
    frame = judged(
        {
            ("A", "B"): {"j0": 33, "j1": 33, "coin": 30},
            ("A", "C"): {"j0": 60, "j1": 59, "coin": 30},
            ("B", "C"): {"j0": 59, "j1": 60, "coin": 30},
        },
        judges=("j0", "j1", "coin"),
    )
    coin = frame["judge"] == "coin"
    frame.loc[coin, "winner"] = rng.choice(["model_a", "model_b"], coin.sum())
    alike = (~coin) & ~frame[["model_a", "model_b"]].eq("C").any(axis=1)
    frame.loc[alike, "winner"] = rng.choice(["model_a", "model_b"], alike.sum())
    return frame


@pytest.mark.parametrize("lost", [0, 1])
def test_a_clean_sweep_is_as_clear_as_one_with_a_loss(lost):
    ranking = judgerank.rank(swept(lost))
    pairs, board = ranking.tables["pairs"], ranking.tables["leaderboard"]
    assert pairs["separated"].all()
    assert board[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    assert (pairs["low"] > 0).all()


def test_the_worse_a_model_the_surer_is_its_place():
    ranking = judgerank.rank(mixed())
    pairs = ranking.tables["pairs"].set_index(["first", "second"])
    of_c = pairs[pairs.index.get_level_values("second") == "C"]
    assert len(of_c) == 2
    assert of_c["separated"].all()
    assert (of_c["test"] == "head_to_head").all()
    assert not pairs[pairs.index.get_level_values("second") != "C"]["separated"].any()
    board = ranking.tables["leaderboard"].set_index("model")
    assert board.loc["C", ["rank_low", "rank_high"]].tolist() == [3, 3]


def test_two_equal_models_are_separated_at_most_as_often_as_the_level_says():
    """The exact chance of a claim where two models are equal, over all numbers of wins."""
    n, claimed = 20, 0.0
    for won in range(n + 1):
        comparisons = judgerank.read(judged({("a", "b"): {"j0": won}}, n)).comparisons
        pair = pairwise(fit(comparisons, solver="penalised")).iloc[0]
        claimed += binom(n, 0.5).pmf(won) * bool(pair["separated"])
    assert 0.01 < claimed <= 0.05


def lead(fitted, first, second):
    """Statistic of a pair by its own comparisons, at its price."""
    n = len(fitted.comparisons.models)
    i, j = (fitted.comparisons.models.index(name) for name in (first, second))
    return own_tests(fitted, [np.arange(n)]).leads[i, j]


@pytest.mark.parametrize("questions", [12, 20, 60])
def test_a_sweep_has_the_p_value_of_the_sign_test(questions):
    fitted = fit(judgerank.read(swept(0, questions)).comparisons, solver="penalised")
    # without questions every judgment is one of its own
    assert 2 * ndtr(-lead(fitted, "big", "tiny")) == pytest.approx(PRICE * 2 * 0.5**questions, rel=1e-6)
    assert lead(fitted, "tiny", "big") == -lead(fitted, "big", "tiny")


def test_it_is_by_question_where_errors_are():
    frame = pd.concat([swept(1).assign(judge=f"j{copy}") for copy in range(3)], ignore_index=True)
    fitted = fit(judgerank.read(frame), "judge_aware", "penalised").clustered()
    # sixty leads of one size, one of them the other way round, however many judges agree
    p = p_either(np.r_[np.ones(59), -1.0])
    assert 2 * ndtr(-lead(fitted, "big", "tiny")) == pytest.approx(PRICE * p, rel=1e-6)
    assert own_tests(fitted.clustered(cluster=np.arange(len(frame)) // 2), []) is None  # by what, is not known


def test_two_models_have_the_sign_test_alone():
    for won, p in ((12, 2 / 2**12), (10, 2 * (1 + 12 + 66) / 2**12), (7, 2 * 1586 / 2**12)):
        pairs = judgerank.rank(judged({("a", "b"): {"j0": won}}, 12)).tables["pairs"]
        assert pairs["p_value"].tolist() == pytest.approx([p], rel=1e-9)
        assert pairs["test"].tolist() == ["head_to_head"]
        assert pairs["separated"].tolist() == [p <= 0.05]
        assert ((pairs["low"] > 0) == pairs["separated"]).all()


def test_few_independent_comparisons_have_the_test_of_all_exchanges():
    """A double round robin: the pools of two models with each third model are hypergeometric."""
    names = [f"p{i}" for i in range(6)]
    rows = [(*pair, "model_a" if pair[0] > pair[1] else "model_b") for pair in itertools.permutations(names, 2)]
    ranking = judgerank.rank(pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]))
    pairs = ranking.tables["pairs"].set_index(["first", "second"])
    for second, thirds in (("p4", 0), ("p3", 1), ("p1", 3), ("p0", 4)):
        assert pairs.loc[("p5", second), "p_value"] == pytest.approx(2 / (4 * 6**thirds), rel=1e-9)
    board = ranking.tables["leaderboard"]
    assert (board["rank_low"].tolist(), board["rank_high"].tolist()) == ([1, 1, 1, 1, 2, 3], [4, 5, 6, 6, 6, 6])


def test_memory_of_exact_tests_does_not_grow_with_the_square_of_the_comparisons(monkeypatch):
    judges = ("j0", "j1")
    ranked = judgerank.rank(judged({("a", "b"): dict.fromkeys(judges, 1_100)}, 2_000, judges)).fit
    monkeypatch.setattr(likelihood, "CHUNK", 5)
    tracemalloc.start()
    own_tests(ranked, [np.arange(2)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000 * 4_000  # bytes a comparison; 6,400 if each of the 800 parts kept places of all of them


def test_exchanges_are_a_draw_without_replacement():
    """Against all draws, of values of different size."""
    rng = np.random.default_rng(8)
    first, second, own = rng.normal(size=3), rng.normal(size=4), rng.normal(size=3)
    pool, sums = np.r_[first, second], []
    for chosen in itertools.combinations(range(7), 3):
        for signs in itertools.product((-1, 1), repeat=3):
            sums.append(2 * pool[list(chosen)].sum() + np.dot(signs, own))
    observed = 2 * first.sum() + own.sum()
    p = min(np.mean(np.array(sums) >= observed - 1e-12), np.mean(np.array(sums) <= observed + 1e-12))
    assert exchanges(own, [Pool(first, second)]) == pytest.approx(min(1, 2 * p), abs=0.03)


def test_a_pair_is_asked_about_only_if_one_wins_nearly_all():
    for won in range(31, 61, 3):
        comparisons = judgerank.read(judged({("a", "b"): {"j0": won}, ("b", "c"): {"j0": 40}})).comparisons
        fitted = fit(comparisons, solver="penalised")
        assert (lead(fitted, "a", "b") > 0) == (2 * won - 60 >= LOPSIDED * 60)


def test_what_is_said_of_other_judges_is_not_told_by_a_pair_alone():
    frame = pd.concat([swept(2).assign(judge=f"j{copy}") for copy in range(3)], ignore_index=True)
    comparisons = judgerank.read(frame).comparisons
    assert own_tests(fit(comparisons, solver="penalised"), []) is not None
    assert own_tests(fit(comparisons, blocks=["taste"]), []) is None


def contrary(seed, scores=(1.5, 0.5, -0.5, -1.5), gamma=(1.2, 1.0, -1.2)):
    """A hundred questions by each of three judges, one of whom contradicts the others."""
    rng = np.random.default_rng(seed)
    rows = []
    for question in range(100):
        a, b = rng.permutation(len(scores))[:2]
        for judge, g in enumerate(gamma):
            first = rng.random() < 1 / (1 + np.exp(-g * (scores[a] - scores[b])))
            rows.append((f"m{a}", f"m{b}", f"j{judge}", "model_a" if first else "model_b", question))
    return pd.DataFrame(rows, columns=["model_a", "model_b", "judge_model", "winner", "question_id"])


@pytest.mark.parametrize("seed", range(4))
def test_a_contrary_judge_does_not_decide_which_weights_equality_has(seed):
    pairs = judgerank.rank(contrary(seed), whose="this_panel").tables["pairs"]
    z = pairs["difference"] / pairs["standard_error"]
    assert (pairs["p_value"][z > 4] < 0.01).all()
    assert (pairs[["low", "high"]].abs().to_numpy() < 10).all()


def test_scores_that_are_all_equal_have_intervals_in_reason():
    """One win, one loss and ties: the variance of the mean decides, not the prior of discriminations."""
    rows = [("a", "b", "model_a"), ("b", "a", "model_a"), *[("a", "b", "tie"), ("b", "a", "tie")] * 49]
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    board = judgerank.rank(frame.assign(question_id=range(100))).tables["leaderboard"]
    of_mean = np.sqrt(2 * 0.25) / 100  # standard error of the share won, in which a score has the slope 1 / 2
    assert_allclose(board["high"] - board["score"], 1.96 * 2 * of_mean, rtol=0.1)
    cycle = [(a, b, f"j{k}", "model_a") for k in range(3) for a, b in ("ab", "bc", "ca")] * 3
    frame = pd.DataFrame(cycle, columns=["model_a", "model_b", "judge_model", "winner"])
    assert (judgerank.rank(frame).tables["leaderboard"]["high"] < 3).all()


@pytest.mark.parametrize("frame", [swept(0), mixed()], ids=["swept", "mixed"])
def test_an_interval_holds_zero_exactly_if_the_pair_by_itself_may_be_equal(frame):
    fitted = judgerank.rank(frame).fit
    pairs = pairwise(fitted)
    holds = (pairs["low"] <= 0) & (pairs["high"] >= 0)
    assert (holds == (pairs["p_value"] > 0.05)).all()
    ranks, surely = rank_intervals(fitted), [order.statistic > 0 for order in orders(fitted)]
    assert (ranks["low"] <= ranks["rank"]).all()
    assert (ranks["rank"] <= ranks["high"]).all()
    assert surely
