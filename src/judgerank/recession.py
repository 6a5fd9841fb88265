"""Is there a maximum? Decided by a linear program over the directions in which the likelihood never falls.

With discriminations as they are, the log-likelihood is concave in scores, positions and tie propensities: a sum of
log shares of exponentials in linear forms. It has a maximum exactly if every direction along which no observed
outcome's form falls behind another one's leaves all of them even (Albert and Anderson, 1984). In the position
block and the tie block a direction can be divided by gamma_k, so that for judges without a covariate the answer
does not depend on how discriminating they are.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.sparse import coo_array, csr_array, vstack

from judgerank.arrays import FloatArray
from judgerank.comparisons import Comparisons
from judgerank.inference import information
from judgerank.likelihood import Law, evaluate, predictor
from judgerank.model import Model, Parameters
from judgerank.solvers.newton import ROUNDING

GIVEN = 1e-9  # share of an answer above which it was given
CERTAIN = 0.25  # of the bound on the squared Newton decrement; the rest is for rounding
RISE = 1e-6  # of a program whose variables lie within one: a direction that rises at all rises by far more


def near_maximum(cells: Comparisons, model: Model, at: Parameters) -> bool:
    """Whether a point proves that there is a maximum in scores, positions and tie propensities near it.

    Let u be the gradient, H minus the Hessian, and r the most by which a direction v sets two outcomes of one
    comparison apart. The third derivative along v is at most r v'H v (Bach, 2010, Self-concordant analysis for
    logistic regression), so the slope falls below u'v - v'H v / r. If it stays positive, (v'H v)^(1/2) is at most
    r times the Newton decrement (u'H^-1 u)^(1/2), and at least r (n p q)^(1/2), p and q being the probabilities of
    those outcomes. So there is a maximum where the decrement is below the least (n p q)^(1/2) of all comparisons.
    False says nothing.

    Parameters
    ----------
    cells : Comparisons
        Of the judges in play.
    at : Parameters
    """
    eta, judge = predictor(cells, model, at), cells.judge
    law = Law(eta, np.exp(at.judges[-1])[judge] if model.has_ties else None)
    tie = 0.0 if law.tie is None else law.tie
    fewer, least = np.sort([law.mean - tie / 2, 1 - law.mean - tie / 2], axis=0)
    if model.has_ties:
        least = np.where(np.isfinite(at.judges[-1])[judge], np.minimum(least, tie), least)
    bound = CERTAIN * (cells.count * fewer * least).min()
    if bound <= ROUNDING * cells.n_comparisons:  # far out the gradient may be nothing but rounding
        return False
    here = evaluate(cells, model, at, "expected")
    free = np.isfinite(at.judges)
    free[: model.n_scale] = False
    n = len(cells.models)
    info = information(here, free)
    info[:n, :n] += info.trace() / len(info)  # all scores may move together
    slope = np.r_[here.score_gradient, here.judge_gradient[free]]
    try:
        decrement = np.linalg.norm(solve_triangular(cholesky(info, lower=True), slope, lower=True))
    except LinAlgError:
        return False
    return bool(decrement**2 <= bound)


def rising_direction(cells: Comparisons, model: Model, at: Parameters | None = None) -> FloatArray | None:
    """A direction in (s, b, log nu) along which the likelihood rises without end, or None.

    Parameters
    ----------
    cells : Comparisons
        Of the judges in play.
    at : Parameters, optional
        Where discrimination depends on a covariate: the slopes.

    Returns
    -------
    float array, shape (N + K [+ K],), or None
        Scores, then positions and tie propensities as far as the model frees them; no entry beyond one in size.
    """
    from scipy.optimize import linprog  # loads slowly, and few models need it

    forms = _forms(cells, model, at)
    if forms.shape[0] == 0:
        return None
    rise = np.asarray(forms.sum(axis=0)).ravel()
    none = np.zeros(forms.shape[0])
    found = linprog(-rise, A_ub=-forms, b_ub=none, bounds=(-1.0, 1.0), method="highs")
    return found.x if -found.fun > RISE else None


def _forms(cells: Comparisons, model: Model, at: Parameters | None) -> csr_array:
    """Linear forms that must not be negative along a direction: observed outcome against every other one."""
    n, k, size = len(cells.models), len(cells.judges), len(cells)
    rows, ones = np.arange(size), np.ones(size)
    g = ones
    if at is not None and model.has_slope:
        g = np.exp(at.judges[1][cells.judge] * cells.known_covariate)
    blocks = model.has_position + model.has_ties
    where = [cells.first, cells.second, *([n + cells.judge] if model.has_position else [])]
    values = [g, -g, *([ones] if model.has_position else [])]
    shape = (size, n + blocks * k)
    ahead = coo_array((np.concatenate(values), (np.tile(rows, len(where)), np.concatenate(where))), shape).tocsr()
    tied = cells.known_ties if model.has_ties else np.zeros(size)
    first, second = cells.outcome - tied / 2 > GIVEN, 1 - cells.outcome - tied / 2 > GIVEN
    if not model.has_ties:
        return vstack([ahead[first], -ahead[second]]).tocsr()
    ties_at_all = np.bincount(cells.judge, tied, k) > GIVEN  # others never tie: their propensity is zero
    tie = coo_array((ones, (rows, n + (blocks - 1) * k + cells.judge)), shape).tocsr()
    known = ties_at_all[cells.judge]
    drawn = tied > GIVEN
    forms = [ahead[first], -ahead[second], (tie - ahead / 2)[drawn], (tie + ahead / 2)[drawn]]
    forms += [(ahead / 2 - tie)[first & known], (-ahead / 2 - tie)[second & known]]
    return vstack(forms).tocsr()
