"""Answers that say how strong they are: what that adds to a winner or tie, on simulated judges.

They answer on five levels by the law of the graded members (`judgerank.model.law`), or by one that
breaks it. The same answers are ranked with their strength, by winner and tie, and by winner with half a win for a
tie.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import wald
from judgerank.model.draw_levels import draw_levels, graded_comparisons
from judgerank.model.law import Law
from judgerank.order.pairs import orders_by_errors, separated, standardised
from replication.replicate import Record

SCORES = np.linspace(1.0, -1.0, 6)
DISCRIMINATION = np.exp(np.linspace(-0.5, 0.5, 5))
TIE, STRONG = 0.5, 1.0  # propensities of a judge like the others
USES = {"nu": np.geomspace(0.15, 1.5, 5), "strong": np.geomspace(4.0, 0.1, 5)}  # of the scale, where they differ
N_JUDGMENTS = 800
ALWAYS = 1e9  # propensity that leaves better no chance
BIAS = 1.0  # log-odds for the first model of the judge with a position bias
WAYS = {
    "strength": "position_aware_graded",
    "winner or tie": "position_aware_ties",
    "winner": "position_aware",
}


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
    """

    alike: bool = True
    extremes: bool = False
    biased: bool = False
    one_sided: bool = False
    noise: int = 0
    apart: float = 1.0
    equal: bool = False


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


def drawn(rng: np.random.Generator, how: Answering) -> Comparisons:
    """Raw comparisons with their levels."""
    n, k = len(SCORES), len(DISCRIMINATION)
    nu, strong = np.full(k, TIE), np.full(k, STRONG)
    if not how.alike:
        nu, strong = USES["nu"].copy(), USES["strong"].copy()
    if how.extremes:
        nu[0], strong[0] = nu[0] * ALWAYS, ALWAYS
    ends = np.array([rng.permutation(n)[:2] for _ in range(N_JUDGMENTS)]).T
    judge = np.arange(N_JUDGMENTS) % k
    lead = 0.0 if how.equal else how.apart * (SCORES[ends[0]] - SCORES[ends[1]])
    eta = DISCRIMINATION[judge] * lead + np.where((judge == 0) & how.biased, BIAS, 0.0)
    level = draw_levels(rng, Law(eta, nu[judge], np.log(strong[judge])).levels)
    if how.one_sided:
        level = np.where((judge == 0) & (level == 0), 1, level)
    at_random = (judge < how.noise) & (level != 2)
    much = rng.random(N_JUDGMENTS) < STRONG / (1 + STRONG)
    level = np.where(at_random, np.where(level > 2, np.where(much, 4, 3), np.where(much, 0, 1)), level)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    return graded_comparisons(*names, np.array([*ends, judge]), level)


def answered_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One set of judgments: how far off every way is and what its intervals hold, or what it separates."""
    how, level = Answering(**settings["how"]), settings["level"]
    rows = drawn(rng, how)
    record: Record = {}
    for way, member in WAYS.items():
        fitted = fit(rows, member)
        kinds = {"plug_in": fitted, "clustered": fitted.clustered(rows, np.arange(len(rows)))}
        if how.equal:
            for kind, order in zip(kinds, orders_by_errors(*kinds.values()), strict=True):
                record[f"separated_{kind}/{way}"] = float(separated(order, level).any())
            continue
        record |= {f"{name}/{way}": value for name, value in _kept(fitted, kinds, level)}
    return record


def _kept(fitted: Fit, kinds: dict[str, Fit], level: float) -> Iterator[tuple[str, float]]:
    """Squared error of the scores over their standard deviation, and coverage by kind of error."""
    true, s, n = SCORES / SCORES.std(), fitted.scores.to_numpy(), len(SCORES)
    yield "squared", float(((s / s.std() - true) ** 2).mean())
    for kind, each in kinds.items():
        scaled, v = standardised(s, each.covariance[:n, :n])
        low, high = wald(scaled, np.sqrt(np.diag(v)), level, each.degrees_of_freedom)
        yield f"covered_{kind}", float(((low <= true) & (true <= high)).mean())


def answered(records: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """Means by way with their Monte Carlo errors.

    ``gain`` is the mean squared error by winner or tie over that of the way. As it falls as one over the number of
    judgments, one of these judgments carries as much as so many that say winner or tie.
    """
    measures = [column for column in records if "/" in column]
    kept = records.dropna(subset=measures)
    root, rows = np.sqrt(len(kept)), []
    for way in WAYS:
        row: dict[str, Any] = {"setting": name, "way": way, "member": WAYS[way]}
        if f"squared/{way}" in kept:
            mine, winner = kept[f"squared/{way}"], kept["squared/winner or tie"]
            gain = winner.mean() / mine.mean()
            row |= {"rmse": np.sqrt(mine.mean()), "gain": gain}
            row["gain_se"] = (winner - gain * mine).std() / root / mine.mean()
        for measure in (
            m.split("/")[0] for m in measures if m.endswith(f"/{way}") and not m.startswith("squared")
        ):
            values = kept[f"{measure}/{way}"]
            row |= {measure: values.mean(), f"{measure}_se": values.std() / root}
        rows.append(row | {"failed": len(records) - len(kept), "n_replications": len(records)})
    return rows
