"""Sums of a fit's residuals, and their distribution where its model holds, by sign flips of whole questions.

Let R_c be the sum of the residuals r of a group of answers c, such as those of one pair of models. Where the model
holds for every question, but for effects that come and go with it, a question's residuals are as likely r as -r,
however they depend on each other. So a draw flips the residuals of whole questions at random. The fit follows them
by one step: with J the derivatives of the expected answers, H = sum_c J and B the covariance of the estimates,

    R*_c = sum_q e_q (R_qc - H_c B G_q),    e_q = +-1,    G_q the question's gradient,

as efficient scores do (Hemerik, Goeman and Finos, 2020), and nothing is fitted again. A fit draws its own
residuals together, those of influential questions most. Flips start from residuals that make up for that: of a
question with the leverage h = V^-1/2 J B J' V^-1/2 they are (1 - h)^-1/2 r (Bell and McCaffrey, 2002).

Without questions every judgment is one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import coo_array, csr_array, hstack, vstack

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.likelihood import RowTerms, expected_answers, row_by_row
from judgerank.fits.result import Fit

DRAWS, AT_ONCE = 499, 400_000  # flips; signs held at a time, which a processor's cache holds
HIGHEST = 1 - 1e-6  # leverage that is made up for: beyond it nothing of a residual is left
LONGEST, SETTLED = 5.0, 1e-6  # logarithm of the largest factor of scores; relative slope that counts as none
FLAT = 1e-9  # share of a judge's information below which a direction of its own scores is not known


@dataclass(frozen=True, eq=False)
class FlippedResiduals:
    """Residuals of raw comparisons at a fit.

    Attributes
    ----------
    rows : Comparisons
    question : int array, shape (T,)
        From 0 to Q - 1.
    here : RowTerms
        The rows at the fit.
    jacobian : sparse float array, shape (T, D)
        Derivatives of the expected answers, counted.
    inverse : float array, shape (D, D)
        Covariance of the free parameters.
    residual : float array, shape (T,)
        Whose sums are observed: those of the fit with its scores no longer shrunk (`_without_shrinkage`).
    """

    rows: Comparisons
    question: IntArray
    here: RowTerms
    jacobian: csr_array
    inverse: FloatArray
    residual: FloatArray

    @classmethod
    def of(cls, fitted: Fit, rows: Comparisons, question: IntArray | None) -> FlippedResiduals:
        """Those of a fit that has a covariance by its model (not by clusters).

        Raises
        ------
        NoIntervalError
            If it has none.
        """
        rows = fitted.model.observed(rows)
        question_index = np.arange(len(rows)) if question is None else np.unique(question, return_inverse=True)[1]
        terms = row_by_row(rows, fitted.model, fitted.solution.parameters)
        jacobian = expected_answers(terms).tocsr()[:, fitted._chosen]
        residual = _without_shrinkage(fitted, rows, terms)
        return cls(rows, question_index, terms, jacobian, fitted.covariance, residual)

    @cached_property
    def variance(self) -> FloatArray:
        """Of every answer as the model has it, counted; shape (T,)."""
        counted = np.asarray(self.rows.count * self.here.law.variance, float)
        return np.maximum(counted, np.finfo(float).tiny)

    @cached_property
    def restored(self) -> FloatArray:
        """Residuals of which the fit has taken nothing, (1 - h)^-1/2 r by question; shape (T,)."""
        root = np.sqrt(self.variance)
        values, vectors = np.linalg.eigh(self.inverse)
        is_positive = values > np.finfo(float).eps * values[-1]
        z = (self.jacobian @ (vectors[:, is_positive] * np.sqrt(values[is_positive]))) / root[:, None]
        residual = self.here.residual / root
        order = np.argsort(self.question, kind="stable")
        question_sizes = np.bincount(self.question)
        begin = np.cumsum(question_sizes) - question_sizes
        for size in np.unique(question_sizes[question_sizes > 0]):  # questions with as many rows, all at once
            of = order[begin[question_sizes == size][:, None] + np.arange(size)]
            for few in np.array_split(of, -(-of.size * z.shape[1] // AT_ONCE)):
                residual[few] += _made_up(z[few], residual[few])
        return residual * root

    def apart(self, judges: IntArray) -> FlippedResiduals:
        """The same where some judges have scores of their own, so that the others' residuals do without them.

        One step, as for flips: their own scores are further parameters, zero at the fit.
        """
        c, n = self.rows, len(self.rows.models)
        mine = np.flatnonzero(np.isin(c.judge, judges))
        offset = np.searchsorted(judges, c.judge[mine]) * n
        ends = np.r_[offset + c.first[mine], offset + c.second[mine]]
        sign = np.repeat([1.0, -1.0], len(mine))
        signed_rows = coo_array((sign, (np.tile(mine, 2), ends)), (len(c), n * len(judges))).tocsr()
        expected = signed_rows.multiply(self.variance[:, None]).tocsr()
        carried = self.inverse @ (self.jacobian.T @ signed_rows).toarray()
        information = (signed_rows.T @ expected).toarray() - (self.jacobian.T @ signed_rows).T @ carried
        inverse = np.linalg.pinv(information, rcond=FLAT, hermitian=True)
        joint = np.block(
            [[self.inverse + carried @ inverse @ carried.T, -carried @ inverse], [-inverse @ carried.T, inverse]]
        )
        return replace(self, jacobian=csr_array(hstack([self.jacobian, expected])), inverse=joint)

    @cached_property
    def asked(self) -> csr_array:
        """The matrix that sums over the rows of every question, shape (Q, T), with restored residuals."""
        return csr_array(coo_array((self.restored, (self.question, np.arange(len(self.question))))))

    @cached_property
    def gradient(self) -> csr_array:
        """Gradient of every question by restored residuals, shape (Q, D)."""
        return csr_array(self.asked @ self.jacobian.multiply(1 / self.variance[:, None]))

    def sums(self, group: IntArray, sign: FloatArray) -> Sums:
        """Signed sums by group; groups of a single question are left out, since no flip of it changes them.

        Parameters
        ----------
        group : int array, shape (T,)
            From 0.
        sign : float array, shape (T,)
        """
        row = np.arange(len(group))
        return self._sums(coo_array((sign, (group, row)), (int(group.max()) + 1, len(row))).tocsr())

    def between(self, gains: IntArray, loses: IntArray, n_sums: int) -> Sums:
        """Sums by group where every row counts for one group and against another.

        Parameters
        ----------
        gains, loses : int array, shape (T,)
            From 0 to many - 1.
        many : int
        """
        row = np.tile(np.arange(len(gains)), 2)
        sign = np.repeat([1.0, -1.0], len(gains))
        return self._sums(coo_array((sign, (np.r_[gains, loses], row)), (n_sums, len(gains))).tocsr())

    def _sums(self, member: csr_array) -> Sums:
        """Sums by the rows of a matrix of signs, shape (groups, T)."""
        selected = np.flatnonzero(np.diff((abs(member) @ self.asked.astype(bool).T).tocsr().indptr) > 1)
        member = member[selected]
        step = self.inverse @ (self.jacobian.T @ member.T).toarray()
        score = self.jacobian.T @ (self.residual / self.variance)
        return Sums(
            selected,
            member @ self.residual - score @ step,
            abs(member) @ self.variance,
            csr_array(self.asked @ member.T),
            self.gradient,
            step,
        )


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of residuals by group, and what flips make of them.

    Attributes
    ----------
    kept : int array, shape (C,)
        Numbers of the groups with two questions or more.
    observed : float array, shape (C,)
    variance : float array, shape (C,)
        Of independent answers.
    by_question : sparse float array, shape (Q, C)
    gradient : sparse float array, shape (Q, D)
    step : float array, shape (D, C)
        B H.
    """

    kept: IntArray
    observed: FloatArray
    variance: FloatArray
    by_question: csr_array
    gradient: csr_array
    step: FloatArray

    def draws(self, rng: np.random.Generator, n_draws: int = DRAWS) -> Iterator[FloatArray]:
        """Sums under random flips, some draws at a time; float arrays, shape (draws, C)."""
        q, c = self.by_question.shape
        size = max(1, AT_ONCE // q)
        turned = csr_array(vstack([self.by_question.T, self.gradient.T]))
        for start in range(0, n_draws, size):
            # the highest bits, as rng.choice([-1, 1], ...) takes them
            signs = (rng.integers(0, 2**32, (min(size, n_draws - start), q), np.uint32) >> 31).T.astype(float, "C")
            signs *= 2
            signs -= 1
            sums = turned @ signs
            yield (sums[:c] - self.step.T @ sums[c:]).T

    def together(self, rng: np.random.Generator, n_draws: int = DRAWS) -> tuple[float, float, float]:
        """Sum of all squares over their variances, its mean under random flips, and the p-value by them."""
        variance = np.maximum(self.variance, np.finfo(float).tiny)
        drawn = np.concatenate([(draws**2 / variance).sum(axis=1) for draws in self.draws(rng, n_draws)])
        statistic = float((self.observed**2 / variance).sum())
        p = (1 + int((drawn >= statistic * (1 - 1e-12)).sum())) / (1 + len(drawn))
        return statistic, float(drawn.mean()), p


def _without_shrinkage(fitted: Fit, rows: Comparisons, terms: RowTerms) -> FloatArray:
    """Residuals with all scores longer by one factor, that of the highest likelihood; shape (T,).

    At an exact fit sum r x = 0, x the part of the predictor that is of the models: the derivative in that factor,
    which then is one. Shrunk scores expect less of winners than they do, so the sum is above zero, and no random
    flip is as large as residuals that all have the sign of x. Where every answer is as the scores say the factor
    has no limit, and no residual is left.
    """
    x, at = terms.signal, fitted.solution.parameters

    def residual(logarithm: float) -> FloatArray:
        longer = replace(at, scores=at.scores * np.exp(logarithm))
        return row_by_row(rows, fitted.model, longer).residual

    if terms.residual @ x <= SETTLED * (np.abs(terms.residual) @ np.abs(x)):
        return terms.residual
    if residual(LONGEST) @ x > 0:
        return residual(LONGEST)
    return residual(brentq(lambda logarithm: float(residual(logarithm) @ x), 0.0, LONGEST, xtol=SETTLED))


def _made_up(z: FloatArray, r: FloatArray) -> FloatArray:
    """(1 - Z Z')^-1/2 r - r by the smaller of Z'Z and Z Z', for Z of shape (..., m, D) and r of shape (..., m)."""
    wide, turned = z.shape[-2] < z.shape[-1], z.swapaxes(-1, -2)
    values, vectors = np.linalg.eigh(z @ turned if wide else turned @ z)
    is_positive, values = values > 1e-12, np.clip(values, 1e-12, HIGHEST)
    more = np.where(is_positive, 1 / np.sqrt(1 - values) - 1, 0.0)[..., None]
    r = r[..., None]
    if not wide:
        r, more = turned @ r, more / values[..., None]
    restored = vectors @ (more * (vectors.swapaxes(-1, -2) @ r))
    return np.asarray((restored if wide else z @ restored)[..., 0], float)
