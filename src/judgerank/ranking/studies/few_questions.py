"""Too few questions for errors that allow for dependence within them."""

from __future__ import annotations

from math import ceil, comb, log2

from judgerank.fits.errors_by_question import Questions, questions_of
from judgerank.ranking.study import Component, Finding, clusters


def of_component(component: Component) -> Finding:
    """A remark where errors by question are asked for and not shown."""
    reported, settings = component.reported, component.settings
    if not clusters(component.judgments, settings) or not component.has_intervals:
        return Finding()
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
    of_scores = "allow for dependence within questions, and are wide."
    if independent:
        of_scores = "take comparisons as independent, and may be too short."
    remark = (
        f"There are {questions}: too few questions to test pairs by standard errors clustered by question. So "
        "pairs "
        f"are tested by sign flips of whole questions, an exact test. Intervals of scores {of_scores}"
    )
    if questions.n_questions < least:
        remark += f" No pair can be significantly different with fewer than {least} questions."
    return [remark]
