"""Systems with a block for every judge, a full one for the models, and a few directions across them all.

The penalised log-likelihood of N models and K judges has the information

    H = P + U W U',   P = (top, cross'; cross, own),

own block-diagonal with one block of size B for each judge, and U of a few columns: what the penalty shares between
judges, and what holds sums at zero. P is solved by its Schur complement in the scores, H by Woodbury's formula, so
time and memory grow as K N^2 and K N where those of the whole matrix grow as K^3 and K^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from judgerank.data.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Arrow:
    """Minus second derivatives in the whole parameters (s, judges block by block), D = N + B K of them.

    Attributes
    ----------
    top : float array, shape (N, N)
    cross : float array, shape (B, K, N)
    own : float array, shape (K, B, B)
    across : float array, shape (D, R)
        U, of which the sums are the last columns: what holds them.
    weight : float array, shape (R, R)
        W, not singular.
    sums : float array, shape (D, C)
        Orthonormal; what is at right angles to them is all that counts.
    """

    top: FloatArray
    cross: FloatArray
    own: FloatArray
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
        np.linalg.cholesky(self.own)
        return np.asarray(np.linalg.inv(self.own), float)

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
        parts = [self.own, self.weight, middle, self.sums.T @ self._on_sums]
        logs = [np.linalg.slogdet(part)[1].sum() for part in parts]
        return float(sum(logs) + 2 * np.log(np.abs(np.diag(self._schur[0]))).sum())
