"""What the documentation shows of the reported scale and of boards compared on it."""

from __future__ import annotations

import pandas as pd

from judgerank.plots.colours import NAMES
from replication.auditing.results import Results


def useless_table(results: Results) -> str:
    """The range of scores with all judges and without useless ones, on the reported scale and the paper's."""
    rows = []
    for _, row in results.table("scale/useless.csv").iterrows():
        ranges = (f"{row[f'{name}_change']:+.0%}" for name in ("range", "paper"))
        rows.append((NAMES[row["dataset"]], f"{row['useless']} of {row['judges']}", *ranges))
    columns = ["data set", "judges left out", "range of reported scores", "range on the paper's scale"]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def scale_table(results: Results) -> str:
    """Simulated panels: spread of reported scores over their errors, and coverage."""
    rows = []
    for _, row in results.table("scale/scores.csv").iterrows():
        names = ("spread_over_error", "coverage", "first", "last")
        cells = (f"{row[name]:.3f} ({row[f'{name}_se']:.3f})" for name in names)
        rows.append((row["panel"], f"{row['n_comparisons']:,}", *cells))
    columns = ["judges", "comparisons", "spread over standard error", "coverage", "first model", "last model"]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def boards_table(results: Results) -> str:
    """Simulated boards compared on one scale: how often a model is said to have moved."""
    rows = []
    for _, row in results.table("scale/compared.csv").iterrows():
        cells = (f"{row[name]:.3f} ({row[f'{name}_se']:.3f})" for name in ("any", "first"))
        changed = next(cells), next(cells) if row["change"] else ""
        rows.append((row["boards"], *changed))
    columns = ["boards", "share of runs that report a move", "of the model that moved"]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))
