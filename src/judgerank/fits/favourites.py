"""Judges who favour, or slight, a single model: tastes that stand out from those of all judges.

Tastes of one normal distribution (`fits.taste_test`) give every judge a little. Where one judge alone favours one
model, their standard deviation is too small for that model and too large for all others. So the largest taste is
tested. It gets a parameter theta of its own in the likelihood of tastes, whose standard deviation is fitted
without it. Then

    t = theta / error

is an externally studentised residual (Cook and Weisberg, 1982). Student's t gives its p-value, which is multiplied
by the number of judges and models tested (Bonferroni). Where that is small, the next largest is tested beside it.

If judge k favours a model, the others seem to slight it. So k is named only where that is `ODDS` times as likely
as any other judge's taste of the opposite sign: of two judges never, of three where two agree. More than half of
the judges who compared a model keep their votes on it, and a judge votes on more than half of its models. A judge
whose discrimination is at its least contradicts the others or answers at random: that is no favour.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, stdtr

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import FEW_JUDGES, Comparisons
from judgerank.fits.result import Fit
from judgerank.fits.taste_test import Likelihood, Solution, TasteTest, dispersion
from judgerank.inference.taste_errors import degrees_of_tastes
from judgerank.order.equality import LEAST, NetResults

LEVEL = 0.05  # of the test, for all judges and models together
ODDS = 5.0  # of who is the odd one, to name a judge
SCREEN = 4.0  # times the level, up to which a first-order p-value is looked at more closely
LEAST_INFORMATION = 4.0  # on a taste, which 16 even answers give: with less a sum of residuals is far from normal
NOTHING = 1e-6  # share of the information on a taste that counts as none beside scores and discriminations


@dataclass(frozen=True)
class Favourite:
    """A judge whose taste for one model stands out.

    Attributes
    ----------
    judge, model : str
    log_odds : float
        The taste; negative where the judge slights the model.
    p_value : float
        Adjusted for all judges and models.
    """

    judge: str
    model: str
    log_odds: float
    p_value: float

    @property
    def verb(self) -> str:
        """Whether the judge favours the model or slights it."""
        return "favours" if self.log_odds > 0 else "slights"


def favourites(
    fitted: Fit,
    rows: Comparisons,
    question: IntArray | None,
    tastes: TasteTest | None,
    level: float = LEVEL,
) -> tuple[Favourite, ...]:
    """Judges whose taste for a model stands out, the most striking first.

    Parameters
    ----------
    fitted, rows, question
        As of `judgerank.fits.taste_test.taste_test`.
    tastes : TasteTest, optional
        The test of all tastes together; none stand out where that could not be made.
    level : float
        Of the test.
    """
    if tastes is None:
        return ()
    c, named = fitted.comparisons, list[Favourite]()
    results = NetResults.of(c, fitted.model, fitted.solution.parameters, by_judge=True)
    search = _Search(
        Likelihood(results, dispersion(fitted, rows, question), signed=tastes.signed),
        np.array([judge != FEW_JUDGES for judge in c.judges]),
        degrees_of_tastes(fitted.model, fitted._free, len(c.models)),
        (len(rows) if question is None else len(np.unique(question))) - 1.0,
    )
    spread = tastes.spread
    while (largest := search.next(spread, level)) is not None:
        judge, model = largest.likelihood.cells[-1]
        named.append(Favourite(c.judges[judge], c.models[model], largest.log_odds, largest.p_value))
        search, spread = replace(search, likelihood=largest.likelihood), largest.spread
    return tuple(named)


@dataclass(frozen=True, eq=False)
class _LargestTaste:
    """The largest taste: the likelihood in which it is a parameter, the others' spread, its size and p-value."""

    likelihood: Likelihood
    spread: float
    log_odds: float
    p_value: float


@dataclass(frozen=True, eq=False)
class _Search:
    """The likelihood with the tastes named so far.

    Attributes
    ----------
    likelihood : Likelihood
    is_single : bool array, shape (K,)
        Whether a judge is one, and not the label of many.
    of_tastes, of_clusters : float
        Degrees of freedom of the spread of tastes, and of the dispersion.
    """

    likelihood: Likelihood
    is_single: BoolArray
    of_tastes: float
    of_clusters: float

    def next(self, spread: float, level: float) -> _LargestTaste | None:
        """The largest of all other tastes; None where it is not significant, or may as well be another judge's."""
        solution = self.likelihood.solution(spread)
        allowed = self._allowed(solution)
        z, n_tests = np.where(allowed, studentised(self.likelihood, solution), 0.0), int(allowed.sum())
        judge, model = (int(place) for place in np.unravel_index(np.argmax(np.abs(z)), z.shape))
        at_first = 2 * n_tests * ndtr(-self._external(float(abs(z[judge, model])), spread))
        if not n_tests or at_first > SCREEN * level:
            return None
        against = -np.sign(z[judge, model]) * z[:, model]
        rival = int(np.argmax(against))
        among = [self._with(k, model) for k in ((judge, rival) if against[rival] > 0 else (judge,))]
        peaks = [(likelihood, *self._peak(likelihood, spread)) for likelihood in among]
        (likelihood, others_spread, height), *others = sorted(peaks, key=lambda peak: -peak[2])
        if others and height - others[0][2] < np.log(ODDS):
            return None
        largest = self._tested(likelihood, others_spread, n_tests)
        return largest if largest.p_value <= level else None

    def _external(self, z: float, spread: float) -> float:
        """The statistic if the standard deviation of tastes were fitted without that taste, to first order."""
        freedom = self.of_tastes - len(self.likelihood.cells)
        if not spread or freedom <= 1:
            return z
        return z * float(np.sqrt((freedom - 1) / (freedom - z**2))) if z**2 < freedom else np.inf

    def _peak(self, likelihood: Likelihood, spread: float) -> tuple[float, float]:
        """The others' standard deviation, no larger than with that taste among them, and the log-likelihood."""
        return likelihood.peak(0.0, spread) if spread else (0.0, likelihood.solution(0.0).height)

    def _with(self, judge: int, model: int) -> Likelihood:
        return replace(self.likelihood, cells=(*self.likelihood.cells, (judge, model)))

    def _tested(self, likelihood: Likelihood, spread: float, n_tests: int) -> _LargestTaste:
        """The last cell by Student's t, whose degrees of freedom are Satterthwaite's (1946)."""
        solution, (judge, model) = likelihood.solution(spread), likelihood.cells[-1]
        weight = solution.precise[judge, :, model] ** 2
        share = 1 - float(weight @ (likelihood.dispersion / solution.variance[judge]) / weight.sum())
        of_tastes = max(self.of_tastes - len(likelihood.cells), 1.0)
        freedom = 1 / (share**2 / of_tastes + (1 - share) ** 2 / self.of_clusters)
        log_odds = float(solution.cells[-1])
        p_value = 2 * n_tests * float(stdtr(freedom, -abs(log_odds) / float(solution.errors[-1])))
        return _LargestTaste(likelihood, spread, log_odds, min(p_value, 1.0))

    def _allowed(self, solution: Solution) -> BoolArray:
        """Which tastes are tested, shape (K, N)."""
        results = self.likelihood.results
        information = np.einsum("kii->ki", results.information)
        named = np.zeros(information.shape, bool)
        named[tuple(np.array(self.likelihood.cells, int).reshape(-1, 2).T)] = True
        has_answers = information > LEAST
        of_models, of_judges = (2 * (named.sum(axis) + 1) < has_answers.sum(axis) for axis in (0, 1))
        speaks = self.is_single & (solution.gamma > LEAST) if results.weighted else self.is_single
        is_known = information >= LEAST_INFORMATION * self.likelihood.dispersion
        return np.asarray(~named & is_known & of_models & (of_judges & speaks)[:, None])


def studentised(likelihood: Likelihood, solution: Solution) -> FloatArray:
    """The score statistic of every judge's taste for every model, shape (K, N), of unit variance without one.

    Scores, discriminations and the tastes that have a parameter are free beside it.
    """
    precise, n = solution.precise, solution.precise.shape[2]
    free = np.concatenate([solution.gamma[:, None, None] * precise, likelihood.single(precise)], axis=2)
    information = np.einsum("kra,krb->ab", free, free)
    information[:n, :n] += np.trace(information[:n, :n]) / n**2
    alone, shared = np.einsum("kra,kra->ka", precise, precise), np.einsum("kra,krb->kab", precise, free)
    of_tastes = alone
    if likelihood.results.weighted:
        x = solution.signal
        weight = 1 / ((x * x).sum(axis=1) + likelihood.results.prior)
        on_gamma, free_on_gamma = (np.einsum("kra,kr->ka", rows, x) for rows in (precise, free))
        of_tastes = alone - weight[:, None] * on_gamma**2
        shared = shared - (weight[:, None] * on_gamma)[:, :, None] * free_on_gamma[:, None, :]
        information -= free_on_gamma.T @ (weight[:, None] * free_on_gamma)
    left = of_tastes - np.einsum("kab,bc,kac->ka", shared, np.linalg.inv(information), shared)
    score = np.einsum("kra,kr->ka", precise, solution.residual)
    is_known = left > NOTHING * alone.max()
    return np.divide(score, np.sqrt(np.where(is_known, left, 1.0)), out=np.zeros_like(score), where=is_known)
