"""Does an effect besides quality move some judge, such as the length of an answer? A score test for each judge.

An effect adds beta_k z_t to the predictor of judge k's comparisons. One Newton step from beta = 0, everything else
fitted again to first order, gives

    beta_k = u_k / i_k,    u_k = z'r - M'V J'r,    i_k = z'W z - M'V M,    M = J'W z,

z being zero but for judge k's comparisons, r their residuals, W their variances, J the derivatives of the
predictors in all parameters, and V the inverse of the information (Rao, 1948). A judge may also answer at random
now and then, which favours models far down: z is what is left of the effect beside such lapses. Where questions
are known errors allow for dependence within them, and are the larger of both kinds, since few questions can seem
to agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack
from scipy.special import chdtrc

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.likelihood_rows import At, row_by_row, row_derivatives
from judgerank.fits.result import Fit
from judgerank.inference.wald import two_sided
from judgerank.order.claims import holm

LEAST = 30  # of a judge's comparisons that an effect is seen in
NOTHING = 1e-9  # share of the information on an effect that counts as none beside lapses
LITTLE = 1e-2  # variance of an answer, and information on lapses, that count as no less


def judge_effects(
    fitted: Fit, comparisons: Comparisons, columns: FloatArray, names: Sequence[str], question: IntArray | None
) -> pd.DataFrame:
    """Effects by judge of differences between the two answers, each tested by itself, adjusted together (Holm).

    Parameters
    ----------
    fitted : Fit
        A member without further blocks and question effects.
    comparisons : Comparisons
        The raw rows behind it, T of them.
    columns : float array, shape (T, C)
        What is different about the answer shown first.
    names : sequence of str
        Of these columns.
    question : int array, shape (T,), optional

    Returns
    -------
    DataFrame
        ``effect, judge, estimate, standard_error, p_value, p_holm``, a row for each judge who saw such a
        difference in at least `LEAST` comparisons; no rows if there is none.
    """
    comparisons.require_pairs("the study of effects by judge")
    k = len(comparisons.judges)
    c, judge = np.divmod(np.arange(columns.shape[1] * k), k)
    rows = np.arange(len(comparisons))
    parts = [csr_array((values, (rows, comparisons.judge)), (len(rows), k)) for values in columns.T]
    z = csr_array(hstack(parts))
    seen = np.bincount(z.indices[z.data != 0], minlength=len(c)) >= LEAST
    seen &= np.tile(fitted.solution.parameters.in_play, columns.shape[1])
    frame = pd.DataFrame(
        {"effect": np.array(names, object)[c], "judge": np.array(comparisons.judges, object)[judge]}
    )
    frame, z = frame[seen].reset_index(drop=True), csr_array(z[:, np.flatnonzero(seen)])
    if frame.empty:
        return frame.assign(estimate=0.0, standard_error=0.0, p_value=0.0, p_holm=0.0)
    terms = row_by_row(comparisons, fitted.model, fitted.solution.parameters)
    estimate, error, dof = _one_step(fitted, terms, z, judge[seen], comparisons, question)
    p = two_sided(estimate / error, dof)
    return frame.assign(estimate=estimate, standard_error=error, p_value=p, p_holm=holm(p))


def _one_step(
    fitted: Fit, terms: At, z: csr_array, judge: IntArray, comparisons: Comparisons, question: IntArray | None
) -> tuple[FloatArray, FloatArray, float]:
    """Estimates, standard errors and their degrees of freedom; `judge` is that of every column."""
    ones, weight = np.ones(len(comparisons)), comparisons.count * terms.law.variance
    j = row_derivatives(terms, lambda role: terms.through_predictor(role, ones)).tocsr()[:, fitted.chosen]
    v = fitted._inverse("expected")
    columns = z, _lapses(terms, comparisons, judge)
    weighed = [column.multiply(weight[:, None]).tocsr() for column in columns]
    through = [(j.T @ column).toarray() for column in weighed]
    carries = [v @ column for column in through]

    def shared(first: int, second: int) -> FloatArray:
        """Information that effects or lapses have in common, column by column, beside all parameters."""
        in_rows = np.asarray(weighed[first].multiply(columns[second]).sum(axis=0)).ravel()
        return in_rows - (through[first] * carries[second]).sum(axis=0)

    alone, common, of_lapses = shared(0, 0), shared(0, 1), shared(1, 1)
    share = common / np.maximum(of_lapses, LITTLE)
    z, carried = csr_array(z - columns[1].multiply(share)), carries[0] - share * carries[1]
    remainder = alone - 2 * share * common + share**2 * of_lapses
    information = np.maximum(remainder, NOTHING * np.maximum(alone, LITTLE))
    score = z.T @ terms.residual - carried.T @ (j.T @ terms.residual)
    estimate, error = score / information, information**-0.5
    if question is None:
        return estimate, error, np.inf
    scores = (z.toarray() - j @ carried) * terms.residual[:, None]
    n_questions = int(question.max()) + 1
    summed = np.zeros((n_questions, scores.shape[1]))
    np.add.at(summed, question, scores)
    of_questions = np.sqrt((summed**2).sum(axis=0) * n_questions / max(n_questions - 1, 1)) / information
    return estimate, np.maximum(error, of_questions), n_questions - 1.0


def _lapses(terms: At, comparisons: Comparisons, judge: IntArray) -> csr_array:
    """What answers at random do to the predictor, a column for each of these judges; shape (T, C)."""
    toward_half = (0.5 - terms.law.mean) / np.maximum(terms.law.variance, LITTLE)
    entries = (toward_half, (np.arange(len(comparisons)), comparisons.judge))
    return csr_array(csr_array(entries, (len(comparisons), len(comparisons.judges)))[:, judge])


def alike(effects: pd.DataFrame) -> float:
    """p-value of one effect being the same for all judges, errors taken as independent (Cochran, 1954)."""
    if len(effects) < 2:
        return 1.0
    weight = effects["standard_error"].to_numpy() ** -2.0
    away = effects["estimate"].to_numpy() - np.average(effects["estimate"], weights=weight)
    return float(chdtrc(len(effects) - 1, weight @ away**2))
