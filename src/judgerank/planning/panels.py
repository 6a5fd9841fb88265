"""Panels that plans are made for: models and judges with parameters, and how often each is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import require_maximum
from judgerank.data.errors import ConfigError, NoIntervalError, NotIdentifiedError
from judgerank.data.listing import listed
from judgerank.engine.information import covariance, information
from judgerank.engine.likelihood import evaluate
from judgerank.engine.penalised import Penalised
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile
from judgerank.model.block import Need, Role
from judgerank.model.law import Law, outcomes
from judgerank.model.members import JUDGE_AWARE, NAMED, Model, Parameters
from judgerank.order.scale import Scale, reported_covariance, scale_at, scale_of
from judgerank.ranking.choices import DEFAULT, FALLBACK

STEP = 1e-5  # of a parameter, for derivatives by differences
MOST_STRETCHED = 50.0  # logarithm of the factors that are tried


@dataclass(frozen=True, eq=False)
class Panel:
    """Models and judges of a member of the family, and a design.

    Attributes
    ----------
    models, judges : tuple of str
        N models, K judges.
    at : Parameters
        Scores and log-discriminations, each with sum zero; and what else the model gives every judge, such as
        positions and thresholds. Those at a limit (`judgerank.model.naming`) are infinite.
    pair_weight : float array, shape (N (N - 1) / 2,)
        How often a pair is compared relative to others, pairs in the order of ``numpy.triu_indices(N, 1)``.
    judge_weight : float array, shape (K,)
        How often a judge is asked relative to others.
    model : Model
        One in which judges differ in discrimination, or of two models one in which they do not.
    doubt : float array, shape (N (N - 1) / 2,), optional
        Standard errors of the differences of pairs over the standard deviation of the scores, as left by the
        judgments that the panel was fitted to; None where the panel is taken as known.
    steadiness : float array, shape (N (N - 1) / 2,), optional
        Standard errors of differences over their own standard errors, over those of the differences alone. Below
        one, since larger differences have larger errors.
    freedom : float
        Degrees of freedom of `doubt`.
    dispersion : float
        Variance of the outcomes over that which the model takes ties as half wins for (`engine.penalised`).
    """

    models: tuple[str, ...]
    judges: tuple[str, ...]
    at: Parameters
    pair_weight: FloatArray
    judge_weight: FloatArray
    model: Model = JUDGE_AWARE
    doubt: FloatArray | None = None
    steadiness: FloatArray | None = None
    freedom: float = np.inf
    dispersion: float = 1.0

    @classmethod
    def of(cls, scores: Mapping[str, float], discrimination: Mapping[str, float]) -> Panel:
        """Scores by model and discriminations by judge, normalised (equation 3), on a uniform design.

        Raises
        ------
        ConfigError
            If there are fewer than two models, no judge, or values out of range.
        """
        models, judges = tuple(map(str, scores)), tuple(map(str, discrimination))
        s, gamma = np.array(list(scores.values()), float), np.array(list(discrimination.values()), float)
        if len(s) < 2 or not np.isfinite(s).all() or np.ptp(s) == 0:
            raise ConfigError("scores must be two or more finite numbers that are not all equal")
        if len(gamma) < 1 or not np.all((gamma > 0) & np.isfinite(gamma)):
            raise ConfigError("discrimination must be one or more finite numbers above zero")
        at = Parameters(s, np.log(gamma)[None, :]).normalised()
        return cls(models, judges, at, np.ones(len(s) * (len(s) - 1) // 2), np.ones(len(gamma)))

    @property
    def n_parameters(self) -> int:
        """Parameters that are fitted to data on the panel's design."""
        n_of_judges = len(self.judges) * len(self.model.free_blocks)
        return len(self.models) - 1 + max(n_of_judges - self.model.weighs_judges, 0)

    def reporting(self, spread: float) -> Panel:
        """The same, its scores stretched so that the reported ones have this standard deviation."""

        def stretched(log_factor: float) -> Panel:
            return replace(self, at=Parameters(self.at.scores * np.exp(log_factor), self.at.judges))

        def missing(log_factor: float) -> float:
            return float(np.log(stretched(log_factor).scale.scores.std() / spread))

        return stretched(brentq(missing, -MOST_STRETCHED, MOST_STRETCHED, xtol=1e-12))

    @classmethod
    def fitted(cls, result: Fit, half_wins: float = 0.0) -> Panel:
        """The panel of a fit, without judges at zero discrimination: comparisons by them tell nothing.

        What the fit leaves open of the scores is kept in `doubt`; `half_wins` is the share of answers that are
        ties, and count as half a win.

        Raises
        ------
        NoIntervalError
            If a discrimination is unbounded, the fit did not converge, or all scores are equal.
        """
        if not result.converged:
            why = f"the fit ended as {result.status}"
            if result.unbounded_judges:
                why = (
                    f"{listed(result.unbounded_judges)} never contradicted the ranking or always chose one "
                    "position, so a parameter grows without limit"
                )
            raise NoIntervalError(why)
        if result.scores.max() == result.scores.min():
            raise NoIntervalError("all models have the same score, so there is no difference to plan for")
        in_play = result.discrimination[result.discrimination > 0]
        panel = cls.of(*({str(name): value for name, value in x.items()} for x in (result.scores, in_play)))
        errors = of_differences(reported_covariance(result)) / scale_of(result).scores.std()
        panel = replace(panel, doubt=errors, freedom=result.degrees_of_freedom)
        fitted, model = result.solution.parameters, result.model.alone
        of_pairs = [row for row, block in enumerate(model.blocks) if block.role.tied <= 2]
        model = replace(model, judge_blocks=tuple(model.judge_blocks[row] for row in of_pairs))
        rest = fitted.judges[of_pairs[1:]][:, fitted.in_play]
        by_judge = [panel.at.judges, rest] if model.judge_blocks else [np.zeros((0, len(in_play)))]
        at = Parameters(panel.at.scores, np.vstack(by_judge))
        dispersion = Penalised().with_dispersion(half_wins, result.comparisons.n_comparisons).dispersion or 1.0
        panel = replace(panel, at=at, model=model, dispersion=dispersion)
        return replace(panel, steadiness=panel._steady())

    def _steady(self) -> FloatArray:
        """`steadiness` by the delta method, the derivatives by differences."""
        i, j = np.triu_indices(len(self.models), 1)

        def distances(panel: Panel) -> FloatArray:
            scale = panel.scale
            return (scale.scores[i] - scale.scores[j]) / of_differences(scale.covariance(panel.covariance))

        distance, start = distances(self), np.r_[self.at.scores, self.at.judges.ravel()]
        rises = []
        for parameter in np.flatnonzero(np.r_[np.ones(len(self.models), bool), self.free.ravel()]):
            scores, judges = np.split(start + STEP * (np.arange(len(start)) == parameter), [len(self.models)])
            perturbed = replace(self, at=Parameters(scores, judges.reshape(self.at.judges.shape)))
            rises.append((distances(perturbed) - distance) / STEP)
        return np.asarray(np.sqrt((np.array(rises) * (self.covariance @ rises)).sum(axis=0)))

    def weighted(self, judges: Mapping[str, float], pairs: Iterable[tuple[str, str, float]]) -> Panel:
        """Another design: weights of some judges and of some pairs; of the others it is one.

        Judges of weight zero leave the panel.

        Raises
        ------
        ConfigError
            If a name is not known, or a weight is not a finite number from zero up.
        DisconnectedError
            If the pairs left do not connect the models.
        """
        by_judge, by_pair = self.judge_weight.copy(), self.pair_weight.copy()
        for name, weight in judges.items():
            if name not in self.judges:
                raise ConfigError(f"weights: there is no judge {name!r} among {', '.join(self.judges)}")
            by_judge[self.judges.index(name)] = _weight(f"weight of {name!r}", weight)
        for entry in pairs:
            if len(entry) != 3:
                raise ConfigError(f"weights: {list(entry)} is not a model, another one and a weight")
            by_pair[self.pair(entry[:2], "weights")] = _weight(f"weight of {list(entry[:2])}", entry[2])
        if not by_judge.any() or not by_pair.any():
            raise ConfigError("weights: some judge and some pair must have a weight above zero")
        panel = replace(self, judge_weight=by_judge, pair_weight=by_pair).subset(np.flatnonzero(by_judge))
        require_maximum(panel.design())
        return panel

    def pair(self, names: Iterable[str], key: str) -> int:
        """Place of a pair in the order of ``numpy.triu_indices``.

        Raises
        ------
        ConfigError
            Naming the key, if these are not two of the models.
        """
        names = list(names)
        for name in names:
            if name not in self.models:
                raise ConfigError(f"{key}: there is no model {name!r} among {', '.join(self.models)}")
        if len(set(names)) != 2 or len(names) != 2:
            raise ConfigError(f"{key}: {', '.join(names) or 'nothing'} is not two models")
        i, j = sorted(map(self.models.index, names))
        return i * (2 * len(self.models) - i - 1) // 2 + j - i - 1

    def difference(self, pair: int, level: float) -> tuple[float, float, float]:
        """Reported difference of a pair and the ends of its interval, as what the panel was fitted to has them."""
        first, second = (index[pair] for index in np.triu_indices(len(self.models), 1))
        scores = self.scale.scores
        error = 0.0 if self.doubt is None else self.doubt[pair] * scores.std()
        middle, reach = scores[first] - scores[second], normal_quantile(level, self.freedom) * error
        return float(middle), float(middle - reach), float(middle + reach)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every pair of models by name, in the order of `pair`."""
        return list(combinations(self.models, 2))

    def subset(self, judges: Iterable[int]) -> Panel:
        """Some of the judges, given by index; scores on the scale of their geometric mean."""
        judges = np.array(sorted(judges), int)
        at = Parameters(self.at.scores, self.at.judges[:, judges]).normalised()
        names = tuple(self.judges[k] for k in judges)
        return replace(self, judges=names, at=at, judge_weight=self.judge_weight[judges])

    def design(self, size: float = 1.0) -> Comparisons:
        """What `size` comparisons are expected to be: fractional counts of every triple, and mean outcomes.

        Where judges may lean, either model is shown first equally often.
        """
        pair, k = np.divmod(np.arange(len(self.pair_weight) * len(self.judges)), len(self.judges))
        weight = self.pair_weight[pair] * self.judge_weight[k]
        has_weight = weight > 0
        i, j = (index[pair[has_weight]] for index in np.triu_indices(len(self.models), 1))
        k, count = k[has_weight], size * weight[has_weight] / weight.sum()
        if self.model.uses(Need.ORDER):
            i, j, k, count = np.r_[i, j], np.r_[j, i], np.r_[k, k], np.r_[count, count] / 2
        return self.answered((i, j, k), self.probabilities(i, j, k), count)

    @cached_property
    def _designed(self) -> Comparisons:
        """`design` of one comparison."""
        return self.design()

    def answered(
        self, who: tuple[IntArray, IntArray, IntArray], share: FloatArray, count: FloatArray
    ) -> Comparisons:
        """Comparisons (first, second, judge) whose answers are these shares of every level, shape (T, L)."""
        outcome, n_levels = share @ (1 + np.sign(self.levels)) / 2, len(self.levels)
        middle = n_levels // 2
        tied = share[:, middle] if n_levels > 2 else None
        sides = [middle + sign * size for size in range(2, middle + 1) for sign in (-1, 1)]
        strong = share[:, sides] if sides and n_levels > 3 else None
        return Comparisons(self.models, self.judges, *who, outcome, count, tied=tied, strong=strong)

    @property
    def levels(self) -> FloatArray:
        """Levels c of an answer (`judgerank.model.law`), from the best for the model shown first, shape (L,)."""
        levels = outcomes(self.model.n_strengths)[::-1] - 0.5
        return levels if self.model.has(Role.TIE, Role.STRONG) else levels[levels != 0]

    def probabilities(self, i: IntArray, j: IntArray, k: IntArray) -> FloatArray:
        """Probability of each of `levels` where judge k sees i before j, shape (T, L)."""
        judge_values = self.model.of_judges(self.at)
        eta = judge_values.gamma[k] * (self.at.scores[i] - self.at.scores[j]) + judge_values.position[k]
        if len(self.levels) == 2:
            return np.stack([expit(eta), expit(-eta)], axis=-1)
        return Law(
            eta, None if judge_values.nu is None else judge_values.nu[k], *judge_values.log_strong[:, k]
        ).levels[..., ::-1]

    @property
    def covariance(self) -> FloatArray:
        """Of the estimates by one comparison, independent of all others, shape (D, D)."""
        return self.dispersion * self.bread

    @cached_property
    def bread(self) -> FloatArray:
        """Inverse of the expected information of one comparison, shape (D, D).

        Raises
        ------
        NotIdentifiedError
            If the design does not determine every score and discrimination.
        """
        at_truth = evaluate(self._designed, self.model, self.at, "expected")
        try:
            info = information(at_truth, self.free)
            return covariance(info, len(self.models), len(self.judges) * self.model.weighs_judges)
        except np.linalg.LinAlgError:
            raise NotIdentifiedError("the design does not determine every score and discrimination") from None

    @cached_property
    def scale(self) -> Scale:
        """The reported scale (`judgerank.order.scale`), judges drawn as the design asks them."""
        chosen = np.concatenate([np.ones(len(self.at.scores), bool), self.free.ravel()])
        return scale_at(self._designed, self.model, self.at, self.free, chosen)

    @property
    def free(self) -> BoolArray:
        """Judges' parameters that are neither held nor at a limit, shape (B, K)."""
        return (
            np.isfinite(self.at.judges) & (np.arange(len(self.at.judges)) >= self.model.free_rows.start)[:, None]
        )


def of_differences(covariance: FloatArray) -> FloatArray:
    """Standard errors of all differences, shape (N (N - 1) / 2,), given a covariance, shape (N, N)."""
    i, j = np.triu_indices(len(covariance), 1)
    variance = np.diag(covariance)
    return np.sqrt(np.maximum(variance[i] + variance[j] - 2 * covariance[i, j], 0.0))


def _weight(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < np.inf:
        raise ConfigError(f"{key}: {value!r} is not a weight, a finite number from zero up")
    return float(value)


# Panels to plan for: assumed without data, or some of the judges of another.
ASSUMED = (DEFAULT, FALLBACK)  # members of the family that an assumed panel can be of


def assumed(
    n_models: int,
    n_judges: int,
    sigma_scores: float,
    sigma_discrimination: float,
    scores: Sequence[float] | Mapping[str, float] | None = None,
    discrimination: Sequence[float] | Mapping[str, float] | None = None,
    model: str = DEFAULT,
) -> Panel:
    """A panel that is not fitted: scores and log-discriminations normally spread, or given; no position bias.

    Scores are those that a ranking would report, on the scale of `judgerank.order.scale`.

    Parameters
    ----------
    n_models, n_judges : int
        Sizes, where the values are not given.
    sigma_scores, sigma_discrimination : float
        Standard deviations of the scores and of the log-discriminations, where they are not given.
    scores, discrimination : list of float, or mapping of str to float, optional
        Values by model and by judge; a list names them ``m01, m02, ...`` and ``j01, j02, ...``.
    model : str
        What will be fitted, one of `ASSUMED`; by default what ranks if nothing else is asked for.

    Raises
    ------
    ConfigError
        Naming the argument at fault.
    """
    spreads = {
        "scores": (scores, n_models, sigma_scores, "m"),
        "discrimination": (discrimination, n_judges, sigma_discrimination, "j"),
    }
    if model not in ASSUMED:
        raise ConfigError(f"an assumed panel is planned for one of {', '.join(ASSUMED)}, not for {model}")
    values = {}
    for key, (assumption, size, sigma, letter) in spreads.items():
        if assumption is None:
            if size < 1 or not 0 <= sigma < np.inf:
                raise ConfigError(f"{key}: {size} of them with a standard deviation of {sigma} cannot be had")
            spread = normal_spread(size, sigma)
            assumption = list(spread if key == "scores" else np.exp(spread))
        if not isinstance(assumption, list | dict):
            raise ConfigError(f"{key} is a list of numbers, or numbers by name, not {assumption!r}")
        named = (
            assumption
            if isinstance(assumption, dict)
            else {f"{letter}{n:02d}": x for n, x in enumerate(assumption, 1)}
        )
        odd = [x for x in named.values() if isinstance(x, bool) or not isinstance(x, int | float)]
        if odd:
            raise ConfigError(f"{key} holds {odd[0]!r}, not a number")
        values[key] = named
    panel = Panel.of(**values)
    unbiased = np.zeros((len(NAMED[model].judge_blocks) - 1, len(panel.judges)))
    panel = replace(panel, model=NAMED[model], at=Parameters(panel.at.scores, np.r_[panel.at.judges, unbiased]))
    return panel.reporting(float(np.std(list(values["scores"].values()))))


def sub_panels(panel: Panel, size: int, draws: int, seed: int) -> list[Panel]:
    """Panels of some of the judges: all there are, if those are no more than `draws`, else that many random ones.

    Random ones of different sizes are nested, so that sizes can be compared.

    Raises
    ------
    ConfigError
        If there is no judge in them, or more than there are.
    """
    n_judges = len(panel.judges)
    if not 1 <= size <= n_judges:
        raise ConfigError(f"n_judges must lie between 1 and the panel's {n_judges}, not at {size}")
    if comb(n_judges, size) <= draws:
        return [panel.subset(judges) for judges in combinations(range(n_judges), size)]
    return [panel.subset(generator(seed, "panel", draw).permutation(n_judges)[:size]) for draw in range(draws)]


def normal_spread(size: int, sigma: float) -> FloatArray:
    """Normal quantiles of evenly spaced probabilities, falling, with this standard deviation, shape (size,).

    A panel of that spread without a seed that decides how lucky it is.
    """
    if size == 1:
        return np.zeros(1)
    quantiles = -ndtri((np.arange(size) + 0.5) / size)
    return sigma * quantiles / quantiles.std()
