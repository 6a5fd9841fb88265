"""Which member of the family ranks, where none was named."""

from __future__ import annotations

from judgerank.ranking.study import Finding, Ranked


def of_set(ranked: Ranked) -> Finding:
    """A remark that says why it is that one."""
    return Finding([ranked.reason] if ranked.reason else [])
