"""Does a judge answer as it did before? Its earlier half of answers against its later one.

A provider may replace the model behind a name without a word. Of each judge by itself, log-odds are

    eta = q_i - q_j + b + h (d_i - d_j + c),    h = 1/2 in the earlier half and -1/2 in the later,

with what the judge thinks of the models, q, and its position bias b both free. The score test of d = c = 0 takes
the fit without them alone (Rao, 1948). Tastes, positions and discriminations of a judge are in q and b, so none of
these is taken for a change, and neither is a design that asks other pairs later. Parameters are held by a wide
normal prior, so that a judge who never errs has a test, too; the score is made orthogonal to them, so that it
matters to second order only.

Where a question recurs, its answers' quality moves all its comparisons, and looks like a change if times follow
questions. The score then has the variance of its sums by question, and the statistic is Hotelling's (1931) T^2,
which allows for few of them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import chdtrc, expit, fdtrc

from judgerank.data.arrays import AnyArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError
from judgerank.engine.ascent import logistic, peak
from judgerank.order.claims import holm, significant
from judgerank.trust.retest import firsts, requests_of

LEAST = 5  # comparisons for each parameter of a judge, below which it is not tested
WIDE = 3.0  # standard deviation of the prior, in log-odds
QUESTIONS = 5  # for each degree of freedom, below which a judge whose questions recur is not tested
FLAT = 1e-6  # of the largest eigenvalue: directions below say nothing
COLUMNS = ("judge", "comparisons", "statistic", "degrees_of_freedom", "p_value", "p_holm")


def drift(
    comparisons: Comparisons, time: AnyArray | None = None, question: IntArray | None = None
) -> pd.DataFrame:
    """Test every judge for a change between its earlier and its later answers.

    Parameters
    ----------
    comparisons : Comparisons
        Raw rows, T of them.
    time : array, shape (T,), optional
        When each was answered, as anything that sorts; by default the rows are in that order.
    question : int array, shape (T,), optional
        With it, only the first answer to every request counts: further ones are no new evidence of a judge, and
        `asked_again.asked_again` tests them. A judge whose questions recur is tested by question.

    Returns
    -------
    DataFrame
        ``judge, comparisons, statistic, degrees_of_freedom, p_value, p_holm``, a row for each judge with at least
        `LEAST` comparisons a parameter, the most suspicious first. ``p_holm`` allows for the number of judges.
        Statistic and p-values are NaN for a judge whose own fit did not settle, and for one with fewer than
        `QUESTIONS` questions for each degree of freedom, if they recur.
    """
    comparisons.require_pairs("the test of changed judges")
    order = np.arange(len(comparisons)) if time is None else np.argsort(np.asarray(time), kind="stable")
    if question is not None:
        order = order[np.isin(order, firsts(requests_of(comparisons, question), time))]
    judge, rows = comparisons.judge[order], []
    for k, name in enumerate(comparisons.judges):
        mine = order[judge == k]
        models = len(np.unique(np.r_[comparisons.first[mine], comparisons.second[mine]]))
        if len(mine) < 2 * LEAST * max(models, 2):
            continue
        try:
            records = _of_judge(comparisons, mine, None if question is None else question[mine])
        except NoMaximumError:
            records = np.nan, 0, np.nan
        rows.append((name, len(mine), *records))
    table = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    table[COLUMNS[-1]] = holm(table["p_value"].to_numpy()) if rows else np.zeros(0)
    return table.sort_values("p_value", kind="stable", ignore_index=True)


def drifted(comparisons: Comparisons, level: float, question: IntArray | None = None) -> tuple[str, ...]:
    """Judges whose earlier and later answers differ significantly, all judges tested at once at 1 - level."""
    tests = drift(comparisons, None, question)
    return tuple(significant(tests, level)["judge"])


def _of_judge(c: Comparisons, mine: AnyArray, question: IntArray | None) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value from one judge's rows, the earliest first, and their questions.

    Raises
    ------
    NoMaximumError
        As `_fitted` says.
    """
    t, n = len(mine), len(c.models)
    x = np.zeros((t, n + 1))
    x[np.arange(t), c.first[mine]], x[np.arange(t), c.second[mine]] = 1.0, -1.0
    x[:, n] = 1.0
    y, count = c.outcome[mine], c.count[mine]
    p = _fitted(x, y, count)
    weight = count * p * (1 - p)
    half_difference = np.where(np.arange(t) < t // 2, 0.5, -0.5)[:, None] * x
    info = x.T @ (weight[:, None] * x) + np.eye(n + 1) / WIDE**2
    half_difference = half_difference - x @ np.linalg.solve(info, x.T @ (weight[:, None] * half_difference))
    score = half_difference.T @ (count * (y - p))
    values, vectors = np.linalg.eigh(half_difference.T @ (weight[:, None] * half_difference))
    is_positive = values > FLAT * max(values[-1], np.finfo(float).tiny)
    along, freedom = vectors[:, is_positive].T @ score, int(is_positive.sum())
    if question is not None and len(np.unique(question)) < t:
        scores = (half_difference @ vectors[:, is_positive]) * (count * (y - p))[:, None]
        return _by_question(scores, question)
    statistic = float((along**2 / values[is_positive]).sum())
    return statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0


def _by_question(scores: FloatArray, question: IntArray) -> tuple[float, int, float]:
    """Hotelling's T^2 for a mean of zero of the scores' sums by question, its degrees of freedom and p-value."""
    _, where = np.unique(question, return_inverse=True)
    n_questions, freedom = int(where.max()) + 1, scores.shape[1]
    if n_questions < QUESTIONS * max(freedom, 1):
        return np.nan, freedom, np.nan
    if not freedom:
        return 0.0, 0, 1.0
    sums = np.zeros((n_questions, freedom))
    np.add.at(sums, where, scores)
    total = sums.sum(axis=0)
    q = min(float(total @ np.linalg.pinv(sums.T @ sums, hermitian=True) @ total), n_questions * (1 - FLAT))
    statistic = (n_questions - 1) * q / (n_questions - q)
    residual_freedom = n_questions - freedom
    return (
        statistic,
        freedom,
        float(fdtrc(freedom, residual_freedom, statistic * residual_freedom / (freedom * (n_questions - 1)))),
    )


def _fitted(x: FloatArray, y: FloatArray, count: FloatArray) -> FloatArray:
    """Probabilities by the fit of one judge with the wide prior, shape (T,).

    Raises
    ------
    NoMaximumError
        If the fit does not settle.
    """

    held = 1 / WIDE**2

    def with_prior(at: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        height, gradient, information = logistic(x, count * y, count, at)
        return height - float(at @ at) * held / 2, gradient - held * at, information + held * np.eye(len(at))

    return np.asarray(expit(x @ peak(with_prior, np.zeros(x.shape[1]), "the fit of one judge did not settle")[0]))
