"""Records that could not be read, and models that are not ranked."""

from __future__ import annotations

from collections.abc import Iterable

from judgerank.data.comparisons import Comparisons
from judgerank.data.frames import LEFT_OUT
from judgerank.data.listing import listed
from judgerank.ranking.components import never_compared
from judgerank.ranking.study import Finding, Ranked


def of_set(ranked: Ranked) -> Finding:
    """Remarks on what was dropped, and on components without a ranking."""
    refused = [(listed(part.comparisons.models), str(error)) for part, error in ranked.refused]
    unranked = [f"Not ranked: {models}. {why[:1].upper()}{why[1:]}." for models, why in refused]
    return Finding([*on_dropped(ranked.judgments.comparisons, never_compared(ranked.judgments)), *unranked])


def on_dropped(comparisons: Comparisons, never: Iterable[str]) -> list[str]:
    """Records left out, and models that are left without a comparison by it."""
    remarks, never = [], list(never)
    unread = {reason: count for reason, count in comparisons.dropped.items() if count and reason not in LEFT_OUT}
    if unread:
        reasons = ", ".join(f"{count} {reason}" for reason, count in unread.items())
        remarks.append(f"Dropped because the answer could not be read: {reasons}.")
    if never:
        remarks.append(f"Not ranked because no answer about them could be read: {listed(never)}.")
    return remarks
