"""Answers that say how strong they are: on simulated judges, as pairs of scores, and as stated confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import expit

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.frames import numbers_in
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.heldout import losses_with_ties
from judgerank.model.law import Law, draw_levels, graded_comparisons
from judgerank.model.members import NAMED, Model
from judgerank.ranking.studies.prediction import held_out, mean_of, sample_of
from replication.replicate import Record
from replication.tables import with_errors
from studies.default_fits import (
    Rows,
    any_separated,
    by_errors,
    complete,
    covered,
    gain,
    measures_of,
    squared_error,
)

# Answers that say how strong they are: what that adds to a winner or tie, on simulated judges.
#
# They answer on five or seven levels by the law of the graded members (`judgerank.model.law`), or by one that
# breaks it. The same answers are ranked with their strength, by winner and tie, and by winner with half a win for
# a tie; those of seven levels also with the two strongest taken as one.
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
WAYS = {"strength": "position_aware_graded", "winner or tie": "position_aware_ties", "winner": "position_aware"}
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
    gap_factor : float
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
    gap_factor: float = 1.0
    equal: bool = False
    levels: int = 5


ANSWERED: dict[str, Answering] = {
    "judges alike": Answering(),
    "judges alike, models twice as far apart": Answering(gap_factor=2.0),
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
    lead = 0.0 if how.equal else how.gap_factor * (SCORES[ends[0]] - SCORES[ends[1]])
    eta = DISCRIMINATION[judge] * lead + np.where((judge == 0) & how.biased, BIAS, 0.0)
    beyond = [np.log(thresholds[judge]) for thresholds in (strong, stronger)[: how.levels // 2 - 1]]
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
    readings = {variant: (rows, member) for variant, member in WAYS.items()}
    if how.levels > Answering.levels:
        readings[MERGED] = merged(rows), WAYS["strength"]
    record: Record = {}
    for variant, (comparisons, member) in readings.items():
        fitted = fit(comparisons, member)
        kinds = by_errors(fitted, comparisons, np.arange(len(comparisons)))
        if how.equal:
            measures = any_separated(kinds, level)
        else:
            measures = {"squared": squared_error(fitted, SCORES)}
            measures |= {f"covered_{kind}": share for kind, share, _ in covered(kinds, SCORES, level)}
        record |= {f"{name}/{variant}": value for name, value in measures.items()}
    return record


def answered(records: pd.DataFrame, name: str) -> Rows:
    """Means by way with their Monte Carlo errors.

    ``gain`` is the mean squared error by winner or tie over that of the way.
    """
    complete_records, counts = complete(records)
    rows = []
    for variant in WAYS:
        row: dict[str, Any] = {"setting": name, "way": variant, "member": WAYS[variant]}
        if f"squared/{variant}" in complete_records:
            mine = complete_records[f"squared/{variant}"]
            row |= {"rmse": np.sqrt(mine.mean())} | gain(mine, complete_records["squared/winner or tie"])
        rows.append(row | _other_measures(complete_records, variant) | counts)
    return rows


def seven_levels(records: pd.DataFrame, name: str) -> Rows:
    """What seven levels add to fewer, and what intervals hold by each, with Monte Carlo errors.

    ``gain`` is the mean squared error by fewer levels over that by seven.
    """
    complete_records, counts = complete(records)
    rows = []
    for variant, levels in {"strength": 7, MERGED: 5, "winner or tie": 3, "winner": 2}.items():
        theirs = complete_records[f"squared/{variant}"]
        row = {"setting": name, "levels": levels, "rmse": np.sqrt(theirs.mean())}
        rows.append(
            row
            | gain(complete_records["squared/strength"], theirs)
            | _other_measures(complete_records, variant)
            | counts
        )
    return rows


def _other_measures(complete_records: pd.DataFrame, variant: str) -> dict[str, float]:
    """Means of all measures of a way but the squared error, with their errors."""
    return with_errors(measures_of(complete_records, variant).drop(columns="squared", errors="ignore"))


# Judges that score both answers: are gaps better read as levels or as shares of a win? Simulated.
#
# A judge's score of an answer is its offset plus its slope times the answer's quality, with noise, rounded to 1 to
# 10. The quality is the model's score plus a deviation of the answer, which all judges see. Pairs of scores are
# ranked as winners, as winners or ties, as levels (much better above the judge's own median gap, as
# `judgerank.reading.layouts.strength.by_gaps` does) and as shares, sigmoid(gap / median gap), a continuous law.
N_JUDGES, N_QUESTIONS, N_HELD_OUT = 5, 160, 1_000  # every judge scores one pair of answers on each question
ANSWER_SD = 0.5
LOWEST, HIGHEST = 1.0, 10.0
SCORE_READINGS = {
    "levels": "judge_aware_graded",
    "shares": "judge_aware",
    "winner or tie": "judge_aware_ties",
    "winner": "judge_aware",
}
MOST_SLOPE = 20.0  # of the recalibration


@dataclass(frozen=True)
class Scoring:
    """By judge: a typical score, points for a difference of one in quality, standard deviation of the noise."""

    offset: tuple[float, ...] = (5.5,) * N_JUDGES
    slope: tuple[float, ...] = (1.5,) * N_JUDGES
    noise: tuple[float, ...] = (1.0,) * N_JUDGES


SCORED: dict[str, Scoring] = {
    "judges alike": Scoring(),
    "each uses the scale its own way": Scoring(
        (4.0, 5.0, 6.0, 7.0, 8.0), (0.5, 1.0, 1.5, 2.0, 3.0), (0.5, 1.0, 1.0, 2.0, 1.0)
    ),
    "most scores are 9 or 10": Scoring(offset=(9.0,) * N_JUDGES),
    "two judges score at random": Scoring(slope=(0.0, 0.0, 1.5, 1.5, 1.5)),
}


def gaps(rng: np.random.Generator, how: Scoring, n_questions: int) -> tuple[IntArray, FloatArray]:
    """First model, second model and judge, shape (3, T), and the first score less the second."""
    n = len(SCORES)
    judge = np.tile(np.arange(N_JUDGES), n_questions)
    question = np.repeat(np.arange(n_questions), N_JUDGES)
    ends = np.array([rng.permutation(n)[:2] for _ in judge]).T
    quality = SCORES + ANSWER_SD * rng.standard_normal((n_questions, n))
    offset, slope, noise = (np.array(values)[judge] for values in (how.offset, how.slope, how.noise))
    first, second = (
        np.clip(
            np.round(offset + slope * quality[question, end] + noise * rng.standard_normal(len(judge))),
            LOWEST,
            HIGHEST,
        )
        for end in ends
    )
    return np.array([*ends, judge]), first - second


def read_as(variant: str, who: IntArray, gap: FloatArray) -> Comparisons:
    """The pairs of scores as one of `WAYS` has them."""
    size = pd.Series(np.abs(gap)).where(gap != 0)
    median = size.groupby(who[2]).transform("median").to_numpy()
    outcome, tied, strong = (np.sign(gap) + 1) / 2, None, None
    if variant == "shares":
        outcome = expit(gap / median)
    elif variant != "winner":
        tied = (gap == 0).astype(float)
    if variant == "levels":
        strong = np.stack([gap > median, -gap > median], axis=1).astype(float)
    names = tuple(f"m{i}" for i in range(len(SCORES))), tuple(f"j{k}" for k in range(N_JUDGES))
    return Comparisons(*names, *who, outcome, tied=tied, strong=strong)


def scored_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One set of pairs of scores: how far off each way is, and how well it predicts who scores higher on new ones.

    The log-odds of every way are stretched by one factor that suits the pairs at hand, since ways differ in unit.
    """
    how = Scoring(**settings["how"])
    (who, gap), (new, new_gap) = gaps(rng, how, N_QUESTIONS), gaps(rng, how, N_HELD_OUT // N_JUDGES)
    record = {}
    for variant, member in SCORE_READINGS.items():
        fitted = fit(read_as(variant, who, gap), member, shrink=True)
        s, gamma = fitted.scores.to_numpy(), fitted.discrimination.to_numpy()
        record[f"squared/{variant}"] = squared_error(fitted, SCORES)
        seen, unseen = (gamma[k] * (s[i] - s[j]) for i, j, k in (who, new))
        stretch = minimize_scalar(_loss, bounds=(0.0, MOST_SLOPE), args=(seen, gap), method="bounded").x
        record[f"loss/{variant}"] = _loss(stretch, unseen, new_gap)
    return record


def _loss(stretch: float, eta: FloatArray, gap: FloatArray) -> float:
    """Mean log-loss of which answer scores higher, where one does."""
    decided = gap != 0
    return float(np.logaddexp(0.0, -np.sign(gap[decided]) * stretch * eta[decided]).mean())


def scored(records: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """Means by way with Monte Carlo errors; gain as in `graded_answers.answered`, loss against winner or tie."""
    root, rows = np.sqrt(len(records)), []
    for variant in SCORE_READINGS:
        mine, winner = records[f"squared/{variant}"], records["squared/winner or tie"]
        more = records[f"loss/{variant}"] - records["loss/winner or tie"]
        rows.append(
            {
                "setting": name,
                "way": variant,
                "rmse": np.sqrt(mine.mean()),
                **gain(mine, winner),
                "loss": records[f"loss/{variant}"].mean(),
                "loss_difference": more.mean(),
                "loss_difference_se": more.std() / root,
                "n_replications": len(records),
            }
        )
    return rows


# The confidence that judges stated beside their answers, taken for strength: what it carries on real sets.
#
# An answer is much better where its confidence is in the upper half of that judge's own. What that carries is
# measured by the log-loss of winner or tie on held-out questions, with all judgments at hand and with few.
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
    for rows_of_judge in pd.Series(np.arange(len(frame))).groupby(frame["judge_model"].to_numpy()):
        much[rows_of_judge[1]] = upper_half(confidence[rows_of_judge[1]])
    return replace(judgments, comparisons=strengthened(judgments.comparisons, much))


def upper_half(confidence: FloatArray) -> BoolArray:
    """Which are at or above the value that splits them most evenly; none if all are alike, nor what is missing."""
    finite = confidence[np.isfinite(confidence)]
    cuts = np.unique(finite)[1:]
    if not len(cuts):
        return np.zeros(len(confidence), bool)
    shares = (finite[:, None] >= cuts).mean(axis=0)
    is_upper: BoolArray = np.nan_to_num(confidence, nan=-np.inf) >= cuts[np.abs(shares - 0.5).argmin()]
    return is_upper


def strengthened(rows: Comparisons, much: BoolArray) -> Comparisons:
    """Raw comparisons with the wins under a mask much better."""
    strong = np.stack([much & (rows.outcome == 1), much & (rows.outcome == 0)], axis=1).astype(float)
    return replace(rows.with_ties(), strong=strong)


def shuffled(judgments: Judgments, rng: np.random.Generator) -> Judgments:
    """The set with every judge's strengths dealt among its own decided answers anew."""
    c = judgments.comparisons
    much, decided = c.known_strength.any(axis=1), c.outcome != 0.5
    for k in range(len(c.judges)):
        rows_of_judge = np.flatnonzero(decided & (c.judge == k))
        much[rows_of_judge] = rng.permutation(much[rows_of_judge])
    return replace(judgments, comparisons=strengthened(replace(c, strong=None), much))


def ways_of(judgments: Judgments, seed: int) -> Iterator[tuple[str, Judgments, Model]]:
    """What is fitted: the answers alone, with their confidence, and with every judge's confidences shuffled."""
    kind = "position_aware" if judgments.name == IN_ORDER else "judge_aware"
    with_strength = with_confidence(judgments)
    yield WINNER, with_strength, NAMED[f"{kind}_ties"]
    yield STATED, with_strength, NAMED[f"{kind}_graded"]
    yield SHUFFLED, shuffled(with_strength, generator(seed, "graded", judgments.name)), NAMED[f"{kind}_graded"]


def carried(judgments: Judgments, seed: int) -> Iterator[dict[str, Any]]:
    """Held-out log-loss of winner or tie, fitted to four fifths of the questions.

    Fits are shrunk, with the standard deviations of the whole set's fit. Errors are over questions.

    Raises
    ------
    DataError
        If a fit cannot be had.
    """
    losses = {}
    for variant, version, member in ways_of(judgments, seed):
        sample = sample_of(version)
        prediction = held_out(sample, member, fit(sample.comparisons, member, "penalised"))
        if isinstance(prediction, str):
            raise DataError(f"{judgments.name}, {variant}: {prediction}")
        losses[variant] = prediction[1]
        weight = np.bincount(sample.unit, sample.comparisons.count, len(prediction[1])).astype(float)
        row: dict[str, Any] = {"dataset": judgments.name, "way": variant, "member": member.name}
        row["log_loss"], row["log_loss_se"] = mean_of(prediction[1], weight)
        row["difference"], row["difference_se"] = mean_of(prediction[1] - losses[WINNER], weight)
        yield row | {"comparisons": int(weight.sum()), "questions": len(weight)}


def carried_by_few(judgments: Judgments, size: int, draws: int, seed: int) -> Iterator[dict[str, Any]]:
    """The same fitted to so many judgments of a draw, and predicted on others; errors are over draws."""
    variants, losses = list(ways_of(judgments, seed)), np.zeros((draws, 3))
    for draw in range(draws):
        order = generator(seed, "few", judgments.name, draw).permutation(len(judgments.comparisons))
        train_rows, left_out = np.sort(order[:size]), np.sort(order[size : size + MOST])
        for column, (_, version, member) in enumerate(variants):
            train, test = version.comparisons.take(train_rows), version.comparisons.take(left_out)
            test = test.with_judges(name for name in test.judges if name in train.judges)
            fitted = fit(train, member, "penalised")
            losses[draw, column] = losses_with_ties(fitted, train, test).mean()
    for column, (variant, _, member) in enumerate(variants):
        row: dict[str, Any] = {"dataset": judgments.name, "way": variant, "member": member.name}
        for name, values in (("log_loss", losses[:, column]), ("difference", losses[:, column] - losses[:, 0])):
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
    with_strength = with_confidence(judgments)
    c, frame = with_strength.comparisons, judgments.frame[judgments.parsed]
    confidence = numbers_in(frame["judge_confidence"])
    scores = fit(c, "judge_aware_ties", "penalised").scores.to_numpy()
    lead, decided = np.abs(scores[c.first] - scores[c.second]), c.outcome != 0.5
    far, much = lead > np.median(lead), c.known_strength.any(axis=1)
    rows = []
    for k, judge in enumerate(c.judges):
        is_of_judge = c.judge == k
        stated = confidence[is_of_judge & np.isfinite(confidence)]
        rows.append(
            {
                "dataset": judgments.name,
                "judge": judge,
                "comparisons": int(is_of_judge.sum()),
                "share_tie": float((~decided[is_of_judge]).mean()),
                "values": len(np.unique(stated)),
                "median": float(np.median(stated)) if len(stated) else np.nan,
                "share_close": _share(much[is_of_judge & decided & ~far]),
                "share_far": _share(much[is_of_judge & decided & far]),
            }
        )
    return pd.DataFrame(rows)


def _share(mask: BoolArray) -> float:
    return float(mask.mean()) if len(mask) else np.nan
