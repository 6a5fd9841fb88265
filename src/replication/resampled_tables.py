"""Tables of resampled sections: every draw, and what follows from the draws alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

import numpy as np
import pandas as pd

from judgerank.data.errors import ConfigError
from replication.estimators import METHODS
from replication.replicate import Study
from replication.resampling import MEASURES, FullData
from replication.tables import as_stored

ROUNDING = 12  # decimals: equal correlations differ beyond them
NOT_MADE = "too_few_comparisons"
KEYS = ["estimator", "method", "reference"]


def replications_of(study: Study, columns: Sequence[str]) -> pd.DataFrame:
    """Every draw, with a row for each estimator, method and reference, its numbers as they are stored.

    Returns
    -------
    DataFrame
        The cell's fields named by `columns`, ``replication, estimator, method, reference, status, pearson,
        spearman``. A draw without a fit has its status, and no correlations; where a set has too few comparisons
        by the judges drawn, there is no draw, and the status says so.

    Raises
    ------
    ConfigError
        If no draw was made, or there is no cell.
    """
    assert isinstance(study.shared, FullData)
    rows, any_made = [], False
    for name, cell in study.cells.items():
        point = [getattr(cell, column) for column in columns]
        for record in study.records(name):
            any_made |= record["made"]
            for estimator, method, reference in product(cell.estimators, METHODS, study.shared.references):
                ended = record["estimators"].get(estimator, {"status": NOT_MADE, "correlations": {}})
                by_measure = ended["correlations"].get(method, {}).get(reference, {})
                key = (record["replication"], estimator, method, reference, ended["status"])
                rows.append([*point, *key, *(by_measure.get(measure, np.nan) for measure in MEASURES)])
    if not any_made:
        raise ConfigError(f"{study.name}: at none of the settings has the set enough for a fit")
    return as_stored(pd.DataFrame(rows, columns=[*columns, "replication", *KEYS, "status", *MEASURES]))


def _made(replications: pd.DataFrame) -> pd.DataFrame:
    return replications[replications["status"] != NOT_MADE]


def summary_of(replications: pd.DataFrame, columns: Sequence[str], paper_repeats: int) -> pd.DataFrame:
    """Correlations by cell, estimator, method, reference and measure, over the draws that have both fits.

    Returns
    -------
    DataFrame
        `columns`, ``estimator, method, reference, measure, mean, standard_error, q25, q75, q025, q975`` (the
        central 95% of draws), ``n_repeats`` (draws with both fits), ``n_draws`` (draws made), and
        ``paper_mean``, the mean over the first `paper_repeats` draws. An error of fewer than two draws is
        missing.
    """
    rows = []
    for point, draws in _made(replications).groupby([*columns, *KEYS], sort=False):
        is_early = draws["replication"] < paper_repeats
        for measure in MEASURES:
            fitted = draws[measure].dropna()
            rows.append(
                {
                    **dict(zip([*columns, *KEYS], point, strict=True)),
                    "measure": measure,
                    **mean_with_error(fitted),
                    **{
                        name: fitted.quantile(share)
                        for name, share in (("q25", 0.25), ("q75", 0.75), ("q025", 0.025), ("q975", 0.975))
                    },
                    "n_repeats": len(fitted),
                    "n_draws": len(draws),
                    "paper_mean": draws.loc[is_early, measure].mean(),
                }
            )
    return pd.DataFrame(rows)


def gains_of(replications: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Judge-aware less BTL on the same draws: paired, unlike the errors of two means.

    Returns
    -------
    DataFrame
        `columns`, ``estimator, reference, measure, judge_aware, btl, judge_aware_minus_btl, standard_error,
        n_repeats, n_draws``. Reference ``own`` is the paper's measure: each fit against its own full-data fit.
    """
    draws = _made(replications)
    own_reference = draws[draws["method"] == draws["reference"]].assign(reference="own")
    key, index = [*columns, "estimator", "reference"], [*columns, "replication", "estimator", "reference"]
    rows = []
    for measure in MEASURES:
        wide = (
            pd.concat([own_reference, draws]).set_index([*index, "method"])[measure].unstack("method", sort=False)
        )
        wide["gain"] = (wide["judge_aware"] - wide["btl"]).round(ROUNDING) + 0.0
        for point, pairs in wide.groupby(key, sort=False):
            fitted = pairs.dropna()
            gain = mean_with_error(fitted["gain"])
            rows.append(
                {
                    **dict(zip(key, point, strict=True)),
                    "measure": measure,
                    **fitted[list(METHODS)].mean().to_dict(),
                    "judge_aware_minus_btl": gain["mean"],
                    "standard_error": gain["standard_error"],
                    "n_repeats": len(fitted),
                    "n_draws": len(pairs),
                }
            )
    return pd.DataFrame(rows)


def mean_with_error(values: pd.Series) -> dict[str, float]:
    """Mean and standard error; an error that fewer than two values would have is missing."""
    error = values.std() / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return {"mean": values.mean(), "standard_error": error}


def endings_of(replications: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """How many draws of every cell ended how, by estimator."""
    draws = replications.drop_duplicates([*columns, "replication", "estimator"])
    return draws.groupby([*columns, "estimator", "status"], sort=False).size().rename("repeats").reset_index()


# Claims in words about curves over judges K and comparisons T, counted with Monte Carlo errors (section 5.3).


NO_DIFFERENCE = 1e-12  # of a mean of correlations: equal ones differ by it
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
        "hold": int((mean >= -NO_DIFFERENCE).sum()),
        "clear": int((mean > CLEAR * error).sum()),
        "clearly_not": int((mean < -CLEAR * error).sum()),
        "hold_paper_repeats": int((np.array(short) >= -NO_DIFFERENCE).sum()),
    }


def _with_error(repeats: pd.Series, reference: pd.Series | None) -> tuple[float, float]:
    """Mean and standard error of repeats, or of the difference between two independent means."""
    parts = [repeats.dropna()] if reference is None else [repeats.dropna(), reference.dropna()]
    if any(part.empty for part in parts):  # no repeat gave both fits
        return np.nan, np.nan
    mean = parts[0].mean() - (parts[1].mean() if reference is not None else 0.0)
    return float(mean), float(np.sqrt(sum(part.var() / len(part) for part in parts)))
