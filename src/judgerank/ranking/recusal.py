"""A judge has no vote on models of his own maker, or on one that he favours: which judgments that leaves out.

Judges prefer answers of their own maker's models (self-preference; Panickssery et al., 2024). Where makers are
known, such votes are left out of the scores, also on two models of that maker: one may be nearer to the judge.

A vote counts all the same where the comparison graph would fall apart without it: if it joins two models that no
chain of the other votes connects. Then no other judge says how the two compare.

From a ranking of several answers, models of the judge's maker are left out. The order of the others stays: its
likelihood does not depend on them (`judgerank.data.rankings.ranked_among`).

Where a judge's taste for one model stands out (`judgerank.fits.favourites`), the judge's votes on it are left out,
too. To first order the model's score is then that of a fit with the taste as a parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import component_numbers, components
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed, percent
from judgerank.data.rankings import Ranked, in_stages, number_of_ranking, ranked_among
from judgerank.model.kinds.family import Relations, counted_votes, relations
from judgerank.reading.from_tables import of_records
from judgerank.reading.selection import rankings_changed

if TYPE_CHECKING:  # a gate loads no fit
    from judgerank.fits.favourites import Favourite

OWN_MAKER = RECUSE, COUNT = "recuse", "count"  # votes of judges on models of their own maker
UNTESTED, OTHER_MAKER = "self-preference cannot be tested here", "Add a judge of another maker."
BOTH = f"Every judge is by the maker of one of the two models; {UNTESTED}."


def is_recusing(own_maker: str) -> bool:
    """Whether one of `OWN_MAKER` leaves votes out.

    Raises
    ------
    ConfigError
        If there is no such choice.
    """
    if own_maker not in OWN_MAKER:
        raise ConfigError(f"there is no own_maker {own_maker!r} (known: {', '.join(OWN_MAKER)})")
    return own_maker == RECUSE


def on_one_maker(n_judges: int, whose: str) -> tuple[str, str]:
    """That all judges are by one maker, such as *the leader's maker*: as a clause, and as a warning."""
    who = "the only judge is" if n_judges == 1 else f"all {n_judges} judges are"
    clause = f"{who} by {whose}; {UNTESTED}"
    return clause, f"{clause[0].upper()}{clause[1:]}. {OTHER_MAKER}"


@dataclass(frozen=True, eq=False)
class Recusal:
    """Judgments, and those of them that count.

    Attributes
    ----------
    judgments : Judgments
        All of them, T comparisons.
    kept : Judgments
        Those that count.
    related : Relations
        Which of their models are of a judge's maker.
    is_own : bool array, shape (T,)
        Whether a comparison has a model of its judge's maker, or two.
    counts : bool array, shape (T,)
        Whether it is one of those that count. A row of a ranking does if neither of its models left that ranking.
    is_recused : bool
        Whether votes on models of a judge's maker are left out where that is possible.
    favoured : tuple of Favourite
        Judges and models that they favour, whose votes are left out where that is possible.
    """

    judgments: Judgments
    kept: Judgments
    related: Relations
    is_own: BoolArray
    counts: BoolArray
    is_recused: bool
    favoured: tuple[Favourite, ...] = ()

    @cached_property
    def counted(self) -> Judgments:
        """What scores are fitted to: what counts, with one label for judges with few answers."""
        return self.kept.pool_few()

    @cached_property
    def _ranking(self) -> IntArray:
        return _number_of_ranking(self.judgments)

    @cached_property
    def _own_left_out(self) -> BoolArray:
        """Comparisons that do not count for their judge's maker, shape (T,)."""
        return ~self.counts & self.is_own & self.is_recused

    @property
    def n_left_out(self) -> int:
        """Votes on models of a judge's maker that do not count; of rankings, those that lose a model."""
        if self.judgments.comparisons.stages is not None:
            return len(np.unique(self._ranking[~self.counts]))
        return round(float(self.judgments.comparisons.count[self._own_left_out].sum()))

    def may_leave_out(self, favoured: Iterable[Favourite]) -> tuple[Favourite, ...]:
        """Those whose votes may be left out for that: votes on a model of one's own maker follow the settings."""
        judges, models = self.judgments.comparisons.judges, self.judgments.comparisons.models
        return tuple(
            one for one in favoured if not self.related.is_own[judges.index(one.judge), models.index(one.model)]
        )

    def votes_on(self, favourite: Favourite) -> tuple[int, int]:
        """How many votes a judge has on the model that it favours, and how many do not count for that."""
        c = self.judgments.comparisons
        rows = _votes_of(c, [favourite])
        left_out = rows & ~self.counts & ~self._own_left_out
        return round(float(c.count[rows].sum())), round(float(c.count[left_out].sum()))

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
        c = self.judgments.comparisons
        of_favourites = [
            f"Left out: {counted(votes, 'vote')} of {one.judge} on {one.model}, which it {one.verb}."
            for one, (_, votes) in ((one, self.votes_on(one)) for one in self.favoured)
            if votes
        ]
        n_judges = len(np.unique(c.judge[~self.counts if c.stages is not None else self._own_left_out]))
        if not n_judges:
            return of_favourites
        judges = counted(n_judges, "judge")
        if c.stages is not None:
            n = int(self._ranking.max()) + 1
            rankings = f"{self.n_left_out:,} of {counted(n, 'ranking')}"
            return [f"Left out: models of the judge's own maker in {rankings}, by {judges}."]
        share, votes = percent(self.n_left_out / c.n_comparisons), counted(self.n_left_out, "vote")
        return [f"Left out: {votes} of {judges} on models of their own maker ({share} of all).", *of_favourites]

    def dependence(self) -> list[str]:
        """Whose place rests on votes of judges of their own maker; empty where nobody's does."""
        if not self.dependent:
            return []
        if len(self.judgments.comparisons.models) == 2:
            return [BOTH]
        return [
            f"Only judges of the same maker compared {listed(self.dependent)} with some of the other models: "
            "self-preference cannot be tested there."
        ]

    def are_all_by_maker_of(self, model: str) -> bool:
        """Whether every judge who compared models of this one's component is that model, or of its maker."""
        c = self.judgments.comparisons
        is_own = self.related.is_own[:, c.models.index(model)]
        if not is_own.any():
            return False
        group = next(group for group in components(c) if model in group)
        inside = np.isin(np.array(c.models, object), group)
        return bool(is_own[np.unique(c.judge[inside[c.first]])].all())

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


def recusal_of(
    judgments: Judgments,
    recuse: bool = True,
    makers: Iterable[tuple[str, str]] = (),
    connected: Iterable[str] = (),
    favoured: Sequence[Favourite] = (),
) -> Recusal:
    """Leave out votes of judges on models of their own maker, as far as the others connect the same models.

    Votes on a model that the judge favours are left out in the same way.

    Parameters
    ----------
    judgments : Judgments
    recuse : bool
        Whether to leave out any.
    makers : iterable of (str, str)
        Names of models or judges, and their makers where names do not say them.
    connected : iterable of str
        Models that other judgments connect, such as those of a board.
    favoured : sequence of Favourite
        Judges and models that they favour; none of rankings.
    """
    c = judgments.comparisons
    related = relations(c.judges, c.models, dict(makers))
    is_own, favoured = related.votes(c), tuple(favoured)
    refused = _votes_of(c, favoured) | (is_own & recuse)
    if not refused.any():
        return Recusal(judgments, judgments, related, is_own, np.ones(len(c), bool), recuse, favoured)
    part, number = component_numbers(c, ~refused, connected), _number_of_ranking(judgments)
    counts = counted_votes(c, refused, part, number)
    if counts.all():
        kept = judgments
    elif c.stages is None:
        kept = of_rows(judgments, np.flatnonzero(counts))
    else:
        kept = _of_rankings(judgments, related, part, counts)
    return Recusal(judgments, kept, related, is_own, counts, recuse, favoured)


def _votes_of(c: Comparisons, favoured: Iterable[Favourite]) -> BoolArray:
    """Whether a comparison is by a judge who favours one of its models, shape (T,)."""
    rows = np.zeros(len(c), bool)
    for one in favoured:
        if one.judge in c.judges and one.model in c.models:
            model = c.models.index(one.model)
            rows |= (c.judge == c.judges.index(one.judge)) & ((c.first == model) | (c.second == model))
    return rows


def _number_of_ranking(judgments: Judgments) -> IntArray:
    """Number of the ranking that each comparison belongs to, shape (T,)."""
    c = judgments.comparisons
    has_question = c.stages is not None and "question_id" in judgments.frame
    return number_of_ranking(c, judgments.question if has_question else None)


def _of_rankings(judgments: Judgments, related: Relations, part: IntArray, counts: BoolArray) -> Judgments:
    """The rankings without models of the judge's maker, where these do not connect others."""
    c, frame = judgments.comparisons, judgments.frame
    model, judge = ({name: n for n, name in enumerate(names)} for names in (c.models, c.judges))
    judges = frame["judge_model"].to_numpy(object)

    def change(ranking: Ranked, record: int) -> Ranked | None:
        numbers = [model[name] for name in ranking.models]
        if len({*part[numbers].tolist()}) > 1:
            return ranking
        is_own = related.is_own[judge[judges[record]], numbers]
        return ranked_among(ranking, [c.models[n] for n, own in zip(numbers, is_own, strict=True) if not own])

    keep = np.ones(len(frame), bool)
    keep[np.flatnonzero(judgments.parsed)[~counts]] = False  # comparisons of two
    keep |= in_stages(frame)
    frame, keep = rankings_changed(judgments, change, keep)
    kept = of_records(replace(judgments, frame=frame), pd.Series(keep, frame.index))
    comparisons = replace(kept.comparisons, dropped=c.dropped)
    return replace(kept, comparisons=comparisons, remarks=judgments.remarks)


def of_rows(judgments: Judgments, rows: IntArray) -> Judgments:
    """Some of the comparisons, at least one, with their records; records that could not be read stay."""
    parsed = judgments.parsed.to_numpy()
    keep = ~parsed
    keep[np.flatnonzero(parsed)[rows]] = True
    frame = judgments.frame[keep].reset_index(drop=True)
    return replace(judgments, frame=frame, comparisons=judgments.comparisons.take(rows))
