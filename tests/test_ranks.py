"""Pairs, ranks and clusters: what a fit says of the order of the models."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.stats import norm, studentized_range

from judgerank import Comparisons, FitResult, fit, ranks
from judgerank.errors import DataError, NoIntervalError
from judgerank.inference import cluster_gradients, zero_sum_basis
from judgerank.likelihood import evaluate
from judgerank.model import BTL, JUDGE_AWARE, LENGTH, POSITION_AWARE

SCORES, GAMMA = (1.0, 0.3, 0.2, -0.6, -0.9), (0.5, 1.0, 2.0)
N, K = len(SCORES), len(GAMMA)


@pytest.fixture(scope="module")
def raw(simulated) -> Comparisons:
    return simulated(61, SCORES, GAMMA, 900, ties=0.1)


@pytest.fixture(scope="module")
def fitted(raw) -> FitResult:
    return fit(raw)


# scale


def under(weights: np.ndarray, scores: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Covariance of scores normalised by prod gamma^weights = 1."""
    to_scores = np.hstack([np.eye(N), np.outer(scores, weights)])
    return to_scores @ covariance[: N + K, : N + K] @ to_scores.T


def test_no_other_weights_leave_the_scale_less_uncertain(fitted):
    s, rng = fitted.scores.to_numpy(), np.random.default_rng(0)
    best = s @ ranks.at_best_known_scale(s, fitted.covariance, K) @ s
    others = [s @ under(w / w.sum(), s, fitted.covariance) @ s for w in rng.dirichlet(np.ones(K), 200)]
    assert best <= min(others)
    assert best < 0.8 * (s @ fitted.covariance[:N, :N] @ s)  # the geometric mean is not the best


def test_the_best_known_scale_does_not_hang_on_the_normalisation(fitted):
    s = fitted.scores.to_numpy()
    first = np.eye(K)[0]  # gamma_1 = 1 instead: ds' = ds + s dalpha_1, dalpha' = dalpha - dalpha_1
    change = np.block(
        [[np.eye(N), np.outer(s, first)], [np.zeros((K, N)), np.eye(K) - np.outer(np.ones(K), first)]]
    )
    changed = change @ fitted.covariance @ change.T
    alpha, shared = changed[N:, N:], changed[:N, N:]
    v = -np.linalg.pinv(alpha, hermitian=True) @ shared.T @ s / (s @ s)
    to_scores = np.hstack([np.eye(N), np.outer(s, v)])
    assert_allclose(
        to_scores @ changed @ to_scores.T, ranks.at_best_known_scale(s, fitted.covariance, K), rtol=1e-8
    )


def test_one_judge_and_btl_have_no_other_scale(raw, fitted):
    unweighted = fit(raw, "btl")
    own = ranks.at_best_known_scale(unweighted.scores.to_numpy(), unweighted.covariance, 0)
    assert_allclose(own, unweighted.covariance)


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


# ranks


def with_scores(result: FitResult, scores, covariance) -> FitResult:
    solution = replace(
        result.solution, parameters=replace(result.solution.parameters, scores=np.asarray(scores, float))
    )
    return replace(result, solution=solution, robust=covariance)


def test_simultaneous_intervals_of_independent_scores_are_tukeys(raw):
    independent = with_scores(fit(raw, "btl"), SCORES, np.eye(N) * 0.01)
    q = studentized_range.ppf([0.5, 0.95], N, np.inf) / np.sqrt(2)
    found = [ranks._simultaneous_quantile(independent, level) for level in (0.5, 0.95)]
    assert_allclose(found, q, rtol=0.01)


def test_ranks_are_as_wide_as_the_differences_that_are_not_sure(raw):
    unweighted = fit(raw, "btl")
    clear = ranks.rank_intervals(with_scores(unweighted, [2, 1, 0, -1, -2], np.eye(N) * 1e-4))
    assert list(clear["low"]) == list(clear["high"]) == [1, 2, 3, 4, 5]
    unknown = ranks.rank_intervals(with_scores(unweighted, [2, 1, 0, -1, -2], np.eye(N) * 1e4))
    assert set(unknown["low"]) == {1}
    assert set(unknown["high"]) == {N}
    # two pairs closer than their errors in a row of models otherwise far apart
    pairs = ranks.rank_intervals(with_scores(unweighted, [2, 1.99, 0, -1.99, -2], np.eye(N) * 1e-4))
    assert list(pairs["low"]) == [1, 1, 3, 4, 4]
    assert list(pairs["high"]) == [2, 2, 3, 5, 5]


def test_a_rank_lies_in_its_interval_which_grows_with_the_level(fitted):
    narrow, wide = (ranks.rank_intervals(fitted, level) for level in (0.5, 0.999))
    for found in (narrow, wide):
        assert ((found["low"] <= found["rank"]) & (found["rank"] <= found["high"])).all()
    assert ((wide["low"] <= narrow["low"]) & (wide["high"] >= narrow["high"])).all()
    assert wide["high"].sum() - wide["low"].sum() > narrow["high"].sum() - narrow["low"].sum()


def test_there_are_no_ranks_without_intervals(fitted):
    with pytest.raises(NoIntervalError):
        ranks.rank_intervals(with_scores(fit(fitted.comparisons, "btl"), SCORES, np.zeros((N, N))))


# clusters


@pytest.mark.parametrize("model", [BTL, JUDGE_AWARE, LENGTH, POSITION_AWARE], ids=lambda model: model.name)
def test_cluster_gradients_are_those_of_the_clusters_alone(simulated, model):
    raw = simulated(62, SCORES, GAMMA, 300, slope=(0.2, 0.0, -0.3))
    cluster = np.random.default_rng(1).choice([3, 7, 11, 20], len(raw))
    at = fit(raw, model.name).solution.parameters
    found = cluster_gradients(raw, model, at, cluster)
    for row, name in zip(found, (3, 7, 11, 20), strict=True):
        alone = evaluate(raw._rows(cluster == name), model, at)
        assert_allclose(row, np.concatenate([alone.score_gradient, alone.judge_gradient.ravel()]), atol=1e-12)


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
            sides.append(np.concatenate([there.score_gradient, there.judge_gradient[0]]))
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


def test_clusters_must_be_of_the_comparisons_fitted(raw, fitted):
    with pytest.raises(DataError, match="these are others"):
        fitted.clustered(raw.take(np.arange(50)), np.arange(50))
    with pytest.raises(DataError, match="two clusters are needed"):
        fitted.clustered(raw, np.zeros(len(raw), int))
    with pytest.raises(DataError, match="that many labels"):
        fitted.clustered(raw, np.arange(3))
