"""What the documentation shows of new models on the human scale."""

from __future__ import annotations

import pandas as pd

from judgerank.plots.colours import NAMES
from replication.auditing.results import Results

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
        off = (f"{of.at[way, 'error']:.1f} ({of.at[way, 'error_se']:.1f})" for way in SHOWN)
        held = (f"{board[name]:.3f} ({board[f'{name}_se']:.3f})" for name in ("held", "held_conformal"))
        rows.append((board["board"], *off, *held, f"{board['informative']:.2f}"))
    columns = [
        "board",
        *SHOWN.values(),
        "coverage: interval",
        "coverage: conformal",
        "judges found to predict people",
    ]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def null_boards_table(results: Results) -> str:
    """Boards on which judges, or models, have nothing to find: coverage, and how often judges are believed."""
    boards = results.table("human_scale/boards.csv")
    found = pd.concat([boards[boards["board"] == UNRELATED], results.table("human_scale/nulls.csv")])
    rows = []
    for _, board in found.iterrows():
        held = (f"{board[name]:.3f} ({board[f'{name}_se']:.3f})" for name in ("held_conformal", "held"))
        wide, told = f"{board['width_conformal']:.0f}", f"{board['informative']:.2f}"
        rows.append((board["board"], *held, wide, told, str(board["n_replications"])))
    columns = ["board", "coverage: conformal", "coverage: interval", "width of the conformal interval"]
    columns += ["judges found to predict people", "simulated boards"]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


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
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))
