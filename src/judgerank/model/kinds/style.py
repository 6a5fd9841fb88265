"""Style: what judges prefer in answers besides quality, such as length, the same for all judges.

For every named column, a coefficient of the difference of the two answers, over the standard deviation of those
differences: eta gains beta (x_first - x_second). Scores are then those of answers alike in style.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.errors import ConfigError, DataError
from judgerank.model.block import Block, Design, Records, Role


def block(*columns: str) -> tuple[Block, ...]:
    """Style by columns ``NAME_a`` and ``NAME_b`` of each NAME.

    Raises
    ------
    ConfigError
        If no column is named, or one twice.
    """
    if not columns or len({*columns}) < len(columns):
        raise ConfigError(
            "block 'style' needs the names of its columns, each once: style:length has length_a and length_b"
        )

    def design(records: Records) -> Design:
        values = np.column_stack([standardised(records, name, "style") for name in columns])
        return Design(csr_array(values), columns)

    return (Block("style", Role.OFFSET, design, what="log-odds by standard deviation of the answers' difference"),)


def standardised(records: Records, name: str, block: str) -> np.ndarray:
    """Differences of the two answers over their standard deviation, shape (T,).

    Raises
    ------
    DataError
        If all are zero.
    """
    values = records.difference(name, block)
    count = records.comparisons.count
    mean_square = np.mean(values**2) if np.all(count == 1) else np.average(values**2, weights=count)
    spread = float(np.sqrt(mean_square))  # about zero: which answer is shown first does not matter
    if spread == 0:
        raise DataError(f"the two answers never differ in {name!r}, so block {block!r} has nothing to go by")
    return values / spread
