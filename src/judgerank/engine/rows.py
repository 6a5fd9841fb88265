"""Comparisons laid out for one pass: indices of models and judges in each row, and sums over rows.

Where judges have seen most of the pairs, rows stand in a table of judges by pairs, with a count of zero where a
judge has not seen a pair: then what goes with the judge or with the pair is broadcast, and sums are products of
matrices. Elsewhere they stand in a list. Values by row have the shape (C,) in a list and (K, P) in a table; what
they are weighted by, or multiplied with, may have one that broadcasts to it, and None stands for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.sparse import csc_array, csr_array

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, exp, tanh
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.data.tied_choices import chosen, is_choice
from judgerank.model.block import Role
from judgerank.model.law import Law, StageLaw
from judgerank.model.members import BTL, JUDGE_AWARE, Model, Parameters
from judgerank.model.tied_law import TiedLaw

# Columns of further blocks for some of the rows, and sums of values by row times columns.
#
# Rows of one pair and judge stand together, so their entries are summed first, column by column; all else is a sum
# of these few sums. What does not depend on the values is worked out once. Sums over two columns of a row have a
# sparse matrix of their own: with columns that are mostly zero, as indicators are, that is several times as quick
# as products of matrices scaled anew on every pass.
LONG = 8  # rows of a run, on average, from which its sum by itself pays
MOST_PAIRS = 16  # of columns that are not zero in a row, on average, up to which sums over pairs get a matrix


class _Entries:
    """Entries of a matrix in runs: one column, and rows of one pair and judge that stand together."""

    def __init__(self, matrix: csr_array, cell: IntArray, ends: tuple[IntArray, IntArray], judge: IntArray):
        self._row, self.columns = _row_of(matrix), matrix.shape[1]
        key, self._data = cell[self._row] * self.columns + matrix.indices, matrix.data
        if np.any(key[1:] < key[:-1]):
            order = np.argsort(key, kind="stable")
            key, self._row, self._data = key[order], self._row[order], self._data[order]
        self._starts = starts_of_runs(key[1:] != key[:-1], LONG)
        ones = slice(None) if self._starts is None else self._starts
        row, self.column = self._row[ones], key[ones] % self.columns
        # of every run, its place in totals by one of the models, or by judge, and by column
        *self.ends, self.judge = (of[row] * self.columns + self.column for of in (*ends, judge))

    def runs(self, values: FloatArray) -> FloatArray:
        """Sums of values by row times entries, one for every run."""
        return over_runs(self._starts, self._data * values.take(self._row))


class BlockColumns:
    """Columns of further blocks, apart by role.

    Attributes
    ----------
    places : mapping of Role to int array
        Which of the P columns have a role.

    Parameters
    ----------
    columns : sparse float array, shape (C, P)
    roles : tuple of Role
        Of the columns.
    ends : two int arrays, shape (C,)
        The models.
    n : int
        Models.
    judge : int array, shape (C,)
    k : int
        Judges.
    """

    def __init__(
        self,
        columns: csr_array,
        roles: tuple[Role, ...],
        ends: tuple[IntArray, IntArray],
        n: int,
        judge: IntArray,
        k: int,
    ) -> None:
        self.places = {role: np.flatnonzero(np.equal(roles, role)) for role in dict.fromkeys(roles)}
        alone = len(self.places) == 1
        self._of = {
            role: columns if alone else csr_array(columns[:, parameters])
            for role, parameters in self.places.items()
        }
        self._by_two: dict[tuple[Role, Role], csr_array | None] = {}
        self._ends, self._judge, self._size = ends, judge, (n, k)

    @cached_property
    def _cell(self) -> IntArray:
        """Number of the pair and judge of every row, those one after the other being different."""
        new = np.zeros(len(self._judge), bool)
        for ids in (*self._ends, self._judge):
            new[1:] |= ids[1:] != ids[:-1]
        return np.cumsum(new)

    @cached_property
    def _entries(self) -> dict[Role, _Entries]:
        return {role: _Entries(matrix, self._cell, self._ends, self._judge) for role, matrix in self._of.items()}

    def __contains__(self, role: Role) -> bool:
        return role in self._of

    def form(self, role: Role, values: FloatArray) -> FloatArray:
        """Columns of a role times their parameters, given all P, by row."""
        form: FloatArray = self._of[role] @ values[self.places[role]]
        return form

    def by_column(self, role: Role, values: FloatArray) -> FloatArray:
        """Sums over the rows of values times columns, one for every column of the role."""
        of = self._entries[role]
        return sums_by_place(of.column, of.runs(values), of.columns)

    def by_two(self, first: Role, second: Role, values: FloatArray) -> FloatArray:
        """Sums of values times columns of two roles."""
        if (first, second) not in self._by_two:
            self._by_two[first, second] = _pairs(self._of[first], self._of[second])
        sums = self._by_two[first, second]
        if sums is None:
            return np.asarray((self._of[first].T @ scaled(self._of[second], values)).toarray())
        return np.asarray((sums @ values).reshape(len(self.places[first]), -1))

    def by_model(self, role: Role, values: FloatArray) -> FloatArray:
        """Sums over the rows that show a model first, minus those that show it second; shape (N, columns)."""
        of, n = self._entries[role], self._size[0]
        runs = of.runs(values)
        first, second = (sums_by_place(end, runs, n * of.columns) for end in of.ends)
        return (first - second).reshape(n, -1)

    def by_judge(self, role: Role, values: FloatArray) -> FloatArray:
        """Sums over the rows of a judge, times columns; shape (K, columns of the role)."""
        of, k = self._entries[role], self._size[1]
        return sums_by_place(of.judge, of.runs(values), k * of.columns).reshape(k, -1)

    def derivatives(self, role: Role, values: FloatArray) -> csr_array:
        """Columns times values by row, shape (C, columns of the role)."""
        return scaled(self._of[role], values)


def scaled(matrix: csr_array, values: FloatArray) -> csr_array:
    """Rows times a value each."""
    data = matrix.data * np.repeat(values, np.diff(matrix.indptr))
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def starts_of_runs(new: BoolArray, length: int) -> IntArray | None:
    """Where runs start, by whether each value but the first begins one; None if they are shorter on average."""
    changes = np.flatnonzero(new) + 1
    return np.concatenate([[0], changes]) if len(new) and length * len(changes) <= len(new) else None


def over_runs(starts: IntArray | None, values: FloatArray) -> FloatArray:
    """Sums over runs; without any, the values."""
    return values if starts is None else np.asarray(np.add.reduceat(values, starts), float)


def _row_of(matrix: csr_array) -> IntArray:
    """Row of every entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def sums_by_place(index: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Sums of values by the place that each belongs to, shape (size,)."""
    return np.bincount(index, values, size).astype(float, copy=False)


def _pairs(left: csr_array, right: csr_array) -> csr_array | None:
    """The matrix of sums over pairs of entries that stand in one row; none where there are too many pairs."""
    if left.shape[1] == right.shape[1] == 1:
        return csr_array(left.multiply(right).T)
    n_pairs = np.diff(right.indptr)[_row_of(left)]  # pairs of every entry of the first
    ends = np.cumsum(n_pairs)
    total = int(ends[-1]) if len(ends) else 0
    if total > MOST_PAIRS * left.shape[0]:
        return None
    first = np.repeat(np.arange(left.nnz), n_pairs)
    second = np.arange(total) + np.repeat(right.indptr[_row_of(left)] - (ends - n_pairs), n_pairs)
    product_index = left.indices[first].astype(np.intp) * right.shape[1] + right.indices[second]
    indptr = np.concatenate([[0], ends])[left.indptr]
    data = left.data[first] * right.data[second]
    by_row = csc_array((data, product_index, indptr), shape=(left.shape[1] * right.shape[1], left.shape[0]))
    return by_row.tocsr()  # place by place: sums in a register


SMALL = 1 << 18  # rows up to which they may stand in a table, and are summed over at once
MAX_CACHED_ROWS = 1 << 21  # rows up to which a layout is kept between passes, which takes 80 bytes a row
FILLED, MIN_ROWS = 0.4, 1_000  # share of a table's places with a comparison, and rows, from which it is quicker
Numbers = TypeVar("Numbers", FloatArray, IntArray)


@remembered
def _chosen(cells: Comparisons) -> IntArray:
    """How many answers are tied for the best in the choice of every row, one where it says nothing, shape (T,)."""
    return np.where(is_choice(cells), chosen(cells), 1)


class Listed:
    """Some of the rows, one after the other; what hangs on the pair alone is worked out once for its rows."""

    def __init__(self, cells: Comparisons, rows: slice):
        self._n, self._k = self.size = len(cells.models), len(cells.judges)
        first, second, self._judge = cells.first[rows], cells.second[rows], cells.judge[rows].astype(np.intp)
        new = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        self._starts = starts_of_runs(new, 2)  # of the rows of one pair
        self._cells = starts_of_runs(new | (self._judge[1:] != self._judge[:-1]), LONG)  # of one pair and judge
        if self._starts is not None:
            first, second = first[self._starts], second[self._starts]
            self._run_lengths = np.diff(self._starts, append=len(self._judge))
        self._i, self._j = first.astype(np.intp), second.astype(np.intp)
        self._pair, self._of_cell = self._i * self._n + self._j, self._judge
        ends = self._by_row(self._i), self._by_row(self._j)
        if self._cells is not None:
            self._of_cell, ends = self._judge[self._cells], (ends[0][self._cells], ends[1][self._cells])
        row = self._of_cell * self._n
        self._with_first, self._with_second = row + ends[0], row + ends[1]
        self.outcome, self.count = cells.outcome[rows], cells.count[rows]
        self.response = None if cells.strong is None else cells.response[rows]
        self.covariate = None if cells.covariate is None else cells.covariate[rows]
        self.tied = None if cells.tied is None else cells.tied[rows]
        self.strong = () if cells.strong is None else tuple(share[rows] for share in cells.by_strength)
        self._columns = None if cells.columns is None else cells.columns[rows]
        self._block_columns: dict[tuple[Role, ...], BlockColumns] = {}
        stages = None if cells.stages is None else cells.stages.take(rows)
        self.apart = None if stages is None else stages.apart
        self._answers = None if stages is None else stages.alternatives
        self.choices, self._chosen = self.count, None
        if stages is not None:
            self.choices = self.count / (stages.size - 1)  # these add up to the choices of a stage
            self._chosen = None if cells.tied is None else _chosen(cells)[rows]

    @property
    def may_tie_more(self) -> bool:
        """Whether a choice among several answers may be a tie of any number of them."""
        return self._chosen is not None

    def given_tie(self, size: int) -> FloatArray:
        """Whether the choice of the row's stage is a tie of so many answers, shape (C,)."""
        assert self._chosen is not None
        return (self._chosen == size).astype(float)

    def law(
        self,
        eta: FloatArray,
        nu: FloatArray | None,
        *log_strong: FloatArray,
        log_delta: Mapping[int, FloatArray] | None = None,
    ) -> Law | StageLaw | TiedLaw:
        """Of the outcomes, given their predictors and propensities, in rankings to ties of each size."""
        if self._answers is None:
            return Law(eta, nu, *log_strong)
        return TiedLaw(eta, self._answers, log_delta) if log_delta else StageLaw(eta, self._answers)

    def further(self, roles: tuple[Role, ...]) -> BlockColumns:
        """Columns of the further blocks, by their roles."""
        if roles not in self._block_columns:
            first, second, judge = self.who
            self._block_columns[roles] = BlockColumns(
                self._columns, roles, (first, second), self._n, judge, self._k
            )
        return self._block_columns[roles]

    @property
    def who(self) -> tuple[IntArray, IntArray, IntArray]:
        """Model shown first, model shown second, and judge, by row."""
        return self._by_row(self._i), self._by_row(self._j), self._judge

    def _by_row(self, values: Numbers) -> Numbers:
        """Values by pair, for every row of it."""
        return values if self._starts is None else np.repeat(values, self._run_lengths)

    def _over_rows(self, values: FloatArray, weight: FloatArray | None) -> FloatArray:
        """Weighted sums over the rows of one pair that come one after the other."""
        return over_runs(self._starts, _product(values, weight))

    def differences(self, scores: FloatArray) -> FloatArray:
        """s_i - s_j by row."""
        return self._by_row(scores.take(self._i) - scores.take(self._j))

    def spread(self, values: FloatArray) -> FloatArray:
        """Values of the judges, shape (K,), by row."""
        return values.take(self._judge)

    def by_model(self, values: FloatArray, weight: FloatArray | None) -> FloatArray:
        """Weighted sums over the rows that show a model first, minus those that show it second, shape (N,)."""
        by_pair = self._over_rows(values, weight)
        return sums_by_place(self._i, by_pair, self._n) - sums_by_place(self._j, by_pair, self._n)

    def by_judge(self, values: FloatArray, *factors: FloatArray | None) -> FloatArray:
        """Sums of products over the rows of a judge, shape (K,)."""
        return sums_by_place(self._of_cell, over_runs(self._cells, _product(values, *factors)), self._k)

    def by_pair(self, values: FloatArray, weight: FloatArray | None, total: FloatArray) -> None:
        """Add weighted sums to a total by model shown first and model shown second, shape (N, N)."""
        np.add.at(total.reshape(-1), self._pair, self._over_rows(values, weight))

    def by_both(self, values: FloatArray, weight: FloatArray | None, total: FloatArray) -> None:
        """Add weighted sums to a total by judge and, as in `by_model`, by model, shape (K, N)."""
        weighted = over_runs(self._cells, _product(values, weight))
        np.add.at(total.reshape(-1), self._with_first, weighted)
        np.subtract.at(total.reshape(-1), self._with_second, weighted)

    def by_either(self, values: FloatArray, total: FloatArray) -> None:
        """Add sums to a total by judge and by model, in whichever place it is shown, shape (K, N)."""
        summed = over_runs(self._cells, values)
        np.add.at(total.reshape(-1), self._with_first, summed)
        np.add.at(total.reshape(-1), self._with_second, summed)


class Table:
    """Some of the pairs in a table of judges by pairs; with the methods of `Listed`."""

    covariate = apart = None
    may_tie_more = False

    def __init__(
        self,
        n: int,
        first: IntArray,
        second: IntArray,
        outcome: FloatArray,
        count: FloatArray,
        tied: FloatArray | None,
        response: FloatArray | None,
        strong: tuple[FloatArray, ...],
    ) -> None:
        self._n = n
        self._i, self._j, self._pair = first, second, first * self._n + second
        self.outcome, self.count, self.tied = outcome, count, tied
        self.strong, self.response, self.choices = strong, response, count

    @staticmethod
    def law(
        eta: FloatArray,
        nu: FloatArray | None,
        *log_strong: FloatArray,
        log_delta: Mapping[int, FloatArray] | None = None,
    ) -> Law:
        return Law(eta, nu, *log_strong)

    @staticmethod
    def given_tie(size: int) -> FloatArray:
        raise NotImplementedError("rankings do not stand in a table")

    def differences(self, scores: FloatArray) -> FloatArray:
        return (scores.take(self._i) - scores.take(self._j))[None, :]

    def spread(self, values: FloatArray) -> FloatArray:
        return values[:, None]

    def by_model(self, values: FloatArray, weight: FloatArray | None) -> FloatArray:
        by_pair = self._over_judges(values, weight)
        return sums_by_place(self._i, by_pair, self._n) - sums_by_place(self._j, by_pair, self._n)

    def by_judge(self, values: FloatArray, *factors: FloatArray | None) -> FloatArray:
        present = [factor for factor in factors if factor is not None]
        of_judge = [factor[:, 0] for factor in present if factor.shape[1] == 1]
        of_pair = [factor[0] for factor in present if factor.shape[1] > 1]
        # einsum adds in one order; BLAS in each kernel's own, which iterations without a maximum blow up
        summed = np.einsum("kp,p->k", values, _product(*of_pair)) if of_pair else values.sum(axis=1)
        return _product(summed, *of_judge)

    def by_pair(self, values: FloatArray, weight: FloatArray | None, total: FloatArray) -> None:
        total.reshape(-1)[self._pair] += self._over_judges(values, weight)

    def by_both(self, values: FloatArray, weight: FloatArray | None, total: FloatArray) -> None:
        total += _product((self._signed @ values.T).T, weight)

    def by_either(self, values: FloatArray, total: FloatArray) -> None:
        total += (abs(self._signed) @ values.T).T

    @staticmethod
    def _over_judges(values: FloatArray, weight: FloatArray | None) -> FloatArray:
        summed: FloatArray = values.sum(axis=0) if weight is None else np.einsum("k,kp->p", weight[:, 0], values)
        return summed

    @cached_property
    def _signed(self) -> csc_array:
        """One for the model shown first and minus one for the other, by pair, shape (N, P)."""
        models = np.stack([self._i, self._j], axis=1).ravel()
        starts = np.arange(0, len(models) + 1, 2)
        return csc_array((np.tile([1.0, -1.0], len(self._i)), models, starts), (self._n, len(self._i)))


def _product(values: FloatArray, *factors: FloatArray | None) -> FloatArray:
    for factor in factors:
        values = values if factor is None else values * factor
    return values


def laid_out(cells: Comparisons, size: int) -> Iterable[Listed | Table]:
    """All rows in parts of about a size."""
    return _sorted_cells(cells, size) if len(cells) <= MAX_CACHED_ROWS else _listed(cells, size)


def _listed(cells: Comparisons, size: int) -> Iterator[Listed]:
    return (Listed(cells, part) for part in parts(cells, size))


def parts(cells: Comparisons, size: int) -> Iterator[slice]:
    """Slices of about a size that hold all rows; no choice among several answers is cut."""
    starts = np.arange(0, len(cells), size)
    if cells.stages is not None:
        first = cells.stages.first_rows
        starts = np.unique(first[np.searchsorted(first, starts, side="right") - 1])
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(cells)], strict=True):
        yield slice(start, end)


@remembered
def _sorted_cells(cells: Comparisons, size: int) -> Sequence[Listed | Table]:
    if len(cells) > SMALL:
        return list(_listed(cells, size))
    n, k = len(cells.models), len(cells.judges)
    pair = cells.first.astype(np.intp) * n + cells.second
    new = np.concatenate([[True], pair[1:] != pair[:-1]])
    pairs = pair[new]
    in_order = np.all((pair[1:] > pair[:-1]) | (~new[1:] & (cells.judge[1:] > cells.judge[:-1])))
    if (
        cells.covariate is not None
        or cells.columns is not None
        or cells.stages is not None
        or len(cells) < max(MIN_ROWS, FILLED * k * len(pairs))
        or not in_order
    ):
        return list(_listed(cells, size))
    index = cells.judge * len(pairs) + (np.cumsum(new) - 1)

    def table(values: FloatArray) -> FloatArray:
        values_by_cell = np.zeros(k * len(pairs))
        values_by_cell[index] = values
        return values_by_cell.reshape(k, -1)

    outcome, count = table(cells.outcome), table(cells.count)
    tied = None if cells.tied is None else table(cells.tied)
    strong = [] if cells.strong is None else [table(share) for share in cells.by_strength]
    response = None if cells.strong is None else table(cells.response)
    step = max(1, size // k)
    tables: list[Listed | Table] = []
    for start in range(0, len(pairs), step):
        part = slice(start, start + step)
        first, second = np.divmod(pairs[part], n)
        tie, mean = (None if shares is None else shares[:, part].copy() for shares in (tied, response))
        much = tuple(shares[:, part].copy() for shares in strong)
        part_values = outcome[:, part].copy(), count[:, part].copy()
        tables.append(Table(n, first, second, *part_values, tie, mean, much))
    return tables


# Gradient of the unweighted and the judge-aware model, laid out for thousands of passes over the same rows.
#
# With eta = g (s_i - s_j), a row of n comparisons and mean outcome y has the residual
#
#     n (y - sigmoid(eta)) = n (y - 1/2) - (n / 2) tanh(eta / 2),
#
# so what an iteration computes of a row is one hyperbolic tangent. A pair shown either way round is one row, as
# are the judges of a pair whose discriminations are equal. `engine.likelihood` has the gradient of every other
# model.


def is_plain(cells: Comparisons, model: Model) -> bool:
    """Whether `PlainRows` has the gradient of a model of these comparisons."""
    return model in (BTL, JUDGE_AWARE) and cells.stages is None


class PlainRows:
    """Comparisons, raw or aggregated, by judge and unordered pair.

    Parameters
    ----------
    cells : Comparisons
    weighs_judges : bool
        Whether judges have discriminations.
    """

    def __init__(self, cells: Comparisons, weighs_judges: bool) -> None:
        n, first, second = len(cells.models), cells.first.astype(np.int64), cells.second.astype(np.int64)
        low, high = np.minimum(first, second), np.maximum(first, second)
        judge = cells.judge.astype(np.int64) if weighs_judges else 0
        rows, row = np.unique((judge * n + low) * n + high, return_inverse=True)
        surplus = cells.count * (cells.outcome - 0.5) * np.where(first < second, 1.0, -1.0)
        self._surplus = np.bincount(row, surplus, len(rows))  # n (y - 1/2), y the outcome for the lower index
        self._half = np.bincount(row, cells.count, len(rows)) / 2
        judge, pair = np.divmod(rows, n * n)
        pairs, self._pair = np.unique(pair, return_inverse=True)
        self._low, self._high = np.divmod(pairs, n)
        # where many judges saw a pair, its rows are summed before its two models are looked at
        by_pair = len(rows) >= LONG * len(pairs)
        ends = (self._low, self._high) if by_pair else np.divmod(pair, n)
        self._sums = [_sums_of((self._pair,), len(pairs))] * by_pair + [_sums_of(ends, n)]
        self._n_judges = len(cells.judges) if weighs_judges else 0
        self._rows_of_judge = np.bincount(judge, minlength=self._n_judges)
        self._first_rows = np.flatnonzero(np.diff(judge, prepend=-1))  # of every judge who has any
        self._judges = judge[self._first_rows]
        self._half_signal, self._residual = np.empty((2, len(rows)))

    def gradient(self, parameters: Parameters) -> FloatArray:
        """In the scores and, where judges have discriminations, in their logarithms, shape (N + K,) or (N,)."""
        half_signal, residual = self._half_signal, self._residual
        half_difference = (parameters.scores.take(self._low) - parameters.scores.take(self._high)) * 0.5
        if not self._n_judges:  # rows are pairs
            return self._by_model(self._surplus - self._half * tanh(half_difference))
        g = np.repeat(exp(parameters.judges[0]), self._rows_of_judge)
        np.take(half_difference, self._pair, out=half_signal, mode="wrap")  # other modes copy, or are slower
        half_signal *= g
        tanh(half_signal, out=residual)
        residual *= self._half
        np.subtract(self._surplus, residual, out=residual)
        half_signal *= residual
        by_judge = np.zeros(self._n_judges)
        by_judge[self._judges] = 2.0 * np.add.reduceat(half_signal, self._first_rows)
        residual *= g
        return np.concatenate([self._by_model(residual), by_judge])

    def _by_model(self, values: FloatArray) -> FloatArray:
        """Sums over the rows where a model is the lower one, minus those where it is the higher; shape (N,)."""
        for sums in self._sums:
            values = sums @ values
        return values


def _sums_of(index: Sequence[IntArray], size: int) -> csr_array:
    """The matrix of sums of T values by place, shape (size, T), given the place of each.

    A second array of places has the values with the opposite sign.
    """
    signs = np.repeat([1.0, -1.0][: len(index)], len(index[0]))
    places = np.concatenate(index), np.tile(np.arange(len(index[0])), len(index))
    return csr_array((signs, places), shape=(size, len(index[0])))


# Several sets of comparisons as one, so that a pass over all of them costs little more than one over each.


def side_by_side(parts: Sequence[Comparisons]) -> Comparisons:
    """Sets with equally many models and judges as one set, in which no two share a model or a judge."""
    n, k = len(parts[0].models), len(parts[0].judges)

    def labels(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{number}/{name}" for number in range(len(parts)) for name in names)

    return Comparisons(
        labels(parts[0].models),
        labels(parts[0].judges),
        first=np.concatenate([part.first + n * number for number, part in enumerate(parts)]),
        second=np.concatenate([part.second + n * number for number, part in enumerate(parts)]),
        judge=np.concatenate([part.judge + k * number for number, part in enumerate(parts)]),
        outcome=np.concatenate([part.outcome for part in parts]),
        count=np.concatenate([part.count for part in parts]),
    )
