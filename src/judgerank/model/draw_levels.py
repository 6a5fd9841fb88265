"""Graded answers drawn from the law: a winner or a tie, and how strong it is."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons


def draw_levels(rng: np.random.Generator, probability: FloatArray) -> IntArray:
    """A level for every row of probabilities, shape (T, L): its place among the L, shape (T,)."""
    return levels_at(probability, rng.random(len(probability)))


def levels_at(probability: FloatArray, chance: FloatArray) -> IntArray:
    """Places of the levels that uniform draws, shape (...), pick by probabilities, shape (..., L)."""
    edges = np.cumsum(probability, axis=-1)
    return np.asarray((chance[..., None] * edges[..., -1:] > edges).sum(axis=-1), np.intp)


def graded_comparisons(
    models: tuple[str, ...], judges: tuple[str, ...], who: IntArray, level: IntArray, levels: int = 5
) -> Comparisons:
    """Raw comparisons of graded answers, of five levels by default.

    Parameters
    ----------
    models, judges : tuple of str
    who : int array, shape (3, T)
        Model shown first, model shown second and judge.
    level : int array, shape (T,)
        0 much better for the second, 1 better, 2 a tie, 3 better for the first, 4 much better.
    levels : int
        How many there are, ties among them: 5, 7, ..., the tie in the middle.
    """
    tie = levels // 2
    outcome = (1.0 + np.sign(level - tie)) / 2
    sides = [level == tie + sign * size for size in range(2, tie + 1) for sign in (1, -1)]
    strong = np.stack(sides, axis=1).astype(float)
    tied = (level == tie).astype(float)
    first, second, judge = who
    return Comparisons(models, judges, first, second, judge, outcome, tied=tied, strong=strong)
