"""Test each category of questions: an even win rate may hide that the candidate is worse in one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from judgerank.gating.decision import holm
from judgerank.gating.judged import Judged
from judgerank.gating.rule import TWO_SIDED, Rule
from judgerank.gating.scores import Scores, scored


@dataclass(frozen=True)
class Category:
    """The candidate in one category, on one criterion.

    Attributes
    ----------
    criterion, name : str
    questions : int
    win_rate : float
    p_value : float
        Of "the two are equal here", two-sided, with Holm's adjustment over all categories and criteria.
    differs : bool
        Whether it is at most the rule's alpha at this look.
    """

    criterion: str
    name: str
    questions: int
    win_rate: float
    p_value: float
    differs: bool


def by_category(tables: Mapping[str, Judged], rule: Rule) -> tuple[Category, ...]:
    """Categories in which a judge saw both orders, the lowest p-value first; none where there is only one.

    Nor where a question is in several.
    """
    scores_by_category = [
        (criterion, *category_scores) for criterion, table in tables.items() for category_scores in _scores(table)
    ]
    chances = [min(1.0, 2 * min(scores.p_flips(-1), scores.p_flips(1))) for *_, scores in scores_by_category]
    alpha = 2 * rule.level if rule.mode == TWO_SIDED else rule.level
    categories = [
        Category(criterion, name, len(scores.scores), scores.win_rate, p_value, p_value <= alpha)
        for (criterion, name, scores), p_value in zip(scores_by_category, holm(chances), strict=True)
    ]
    return tuple(sorted(categories, key=lambda one: one.p_value))


def _scores(table: Judged) -> list[tuple[str, Scores]]:
    """Names and scores of the categories of one criterion."""
    if "category" not in table.rows:
        return []
    named = table.rows.dropna(subset="category")[["question", "category"]].drop_duplicates()
    if named["question"].duplicated().any():
        return []
    of_question = dict(zip(named["question"], named["category"].astype(str), strict=True))
    names = np.array([of_question.get(question, "") for question in table.questions], object)
    categories = sorted({*names} - {""})
    if len(categories) < 2:
        return []
    scores = [(name, scored(table.preference[names == name], table.first[names == name])) for name in categories]
    return [(name, category_scores) for name, category_scores in scores if category_scores.order != "one"]
