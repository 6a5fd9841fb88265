"""Intervals and contrasts of a fit's estimates (section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import ConfigError, DataError, NoIntervalError
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import two_sided, wald

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
    def llf(self) -> float:
        """Log-likelihood at the estimates: equation (5), or with question effects integrated out.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> round(result.llf, 1)
        -906.6
        """
        return self.log_likelihood

    @property
    def nobs(self) -> float:
        """Number of comparisons; not a whole number where they have weights.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> result.nobs
        1500.0
        """
        return self.comparisons.n_comparisons

    @property
    def aic(self) -> float:
        """Akaike's information criterion, twice the parameters less twice the log-likelihood.

        NaN if something is shrunk: its parameters do not count as one each (compare held-out loss). Compare it
        between members of the same outcomes only: those that take ties for half a win, those with ties as an
        outcome (``_ties``), and those with strength (``_graded``) have likelihoods of different events.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> round(result.aic, 1)
        1829.2
        >>> judgerank.fit(judgerank.example(), shrink=True).aic
        nan
        """
        return 2.0 * self._n_counted() - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's: the logarithm of the number of comparisons in place of two; NaN where `aic` is.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> round(result.bic, 1)
        1871.7
        """
        return float(np.log(self.nobs)) * self._n_counted() - 2.0 * self.log_likelihood

    @property
    def _is_shrunk(self) -> bool:
        """Whether scores or further blocks are shrunk."""
        return self.solution.shrinks_scores or any(block.shrunk for block in self.model.further)

    def _n_counted(self) -> float:
        return np.nan if self._is_shrunk else self.n_parameters

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: scores and log-discriminations in play sum to zero."""
        of_model = int(self._chosen.sum()) - 1 - int(self._free[:1].any())
        return of_model + (self.effects is not None)


RELATIVE = "relative sigma"
FURTHEST = 50.0  # of an interval's end from the estimate, in its logarithm: of a judge all but at zero


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Criteria):
    """Estimates and their covariance as tables and intervals.

    Attributes
    ----------
    comparisons, model, settings, solution, errors
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

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Wald intervals as in statsmodels: a row for each of `params`, the ends in columns 0 and 1.

        The same intervals as in `to_frame`, NaN if the fit has none.

        Parameters
        ----------
        alpha : float
            Share of intervals that may miss, below one half: 0.05 for intervals of 95%.

        Returns
        -------
        DataFrame, shape (P, 2)

        Raises
        ------
        ConfigError
            If alpha is not between 0 and 0.5.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> result.conf_int().loc[("score", "oak")].round(2).tolist()
        [0.61, 0.98]
        """
        if not 0 < alpha < 0.5:
            raise ConfigError(
                f"alpha={alpha:g} is out of range: it is the share of intervals that may miss, between 0 and 0.5 "
                "(95% intervals are conf_int(0.05), or to_frame(0.95))"
            )
        return self._labelled(1 - alpha)[["low", "high"]].set_axis([0, 1], axis=1)

    @property
    def params(self) -> pd.Series:
        """Estimates by kind of parameter and name, shape (P,); ``params["score"]`` are those of one kind, by name.

        Kinds are those of `to_frame`, on the scale of the fit.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> result.params["score"].round(2).to_dict()
        {'cedar': -0.09, 'hazel': -0.72, 'maple': 0.66, 'oak': 0.8, 'thorn': -0.92, 'willow': 0.28}
        """
        return self._labelled()["estimate"].rename(None)

    @property
    def bse(self) -> pd.Series:
        """Standard errors of `params`, shape (P,); NaN of what has none (`cov_params` says why).

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> round(float(result.bse["score", "oak"]), 2)
        0.1
        """
        return self._labelled()["standard_error"].rename(None)

    @property
    def pvalues(self) -> pd.Series:
        """Two-sided p-values of Wald tests of each of `params` by itself, shape (P,).

        The null value is zero; for discriminations and propensities, whose intervals are in the logarithm, it is
        one. NaN of what has no standard error, and of sigma, which `effects` tests. They are
        not adjusted for their number. For pairs of models use `judgerank.pairwise`, which is.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> bool(result.pvalues["score", "oak"] < 0.001)
        True
        """
        return self._labelled()["p_value"].rename(None)

    def cov_params(self) -> pd.DataFrame:
        """Covariance of `params`, labelled by them on both sides; NaN of what has no standard error.

        Returns
        -------
        DataFrame, shape (P, P)

        Raises
        ------
        NoIntervalError
            If the fit has no covariance.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> result.cov_params().shape
        (11, 11)
        """
        size = len(self._chosen) + (self.effects is not None)
        chosen, factor = np.flatnonzero(self._chosen), self._by_log
        values, fixed = np.full((size, size), np.nan), np.flatnonzero(np.isnan(self.standard_errors))
        values[np.ix_(chosen, chosen)] = self._covariance_discrimination
        if self.effects is not None and self.effects.with_log_sigma is not None:
            chosen, factor = np.r_[chosen, size - 1], np.r_[factor, self.effects.sigma]
            values[-1, chosen] = values[chosen, -1] = self.effects.with_log_sigma * factor * self.effects.sigma
        values[fixed], values[:, fixed] = np.nan, np.nan
        kinds = np.array([kind for kind, names, *_ in self._parts() for _ in names], object)
        is_param = np.ones(size, bool)
        is_param[: len(kinds)] = self.model.weighs_judges | (kinds != "discrimination")
        labels = self._labelled().index
        return pd.DataFrame(values[np.ix_(is_param, is_param)], labels, labels)

    def _labelled(self, level: float = 0.95) -> pd.DataFrame:
        """All estimates by kind and name, but for the relative sigma, which follows from others."""
        rows = self._table(self._errors, level)
        return rows[rows["parameter"] != RELATIVE].set_index(["parameter", "name"])

    @property
    def _errors(self) -> FloatArray:
        """Standard errors of all estimates, NaN if the fit has no covariance."""
        try:
            return self.standard_errors
        except NoIntervalError:
            return np.full(len(self._chosen), np.nan)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """All estimates: ``parameter, name, estimate, standard_error, low, high, status``, one row each.

        Intervals are those of `confidence_intervals`, NaN if the fit has none. Standard errors are in the units of
        the estimates. The status of a score is that of the fit, of a judge's parameters that of the judge.

        Raises
        ------
        ConfigError
            If the level is not between 0 and 1.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> list(result.to_frame())
        ['parameter', 'name', 'estimate', 'standard_error', 'low', 'high', 'status']
        """
        return self._table(self._errors, level).drop(columns="p_value")

    def _parts(self) -> list[tuple[str, list[str], FloatArray, bool, list[str]]]:
        """By kind of parameter: its name, labels, estimates, whether intervals are in its logarithm, statuses."""
        models, judges = list(self.comparisons.models), list(self.comparisons.judges)
        parameters, status = self.solution.parameters, self.judge_status.tolist()
        parts = [("score", models, parameters.scores, False, [str(self.status)] * len(models))]
        for block in self.model.blocks:
            parts.append((block.shown, judges, self._of_judges(block).to_numpy(), block.logarithmic, status))
        for extra in self.model.further:
            values = parameters.common[self.model.place(extra.name)]
            ended = [str(self.status)] * len(values)
            parts.append((extra.name, list(extra.labels), values, False, ended))
        return parts

    def _table(self, errors: FloatArray, level: float) -> pd.DataFrame:
        """All estimates, given their standard errors, shape (N + B K + P,), with p-values last."""
        parts = self._parts()
        parameter = [name for name, labels, *_ in parts for _ in labels]
        estimate = np.concatenate([values for _, _, values, *_ in parts])
        positive = np.concatenate([np.full(len(labels), log) for _, labels, _, log, _ in parts])
        n, degrees = len(self.comparisons.models), self.degrees_of_freedom
        freedom = np.r_[self.degrees_of_scores, np.full(len(estimate) - n, degrees)]
        low, high = wald(estimate, errors, level, freedom)
        with np.errstate(invalid="ignore", divide="ignore"):
            relative = errors[positive] / estimate[positive]
            statistic = estimate / errors
            statistic[positive] = np.log(estimate[positive]) / relative
        ends = wald(np.zeros(len(relative)), relative, level, degrees)
        low[positive], high[positive] = estimate[positive] * np.exp(np.clip(ends, -FURTHEST, FURTHEST))
        name = [label for _, labels, *_ in parts for label in labels]
        numbers = {"estimate": estimate, "standard_error": errors, "low": low, "high": high}
        every = [ended for *_, parameters in parts for ended in parameters]
        rows = pd.DataFrame({"parameter": parameter, "name": name, **numbers, "status": every})
        rows["p_value"] = two_sided(statistic, freedom)
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
        rows = {"parameter": ["sigma", RELATIVE], "name": ["all questions"] * 2, "estimate": values}
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

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> lead = result.contrast({"oak": 1, "thorn": -1})
        >>> round(lead["estimate"], 2), round(lead["standard_error"], 2)
        (1.72, 0.16)
        """
        in_play = np.asarray(self._free[:1].any(axis=0))  # none for BTL
        names = [*self.comparisons.models, *self._judges(in_play)]
        values = np.r_[self.scores.to_numpy(), self.discrimination.to_numpy()[in_play]]
        c = np.zeros(len(self.covariance))
        for name, weight in weights.items():
            if name not in names:
                raise DataError(f"{name!r} is neither a model nor a judge with a free discrimination")
            c[names.index(name)] = weight  # models come first
        estimate = float(c[: len(values)] @ values)
        error = float(np.sqrt(max(float(c @ self._covariance_discrimination @ c), 0.0)))
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
        if k is None or not self._free[:1, k].any():
            raise DataError(f"{judge!r} is not a judge with a free discrimination")
        z = np.asarray(covariate, float)
        position = len(self.comparisons.models) + np.cumsum(self._free.ravel()).reshape(self._free.shape) - 1
        design = np.zeros((len(z), len(self.covariance)))
        for values, block in zip((np.ones_like(z), z), self.model.moving, strict=False):
            if self._free[block, k]:
                design[:, position[block, k]] = values
        error = np.sqrt(np.maximum(np.einsum("td,de,te->t", design, self.covariance, design), 0.0))
        centre = np.log(self.discrimination[judge]) + self.slope[judge] * z
        low, high = wald(centre, error, level, self.degrees_of_freedom)
        return pd.DataFrame({"z": z, "estimate": np.exp(centre), "low": np.exp(low), "high": np.exp(high)})
