"""Derivatives of a quantity that every row has, in all parameters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_array

from judgerank.data.arrays import FloatArray
from judgerank.engine.likelihood_rows import At, times
from judgerank.engine.rows import Listed
from judgerank.model.block import Role


def row_derivatives(terms: At, by_role: Callable[[Role], FloatArray]) -> coo_array:
    """Derivatives of a quantity of every row in all parameters, shape (C, N + B K + P).

    Parameters
    ----------
    here : At
        The rows, which stand in a list.
    by_role : callable
        Derivative of the quantity in what the parameters of a role add to, shape (C,): in the difference of
        qualities, in log g, in the predictor, or in a threshold.
    """
    assert isinstance(terms.rows, Listed)
    first, second, judge = terms.rows.who
    n, k = terms.rows.size
    by_quality = by_role(Role.QUALITY)
    values, columns = [by_quality, -by_quality], [first, second]
    for number, (block, column) in enumerate(zip(terms.model.blocks, terms.column, strict=True)):
        values.append(times(by_role(block.role), column))
        columns.append(n + number * k + judge)
    rows, start = [np.tile(np.arange(len(judge)), len(columns))], n + len(terms.model.blocks) * k
    if terms.further is not None:
        for role, extra_column in terms.further.places.items():
            part = terms.further.derivatives(role, by_role(role)).tocoo()
            rows.append(part.row)
            values.append(part.data)
            columns.append(start + extra_column[part.col])
    at = np.concatenate(rows), np.concatenate(columns)
    return coo_array((np.concatenate(values), at), shape=(len(judge), start + len(terms.model.roles)))
