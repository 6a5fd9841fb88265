"""What a finding is: a statement with numbers out of the stored results, and a check of whether it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from replication.auditing.results import Missing, Results

Check = Callable[[Results], tuple[bool, str]]
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
    check: Check
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


def finding(title: str, command: str, *evidence: str, figure: str = "") -> Callable[[Check], Finding]:
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
