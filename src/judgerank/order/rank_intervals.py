"""Joint intervals for all ranks, from the tests of every pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray
from judgerank.order.max_statistic import quantile_of_largest
from judgerank.order.pairs import Fitted, Order, orders, separated


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
