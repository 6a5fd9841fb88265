"""The probability of the letter in place of the letter: simulated judges who give both.

On an item judge k reads the margin m = gamma_k (s_i - s_j + e) + v: e is the item's own, v this reading's, both
normal. It says A with probability sigmoid(m), or else wherever m > 0. It states p = sigmoid(c_k m + u), u noise of
the statement. The outcome is the letter, 1 or 0, or it is p: a win by the share p, and a loss by the rest.

The likelihood of such shares is the model's: cross-entropy with soft labels. It finds the scores wherever the mean
of p rises with s_i - s_j as the model has it (Papke and Wooldridge, 1996). Plug-in errors are wrong then: p varies
less than a letter does. Those clustered by item are right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from replication.replicate import Record
from replication.statistics import kendall
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

SCORES = np.linspace(0.6, -0.6, 8)
DISCRIMINATION = 1.5 * np.exp(np.linspace(-0.7, 0.7, 6))
ITEM_SD, READING_SD = 0.5, 1.0  # of e, in scores, and of v, in log-odds
N_JUDGMENTS = 600
SURE = 5.0  # log-odds of who is sure at random
EVEN = (1.0,) * len(DISCRIMINATION)


@dataclass(frozen=True)
class Answering:
    """How judges come to their letters and to the probabilities they state.

    Attributes
    ----------
    drawn : bool
        The letter is drawn with its probability; else the likelier one is said.
    together : bool
        Every item is judged by all judges; else each by one.
    confidence : tuple of float, shape (K,)
        c_k: above one for over-confident judges, below for flat ones.
    noise : float
        Standard deviation of the statement's own noise u, in log-odds.
    unrelated : bool
        p is on the letter's side, and how far is drawn uniformly.
    at_random : int
        How many of the judges, the most discriminating first, state that they are sure, of either side at random.
    rounded : bool
        p is stated as 0 or 1.
    equal : bool
        All models have one score.
    """

    drawn: bool = False
    together: bool = False
    confidence: tuple[float, ...] = EVEN
    noise: float = 0.0
    unrelated: bool = False
    at_random: int = 0
    rounded: bool = False
    equal: bool = False


WEAK_ARE_SURE = tuple(3.0 if gamma < np.median(DISCRIMINATION) else 0.3 for gamma in DISCRIMINATION)
ANSWERED: dict[str, Answering] = {
    "letter drawn with chance p": Answering(drawn=True),
    "likelier letter": Answering(),
    "likelier letter, all judges on an item": Answering(together=True),
    "over-confident, c = 3": Answering(confidence=tuple(3 * c for c in EVEN)),
    "flat, c = 0.3": Answering(confidence=tuple(0.3 * c for c in EVEN)),
    "weak judges c = 3, strong ones 0.3": Answering(confidence=WEAK_ARE_SURE),
    "p rounded, letter drawn": Answering(drawn=True, rounded=True),
    "one judge sure at random": Answering(at_random=1),
    "how sure is unrelated, side is not": Answering(unrelated=True),
    "p as much noise as margin": Answering(noise=2.0),
    "p sure, and mostly noise": Answering(confidence=tuple(3 * c for c in EVEN), noise=10.0),
    "equal models": Answering(equal=True),
}
# ways to a ranking: the member, and what is taken for the outcome
WAYS = {
    "letter": ("judge_aware", "letter"),
    "p": ("judge_aware", "p"),
    "p, weighted": ("judge_aware", "weighted"),
    "letter, BTL": ("btl", "letter"),
    "p, BTL": ("btl", "p"),
}


def drawn(rng: np.random.Generator, how: Answering) -> tuple[Comparisons, FloatArray, IntArray]:
    """Judgments by their letters, the probabilities stated with them, and the item behind each."""
    n, k = len(SCORES), len(DISCRIMINATION)
    judge = np.arange(N_JUDGMENTS) % k
    item = np.arange(N_JUDGMENTS) // (k if how.together else 1)
    ends = np.array([rng.permutation(n)[:2] for _ in range(item[-1] + 1)])
    difference = rng.normal(0.0, ITEM_SD, len(ends))
    if not how.equal:
        difference = difference + SCORES[ends[:, 0]] - SCORES[ends[:, 1]]
    margin = DISCRIMINATION[judge] * difference[item] + rng.normal(0.0, READING_SD, N_JUDGMENTS)
    letter = rng.random(N_JUDGMENTS) < expit(margin) if how.drawn else margin > 0
    p = expit(np.array(how.confidence)[judge] * margin + rng.normal(0.0, how.noise, N_JUDGMENTS))
    if how.unrelated:
        p = 0.5 + (letter - 0.5) * rng.random(N_JUDGMENTS)
    p = np.where(judge >= k - how.at_random, expit(SURE * rng.choice([-1.0, 1.0], N_JUDGMENTS)), p)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    rows = Comparisons(*names, *ends[item].T, judge, letter.astype(float))
    return rows, np.round(p) if how.rounded else p, item


def weighted(rows: Comparisons, fitted: Fit) -> Comparisons:
    """The same rows, each judge's weighted by one over the dispersion of its outcomes about the fit.

    The dispersion is the mean of (y - P)^2 / (P (1 - P)): one for letters, less for probabilities, least for a
    judge who never strays far from one half. Without it a judge weighs as much as it is sure (Wedderburn, 1974).
    """
    mean = fitted.probability(rows)
    squares = (rows.outcome - mean) ** 2 / (mean * (1 - mean))
    dispersion = np.bincount(rows.judge, squares) / np.bincount(rows.judge)
    return replace(rows, count=rows.count / dispersion[rows.judge])


def fits_of(letters: Comparisons, p: FloatArray) -> dict[str, tuple[Fit, Comparisons]]:
    """The fit of every one of `WAYS`, and the rows it is of."""
    rows = {"letter": letters, "p": replace(letters, outcome=p)}
    fits: dict[str, tuple[Fit, Comparisons]] = {}
    for variant, (member, outcome) in WAYS.items():
        start = None
        if outcome == "weighted":
            start = fits["p"][0].solution.parameters
            rows[outcome] = weighted(rows["p"], fits["p"][0])
        fits[variant] = fit(rows[outcome], member, start=start), rows[outcome]
    return fits


def answered_once(settings: dict, rng: np.random.Generator) -> Record:
    """One set of judgments: how far off every way is and what its intervals hold, or what it separates."""
    how, level = Answering(**settings["how"]), settings["level"]
    letters, p, item = drawn(rng, how)
    record: Record = {}
    for variant, (fitted, rows) in fits_of(letters, p).items():
        kinds = by_errors(fitted, rows, item)
        measures = any_separated(kinds, level) if how.equal else _measured(kinds, level)
        record |= {f"{name}/{variant}": value for name, value in measures.items()}
    return record


def _measured(kinds: Mapping[str, Fit], level: float) -> dict[str, float]:
    """How far off scores and discriminations are, and what intervals of the scores hold."""
    fitted = kinds["plug_in"]
    measures = {"squared": squared_error(fitted, SCORES), "tau": kendall(fitted.scores.to_numpy(), SCORES)}
    if fitted.model.judge_blocks:
        measures["discrimination"] = kendall(fitted.discrimination.to_numpy(), DISCRIMINATION)
    for kind, share, error in covered(kinds, SCORES, level):
        measures |= {f"covered_{kind}": share, f"error_{kind}": error}
    return measures


def answered(records: pd.DataFrame, name: str) -> Rows:
    """Means by way with their Monte Carlo errors.

    ``gain`` is the mean squared error by letters over that of the way, of one member. ``narrower`` is the share of
    sets of judgments in which the mean clustered error, which anyone can see, is below that by letters.
    """
    complete_records, counts = complete(records)
    by_way = {variant: measures_of(complete_records, variant) for variant in WAYS}
    rows = []
    for variant, (member, _) in WAYS.items():
        row: dict[str, Any] = {"setting": name, "way": variant, "member": member}
        mine = by_way[variant]
        if "squared" in mine:
            letter = by_way[
                next(letter_variant for letter_variant, reading in WAYS.items() if reading == (member, "letter"))
            ]
            row |= _root_mean(mine["squared"]) | gain(mine["squared"], letter["squared"])
            narrower = (mine["error_clustered"] < letter["error_clustered"]).astype(float)
            mine = mine.drop(columns="squared").assign(narrower=narrower)
        rows.append(row | with_errors(mine) | counts)
    return rows


def _root_mean(squared: pd.Series) -> dict[str, float]:
    """Root mean squared error, with its error by the delta method."""
    root = np.sqrt(squared.mean())
    return {"rmse": root, "rmse_se": squared.std() / np.sqrt(len(squared)) / (2 * root)}
