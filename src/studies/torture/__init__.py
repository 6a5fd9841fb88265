"""Adverse cases at random, by the thousand: what must never happen, counted."""
