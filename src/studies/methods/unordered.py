"""Comparisons for methods that are blind to positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerank.data.comparisons import Comparisons


def unordered(comparisons: Comparisons) -> Comparisons:
    """The same comparisons, of every pair the same model first."""
    c = comparisons
    turned = c.first > c.second
    first, second = np.where(turned, c.second, c.first), np.where(turned, c.first, c.second)
    return replace(
        c, first=first, second=second, outcome=np.where(turned, 1 - c.outcome, c.outcome), covariate=None
    )
