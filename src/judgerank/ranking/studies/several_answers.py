"""Rankings of several answers: how many, of how many answers, and what is not computed for them."""

from __future__ import annotations

import numpy as np

from judgerank.data.frames import OUTCOMES
from judgerank.data.listing import counted
from judgerank.model.members import JUDGE_AWARE_TIES, POSITION_AWARE_TIES
from judgerank.ranking.study import Component, Finding

AVERAGED = (
    "Ties inside rankings are averaged over the orders of the tied answers, which does not model how often judges "
    "tie. To model ties: --model {}."
)
MODELLED = "Ties inside rankings are an outcome of their own: a judge may choose several answers at once."


def of_component(component: Component) -> Finding:
    """A remark where judges ranked several answers."""
    c = component.comparisons
    if c.stages is None:
        return Finding()
    choices = float((c.count / (c.stages.size - 1)).sum())  # every choice among m is m (m - 1) / 2 rows of 2 / m
    sizes = np.unique(c.stages.size)
    among = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    told = (
        f"Judges ranked several answers: {counted(round(choices), 'choice')} of the best among {among} answers. "
        "A ranking of k answers counts as k (k - 1) / 2 comparisons. Not computed here: the smallest change of "
        "the data that changes the leader (judgerank trust has it), goodness of fit, and effects by judge."
    )
    tied = bool(((c.outcome == OUTCOMES["c"]) & (c.stages.neither < 1)).any())
    with_ties = POSITION_AWARE_TIES if c.ordered else JUDGE_AWARE_TIES
    of_ties = MODELLED if component.shown.model.has_ties else AVERAGED.format(with_ties.name)
    return Finding([told, *([of_ties] if tied else [])])
