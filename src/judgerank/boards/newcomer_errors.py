"""Errors of newcomers' scores by their own questions.

With A the information in the newcomers' scores and u_q the gradient of question q in them, that question moves the
estimates by z_q = A^-1 u_q. Were the board known, a newcomer's variance is the sum of its z_q^2 times Q / (Q - 1),
Q being the number of its questions. Its degrees of freedom are their effective number less one. So each newcomer
needs two questions, however many newcomers there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.errors_by_question import Questions, number_of, too_few
from judgerank.fits.result import Fit
from judgerank.inference.clusters import cluster_gradients, effective_number
from judgerank.model.members import Parameters


class Errors(NamedTuple):
    """What is known of the errors of M newcomers' scores, and of the gradient in the board's D parameters.

    Attributes
    ----------
    own : float array, shape (M, M)
        Covariance of the newcomers' scores if the board were known.
    squares : float array, shape (D, D)
        Variance of the gradient in the board's parameters, the newcomers' scores regressed out.
    degrees_of_freedom : float array, shape (M,)
        Missing where the newcomer, or the board, has too few questions. Comparisons count as independent then.
    of_moves : float
        Degrees of freedom of the squares; missing likewise.
    board : Questions or None
        Those of a board that has too few.
    newcomers : tuple of Questions
        Of each newcomer; empty if questions are not known.
    by_question : float array, shape (Q, M), or None
        Gradient of every question in the newcomers' scores, if there are two questions or more.
    """

    own: FloatArray
    squares: FloatArray
    degrees_of_freedom: FloatArray
    of_moves: float
    board: Questions | None
    newcomers: tuple[Questions, ...] = ()
    by_question: FloatArray | None = None


def errors_of(
    board: Fit,
    rows: Comparisons,
    at: Parameters,
    question: IntArray | None,
    info: tuple[FloatArray, FloatArray, FloatArray],
) -> Errors:
    """Errors by question, where questions are known.

    Parameters
    ----------
    board : Fit
    rows : Comparisons
        Those with a newcomer, models of the board first.
    at : Parameters
    question : int array, shape (T,), optional
        From zero without gaps.
    info : float arrays, shapes (M, M), (M, D) and (D, D)
        A; A^-1 times the information that newcomers and board have in common; that on the board, the newcomers'
        scores regressed out.
    """
    a, carry, information = info
    inverse, few = np.asarray(np.linalg.inv(a), float), too_few(board)
    most = np.nan if few else board.degrees_of_freedom
    if question is None:
        return Errors(inverse, information, np.full(len(a), most), most, few)
    new = np.arange(len(board.scores), len(at.scores))
    questions = tuple(
        questions_with((rows.first == model) | (rows.second == model), rows, question) for model in new
    )
    freedom = np.array([_freedom(n_questions, most) for n_questions in questions])
    every = questions_with(np.ones(len(rows), bool), rows, question)
    if not every.enough:
        return Errors(inverse, information, freedom, np.nan, few, questions)
    chosen = np.r_[np.ones(len(at.scores), bool), board.free.ravel()]
    by = cluster_gradients(rows, board.model, at, question)[:, chosen]
    profiled = np.delete(by, new, axis=1) - by[:, new] @ carry
    squares = profiled.T @ profiled * few_clusters_factor(every)
    own_errors = _own(by[:, new] @ inverse, inverse, questions)
    return Errors(own_errors, squares, freedom, _freedom(every, most), few, questions, by[:, new])


def questions_with(mine: BoolArray, rows: Comparisons, question: IntArray) -> Questions:
    """The questions of some rows, for one parameter."""
    model_questions = question[mine]
    return Questions(number_of(model_questions), effective_number(model_questions, rows.count[mine]), 1)


def few_clusters_factor(questions: Questions) -> float:
    """Q / (Q - 1), by which a sum of squares over questions is too small."""
    return questions.many / (questions.many - 1)


def _freedom(questions: Questions, most: float) -> float:
    return float(np.minimum(questions.effective - 1, most)) if questions.enough else np.nan  # missing if either is


def _own(influence: FloatArray, inverse: FloatArray, questions: tuple[Questions, ...]) -> FloatArray:
    """Covariance by the questions' influences, shape (Q, M); of independent comparisons where they are too few."""
    has_enough = np.array([model_questions.enough for model_questions in questions])
    z = influence * np.sqrt(
        [few_clusters_factor(model_questions) if model_questions.enough else 0.0 for model_questions in questions]
    )
    unknown = np.ix_(~has_enough, ~has_enough)
    covariance = z.T @ z
    covariance[unknown] = inverse[unknown]
    return np.asarray(covariance)
