"""Estimates of a fitted member of the family, and how its search ended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.portable_math import exp
from judgerank.engine.solution import Solution, Status
from judgerank.engine.solvers import Settings
from judgerank.inference.effects import QuestionEffects
from judgerank.model.judge_blocks import JudgeBlock
from judgerank.model.limits import propensities
from judgerank.model.members import JudgeValues, Model


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
        return self.solution.status

    @property
    def converged(self) -> bool:
        return self.status.converged

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
        """Zero-sum scores by model, on the scale of the fit; `Fit.leaderboard` has the reported ones."""
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

    @property
    def strong(self) -> pd.Series:
        """Propensities to say much better by judge, infinite for who says nothing less; NaN unless freed."""
        return self.strength(2)

    def strength(self, degree: int) -> pd.Series:
        """Propensities to give a win this strength, 2 or more, by judge; NaN where it is no outcome."""
        log_strong = self._values.log_strong[degree - 2 : degree - 1]
        name = "strong" if degree == 2 else f"strong_{degree}"
        return self._propensities(exp(log_strong[0]) if len(log_strong) else None, name)

    def of_judges(self, block: JudgeBlock) -> pd.Series:
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
        """Judges whose discrimination the closure gamma_k >= 0 puts at zero."""
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
        """How each judge ended: interior, zero, unbounded, slope_bound, or that of an unfinished fit."""
        usual = self.status
        if self.converged or self.solution.alone is not None:  # the others are at their best, given that judge's
            usual = Status.SHRUNK if self.solution.shrinks_scores else Status.INTERIOR
        status = np.full(len(self.comparisons.judges), str(usual), object)
        status[self._slope_held] = "slope_bound"
        status[~self.solution.parameters.in_play] = "zero"
        status[list(self.solution.unbounded_judges)] = str(Status.UNBOUNDED)
        return pd.Series(status.tolist(), index=labels(self.comparisons.judges), name="status")

    def _judges(self, where: BoolArray | list[int]) -> tuple[str, ...]:
        return tuple(np.asarray(self.comparisons.judges, object)[where])
