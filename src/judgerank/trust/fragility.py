"""What would change a ranking: the smallest sets of judgments, questions or judges found to do so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from judgerank.data.arrays import AnyArray, FloatArray, IntArray
from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, JudgerankError
from judgerank.fits.fit import fitted_to, raw_and_question, require_member_alone
from judgerank.fits.result import Fit
from judgerank.order.pairs import separated
from judgerank.trust.refits import (
    Goal,
    Part,
    Units,
    forecast,
    judges_as_units,
    judgments_as_units,
    least,
    open_pair,
    questions_as_units,
    swapped,
    whole_part,
)
from judgerank.trust.removal import Removal, rows_of, smallest

if TYPE_CHECKING:
    from judgerank.reading.read import Source

COLUMNS = ["change", "by", "first", "second", "at_least", "size", "total", "share", "forecast", "why"]
OF_JUDGES = ["judge", "top", "moved", "correlation", "lost", "gained", "why"]
NEAREST, CHALLENGERS = 10, 3  # next models in rank that are looked at, and of these tried as the new first
NOT_TRIED = "not tried: others are nearer by the forecast"


class RemovedRows(NamedTuple):
    """A set as two arrays: its rows in the raw comparisons, and how many judgments of each row are in it."""

    rows: IntArray
    judgments: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Fragility(Shown):
    """Sets without which a ranking changes.

    Attributes
    ----------
    changes : DataFrame
        ``change`` (``top``: another model is first; ``swap``: two neighbours change places; ``separation``: two
        neighbours are no longer separated), ``by`` (judgments, questions or judges; of scores, tasks), ``first,
        second``: the models, as they are ranked; ``at_least``: how many any such set has, if none counts for more
        than three times its forecast; ``size``: how many were left out, an upper bound of the fewest that would
        do; ``total``: how many there are; ``share``; ``forecast``: what one linear step says; ``why``: why no set
        was found, and ``size`` is missing.
    removed : tuple of RemovedRows
        The judgments of each, in the same order.
    judges : DataFrame
        Every judge left out alone: ``judge, top, moved, correlation, lost, gained, why``. ``moved`` counts models
        of another rank, ``correlation`` is Spearman's of the scores, ``lost`` and ``gained`` count pairs that are
        separated with that judge alone or without alone.
    """

    changes: pd.DataFrame
    removed: tuple[RemovedRows, ...]
    judges: pd.DataFrame

    def _line(self) -> str:
        return f"{self.changes['size'].notna().sum()} changes of a ranking found among {len(self.changes)} tried"

    def _table(self) -> pd.DataFrame:
        return self.changes


def fragility(
    fitted: Fit | Comparisons | Source,
    judgments: Comparisons | Source | None = None,
    question: AnyArray | None = None,
    level: float = 0.95,
    most: int = 20,
    progress: Callable[[int, int], None] | None = None,
) -> Fragility:
    """The smallest sets found without which the first model, neighbours, or what is separated change.

    Sets are chosen by influence, one Newton step at a time, and every one is confirmed by a fit without it. Single
    ones that come near are all tried, and sets of up to ten are searched for smaller ones (a beam search). There
    may still be smaller ones. (Broderick, Giordano and Meager, arXiv 2011.14999; Huang et al., arXiv 2508.11847.)

    Parameters
    ----------
    fitted : Fit, Comparisons, or anything that `judgerank.read` reads
        Judgments are fitted as `judgerank.fit` does by default.
    judgments : Comparisons, or anything that `judgerank.read` reads, optional
        The raw judgments behind it, T rows, where the fit does not hold them.
    question : array, shape (T,), optional
        Of each, where the fit or the judgments do not say. Sets of questions are sought too, and the tests allow
        for dependence within questions, where there are more questions than free parameters.
    level : float
        Of the tests.
    most : int
        Pairs of neighbours tried of every kind, those nearest to a change by the forecast; of the others the
        forecast is told.
    progress : callable, optional
        Called as the search goes on, with the number of changes that were looked at and of all.

    Raises
    ------
    ConfigError
        If `most` is not positive, or the fit has further blocks or question effects.
    DataError
        If these are not the comparisons that were fitted, or are aggregated.
    NoIntervalError
        If the fit has no information matrix that can be inverted.

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example())
    >>> fragile = judgerank.fragility(result, most=1)
    >>> type(fragile).__name__
    'Fragility'
    """
    if most < 1:
        raise ConfigError(f"most={most} is out of range: at least one pair is tried")
    fitted = fitted_to(fitted)
    require_member_alone(fitted, "fragility")
    comparisons, question = raw_and_question(fitted, judgments, question)
    start = start_of(fitted, comparisons, question, level)
    kinds = [judgments_as_units(comparisons, question)]
    kinds += [] if question is None else [questions_as_units(question)]
    ranked = np.argsort(-fitted.scores.to_numpy(), kind="stable")
    alone = _alone(start)
    kinds += [judges_as_units(comparisons)] if len(comparisons.judges) > 1 else []
    rows: list[dict[str, object]] = []
    removed: list[RemovedRows] = []
    total = len(kinds) * (1 + len(_neighbours(start, ranked)))
    for change, units, i, j, removal in _searched(start, kinds, ranked, list(alone.values()), most):
        rows.append(_row(change, units, comparisons.models[i], comparisons.models[j], removal))
        removed.append(RemovedRows(*rows_of(removal, start)))
        if progress is not None:
            progress(len(rows), total)
    return Fragility(pd.DataFrame(rows, columns=COLUMNS), tuple(removed), _table(start, alone))


def _neighbours(start: Part, ranked: IntArray) -> list[tuple[str, int, int, Goal]]:
    """Changes of neighbours that are not there yet: kind of change, two models, and the goal."""
    pairs = list(zip(ranked[:-1].tolist(), ranked[1:].tolist(), strict=True))
    kinds = ("swap", swapped), ("separation", open_pair)
    goals = [(change, i, j, goal_of(i, j)) for change, goal_of in kinds for i, j in pairs]
    return [goal for goal in goals if goal[-1].gap(start) > 0]


def _searched(
    start: Part, kinds: list[Units], ranked: IntArray, alone: list[Part], most: int
) -> Iterator[tuple[str, Units, int, int, Removal]]:
    """What was found on the first model and on every two neighbours, by each kind of unit."""
    neighbours = _neighbours(start, ranked)
    for units in kinds:
        candidates = alone if units.name == "judges" else []
        yield "top", units, *_top(start, units, ranked, candidates)
        for change in dict.fromkeys(change for change, *_ in neighbours):
            goals = [(i, j, goal) for kind, i, j, goal in neighbours if kind == change]
            forecasts = [forecast(start, units, goal) for _, _, goal in goals]
            tried = set(np.argsort(forecasts, kind="stable")[:most].tolist())
            for position, (i, j, goal) in enumerate(goals):
                if position in tried:
                    removal = _found(start, units, goal, candidates)
                else:
                    removal = Removal(forecasts[position], least(start, units, goal), None, None, NOT_TRIED)
                yield change, units, i, j, removal


def top_change(fitted: Fit, comparisons: Comparisons) -> pd.Series:
    """The row of `Fragility.changes` on the first model and single judgments; `fragility` says what is raised."""
    start = start_of(fitted, comparisons, None)
    units = judgments_as_units(comparisons)
    ranked = np.argsort(-fitted.scores.to_numpy(), kind="stable")
    i, j, removal = _top(start, units, ranked, ())
    return pd.Series(_row("top", units, comparisons.models[i], comparisons.models[j], removal))


def start_of(fitted: Fit, comparisons: Comparisons, question: IntArray | None, level: float = 0.95) -> Part:
    """Everything, its tests allowing for questions where they are known."""
    return whole_part(fitted, comparisons, question, level)


def _found(start: Part, units: Units, goal: Goal, candidates: Iterable[Part], below: float = np.inf) -> Removal:
    """The smallest set, by those that were left out alone before where there are any; `below` as of `smallest`."""
    for part in candidates:
        if goal.gap(part) <= 0:
            return Removal(forecast(start, units, goal), 1.0, 1, part, "")
    return smallest(start, units, goal, below)


def _top(start: Part, units: Units, ranked: IntArray, candidates: Iterable[Part]) -> tuple[int, int, Removal]:
    """The first model, the one that takes its place with the fewest units left out, and these."""
    top, candidates = int(ranked[0]), list(candidates)
    forecasts = {int(j): forecast(start, units, swapped(top, int(j))) for j in ranked[1 : NEAREST + 1]}
    tried = sorted(forecasts, key=forecasts.__getitem__)[:CHALLENGERS]
    best, removal = tried[0], _found(start, units, swapped(top, tried[0]), candidates)
    for j in tried[1:]:
        fewest = np.inf if removal.size is None else float(removal.size)
        alternative = _found(start, units, swapped(top, j), candidates, fewest)
        if alternative.size is not None and alternative.size < fewest:
            best, removal = j, alternative
    return top, best, removal


def _row(change: str, units: Units, first: str, second: str, removal: Removal) -> dict[str, object]:
    share = np.nan if removal.size is None else removal.size / units.total
    size = pd.NA if removal.size is None else removal.size
    bound = int(removal.at_least) if np.isfinite(removal.at_least) else pd.NA
    values = (change, units.name, first, second, bound, size, units.total, share, removal.forecast, removal.why)
    return dict(zip(COLUMNS, values, strict=True))


def _alone(start: Part) -> dict[str, Part]:
    """What is left without each judge, where that can be fitted."""
    judges, parts = start.whole.comparisons.judges, {}
    for k, name in enumerate(judges if len(judges) > 1 else ()):
        try:
            parts[name] = start.without(np.where(start.whole.comparisons.judge == k, 0.0, start.left), cold=True)
        except JudgerankError:
            continue
    return parts


def _table(start: Part, alone: dict[str, Part]) -> pd.DataFrame:
    scores = start.fitted.scores
    rows: list[dict[str, object]] = []
    for judge in start.whole.comparisons.judges:
        if judge not in alone:
            rows.append({"judge": judge, "why": "without this judge there is no ranking"})
            continue
        fitted = alone[judge].fitted
        row: dict[str, object] = {"judge": judge, "top": fitted.scores.idxmax(), "why": ""}
        row["moved"] = int((fitted.ranks != start.fitted.ranks).sum())
        row["correlation"] = float(fitted.scores.rank().corr(scores.rank()))
        try:
            now, before = (_pairs_apart(part) for part in (alone[judge], start))
            rows.append(row | {"lost": len(before - now), "gained": len(now - before)})
        except JudgerankError as error:
            rows.append(row | {"why": str(error)})
    return (
        pd.DataFrame(rows).reindex(columns=OF_JUDGES).astype(dict.fromkeys(["moved", "lost", "gained"], "Int64"))
    )


def _pairs_apart(part: Part) -> set[tuple[str, str]]:
    """Pairs that are separated, the higher score first."""
    pairs = [
        (order.models[i], order.models[j])
        for order in part.orders
        for i, j in zip(*np.triu_indices(len(order.models), 1), strict=True)
    ]
    is_separated = separated(part.orders, part.whole.level)
    return {pair for pair, yes in zip(pairs, is_separated, strict=True) if yes}
