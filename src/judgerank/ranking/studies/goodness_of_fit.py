"""Goodness of fit: whether one order describes the panel, and which judges and questions depart from it."""

from __future__ import annotations

from judgerank.ranking.study import Component, Finding, clusters
from judgerank.trust.fitness import fitness_if_quick

FIT = "Fit: "  # how the remark on it begins


def of_component(component: Component) -> Finding:
    """The table ``fitness`` and a remark, of a fit of moderate size that has intervals.

    The fit is the one that the ranking reports, or its member where that has question effects.
    """
    fitted = component.independent if component.independent.effects is None else component.member
    rows = component.judgments.comparisons if fitted.raw is None else fitted.raw
    by_question = clusters(component.judgments, component.settings)
    question = fitted.require_question() if by_question else None
    names = component.judgments.question_ids if by_question else ()
    tests = fitness_if_quick(fitted, rows, question, component.settings.level, names)
    if tests is None:
        return Finding()
    return Finding([FIT + " ".join(tests.sentences())], {"fitness": tests.table})
