"""Gradients by cluster, likelihood ratios, and Wald intervals (section 3.3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import chdtrc, ndtri, stdtrit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.numbering import numbered
from judgerank.engine.at import in_parts, product
from judgerank.engine.sums import evaluate
from judgerank.model.members import Model, Parameters
from judgerank.model.streams import generator


def cluster_gradients(comparisons: Comparisons, model: Model, at: Parameters, cluster: IntArray) -> FloatArray:
    """Gradient of each cluster's log-likelihood in (s, judges' blocks, further blocks), shape (Q, N + B K + P).

    Raises
    ------
    DataError
        If there is not one cluster for each row, or there are fewer than two.
    """
    names, cluster = numbered(cluster)
    n, k, q = len(comparisons.models), len(comparisons.judges), len(names)
    if len(cluster) != len(comparisons) or q < 2:
        raise DataError(
            f"{len(comparisons)} comparisons in {q} clusters: that many labels and two clusters are needed"
        )
    # every cluster with models and judges of its own, all of them at the same parameters: one pass for all
    models, ends = np.unique(
        np.tile(cluster * n, 2) + np.r_[comparisons.first, comparisons.second], return_inverse=True
    )
    judges, judge = np.unique(cluster * k + comparisons.judge, return_inverse=True)
    apart = replace(
        comparisons,
        models=tuple(map(str, range(len(models)))),
        judges=tuple(map(str, range(len(judges)))),
        first=ends[: len(cluster)],
        second=ends[len(cluster) :],
        judge=judge,
    )
    here = evaluate(apart, model, Parameters(at.scores[models % n], at.judges[:, judges % k], at.common))
    gradients = np.zeros((q, n + at.judges.size + len(at.common)))
    gradients[models // n, models % n] = here.top_gradient[: len(models)]
    for block, values in enumerate(here.judge_gradient):
        gradients[judges // k, n + block * k + judges % k] = values
    if model.further:
        gradients[:, n + at.judges.size :] = _of_further(comparisons, model, at, cluster, q)
    return gradients


def drawn_clusters(cluster: IntArray, most: int | None) -> tuple[int | None, IntArray | None]:
    """Number of clusters, and the rows of those that stand for all; None twice where none are left out.

    Parameters
    ----------
    cluster : int array, shape (T,)
    most : int, optional
        How many are drawn at most.
    """
    if most is None or cluster.max(initial=-1) < most:
        return None, None
    there = np.flatnonzero(np.bincount(cluster))
    if len(there) <= most:
        return None, None
    drawn = np.zeros(int(there[-1]) + 1, bool)
    drawn[generator(0, "errors", "clusters").choice(there, most, replace=False)] = True
    return len(there), np.flatnonzero(drawn[cluster])


def _of_further(c: Comparisons, model: Model, at: Parameters, cluster: IntArray, many: int) -> FloatArray:
    """The gradients in the further blocks, shape (Q, P)."""
    total = np.zeros((many, len(at.common)))
    for rows, here in in_parts(c, model, at):
        assert here.further is not None
        sums = csr_array(
            (np.ones(len(cluster[rows])), (cluster[rows], np.arange(len(cluster[rows])))),
            (many, len(cluster[rows])),
        )
        for role, place in here.further.places.items():
            values, factors = here.first(role)
            told = product(values, *factors)
            total[:, place] += (sums @ here.further.derivatives(role, told)).toarray()
    return total


def for_few_clusters(meat: FloatArray, info: FloatArray, inverse: FloatArray, n_clusters: int) -> FloatArray:
    """What few clusters leave out of their gradients' sum of squares (Morel, Bokossa and Neerchal, 2003).

    The information I times min(1/2, p / (Q - p)) max(1, tr(B M) / p), p = tr(B I) being the number of parameters
    that the data decide.

    Parameters
    ----------
    meat, info, inverse : float array, shape (D, D)
        M; I, of the comparisons alone; B, the inverse of the whole information.
    n_clusters : int
        Q.
    """
    p = np.sum(inverse * info)
    share = min(0.5, p / (n_clusters - p)) if n_clusters > p else 0.5
    return float(share * max(1.0, np.sum(inverse * meat) / p)) * info


def likelihood_ratio(smaller: float, larger: float, degrees_of_freedom: int) -> tuple[float, float]:
    """Statistic 2 (l1 - l0) of nested fits, and its chi-squared p-value (parameters inside their space)."""
    statistic = 2.0 * (larger - smaller)
    return statistic, float(chdtrc(degrees_of_freedom, statistic))


def require_level(level: float) -> None:
    """Refuse what is not a confidence level.

    Raises
    ------
    ConfigError
        If it is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ConfigError(f"a confidence level lies between 0 and 1, not at {level!r}")


def normal_quantile(level: float, degrees_of_freedom: float = np.inf) -> float:
    """z_{1 - (1 - level) / 2}, of Student's t where an error has few degrees of freedom.

    Raises
    ------
    ConfigError
        If the level is not between 0 and 1.
    """
    require_level(level)
    if np.isinf(degrees_of_freedom):
        return float(ndtri(0.5 + level / 2))
    return float(stdtrit(degrees_of_freedom, 0.5 + level / 2))


def wald(
    estimate: FloatArray, standard_error: FloatArray, level: float, degrees_of_freedom: float = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval estimate -/+ z standard_error (paper, section 3.3)."""
    reach = normal_quantile(level, degrees_of_freedom) * standard_error
    return estimate - reach, estimate + reach
