"""The estimates of a fitted member of the family, how they ended, and what they predict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.errors import DataError
from judgerank.likelihood import Law
from judgerank.model import Model
from judgerank.solvers.adam import AdamSettings
from judgerank.solvers.localized import LocalizedSettings
from judgerank.solvers.newton import NewtonSettings
from judgerank.solvers.penalised import PenalisedSettings
from judgerank.solvers.solution import Solution, Status

Settings = NewtonSettings | AdamSettings | LocalizedSettings | PenalisedSettings


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates by model and by judge.

    Attributes
    ----------
    comparisons : Comparisons
        The aggregated comparisons behind them.
    model : Model
    settings : NewtonSettings, AdamSettings, LocalizedSettings or PenalisedSettings
    solution : Solution
    """

    comparisons: Comparisons
    model: Model
    settings: Settings
    solution: Solution

    @property
    def status(self) -> Status:
        return self.solution.status

    @property
    def converged(self) -> bool:
        return self.status.converged

    @property
    def log_likelihood(self) -> float:
        """Sum over raw comparisons (equation 5)."""
        return self.solution.evaluation.log_likelihood

    @property
    def scores(self) -> pd.Series:
        """Zero-sum scores by model."""
        return pd.Series(self.solution.parameters.scores, index=list(self.comparisons.models), name="score")

    @property
    def ranks(self) -> pd.Series:
        """Ranks by model, one for the highest score."""
        return self.scores.rank(ascending=False, method="first").astype(int).rename("rank")

    @property
    def discrimination(self) -> pd.Series:
        """Discriminations by judge, geometric mean one over the judges in play; one throughout for BTL."""
        judges = self.solution.parameters.judges
        gamma = np.exp(judges[0]) if len(judges) else np.ones(len(self.comparisons.judges))
        return pd.Series(gamma, index=list(self.comparisons.judges), name="discrimination")

    @property
    def slope(self) -> pd.Series:
        """Covariate slopes beta by judge; zero throughout unless the model frees them."""
        judges = self.solution.parameters.judges
        beta = judges[1] if self.model.has_slope else np.zeros(len(self.comparisons.judges))
        return pd.Series(beta, index=list(self.comparisons.judges), name="slope")

    @property
    def position(self) -> pd.Series:
        """Leanings b towards the model shown first by judge, in log-odds; zero unless the model frees them."""
        judges = self.solution.parameters.judges
        b = (
            judges[self.model.row("position")]
            if self.model.has_position
            else np.zeros(len(self.comparisons.judges))
        )
        return pd.Series(b, index=list(self.comparisons.judges), name="position")

    @property
    def tie(self) -> pd.Series:
        """Tie propensities nu by judge; NaN unless the model frees them."""
        judges = self.solution.parameters.judges
        empty = np.full(len(self.comparisons.judges), np.nan)
        nu = np.exp(judges[self.model.row("log_tie")]) if self.model.has_ties else empty
        return pd.Series(nu, index=list(self.comparisons.judges), name="tie")

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
    def _slope_held(self) -> np.ndarray:
        judges = self.solution.parameters.judges
        if not self.model.has_slope:
            return np.zeros(judges.shape[1], bool)
        return np.abs(judges[1]) >= getattr(self.settings, "slope_bound", np.inf)

    @property
    def judge_status(self) -> pd.Series:
        """How each judge ended: interior, zero, unbounded, slope_bound, or that of an unfinished fit."""
        status = pd.Series(str(self.status), index=list(self.comparisons.judges), name="status")
        if self.converged or self.solution.alone is not None:  # the others are at their best, given that judge's
            status[:] = str(Status.INTERIOR if self.solution.spread is None else Status.SHRUNK)
        status[list(self.slopes_at_bound)] = "slope_bound"
        status[list(self.judges_at_zero)] = "zero"
        status[list(self.unbounded_judges)] = str(Status.UNBOUNDED)
        return status

    def _judges(self, where) -> tuple[str, ...]:
        return tuple(np.asarray(self.comparisons.judges, object)[where])

    def probability(self, comparisons: Comparisons) -> np.ndarray:
        """Mean outcome for rows of comparisons of the same models by the same judges, shape (T,).

        That is P(first preferred), with half of the probability of a tie where ties are an outcome.

        Raises
        ------
        DataError
            If a model or a judge is not among those fitted, or a covariate is needed and missing.
        """
        return self._law(comparisons).mean

    def tie_probability(self, comparisons: Comparisons) -> np.ndarray:
        """P(tie) for rows of comparisons of the same models by the same judges, shape (T,).

        Raises
        ------
        DataError
            As for `probability`, and if the model does not have ties for an outcome.
        """
        if not self.model.has_ties:
            raise DataError(f"model {self.model.name!r} does not have ties for an outcome")
        return self._law(comparisons).tie

    def _law(self, comparisons: Comparisons) -> Law:
        """Law of the outcome of every row.

        Raises
        ------
        DataError
            If a model or a judge is not among those fitted, or a covariate is needed and missing.
        """
        c, fitted = comparisons, self.comparisons
        for label, known in ((c.models, fitted.models), (c.judges, fitted.judges)):
            unknown = [name for name in label if name not in known]
            if unknown:
                raise DataError(f"{unknown[0]!r} is not among those fitted: {', '.join(known)}")
        if self.model.has_slope and c.covariate is None:
            raise DataError(f"model {self.model.name!r} needs a covariate, and the comparisons have none")
        s = self.scores[list(c.models)].to_numpy()
        judges = list(c.judges)
        eta = self.discrimination[judges].to_numpy()[c.judge] * (s[c.first] - s[c.second])
        if self.model.has_slope:
            eta = eta * np.exp(self.slope[judges].to_numpy()[c.judge] * c.covariate)
        eta = eta + self.position[judges].to_numpy()[c.judge]
        return Law(eta, self.tie[judges].to_numpy()[c.judge] if self.model.has_ties else None)

    def summary(self) -> str:
        """A few lines that say what was fitted, how it ended, and the leaderboard."""
        c = self.comparisons
        lines = [
            f"{self.model.name}: {len(c.models)} models, {len(c.judges)} judges, "
            f"{c.n_comparisons:.0f} comparisons",
            f"status {self.status} after {self.solution.iterations} iterations, log-likelihood "
            f"{self.log_likelihood:.4f}, relative gradient {self.solution.evaluation.relative_gradient:.1e}",
        ]
        if self.judges_at_zero:
            lines.append("judges at zero discrimination: " + ", ".join(self.judges_at_zero))
        if self.unbounded_judges:
            lines.append("judges with unbounded discrimination: " + ", ".join(self.unbounded_judges))
        if self.slopes_at_bound:
            lines.append("judges whose slope is on its bound: " + ", ".join(self.slopes_at_bound))
        order = self.scores.sort_values(ascending=False, kind="stable")
        return "\n".join(
            lines + [f"{rank:4d}  {s: .3f}  {name}" for rank, (name, s) in enumerate(order.items(), 1)]
        )

    __str__ = summary
