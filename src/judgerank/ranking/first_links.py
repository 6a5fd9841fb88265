"""Which pairs to compare before anything can be ranked."""

from __future__ import annotations

import numpy as np

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DisconnectedError, NoMaximumError


def first_links(comparisons: Comparisons, error: NoMaximumError) -> list[tuple[str, str]]:
    """Pairs to compare first, one for each component or group of models that keeps the others from being ranked.

    In a graph that falls apart, the most compared model of the largest component with that of every other one. Of
    models that won, or lost, every comparison with the others, the most compared with the best, or the worst, of
    the others.
    """
    c = comparisons.pool_judges()
    n, names = len(c.models), list(c.models)
    met = np.bincount(c.first, c.decided, n) + np.bincount(c.second, c.decided, n)
    wins = np.bincount(c.first, c.choices * c.won, n) + np.bincount(c.second, c.choices * c.lost, n)
    times = dict(zip(names, met, strict=True))
    share = dict(zip(names, wins / np.maximum(met, 1), strict=True))
    if isinstance(error, DisconnectedError):
        centre, *remaining = (
            max(group, key=times.__getitem__) for group in sorted(error.models, key=len, reverse=True)
        )
        return [(centre, model) for model in remaining]
    links: list[tuple[str, str]] = []
    for group in error.models:
        if not any(model in group for _, model in links):  # a loss of one group is a win of another
            inside = np.isin(names, group)
            a, b = inside[c.first], inside[c.second]
            unbeaten = np.any(c.won[a & ~b] > 0) or np.any(c.lost[b & ~a] > 0)
            most_compared = max((name for name in names if name in group), key=times.__getitem__)
            rest = [name for name in names if name not in group]
            nearest = max(rest, key=share.__getitem__) if unbeaten else min(rest, key=share.__getitem__)
            links.append((most_compared, nearest))
    return links
