"""How several looks at growing data share one error rate."""

from __future__ import annotations


def spent_at(look: int, alpha: float) -> float:
    """The part of alpha that one look, counted from one, may use; those of all looks sum to alpha."""
    return alpha / (look * (look + 1))
