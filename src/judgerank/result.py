"""A fitted member of the family: its estimates and their uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from judgerank.comparisons import Comparisons
from judgerank.errors import DataError, NoIntervalError
from judgerank.estimates import Estimates
from judgerank.inference import cluster_gradients, covariance, for_few_clusters, information, wald
from judgerank.likelihood import Curvature, evaluate
from judgerank.separation import residuals_by_cluster
from judgerank.solvers.penalised import penalty
from judgerank.solvers.runaway import penalty_alone
from judgerank.solvers.solution import Status
from judgerank.solvers.spreads import mixture

FURTHEST = 50.0  # of an interval's end from the estimate, in its logarithm: of a judge all but at zero


@dataclass(frozen=True, eq=False)
class FitResult(Estimates):
    """A fitted member of the family: its estimates, with covariance, intervals and contrasts.

    Attributes
    ----------
    comparisons, model, settings, solution
        Those of `Estimates`.
    robust : float array, shape (D, D), optional
        Covariance in place of the plug-in one; see `clustered`.
    by_cluster : sparse float array, shape (Q, K (N + B)), optional
        Residuals of every cluster, for the tests of `ranks`.
    """

    robust: np.ndarray | None = None
    by_cluster: csr_array | None = None

    @cached_property
    def free(self) -> np.ndarray:
        """The judges' free parameters, shape (B, K)."""
        in_play = self.solution.parameters.in_play
        everyone = np.ones_like(in_play)
        moving = in_play & (not self.model.fixed_scale)
        masks = {"log_discrimination": moving, "slope": in_play & ~self._slope_held, "position": everyone}
        if self.model.has_ties:
            masks["log_tie"] = np.isfinite(self.solution.parameters.judges[-1])
        return np.array([masks[block] for block in self.model.judge_blocks], bool).reshape(-1, len(in_play))

    @property
    def n_free_discriminations(self) -> int:
        """Number of discriminations that were fitted and are in play."""
        return int(self.free[:1].sum())

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance of (s, alpha[, beta][, b]) over the free parameters, shape (D, D).

        The inverse of the plug-in information, or what `clustered` put in its place. Slopes on their bound are
        taken as given. Judges without a finite maximum are shrunk alone (`solvers.runaway.shrunk_alone`), and
        that penalty counts as information on them. Standard deviations of a penalty that were fitted to the data
        are averaged over (`solvers.spreads`).

        Raises
        ------
        NoIntervalError
            If a discrimination is unbounded and nothing holds it, or the information is singular.
        """
        if self.status is Status.UNBOUNDED and self.solution.alone is None:
            names = ", ".join(self.unbounded_judges)
            raise NoIntervalError(f"there are no intervals: the discrimination of {names} is unbounded")
        if self.robust is not None:
            return self.robust
        return self._over_spreads(lambda fitted: fitted._inverse("expected"))

    def _over_spreads(self, variance: Callable[[FitResult], np.ndarray]) -> np.ndarray:
        """A covariance, shape (D, D), that allows for what is not known of the penalty's standard deviations."""
        here = self.solution.parameters
        mean = np.zeros(())
        for weight, fitted in self._mixture:
            at = fitted.solution.parameters
            away = np.r_[at.scores - here.scores, at.judges[self.free] - here.judges[self.free]]
            mean = mean + weight * (variance(fitted) + np.outer(away, away))
        return mean

    @cached_property
    def _mixture(self) -> tuple[tuple[float, FitResult], ...]:
        """This fit and those at other standard deviations of its penalty, with their weights."""
        if self.solution.spread is None:
            return ((1.0, self),)
        found = mixture(self.comparisons, self.model, self.settings, self.solution)
        return tuple((weight, replace(self, solution=solution)) for weight, solution in found)

    def _inverse(self, curvature: Curvature) -> np.ndarray:
        """Inverse of the information, the penalty's among it, in the zero-sum coordinates."""
        info = self._information(curvature) + self._penalty
        try:
            return covariance(info, len(self.comparisons.models), self.n_free_discriminations)
        except np.linalg.LinAlgError:
            raise NoIntervalError(f"there are no intervals: the information is singular ({self.status})") from None

    def _information(self, curvature: Curvature) -> np.ndarray:
        """Of the comparisons alone, shape (D, D)."""
        cells = self.comparisons if self.model.judge_blocks else self.comparisons.pool_judges()
        return information(evaluate(cells, self.model, self.solution.parameters, curvature), self.free)

    @property
    def _penalty(self) -> np.ndarray | float:
        """Precision matrix of the penalty over the free parameters, shape (D, D); zero where there is none."""
        at, n = self.solution.parameters, len(self.comparisons.models)
        if self.solution.spread is not None:
            return penalty(self.model, at, self.solution.spread)
        if self.solution.alone is None:
            return 0.0
        unbounded = np.isin(np.arange(len(self.comparisons.judges)), self.solution.unbounded_judges)
        chosen = np.r_[np.ones(n, bool), self.free.ravel()]
        return penalty_alone(at.judges, n, unbounded)[np.ix_(chosen, chosen)]

    @property
    def degrees_of_freedom(self) -> float:
        """Of the standard errors: infinite, or one less than the number of clusters."""
        return np.inf if self.by_cluster is None else self.by_cluster.shape[0] - 1.0

    def clustered(self, comparisons: Comparisons, cluster: np.ndarray) -> FitResult:
        """The same fit with a covariance that allows for dependence within clusters and for misfit.

        The sandwich B M B of the observed information's inverse B and M = sum u u', u every cluster's gradient
        (Liang and Zeger, 1986), times Q / (Q - 1) for Q clusters. Quantiles are Student's with Q - 1 degrees of
        freedom. Where there is a penalty, its precision is part of the information and of M: the mean it shrinks
        toward is one more observation. Without it what no comparison tells would seem to be known exactly. Shrunk
        fits, which are for few comparisons, also allow for few clusters (`inference.for_few_clusters`).

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
        if self.model.has_ties:
            comparisons = comparisons.with_ties()
        by_cluster = cluster_gradients(comparisons, self.model, self.solution.parameters, cluster)
        free = np.r_[np.ones(len(c.models), bool), self.free.ravel()]
        chosen = by_cluster[:, free]
        meat = chosen.T @ chosen * (len(chosen) / (len(chosen) - 1))
        if self.solution.spread is not None:
            meat += for_few_clusters(meat, self._information("expected"), self._inverse("expected"), len(chosen))

        def sandwich(fitted: FitResult) -> np.ndarray:
            bread = fitted._inverse("observed")
            return bread @ (meat + fitted._penalty) @ bread

        residuals = residuals_by_cluster(comparisons, self.model, self.solution.parameters, cluster)
        return replace(self, robust=self._over_spreads(sandwich), by_cluster=residuals)

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

        NaN for judges at zero, for slopes on their bound and for all that is an unbounded judge's own.
        """
        n = len(self.comparisons.models)
        spread = np.sqrt(np.diag(self.covariance_discrimination))
        by_judge = np.full(self.free.shape, np.nan)
        by_judge[self.free] = spread[n:]
        by_judge[:, list(self.solution.unbounded_judges)] = np.nan
        return np.concatenate([spread[:n], by_judge.ravel()])

    def confidence_intervals(self, level: float = 0.95) -> pd.DataFrame:
        """Wald intervals of every free parameter: ``parameter, name, estimate, low, high``.

        `parameter` is ``score``, ``discrimination``, ``slope``, ``position`` or ``tie``. Those of discriminations
        and tie propensities are taken in the logarithm, so that they stay above zero. Judges at zero have NaN for
        the ends of their discrimination and slope, judges who never tie for those of their tie propensity, and
        judges without a finite maximum for all of theirs.

        Shrinkage draws a judge far from the panel toward it, and intervals about the shrunk estimate do not make
        up for that: those of a judge ten times below or five times above the others hold little more
        than half of the time (``results/validity/coverage.csv``, far).
        """
        models, judges = list(self.comparisons.models), list(self.comparisons.judges)
        at = self.solution.parameters
        parameters, names, estimates = ["score"] * len(models), list(models), [at.scores]
        for block, values in zip(self.model.judge_blocks, at.judges, strict=True):
            parameters += [block.removeprefix("log_")] * len(judges)
            names += judges
            estimates.append(np.exp(values) if block.startswith("log_") else values)
        estimate = np.concatenate(estimates)
        errors, dof = self.standard_errors, self.degrees_of_freedom
        low, high = wald(estimate, errors, level, dof)
        positive = np.isin(parameters, ("discrimination", "tie"))
        with np.errstate(invalid="ignore"):
            ends = wald(np.zeros(positive.sum()), errors[positive] / estimate[positive], level, dof)
        ends = np.clip(ends, -FURTHEST, FURTHEST)
        low[positive], high[positive] = estimate[positive] * np.exp(ends)
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
        low, high = wald(np.array(estimate), np.array(error), level, self.degrees_of_freedom)
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
        low, high = wald(centre, error, level, self.degrees_of_freedom)
        return pd.DataFrame({"z": z, "estimate": np.exp(centre), "low": np.exp(low), "high": np.exp(high)})
