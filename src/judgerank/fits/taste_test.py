"""How large judges' own tastes are, and whether there are any, from a fit without them.

Near a fit the net results of judge k are normal (`judgerank.order.equality`). Where it has tastes t_k of its own,

    U_k ~ N(gamma_k L_k s + L_k t_k, phi L_k),    t_ki normal with mean zero and standard deviation tau,

phi being the dispersion of answers by question. With L_k = Q diag(l) Q' and z = l^-1/2 Q'U_k the components are
independent, z ~ N(gamma_k l^1/2 Q's, phi + tau^2 l). Scores and discriminations are integrated out by Laplace's
approximation, discriminations with the prior of the tests of pairs, so that what they take from tastes is allowed
for. Nothing is fitted again. The test compares the likelihood at the best tau with that at zero, where a fit may
take a taste for a discrimination: so both have the better of two starts, equal discriminations and the fit's.

A judge who contradicts the others reverses their opinion of all models, which is not a taste for some of them.
So discriminations may be negative where that is likelier than larger tastes, by `ODDS` times the number of judges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
# of negative discriminations over larger tastes, for each judge, to allow them: one of many is so by chance
ODDS = 2.0
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
    signed : bool
        Whether some judge contradicts the others, so that discriminations may be negative beside the tastes.
    """

    spread: float
    statistic: float
    p_value: float
    signed: bool = False

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
    if degrees_of_tastes(fitted.model, fitted._free, n) < LEAST_DEGREES:
        return None
    results = NetResults.of(c, fitted.model, fitted.solution.parameters, by_judge=True)
    likelihood = Likelihood(results, dispersion(fitted, rows, question))
    test, height = _tested(likelihood)
    if results.weighted and (likelihood.solution(test.spread).gamma <= LEAST).any():
        signed, signed_height = _tested(replace(likelihood, signed=True))
        if signed_height - height > np.log(ODDS * k):
            return signed
    return test


def _tested(likelihood: Likelihood) -> tuple[TasteTest, float]:
    """The test of no tastes, and the largest log-likelihood."""
    heights = [likelihood.solution(tau).height for tau in GRID]
    best = int(np.argmax(heights))
    spread, height = likelihood.peak(GRID[max(best - 1, 0)], GRID[min(best + 1, len(GRID) - 1)])
    gain = 2 * (height - heights[0])
    if gain <= 0:
        return TasteTest(0.0, 0.0, 1.0, likelihood.signed), heights[0]
    return TasteTest(spread, gain, 0.5 * float(chdtrc(1, gain)), likelihood.signed), height


def dispersion(fitted: Fit, rows: Comparisons, question: IntArray | None) -> float:
    """Variance of the questions' sums of residuals over that of independent answers by the model.

    Ties, taken for half a win, vary less; answers to one question vary together. What the fit has taken of the
    residuals is made up for, by the number of parameters that the data decide.
    """
    model, parameters = fitted.model, fitted.solution.parameters
    clusters = np.arange(len(rows)) if question is None else question
    residuals = residuals_by_cluster(model.observed(rows), model, parameters, clusters)
    sums = residuals[:, : residuals.shape[1] - len(model.blocks[model.offsets]) * len(rows.judges)]
    n_clusters = sums.shape[0]
    if question is None:  # a row that counts several answers is as many clusters
        sums, n_clusters = sums.multiply(1 / np.sqrt(rows.count)[:, None]), rows.n_comparisons
    expected = 2 * float(Residuals.of(fitted.comparisons, model, parameters).variance.sum())
    spent = float(np.sum(fitted._inverse("expected") * fitted._information("expected")))
    left = max(1 - spent / rows.n_comparisons, LEAST)
    return float(sums.power(2).sum()) / expected / left * n_clusters / max(n_clusters - 1, 1)


@dataclass(frozen=True, eq=False)
class Solution:
    """Discriminations, scores and single cells at a standard deviation of tastes; rows are of unit variance.

    Attributes
    ----------
    height : float
        Log-likelihood, all of these integrated out, up to a constant.
    gamma : float array, shape (K,)
    cells : float array, shape (C,)
        Tastes of the judges and models that have one of their own, in log-odds.
    errors : float array, shape (C,)
        Standard errors of these.
    precise : float array, shape (K, N, N)
        What a taste moves, by judge and row.
    signal, residual : float array, shape (K, N)
        What a discrimination moves, and what the solution leaves of the rows.
    variance : float array, shape (K, N)
        Of the rows before that: dispersion and tastes.
    """

    height: float
    gamma: FloatArray
    cells: FloatArray
    errors: FloatArray
    precise: FloatArray
    signal: FloatArray
    residual: FloatArray
    variance: FloatArray


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Marginal likelihood of net results in the standard deviation of tastes.

    Attributes
    ----------
    results : NetResults
        One row for every judge.
    dispersion : float
    cells : tuple of (int, int)
        Judges and models whose taste is a parameter by itself, not one of the many of that standard deviation.
    signed : bool
        Whether discriminations may be negative; else they are at least `LEAST`.
    """

    results: NetResults
    dispersion: float
    cells: tuple[tuple[int, int], ...] = ()
    signed: bool = False

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

    def solution(self, tau: float) -> Solution:
        """Scores and discriminations in turn from two starts: the better one of both."""
        of_fit = np.clip(self.results.discrimination, LEAST, 1 / LEAST)
        starts = (np.ones_like(of_fit), of_fit)[0 if self.results.weighted else 1 :]
        return max((self._solution_from(gamma, tau) for gamma in starts), key=lambda solution: solution.height)

    def peak(self, low: float, high: float) -> tuple[float, float]:
        """The standard deviation of tastes of the largest likelihood between two, and the log-likelihood there."""
        peak = minimize_scalar(
            lambda tau: -self.solution(tau).height, bounds=(low, high), method="bounded", options={"xatol": 1e-3}
        )
        return float(peak.x), -float(peak.fun)

    def _solution_from(self, gamma: FloatArray, tau: float) -> Solution:
        values, roots, z = self._components
        prior, is_known = self.results.prior, values > 0
        variance = self.dispersion + tau**2 * values
        precise = roots / np.sqrt(variance)[..., None]  # rows of unit variance
        y, n = np.where(is_known, z / np.sqrt(variance), 0.0), values.shape[1]
        flat, single = precise.reshape(-1, n), self.single(precise)
        on_single = single.reshape(y.size, single.shape[2])
        rows = np.concatenate([precise, single], axis=2)
        squares, results = rows.transpose(0, 2, 1) @ rows, np.einsum("kij,ki->kj", rows, y)
        weights = np.ones_like(results)
        for _ in range(ROUNDS if self.results.weighted else 1):
            weights[:, :n] = gamma[:, None]
            information = np.einsum("ki,kij,kj->ij", weights, squares, weights)
            information[:n, :n] += np.trace(information[:n, :n]) / n**2  # the shift of scores, which nothing says
            s = np.linalg.solve(information, (weights * results).sum(axis=0))
            x = (flat @ s[:n]).reshape(y.shape)
            left = y - (on_single @ s[n:]).reshape(y.shape)
            if not self.results.weighted:
                break
            of_gamma = (x * x).sum(axis=1) + prior
            previous, gamma = gamma, ((x * left).sum(axis=1) + prior) / of_gamma
            gamma = gamma if self.signed else np.maximum(gamma, LEAST)
            if np.abs(gamma - previous).max() < SETTLED:
                break
        residual = left - gamma[:, None] * x
        height = -0.5 * float(np.log(variance[is_known]).sum() + (residual**2).sum())
        if self.results.weighted:
            on_scores = gamma[:, None] * np.einsum("kij,ki->kj", precise, x)
            on_cells = np.einsum("kic,ki->kc", single, x)
            shared = np.hstack([on_scores, on_cells])  # information on both
            height -= 0.5 * float(np.log(of_gamma).sum() + (prior * (gamma - 1) ** 2).sum())
            information = information - shared.T @ (shared / of_gamma[:, None])
        height -= 0.5 * float(np.linalg.slogdet(information)[1])
        variances = np.diag(np.linalg.inv(information))[n:] if self.cells else np.zeros(0)
        errors = np.sqrt(np.where(variances > 0, variances, np.inf))  # far from a maximum there is none
        return Solution(height, gamma, np.asarray(s[n:], float), errors, precise, x, residual, variance)

    def single(self, precise: FloatArray) -> FloatArray:
        """What the cells' tastes move, by judge and row, shape (K, N, C)."""
        columns = np.zeros((*precise.shape[:2], len(self.cells)))
        for number, (judge, model) in enumerate(self.cells):
            columns[judge, :, number] = precise[judge, :, model]
        return columns
