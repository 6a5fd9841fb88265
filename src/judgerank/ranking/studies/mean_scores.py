"""Mean scores of the models, where judgments are made of scores."""

from __future__ import annotations

from judgerank.ranking import score_boards
from judgerank.ranking.study import Component, Finding


def of_component(component: Component) -> Finding:
    """The table ``mean_scores``, and a remark on how scores were compared."""
    sizes = component.reported.errors.sizes
    if sizes is None:
        return Finding()
    table = score_boards.table(component.reported, sizes, component.settings.level)
    return Finding([score_boards.remark(sizes)], {"mean_scores": table})
