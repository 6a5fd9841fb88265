"""Style by judge: what each judge prefers besides quality, as a difference from the panel."""

from __future__ import annotations

from functools import partial

from judgerank.model.block import Block, Design, Records, Role, indicator
from judgerank.model.kinds import style


def block(*columns: str) -> tuple[Block, ...]:
    """A coefficient common to all judges, as in `style`, and each judge's own about it, drawn toward it.

    Raises
    ------
    ConfigError
        As `style.block`.
    """
    what = "what a judge adds to the panel's coefficient"
    judge_designs = (
        Block(f"style of judges: {name}", Role.OFFSET, partial(_judge_design, name=name), shrunk=True, what=what)
        for name in columns
    )
    return (*style.block(*columns), *judge_designs)


def _judge_design(records: Records, name: str) -> Design:
    c = records.comparisons
    values = style.standardised(records, name, "style_by_judge")
    return Design(indicator(len(c), (c.judge, values), width=len(c.judges)), c.judges)
