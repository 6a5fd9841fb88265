"""Dependence within questions: errors clustered by question, or sign flips where there are too few questions."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.result import Fit

MOST_QUESTIONS = 100_000  # that errors are computed from; of more, so many at random stand for all


def number_of(question: IntArray) -> int:
    """How many different questions there are."""
    return int(np.count_nonzero(np.bincount(question)))


def least_questions(n_parameters: int) -> int:
    """The fewest questions with which a model of so many parameters has errors by question.

    The sandwich's rank is below their number.
    """
    return n_parameters + 1


def enough(fitted: Fit, question: IntArray) -> bool:
    """Whether there are enough questions for errors by question."""
    return number_of(question) >= least_questions(fitted.n_parameters)


def by_question(fitted: Fit, comparisons: Comparisons | None, question: IntArray) -> Fit:
    """The fit with errors by question, or, where there are too few questions, with sign flips for tests of pairs.

    Of more than `MOST_QUESTIONS`, that many stand for all (`inference.uncertainty.Uncertainty.clustered`).

    Parameters
    ----------
    fitted : Fit
    comparisons : Comparisons, optional
        The raw comparisons behind it, where it does not hold them.
    question : int array, shape (T,)
        Question of each of them.

    Raises
    ------
    DataError
        If these are other comparisons than those fitted.
    NoIntervalError
        If the fit has no intervals.
    """
    if enough(fitted, question):
        return fitted.clustered(comparisons, question, MOST_QUESTIONS)
    return fitted.flipped(comparisons, question)
