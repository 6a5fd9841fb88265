"""What it takes to decide a claim made in words: outcomes, the rule for counts, and a list of checks."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import pandas as pd

from replication.auditing.finding import PUBLIC, TITLES
from replication.auditing.results import Missing, Results

STATED = (
    "Counts are over cells, judges or models. Where standard errors are stored, a cell speaks against a claim "
    "only "
    "if it does so by more than two of them. A claim holds if nothing speaks against it, does not hold if more "
    "than "
    "half does, and else holds in part."
)


class Outcome(StrEnum):
    """What becomes of a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNCHECKED = "not checkable"


Decided = tuple[Outcome, str]
Check = Callable[[Results], Decided]
CHECKS: dict[str, Check] = {}


def claim(check: Check) -> Check:
    """Let a function decide the claim of its name."""
    CHECKS[check.__name__] = check
    return check


def against(contrary: int, of: int) -> Outcome:
    """The outcome of a claim about `of` cells when `contrary` of them speak against it.

    Raises
    ------
    Missing
        If there are no cells.
    """
    if of == 0:
        raise Missing("there are no cells to count")
    if contrary == 0:
        return Outcome.HOLDS
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
