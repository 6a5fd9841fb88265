"""The audit: every number printed in the paper, what the stored results give for it, and a verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from judgerank import published
from judgerank.errors import DataError, DataUnavailableError

COMPUTED_BY = Path(__file__).with_name("computed_by.csv")


class Verdict(StrEnum):
    """What becomes of a printed number."""

    EXACT = "exact at printed precision"
    MONTE_CARLO = "within stated Monte Carlo error"
    EXPLAINED = "differs with an established reason"
    UNEXPLAINED = "differs, reason not established"
    UNCHECKED = "not checkable with the data at hand"


@dataclass(frozen=True)
class Results:
    """The stored tables.

    Attributes
    ----------
    folder : Path
        Usually ``results/``. What is stored under ``surrogate/`` alone counts as surrogate.
    """

    folder: Path

    def path(self, name: str) -> tuple[Path, bool]:
        """Where a table is stored, and whether it comes from a surrogate.

        Raises
        ------
        DataUnavailableError
            If it is not stored.
        """
        for base, surrogate in ((self.folder, False), (self.folder / "surrogate", True)):
            if (base / name).is_file():
                return base / name, surrogate
        raise DataUnavailableError(f"{name} is not among the stored results: run `make {name.split('/')[0]}`")

    def table(self, name: str) -> pd.DataFrame:
        """A stored CSV, or a run.json as one row whose columns are paths such as ``config.replications``."""
        path = self.path(name)[0]
        return _read(path, path.stat().st_mtime_ns)

    def value(self, name: str, where: str, expression: str) -> object:
        """One value out of a table: `expression` over the rows that meet `where`, as pandas evaluates them.

        Raises
        ------
        DataError
            If that is not one value.
        """
        frame = self.table(name)
        rows = frame.query(where, engine="python") if where else frame
        found = rows.eval(expression, engine="python")
        if isinstance(found, pd.Series):
            if len(found) != 1:
                raise DataError(f"{name}: {expression!r} where {where!r} gives {len(found)} values, not one")
            found = found.iloc[0]
        return found


@lru_cache(maxsize=256)
def _read(path: Path, _changed: int) -> pd.DataFrame:
    if path.suffix == ".json":
        return pd.json_normalize(json.loads(path.read_text()))
    return pd.read_csv(path)


def registry() -> pd.DataFrame:
    """One row for every printed number: its table, row and column, place, unit, and what computes it.

    Columns: ``table, row, column, place, printed, unit, kind, result, where, value, low, high, finding, needs``.
    What the paper prints as a dash is left out. Kinds: ``estimate`` (from data), ``monte_carlo`` (from simulation
    or resampling; `low` and `high` state the error), ``setting`` (a choice of the paper's that our configuration
    takes), ``cited`` (from elsewhere) and ``definition``.
    """
    rules = pd.read_csv(COMPUTED_BY, dtype=str, keep_default_na=False)
    rows = []
    for rule in rules.to_dict("records"):
        table = published.table(rule["table"])
        names = [rule["row"]] if rule["row"] else list(table.index)
        for name in names:
            printed = table.at[name, rule["column"]]
            if printed.strip("- "):
                filled = {key: text.replace("{row}", name) for key, text in rule.items()}
                unit = table.at[name, "unit"] if "unit" in table else ""
                rows.append(filled | {"row": name, "printed": printed, "unit": unit})
    columns = ["table", "row", "column", "place", "printed", "unit", *list(rules.columns)[4:]]
    return pd.DataFrame(rows)[columns]


def audit(results: Results, established: set[str]) -> pd.DataFrame:
    """The registry with ours, the difference and the verdict.

    Parameters
    ----------
    results : Results
    established : set of str
        Findings that the stored results bear out; only those explain a difference.

    Returns
    -------
    DataFrame
        The registry, and ``ours, difference, low, high, surrogate, verdict``.
    """
    return pd.DataFrame([_judged(entry, results, established) for entry in registry().to_dict("records")])


def _judged(entry: dict, results: Results, established: set[str]) -> dict:
    judged = entry | {"ours": None, "difference": np.nan, "low": np.nan, "high": np.nan, "surrogate": False}
    if not entry["result"]:
        return judged | {"verdict": Verdict.UNCHECKED}
    # a setting is the same whatever data it was run on
    judged["surrogate"] = results.path(entry["result"])[1] and entry["kind"] != "setting"
    ours = results.value(entry["result"], entry["where"], entry["value"])
    judged["ours"] = ours = " ".join(map(str, ours)) if isinstance(ours, list) else ours
    plain = entry["printed"].removesuffix("K")
    if isinstance(ours, str):
        return judged | {"verdict": Verdict.EXACT if ours == plain else Verdict.UNEXPLAINED}
    judged["difference"] = float(ours) - float(plain)
    if entry["kind"] == "monte_carlo":
        for end in ("low", "high"):
            judged[end] = float(results.value(entry["result"], entry["where"], entry[end]))
    if judged["surrogate"]:
        return judged | {"verdict": Verdict.UNCHECKED}
    return judged | {"verdict": _verdict(float(ours), plain, judged, entry["finding"] in established)}


def _verdict(ours: float, printed: str, judged: dict, explained: bool) -> Verdict:
    if published.as_printed(ours, printed) == published.as_printed(float(printed), printed):
        return Verdict.EXACT
    if judged["low"] <= float(printed) <= judged["high"]:  # false for NaN, where no error is stated
        return Verdict.MONTE_CARLO
    return Verdict.EXPLAINED if explained else Verdict.UNEXPLAINED


def totals(audited: pd.DataFrame) -> pd.DataFrame:
    """Numbers by place and verdict, in the order of the paper's tables; what stands in the text comes last."""
    place = audited["place"].where(audited["table"] != "in_text", "text and captions")
    counts = pd.crosstab(place, audited["verdict"]).reindex(columns=list(map(str, Verdict)), fill_value=0)
    order = sorted(counts.index, key=lambda name: (not name.startswith("Table"), "." in name, name))
    counts = counts.loc[order]
    counts.loc["all"] = counts.sum()
    counts.insert(0, "printed", counts.sum(axis=1))
    return counts.rename_axis("place").reset_index()
