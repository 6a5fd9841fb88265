"""The confidence that judges stated beside their answers, taken for strength: what it carries on real sets.

An answer is much better where its confidence is in the upper half of that judge's own. What that carries is
measured by the log-loss of winner or tie on held-out questions, with all judgments at hand and with few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.frames import numbers_in
from judgerank.data.judgments import Judgments
from judgerank.fits.crossvalidation import losses_with_ties
from judgerank.fits.fit import fit
from judgerank.model.members import NAMED, Model
from judgerank.model.streams import generator
from judgerank.ranking.studies.prediction import held_out, mean_of, sample_of

IN_ORDER = "in_house"  # the set whose order of presentation tells positions from scores
WINNER, STATED, SHUFFLED = "winner or tie", "confidence as strength", "shuffled confidence"
MOST = 5_000  # judgments predicted from few


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


def ways_of(judgments: Judgments, seed: int) -> Iterator[tuple[str, Judgments, Model]]:
    """What is fitted: the answers alone, with their confidence, and with every judge's confidences shuffled."""
    kind = "position_aware" if judgments.name == IN_ORDER else "judge_aware"
    known = with_confidence(judgments)
    yield WINNER, known, NAMED[f"{kind}_ties"]
    yield STATED, known, NAMED[f"{kind}_graded"]
    yield SHUFFLED, shuffled(known, generator(seed, "graded", judgments.name)), NAMED[f"{kind}_graded"]


def carried(judgments: Judgments, seed: int) -> Iterator[dict[str, Any]]:
    """Held-out log-loss of winner or tie, fitted to four fifths of the questions.

    Fits are shrunk, with the standard deviations of the whole set's fit. Errors are over questions.

    Raises
    ------
    DataError
        If a fit cannot be had.
    """
    losses = {}
    for way, one, member in ways_of(judgments, seed):
        sample = sample_of(one)
        found = held_out(sample, member, fit(sample.comparisons, member, "penalised"))
        if isinstance(found, str):
            raise DataError(f"{judgments.name}, {way}: {found}")
        losses[way] = found[1]
        weight = np.bincount(sample.unit, sample.comparisons.count, len(found[1])).astype(float)
        row: dict[str, Any] = {"dataset": judgments.name, "way": way, "member": member.name}
        row["log_loss"], row["log_loss_se"] = mean_of(found[1], weight)
        row["difference"], row["difference_se"] = mean_of(found[1] - losses[WINNER], weight)
        yield row | {"comparisons": int(weight.sum()), "questions": len(weight)}


def carried_by_few(judgments: Judgments, size: int, draws: int, seed: int) -> Iterator[dict[str, Any]]:
    """The same fitted to so many judgments of a draw, and predicted on others; errors are over draws."""
    ways, losses = list(ways_of(judgments, seed)), np.zeros((draws, 3))
    for draw in range(draws):
        order = generator(seed, "few", judgments.name, draw).permutation(len(judgments.comparisons))
        kept, left_out = np.sort(order[:size]), np.sort(order[size : size + MOST])
        for place, (_, one, member) in enumerate(ways):
            train, test = one.comparisons.take(kept), one.comparisons.take(left_out)
            test = test.with_judges(name for name in test.judges if name in train.judges)
            fitted = fit(train, member, "penalised")
            losses[draw, place] = losses_with_ties(fitted, train, test).mean()
    for place, (way, _, member) in enumerate(ways):
        row: dict[str, Any] = {"dataset": judgments.name, "way": way, "member": member.name}
        for name, values in (("log_loss", losses[:, place]), ("difference", losses[:, place] - losses[:, 0])):
            row |= {name: values.mean(), f"{name}_se": values.std(ddof=1) / np.sqrt(draws)}
        yield row | {"comparisons": size, "draws": draws}


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
