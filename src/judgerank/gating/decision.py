"""The decision of a gate, exact bounds for means of scores, and the test of every category of questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.gating.judged import Judged
from judgerank.gating.rule import EQUIVALENCE, TWO_SIDED, Rule
from judgerank.gating.scores import Scores

# Exact tests and bounds for the mean of scores between 0 and 1, whatever their distribution.
#
# Gaffke's test (Magdeburg, preprint 13-04; Learned-Miller and Thomas, arXiv:1905.06208): give the n scores and one
# more at the unfavourable end random weights, uniform on the simplex. The p-value is the chance that the weighted
# mean lies beyond the hypothesis. For scores of 0 and 1 it is Clopper and Pearson's test, for one score Markov's
# inequality. Its level is proved where scores take two values, and conjectured otherwise; nobody has found a case
# where it fails.
ByUnit = Callable[[FloatArray, float], FloatArray]  # from questions' scores and a mean to those of units
STEP = 0.1  # of the logarithm of the frequency; the trapezoidal error falls exponentially with 1 / STEP
NEGLIGIBLE = 1e-9
BISECTIONS = 40


def p_not_above(scores: FloatArray, threshold: float) -> float:
    """p-value of the hypothesis that the mean of scores, shape (n,), is at most the threshold (from 0 to 1).

    With independent standard exponential E, it is P(sum_i E_i (x_i - t) <= t E_0), by inverting the characteristic
    function (Gil-Pelaez): 1/2 - 1/pi * integral of Im phi(exp v) dv.
    """
    if threshold <= 0:
        return 1.0 if threshold < 0 else float(not np.any(scores > 0))
    values, counts = np.unique(np.append(np.round(scores - threshold, 12), -threshold), return_counts=True)
    if values[-1] <= 0:
        return 1.0
    low = np.log(NEGLIGIBLE / (counts @ np.abs(values)))
    coarse = np.arange(low, np.log(1 / (NEGLIGIBLE * threshold)) + 1, 1.0)
    size = np.exp(-0.5 * (counts @ np.log1p(np.outer(values, np.exp(coarse)) ** 2)))
    high = coarse[np.flatnonzero(size > NEGLIGIBLE)[-1]] + 1
    at = np.outer(values, np.exp(np.arange(low, high, STEP)))
    phase, logarithm = counts @ np.arctan(at), -0.5 * (counts @ np.log1p(at**2))
    chance = 0.5 - STEP / np.pi * float(np.exp(logarithm) @ np.sin(phase))
    return min(max(chance, 0.0), 1.0)


def p_not_below(scores: FloatArray, threshold: float) -> float:
    """p-value of the hypothesis that the mean of scores, shape (n,), is at least the threshold (from 0 to 1)."""
    return p_not_above(1 - scores, 1 - threshold)


def least(scores: FloatArray, alpha: float, by_unit: ByUnit = lambda values, mean: values) -> float:
    """Lower confidence bound of the mean of scores, shape (n,), one-sided at 1 - alpha.

    `by_unit` gives what is tested for a mean, as `gating.scores.Scores.by_unit` does: the scores by default.
    """
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_not_above(by_unit(scores, middle), middle) <= alpha else (low, middle)
    return low


def largest(scores: FloatArray, alpha: float, by_unit: ByUnit = lambda values, mean: values) -> float:
    """Upper confidence bound of the mean of scores, shape (n,), one-sided at 1 - alpha."""
    return 1 - least(1 - scores, alpha, by_unit)


# The decision: ship, block, or inconclusive and how many more questions would decide.
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


def p_values(scores: Scores, rule: Rule) -> tuple[float, float]:
    """p-values of "the candidate must not ship" and of "nothing speaks against the candidate"."""
    worse, better = scores.p_flips(-1), scores.p_flips(1)
    if rule.mode == TWO_SIDED:
        return better, worse
    p_ship = _p_above(scores, rule.lowest)
    if rule.mode != EQUIVALENCE:
        return p_ship, worse
    return max(p_ship, _p_below(scores, rule.highest)), min(1.0, 2 * min(worse, better))


def _p_above(scores: Scores, rate: float) -> float:
    """p-value of "the win rate is at most the given one"."""
    if scores.runs is not None:
        return scores.runs.p_above(2 * rate - 1)
    lowest = scores.place_of(rate)
    return p_not_above(scores.by_unit(scores.within, lowest), lowest)


def _p_below(scores: Scores, rate: float) -> float:
    """p-value of "the win rate is at least the given one"."""
    if scores.runs is not None:
        return scores.runs.p_below(2 * rate - 1)
    highest = scores.place_of(rate)
    return p_not_below(scores.by_unit(scores.within, highest), highest)


def bounds(scores: Scores, rule: Rule) -> tuple[float, float]:
    """One-sided confidence bounds of the win rate, each at the level of the look."""
    if scores.runs is not None:
        return (1 + scores.runs.least(rule.level)) / 2, (1 + scores.runs.largest(rule.level)) / 2
    low, high = (scores.rate_at(bound(scores.within, rule.level, scores.by_unit)) for bound in (least, largest))
    return low, high


def evidence(scores: Scores, rule: Rule) -> Evidence:
    """Test one criterion."""
    (p_ship, p_block), (low, high) = p_values(scores, rule), bounds(scores, rule)
    return Evidence(len(scores.scores), scores.win_rate, low, high, p_ship, p_block)


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


# Test each category of questions: an even win rate may hide that the candidate is worse in one of them.


@dataclass(frozen=True)
class Category:
    """The candidate in one category, on one criterion.

    Attributes
    ----------
    criterion, name : str
    questions : int
    win_rate : float
    low, high : float
        One-sided confidence bounds, each at the level of the look; not adjusted for the number of categories.
    p_value : float
        Of "the two are equal here", two-sided, with Holm's adjustment over all categories and criteria.
    differs : bool
        Whether it is at most the rule's alpha at this look.
    """

    criterion: str
    name: str
    questions: int
    win_rate: float
    low: float
    high: float
    p_value: float
    differs: bool


def by_category(tables: Mapping[str, Judged], rule: Rule) -> tuple[Category, ...]:
    """Categories in which a judge saw both orders, the lowest p-value first; none where there is only one.

    Nor where a question is in several.
    """
    scores_by_category = [
        (criterion, *of_category)
        for criterion, table in tables.items()
        for of_category in _scores(table, rule.cluster)
    ]
    chances = [min(1.0, 2 * min(scores.p_flips(-1), scores.p_flips(1))) for *_, scores in scores_by_category]
    alpha = 2 * rule.level if rule.mode == TWO_SIDED else rule.level
    categories = [
        Category(criterion, name, len(seen.scores), seen.win_rate, *bounds(seen, rule), p_value, p_value <= alpha)
        for (criterion, name, seen), p_value in zip(scores_by_category, holm(chances), strict=True)
    ]
    return tuple(sorted(categories, key=lambda one: one.p_value))


def _scores(table: Judged, cluster: str) -> list[tuple[str, Scores]]:
    """Names and scores of the categories of one criterion."""
    known = table.values("category")
    if known is None:
        return []
    known = known.dropna()
    if known["question"].duplicated().any():
        return []
    of_question = dict(zip(known["question"], known["value"].astype(str), strict=True))
    names = np.array([of_question.get(question, "") for question in table.questions], object)
    categories = sorted({*names} - {""})
    if len(categories) < 2:
        return []
    unit = table.sampled(cluster)
    scores = []
    for name in categories:
        within = names == name
        of_unit = None if unit is None else unit[within]
        scores.append((name, table.of(np.flatnonzero(within)).scores(of_unit)))
    return [(name, category_scores) for name, category_scores in scores if category_scores.order != "one"]
