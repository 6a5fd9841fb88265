"""Estimates of a fitted member of the family, and how its search ended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from judgerank.data.arrays import BoolArray, FloatArray, exp
from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.listing import p_of
from judgerank.engine.penalised import Penalised
from judgerank.engine.solution import Solution, Status
from judgerank.engine.solvers import Settings
from judgerank.model.judge_blocks import JudgeBlock
from judgerank.model.law import Law, outcomes, share_preferred
from judgerank.model.members import JudgeValues, Model, Parameters
from judgerank.model.naming import propensities

# Question effects of a fit: predictions are averages over them.
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


@lru_cache(maxsize=64)
def _index(names: tuple[str, ...]) -> pd.Index:
    return pd.Index(list(names))


def labels(names: tuple[str, ...]) -> pd.Index:
    """Names as an index of its own; made of them once, which takes longer than all else in a small series."""
    return _index(names).view()


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates by model and by judge.

    Attributes
    ----------
    comparisons : Comparisons
        The aggregated comparisons behind them.
    model : Model
    settings : Newton, Adam, Localized or Penalised
    solution : Solution
    effects : QuestionEffects, optional
        What was integrated out (`judgerank.engine.questions`): predictions are then those of a question drawn at
        random.
    """

    comparisons: Comparisons
    model: Model
    settings: Settings
    solution: Solution
    effects: QuestionEffects | None = None

    @property
    def status(self) -> Status:
        """How the search ended: interior, boundary, unbounded, shrunk, or a reason why it did not end well."""
        return self.solution.status

    @property
    def converged(self) -> bool:
        """Whether the search ended at a maximum."""
        return self.status.converged

    @property
    def dispersion(self) -> float:
        """Variance of the outcomes over that which a shrunk fit takes ties as half wins for (`engine.penalised`).

        One of other fits: their maximum does not depend on it, and clustered errors allow for it.
        """
        given = self.settings.dispersion if isinstance(self.settings, Penalised) else None
        return 1.0 if given is None else given

    @property
    def _working_comparisons(self) -> Comparisons:
        """The comparisons, counted as often as the likelihood counts them (`dispersion`)."""
        settings = self.settings
        return settings.counted(self.comparisons) if isinstance(settings, Penalised) else self.comparisons

    @property
    def log_likelihood(self) -> float:
        """Equation (5), or the marginal one over questions."""
        return self.solution.evaluation.log_likelihood if self.effects is None else self.effects.log_likelihood

    @property
    def marginal_log_likelihood(self) -> float:
        """With what is shrunk, or question effects, integrated out."""
        integrated = self.solution.integrated
        return self.log_likelihood if integrated is None or self.effects is not None else integrated

    @property
    def scores(self) -> pd.Series:
        """Zero-sum scores by model, on the scale of the fit; `Fit.leaderboard` has the reported ones.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> result.scores.idxmax()
        'oak'
        """
        scores = self.solution.parameters.scores
        return pd.Series(scores, index=labels(self.comparisons.models), name="score", copy=True)

    @property
    def ranks(self) -> pd.Series:
        """Ranks by model, one for the highest score."""
        return self.scores.rank(ascending=False, method="first").astype(int).rename("rank")

    @property
    def discrimination(self) -> pd.Series:
        """Discriminations by judge, geometric mean one over the judges in play; one throughout for BTL."""
        return self._by_judge(self._values.gamma, "discrimination")

    @property
    def slope(self) -> pd.Series:
        """Covariate slopes beta by judge; zero throughout unless the model frees them."""
        return self._by_judge(self._values.slope, "slope")

    @property
    def position(self) -> pd.Series:
        """Leanings b towards the model shown first by judge, in log-odds; zero unless the model frees them."""
        return self._by_judge(self._values.position, "position")

    @property
    def tie(self) -> pd.Series:
        """Tie propensities nu by judge; NaN unless the model frees them."""
        return self._propensities(self._values.nu, "tie")

    def strength(self, degree: int) -> pd.Series:
        """Propensities to give a win this strength, 2 or more, by judge: NaN unless freed.

        Infinite for a judge who never says less.
        """
        log_strong = self._values.log_strong[degree - 2 : degree - 1]
        name = "strong" if degree == 2 else f"strong_{degree}"
        return self._propensities(exp(log_strong[0]) if len(log_strong) else None, name)

    def _of_judges(self, block: JudgeBlock) -> pd.Series:
        """Estimates of what every judge has, by judge."""
        if block.role.tied > 2:
            judge_rows = self.solution.parameters.judges[self.model.row(block.name)]
            return self._propensities(exp(judge_rows), block.shown)
        values = self.strength(block.role.strength + 2) if block.role.is_strong else getattr(self, block.shown)
        assert isinstance(values, pd.Series)
        return values

    def _propensities(self, values: FloatArray | None, name: str) -> pd.Series:
        if values is None:
            return self._by_judge(np.full(len(self.comparisons.judges), np.nan), name)
        return self._by_judge(propensities(self.model, self.solution.parameters, values), name)

    @property
    def _values(self) -> JudgeValues:
        return self.model.of_judges(self.solution.parameters)

    def _by_judge(self, values: FloatArray, name: str) -> pd.Series:
        return pd.Series(values, index=labels(self.comparisons.judges), name=name, copy=True)

    def parameters(self, block: str) -> pd.Series:
        """Estimates of a further block, such as ``style``, by what they are of.

        Raises
        ------
        ConfigError
            If there is no such block.
        """
        position = self._extra_columns(block)
        labels_of = next(extra.labels for extra in self.model.further if extra.name == block)
        return pd.Series(self.solution.parameters.common[position], list(labels_of), name=block)

    def _extra_columns(self, block: str) -> slice:
        """Where a further block's parameters stand.

        Raises
        ------
        ConfigError
            If there is no such block.
        """
        names = [extra.name for extra in self.model.further]
        if block not in names:
            available = f" (there are: {', '.join(names)})" if names else ""
            raise ConfigError(f"there is no further block {block!r} in this fit{available}")
        return self.model.place(block)

    @property
    def judges_at_zero(self) -> tuple[str, ...]:
        """Judges whose discrimination the closure gamma_k >= 0 puts at zero.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> result.judges_at_zero
        ('judge-random',)
        """
        return self._judges(~self.solution.parameters.in_play)

    @property
    def unbounded_judges(self) -> tuple[str, ...]:
        """Judges whose discrimination runs off to infinity."""
        return self._judges(list(self.solution.unbounded_judges))

    @property
    def slopes_at_bound(self) -> tuple[str, ...]:
        """Judges whose covariate slope lies on the solver's bound, where it has no interval."""
        return self._judges(self._slope_held)

    @property
    def _slope_held(self) -> BoolArray:
        judges = self.solution.parameters.judges
        if not self.model.weights_vary:
            return np.zeros(judges.shape[1], bool)
        held: BoolArray = np.abs(judges[1]) >= getattr(self.settings, "slope_bound", np.inf)
        return held

    @property
    def judge_status(self) -> pd.Series:
        """How each judge ended: interior, zero, unbounded, slope_bound, or that of an unfinished fit.

        Who stands for all judges with few answers is pooled (`Comparisons.pool_few`).
        """
        usual = self.status
        if self.converged or self.solution.alone is not None:  # the others are at their best, given that judge's
            usual = Status.SHRUNK if self.solution.shrinks_scores else Status.INTERIOR
        status = np.full(len(self.comparisons.judges), str(usual), object)
        status[self._slope_held] = "slope_bound"
        status[~self.solution.parameters.in_play] = "zero"
        status[list(self.solution.unbounded_judges)] = str(Status.UNBOUNDED)
        status[self.comparisons.is_pooled] = "pooled"
        return pd.Series(status.tolist(), index=labels(self.comparisons.judges), name="status")

    def _judges(self, where: BoolArray | list[int]) -> tuple[str, ...]:
        return tuple(np.asarray(self.comparisons.judges, object)[where])
