"""Too few questions for errors that allow for dependence within them."""

from __future__ import annotations

from judgerank.data.arrays import IntArray
from judgerank.fits.result import Fit
from judgerank.ranking.described import clusters, enough
from judgerank.ranking.study import Component, Finding


def of_component(component: Component) -> Finding:
    """A remark where errors by question are asked for and not shown."""
    shown = component.shown
    if not clusters(component.judgments, component.settings) or shown.effects is not None:
        return Finding()
    return Finding(on_questions(shown, shown.known_question) if component.has_intervals else [])


def on_questions(fitted: Fit, question: IntArray) -> list[str]:
    """Why the intervals cannot allow for dependence within questions, where they cannot.

    The sandwich covariance is no larger in rank than the number of questions less one.
    """
    if enough(fitted, question):
        return []
    many = len(set(question))
    return [
        f"There are {many} questions and {fitted.n_parameters} free parameters, too few questions to allow for "
        "dependence within them: intervals take comparisons as independent, and may be too short."
    ]
