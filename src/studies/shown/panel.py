"""What the documentation shows of the section on what a panel does besides judging quality."""

from __future__ import annotations

import pandas as pd

from replication.auditing.results import Results
from replication.tables import markdown_table

SHARES = ("rejected", "rejected_by_question", "size_clustered", "scores_without", "scores_clustered")


def panel_table(results: Results) -> str:
    """What question effects integrated out add on every set, as `make panel` stored it."""
    rows = []
    for _, row in results.table("panel/summary.csv").iterrows():
        relative = f"{row['relative_sigma']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
        ratios = f"{row['without_ratio']:.2f}, {row['with_ratio']:.2f}"
        gain = f"{row['gain_several']:.4f} ({row['gain_several_se']:.4f}), {row['held_out_member']}"
        several = f"{row['several']:,} of {row['questions']:,}"
        rows.append((row["title"], row["member"], several, relative, f"{row['twice_gain']:,.0f}", ratios, gain))
    columns = [
        "set",
        "member",
        "questions with several",
        "sigma over the scores' spread",
        "2 x log-likelihood gained",
    ]
    return markdown_table(
        rows, [*columns, "errors over clustered: without, with", "held-out log-loss gained there, by"]
    )


def blocks_table(results: Results) -> str:
    """What every further block does on the sets that have data for it."""
    rows = []
    table = results.table("panel/blocks.csv")
    for _, row in table[table["gain"].notna()].iterrows():
        size = "" if pd.isna(row["spread"]) else f"{row['spread']:.2f}"
        by_question = "" if pd.isna(row["p_by_question"]) else f"{row['p_by_question']:.2g}"
        tests = f"{row['twice_gain']:.1f}", f"{row['p']:.2g}", by_question
        gain = f"{row['gain']:.4f} ({row['gain_se']:.4f})"
        rows.append((row["title"], row["block"], size, *tests, gain, f"{row['correlation']:.4f}"))
    columns = ["set", "block", "standard deviation", "2 x log-likelihood gained", "p", "p, by question"]
    return markdown_table(rows, [*columns, "held-out log-loss gained", "correlation of scores with and without"])


def question_coverage_table(results: Results) -> str:
    """What intervals of the scores hold in simulation, where the answers of a model differ in quality."""
    designs = {"one pair": "150, one pair each, four judges", "many pairs": "30, ten pairs each, four judges"}
    table, rows = results.table("panel/coverage.csv"), []
    for design, title in designs.items():
        of = table[(table["design"] == design) & (table["question_sd"] == 1)].set_index("intervals")
        held = (of.loc[kind] for kind in ("without", "with", "clustered"))
        rows.append((title, *(f"{row['covered']:.3f} ({row['covered_se']:.3f})" for row in held)))
    return markdown_table(rows, ["questions", "without question effects", "with", "clustered"])


def found_table(results: Results) -> str:
    """How often tests find a simulated block, and what intervals hold."""
    rows = []
    for _, row in results.table("panel/block_coverage.csv").iterrows():
        shares = (
            _share(row, name)
            for name in (
                "rejected",
                "rejected_by_question",
                "size_clustered",
                "scores_without",
                "scores_clustered",
            )
        )
        rows.append((row["block"], f"{row['size']:g}", f"{row['question_sd']:g}", *shares))
    columns = ["block", "size", "sigma of answers", "found, p < .05", "found, by question", "coverage of size"]
    return markdown_table(rows, [*columns, "coverage of scores without the block", "with it, by question"])


def _share(row: pd.Series, name: str) -> str:
    return "" if pd.isna(row[name]) else f"{row[name]:.2f} ({row[f'{name}_se']:.2f})"
