"""How many more questions a decision takes, if the candidate is as good as it looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import sqrt
from statistics import NormalDist

from judgerank.data.arrays import FloatArray
from judgerank.gating.rule import EQUIVALENCE, TWO_SIDED, Rule
from judgerank.gating.scores import Scores

MOST = 1_000_000  # questions; a decision that takes more is called out of reach
PRIOR_QUESTIONS, PRIOR_SPREAD = 2, 0.35  # few questions may look alike by chance
Enough = Callable[[int], bool]


def more_needed(several: list[Scores], after: Rule) -> int | None:
    """Questions beyond those there are, the same for all criteria; None where no number that is in reach decides.

    They decide at the next look, whose rule is `after`.

    That is if the win rate is the observed one: as little as that is known, so far may the count be off.

    The count is approximate: normal quantiles at the observed mean and variance, with the score at the
    unfavourable end that the bound for a ship adds. It is a forecast, and no decision rests on it.
    """
    ships = [_first(partial(_ships, scores, after), len(scores.scores)) for scores in several]
    blocks = [_first(partial(_blocks, scores, after, len(several)), len(scores.scores)) for scores in several]
    ship = None if None in ships else max(n_total for n_total in ships if n_total is not None)
    block = min((n_total for n_total in blocks if n_total is not None), default=None)
    n_more = [total - len(several[0].scores) for total in (ship, block) if total is not None]
    return max(1, min(n_more)) if n_more else None


def _first(enough: Enough, current: int) -> int | None:
    """The least number of questions that is enough, beyond those there are."""
    high = current + 1
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = max(current, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _ships(scores: Scores, rule: Rule, n: int) -> bool:
    x = scores.fair
    if rule.mode == TWO_SIDED:
        return _is_beyond(float(x.mean()) - 0.5, _spread(x), rule, n)
    if rule.mode == EQUIVALENCE:  # both bounds must pass at once
        rule = replace(rule, power=(1 + rule.power) / 2)
        return all(_bounded_above(share, rule.lowest, rule, n) for share in (x, 1 - x))
    return _bounded_above(x, rule.lowest, rule, n)


def _bounded_above(x: FloatArray, threshold: float, rule: Rule, n: int) -> bool:
    """Whether the bound of n such questions and one of score 0 is likely to be above a threshold."""
    mean, spread = float(x.mean()), _spread(x)
    with_zero = n * mean / (n + 1)
    square = n * (spread**2 + mean**2) / (n + 1) - with_zero**2
    return with_zero - threshold >= _z(rule.level) * sqrt(square / (n + 2)) + _z(1 - rule.power) * spread / sqrt(n)


def _blocks(scores: Scores, rule: Rule, criteria: int, n: int) -> bool:
    lead = float(scores.differences.mean())
    distance = abs(lead) if rule.mode == EQUIVALENCE else -lead
    divided = 2 * criteria if rule.mode == EQUIVALENCE else criteria
    n = n * len(scores.differences) // len(scores.scores)  # as large a share of them is in balanced orders
    return _is_beyond(distance, _spread(scores.differences), rule, n, divided)


def _is_beyond(distance: float, spread: float, rule: Rule, n: int, divided: int = 1) -> bool:
    reach = _z(rule.level / divided) + _z(1 - rule.power)
    return 0.5**n <= rule.level / divided and distance >= reach * spread / sqrt(n)


def _spread(values: FloatArray) -> float:
    """Standard deviation over questions, that of a few questions drawn towards a usual one."""
    n = len(values)
    squares = float(((values - values.mean()) ** 2).sum())
    return sqrt((squares + PRIOR_QUESTIONS * PRIOR_SPREAD**2) / (n - 1 + PRIOR_QUESTIONS))


def _z(chance: float) -> float:
    return NormalDist().inv_cdf(1 - chance)
