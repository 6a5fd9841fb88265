"""Adaptive collection: what to ask next for the most information per cost, and when to stop."""
