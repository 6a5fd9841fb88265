"""Rankings of several answers: how many, of how many answers, and what is not computed for them."""

from __future__ import annotations

from judgerank.data.frames import OUTCOMES
from judgerank.data.listing import counted
from judgerank.data.rankings import sizes_of_rankings
from judgerank.model.members import JUDGE_AWARE_TIES, POSITION_AWARE_TIES
from judgerank.ranking.study import Component, Finding

AVERAGED = (
    "Ties inside rankings are averaged over the orders of the tied answers, which does not model how often judges "
    "tie. To model ties: --model {}."
)
MODELLED = "Ties inside rankings are an outcome of their own: a judge may choose several answers at once."
UNCOMPARED = (
    " Members are not compared on held-out choices, since --model names one: leave it out to compare them."
)


def of_component(component: Component) -> Finding:
    """A remark where judges ranked several answers."""
    c = component.comparisons
    if c.stages is None:
        return Finding()
    sizes = sizes_of_rankings(component.judgments)
    among = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
    remark = (
        f"Judges ranked several answers: {counted(len(sizes), 'ranking')} of {among} answers. "
        "A ranking of k answers counts as k (k - 1) / 2 comparisons. Not computed here: the smallest change of "
        "the data that changes the leader (judgerank trust has it), goodness of fit, and effects by judge."
    )
    tied = bool(((c.outcome == OUTCOMES["c"]) & (c.stages.neither < 1)).any())
    with_ties = POSITION_AWARE_TIES if c.ordered else JUDGE_AWARE_TIES
    of_ties = MODELLED if component.reported.model.has_ties else AVERAGED.format(with_ties.name)
    if component.settings.model is not None:
        of_ties += UNCOMPARED
    return Finding([remark, *([of_ties] if tied else [])])
