"""Few judgments of many models: where a judge may run off above an ordinary maximum, and an optimiser of its own.

The optimiser is the method of Levenberg and Marquardt over gamma >= 0, with an active set. It shares no code with
the solvers of the library, and works on gamma instead of its logarithm.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DisconnectedError, NoMaximumError, NotIdentifiedError
from judgerank.fits.fit import fit
from replication.replicate import Record
from studies.torture.designs import HIGHER, drawn

TIMES = (3.0, 10.0)  # that one judge's judgments are counted, for a start
SPREADS = (0.5, 1.5, 3.0)  # standard deviations of log gamma at random starts
STEPS, DONE = 60, 1e-4  # steps of a climb; rise of the log-likelihood at which it ends
DAMPED, HARDER, EASIER, TRIES = 1e-2, 6.0, 5.0, 12  # damping at first, its factors, attempts at one step


def runaway_missed(settings: dict, rng: np.random.Generator) -> Record:
    """Whether another optimiser gets higher than the maximum found: from judges counted more often, and at random.

    ``starts`` is the number of random ones.
    """
    rows = drawn(settings, rng)
    try:
        found = fit(rows, settings["member"])
    except (DisconnectedError, NoMaximumError, NotIdentifiedError) as error:
        return {"status": type(error).__name__, "bad": 0, "gap": 0.0}
    if not found.status.converged:
        return {"status": str(found.status), "bad": 0, "gap": 0.0}
    problem, at = Problem(found.comparisons, found.model.has_position), found.solution.parameters
    start = np.r_[at.scores, np.exp(at.judges[0]), at.judges[1:].ravel()]
    starts = [problem.climb(start, factors)[1] for factors in _counted_more(problem.k)]
    for number in range(settings["starts"]):
        gamma = np.exp(SPREADS[number % len(SPREADS)] * rng.normal(size=problem.k))
        offsets = rng.normal(size=len(start) - problem.n - problem.k)
        starts.append(np.r_[rng.normal(size=problem.n), gamma, offsets])
    gap = max(problem.climb(one)[0] for one in starts) - found.log_likelihood
    bad = gap > HIGHER * max(1.0, abs(found.log_likelihood))
    return {"status": str(found.status), "bad": int(bad), "gap": float(max(gap, 0.0))}


def _counted_more(k: int) -> list[np.ndarray]:
    """Factors of every judge's counts, one judge at a time."""
    return [1.0 + (times - 1.0) * row for times in TIMES for row in np.eye(k)]


class Problem:
    """The likelihood of gamma_k (s_i - s_j) + b_k, ties as half wins, and climbs of it.

    A point is (s, gamma, b), shape (N + 2 K,), or without b, shape (N + K,).
    """

    def __init__(self, cells: Comparisons, has_position: bool):
        self.n, self.k = len(cells.models), len(cells.judges)
        self.cells, self.judge = cells, cells.judge.astype(np.intp)
        rows = np.arange(len(cells))
        self.pairs, self.of_judge = np.zeros((len(rows), self.n)), np.zeros((len(rows), self.k))
        self.pairs[rows, cells.first], self.pairs[rows, cells.second] = 1.0, -1.0
        self.of_judge[rows, self.judge] = 1.0
        self.has_position = has_position

    def climb(self, x: np.ndarray, factors: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Height and end of a climb; with `factors`, of judges' counts, of that likelihood."""
        count = self.cells.count * (1.0 if factors is None else factors[self.judge])
        damping, height, gammas = DAMPED, self._height(x, count), slice(self.n, self.n + self.k)
        for _ in range(STEPS):
            jacobian, eta = self._jacobian(x), self._predictor(x)
            p = expit(eta)
            gradient = jacobian.T @ (count * (self.cells.outcome - p))
            free = np.ones(len(x), bool)
            free[gammas] = (x[gammas] > 0) | (gradient[gammas] > 0)
            part = jacobian[:, free]
            info = part.T @ ((count * p * (1 - p))[:, None] * part)
            scale = np.diag(info) + 1e-3 * np.diag(info).mean() + 1e-10
            before = height
            for _ in range(TRIES):
                ahead = x.copy()
                ahead[free] += np.linalg.solve(info + damping * np.diag(scale), gradient[free])
                ahead[gammas] = np.maximum(ahead[gammas], 0.0)
                if (there := self._height(ahead, count)) >= height:
                    x, height, damping = ahead, there, max(damping / EASIER, 1e-8)
                    break
                damping *= HARDER
            if height - before < DONE:
                break
        return height, x

    def _predictor(self, x: np.ndarray) -> np.ndarray:
        gamma = x[self.n : self.n + self.k]
        eta = gamma[self.judge] * (self.pairs @ x[: self.n])
        return eta + x[self.n + self.k :][self.judge] if self.has_position else eta

    def _jacobian(self, x: np.ndarray) -> np.ndarray:
        gamma = x[self.n : self.n + self.k]
        blocks = [gamma[self.judge][:, None] * self.pairs, (self.pairs @ x[: self.n])[:, None] * self.of_judge]
        return np.hstack([*blocks, self.of_judge] if self.has_position else blocks)

    def _height(self, x: np.ndarray, count: np.ndarray) -> float:
        eta = self._predictor(x)
        return float(count @ (self.cells.outcome * eta - np.logaddexp(0.0, eta)))
