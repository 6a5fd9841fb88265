"""The decision: ship, block, or inconclusive and how many more questions would decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from judgerank.adaptive.spending import spent_at
from judgerank.data.errors import ConfigError
from judgerank.gating.bounded import largest, least, p_not_above, p_not_below
from judgerank.gating.scores import Scores
from judgerank.order.flips import p_above

SHIP, BLOCK, INCONCLUSIVE = "ship", "block", "inconclusive"
NON_INFERIORITY, TWO_SIDED, EQUIVALENCE = MODES = ("non-inferiority", "two-sided", "equivalence")


@dataclass(frozen=True)
class Rule:
    """What is to be shown, and how sure one must be.

    Attributes
    ----------
    mode : str
        ``non-inferiority``: ship where the win rate is above one half less the margin, block where the candidate
        is worse. ``two-sided``: ship where it is better, block where it is worse. ``equivalence``: ship where the
        win rate is within the margin of one half, block where the two differ.
    margin : float
        In win rate; from 0 to one half.
    alpha : float
        Chance of a false ship, and chance of a false block, over all looks.
    power : float
        Chance of a decision that "so many more questions" stands for.
    look : int, optional
        Which look at growing data this is, from 1; each spends a part of alpha. None for the only one.
    """

    mode: str = NON_INFERIORITY
    margin: float = 0.05
    alpha: float = 0.05
    power: float = 0.8
    look: int | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ConfigError(f"mode {self.mode!r} is not one of {', '.join(map(repr, MODES))}")
        if not 0 <= self.margin < 0.5 or (self.mode == EQUIVALENCE and self.margin == 0):
            raise ConfigError(
                f"margin {self.margin:g} is out of range: a win rate from 0 to below 0.5 is expected"
            )
        if not 0 < self.alpha < 0.5 or not 0.5 <= self.power < 1:
            raise ConfigError("alpha must be between 0 and 0.5, and power from 0.5 to below 1")
        if self.look is not None and self.look < 1:
            raise ConfigError(f"look {self.look} is out of range: the first look is 1")

    @property
    def level(self) -> float:
        """The error rate of each one-sided test at this look."""
        alpha = self.alpha if self.look is None else spent_at(self.look, self.alpha)
        return alpha / 2 if self.mode == TWO_SIDED else alpha

    @property
    def next_look(self) -> Rule:
        """The rule at the look after this one."""
        return self if self.look is None else replace(self, look=self.look + 1)


@dataclass(frozen=True)
class Evidence:
    """What the questions of one criterion say.

    Attributes
    ----------
    win_rate, low, high : float
        The panel's mean preference for the candidate over questions, and one-sided bounds of it that hold for any
        distribution of scores, each at the level of the look.
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
    x, worse, better = scores.scores, p_above(-scores.differences), p_above(scores.differences)
    p_block = worse
    if rule.mode == TWO_SIDED:
        p_ship = better
    else:
        p_ship = p_not_above(x, 0.5 - rule.margin)
        if rule.mode == EQUIVALENCE:
            p_ship = max(p_ship, p_not_below(x, 0.5 + rule.margin))
            p_block = min(1.0, 2 * min(worse, better))
    return Evidence(len(x), float(x.mean()), least(x, rule.level), largest(x, rule.level), p_ship, p_block)


def outcome(found: Sequence[Evidence], rule: Rule, only_one_order: bool = False) -> str:
    """Ship, block or inconclusive.

    Every criterion must pass for a ship, each at the full level. One that fails is enough for a block, with Holm's
    adjustment, so that the chance of any false block stays at the level.
    """
    if only_one_order:
        return INCONCLUSIVE
    if all(one.p_ship <= rule.level for one in found):
        return SHIP
    return BLOCK if len(found) * min(one.p_block for one in found) <= rule.level else INCONCLUSIVE


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    adjusted, largest_yet = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest_yet = max(largest_yet, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest_yet
    return adjusted
