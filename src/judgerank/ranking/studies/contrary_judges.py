"""Judges who answer against the others, and the ranking with their answers turned."""

from __future__ import annotations

import numpy as np

from judgerank.data.cache import remembered
from judgerank.data.errors import JudgerankError
from judgerank.data.listing import listed
from judgerank.fits.presentation import pairs
from judgerank.ranking.components import parts_of
from judgerank.ranking.first_screen import headline
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.leaderboard import board_of
from judgerank.ranking.study import Component, Finding, component_of

CONTRARY_JUDGES = "Contrary judges: "  # begins the remark


def of_component(component: Component) -> Finding:
    """A remark on judges whose labels may be swapped, and on who leads with their answers turned."""
    judges = panel.contrary_judges(component)
    if not judges:
        return Finding()
    c = component.reported.comparisons
    agrees = panel.agreement(c)
    counts = dict(zip(c.judges, np.bincount(c.judge, c.decided, len(c.judges)), strict=True))
    named = [f"{judge} ({1 - agrees[judge]:.0%} of {counts[judge]:,.0f} answers)" for judge in judges]
    answer, whose = ("answers", "its") if len(judges) == 1 else ("answer", "their")
    text = f"{listed(named)} {answer} against the majority of the other judges: are the labels swapped?"
    lead = with_turned(component)
    then = f" With {whose} answers turned: {lead}." if lead else ""
    return Finding([f"{CONTRARY_JUDGES}{text}{then}"])


@remembered
def with_turned(component: Component) -> str:
    """Who leads with the answers of contrary judges turned; empty where nobody is, or that makes no ranking."""
    judges = panel.contrary_judges(component)
    if not judges:
        return ""
    try:
        judgments = parts_of(panel.turned(component.judgments, judges))[0]
        fitted = component_of(judgments, component.member.model.alone, component.settings)
        return headline(board_of(fitted), pairs(fitted.reported, component.settings.level))
    except (JudgerankError, np.linalg.LinAlgError):
        return ""
