"""What a finding is: a statement with numbers out of the stored results, and a check of whether it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judgerank.auditing.audit import Results

Check = Callable[[Results], tuple[bool, str]]


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


def finding(title: str, command: str, *evidence: str, figure: str = "") -> Callable[[Check], Finding]:
    """Make a check a finding under its own name."""
    return lambda check: Finding(check.__name__, title, check, evidence, command, figure)
