"""The decision: ship, block, or inconclusive and how many more questions would decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgerank.gating.bounded import largest, least, p_not_above, p_not_below
from judgerank.gating.rule import EQUIVALENCE, TWO_SIDED, Rule
from judgerank.gating.scores import Scores

SHIP, BLOCK, INCONCLUSIVE = "ship", "block", "inconclusive"


@dataclass(frozen=True)
class Evidence:
    """What the questions of one criterion say.

    Attributes
    ----------
    win_rate, low, high : float
        The panel's mean preference for the candidate over questions, less position bias, and one-sided bounds of
        it that hold for any distribution of scores, each at the level of the look.
    p_ship : float
        p-value of "the candidate must not ship".
    p_block : float
        p-value of "nothing speaks against the candidate".
    """

    questions: int
    win_rate: float
    low: float
    high: float
    p_ship: float
    p_block: float


def evidence(scores: Scores, rule: Rule) -> Evidence:
    """Test one criterion."""
    x = scores.within
    worse, better = scores.p_flips(-1), scores.p_flips(1)
    p_block = worse
    if rule.mode == TWO_SIDED:
        p_ship = better
    else:
        p_ship = p_not_above(x, scores.place_of(rule.lowest))
        if rule.mode == EQUIVALENCE:
            p_ship = max(p_ship, p_not_below(x, scores.place_of(rule.highest)))
            p_block = min(1.0, 2 * min(worse, better))
    low, high = (scores.rate_at(bound(x, rule.level)) for bound in (least, largest))
    return Evidence(len(x), scores.win_rate, low, high, p_ship, p_block)


def outcome(evidences: Sequence[Evidence], rule: Rule, only_one_order: bool = False) -> str:
    """Ship, block or inconclusive.

    Every criterion must pass for a ship, each at the full level. One that fails is enough for a block, with Holm's
    adjustment, so that the chance of any false block stays at the level.
    """
    if only_one_order:
        return INCONCLUSIVE
    if all(evidence_of.p_ship <= rule.level for evidence_of in evidences):
        return SHIP
    return (
        BLOCK
        if len(evidences) * min(evidence_of.p_block for evidence_of in evidences) <= rule.level
        else INCONCLUSIVE
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    adjusted, largest_yet = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest_yet = max(largest_yet, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest_yet
    return adjusted
