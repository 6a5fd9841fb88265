"""What claims in words and findings are: outcomes, the rule for counts, the estimator, checks of the stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pandas as pd

from replication.auditing.results import Missing, Results

ESTIMATORS = Path(__file__).with_name("estimators.csv")
STATED = (
    "Counts are over cells, judges or models. Where standard errors are stored, a cell speaks for or against a "
    "claim only if it does so by more than two of them; a cell whose error is not known is not counted. A claim "
    "does not hold if more than half of the cells "
    "speak against it, and holds in part if some do. If none does, it holds; but a change in some direction is "
    "not decided unless more than half speak for it. What the paper says of its own ranks and intervals is about "
    "estimates from the same data, where errors play no part. Every claim names its estimator and its measure. "
    "They are those of the printed numbers about the same thing, where there are any. The column on Algorithm "
    "A.1 has the outcome by the paper's own algorithm, where its estimates are stored."
)


class Estimator(StrEnum):
    """How estimates were computed, as stored tables name it."""

    EXACT = "exact"
    BOX = "box"
    ALGORITHM_1 = "Algorithm A.1"
    NONE = ""


class Outcome(StrEnum):
    """What becomes of a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    UNDECIDED = "not decided"
    FAILS = "does not hold"
    UNCHECKED = "not checkable"


@cache
def estimator_rules() -> tuple[dict[str, str], ...]:
    """Which stored rows are by which estimator.

    Returns
    -------
    tuple of dict
        ``reads`` (a stored table, or a pattern), ``estimator``; where these estimates are in another table,
        ``table``; conditions on its rows in ``where``; ``column`` if each estimator has its own.
    """
    return tuple(pd.read_csv(ESTIMATORS, dtype=str, keep_default_na=False).to_dict("records"))


def estimator_of(source: str, where: str, column: str) -> Estimator:
    """The estimator behind stored values; none if they are no estimates.

    Parameters
    ----------
    source, where, column : str
        As the registry of printed numbers names them.
    """
    conditions = set(where.split("; "))
    for rule in estimator_rules():
        is_table = fnmatch(source, rule["table"] or rule["reads"])
        is_column = rule["column"] in ("", column)
        if is_table and is_column and set(filter(None, [rule["where"]])) <= conditions:
            return Estimator(rule["estimator"])
    return Estimator.NONE


@dataclass(frozen=True)
class Estimates:
    """The stored tables by one estimator.

    Attributes
    ----------
    results : Results
    estimator : Estimator
    read : list of str
        Names of the tables read so far.
    """

    results: Results
    estimator: Estimator
    read: list[str] = field(default_factory=list)

    def table(self, name: str) -> pd.DataFrame:
        """The rows of a stored table that are by this estimator; all rows if the table has no estimates.

        Raises
        ------
        Missing
            If they are not stored, or only for a surrogate.
        """
        rules = [rule for rule in estimator_rules() if fnmatch(name, rule["reads"])]
        chosen = [rule for rule in rules if rule["estimator"] == self.estimator]
        if rules and not chosen:
            raise Missing(f"{name} has no estimates by {self.estimator or 'no estimator'}")
        rule = chosen[0] if chosen else {"table": "", "where": "", "column": ""}
        stored = rule["table"] or name
        if stored not in self.read:
            self.read.append(stored)
        if not self.results.real(stored):
            self.results.path(stored)  # raises if there is none at all
            raise Missing(f"only a surrogate's {stored} is stored")
        rows = self.results.rows(stored, rule["where"])
        return rows.rename(columns={rule["column"]: "estimate"}) if rule["column"] else rows


Decided = tuple[Outcome, str]
Check = Callable[[Estimates], Decided]
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


FindingCheck = Callable[[Results], tuple[bool, str]]
PUBLIC = ("chatbot_arena", "mt_bench", "ultrafeedback")
TITLES = {
    "chatbot_arena": "Chatbot Arena",
    "mt_bench": "MT-Bench",
    "ultrafeedback": "UltraFeedback",
    "in_house": "in-house",
}


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes
    ----------
    name : str
        As the registry refers to it.
    title : str
    check : callable
        From the stored results to whether it holds, and the statement with its numbers.
    evidence : tuple of str
        Stored tables (under results/) it rests on.
    command : str
        What computes them.
    figure : str
        A stored figure that shows it (under figures/), or nothing.
    """

    name: str
    title: str
    check: FindingCheck
    evidence: tuple[str, ...]
    command: str
    figure: str = ""


@dataclass(frozen=True)
class CheckedFinding:
    """A finding as the stored results have it.

    Attributes
    ----------
    finding : Finding
    holds : bool or None
        None where its evidence is not stored.
    text : str
        The statement, or what is missing.
    """

    finding: Finding
    holds: bool | None
    text: str


def finding(title: str, command: str, *evidence: str, figure: str = "") -> Callable[[FindingCheck], Finding]:
    """Make a check a finding under its own name."""
    return lambda check: Finding(check.__name__, title, check, evidence, command, figure)


def check_finding(finding: Finding, results: Results) -> CheckedFinding:
    """Whether a finding holds, or what is missing to say so."""
    try:
        holds, text = finding.check(results)
        return CheckedFinding(finding, bool(holds), text)
    except (Missing, KeyError, IndexError) as error:
        return CheckedFinding(
            finding, None, f"Not checkable: {error if isinstance(error, Missing) else f'no entry {error}'}."
        )


def stored_sets(results: Results, name: str) -> list[str]:
    """Sets, public ones first, whose table (with ``{}`` for the set) is stored and not of a surrogate.

    Raises
    ------
    Missing
        If there is none.
    """
    names = [set_name for set_name in TITLES if results.real(name.format(set_name))]
    if not names:
        raise Missing(f"{name.format('<set>')} is stored for no set")
    return names
