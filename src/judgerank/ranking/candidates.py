"""Comparisons that could be collected next, and how much information each adds on a contrast of scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.fits.result import Fit
from judgerank.inference.estimates import covariances
from judgerank.inference.intervals import FURTHEST
from judgerank.inference.wald import normal_quantile
from judgerank.model.block import Need, Role
from judgerank.model.law import Law
from judgerank.model.members import Model

CAUTION = 0.95  # level of the interval of a discrimination within which a judge is taken at its worst
AT_ONCE = 100_000  # candidates looked at at a time
SLACK = 1e-9  # relative, by which a bound may fall short by rounding


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Parameters and information of the outcomes of some candidates.

    Attributes
    ----------
    index : int array, shape (C, 2 + B)
        Parameters.
    root : float array, shape (C, 2 + B, R)
        X for one comparison in those, zero in what is held; R is two with ties for an outcome, one more for each
        strength beyond better, else one.
    caution : float array, shape (C,)
        Least information over that judge's interval of the discrimination, relative to that at the estimate.
    """

    index: IntArray
    root: FloatArray
    caution: FloatArray

    def falls(self, v: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """1 + X'V X of each, shape (C, R, R), and by how much it lowers the variance c'V c, shape (C,)."""
        index, root = self.index, self.root
        shared = np.einsum("tar,ta->tr", root, (v @ c)[index])
        capacitance = np.einsum("tar,tab,tbq->trq", root, v[index[:, :, None], index[:, None, :]], root)
        capacitance += np.eye(root.shape[2])
        return capacitance, np.einsum("tr,tr->t", shared, np.linalg.solve(capacitance, shared[..., None])[..., 0])


@dataclass(frozen=True, eq=False)
class Candidates:
    """Every pair before every judge who is known well enough; where positions are fitted, in either order.

    Attributes
    ----------
    result : Fit
    few : int
        Judges with fewer comparisons are left out, unless all have fewer.
    may_judge : bool array, shape (K, N), optional
        Which models may be shown to which judge; by default all to all. Not where judges are pooled.
    excluded : set of tuples
        Candidates (first, second, judge) that count no more.
    """

    result: Fit
    few: int
    may_judge: BoolArray | None = None
    excluded: set[tuple[int, int, int]] = field(default_factory=set)

    def __len__(self) -> int:
        n = self._allowed[self.judges].sum(axis=1)
        return int((n * (n - 1) // 2).sum()) * self._orders

    @property
    def _orders(self) -> int:
        """In how many orders a pair can be shown that differ to the model."""
        return 1 + self.result.model.uses(Need.ORDER)

    @cached_property
    def _allowed(self) -> BoolArray:
        """Which models may be shown to which judge, shape (K, N)."""
        shape = len(self._gamma), len(self._scores)
        pooled = self.may_judge is None or not self.result.model.judge_blocks
        return np.ones(shape, bool) if pooled else np.asarray(self.may_judge, bool)

    @cached_property
    def judges(self) -> IntArray:
        """Judges in play who may be shown two models, with that many comparisons; or all of these if none has."""
        if not self.result.model.judge_blocks:
            return np.array([0])
        in_play, cells = (self._gamma > 0) & (self._allowed.sum(axis=1) > 1), self.result.comparisons
        single = in_play & ~cells.is_pooled  # nobody can be asked who is not one judge
        in_play = single if single.any() else in_play
        often = np.bincount(cells.judge, cells.count, len(in_play)) >= self.few
        return np.flatnonzero(in_play & often if (in_play & often).any() else in_play)

    @cached_property
    def _gamma(self) -> FloatArray:
        return self.result.discrimination.to_numpy()

    @cached_property
    def _scores(self) -> FloatArray:
        return self.result.scores.to_numpy()

    @cached_property
    def _parameter_columns(self) -> IntArray:
        """Columns of the judges' parameters in the covariance, shape (B, K)."""
        free = self.result._free
        return len(self._scores) - 1 + np.cumsum(free.ravel()).reshape(free.shape)

    @cached_property
    def _log_errors(self) -> FloatArray:
        """Standard error of every judge's log-discrimination, zero where it is held, shape (K,)."""
        errors, free = np.zeros(len(self._gamma)), self.result._free
        if len(free):
            errors[free[0]] = np.sqrt(np.diag(self.result.covariance)[self._parameter_columns[0, free[0]]])
        return errors

    def _key(self, who: IntArray) -> IntArray:
        """One integer for each candidate."""
        first, second, judge = who
        return (first * len(self._scores) + second) * len(self._gamma) + judge

    def between(self, i: int, j: int) -> IntArray:
        """Candidates that compare these two models: first, second and judge, shape (3, C)."""
        ends = [(min(i, j), max(i, j)), (max(i, j), min(i, j))][: self._orders]
        judges = self.judges[self._allowed[self.judges, i] & self._allowed[self.judges, j]]
        first, second = np.repeat(np.array(ends, np.intp).T, len(judges), axis=1)
        return np.array([first, second, np.tile(judges, len(ends))])

    def outcomes(self, who: IntArray) -> Outcomes:
        """Parameters and information of the outcomes of some candidates, shape (3, C)."""
        result, (i, j, k) = self.result, who
        g, d = self._gamma[k], self._scores[i] - self._scores[j]
        b = result.position.to_numpy()[k]
        half = working_half(result, g * d + b, g, k)
        nothing = np.zeros_like(d)
        rest = (nothing,) * (half.shape[1] - 1)
        by_role = {  # derivatives of the predictor and of the thresholds
            Role.WEIGHT: (g * d, *rest),
            Role.OFFSET: (nothing + 1, *rest),
        }
        for level, role in enumerate(_threshold_roles(result.model), 1):
            by_role[role] = tuple(nothing + (number == level) for number in range(half.shape[1]))
        index, gradient = [i, j], [(g, *rest), (-g, *rest)]
        for row, block in enumerate(result.model.blocks):
            index.append(self._parameter_columns[row, k])
            # lengths are at their mean, zero, and two answers are no tie of three
            derivative = (nothing, *rest) if block.column or block.role.tied > 2 else by_role[block.role]
            gradient.append(result._free[row, k] * np.array(derivative))
        root = np.einsum("adt,tdr->tar", np.array(gradient), half)
        information = []
        for end in (0.0, -1.0, 1.0):  # of the interval of log gamma: at the estimate, and at its ends
            at = g * np.exp(np.clip(end * normal_quantile(CAUTION) * self._log_errors[k], -FURTHEST, FURTHEST))
            information.append(at**2 * (working_half(result, at * d + b, at, k)[:, 0] ** 2).sum(axis=1))
        caution = np.min(information, axis=0) / np.maximum(information[0], np.finfo(float).tiny)
        root = root if result.model.has(Role.TIE, Role.STRONG) else root[..., :1]
        return Outcomes(np.array(index).T, root, caution)

    def best(self, v: FloatArray, c: FloatArray, size: int, pair: tuple[int, int]) -> IntArray:
        """That which lowers the variance c'V c the most with so many comparisons, with caution; shape (3,).

        Parameters
        ----------
        v : float array, shape (D, D)
        c : float array, shape (D,)
        size : int
        pair : tuple of int
            Two models between which a good one is likely.
        """
        top = self._highest(self.between(*pair), v, c, size)[1]
        return self._highest(self._above(top, v @ c, size), v, c, size)[0]

    def _highest(self, who: IntArray, v: FloatArray, c: FloatArray, size: int) -> tuple[IntArray, float]:
        """The best of some candidates, the first of equals, and its fall; -1 if all of them are taken."""
        best, top = who[:, :1].ravel(), -1.0
        excluded = self._key(np.array(sorted(self.excluded), np.intp).reshape(-1, 3).T)
        for start in range(0, who.shape[1], AT_ONCE):
            part = who[:, start : start + AT_ONCE]
            those = self.outcomes(part)
            scaled = Outcomes(those.index, those.root * np.sqrt(size), those.caution)
            fall = those.caution * scaled.falls(v, c)[1]
            fall[np.isin(self._key(part), excluded)] = -1.0
            if fall.max() > top:
                top = float(fall.max())
                best = part[:, fall.argmax()]
        return best, top

    def _above(self, top: float, w: FloatArray, size: int) -> IntArray:
        """All candidates whose fall may be that high or higher, in their order; w = V c; shape (3, C).

        A fall is at most X'w w'X <= n m (h^2 + e^2), m the largest trace of the covariance of an outcome, a tie
        and the strengths beyond better; h = g (x_i - x_j) + w_b and e, of the thresholds, those parts of G'w, and
        x = w_s + s w_alpha.
        """
        free = self.result._free
        by_role = {
            block.role: np.where(free[row], w[self._parameter_columns[row]], 0.0)
            for row, block in enumerate(self.result.model.blocks)
            if not block.column
        }
        most = 0.5 if self.result.model.has(Role.TIE) else 0.25
        strong = self.result.model.n_strengths
        if strong:  # the variance of an outcome is then up to the square of the largest |c|
            most += ((1 + strong) / 2) ** 2 + (strong - 1) / 4
        most /= self.result.dispersion
        parts, n = [], len(self._scores)
        for k in self.judges:
            alpha, b = (by_role[role][k] if role in by_role else 0.0 for role in (Role.WEIGHT, Role.OFFSET))
            by_threshold = sum(component[k] ** 2 for role, component in by_role.items() if role.is_threshold)
            x = w[:n] + self._scores * alpha
            least = np.sqrt(max((1 - SLACK) * top / (size * most) - by_threshold, 0.0)) - abs(b)
            i, j = _distant_pairs(x, least / self._gamma[k])
            allowed = self._allowed[k, i] & self._allowed[k, j]
            i, j = i[allowed], j[allowed]
            parts.append(np.array([np.minimum(i, j), np.maximum(i, j), np.full(len(i), k)]))
        who = np.concatenate(parts, axis=1)
        who = who[:, np.lexsort(who[::-1])]
        return who if self._orders == 1 else np.concatenate([who, who[[1, 0, 2]]], axis=1)


def _distant_pairs(x: FloatArray, gap: float) -> tuple[IntArray, IntArray]:
    """Pairs of places, each once, whose values differ by at least so much."""
    order = np.argsort(x, kind="stable")
    counts = np.minimum(np.searchsorted(x[order], x[order] - gap, side="right"), np.arange(len(x)))
    lower = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(order, counts), order[lower]


def working_half(fitted: Fit, eta: FloatArray, gamma: FloatArray, judge: IntArray) -> FloatArray:
    """The same as `half_information`, of comparisons as the likelihood of the fit counts them."""
    return half_information(fitted, eta, gamma, judge) / np.sqrt(fitted.dispersion)


def half_information(fitted: Fit, eta: FloatArray, gamma: FloatArray, judge: IntArray) -> FloatArray:
    """H with H H' the information of one comparison on its predictor and its thresholds, shape (C, R, R).

    R is two, and one more for each strength beyond better. That is the covariance C of an outcome and a tie (zero
    if ties are half a win), and of these strengths. Where questions have effects it is C V^-1 C of a comparison
    alone on its question, with C the mean covariance given the effect and V the whole.

    Parameters
    ----------
    fitted : Fit
    eta, gamma : float array, shape (C,)
        Predictors, and the discrimination of the judge asked.
    judge : int array, shape (C,)
        Who that is.
    """
    values = fitted._values
    tied, strong = None if values.nu is None else values.nu[judge], values.log_strong[:, judge]
    if len(strong):
        spread = 0.0 if fitted.effects is None else fitted.effects.sigma
        return _half_of_more(*covariances(spread, eta, gamma, tied, *strong))
    if fitted.effects is None:
        law = Law(eta, tied)
        return _half(law.variance, law.with_ties, law.tie * (1 - law.tie))
    at = fitted.effects.law(eta, gamma, tied)
    covariance = _half(at.mean - at.tie / 4 - at.mean**2, at.tie * (0.5 - at.mean), at.tie * (1 - at.tie))
    inner = np.zeros_like(covariance)
    inner[:, 0, 0], inner[:, 1, 1] = at.by_eta, at.tie_by_log_tie
    inner[:, 0, 1] = inner[:, 1, 0] = at.by_log_tie
    ends = [0, 1], [0, 1]
    covariance[:, *ends] = np.where(
        covariance[:, *ends] > 0, covariance[:, *ends], 1.0
    )  # who never ties, and what is sure
    return np.asarray(np.linalg.solve(covariance, inner).transpose(0, 2, 1), float)


def _half(of_outcome: FloatArray, shared: FloatArray, of_tie: FloatArray) -> FloatArray:
    """Cholesky factor of the covariance of an outcome and a tie, shape (C, 2, 2)."""
    half = np.zeros((len(of_outcome), 2, 2))
    half[:, 0, 0] = np.sqrt(of_outcome)
    half[:, 1, 0] = shared / np.maximum(half[:, 0, 0], np.finfo(float).tiny)
    half[:, 1, 1] = np.sqrt(np.maximum(of_tie - half[:, 1, 0] ** 2, 0.0))
    return half


def _threshold_roles(model: Model) -> tuple[Role, ...]:
    """The thresholds in the order of `half_information`, that of ties whether or not it is free."""
    return Role.TIE, *Role.strengths(model.n_strengths)


def _half_of_more(covariance: FloatArray, inner: FloatArray) -> FloatArray:
    """H with H H' = C V^-1 C, for V the whole covariance and C the inner one, both of shape (C, R, R)."""
    values, vectors = np.linalg.eigh(covariance)  # who never uses a level makes it singular
    positive = values > SLACK * values[:, -1:]
    roots = np.where(positive, np.maximum(values, np.finfo(float).tiny) ** -0.5, 0.0)
    return np.asarray(inner @ (vectors * roots[:, None, :]), float)
