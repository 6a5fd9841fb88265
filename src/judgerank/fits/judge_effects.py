"""Does an effect besides quality move some judge, such as the length of an answer? A score test for each judge.

An effect adds beta_k z_t to the predictor of judge k's comparisons. One Newton step from beta = 0, everything else
fitted again to first order, gives

    beta_k = u_k / i_k,    u_k = z'r - M'V J'r,    i_k = z'W z - M'V M,    M = J'W z,

z being zero but for judge k's comparisons, r their residuals, W their variances, J the derivatives of the
predictors in all parameters, and V the inverse of the information (Rao, 1948). Comparisons may be left out of the
fit, to test an effect against scores that hold none of it. J'r then sums over the comparisons fitted alone, and
i_k = z'W z - M'V J'W z is the whole of z'W z where the effect is in none of these. A judge may also answer at
random now and then, which favours models far down: z is what is left of the effect beside such lapses. Where
questions are known errors allow for dependence within them, and are the larger of both kinds, since few questions
can seem to agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack
from scipy.special import chdtrc

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.likelihood import RowTerms, row_by_row, row_derivatives
from judgerank.fits.result import Fit
from judgerank.inference.wald import two_sided
from judgerank.order.claims import holm

LEAST = 30  # of a judge's comparisons that an effect is seen in
NOTHING = 1e-9  # share of the information on an effect that counts as none beside lapses
LITTLE = 1e-2  # variance of an answer, and information on lapses, that count as no less


def judge_effects(
    fitted: Fit,
    comparisons: Comparisons,
    columns: FloatArray,
    names: Sequence[str],
    question: IntArray | None,
    is_fitted: BoolArray | None = None,
) -> pd.DataFrame:
    """Effects by judge of differences between the two answers, each tested by itself, adjusted together (Holm).

    Parameters
    ----------
    fitted : Fit
        A member without further blocks and question effects.
    comparisons : Comparisons
        The raw rows behind it, and others of the same judges and models; T of them.
    columns : float array, shape (T, C)
        What is different about the answer shown first.
    names : sequence of str
        Of these columns.
    question : int array, shape (T,), optional
    is_fitted : bool array, shape (T,), optional
        Which rows are behind the fit; by default all.

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
    inside = np.ones(len(comparisons), bool) if is_fitted is None else is_fitted
    terms = row_by_row(comparisons, fitted.model, fitted.solution.parameters)
    estimate, error, dof = _one_step(fitted, terms, z, judge[seen], comparisons, question, inside)
    p = two_sided(estimate / error, dof)
    return frame.assign(estimate=estimate, standard_error=error, p_value=p, p_holm=holm(p))


def _one_step(
    fitted: Fit,
    terms: RowTerms,
    z: csr_array,
    judge: IntArray,
    comparisons: Comparisons,
    question: IntArray | None,
    inside: BoolArray,
) -> tuple[FloatArray, FloatArray, float]:
    """Estimates, standard errors and their degrees of freedom; `judge` is that of every column."""
    ones, weight = np.ones(len(comparisons)), comparisons.count * terms.law.variance
    j = row_derivatives(terms, lambda role: terms.through_predictor(role, ones)).tocsr()[:, fitted._chosen]
    j_fitted = csr_array(j.multiply(inside[:, None]))
    v = fitted._inverse("expected")
    columns = z, _lapses(terms, comparisons, judge)
    weighed = [column.multiply(weight[:, None]).tocsr() for column in columns]
    carries = [v @ (j.T @ column).toarray() for column in weighed]
    through = [(j_fitted.T @ column).toarray() for column in weighed]

    def shared(first: int, second: int) -> FloatArray:
        """Information that effects or lapses have in common, column by column, beside all parameters."""
        in_rows = np.asarray(weighed[first].multiply(columns[second]).sum(axis=0)).ravel()
        return in_rows - (carries[first] * through[second]).sum(axis=0)

    alone, common, of_lapses = shared(0, 0), shared(0, 1), shared(1, 1)
    share = common / np.maximum(of_lapses, LITTLE)
    z, carried = csr_array(z - columns[1].multiply(share)), carries[0] - share * carries[1]
    remainder = alone - share * shared(1, 0)
    information = np.maximum(remainder, NOTHING * np.maximum(alone, LITTLE))
    score = z.T @ terms.residual - carried.T @ (j_fitted.T @ terms.residual)
    influence = z.toarray() - j_fitted @ carried  # of the residual of each row on the score
    estimate = score / information
    error = _independent_errors(information, influence, weight, inside)
    if question is None:
        return estimate, error, np.inf
    n_questions = int(question.max()) + 1
    summed = np.zeros((n_questions, len(estimate)))
    np.add.at(summed, question, influence * terms.residual[:, None])
    of_questions = np.sqrt((summed**2).sum(axis=0) * n_questions / max(n_questions - 1, 1)) / information
    return estimate, np.maximum(error, of_questions), n_questions - 1.0


def _independent_errors(
    information: FloatArray, influence: FloatArray, weight: FloatArray, inside: BoolArray
) -> FloatArray:
    """Standard errors of independent rows: the variance of the score is its information if all are fitted."""
    if inside.all():
        return np.asarray(information**-0.5)
    return np.asarray(np.sqrt(weight @ influence**2) / information)


def _lapses(terms: RowTerms, comparisons: Comparisons, judge: IntArray) -> csr_array:
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
