"""The penalty of shrinkage: its precision as a matrix, or as blocks and a few directions across them.

Blocks are shrunk that have a standard deviation, by name: `scores`, those that every judge has, and further ones.
What is added to the quality of an answer, scores among it, is shrunk times the mean discrimination: on the scale
on which discriminations have the mean one. Where their geometric mean is one, all of it could be shrunk by the
fall of a single judge who says next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.engine.arrow import Arrow
from judgerank.engine.sums import Evaluation
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

WIDE = 10.0  # standard deviation of a block's mean, where it is free: it stays finite and moves freely
ALPHA = "log_discrimination"
Spread = Mapping[str, float]


def penalty(model: Model, at: Parameters, spread: Spread, observed: bool = False) -> FloatArray:
    """Precision matrix at a point of (s, judges' blocks, further blocks), shape (D, D), D = N + B K + P.

    With `observed`, the second derivatives of the penalty: those of the scale on which qualities are shrunk, too.

    Parameters
    ----------
    at : Parameters
        The precision depends on it, since the prior is of qualities times the mean discrimination.
    spread : mapping of str to float
        Standard deviation by block.
    """
    n, k = len(at.scores), at.judges.shape[1]
    precision = np.diag(_by_itself(model, at, spread))
    for row, name in enumerate(model.judge_blocks):
        if name in spread and name != ALPHA:  # their mean is free, or nearly so
            place = slice(n + row * k, n + (row + 1) * k)
            precision[place, place] += _of_mean(spread[name] ** 2, k)
    squares, values = qualities(model, at, spread)
    if not squares.any():
        return precision
    # J'J of the scaled qualities' derivatives J = (I, values share') over their scale
    precision[np.diag_indices_from(precision)] += squares
    _, share = scale(model, at)
    judges, pull = slice(n, n + len(share)), squares * values
    cross = (1 + observed) * pull[:, None] * share
    precision[:, judges] += cross
    precision[judges] += cross.T
    own = share[:, None] * share
    precision[judges, judges] += (pull @ values) * (own + observed * np.diag(share))
    return precision


def qualities(model: Model, at: Parameters, spread: Spread) -> tuple[FloatArray, FloatArray]:
    """Precision and value of every shrunk part of a quality, zero for all else, both of shape (D,)."""
    n, judges = len(at.scores), at.judges.size
    squares, values = np.zeros(n + judges + len(at.common)), np.zeros(n + judges + len(at.common))
    shrunk = [("scores", slice(0, n), at.scores)] if "scores" in spread else []
    for block in model.further:
        if block.role is Role.QUALITY and block.name in spread:
            place = model.place(block.name)
            shrunk.append((block.name, slice(n + judges + place.start, n + judges + place.stop), at.common[place]))
    mean_gamma = scale(model, at)[0] if shrunk else 1.0
    for name, there, of in shrunk:
        squares[there], values[there] = (mean_gamma / spread[name]) ** 2, of
    return squares, values


def scale(model: Model, at: Parameters) -> tuple[float, FloatArray]:
    """Mean discrimination, and each judge's share of their sum; one and nothing where there is none to fit."""
    if not model.weighs_judges:
        return 1.0, np.empty(0)
    gamma = np.exp(at.judges[0])
    total = gamma.sum()
    return float(total) / len(gamma), gamma / total


def _by_itself(model: Model, at: Parameters, spread: Spread) -> FloatArray:
    """Diagonal of the precision but for qualities, shape (D,)."""
    n, k = len(at.scores), at.judges.shape[1]
    diagonal = np.zeros(n + at.judges.size + len(at.common))
    for row, name in enumerate(model.judge_blocks):
        if name in spread:
            diagonal[n + row * k : n + (row + 1) * k] = spread[name] ** -2
    common = diagonal[n + at.judges.size :]
    for block in model.further:
        if block.role is not Role.QUALITY and block.name in spread:
            common[model.place(block.name)] = spread[block.name] ** -2
    return diagonal


def flat(at: Parameters) -> FloatArray:
    """All parameters in one vector, shape (D,), zero in place of those that are not finite."""
    return np.r_[at.scores, np.where(np.isfinite(at.judges), at.judges, 0.0).ravel(), at.common]


def _of_mean(square: float, n_judges: int) -> float:
    """What the precision of a block, one over its square on the diagonal, has everywhere besides."""
    return (1 / (square + n_judges * WIDE**2) - 1 / square) / n_judges


def pulled(model: Model, at: Parameters, spread: Spread) -> tuple[float, FloatArray]:
    """Twice the penalty at a point, and half of its derivatives by that, shape (D,)."""
    image, (squares, values) = apart_times(model, at, spread), qualities(model, at, spread)
    pull = squares * values
    size, n = float(pull @ values), len(at.scores)
    lost = size + float(flat(at) @ image)
    image += pull
    if model.weighs_judges:
        image[n : n + at.judges.shape[1]] += size * scale(model, at)[1]
    return lost, image


def apart_times(model: Model, at: Parameters, spread: Spread) -> FloatArray:
    """The precision but for qualities times the parameters, shape (D,); what is not finite counts as zero."""
    n, k, values = len(at.scores), at.judges.shape[1], flat(at)
    image = _by_itself(model, at, spread) * values
    for row, name in enumerate(model.judge_blocks):
        if name in spread and name != ALPHA:
            place = slice(n + row * k, n + (row + 1) * k)
            image[place] += _of_mean(spread[name] ** 2, k) * values[place].sum()
    return image


def log_prior_determinant(model: Model, at: Parameters, spread: Spread) -> float:
    """Log-determinant of the precision of scaled qualities and all else, in coordinates that sum to zero."""
    n, k, total = len(at.scores), at.judges.shape[1], 0.0
    if "scores" in spread:
        total += np.log(n) - 2 * (n - 1) * np.log(spread["scores"])
    for name in model.free_blocks:
        if name not in spread:
            continue
        square = spread[name] ** 2
        if name == ALPHA:
            total += np.log(k) - (k - 1) * np.log(square)
        else:
            total -= (k - 1) * np.log(square) + np.log(square + k * WIDE**2)
    for block in model.further:
        if block.name in spread:
            total -= 2 * len(block.labels) * np.log(spread[block.name])
    return float(total)


def n_scaled(model: Model, at: Parameters, spread: Spread) -> int:
    """Number of free qualities that are shrunk: of scores one less, since they sum to zero."""
    of_blocks = sum(len(b.labels) for b in model.further if b.role is Role.QUALITY and b.name in spread)
    return of_blocks + (len(at.scores) - 1) * ("scores" in spread)


def arrow(model: Model, at: Parameters, here: Evaluation, spread: Spread, observed: bool) -> Arrow:
    """Information of the comparisons, in the scores and what every judge has, and that of the penalty on it all.

    Parameters
    ----------
    here : Evaluation
        With the information in logarithms of discriminations; the expected one, or with `observed` minus the
        Hessian.
    """
    names, n, k = model.free_blocks, len(at.scores), at.judges.shape[1]
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
        if name != ALPHA:
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
