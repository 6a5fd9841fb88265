"""The default model for ranking the user's judgments.

The judge-aware likelihood can be higher where discriminations follow something other than quality that most judges
share, such as a position: the ranking is then that of the habit. Members with a position are not led astray by it,
so they come first wherever the order of presentation identifies them.
"""

from __future__ import annotations

from collections.abc import Iterable

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import position_share, positions_are_imitated

DEFAULT, FALLBACK = "position_aware", "judge_aware"


def default_member(parts: Iterable[Comparisons]) -> tuple[str, str]:
    """Name of the member that ranks unless one is chosen, and a sentence that says why.

    Parameters
    ----------
    parts : iterable of Comparisons
        The components of the comparison graph: the member must be identified in each.
    """
    parts = [part.aggregate() for part in parts]
    if not all(part.ordered for part in parts):
        return FALLBACK, f"Fitted without position bias ({FALLBACK}): the records have no order of presentation."
    if any(positions_are_imitated(part) for part in parts):
        return FALLBACK, (
            f"Fitted without position bias ({FALLBACK}): each pair was shown in one order, so position bias and "
            "quality cannot be distinguished. Show some pairs in the other order."
        )
    share = min(position_share(part) for part in parts)
    return DEFAULT, (
        f"Fitted with position bias ({DEFAULT}, the default). The order of answers tells {share:.0%} of what a "
        f"balanced order would tell about it. Without it: --model {FALLBACK}."
    )
