"""How large judges' own tastes are, and whether there are any, from a fit without them.

Near a fit the net results of judge k are normal (`judgerank.order.equality`). Where it has tastes t_k of its own,

    U_k ~ N(gamma_k L_k s + L_k t_k, phi L_k),    t_ki normal with mean zero and standard deviation tau,

phi being the dispersion of answers by question. With L_k = Q diag(l) Q' and z = l^-1/2 Q'U_k the components are
independent, z ~ N(gamma_k l^1/2 Q's, phi + tau^2 l). Scores and discriminations are integrated out by Laplace's
approximation, discriminations with the prior of the tests of pairs, so that what they take from tastes is allowed
for. Nothing is fitted again. The test compares the likelihood at the best tau with that at zero, where a fit may
take a taste for a discrimination: so both have the better of two starts, equal discriminations and the fit's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtrc

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.result import Fit
from judgerank.inference.clusters import Residuals, residuals_by_cluster
from judgerank.inference.taste_errors import degrees_of_tastes
from judgerank.order.equality import LEAST, NetResults

GRID = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.5)  # standard deviations tried, in log-odds
ROUNDS, SETTLED = 30, 1e-4  # of scores and discriminations in turn; change of a discrimination that counts as none
FLAT = 1e-9  # share of the largest information below which a direction is not known
# p-value up to which errors allow for tastes: those that a test at .05 misses half of the time can make equal
# models differ significantly (docs/beyond/tastes.md), and tastes that are not there cost little
UNSURE = 0.2
LEAST_DEGREES = 4  # of freedom of tastes: fewer differences tell nothing of a standard deviation
MOST_PARAMETERS = 3_000  # judges times models beyond which tastes are not tested


@dataclass(frozen=True)
class TasteTest:
    """Whether judges have tastes of their own.

    Attributes
    ----------
    spread : float
        Standard deviation of tastes, in log-odds; zero if that is likeliest.
    statistic : float
        Twice the log-likelihood gained over no tastes.
    p_value : float
        Of no tastes: half of chi-squared with one degree of freedom (Self and Liang, 1987).
    """

    spread: float
    statistic: float
    p_value: float

    @property
    def found(self) -> bool:
        """Whether errors should allow for tastes: also for those that are not quite significant (`UNSURE`)."""
        return self.spread > 0 and self.p_value <= UNSURE


def taste_test(fitted: Fit, rows: Comparisons, question: IntArray | None) -> TasteTest | None:
    """Test for tastes of judges in a fit without question effects; None where too little tells them from scores.

    Parameters
    ----------
    fitted : Fit
    rows : Comparisons
        The raw comparisons behind it.
    question : int array, shape (T,), optional
        Question of each. Without it every comparison is taken as independent of the others.
    """
    c = fitted.comparisons
    n, k = len(c.models), len(c.judges)
    if n < 3 or k < 2 or n * k > MOST_PARAMETERS or c.stages is not None:
        return None
    if degrees_of_tastes(fitted.model, fitted.free, n) < LEAST_DEGREES:
        return None
    results = NetResults.of(c, fitted.model, fitted.solution.parameters, by_judge=True)
    likelihood = _Likelihood(results, _dispersion(fitted, rows, question))
    heights = [likelihood.height(tau) for tau in GRID]
    best = int(np.argmax(heights))
    ends = GRID[max(best - 1, 0)], GRID[min(best + 1, len(GRID) - 1)]
    peak = minimize_scalar(
        lambda tau: -likelihood.height(tau), bounds=ends, method="bounded", options={"xatol": 1e-3}
    )
    gain = 2 * (-float(peak.fun) - heights[0])
    if gain <= 0:
        return TasteTest(0.0, 0.0, 1.0)
    return TasteTest(float(peak.x), gain, 0.5 * float(chdtrc(1, gain)))


def _dispersion(fitted: Fit, rows: Comparisons, question: IntArray | None) -> float:
    """Variance of the questions' sums of residuals over that of independent answers by the model.

    Ties, taken for half a win, vary less; answers to one question vary together. What the fit has taken of the
    residuals is made up for, by the number of parameters that the data decide.
    """
    model, parameters = fitted.model, fitted.solution.parameters
    clusters = np.arange(len(rows)) if question is None else question
    residuals = residuals_by_cluster(model.observed(rows), model, parameters, clusters)
    sums = residuals[:, : residuals.shape[1] - len(model.blocks[model.offsets]) * len(rows.judges)]
    expected = 2 * float(Residuals.of(fitted.comparisons, model, parameters).variance.sum())
    spent = float(np.sum(fitted._inverse("expected") * fitted._information("expected")))
    left = max(1 - spent / rows.n_comparisons, LEAST)
    n_clusters = sums.shape[0]
    return float(sums.power(2).sum()) / expected / left * n_clusters / max(n_clusters - 1, 1)


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """Marginal likelihood of net results in the standard deviation of tastes.

    Attributes
    ----------
    results : NetResults
        One row for every judge.
    dispersion : float
    """

    results: NetResults
    dispersion: float

    @cached_property
    def _components(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """l, shape (K, N), l^1/2 Q', shape (K, N, N), and z, shape (K, N); zero where nothing is known."""
        values, vectors = np.linalg.eigh(self.results.information)
        is_known = values > FLAT * values.max()
        values = np.where(is_known, values, 0.0)
        root = np.sqrt(values)
        turned = vectors.transpose(0, 2, 1)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=is_known)
        return values, root[..., None] * turned, inverse * np.einsum("kij,kj->ki", turned, self.results.net)

    def height(self, tau: float) -> float:
        """The log-likelihood at a standard deviation of tastes, up to a constant."""
        of_fit = np.clip(self.results.discrimination, LEAST, 1 / LEAST)
        starts = np.ones_like(of_fit), of_fit
        return max(self._height_from(gamma, tau) for gamma in (starts if self.results.weighted else starts[1:]))

    def _height_from(self, gamma: FloatArray, tau: float) -> float:
        values, roots, z = self._components
        prior, is_known = self.results.prior, values > 0
        variance = self.dispersion + tau**2 * values
        precise = roots / np.sqrt(variance)[..., None]  # rows of unit variance
        y, n = np.where(is_known, z / np.sqrt(variance), 0.0), values.shape[1]
        flat = precise.reshape(-1, n)
        for _ in range(ROUNDS if self.results.weighted else 1):
            weighted = (gamma[:, None, None] * precise).reshape(-1, n)
            information = weighted.T @ weighted
            information += np.trace(information) / n**2  # the shift of all scores, which nothing says
            s = np.linalg.solve(information, weighted.T @ y.ravel())
            x = (flat @ s).reshape(y.shape)
            if not self.results.weighted:
                break
            of_gamma = (x * x).sum(axis=1) + prior
            previous, gamma = gamma, np.maximum(((x * y).sum(axis=1) + prior) / of_gamma, LEAST)
            if np.abs(gamma - previous).max() < SETTLED:
                break
        residual = y - gamma[:, None] * x
        height = -0.5 * float(np.log(variance[is_known]).sum() + (residual**2).sum())
        if self.results.weighted:
            shared = gamma[:, None] * np.einsum("kij,ki->kj", precise, x)  # information on both
            height -= 0.5 * float(np.log(of_gamma).sum() + (prior * (gamma - 1) ** 2).sum())
            information = information - shared.T @ (shared / of_gamma[:, None])
        return height - 0.5 * float(np.linalg.slogdet(information)[1])
