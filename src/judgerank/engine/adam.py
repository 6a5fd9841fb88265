"""The paper's projected Adam (Algorithm A.1), on aggregated comparisons and vectorised."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
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
        if not 0 <= self.tolerance <= LARGEST_UPDATE:
            raise ConfigError(f"tolerance must lie from 0 to {LARGEST_UPDATE}, not at {self.tolerance!r}")

    def maximise(
        self, cells: Comparisons, model: Model, start: Parameters | None = None, bar: float | None = None
    ) -> Solution:
        """As the function of this module."""
        return maximise(cells, model, self, start)


def iterates(
    cells: Comparisons, model: Model, settings: Adam, start: Parameters | None = None, sets: int = 1
) -> Iterator[tuple[int, Parameters, float]]:
    """Yield (iteration, parameters, norm of the update) until the stopping rule or the limit is met.

    Parameters
    ----------
    sets : int
        How many sets without a model or judge in common the comparisons hold, one after the other and with equally
        many models and judges; each is centred by itself. Together they take little longer than one.
    """
    at = start or Parameters.zeros(model, cells)
    n, shape = len(at.scores), at.judges.shape
    # scores and judges' parameters in one vector: thousands of iterations of few numbers each
    x = np.concatenate([at.scores, at.judges.ravel()])
    centred = slice(0, n), slice(n, n + shape[1] * min(shape[0], 1))  # further blocks, like beta, are free
    size = np.repeat([settings.step_scores, settings.step_judges], [n, at.judges.size])
    beta1, beta2, first, second = settings.beta1, settings.beta2, np.zeros_like(x), np.zeros_like(x)
    for t in range(1, settings.max_iterations + 1):
        score = gradient(cells, model, at)
        rise = np.concatenate([score.top_gradient, score.judge_gradient.ravel()])
        first = beta1 * first + (1 - beta1) * rise
        second = beta2 * second + (1 - beta2) * rise**2
        corrected = first / (1 - beta1**t), second / (1 - beta2**t)
        proposal = x + size * corrected[0] / (np.sqrt(corrected[1]) + settings.epsilon)
        for block in filter(len, (proposal[part] for part in centred)):
            by_set = block.reshape(sets, -1)
            by_set -= by_set.sum(axis=1, keepdims=True) / by_set.shape[1]
        step = proposal - x
        change = float(max(np.linalg.norm(step[:n]), np.linalg.norm(step[n:])))
        x, at = proposal, Parameters(proposal[:n], proposal[n:].reshape(shape))
        yield t, at, change
        if change <= settings.tolerance:
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
