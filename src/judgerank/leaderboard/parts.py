"""Models that no chain of comparisons connects are not comparable: each component is ranked apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerank.connectivity import components
from judgerank.errors import DisconnectedError
from judgerank.judgments import Judgments
from judgerank.leaderboard.suggestions import first_links


def parts_of(judgments: Judgments) -> list[Judgments]:
    """The judgments by connected component of the comparison graph, that with most models first.

    Models without a comparison that could be read are in none. A connected set is returned as it is.
    """
    groups = [group for group in components(judgments.comparisons) if len(group) > 1]
    if len(groups) == 1 and len(groups[0]) == len(judgments.comparisons.models):
        return [judgments]
    return [_restricted(judgments, group) for group in sorted(groups, key=len, reverse=True)]


def never_compared(judgments: Judgments) -> tuple[str, ...]:
    """Models none of whose comparisons could be read."""
    return tuple(group[0] for group in components(judgments.comparisons) if len(group) == 1)


def links_between(judgments: Judgments) -> list[tuple[str, str]]:
    """Pairs to compare so that the components are connected, as in `suggestions.first_links`."""
    groups = [group for group in components(judgments.comparisons) if len(group) > 1]
    return first_links(judgments.comparisons, DisconnectedError("", tuple(groups)))


def _restricted(judgments: Judgments, models: tuple[str, ...]) -> Judgments:
    """The judgments on the models of a component, by the judges who made any that could be read."""
    c, frame = judgments.comparisons, judgments.frame
    place = np.array([models.index(name) if name in models else -1 for name in c.models])
    mine = c.take(np.flatnonzero(place[c.first] >= 0))
    mine = replace(mine, models=models, first=place[mine.first], second=place[mine.second], dropped={})
    inside = frame["model_a"].isin(models) & frame["model_b"].isin(models) & frame["judge_model"].isin(mine.judges)
    return replace(judgments, frame=frame[inside].reset_index(drop=True), comparisons=mine)
