"""A fit with question effects: estimates, intervals, predictions, and whether there are such effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from judgerank.data.arrays import AnyArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoIntervalError
from judgerank.engine.solution import Status
from judgerank.fits import presentation, storing
from judgerank.fits.result import FitResult
from judgerank.inference.effects import QuestionEffects
from judgerank.inference.estimates import Names, _places
from judgerank.inference.residuals import residuals_by_cluster
from judgerank.inference.wald import wald
from judgerank.model.members import Parameters
from judgerank.questions.groups import grouped
from judgerank.questions.marginal import Marginal, judges_of
from judgerank.questions.maximum import SHARP, Found


@dataclass(frozen=True, eq=False, repr=False)
class QuestionFit:
    """A member of the family with a quality of its own for every answer, integrated out.

    Attributes
    ----------
    without : FitResult
        The exact fit without question effects.
    found : Found
        The maximum of the marginal likelihood.
    comparisons : Comparisons
        What was fitted, with judge ids merged if that was asked for.
    question : int array, shape (T,)
    remarks : tuple of str
        What to know of the judges.
    merged : mapping of str to str
        For each judge id that was merged, the one whose votes its own are part of.
    """

    without: FitResult
    found: Found
    comparisons: Comparisons
    question: IntArray
    remarks: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        """How the fit ended; at the boundary if sigma is zero or a judge's discrimination is."""
        return self.found.status

    @property
    def converged(self) -> bool:
        return self.status.converged

    @property
    def sigma(self) -> float:
        """Standard deviation of an answer's quality about its model's score, in the scores' units."""
        return self.found.sigma

    @property
    def relative_sigma(self) -> float:
        """Sigma over the standard deviation of the scores: free of the scale of either."""
        return self.sigma / float(self.scores.std(ddof=0))

    @property
    def log_likelihood(self) -> float:
        """The log marginal likelihood."""
        return self.found.log_likelihood

    @cached_property
    def estimates(self) -> FitResult:
        """Scores and judges as a fit without question effects has them, with their covariance here.

        Its predictions are those for a question drawn at random. Equal scores are tested by the residuals of the
        fit without question effects, by question, and quantiles are Student's with one degree of freedom less than
        there are questions.
        """
        solution = replace(self.without.solution, parameters=self.found.parameters, status=self.status, rival=None)
        if self.found.spread is None:
            return replace(self.without, solution=solution)
        at = self.without.solution.parameters
        return replace(
            self.without,
            solution=solution,
            effects=QuestionEffects(self.sigma, self.log_likelihood, at),
            robust=self.found.spread[:-1, :-1],
            by_cluster=residuals_by_cluster(self.comparisons, self.without.model, at, self.question),
        )

    @property
    def scores(self) -> pd.Series:
        """Zero-sum scores by model, on an average question."""
        return self.estimates.scores

    @property
    def discrimination(self) -> pd.Series:
        """Discriminations by judge, geometric mean one over the judges in play."""
        return self.estimates.discrimination

    @property
    def position(self) -> pd.Series:
        """Leanings towards the model shown first by judge, in log-odds."""
        return self.estimates.position

    @property
    def tie(self) -> pd.Series:
        """Tie propensities by judge."""
        return self.estimates.tie

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the scores and the judges' free parameters, shape (D, D).

        From the observed information of the marginal likelihood, sigma being estimated too. If sigma is zero it is
        that of the fit without question effects.

        Raises
        ------
        NoIntervalError
            If the information is singular.
        """
        return self.estimates.covariance

    @property
    def _whole(self) -> FloatArray:
        """Covariance with log sigma in the last row."""
        if self.found.spread is None or not np.isfinite(self.found.spread).all():
            raise NoIntervalError(f"there are no intervals: the information is singular ({self.status})")
        return self.found.spread

    def confidence_intervals(self, level: float = 0.95) -> pd.DataFrame:
        """Wald intervals of every free parameter: ``parameter, name, estimate, low, high``.

        Those of discriminations, tie propensities and sigma are taken in the logarithm. The scale of scores and
        sigma hangs on the geometric mean of the discriminations, which one weak judge can leave all but unknown;
        the row ``relative sigma`` does not. If sigma is zero the ends of its interval are NaN.

        Raises
        ------
        NoIntervalError
            If there is no covariance.
        ConfigError
            If the level is not between 0 and 1.
        """
        table = self.estimates.confidence_intervals(level)
        values, errors = np.array([self.sigma, self.relative_sigma]), np.full(2, np.nan)
        if self.sigma > 0:
            s, n = self.scores.to_numpy(), len(self.scores)
            contrast = np.zeros(len(self._whole))
            contrast[-1], contrast[:n] = 1.0, -s / (s @ s)  # of log sigma - log sd(s)
            errors = np.sqrt([self._whole[-1, -1], contrast @ self._whole @ contrast])
        low, high = wald(np.zeros(2), errors, level)
        rows = {"parameter": ["sigma", "relative sigma"], "name": ["all questions"] * 2, "estimate": values}
        sigma = pd.DataFrame(rows | {"low": values * np.exp(low), "high": values * np.exp(high)})
        return pd.concat([table, sigma], ignore_index=True)

    def likelihood_ratio(self) -> tuple[float, float]:
        """Twice the gain in log-likelihood over no question effects, and its p-value.

        Sigma is at its bound if there are none: half of chi-squared with one degree of freedom, half a point mass
        at zero (Self and Liang, 1987, case 5).
        """
        statistic = 2 * (self.log_likelihood - self.without.log_likelihood)
        return statistic, 0.5 * float(chdtrc(1, statistic)) if statistic > 0 else 1.0

    def predict(self, first: Names, second: Names, judge: Names | None = None) -> float | FloatArray:
        """P(first preferred) of models shown in this order to a judge, on a question drawn at random.

        As `FitResult.predict`, which says what is taken and raised.
        """
        return self.estimates.predict(first, second, judge)

    def log_likelihoods(self, comparisons: Comparisons, question: IntArray) -> pd.DataFrame:
        """How probable the answers to other questions are, all those of a question together.

        Ties that a judge never gave among those fitted get half a tie's chance in one comparison more.

        Parameters
        ----------
        comparisons : Comparisons
            Of the same models by the same judges; raw rows.
        question : int array, shape (T,)

        Returns
        -------
        DataFrame
            ``question, comparisons, with_effects, without``: log-likelihoods by question.

        Raises
        ------
        DataError
            If a model or a judge is not among those fitted.
        """
        c = comparisons.with_ties()
        models = _places(c.models, self.comparisons.models)[:, 0]
        judges = _places(c.judges, self.comparisons.judges)[:, 0]
        at_ours = {"first": models[c.first], "second": models[c.second], "judge": judges[c.judge]}
        labels = {"models": self.comparisons.models, "judges": self.comparisons.judges}
        here = c._rows(np.arange(len(c)), **at_ours, **labels)
        names, number = np.unique(question, return_inverse=True)
        table: dict[str, AnyArray] = {"question": names, "comparisons": np.bincount(number, c.count)}
        groups = grouped(here, number)
        ends = {"with_effects": (self.found.parameters, self.sigma)}
        ends["without"] = (self.without.solution.parameters, 0.0)
        for name, (at, sigma) in ends.items():
            at = self._tying(at)
            gamma = judges_of(self.without.model, at)[0]
            fine = Marginal.fine(groups, self.without.model, gamma, sigma, SHARP)
            table[name] = fine.values(at, sigma, len(names))
        return pd.DataFrame(table)

    def _tying(self, at: Parameters) -> Parameters:
        """With a chance of a tie for judges who gave none."""
        if not self.without.model.has_ties:
            return at
        judges = at.judges.copy()
        many = np.bincount(self.comparisons.judge, self.comparisons.count, len(self.comparisons.judges))
        judges[-1] = np.maximum(judges[-1], -np.log(many + 1))  # nu / (nu + 2) is about half of 1 / (many + 1)
        return Parameters(at.scores, judges)

    def __repr__(self) -> str:
        c = self.comparisons
        return (
            f"<QuestionFit {self.without.model.name}, {self.status}: {len(c.models)} models, "
            f"{len(c.judges)} judges, {len(np.unique(self.question))} questions, sigma {self.sigma:.3g}, "
            f"log-likelihood {self.log_likelihood:.2f}>"
        )

    @property
    def heading(self) -> list[str]:
        """What was fitted, how it ended, what the questions do, and what to know of the judges."""
        c, (statistic, p) = self.comparisons, self.likelihood_ratio()
        several = np.bincount(self.question, c.count)
        lines = [
            f"{self.without.model.name} with question effects: {len(c.models)} models, {len(c.judges)} judges, "
            f"{c.n_comparisons:.0f} comparisons of {(several > 0).sum()} questions, "
            f"{(several > 1).sum()} of them with several",
            f"status {self.status} after {self.found.iterations} iterations, log-likelihood "
            f"{self.log_likelihood:.4f}, relative gradient {self.found.relative_gradient:.1e}",
            f"without question effects {self.without.log_likelihood:.4f}: twice the gain is {statistic:.1f}, "
            f"p = {p:.2g}",
        ]
        return [*lines, *self.remarks]

    def summary(self, level: float = 0.95) -> str:
        """What was fitted, how it ended, what the questions do, and a table of every kind of parameter.

        Raises
        ------
        ConfigError
            If the level is not between 0 and 1.
        """
        return presentation.text(self.estimates, level, [*self.heading, self._sigma_told(level)])

    __str__ = summary

    def _sigma_told(self, level: float) -> str:
        if self.sigma == 0:
            return "sigma is zero: judges of one question do not err together more than chance has it"
        try:
            rows = self.confidence_intervals(level).set_index("parameter").loc[["sigma", "relative sigma"]]
        except NoIntervalError as error:
            return f"sigma {self.sigma:.3f}; {error}"
        told = [f"{row.estimate:.3f} ({row.low:.3f} to {row.high:.3f})" for row in rows.itertuples()]
        return f"sigma {told[0]}, and {told[1]} of the scores' standard deviation"

    def _repr_html_(self) -> str:
        return presentation.html(self.estimates, lines=[*self.heading, self._sigma_told(0.95)])

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Keep the fit in one file, which `judgerank.load` reads back as it was.

        A fit that was saved there is replaced, whole or not at all; another file only by force.
        """
        storing.save(self, Path(path), force=force)
