"""Joint intervals for all ranks, from the tests of every pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.inference.wald import require_level
from judgerank.model.streams import generator
from judgerank.order.pairs import Fitted, Order, orders, separated

# Quantile of the largest statistic over all pairs of models if all scores are equal.
DRAWS = 20_000  # of the largest of all pairs' statistics
CHUNK = 500  # draws held at a time
FEW = 50  # models up to which looking at every pair of a draw is quicker than choosing among them
AT_ONCE = 100_000  # pairs held at a time
ROUNDING = 1e-9  # of a squared error


def quantile_of_largest(
    parts: Sequence[tuple[FloatArray, FloatArray]], level: float, degrees_of_freedom: float
) -> float:
    """Quantile of the largest |z_i - z_j| over its error, z normal with mean zero; by simulation.

    Parameters
    ----------
    parts : sequence of float arrays, shape (N, N) each
        Covariance of z, and errors of its differences, of models that are compared among themselves alone.
    level : float
    degrees_of_freedom : float
        Of the errors.
    """
    require_level(level)
    rng = generator(0, "ranks", sum(len(covariance) for covariance, _ in parts))
    largest = np.zeros(DRAWS)
    for covariance, error in parts:
        values, vectors = np.linalg.eigh(covariance)
        half = vectors * np.sqrt(np.maximum(values, 0.0))
        largest_of = _of_every_pair(half, error) if len(values) <= FEW else _of_likely_pairs(half, error)
        for start in range(0, DRAWS * (len(values) > 1), CHUNK):
            chunk_largest = largest_of(rng.standard_normal((CHUNK, len(values))))
            largest[start : start + CHUNK] = np.maximum(largest[start : start + CHUNK], chunk_largest)
    if np.isfinite(degrees_of_freedom):
        largest /= np.sqrt(rng.chisquare(degrees_of_freedom, DRAWS) / degrees_of_freedom)
    return float(np.quantile(largest, level))


def _of_every_pair(half: FloatArray, error: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Finds the largest statistic of every draw, shape (C,), for a root of the covariance."""
    i, j = np.triu_indices(len(half), 1)
    contrasts = (half[i] - half[j]) / error[i, j, None]

    def largest_of(draws: FloatArray) -> FloatArray:
        z = contrasts @ draws.T
        largest: FloatArray = np.abs(z, out=z).max(axis=0)
        return largest

    return largest_of


def _of_likely_pairs(half: FloatArray, error: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The same, looking only at pairs that can be the largest.

    The last column a of the root is what moves most scores at once, such as their scale. With z = a f + u and t^2
    the variance of u_i - u_j, the squared statistic of a pair is at most f^2 + (u_i - u_j)^2 / t^2, and the second
    term at most r_ij^2 (x_i^2 + x_j^2), x = |u| / sd, r_ij^2 the sum of the two variances over t^2 (Cauchy and
    Schwarz, twice). So for one of the two models 2 r^2 x^2, r its largest r_ij, is no less than the square of the
    largest statistic that is known already, less f^2.
    """
    along, rest = half[:, -1], half[:, :-1]
    spread = np.maximum((rest**2).sum(axis=1), np.finfo(float).tiny)
    difference_variance = np.maximum(error**2 - np.subtract.outer(along, along) ** 2, ROUNDING * error**2)
    reach = np.sqrt(2 * np.max(np.add.outer(spread, spread) / difference_variance, axis=1) / spread)

    def largest_of(draws: FloatArray) -> FloatArray:
        z, factor, draw_index = draws @ half.T, draws[:, -1], np.arange(len(draws))
        most = reach * (z - np.multiply.outer(factor, along))

        def of(draw: IntArray, model: IntArray) -> FloatArray:
            statistic: FloatArray = (np.abs(z[draw] - z[draw, model, None]) / error[model]).max(axis=1)
            return statistic

        largest = np.maximum(of(draw_index, most.argmax(axis=1)), of(draw_index, most.argmin(axis=1)))
        draw, model = np.nonzero(most**2 >= (largest**2 - factor**2)[:, None])
        step = max(1, AT_ONCE // z.shape[1])
        for start in range(0, len(draw), step):
            c, i = draw[start : start + step], model[start : start + step]
            np.maximum.at(largest, c, of(c, i))
        return largest

    return largest_of


def rank_intervals(result: Fitted, level: float = 0.95) -> pd.DataFrame:
    """Intervals that hold all ranks at once with the given confidence: ``model, rank, low, high``.

    A model's rank is at least one plus the number of models surely better, and at most N less the number surely
    worse, where sure means by simultaneous tests of all differences (Mogstad et al., 2024, without steps). By sign
    flips, or where two models never differ and errors do not suit simulation, it means that a pair is separated
    (Holm). Ranks are among the models of a component, one component after the other.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example())
    >>> judgerank.rank_intervals(result)[["model", "rank"]].head(2).to_dict("records")
    [{'model': 'oak', 'rank': 1}, {'model': 'maple', 'rank': 2}]
    """
    component_orders = list(orders(result))
    if any(order.flipped or order.never_differ.any() for order in component_orders):
        return pd.concat(
            [
                _ranks(*order_and_wins)
                for order_and_wins in zip(component_orders, _surely(component_orders, level), strict=True)
            ],
            ignore_index=True,
        )
    reach = simultaneous_quantile(component_orders, level)
    return pd.concat([_ranks(order, order.statistic > reach) for order in component_orders], ignore_index=True)


def _surely(component_orders: Sequence[Order], level: float) -> Iterator[BoolArray]:
    """Which models are surely better than which, by the pairs that are separated."""
    rejected = separated(component_orders, level)
    for order in component_orders:
        n = len(order.models)
        i, j = np.triu_indices(n, 1)
        both = np.zeros((n, n), bool)
        both[i, j] = both[j, i] = rejected[: len(i)]
        yield both & (order.statistic > 0)
        rejected = rejected[len(i) :]


def _ranks(order: Order, surely: BoolArray) -> pd.DataFrame:
    n = len(order.models)
    ranks = {"rank": np.arange(1, n + 1), "low": 1 + surely.sum(axis=0), "high": n - surely.sum(axis=1)}
    return pd.DataFrame({"model": order.models, **ranks})


def simultaneous_quantile(component_orders: Sequence[Order], level: float) -> float:
    """Quantile of the largest |difference| over its standard error, were all scores equal; by simulation."""
    parts = [(order.covariance, order.error[0]) for order in component_orders]
    return quantile_of_largest(parts, level, component_orders[0].degrees_of_freedom)
