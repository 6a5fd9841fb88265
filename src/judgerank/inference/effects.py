"""Question effects of a fit: predictions are averages over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from judgerank.data.arrays import FloatArray
from judgerank.data.listing import p_of
from judgerank.data.representation import Shown
from judgerank.model.law import Law, outcomes, share_preferred
from judgerank.model.members import Parameters

STEP, REACH = 0.09, 5.5  # between nodes and of them, in standard deviations: the trapezoidal rule


class Averaged(NamedTuple):
    """Law of an outcome on a question drawn at random.

    Attributes
    ----------
    mean, tie : float array
        As of `judgerank.model.law.Law`.
    by_eta, by_log_tie : float array
        Derivatives of the mean in the predictor, and of it in the logarithm of the tie propensity, which is that
        of the tie in the predictor too.
    tie_by_log_tie : float array
        Derivative of the tie's probability in the logarithm of its propensity.
    levels : float array, optional
        As of `Law`, where strength is an outcome.
    """

    mean: FloatArray
    tie: FloatArray
    by_eta: FloatArray
    by_log_tie: FloatArray
    tie_by_log_tie: FloatArray
    levels: FloatArray | None = None

    @property
    def share(self) -> FloatArray:
        """Probability that the first model is preferred, a tie being half."""
        return self.mean if self.levels is None else share_preferred(self.levels)


@dataclass(frozen=True, repr=False)
class QuestionEffects(Shown):
    """What was integrated out of a fit.

    Attributes
    ----------
    sigma : float
        Standard deviation of an answer's quality about its model's score.
    log_likelihood : float
        The log marginal likelihood.
    without : Parameters
        The fit without them: near it equal scores are tested.
    log_likelihood_without : float
        Of that fit.
    relative_gradient : float
        Largest component of the gradient over the size of the log-likelihood.
    with_log_sigma : float array, shape (D + 1,), optional
        Covariances of the free parameters with log sigma, and its variance last; none where sigma is zero.
    """

    sigma: float
    log_likelihood: float
    without: Parameters
    log_likelihood_without: float
    relative_gradient: float
    with_log_sigma: FloatArray | None = None

    def _line(self) -> str:
        statistic, p = self.likelihood_ratio()
        return f"of standard deviation {self.sigma:.3f}, likelihood-ratio statistic {statistic:.1f}, p {p_of(p)}"

    def _table(self) -> pd.DataFrame:
        statistic, p = self.likelihood_ratio()
        ends = {"log_likelihood": self.log_likelihood, "log_likelihood_without": self.log_likelihood_without}
        return pd.DataFrame([{"sigma": self.sigma, **ends, "statistic": statistic, "p_value": p}])

    def likelihood_ratio(self) -> tuple[float, float]:
        """Twice the gain in log-likelihood over no question effects, and its p-value.

        Sigma is at its bound if there are none: half of chi-squared with one degree of freedom, half a point mass
        at zero (Self and Liang, 1987, case 5).
        """
        statistic = 2 * (self.log_likelihood - self.log_likelihood_without)
        return statistic, 0.5 * float(chdtrc(1, statistic)) if statistic > 0 else 1.0

    def law(self, eta: FloatArray, scale: FloatArray, nu: FloatArray | None, *log_strong: FloatArray) -> Averaged:
        """Law on a question drawn at random, for predictors and discriminations of one shape."""
        law, weights = _at_nodes(self.sigma, eta, scale, nu, *log_strong)
        parts = law.mean, law.tie, law.variance, law.with_ties, law.tie * (1 - law.tie)
        averaged = Averaged(*(part @ weights if part.ndim else part for part in parts))
        if not log_strong:
            return averaged
        return averaged._replace(levels=np.einsum("...zl,z->...l", law.levels, weights))


def covariances(
    sigma: float, eta: FloatArray, scale: FloatArray, nu: FloatArray | None, *log_strong: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Covariance of an outcome, a tie and each strength beyond better, whole and given the question.

    Of shape (C, 2 + S, 2 + S) each.
    """
    law, weights = _at_nodes(sigma, eta, scale, nu, *log_strong)
    y = outcomes(len(log_strong))
    size = np.abs(y - 0.5)
    outcome_matrix = np.stack(
        [y, size == 0, *(size == 1 + number / 2 for number in range(len(log_strong)))], axis=1
    )
    levels = np.einsum("czl,z->cl", law.levels, weights)
    squares = np.einsum("cl,li,lj->cij", levels, outcome_matrix, outcome_matrix)
    means = law.levels @ outcome_matrix
    mean = levels @ outcome_matrix
    conditional = squares - np.einsum("czi,czj,z->cij", means, means, weights)
    return squares - mean[:, :, None] * mean[:, None, :], conditional


def _at_nodes(
    sigma: float, eta: FloatArray, scale: FloatArray, nu: FloatArray | None, *log_strong: FloatArray
) -> tuple[Law, FloatArray]:
    """The law at nodes of the question's effect, on a last axis, and their weights."""
    nodes, weights = normal_nodes()
    spread = np.sqrt(2.0) * sigma * np.asarray(scale)[..., None] * nodes
    ties = None if nu is None else np.asarray(nu)[..., None]
    strong = (np.asarray(log_strength)[..., None] for log_strength in log_strong)
    return Law(np.asarray(eta)[..., None] + spread, ties, *strong), weights


@lru_cache(maxsize=1)
def normal_nodes() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a mean over a standard normal."""
    nodes = STEP * np.arange(-np.floor(REACH / STEP), np.floor(REACH / STEP) + 1)
    weights = np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()
