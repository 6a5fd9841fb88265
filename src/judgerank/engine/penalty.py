"""The penalty of shrinkage: its precision as a matrix, or as blocks and a few directions across them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.engine.arrow import Arrow
from judgerank.engine.sums import Evaluation
from judgerank.model.members import Model, Parameters

WIDE = 10.0  # standard deviation of a block's mean, where it is free: it stays finite and moves freely


def penalty(model: Model, at: Parameters, spread: Mapping[str, float]) -> np.ndarray:
    """Precision matrix at a point of the free parameters (s, judges' blocks), of which the first two sum to zero.

    Parameters
    ----------
    at : Parameters
        The precision depends on it, since the prior is of the scores times the mean discrimination.
    spread : mapping of str to float
        Standard deviation by block, ``scores`` among them.

    Returns
    -------
    float array, shape (D, D)
    """
    n_models = len(at.scores)
    mean_gamma, share = scale(model, at)
    precision = apart(model, n_models, at.judges.shape[1], spread)
    # J'J of the scaled scores' derivatives J = (I, s share') over their scale
    square, by_judge = (mean_gamma / spread["scores"]) ** 2, slice(n_models, n_models + len(share))
    np.fill_diagonal(precision[:n_models, :n_models], square)
    cross = square * (at.scores[:, None] * share)
    precision[:n_models, by_judge], precision[by_judge, :n_models] = cross, cross.T
    precision[by_judge, by_judge] += square * (at.scores @ at.scores) * (share[:, None] * share)
    return precision


def scale(model: Model, at: Parameters) -> tuple[float, np.ndarray]:
    """Mean discrimination, and each judge's share of their sum; one and nothing where there is none to fit."""
    if "log_discrimination" not in free_blocks(model):
        return 1.0, np.empty(0)
    gamma = np.exp(at.judges[0])
    total = gamma.sum()
    return float(total) / len(gamma), gamma / total


def apart(model: Model, n_models: int, n_judges: int, spread: Mapping[str, float]) -> np.ndarray:
    """Precision matrix of the judges' blocks; that of the scores is left zero."""
    names = free_blocks(model)
    precision = np.zeros((n_models + len(names) * n_judges,) * 2)
    for number, name in enumerate(names):
        square, place = spread[name] ** 2, n_models + number * n_judges
        block = precision[place : place + n_judges, place : place + n_judges]
        if name != "log_discrimination":  # their mean is free, or nearly so
            block += _of_mean(square, n_judges)
        block.flat[:: n_judges + 1] += 1 / square
    return precision


def free_blocks(model: Model) -> tuple[str, ...]:
    return model.judge_blocks[model.fixed_scale :]


def _of_mean(square: float, n_judges: int) -> float:
    """What the precision of a block, one over its square on the diagonal, has everywhere besides."""
    return (1 / (square + n_judges * WIDE**2) - 1 / square) / n_judges


def apart_times(model: Model, full: FloatArray, n_models: int, spread: Mapping[str, float]) -> FloatArray:
    """The matrix of `apart` times a vector, shape (D,)."""
    names, image = free_blocks(model), np.zeros_like(full)
    many = (len(full) - n_models) // max(1, len(names))
    for number, name in enumerate(names):
        place = slice(n_models + number * many, n_models + (number + 1) * many)
        image[place] = full[place] / spread[name] ** 2
        if name != "log_discrimination":
            image[place] += _of_mean(spread[name] ** 2, many) * full[place].sum()
    return image


def log_prior_determinant(model: Model, n_models: int, n_judges: int, spread: Mapping[str, float]) -> float:
    """Log-determinant of the precision of the scaled scores and of `apart`, in coordinates that sum to zero."""
    total = np.log(n_models) - 2 * (n_models - 1) * np.log(spread["scores"])
    for name in free_blocks(model):
        square = spread[name] ** 2
        if name == "log_discrimination":
            total += np.log(n_judges) - (n_judges - 1) * np.log(square)
        else:
            total -= (n_judges - 1) * np.log(square) + np.log(square + n_judges * WIDE**2)
    return float(total)


def arrow(model: Model, at: Parameters, here: Evaluation, spread: Mapping[str, float], observed: bool) -> Arrow:
    """Information of the comparisons, in the scores and the free blocks, and that of the penalty.

    Parameters
    ----------
    here : Evaluation
        With the information in logarithms of discriminations; the expected one, or with `observed` minus the
        Hessian.
    """
    names, n, k = free_blocks(model), len(at.scores), at.judges.shape[1]
    mean_gamma, share = scale(model, at)
    square, blocks = (mean_gamma / spread["scores"]) ** 2, slice(model.fixed_scale, None)
    size, width = square * (at.scores @ at.scores), n + len(names) * k
    own = here.judge_information[:, blocks, blocks] + np.diag([1 / spread[name] ** 2 for name in names])
    held = [(np.sqrt(np.trace(here.top_information) / n), slice(0, n))]
    columns, weights = [], []
    if len(share):
        own[:, 0, 0] += observed * size * share
        columns += [np.r_[at.scores, np.zeros(width - n)], np.r_[np.zeros(n), share, np.zeros(width - n - k)]]
        held.append((np.sqrt(own[:, 0, 0].mean()), slice(n, n + k)))
    for number, name in enumerate(names):
        if name != "log_discrimination":
            columns.append(_ones(width, slice(n + number * k, n + (number + 1) * k)))
            weights.append(_of_mean(spread[name] ** 2, k))
    sums = np.array([_ones(width, place) / np.sqrt(place.stop - place.start) for _, place in held]).T
    weight = np.diag([*[0.0] * (2 * (len(share) > 0)), *weights, *(stiff**2 for stiff, _ in held)])
    if len(share):
        weight[0, 1] = weight[1, 0] = square * (1 + observed)
        weight[1, 1] = size
    top = here.top_information + square * np.eye(n)
    return Arrow(top, here.cross_information[blocks], own, np.column_stack([*columns, sums]), weight, sums)


def _ones(size: int, place: slice) -> FloatArray:
    ones = np.zeros(size)
    ones[place] = 1.0
    return ones
