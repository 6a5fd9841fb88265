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

    return Comparisons(
        labels(parts[0].models),
        labels(parts[0].judges),
        first=np.concatenate([part.first + n * number for number, part in enumerate(parts)]),
        second=np.concatenate([part.second + n * number for number, part in enumerate(parts)]),
        judge=np.concatenate([part.judge + k * number for number, part in enumerate(parts)]),
        outcome=np.concatenate([part.outcome for part in parts]),
        count=np.concatenate([part.count for part in parts]),
    )
