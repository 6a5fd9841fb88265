"""Dependence within questions: errors clustered by question, and sign flips where there are too few questions."""

from __future__ import annotations

from typing import NamedTuple

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.listing import counted
from judgerank.data.numbering import sizes
from judgerank.fits.result import Fit
from judgerank.inference.clusters import effective_number

MOST_QUESTIONS = 100_000  # that errors are computed from; of more, so many at random stand for all


class Questions(NamedTuple):
    """How many questions there are, and how many it takes for errors by question.

    Attributes
    ----------
    n_questions : int
    effective : float
        How many of equal size they count as (`inference.clusters.effective_number`).
    parameters : int
        Free ones; errors by question take more questions than these.
    """

    n_questions: int
    effective: float
    parameters: int

    @property
    def enough(self) -> bool:
        """Whether errors by question exist."""
        return self.effective > self.parameters

    def too_few_to_tell(self, what: str) -> str:
        """Why something is left open, in a sentence of its own."""
        are = "is" if self.n_questions == 1 else "are"
        return (
            f"Too few questions to tell {what}: there {are} {self}, and it takes more questions than parameters."
        )

    def __str__(self) -> str:
        """Both numbers in words."""
        questions = counted(self.n_questions, "question")
        if round(self.effective) < self.n_questions:
            questions += f" of unequal size, which count as {self.effective:.0f} of equal size,"
        return f"{questions} and {counted(self.parameters, 'free parameter')}"


def questions_of(fitted: Fit, comparisons: Comparisons, question: IntArray) -> Questions:
    """The questions behind the raw comparisons of a fit: the one place that decides whether they are enough."""
    return Questions(number_of(question), effective_number(question, comparisons.count), fitted.n_parameters)


def too_few(fitted: Fit) -> Questions | None:
    """The questions of a fit whose errors should allow for them, and cannot; None of any other fit.

    Only its pairs have a test whose level is known, that of sign flips. Errors of other claims are rough, or take
    comparisons as independent.
    """
    if fitted.flips is not None:
        if fitted.raw is not None and fitted.question is not None:
            return questions_of(fitted, fitted.raw, fitted.question)
        n_questions = fitted.flips.shape[0]
        return Questions(n_questions, float(n_questions), fitted.n_parameters)
    effective = fitted.effective_clusters
    if effective is None or fitted.effects is not None:
        return None
    questions = Questions(fitted.n_clusters or 0, effective, fitted.n_parameters)
    return None if questions.enough else questions


def number_of(question: IntArray) -> int:
    """How many different questions there are."""
    return len(sizes(question))


def least_questions(n_parameters: int) -> int:
    """The fewest questions of equal size with which a model of so many parameters has errors by question.

    The sandwich's rank is below their number.
    """
    return n_parameters + 1


def by_question(fitted: Fit, comparisons: Comparisons | None, question: IntArray) -> Fit:
    """The fit with errors by question, and, where there are too few questions, with sign flips for tests of pairs.

    With too few, errors by question exist only where the scores are shrunk: then those of scores and win rates
    are by question, too, with what few clusters leave out (`clusters.for_few_clusters`). Else errors stay as they
    are, and take comparisons as independent.

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
    rows = fitted.require_raw() if comparisons is None else comparisons
    question_index = questions_of(fitted, rows, question)
    if question_index.enough:
        return fitted.clustered(comparisons, question, MOST_QUESTIONS)
    if fitted.solution.shrinks_scores and fitted.effects is None and question_index.n_questions > 1:
        return fitted.clustered(comparisons, question, MOST_QUESTIONS).flipped(comparisons, question)
    return fitted.flipped(comparisons, question)
