"""What was fitted to what: a fit's description, estimates and errors, and the comparisons behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from judgerank.data.arrays import IntArray, UIntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.numbering import numbered
from judgerank.engine.penalised import Penalised
from judgerank.engine.penalty import scale
from judgerank.inference.clusters import drawn_clusters
from judgerank.inference.effects import QuestionEffects
from judgerank.inference.intervals import Intervals
from judgerank.model.block import Placed, Role


@dataclass(frozen=True, eq=False, repr=False)
class Fitted(Intervals):
    """A fitted model as data, with its covariance, intervals and contrasts; `Fit` has all else.

    Attributes
    ----------
    comparisons, model, settings, solution, effects, robust, by_cluster, n_clusters, effective_clusters,
    effective_by_pair, of_panel, flips
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
    """

    raw: Comparisons | None = None
    question: IntArray | None = None
    without: Self | None = None
    remarks: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    scale_weights: Mapping[str, float] | None = None
    question_keys: UIntArray | None = None

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
    def fitted_spreads(self) -> tuple[str, ...]:
        """Blocks whose standard deviations were fitted to the data."""
        settings = self.settings if isinstance(self.settings, Penalised) else Penalised()
        return tuple(name for name in self.solution.spread or {} if settings.given(name) is None)

    @property
    def sigma(self) -> float:
        """Standard deviation of an answer's quality about its model's score, in the scores' units.

        Raises
        ------
        ConfigError
            If the fit has no question effects.
        """
        return self._known_effects.sigma

    @property
    def relative_sigma(self) -> float:
        """Sigma over the standard deviation of the scores: free of the scale of either.

        Raises
        ------
        ConfigError
            If the fit has no question effects.
        """
        return self.sigma / float(self.scores.std(ddof=0))

    def likelihood_ratio(self) -> tuple[float, float]:
        """Twice the gain in log-likelihood over no question effects, and its p-value.

        Raises
        ------
        ConfigError
            If the fit has no question effects.
        """
        return self._known_effects.likelihood_ratio()

    @property
    def _known_effects(self) -> QuestionEffects:
        if self.effects is None:
            raise ConfigError("this fit has no question effects: fit(..., questions='effects') has them")
        return self.effects

    def independent_rows(self) -> tuple[Comparisons, IntArray | None] | None:
        """The comparisons behind the fit, and, if errors are by question, the number of that of each.

        Those of the questions that stand for all, where errors are from part of them.
        """
        rows_and_question = super().independent_rows()
        if rows_and_question is not None or self.raw is None or self.question is None:
            return rows_and_question
        n_clusters = self.n_clusters if self.flips is None else self.flips.shape[0]
        labels, question = numbered(self.question)
        if len(labels) != n_clusters:
            return None
        rows = self.model.observed(self.raw)
        _, drawn = drawn_clusters(question, None if self.by_cluster is None else self.by_cluster.shape[0])
        return (rows, question) if drawn is None else (rows._rows(drawn), question[drawn])

    @property
    def known_raw(self) -> Comparisons:
        """`raw`, for who cannot do without.

        Raises
        ------
        DataError
            If it is not there.
        """
        if self.raw is None:
            raise DataError("this fit does not hold the comparisons that it was fitted to: give them beside it")
        return self.raw

    @property
    def known_question(self) -> IntArray:
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
