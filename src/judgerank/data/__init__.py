"""Comparisons and judgments, and what can be computed from them without a model."""
