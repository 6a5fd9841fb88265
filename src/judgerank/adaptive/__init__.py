"""Adaptive collection: what to ask next for the most information per cost, and when to stop."""


def spent_at(look: int, alpha: float) -> float:
    """The part of alpha that one look, counted from one, may use; those of all looks sum to alpha."""
    return alpha / (look * (look + 1))
