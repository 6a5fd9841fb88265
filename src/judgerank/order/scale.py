"""The scale on which scores are reported: a difference is the log-odds by which a panel prefers the better model.

The likelihood knows gamma_k (s_i - s_j) alone, so that any c gives a scale,

    s' = s e^c,    gamma_k' = gamma_k e^-c.

The paper has the geometric mean of the discriminations at one. The weakest judge then decides, since its logarithm
lies furthest out and is known least. So does, where judges have few answers, how much discriminations vary: a mean
of them, of whichever kind, grows with their spread, and four answers a judge do not tell it. What answers do tell
is how often a judge drawn from the panel prefers one model to another,

    P(d) = sum_k w_k (sigmoid(gamma_k d + b_k) + sigmoid(gamma_k d - b_k)) / 2,    e^c = logit(P(d)) / d,

w_k the share of the comparisons that are judge k's, b_k its bias for the first shown, which either is equally
often, and d the root mean square of the differences of all scores.
So a reported difference of the usual size is the log-odds of that preference, and others nearly are. Where judges
are alike and have no bias, e^c is their discrimination. A judge who tells nothing lowers win rates, and scores
with them.

The derivative of c in log gamma_k and in d is, without biases, with p_k = sigmoid(gamma_k d), L = logit(P) and
V = P (1 - P),

    w_k gamma_k d p_k (1 - p_k) / (V L),    sum_k w_k gamma_k p_k (1 - p_k) / (V L) - 1 / d,

so intervals of the reported scores are those of what is reported, by the delta method. Members without free
discriminations and biases have their scale from the noise, and keep it. In a shrunk fit, P is an average over what
is not known of each judge. Where ties are an outcome, P is of the answers that are none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, exp
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.engine.information import zero_sum_basis
from judgerank.engine.likelihood import in_parts
from judgerank.engine.penalty import ALPHA, Spread, flat, pulled, scale
from judgerank.inference.uncertainty import Uncertainty
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

# Judges' parameters of a shrunk fit, averaged over their uncertainty.
#
# A shrunk fit is the highest point of the scores and all judges' parameters together. Where judges have few votes,
# scores come out too far apart there, since every log-discrimination is at the top of a skewed likelihood and not
# at its mean. That stays as votes come in with new judges, while errors fall.
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
LEAST_DIFFERENCE = 1e-3  # in log-odds, of scores: where all are equal, the scale is by the mean discrimination


class Averages(NamedTuple):
    """By node of the integrals and judge: its probability, and the log-discrimination there, shape (NODES, K)."""

    probability: FloatArray
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

    def at_level(self, t: float) -> FloatArray:
        """Probabilities of the nodes, shape (NODES, K)."""
        k = len(self.cells.judges)
        longer = exp(np.where(np.isfinite(self.parameters.judges[0]), self.alpha + t - self.mode, 0.0))
        heights = np.zeros((NODES, k))
        for rows, terms in in_parts(self.cells, self.model, self.parameters):
            judge, count = self.cells.judge[rows], terms.rows.count
            for node, times_longer in enumerate(longer):  # which only stretch what scores do
                law = terms.law_at(terms.eta + terms.signal * (times_longer[judge] - 1))
                height = count * law.log_likelihood(terms.outcome, *terms.level_shares)
                heights[node] += np.bincount(judge, height, k)
        log_weight = self.prior + heights
        weight = np.exp(log_weight - log_weight.max(axis=0))
        return weight / weight.sum(axis=0)


def averages(cells: Comparisons, model: Model, parameters: Parameters, spread: Spread) -> Averages | None:
    """What a shrunk fit says of the judges' log-discriminations beyond the mode.

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
        weight = nodes.at_level(t)
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
    return Averages(weight, nodes.alpha + t)


Kind = TypeVar("Kind", bound=Uncertainty)


@dataclass(frozen=True, eq=False)
class Scale:
    """The reported scale of an estimate.

    Attributes
    ----------
    weights : float array, shape (K,)
        Probabilities of the judges to be drawn, their sum one.
    shift : float
        c.
    derivative : float array, shape (D,)
        Of c in the free parameters, ordered as `Uncertainty.covariance`.
    parameters : Parameters
        The estimate, on the scale of its fit.
    free : bool array, shape (K,)
        Judges whose discrimination is free.
    level : float
        By how much c is above the one of the estimates alone, where a shrunk fit averages over the judges.
    """

    weights: FloatArray
    shift: float
    derivative: FloatArray
    parameters: Parameters
    free: BoolArray
    level: float = 0.0

    @property
    def factor(self) -> float:
        """e^c: how many times longer scores are than on the scale of the fit."""
        return float(np.exp(self.shift))

    @property
    def factor_of_estimates(self) -> float:
        """The factor by which the estimated discriminations of the judges give win rates that go with scores."""
        return float(np.exp(self.shift - self.level))

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
    return _averaged(fitted, _at_mode(fitted))


def _averaged(fitted: Uncertainty, scale: Scale, among: IntArray | None = None) -> Scale:
    """The scale by averages over what a shrunk fit does not know of each judge, given the one at its mode."""
    judge_averages = _averages(fitted)
    if judge_averages is None or not scale.free.any():
        return scale
    probability, alpha = judge_averages
    judges, d = fitted.model.of_judges(scale.parameters), usual_difference(scale.parameters.scores, among)[0]
    gamma = np.where(judges.gamma > 0, np.exp(alpha), 0.0)
    shift = _shift(scale.weights * probability, gamma, np.broadcast_to(judges.position, gamma.shape), d)
    return replace(scale, shift=shift, level=shift - scale.shift)


@remembered
def reported_covariance(fitted: Uncertainty) -> FloatArray:
    """Covariance of the reported scores, shape (N, N)."""
    if fitted.errors.sizes is not None:
        return fitted.errors.sizes.unit**2 * fitted.errors.sizes.covariance
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
    for weight, conditional_fit in fitted._by_spread:
        conditional_scale = _scale_beside(fitted, conditional_fit)
        jacobian_there, deviation = (
            derivatives(conditional_fit, conditional_scale),
            values(conditional_fit, conditional_scale) - reported_values,
        )
        covariance = covariance + weight * (
            jacobian_there @ conditional_fit._as_panel(conditional_fit._at_its_spread) @ jacobian_there.T
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
    return replace(scale_there, shift=scale_there.shift + scale.shift - before.shift)


@remembered
def _at_mode(fitted: Uncertainty) -> Scale:
    return scale_at(fitted.comparisons, fitted.model, fitted.solution.parameters, fitted._free, fitted._chosen)


@remembered
def _averages(fitted: Uncertainty) -> Averages | None:
    """What is known of the judges where their discriminations are shrunk, but for question effects.

    None of a single judge: his discrimination is one by definition, so there is nothing to average over.
    """
    spread, parameters = fitted.solution.spread, fitted.solution.parameters
    if spread is None or ALPHA not in spread or fitted.effects is not None or fitted._n_free_discriminations < 2:
        return None
    return averages(fitted._working_comparisons, fitted.model, parameters, spread)


def scale_by(fitted: Uncertainty, weights: Mapping[str, float], models: Sequence[str] | None = None) -> Scale:
    """The scale of a fit by weights that are given, such as those of another board, and taken as known.

    Parameters
    ----------
    fitted : Uncertainty
    weights : mapping of str to float
        By judge. Those of judges who are not in this fit, or do not discriminate here, are left out; if none is
        left, the scale is `scale_of`.
    models : sequence of str, optional
        Whose differences are the usual ones; all by default.
    """
    parameters, cells = fitted.solution.parameters, fitted.comparisons
    given = np.array([weights.get(judge, 0.0) for judge in cells.judges])
    if not given @ fitted.model.of_judges(parameters).gamma > 0:
        return scale_of(fitted)
    among = None if models is None else np.array([cells.models.index(model) for model in models])
    free = _free_judges(fitted._free, len(cells.judges))
    scale = _scale(given / given.sum(), fitted.model, parameters, free, fitted._chosen, among)
    return _averaged(fitted, scale, among)


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
    judged = np.bincount(cells.judge, cells.count, k)
    return _scale(judged / judged.sum(), model, parameters, _free_judges(free, k), chosen)


def _scale(
    weights: FloatArray,
    model: Model,
    parameters: Parameters,
    free: BoolArray,
    chosen: BoolArray,
    among: IntArray | None = None,
) -> Scale:
    judges, derivative = model.of_judges(parameters), np.zeros(len(flat(parameters)))
    shift, (n, k) = 0.0, (len(parameters.scores), len(weights))
    if (free.any() or judges.position.any()) and weights @ judges.gamma > 0:
        d, by_scores = usual_difference(parameters.scores, among)
        shift = _shift(weights, judges.gamma, judges.position, d)
        leads, drawn = _in_either_order(weights, judges.gamma * d, judges.position)
        log_win, log_loss = (_log_mean(drawn, sign * leads) for sign in (1, -1))
        # w p (1 - p) / (V L) by logarithms: p (1 - p) and V may be too small for numbers
        steep = drawn * np.exp(-np.logaddexp(0, leads) - np.logaddexp(0, -leads) - log_win - log_loss)
        steep /= log_win - log_loss
        by_gamma = judges.gamma * steep.sum(axis=0)
        derivative[:n] = (by_gamma.sum() - 1 / d) * by_scores
        derivative[n : n + k] = by_gamma * d
        for row, block in enumerate(model.blocks):
            if block.role is Role.OFFSET:
                derivative[n + row * k :][:k] = steep[0] - steep[1]
    return Scale(weights, shift, derivative[chosen], parameters, free)


def usual_difference(scores: FloatArray, among: IntArray | None = None) -> tuple[float, FloatArray]:
    """Root mean square of the differences of all, or of some, scores, and its derivatives in them, shape (N,)."""
    chosen = np.arange(len(scores)) if among is None else among
    away, slopes = scores[chosen] - scores[chosen].mean(), np.zeros(len(scores))
    d = float(np.sqrt(2 * (away @ away) / max(len(chosen) - 1, 1)))
    if d <= LEAST_DIFFERENCE:
        return LEAST_DIFFERENCE, slopes
    slopes[chosen] = 2 * away / (max(len(chosen) - 1, 1) * d)
    return d, slopes


def _shift(weights: FloatArray, gamma: FloatArray, position: FloatArray, d: float) -> float:
    """c, given discriminations and position biases by their weights, of any shape (..., K)."""
    leads, drawn = _in_either_order(weights, gamma * d, position)
    return float(np.log((_log_mean(drawn, leads) - _log_mean(drawn, -leads)) / d))


def _in_either_order(weights: FloatArray, lead: FloatArray, position: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log-odds where the better model is shown first, and second, and their weights, shape (2, ..., K)."""
    return np.stack([lead + position, lead - position]), np.stack([weights, weights]) / 2


def _log_mean(weights: FloatArray, eta: FloatArray) -> float:
    """Logarithm of the weighted mean of sigmoid(eta), which may be too small for a number."""
    log_sigmoid = -np.logaddexp(0, -eta)
    largest = log_sigmoid.max(where=weights > 0, initial=-np.inf)
    return float(largest + np.log(np.sum(weights * np.exp(np.minimum(log_sigmoid - largest, 0.0)))))


def _free_judges(free: BoolArray, k: int) -> BoolArray:
    return np.asarray(free[0] if len(free) else np.zeros(k, bool))


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
    directions = best_known(fitted.scores.to_numpy(), fitted.covariance, fitted._n_free_discriminations)
    return scale_of(fitted).factor * directions
