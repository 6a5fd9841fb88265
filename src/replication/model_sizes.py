"""Sizes of language models: what a name says, what the paper prints, and all parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

import pandas as pd

from replication import published

UNITS = {"B": 1.0, "T": 1000.0}
SIZE = re.compile(r"(?<![A-Za-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![A-Za-z0-9])", re.IGNORECASE)
EXPERTS = re.compile(r"-\d+E(?![A-Za-z0-9])")


class Counted(StrEnum):
    """What the size in a name counts."""

    ALL = "all parameters"
    ACTIVE = "active parameters"
    EXPERTS = "number of experts times the size of one"


@dataclass(frozen=True)
class NamedSize:
    """The size in a name.

    Attributes
    ----------
    billions : float
    counted : Counted
    """

    billions: float
    counted: Counted


def size_in_name(name: str) -> NamedSize | None:
    """The size that a model's name states, such as 235B, 1.5b or 8x7B; None if it states none.

    Active parameters (A22B) and effective ones (E4B) are no sizes. Where a name counts its experts (17B-128E), its
    size is that of the active parameters.
    """
    match = SIZE.search(name)
    if not match:
        return None
    experts, size = match.groups()
    if experts:
        return NamedSize(int(experts) * float(size), Counted.EXPERTS)
    return NamedSize(float(size), Counted.ACTIVE if EXPERTS.search(name) else Counted.ALL)


def billions(text: str) -> float:
    """A size such as 8.4B or 1T in billions of parameters; NaN for a dash."""
    return float(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else float("nan")


def printed_sizes() -> pd.Series:
    """Billions of parameters by judge as Table A.8 prints them; NaN for a dash."""
    return published.table("judge_discrimination")["size"].map(billions)


def all_parameters() -> pd.Series:
    """Billions of parameters by judge, with all of them where the printed size counts otherwise (`cited.csv`)."""
    cited = published.cited()
    totals = cited[cited["column"] == "all_parameters"].set_index("row")["value"].map(billions)
    sizes = printed_sizes()
    return sizes.where(~sizes.index.isin(totals.index), totals.reindex(sizes.index))
