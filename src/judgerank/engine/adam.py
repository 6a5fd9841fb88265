"""The paper's projected Adam (Algorithm A.1), on aggregated comparisons and vectorised."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine.likelihood import evaluate, gradient
from judgerank.engine.rows import PlainRows, is_plain, side_by_side
from judgerank.engine.solution import Solution, Status, require_positive, unerring_judges
from judgerank.model.members import Model, Parameters

LARGEST_UPDATE = 5e-3  # half the usual step of the scores: beyond it a path could end anywhere
FINISHED = 0.2  # share of the sets from which those that met the stopping rule are left out


@dataclass(frozen=True)
class Adam:
    """Settings of Algorithm A.1; the defaults are those of the published judge-aware fits.

    Attributes
    ----------
    step_scores, step_judges : float
        Step sizes of s and of the judges' parameters.
    beta1, beta2, epsilon : float
        Decay rates of the moments, and the constant that keeps the division finite.
    tolerance : float
        Stop when the larger Euclidean norm of the two updates is at most this. (Algorithm A.1 as printed takes
        the maximum norm; the published code takes the Euclidean one.)
    max_iterations : int

    Examples
    --------
    >>> import judgerank
    >>> rule = judgerank.Adam(max_iterations=100)
    >>> judgerank.fit(judgerank.example(), solver=rule).status.value
    'iteration_limit'
    """

    step_scores: float = 1e-2
    step_judges: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    tolerance: float = 1e-5
    max_iterations: int = 100_000

    @classmethod
    def published(cls, model: Model) -> Adam:
        """Those of the published fits: models without parameters of judges were fitted in other steps."""
        if model.judge_blocks:
            return cls()
        return cls(step_scores=3e-3, epsilon=1e-8, tolerance=0.0, max_iterations=8_000)

    def __post_init__(self) -> None:
        require_positive(self, "max_iterations", "step_scores", "step_judges", "epsilon")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must lie from 0 to below 1, not at {getattr(self, name)!r}")
        if not 0 <= self.tolerance <= LARGEST_UPDATE:
            raise ConfigError(f"tolerance must lie from 0 to {LARGEST_UPDATE}, not at {self.tolerance!r}")

    def maximise(
        self, cells: Comparisons, model: Model, start: Parameters | None = None, bar: float | None = None
    ) -> Solution:
        """As the function of this module."""
        return maximise(cells, model, self, start)


class _Path:
    """Where the iteration is, its moments, and the gradient of its comparisons.

    Scores and judges' parameters are one vector: thousands of iterations of few numbers each. Several sets, no two
    of which share a model or a judge, stand one after the other; each is centred by itself. A quick path lays
    plain rows out for the iteration (`iterates`).
    """

    def __init__(
        self,
        cells: Comparisons,
        model: Model,
        settings: Adam | Sequence[Adam],
        start: Parameters | None,
        quick: bool,
    ) -> None:
        start = start or Parameters.zeros(model, cells)
        self.quick = quick
        self.settings = [settings] if isinstance(settings, Adam) else list(settings)
        self.model, self.t = model, 0
        self.x = np.concatenate([start.scores, start.judges.ravel()])
        self._first, self._second = np.zeros_like(self.x), np.zeros_like(self.x)
        self._lay_out(cells)

    def _lay_out(self, cells: Comparisons) -> None:
        n, blocks, judges = len(cells.models), len(self.model.judge_blocks), len(cells.judges)
        self._n, self._shape = n, (blocks, judges)
        sizes = np.repeat([n // self.sets, judges // self.sets], [self.sets, blocks * self.sets])
        self._starts, self._run = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
        # scores and the first block are centred; further blocks, like beta, are free
        self._centred = np.where(np.arange(len(sizes)) < 2 * self.sets, sizes, np.inf)
        steps = [
            [run.step_scores for run in self.settings],
            *[[run.step_judges for run in self.settings]] * blocks,
        ]
        self._step_size = np.concatenate(steps).take(self._run)
        self._alike = len(set(self.settings)) == 1
        self._constants = self._by_parameter([(run.beta1, run.beta2, run.epsilon) for run in self.settings])
        self._gradient = _gradient_of(cells, self.model, self.quick)

    def _by_parameter(self, constants: Sequence[tuple[float, ...]]) -> tuple[float, ...] | FloatArray:
        """Constants of the sets by parameter; where all sets have the same, as numbers, which are quicker."""
        if self._alike:
            return constants[0]
        return np.tile(np.array(constants).T, 1 + self._shape[0]).take(self._run, axis=1)

    @property
    def sets(self) -> int:
        return len(self.settings)

    @property
    def parameters(self) -> Parameters:
        return Parameters(self.x[: self._n], self.x[self._n :].reshape(self._shape))

    def advance(self) -> FloatArray:
        """Make one iteration; returns the larger Euclidean norm of the two updates by set, shape (sets,)."""
        (beta1, beta2, epsilon), rise = self._constants, self._gradient(self.parameters)
        self.t += 1
        # powers of Python's numbers, since those of an array round differently
        runs = self.settings[:1] if self._alike else self.settings
        decay1, decay2 = self._by_parameter([(run.beta1**self.t, run.beta2**self.t) for run in runs])
        self._first *= beta1
        self._first += (1 - beta1) * rise
        self._second *= beta2
        self._second += (1 - beta2) * rise**2
        size = np.sqrt(self._second / (1 - decay2))
        size += epsilon
        proposal = self._step_size * (self._first / (1 - decay1))
        proposal /= size
        proposal += self.x
        # sums by block and set, one after the other
        proposal -= (np.add.reduceat(proposal, self._starts) / self._centred).take(self._run)
        step = proposal - self.x
        self.x = proposal
        step *= step
        squares = np.add.reduceat(step, self._starts).reshape(-1, self.sets)
        return np.sqrt(np.maximum(squares[0], squares[1:].sum(axis=0)))

    def by_set(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values of the scores, shape (1, sets, N), and of the judges' parameters, shape (B, sets, K)."""
        blocks, judges = self._shape
        scores = values[: self._n].reshape(1, self.sets, -1)
        return scores, values[self._n :].reshape(blocks, self.sets, judges // self.sets)

    def of(self, sets: IntArray, cells: Comparisons) -> _Path:
        """The path of some of the sets, whose comparisons are `cells`."""
        part = copy(self)
        for name in ("x", "_first", "_second"):
            blocks = self.by_set(getattr(self, name))
            setattr(part, name, np.concatenate([block[:, sets].ravel() for block in blocks]))
        part.settings = [self.settings[index] for index in sets.tolist()]
        part._lay_out(cells)
        return part


def _gradient_of(cells: Comparisons, model: Model, quick: bool) -> Callable[[Parameters], FloatArray]:
    """The gradient in scores and judges' parameters, as one vector."""
    if quick and is_plain(cells, model):
        return PlainRows(cells, model.weighs_judges).gradient

    def general(parameters: Parameters) -> FloatArray:
        evaluation = gradient(cells, model, parameters)
        return np.concatenate([evaluation.top_gradient, evaluation.judge_gradient.ravel()])

    return general


def iterates(
    cells: Comparisons,
    model: Model,
    settings: Adam | Sequence[Adam],
    start: Parameters | None = None,
    quick: bool = False,
) -> Iterator[tuple[int, Parameters, float]]:
    """Yield (iteration, parameters, norm of the update) until the stopping rule or the limit is met.

    Parameters
    ----------
    settings : Adam or sequence of Adam
        A sequence has the settings of each of several data sets that the comparisons hold one after the other,
        with equally many models and judges and none in common. Each is centred by itself; the tolerance and the
        limit of the first hold for all, and the norm is the largest of any set. Together they take less time than
        apart.
    quick : bool
        Whether plain rows are laid out for the iteration, whose sums round differently. Where there is no maximum,
        rounding decides late iterates: iterates compared with printed numbers must not depend on it.
    """
    path = _Path(cells, model, settings, start, quick)
    rule = path.settings[0]
    while path.t < rule.max_iterations:
        change = float(path.advance().max())
        yield path.t, path.parameters, change
        if 0 < rule.tolerance >= change:  # zero is no rule, though an update may be zero
            return


def maximise(cells: Comparisons, model: Model, settings: Adam, start: Parameters | None = None) -> Solution:
    """Run Algorithm A.1 to its stopping rule or its iteration limit."""
    ((iteration, parameters, change),) = deque(iterates(cells, model, settings, start), maxlen=1)
    return _solution(cells, model, parameters, iteration, change <= settings.tolerance)


def maximise_each(parts: Sequence[Comparisons], model: Model, settings: Adam) -> list[Solution]:
    """Run Algorithm A.1 on many sets at once, each to its own stopping rule or to the iteration limit.

    Parameters
    ----------
    parts : sequence of Comparisons
        With equally many models and equally many judges. Small sets together take much less time than one by one.
    """
    if not parts:
        return []
    cells, ends = side_by_side(parts), dict[int, Solution]()
    path = _Path(cells, model, [settings] * len(parts), None, quick=True)
    on_path, runs = np.arange(len(parts)), np.ones(len(parts), bool)  # which sets, and whether they still run
    while runs.any():
        met = (path.advance() <= settings.tolerance) & runs
        last = path.t == settings.max_iterations
        if not met.any() and not last:
            continue
        scores, judges = path.by_set(path.x)
        for index in np.flatnonzero(runs if last else met).tolist():
            part, parameters = int(on_path[index]), Parameters(scores[0, index].copy(), judges[:, index].copy())
            ends[part] = _solution(parts[part], model, parameters, path.t, bool(met[index]))
            runs[index] = False
        if runs.any() and runs.mean() <= 1 - FINISHED:
            on_path = on_path[runs]
            path = path.of(np.flatnonzero(runs), side_by_side([parts[part] for part in on_path.tolist()]))
            runs = np.ones(len(on_path), bool)
    return [ends[part] for part in range(len(parts))]


def _solution(
    cells: Comparisons, model: Model, parameters: Parameters, iteration: int, has_met_rule: bool
) -> Solution:
    status = Status.STOPPING_RULE if has_met_rule else Status.ITERATION_LIMIT
    separated = unerring_judges(cells, model, parameters)
    if separated:
        status = Status.UNBOUNDED
    return Solution(parameters, evaluate(cells, model, parameters), status, iteration, separated)
