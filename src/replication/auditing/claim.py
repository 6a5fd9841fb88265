"""What it takes to decide a claim made in words: outcomes, the rule for counts, and a list of checks."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import pandas as pd

from replication.auditing.finding import PUBLIC, TITLES
from replication.auditing.results import Missing, Results

STATED = (
    "Counts are over cells, judges or models. Where standard errors are stored, a cell speaks for or against a "
    "claim only if it does so by more than two of them. A claim does not hold if more than half of the cells "
    "speak against it, and holds in part if some do. If none does, it holds; but a change in some direction is "
    "not decided unless more than half speak for it. What the paper says of its own ranks and intervals is about "
    "estimates from the same data, where errors play no part."
)


class Outcome(StrEnum):
    """What becomes of a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    UNDECIDED = "not decided"
    FAILS = "does not hold"
    UNCHECKED = "not checkable"


Decided = tuple[Outcome, str]
Check = Callable[[Results], Decided]
CHECKS: dict[str, Check] = {}


def claim(check: Check) -> Check:
    """Let a function decide the claim of its name."""
    CHECKS[check.__name__] = check
    return check


def against(contrary: int, of: int, speak_for: int | None = None) -> Outcome:
    """The outcome of a claim about `of` cells when `contrary` of them speak against it.

    Parameters
    ----------
    contrary, of : int
    speak_for : int, optional
        Of a change in some direction, how many cells show it beyond doubt.

    Raises
    ------
    Missing
        If there are no cells.
    """
    if of == 0:
        raise Missing("there are no cells to count")
    if contrary == 0:
        undecided = speak_for is not None and speak_for <= of / 2
        return Outcome.UNDECIDED if undecided else Outcome.HOLDS
    return Outcome.FAILS if contrary > of / 2 else Outcome.PARTLY


def real(results: Results, name: str) -> pd.DataFrame:
    """A stored table that is not a surrogate's.

    Raises
    ------
    Missing
        If it is not stored, or only for a surrogate.
    """
    if not results.real(name):
        results.path(name)  # says so if there is none at all
        raise Missing(f"only a surrogate's {name} is stored")
    return results.table(name)


def tables_of(text: str) -> list[str]:
    """The tables that a claim names; ``{public}`` and ``{set}`` stand for the public sets and for all."""
    names = {"{public}": PUBLIC, "{set}": tuple(TITLES)}
    found = []
    for table in filter(None, text.split(";")):
        mark = next((mark for mark in names if mark in table), None)
        found += [table.replace(mark, name) for name in names[mark]] if mark else [table]
    return found
