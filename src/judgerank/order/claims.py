"""The claims of a ranking: which models are significantly better than which, and everything that follows.

All pairs of models are tested together by Holm's (1979) procedure. Each rejection is a claim with a direction,
"i is better than j". The claims are then closed under transitivity: if i is better than j, and j than k, then i is
better than k. A consequence of claims is false only if one of them is, so closing them costs no error: the chance
of any false claim stays below one minus the level. This is coherence in the sense of closed testing (R. Marcus,
E. Peritz and K. R. Gabriel, 1976, On closed testing procedures with special reference to ordered analysis of
variance, Biometrika 63, 655-660).

Claims cannot contradict each other: all go down the order of the scores, since a test whose direction is not that
of the scores claims nothing. So none is reversed by another, and closing them makes no cycle.

Ranks, leaders, groups and the sentences of a ranking are views of these claims and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray, IntArray


def holm(p: FloatArray) -> FloatArray:
    """p-values adjusted so that none is rejected falsely with the probability they are held to (Holm, 1979)."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    steps = np.arange(len(p), 0, -1) * p[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def significant(tests: pd.DataFrame, level: float) -> pd.DataFrame:
    """The rows whose ``p_holm`` is at most 1 - level."""
    return tests[tests["p_holm"] <= 1 - level]


def closed(p: FloatArray) -> FloatArray:
    """Adjusted p-values closed under transitivity.

    A claim follows from others at a level at which each of these is rejected, so its p-value is at most the
    largest of a chain of claims.

    Parameters
    ----------
    p : float array, shape (n, n)
        Adjusted p-value of "i is better than j", i < j, models by falling score; the rest is not read.

    Returns
    -------
    float array, shape (n, n)
        The smallest level at which the closed claims contain each; one on the diagonal and below.
    """
    n = len(p)
    least = np.where(np.triu(np.ones((n, n), bool), 1), p, 1.0)
    for k in range(1, n - 1):  # chains through the first k models: all steps of a chain go down
        above, below = least[:k, k], least[k, k + 1 :]
        rows = np.flatnonzero(above < 1)
        if len(rows):
            block = np.maximum(above[rows, None], below)
            least[rows, k + 1 :] = np.minimum(least[rows, k + 1 :], block)
    return least


@dataclass(frozen=True)
class Claims:
    """Which models of one component are significantly better than which.

    Attributes
    ----------
    models : tuple of str
        By falling score.
    better : bool array, shape (n, n)
        Whether the first is significantly better than the second; closed under transitivity.

    Raises
    ------
    ValueError
        If a claim goes against the order of the models.
    """

    models: tuple[str, ...]
    better: BoolArray

    def __post_init__(self) -> None:
        if np.tril(self.better).any():
            raise ValueError("a claim goes against the order of the models")

    @classmethod
    def of_table(cls, models: Sequence[str], pairs: pd.DataFrame) -> Claims:
        """Those of a table of pairs (`order.pairs.pairwise`), among some models by falling score."""
        index, better = pd.Index(models), np.zeros((len(models),) * 2, bool)
        claimed = pairs[pairs["separated"].fillna(False).astype(bool)]
        i, j = (index.get_indexer(pd.Index(claimed[side])) for side in ("first", "second"))
        among = (i >= 0) & (j >= 0)
        better[i[among], j[among]] = True
        return cls(tuple(models), better)

    @property
    def best_rank(self) -> IntArray:
        """One plus the number of models that are significantly better, shape (n,)."""
        return np.asarray(1 + self.better.sum(axis=0))

    @property
    def worst_rank(self) -> IntArray:
        """The number of models less that of those that are significantly worse, shape (n,)."""
        return np.asarray(len(self.models) - self.better.sum(axis=1))

    @property
    def is_separated(self) -> BoolArray:
        """Whether two models are significantly different, shape (n, n)."""
        return np.asarray(self.better | self.better.T)

    @property
    def has_any(self) -> bool:
        """Whether anything is known of the order."""
        return bool(self.better.any())

    def separates(self, first: str, second: str) -> bool:
        """Whether two models are significantly different."""
        return bool(self.is_separated[self.models.index(first), self.models.index(second)])

    @property
    def leaders(self) -> tuple[str, ...]:
        """The models that no other is significantly better than."""
        return tuple(np.asarray(self.models, object)[self.best_rank == 1])

    @property
    def shared_lead(self) -> tuple[str, ...]:
        """The leaders at the top of the order, down to the first model that another is better than."""
        n_top = int(np.argmin(np.r_[self.best_rank == 1, False]))
        return self.models[:n_top]

    @property
    def contenders(self) -> tuple[str, ...]:
        """The other leaders, which stand below, such as models compared rarely."""
        at_the_top = self.shared_lead
        return tuple(model for model in self.leaders if model not in at_the_top)

    @property
    def undecided(self) -> tuple[str, str] | None:
        """The pair to decide next: the first of several leaders, else the first neighbours that may be equal."""
        if len(self.leaders) > 1:
            return self.leaders[0], self.leaders[1]
        ties = np.flatnonzero(~np.diag(self.better, 1))
        return (self.models[ties[0]], self.models[ties[0] + 1]) if len(ties) else None

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Letters of every model: two share a letter exactly if they are not significantly different.

        A compact letter display (H.-P. Piepho, 2004, An algorithm for a letter-based representation of
        all-pairwise comparisons, Journal of Computational and Graphical Statistics 13, 456-466). Letters are given
        from the top: each to the first two models that share none yet, and to all that differ from none of those.
        """
        n, alike = len(self.models), ~self.is_separated
        is_shown, letters = np.zeros((n, n), bool), [""] * n
        number = 0
        for i in range(n):
            while not is_shown[i, i:][alike[i, i:]].all():
                j = i + int(np.argmax(alike[i, i:] & ~is_shown[i, i:]))
                members, fits = [i], alike[i].copy()
                fits[i] = False
                for k in [j, *np.flatnonzero(fits).tolist()]:
                    if fits[k]:
                        members.append(k)
                        fits &= alike[k]
                        fits[k] = False
                is_shown[np.ix_(members, members)] = True
                for k in members:
                    letters[k] += letter(number)
                number += 1
        return tuple(letters)


def letter(number: int) -> str:
    """The name of a group, counted from zero: a to z, then a1 to z1, and so on."""
    times, letter = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(times) if times else "")
