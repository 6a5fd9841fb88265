"""Comparisons, judgments and what is known of them before any model is."""
