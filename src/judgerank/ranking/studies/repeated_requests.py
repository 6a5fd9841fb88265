"""Requests that were asked more than once: how often judges change their answer, and what repeats buy."""

from __future__ import annotations

from judgerank.ranking.study import Component, Finding
from judgerank.trust.repeats import repeats_of


def of_component(component: Component) -> Finding:
    """The table ``repeats`` and a remark, where questions are known and something was asked twice."""
    if "question_id" not in component.judgments.frame:
        return Finding()
    judgments = component.sample
    level, item = component.settings.level, judgments.item
    repeats = repeats_of(component.member, judgments.comparisons, judgments.question, level, item)
    return Finding() if repeats is None else Finding([" ".join(repeats.sentences())], {"repeats": repeats.table})
