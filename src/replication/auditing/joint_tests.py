"""Whether one run gives a whole column of a printed table: what verdicts of single numbers do not say."""

from __future__ import annotations

import pandas as pd

from replication.auditing.audit import RESULTS, Verdict, column_of
from replication.auditing.results import Missing, Results

SLOPES, GRAPHS = "convergence_mse/slopes_jointly.csv", "sparsity/in_house/found_jointly.csv"
STATED = """\
A verdict is of one number. Below is every column that our run does not give as a whole, with how many of its
numbers come out exactly by our run, by another one, and by the better of the two. Random numbers of one table have
a joint p-value: how often one more study of ours would be as far from the others as the printed one is."""


def columns(numbers: pd.DataFrame) -> pd.DataFrame:
    """Columns of results that are exact only in part.

    Parameters
    ----------
    numbers : DataFrame
        As `replication.auditing.audit.audit` gives them.

    Returns
    -------
    DataFrame
        ``place, column, numbers, by ours, by another run, another run, by one run``.
    """
    results = numbers[numbers["verdict"].isin(RESULTS) & (numbers["table"] != "in_text") & (numbers["rule"] == "")]
    rows = []
    for _, column in results.groupby(column_of(results), sort=False):
        checked = column[column["verdict"] != Verdict.UNCHECKED]
        lost = checked["reason"].str.startswith("ours gives it")
        ours = int(((checked["verdict"] == Verdict.EXACT) | lost).sum())
        other_runs = checked.loc[checked["another_run"] != "", "another_run"]
        if checked.empty or ours == len(checked):
            continue
        rows.append(
            {
                "place": column["place"].iloc[0],
                "column": column["column"].iloc[0],
                "numbers": len(checked),
                "by ours": ours,
                "by another run": len(other_runs),
                "another run": other_runs.iloc[0] if len(other_runs) else "",
                "by one run": max(ours, len(other_runs)),
            }
        )
    return pd.DataFrame(rows)


def random_tables(results: Results) -> pd.DataFrame:
    """Joint p-values of tables that rest on random draws: ``place, run, numbers, p``, if they are stored."""
    rows = []
    for table_name, name, numbers in (("Table A.3", SLOPES, "slopes"), ("Table A.9", GRAPHS, "numbers")):
        try:
            stored = results.table(name)
        except Missing:
            continue
        for row in stored.to_dict("records"):
            named = row.get("run") or "{redraw}, {n_comparisons:,} comparisons, {stop:,} steps".format(**row)
            rows.append({"place": table_name, "run": named, "numbers": row[numbers], "p": row["p_joint"]})
    return pd.DataFrame(rows)


def section(numbers: pd.DataFrame, results: Results) -> str:
    """Both, in Markdown."""
    tables = [columns(numbers), random_tables(results)]
    return "\n\n".join(
        [STATED, *(table.to_markdown(index=False, floatfmt=".2f") for table in tables if len(table))]
    )
