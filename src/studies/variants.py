"""Ways to a ranking, compared on simulated sets: what one fit comes to, and means over the sets.

Records of a set have columns ``measure/way``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.result import Fit
from judgerank.inference.wald import wald
from judgerank.order.pairs import orders_by_errors, separated
from judgerank.order.scale import standardised
from replication.replicate import Study

Rows = list[dict[str, Any]]


class Setting(Protocol):
    """How judges answer; `equal` if all models have one score."""

    @property
    def equal(self) -> bool: ...


def by_errors(fitted: Fit, rows: Comparisons, cluster: IntArray) -> dict[str, Fit]:
    """The fit with each kind of standard error."""
    return {"plug_in": fitted, "clustered": fitted.clustered(rows, cluster)}


def any_separated(kinds: Mapping[str, Fit], level: float) -> dict[str, float]:
    """Whether any two models differ significantly, by each kind of error."""
    orders = orders_by_errors(*kinds.values())
    return {
        f"separated_{kind}": float(separated(order, level).any())
        for kind, order in zip(kinds, orders, strict=True)
    }


def squared_error(fitted: Fit, true: FloatArray) -> float:
    """Mean over models, of scores over their standard deviation."""
    s = fitted.scores.to_numpy()
    return float(((s / s.std() - true / true.std()) ** 2).mean())


def covered(kinds: Mapping[str, Fit], true: FloatArray, level: float) -> Iterator[tuple[str, float, float]]:
    """By each kind of error: the share of intervals of standardised scores that cover, and the mean error."""
    target, n = true / true.std(), len(true)
    for kind, fitted in kinds.items():
        scaled, v = standardised(fitted.scores.to_numpy(), fitted.covariance[:n, :n])
        error = np.sqrt(np.diag(v))
        low, high = wald(scaled, error, level, fitted.degrees_of_scores)
        yield kind, float(((low <= target) & (target <= high)).mean()), float(error.mean())


def gain(mine: pd.Series, theirs: pd.Series) -> dict[str, float]:
    """Mean squared error of theirs over mine, with its error by the delta method.

    As squared errors fall as one over the number of judgments, one judgment of mine is worth so many of theirs.
    """
    ratio = theirs.mean() / mine.mean()
    return {"gain": ratio, "gain_se": (theirs - ratio * mine).std() / np.sqrt(len(mine)) / mine.mean()}


def measures_of(records: pd.DataFrame, variant: str) -> pd.DataFrame:
    """The measures of a way, a column each."""
    columns = [column.split("/") for column in records if "/" in column]
    return pd.DataFrame({measure: records[f"{measure}/{of}"] for measure, of in columns if of == variant})


def complete(records: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """The sets on which every way has a fit, and how many failed of how many."""
    complete_records = records.dropna(subset=[column for column in records if "/" in column])
    return complete_records, {"failed": len(records) - len(complete_records), "n_replications": len(records)}


def of_unlike_and_equal(
    study: Study, settings: Mapping[str, Setting], rows_of: Callable[[pd.DataFrame, str], Rows]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of the settings in which models differ, and of those in which they are equal."""
    rows: dict[bool, Rows] = {False: [], True: []}
    for name, setting in settings.items():
        rows[setting.equal] += rows_of(pd.DataFrame(study.records(name)), name)
    return pd.DataFrame(rows[False]), pd.DataFrame(rows[True])
