"""Where the ranking is not by the fit that was asked for."""

from __future__ import annotations

from judgerank.ranking.study import Component, Finding


def of_component(component: Component) -> Finding:
    """Remarks on blocks that are left out, and on a member that question effects replace."""
    return Finding(component.departures)
