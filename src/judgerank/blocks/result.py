"""A fit with blocks: estimates, intervals, tests, what each block moved, predictions, errors by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import chdtrc, fdtrc

from judgerank.blocks.maximum import Found
from judgerank.blocks.report import summary
from judgerank.blocks.testing import BlockTest, tested
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.errors import ConfigError, DataError, NoIntervalError
from judgerank.data.frames import question_name
from judgerank.engine.solution import Status
from judgerank.fits.result import FitResult
from judgerank.inference.wald import wald
from judgerank.model.block import Block, Records
from judgerank.model.kinds.category import in_category
from judgerank.model.kinds.members import blocks_of
from judgerank.order.pairs import Order, best_known_scale


@dataclass(frozen=True, eq=False, repr=False)
class BlockFit:
    """A member of the family with further blocks.

    Attributes
    ----------
    without : FitResult
        The exact fit of the member alone.
    found : Found
    records : Records
        What was fitted.
    robust : float array, shape (D', D'), optional
        Covariance of the free parameters by `clustered`.
    n_clusters : int, optional
        Behind that.
    """

    without: FitResult
    found: Found
    records: Records
    robust: FloatArray | None = None
    n_clusters: int | None = None

    @property
    def status(self) -> Status:
        return self.found.status

    @property
    def converged(self) -> bool:
        return self.status.converged

    @property
    def log_likelihood(self) -> float:
        """With shrunk blocks integrated out (Laplace)."""
        return self.found.log_likelihood

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Those beyond the member's own."""
        return self.found.problem.stacked.blocks[len(blocks_of(self.without.model)) :]

    def parameters(self, block: str) -> pd.Series:
        """Estimates of a block by what they are of.

        Raises
        ------
        ConfigError
            If there is no such block.
        """
        names = [each.name for each in self.found.problem.stacked.blocks]
        if block not in names:
            raise ConfigError(f"there is no block {block!r} in this fit (there are: {', '.join(names)})")
        design = self.found.problem.stacked.designs[names.index(block)]
        values = self.found.theta[self.found.problem.stacked.place(block)]
        return pd.Series(values, list(design.labels), name=block)

    @property
    def scores(self) -> pd.Series:
        """Zero-sum scores by model: of answers alike in all that the blocks allow for."""
        return self.parameters("scores")

    @property
    def spread(self) -> dict[str, float]:
        """Standard deviation of every shrunk block."""
        return self.found.spread

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the free parameters, in the order of the blocks, shape (D', D').

        The inverse of the expected information, a shrunk block's prior among it, its standard deviation being
        taken as known; or by question (`clustered`).

        Raises
        ------
        NoIntervalError
            If the information is singular.
        """
        return self.found.covariance(self._inverse(observed=False)) if self.robust is None else self.robust

    def _inverse(self, observed: bool) -> FloatArray:
        problem, free = self.found.problem, self.found.summit.free
        here, basis = self.found.summit.here, problem.basis(free)
        info = (here.observed_information if observed else here.expected_information)[np.ix_(free, free)]
        reduced = basis.T @ (info + np.diag(self.found.precision[free])) @ basis
        try:
            half = np.linalg.inv(np.linalg.cholesky(reduced))
        except np.linalg.LinAlgError:
            raise NoIntervalError(f"there are no intervals: the information is singular ({self.status})") from None
        root = half @ basis.T
        return root.T @ root

    def clustered(self, cluster: Sequence[object] | IntArray | None = None) -> BlockFit:
        """The same fit with errors that allow for dependence within clusters, as `FitResult.clustered` has them.

        Parameters
        ----------
        cluster : sequence, shape (T,), optional
            By default the records' questions.

        Raises
        ------
        DataError
            If there are no questions, fewer than two, or not one for each record.
        """
        labels = np.asarray(self._questions() if cluster is None else cluster)
        code, names = pd.factorize(labels)
        c, free = self.records.comparisons, self.found.summit.free
        if len(code) != len(c) or len(names) < 2:
            raise DataError(
                f"{len(c)} comparisons in {len(names)} clusters: that many labels and two clusters are needed"
            )
        here = self.found.summit.here
        by_row = here.of_comparisons(c.outcome, c.known_ties)[:, free]
        total = _sums(by_row, code, len(names))
        bread = self._inverse(observed=True)
        meat = total.T @ total * (len(names) / (len(names) - 1)) + np.diag(self.found.precision[free])
        return replace(self, robust=self.found.covariance(bread @ meat @ bread), n_clusters=len(names))

    def _questions(self) -> list[str]:
        return [question_name(one) for one in self.records.column("question_id", "errors by question")]

    @property
    def degrees_of_freedom(self) -> float:
        """Of the standard errors: infinite, or one less than the number of clusters."""
        return np.inf if self.n_clusters is None else self.n_clusters - 1.0

    def confidence_intervals(self, level: float = 0.95) -> pd.DataFrame:
        """Wald intervals: ``block, parameter, estimate, standard_error, low, high``.

        NaN for errors of what is held or zero. Logs of discriminations and propensities stay logarithms.

        Raises
        ------
        NoIntervalError
            If there is no covariance.
        ConfigError
            If the level is not between 0 and 1.
        """
        theta, free, stacked = self.found.theta, self.found.summit.free, self.found.problem.stacked
        error = np.full(len(theta), np.nan)
        error[free] = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        low, high = wald(theta, error, level, self.degrees_of_freedom)
        names = [(block.name, label) for block, design in stacked.pairs for label in design.labels]
        table = pd.DataFrame(names, columns=["block", "parameter"])
        return table.assign(estimate=theta, standard_error=error, low=low, high=high)

    def test(self, block: str) -> BlockTest:
        """Likelihood-ratio test of a block against the same fit without it.

        Raises
        ------
        ConfigError
            If there is no such block beyond the member's own.
        """
        names = [each.name for each in self.blocks]
        if block not in names:
            raise ConfigError(f"there is no further block {block!r} in this fit (there are: {', '.join(names)})")
        return tested(self.found, self.blocks[names.index(block)])

    def wald(self, block: str) -> float:
        """p-value of a block that is not shrunk being zero, by its covariance: by question after `clustered`.

        The statistic over the number of parameters is compared with F, whose second degrees of freedom are those
        of the errors.

        Raises
        ------
        ConfigError
            If there is no such block, or it is shrunk.
        NoIntervalError
            If there is no covariance.
        """
        values, place = self.parameters(block).to_numpy(), self.found.problem.stacked.place(block)
        if block in self.spread:
            raise ConfigError(f"block {block!r} is shrunk: `test` says whether it is there")
        chosen = np.zeros(len(self.found.theta), bool)
        chosen[place] = True
        mine = chosen[self.found.summit.free]
        statistic = values @ np.linalg.solve(self.covariance[np.ix_(mine, mine)], values)
        many, left = mine.sum(), self.degrees_of_freedom
        return float(chdtrc(many, statistic) if np.isinf(left) else fdtrc(many, left, statistic / many))

    def order(self, category: str | None = None) -> Order:
        """The models by falling score, for `pairs.pairwise` and `pairs.rank_intervals` (``[result.order()]``).

        Both tests of a pair are Wald's here, at the scale at which scores are known best.

        Parameters
        ----------
        category : str, optional
            Scores within it: those of all and the category's deviations.

        Raises
        ------
        ConfigError
            If there is no such category.
        NoIntervalError
            If there is no covariance.
        """
        scores, to_scores = self._in(category)
        names = np.asarray(self.records.comparisons.models, object)
        place = np.argsort(-scores, kind="stable")
        among = (to_scores @ self.covariance @ to_scores.T)[np.ix_(place, place)]
        own = np.diag(among)
        error = np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * among, 0.0))
        np.fill_diagonal(error, np.inf)
        difference = np.subtract.outer(scores[place], scores[place])
        twice = np.stack([difference] * 2), np.stack([error] * 2)
        return Order(names[place], *twice, among, self.degrees_of_freedom)

    def scores_in(self, category: str | None) -> pd.Series:
        """Scores by model within a category, or over all.

        Raises
        ------
        ConfigError
            If there is no such category.
        """
        return pd.Series(self._in(category)[0], list(self.records.comparisons.models), name="score")

    def _in(self, category: str | None) -> tuple[FloatArray, FloatArray]:
        """Scores, and their derivatives in the free parameters, shape (N, D')."""
        n, theta, free = len(self.records.comparisons.models), self.found.theta, self.found.summit.free
        scores, to_all = theta[:n].copy(), np.eye(n, len(theta))
        if category is not None:
            labels = list(self.parameters("category").index)
            wanted = in_category(self.records.comparisons.models[0], category)
            if wanted not in labels:
                raise ConfigError(f"there is no category {category!r} in this fit")
            first = self.found.problem.stacked.place("category").start + labels.index(wanted)
            scores += theta[first : first + n]
            to_all[:, first : first + n] = np.eye(n)
        to_scores = to_all[:, free]
        weights = int(free[self.found.problem.vanishing].sum())
        scale = best_known_scale(theta[:n], self.covariance, weights)[:, n : n + weights]
        to_scores[:, n : n + weights] += np.outer(scores, theta[:n] @ scale / (theta[:n] @ theta[:n]))
        return scores, to_scores

    def summary(self, level: float = 0.95) -> str:
        """What was fitted, how it ended, and what every block says and moved.

        Raises
        ------
        ConfigError
            If the level is not between 0 and 1.
        """
        return summary(self, level)

    def __repr__(self) -> str:
        c, names = self.records.comparisons, ", ".join(block.name for block in self.blocks)
        return (
            f"<BlockFit {self.without.model.name} with {names}, {self.status}: {len(c.models)} models, "
            f"{len(c.judges)} judges, {len(c)} comparisons, log-likelihood {self.log_likelihood:.2f}>"
        )


def _sums(by_row: csr_array, code: IntArray, many: int) -> FloatArray:
    sums = csr_array((np.ones(len(code)), (code, np.arange(len(code)))), shape=(many, len(code)))
    return np.asarray((sums @ by_row).toarray())
