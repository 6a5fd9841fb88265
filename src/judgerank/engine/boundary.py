"""The edges of the parameter space, gamma_k >= 0 and |beta_k| <= bound, and where a climb starts inside."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.levels import (
    LEAST_SHARE,
    choices_at_zero,
    first_shown_share,
    judged,
    mean_at_zero,
    net_wins,
    offsets_with_strength,
    position_at_zero,
    tied_share,
)
from judgerank.engine.likelihood import CHUNK, Curvature, Evaluation, RowTerms, evaluate
from judgerank.engine.rows import laid_out
from judgerank.engine.solution import ROUNDING
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

SHARPEST = 10.0  # discrimination that a climb starts from
LARGEST_EXPONENT = 100.0  # of e^{beta z}, lest it overflow under a bound that is none
NEGLIGIBLE = 1e-9  # slope at zero that counts as none, over the largest that so many comparisons could have
FLAT = 1e-6  # curvature along a judge's discrimination and slope, over that across, that counts as none
SLOPES_TRIED = 41  # values of beta_k at which a judge at zero is asked whether it should be in play


class Bound(NamedTuple):
    """Least and largest slope, of all judges or by judge, and judges whose log-odds of a typical pair are held."""

    least: float | FloatArray
    largest: float | FloatArray
    held: tuple[int, ...] = ()


ANYWHERE = Bound(-np.inf, np.inf)


def look(
    cells: Comparisons, model: Model, parameters: Parameters, bound: Bound, curvature: Curvature = "observed"
) -> Evaluation:
    """The evaluation as the climb sees it: slopes at a bound that would go beyond are held there.

    So are typical log-odds, gamma_k times the standard deviation of the scores, of the judges in `bound.held`.
    """
    evaluation = evaluate(cells, model, parameters, curvature)
    if bound.held:
        evaluation = _holding(parameters, evaluation, list(bound.held))
    if not model.weights_vary:
        return evaluation
    slope, rise = parameters.judges[1], evaluation.judge_gradient[1]
    held = ((slope <= bound.least) & (rise < 0)) | ((slope >= bound.largest) & (rise > 0))
    gradient, cross = evaluation.judge_gradient.copy(), evaluation.cross_information.copy()
    judge_information = evaluation.judge_information.copy()
    gradient[1, held] = cross[1, held] = 0.0
    judge_information[held, 1, :] = judge_information[held, :, 1] = 0.0
    judge_information[held, 1, 1] = np.maximum(judge_information[held, 0, 0], 1.0)  # any positive number
    return replace(
        evaluation, judge_gradient=gradient, judge_information=judge_information, cross_information=cross
    )


def _holding(parameters: Parameters, evaluation: Evaluation, held: list[int]) -> Evaluation:
    """The evaluation along what changes neither log gamma of these judges nor the size of the scores."""
    s = parameters.scores / max(np.linalg.norm(parameters.scores), np.finfo(float).tiny)
    along = np.eye(len(s)) - np.outer(s, s)
    gradient, cross = evaluation.judge_gradient.copy(), evaluation.cross_information @ along
    gradient[0, held] = cross[0, held] = 0.0
    judge_information = evaluation.judge_information.copy()
    judge_information[held, 0, 1:] = judge_information[held, 1:, 0] = 0.0
    judge_information[held, 0, 0] = np.maximum(judge_information[held, 0, 0], 1.0)  # any positive number
    top, information = along @ evaluation.top_gradient, along @ evaluation.top_information @ along
    return replace(
        evaluation,
        top_gradient=top,
        judge_gradient=gradient,
        top_information=information,
        judge_information=judge_information,
        cross_information=cross,
    )


def guess(cells: Comparisons, model: Model, scores: np.ndarray) -> Parameters:
    """These scores, and one step towards every judge's best gamma_k given them."""
    zeros = Parameters.zeros(model, cells)
    zeros.judges[model.offsets] = offsets_at_zero(cells, model)
    parameters = replace(zeros, scores=scores)
    if not model.weighs_judges:
        return parameters
    evaluation = evaluate(cells, model, parameters, "expected")
    at_zero, at_one = slopes_at_zero(cells, parameters, evaluation), evaluation.judge_gradient[0]
    # the slope falls in gamma, ever more slowly: the root of at_zero - b gamma / (1 + c gamma) through the slopes
    # at zero and one and the derivative at one
    rises, fall = at_zero > 0, evaluation.judge_information[:, 0, 0]
    left = at_zero - at_one * np.divide(at_zero - at_one, fall, out=np.ones_like(fall), where=fall > 0)
    gamma = np.where(rises, at_zero, 0.0) / np.where(rises, np.maximum(left, at_zero / SHARPEST), 1.0)
    with np.errstate(divide="ignore"):
        zeros.judges[0] = np.log(gamma)
    return replace(parameters, judges=zeros.judges)


def offsets_at_zero(cells: Comparisons, model: Model) -> np.ndarray:
    """Best b_k and log nu_k at zero discrimination, as far as they are free; float array, one row each, K columns.

    Large where a judge knows one answer only; log nu_k is minus infinity where a judge never ties.
    """
    if model.has(Role.STRONG):
        return offsets_with_strength(cells, model)
    if not model.has(Role.OFFSET, Role.TIE):
        return np.zeros((0, len(cells.judges)))
    if not model.has(Role.TIE):
        return position_at_zero(cells)[None, :]
    if cells.stages is not None:
        b, log_delta = choices_at_zero(cells, model.has(Role.OFFSET))
        never = np.full(len(b), -np.inf)
        ties = [log_delta.get(size, never) for size in model.tie_sizes]
        return np.array([b, *ties][not model.has(Role.OFFSET) :])
    share = first_shown_share(cells)
    tied = np.minimum(tied_share(cells), 1 - 2 * LEAST_SHARE)
    wins = np.array([share, 1 - share]) - tied / 2 if model.has(Role.OFFSET) else np.tile((1 - tied) / 2, (2, 1))
    first, second = np.log(np.maximum(wins, LEAST_SHARE))
    with np.errstate(divide="ignore"):
        propensity = np.log(tied) - (first + second) / 2
    return np.array([first - second, propensity][not model.has(Role.OFFSET) :])


def main_direction(cells: Comparisons) -> np.ndarray:
    """Leading right singular vector of the judges' net wins by model, at unit standard deviation.

    Near gamma = 0 a judge's net wins are proportional to gamma_k, with one pattern over models for all judges.
    """
    direction = np.linalg.svd(net_wins(cells), full_matrices=False)[2][0]
    return direction / max(direction.std(), np.finfo(float).tiny)


def assurance(cells: Comparisons, model: Model, parameters: Parameters, height: float | None = None) -> float:
    """Gain of a fit over chance, over what judges could gain further if each had scores of its own.

    At another maximum the scores turn away from those of the fit, and the judges lose of the gain what they have
    in common. They could make up for it by what the common scores cost them now: about
    sum_k u_k' I_k^-1 u_k / 2, u_k being judge k's gradient in the scores and I_k its information, here taken
    diagonal. `height` is the log-likelihood there, if it is known.
    """
    n, k = len(cells.models), len(cells.judges)
    chance = -cells.n_comparisons * np.log(2.0)
    if model.has(Role.OFFSET, Role.TIE, Role.STRONG):
        zero = replace(parameters, judges=parameters.judges.copy())
        zero.judges[0] = -np.inf
        zero.judges[model.offsets] = offsets_at_zero(cells, model)
        chance = evaluate(cells, model, zero).log_likelihood
    gain = (evaluate(cells, model, parameters).log_likelihood if height is None else height) - chance
    residual, information = np.zeros((k, n)), np.zeros((k, n))
    for rows in laid_out(cells, CHUNK):
        terms = RowTerms(rows, model, parameters, model.gamma(parameters))
        rows.by_both(terms.residual, None, residual)
        rows.by_either(rows.count * terms.law.variance, information)
    is_informative = information > 0
    possible_gain = 0.5 * float(np.sum(residual[is_informative] ** 2 / information[is_informative]))
    return gain / possible_gain if possible_gain > 0 else np.inf


def slopes_at_zero(cells: Comparisons, parameters: Parameters, evaluation: Evaluation) -> np.ndarray:
    """Slopes at zero, those that rounding, here or of the scores, could have made being zero."""
    terms = judged(cells) * np.ptp(parameters.scores)
    return np.where(np.abs(evaluation.slope_at_zero) <= NEGLIGIBLE * terms, 0.0, evaluation.slope_at_zero)


def set_aside(
    cells: Comparisons, model: Model, parameters: Parameters, evaluation: Evaluation, bound: Bound
) -> tuple[Parameters, Evaluation]:
    """Put judges in play whose slope at zero is not positive at gamma_k = 0."""
    if not model.weighs_judges:
        return parameters, evaluation
    aside = parameters.in_play & (slopes_at_zero(cells, parameters, evaluation) <= 0)
    if not aside.any():
        return parameters, evaluation
    judges = parameters.judges.copy()
    judges[0, aside] = -np.inf
    judges[1 : model.weights.stop, aside] = 0.0
    judges[model.offsets, aside] = offsets_at_zero(cells, model)[:, aside]
    parameters = Parameters(parameters.scores, judges).normalised()
    return parameters, look(cells, model, parameters, bound)


def taken_back(
    cells: Comparisons,
    model: Model,
    parameters: Parameters,
    evaluation: Evaluation,
    bound: Bound,
    tolerance: float,
) -> Parameters | None:
    """The point with those judges at zero back in play whose slope has turned positive, or None.

    A slope is a gradient in gamma, so it counts as zero where a gradient would.
    """
    if parameters.in_play.all():
        return None
    least_rise = tolerance * max(1.0, abs(evaluation.log_likelihood))
    # with a covariate, the slope at zero is positive at one beta_k and not at another
    candidates = ~parameters.in_play & (
        model.weights_vary | (slopes_at_zero(cells, parameters, evaluation) > least_rise)
    )
    judges = parameters.judges.copy()
    share = mean_at_zero(cells) if model.has(Role.OFFSET) else np.broadcast_to(0.5, len(cells))
    least, largest = (
        np.broadcast_to(edge, len(cells.judges)) for edge in (bound[:2] if model.weights_vary else (0.0, 0.0))
    )
    for k in np.flatnonzero(candidates).tolist():
        start = best_from_zero(cells, parameters.scores, k, share, (least[k], largest[k]), least_rise)
        judges[model.weights, k] = start[model.weights]
    return Parameters(parameters.scores, judges) if np.isfinite(judges[0, ~parameters.in_play]).any() else None


def at_the_edge(
    cells: Comparisons, model: Model, parameters: Parameters, current: Evaluation, bound: Bound
) -> tuple[Parameters, Evaluation]:
    """The point with slopes on their bound that could as well be there.

    A judge who never errs at one end of the covariate rises there without end, and soon by less than rounding: a
    climb would stop wherever it happens to be.
    """
    if not model.weights_vary:
        return parameters, current
    for k in np.flatnonzero(
        parameters.in_play & (parameters.judges[1] > bound.least) & (parameters.judges[1] < bound.largest)
    ).tolist():
        judge_information = current.judge_information[k, :2, :2]
        values, vectors = np.linalg.eigh(judge_information)
        if values[0] > FLAT * values[1] or vectors[1, 0] == 0:
            continue
        for edge in bound[:2]:
            judges = parameters.judges.copy()
            least = float(np.broadcast_to(edge, len(cells.judges))[k])
            judges[:2, k] += (least - judges[1, k]) * vectors[:, 0] / vectors[1, 0]
            judges[1, k] = least
            at_bound = Parameters(parameters.scores, judges).normalised()
            evaluation = look(cells, model, at_bound, bound)
            if evaluation.log_likelihood >= current.log_likelihood - ROUNDING * max(
                1.0, abs(current.log_likelihood)
            ):
                parameters, current = at_bound, evaluation
                break
    return parameters, current


def best_from_zero(
    cells: Comparisons,
    scores: FloatArray,
    k: int,
    share: FloatArray,
    bound: tuple[float, float],
    least_rise: float,
) -> tuple[float, float]:
    """Log-discrimination and slope from which a judge at zero can climb, or minus infinity and zero.

    Near zero the log-likelihood is gamma_k sum n (y - q) h d - gamma_k^2 sum n q (1 - q) (h d)^2 / 2 and a
    constant, with h = e^{beta z} and q the probability of the first model at zero discrimination, shape (T,).
    """
    rows = cells.judge == k
    share = share[rows]
    d, n = (scores[cells.first] - scores[cells.second])[rows], cells.count[rows]
    z = np.zeros_like(d) if cells.covariate is None else cells.covariate[rows]
    reach = LARGEST_EXPONENT / max(np.abs(z).max(), np.finfo(float).eps)
    least, largest = (min(max(float(edge), -reach), reach) for edge in bound)
    slopes = np.unique(np.linspace(least, largest, SLOPES_TRIED))
    shape = np.exp(np.outer(slopes, z))
    rise = shape @ (n * (cells.response[rows] - share) * d)
    # the variance of a response, at most the square of the largest |c|, is not that of its mean
    variance = share * (1 - share) if cells.strong is None else ((1 + cells.n_strengths) / 2) ** 2
    curvature = shape**2 @ (n * d**2 * variance)
    gain = np.divide(rise**2, curvature, out=np.zeros_like(rise), where=(rise > least_rise) & (curvature > 0))
    best = int(np.argmax(gain))
    return (np.log(rise[best] / curvature[best]), slopes[best]) if rise[best] > least_rise else (-np.inf, 0.0)
