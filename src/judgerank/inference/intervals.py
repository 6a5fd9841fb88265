"""Intervals and contrasts of a fit's estimates (section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import ConfigError, DataError, NoIntervalError
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import wald

# How many parameters a fit has, and the information criteria that count them.


@dataclass(frozen=True, eq=False)
class Criteria(Uncertainty):
    """A fit's size against its height.

    Attributes
    ----------
    comparisons, model, settings, solution, effects, robust, by_cluster, n_clusters, effective_clusters,
    effective_by_pair, of_panel
        Those of `Uncertainty`.
    """

    @property
    def aic(self) -> float:
        """Akaike's information criterion, twice the parameters less twice the log-likelihood.

        Compare it between members of the same outcomes only: those that take ties for half a win, those with ties
        as an outcome (``_ties``), and those with strength (``_graded``) have likelihoods of different events.

        Raises
        ------
        ConfigError
            If something is shrunk: its parameters do not count as one each.
        """
        return 2.0 * self._n_counted() - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's: the logarithm of the number of comparisons in place of two.

        `aic` says between which members it can be compared, and what is raised.
        """
        return float(np.log(self.comparisons.n_comparisons)) * self._n_counted() - 2.0 * self.log_likelihood

    def _n_counted(self) -> int:
        if self.solution.shrinks_scores or any(block.shrunk for block in self.model.further):
            raise ConfigError("there is no information criterion where something is shrunk: compare held-out loss")
        return self.n_parameters

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: scores and log-discriminations in play sum to zero."""
        of_model = int(self.chosen.sum()) - 1 - int(self.free[:1].any())
        return of_model + (self.effects is not None)


FURTHEST = 50.0  # of an interval's end from the estimate, in its logarithm: of a judge all but at zero


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Criteria):
    """Estimates and their covariance as tables and intervals.

    Attributes
    ----------
    comparisons, model, settings, solution, robust, by_cluster, n_clusters, effective_clusters,
    effective_by_pair, of_panel
        Those of `Uncertainty`.
    """

    def confidence_intervals(self, level: float = 0.95) -> pd.DataFrame:
        """Wald intervals of every free parameter: ``parameter, name, estimate, low, high``.

        `parameter` is ``score``, ``discrimination``, ``slope``, ``position`` or ``tie``, the name of a further
        block, or ``sigma`` and ``relative sigma`` (over the scores' standard deviation, which does not hang on the
        scale) where there are question effects. Those of discriminations, tie propensities and sigma are taken in
        the logarithm, so that they stay above zero. Judges at zero have NaN for the ends of their discrimination
        and slope, judges who never tie for those of their tie propensity, judges without a finite maximum for all
        of theirs, and sigma where it is zero.

        Shrinkage draws a judge far from the panel toward it, and intervals about the shrunk estimate do not make
        up for that: those of a judge ten times below or five times above the others hold little more
        than half of the time (``results/beyond/validity/coverage.csv``, far).

        Raises
        ------
        NoIntervalError
            If the fit has no covariance.
        ConfigError
            If the level is not between 0 and 1.
        """
        return self._table(self.standard_errors, level)[["parameter", "name", "estimate", "low", "high"]]

    conf_int = confidence_intervals

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """All estimates: ``parameter, name, estimate, standard_error, low, high, status``, one row each.

        Intervals are those of `confidence_intervals`, NaN if the fit has none. Standard errors are in the units of
        the estimates. The status of a score is that of the fit, of a judge's parameters that of the judge.

        Raises
        ------
        ConfigError
            If the level is not between 0 and 1.
        """
        try:
            errors = self.standard_errors
        except NoIntervalError:
            errors = np.full(len(self.chosen), np.nan)
        return self._table(errors, level)

    def _table(self, errors: FloatArray, level: float) -> pd.DataFrame:
        """All estimates, given their standard errors, shape (N + B K + P,)."""
        models, judges = list(self.comparisons.models), list(self.comparisons.judges)
        at, status = self.solution.parameters, self.judge_status.tolist()
        parts = [("score", models, at.scores, False, [str(self.status)] * len(models))]
        for block in self.model.blocks:
            parts.append((block.shown, judges, self.of_judges(block).to_numpy(), block.logarithmic, status))
        for extra in self.model.further:
            values = at.common[self.model.place(extra.name)]
            ended = [str(self.status)] * len(values)
            parts.append((extra.name, list(extra.labels), values, False, ended))
        parameter = [name for name, labels, *_ in parts for _ in labels]
        estimate = np.concatenate([values for _, _, values, *_ in parts])
        positive = np.concatenate([np.full(len(labels), log) for _, labels, _, log, _ in parts])
        n, degrees = len(models), self.degrees_of_freedom
        freedom = np.r_[self.degrees_of_scores, np.full(len(estimate) - n, degrees)]
        low, high = wald(estimate, errors, level, freedom)
        with np.errstate(invalid="ignore"):
            relative = errors[positive] / estimate[positive]
        ends = wald(np.zeros(len(relative)), relative, level, degrees)
        low[positive], high[positive] = estimate[positive] * np.exp(np.clip(ends, -FURTHEST, FURTHEST))
        name = [label for _, labels, *_ in parts for label in labels]
        numbers = {"estimate": estimate, "standard_error": errors, "low": low, "high": high}
        every = [ended for *_, parameters in parts for ended in parameters]
        rows = pd.DataFrame({"parameter": parameter, "name": name, **numbers, "status": every})
        if not self.model.weighs_judges:
            rows = rows[rows["parameter"] != "discrimination"].reset_index(drop=True)
        if self.effects is None:
            return rows
        return pd.concat([rows, self._sigma(level, bool(np.isfinite(errors).any()))], ignore_index=True)

    def _sigma(self, level: float, is_fixed: bool) -> pd.DataFrame:
        """Two rows on the standard deviation of question effects; ends are NaN where it is zero or not `known`."""
        assert self.effects is not None
        sigma, s, n = self.effects.sigma, self.scores.to_numpy(), len(self.scores)
        values, errors = np.array([sigma, sigma / s.std()]), np.full(2, np.nan)
        if is_fixed and self.effects.with_log_sigma is not None:
            with_sigma = self.effects.with_log_sigma
            along = -s / (s @ s)  # of log sigma - log sd(s)
            v = self.covariance[:n, :n]
            relative = with_sigma[-1] + 2 * along @ with_sigma[:n] + along @ v @ along
            errors = np.sqrt([with_sigma[-1], max(relative, 0.0)])
        low, high = wald(np.zeros(2), errors, level, self.degrees_of_freedom)
        rows = {"parameter": ["sigma", "relative sigma"], "name": ["all questions"] * 2, "estimate": values}
        ends = {"low": values * np.exp(low), "high": values * np.exp(high)}
        return pd.DataFrame(rows | {"standard_error": values * errors} | ends | {"status": str(self.status)})

    def contrast(self, weights: Mapping[str, float], level: float = 0.95) -> dict[str, float]:
        """Estimate, standard error and Wald interval of a linear functional c' theta (section 3.3).

        On the scale of the fit, like `scores`; differences in `judgerank.pairwise` are on the reported scale.

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
        in_play = np.asarray(self.free[:1].any(axis=0))  # none for BTL
        names = [*self.comparisons.models, *self._judges(in_play)]
        values = np.r_[self.scores.to_numpy(), self.discrimination.to_numpy()[in_play]]
        c = np.zeros(len(self.covariance))
        for name, weight in weights.items():
            if name not in names:
                raise DataError(f"{name!r} is neither a model nor a judge with a free discrimination")
            c[names.index(name)] = weight  # models come first
        estimate = float(c[: len(values)] @ values)
        error = float(np.sqrt(max(float(c @ self.covariance_discrimination @ c), 0.0)))
        low, high = wald(np.array(estimate), np.array(error), level, self._degrees_of(c))
        return {"estimate": estimate, "standard_error": error, "low": float(low), "high": float(high)}

    def _degrees_of(self, weights: FloatArray) -> float:
        """Degrees of freedom of a functional: the fewest of the pairs of models in it."""
        models = np.flatnonzero(weights[: len(self.comparisons.models)])
        degrees = self.degrees_of_pairs[np.ix_(models, models)]
        pairs = degrees if len(models) == 1 else degrees[np.triu_indices(len(models), 1)]
        return float(np.min(pairs, initial=self.degrees_of_freedom))

    def discrimination_curve(self, judge: str, covariate: FloatArray, level: float = 0.95) -> pd.DataFrame:
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
        for values, block in zip((np.ones_like(z), z), self.model.moving, strict=False):
            if self.free[block, k]:
                design[:, position[block, k]] = values
        error = np.sqrt(np.maximum(np.einsum("td,de,te->t", design, self.covariance, design), 0.0))
        centre = np.log(self.discrimination[judge]) + self.slope[judge] * z
        low, high = wald(centre, error, level, self.degrees_of_freedom)
        return pd.DataFrame({"z": z, "estimate": np.exp(centre), "low": np.exp(low), "high": np.exp(high)})
