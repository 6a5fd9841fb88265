"""Numbers that the paper copied: what their sources have, or what a model's name says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from replication import published
from replication.auditing.results import Missing
from replication.model_sizes import size_in_name

WITH_UNIT = re.compile(r"(-?\d+(?:\.\d+)?)([BTM]?)")


@dataclass(frozen=True)
class Copied:
    """A copied number in its source.

    Attributes
    ----------
    text : str
        As the source has it, with its unit.
    reason : str
        Where it was found, and how the source was read.
    """

    text: str
    reason: str

    def matches(self, printed: str) -> bool:
        """Whether the source's number, rounded to the printed decimals, is the printed one in the same unit."""
        (ours, unit), (paper, paper_unit) = (WITH_UNIT.fullmatch(text).groups() for text in (self.text, printed))
        return unit == paper_unit and published.as_printed(float(ours), paper) == paper

    def number(self) -> float | str:
        """The number, where it has no unit; else the text."""
        return self.text if self.text[-1].isalpha() else float(self.text)


def copied(table: str, row: str, column: str) -> Copied:
    """What the source of a printed number has: of a size, the model's name where it states one.

    Raises
    ------
    Missing
        If no source that was read has the number.
    """
    named = size_in_name(row) if column == "size" else None
    if named:
        return Copied(f"{named.billions:g}B", f"the model's name ({named.counted})")
    found = published.cited().query("table == @table and row == @row and column == @column")
    if found.empty:
        raise Missing("no source is listed")
    source = found.iloc[0]
    place = f"{source['source']}, {source['place']}"
    if not source["value"]:
        raise Missing(f"{place}: not found in a public copy")
    return Copied(source["value"], f"{place} ({source['read']})")
