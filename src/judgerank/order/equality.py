"""Tests of equal scores whose weights cannot suit the noise.

Where models are all but equal, discriminations are not identified: a fit takes those that make its own differences
large, and Wald tests, which take them for known, reject far too often (`experiments/validity.py`
measures it). Here the judges' weights for the pair i, j are those that the data give when s_i = s_j. What judges
then say of i against j is uncorrelated with what their weights were taken from.

Near a fit the likelihood is that of normal net results, one vector over models for each judge,

    U_k ~ N(gamma_k L_k s, L_k),    L_k = sum n var(y) (e_i - e_j)(e_i - e_j)',
    U_k = sum r (e_i - e_j) + gamma_k L_k s,

with r the residuals and the judge's position and tie propensity, where they are free, regressed out. Let v and
gamma be fitted to these with v_i = v_j, gamma shrunk toward the mean of the panel. The test is then of delta in

    s = v + delta t,   A t = e_i - e_j,   A = sum gamma_k^2 (L_k - L_k v v'L_k / (v'L_k v + 1 / tau^2)),

which is the efficient score for s_i - s_j (Neyman, 1959): an error in gamma matters to second order only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.inference.residuals import Residuals
from judgerank.model.members import Model, Parameters

SPREAD = 2.0  # tau of the discriminations about their mean of one
PRIOR = 1 / SPREAD**2
LEAST = 0.05  # weight of a judge, so that no model hangs on nothing
ROUNDS = 4  # of weights given scores and scores given weights
AT_ONCE = 1_000_000  # numbers held for the pairs worked on at a time


@dataclass(frozen=True)
class NetResults:
    """What every judge's answers say of the scores, near a fit.

    Attributes
    ----------
    net : float array, shape (K, N)
        U_k; one row for all judges where they are alike.
    information : float array, shape (K, N, N)
        L_k.
    discrimination : float array, shape (K,)
        Of the fit, whose scale differences are given on.
    weighted : bool
        Whether discriminations are free.
    offsets : float array, shape (K, B, N)
        Regression of the net results on the offsets.
    by_cluster : tuple of sparse float arrays, shape (Q, K (N + B)), or None
        For every kind of error wanted, residuals by cluster: net ones by judge and model, then those of the
        judges' offsets. None stands for errors of the model.
    """

    net: FloatArray
    information: FloatArray
    discrimination: FloatArray
    weighted: bool
    offsets: FloatArray
    by_cluster: tuple[csr_array | None, ...] = (None,)

    @classmethod
    def of(cls, cells: Comparisons, model: Model, at: Parameters) -> NetResults:
        """Those of aggregated comparisons at a point."""
        rows = Residuals.at(cells, model, at)
        n, k = len(cells.models), len(cells.judges) if model.judge_blocks else 1
        i = rows.judge * n + cells.first
        pairs = np.asarray(np.bincount(i * n + cells.second, rows.variance, k * n * n), float).reshape(k, n, n)
        information = -(pairs + pairs.transpose(0, 2, 1))
        information[:, range(n), range(n)] -= information.sum(axis=2)
        results, cross, slopes = rows.net_results(k)
        if rows.offsets:
            information -= np.einsum("kba,kbc->kac", cross, slopes)
        gamma = model.of_judges(at).gamma[:k]
        weighted = model.weighs_judges and k > 1
        return cls(results, information, gamma, weighted, slopes)

    def with_clusters(self, *by_cluster: csr_array | None) -> NetResults:
        """The same with the residuals of clusters (`residuals_by_cluster`), or None, for every kind of error."""
        return replace(self, by_cluster=by_cluster)

    def of_models(self, chosen: IntArray) -> NetResults:
        """Those among some of the models that are never compared with the others."""
        k, n = self.net.shape
        columns = np.add.outer(np.arange(k) * n, chosen).ravel()
        by_cluster = tuple(
            of if of is None else of[:, np.r_[columns, np.arange(k * n, of.shape[1])]] for of in self.by_cluster
        )
        information = self.information[:, chosen][:, :, chosen]
        offsets = self.offsets[:, :, chosen]
        return NetResults(
            self.net[:, chosen], information, self.discrimination, self.weighted, offsets, by_cluster
        )

    @cached_property
    def _flat(self) -> FloatArray:
        return self.information.reshape(len(self.net), -1)

    def _times(self, v: FloatArray) -> FloatArray:
        """L_k v_p, shape (P, K, N)."""
        k, n = self.net.shape
        return (v @ self._flat.reshape(k * n, n).T).reshape(-1, k, n)

    def total(self, gamma: FloatArray) -> FloatArray:
        """sum gamma_k^2 L_k for every pair's weights, the shift of all scores lifted; shape (P, N, N)."""
        n = self.net.shape[1]
        size = np.trace(self.information.sum(axis=0)) / n
        return (gamma**2 @ self._flat).reshape(-1, n, n) + size / n


def differences_under_equality(results: NetResults) -> tuple[FloatArray, FloatArray]:
    """Differences s_i - s_j, and their standard errors, by the weights that judges have when the two are equal.

    Returns
    -------
    difference : float array, shape (N, N)
        On the scale of the fit.
    error : float array, shape (F, N, N)
        Of every kind in the results' `by_cluster`.

    Raises
    ------
    LinAlgError
        If the net results do not determine every difference.
    """
    k, n = results.net.shape
    i, j = np.triu_indices(n, 1)
    difference, error = np.zeros((n, n)), np.full((len(results.by_cluster), n, n), np.inf)
    clusters = max(0 if of is None else of.shape[0] for of in results.by_cluster)
    step = max(1, AT_ONCE // max(n * (n + k), clusters))
    for start in range(0, len(i), step):
        a, b = i[start : start + step], j[start : start + step]
        contrast = np.zeros((len(a), n))
        contrast[range(len(a)), a], contrast[range(len(a)), b] = 1.0, -1.0
        estimate, spread = _some_differences(results, contrast)
        difference[a, b], difference[b, a] = estimate, -estimate
        error[:, a, b] = error[:, b, a] = spread
    return difference, error


def _some_differences(results: NetResults, contrast: FloatArray) -> tuple[FloatArray, FloatArray]:
    gamma, v = _weights_under_equality(results, contrast)
    image = results._times(v)
    precision = np.einsum("pkn,pn->pk", image, v) + PRIOR
    gamma_terms = image * (gamma / np.sqrt(precision))[..., None]  # what the fit of gamma_k takes away
    free = results.total(gamma) - results.weighted * np.matmul(gamma_terms.transpose(0, 2, 1), gamma_terms)
    t = np.linalg.solve(free, contrast[..., None])[..., 0]
    gamma_shift = results.weighted * gamma * np.einsum("pkn,pn->pk", image, t) / precision
    a = gamma[..., None] * t[:, None, :] - gamma_shift[..., None] * v[:, None, :]
    estimate = np.einsum("pkn,kn->p", a, results.net) - gamma_shift.sum(axis=1) * PRIOR
    response = np.einsum("pkn,pkn->pk", results._times(t), a)
    above, below = response @ results.discrimination, np.einsum("pk,pk->p", response, gamma)
    scale = np.divide(above, below, out=np.ones_like(below), where=above * below > 0)
    variances = [_variance(results, of, contrast, t, a, gamma_shift) for of in results.by_cluster]
    errors = [np.where(variance < 0, np.inf, np.sqrt(np.maximum(variance, 0.0))) / scale for variance in variances]
    return estimate / scale, np.array(errors)


def _variance(
    results: NetResults,
    by_cluster: csr_array | None,
    contrast: FloatArray,
    t: FloatArray,
    a: FloatArray,
    gamma_shift: FloatArray,
) -> FloatArray:
    """Of every pair's estimate, shape (P,), by the model or by the clusters' residuals."""
    if by_cluster is None:
        return np.einsum("pn,pn->p", contrast, t)
    on_offsets = -np.einsum("kbn,pkn->pkb", results.offsets, a)
    scores = by_cluster @ np.hstack([x.reshape(len(a), -1) for x in (a, on_offsets)]).T
    clustered = np.einsum("qp,qp->p", scores, scores) * len(scores) / (len(scores) - 1)
    return clustered + (gamma_shift**2).sum(axis=1) * PRIOR


def _weights_under_equality(results: NetResults, contrast: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Judges' weights, shape (P, K), and scores, shape (P, N), fitted with the pair's contrast at zero."""

    def quadratic_forms(v: FloatArray) -> tuple[FloatArray, FloatArray]:
        return v @ results.net.T, np.einsum("pkn,pn->pk", results._times(v), v)

    gamma, v = weights_and_scores(
        np.ones((1, len(results.net))),
        lambda gamma: _equal_scores(results, contrast, gamma),
        quadratic_forms,
        ROUNDS if results.weighted else 0,
    )
    return np.broadcast_to(gamma, (len(v), gamma.shape[1])), v


def weights_and_scores(
    gamma: FloatArray,
    scores_by: Callable[[FloatArray], FloatArray],
    quadratic_forms: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    rounds: int,
) -> tuple[FloatArray, FloatArray]:
    """Judges' weights and scores, each fitted to the other in turn.

    Parameters
    ----------
    gamma : float array, shape (..., K)
        Weights to begin with.
    scores_by : callable
        Scores v given weights.
    told : callable
        v'U_k and v'L_k v given scores, as `weights_by` takes them.
    rounds : int
    """
    v = scores_by(gamma)
    for _ in range(rounds):
        gamma = weights_by(*quadratic_forms(v))
        v = scores_by(gamma)
    return gamma, v


def weights_by(net: FloatArray, information: FloatArray) -> FloatArray:
    """gamma_k by v'U_k and v'L_k v, shrunk toward one and at least `LEAST`; of the same shape."""
    return np.asarray(np.maximum((net + PRIOR) / (information + PRIOR), LEAST), float)


def _equal_scores(results: NetResults, contrast: FloatArray, gamma: FloatArray) -> FloatArray:
    """Least-squares scores given the weights, one row for all pairs or one each; a pair's two models are equal."""
    total = results.total(gamma)
    sides = np.stack([np.broadcast_to(gamma @ results.net, contrast.shape), contrast])
    if len(total) == 1:
        free, pull = np.linalg.solve(total[0], sides.reshape(-1, total.shape[1]).T).T.reshape(sides.shape)
    else:
        free, pull = np.moveaxis(np.linalg.solve(total, np.moveaxis(sides, 0, 2)), 2, 0)
    excess = np.einsum("pn,pn->p", contrast, free) / np.einsum("pn,pn->p", contrast, pull)
    return free - excess[:, None] * pull
