"""The estimates of a fitted member of the family, how they ended, and what they predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.engine.solution import Solution, Status
from judgerank.engine.solvers import Settings
from judgerank.inference.effects import Averaged, QuestionEffects
from judgerank.model.block import Role
from judgerank.model.law import Law
from judgerank.model.members import JudgeValues, Model

Names = str | Sequence[str]


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
        """Sum over raw comparisons (equation 5), or the marginal one over questions."""
        return self.solution.evaluation.log_likelihood if self.effects is None else self.effects.log_likelihood

    @property
    def marginal_log_likelihood(self) -> float:
        """With what is shrunk, or question effects, integrated out."""
        integrated = self.solution.integrated
        return self.log_likelihood if integrated is None or self.effects is not None else integrated

    @property
    def scores(self) -> pd.Series:
        """Zero-sum scores by model."""
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
        nu = self._values.nu
        return self._by_judge(np.full(len(self.comparisons.judges), np.nan) if nu is None else nu, "tie")

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
        place = self._further(block)
        labels_of = next(one.labels for one in self.model.further if one.name == block)
        return pd.Series(self.solution.parameters.common[place], list(labels_of), name=block)

    def _further(self, block: str) -> slice:
        """Where a further block's parameters stand.

        Raises
        ------
        ConfigError
            If there is no such block.
        """
        names = [one.name for one in self.model.further]
        if block not in names:
            known = f" (there are: {', '.join(names)})" if names else ""
            raise ConfigError(f"there is no further block {block!r} in this fit{known}")
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
        if not self.model.has_slope:
            return np.zeros(judges.shape[1], bool)
        held: BoolArray = np.abs(judges[1]) >= getattr(self.settings, "slope_bound", np.inf)
        return held

    @property
    def judge_status(self) -> pd.Series:
        """How each judge ended: interior, zero, unbounded, slope_bound, or that of an unfinished fit."""
        status = pd.Series(str(self.status), index=labels(self.comparisons.judges), name="status")
        if self.converged or self.solution.alone is not None:  # the others are at their best, given that judge's
            status[:] = str(Status.SHRUNK if self.solution.shrinks_scores else Status.INTERIOR)
        status[list(self.slopes_at_bound)] = "slope_bound"
        status[list(self.judges_at_zero)] = "zero"
        status[list(self.unbounded_judges)] = str(Status.UNBOUNDED)
        return status

    def _judges(self, where: BoolArray | list[int]) -> tuple[str, ...]:
        return tuple(np.asarray(self.comparisons.judges, object)[where])

    def probability(self, comparisons: Comparisons) -> FloatArray:
        """Mean outcome for rows of comparisons of the same models by the same judges, shape (T,).

        That is P(first preferred), with half of the probability of a tie where ties are an outcome.

        Raises
        ------
        DataError
            If a model or a judge is not among those fitted, or a covariate is needed and missing.
        """
        return self._law_of(comparisons).mean

    def tie_probability(self, comparisons: Comparisons) -> FloatArray:
        """P(tie) for rows of comparisons of the same models by the same judges, shape (T,).

        Raises
        ------
        DataError
            As for `probability`, and if the model does not have ties for an outcome.
        """
        if not self.model.has_ties:
            raise DataError(f"model {self.model.name!r} does not have ties for an outcome")
        return self._law_of(comparisons).tie

    def predict(
        self,
        first: Names,
        second: Names,
        judge: Names | None = None,
        covariate: float | FloatArray = 0.0,
    ) -> float | FloatArray:
        """P(first preferred) of models shown in this order to a judge (equation 1).

        Without a judge, to one drawn from the panel: the mean over all judges fitted, those at zero among them. It
        lies nearer to one half than for a judge of discrimination one, as judges differ. Where ties are an outcome
        they count for neither model, so P(first) + P(second) < 1; `probability` gives either one half of them.

        Parameters
        ----------
        first, second : str or sequence of str
            Models, shown first and second. Single names go with any number of others.
        judge : str or sequence of str, optional
        covariate : float or float array, optional
            Standardised covariate z, for members with slopes; the average is zero.

        Returns
        -------
        float, or float array
            A number for single names.

        Raises
        ------
        DataError
            If a model or a judge is not among those fitted, or the names are not as many on all sides.
        """
        models, judges = self.comparisons.models, self.comparisons.judges
        i, j = places(first, models), places(second, models)
        k = np.arange(len(judges)) if judge is None else places(judge, judges)
        try:
            i, j, z, k = np.broadcast_arrays(i, j, np.asarray(covariate, float)[..., None], k)
        except ValueError:
            raise DataError("first, second, judge and covariate must be as many, or single ones") from None
        law = self._law(i, j, k, z)
        first_preferred = (law.mean - law.tie / 2).mean(axis=-1)
        return float(first_preferred) if first_preferred.ndim == 0 else first_preferred

    def win_probability(self, difference: FloatArray, judges: FloatArray | None = None) -> FloatArray:
        """P(a model is preferred to another), by how much higher its score is, as float array of the same shape.

        By a judge drawn from the panel, in an order drawn at random, at covariate zero; a tie counts half. So it
        is one half for equals, and P(i) + P(j) = 1.

        Parameters
        ----------
        difference : float array
            Of `scores`.
        judges : float array, shape (K,), optional
            Probability of each judge to be drawn, all alike by default.
        """
        d = np.asarray(difference, float)[..., None]
        gamma, _, b, nu = self._values
        first, second = (self._at(gamma * lead + b, gamma, nu).mean for lead in (d, -d))
        return np.asarray(np.average(first + 1 - second, axis=-1, weights=judges) / 2)

    def _law_of(self, comparisons: Comparisons) -> Law | Averaged:
        """Law of the outcome of every row.

        Raises
        ------
        DataError
            If a model or a judge is not among those fitted, or a covariate is needed and missing.
        """
        c = comparisons
        models = places(c.models, self.comparisons.models)[:, 0]
        judges = places(c.judges, self.comparisons.judges)[:, 0]
        if self.model.has_slope and c.covariate is None:
            raise DataError(f"model {self.model.name!r} needs a covariate, and the comparisons have none")
        return self._law(models[c.first], models[c.second], judges[c.judge], c.covariate, c.columns)

    def _law(
        self,
        first: IntArray,
        second: IntArray,
        judge: IntArray,
        z: FloatArray | None,
        columns: csr_array | None = None,
    ) -> Law | Averaged:
        """Law of outcomes, for places among those fitted; without columns further blocks add nothing."""
        at, values = self.solution.parameters, self._values
        gamma, position = values.gamma[judge], values.position[judge]
        nu = None if values.nu is None else values.nu[judge]
        if self.model.has_slope and z is not None:
            gamma = gamma * np.exp(values.slope[judge] * z)
        difference = at.scores[first] - at.scores[second]
        if columns is not None and self.model.further:
            forms = {role: columns @ np.where(np.equal(self.model.roles, role), at.common, 0.0) for role in Role}
            gamma, difference = gamma * np.exp(forms[Role.WEIGHT]), difference + forms[Role.QUALITY]
            position, nu = position + forms[Role.OFFSET], None if nu is None else nu * np.exp(forms[Role.TIE])
        return self._at(gamma * difference + position, gamma, nu)

    def _at(self, eta: FloatArray, gamma: FloatArray, nu: FloatArray | None) -> Law | Averaged:
        """Law of outcomes at predictors, on a question drawn at random where questions have effects."""
        if self.effects is None or self.effects.sigma == 0:
            return Law(eta, nu)
        return self.effects.law(eta, gamma, nu)


def places(names: Names, known: tuple[str, ...]) -> NDArray[np.intp]:
    """Places of names among those fitted, on an axis before a last one of length one.

    Raises
    ------
    DataError
        If one is not among them.
    """
    asked = np.asarray([names] if isinstance(names, str) else names, dtype=object)
    place = pd.Index(known).get_indexer(pd.Index(asked))
    if (place < 0).any():
        raise DataError(f"{asked[place.argmin()]!r} is not among those fitted: {', '.join(known)}")
    return place[0, None] if isinstance(names, str) else place[:, None]
