"""The law of a choice among several answers that may be a tie (`judgerank.data.stages`), by rows of two answers.

A set C of the answers is chosen with probability proportional to delta_|C| exp(mean of u over C), delta_1 = 1: the
model of Davidson and Luce (Firth, Kosmidis and Turner, 2019; Turner, van Etten, Firth and Kosmidis, 2020). With
two answers it is that of Davidson (1970), and without ties that of Plackett and Luce.

An answer's share x of a choice is 1 / |C| in the set and zero outside. Shares add up to one, so their covariance
matrix is a Laplacian: what a row adds to the information is the entry of its two answers, with the sign turned.

H. L. Turner, J. van Etten, D. Firth, I. Kosmidis (2020), Modelling rankings in R: the PlackettLuce package,
Computational Statistics 35. D. Firth, I. Kosmidis, H. L. Turner (2019), Davidson-Luce model for multi-item choice
with ties, arXiv:1909.07123.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, exp
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.rankings import with_tied_choices
from judgerank.data.stages import Alternatives
from judgerank.data.tied_choices import tie_sizes
from judgerank.model.block import Role
from judgerank.model.law import ByThreshold

MOST_SETS = 1_000  # that may be chosen from the answers of one choice


class Sets(NamedTuple):
    """The sets that may be chosen among m answers.

    Attributes
    ----------
    size : int array, shape (C,)
    share : sparse float array, shape (C, m)
        Of every answer.
    code : int array, shape (C,)
        Sum of 2^a over the answers of a set; rising.
    by_answer : sparse float array, shape (m, C)
        `share` transposed: laws take sums over sets many times.
    by_pair : sparse float array, shape (m (m - 1) / 2, C)
        Products of the shares of two answers.
    tied : mapping of int to bool array, shape (C,)
        Which sets are of a size.
    by_answer_tied : mapping of int to sparse float array
        `by_answer` of the sets of a size.
    """

    size: IntArray
    share: csr_array
    code: IntArray
    by_answer: csc_array
    by_pair: csc_array
    tied: dict[int, BoolArray]
    by_answer_tied: dict[int, csc_array]


@lru_cache(maxsize=256)
def sets_of(m: int, sizes: tuple[int, ...]) -> Sets:
    """Sets of these sizes among m answers."""
    subsets = [subset for size in sizes if size <= m for subset in combinations(range(m), size)]
    subsets.sort(key=lambda subset: sum(1 << a for a in subset))
    share = np.zeros((len(subsets), m))
    for row, subset in enumerate(subsets):
        share[row, list(subset)] = 1 / len(subset)
    a, b = np.triu_indices(m, 1)
    code = (share > 0) @ (1 << np.arange(m, dtype=np.int64))
    both, shares = csr_array(share[:, a] * share[:, b]), csr_array(share)
    sizes_of_subsets = np.array([len(subset) for subset in subsets])
    tied = {size: sizes_of_subsets == size for size in sizes}
    by_answer_tied = {size: shares[columns].T for size, columns in tied.items()}
    return Sets(sizes_of_subsets, shares, code, shares.T, both.T, tied, by_answer_tied)


def observed_ties(comparisons: Comparisons, sizes: tuple[int, ...]) -> Comparisons:
    """The comparisons as a model with ties of so many answers takes them, or without ties if there are none.

    Raises
    ------
    DataError
        If aggregated rows have lost their ties, or rankings have ties that the model lacks, or more sets to choose
        from than can be listed.
    """
    ranked = comparisons.stages is not None
    if not sizes:
        if ranked and comparisons.tied is not None:
            raise DataError("in these rankings ties are an outcome already: give the rankings as they were read")
        return comparisons if comparisons.tied is None else replace(comparisons, tied=None)
    comparisons = with_tied_choices(comparisons)
    if comparisons.stages is None:
        return comparisons
    largest = max(tie_sizes(comparisons), default=1)
    if not {*tie_sizes(comparisons)} <= {*sizes}:
        raise DataError(
            f"these rankings have ties of {largest} answers, and those of the fit had not: fit the model to all"
        )
    m = int(comparisons.stages.alternatives.size.max())
    if sum(comb(m, size) for size in (1, *sizes)) > MOST_SETS:
        raise DataError(
            f"a model with ties does not read rankings of {m} answers with ties of up to {max(sizes)}: fit one "
            "without ties, which averages over their orders"
        )
    return comparisons


class _Part(NamedTuple):
    """Stages of one size: which, their answers and rows, what may be chosen, and its probabilities, (C, n)."""

    m: int
    which: IntArray
    answers: IntArray
    rows: IntArray
    sets: Sets
    chance: FloatArray


class TiedLaw(ByThreshold):
    """Law of the rows of stages with ties, given their predictors; with what `judgerank.model.law.Law` has.

    Counts of rows are as without ties (`judgerank.model.law`). What is known of a whole stage, such as the
    probability of a tie, stands in each of its rows.

    Parameters
    ----------
    eta : float array, shape (T,)
    answers : Alternatives
    log_delta : mapping of int to float array, shape (T,)
        By the size of ties, one value for each stage: that of its first row is taken.

    Attributes
    ----------
    mean : float array, shape (T,)
        Of the outcome, 1/2 + (x_a - x_b) / 2.
    reach : float array, shape (T,)
        By how much the exponents of a stage's sets differ.
    """

    def __init__(self, eta: FloatArray, answers: Alternatives, log_delta: Mapping[int, FloatArray]):
        self._eta, self._answers = eta, answers
        self._log_delta = {size: log_propensity[answers.first_rows] for size, log_propensity in log_delta.items()}
        u = np.where(answers.reference, 0.0, -eta[answers.row])
        self._share, self._log_sum = np.empty(len(u)), np.empty(len(answers.size))
        self.reach = np.empty(len(answers.size))
        self._parts: list[_Part] = []
        for m, which, answer_rows, rows in answers.by_size:
            sets = sets_of(m, (1, *log_delta))
            exponent = sets.share @ u[answer_rows].T
            for size, log_propensity in self._log_delta.items():
                exponent[sets.tied[size]] += log_propensity[which]
            top = exponent.max(axis=0)
            weight = exp(exponent - top)
            total = weight.sum(axis=0)
            self._log_sum[which] = np.log(total) + top
            self.reach[which] = top - exponent.min(axis=0)
            chance = weight / total
            self._share[answer_rows] = (sets.by_answer @ chance).T
            self._parts.append(_Part(m, which, answer_rows, rows, sets, chance))
        self._log_sum -= answers.sums(u) / answers.size
        self.reach = self._of_rows(self.reach)
        self.mean: FloatArray = 0.5 + 0.5 * (self._share[answers.first] - self._share[answers.second])

    def _of_rows(self, by_stage: FloatArray) -> FloatArray:
        return np.asarray(by_stage[self._answers.stage], float)

    def log_likelihood(self, y: FloatArray, *tie_shares: FloatArray | None) -> FloatArray:
        """Per comparison; times counts, it adds up to the stage's log-likelihood.

        Parameters
        ----------
        y : float array, shape (T,)
        given : float arrays, shape (T,)
            Whether the choice of the row's stage is a tie of each size.
        """
        value = -self._log_sum
        for log_propensity, share in zip(self._log_delta.values(), tie_shares, strict=True):
            observed = share[self._answers.first_rows] if share is not None else np.zeros(())
            value = value + np.where(observed > 0, observed * np.where(observed > 0, log_propensity, 0.0), 0.0)
        per_row = value / (self._answers.size - 1)
        return np.asarray((y - 0.5) * self._eta + self._of_rows(per_row), float)

    @cached_property
    def _chance(self) -> dict[int, FloatArray]:
        """Probability of a tie of each size by stage."""
        chances = {size: np.zeros(len(self._log_sum)) for size in self._log_delta}
        for part in self._parts:
            for size, chance in chances.items():
                chance[part.which] = part.chance[part.sets.tied[size]].sum(axis=0)
        return chances

    @cached_property
    def _shared(self) -> dict[int, FloatArray]:
        """Covariance of every answer's share and a tie of each size, shape (M,)."""
        shared = {size: np.zeros(len(self._share)) for size in self._log_delta}
        for part in self._parts:
            for size, total in shared.items():
                of_tie = (part.sets.by_answer_tied[size] @ part.chance[part.sets.tied[size]]).T
                total[part.answers] = of_tie - self._share[part.answers] * self._chance[size][part.which][:, None]
        return shared

    def _by_pair(self, part: _Part, chance: FloatArray) -> FloatArray:
        """Sums over the sets of products of two answers' shares, by row, shape (n, m (m - 1) / 2)."""
        return np.asarray((part.sets.by_pair @ chance).T, float)

    @cached_property
    def variance(self) -> FloatArray:
        """What each two answers add to the information of a stage, over the count of one choice."""
        first, second = self._share[self._answers.first], self._share[self._answers.second]
        together = np.empty(len(self._eta))
        for part in self._parts:
            together[part.rows] = self._by_pair(part, part.chance)
        return np.asarray((first * second - together) * self._answers.half_size)

    def chance(self, role: Role) -> FloatArray:
        """Probability of a tie of that size in the stage of every row."""
        return self._of_rows(self._chance[role.tied])

    def with_chance(self, role: Role) -> FloatArray:
        """Covariance of the outcome of a row and such a tie; also the derivative of the mean in the threshold."""
        shared = self._shared[role.tied]
        return np.asarray(0.5 * (shared[self._answers.first] - shared[self._answers.second]), float)
