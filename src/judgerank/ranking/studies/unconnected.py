"""Groups of models that no chain of comparisons connects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgerank.data.listing import listed
from judgerank.ranking.components import links_between
from judgerank.ranking.study import Finding, Ranked


def of_set(ranked: Ranked) -> Finding:
    """A remark that names the groups and what to compare to connect them."""
    if len(ranked.parts) < 2:
        return Finding()
    return Finding(on_parts([part.comparisons.models for part in ranked.parts], links_between(ranked.judgments)))


def on_parts(components: Sequence[Sequence[str]], links: Iterable[tuple[str, str]]) -> list[str]:
    """That models which no chain of comparisons connects are ranked apart, where there are any."""
    if len(components) < 2:
        return []
    groups = "; ".join(f"({number}) {listed(group)}" for number, group in enumerate(components, 1))
    first = "; ".join(f"{a} with {b}" for a, b in links)
    return [
        f"No chain of comparisons connects these {len(components)} groups of models, so each is ranked by itself: "
        f"{groups}. To connect them, compare {first}."
    ]
