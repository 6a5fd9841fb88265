"""Fragility: how few judgments decide which model is first."""

from __future__ import annotations

from judgerank.data.tied_choices import all_ties
from judgerank.ranking.study import Component, Finding
from judgerank.trust.sentences import FRAGILITY, on_fragility


def of_component(component: Component) -> Finding:
    """A remark on the smallest set found, for the member alone, which it says where that does not rank."""
    if all_ties(component.judgments.comparisons):
        return Finding()
    shown, remarks = component.shown, on_fragility(component.member, component.comparisons)
    if shown.blocks or shown.effects is not None:
        what = "further blocks" if shown.blocks else "question effects"
        remarks = [f"Fragility without {what}: {one.removeprefix(FRAGILITY)}" for one in remarks]
    return Finding(remarks)
