"""Sentences on further blocks: their estimates, and how they change the ranking."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.data.errors import ConfigError
from judgerank.data.listing import listed
from judgerank.fits.fitted import Fitted
from judgerank.fits.result import Fit
from judgerank.model.block import Placed

LARGEST = 3  # estimates named in a sentence
TAKEN_ALONE = ", judgments of one question taken as independent"  # where there is no test by question


def sentences(result: Fit, without: Fitted, level: float = 0.95) -> list[str]:
    """One for every further block: how large it is, its test; and one on what they moved together.

    `without` is the same fit without any of them (`testing.without_blocks`).

    Likelihood-ratio tests take comparisons for independent, which those of one question are not.
    """
    table = result.to_frame(level)
    lines = [_on_block(result, block, table) for block in result.blocks]
    return [*lines, on_order(result, without)] if lines else []


def _on_block(result: Fit, block: Placed, table: pd.DataFrame) -> str:
    try:
        test = result.test(block.name)
        tested = f" (LR test, statistic {test.statistic:.1f}, p = {test.p_value:.2g}"
    except ConfigError:
        tested = " (not tested with question effects"
    rows = table[(table["parameter"] == block.name) & table["standard_error"].notna()]
    if block.shrunk:
        spread = result.spread[block.name]
        if spread == 0:
            return f"Block {block.name}: no effect; its standard deviation is zero{tested})."
        if result.question is not None and result.effects is None:
            tested += TAKEN_ALONE
        largest = rows.reindex(rows["estimate"].abs().sort_values(ascending=False).index)[:LARGEST]
        return f"Block {block.name}, standard deviation {spread:.3f}{tested}); largest: {_changes_text(largest)}."
    if result.errors.n_clusters is not None:
        by = "question" if result.clusters is None else " and ".join(result.clusters.names)
        tested += f"; by {by} p = {result.wald(block.name):.2g}"
    elif result.question is not None and result.effects is None:
        tested += TAKEN_ALONE
    return f"Block {block.name}, {block.what}{tested}): {_changes_text(rows)}."


def _changes_text(rows: pd.DataFrame) -> str:
    lines = [
        f"{row.name} {row.estimate:+.3f} ({row.low:+.3f} to {row.high:+.3f})"
        for _, row in rows.set_index("name", drop=False).iterrows()
    ]
    return "; ".join(lines)


def on_order(result: Fit, without: Fitted) -> str:
    """What the blocks did to the order of the models."""
    before, after = without.scores, result.scores
    ranks = pd.DataFrame({"before": before.rank(ascending=False), "after": after.rank(ascending=False)})
    changed = ranks[ranks["before"] != ranks["after"]]
    correlation = float(np.corrcoef(before, after)[0, 1])
    changes = [f"{row.Index} from {row.before:.0f} to {row.after:.0f}" for row in changed.itertuples()]
    change = f"they change the rank of {listed(changes)}" if changes else "no model changes rank"
    return f"Scores with and without these effects correlate at {correlation:.4f}; {change}."
