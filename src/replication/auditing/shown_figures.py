"""Every figure of the paper beside ours: what each shows, and which stored tables ours is drawn from."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from replication.auditing.registry import items
from replication.auditing.results import Results
from replication.auditing.shown_panel import grid

COMPARED = Path(__file__).with_name("figures.csv")
HEADS = {"paper_shows": "the paper's shows", "ours_adds": "ours adds", "differs": "differs"}


def figures() -> pd.DataFrame:
    """The paper's figures in its order: ``item, title, paper_shows, ours_adds, differs, drawn_from, files``.

    The last two are lists of paths, below results/ and figures/.
    """
    compared = pd.read_csv(COMPARED, dtype=str, keep_default_na=False)
    frame = items().merge(compared, on="item", validate="one_to_one")
    listed = {
        "drawn_from": [_split(f"{a};{b}") for a, b in zip(frame["tables"], frame["also_drawn_from"], strict=True)],
        "files": frame["figures"].map(_split),
    }
    return frame.assign(**listed)[["item", "title", *HEADS, *listed]]


def figures_page(results: Results) -> str:
    """Every figure with its image and a short table, for a page two folders below the project."""
    parts = []
    for row in figures().itertuples():
        # a figure may wait for data that only the hub has
        files = [name for name in row.files if (results.folder.parent / "figures" / name).is_file()]
        tables = [name for name in row.drawn_from if (results.folder / name).is_file()]
        told = [(f"**{head}**", getattr(row, key)) for key, head in HEADS.items() if getattr(row, key)]
        drawn = ", ".join(f"[{name}](../../results/{name})" for name in tables)
        rows = [*told, ("**drawn from**", drawn)]
        images = [f"![{row.item}: {row.title}](../figures/{name})" for name in files]
        parts.append("\n\n".join([f"## {row.item}: {row.title}", grid(rows, ["", ""]), *images]))
    return "\n\n".join(parts)


def _split(names: str) -> list[str]:
    return [name for name in names.split(";") if name]
