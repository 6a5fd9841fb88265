"""Covariance of a fit's estimates: model-based, or clustered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, NoIntervalError
from judgerank.engine.information import covariance, information
from judgerank.engine.likelihood import Curvature, evaluate
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised, mixture, penalty_alone
from judgerank.engine.penalty import flat, penalty
from judgerank.engine.problem import moving
from judgerank.engine.solution import Solution, Status
from judgerank.inference.clusters import (
    crossing,
    drawn_clusters,
    effective_by_pair,
    effective_number,
    for_few_clusters,
    information_by_cluster,
    residuals_by_cluster,
    single_judgments,
    squares_by_cluster,
    sums_and_products,
    two_way,
)
from judgerank.inference.predictions import Predictions
from judgerank.inference.score_sizes import ScoreSizes
from judgerank.inference.taste_errors import (
    degrees_of_tastes,
    has_tastes,
    panel_means,
    shared_with_tastes,
    variances_of_pairs,
)
from judgerank.model.block import Role
from judgerank.model.naming import at_mean, movable

MOST_PARAMETERS = 3_000  # of which a covariance is kept: its inverse takes seconds, and time grows as their cube


@dataclass(frozen=True, eq=False)
class Errors:
    """What the covariance, the intervals and the tests of a fit are computed from.

    Attributes
    ----------
    robust : float array, shape (D, D), optional
        Covariance in place of the plug-in one; see `Uncertainty.clustered`.
    meat : float array, shape (D, D), optional
        Sum of squares of the clusters' gradients behind `robust`, with what few clusters leave out.
    by_cluster : sparse float array, shape (Q, K (N + B)), optional
        Residuals of every cluster, for the tests of `judgerank.order.pairs`.
    n_clusters : int, optional
        Number of clusters behind `robust`, whether or not their residuals were kept.
    effective_clusters : float, optional
        How many of equal size these count as (`inference.clusters.effective_number`).
    effective_by_pair : float array, shape (N, N), optional
        The same of the clusters behind each difference of scores (`inference.clusters.effective_by_pair`).
    of_panel : bool
        With a block ``taste``: whether errors are those of the judges' own mean (`inference.taste_errors`).
    flips : sparse float array, shape (Q, N N), optional
        Leads by question, for the tests of few questions (`judgerank.order.flips`).
    across : two sparse float arrays, shapes (R, K (N + B)) and (C, K (N + B)), optional
        Where clusters are crossed: residuals of the second clusters, and of pairs of both.
    flips_across : sparse float array, shape (R, N N), optional
        Leads by the second of two crossed clusters.
    tastes : float
        Standard deviation of judges' tastes that errors allow for, in log-odds (`_for_judges_like_these`).
    panel : Uncertainty, optional
        The fit with the errors of this panel, where `tastes` are allowed for.
    sizes : ScoreSizes, optional
        Differences of scores behind the comparisons, where scores and errors are by these
        (`inference.score_sizes`).
    """

    robust: FloatArray | None = None
    meat: FloatArray | None = None
    by_cluster: csr_array | None = None
    n_clusters: int | None = None
    effective_clusters: float | None = None
    effective_by_pair: FloatArray | None = None
    of_panel: bool = False
    flips: csr_array | None = None
    across: tuple[csr_array, csr_array] | None = None
    flips_across: csr_array | None = None
    tastes: float = 0.0
    panel: Uncertainty | None = None
    sizes: ScoreSizes | None = None


@dataclass(frozen=True, eq=False)
class Uncertainty(Predictions):
    """Estimates with their covariance.

    Attributes
    ----------
    comparisons, model, settings, solution, effects
        Those of `Estimates`.
    errors : Errors
        What their covariance is computed from.
    """

    errors: Errors = Errors()

    def _with_errors(self, **changes: Any) -> Self:
        """The same fit, some of its `errors` being others."""
        return replace(self, errors=replace(self.errors, **changes))

    @cached_property
    def _free(self) -> BoolArray:
        """The judges' free parameters, shape (B, K)."""
        in_play = self.solution.parameters.in_play
        weighed = in_play & self.model.weighs_judges & ~self._at_mean
        masks = []
        moves = movable(self.model, self.solution.parameters)
        for block, moved_judges in zip(self.model.blocks, moves, strict=True):
            if block.role is Role.WEIGHT:
                masks.append(weighed if block.column is None else in_play & ~self._slope_held)
            else:
                masks.append(moved_judges)  # a judge who never ties has none
        return np.array(masks, bool).reshape(-1, len(in_play))

    @cached_property
    def _at_mean(self) -> BoolArray:
        """Judges whose discrimination is held at the mean of the others' (`Comparisons.at_mean`), shape (K,)."""
        held = at_mean(self.model, self.comparisons)
        return held if isinstance(self.settings, Newton | Penalised) else np.zeros_like(held)

    @property
    def _n_free_discriminations(self) -> int:
        """Number of discriminations that were fitted and are in play."""
        return int(self._free[:1].sum())

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of (s, alpha[, beta][, b]) over the free parameters, shape (D, D).

        The inverse of the plug-in information, or what `clustered` put in its place. Slopes on their bound are
        taken as given. Judges without a finite maximum are shrunk alone (`engine.penalised.shrunk_alone`), and
        that penalty counts as information on them. Standard deviations of a penalty that were fitted to the data
        are averaged over (`engine.hyperparameter_uncertainty`).

        Raises
        ------
        NoIntervalError
            If a discrimination is unbounded and nothing holds it, the information is singular, or there are too
            many parameters.
        """
        return self._as_panel(
            self._over_spreads() if self.errors.robust is None else self._finite(self.errors.robust)
        )

    def _finite(self, robust: FloatArray) -> FloatArray:
        """A covariance that was given."""
        if not np.isfinite(robust).all():  # of question effects at a saddle
            raise NoIntervalError(f"there are no intervals: the information is singular ({self.status})")
        return robust

    def _as_panel(self, covariance: FloatArray) -> FloatArray:
        """A covariance, shape (D, D), as this panel's, where errors are those of its own mean."""
        if not self.errors.of_panel:
            return covariance
        to_panel = panel_means(self.model, self.solution.parameters, self._chosen)
        return to_panel @ covariance @ to_panel.T

    @property
    def _has_many_parameters(self) -> bool:
        """Whether there are more than `MOST_PARAMETERS`, so that there are no intervals."""
        return len(self.comparisons.models) + int(self._free.sum()) > MOST_PARAMETERS

    def _require_few_parameters(self) -> None:
        if self._has_many_parameters:
            n_parameters = len(self.comparisons.models) + int(self._free.sum())
            raise NoIntervalError(
                f"there are no intervals: {n_parameters:,} parameters are more than the {MOST_PARAMETERS:,} of "
                "which a covariance is kept (rank fewer models, or the judges in groups)"
            )

    def _over_spreads(self) -> FloatArray:
        """A covariance, shape (D, D), that allows for what is not known of the penalty's standard deviations."""
        mode = self.solution.parameters
        mean = np.zeros(())
        for weight, fitted in self._by_spread:
            parameters = fitted.solution.parameters
            away = flat(parameters)[self._chosen] - flat(mode)[self._chosen]
            mean = mean + weight * (fitted._at_its_spread + np.outer(away, away))
        return mean

    @cached_property
    def _at_its_spread(self) -> FloatArray:
        """The covariance, shape (D, D), as if the penalty's standard deviations were known."""
        self._require_few_parameters()
        if self.errors.meat is None:
            expected = (
                self._inverse("expected") if self.errors.robust is None else self._finite(self.errors.robust)
            )
            return self.dispersion * expected if self.errors.robust is None else expected
        bread = self._inverse("observed")
        covariance = bread @ (self.errors.meat + self.dispersion * self._penalty) @ bread
        # judges who answer as one in every cluster do not differ at all, to within rounding
        np.fill_diagonal(covariance, np.maximum(np.diag(covariance), 0.0))
        return covariance

    @cached_property
    def _by_spread(self) -> tuple[tuple[float, Self], ...]:
        """This fit and those at other standard deviations of its penalty, with their weights."""
        if self.solution.spread is None or not isinstance(self.settings, Penalised):
            return ((1.0, self),)
        components = mixture(self.comparisons, self.model, self.settings, self.solution)
        return tuple((weight, self._conditional_fit(solution)) for weight, solution in components)

    def _conditional_fit(self, solution: Solution) -> Self:
        """This fit at other standard deviations of its penalty.

        Gradients in the scores are in proportion to discriminations, and so is the root of the information.
        """
        conditional_fit = replace(self, solution=solution)
        if self.errors.meat is None or solution is self.solution:
            return conditional_fit
        n = len(self.comparisons.models)
        trace, two = (np.trace(fit._information("expected")[:n, :n]) for fit in (self, conditional_fit))
        times = np.ones(len(self.errors.meat))
        times[:n] = np.sqrt(two / max(trace, np.finfo(float).tiny))
        return conditional_fit._with_errors(meat=self.errors.meat * np.outer(times, times))

    def _inverse(self, curvature: Curvature) -> FloatArray:
        """Inverse of the information, the penalty's among it, in the zero-sum coordinates.

        With a penalty, of the expected one where the observed one is not positive definite.

        Raises
        ------
        NoIntervalError
            If a discrimination is unbounded and nothing holds it, or the information is singular.
        """
        if self.status is Status.UNBOUNDED and self.solution.alone is None:
            names = ", ".join(self.unbounded_judges)
            raise NoIntervalError(f"there are no intervals: the discrimination of {names} is unbounded")
        info = self._information(curvature) + self._penalty
        try:
            return covariance(info, len(self.comparisons.models), self._n_free_discriminations)
        except np.linalg.LinAlgError:
            if curvature == "observed" and self.solution.spread is not None:  # at far standard deviations
                return self._inverse("expected")
            raise NoIntervalError(f"there are no intervals: the information is singular ({self.status})") from None

    def _information(self, curvature: Curvature) -> FloatArray:
        """Of the comparisons alone, shape (D, D)."""
        stored = self.solution.expected if curvature == "expected" else None
        if stored is None:
            alike = not (self.model.judge_blocks or self.model.further)
            cells = self.comparisons.pool_judges() if alike else self.comparisons
            stored = evaluate(cells, self.model, self.solution.parameters, curvature, at_zero=False)
        return information(stored, self._free, self._free_common)

    @property
    def _penalty(self) -> FloatArray | float:
        """Precision matrix of the penalty over the free parameters, shape (D, D); zero where there is none.

        It is times the dispersion, as the penalty goes with a likelihood that counts every comparison once.
        """
        parameters, n = self.solution.parameters, len(self.comparisons.models)
        if self.solution.spread is not None:
            precision = penalty(self.model, parameters, self.solution.spread)
            return self.dispersion * precision[np.ix_(self._chosen, self._chosen)]
        if self.solution.alone is None:
            return 0.0
        unbounded = np.isin(np.arange(len(self.comparisons.judges)), self.solution.unbounded_judges)
        precision = penalty_alone(parameters.judges, n, unbounded, self.solution.alone)
        return precision[np.ix_(self._chosen, self._chosen)]

    @property
    def degrees_of_freedom(self) -> float:
        """Of the standard errors: infinite, effective number of clusters less one, or those of a block of tastes.

        One at least, however much one cluster has. Tastes that errors allow for are in `degrees_of_pairs` alone.
        """
        of_tastes = np.inf
        if not self.errors.tastes and self._speaks_of_judges_like_these:
            of_tastes = degrees_of_tastes(self.model, self._free, len(self.comparisons.models))
        n_effective = (
            self.errors.effective_clusters or self.errors.n_clusters
        )  # a fit saved before has the second alone
        if n_effective is not None:
            return min(max(n_effective - 1.0, 1.0), of_tastes)
        if self.errors.by_cluster is not None:
            return min(self.errors.by_cluster.shape[0] - 1.0, of_tastes)
        return of_tastes

    @cached_property
    def degrees_of_pairs(self) -> FloatArray:
        """Of the errors of differences of scores, and, on the diagonal, of scores, shape (N, N); at least one.

        No more than `degrees_of_freedom`: fewer where few clusters compared the models, and where tastes of few
        judges are a large part of the variance (Satterthwaite, 1946).
        """
        if self.errors.sizes is not None:
            return self.errors.sizes.degrees
        n, degrees = len(self.comparisons.models), self.degrees_of_freedom
        if self.errors.panel is not None:
            both, panel = (variances_of_pairs(fit.covariance[:n, :n]) for fit in (self, self.errors.panel))
            of_tastes = degrees_of_tastes(self.model, self._free, n)
            parts = panel**2 / self.errors.panel.degrees_of_pairs + np.maximum(both - panel, 0.0) ** 2 / of_tastes
            by_pair = np.divide(both**2, parts, out=np.full_like(both, np.inf), where=parts > 0)
            return np.minimum(np.maximum(by_pair, 1.0), degrees)
        if self.errors.effective_by_pair is None:
            return np.full((n, n), degrees)
        return np.minimum(np.maximum(self.errors.effective_by_pair - 1.0, 1.0), degrees)

    @property
    def degrees_of_scores(self) -> FloatArray:
        """Of the errors of scores, shape (N,)."""
        return np.diag(self.degrees_of_pairs)

    def _behind_pairs(self, sums: FloatArray, products: FloatArray) -> FloatArray:
        """Effective numbers by `clusters.effective_by_pair`, the penalty of this fit allowed for; shape (N, N)."""
        prior = np.diag(self._penalty)[: len(sums)] if np.ndim(self._penalty) else 0.0
        return effective_by_pair(sums, products, prior)

    @cached_property
    def _of_tests(self) -> Self:
        """This fit with the errors that tests of pairs take: with sign flips, those of independent comparisons."""
        if self.errors.flips is None or self.errors.meat is None:
            return self
        errors = Errors(
            of_panel=self.errors.of_panel, flips=self.errors.flips, flips_across=self.errors.flips_across
        )
        plain = self._at_same_spreads(replace(self, errors=errors))
        return plain._for_judges_like_these(self.errors.tastes) if self.errors.tastes else plain

    def _at_same_spreads(self, other: Self) -> Self:
        """Another fit with the same estimates, at the standard deviations of the penalty that this one has."""
        vars(other)["_by_spread"] = tuple(
            (weight, other._conditional_fit(conditional_fit.solution))
            for weight, conditional_fit in self._by_spread
        )
        return other

    @property
    def _is_robust(self) -> bool:
        """Whether errors are not those of the model: by cluster, or of question effects."""
        return (self if self.errors.panel is None else self.errors.panel).errors.robust is not None

    @property
    def _speaks_of_judges_like_these(self) -> bool:
        """Whether errors allow for the tastes that the judges of this panel happen to have."""
        return self.errors.tastes > 0 or (not self.errors.of_panel and has_tastes(self.model, self._chosen))

    def _for_judges_like_these(self, tastes: float) -> Self:
        """The same fit with errors that allow for judges' tastes of a standard deviation, in log-odds.

        A taste t_ki of judge k for model i moves what the judge is expected to answer, and so the gradient, by
        h_ki t_ki, h_ki being the information that the parameters share with it. So the sandwich's M gets
        tastes^2 sum h h', besides what it has of comparisons: those of the model where none are clustered.
        """
        shared = shared_with_tastes(self.comparisons, self.model, self.solution.parameters)[self._chosen]
        meat = self.dispersion * self._information("expected") if self.errors.meat is None else self.errors.meat
        wider = self._with_errors(meat=meat + tastes**2 * shared @ shared.T, tastes=tastes, panel=self)
        wider = self._at_same_spreads(wider)
        robust_fit = wider._with_errors(robust=wider._over_spreads())
        vars(robust_fit)["_by_spread"] = wider._by_spread
        return robust_fit

    def clustered(
        self,
        comparisons: Comparisons,
        cluster: IntArray | tuple[IntArray, IntArray] | str,
        most: int | None = None,
    ) -> Self:
        """The same fit with a covariance that allows for dependence within clusters and for misfit.

        The sandwich B M B of the observed information's inverse B and M = sum u u', u every cluster's gradient
        (Liang and Zeger, 1986), times Q / (Q - 1) for Q clusters. Intervals use Student's t, whose degrees of
        freedom are the effective number of clusters (`clusters.effective_number`) less one; those of scores and
        their differences count the clusters behind them alone (`clusters.effective_by_pair`). Where there is a
        penalty, its precision is part of the information and, times the dispersion, of M: the mean it shrinks
        toward is one more observation. Without it what no comparison tells would seem to be known exactly. Shrunk
        fits, which are for few comparisons, also allow for few clusters (`clusters.for_few_clusters`).

        Of two crossed clusters M is that of `clusters.two_way`, each sum with its own Q / (Q - 1), and the smaller
        effective number counts.

        Parameters
        ----------
        comparisons : Comparisons
            The raw comparisons behind the fit.
        cluster : int array, shape (T,), or "judgment"
            Cluster of each of them, such as the question asked; or each judgment by itself, so that a row
            that counts for several is as many clusters. Two arrays are crossed clusters.
        most : int, optional
            How many clusters M is summed over. Of more, that many drawn at random stand for all: their sum is
            multiplied by Q over their number, and so are the squares of their residuals. All by default.

        Raises
        ------
        DataError
            If these are other comparisons than those fitted, or there are fewer than two clusters.
        NoIntervalError
            If the fit has no intervals.
        """
        self._require_few_parameters()
        comparisons, parameters = self.model.observed(comparisons), self.solution.parameters
        self._require_fitted(comparisons.models, comparisons.judges, comparisons.n_comparisons)
        if isinstance(cluster, tuple):
            return self._clustered_two_ways(comparisons, *cluster)
        if isinstance(cluster, str):
            n_drawn, comparisons = single_judgments(comparisons, most)
            cluster = np.arange(len(comparisons))
            effective = float(n_drawn or len(cluster))
        else:
            effective = effective_number(cluster, comparisons.count)
            n_drawn, rows = drawn_clusters(cluster, most)
            if rows is not None:
                comparisons, cluster = comparisons._rows(rows), cluster[rows]
        squares, counted = squares_by_cluster(comparisons, self.model, parameters, cluster, self._chosen)
        times = 1.0 if n_drawn is None else n_drawn / counted
        information = times * information_by_cluster(comparisons, self.model, parameters, cluster)
        by_pair = self._behind_pairs(*sums_and_products(information))
        residuals = residuals_by_cluster(comparisons, self.model, parameters, cluster) * np.sqrt(times)
        return self._sandwiched(times * squares, n_drawn or counted, residuals, effective, by_pair)

    def _clustered_two_ways(self, comparisons: Comparisons, first: IntArray, second: IntArray) -> Self:
        """`clustered` by crossed clusters; the comparisons are as the model observes them."""
        parameters, model = self.solution.parameters, self.model
        both = (first, second, crossing(first, second))
        meats, numbers, residuals = [], [], []
        for cluster in both:
            squares, n_clusters = squares_by_cluster(comparisons, model, parameters, cluster, self._chosen)
            meats.append(squares * (n_clusters / (n_clusters - 1)))
            numbers.append(n_clusters)
            residuals.append(residuals_by_cluster(comparisons, model, parameters, cluster))
        meat = two_way(meats[0], meats[1], meats[2], np.diag(self._information("expected") + self._penalty))
        behind = [
            self._behind_pairs(*sums_and_products(information_by_cluster(comparisons, model, parameters, cluster)))
            for cluster in (first, second)
        ]
        effective = min(effective_number(cluster, comparisons.count) for cluster in (first, second))
        robust_fit = self._with_meat(meat, min(numbers[:2]), residuals[0], effective, np.minimum(*behind))
        return robust_fit._with_errors(across=(residuals[1], residuals[2]))

    def _independent_rows(self) -> tuple[Comparisons, IntArray | None] | None:
        """The comparisons behind the fit, and the cluster of each, if errors are by cluster; None if not held."""
        return (self.comparisons, None) if self.errors.robust is None and self.errors.flips is None else None

    def _require_fitted(self, models: tuple[str, ...], judges: tuple[str, ...], n_comparisons: float) -> None:
        """Refuse comparisons that are not those that were fitted, as far as names and numbers tell.

        Raises
        ------
        DataError
            If they are not.
        """
        c = self.comparisons
        alike = (models, judges) == (c.models, c.judges)
        if not (alike and np.isclose(n_comparisons, c.n_comparisons, rtol=1e-9, atol=0.0)):  # weights round
            raise DataError("clusters are of the comparisons that were fitted, and these are others")

    @cached_property
    def _chosen(self) -> BoolArray:
        """Which of scores, judges' parameters and those of further blocks are free, shape (N + B K + P,)."""
        return np.r_[np.ones(len(self.comparisons.models), bool), self._free.ravel(), self._free_common]

    @cached_property
    def _free_common(self) -> BoolArray:
        """The free parameters of further blocks, shape (P,)."""
        return moving(self.model, self.solution.spread)

    def _sandwiched(
        self,
        squares: FloatArray,
        n_clusters: int,
        by_cluster: csr_array | None = None,
        effective: float | None = None,
        by_pair: FloatArray | None = None,
    ) -> Self:
        """The same fit with the covariance of `clustered`.

        Parameters
        ----------
        squares : float array, shape (D, D)
            Sum of u u' over the clusters' gradients u of the free parameters.
        n_clusters : int
            Q.
        by_cluster : sparse float array, shape (Q, K (N + B)), optional
            Their residuals.
        effective : float, optional
            Their effective number; Q by default.
        by_pair : float array, shape (N, N), optional
            That of those behind each difference of scores.

        Raises
        ------
        NoIntervalError
            If the fit has no intervals.
        """
        return self._with_meat(
            squares * (n_clusters / (n_clusters - 1)), n_clusters, by_cluster, effective, by_pair
        )

    def _with_meat(
        self,
        meat: FloatArray,
        n_clusters: int,
        by_cluster: csr_array | None,
        effective: float | None,
        by_pair: FloatArray | None,
    ) -> Self:
        """`_sandwiched`, given M."""
        if self.solution.shrinks_scores:
            info, inverse = self._information("expected"), self._inverse("expected")
            meat = meat + for_few_clusters(meat, info, inverse, n_clusters, self.dispersion)

        of_equal_size = float(n_clusters) if effective is None else effective
        counted = self._with_errors(
            n_clusters=n_clusters, effective_clusters=of_equal_size, effective_by_pair=by_pair, meat=meat
        )
        counted = self._at_same_spreads(counted)  # the same estimates: fitted once
        robust_fit = counted._with_errors(robust=counted._over_spreads(), by_cluster=by_cluster)
        vars(robust_fit)["_by_spread"] = counted._by_spread
        return robust_fit

    @cached_property
    def _covariance_discrimination(self) -> FloatArray:
        """Covariance of (s, gamma[, beta], nu) by the delta method (last display of the proof of theorem 3.4)."""
        return self.covariance * np.outer(self._by_log, self._by_log)

    @property
    def _by_log(self) -> FloatArray:
        """Derivatives of the free parameters in the coordinates of `covariance`, some of them logarithms; (D,)."""
        judges = self.solution.parameters.judges
        logarithmic = np.array([block.logarithmic for block in self.model.blocks], bool)
        by_judge = np.where(logarithmic[:, None], np.exp(np.where(logarithmic[:, None], judges, 0.0)), 1.0)
        common = np.ones(int(self._free_common.sum()))
        return np.r_[np.ones(len(self.comparisons.models)), by_judge[self._free], common]

    @cached_property
    def standard_errors(self) -> FloatArray:
        """Standard errors of scores, discriminations[, slopes], further blocks, shape (N + B K + P,).

        NaN for judges at zero, for slopes on their bound, for what is held and for an unbounded judge's own.
        """
        n, errors = len(self.comparisons.models), np.full(len(self._chosen), np.nan)
        errors[self._chosen] = np.sqrt(np.diag(self._covariance_discrimination))
        by_judge = errors[n : n + self._free.size].reshape(self._free.shape)
        by_judge[:, list(self.solution.unbounded_judges)] = np.nan
        return errors
