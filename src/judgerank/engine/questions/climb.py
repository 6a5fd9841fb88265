"""The fit without question effects, and the rough climb of the marginal likelihood that begins there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, solve_triangular
from scipy.optimize import minimize

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.information import information, zero_sum_basis
from judgerank.engine.penalty import ALPHA, penalty, pulled
from judgerank.engine.questions.marginal import Marginal
from judgerank.engine.solution import Solution
from judgerank.engine.sums import evaluate
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

LEAST = 1e-3  # of sigma: about there it counts as zero
NOISELESS = 25.0  # times the logistic noise of a judge, the noise of a question's effect: the former is as none
FLOOR = 0.05  # discrimination that judges at zero are scaled for
SHARPER = 1.4  # than a rule was chosen for, from which on it is not trusted
CLOSE = 1e-2  # gradient in such units, at which Newton's method takes over
ITERATIONS = 500
FAINTEST = 1e-3  # of a discrimination that is shrunk, over that at the start


@dataclass(frozen=True)
class Plain:
    """The fit without question effects, from which the climb begins.

    Attributes
    ----------
    cells : Comparisons
    model : Model
    solution : Solution
    free : bool array, shape (B, K)
        Parameters of the judges that move.
    free_common : bool array, shape (P,)
        Those of further blocks.
    """

    cells: Comparisons
    model: Model
    solution: Solution
    free: BoolArray
    free_common: BoolArray

    @property
    def spread(self) -> dict[str, float]:
        """Standard deviations of what is shrunk."""
        return dict(self.solution.spread or {})

    @property
    def height(self) -> float:
        """Log-likelihood less the penalty."""
        lost = pulled(self.model, self.solution.parameters, self.spread)[0] if self.spread else 0.0
        return self.solution.evaluation.log_likelihood - 0.5 * lost

    def free_at(self, at: Parameters) -> BoolArray:
        """What moves where other judges may be at zero, shape (B, K)."""
        free = self.free.copy()
        free[self.model.moving] = at.in_play
        return free & np.isfinite(at.judges)


class Climb:
    """L-BFGS from a point, in units in which the likelihood without question effects is all but round.

    Discriminations are climbed in themselves, bounded by zero: the logarithm of a weak judge's has no end that
    tells. Their scale is left free, and fixed in the end.
    """

    def __init__(self, marginal: Marginal, plain: Plain, at: Parameters, sigma: float):
        model, n, k = plain.model, len(at.scores), at.judges.shape[1]
        self.sharpest = model.of_judges(at).gamma.max() * sigma
        self.marginal, self.base, self.model = marginal, at, model
        self.moving = model.weighs_judges
        self.others, self.to_scores = plain.free & np.isfinite(at.judges), zero_sum_basis(n)
        self.others[model.weights] = False
        self.common = plain.free_common
        info = self._information(plain, at)
        kept = np.r_[np.arange(n), n + np.flatnonzero(np.r_[self.others.ravel(), self.common])]
        self.n_others = int(self.others.sum())
        to_full = block_diag(self.to_scores, np.eye(self.n_others + int(self.common.sum())))
        reduced = to_full.T @ info[np.ix_(kept, kept)] @ to_full
        self.half = np.linalg.cholesky(reduced + np.diag(1e-6 * np.diag(reduced) + 1e-3))
        self.start = np.r_[self.to_scores.T @ at.scores, at.judges[self.others], at.common[self.common]]
        gamma = model.of_judges(at).gamma if self.moving else np.empty(0)
        floor = np.maximum(gamma, FLOOR)
        own = np.diag(info)[n : n + k] / floor**2 if self.moving else np.empty(0)
        self.unit = np.r_[1 / np.sqrt(own + 1.0), 1 / np.sqrt(2.0 * sum(map(len, marginal.groups)) * 0.01 + 1.0)]
        self.bounded = np.r_[gamma, np.log(sigma)]
        # where discriminations are shrunk none is zero
        self.least = np.r_[FAINTEST * gamma if ALPHA in marginal.spread else np.zeros(len(gamma)), np.log(LEAST)]

    def _information(self, plain: Plain, at: Parameters) -> FloatArray:
        """Without question effects, shape (D, D), judges at zero being taken for weak ones; the penalty's, too."""
        judges = at.judges
        if self.model.has(Role.WEIGHT):
            judges = np.where(np.isfinite(judges), judges, np.maximum(judges, np.log(FLOOR)))
        here = evaluate(plain.cells, self.model, Parameters(at.scores, judges, at.common), "expected")
        info = information(here, np.ones(judges.shape, bool), np.ones(len(at.common), bool))
        return info + penalty(self.model, at, self.marginal.spread) if self.marginal.spread else info

    def too_sharp(self, at: Parameters, sigma: float) -> bool:
        """Whether the rules were chosen for judges that are not as sharp."""
        return bool(self.model.of_judges(at).gamma.max() * sigma > SHARPER * self.sharpest)

    def point(self, y: FloatArray) -> tuple[Parameters, float]:
        p, n = len(self.start), self.to_scores.shape[1]
        free = self.start + solve_triangular(self.half.T, y[:p])
        bounded = self.bounded + self.unit * y[p:]
        judges, common = self.base.judges.copy(), self.base.common.copy()
        judges[self.others], common[self.common] = free[n : n + self.n_others], free[n + self.n_others :]
        if self.moving:
            with np.errstate(divide="ignore"):
                judges[0] = np.log(np.maximum(bounded[:-1], 0.0))
        return Parameters(self.to_scores @ free[:n], judges, common), float(np.exp(bounded[-1]))

    def falls(self, y: FloatArray) -> tuple[float, FloatArray]:
        """Minus the value, and its slopes."""
        here = self.marginal.at(*self.point(y))
        free = np.r_[self.to_scores.T @ here.scores, here.judges[self.others], here.common[self.common]]
        gamma = here.judges[0] if self.moving else np.empty(0)
        slopes = np.r_[solve_triangular(self.half, free, lower=True), self.unit * np.r_[gamma, here.log_sigma]]
        return -here.value, -slopes

    def top(self) -> tuple[Parameters, float, int]:
        """Parameters and sigma close to the maximum, and iterations."""
        p = len(self.start)
        ends = (self.least - self.bounded) / self.unit
        bounds = [(None, None)] * p + [(end, None) for end in ends]
        options = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "ftol": 1e-14, "gtol": CLOSE, "maxcor": 30}
        y = np.zeros(p + len(ends))

        def callback(y: FloatArray) -> None:
            at, sigma = self.point(y)
            if self.model.of_judges(at).gamma.max() * sigma >= NOISELESS:
                raise StopIteration

        found = minimize(
            self.falls, y, jac=True, bounds=bounds, method="L-BFGS-B", options=options, callback=callback
        )
        return *self.point(found.x), int(found.nit)
