"""The blocks that the members of the family are made of; `judgerank.model.members` has their sources."""

from __future__ import annotations

from judgerank.model.block import Block, Design, Records, Role, indicator
from judgerank.model.members import Model


def blocks_of(model: Model) -> tuple[Block, ...]:
    """Those that a member frees."""
    names = model.judge_blocks[model.fixed_scale :]
    return (SCORES, *(BY_NAME[name] for name in names))


def _scores(records: Records) -> Design:
    c = records.comparisons
    columns = indicator(len(c), (c.first, 1.0), (c.second, -1.0), width=len(c.models))
    return Design(columns, c.models, centred=True)


def _by_judge(records: Records) -> Design:
    c = records.comparisons
    return Design(indicator(len(c), (c.judge, 1.0), width=len(c.judges)), c.judges)


def _centred_by_judge(records: Records) -> Design:
    design = _by_judge(records)
    return Design(design.columns, design.labels, centred=True, may_vanish=True)


def _slope(records: Records) -> Design:
    c = records.comparisons
    return Design(indicator(len(c), (c.judge, c.known_covariate), width=len(c.judges)), c.judges)


def _tie(records: Records) -> Design:
    design = _by_judge(records)
    return Design(design.columns, design.labels, may_vanish=True)


SCORES = Block("scores", Role.QUALITY, _scores, what="a model's score")
BY_NAME = {
    block.name: block
    for block in (
        Block("log_discrimination", Role.WEIGHT, _centred_by_judge, what="log of a judge's discrimination"),
        Block("slope", Role.WEIGHT, _slope, what="change of that by standardised covariate"),
        Block(
            "position", Role.OFFSET, _by_judge, what="a judge's preference for the answer shown first, in log-odds"
        ),
        Block("log_tie", Role.TIE, _tie, what="log of a judge's propensity to tie"),
    )
}
