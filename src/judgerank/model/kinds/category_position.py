"""Position bias by category: how much more a judge favours the answer shown first in some categories."""

from __future__ import annotations

from judgerank.data.errors import DataError
from judgerank.model.block import Block, Design, Records, Role, indicator
from judgerank.model.kinds.category import categories, column_of


def block(*columns: str) -> tuple[Block, ...]:
    """What every category adds to the judges' leaning, by a column that is ``category`` unless another is named.

    Raises
    ------
    ConfigError
        If more than one column is named.
    """
    column = column_of(columns, "category_position")

    def design(records: Records) -> Design:
        if not records.comparisons.ordered:
            raise DataError(
                "block 'category_position' is of the answer shown first, and nobody was shown an order"
            )
        code, names = categories(records, column, "category_position")
        rank_gap = records.comparisons.apart  # of rankings, as for a judge's own position
        values = 1.0 if rank_gap is None else rank_gap
        return Design(indicator(len(code), (code, values), width=len(names)), names)

    what = "preference for the answer shown first, more in a category, in log-odds"
    return (Block("category_position", Role.OFFSET, design, shrunk=True, what=what),)
