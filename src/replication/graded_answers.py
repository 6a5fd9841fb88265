"""Answers that say how strong they are: what that adds to a winner or tie, on simulated judges and on real ones.

Simulated judges answer on five levels by the law of the graded members (`judgerank.model.law`), or by one that
breaks it. The same answers are ranked with their strength, by winner and tie, and by winner with half a win for a
tie.

The real sets have a confidence that each judge stated beside its answer. It is taken for strength: much better
where it is in the upper half of that judge's confidences. What it carries is measured on held-out questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.frames import numbers_in
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import wald
from judgerank.model.draw_levels import draw_levels, graded_comparisons
from judgerank.model.law import Law
from judgerank.model.members import NAMED
from judgerank.model.simulate import generator
from judgerank.order.pairs import orders_by_errors, separated, standardised
from judgerank.ranking.studies.prediction import held_out, mean_of, sample_of
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
    equal : bool
        All models have one score.
    """

    alike: bool = True
    extremes: bool = False
    biased: bool = False
    one_sided: bool = False
    noise: int = 0
    equal: bool = False


ANSWERED: dict[str, Answering] = {
    "judges alike": Answering(),
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
    apart = np.zeros(N_JUDGMENTS) if how.equal else SCORES[ends[0]] - SCORES[ends[1]]
    eta = DISCRIMINATION[judge] * apart + np.where((judge == 0) & how.biased, BIAS, 0.0)
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


def has_confidence(judgments: Judgments) -> bool:
    """Whether its judges stated any."""
    return "judge_confidence" in judgments.frame and bool(
        np.isfinite(numbers_in(judgments.frame["judge_confidence"])).any()
    )


def with_confidence(judgments: Judgments) -> Judgments:
    """The set with its judges' confidence as strength: much better in the upper half of the judge's own."""
    frame = judgments.frame[judgments.parsed]
    confidence = numbers_in(frame["judge_confidence"]).copy()
    much = np.zeros(len(frame), bool)
    for own in pd.Series(np.arange(len(frame))).groupby(frame["judge_model"].to_numpy()):
        much[own[1]] = upper_half(confidence[own[1]])
    return replace(judgments, comparisons=strengthened(judgments.comparisons, much))


def upper_half(confidence: FloatArray) -> BoolArray:
    """Which are at or above the value that splits them most evenly; none if all are alike, nor what is missing."""
    known = confidence[np.isfinite(confidence)]
    cuts = np.unique(known)[1:]
    if not len(cuts):
        return np.zeros(len(confidence), bool)
    shares = (known[:, None] >= cuts).mean(axis=0)
    found: BoolArray = np.nan_to_num(confidence, nan=-np.inf) >= cuts[np.abs(shares - 0.5).argmin()]
    return found


def strengthened(rows: Comparisons, much: BoolArray) -> Comparisons:
    """Raw comparisons with the wins under a mask much better."""
    strong = np.stack([much & (rows.outcome == 1), much & (rows.outcome == 0)], axis=1).astype(float)
    return replace(rows.with_ties(), strong=strong)


def shuffled(judgments: Judgments, rng: np.random.Generator) -> Judgments:
    """The set with every judge's strengths dealt among its own decided answers anew."""
    c = judgments.comparisons
    much, decided = c.known_strength.any(axis=1), c.outcome != 0.5
    for k in range(len(c.judges)):
        own = np.flatnonzero(decided & (c.judge == k))
        much[own] = rng.permutation(much[own])
    return replace(judgments, comparisons=strengthened(replace(c, strong=None), much))


def carried(judgments: Judgments, seed: int) -> list[dict[str, Any]]:
    """Held-out log-loss of winner or tie with confidence as strength, with it shuffled, and without.

    Fits are shrunk, with the standard deviations of the whole set's fit. Errors are over questions.
    """
    positions = judgments.name == "in_house"
    graded = NAMED["position_aware_graded" if positions else "judge_aware_graded"]
    plain = NAMED["position_aware_ties" if positions else "judge_aware_ties"]
    known = with_confidence(judgments)
    anew = shuffled(known, generator(seed, "graded", judgments.name))
    losses, rows = {}, []
    for way, one, member in (
        ("winner or tie", known, plain),
        ("confidence as strength", known, graded),
        ("shuffled confidence", anew, graded),
    ):
        sample = sample_of(one)
        found = held_out(sample, member, fit(sample.comparisons, member, "penalised"))
        if isinstance(found, str):
            raise DataError(f"{judgments.name}, {way}: {found}")
        losses[way] = found[1]
        weight = np.bincount(sample.unit, sample.comparisons.count, len(found[1]))
        mean, error = mean_of(found[1], weight)
        more, more_error = mean_of(found[1] - losses["winner or tie"], weight)
        rows.append(
            {
                "dataset": judgments.name,
                "way": way,
                "member": member.name,
                "log_loss": mean,
                "log_loss_se": error,
                "difference": more,
                "difference_se": more_error,
                "comparisons": float(weight.sum()),
                "questions": len(weight),
            }
        )
    return rows


def by_judge(judgments: Judgments) -> pd.DataFrame:
    """How each judge uses confidence: where it is high, between models far apart and between close ones.

    Returns
    -------
    DataFrame
        ``dataset, judge, comparisons, share_tie, values, median, share_close, share_far``: distinct confidences,
        their median, and shares of much better among decided answers, of pairs whose scores (by winner or tie) are
        closer than those of the median pair and of the others.
    """
    known = with_confidence(judgments)
    c, frame = known.comparisons, judgments.frame[judgments.parsed]
    confidence = numbers_in(frame["judge_confidence"])
    scores = fit(c, "judge_aware_ties", "penalised").scores.to_numpy()
    lead, decided = np.abs(scores[c.first] - scores[c.second]), c.outcome != 0.5
    far, much = lead > np.median(lead), c.known_strength.any(axis=1)
    rows = []
    for k, judge in enumerate(c.judges):
        own = c.judge == k
        told = confidence[own & np.isfinite(confidence)]
        rows.append(
            {
                "dataset": judgments.name,
                "judge": judge,
                "comparisons": int(own.sum()),
                "share_tie": float((~decided[own]).mean()),
                "values": len(np.unique(told)),
                "median": float(np.median(told)) if len(told) else np.nan,
                "share_close": _share(much[own & decided & ~far]),
                "share_far": _share(much[own & decided & far]),
            }
        )
    return pd.DataFrame(rows)


def _share(mask: BoolArray) -> float:
    return float(mask.mean()) if len(mask) else np.nan
