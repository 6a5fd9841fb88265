"""What the documentation shows of tests of fit and of few questions."""

from __future__ import annotations

import pandas as pd

from judgerank.plots.colours import NAMES
from replication.auditing.results import Results

TESTS = {"overall": "overall", "order": "one order", "judge": "some judge", "question": "some question"}


def fit_table(results: Results) -> str:
    """Shares of simulated sets in which a test finds a departure."""
    rows = []
    for _, row in results.table("fitness/levels.csv").iterrows():
        rows.append((row["design"], *(_share(row, test) for test in TESTS)))
    return _markdown(rows, ["judgments", *TESTS.values()])


def few_table(results: Results) -> str:
    """Few questions: false pairs and power, by the tests of `judgerank rank`, by flips and by plain errors."""
    rows = []
    kinds = {"rank": "`judgerank rank`", "flips": "sign flips", "plain": "plain errors"}
    for _, row in results.table("fitness/few.csv").iterrows():
        measure = "false" if pd.isna(row["rank_power"]) else "power"
        rows.append((row["design"], *(_share(row, f"{kind}_{measure}") for kind in kinds)))
    return _markdown(rows, ["judgments", *kinds.values()])


def fitted_sets_table(results: Results) -> str:
    """The tests of fit on the four sets."""
    rows = []
    for _, row in results.table("fitness/sets.csv").iterrows():
        ratios = (f"{row[f'{test}_ratio']:.2f} (p = {row[f'{test}_p']:.3f})" for test in ("overall", "order"))
        judges = f"{row['judges_depart']} of {row['judges']}"
        rows.append(
            (NAMES[row["dataset"]], *ratios, judges, f"{row['questions_depart']} of {row['n_questions']:,}")
        )
    columns = ["data set", "overall, over expected", "pairs, over expected", "judges who depart", "questions"]
    return _markdown(rows, columns)


def _share(row: pd.Series, name: str) -> str:
    return f"{row[name]:.3f} ({row[f'{name}_se']:.3f})"


def _markdown(rows: list[tuple], columns: list[str]) -> str:
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))
