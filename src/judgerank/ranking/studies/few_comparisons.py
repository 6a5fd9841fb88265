"""Pairs, models and judges with few comparisons or none."""

from __future__ import annotations

import numpy as np

from judgerank.data.comparisons import Comparisons
from judgerank.data.listing import LISTED, listed
from judgerank.ranking.study import Component, Finding


def of_component(component: Component) -> Finding:
    """Remarks on the design."""
    return Finding(on_few(component.requested.comparisons, component.settings.few))


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
        thin = [f"{name} ({count:.0f})" for name, count in zip(names, times, strict=True) if count < few]
        if thin:
            remarks.append(f"{kind.capitalize()} with fewer than {few} comparisons: {listed(thin)}.")
    return remarks
