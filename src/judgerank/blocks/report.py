"""What blocks say and what they moved, in sentences and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgerank.data.listing import listed
from judgerank.model.block import Block

if TYPE_CHECKING:
    from judgerank.blocks.result import BlockFit

LARGEST = 3  # estimates named in a sentence


def summary(result: BlockFit, level: float = 0.95) -> str:
    """What was fitted, how it ended, and a paragraph for every block.

    Raises
    ------
    ConfigError
        If the level is not between 0 and 1.
    """
    c, without = result.records.comparisons, result.without
    head = (
        f"{without.model.name} with {', '.join(block.name for block in result.blocks)}: {len(c.models)} models, "
        f"{len(c.judges)} judges, {len(c):,} comparisons\n"
        f"status {result.status}, log-likelihood {result.log_likelihood:.4f}, without these blocks "
        f"{without.log_likelihood:.4f}"
    )
    return "\n\n".join([head, *sentences(result, level)])


def sentences(result: BlockFit, level: float = 0.95) -> list[str]:
    """One for every block: how large it is, its test; and one on what they moved together.

    Likelihood-ratio tests take comparisons for independent, which those of one question are not.
    """
    table = result.confidence_intervals(level)
    return [*(_on_block(result, block, table) for block in result.blocks), on_order(result)]


def _on_block(result: BlockFit, block: Block, table: pd.DataFrame) -> str:
    test = result.test(block.name)
    tested = f"twice the log-likelihood gained {test.statistic:.1f}, p = {test.p_value:.2g}"
    rows = table[(table["block"] == block.name) & table["standard_error"].notna()]
    if block.shrunk:
        spread = result.spread[block.name]
        if spread == 0:
            return f"Block {block.name}: nothing; its standard deviation is zero ({tested})."
        largest = rows.reindex(rows["estimate"].abs().sort_values(ascending=False).index)[:LARGEST]
        return f"Block {block.name}, standard deviation {spread:.3f} ({tested}); largest: {_told(largest)}."
    if result.n_clusters is not None:
        tested += f"; by question p = {result.wald(block.name):.2g}"
    return f"Block {block.name}, {block.what} ({tested}): {_told(rows)}."


def _told(rows: pd.DataFrame) -> str:
    told = [
        f"{row.parameter} {row.estimate:+.3f} ({row.low:+.3f} to {row.high:+.3f})" for row in rows.itertuples()
    ]
    return "; ".join(told)


def on_order(result: BlockFit) -> str:
    """What the blocks did to the order of the models."""
    before, after = result.without.scores, result.scores
    ranks = pd.DataFrame({"before": before.rank(ascending=False), "after": after.rank(ascending=False)})
    moved = ranks[ranks["before"] != ranks["after"]]
    correlation = float(np.corrcoef(before, after)[0, 1])
    told = [f"{row.Index} from {row.before:.0f} to {row.after:.0f}" for row in moved.itertuples()]
    change = f"they move {listed(told)}" if told else "no model changes its rank"
    return f"Scores with these blocks and without correlate at {correlation:.4f}; {change}."
