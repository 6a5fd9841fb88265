"""Every pair of models: the difference of their scores, its interval and its test."""

from __future__ import annotations

from judgerank.ranking.study import Component, Finding


def of_component(component: Component) -> Finding:
    """The table ``pairs``."""
    return Finding(tables={"pairs": component.pairs})
