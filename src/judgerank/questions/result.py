"""A fit with question effects: estimates, intervals, predictions, and whether there are such effects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from judgerank import presentation
from judgerank.arrays import AnyArray, FloatArray, IntArray
from judgerank.comparisons import Comparisons
from judgerank.errors import DataError, NoIntervalError
from judgerank.estimates import Names, _places
from judgerank.inference import wald
from judgerank.likelihood import Law
from judgerank.model import Parameters
from judgerank.questions.groups import grouped
from judgerank.questions.marginal import Marginal, judges_of
from judgerank.questions.maximum import SHARP, Found
from judgerank.questions.quadrature import rule
from judgerank.result import FitResult
from judgerank.solvers.solution import Status

PREDICTED = 0.09  # step of the rule that predictions are averaged by


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
    """

    without: FitResult
    found: Found
    comparisons: Comparisons
    question: IntArray
    remarks: tuple[str, ...] = ()

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

        Its predictions are those for an average question, and its log-likelihood is not this fit's.
        """
        solution = replace(self.without.solution, parameters=self.found.parameters, status=self.status, rival=None)
        return replace(self.without, solution=solution, robust=None if self.sigma == 0 else self._whole[:-1, :-1])

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

        Without a judge, to one drawn from the panel; ties count for neither model.

        Parameters
        ----------
        first, second : str or sequence of str
            Models, shown first and second. Single names go with any number of others.
        judge : str or sequence of str, optional

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
        i, j = _places(first, models), _places(second, models)
        k = np.arange(len(judges)) if judge is None else _places(judge, judges)
        try:
            i, j, k = np.broadcast_arrays(i, j, k)
        except ValueError:
            raise DataError("first, second and judge must be as many, or single ones") from None
        law, weights = self._law(i, j, k)
        preferred = ((law.mean - law.tie / 2) @ weights).mean(axis=-1)
        return float(preferred) if preferred.ndim == 0 else preferred

    def _law(self, first: IntArray, second: IntArray, judge: IntArray) -> tuple[Law, FloatArray]:
        """Law of outcomes at the nodes of a question's effect, on a last axis, and the nodes' weights."""
        deviates, weights = rule(PREDICTED, 2)
        at = self.found.parameters
        gamma, position, nu = (values[judge][..., None] for values in judges_of(self.without.model, at))
        apart = (at.scores[first] - at.scores[second])[..., None] + self.sigma * (deviates[0] - deviates[1])
        return Law(gamma * apart + position, nu), np.exp(weights)

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

    def summary(self, level: float = 0.95) -> str:
        """What was fitted, how it ended, what the questions do, and a table of every kind of parameter.

        Raises
        ------
        ConfigError
            If the level is not between 0 and 1.
        """
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
        if self.sigma == 0:
            lines.append("sigma is zero: judges of one question do not err together more than chance has it")
        else:
            rows = self.confidence_intervals(level).set_index("parameter").loc[["sigma", "relative sigma"]]
            told = [f"{row.estimate:.3f} ({row.low:.3f} to {row.high:.3f})" for row in rows.itertuples()]
            lines.append(f"sigma {told[0]}, and {told[1]} of the scores' standard deviation")
        parts = ["\n".join([*lines, *self.remarks])]
        for title, table in presentation.tables(self.estimates, level):
            parts.append(f"{title}\n{table.to_string(index=False, float_format='%.3f', na_rep='')}")
        return "\n\n".join(parts)

    __str__ = summary
