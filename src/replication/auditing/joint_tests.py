"""Whether one run gives a whole column of a printed table: what verdicts of single numbers do not say."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from replication.auditing.audit import RESULTS, Verdict, column_of
from replication.auditing.results import Missing, Results
from replication.stopping import Tried

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


# What was tried for the numbers whose cause is not established, from the stored searches.


def _none_gives(numbers: str, fits: str, all_of: str, most: object, link: str = ". The") -> str:
    """What all kinds of open numbers begin with: what was tried, and how much the best fit gives."""
    return f"{numbers}: {fits} gives all {all_of}{link} most is {most}"


def _discrimination(results: Results) -> str:
    tried = results.rows("judge_reliability/settings_tried.csv", "dataset=mt_bench")
    settings = len(tried[list(Tried(1).columns())].drop_duplicates())
    complete = tried[tried["left_out"] == "none"]
    best = complete[complete["matched"] == complete["matched"].max()]
    fits = f"none of {settings} settings of Algorithm A.1, at any of their stops,"
    most = _none_gives("MT-Bench's discriminations (Table A.8)", fits, best["of"].iloc[0], best["matched"].iloc[0])
    others = " or ".join(sorted(best["not_matched"].unique()))
    return f"{most}, as at the maximum; then {others} is the one that differs."


def _interval_end(results: Results) -> str:
    ends = results.table("unstated_settings/interval_ends.csv")
    best = ends.iloc[0]
    fits = f"of the maximum and {len(ends) - 1} stops of Algorithm A.1, also in other steps and decay rates, none"
    most = _none_gives("Judge-aware columns of Table A.7", fits, f"{best['tried']} numbers", best["reproduced"])
    return f"{most}; {best['worst_row']} then has {best['worst_ours']:.5f} for {best['worst_paper']}."


def _ranks(results: Results) -> str:
    ranks = results.table("unstated_settings/btl_ranks.csv")
    best = ranks.iloc[0]
    numbers = "Unweighted ranks of Table A.7, and their differences"
    fits = f"of {len(ranks)} fits, by the judges left out and by what ties and unparsed answers count for, none"
    return _none_gives(numbers, fits, f"{best['models']} ranks", best["rank_btls_reproduced"], "; the") + "."


def _exchanges(results: Results) -> str:
    pairs = results.rows("unstated_settings/ties.csv", "fit=judge_aware; judges=all")
    unnamed = pairs[~pairs["named"]]
    pairs_text = "; ".join(
        f"{row.model_1} and {row.model_2}, then {abs(row.difference_after):.4f} apart (standard error "
        f"{row.error_after:.3f})"
        for row in unnamed.itertuples()
    )
    return (
        f"Exchanges without ties (appendix F.4): the {pairs['named'].sum()} named pairs exchange their places, "
        f"and so do {pairs_text}."
    )


TRIED: dict[tuple[str, str], Callable[[Results], str]] = {
    ("judge_discrimination", "mt_bench"): _discrimination,
    ("complete_ranking", "low_judge_aware"): _interval_end,
    ("complete_ranking", "rank_btl"): _ranks,
    ("complete_ranking", "rank_difference"): _ranks,
    ("in_text", "ties_dropped_in_house_swaps"): _exchanges,
}


def tried(rows: pd.DataFrame, results: Results) -> list[str]:
    """One sentence for each search that was made for open numbers.

    Parameters
    ----------
    rows : DataFrame
        The open numbers, as `replication.auditing.audit.audit` gives them.
    results : Results
        Searches that are not among them are left out.
    """
    keys = zip(rows["table"], rows["column"].where(rows["table"] != "in_text", rows["row"]), strict=True)
    sentences = []
    for search in dict.fromkeys(TRIED[key] for key in keys if key in TRIED):
        try:
            sentences.append(search(results))
        except Missing:
            continue
    return sentences
