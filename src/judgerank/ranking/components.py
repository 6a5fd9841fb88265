"""Models that no chain of comparisons connects are not comparable: each component is ranked apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import components, split
from judgerank.data.errors import DisconnectedError
from judgerank.data.judgments import Judgments
from judgerank.ranking.first_links import first_links


def parts_of(judgments: Judgments) -> list[Judgments]:
    """The judgments by connected component of the comparison graph, that with most models first.

    Models without a comparison that could be read are in none. A connected set is returned as it is.
    """
    if len(components(judgments.comparisons)) == 1:
        return [judgments]
    return [_restricted(judgments, part) for part, _ in split(judgments.comparisons)]


def never_compared(judgments: Judgments) -> tuple[str, ...]:
    """Models none of whose comparisons could be read."""
    return tuple(group[0] for group in components(judgments.comparisons) if len(group) == 1)


def links_between(judgments: Judgments) -> list[tuple[str, str]]:
    """Pairs to compare so that the components are connected, as in `first_links.first_links`."""
    groups = [group for group in components(judgments.comparisons) if len(group) > 1]
    return first_links(judgments.comparisons, DisconnectedError("", tuple(groups)))


def _restricted(judgments: Judgments, part: Comparisons) -> Judgments:
    """The judgments on the models of a component, by the judges who made any that could be read."""
    frame = judgments.frame
    sides = [frame[name].isin(part.models) for name in ("model_a", "model_b")]
    inside = sides[0] & sides[1] & frame["judge_model"].isin(part.judges)
    return replace(judgments, frame=frame[inside].reset_index(drop=True), comparisons=replace(part, dropped={}))


def across(components: Sequence[Sequence[str]]) -> pd.DataFrame:
    """The pairs of models of different components, none of them comparable: ``first, second, comparable``."""
    pairs = [(a, b, False) for first, second in combinations(components, 2) for a in first for b in second]
    return pd.DataFrame(pairs, columns=["first", "second", "comparable"])


def together(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables of components below each other, with the number of the component if there are several."""
    if len(tables) == 1:
        return tables[0]
    rows = [table.assign(component=number) for number, table in enumerate(tables, 1) if len(table)]
    joined = pd.concat(rows or [tables[0].assign(component=0)], ignore_index=True)
    return joined[["component", *joined.columns.drop("component")]]
