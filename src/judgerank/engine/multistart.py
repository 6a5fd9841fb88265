"""Many rough climbs at once: where the maxima of the judge-aware likelihood lie.

The likelihood is not concave in scores and discriminations together, so that an exact climb finds a maximum, not
the highest one. Here a designed set of starts climbs in one vectorised pass over the pairs, inside a box and held
off its faces by a logarithmic barrier that wanes (so that runaway scores and discriminations, too, have somewhere
to end). The ends say which basins are worth an exact climb.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.ascent import SUFFICIENT
from judgerank.engine.newton import positive_solve
from judgerank.model.members import Model, Parameters

# The likelihood at many points at once, and the distance between their predictions.


class Look(NamedTuple):
    """Log-likelihood of every start, shape (S,), and discrimination, signal and probability of a win, (C, S)."""

    fit: np.ndarray
    g: np.ndarray
    signal: np.ndarray
    p: np.ndarray


class Rows:
    """The comparisons with the sums that a climb takes over them; by unordered pair where no order matters.

    Columns of every array are starts: scores have the shape (N, S), a block of the judges (K, S), rows (C, S).
    """

    def __init__(self, cells: Comparisons, model: Model):
        self.n, self.k = n, k = len(cells.models), len(cells.judges)
        # ties are half wins here, and all wins alike: near enough to tell basins apart
        thresholds = {block.name for block in model.blocks if block.role.is_threshold}
        self.blocks = tuple(block for block in model.judge_blocks if block not in thresholds)
        first, second, judge = (column.astype(np.intp) for column in (cells.first, cells.second, cells.judge))
        self.cells, self.count, self.wins = cells, cells.count, cells.count * cells.outcome
        if len(self.blocks) == 1:
            low, high = np.minimum(first, second), np.maximum(first, second)
            key, codes = np.unique((judge * n + low) * n + high, return_inverse=True)
            won = np.where(first < second, cells.outcome, 1 - cells.outcome)
            self.count, self.wins = (
                np.asarray(np.bincount(codes, n * y), float) for n, y in ((cells.count, 1.0), (cells.count, won))
            )
            judge, pair = np.divmod(key, n * n)
            first, second = np.divmod(pair, n)
        self.i, self.j, self.judge = first, second, judge
        rows, ones = np.arange(len(judge)), np.ones(len(judge))
        signs, both = np.r_[ones, -ones], np.r_[rows, rows]
        self._by_model = csr_array((signs, (np.r_[first, second], both)), shape=(n, len(judge)))
        self._by_judge = csr_array((ones, (judge, rows)), shape=(k, len(judge)))
        index = np.r_[judge * n + first, judge * n + second]
        self._by_both = csr_array((signs, (index, both)), shape=(k * n, len(judge)))

    def __len__(self) -> int:
        return len(self.count)

    @cached_property
    def _laplacian(self) -> csr_array:
        """From weights of the rows to the Laplacian, row by row; it takes memory as the square of the models."""
        i, j, n_rows = self.i, self.j, len(self.i)
        index = np.r_[i, i, j, j] * self.n + np.r_[i, j, i, j]
        signs = np.repeat([1.0, -1.0, -1.0, 1.0], n_rows)
        return csr_array((signs, (index, np.tile(np.arange(n_rows), 4))), shape=(self.n**2, n_rows))

    @cached_property
    def shares_of_judge(self) -> csr_array:
        """Those of `shares`."""
        return shares(self.judge, self.count)

    def parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Scores (N, S) and judges' blocks (B, K, S) of stacked parameters."""
        return x[: self.n], x[self.n :].reshape(len(self.blocks), self.k, -1)

    def predictor(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Discrimination, signal and predictor of every row."""
        scores, judges = self.parts(x)
        if "slope" in self.blocks:
            slope = judges[1].take(self.judge, axis=0)
            g = np.exp(judges[0].take(self.judge, axis=0) + slope * self.cells.known_covariate[:, None])
        else:
            g = np.exp(judges[0]).take(self.judge, axis=0)
        signal = g * (scores.take(self.i, axis=0) - scores.take(self.j, axis=0))
        if "position" not in self.blocks:
            return g, signal, signal
        return g, signal, signal + judges[-1].take(self.judge, axis=0)

    def shares(self, signal: np.ndarray) -> list[np.ndarray | float]:
        """Derivative of the predictor in each block."""
        by_block: dict[str, np.ndarray | float] = {"log_discrimination": signal, "position": 1.0}
        if "slope" in self.blocks:
            by_block["slope"] = self.cells.known_covariate[:, None] * signal
        return [by_block[block] for block in self.blocks]

    def look(self, x: np.ndarray) -> Look:
        """Everything about a point that the rows have a part in."""
        g, signal, eta = self.predictor(x)
        q = 1.0 / (1.0 + np.exp(-np.abs(eta)))  # of the likelier outcome
        fit = _total(self.wins, eta) + _total(self.count, np.log(q) - np.maximum(eta, 0.0))
        return Look(fit, g, signal, np.exp(np.minimum(eta, 0.0)) * q)

    def counting(self, factors: np.ndarray) -> Rows:
        """The same rows with every judge's counts times a factor of its own at each start, shape (K, S)."""
        recounted, by_row = copy(self), factors[self.judge]
        recounted.count, recounted.wins = self.count[:, None] * by_row, self.wins[:, None] * by_row
        return recounted

    def laplacian(self, weight: np.ndarray) -> np.ndarray:
        """Of the comparison graph with these weights, shape (S, N, N)."""
        return np.ascontiguousarray((self._laplacian @ weight).T).reshape(-1, self.n, self.n)

    def sparse_laplacian(self, weight: np.ndarray) -> csr_array:
        """The same for the weights of one start, shape (C,), as a sparse matrix of shape (N, N)."""
        ends = self.i, self.j
        values, coords = np.r_[-weight, -weight, weight, weight], (np.r_[*ends, *ends], np.r_[*ends[::-1], *ends])
        return coo_array((values, coords), (self.n, self.n)).tocsr()

    def by_judge(self, values: np.ndarray) -> np.ndarray:
        return self._by_judge @ values

    def by_model(self, values: np.ndarray) -> np.ndarray:
        """Sums over the rows of a model, minus those where it comes second."""
        return self._by_model @ values

    def by_both(self, values: np.ndarray) -> np.ndarray:
        """The same judge by judge, shape (S, K, N)."""
        return (self._by_both @ values).reshape(self.k, self.n, -1).transpose(2, 0, 1)


def _total(count: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums over rows of values by start, shape (S,), with the same counts at all starts, or counts by start."""
    return count @ values if count.ndim == 1 else np.einsum("cs,cs->s", count, values)


def shares(judge: np.ndarray, count: np.ndarray) -> csr_array:
    """Share of its judge's comparisons that every row has, shape (K, C)."""
    total = np.bincount(judge, count)
    return csr_array((count / total[judge], (judge, np.arange(len(judge)))))


def largest_difference(weights: csr_array, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Root mean square difference of probabilities over the rows of the judge of whom it is largest.

    Parameters
    ----------
    weights : sparse float array, shape (K, C)
        Of `shares`.
    one : float array, shape (C, 1)
    others : float array, shape (C, S)

    Returns
    -------
    float array, shape (S,)
    """
    return np.sqrt((weights @ (first - second) ** 2).max(axis=0))


FEW_JUDGES = 5  # up to so many, every subset of the judges gives a start
MOST_AT_ONCE = 8_000  # rows times starts
LEAST_STARTS = 8
RIDGE = 0.3  # information on every score that one step from zero takes for granted
STAGES = ((0.3, 4), (0.03, 8))  # weight of the barrier, Newton steps
WEAKEST, STRONGEST = 0.02, 5.0  # discriminations at the start, over the largest one
LARGEST_STEP = 2.0  # of any log-discrimination
TO_THE_FACE = 0.95  # share of the way to the nearest face that one step may go
DONE = 1e-2  # rise of the log-likelihood below which a stage ends
ALIKE = 0.05  # root mean square difference in any judge's predicted probabilities below which two points are one
HALVINGS = 6
MOST_FILLED = 0.8  # share of the box that a start may take
AT_ONCE = 1_000_000  # numbers in the matrices of the starts worked on at a time
SPARSE = 1_500  # models from which conjugate gradients are quicker: a rough climb has no need of exact steps
ACCURATE, MOST_GRADIENTS = 1e-3, 500  # relative size of what they leave, in the diagonal's norm; their steps
LARGE = 200  # models from which Cholesky's half of the work outweighs one call for all starts


def directions(rows: Rows) -> np.ndarray:
    """Score directions to start from, at unit standard deviation, shape (N, S).

    What all judges say together; the leading patterns of their net wins, both ways round; what each judge, all but
    one, or, where there are few, every subset of them says; and the opposite of each judge.
    """
    wanted = max(LEAST_STARTS, MOST_AT_ONCE // max(len(rows), 1))
    directions_found = np.zeros((rows.n, 0))
    for scores in _directions(rows, wanted):
        scores = scores - scores.mean(axis=0)
        spread = scores.std(axis=0)
        is_informative = spread > 1e-9 * spread.max(initial=0.0)
        directions_found = np.hstack([directions_found, scores[:, is_informative] / spread[is_informative]])
        if directions_found.shape[1] >= wanted:
            break
    return directions_found[:, :wanted]


def _directions(rows: Rows, wanted: int) -> Iterator[np.ndarray]:
    """Groups of them, as long as more are wanted."""
    net = rows.by_both((rows.wins - rows.count / 2)[:, None])[0]
    yield one_step(rows, net, np.ones((1, rows.k)))
    leading = np.linalg.svd(net, full_matrices=False)[2][:3].T
    yield np.hstack([leading, -leading])
    single = np.eye(min(wanted, rows.k), rows.k)
    single_steps = one_step(rows, net, single)
    yield single_steps
    yield -single_steps
    several = 1.0 - single
    if rows.k <= FEW_JUDGES:
        several = np.array([mask for mask in product((0.0, 1.0), repeat=rows.k) if 1 < sum(mask) < rows.k])
    yield one_step(rows, net, several.reshape(-1, rows.k)[:wanted])


def one_step(rows: Rows, net: np.ndarray, panels: np.ndarray) -> np.ndarray:
    """Scores one Newton step from zero by panels of judges, each a row of weights; shape (N, panels)."""
    weight = panels[:, rows.judge].T * rows.count[:, None] / 4
    sides, n_at_once = (panels @ net)[:, :, None], max(1, AT_ONCE // rows.n**2)
    if rows.n >= SPARSE:
        nothing = np.zeros((0, rows.n))
        ridge = np.full(rows.n, RIDGE)
        steps = [
            _by_gradients(rows.sparse_laplacian(column), ridge, nothing, nothing, side)
            for column, side in zip(weight.T, sides, strict=True)
        ]
        return np.hstack(steps)
    for part in (slice(start, start + n_at_once) for start in range(0, len(panels), n_at_once)):
        sides[part] = _solved(rows.laplacian(weight[:, part]) + RIDGE * np.eye(rows.n), sides[part])
    return sides[:, :, 0].T


def _solved(matrices: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Solutions of positive definite systems, shape (S, N, R)."""
    if len(matrices[0]) < LARGE:
        return np.linalg.solve(matrices, sides)
    return np.array([positive_solve(matrix, side) for matrix, side in zip(matrices, sides, strict=True)])


def _by_gradients(
    graph: csr_array, fence: np.ndarray, flat: np.ndarray, scaled: np.ndarray, sides: np.ndarray
) -> np.ndarray:
    """Solutions x of (graph + diag(fence) - flat' scaled) x = sides by conjugate gradients, shape (N, R).

    The matrix is never formed. Its diagonal is the preconditioner, which is a good one where models meet others at
    random: the number of steps then does not grow with the models.
    """
    preconditioner = graph.diagonal() + fence
    diagonal = preconditioner - np.einsum("bn,bn->n", flat, scaled)
    x, r = np.zeros_like(sides), sides.copy()
    z = r / diagonal[:, None]
    p, size = z.copy(), (r * z).sum(axis=0)
    goal = size * ACCURATE**2
    for _ in range(MOST_GRADIENTS):
        image = graph @ p + fence[:, None] * p - flat.T @ (scaled @ p)
        step = size / np.maximum((p * image).sum(axis=0), np.finfo(float).tiny)
        x, r = x + step * p, r - step * image
        z = r / diagonal[:, None]
        before, size = size, (r * z).sum(axis=0)
        if np.all(size <= goal):
            break
        p = z + size / np.maximum(before, np.finfo(float).tiny) * p
    return x


def rough_discrimination(rows: Rows, scores: np.ndarray) -> np.ndarray:
    """One Newton step from zero for every judge's gamma, given scores, kept positive; shape (K, S)."""
    d = scores.take(rows.i, axis=0) - scores.take(rows.j, axis=0)
    rise = rows.by_judge((rows.wins - rows.count / 2)[:, None] * d)
    curvature = rows.by_judge(rows.count[:, None] / 4 * d * d)
    gamma = rise / np.where(curvature > 0, curvature, np.inf)
    largest = np.maximum(gamma.max(axis=0), 1e-3)
    return np.clip(gamma, WEAKEST * largest, STRONGEST * largest)


@dataclass(frozen=True)
class Ends:
    """Where rough climbs ended, best first, each height once.

    Attributes
    ----------
    parameters : list of Parameters
    heights : float array
        Log-likelihoods, without the barrier.
    """

    parameters: list[Parameters]
    heights: np.ndarray


def rough_maxima(rows: Rows, bounds: Mapping[str, float]) -> Ends:
    """Climb from all designed starts inside a box.

    Parameters
    ----------
    bounds : mapping of str to float
        Largest size of the ``scores`` and of each of the judges' blocks.
    """
    return climb_from(rows, directions(rows), bounds)


def climb_from(rows: Rows, scores: np.ndarray, bounds: Mapping[str, float]) -> Ends:
    """Climb from given score directions inside a box."""
    bound = in_box(rows, bounds)
    x = starts(rows, scores, bound)
    for weight, steps in STAGES:
        x, rough_ends = climbed(rows, x, bound, weight, steps)
        selected = distinct(rows, rough_ends)
        x = x[:, selected]
    ends = [
        Parameters(x[: rows.n, s].copy(), x[rows.n :, s].reshape(-1, rows.k).copy()) for s in range(x.shape[1])
    ]
    return Ends(ends, rough_ends.fit[selected])


def in_box(rows: Rows, bounds: Mapping[str, float]) -> np.ndarray:
    """Largest size of every parameter, stacked, shape (D, 1)."""
    sizes = [rows.n] + [rows.k] * len(rows.blocks)
    return np.repeat([bounds["scores"], *(bounds[block] for block in rows.blocks)], sizes)[:, None]


def starts(rows: Rows, scores: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Score directions with judges to match, stacked, inside the box."""
    alpha = np.log(rough_discrimination(rows, scores))
    mean = alpha.mean(axis=0)
    blocks = [scores * np.exp(mean), alpha - mean]
    out = []
    for block, edge in zip(blocks, (bound[0], bound[rows.n]), strict=True):
        out.append(block / np.maximum(1.0, np.abs(block).max(axis=0) / (MOST_FILLED * edge)))
    x = np.concatenate(out + [np.zeros_like(alpha)] * (len(rows.blocks) - 1))
    if "slope" not in rows.blocks:
        return x
    # slopes of all judges up or down, and, where there are few, of each alone
    patterns = [np.zeros(rows.k), np.ones(rows.k), -np.ones(rows.k)]
    if rows.k <= FEW_JUDGES:
        patterns += [*np.eye(rows.k), *-np.eye(rows.k)]
    variants = np.repeat(x[None], len(patterns), axis=0)
    variants[:, rows.n + rows.k : rows.n + 2 * rows.k] = (
        0.5 * bound[rows.n + rows.k] * np.array(patterns)[:, :, None]
    )
    return np.hstack(list(variants))


def distinct(rows: Rows, rough_ends: Look) -> np.ndarray:
    """Starts that predict something of their own, highest first."""
    selected: list[int] = []
    left = np.argsort(-rough_ends.fit, kind="stable")
    while left.size:
        selected.append(int(left[0]))
        left = left[1:]
        left = left[
            largest_difference(rows.shares_of_judge, rough_ends.p[:, selected[-1:]], rough_ends.p[:, left]) > ALIKE
        ]
    return np.array(selected)


def climbed(rows: Rows, x: np.ndarray, bound: np.ndarray, weight: float, steps: int) -> tuple[np.ndarray, Look]:
    """Fisher scoring with a line search for each start, under one weight of the barrier."""
    current = rows.look(x)
    value = current.fit + _barrier(x, bound, weight)
    for _ in range(steps):
        step, rise = _direction(rows, x, current, bound, weight)
        with np.errstate(divide="ignore"):
            room = np.min((bound - np.sign(step) * x) / np.abs(step), axis=0, initial=np.inf)
        size = np.minimum(1.0, TO_THE_FACE * room)
        size = np.minimum(
            size, LARGEST_STEP / np.maximum(np.abs(step[rows.n : rows.n + rows.k]).max(axis=0), LARGEST_STEP)
        )
        for _ in range(HALVINGS):
            x_trial = x + size * step
            trial = rows.look(x_trial)
            height = trial.fit + _barrier(x_trial, bound, weight)
            good = height >= value + SUFFICIENT * size * rise
            if good.all():
                break
            size = np.where(good, size, size / 3)
        if good.all():
            x, current, value = x_trial, trial, height
        else:
            x, value = np.where(good, x_trial, x), np.where(good, height, value)
            current = Look(*(np.where(good, new, old) for new, old in zip(trial, current, strict=True)))
        if np.where(good, rise, 0.0).max() < DONE:
            break
    return x, current


def _barrier(x: np.ndarray, bound: np.ndarray, weight: float) -> np.ndarray:
    return weight * np.log1p(-((x / bound) ** 2)).sum(axis=0)


def _direction(
    rows: Rows, x: np.ndarray, current: Look, bound: np.ndarray, weight: float
) -> tuple[np.ndarray, np.ndarray]:
    """Fisher scoring's direction that keeps the sums of s and alpha at zero, and the slope along it."""
    n, k, n_blocks, size = rows.n, rows.k, len(rows.blocks), x.shape[1]
    g, signal, p = current.g, current.signal, current.p
    expected = rows.count.reshape(len(rows), -1) * p
    r = rows.wins.reshape(len(rows), -1) - expected
    w = expected * (1 - p)
    share = rows.shares(signal)
    room = bound**2 - x**2
    by_block = [rows.by_judge(r * values) for values in share]
    gradient = np.concatenate([rows.by_model(r * g), *by_block]) - weight * 2 * x / room
    fence = weight * 2 * (bound**2 + x**2) / room**2
    wg = w * g
    judge_information, cross = np.zeros((size, k, n_blocks, n_blocks)), np.zeros((size, k, n_blocks, n))
    for b in range(n_blocks):
        cross[:, :, b] = rows.by_both(wg * share[b])
        for b2 in range(b, n_blocks):
            judge_information[:, :, b, b2] = judge_information[:, :, b2, b] = rows.by_judge(
                w * share[b] * share[b2]
            ).T
        judge_information[:, :, b, b] += fence[n + b * k : n + (b + 1) * k].T
    # right sides: the gradient and the two sums to be kept
    top = np.zeros((size, n, 3))
    top[:, :, 0], top[:, :, 1] = gradient[:n].T, 1.0
    low = np.zeros((size, k, n_blocks, 3))
    low[..., 0], low[:, :, 0, 2] = gradient[n:].reshape(n_blocks, k, size).transpose(2, 1, 0), 1.0
    scaled = _over(judge_information, cross).reshape(size, -1, n)
    flat = cross.reshape(size, -1, n)
    top -= np.matmul(scaled.transpose(0, 2, 1), low.reshape(size, -1, 3))
    n_blocks = max(1, AT_ONCE // n**2) if n < SPARSE else 1
    for part in (slice(start, start + n_blocks) for start in range(0, size, n_blocks)):
        if n >= SPARSE:
            graph = rows.sparse_laplacian(wg[:, part.start] * g[:, part.start])
            top[part] = _by_gradients(
                graph, fence[:n, part.start], flat[part.start], scaled[part.start], top[part.start]
            )
            continue
        info = rows.laplacian(wg[:, part] * g[:, part])
        info.reshape(len(info), -1)[:, :: n + 1] += fence[:n, part].T
        info -= np.matmul(flat[part].transpose(0, 2, 1), scaled[part])
        top[part] = _solved(info, top[part])
    low = _over(judge_information, low - np.matmul(flat, top).reshape(low.shape))
    sums = np.stack([top.sum(axis=1), low[:, :, 0].sum(axis=1)], axis=1)  # (S, 2, 3)
    multipliers = np.linalg.solve(sums[:, :, 1:], sums[:, :, :1])
    both = np.concatenate([top, low.transpose(0, 2, 1, 3).reshape(size, -1, 3)], axis=1)
    step = (both[:, :, :1] - np.matmul(both[:, :, 1:], multipliers))[:, :, 0].T
    return step, (gradient * step).sum(axis=0)


def _over(blocks: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Solutions of every judge's own systems, which often are of one parameter."""
    return sides / blocks if blocks.shape[-1] == 1 else np.linalg.solve(blocks, sides)


# Starts for judges who run off: where the likelihood rises without end, but falls on the way there.
#
# A judge whose own votes no order of the models need contradict may have the others follow that order, and then
# runs off. From an ordinary maximum no climb leads there. So the judge's counts are taken several times, which
# pulls the scores towards its order. Where a climb of that likelihood has the judge decide nearly every pair,
# another climb goes on with the counts as they are. Where few judges can run off, pairs of them are tried as well.
# All starts climb at once (`judgerank.engine.multistart`), in a box that is wide in positions, which run off with
# discriminations.
ALONE, TOGETHER = 3.0, 5.0  # times that the counts of one judge are taken, and those of each of two
FEW = 8  # judges up to which all pairs of them are tried
DECIDES = 6.0  # log-odds of a typical pair under a judge who is far out
BOX = {"scores": 6.0, "log_discrimination": 9.0, "position": 1000.0}
BARRIER, STEPS, TURNS = 0.03, 5, 12  # weight; steps in turn, after which starts that rise no longer are left alone
STARTS_AT_ONCE = 100_000  # rows times starts


class FarOut(NamedTuple):
    """What climbs with judgments counted more often lead to.

    Attributes
    ----------
    starts : list of Parameters
        Points to climb from at which one or two judges are far out, best first.
    alone : list of int and Parameters
        Judges who are far out where theirs alone are counted `ALONE` times, and where that is.
    """

    starts: list[Parameters]
    alone: list[tuple[int, Parameters]]


def far_starts(
    cells: Comparisons, model: Model, parameters: Parameters, judges: IntArray, slope_bound: float
) -> FarOut:
    """Points to climb from at which one or two of these judges are far out; maybe none.

    Parameters
    ----------
    cells : Comparisons
        Aggregated, counts in units (`engine.count_scaling`).
    model : Model
    parameters : Parameters
        The best end known.
    judges : int array
        Who may run off (`engine.separation`).
    slope_bound : float
        Largest slope, where there are slopes.
    """
    if not judges.size:
        return FarOut([], [])
    rows = Rows(cells, model)
    bound = in_box(rows, BOX | {"slope": slope_bound})
    start = np.r_[parameters.scores, parameters.judges[: len(rows.blocks)].ravel()][:, None]
    start = np.clip(start, -MOST_FILLED * bound, MOST_FILLED * bound)
    ends = list(_counted_more(rows, start, bound, judges))
    x, times = (np.hstack(parts) for parts in zip(*((x, times) for times, x in ends), strict=True))
    far = _far_out(rows, x, times)
    if not far.any():
        return FarOut([], [])

    def at_place(x: FloatArray, column: int) -> Parameters:
        judge_values = x[rows.n :, column].reshape(-1, rows.k)
        return Parameters(
            x[: rows.n, column].copy(), np.vstack([judge_values, parameters.judges[len(rows.blocks) :]])
        )

    alone = [(int(k), at_place(x, column)) for column, k in enumerate(judges) if far[column]]
    x, rough_ends = climbed(rows, x[:, far], bound, BARRIER, STEPS)
    return FarOut([at_place(x, column) for column in distinct(rows, rough_ends)], alone)


def _counted_more(
    rows: Rows, start: FloatArray, bound: FloatArray, judges: IntArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Factors of the counts, shape (K, S), and where climbs with these end, for so many starts at a time."""
    pairs = combinations(judges, 2) if len(judges) <= FEW else ()
    groups = [*((k,) for k in judges), *pairs]
    factors = np.ones((rows.k, len(groups)))
    for column, group in enumerate(groups):
        factors[list(group), column] = ALONE if len(group) == 1 else TOGETHER
    n_at_once = max(1, STARTS_AT_ONCE // len(rows))
    for first in range(0, len(groups), n_at_once):
        times = factors[:, first : first + n_at_once]
        x = np.repeat(start, times.shape[1], axis=1)
        height, rising = np.full(times.shape[1], -np.inf), np.arange(times.shape[1])
        for _ in range(TURNS):
            x[:, rising], rough_ends = climbed(
                rows.counting(times[:, rising]), x[:, rising], bound, BARRIER, STEPS
            )
            before, height[rising] = height[rising], rough_ends.fit
            rising = rising[rough_ends.fit > before + DONE]
            if not rising.size:
                break
        yield times, x


def _far_out(rows: Rows, x: FloatArray, times: FloatArray) -> np.ndarray:
    """Starts at which a judge counted more often decides nearly every pair, shape (S,)."""
    reach = np.exp(x[rows.n : rows.n + rows.k]) * x[: rows.n].std(axis=0)
    return ((reach > DECIDES) & (times > 1)).any(axis=0)
