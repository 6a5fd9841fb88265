"""Fragility: how few judgments decide which model is first."""

from __future__ import annotations

from judgerank.ranking.study import Component, Finding
from judgerank.trust.sentences import on_fragility


def of_component(component: Component) -> Finding:
    """A remark on the smallest set found, for the member alone."""
    return Finding(on_fragility(component.member, component.comparisons))
