"""Claims in words about curves over judges K and comparisons T, counted with Monte Carlo errors (section 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, product

import numpy as np
import pandas as pd

from replication.resampling import MEASURES

ROUNDING = 1e-12  # of a mean of correlations: equal ones differ by it
COLUMNS = [
    "estimator",
    "claim",
    "measure",
    "method",
    "places",
    "hold",
    "clear",
    "clearly_not",
    "hold_paper_repeats",
]
CLEAR = 2.0  # standard errors beyond which a difference counts as clear
Point = tuple[int, int]  # judges K, comparisons T
Difference = tuple[pd.Series, pd.Series | None]  # its repeats, or those of the two means that it is between


def efficiency_claims(replications: pd.DataFrame, paper_repeats: int) -> pd.DataFrame:
    """The sentences of section 5.3 and appendix F.2, each over all the places that it speaks of.

    Parameters
    ----------
    replications : DataFrame
        As of `resampled_tables.replications_of`.

    Returns
    -------
    DataFrame
        ``estimator, claim, measure, method, places, hold, clear, clearly_not, hold_paper_repeats``: differences
        that a claim says are not negative; of those, how many are not, how many by two standard errors, and how
        many fail by two standard errors; the last is over the first `paper_repeats` repeats.
    """
    own_reference = replications[replications["method"] == replications["reference"]]
    rows = []
    for estimator, measure in product(dict.fromkeys(own_reference["estimator"]), MEASURES):
        by_method: dict[str, dict[Point, pd.Series]] = {}
        for (method, *point), draws in own_reference[own_reference["estimator"] == estimator].groupby(
            ["method", "n_judges", "n_comparisons"], sort=False
        ):
            by_method.setdefault(method, {})[tuple(point)] = draws.set_index("replication")[measure]
        rows += [
            {"estimator": estimator} | tally(claim, measure, method, differences, paper_repeats)
            for claim, method, differences in _claims(by_method)
        ]
    return pd.DataFrame([row for row in rows if row["places"]], columns=COLUMNS)


def _claims(values: dict[str, dict[Point, pd.Series]]) -> Iterator[tuple[str, str, list[Difference]]]:
    lead = {point: ours - values["btl"][point] for point, ours in values["judge_aware"].items()}
    yield (
        "judge-aware is at least as close as BTL, each to its own full-data fit",
        "both",
        [(repeats, None) for repeats in lead.values()],
    )
    yield "the lead of judge-aware shrinks with more judges", "both", list(_along(lead, 0, falling=True))
    for method, curve in values.items():
        fewest, most = (end(size for _, size in curve) for end in (min, max))
        yield "closer with more comparisons", method, list(_along(curve, 1))
        for size, direction in ((fewest, "less"), (most, "more")):
            part = {point: repeats for point, repeats in curve.items() if point[1] == size}
            steps = list(_along(part, 0, falling=direction == "less"))
            yield f"{direction} close with more judges at T = {size}", method, steps


def _along(curve: dict[Point, pd.Series], axis: int, falling: bool = False) -> Iterator[Difference]:
    """Successive steps along one axis, the other held."""
    for level in sorted({point[1 - axis] for point in curve}):
        line = sorted((point for point in curve if point[1 - axis] == level), key=lambda point: point[axis])
        for low, high in pairwise(line):
            yield (curve[low], curve[high]) if falling else (curve[high], curve[low])


def tally(
    claim: str, measure: str, method: str, differences: Iterable[Difference], paper_repeats: int
) -> dict[str, object]:
    """How many differences hold, and how many clearly do or do not, of those with repeats that gave both fits."""
    means_and_errors = np.array([_with_error(*pair) for pair in differences]).reshape(-1, 2)
    short = [
        _with_error(*(None if x is None else x.iloc[:paper_repeats] for x in pair))[0] for pair in differences
    ]
    is_estimated = np.isfinite(means_and_errors[:, 0])
    mean, error = means_and_errors[is_estimated].T
    return {
        "claim": claim,
        "measure": measure,
        "method": method,
        "places": len(mean),
        "hold": int((mean >= -ROUNDING).sum()),
        "clear": int((mean > CLEAR * error).sum()),
        "clearly_not": int((mean < -CLEAR * error).sum()),
        "hold_paper_repeats": int((np.array(short) >= -ROUNDING).sum()),
    }


def _with_error(repeats: pd.Series, reference: pd.Series | None) -> tuple[float, float]:
    """Mean and standard error of repeats, or of the difference between two independent means."""
    parts = [repeats.dropna()] if reference is None else [repeats.dropna(), reference.dropna()]
    if any(part.empty for part in parts):  # no repeat gave both fits
        return np.nan, np.nan
    mean = parts[0].mean() - (parts[1].mean() if reference is not None else 0.0)
    return float(mean), float(np.sqrt(sum(part.var() / len(part) for part in parts)))
