"""A fitted member of the family: estimates, how they ended, and their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.errors import DataError, NoIntervalError
from judgerank.inference import cluster_gradients, covariance, information, normal_quantile, wald
from judgerank.likelihood import Curvature, Law, evaluate
from judgerank.model import Model
from judgerank.solvers.adam import AdamSettings
from judgerank.solvers.localized import LocalizedSettings
from judgerank.solvers.newton import NewtonSettings
from judgerank.solvers.penalised import PenalisedSettings, penalty
from judgerank.solvers.solution import Solution, Status

Settings = NewtonSettings | AdamSettings | LocalizedSettings | PenalisedSettings


@dataclass(frozen=True, eq=False)
class FitResult:
    """A fitted member of the family.

    Attributes
    ----------
    comparisons : Comparisons
        The aggregated comparisons behind it.
    model : Model
    settings : NewtonSettings, AdamSettings or LocalizedSettings
    solution : Solution
    robust : float array, shape (D, D), optional
        Covariance in place of the plug-in one; see `clustered`.
    """

    comparisons: Comparisons
    model: Model
    settings: Settings
    solution: Solution
    robust: np.ndarray | None = None

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
        bound = getattr(self.settings, "slope_bound", np.inf)
        return np.abs(self.slope.to_numpy()) >= bound

    @property
    def judge_status(self) -> pd.Series:
        """How each judge ended: interior, zero, unbounded, slope_bound, or that of an unfinished fit."""
        status = pd.Series(str(self.status), index=list(self.comparisons.judges), name="status")
        if self.converged:
            status[:] = str(Status.INTERIOR if self.solution.spread is None else Status.SHRUNK)
        status[list(self.slopes_at_bound)] = "slope_bound"
        status[list(self.judges_at_zero)] = "zero"
        status[list(self.unbounded_judges)] = str(Status.UNBOUNDED)
        return status

    def _judges(self, where) -> tuple[str, ...]:
        return tuple(np.asarray(self.comparisons.judges, object)[where])

    @cached_property
    def free(self) -> np.ndarray:
        """The judges' free parameters, shape (B, K)."""
        in_play = self.solution.parameters.in_play
        everyone = np.ones_like(in_play)
        moving = in_play & (not self.model.fixed_scale)
        masks = {"log_discrimination": moving, "slope": in_play & ~self._slope_held, "position": everyone}
        masks["log_tie"] = self.tie.to_numpy() > 0
        return np.array([masks[block] for block in self.model.judge_blocks], bool).reshape(-1, len(in_play))

    @property
    def n_free_discriminations(self) -> int:
        """Number of discriminations that were fitted and are in play."""
        return int(self.free[:1].sum())

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance of (s, alpha[, beta][, b]) over the free parameters, shape (D, D).

        The inverse of the plug-in information, or what `clustered` put in its place. Slopes on their bound are
        taken as given.

        Raises
        ------
        NoIntervalError
            If a discrimination is unbounded, or the information is singular.
        """
        if self.status is Status.UNBOUNDED:
            names = ", ".join(self.unbounded_judges)
            raise NoIntervalError(f"there are no intervals: the discrimination of {names} is unbounded")
        return self._inverse("expected") if self.robust is None else self.robust

    def _inverse(self, curvature: Curvature) -> np.ndarray:
        """Inverse of the information in the zero-sum coordinates."""
        cells = self.comparisons if self.model.judge_blocks else self.comparisons.pool_judges()
        at_fit = evaluate(cells, self.model, self.solution.parameters, curvature)
        info = information(at_fit, self.free)
        if self.solution.spread is not None:
            n_models, n_judges = len(self.comparisons.models), len(self.comparisons.judges)
            info = info + penalty(self.model, n_models, n_judges, self.solution.spread)
        try:
            return covariance(info, len(self.comparisons.models), self.n_free_discriminations)
        except np.linalg.LinAlgError:
            raise NoIntervalError(f"there are no intervals: the information is singular ({self.status})") from None

    def clustered(self, comparisons: Comparisons, cluster: np.ndarray) -> FitResult:
        """The same fit with a covariance that allows for dependence within clusters and for misfit.

        The sandwich B (sum u u') B of the observed information's inverse B and every cluster's gradient u
        (Liang and Zeger, 1986), times Q / (Q - 1) for Q clusters.

        Parameters
        ----------
        comparisons : Comparisons
            The raw comparisons behind the fit.
        cluster : int array, shape (T,)
            Cluster of each of them, such as the question asked.

        Raises
        ------
        DataError
            If these are other comparisons than those fitted, or there are fewer than two clusters.
        NoIntervalError
            If the fit has no intervals.
        """
        c = self.comparisons
        if (comparisons.models, comparisons.judges, comparisons.n_comparisons) != (
            c.models,
            c.judges,
            c.n_comparisons,
        ):
            raise DataError("clusters are of the comparisons that were fitted, and these are others")
        _ = self.covariance  # refuses where there are no intervals
        bread = self._inverse("observed")
        if self.model.has_ties:
            comparisons = comparisons.with_ties()
        by_cluster = cluster_gradients(comparisons, self.model, self.solution.parameters, cluster)
        free = np.r_[np.ones(len(c.models), bool), self.free.ravel()]
        half = by_cluster[:, free] @ bread
        return replace(self, robust=half.T @ half * (len(half) / (len(half) - 1)))

    @cached_property
    def covariance_discrimination(self) -> np.ndarray:
        """Covariance of (s, gamma[, beta]) by the delta method (last display of the proof of theorem 3.3).

        Tie propensities nu, too, are in their own units there.
        """
        judges = self.solution.parameters.judges
        logarithmic = np.array([block.startswith("log_") for block in self.model.judge_blocks], bool)
        by_judge = np.where(logarithmic[:, None], np.exp(np.where(logarithmic[:, None], judges, 0.0)), 1.0)
        factor = np.r_[np.ones(len(self.comparisons.models)), by_judge[self.free]]
        return self.covariance * np.outer(factor, factor)

    @cached_property
    def standard_errors(self) -> np.ndarray:
        """Standard errors of scores, discriminations[, slopes], shape (N + B K,).

        NaN for judges at zero and for slopes on their bound.
        """
        n = len(self.comparisons.models)
        spread = np.sqrt(np.diag(self.covariance_discrimination))
        by_judge = np.full(self.free.shape, np.nan)
        by_judge[self.free] = spread[n:]
        return np.concatenate([spread[:n], by_judge.ravel()])

    def confidence_intervals(self, level: float = 0.95) -> pd.DataFrame:
        """Wald intervals of every free parameter: ``parameter, name, estimate, low, high``.

        `parameter` is ``score``, ``discrimination``, ``slope``, ``position`` or ``tie``. Judges at zero have NaN
        for the ends of their discrimination and slope, judges who never tie for those of
        their tie propensity, whose intervals are taken in its logarithm.
        """
        models, judges = list(self.comparisons.models), list(self.comparisons.judges)
        at = self.solution.parameters
        parameters, names, estimates = ["score"] * len(models), list(models), [at.scores]
        for block, values in zip(self.model.judge_blocks, at.judges, strict=True):
            parameters += [block.removeprefix("log_")] * len(judges)
            names += judges
            estimates.append(np.exp(values) if block.startswith("log_") else values)
        estimate = np.concatenate(estimates)
        low, high = wald(estimate, self.standard_errors, level)
        tie = np.array(parameters) == "tie"  # small ones would reach below zero
        with np.errstate(invalid="ignore"):
            ends = wald(np.zeros(tie.sum()), self.standard_errors[tie] / estimate[tie], level)
        low[tie], high[tie] = (estimate[tie] * np.exp(end) for end in ends)
        columns = {"parameter": parameters, "name": names, "estimate": estimate, "low": low, "high": high}
        rows = pd.DataFrame(columns)
        if self.model.fixed_scale:
            rows = rows[rows["parameter"] != "discrimination"].reset_index(drop=True)
        return rows

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: scores and log-discriminations in play sum to zero."""
        return len(self.scores) - 1 + int(self.free.sum()) - int(self.free[:1].any())

    def contrast(self, weights: Mapping[str, float], level: float = 0.95) -> dict[str, float]:
        """Estimate, standard error and Wald interval of a linear functional c' theta (section 3.3).

        Parameters
        ----------
        weights : mapping of str to float
            Weights of scores by model and of discriminations by judge in play; a name that is both means
            the model.

        Raises
        ------
        DataError
            If a name is neither a model nor a judge in play.
        """
        in_play = self.free[:1].any(axis=0)  # none for BTL
        names = [*self.comparisons.models, *self._judges(in_play)]
        values = np.r_[self.scores.to_numpy(), self.discrimination.to_numpy()[in_play]]
        c = np.zeros(len(self.covariance))
        for name, weight in weights.items():
            if name not in names:
                raise DataError(f"{name!r} is neither a model nor a judge with a free discrimination")
            c[names.index(name)] = weight  # models come first
        estimate = float(c[: len(values)] @ values)
        error = float(np.sqrt(c @ self.covariance_discrimination @ c))
        low, high = wald(np.array(estimate), np.array(error), level)
        return {"estimate": estimate, "standard_error": error, "low": float(low), "high": float(high)}

    def discrimination_curve(self, judge: str, covariate: np.ndarray, level: float = 0.95) -> pd.DataFrame:
        """gamma_k(z) of one judge with pointwise intervals, taken in log gamma: ``z, estimate, low, high``.

        Raises
        ------
        DataError
            If there is no such judge in play.
        """
        k = self.comparisons.judges.index(judge) if judge in self.comparisons.judges else None
        if k is None or not self.free[:1, k].any():
            raise DataError(f"{judge!r} is not a judge with a free discrimination")
        z = np.asarray(covariate, float)
        position = len(self.comparisons.models) + np.cumsum(self.free.ravel()).reshape(self.free.shape) - 1
        design = np.zeros((len(z), len(self.covariance)))
        for values, block in zip((np.ones_like(z), z), range(self.model.n_scale), strict=False):
            if self.free[block, k]:
                design[:, position[block, k]] = values
        error = np.sqrt(np.einsum("td,de,te->t", design, self.covariance, design))
        centre = np.log(self.discrimination[judge]) + self.slope[judge] * z
        low, high = wald(centre, error, level)
        return pd.DataFrame({"z": z, "estimate": np.exp(centre), "low": np.exp(low), "high": np.exp(high)})

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

    def separated_pairs(self, level: float = 0.95) -> int:
        """Number of model pairs whose score difference has an interval that leaves out zero."""
        n = len(self.comparisons.models)
        s, v = self.scores.to_numpy(), self.covariance[:n, :n]
        error = np.sqrt(np.maximum(np.add.outer(np.diag(v), np.diag(v)) - 2 * v, 0.0))
        apart = np.abs(np.subtract.outer(s, s)) > normal_quantile(level) * error
        return int(np.triu(apart, 1).sum())

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
