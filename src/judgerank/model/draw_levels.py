"""Graded answers drawn from the law: a winner or a tie, and how strong it is."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.model.law import Law
from judgerank.model.members import JudgeValues


def draw_levels(rng: np.random.Generator, probability: FloatArray) -> IntArray:
    """A level for every row of probabilities, shape (T, L): its place among the L, shape (T,)."""
    return levels_at(probability, rng.random(len(probability)))


def levels_at(probability: FloatArray, chance: FloatArray) -> IntArray:
    """Places of the levels that uniform draws, shape (...), pick by probabilities, shape (..., L)."""
    edges = np.cumsum(probability, axis=-1)
    return np.asarray((chance[..., None] * edges[..., -1:] > edges).sum(axis=-1), np.intp)


def graded_comparisons(
    models: tuple[str, ...], judges: tuple[str, ...], who: IntArray, level: IntArray
) -> Comparisons:
    """Raw comparisons of five levels.

    Parameters
    ----------
    models, judges : tuple of str
    who : int array, shape (3, T)
        Model shown first, model shown second and judge.
    level : int array, shape (T,)
        0 much better for the second, 1 better, 2 a tie, 3 better for the first, 4 much better.
    """
    outcome = np.array([0.0, 0.0, 0.5, 1.0, 1.0])[level]
    strong = np.stack([level == 4, level == 0], axis=1).astype(float)
    tied = (level == 2).astype(float)
    first, second, judge = who
    return Comparisons(models, judges, first, second, judge, outcome, tied=tied, strong=strong)


def draw_graded(rng: np.random.Generator, scores: FloatArray, values: JudgeValues, who: IntArray) -> Comparisons:
    """Answers of judges with thresholds to comparisons (first, second, judge), shape (3, T)."""
    i, j, k = who
    eta = values.gamma[k] * (scores[i] - scores[j]) + values.position[k]
    nu, strong = (None if own is None else own[k] for own in (values.nu, values.log_strong))
    level = draw_levels(rng, Law(eta, nu, strong).levels)
    models = tuple(f"m{place}" for place in range(len(scores)))
    judges = tuple(f"j{place}" for place in range(len(values.gamma)))
    return graded_comparisons(models, judges, who, level)
