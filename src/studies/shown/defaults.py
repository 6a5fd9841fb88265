"""What the documentation shows of exact and shrunk fits as defaults."""

from __future__ import annotations

import pandas as pd

from judgerank.plots.colours import NAMES
from replication.auditing.results import Results

METHODS = {
    "position_aware_shrunk": "position-aware, shrunk",
    "position_aware": "position-aware, exact",
    "judge_aware_shrunk": "judge-aware, shrunk",
    "judge_aware": "judge-aware, exact",
    "btl": "BTL",
    "position_only": "positions only",
}
ENDS = {
    "interior": "at a maximum",
    "boundary": "a judge at zero",
    "unbounded": "a judge runs off",
    "no estimate": "no estimate",
}


def accuracy_table(results: Results) -> str:
    """Spearman's correlation of samples with the rest by set, size and method."""
    table, rows = results.table("defaults/accuracy.csv"), []
    for (dataset, size), part in table.groupby(["dataset", "n_comparisons"], sort=False):
        own = part.set_index("method")
        cells = (_with_share(own.loc[method]) for method in METHODS)
        rows.append((NAMES[dataset], f"{size:,}", *cells))
    columns = ["data set", "comparisons", *METHODS.values()]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def _with_share(row: pd.Series) -> str:
    """The correlation with its Monte Carlo error, and the share of samples that have an estimate, if not all."""
    if pd.isna(row["spearman"]):
        return "no estimate"
    error = "" if pd.isna(row["spearman_se"]) else f" ({row['spearman_se']:.3f})"
    share = "" if row["estimated"] == 1 else f", {row['estimated']:.0%} have one"
    return f"{row['spearman']:.3f}{error}{share}"


def trouble_table(results: Results) -> str:
    """Both position-aware fits by how the exact one ended."""
    rows = []
    for _, row in results.table("defaults/trouble.csv").iterrows():
        cells = (_number(row, name) for name in ("spearman_exact", "spearman_shrunk", "log_loss_saved"))
        rows.append((ENDS.get(row["status"], row["status"]), f"{row['samples']:.0f}", *cells))
    columns = ["the exact fit", "samples", "correlation, exact", "correlation, shrunk", "log-loss saved"]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def simulated_table(results: Results) -> str:
    """Exact and shrunk position-aware fits on simulated sets."""
    table, rows = results.table("defaults/simulated.csv"), []
    for title, part in table.groupby("title", sort=False):
        for _, row in part[part["member"].isin(["position_aware", "judge_aware"])].iterrows():
            how = "shrunk" if row["solver"] == "penalised" else "exact"
            cells = (_number(row, name) for name in ("coverage", "error", "false", "wrong", "ranks", "power"))
            rows.append((title, how, *cells, f"{row['seconds']:.2f}"))
    columns = [
        *("simulated sets", "fit", "coverage", "error of a score", "equal pair separated", "wrong way round"),
        *("all ranks held", "power", "seconds"),
    ]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def _number(row: pd.Series, name: str) -> str:
    if pd.isna(row[name]):
        return ""
    error = row[f"{name}_se"]
    return f"{row[name]:.3f}" + ("" if pd.isna(error) else f" ({error:.3f})")
