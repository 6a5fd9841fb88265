"""Goodness of fit: whether one order describes the panel, and which pairs, judges and questions depart from it."""

from __future__ import annotations

from collections.abc import Sequence

from judgerank.data.listing import listed
from judgerank.order.cycles import shortest_cycle
from judgerank.ranking.study import Component, Finding, clusters
from judgerank.trust.fitness import fitness_if_quick

FIT, CYCLE = "Fit: ", "Cycle: "  # how the remarks begin


def of_component(component: Component) -> Finding:
    """The table ``fitness`` and remarks, of a fit of moderate size that has intervals.

    A judge stands out only where the panel's test for tastes rejects, too, by which errors go.

    The fit is the one that the ranking reports, or its member where that has question effects.
    """
    fitted = component.independent if component.independent.effects is None else component.member
    rows = component.judgments.comparisons if fitted.raw is None else fitted.raw
    by_question = clusters(component.judgments, component.settings)
    question = fitted.require_question() if by_question else None
    names = component.judgments.question_ids if by_question else ()
    tests = fitness_if_quick(fitted, rows, question, component.settings.level, names, component.tastes)
    if tests is None:
        return Finding()
    remarks = [FIT + " ".join(tests.sentences()), *on_cycle(shortest_cycle(component.reported, tests.level))]
    return Finding(remarks, {"fitness": tests.table})


def on_cycle(models: Sequence[str]) -> list[str]:
    """A remark on models that beat each other in a circle."""
    if not models:
        return []
    wins = listed(f"{a} beats {b}" for a, b in zip(models, (*models[1:], models[0]), strict=True))
    return [
        f"{CYCLE}{wins}, each significantly in direct comparisons (all pairs tested together). No single ranking "
        "can order these models, and more comparisons do not change that: choose between them pair by pair (Head "
        "to head on the page)."
    ]
