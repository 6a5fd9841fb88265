"""Categories: how much better or worse a model is in each category of questions, shrunk toward zero.

A model's score in a category is its score plus a deviation; deviations are normal with one standard deviation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgerank.data.errors import ConfigError, DataError
from judgerank.model.block import Block, Design, Records, Role, indicator


def in_category(model: str, category: str) -> str:
    """Label of a model's deviation in a category."""
    return f"{model} in {category}"


def block(*columns: str) -> tuple[Block, ...]:
    """Deviations of every model in every category, by a column that is ``category`` unless another is named.

    Raises
    ------
    ConfigError
        If more than one column is named.
    """
    column = column_of(columns, "category")

    def design(records: Records) -> Design:
        c, (code, names) = records.comparisons, categories(records, column, "category")
        n = len(c.models)
        labels = tuple(in_category(model, name) for name in names for model in c.models)
        terms = (code * n + c.first, 1.0), (code * n + c.second, -1.0)
        return Design(indicator(len(c), *terms, width=len(labels)), labels)

    what = "what a model's score is more in a category"
    return (Block("category", Role.QUALITY, design, shrunk=True, what=what),)


def column_of(columns: Sequence[str], block: str) -> str:
    """The column that a block goes by.

    Raises
    ------
    ConfigError
        If more than one is named.
    """
    if len(columns) > 1:
        raise ConfigError(f"block {block!r} goes by one column, and {len(columns)} are named")
    return columns[0] if columns else "category"


def categories(records: Records, column: str, block: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Number of each row's category, shape (T,), and their names in alphabetical order.

    Raises
    ------
    DataError
        If there is one category only.
    """
    names, code = np.unique(records.column(column, block).astype(str).to_numpy(str), return_inverse=True)
    if len(names) < 2:
        raise DataError(f"all records are of one {column}, {names[0]!r}, so block {block!r} has nothing to go by")
    return code.astype(int), tuple(names.tolist())
