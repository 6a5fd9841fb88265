"""Judgments to play with, simulated by the model that `judgerank rank` fits."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from random import Random

import pandas as pd

SEED = 2026
SCORES = {"maple": 0.85, "oak": 0.8, "willow": 0.2, "cedar": -0.1, "hazel": -0.7, "thorn": -1.1}
JUDGES = {  # discrimination, and position bias in log-odds
    "judge-large": (1.9, 0.1),
    "judge-medium": (1.3, 0.3),
    "judge-small": (0.8, 0.0),
    "judge-first": (1.0, 1.5),
    "judge-random": (0.0, 0.0),
}
CATEGORIES = ("coding", "reasoning", "writing")
LIKES_CODING = ("willow", 0.5)  # who is better than its score there, and by how much
QUESTIONS, PAIRS = 150, 2  # questions, and pairs compared on each
QUALITY = 0.5  # standard deviation of an answer around its model's score, the same for all judges
TIES = 0.1  # share of judgments
Record = dict[str, str]


def judgments() -> Iterator[Record]:
    """One record for each question, pair and judge, in an order of presentation drawn for each."""
    draw = Random(SEED)
    for number in range(1, QUESTIONS + 1):
        category = CATEGORIES[number % len(CATEGORIES)]
        quality = {name: score + QUALITY * _normal(draw) for name, score in SCORES.items()}
        if category == CATEGORIES[0]:
            quality[LIKES_CODING[0]] += LIKES_CODING[1]
        names = _shuffled(draw)
        for left, right in zip(names[:PAIRS], names[PAIRS : 2 * PAIRS], strict=True):
            for judge, (discrimination, position) in JUDGES.items():
                first, second = (left, right) if draw.random() < 0.5 else (right, left)
                lead = discrimination * (quality[first] - quality[second]) + position
                wins = draw.random() < 1 / (1 + exp(-lead))
                winner = "tie" if draw.random() < TIES else "model_a" if wins else "model_b"
                about = {"question_id": f"simulated-{number:03d}", "category": category}
                yield {**about, "model_a": first, "model_b": second, "judge": judge, "winner": winner}


def _normal(draw: Random) -> float:
    """About a standard normal, of sums alone, so that it is the same on every machine."""
    return sum(draw.random() for _ in range(12)) - 6


def _shuffled(draw: Random) -> list[str]:
    """The models in an order at random."""
    keys = {name: draw.random() for name in SCORES}
    return sorted(keys, key=keys.__getitem__)


def example() -> pd.DataFrame:
    """Simulated judgments to play with: those that ``judgerank example`` writes.

    Of five judges, one favours the answer shown first and one answers at random.

    Returns
    -------
    DataFrame
        1,500 rows: ``question_id, category, model_a, model_b, judge, winner``.

    Examples
    --------
    >>> import judgerank
    >>> judgerank.example().shape
    (1500, 6)
    """
    return pd.DataFrame(judgments())
