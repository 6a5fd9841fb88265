"""Laplace's approximation to the marginal likelihood of questions, and its exact gradient.

With e the standard normal deviates of a question's models and h(e) = l(sigma e) - e'e / 2,

    log L = h(e*) - log det(H) / 2,   e* the mode of h,   H = I + sigma^2 sum_t w_t gamma_t^2 x_t x_t',

w_t being the variance of row t's outcome at the mode, x_t one for its first model and minus one for its second
(Tierney and Kadane, 1986; Breslow and Clayton, 1993). The common part of e, which no comparison tells, integrates
out exactly. h is concave, so that its mode is the only one.

The gradient takes the mode along (implicit differentiation): with c_t = (sigma gamma_t)^2 x_t' H^-1 x_t,
a = -1/2 sum_t c_t w'_t sigma gamma_t x_t and xi_t = sigma gamma_t x_t' H^-1 a, a change of row t's predictor, e
held, changes log L by r_t - c_t w'_t / 2 - w_t xi_t, r_t = y_t - E y_t.
"""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.engine.questions.groups import Group, Parts, Point
from judgerank.model.law import Law

STEPS = 100
SMALL = 1e-10  # gradient in standard normal deviates at which a mode counts as found
ROUNDING = 1e-13  # of a question's log-likelihood


class Mode:
    """The mode of every question of a group, with the curvature there.

    Attributes
    ----------
    deviates : float array, shape (Q, m)
        e*.
    height : float array, shape (Q,)
        h(e*).
    curvature : float array, shape (Q, m, m)
        H.
    """

    def __init__(self, group: Group, point: Point, start: FloatArray | None = None):
        self.group, self.point = group, point
        first = np.zeros((len(group), group.size)) if start is None else start
        self._settle(first, *self._seen(first))
        for _ in range(STEPS):
            if np.abs(self.gradient).max() <= SMALL or not self._climb():
                return

    def heights(self, deviates: FloatArray) -> FloatArray:
        """h of other deviates, shape (Q,)."""
        return self._seen(deviates)[1]

    def _seen(self, deviates: FloatArray) -> tuple[Law, FloatArray]:
        g, point = self.group, self.point
        eta = point.gamma * (point.difference + point.sigma * g.difference(deviates)) + point.position
        law = Law(eta, point.nu, *point.log_strong)
        of_rows = g.by_question(g.count * law.log_likelihood(g.outcome, g.tied, *g.by_strength))
        return law, of_rows - 0.5 * (deviates**2).sum(axis=1)

    def _settle(self, deviates: FloatArray, law: Law, height: FloatArray) -> None:
        g, scale = self.group, self.point.sigma * self.point.gamma
        self.deviates, self.law, self.height = deviates, law, height
        self.residual, self.weight = g.count * (g.outcome - law.mean), g.count * law.variance
        self.gradient = g.by_model(self.residual * scale) - deviates
        self.curvature = g.by_pair(self.weight * scale**2) + np.eye(g.size)

    def _climb(self) -> bool:
        """One Newton step for every question, halved where it does not rise; whether rounding left any to take."""
        deviates, height = self.deviates, self.height
        step = np.linalg.solve(self.curvature, self.gradient[:, :, None])[:, :, 0]
        slack = ROUNDING * (1 + np.abs(height))
        law, trial = self._seen(deviates + step)
        for _ in range(STEPS):
            falls = trial < height - slack
            if not falls.any():
                break
            step[falls] /= 2
            law, trial = self._seen(deviates + step)
        self._settle(deviates + step, law, trial)
        return bool(np.abs(step).max() > np.finfo(float).eps)


def look(group: Group, point: Point, start: FloatArray | None = None) -> tuple[Parts, FloatArray]:
    """A group's marginal log-likelihoods with their derivatives, and the modes, shape (Q, m).

    Parameters
    ----------
    group : Group
    point : Point
    start : float array, shape (Q, m), optional
        Deviates that the climb to the modes begins at.
    """
    mode = Mode(group, point, start)
    scale, law, n = point.sigma * point.gamma, mode.law, group.count
    inverse = np.linalg.inv(mode.curvature)
    value = mode.height - 0.5 * np.linalg.slogdet(mode.curvature)[1]
    q, i, j = group.question, group.first_place, group.second_place
    difference_variance = inverse[q, i, i] + inverse[q, j, j] - 2 * inverse[q, i, j]  # x_t' H^-1 x_t
    curved = -0.5 * scale**2 * difference_variance * n * law.skewness
    pull = group.difference(np.einsum("qij,qj->qi", inverse, group.by_model(curved * scale)))
    by_eta = mode.residual + curved - mode.weight * scale * pull
    # u scales with gamma, in the gradient at the mode and in the curvature too
    by_scale = mode.residual * pull - mode.weight * scale * difference_variance
    by_deviate = point.sigma * (by_eta * group.difference(mode.deviates) + by_scale)
    by_tie = -0.5 * scale**2 * difference_variance * law.variance_with_ties - scale * pull * law.with_ties
    by_log_nu = n * (group.tied - law.tie + by_tie)
    by_log_sigma = float(point.gamma @ by_deviate)
    by_gamma, by_log_strong = by_eta * point.difference + by_deviate, []
    parts = zip(group.by_strength, law.strong, law.variance_with_strong, law.with_strong, strict=True)
    for level, chance, of_variance, of_mean in parts if group.by_strength else ():
        by_much = -0.5 * scale**2 * difference_variance * of_variance - scale * pull * of_mean
        by_log_strong.append(n * (level - chance + by_much))
    return Parts(value, by_eta, by_gamma, by_log_nu, by_log_sigma, tuple(by_log_strong)), mode.deviates
