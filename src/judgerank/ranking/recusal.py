"""A judge has no vote on models of his own maker: which judgments that leaves out, and which have to count.

Judges prefer answers of their own maker's models (self-preference; Panickssery et al., 2024). Where makers are
known, such votes are left out of the scores, also on two models of that maker: one may be nearer to the judge.

A vote counts all the same where the comparison graph would fall apart without it: if it joins two models that no
chain of the other votes connects. Then no other judge says how the two compare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, IntArray
from judgerank.data.connectivity import components
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed, percent
from judgerank.model.kinds.family import Relations, relations


@dataclass(frozen=True, eq=False)
class Recusal:
    """Judgments, and those of them that count.

    Attributes
    ----------
    judgments : Judgments
        All of them, T comparisons.
    counted : Judgments
        Those that scores are fitted to.
    related : Relations
        Which of their models are of a judge's maker.
    is_own : bool array, shape (T,)
        Whether a comparison has a model of its judge's maker, or two.
    counts : bool array, shape (T,)
        Whether it is one of `counted`.
    is_recused : bool
        Whether such votes are left out where that is possible.
    """

    judgments: Judgments
    counted: Judgments
    related: Relations
    is_own: BoolArray
    counts: BoolArray
    is_recused: bool

    @property
    def n_left_out(self) -> int:
        """Votes that do not count."""
        return round(float(self.judgments.comparisons.count[~self.counts].sum()))

    @cached_property
    def dependent(self) -> tuple[str, ...]:
        """Models that only judges of their own maker compared with some of the others, by name.

        Empty where such votes count by choice.
        """
        if not self.is_recused:
            return ()
        c, rows = self.judgments.comparisons, self.is_own & self.counts
        judge, chosen = c.judge[rows].astype(np.intp), set[int]()
        for end in (c.first[rows], c.second[rows]):
            chosen |= set(end[self.related.is_own[judge, end]].tolist())
        return tuple(c.models[number] for number in sorted(chosen))

    def sentences(self) -> list[str]:
        """How many votes do not count, and whose place rests on those that have to; empty where there are none."""
        return [*self.on_left_out(), *self.dependence()]

    def on_left_out(self) -> list[str]:
        """How many votes do not count; empty where all do."""
        n_judges = len(np.unique(self.judgments.comparisons.judge[~self.counts]))
        if not n_judges:
            return []
        share = percent(self.n_left_out / self.judgments.comparisons.n_comparisons)
        votes, judges = counted(self.n_left_out, "vote"), counted(n_judges, "judge")
        return [f"Left out: {votes} of {judges} on models of their own maker ({share} of all)."]

    def dependence(self) -> list[str]:
        """Whose place rests on votes of judges of their own maker; empty where nobody's does."""
        if not self.dependent:
            return []
        if len(self.judgments.comparisons.models) == 2:
            return ["Every judge is by the maker of one of the two models: self-preference cannot be tested."]
        return [
            f"Only judges of the same maker compared {listed(self.dependent)} with some of the other models: "
            "self-preference cannot be tested there."
        ]

    def are_all_by_maker_of(self, model: str) -> bool:
        """Whether every judge who compared models of this one's component is that model, or of its maker."""
        c = self.judgments.comparisons
        group = next(group for group in components(c) if model in group)
        inside = np.isin(np.array(c.models, object), group)
        judges = np.unique(c.judge[inside[c.first]])
        return bool(self.related.is_own[judges, c.models.index(model)].all())

    def with_left_out(self, part: Judgments) -> tuple[Judgments, IntArray]:
        """All judgments on the models of a part of `counted` by its judges, and their rows, shape (T',).

        Of judges without a vote that counts nothing else is known: they are not in it. Models and judges are
        numbered as in the part.
        """
        c, names = self.judgments.comparisons, part.comparisons
        model = pd.Index(names.models).get_indexer(pd.Index(c.models))
        judge = pd.Index(names.judges).get_indexer(pd.Index(c.judges))
        rows = np.flatnonzero((model[c.first] >= 0) & (model[c.second] >= 0) & (judge[c.judge] >= 0))
        every = c._rows(rows)
        ends = {name: model[getattr(every, name)] for name in ("first", "second")}
        every = replace(every, models=names.models, judges=names.judges, judge=judge[every.judge], **ends)
        frame = self.judgments.frame[self.judgments.parsed].iloc[rows].reset_index(drop=True)
        return replace(self.judgments, frame=frame, comparisons=every), rows


def recusal_of(judgments: Judgments, recuse: bool = True, makers: Iterable[tuple[str, str]] = ()) -> Recusal:
    """Leave out votes of judges on models of their own maker, as far as the others connect the same models.

    Of what counts, judges with few answers have one label (`Judgments.pool_few`).

    A ranking of several answers is one vote, of which no part can be left out: it counts.

    Parameters
    ----------
    judgments : Judgments
    recuse : bool
        Whether to leave out any.
    makers : iterable of (str, str)
        Names of models or judges, and their makers where names do not say them.
    """
    c = judgments.comparisons
    related = relations(c.judges, c.models, dict(makers))
    judge = c.judge.astype(np.intp)
    is_own = related.is_own[judge, c.first] | related.is_own[judge, c.second]
    is_recused = recuse and c.stages is None
    if not is_recused or not is_own.any():
        return Recusal(judgments, judgments.pool_few(), related, is_own, np.ones(len(c), bool), is_recused)
    part = _parts(judgments, ~is_own)
    counts = ~is_own | (part[c.first] != part[c.second])
    counted = judgments if counts.all() else of_rows(judgments, np.flatnonzero(counts))
    return Recusal(judgments, counted.pool_few(), related, is_own, counts, is_recused)


def _parts(judgments: Judgments, rows: BoolArray) -> IntArray:
    """Number of the component of every model in the graph of some comparisons, shape (N,)."""
    c = judgments.comparisons
    if not rows.any():
        return np.arange(len(c.models))
    number = {name: n for n, group in enumerate(components(c._rows(rows))) for name in group}
    return np.array([number[name] for name in c.models])


def of_rows(judgments: Judgments, rows: IntArray) -> Judgments:
    """Some of the comparisons, at least one, with their records; records that could not be read stay."""
    parsed = judgments.parsed.to_numpy()
    keep = ~parsed
    keep[np.flatnonzero(parsed)[rows]] = True
    frame = judgments.frame[keep].reset_index(drop=True)
    return replace(judgments, frame=frame, comparisons=judgments.comparisons.take(rows))
