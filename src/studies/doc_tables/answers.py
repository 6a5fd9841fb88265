"""Tables that the documentation shows of graded answers, rankings of several answers, and the human scale."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from judgerank.plots.looks import NAMES
from replication.auditing.results import Results
from replication.tables import markdown_table

# What the documentation shows of answers that say how strong they are.
READ = ("levels", "shares")  # ways to read a pair of scores
MOST_LEVELS = 7


def graded_table(results: Results) -> str:
    """Simulated judges with five levels: judgments that one replaces, and coverage of every way."""
    table, rows = results.table("graded/strength.csv").set_index(["setting", "way"]), []
    for setting in dict.fromkeys(table.index.get_level_values("setting")):
        of = table.loc[setting]
        gain = f"{of.at['strength', 'gain']:.2f} ({of.at['strength', 'gain_se']:.2f})"
        cells = [(kind, variant) for variant in ("strength", "winner or tie") for kind in ("plug_in", "clustered")]
        held = (
            f"{of.at[variant, f'covered_{kind}']:.3f} ({of.at[variant, f'covered_{kind}_se']:.3f})"
            for kind, variant in cells
        )
        rows.append((setting, gain, *held))
    columns = ["judges", "judgments that one replaces", "coverage: strength", "the same, clustered"]
    columns += ["coverage: winner or tie", "the same, clustered "]
    equal = results.table("graded/equal.csv").set_index("way")
    shares = "; ".join(
        (
            f"{variant}, {equal.at[variant, 'separated_plug_in']:.2f} "
            f"({equal.at[variant, 'separated_plug_in_se']:.2f})"
        )
        for variant in equal.index
    )
    note = f"Share of sets of judgments of equal models in which any two are significantly different: {shares}."
    return f"{markdown_table(rows, columns)}\n\n{note}"


def levels_table(results: Results) -> str:
    """Simulated judges with seven levels: judgments on fewer levels that one replaces, and coverage by each."""
    rows = []
    for _, row in results.table("graded/levels.csv").iterrows():
        held = (f"{row[name]:.3f} ({row[f'{name}_se']:.3f})" for name in ("covered_plug_in", "covered_clustered"))
        gain, saved = f"{row['gain']:.2f} ({row['gain_se']:.2f})", f"{1 - 1 / row['gain']:.0%}"
        gain_cells = ("", "") if row["levels"] == MOST_LEVELS else (gain, saved)
        rows.append((row["setting"].removeprefix("seven levels, "), str(row["levels"]), *gain_cells, *held))
    columns = ["judges", "levels used", "judgments that one on seven replaces", "judgments that seven save"]
    columns += ["coverage", "coverage, clustered"]
    return markdown_table(rows, columns)


def scores_table(results: Results) -> str:
    """Simulated judges that score both answers: what levels and shares of a win add to winners and ties."""
    table, rows = results.table("graded/scores.csv").set_index(["setting", "way"]), []
    for setting in dict.fromkeys(table.index.get_level_values("setting")):
        of = table.loc[setting]
        gains = (f"{of.at[variant, 'gain']:.2f} ({of.at[variant, 'gain_se']:.2f})" for variant in READ)
        losses = (
            f"{of.at[variant, 'loss_difference']:+.4f} ({of.at[variant, 'loss_difference_se']:.4f})"
            for variant in READ
        )
        rows.append((setting, *gains, *losses))
    columns = ["judges", *(f"pairs that one replaces: {variant}" for variant in READ)]
    columns += [f"held-out log-loss: {variant}" for variant in READ]
    return markdown_table(rows, columns)


def confidence_table(results: Results) -> str:
    """Held-out log-loss of winner or tie on the real sets, with confidence as strength and without."""
    all_questions, few = (
        results.table(f"graded/{name}.csv").set_index(["dataset", "way"]) for name in ("confidence", "few")
    )
    rows = []
    for name in dict.fromkeys(all_questions.index.get_level_values("dataset")):
        cells = [f"{all_questions.at[(name, 'winner or tie'), 'log_loss']:.4f}"]
        for table in (all_questions, few):
            for variant in ("confidence as strength", "shuffled confidence"):
                row = table.loc[(name, variant)]
                cells.append(f"{row['difference']:+.4f} ({row['difference_se']:.4f})")
        rows.append((NAMES[name], *cells))
    columns = ["data set", "winner or tie", "with confidence", "with shuffled confidence"]
    columns += ["few judgments: with confidence", "few judgments: shuffled"]
    return markdown_table(rows, columns)


# What the documentation shows of new models on the human scale.
UNRELATED = "judges unrelated to people"
SHOWN = {
    "all verdicts in BT": "all verdicts, as they are",
    "people as a judge": "people as a judge",
    "people as a judge, ties as an outcome": "the same, ties as an outcome",
    "human scale": "human scale",
    "human scale, verdicts with strength": "the same, with strength",
}


def human_boards_table(results: Results) -> str:
    """Simulated boards: errors of the ways to place a new model, and coverage."""
    errors = results.table("human_scale/errors.csv").set_index(["board", "way"])
    rows = []
    for _, board in results.table("human_scale/boards.csv").iterrows():
        of = errors.loc[board["board"]]
        off = (f"{of.at[variant, 'error']:.1f} ({of.at[variant, 'error_se']:.1f})" for variant in SHOWN)
        held = (f"{board[name]:.3f} ({board[f'{name}_se']:.3f})" for name in ("held", "held_conformal"))
        rows.append((board["board"], *off, *held, f"{board['informative']:.2f}"))
    columns = [
        "board",
        *SHOWN.values(),
        "coverage: interval",
        "coverage: conformal",
        "judges found to predict people",
    ]
    return markdown_table(rows, columns)


def null_boards_table(results: Results) -> str:
    """Boards on which judges, or models, have nothing to find: coverage, and how often judges are believed."""
    boards = results.table("human_scale/boards.csv")
    null_boards = pd.concat([boards[boards["board"] == UNRELATED], results.table("human_scale/nulls.csv")])
    rows = []
    for _, board in null_boards.iterrows():
        held = (f"{board[name]:.3f} ({board[f'{name}_se']:.3f})" for name in ("held_conformal", "held"))
        wide, informative = f"{board['width_conformal']:.0f}", f"{board['informative']:.2f}"
        rows.append((board["board"], *held, wide, informative, str(board["n_replications"])))
    columns = ["board", "coverage: conformal", "coverage: interval", "width of the conformal interval"]
    columns += ["judges found to predict people", "simulated boards"]
    return markdown_table(rows, columns)


def left_off_table(results: Results) -> str:
    """Human boards with each model left out: errors of every way, and what intervals hold."""
    rows = []
    for _, row in results.table("human_scale/arenas.csv").iterrows():
        spread = f"{row['error']:.1f} ({row['error_se']:.1f})"
        held = [f"{row[x]:.0%}" if pd.notna(row[x]) else "" for x in ("held", "held_conformal")]
        wide = f"{row['width_conformal']:.0f}" if pd.notna(row["width_conformal"]) else ""
        rows.append(
            (NAMES.get(row["arena"], row["arena"]), row["way"], spread, f"{row['spearman']:.3f}", *held, wide)
        )
    columns = [
        "board",
        "way",
        "error",
        "Spearman",
        "coverage: interval",
        "coverage: conformal",
        "width of the conformal interval",
    ]
    return markdown_table(rows, columns)


# What the documentation shows of rankings of several answers.


def rankings_table(results: Results) -> str:
    """Rankings fitted whole and broken into pairs: information, coverage, and the stretch of scores."""
    table, rows = results.table("rankings/fits.csv").set_index(["setting", "way"]), []
    for setting in [setting for setting, variant in table.index if variant == "pairs"]:
        cells = [("pairs_worth", "whole"), ("covered_plug_in", "whole")]
        cells += [("covered_plug_in", "pairs"), ("covered_clustered", "pairs")]
        cells += [("stretch", "whole"), ("stretch", "pairs")]
        rows.append((setting, *_cells(table.loc[setting], cells)))
    columns = ["rankings", "pair judgments per ranking", "coverage: whole", "coverage: pairs"]
    columns += ["coverage: pairs, clustered", "spread: whole", "spread: pairs"]
    return markdown_table(rows, columns)


def ranking_orders_table(results: Results) -> str:
    """Kendall's tau with the true order, judges weighted, judges alike and mean ranks; and equal models."""
    table, rows = results.table("rankings/fits.csv").set_index(["setting", "way"]), []
    for setting in [setting for setting, variant in table.index if variant == "whole, shrunk"]:
        variants = ("whole, shrunk", "whole, judges alike", "mean ranks")
        rows.append((setting, *_cells(table.loc[setting], [("tau", variant) for variant in variants])))
    columns = ["rankings", "judges weighted", "judges alike", "mean ranks"]
    equal = results.table("rankings/equal.csv").set_index(["setting", "way"])
    shares = "; ".join(
        f"{setting.removeprefix('equal models, ')}, {variant.removesuffix(', shrunk')}: "
        f"{row['separated_plug_in']:.3f} ({row['separated_plug_in_se']:.3f})"
        for (setting, variant), row in equal.iterrows()
    )
    sets = f"{equal['n_replications'].max()} sets of rankings of equal models"
    note = f"Share of {sets} in which any two are separated: {shares}."
    return f"{markdown_table(rows, columns)}\n\n{note}"


def _cells(of: pd.DataFrame, cells: Iterable[tuple[str, str]]) -> list[str]:
    """Means with their Monte Carlo errors."""
    return [f"{of.at[variant, name]:.2f} ({of.at[variant, f'{name}_se']:.2f})" for name, variant in cells]
