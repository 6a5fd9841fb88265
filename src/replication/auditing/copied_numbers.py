"""Numbers that the paper copied: what their sources have, or what a model's name says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from replication import published
from replication.auditing.results import Missing
from replication.model_sizes import size_in_name

WITH_UNIT = re.compile(r"(-?\d+(?:\.\d+)?)([BTM]?)")


class Agreement(StrEnum):
    """How a printed number agrees with its sources."""

    EQUAL = "a source at first hand has it, or another source has it and none at first hand has another number"
    DIFFERENT = "a source at first hand has another number, and no other source has the printed one"
    DISPUTED = "a source at first hand has another number, and another source has the printed one"
    UNKNOWN = "no source at first hand says, and other sources have other numbers"


@dataclass(frozen=True)
class Copied:
    """A copied number in one of its sources.

    Attributes
    ----------
    text : str
        As the source has it, with its unit.
    reason : str
        Where it stands, and how the source was read.
    is_first_hand : bool
        Whether the paper names the source, or the model's maker wrote it.
    """

    text: str
    reason: str
    is_first_hand: bool

    def matches(self, printed: str) -> bool:
        """Whether the source's number, rounded to the printed decimals, is the printed one in the same unit."""
        (ours, unit), (paper, paper_unit) = (WITH_UNIT.fullmatch(text).groups() for text in (self.text, printed))
        return unit == paper_unit and published.as_printed(float(ours), paper) == paper

    def is_coarser(self, printed: str) -> bool:
        """Whether the source has fewer decimals, and the printed number rounded to them is the source's."""
        (ours, unit), (paper, paper_unit) = (WITH_UNIT.fullmatch(text).groups() for text in (self.text, printed))
        has_fewer = len(ours.partition(".")[2]) < len(paper.partition(".")[2])
        return has_fewer and unit == paper_unit and published.as_printed(float(paper), ours) == ours

    def number(self) -> float | str:
        """The number, where it has no unit; else the text."""
        return self.text if self.text[-1].isalpha() else float(self.text)


def copied(table: str, row: str, column: str) -> list[Copied]:
    """What the sources of a printed number have, the best source first; of a size, the model's name if it has one.

    Raises
    ------
    Missing
        If no source that was read has the number.
    """
    named = size_in_name(row) if column == "size" else None
    if named:
        return [Copied(f"{named.billions:g}B", f"the model's name ({named.counted})", True)]
    listed = published.cited().query("table == @table and row == @row and column == @column")
    if listed.empty:
        raise Missing("no source is listed")
    origins = listed["source"] + ", " + listed["place"]
    sources = [
        Copied(row.value, f"{origin} ({row.read})", row.authority != "other")
        for row, origin in zip(listed.itertuples(), origins, strict=True)
        if row.value
    ]
    if not sources:
        raise Missing(f"{origins.iloc[0]}: not found in a public copy")
    return sorted(sources, key=lambda source: not source.is_first_hand)


def agreement(printed: str, sources: list[Copied]) -> Agreement:
    """How a printed number agrees with what its sources have.

    A source that rounds the printed number further says nothing against it, and does not show that it was copied.
    """
    if any(source.is_first_hand and source.matches(printed) for source in sources):
        return Agreement.EQUAL
    is_contradicted = any(source.is_first_hand and not source.is_coarser(printed) for source in sources)
    is_elsewhere = any(source.matches(printed) for source in sources)
    if is_contradicted:
        return Agreement.DISPUTED if is_elsewhere else Agreement.DIFFERENT
    return Agreement.EQUAL if is_elsewhere else Agreement.UNKNOWN
