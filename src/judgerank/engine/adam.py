"""The paper's projected Adam (Algorithm A.1), on aggregated comparisons and vectorised."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine.solution import Solution, Status, require_positive, unerring_judges
from judgerank.engine.sums import evaluate, gradient
from judgerank.model.members import Model, Parameters

LARGEST_UPDATE = 5e-3  # half the usual step of the scores: beyond it a path could end anywhere


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


def iterates(
    cells: Comparisons, model: Model, settings: Adam | Sequence[Adam], start: Parameters | None = None
) -> Iterator[tuple[int, Parameters, float]]:
    """Yield (iteration, parameters, norm of the update) until the stopping rule or the limit is met.

    Parameters
    ----------
    settings : Adam or sequence of Adam
        A sequence has the settings of each of several data sets that the comparisons hold one after the other,
        with equally many models and judges and none in common. Each is centred by itself; the tolerance and the
        limit of the first hold for all. Together they take less time than apart.
    """
    runs = [settings] if isinstance(settings, Adam) else list(settings)
    at = start or Parameters.zeros(model, cells)
    n, shape, n_runs = len(at.scores), at.judges.shape, len(runs)
    # scores and judges' parameters in one vector: thousands of iterations of few numbers each
    x = np.concatenate([at.scores, at.judges.ravel()])
    centred = slice(0, n), slice(n, n + shape[1] * min(shape[0], 1))  # further blocks, like beta, are free
    kinds = list(dict.fromkeys(runs))
    kind = np.array([kinds.index(run) for run in runs])
    kind = np.concatenate([np.repeat(kind, n // n_runs), np.tile(np.repeat(kind, shape[1] // n_runs), shape[0])])
    which = kind if len(kinds) > 1 else 0  # numbers are quicker than arrays of equal ones
    sizes = np.array([(run.step_scores, run.step_judges) for run in kinds])[kind]
    size = np.where(np.arange(len(x)) < n, sizes[:, 0], sizes[:, 1])
    beta1, beta2, epsilon = np.array([(run.beta1, run.beta2, run.epsilon) for run in kinds])[which].T
    first, second = np.zeros_like(x), np.zeros_like(x)
    for t in range(1, runs[0].max_iterations + 1):
        score = gradient(cells, model, at)
        rise = np.concatenate([score.top_gradient, score.judge_gradient.ravel()])
        first = beta1 * first + (1 - beta1) * rise
        second = beta2 * second + (1 - beta2) * rise**2
        bias1, bias2 = np.array([(1 - run.beta1**t, 1 - run.beta2**t) for run in kinds])[which].T
        proposal = x + size * (first / bias1) / (np.sqrt(second / bias2) + epsilon)
        for block in filter(len, (proposal[part] for part in centred)):
            by_run = block.reshape(n_runs, -1)
            by_run -= by_run.sum(axis=1, keepdims=True) / by_run.shape[1]
        step = proposal - x
        change = float(max(np.linalg.norm(step[:n]), np.linalg.norm(step[n:])))
        x, at = proposal, Parameters(proposal[:n], proposal[n:].reshape(shape))
        yield t, at, change
        if change <= runs[0].tolerance:
            return


def maximise(cells: Comparisons, model: Model, settings: Adam, start: Parameters | None = None) -> Solution:
    """Run Algorithm A.1 to its stopping rule or its iteration limit."""
    (last,) = deque(iterates(cells, model, settings, start), maxlen=1)
    iteration, at, change = last
    status = Status.STOPPING_RULE if change <= settings.tolerance else Status.ITERATION_LIMIT
    separated = unerring_judges(cells, model, at)
    if separated:
        status = Status.UNBOUNDED
    return Solution(at, evaluate(cells, model, at), status, iteration, separated)
