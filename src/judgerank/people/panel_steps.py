"""How far each question that people were asked about moved the panel's scores.

People and the panel see the same answers to a question. An answer that is better than its model's others moves
both, so that the errors of the votes and of the panel's scores go together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, NoIntervalError
from judgerank.fits.errors_by_question import number_of
from judgerank.fits.result import Fit
from judgerank.inference.clusters import cluster_gradients


@dataclass(frozen=True, eq=False)
class PanelSteps:
    """Steps of the panel's scores by question.

    Attributes
    ----------
    question : int array, shape (Q,)
        Numbers of the questions, rising.
    steps : float array, shape (Q, N)
        By how much each moves the scores: the inverse of the observed information times its gradient. Their
        squares are multiplied by M / (M - 1) for the panel's M questions, as those of clustered errors are.
    """

    question: IntArray
    steps: FloatArray

    def of(self, question: IntArray) -> FloatArray:
        """Those of some questions, shape (M, N); zero where the panel has none."""
        position = np.minimum(np.searchsorted(self.question, question), len(self.question) - 1)
        return np.where((self.question[position] == question)[:, None], self.steps[position], 0.0)


def panel_steps(
    panel: Fit, comparisons: Comparisons, question: IntArray, voted_questions: IntArray
) -> PanelSteps | None:
    """Steps of the panel's scores by the questions that people were asked about.

    None where they are not known: these are other comparisons than those behind the fit, the fit has further
    blocks or question effects, or it has no errors.

    Parameters
    ----------
    panel : Fit
    comparisons : Comparisons
        The raw comparisons behind it.
    question : int array, shape (T,)
        Number of the question of each.
    asked : int array
        Numbers of the questions that people were asked about.
    """
    if panel.blocks or panel.effects is not None or panel.has_many_parameters:
        return None
    rows, is_voted = panel.model.observed(comparisons), np.isin(question, voted_questions)
    n_questions, panel_questions = number_of(question), np.unique(question[is_voted])
    if len(panel_questions) < 2:
        return None
    try:
        panel.require_fitted(rows.models, rows.judges, rows.n_comparisons)
        inverse = panel._inverse("observed")[:, : len(rows.models)]
    except (DataError, NoIntervalError):
        return None
    of_question = cluster_gradients(
        rows._rows(is_voted), panel.model, panel.solution.parameters, question[is_voted]
    )
    return PanelSteps(
        panel_questions, of_question[:, panel.chosen] @ inverse * np.sqrt(n_questions / (n_questions - 1))
    )
