"""Tables of resampled sections: every draw, and what follows from the draws alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

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
