"""What was fitted to what: a fit's description, estimates and errors, and the comparisons behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray, UIntArray, numbered
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.rankings import pairs_in
from judgerank.engine.penalised import Penalised
from judgerank.engine.penalty import scale
from judgerank.engine.search import is_sure
from judgerank.inference.clusters import Clusters, drawn_clusters, single_judgments
from judgerank.inference.intervals import Intervals
from judgerank.model.block import Placed, Role
from judgerank.model.members import Model, Parameters


@dataclass(frozen=True, eq=False, repr=False)
class Fitted(Intervals):
    """A fitted model as data, with its covariance, intervals and contrasts; `Fit` has all else.

    Attributes
    ----------
    comparisons, model, settings, solution, effects, errors
        Those of `Intervals`.
    raw : Comparisons, optional
        What was fitted, before rows that are alike were merged.
    question : int array, shape (T,), optional
        Number of the question behind each of those.
    without : Fitted, optional
        The same without question effects, or, where there are none, without further blocks.
    remarks : tuple of str
        What to know of the judges.
    merged : mapping of str to str
        For each judge id that was merged, the one whose votes its own are part of.
    scale_weights : mapping of str to float, optional
        Of the reported scale by judge (`judgerank.order.scale`), kept when the fit was saved.
    question_keys : uint64 array, shape (Q,), optional
        Hash of each question's id, by its number: which questions two fits share.
    clusters : Clusters, optional
        The units behind the errors of `raw`, where they are not its questions.
    """

    raw: Comparisons | None = None
    question: IntArray | None = None
    without: Self | None = None
    remarks: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    scale_weights: Mapping[str, float] | None = None
    question_keys: UIntArray | None = None
    clusters: Clusters | None = None

    @property
    def blocks(self) -> tuple[Placed, ...]:
        """Further blocks, beyond the member's own."""
        return self.model.further

    @property
    def member(self) -> Self:
        """The member by itself, without further blocks and question effects."""
        model = self
        while model.without is not None:
            model = model.without
        return model

    @property
    def spread(self) -> dict[str, float]:
        """Standard deviation of every shrunk block in the units of its estimates; zero of what is left out."""
        deviations, unit = self.solution.spread or {}, scale(self.model, self.solution.parameters)[0]
        in_scores = {"scores", *(block.name for block in self.blocks if block.role is Role.QUALITY)}
        by_block = {name: tau / unit if name in in_scores else tau for name, tau in deviations.items()}
        return {**{block.name: 0.0 for block in self.blocks if block.shrunk}, **by_block}

    @property
    def _fitted_spreads(self) -> tuple[str, ...]:
        """Blocks whose standard deviations were fitted to the data."""
        settings = self.settings if isinstance(self.settings, Penalised) else Penalised()
        return tuple(name for name in self.solution.spread or {} if settings.given(name) is None)

    @property
    def sigma(self) -> float:
        """Standard deviation of an answer's quality about its model's score, in the scores' units.

        NaN if the fit has no question effects, which ``fit(..., questions="effects")`` has.
        """
        return np.nan if self.effects is None else self.effects.sigma

    @property
    def relative_sigma(self) -> float:
        """Sigma over the standard deviation of the scores: free of the scale of either; NaN where sigma is."""
        return self.sigma / float(self.scores.std(ddof=0))

    def likelihood_ratio(self) -> tuple[float, float]:
        """Twice the gain in log-likelihood over no question effects, and its p-value.

        Raises
        ------
        ConfigError
            If the fit has no question effects.
        """
        if self.effects is None:
            raise ConfigError("this fit has no question effects: fit(..., questions='effects') has them")
        return self.effects.likelihood_ratio()

    def _independent_rows(self) -> tuple[Comparisons, IntArray | None] | None:
        """The comparisons behind the fit, and, if errors are by cluster, the number of that of each.

        Those of the clusters that stand for all, where errors are from part of them. None where clusters are
        crossed, so that no comparisons are independent.
        """
        rows_and_question = super()._independent_rows()
        if rows_and_question is not None or self.raw is None:
            return rows_and_question
        if self.clusters is not None and self.clusters.are_judgments:
            n_drawn = None if self.errors.by_cluster is None else self.errors.by_cluster.shape[0]
            return single_judgments(self.model.observed(self.raw), n_drawn)[1], None
        cluster = self.question if self.clusters is None else self.clusters.labels[0]
        if cluster is None or (self.clusters is not None and self.clusters.are_crossed):
            return None
        n_clusters = self.errors.n_clusters if self.errors.flips is None else self.errors.flips.shape[0]
        labels, question = numbered(cluster)
        if len(labels) != n_clusters:
            return None
        rows = self.model.observed(self.raw)
        _, drawn = drawn_clusters(
            question, None if self.errors.by_cluster is None else self.errors.by_cluster.shape[0]
        )
        return (rows, question) if drawn is None else (rows._rows(drawn), question[drawn])

    def _require_raw(self) -> Comparisons:
        """`raw`, for who cannot do without.

        Raises
        ------
        DataError
            If it is not there.
        """
        if self.raw is None:
            raise DataError("this fit does not hold the comparisons that it was fitted to: give them beside it")
        return self.raw

    def _require_question(self) -> IntArray:
        """`question`, for who cannot do without.

        Raises
        ------
        DataError
            If it is not there.
        """
        if self.question is None:
            raise DataError(
                "the questions are not known: fit judgments with question_id, or give `question` beside them"
            )
        return self.question


# Warm start: begin a fit at a fit of fewer comparisons.
ROUNDING = 1e-9  # relative, of wins that are sums of products


def beginning(previous: Fitted, cells: Comparisons, model: Model) -> Parameters:
    """Where a climb begins: what was fitted before, by label; new models and judges at the mean of the others.

    Parameters
    ----------
    previous : Fitted
        Of any member of the family: blocks that it lacks begin at zero.
    cells : Comparisons
    model : Model
    """
    parameters, before = previous.solution.parameters, previous.comparisons
    rows = [np.zeros(len(before.judges))] * len(model.judge_blocks)
    for number, block in enumerate(model.judge_blocks):
        if block in previous.model.judge_blocks:
            rows[number] = parameters.judges[previous.model.row(block)]
    judges = np.array([_by_label(before.judges, row, cells.judges) for row in rows]).reshape(-1, len(cells.judges))
    return Parameters(_by_label(before.models, parameters.scores, cells.models), judges)


def _by_label(labels: Sequence[str], values: FloatArray, wanted: Sequence[str]) -> FloatArray:
    """Values by label, those of new labels being the mean of the finite ones."""
    finite = values[np.isfinite(values)]
    mean = float(finite.mean()) if finite.size else 0.0
    by_label = dict(zip(labels, values.tolist(), strict=True))
    return np.array([by_label.get(label, mean) for label in wanted])


def bar(previous: Fitted, cells: Comparisons, model: Model) -> float:
    """Height of the likelihood that no other maximum, of those which a search met before, can be above now.

    Further comparisons lower the log-likelihood at every point, since none has a probability above one. So it is
    the height at which the best other maximum was; infinite if nothing is known: because no search was made, or
    the fit before was of another member or of comparisons that are not all among these.
    """
    same = previous.model == model and not model.weights_vary and previous.converged
    if cells.stages is not None or not same or not contain(cells, previous.comparisons):
        return np.inf
    rival = previous.solution.rival
    if rival is not None:
        return previous.log_likelihood - rival.gap
    return np.inf if is_sure(previous.comparisons, model, previous.solution) else -np.inf


def contain(cells: Comparisons, before: Comparisons) -> bool:
    """Whether aggregated comparisons have at least the wins and losses of others in every cell.

    Of rankings, the wins and losses of every two answers.
    """
    if cells.stages is not None or before.stages is not None:
        cells, before = pairs_in(cells).aggregate(), pairs_in(before).aggregate()
    if not {*before.models} <= {*cells.models} or not {*before.judges} <= {*cells.judges}:
        return False
    index = _positions(before.models, cells.models), _positions(before.judges, cells.judges)
    n, k = len(cells.models), len(cells.judges)

    def key(first: IntArray, second: IntArray, judge: IntArray) -> IntArray:
        return (first.astype(np.int64) * n + second) * k + judge

    keys = key(cells.first, cells.second, cells.judge)
    earlier_keys = key(index[0][before.first], index[0][before.second], index[1][before.judge])
    position = np.minimum(np.searchsorted(keys, earlier_keys), len(keys) - 1)
    if not np.array_equal(keys[position], earlier_keys):
        return False
    for share in (1.0, -1.0):  # wins of the first, and of the second
        least = before.count * (before.outcome if share > 0 else 1 - before.outcome)
        now = (cells.count * (cells.outcome if share > 0 else 1 - cells.outcome))[position]
        if np.any(now < least - ROUNDING * before.count):
            return False
    return True


def _positions(labels: Sequence[str], available: Sequence[str]) -> IntArray:
    index = {label: number for number, label in enumerate(available)}
    return np.array([index[label] for label in labels], np.int64)
