"""Every figure of the paper beside ours: what each shows, and which stored tables ours is drawn from."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from replication.auditing.registry import items
from replication.auditing.results import Results
from replication.tables import markdown_table

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
        stored = [path for name in row.files if (path := results.figure(name))]
        tables = [name for name in row.drawn_from if results.real(name)]
        entries = [(f"**{head}**", getattr(row, key)) for key, head in HEADS.items() if getattr(row, key)]
        root = results.folder.parent
        links = {name: results.path(name)[0].relative_to(root).as_posix() for name in tables}
        drawn = ", ".join(f"[{name}](../../{address})" for name, address in links.items())
        rows = [*entries, ("**drawn from**", drawn)]
        images = [f"![{row.item}: {row.title}](../{path.relative_to(root).as_posix()})" for path in stored]
        parts.append("\n\n".join([f"## {row.item}: {row.title}", markdown_table(rows, ["", ""]), *images]))
    return "\n\n".join(parts)


def _split(names: str) -> list[str]:
    return [name for name in names.split(";") if name]
