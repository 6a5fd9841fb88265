"""Result of a gate: the verdict, and the tests of every criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judgerank.data.listing import counted
from judgerank.gating.answer_pairs import Pair
from judgerank.gating.checks import Checks
from judgerank.gating.decision import Category, Evidence
from judgerank.gating.judged import Judged
from judgerank.gating.own_votes import OwnVotes
from judgerank.gating.rule import Rule
from judgerank.gating.scores import Scores

EXIT = {"ship": 0, "block": 1, "inconclusive": 2}


@dataclass(frozen=True, eq=False, repr=False)
class Criterion:
    """One criterion's judgments, scores and tests; `p_block` with Holm's adjustment over all criteria.

    `judged` has the questions that count, and `silent` the judges without an answer to any question.
    """

    name: str
    judged: Judged
    scores: Scores
    evidence: Evidence
    p_block: float
    silent: tuple[str, ...]
    checks: Checks

    def __repr__(self) -> str:
        seen = self.evidence
        tested = f"p_ship {seen.p_ship:.3f}, p_block {self.p_block:.3f}"
        counts = f"win rate {seen.win_rate:.3f} on {counted(seen.questions, 'question')}"
        return f"<Criterion {self.name}: {counts}, {tested}>"


@dataclass(frozen=True)
class OtherUnit:
    """What a verdict would be if the values of another column were what was sampled.

    Attributes
    ----------
    name : str
    size : int
        How many values there are, on the criterion with fewest.
    verdict : str
    evidences : tuple of Evidence
        By criterion.
    """

    name: str
    size: int
    verdict: str
    evidences: tuple[Evidence, ...]


@dataclass(frozen=True, eq=False)
class Result:
    """A verdict.

    Attributes
    ----------
    verdict : str
        ``ship``, ``block`` or ``inconclusive``.
    rule : Rule
    criteria : tuple of Criterion
    needed : int, optional
        Further questions that probably decide; None where it is decided, or none would do.
    cost : float, optional
        What these cost, where a question's cost is known, in the `currency`.
    own : OwnVotes
        Judges by the maker of one of the two models.
    with_related, without_related : str, optional
        The verdict with their votes, and without them; None where there are none, or nobody else is without them.
    after : Rule, optional
        That of the next look, at which so many further questions probably decide; None where none is to come.
    uninformative : mapping of str to str
        Judges whose answers say nothing about the variants (`gating.uninformative`), and what they do.
    without_uninformative : str, optional
        The verdict without them; None where there are none or nobody else.
    categories : tuple of Category
        The candidate by category of questions, the most different first; none where there are no categories.
    for_this_panel : str, optional
        The verdict for this panel alone, where its judges differ significantly.
    without_losses : str, optional
        The verdict with missing answers for neither side, where some count as losses.
    for_random_orders : str, optional
        The verdict if the order of every answer was drawn at random, where judges with few answers are
        compared with themselves.
    texts : mapping of str to Pair
        Questions with both answers, by id, where they are known.
    remarks : tuple of str
        What to know of how the judgments were read.
    by_other_units : tuple of OtherUnit
        The verdict by other columns that may name what was sampled.
    requests : tuple of mapping
        Requests that left judgments out (`Judgments.requests`).
    """

    verdict: str
    rule: Rule
    criteria: tuple[Criterion, ...]
    needed: int | None = None
    cost: float | None = None
    currency: str = "USD"
    own: OwnVotes = field(default_factory=OwnVotes)
    with_related: str | None = None
    without_related: str | None = None
    after: Rule | None = None
    uninformative: Mapping[str, str] = field(default_factory=dict)
    without_uninformative: str | None = None
    categories: tuple[Category, ...] = ()
    for_this_panel: str | None = None
    without_losses: str | None = None
    for_random_orders: str | None = None
    texts: Mapping[str, Pair] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    requests: tuple[Mapping[str, Any], ...] = ()
    by_other_units: tuple[OtherUnit, ...] = ()

    @property
    def worst_category(self) -> Category | None:
        """The category in which the candidate does worst; of those where it is significantly worse, if it is."""
        worse = [category for category in self.categories if category.differs and category.win_rate < 0.5]
        return min(worse or self.categories, key=lambda category: category.win_rate, default=None)

    @property
    def related(self) -> tuple[str, ...]:
        """Judges by the maker of one of the two models."""
        return self.own.judges

    @property
    def next_look(self) -> int | None:
        """What ``--look`` is at the next look, where further questions decide; None where there is none."""
        if self.after is None or self.needed is None:
            return None
        return self.after.look if self.after.run is None else self.after.run

    @property
    def exit_code(self) -> int:
        """0 ship, 1 block, 2 inconclusive."""
        return EXIT[self.verdict]

    @property
    def different(self) -> tuple[Criterion, ...]:
        """Criteria that speak against the candidate, though it ships since it is within the margin."""
        differing = [criterion for criterion in self.criteria if criterion.p_block <= self.rule.level]
        return tuple(differing) if self.verdict == "ship" else ()

    @property
    def failed(self) -> tuple[Criterion, ...]:
        """Criteria that are significantly worse, where the verdict is block."""
        worse = [criterion for criterion in self.criteria if criterion.p_block <= self.rule.level]
        return tuple(worse) if self.verdict == "block" else ()
