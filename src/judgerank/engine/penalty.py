"""The penalty of shrinkage: its precision as a matrix, or as blocks and a few directions across them.

Blocks are shrunk that have a standard deviation, by name: `scores`, those that every judge has, and further ones.
What is added to the quality of an answer, scores among it, is shrunk times the mean discrimination: on the scale
on which discriminations have the mean one. Where their geometric mean is one, all of it could be shrunk by the
fall of a single judge who says next to nothing.

Scores are shrunk with what further blocks that nothing shrinks add to the models' answers on average. That is how
scores would be without those blocks (`judgerank.model.block`). Shrunk by themselves, they would leave to
such a block whatever it shares with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.engine.likelihood import Evaluation
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

# Systems with a block for every judge, a full one for the models, and a few directions across them all.
#
# The penalised log-likelihood of N models and K judges has the information
#
#     H = P + U W U',   P = (top, cross'; cross, own),
#
# own block-diagonal with one block of size B for each judge, and U of a few columns: what the penalty shares
# between judges, and what holds sums at zero. P is solved by its Schur complement in the scores, H by Woodbury's
# formula, so time and memory grow as K N^2 and K N where those of the whole matrix grow as K^3 and K^2.


@dataclass(frozen=True, eq=False)
class Arrow:
    """Minus second derivatives in the whole parameters (s, judges block by block), D = N + B K of them.

    Attributes
    ----------
    top : float array, shape (N, N)
    cross : float array, shape (B, K, N)
    quality_precision : float array, shape (K, B, B)
    across : float array, shape (D, R)
        U, of which the sums are the last columns: what holds them.
    weight : float array, shape (R, R)
        W, not singular.
    sums : float array, shape (D, C)
        Orthonormal; what is at right angles to them is all that counts.
    """

    top: FloatArray
    cross: FloatArray
    quality_precision: FloatArray
    across: FloatArray
    weight: FloatArray
    sums: FloatArray

    @cached_property
    def _inverse(self) -> FloatArray:
        """own_k^-1.

        Raises
        ------
        LinAlgError
            If one is not positive definite.
        """
        np.linalg.cholesky(self.quality_precision)
        return np.asarray(np.linalg.inv(self.quality_precision), float)

    def _over_own(self, sides: FloatArray) -> FloatArray:
        """own_k^-1 of rows of the judges, shape (B, K, M): a loop over the few blocks, none over the judges."""
        blocks = range(len(sides))
        return np.array([sum(self._inverse[:, a, b, None] * sides[b] for b in blocks) for a in blocks])

    @cached_property
    def _solved(self) -> FloatArray:
        """own_k^-1 cross_k, shape (B K, N)."""
        return self._over_own(self.cross).reshape(-1, len(self.top))

    @cached_property
    def _schur(self) -> tuple[FloatArray, bool]:
        """Cholesky's factor of top - sum cross_k' own_k^-1 cross_k.

        Raises
        ------
        LinAlgError
            If P is not positive definite.
        """
        factor: tuple[FloatArray, bool] = cho_factor(self.top - self._flat.T @ self._solved)
        return factor

    @property
    def _flat(self) -> FloatArray:
        return self.cross.reshape(-1, len(self.top))

    def _solve_arrow(self, sides: FloatArray) -> FloatArray:
        """P^-1 of some columns, shape (D, M)."""
        n, n_sides = len(self.top), sides.shape[1]
        low = self._over_own(sides[n:].reshape(*self.cross.shape[:2], n_sides)).reshape(-1, n_sides)
        top = cho_solve(self._schur, sides[:n] - self._flat.T @ low)
        return np.concatenate([top, low - self._solved @ top])

    @cached_property
    def _middle(self) -> tuple[FloatArray, FloatArray]:
        """P^-1 U, and W^-1 + U'P^-1 U.

        Raises
        ------
        LinAlgError
            If H is not positive definite: it is exactly if this has as many negative eigenvalues as W.
        """
        images, inverse = self._solve_arrow(self.across), np.linalg.inv(self.weight)
        middle = inverse + self.across.T @ images
        signs = [np.sum(np.linalg.eigvalsh((x + x.T) / 2) < 0) for x in (middle, inverse)]
        if signs[0] != signs[1]:
            raise LinAlgError("the matrix is not positive definite")
        return images, middle

    @property
    def is_positive(self) -> bool:
        """Whether H is positive definite, and P."""
        try:
            return len(self._middle) > 0
        except LinAlgError:
            return False

    def _solve_whole(self, sides: FloatArray) -> FloatArray:
        """H^-1 of some columns, shape (D, M)."""
        images, middle = self._middle
        solution = self._solve_arrow(sides)
        return solution - images @ np.linalg.solve(middle, self.across.T @ solution)

    @cached_property
    def _on_sums(self) -> FloatArray:
        """H^-1 of the sums, which are the last columns of U."""
        images, middle = self._middle
        n_sums = self.sums.shape[1]
        corrected: FloatArray = images[:, -n_sums:] - images @ np.linalg.solve(
            middle, self.across.T @ images[:, -n_sums:]
        )
        return corrected

    def solve(self, gradient: FloatArray) -> FloatArray:
        """The step d at right angles to the sums with H d = gradient but for those, shape (D,).

        Raises
        ------
        LinAlgError
            If H is not positive definite.
        """
        solution = self._solve_whole(gradient[:, None])
        held = self._on_sums @ np.linalg.solve(self.sums.T @ self._on_sums, self.sums.T @ solution)
        return (solution - held)[:, 0]

    def log_determinant(self) -> float:
        """Of H among what is at right angles to the sums, in orthonormal coordinates.

        Raises
        ------
        LinAlgError
            If H is not positive definite.
        """
        _, middle = self._middle
        parts = [self.quality_precision, self.weight, middle, self.sums.T @ self._on_sums]
        logs = [np.linalg.slogdet(part)[1].sum() for part in parts]
        return float(sum(logs) + 2 * np.log(np.abs(np.diag(self._schur[0]))).sum())


WIDE = 10.0  # standard deviation of a block's mean, where it is free: it stays finite and moves freely
ALPHA = "log_discrimination"
Spread = Mapping[str, float]


class _Point(NamedTuple):
    """A point and what is shrunk there, over its standard deviation; of shape (D,) if nothing else is said.

    Attributes
    ----------
    values : float array
        All parameters.
    share : float array, shape (K,)
        Of the judges in the mean discrimination; none where that is one.
    root : float array
        Derivatives of what is shrunk in its own parameter.
    of_quality, shared : float array, shape (N, P)
        Those of scores as shrunk, in the further blocks that add to qualities, and in all.
    quality, shrunk : float array
        The part that is in proportion to the mean discrimination, and all of it.
    """

    values: FloatArray
    share: FloatArray
    root: FloatArray
    of_quality: FloatArray
    shared: FloatArray
    quality: FloatArray
    shrunk: FloatArray


class Penalty:
    """The penalty of some standard deviations; what does not depend on the point is worked out once.

    Parameters are ordered as (s, judges' blocks, further blocks), D = N + B K + P of them.

    Parameters
    ----------
    model : Model
    n, k : int
        Models and judges.
    spread : mapping of str to float
        Standard deviation by block.
    """

    def __init__(self, model: Model, n: int, k: int, spread: Spread):
        self._model, self._judges = model, slice(n, n + k)
        common = n + len(model.judge_blocks) * k
        self._size = common + len(model.roles)
        self._deviation = np.full(self._size, np.inf)  # of every shrunk part of a quality
        self._diagonal = np.zeros(self._size)  # of the precision but for qualities
        self._means: list[tuple[slice, float]] = []  # what blocks of the judges have everywhere besides
        self._scores, self._common = slice(n), slice(common, self._size)
        # what further blocks share with the scores, over their standard deviation
        self._shared = {role: np.zeros((n, self._size - common)) for role in (Role.QUALITY, Role.OFFSET)}
        if "scores" in spread:
            self._deviation[:n] = spread["scores"]
            for block in model.further:
                if block.means is not None:
                    self._shared[block.role][:, model.place(block.name)] = block.means / spread["scores"]
        for row, name in enumerate(model.judge_blocks):
            if name in spread:
                columns = slice(n + row * k, n + (row + 1) * k)
                self._diagonal[columns] = spread[name] ** -2
                if name != ALPHA:  # their mean is free, or nearly so
                    self._means.append((columns, _of_mean(spread[name] ** 2, k)))
        for block in model.further:
            if block.name in spread:
                block_columns = model.place(block.name)
                columns = slice(common + block_columns.start, common + block_columns.stop)
                if block.role is Role.QUALITY:
                    self._deviation[columns] = spread[block.name]
                else:
                    self._diagonal[columns] = spread[block.name] ** -2
        self._of_qualities = bool(np.isfinite(self._deviation).any())
        self._last: tuple[Parameters, _Point] | None = None

    @cached_property
    def _fixed(self) -> FloatArray:
        """The precision but for qualities, shape (D, D)."""
        precision = np.diag(self._diagonal)
        for columns, everywhere in self._means:
            precision[columns, columns] += everywhere
        return precision

    def _point(self, parameters: Parameters) -> _Point:
        """What the penalty is made of at a point; kept for the last."""
        if self._last is None or self._last[0] is not parameters:
            mean_gamma, share = scale(self._model, parameters) if self._of_qualities else (1.0, np.empty(0))
            of_quality = mean_gamma * self._shared[Role.QUALITY]
            root, shared = mean_gamma / self._deviation, of_quality + self._shared[Role.OFFSET]
            values = flat(parameters)
            quality = root * values
            shrunk = quality.copy()
            quality[self._scores] += of_quality @ parameters.common
            shrunk[self._scores] += shared @ parameters.common
            self._last = parameters, _Point(values, share, root, of_quality, shared, quality, shrunk)
        return self._last[1]

    def _transposed(self, root: FloatArray, shared: FloatArray, sides: FloatArray) -> FloatArray:
        """Derivatives of what is shrunk, transposed, times a vector; those by discriminations apart."""
        image = root * sides
        image[self._common] += shared.T @ sides[self._scores]
        return image

    def matrix(self, parameters: Parameters, observed: bool = False) -> FloatArray:
        """Precision matrix at a point, shape (D, D).

        It depends on the point, since the prior is of qualities times the mean discrimination. With `observed`,
        the second derivatives of the penalty: those of the scale on which qualities are shrunk, too.
        """
        precision = self._fixed.copy()
        if not self._of_qualities:
            return precision
        # J'J of the derivatives J = (those at one mean discrimination, quality share') of what is shrunk
        _, share, root, of_quality, shared, quality, shrunk = self._point(parameters)
        scores, common, judges = self._scores, self._common, self._judges
        precision.reshape(-1)[:: self._size + 1] += root**2
        both = root[scores, None] * shared
        precision[scores, common] += both
        precision[common, scores] += both.T
        precision[common, common] += shared.T @ shared
        if not len(share):
            return precision
        along = self._transposed(root, shared, quality)
        if observed:
            along += self._transposed(root, of_quality, shrunk)
        cross = along[:, None] * share
        precision[:, judges] += cross
        precision[judges] += cross.T
        quality_part = (quality @ quality) * share[:, None] * share
        precision[judges, judges] += quality_part + observed * (quality @ shrunk) * np.diag(share)
        return precision

    def pulled(self, parameters: Parameters) -> tuple[float, FloatArray]:
        """Twice the penalty at a point, and half of its derivatives by that, shape (D,)."""
        state = self._point(parameters)
        image = self._diagonal * state.values
        for columns, everywhere in self._means:
            image[columns] += everywhere * state.values[columns].sum()
        lost = float(state.values @ image)
        if self._of_qualities:
            lost += float(state.shrunk @ state.shrunk)
            image += self._transposed(state.root, state.shared, state.shrunk)
            if len(state.share):
                image[self._judges] += (state.quality @ state.shrunk) * state.share
        return lost, image


def penalty(model: Model, parameters: Parameters, spread: Spread, observed: bool = False) -> FloatArray:
    """As `Penalty.matrix`."""
    return Penalty(model, len(parameters.scores), parameters.judges.shape[1], spread).matrix(parameters, observed)


def pulled(model: Model, parameters: Parameters, spread: Spread) -> tuple[float, FloatArray]:
    """As `Penalty.pulled`."""
    return Penalty(model, len(parameters.scores), parameters.judges.shape[1], spread).pulled(parameters)


def scores_as_shrunk(model: Model, parameters: Parameters) -> FloatArray:
    """What the standard deviation of scores is of, as a matrix times all parameters, shape (N, D)."""
    n, k = len(parameters.scores), parameters.judges.shape[1]
    state = Penalty(model, n, k, {"scores": 1.0})._point(parameters)
    matrix = np.zeros((n, len(state.values)))
    matrix[:, :n], matrix[:, len(state.values) - len(parameters.common) :] = np.diag(state.root[:n]), state.shared
    return matrix


def scale(model: Model, parameters: Parameters) -> tuple[float, FloatArray]:
    """Mean discrimination, and each judge's share of their sum; one and nothing where there is none to fit."""
    if not model.weighs_judges:
        return 1.0, np.empty(0)
    gamma = np.exp(parameters.judges[0])
    total = gamma.sum()
    return float(total) / len(gamma), gamma / total


def flat(parameters: Parameters) -> FloatArray:
    """All parameters in one vector, shape (D,), zero in place of those that are not finite."""
    judges = parameters.judges.ravel()
    return np.concatenate([parameters.scores, np.where(np.isfinite(judges), judges, 0.0), parameters.common])


def _of_mean(square: float, n_judges: int) -> float:
    """What the precision of a block, one over its square on the diagonal, has everywhere besides."""
    return (1 / (square + n_judges * WIDE**2) - 1 / square) / n_judges


def log_prior_determinant(model: Model, parameters: Parameters, spread: Spread, n_discriminations: int) -> float:
    """Log-determinant of the precision of scaled qualities and all else, in coordinates that sum to zero."""
    n, k, total = len(parameters.scores), parameters.judges.shape[1], 0.0
    if "scores" in spread:
        total += np.log(n) - 2 * (n - 1) * np.log(spread["scores"])
    for name in model.free_blocks:
        if name not in spread:
            continue
        square = spread[name] ** 2
        if name == ALPHA:
            total += np.log(n_discriminations) - (n_discriminations - 1) * np.log(square)
        else:
            total -= (k - 1) * np.log(square) + np.log(square + k * WIDE**2)
    for block in model.further:
        if block.name in spread:
            total -= 2 * len(block.labels) * np.log(spread[block.name])
    return float(total)


def shrunk_qualities(model: Model, parameters: Parameters, spread: Spread) -> int:
    """Number of free qualities that are shrunk: of scores one less, since they sum to zero."""
    of_blocks = sum(len(b.labels) for b in model.further if b.role is Role.QUALITY and b.name in spread)
    return of_blocks + (len(parameters.scores) - 1) * ("scores" in spread)


def arrow(
    model: Model,
    parameters: Parameters,
    evaluation: Evaluation,
    spread: Spread,
    observed: bool,
    at_mean: BoolArray,
) -> Arrow:
    """Information of the comparisons, in the scores and what every judge has, and that of the penalty on it all.

    Parameters
    ----------
    here : Evaluation
        With the information in logarithms of discriminations; the expected one, or with `observed` minus the
        Hessian.
    at_mean : bool array, shape (K,)
        Judges whose discrimination does not move (`Comparisons.at_mean`): ones on the diagonal, zeros beside it.
    """
    names, n, k = model.free_blocks, len(parameters.scores), parameters.judges.shape[1]
    mean_gamma, share = scale(model, parameters)
    square, blocks = (mean_gamma / spread["scores"]) ** 2, model.free_rows
    size, width = square * (parameters.scores @ parameters.scores), n + len(names) * k
    judge_blocks = evaluation.judge_information[:, blocks, blocks] + np.diag(
        [1 / spread[name] ** 2 for name in names]
    )
    cross = evaluation.cross_information[blocks].copy()
    held = [(np.sqrt(np.trace(evaluation.top_information) / n), np.arange(n))]
    columns, weights = [], []
    if len(share):
        judge_blocks[:, 0, 0] += observed * size * share
        judge_blocks[at_mean, 0, :] = judge_blocks[at_mean, :, 0] = cross[0, at_mean] = 0.0
        judge_blocks[at_mean, 0, 0] = 1.0
        share = np.where(at_mean, 0.0, share)
        columns += [np.pad(parameters.scores, (0, width - n)), np.pad(share, (n, width - n - k))]
        held.append((np.sqrt(judge_blocks[:, 0, 0].mean()), n + np.flatnonzero(~at_mean)))
    for number, name in enumerate(names):
        if name != ALPHA:
            columns.append(_ones(width, np.arange(n + number * k, n + (number + 1) * k)))
            weights.append(_of_mean(spread[name] ** 2, k))
    sums = np.array([_ones(width, columns_held) / np.sqrt(len(columns_held)) for _, columns_held in held]).T
    weight = np.diag([*[0.0] * (2 * (len(share) > 0)), *weights, *(stiff**2 for stiff, _ in held)])
    if len(share):
        weight[0, 1] = weight[1, 0] = square * (1 + observed)
        weight[1, 1] = size
    top = evaluation.top_information + square * np.eye(n)
    return Arrow(top, cross, judge_blocks, np.column_stack([*columns, sums]), weight, sums)


def _ones(size: int, columns: IntArray) -> FloatArray:
    ones = np.zeros(size)
    ones[columns] = 1.0
    return ones
