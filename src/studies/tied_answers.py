"""Ways in which judges come to ties, and what fits keep of sets with them.

Six models are evenly spaced, or two groups of three equal ones; four judges differ in discrimination. Where ties
count as half wins, win probabilities are not those of the model that ranks, so intervals are held against the
limit of the fit: the exact fit of very many answers of the same kind.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import expit

from judgerank.data.arrays import FloatArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.fits.fit import fit
from judgerank.model.members import Parameters
from judgerank.order.scale import scale_of

GAMMA = (1.4, 1.0, 0.8, 0.5)
SPACED = tuple(0.36 * np.arange(6))  # scores
GROUPS = (0.0, 0.0, 0.0, 1.08, 1.08, 1.08)
BOTH_BAD = 1.6  # log-odds of a tie for each unit by which both answers are worse
LIMIT_SIZE = 100_000  # answers whose exact fit stands for the limit


def tied_answers(
    kind: str, sizes: tuple[float, ...], scores: tuple[float, ...], size: int, rng: np.random.Generator
) -> Comparisons:
    """Raw comparisons of random pairs by random judges.

    Parameters
    ----------
    kind : str
        ``threshold``: a tie where the log-odds with their noise are below the judge's size; ``davidson``: with
        that propensity; ``careless``: with that probability, whatever the models; ``both_bad``: with that
        log-odds, rising as both models are worse.
    sizes : tuple of float
        By judge.
    scores : tuple of float
    size : int
    """
    s, n = np.array(scores) - np.mean(scores), len(scores)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    judge = rng.integers(len(GAMMA), size=size)
    eta, of_judge = np.array(GAMMA)[judge] * (s[first] - s[second]), np.array(sizes)[judge]
    noisy, chance = eta + rng.logistic(size=size), rng.random(size)
    tied = {
        "threshold": np.abs(noisy) < of_judge,
        "davidson": chance < of_judge / (of_judge + 2 * np.cosh(eta / 2)),
        "careless": chance < of_judge,
        "both_bad": chance < expit(of_judge - BOTH_BAD * (s[first] + s[second])),
    }[kind]
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{k}" for k in range(len(GAMMA)))
    return Comparisons(*names, first, second, judge, np.where(tied, 0.5, noisy > 0))


def true_order(scores: tuple[float, ...]) -> Parameters:
    """Scores and discriminations that the answers are drawn from."""
    alpha = np.log(GAMMA)
    return Parameters(np.array(scores) - np.mean(scores), (alpha - alpha.mean())[None])


@lru_cache(maxsize=64)
def limit(kind: str, sizes: tuple[float, ...], member: str) -> FloatArray:
    """Reported scores of the exact fit of very many answers on evenly spaced models, shape (N,)."""
    answers = tied_answers(kind, sizes, SPACED, LIMIT_SIZE, generator(0, "tied answers", kind))
    return scale_of(fit(answers, member)).scores
