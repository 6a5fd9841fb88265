"""Fragility: how few judgments decide which model is first."""

from __future__ import annotations

from judgerank.data.tied_choices import all_ties
from judgerank.ranking.study import Component, Finding
from judgerank.trust.sentences import on_fragility


def of_component(component: Component) -> Finding:
    """A remark on the smallest set found, for the member alone."""
    if all_ties(component.judgments.comparisons):
        return Finding()
    return Finding(on_fragility(component.member, component.comparisons))
