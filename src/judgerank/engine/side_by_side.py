"""Several sets of comparisons as one, so that a pass over all of them costs little more than one over each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgerank.data.comparisons import Comparisons


def side_by_side(parts: Sequence[Comparisons]) -> Comparisons:
    """Sets with equally many models and judges as one set, in which no two share a model or a judge."""
    n, k = len(parts[0].models), len(parts[0].judges)

    def labels(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{number}/{name}" for number in range(len(parts)) for name in names)

    index = {"first": n, "second": n, "judge": k}
    columns = {
        name: np.concatenate([getattr(part, name) + size * number for number, part in enumerate(parts)])
        for name, size in index.items()
    }
    rows = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("outcome", "count")}
    return Comparisons(labels(parts[0].models), labels(parts[0].judges), **columns, **rows)
