"""Too few questions for errors that allow for dependence within them."""

from __future__ import annotations

from math import ceil, comb, log2

from judgerank.fits.errors_by_question import Questions, plural, questions_of, units_of
from judgerank.ranking.study import Component, Finding, clusters


def of_component(component: Component) -> Finding:
    """A remark where errors by question are asked for and not shown."""
    reported, settings = component.reported, component.settings
    by_question = clusters(component.judgments, settings)
    if not component.has_intervals or (reported.clusters is None and not by_question):
        return Finding()
    if reported.clusters is not None:
        questions = units_of(reported, reported.require_raw(), reported.clusters)
    else:
        questions = questions_of(reported, reported.require_raw(), reported.require_question())
    independent = not reported.is_robust
    return Finding(
        [] if questions.enough else on_questions(questions, len(reported.scores), settings.level, independent)
    )


def on_questions(questions: Questions, n_models: int, level: float, independent: bool) -> list[str]:
    """How pairs are tested where there are too few questions for clustered errors, and what the intervals lack.

    The sandwich covariance is no larger in rank than the number of questions less one.
    """
    least = ceil(log2(2 * comb(n_models, 2) / (1 - level)))  # 2^(1 - n) is the smallest p-value of n questions
    units = plural(questions.unit)
    of_scores = f"allow for dependence within {units}, and are wide."
    if independent:
        of_scores = "take comparisons as independent, and may be too short."
    remark = (
        f"There are {questions}: too few {units} to test pairs by clustered standard errors. So pairs "
        f"are tested by sign flips of whole {units}, an exact test. Intervals of scores {of_scores}"
    )
    if questions.n_questions < least:
        remark += f" No pair can be significantly different with fewer than {least} {units}."
    return [remark]
