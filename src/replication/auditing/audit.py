"""The audit: every number printed in the paper, what the stored results give for it, and a verdict."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import pandas as pd

from replication import published
from replication.auditing.claim import estimator_of
from replication.auditing.registry import READINGS, Agreement, agreement, causes, copied, interval, registry
from replication.auditing.results import Missing, Results


class Verdict(StrEnum):
    """What becomes of a printed number; the last three are not about results."""

    EXACT = "exact at printed precision"
    MONTE_CARLO = "within error, settings searched for"
    CAUSE = "differs, a run shows the cause"
    RULED_OUT = "differs, printed value ruled out"
    OPEN = "cause not established"
    UNCHECKED = "not checkable"
    TAKEN_OVER = "setting taken over"
    NOT_TAKEN_OVER = "setting not taken over"
    STATED = "definition or stated choice"


RESULTS = (Verdict.EXACT, Verdict.MONTE_CARLO, Verdict.CAUSE, Verdict.RULED_OUT, Verdict.OPEN, Verdict.UNCHECKED)
OTHERS = (Verdict.TAKEN_OVER, Verdict.NOT_TAKEN_OVER, Verdict.STATED)
MEANING = {
    Verdict.EXACT: "ours, rounded as printed, is the printed number; for a number that the paper copied, its "
    "source's (`reason` names the source and how it was read)",
    Verdict.MONTE_CARLO: "the printed number lies in the prediction interval stated below. The paper does not "
    "state the settings; we searched for some that give such numbers. That they exist is what is shown, not that "
    "they are the paper's",
    Verdict.CAUSE: "another stored run reproduces the printed number exactly, and most of its column; `reason` "
    "names it. For Table 2 and UltraFeedback its settings were searched for on these numbers (see the findings). "
    "For a copied number, another source than the maker has it",
    Verdict.RULED_OUT: "a finding shows that the printed number cannot be what it is said to be; what it is "
    "instead is not shown",
    Verdict.OPEN: "none of these, or no single run gives it together with its column",
    Verdict.UNCHECKED: "what is needed is not at hand or not stored; `reason` says what",
    Verdict.TAKEN_OVER: "the stored tables show that our run used it; no check of a result",
    Verdict.NOT_TAKEN_OVER: "the stored tables show that our run used another",
    Verdict.STATED: "there is nothing to compute",
}


def audit(results: Results, established: set[str]) -> pd.DataFrame:
    """The registry with ours, the difference and the verdict.

    Parameters
    ----------
    results : Results
    established : set of str
        Findings that the stored results bear out; only those rule a printed value out.

    Returns
    -------
    DataFrame
        The registry, and ``ours, difference, low, high, draws, surrogate, estimator, verdict, reason``;
        ``another_run`` is one that gives the printed number, whether ours does or not.
    """
    reproduced = causes()
    rows = []
    for entry in registry().to_dict("records"):
        key = (entry["table"], entry["row"], entry["column"])
        rows.append(judged(entry, results, established, reproduced.get(key, [])))
    return by_one_run(pd.DataFrame(rows))


def by_one_run(audited: pd.DataFrame) -> pd.DataFrame:
    """The same, with every column of a printed table explained by one run, the one that gives most of it.

    Where that is another run than ours, what it gives has its cause, and what ours alone gives is open.
    """
    judged = audited.copy()
    for _, column in audited[audited["another_run"] != ""].groupby(column_of(audited)):
        (another,) = column["another_run"].unique()
        rows = audited[column_of(audited) == column_of(column).iloc[0]]
        exact, is_of_run = rows["verdict"] == Verdict.EXACT, rows["another_run"] == another
        if is_of_run.sum() <= exact.sum():
            continue
        judged.loc[rows.index[is_of_run & ~exact], "verdict"] = Verdict.CAUSE
        judged.loc[rows.index[is_of_run & ~exact], "reason"] = another
        lost = rows.index[exact & ~is_of_run]
        judged.loc[lost, "verdict"] = Verdict.OPEN
        judged.loc[lost, "reason"] = f"ours gives it, and not the run that gives most of the column: {another}"
    return judged


def column_of(audited: pd.DataFrame) -> pd.Series:
    """What belongs together: a column of a table; in the text every number stands by itself."""
    return audited["table"] + "/" + audited["column"].where(audited["table"] != "in_text", audited["row"])


def judged(entry: dict, results: Results, established: set[str], reproduced: list[dict]) -> dict:
    """One entry of the registry with what becomes of it; what is missing makes it not checkable, and no more."""
    blank = {"ours": None, "difference": np.nan, "low": np.nan, "high": np.nan, "draws": None}
    row = entry | blank | {"surrogate": False, "reason": "", "another_run": ""}
    row["estimator"] = str(estimator_of(entry["source"], entry["where"], entry["value"]))
    if entry["kind"] == "stated":
        return row | {"verdict": Verdict.STATED, "reason": entry["needs"]}
    if entry["kind"] == "cited":
        return row | _cited(entry, established)
    try:
        row |= _ours(entry, results)
    except Missing as missing:
        reason = f"needs {entry['needs']}; {missing}" if entry["needs"] else str(missing)
        return row | {"verdict": Verdict.UNCHECKED, "reason": reason}
    if row["surrogate"]:
        reason = f"only a surrogate's {entry['source']} is stored"
        return row | {"verdict": Verdict.UNCHECKED, "reason": reason}
    same = _same(row["ours"], entry["printed"])
    if entry["kind"] == "setting":
        same = _within(row) if row["rule"] else same
        return row | {"verdict": Verdict.TAKEN_OVER if same else Verdict.NOT_TAKEN_OVER}
    row["another_run"] = _another_run(row, reproduced, results)
    return row | _verdict(row, same, established)


def _cited(entry: dict, established: set[str]) -> dict:
    """A copied number against its source; nothing stored is read."""
    try:
        sources = copied(entry["table"], entry["row"], entry["column"])
    except Missing as missing:
        return {"verdict": Verdict.UNCHECKED, "reason": f"needs {entry['needs']}; {missing}"}
    reason = "; ".join(
        f"{source.text}: {source.reason}" if len(sources) > 1 else source.reason for source in sources
    )
    agrees = agreement(entry["printed"], sources)
    if agrees == Agreement.UNKNOWN:
        elsewhere = f"{sources[0].reason} has {sources[0].text}, which need not be what was copied"
        return {"verdict": Verdict.UNCHECKED, "reason": f"needs {entry['needs']}; {elsewhere}"}
    equal = (source for source in sources if agrees == Agreement.EQUAL and source.matches(entry["printed"]))
    ours = next(equal, sources[0]).number()
    row = {"ours": ours, "reason": reason}
    if not isinstance(ours, str):
        row["difference"] = ours - float(entry["printed"])
    if agrees == Agreement.EQUAL:
        return row | {"verdict": Verdict.EXACT}
    if agrees == Agreement.DISPUTED:
        return row | {"verdict": Verdict.CAUSE}
    if agrees == Agreement.DIFFERENT and entry["finding"] in established:
        return row | {"verdict": Verdict.RULED_OUT, "reason": f"{entry['finding']}: {reason}"}
    return row | {"verdict": Verdict.OPEN}


def _ours(entry: dict, results: Results) -> dict:
    fields = {"surrogate": not results.real(entry["source"])}
    if entry["rule"]:
        error = interval(results, entry)
        fields |= {"ours": error.centre, "low": error.low, "high": error.high, "draws": error.draws}
    else:
        fields["ours"] = read(entry, results)
    if not isinstance(fields["ours"], str):
        if not np.isfinite(fields["ours"]):
            raise Missing(f"{entry['source']} has no number there")
        fields["difference"] = float(fields["ours"]) - float(_plain(entry["printed"]))
    return fields


def read(entry: dict, results: Results) -> float | str:
    """The value that an entry of the registry, or a cause, names."""
    rows = results.rows(entry["source"], entry["where"])
    if entry["value"] not in rows:
        raise Missing(f"{entry['source']} has no column {entry['value']}")
    return READINGS[entry["reading"]](rows, entry["value"], results)


def _plain(printed: str) -> str:
    return printed.removesuffix("K")


def _same(ours: float | str, printed: str) -> bool:
    plain = _plain(printed)
    if isinstance(ours, str):
        return ours == plain
    return published.as_printed(float(ours), plain) == published.as_printed(float(plain), plain)


def _within(row: dict) -> bool:
    return row["low"] <= float(row["printed"]) <= row["high"]


def _another_run(row: dict, reproduced: list[dict], results: Results) -> str:
    for cause in reproduced:
        try:
            if results.real(cause["source"]) and _same(read(cause, results), row["printed"]):
                return f"{cause['cause']} ({cause['source']})"
        except Missing:
            continue
    return ""


def _verdict(row: dict, same: bool, established: set[str]) -> dict:
    # a random result that happens to round to the printed one has agreed within its error, and no more
    if row["rule"]:
        return {"verdict": Verdict.MONTE_CARLO if _within(row) else Verdict.OPEN}
    if same:
        return {"verdict": Verdict.EXACT}
    if row["finding"] in established:
        return {"verdict": Verdict.RULED_OUT, "reason": row["finding"]}
    return {"verdict": Verdict.OPEN}


def exact_copies(audited: pd.DataFrame) -> int:
    """How many of the exact numbers are copies, for which nothing is computed."""
    return int((audited["kind"].eq("cited") & audited["verdict"].eq(Verdict.EXACT)).sum())


def open_and_same(audited: pd.DataFrame) -> int:
    """How many of the open numbers are ours, which another run that gives more of their column has otherwise."""
    rows = audited[audited["verdict"] == Verdict.OPEN]
    return sum(not row.rule and _same(row.ours, row.printed) for row in rows.itertuples())


def totals(audited: pd.DataFrame) -> pd.DataFrame:
    """Numbers by place and verdict, results first; what stands in the text comes last.

    ``results`` counts the numbers that are results, checkable or not; settings and definitions are beside them.
    """
    row_group = audited["place"].where(audited["table"] != "in_text", "text and captions")
    columns = [str(verdict) for verdict in (*RESULTS, *OTHERS)]
    counts = pd.crosstab(row_group, audited["verdict"].astype(str)).reindex(columns=columns, fill_value=0)
    counts = counts.loc[sorted(counts.index, key=lambda name: (not name.startswith("Table"), "." in name, name))]
    counts.loc["all"] = counts.sum()
    counts.insert(0, "results", counts[[str(verdict) for verdict in RESULTS]].sum(axis=1))
    counts.insert(0, "printed", counts[columns].sum(axis=1))
    return counts.rename_axis("place").reset_index()
