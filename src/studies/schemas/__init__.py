"""Schemas of the sections and commands beyond the paper."""
