"""Answers that say how strong they are: what that adds to a winner or tie, on simulated judges.

They answer on five or seven levels by the law of the graded members (`judgerank.model.law`), or by one that
breaks it. The same answers are ranked with their strength, by winner and tie, and by winner with half a win for a
tie; those of seven levels also with the two strongest taken as one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.fits.fit import fit
from judgerank.model.draw_levels import draw_levels, graded_comparisons
from judgerank.model.law import Law
from replication.replicate import Record
from replication.tables import with_error
from studies.ways import Rows, any_separated, by_errors, complete, covered, gain, measures_of, squared_error

SCORES = np.linspace(1.0, -1.0, 6)
DISCRIMINATION = np.exp(np.linspace(-0.5, 0.5, 5))
TIE, STRONG, STRONGER = 0.5, 1.0, 0.5  # propensities of a judge like the others
USES = {  # of the scale, where they differ
    "nu": np.geomspace(0.15, 1.5, 5),
    "strong": np.geomspace(4.0, 0.1, 5),
    "stronger": np.geomspace(2.0, 0.05, 5),
}
N_JUDGMENTS = 800
ALWAYS = 1e9  # propensity that leaves better no chance
BIAS = 1.0  # log-odds for the first model of the judge with a position bias
WAYS = {
    "strength": "position_aware_graded",
    "winner or tie": "position_aware_ties",
    "winner": "position_aware",
}
MERGED = "five levels"  # a further way to take seven


@dataclass(frozen=True)
class Answering:
    """How judges answer.

    Attributes
    ----------
    alike : bool
        In how they use the scale; else each has propensities of its own.
    extremes : bool
        The first judge never says better without much.
    biased : bool
        The first judge favours the first model.
    one_sided : bool
        The first judge says much better of the first model only, so that its thresholds are not symmetric.
    noise : int
        How many of the judges, the first ones, say much better at random, whatever the lead.
    apart : float
        How many times as far apart the models are.
    equal : bool
        All models have one score.
    levels : int
        Five or seven, a tie in the middle. What breaks the law is of five.
    """

    alike: bool = True
    extremes: bool = False
    biased: bool = False
    one_sided: bool = False
    noise: int = 0
    apart: float = 1.0
    equal: bool = False
    levels: int = 5


ANSWERED: dict[str, Answering] = {
    "judges alike": Answering(),
    "judges alike, models twice as far apart": Answering(apart=2.0),
    "each uses the scale its own way": Answering(alike=False),
    "one judge of extremes": Answering(alike=False, extremes=True),
    "one judge with position bias": Answering(alike=False, biased=True),
    "one judge with lopsided thresholds": Answering(one_sided=True),
    "one judge's strength is noise": Answering(noise=1),
    "all judges' strength is noise": Answering(noise=5),
    "equal models": Answering(alike=False, equal=True),
}
SEVEN: dict[str, Answering] = {
    "seven levels, judges alike": Answering(levels=7),
    "seven levels, each uses the scale its own way": Answering(alike=False, levels=7),
}


def drawn(rng: np.random.Generator, how: Answering) -> Comparisons:
    """Raw comparisons with their levels."""
    n, k = len(SCORES), len(DISCRIMINATION)
    nu, strong, stronger = np.full(k, TIE), np.full(k, STRONG), np.full(k, STRONGER)
    if not how.alike:
        nu, strong, stronger = USES["nu"].copy(), USES["strong"].copy(), USES["stronger"]
    if how.extremes:
        nu[0], strong[0] = nu[0] * ALWAYS, ALWAYS
    ends = np.array([rng.permutation(n)[:2] for _ in range(N_JUDGMENTS)]).T
    judge = np.arange(N_JUDGMENTS) % k
    lead = 0.0 if how.equal else how.apart * (SCORES[ends[0]] - SCORES[ends[1]])
    eta = DISCRIMINATION[judge] * lead + np.where((judge == 0) & how.biased, BIAS, 0.0)
    beyond = [np.log(each[judge]) for each in (strong, stronger)[: how.levels // 2 - 1]]
    level = draw_levels(rng, Law(eta, nu[judge], *beyond).levels)
    if how.one_sided:
        level = np.where((judge == 0) & (level == 0), 1, level)
    at_random = (judge < how.noise) & (level != 2)
    much = rng.random(N_JUDGMENTS) < STRONG / (1 + STRONG)
    level = np.where(at_random, np.where(level > 2, np.where(much, 4, 3), np.where(much, 0, 1)), level)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    return graded_comparisons(*names, np.array([*ends, judge]), level, how.levels)


def merged(rows: Comparisons) -> Comparisons:
    """Answers on seven levels as five: the two strongest of either model are one."""
    if rows.strong is None:
        raise ValueError("these answers have no strength")
    return replace(rows, strong=rows.strong[:, :2] + rows.strong[:, 2:])


def answered_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One set of judgments: how far off every way is and what its intervals hold, or what it separates."""
    how, level = Answering(**settings["how"]), settings["level"]
    rows = drawn(rng, how)
    taken = {way: (rows, member) for way, member in WAYS.items()}
    if how.levels > Answering.levels:
        taken[MERGED] = merged(rows), WAYS["strength"]
    record: Record = {}
    for way, (each, member) in taken.items():
        fitted = fit(each, member)
        kinds = by_errors(fitted, each, np.arange(len(each)))
        if how.equal:
            told = any_separated(kinds, level)
        else:
            told = {"squared": squared_error(fitted, SCORES)}
            told |= {f"covered_{kind}": share for kind, share, _ in covered(kinds, SCORES, level)}
        record |= {f"{name}/{way}": value for name, value in told.items()}
    return record


def answered(records: pd.DataFrame, name: str) -> Rows:
    """Means by way with their Monte Carlo errors.

    ``gain`` is the mean squared error by winner or tie over that of the way.
    """
    kept, counts = complete(records)
    rows = []
    for way in WAYS:
        row: dict[str, Any] = {"setting": name, "way": way, "member": WAYS[way]}
        if f"squared/{way}" in kept:
            mine = kept[f"squared/{way}"]
            row |= {"rmse": np.sqrt(mine.mean())} | gain(mine, kept["squared/winner or tie"])
        rows.append(row | _others(kept, way) | counts)
    return rows


def seven_levels(records: pd.DataFrame, name: str) -> Rows:
    """What seven levels add to fewer, and what intervals hold by each, with Monte Carlo errors.

    ``gain`` is the mean squared error by fewer levels over that by seven.
    """
    kept, counts = complete(records)
    rows = []
    for way, levels in {"strength": 7, MERGED: 5, "winner or tie": 3, "winner": 2}.items():
        theirs = kept[f"squared/{way}"]
        row = {"setting": name, "levels": levels, "rmse": np.sqrt(theirs.mean())}
        rows.append(row | gain(kept["squared/strength"], theirs) | _others(kept, way) | counts)
    return rows


def _others(kept: pd.DataFrame, way: str) -> dict[str, float]:
    """Means of all measures of a way but the squared error, with their errors."""
    found: dict[str, float] = {}
    for measure, values in measures_of(kept, way).items():
        if measure != "squared":
            found |= with_error(measure, values)
    return found
