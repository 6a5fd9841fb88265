"""The scale on which scores are reported: log-discriminations with information-weighted mean zero.

The likelihood knows gamma_k (s_i - s_j) alone, so that any weights w which sum to one give a scale,

    c = sum_k w_k log gamma_k,    s' = s e^c,    gamma_k' = gamma_k e^-c.

The paper weighs all judges in play alike, and the weakest judge then decides, since its logarithm lies furthest
out and is known least. Here a judge weighs as much as it tells of the scores,

    w_k = W_k / sum W,    W_k = sum_t n_t gamma_t^2 v_t,

the sum being over its comparisons, with v_t the variance of an answer: half the trace of its Fisher information
in the scores. A judge who tells nothing has no weight, and the scale does not jump where a judge reaches zero.
The trace of that information times the covariance of the scores would also count what others tell of the same
models. Its scale hardly differs, and its derivatives take every pair of parameters.

The weights are estimated, too. The derivative of c has a term for the log-discriminations and one for the weights,

    dc = sum_k w_k d alpha_k + sum_k (alpha_k - c) dW_k / sum W,

so intervals of the reported scores are those of what is reported, by the delta method. Members without free
discriminations have their scale from the noise, and keep it. In a shrunk fit the information and the
log-discriminations are averages over what is not known of each judge (`judgerank.order.scale`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, exp
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.engine.information import zero_sum_basis
from judgerank.engine.likelihood import RowTerms, in_parts, product, row_derivatives
from judgerank.engine.penalty import ALPHA, Spread, flat, pulled, scale
from judgerank.inference.uncertainty import Uncertainty
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

# Judges' parameters of a shrunk fit, averaged over their uncertainty.
#
# A shrunk fit is the highest point of the scores and all judges' parameters together. Where judges have few votes,
# two things that hang on it are off. Scores come out too far apart, since every log-discrimination is at the top
# of a skewed likelihood and not at its mean. And the reported scale weighs judges by discriminations that vary
# less than the true ones. Both stay as votes come in with new judges, while errors fall.
#
# Here every log-discrimination a_k = t + alpha_k is integrated out, given scores and the judge's further
# parameters,
#
#     p_k(alpha; t) proportional to L_k(t + alpha) exp(-alpha^2 / (2 tau^2) - r_k alpha),
#
# L_k the likelihood of the judge's answers, r_k what makes alpha_k of the fit the mode at t = 0 (its part of the
# constraint, and of the shrinkage of scores). The level t, by which scores grow, is where the likelihood of all
# with the alphas integrated out is highest,
#
#     sum_k (E alpha_k - alpha_k) / tau^2 = Q (exp(2 t) - 1) + R (exp(t) - 1),
#
# Q = sum_i s_i^2 (mean gamma)^2 / tau_s^2, and R the like product of scores and what further blocks share with
# them (`engine.penalty`), zero without such blocks.
#
# The integrals are by Gauss and Hermite about the mode.
NODES, STEPS = 9, 4  # of the integrals, and of the search for the level
LEAST = 1.0  # information on all log-discriminations, over that of the prior of one, from which there are averages
SETTLED = 1e-4  # of the level, in log-odds


class Averages(NamedTuple):
    """By judge: the information in the scores, and the log-discrimination, averaged with that for a weight."""

    information: FloatArray
    alpha: FloatArray


class _Nodes:
    """The log-discriminations at which the integrals are taken, and the likelihood's part there."""

    def __init__(self, cells: Comparisons, model: Model, parameters: Parameters, deviation: float):
        self.cells, self.model, self.parameters, self.deviation = cells, model, parameters, deviation
        k = len(cells.judges)
        slope, information = np.zeros(k), np.zeros(k)
        for rows, terms in in_parts(cells, model, parameters):
            slope += np.bincount(cells.judge[rows], terms.residual * terms.signal, k)
            counted = terms.rows.count * terms.law.variance
            information += np.bincount(cells.judge[rows], counted * terms.signal**2, k)
        self.information = information
        self.mode = np.where(np.isfinite(parameters.judges[0]), parameters.judges[0], 0.0)
        self.tilt = slope - self.mode / deviation**2
        x, weight = np.polynomial.hermite.hermgauss(NODES)
        width = np.sqrt(2 / (information + deviation**-2))
        self.alpha = self.mode + x[:, None] * width
        self.prior = np.log(weight)[:, None] + x[:, None] ** 2 - self.alpha**2 / (2 * deviation**2)
        self.prior = self.prior - self.tilt * (self.alpha - self.mode)

    def at_level(self, t: float) -> tuple[FloatArray, FloatArray]:
        """Probabilities of the nodes and the information of the judges there, shape (NODES, K)."""
        k = len(self.cells.judges)
        longer = exp(np.where(np.isfinite(self.parameters.judges[0]), self.alpha + t - self.mode, 0.0))
        heights, information = np.zeros((2, NODES, k))
        for rows, terms in in_parts(self.cells, self.model, self.parameters):
            judge, count = self.cells.judge[rows], terms.rows.count
            for node, times_longer in enumerate(longer):  # which only stretch what scores do
                more = times_longer[judge]
                law = terms.law_at(terms.eta + terms.signal * (more - 1))
                height = count * law.log_likelihood(terms.outcome, *terms.level_shares)
                heights[node] += np.bincount(judge, height, k)
                information[node] += np.bincount(
                    judge, product(count * law.variance, terms.g, terms.g, more, more), k
                )
        log_weight = self.prior + heights
        weight = np.exp(log_weight - log_weight.max(axis=0))
        return weight / weight.sum(axis=0), information


def averages(cells: Comparisons, model: Model, parameters: Parameters, spread: Spread) -> Averages | None:
    """Averages of what the judges' discriminations decide, in a shrunk fit.

    None where answers say next to nothing of any discrimination, as where all scores are about equal: averages
    over the prior alone would be of its largest discriminations.

    Parameters
    ----------
    cells : Comparisons
    model : Model
    parameters : Parameters
        The mode.
    spread : mapping of str to float
        Standard deviations of what is shrunk, the log-discriminations among it.
    """
    deviation = spread[ALPHA]
    nodes = _Nodes(cells, model, parameters, deviation)
    if nodes.information.sum() * deviation**2 < LEAST:
        return None
    held = float(np.sum(parameters.scores**2)) * (scale(model, parameters)[0] / spread["scores"]) ** 2
    pull = pulled(model, parameters, {"scores": spread["scores"]})[1][: len(parameters.scores)]
    extra_pull = float(parameters.scores @ pull) - held
    t = 0.0
    for _ in range(STEPS):
        weight, information = nodes.at_level(t)
        mean = (weight * nodes.alpha).sum(axis=0)
        variance = (weight * (nodes.alpha - mean) ** 2).sum(axis=0)
        pulled_back = held * np.expm1(2 * t) + extra_pull * np.expm1(t)
        slope = float((mean - nodes.mode).sum()) - deviation**2 * pulled_back
        stiffness = 2 * held * np.exp(2 * t) + extra_pull * np.exp(t)
        fall = float(np.maximum(1 - variance / deviation**2, 0.0).sum()) + deviation**2 * stiffness
        fall = max(fall, np.finfo(float).tiny)
        step = float(np.clip(slope, -fall, fall) / fall)
        if abs(step) <= SETTLED:
            break
        t += step
    weighed = (weight * information).sum(axis=0)
    weighted_alpha = (weight * information * (nodes.alpha + t)).sum(axis=0)
    return Averages(
        weighed, np.where(weighed > 0, weighted_alpha / np.where(weighed > 0, weighed, 1.0), nodes.mode + t)
    )


Kind = TypeVar("Kind", bound=Uncertainty)


@dataclass(frozen=True, eq=False)
class Scale:
    """The reported scale of an estimate.

    Attributes
    ----------
    weights : float array, shape (K,)
        By judge, their sum one; all zero where no discrimination is free.
    shift : float
        c, the weighted mean of the log-discriminations.
    derivative : float array, shape (D,)
        Of c in the free parameters, ordered as `Uncertainty.covariance`.
    parameters : Parameters
        The estimate, on the scale of its fit.
    free : bool array, shape (K,)
        Judges whose discrimination is free.
    """

    weights: FloatArray
    shift: float
    derivative: FloatArray
    parameters: Parameters
    free: BoolArray

    @property
    def factor(self) -> float:
        """e^c: how many times longer scores are than on the scale of the fit."""
        return float(np.exp(self.shift))

    @property
    def scores(self) -> FloatArray:
        """Reported scores, shape (N,)."""
        return self.factor * self.parameters.scores

    @cached_property
    def to_scores(self) -> FloatArray:
        """Derivatives of the reported scores in the free parameters, shape (N, D)."""
        return self.derivatives(np.eye(len(self.parameters.scores), len(self.derivative)), self.parameters.scores)

    def derivatives(self, raw: FloatArray, values: FloatArray) -> FloatArray:
        """Derivatives of e^c x, shape (M, D), given those of x, of the same shape, and x, shape (M,)."""
        return self.factor * (raw + np.outer(values, self.derivative))

    def covariance(self, of_parameters: FloatArray) -> FloatArray:
        """Covariance of the reported scores, shape (N, N), given that of the free parameters, shape (D, D)."""
        return self.to_scores @ of_parameters @ self.to_scores.T

    @property
    def discriminations(self) -> FloatArray:
        """By judge on this scale, shape (K,); one throughout where judges have none."""
        return (
            np.exp(self.parameters.judges[0] - self.shift)
            if len(self.parameters.judges)
            else np.ones(len(self.weights))
        )

    @property
    def log_discriminations(self) -> FloatArray:
        """The logarithms of the free ones."""
        return self.parameters.judges[0][self.free] - self.shift

    @cached_property
    def to_log_discriminations(self) -> FloatArray:
        """Their derivatives in the free parameters."""
        n, n_free = len(self.parameters.scores), int(self.free.sum())
        return np.eye(n_free, len(self.derivative), n) - self.derivative


@remembered
def scale_of(fitted: Uncertainty) -> Scale:
    """The reported scale of a fit."""
    scale = _at_mode(fitted)
    judge_averages = _averages(fitted)
    if judge_averages is None or not scale.free.any():
        return scale
    information = np.where(scale.free, judge_averages.information, 0.0)
    weights = information / information.sum() if information.sum() > 0 else scale.weights
    return replace(scale, weights=weights, shift=float(weights @ np.where(scale.free, judge_averages.alpha, 0.0)))


@remembered
def reported_covariance(fitted: Uncertainty) -> FloatArray:
    """Covariance of the reported scores, shape (N, N)."""
    return reported(fitted, lambda _, scale: scale.scores, lambda _, scale: scale.to_scores)


@remembered
def reported_log_errors(fitted: Uncertainty) -> FloatArray:
    """Standard errors of the free log-discriminations on the reported scale, float array."""
    covariance = reported(
        fitted, lambda _, scale: scale.log_discriminations, lambda _, scale: scale.to_log_discriminations
    )
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))


def reported(
    fitted: Kind,
    values: Callable[[Kind, Scale], FloatArray],
    derivatives: Callable[[Kind, Scale], FloatArray],
) -> FloatArray:
    """Covariance of something on the reported scale, shape (M, M).

    Where a judge says next to nothing, its discrimination is the smaller the larger the standard deviations of a
    shrunk fit, and the scale of the fit is another one. So what the mixture over standard deviations says
    (`engine.hyperparameter_uncertainty`) is taken from the reported scale at each of them.

    Parameters
    ----------
    values : callable
        The values by a fit and its scale, shape (M,).
    derivatives : callable
        Theirs in its free parameters, shape (M, D).
    """
    scale = scale_of(fitted)
    if _averages(fitted) is None:
        jacobian = derivatives(fitted, scale)
        return jacobian @ fitted.covariance @ jacobian.T
    reported_values, covariance = values(fitted, scale), np.zeros(())
    for weight, conditional_fit in fitted.by_spread:
        conditional_scale = _scale_beside(fitted, conditional_fit)
        jacobian_there, deviation = (
            derivatives(conditional_fit, conditional_scale),
            values(conditional_fit, conditional_scale) - reported_values,
        )
        covariance = covariance + weight * (
            jacobian_there @ conditional_fit.as_panel(conditional_fit.at_its_spread) @ jacobian_there.T
            + np.outer(deviation, deviation)
        )
    return covariance


def _scale_beside(fitted: Uncertainty, conditional_fit: Uncertainty) -> Scale:
    """The reported scale at other standard deviations.

    What averages change of it is about the same where that of the log-discriminations is.
    """
    spread, two = (fit.solution.spread or {} for fit in (fitted, conditional_fit))
    if spread[ALPHA] != two[ALPHA]:
        return scale_of(conditional_fit)
    scale, (before, scale_there) = scale_of(fitted), map(_at_mode, (fitted, conditional_fit))
    return replace(scale_there, weights=scale.weights, shift=scale_there.shift + scale.shift - before.shift)


@remembered
def _at_mode(fitted: Uncertainty) -> Scale:
    return scale_at(fitted.comparisons, fitted.model, fitted.solution.parameters, fitted.free, fitted.chosen)


@remembered
def _averages(fitted: Uncertainty) -> Averages | None:
    """What is known of the judges where their discriminations are shrunk, but for question effects.

    None of a single judge: his discrimination is one by definition, so there is nothing to average over.
    """
    spread, parameters = fitted.solution.spread, fitted.solution.parameters
    if spread is None or ALPHA not in spread or fitted.effects is not None or fitted.n_free_discriminations < 2:
        return None
    return averages(fitted.working_comparisons, fitted.model, parameters, spread)


def scale_by(fitted: Uncertainty, weights: Mapping[str, float]) -> Scale:
    """The scale of a fit by weights that are given, such as those of another board, and taken as known.

    Parameters
    ----------
    fitted : Uncertainty
    weights : mapping of str to float
        By judge. Those of judges without a free discrimination here are left out; if none is left, the scale is
        `scale_of`.
    """
    parameters, free = fitted.solution.parameters, _free_judges(fitted.free, len(fitted.comparisons.judges))
    fixed_weights = np.array([weights.get(judge, 0.0) for judge in fitted.comparisons.judges]) * free
    if fixed_weights.sum() <= 0:
        return scale_of(fitted)
    fixed_weights /= fixed_weights.sum()
    derivative = np.zeros(len(fitted.chosen))
    n = len(parameters.scores)
    derivative[n : n + len(fixed_weights)] = fixed_weights
    judge_averages = _averages(fitted)
    alpha = parameters.judges[0] if judge_averages is None else judge_averages.alpha
    return Scale(
        fixed_weights, float(fixed_weights[free] @ alpha[free]), derivative[fitted.chosen], parameters, free
    )


def weights_of(fitted: Uncertainty) -> dict[str, float]:
    """The weights of a fit's scale by judge, to be kept with it."""
    return dict(zip(fitted.comparisons.judges, scale_of(fitted).weights.tolist(), strict=True))


def scale_at(
    cells: Comparisons, model: Model, parameters: Parameters, free: BoolArray, chosen: BoolArray
) -> Scale:
    """The reported scale at a point.

    Parameters
    ----------
    cells : Comparisons
    model : Model
    parameters : Parameters
    free : bool array, shape (B, K)
        Judges' free parameters.
    chosen : bool array, shape (N + B K + P,)
        All free parameters.
    """
    k = len(cells.judges)
    judges = _free_judges(free, k)
    if not judges.any():
        return Scale(np.zeros(k), 0.0, np.zeros(int(chosen.sum())), parameters, judges)
    information = np.zeros(k)
    for rows, terms in in_parts(cells, model, parameters):
        information += np.bincount(cells.judge[rows], terms.of_scores, k)
    information[~judges] = 0.0
    total = information.sum()
    weights = information / total if total > 0 else judges / judges.sum()
    alpha = np.where(judges, parameters.judges[0], 0.0)
    shift = float(weights @ alpha)
    away = np.where(judges, alpha - shift, 0.0) / total if total > 0 else np.zeros(k)
    derivative = _of_weights(cells, model, parameters, away)
    n = len(parameters.scores)
    derivative[n : n + k] += weights
    return Scale(weights, shift, derivative[chosen], parameters, judges)


def _free_judges(free: BoolArray, k: int) -> BoolArray:
    return np.asarray(free[0] if len(free) else np.zeros(k, bool))


def _of_weights(cells: Comparisons, model: Model, parameters: Parameters, away: FloatArray) -> FloatArray:
    """Derivative of sum_k x_k W_k in all parameters for given x, shape (N + B K + P,)."""
    derivative = np.zeros(len(flat(parameters)))
    for rows, terms in in_parts(cells, model, parameters):
        counted = product(terms.rows.count * away[cells.judge[rows]], terms.g, terms.g)
        of_row = row_derivatives(terms, partial(_of_information, terms, counted))
        derivative += np.bincount(of_row.col, of_row.data, len(derivative))
    return derivative


def _of_information(terms: RowTerms, counted: FloatArray, role: Role) -> FloatArray:
    """Derivative of x n g^2 v of every row in what a role's parameters add to, given x n g^2; shape (C,)."""
    if role.is_threshold:
        return counted * terms.law.variance_with(role)
    slope = product(terms.law.slopes_of_variance(counted), *terms.factors(role))
    return slope + 2 * counted * terms.law.variance if role is Role.WEIGHT else slope


def standardised(scores: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Zero-sum scores over their standard deviation, and the covariance of those by the delta method.

    Free of any scale, like a correlation: u = s / sd(s), du = (I - s s' / s's) ds / sd(s).

    Parameters
    ----------
    scores : float array, shape (N,)
    covariance : float array, shape (N, N)
    """
    spread = scores.std()
    to_shape = (np.eye(len(scores)) - np.outer(scores, scores) / (scores @ scores)) / spread
    return scores / spread, to_shape @ covariance @ to_shape.T


# Goals of further comparisons: differences of scores, whatever their scale.
#
# Which of two models is better does not hang on the scale. So the aim is the scores on whatever scale they are
# known best: of all weights w with sum one, under which ds becomes ds + s w' dalpha, those whose scale s' ds / s's
# varies least. They are the regression of the scale on the log-discriminations. On the reported scale, answers by
# a judge who is known badly would seem to tell much, since they pin down its weight.
# variances of log-discriminations that count as none: beside the largest, and by themselves
RELATIVE, EXACT = 1e-13, 1e-20


def best_known(scores: FloatArray, covariance: FloatArray, n_judges: int) -> FloatArray:
    """Derivatives of the scores in the free parameters, the best-known scale held, shape (N, D).

    Parameters
    ----------
    scores : float array, shape (N,)
    covariance : float array, shape (D, D)
        Of (s, alpha, ...), scores and log-discriminations summing to zero.
    n_judges : int
        Size of the second block.
    """
    n = len(scores)
    directions = np.eye(n, len(covariance))
    if n_judges < 2 or not scores.any():
        return directions
    basis, judges = zero_sum_basis(n_judges), slice(n, n + n_judges)
    alpha = basis.T @ covariance[judges, judges] @ basis
    # singular with fewer clusters than judges, or where judges answer as one: what is left there is rounding
    most = max(float(np.abs(alpha).max()), np.finfo(float).tiny)
    inverse = np.linalg.pinv(alpha, rcond=max(RELATIVE, EXACT / most), hermitian=True)
    weights = -inverse @ (basis.T @ covariance[judges, :n] @ scores) / (scores @ scores)
    directions[:, judges] = np.outer(scores, basis @ weights)
    return directions


def best_known_scores(fitted: Uncertainty) -> FloatArray:
    """`best_known` of a fit, in reported units.

    Raises
    ------
    NoIntervalError
        If the fit has no covariance.
    """
    directions = best_known(fitted.scores.to_numpy(), fitted.covariance, fitted.n_free_discriminations)
    return scale_of(fitted).factor * directions
