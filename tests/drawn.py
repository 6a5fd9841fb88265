"""Graded answers and rankings with ties, drawn from their laws for the tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.rankings import Ranked
from judgerank.model.law import Law, draw_levels, graded_comparisons
from judgerank.model.members import JudgeValues
from judgerank.model.tied_law import sets_of


def draw_graded(rng: np.random.Generator, scores: FloatArray, values: JudgeValues, who: IntArray) -> Comparisons:
    """Answers of judges with thresholds to comparisons (first, second, judge), shape (3, T)."""
    i, j, k = who
    eta = values.gamma[k] * (scores[i] - scores[j]) + values.position[k]
    nu = None if values.nu is None else values.nu[k]
    chance = Law(eta, nu, *values.log_strong[:, k]).levels
    models = tuple(f"m{place}" for place in range(len(scores)))
    judges = tuple(f"j{place}" for place in range(len(values.gamma)))
    return graded_comparisons(models, judges, who, draw_levels(rng, chance), chance.shape[-1])


def draw_rankings(
    rng: np.random.Generator,
    scores: FloatArray,
    values: JudgeValues,
    log_delta: Mapping[int, FloatArray],
    judge: IntArray,
    shown: IntArray,
) -> list[Ranked]:
    """Rankings by judges, of models named m0, m1, ... in the order of their scores' places.

    Parameters
    ----------
    rng : Generator
    scores : float array, shape (N,)
    values : JudgeValues
        Discriminations and positions are used.
    log_delta : mapping of int to float array, shape (K,)
        Log propensity to tie so many answers, by judge; no ties without any.
    judge : int array, shape (R,)
        Who ranks.
    shown : int array, shape (R, k)
        The models of each ranking in the order in which their answers are shown.
    """
    found, sizes = list[Ranked](), (1, *log_delta)
    for k, those in zip(judge.tolist(), shown, strict=True):
        u = values.gamma[k] * scores[those] - values.position[k] * np.arange(len(those))
        left, groups = np.arange(len(those)), list[IntArray]()
        while len(left) > 1:
            sets = sets_of(len(left), sizes)
            exponent = sets.share @ u[left]
            for size, own in log_delta.items():
                exponent[sets.size == size] += own[k]
            weight = np.exp(exponent - exponent.max())
            chosen = sets.share[[rng.choice(len(weight), p=weight / weight.sum())]].indices
            groups.append(left[chosen])
            left = np.delete(left, chosen)
        groups += [left] if len(left) else []
        names = [f"m{model}" for model in those.tolist()]
        found.append(Ranked(tuple(tuple(names[place] for place in group) for group in groups), (), tuple(names)))
    return found


def name_of(designs: Mapping[str, object], design: object) -> str:
    """Name under which a study stores a design."""
    (name,) = (name for name, other in designs.items() if other == design)
    return name
