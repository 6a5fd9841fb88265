"""Rankings of several answers: how many, of how many answers, and what is not computed for them."""

from __future__ import annotations

import numpy as np

from judgerank.data.listing import counted
from judgerank.ranking.study import Component, Finding


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
        "A ranking of k answers counts as k (k - 1) / 2 comparisons. Not computed for rankings: the smallest "
        "change of the data that changes the leader, goodness of fit, and effects by judge."
    )
    return Finding([told])
