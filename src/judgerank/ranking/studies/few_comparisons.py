"""Pairs, models and judges with few comparisons or none, and how such judges count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.listing import LISTED, counted, listed
from judgerank.ranking.study import Component, Finding

NAMED = 3  # judges with few answers up to which each is named


def of_component(component: Component) -> Finding:
    """Remarks on the design."""
    c = component.requested.comparisons
    return Finding([*on_pooled(c, component.judgments.few_judges), *on_few(c, component.settings.few)])


def on_pooled(comparisons: Comparisons, judges: Sequence[str]) -> list[str]:
    """How the judges count whose answers have one label."""
    if not judges:
        return []
    who = f" ({listed(judges)})" if len(judges) <= NAMED else ""
    start = f"{counted(len(judges), 'judge')} with fewer than {FEW_ANSWERS} answers{who}"
    count = "counts" if len(judges) == 1 else "count"
    position = " and share one position bias" if comparisons.ordered and len(judges) > 1 else ""
    if comparisons.is_pooled.all():
        return [f"{start}: nobody has more, so all judges count equally{position}."]
    if not comparisons.at_mean.any():
        return [f"{start} {count} like one judge{position}: too few to tell how well each of them judges."]
    return [
        f"{start} {count} with the panel's average discrimination{position}: answers are too few to tell how well "
        "each of them judges."
    ]


def on_few(comparisons: Comparisons, few: int) -> list[str]:
    """Pairs never compared, and models and judges with few comparisons."""
    c, remarks = comparisons, []
    n = len(c.models)
    low, high = np.minimum(c.first, c.second), np.maximum(c.first, c.second)
    never = np.triu(np.ones((n, n), bool), 1)
    never[low, high] = False
    n_never, pairs = int(never.sum()), np.argwhere(never)[: LISTED + 1]
    if n_never:
        named = [f"{c.models[a]} and {c.models[b]}" for a, b in pairs]
        remarks.append(
            f"{n_never} of {n * (n - 1) // 2} pairs of models were never compared directly; they are ranked "
            "through "
            f"comparisons with other models: {listed(named, n_never)}."
        )
    compared = np.bincount(c.first, c.decided, n) + np.bincount(c.second, c.decided, n)
    by_judge = np.bincount(c.judge, c.count, len(c.judges))
    for kind, names, times in (("models", c.models, compared), ("judges", c.judges, by_judge)):
        thin = [
            f"{name} ({count:.0f})"
            for name, count in zip(names, times, strict=True)
            if count < few and name != FEW_JUDGES
        ]
        if thin:
            remarks.append(f"{kind.capitalize()} with fewer than {few} comparisons: {listed(thin)}.")
    return remarks
