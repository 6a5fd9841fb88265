"""Comparisons grouped by question, with questions of equal numbers of models in one array."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons, kinds
from judgerank.engine.information import zero_sum_basis
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

# rows, by number of models, of a question that is integrated out by quadrature: with more of either, Laplace's
# approximation is good and a rule is dear
MOST_ROWS = {2: 12, 3: 9}


@dataclass(frozen=True)
class Group:
    """Questions on as many models each, with their comparisons sorted by question.

    A question whose comparisons do not connect its models is as many questions as it has components: what is
    shared within one says nothing of another.

    Attributes
    ----------
    size : int
        Models of each question, m.
    exact : bool
        Whether quadrature integrates these questions out, or Laplace's approximation does.
    number : int array, shape (Q,)
        Of the question that was asked, among the sorted names of all.
    question : int array, shape (T,)
        Place of each row's question in `number`.
    first, second : int array, shape (T,)
        The models among all models.
    first_place, second_place : int array, shape (T,)
        The models among those of the question, from 0 to m - 1.
    judge : int array, shape (T,)
    count, outcome, tied : float array, shape (T,)
        As those of `Comparisons`, the outcome being their response.
    columns : sparse float array, shape (T, P), optional
        Of further blocks.
    strong : float array, shape (T, S), optional
        Shares of the S strengths beyond better, for either model.
    alike : float array, shape (Q,), optional
        How many questions with the same comparisons each one represents (`merged`); one where there is none.
    """

    size: int
    exact: bool
    number: IntArray
    question: IntArray
    first: IntArray
    second: IntArray
    first_place: IntArray
    second_place: IntArray
    judge: IntArray
    count: FloatArray
    outcome: FloatArray
    tied: FloatArray
    columns: csr_array | None = None
    strong: FloatArray | None = None
    alike: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.number)

    @property
    def by_strength(self) -> tuple[FloatArray, ...]:
        """Share of each strength beyond better, the weakest first, shape (T,) each; none without `strong`."""
        return () if self.strong is None else tuple(self.strong.T)

    @cached_property
    def starts(self) -> IntArray:
        """First row of each question, shape (Q,)."""
        return np.asarray(np.searchsorted(self.question, np.arange(len(self))))

    def only(self, chosen: BoolArray) -> Group:
        """The questions under a mask of shape (Q,)."""
        rows = chosen[self.question]
        columns = {name: getattr(self, name)[rows] for name in ROWS if getattr(self, name) is not None}
        question_codes = np.cumsum(chosen)[columns.pop("question")] - 1
        alike = None if self.alike is None else self.alike[chosen]
        return replace(self, number=self.number[chosen], question=question_codes, alike=alike, **columns)

    @cached_property
    def by_many(self) -> list[tuple[IntArray, IntArray]]:
        """Questions that have R rows each, shape (Q_R,), and those rows, shape (R, Q_R), for every R there is."""
        n_rows = np.diff(np.r_[self.starts, len(self.question)])
        by_size = ((rows, np.flatnonzero(n_rows == rows)) for rows in np.unique(n_rows))
        return [(chosen, self.starts[chosen] + np.arange(rows)[:, None]) for rows, chosen in by_size]

    @cached_property
    def contrast(self) -> FloatArray:
        """Coordinates of x_t in an orthonormal basis of the zero-sum vectors, shape (m - 1, T)."""
        basis = zero_sum_basis(self.size)
        return np.asarray((basis[self.first_place] - basis[self.second_place]).T)

    @cached_property
    def padded(self) -> tuple[IntArray, FloatArray]:
        """Columns of further blocks that each row has, and what it has there: zero where others have more of them.

        Shapes are (C, T) for at most C columns of a row.
        """
        shape = 0, len(self.judge)
        if self.columns is None:
            return np.zeros(shape, np.intp), np.zeros(shape)
        n_entries = np.diff(self.columns.indptr)
        is_filled = np.arange(n_entries.max(initial=0))[:, None] < n_entries
        columns, value = np.zeros(is_filled.shape, np.intp), np.zeros(is_filled.shape)
        columns.T[is_filled.T], value.T[is_filled.T] = self.columns.indices, self.columns.data
        return columns, value

    def by_question(self, values: FloatArray) -> FloatArray:
        """Sums over the rows of each question, along the first axis."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))

    def by_model(self, values: FloatArray) -> FloatArray:
        """Sums of x_t values_t, shape (Q, m), x_t being one for the first model and minus one for the second."""
        shape, row = len(self) * self.size, self.question * self.size
        first, second = (
            np.bincount(row + position, values, shape) for position in (self.first_place, self.second_place)
        )
        return np.asarray(first - second, float).reshape(-1, self.size)

    def by_pair(self, values: FloatArray) -> FloatArray:
        """Sums of values_t x_t x_t', shape (Q, m, m)."""
        m = self.size
        row = self.question * m
        directed = np.bincount((row + self.first_place) * m + self.second_place, values, len(self) * m * m)
        off = np.asarray(directed, float).reshape(-1, m, m)
        total = -(off + off.transpose(0, 2, 1))
        total[:, np.arange(m), np.arange(m)] = -total.sum(axis=2)
        return total

    def difference(self, values: FloatArray) -> FloatArray:
        """x_t' values of the row's question, shape (T,), for values of shape (Q, m)."""
        first = values[self.question, self.first_place]
        return np.asarray(first - values[self.question, self.second_place])


ROWS = tuple(field.name for field in fields(Group) if field.name not in ("size", "exact", "number", "alike"))


def grouped(comparisons: Comparisons, question: IntArray) -> list[Group]:
    """Groups of the questions that have a comparison, by their number of models.

    Rows alike in question, order of models, judge and columns are merged.

    Parameters
    ----------
    comparisons : Comparisons
        With ties kept track of, or none at all.
    question : int array, shape (T,)

    Raises
    ------
    DataError
        If there is not one question for each row.
    """
    c = comparisons
    c.require_one_each(question)
    _, number = np.unique(question, return_inverse=True)
    n = len(c.models)
    key = ((number * n + c.first) * n + c.second) * len(c.judges) + c.judge  # 64 bits hold 10^12 questions or so
    if c.columns is not None:
        kind = kinds(c.columns)
        key = key * (kind.max() + 1) + kind
    key, representative, row = np.unique(key, return_index=True, return_inverse=True)
    count = np.asarray(np.bincount(row, c.count), float)
    tied = np.zeros(len(c)) if c.tied is None else c.tied
    much = [] if c.strong is None else c.by_strength
    outcome, tied, *much = (np.bincount(row, c.count * values) / count for values in (c.response, tied, *much))
    number, first, second, judge = (values[representative] for values in (number, c.first, c.second, c.judge))
    # models of each question, and the place of each among them
    ends, codes = np.unique(np.r_[number * n + first, number * n + second], return_inverse=True)
    codes_first, codes_second = codes[: len(number)], codes[len(number) :]
    edges = coo_array((np.ones(len(number)), (codes_first, codes_second)), shape=(len(ends), len(ends)))
    _, part = connected_components(edges, directed=False)
    order = np.argsort(part, kind="stable")
    sizes = np.bincount(part)
    among = np.empty(len(ends), np.intp)
    among[order] = np.arange(len(ends)) - (np.cumsum(sizes) - sizes)[part[order]]
    part = part[codes_first]
    most = np.array([MOST_ROWS.get(size, 0) for size in range(sizes.max() + 1)])
    exact = np.bincount(part) <= most[sizes]
    question_of = np.zeros(len(sizes), np.intp)
    question_of[part] = number
    groups = []
    for size, by_rule in sorted(set(zip(sizes.tolist(), exact.tolist(), strict=True))):
        of_group = (sizes == size) & (exact == by_rule)
        rows = np.flatnonzero(of_group[part])
        rows = rows[np.argsort(part[rows], kind="stable")]
        parameters = np.cumsum(of_group)[part[rows]] - 1
        models = first[rows], second[rows], among[codes_first][rows], among[codes_second][rows]
        n_alike, mean, ties = count[rows], outcome[rows], tied[rows]
        columns = None if c.columns is None else c.columns[representative[rows]]
        group = Group(
            size, by_rule, question_of[of_group], parameters, *models, judge[rows], n_alike, mean, ties, columns
        )
        groups.append(group if c.strong is None else replace(group, strong=np.stack(much, axis=1)[rows]))
    return groups


def merged(group: Group) -> Group:
    """The unlike questions of a group, in order, each representing all that have the same comparisons."""
    columns = [group.first, group.second, group.judge, group.count, group.outcome, group.tied]
    columns += [*group.by_strength, *([] if group.columns is None else [kinds(group.columns)])]
    kind = np.zeros(len(group.judge), np.intp)
    for values in columns:
        kind = _both(kind, pd.factorize(values)[0])
    same = np.zeros(len(group), np.intp)
    for chosen, rows in group.by_many:
        same[chosen] = len(rows)
        for row in rows:
            same[chosen] = same.max() + 1 + _both(same[chosen], kind[row])
    same = pd.factorize(same)[0]  # by first appearance
    return replace(
        group.only(np.diff(np.maximum.accumulate(same), prepend=-1) > 0), alike=np.bincount(same).astype(float)
    )


def _both(left: IntArray, right: IntArray) -> IntArray:
    """Number of each pair of two numbers, shape (T,)."""
    return np.asarray(pd.factorize(left * (right.max() + 1) + right)[0])


# Contribution of one group of questions to the marginal likelihood, with derivatives by each row's predictor.


@dataclass(frozen=True)
class Point:
    """Parameters of the rows of one group; eta = gamma (d + sigma x'e) + b, e standard normal by model.

    Attributes
    ----------
    difference : float array, shape (T,)
        d, that of the scores.
    gamma, position, nu : float array, shape (T,)
        The judge's discrimination, position and tie propensity.
    log_strong : float array, shape (S, T)
        Its log propensities to the S strengths beyond better.
    sigma : float
    shape : float array, shape (T,), or float
        What the row's discrimination is for a judge of discrimination one.
    """

    difference: FloatArray
    gamma: FloatArray
    position: FloatArray
    nu: FloatArray
    sigma: float
    shape: FloatArray | float = 1.0
    log_strong: FloatArray | tuple[()] = ()


@dataclass(frozen=True)
class Parts:
    """A group's log marginal likelihoods and their derivatives, row by row.

    Attributes
    ----------
    value : float array, shape (Q,)
    by_eta, by_gamma, by_log_nu : float array, shape (T,)
        Derivatives of the sum in what is added to the row's predictor, in its discrimination, and in the logarithm
        of its tie propensity.
    by_log_sigma : float
    by_log_strong : tuple of float arrays, shape (T,)
        Likewise in the log propensities to strengths beyond better.
    """

    value: FloatArray
    by_eta: FloatArray
    by_gamma: FloatArray
    by_log_nu: FloatArray
    by_log_sigma: float
    by_log_strong: tuple[FloatArray, ...] = ()


def at_rows(group: Group, model: Model, parameters: Parameters, sigma: float) -> Point:
    """The parameters of every row."""
    judges = model.of_judges(parameters)
    nu = np.zeros_like(judges.gamma) if judges.nu is None else judges.nu
    gamma, position, nu = (values[group.judge] for values in (judges.gamma, judges.position, nu))
    strong = judges.log_strong[:, group.judge]
    difference = parameters.scores[group.first] - parameters.scores[group.second]
    shape: FloatArray | float = 1.0
    if group.columns is not None:
        forms = model.forms(group.columns, parameters.common)
        difference, position = difference + forms[Role.QUALITY], position + forms[Role.OFFSET]
        shape = np.exp(forms[Role.WEIGHT])
        gamma, nu = gamma * shape, nu * np.exp(forms[Role.TIE])
        strong = strong + np.array([forms[role] for role in Role.strengths(len(strong))]).reshape(strong.shape)
    return Point(difference, gamma, position, nu, sigma, shape, strong)
