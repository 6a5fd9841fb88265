"""Fragility: how few judgments decide which model is first."""

from __future__ import annotations

from judgerank.data.tied_choices import all_ties
from judgerank.ranking.study import Component, Finding
from judgerank.trust.sentences import FRAGILITY, on_fragility


def of_component(component: Component) -> Finding:
    """A remark on the smallest set found, for the member alone, which it says where that does not rank."""
    if all_ties(component.judgments.comparisons):
        return Finding()
    reported, remarks = component.reported, on_fragility(component.member, component.comparisons)
    if reported.blocks or reported.effects is not None:
        what = "further blocks" if reported.blocks else "question effects"
        remarks = [f"Fragility without {what}: {remark.removeprefix(FRAGILITY)}" for remark in remarks]
    return Finding(remarks)
