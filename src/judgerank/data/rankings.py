"""Rankings of several answers as rows of comparisons: the stages of each, and two answers of a stage to a row.

A ranking is a sequence of choices: the best of all, the best of those that are left, and so on (Plackett, 1975).
Where answers are tied, its log-likelihood is the average over all orders of them: of two answers, half a win for
either. Answers whose order is not known are in every choice before them and chosen in none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.stages import Stages

BEGINS, PAIRS = "begins", "comparisons"  # columns: which rows begin a stage, and how many comparisons each holds
MOST_TIED, MOST_RANKED = 8, 60  # answers in one tie, and in one ranking


@dataclass(frozen=True)
class Ranked:
    """One ranking.

    Attributes
    ----------
    groups : tuple of tuple of str
        The models from the best down; those of one group are tied.
    unranked : tuple of str
        Models below all groups whose order is not known.
    shown : tuple of str, optional
        All of the models in the order in which their answers were shown.
    """

    groups: tuple[tuple[str, ...], ...]
    unranked: tuple[str, ...] = ()
    shown: tuple[str, ...] | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """All of its models, as they were shown or by name."""
        named = [*(name for group in self.groups for name in group), *self.unranked]
        return tuple(sorted(named)) if self.shown is None else self.shown


def refuse_odd(ranking: Ranked, record: int) -> None:
    """Refuse a ranking that says nothing or contradicts itself, naming its record.

    Raises
    ------
    DataError
    """
    named = [*(name for group in ranking.groups for name in group), *ranking.unranked]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"record {record} ranks {twice!r} twice")
    if len(named) < 2 or not ranking.groups:
        raise DataError(f"record {record} ranks fewer than two models")
    if len(named) > MOST_RANKED:
        raise DataError(f"record {record} ranks {len(named)} models, and {MOST_RANKED} is the most")
    most = max(map(len, ranking.groups))
    if most > MOST_TIED:
        raise DataError(
            f"record {record} has a tie of {most} models, and {MOST_TIED} is the most: if their order is not "
            "known, put them in braces at the end, as in a>{b,c}"
        )
    if ranking.shown is not None and sorted(ranking.shown) != sorted(named):
        raise DataError(f"record {record} does not rank the models that it says were shown")


def stages_of(ranking: Ranked) -> Iterator[tuple[list[str], set[str], float]]:
    """The choices that a ranking consists of: among whom, between whom chosen evenly, and how often it counts."""
    left = list(ranking.models)
    for group in ranking.groups:
        rest = [name for name in left if name not in group]
        for size in range(len(group), 0, -1):
            for tied in combinations(group, size):
                if size + len(rest) > 1:
                    among = [name for name in left if name in tied or name in rest]
                    yield among, set(tied), 1.0 / comb(len(group), size)
        left = rest


def rows_of(rankings: Sequence[Ranked]) -> pd.DataFrame:
    """Rows of all stages of rankings, those of a ranking together.

    Returns
    -------
    DataFrame
        ``record`` (number of the ranking, from zero), ``model_a``, ``model_b``, ``outcome``, ``weight``,
        ``begins``, ``neither`` and ``apart``, as of `judgerank.data.stages.Stages` (NaN where no order is known),
        and ``comparisons``, how many of the two models the row holds.
    """
    parts: dict[str, list[object]] = {
        name: []
        for name in ("record", "model_a", "model_b", "share_a", "share_b", "weight", "choices", BEGINS, "apart")
    }
    for record, ranking in enumerate(rankings):
        place = None if ranking.shown is None else {name: at for at, name in enumerate(ranking.shown)}
        for among, chosen, weight in stages_of(ranking):
            pairs = list(combinations(among, 2))
            share = {name: (name in chosen) / len(chosen) for name in among}
            parts["record"] += [record] * len(pairs)
            parts["model_a"] += [a for a, _ in pairs]
            parts["model_b"] += [b for _, b in pairs]
            parts["share_a"] += [share[a] for a, _ in pairs]
            parts["share_b"] += [share[b] for _, b in pairs]
            parts["weight"] += [2.0 * weight / len(among)] * len(pairs)
            parts["choices"] += [weight] * len(pairs)
            parts[BEGINS] += [True, *[False] * (len(pairs) - 1)]
            parts["apart"] += [np.nan if place is None else float(place[b] - place[a]) for a, b in pairs]
    frame = pd.DataFrame(parts)
    first, second = frame.pop("share_a").astype(float), frame.pop("share_b").astype(float)
    outcome, either = 0.5 + 0.5 * (first - second), first + second
    return frame.assign(outcome=outcome, neither=1 - either, **{PAIRS: frame.pop("choices") * either})


def in_stages(frame: pd.DataFrame) -> BoolArray:
    """Which records are rows of rankings, shape (records,)."""
    return frame[BEGINS].notna().to_numpy() if BEGINS in frame else np.zeros(len(frame), bool)


def with_stages(rows: Comparisons, columns: pd.DataFrame) -> Comparisons:
    """Rows of comparisons as those of rankings, by the columns of `rows_of`; others are choices between two."""
    alone = ~in_stages(columns)
    weight, neither, apart = (
        np.where(alone, usual, columns[name].to_numpy(float))
        for name, usual in (("weight", rows.count), ("neither", 0.0), ("apart", 1.0))
    )
    begins = alone | (columns[BEGINS].to_numpy() == True)  # noqa: E712  # some are None
    known = not np.isnan(apart).any()
    return replace(rows, count=weight, stages=Stages(begins, neither, apart if known else None), ordered=known)
