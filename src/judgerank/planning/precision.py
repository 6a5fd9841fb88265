"""How many comparisons, judges and repeats a wanted precision takes, from the expected information of a design.

The information of a design is linear in its number of comparisons T (section 3.3). So every standard error is that
of one comparison over the square root of T, and the T for a wanted width has a closed form; the T for a wanted
power is the root of a function that rises in T. Both are asymptotic, as Wald intervals are. With few comparisons
pairs have less power, since their test is the stricter of two: no power is planned with fewer than `RELIABLE` for
each parameter. `plan_study` says what data of a planned size give.

A ranking's errors are by question, or by judgment where none is named: Student's t, and the allowance for few
clusters (`judgerank.inference.clusters.for_few_clusters`), here its expectation. Where several comparisons share a
question there are at least as many questions as such errors take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from judgerank.data.arrays import FloatArray, generator
from judgerank.data.errors import ConfigError
from judgerank.fits.errors_by_question import least_questions
from judgerank.inference.clusters import few_clusters_share
from judgerank.inference.wald import normal_quantile
from judgerank.order.scale import standardised
from judgerank.planning.panels import Panel, of_differences
from judgerank.planning.questions import INDEPENDENT, Questions, shared_variance
from judgerank.trust.repeats import design_effect

# goal: whose standard errors, and what is said of them
WIDTHS: dict[str, tuple[str, Callable[[FloatArray], float]]] = {
    "score_width": ("score", np.mean),
    "score_width_worst": ("score", np.max),
    "standardised_width": ("standardised", np.mean),
    "standardised_width_worst": ("standardised", np.max),
}
POWERS = ("pair_power", "pairs_interval_excludes_zero", "separated")
GOALS = (*WIDTHS, *POWERS)
MOST = 1e12  # comparisons beyond which nothing is planned
DOUBTED = 0.5  # share of an estimate's variance at which plans keep a power of .8 on average, whatever is true
RELIABLE = 40  # comparisons a parameter, from which simulated tests had the power of the formulas
DRAWS = 400  # of all pairs' statistics, for Holm's procedure


@dataclass(frozen=True, eq=False)
class Precision:
    """What one comparison on a design is expected to tell; errors at T comparisons are these over sqrt(T).

    Attributes
    ----------
    score : float array, shape (N,)
        Standard errors of the scores on the reported scale (`judgerank.order.scale`), as a ranking states them.
    standardised : float array, shape (N,)
        Standard errors of the scores over their standard deviation, free of any scale.
    distance : float array, shape (N (N - 1) / 2,)
        |s_i - s_j| over its standard error on the reported scale, on which `order.pairs.pairwise` tests.
    contrasts : float array, shape (N (N - 1) / 2, N)
        Maps independent standard normals to the errors of the differences over their standard errors.
    doubt : float array, shape (N (N - 1) / 2,)
        Standard errors of `distance`: what is not known of the panel. Zero where it is taken as known.
    least : float
        Comparisons below which tests have less power than the formulas say (`least_comparisons`).
    questions : Questions
        How every question is asked.
    few : mapping of str to float array
        What is added to the variances for every parameter over a question (`longer`), over these variances, of
        ``score``, ``standardised`` and ``distance``.
    n_parameters : int
        Of the model that is fitted.
    """

    score: FloatArray
    standardised: FloatArray
    distance: FloatArray
    contrasts: FloatArray
    doubt: FloatArray
    least: float
    questions: Questions
    few: Mapping[str, FloatArray]
    n_parameters: int

    @property
    def fewest(self) -> float:
        """Comparisons below which a ranking has no errors by question; one where questions do not recur."""
        return fewest_comparisons(self.questions, self.n_parameters)

    def freedom(self, size: float) -> float:
        """Degrees of freedom of errors at T comparisons: each is a question of its own where no two share one."""
        return max(size / self.questions.size - 1.0, 1.0)

    def longer(self, whose: str, size: float) -> FloatArray:
        """By how much the errors that a ranking states exceed those that it makes, at T comparisons."""
        share = few_clusters_share(self.n_parameters, size / self.questions.size)
        return np.sqrt(np.maximum(1 + share * self.few[whose], 0.0))  # few clusters can leave less than nothing

    @cached_property
    def noise(self) -> FloatArray:
        """Draws of all pairs' statistics were all scores equal, shape (DRAWS, N (N - 1) / 2)."""
        n = self.contrasts.shape[1]
        return generator(0, "planning", n).standard_normal((DRAWS, n)) @ self.contrasts.T


def precision_of(panel: Panel, questions: Questions = INDEPENDENT) -> Precision:
    """Precision of one comparison on the panel's design, each question asked as planned.

    Raises
    ------
    NotIdentifiedError
        If the design does not determine every score and discrimination.
    """
    scale, alone, bread = panel.scale, panel.covariance, panel.bread
    questions, v, effect = questions.within(panel), alone, 1.0  # of questions on variances, on average
    if questions.sd > 0 and questions.size > 1:
        shared = shared_variance(panel, questions)
        by_parameter = float(np.sum(bread * shared)) / panel.n_parameters
        v, effect = alone + bread @ shared @ bread, 1.0 + by_parameter / panel.dispersion
    reported = scale.covariance(v)
    errors = Errors.of(scale.scores, reported)
    variances = {"score": errors.score**2, "standardised": errors.standardised**2, "distance": errors.pair**2}
    plain = scale.covariance(alone)
    free = np.diag(standardised(scale.scores, plain)[1])
    by_itself = {"score": np.diag(plain), "standardised": free, "distance": of_differences(plain) ** 2}
    few = {
        whose: np.divide(
            effect * variance, variances[whose], out=np.zeros_like(variance), where=variances[whose] > 0
        )  # the standardised scores of two models do not vary
        for whose, variance in by_itself.items()
    }
    doubt = np.zeros(len(errors.pair)) if panel.doubt is None else panel.doubt * scale.scores.std() / errors.pair
    if panel.steadiness is not None:
        doubt = doubt * panel.steadiness
    arguments = (errors.score, errors.standardised, errors.distance, errors.contrasts, doubt)
    return Precision(*arguments, least_comparisons(panel), questions, few, panel.n_parameters)


class Errors(NamedTuple):
    """Standard errors of scores, standardised scores and differences, (N,), (N,) and (P,), and what makes these.

    Distances are differences over their errors; contrasts map independent standard normals to the errors of
    differences over their standard errors, shape (P, N).
    """

    score: FloatArray
    standardised: FloatArray
    pair: FloatArray
    distance: FloatArray
    contrasts: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, covariance: FloatArray) -> Errors:
        """By the reported scores and their covariance, shape (N, N)."""
        values, vectors = np.linalg.eigh(covariance)
        half = vectors * np.sqrt(np.maximum(values, 0.0))
        i, j = np.triu_indices(len(scores), 1)
        contrasts = half[i] - half[j]
        error = np.linalg.norm(contrasts, axis=1)
        scale_free = np.sqrt(np.maximum(np.diag(standardised(scores, covariance)[1]), 0.0))
        distance = np.abs(scores[i] - scores[j]) / error
        return cls(np.sqrt(np.diag(covariance)), scale_free, error, distance, contrasts / error[:, None])


def least_comparisons(panel: Panel) -> float:
    """Comparisons on a panel's design from which the formulas of powers hold (`RELIABLE`)."""
    return float(RELIABLE * panel.n_parameters)


def fewest_comparisons(questions: Questions, n_parameters: int) -> float:
    """Comparisons with which a ranking has errors by question; one where no two share a question."""
    return float(questions.size * least_questions(n_parameters)) if questions.size > 1 else 1.0


def power(precision: Precision, size: float, level: float, doubted: float = DOUBTED) -> FloatArray:
    """Probability by pair that a two-sided Wald test of T comparisons rejects, shape (N (N - 1) / 2,).

    Its mean over what is not known of the true difference, with a share of its variance (`DOUBTED`). A plan that
    takes an estimated difference for the true one promises too much, since large estimates are often too large.
    The mean over all of it (the assurance of O'Hagan, Stevens and Campbell, 2005) is that of truths drawn around
    an estimate. Of estimates drawn around a truth, plans by it keep more than .8 where they promise .8.

    A share of all pairs is not doubted: nobody chose these pairs by their estimates, and the distances of near
    models, which are estimated as too large, would have power twice over.
    """
    mean, quantile = precision.distance * np.sqrt(size), normal_quantile(level, precision.freedom(size))
    critical = quantile * precision.longer("distance", size)
    spread = np.sqrt(1 + doubted * precision.doubt**2 * size)
    return ndtr((mean - critical) / spread) + ndtr((-mean - critical) / spread)


def separated(precision: Precision, size: float, level: float) -> float:
    """Expected share of pairs that are separated, by Holm's (1979) adjustment for all pairs.

    That of unadjusted tests, which is exact, less what the adjustment costs in `DRAWS` draws of all pairs' joint
    distribution, the same ones whatever T.
    """
    statistics = np.abs(precision.distance * np.sqrt(size) + precision.noise) / precision.longer("distance", size)
    statistics = np.sort(statistics, axis=1)[:, ::-1]
    n_statistics, freedom = statistics.shape[1], precision.freedom(size)
    critical = np.array(
        [normal_quantile(1 - (1 - level) / (n_statistics - step), freedom) for step in range(n_statistics)]
    )
    rejected = np.logical_and.accumulate(statistics > critical, axis=1)
    cost = (statistics > critical[-1]).mean() - rejected.mean()
    return max(0.0, float(power(precision, size, level, 0.0).mean() - cost))


def achieved(goal: str, precision: Precision, size: float, level: float = 0.95, pair: int = 0) -> float:
    """What comparisons on a design are expected to achieve.

    Parameters
    ----------
    goal : str
        In `WIDTHS`: the mean or the largest width of the intervals of the scores, or of the standardised scores.
        In `POWERS`: the probability that the interval of a pair's difference leaves out zero, the expected share
        of all pairs of which that holds, or the share that are separated, all tests being adjusted for each other.
    size : float
        Number of comparisons T.
    level : float
        Of the intervals; tests are made at one minus it.
    pair : int
        Which pair, for ``pair_power``; see `Panel.pair`.
    """
    if goal in WIDTHS:
        whose, summary = WIDTHS[goal]
        stated = getattr(precision, whose) * precision.longer(whose, size)
        return float(2 * normal_quantile(level, precision.freedom(size)) * summary(stated) / np.sqrt(size))
    if goal == "separated":
        return separated(precision, size, level)
    if goal == "pair_power":
        return float(power(precision, size, level)[pair])
    return float(power(precision, size, level, 0.0).mean())


def expected(goal: str, precisions: Sequence[Precision], size: float, level: float = 0.95, pair: int = 0) -> float:
    """Mean of `achieved` over panels, one of which will be had."""
    return float(np.mean([achieved(goal, precision, size, level, pair) for precision in precisions]))


def needed(goal: str, wanted: float, precisions: Sequence[Precision], level: float = 0.95, pair: int = 0) -> float:
    """Number of comparisons at which `expected` is as wanted; at least one, and `Precision.fewest`.

    For a power at least as many as make the formula reliable (`Precision.least`).

    Raises
    ------
    ConfigError
        If the goal is unknown or out of range, or no number of comparisons reaches it.
    """
    require_reasonable(goal, wanted)
    sign, least = (-1, 1.0) if goal in WIDTHS else (1, max(precision.least for precision in precisions))
    least = max(least, *(precision.fewest for precision in precisions))

    def missing(log_size: float) -> float:
        return sign * (wanted - expected(goal, precisions, np.exp(log_size), level, pair))

    top = np.log(MOST)
    if missing(top) > 0:
        raise ConfigError(
            f"{goal}={wanted:g} is out of reach: {MOST:.0g} comparisons give {wanted - sign * missing(top):.3g}"
        )
    return float(np.exp(brentq(missing, np.log(least), top, xtol=1e-10))) if missing(np.log(least)) > 0 else least


def require_reasonable(goal: str, wanted: float) -> None:
    """Refuse a width that is not above zero, and a power or share that is not between zero and one."""
    if goal not in GOALS:
        raise ConfigError(f"there is no goal {goal!r} (known: {', '.join(GOALS)})")
    if goal in WIDTHS and not 0 < wanted < np.inf:
        raise ConfigError(f"{goal} is a width, a finite number above zero, not {wanted:g}")
    if goal in POWERS and not 0 < wanted < 1:
        raise ConfigError(f"{goal} lies between zero and one, not at {wanted:g}")


def whole(size: float, repeats: int = 1, correlation: float = 0.0) -> int:
    """Comparisons to make, a multiple of the repeats, that are worth `size` independent ones."""
    return repeats * int(np.ceil(size * design_effect(repeats, correlation) / repeats))
