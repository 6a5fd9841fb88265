"""Is there a maximum? Decided by a linear program over the directions in which the likelihood never falls.

With discriminations as they are, the log-likelihood is concave in scores, positions and tie propensities: a sum of
log shares of exponentials in linear forms. It has a maximum exactly if every direction along which no observed
outcome's form falls behind another one's leaves all of them even (Albert and Anderson, 1984). In the position
block and the tie block a direction can be divided by gamma_k, so that for judges without a covariate the answer
does not depend on how discriminating they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs
from scipy.sparse import block_diag, coo_array, csr_array, eye_array, vstack

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.information import SINGULAR, information
from judgerank.engine.solution import ROUNDING
from judgerank.engine.sums import evaluate, predictor
from judgerank.model.members import Model, Parameters

GIVEN = 1e-9  # share of an answer above which it was given
CERTAIN = 0.5  # change of log-odds that is surely below one; the rest is for rounding
RISE = 1e-6  # of a program whose variables lie within one: a direction that rises at all rises by far more
MANY = 2_000  # forms beyond which any rising direction will do: the steepest takes a matrix of all their products


def near_maximum(cells: Comparisons, model: Model, at: Parameters) -> bool:
    """Whether a point proves that there is a maximum in scores, positions and tie propensities.

    Let h be the exponents of a comparison's outcomes, so that p is proportional to e^h, and v the step of Fisher
    scoring from here: v changes each h by t, and t less its mean, sum p t, by u. The gradient is the sum of
    n p_q (h_o - h_q) over what was observed, o, and each other outcome q, and the information times v that of
    -n p_q u_q (h_o - h_q). So the sum of n p_q (1 + u_q) (h_o - h_q) is zero. If v changes no log-odds of two
    outcomes by one, all weights in that sum are positive. Then there is no direction in which none of these
    forms falls and one rises (Stiemke, 1915): there is a maximum. False says nothing.

    Parameters
    ----------
    cells : Comparisons
        Of the judges in play.
    at : Parameters
    """
    here = evaluate(cells, model, at, "expected")
    free = np.isfinite(at.judges)
    free[: model.n_scale] = False
    n = len(cells.models)
    info = information(here, free)
    info[:n, :n] += info.trace() / len(info)  # all scores may move together
    size, (half, failed) = np.abs(info).sum(axis=0).max(), dpotrf(info, lower=True)
    least = size * dpocon(half, size, uplo="L")[0]
    steepest = at.judges[0].max()
    if model.has_slope:
        steepest += np.abs(at.judges[1]).max() * np.abs(cells.known_covariate).max()
    terms = cells.n_comparisons * max(1.0, np.exp(steepest))
    if failed or least <= max(SINGULAR * size, ROUNDING * terms):  # far out a gradient may be nothing but rounding
        return False
    step = dpotrs(half, np.r_[here.top_gradient, here.judge_gradient[free]], lower=True)[0]
    judges = at.judges.copy()
    judges[model.n_scale :] = 0.0
    judges[free] = step[n:]
    turned = np.abs(predictor(cells, model, Parameters(step[:n], judges)))
    if model.has_ties:  # against either win
        turned = np.maximum(turned, np.abs(judges[-1])[cells.judge] + turned / 2)
    return bool(turned.max() <= CERTAIN)


def rising_direction(
    cells: Comparisons, model: Model, at: Parameters | None = None, held: BoolArray | None = None
) -> FloatArray | None:
    """A direction in (s, b, log nu) along which the likelihood rises without end, or None.

    Parameters
    ----------
    cells : Comparisons
        Of the judges in play.
    at : Parameters, optional
        Where discrimination depends on a covariate: the slopes. Where judges are held: discriminations.
    held : bool array, shape (K,), optional
        Judges whose positions and ties a penalty draws to the means of the others (`engine.runaway`): all that is
        free of charge is to move with those.

    Returns
    -------
    float array, shape (N + K [+ K],), or None
        Scores, then positions and tie propensities as far as the model frees them; no entry beyond one in size.
    """
    from scipy.optimize import linprog  # loads slowly, and few models need it

    forms = _forms(cells, model, at, held)
    if forms.shape[0] == 0:
        return None
    moved = eye_array(forms.shape[1]) if held is None else _with_the_others(cells, model, held)
    forms = csr_array(forms @ moved)
    rise = np.asarray(forms.sum(axis=0)).ravel()
    none = np.zeros(forms.shape[0])
    found = linprog(-rise, A_ub=-forms, b_ub=none, bounds=(-1.0, 1.0), method="highs")
    return moved @ _steepest(forms, found.x) if -found.fun > RISE else None


def _with_the_others(cells: Comparisons, model: Model, held: BoolArray) -> csr_array:
    """What moves, by what is free to: judges held move as the mean of the others does; shape (D, D)."""
    parts: list[Any] = [np.eye(len(cells.models))]
    blocks = [~held] if model.has_position else []
    for others in blocks + ([~held & _tie_at_all(cells)] if model.has_ties else []):
        part = np.diag((~held).astype(float))
        part[held] = others / max(1, others.sum())
        parts.append(part)
    return csr_array(block_diag(parts))


def _steepest(forms: csr_array, other: FloatArray) -> FloatArray:
    """The direction along which the forms rise most of those in which none falls, the largest entry being one.

    There are many, and which one a linear program meets hangs on the order of models. This one does not: it is the
    sum of the forms projected on the cone of such directions (Moreau, 1962). Of many forms, the `other` one.
    """
    from scipy.optimize import nnls

    if forms.shape[0] > MANY:
        return other
    distinct = np.unique(forms.toarray(), axis=0)  # else it would hang on how rows are merged
    rise = distinct.sum(axis=0)
    direction = rise + distinct.T @ nnls(distinct.T, -rise)[0]
    return np.asarray(direction / np.abs(direction).max(), float)


def _tie_at_all(cells: Comparisons) -> BoolArray:
    """Judges who do; the propensity of others is zero. Shape (K,)."""
    return np.asarray(np.bincount(cells.judge, cells.known_ties, len(cells.judges)) > GIVEN)


def _forms(cells: Comparisons, model: Model, at: Parameters | None, held: BoolArray | None) -> csr_array:
    """Linear forms that must not be negative along a direction: observed outcome against every other one."""
    n, k, size = len(cells.models), len(cells.judges), len(cells)
    rows, ones = np.arange(size), np.ones(size)
    g = ones
    if at is not None and model.has_slope:
        g = np.exp(at.judges[1][cells.judge] * cells.known_covariate)
    elif at is not None and held is not None:  # what judges have in common is in their own units
        g = np.exp(at.judges[0])[cells.judge]
    blocks = model.has_position + model.has_ties
    where = [cells.first, cells.second, *([n + cells.judge] if model.has_position else [])]
    values = [g, -g, *([ones] if model.has_position else [])]
    shape = (size, n + blocks * k)
    ahead = coo_array((np.concatenate(values), (np.tile(rows, len(where)), np.concatenate(where))), shape).tocsr()
    tied = cells.known_ties if model.has_ties else np.zeros(size)
    first, second = cells.outcome - tied / 2 > GIVEN, 1 - cells.outcome - tied / 2 > GIVEN
    if not model.has_ties:
        return vstack([ahead[first], -ahead[second]]).tocsr()
    tie = coo_array((ones, (rows, n + (blocks - 1) * k + cells.judge)), shape).tocsr()
    known = _tie_at_all(cells)[cells.judge]
    drawn = tied > GIVEN
    forms = [ahead[first], -ahead[second], (tie - ahead / 2)[drawn], (tie + ahead / 2)[drawn]]
    forms += [(ahead / 2 - tie)[first & known], (-ahead / 2 - tie)[second & known]]
    return vstack(forms).tocsr()
