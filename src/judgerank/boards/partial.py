"""Judges who rate a newcomer differently from the panel, such as those of its own family."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.boards.placing import Anchored, best_scores, few_clusters_factor
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError
from judgerank.data.numbering import numbered
from judgerank.engine.information import information
from judgerank.engine.sums import evaluate
from judgerank.inference.clusters import cluster_gradients
from judgerank.inference.wald import two_sided
from judgerank.order.pairs import holm
from judgerank.order.scale import scale_of


def by_judge(held: Anchored) -> pd.DataFrame:
    """Whether single judges see a newcomer otherwise than the panel does.

    Returns
    -------
    DataFrame
        ``newcomer, judge, comparisons, lead, standard_error, p_value, p_holm``: by how much the newcomer's
        reported score would rise if that judge's comparisons alone counted, others held; infinite where the judge
        is always of one mind. A judge who favours a newcomer, such as its own kin, has a lead above zero. Judges
        who tell nothing of it are left out. The test takes one Newton step, whose error is given. It allows for
        dependence within questions where these are known. A judge who saw one question alone has no test.
    """
    rows, board, m = held.comparisons, held.board, len(held.newcomers)
    n, v, parts = len(board.scores), board.covariance, []
    unit = scale_of(board).factor
    gradient_parts = _told(held, rows)
    for k, name in enumerate(rows.judges):
        mine = np.flatnonzero(rows.judge == k)
        if not len(mine):
            continue
        c = rows._rows(mine)
        judged, (gradient, judge_information, carry) = _by_question(held, c, mine), _told(held, c)
        met = np.bincount(np.r_[c.first, c.second], np.tile(c.decided, 2), n + m)[n:]
        for number in np.flatnonzero(judge_information > 0).tolist():
            if judge_information[number] >= gradient_parts[1][number]:  # the only judge who tells of it
                continue
            deviation = (
                carry[number] / judge_information[number] - gradient_parts[2][number] / gradient_parts[1][number]
            )
            variance = _variance(held, judged, number, judge_information[number], gradient_parts[1][number])
            error = np.sqrt(variance + deviation @ v @ deviation)
            step, lead = gradient[number] / judge_information[number], _lead(held, c, n + number)
            p = float(two_sided(step / error, held.errors.degrees_of_freedom[number]))
            parts.append((held.newcomers[number], name, met[number], unit * lead, unit * error, p))
    columns = ["newcomer", "judge", "comparisons", "lead", "standard_error", "p_value"]
    frame = pd.DataFrame(parts, columns=columns).sort_values("p_value", ignore_index=True)
    return frame.assign(p_holm=holm(frame["p_value"].to_numpy(float)))


def _by_question(held: Anchored, rows: Comparisons, mine: IntArray) -> FloatArray | None:
    """Gradient of every question of one judge's comparisons in the newcomers' scores, shape (Q, M).

    None where questions are not known, or there is one for all judges; missing where the judge saw one alone.
    """
    if held.question is None or held.errors.by_question is None:
        return None
    labels, codes = numbered(held.question[mine])
    gradients = np.zeros_like(held.errors.by_question)
    if len(labels) < 2:
        return np.full_like(gradients, np.nan)
    new = slice(len(held.board.scores), len(held.at.scores))
    gradients[labels] = cluster_gradients(rows, held.board.model, held.at, codes)[:, new]
    return gradients


def _variance(
    held: Anchored, judged: FloatArray | None, number: int, judge_information: float, total_information: float
) -> float:
    """Of a judge's step away from the panel for one newcomer, the board known.

    The step is the sum over questions of the judge's gradient / own - the panel's gradient / told. Its variance is
    the sum of their squares, and at least that of independent comparisons, since few questions can seem to agree.
    """
    independent = 1 / judge_information - 1 / total_information
    if judged is None or held.errors.by_question is None or not held.errors.newcomers[number].enough:
        return independent
    steps = judged[:, number] / judge_information - held.errors.by_question[:, number] / total_information
    return float(np.maximum(independent, steps @ steps * few_clusters_factor(held.errors.newcomers[number])))


def _lead(held: Anchored, rows: Comparisons, model: int) -> float:
    """How far a newcomer's score is from where these comparisons put it.

    Infinite where they are of one mind, NaN where the climb to it does not settle.
    """
    for_it = np.r_[rows.outcome[rows.first == model], 1 - rows.outcome[rows.second == model]]
    if len(np.unique(for_it)) == 1 and for_it[0] != 0.5:
        return float(np.copysign(np.inf, for_it[0] - 0.5))
    try:
        at = best_scores(rows, held.board.model, held.at, slice(model, model + 1))
    except NoMaximumError:
        return np.nan
    return float(at.scores[model] - held.at.scores[model])


def _told(held: Anchored, rows: Comparisons) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gradient and information of the newcomers' scores in some comparisons, and the latter's with the board's."""
    n, m = len(held.board.scores), len(held.newcomers)
    evaluation = evaluate(rows, held.board.model, held.at, "expected")
    info = information(evaluation, held.board.free)
    new = np.arange(n, n + m)
    rest = np.setdiff1d(np.arange(len(info)), new)
    return evaluation.top_gradient[n:], np.diag(info)[new], info[np.ix_(new, rest)]
