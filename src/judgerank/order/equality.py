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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array, csr_array

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.inference.clusters import Residuals
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import at_mean

SPREAD = 2.0  # tau of the discriminations about their mean of one
PRIOR = 1 / SPREAD**2
HELD = 1e9  # in place of it for a judge whose weight is one, whatever the judge answers
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
    prior : float array, shape (K,)
        Precision with which the weights are shrunk toward one (`prior_precision`).
    by_cluster : tuple of sparse float arrays, shape (Q, K (N + B)), or None
        For every kind of error wanted, residuals by cluster: net ones by judge and model, then those of the
        judges' offsets. None stands for errors of the model.
    tastes : float
        Standard deviation of judges' tastes that errors allow for.
    """

    net: FloatArray
    information: FloatArray
    discrimination: FloatArray
    weighted: bool
    offsets: FloatArray
    prior: FloatArray = field(default_factory=lambda: np.array(PRIOR))
    by_cluster: tuple[csr_array | None, ...] = (None,)
    tastes: float = 0.0

    @classmethod
    def of(cls, cells: Comparisons, model: Model, parameters: Parameters, by_judge: bool = False) -> NetResults:
        """Those of aggregated comparisons at a point; `by_judge` also where judges are alike."""
        rows = Residuals.of(cells, model, parameters)
        rows = replace(rows, judge=cells.judge.astype(np.intp)) if by_judge else rows
        n, k = len(cells.models), len(cells.judges) if model.judge_blocks or by_judge else 1
        i = rows.judge * n + cells.first
        pairs = np.asarray(np.bincount(i * n + cells.second, rows.variance, k * n * n), float).reshape(k, n, n)
        information = -(pairs + pairs.transpose(0, 2, 1))
        information[:, range(n), range(n)] -= information.sum(axis=2)
        results, cross, slopes = rows.net_results(k)
        if rows.offsets:
            information -= np.einsum("kba,kbc->kac", cross, slopes)
        gamma = model.of_judges(parameters).gamma[:k]
        weighted = model.weighs_judges and k > 1
        return cls(results, information, gamma, weighted, slopes, prior_precision(cells, model, k))

    def with_clusters(self, *by_cluster: csr_array | None, tastes: float = 0.0) -> NetResults:
        """The same with the residuals of clusters (`residuals_by_cluster`), or None, for every kind of error."""
        return replace(self, by_cluster=by_cluster, tastes=tastes)

    def of_models(self, chosen: IntArray) -> NetResults:
        """Those among some of the models that are never compared with the others."""
        k, n = self.net.shape
        columns = np.add.outer(np.arange(k) * n, chosen).ravel()
        by_cluster = tuple(
            of if of is None else of[:, np.r_[columns, np.arange(k * n, of.shape[1])]] for of in self.by_cluster
        )
        information = self.information[:, chosen][:, :, chosen]
        offsets = self.offsets[:, :, chosen]
        return replace(
            self, net=self.net[:, chosen], information=information, offsets=offsets, by_cluster=by_cluster
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
    precision = np.einsum("pkn,pn->pk", image, v) + results.prior
    gamma_terms = image * (gamma / np.sqrt(precision))[..., None]  # what the fit of gamma_k takes away
    free = results.total(gamma) - results.weighted * np.matmul(gamma_terms.transpose(0, 2, 1), gamma_terms)
    t = np.linalg.solve(free, contrast[..., None])[..., 0]
    gamma_shift = results.weighted * gamma * np.einsum("pkn,pn->pk", image, t) / precision
    a = gamma[..., None] * t[:, None, :] - gamma_shift[..., None] * v[:, None, :]
    estimate = np.einsum("pkn,kn->p", a, results.net) - (gamma_shift * results.prior).sum(axis=1)
    response = np.einsum("pkn,pkn->pk", results._times(t), a)
    above, below = response @ results.discrimination, np.einsum("pk,pk->p", response, gamma)
    scale = np.divide(above, below, out=np.ones_like(below), where=above * below > 0)
    of_tastes = np.zeros(len(a))
    if results.tastes:  # a taste moves its judge's net results by the information
        moved = np.einsum("knm,pkm->pkn", results.information, a)
        of_tastes = results.tastes**2 * np.einsum("pkn,pkn->p", moved, moved)
    variances = [_variance(results, of, contrast, t, a, gamma_shift) + of_tastes for of in results.by_cluster]
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
    return clustered + (gamma_shift**2 * results.prior).sum(axis=1)


def _weights_under_equality(results: NetResults, contrast: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Judges' weights, shape (P, K), and scores, shape (P, N), fitted with the pair's contrast at zero."""

    def quadratic_forms(v: FloatArray) -> tuple[FloatArray, FloatArray]:
        return v @ results.net.T, np.einsum("pkn,pn->pk", results._times(v), v)

    return weights_and_scores(
        results.discrimination,
        lambda gamma, pairs: _equal_scores(results, contrast[pairs], gamma),
        quadratic_forms,
        results.prior,
        ROUNDS if results.weighted else 0,
    )


def weights_and_scores(
    of_fit: FloatArray,
    scores_by: Callable[[FloatArray, BoolArray | slice], FloatArray],
    quadratic_forms: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    prior: FloatArray,
    rounds: int,
) -> tuple[FloatArray, FloatArray]:
    """Judges' weights and scores, each fitted to the other in turn.

    There are two ends where a judge contradicts the others: either he is at `LEAST`, or all others are, and the
    scores are reversed. From equal weights he may win, since near a fit the information of judges who are sure is
    small. Then nothing that the others say counts, and models far apart seem equal. So of pairs where a judge ends
    at `LEAST`, both ends are computed, and that counts which agrees better with the judges of the fit. This takes
    one bit from what may suit the noise; `docs/beyond/claims.md` has the level with it.

    Parameters
    ----------
    of_fit : float array, shape (K,)
        Discriminations of the fit.
    scores_by : callable
        From weights of some pairs, shape (1, K) or (P, K), and which pairs these are, to scores v, shape (P, N).
    quadratic_forms : callable
        From scores to v'U_k and v'L_k v, each of shape (P, K), as `weights_by` takes them.
    prior : float array, shape (K,)
        As `weights_by` takes it.
    rounds : int

    Returns
    -------
    weights : float array, shape (P, K)
    scores : float array, shape (P, N)
    """
    begin = scores_by(np.ones((1, len(of_fit))), slice(None))

    def settled(v: FloatArray, pairs: BoolArray | slice) -> tuple[FloatArray, FloatArray]:
        gamma = np.ones((len(v), len(of_fit)))
        for _ in range(rounds):
            gamma = weights_by(*quadratic_forms(v), prior)
            v = scores_by(gamma, pairs)
        return gamma, v

    gamma, v = settled(begin, slice(None))
    at_end = np.asarray((gamma <= LEAST).any(axis=1))
    if rounds == 0 or not at_end.any():
        return gamma, v
    reversed_gamma, reversed_v = settled(-begin[at_end], at_end)
    trusted = np.minimum(of_fit, 1 / LEAST)
    is_reversed = reversed_gamma @ trusted > gamma[at_end] @ trusted
    places = np.flatnonzero(at_end)[is_reversed]
    gamma[places], v[places] = reversed_gamma[is_reversed], reversed_v[is_reversed]
    return gamma, v


def weights_by(net: FloatArray, information: FloatArray, prior: FloatArray | float) -> FloatArray:
    """gamma_k by v'U_k and v'L_k v, shrunk toward one and at least `LEAST`; of the same shape."""
    return np.asarray(np.maximum((net + prior) / (information + prior), LEAST), float)


def prior_precision(cells: Comparisons, model: Model, k: int) -> FloatArray:
    """Precision of the prior of each judge's weight, whose mean is one, shape (K,)."""
    held = at_mean(model, cells)
    return np.where(held, HELD, PRIOR) if held.any() else np.full(k, PRIOR)


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


# The test of `judgerank.order.equality` for many models, without a system of equations for every pair.
#
# One pair of many hardly moves the judges' weights. So the N x N matrices are those of the weights that all pairs
# have together, G = A^-1 and T = A_s^-1 in
#
#     A = sum gamma_k^2 L_k,
#     A_s = A - sum gamma_k^2 L_k f f'L_k / (f'L_k f + 1 / tau^2) + A f f'A / f'A f,
#
# f the scores fitted with these weights. (The last term is there since a pair's own v has c'v = 0, and f has not.)
# What belongs to the pair i, j, whose contrast is c = e_i - e_j, is then
#
#     v = f - (c'f / c'G c) G c,    gamma_k = (v'U_k + 1 / tau^2) / (v'L_k v + 1 / tau^2),    t = lambda T c,
#
# with the lambda for which t has the variance c't under the pair's own weights. All that is needed of v and t are
# v'L_k v, v'L_k t and t'L_k t, which for all pairs are entries of three matrices for each judge. What is left out
# is of second order in the change of the weights, which is small where no model has much of the comparisons:
# `docs/performance_models.md` has it measured.
#
# The residuals' covariance within clusters is taken at the weights of all pairs, and times lambda.
WORK = 5e10  # operations of the test pair by pair up to which that is done: some five seconds
Pairs = tuple[IntArray, IntArray]  # places i < j


def tests_of_equality(
    cells: Comparisons,
    model: Model,
    parameters: Parameters,
    by_cluster: Sequence[csr_array | None],
    tastes: float = 0.0,
) -> Callable[[IntArray], tuple[FloatArray, FloatArray]]:
    """Convert model indices to differences and standard errors, as of `equality.differences_under_equality`.

    Pair by pair, or, where there are too many models and judges for that, as it is here. There, and where judges
    are alike, tastes are in the errors of the fit alone, which count where they are the larger.
    """
    n, k = len(cells.models), len(cells.judges) if model.judge_blocks else 1
    if n**4 * (n + 10.0 * k) <= WORK:
        net = NetResults.of(cells, model, parameters).with_clusters(*by_cluster, tastes=tastes)
        return lambda chosen: differences_under_equality(net.of_models(chosen))
    return lambda chosen: differences_of_many(
        ManyResults.of(cells, model, parameters, chosen), by_cluster, chosen, n
    )


@dataclass(frozen=True)
class ManyResults:
    """What every judge's answers say of many models, near a fit; as `equality.NetResults`, by comparisons.

    Attributes
    ----------
    first, second, judge : int array, shape (C,)
        Of every cell among the models chosen, by judge.
    variance : float array, shape (C,)
        Of its outcomes, counted.
    net : float array, shape (K, N)
    cross, slopes : float array, shape (K, B, N)
        Covariance of the net results with the offsets, and regression on them.
    discrimination : float array, shape (K,)
    weighted : bool
    prior : float array, shape (K,)
    """

    first: IntArray
    second: IntArray
    judge: IntArray
    variance: FloatArray
    net: FloatArray
    cross: FloatArray
    slopes: FloatArray
    discrimination: FloatArray
    weighted: bool
    prior: FloatArray

    @classmethod
    def of(cls, cells: Comparisons, model: Model, parameters: Parameters, chosen: IntArray) -> ManyResults:
        """Those among some models of aggregated comparisons, which are never compared with the others."""
        rows = Residuals.of(cells, model, parameters)
        k = len(cells.judges) if model.judge_blocks else 1
        index = np.full(len(cells.models), -1)
        index[chosen] = np.arange(len(chosen))
        inside = np.flatnonzero(index[cells.first] >= 0)
        inside = inside[np.argsort(rows.judge[inside], kind="stable")]
        net, cross, slopes = rows.net_results(k)
        return cls(
            index[cells.first[inside]],
            index[cells.second[inside]],
            rows.judge[inside],
            rows.variance[inside],
            net[:, chosen],
            cross[:, :, chosen],
            slopes[:, :, chosen],
            model.of_judges(parameters).gamma[:k],
            model.weighs_judges and k > 1,
            prior_precision(cells, model, k),
        )

    def total(self, gamma: FloatArray) -> FloatArray:
        """sum gamma_k^2 L_k, the shift of all scores lifted; shape (N, N)."""
        n, square = self.net.shape[1], gamma**2
        total = np.zeros(n * n)
        np.add.at(total, self.first * n + self.second, square[self.judge] * self.variance)
        total = total.reshape(n, n)
        total = -(total + total.T)
        np.fill_diagonal(total, -total.sum(axis=1))
        total -= (self.cross * square[:, None, None]).reshape(-1, n).T @ self.slopes.reshape(-1, n)
        size = self.variance.sum() * 2 - (self.cross * self.slopes).sum()
        return total + size / n**2

    def image(self, v: FloatArray) -> FloatArray:
        """L_k v, shape (K, N)."""
        k, n = self.net.shape
        flow = self.variance * (v[self.first] - v[self.second])
        first, second = (np.bincount(self.judge * n + end, flow, k * n) for end in (self.first, self.second))
        return (first - second).reshape(k, n) - np.einsum("kba,kb->ka", self.cross, self.slopes @ v)

    def by_judge(self) -> Iterator[tuple[csr_array, FloatArray, FloatArray]]:
        """Of every judge the Laplacian, sparse of shape (N, N), and the rows that offsets take from it twice."""
        n = self.net.shape[1]
        ends = np.searchsorted(self.judge, np.arange(len(self.net) + 1))
        for k, (start, end) in enumerate(pairwise(ends)):
            i, j, w = self.first[start:end], self.second[start:end], self.variance[start:end]
            coords = (np.r_[i, j, i, j], np.r_[j, i, i, j])
            yield coo_array((np.r_[-w, -w, w, w], coords), (n, n)).tocsr(), self.cross[k], self.slopes[k]


@dataclass(frozen=True)
class Panel:
    """Weights and scores that all pairs have together.

    Attributes
    ----------
    results : ManyResults
    gamma : float array, shape (K,)
    scores : float array, shape (N,)
        f.
    plain : float array, shape (N, N)
        G.
    rest, core : float array, shape (N, R) and (R, R)
        H and S with T = G + H S H'; R is zero where weights are given.
    moves : float array, shape (K, N)
        How the estimate's weights of the judges move with the scores, for all pairs alike.
    """

    results: ManyResults
    gamma: FloatArray
    scores: FloatArray
    plain: FloatArray
    rest: FloatArray
    core: FloatArray
    moves: FloatArray

    @classmethod
    def of(cls, results: ManyResults) -> Panel:
        """After as many rounds as the exact test takes.

        Raises
        ------
        LinAlgError
            If the net results do not determine every difference.
        """
        gamma, f = weights_and_scores(
            results.discrimination,
            lambda gamma, _: np.linalg.solve(results.total(gamma[0]), gamma[0] @ results.net)[None],
            lambda f: (f @ results.net.T, (results.image(f[0]) @ f[0])[None]),
            results.prior,
            ROUNDS if results.weighted else 0,
        )
        gamma, f = gamma[0], f[0]
        total = results.total(gamma)
        plain = np.asarray(np.linalg.inv(total), float)
        image = results.image(f)
        if not results.weighted:
            return cls(results, gamma, f, plain, np.zeros((len(f), 0)), np.zeros((0, 0)), np.zeros_like(image))
        precision, total_image = image @ f + results.prior, gamma**2 @ image
        gamma_terms = image * (gamma / np.sqrt(precision))[:, None]
        scaled_image = total_image / np.sqrt(total_image @ f)
        if len(gamma_terms) < len(f):
            sides = np.vstack([gamma_terms, scaled_image])
            rest = plain @ sides.T
            core = np.asarray(np.linalg.inv(np.diag(np.r_[np.ones(len(gamma_terms)), -1.0]) - sides @ rest), float)
        else:
            rest = np.eye(len(f))
            core = (
                np.linalg.inv(total - gamma_terms.T @ gamma_terms + np.outer(scaled_image, scaled_image)) - plain
            )
        centred_image = image - np.outer(image @ f / (total_image @ f), total_image)
        moves = (gamma / precision)[:, None] * (centred_image @ plain + centred_image @ rest @ core @ rest.T)
        return cls(results, gamma, f, plain, rest, core, moves)

    @cached_property
    def inverse(self) -> FloatArray:
        """T, the inverse of A_s, shape (N, N)."""
        return self.plain + self.rest @ self.core @ self.rest.T

    def clustered(self, by_cluster: csr_array, chosen: IntArray, n_models: int) -> FloatArray:
        """Matrix whose contrasts are the variances that clusters of residuals give, shape (N, N)."""
        results, f = self.results, self.scores
        (k, n), b = results.net.shape, results.cross.shape[1]
        judge, model, offset = np.repeat(np.arange(k), n), np.tile(np.arange(n), k), np.arange(k * b)
        score = judge * n_models + np.tile(chosen, k)
        rows = np.r_[score, score, k * n_models + offset, k * n_models + offset]
        columns = np.r_[model, n + k * b + judge, n + offset, n + k * b + np.repeat(np.arange(k), b)]
        values = np.r_[self.gamma[judge], f[model], np.ones(k * b), -(results.slopes @ f).ravel()]
        shape = (k * (n_models + b), n + k * b + k)
        summed = by_cluster @ coo_array((values, (rows, columns)), shape).tocsr()
        on_offsets = -(results.slopes * self.gamma[:, None, None]).reshape(-1, n) @ self.inverse
        weights = np.concatenate([self.inverse, on_offsets, -self.moves])
        square = summed.T @ summed
        square = square.toarray() if len(weights) <= 3 * n else square  # all but full, or not
        n_clusters = by_cluster.shape[0]
        meat = weights.T @ (square @ weights) * (n_clusters / (n_clusters - 1))
        return meat + self.moves.T @ (results.prior[:, None] * self.moves)


def differences_of_many(
    results: ManyResults, by_cluster: Sequence[csr_array | None], chosen: IntArray, n_models: int
) -> tuple[FloatArray, FloatArray]:
    """As `equality.differences_under_equality`, whose memory and time grow too fast with the models.

    Parameters
    ----------
    results : ManyResults
    by_cluster : sequence of sparse float arrays, shape (Q, K (n_models + B)), or None
        As of `equality.NetResults`, of all models.
    chosen : int array, shape (N,)
        Places of those in question among all.

    Raises
    ------
    LinAlgError
        If the net results do not determine every difference.
    """
    panel = Panel.of(results)
    pairs = np.triu_indices(len(chosen), 1)
    variance = contrasts(panel.inverse, pairs)
    estimate, pair_scale, fitted = _sums_over_judges(panel, pairs)
    share, scale = variance / pair_scale, fitted / pair_scale
    scale = np.where(scale > 0, scale, 1.0)
    difference, error = np.zeros((len(chosen),) * 2), np.full((len(by_cluster), *(len(chosen),) * 2), np.inf)
    difference[pairs] = share * estimate / scale
    for number, of in enumerate(by_cluster):
        spread = variance if of is None else contrasts(panel.clustered(of, chosen, n_models), pairs)
        error[number][pairs] = error[number].T[pairs] = np.sqrt(np.maximum(share * spread, 0.0)) / scale
    return difference - difference.T, error


def contrasts(matrix: FloatArray, pairs: Pairs) -> FloatArray:
    """c'M c of the pairs' contrasts c = e_i - e_j, shape (P,), for any square matrix."""
    diagonal, (i, j) = np.diag(matrix), pairs
    return diagonal[i] + diagonal[j] - matrix[pairs] - matrix.T[pairs]


def _sums_over_judges(panel: Panel, pairs: Pairs) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For T c in place of t: sum a_k'U_k, sum gamma_k t'L_k a_k, and the same with the fit's gamma; (P,) each."""
    results, f, plain, rest, core = panel.results, panel.scores, panel.plain, panel.rest, panel.core
    (i, j), image = pairs, results.image(f)
    pull = (f[i] - f[j]) / contrasts(plain, pairs)  # of the contrast on the scores: v = f - pull G c
    by_net, by_scores = results.net @ plain, image @ plain
    net_t, scores_t = by_net + results.net @ rest @ core @ rest.T, by_scores + image @ rest @ core @ rest.T
    estimate, pair_scale, fitted = np.zeros((3, len(i)))
    for k, (laplacian, cross, slopes) in enumerate(results.by_judge()):
        half = laplacian @ plain - cross.T @ (slopes @ plain)  # L_k G
        seen, on_rest = plain @ half, half.T @ rest @ core
        square = core @ (rest.T @ (laplacian @ rest - cross.T @ (slopes @ rest))) @ core
        t_information = contrasts(seen + (2 * on_rest + rest @ square) @ rest.T, pairs)  # t'L_k t
        net_v = f @ results.net[k] - pull * (by_net[k, i] - by_net[k, j])
        if results.weighted:
            v_information = image[k] @ f - 2 * pull * (by_scores[k, i] - by_scores[k, j])
            v_information += pull**2 * contrasts(seen, pairs)
            gamma = weights_by(net_v, v_information, results.prior[k])
            on_v = scores_t[k, i] - scores_t[k, j] - pull * contrasts(seen + on_rest @ rest.T, pairs)  # v'L_k t
            gamma_shift = gamma * on_v / (v_information + results.prior[k])
            t_information = gamma * t_information - gamma_shift * on_v
        else:
            gamma, gamma_shift = np.ones(1), np.zeros(1)
        estimate += gamma * (net_t[k, i] - net_t[k, j]) - gamma_shift * (net_v + results.prior[k])
        pair_scale += gamma * t_information
        fitted += results.discrimination[k] * t_information
    return estimate, pair_scale, fitted
