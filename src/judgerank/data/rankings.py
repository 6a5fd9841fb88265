"""Rankings of several answers as rows of comparisons: the stages of each, and two answers of a stage to a row.

A ranking is a sequence of choices: the best of all, the best of those that are left, and so on (Plackett, 1975).
Where answers are tied, its log-likelihood is the average over all orders of them: of two answers, half a win for
either. The first stage of a tie holds all of its answers; with ties as an outcome it is the only one that counts
(`judgerank.data.tied_choices`). Answers whose order is not known are in every choice before them, chosen in none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.judgments import Judgments
from judgerank.data.stages import Stages
from judgerank.data.tied_choices import of_ties

BEGINS, PAIRS = "begins", "comparisons"  # columns: which rows begin a stage, and how many comparisons each holds
BROKEN = "Each ranking is taken as comparisons of two answers, with errors by question."  # by `as_pairs`
ROUNDING = 1e-9  # of weights
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
    places : tuple of int, optional
        Where each of those stood among all answers that were shown, if some of them left the ranking.
    """

    groups: tuple[tuple[str, ...], ...]
    unranked: tuple[str, ...] = ()
    shown: tuple[str, ...] | None = None
    places: tuple[int, ...] | None = None

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


def stages_of(groups: tuple[tuple[int, ...], ...], n_models: int) -> Iterator[tuple[list[int], set[int], float]]:
    """The choices that a ranking consists of: among whom, between whom chosen evenly, and how often it counts.

    Parameters
    ----------
    groups : tuple of tuple of int
        Those of `Ranked`, by the places of their models among all of its models.
    many : int
        Models in the ranking.
    """
    left = list(range(n_models))
    for group in groups:
        rest = [model for model in left if model not in group]
        for size in range(len(group), 0, -1):
            for tied in combinations(group, size):
                if size + len(rest) > 1:
                    among = [model for model in left if model in tied or model in rest]
                    yield among, set(tied), 1.0 / comb(len(group), size)
        left = rest


def _pairs_of(groups: tuple[tuple[int, ...], ...], n_models: int) -> FloatArray:
    """Rows of one ranking, shape (rows, 7).

    Places of both models, their shares of the choice, weight, how often the choice counts, and whether it begins.
    """
    rows = []
    for among, chosen, weight in stages_of(groups, n_models):
        share = {model: (model in chosen) / len(chosen) for model in among}
        of_choice, begins = (2.0 * weight / len(among), weight), True
        for a, b in combinations(among, 2):
            rows.append((a, b, share[a], share[b], *of_choice, begins))
            begins = False
    return np.array(rows, float).reshape(-1, 7)


def rows_of(rankings: Sequence[Ranked]) -> pd.DataFrame:
    """Rows of all stages of rankings, those of a ranking together.

    Returns
    -------
    DataFrame
        ``record`` (number of the ranking, from zero), ``model_a``, ``model_b``, ``outcome``, ``weight``,
        ``begins``, ``neither`` and ``apart``, as of `judgerank.data.stages.Stages` (NaN where no order is known),
        and ``comparisons``, how many of the two models the row holds.
    """
    models = [ranking.models for ranking in rankings]
    cached_stages = dict[
        tuple[tuple[tuple[int, ...], ...], int], FloatArray
    ]()  # many rankings differ in their models alone
    parts = [np.zeros((0, 7))]
    for ranking, names in zip(rankings, models, strict=True):
        index = {name: number for number, name in enumerate(names)}
        groups = tuple(tuple(index[name] for name in group) for group in ranking.groups)
        if (groups, len(names)) not in cached_stages:
            cached_stages[groups, len(names)] = _pairs_of(groups, len(names))
        parts.append(cached_stages[groups, len(names)])
    first, second, share, n_others, weight, choices, begins = np.concatenate(parts).T
    record = np.repeat(np.arange(len(rankings)), [len(part) for part in parts[1:]])
    before = np.cumsum([0, *map(len, models)])[record]
    every = np.array([name for names in models for name in names], object)
    in_order = np.array([ranking.shown is not None for ranking in rankings], bool)[record]
    position = np.array([p for ranking in rankings for p in ranking.places or range(len(ranking.models))], float)
    first, second = before + first.astype(int), before + second.astype(int)
    either = share + n_others
    return pd.DataFrame(
        {
            "record": record,
            "model_a": every[first],
            "model_b": every[second],
            "weight": weight,
            BEGINS: begins > 0,
            "apart": np.where(in_order, position[second] - position[first], np.nan),
            "outcome": 0.5 + 0.5 * (share - n_others),
            "neither": 1 - either,
            PAIRS: choices * either,
        }
    )


def in_stages(frame: pd.DataFrame) -> BoolArray:
    """Which records are rows of rankings, shape (records,)."""
    return frame[BEGINS].notna().to_numpy() if BEGINS in frame else np.zeros(len(frame), bool)


def with_stages(rows: Comparisons, columns: pd.DataFrame) -> Comparisons:
    """Rows of comparisons as those of rankings, by the columns of `rows_of`; others are choices between two."""
    alone = ~in_stages(columns)
    weight, neither, rank_gap = (
        np.where(alone, usual, columns[name].to_numpy(float))
        for name, usual in (("weight", rows.count), ("neither", 0.0), ("apart", 1.0))
    )
    begins = alone | (columns[BEGINS].to_numpy() == True)  # noqa: E712  # some are None
    has_gap = not np.isnan(rank_gap).any()
    stages = Stages(begins, neither, rank_gap if has_gap else None)
    return replace(rows, count=weight, stages=stages, ordered=has_gap, tied=None)


def with_tied_choices(rows: Comparisons) -> Comparisons:
    """Rows of rankings whose ties are an outcome, no average over their orders; of two answers, as `with_ties`.

    Raises
    ------
    DataError
        As `Comparisons.with_ties`, and if a choice is shared out unevenly.
    """
    if rows.stages is None or rows.tied is not None:
        return rows.with_ties()
    count, tied = of_ties(rows)
    return replace(rows, count=count, tied=tied)


def number_of_ranking(rows: Comparisons, question: IntArray | None = None) -> IntArray:
    """Number of the ranking that each row belongs to, from zero, shape (T,); a comparison of two is one by itself.

    A stage belongs to the ranking before it if that is of the same judge and question, and if it stands for one
    order of tied answers, or the last stage that did not has all its answers and more.
    """
    if rows.stages is None:
        return np.arange(len(rows))
    starts, of_row = rows.stages.first_rows, rows.stages.alternatives.stage
    ends = [*starts[1:].tolist(), len(rows)]
    question_index = np.zeros(len(rows), np.intp) if question is None else question
    of_an_order = rows.choices < 1 - ROUNDING
    number, left, judged, current = np.empty(len(starts), np.intp), set[int](), None, -1
    for stage, (start, end) in enumerate(zip(starts.tolist(), ends, strict=True)):
        if not of_an_order[start]:
            among = {*rows.first[start:end].tolist(), *rows.second[start:end].tolist()}
            whose = rows.judge[start], question_index[start]
            current += whose != judged or not among < left
            judged, left = whose, among
        number[stage] = current
    return number[of_row]


def pairs_in(rows: Comparisons) -> Comparisons:
    """Every two answers whose order rankings give, as comparisons of two; without rankings the same rows."""
    if rows.stages is None:
        return rows
    selected = np.flatnonzero(rows.decided > 0)
    sure = 1 - rows.stages.neither[selected]
    outcome = np.clip(0.5 + (rows.outcome[selected] - 0.5) / sure, 0.0, 1.0)
    who = rows.first[selected], rows.second[selected], rows.judge[selected]
    return Comparisons(rows.models, rows.judges, *who, outcome, rows.decided[selected], ordered=rows.ordered)


def sizes_of_rankings(judgments: Judgments) -> IntArray:
    """How many answers each ranking has, shape (R,), a comparison of two being one."""
    c, question_index = judgments.comparisons, judgments.question if "question_id" in judgments.frame else None
    number = number_of_ranking(c, question_index)
    size = np.zeros(int(number.max(initial=-1)) + 1, np.intp)
    np.maximum.at(size, number, 2 if c.stages is None else c.stages.size)
    return size


def as_pairs(judgments: Judgments) -> Judgments:
    """Rankings broken into comparisons of two answers: one for every two whose order the judge gave.

    Under the law of Plackett and Luce each of them has that of a comparison of two. Those of one ranking depend on
    each other, so errors are by question. Judgments without rankings are returned as they are.
    """
    c = judgments.comparisons
    if c.stages is None:
        return judgments
    question_index = judgments.question if "question_id" in judgments.frame else None
    selected = np.flatnonzero(c.decided > 0)
    count, won = c.decided[selected], (c.count * c.stages.size / 2 * c.won)[selected]
    key = (number_of_ranking(c, question_index) * len(c.models) + c.first)[selected] * len(c.models) + c.second[
        selected
    ]
    _, first_rows, pair = np.unique(key, return_index=True, return_inverse=True)
    share = np.bincount(pair, won) / np.bincount(pair, count)
    order = np.argsort(first_rows)  # as they were read
    frame = judgments.frame[judgments.parsed].iloc[selected[first_rows[order]]].reset_index(drop=True)
    frame = frame.drop(columns=[BEGINS, PAIRS, "outcome", "weight", "neither", "apart"], errors="ignore")
    letters = np.array(["b", "c", "a"], object)[np.round(2 * share[order]).astype(int)]
    frame = frame.assign(judge_preferred_model=letters)
    pairs = replace(Comparisons.from_frame(frame), ordered=c.ordered, dropped=c.dropped)
    return replace(judgments, frame=frame, comparisons=pairs)


def rankings_of(judgments: Judgments) -> tuple[list[Ranked], IntArray]:
    """The rankings that stages are of, and the first record of each, shape (R,); without comparisons of two.

    A group of tied answers is chosen at once in one stage, the one that counts once.
    """
    c = judgments.comparisons
    stages = c.stages
    if stages is None:
        return [], np.zeros(0, np.intp)
    number = number_of_ranking(c, judgments.question if "question_id" in judgments.frame else None)
    record = np.flatnonzero(judgments.parsed)
    counts_once = in_stages(judgments.frame)[record] & (c.choices > 1 - ROUNDING)
    either = (1 - stages.neither) / 2  # half the shares of both answers
    shares = either + c.outcome - 0.5, either - c.outcome + 0.5
    names, parts = np.array(c.models, object), dict[int, list[tuple[list[str], tuple[str, ...]]]]()
    first_records, places = dict[int, int](), dict[int, tuple[int, ...]]()
    for start in stages.first_rows[counts_once[stages.first_rows]].tolist():
        size = int(stages.size[start])
        rows = slice(start, start + size - 1)  # those of the first answer with each of the others
        among = [names[c.first[start]], *names[c.second[rows]]]
        share = [shares[0][start], *shares[1][rows]]
        chosen = tuple(name for name, part in zip(among, share, strict=True) if part > ROUNDING)
        parts.setdefault(int(number[start]), []).append((among, chosen))
        first_records.setdefault(int(number[start]), int(record[start]))
        if stages.apart is not None:
            places.setdefault(int(number[start]), (0, *stages.apart[rows].astype(int).tolist()))
    rankings = []
    for index, choices in parts.items():
        everyone, groups = choices[0][0], tuple(group for _, group in choices)
        ranked = {name for group in groups for name in group}
        unranked = tuple(name for name in everyone if name not in ranked)
        presented = None if stages.apart is None else tuple(everyone)
        rankings.append(Ranked(groups, unranked, presented, places.get(index)))
    return rankings, np.array(list(first_records.values()), np.intp)


def ranked_among(ranking: Ranked, models: Collection[str]) -> Ranked | None:
    """A ranking of those of its models that are among some; None where it says nothing of them.

    Its likelihood is that of the other models' order in the whole ranking, since the odds between two answers do
    not depend on what else is chosen from (Luce, 1959). Each answer keeps the place in which it was shown.
    """
    groups = tuple(tuple(name for name in group if name in models) for group in ranking.groups)
    groups, unranked = tuple(filter(None, groups)), tuple(name for name in ranking.unranked if name in models)
    if not groups or len([name for group in groups for name in group]) + len(unranked) < 2:
        return None
    if ranking.shown is None:
        return Ranked(groups, unranked)
    every = zip(ranking.shown, ranking.places or range(len(ranking.shown)), strict=True)
    presented, positions = zip(*((name, position) for name, position in every if name in models), strict=True)
    return Ranked(groups, unranked, presented, positions)
