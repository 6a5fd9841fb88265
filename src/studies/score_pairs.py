"""Judges that score both answers: are gaps better read as levels or as shares of a win? Simulated.

A judge's score of an answer is its offset plus its slope times the answer's quality, with noise, rounded to 1 to
10. The quality is the model's score plus a deviation of the answer, which all judges see. Pairs of scores are
ranked as winners, as winners or ties, as levels (much better above the judge's own median gap, as
`judgerank.reading.layouts.strength.by_gaps` does) and as shares, sigmoid(gap / median gap), a continuous law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import expit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.fit import fit
from replication.replicate import Record
from studies.graded_answers import SCORES
from studies.ways import gain, squared_error

N_JUDGES, N_QUESTIONS, N_HELD_OUT = 5, 160, 1_000  # every judge scores one pair of answers on each question
ANSWER_SD = 0.5
LOWEST, HIGHEST = 1.0, 10.0
WAYS = {
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
            np.round(offset + slope * quality[question, one] + noise * rng.standard_normal(len(judge))),
            LOWEST,
            HIGHEST,
        )
        for one in ends
    )
    return np.array([*ends, judge]), first - second


def read_as(way: str, who: IntArray, gap: FloatArray) -> Comparisons:
    """The pairs of scores as one of `WAYS` has them."""
    size = pd.Series(np.abs(gap)).where(gap != 0)
    median = size.groupby(who[2]).transform("median").to_numpy()
    outcome, tied, strong = (np.sign(gap) + 1) / 2, None, None
    if way == "shares":
        outcome = expit(gap / median)
    elif way != "winner":
        tied = (gap == 0).astype(float)
    if way == "levels":
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
    for way, member in WAYS.items():
        fitted = fit(read_as(way, who, gap), member, shrink=True)
        s, gamma = fitted.scores.to_numpy(), fitted.discrimination.to_numpy()
        record[f"squared/{way}"] = squared_error(fitted, SCORES)
        seen, unseen = (gamma[k] * (s[i] - s[j]) for i, j, k in (who, new))
        stretch = minimize_scalar(_loss, bounds=(0.0, MOST_SLOPE), args=(seen, gap), method="bounded").x
        record[f"loss/{way}"] = _loss(stretch, unseen, new_gap)
    return record


def _loss(stretch: float, eta: FloatArray, gap: FloatArray) -> float:
    """Mean log-loss of which answer scores higher, where one does."""
    decided = gap != 0
    return float(np.logaddexp(0.0, -np.sign(gap[decided]) * stretch * eta[decided]).mean())


def scored(records: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """Means by way with Monte Carlo errors; gain as in `graded_answers.answered`, loss against winner or tie."""
    root, rows = np.sqrt(len(records)), []
    for way in WAYS:
        mine, winner = records[f"squared/{way}"], records["squared/winner or tie"]
        more = records[f"loss/{way}"] - records["loss/winner or tie"]
        rows.append(
            {
                "setting": name,
                "way": way,
                "rmse": np.sqrt(mine.mean()),
                **gain(mine, winner),
                "loss": records[f"loss/{way}"].mean(),
                "loss_difference": more.mean(),
                "loss_difference_se": more.std() / root,
                "n_replications": len(records),
            }
        )
    return rows
