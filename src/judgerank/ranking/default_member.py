"""Which member of the family ranks judgments of one's own, unless one is named.

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
    parts = list(parts)
    if not all(part.ordered for part in parts):
        return FALLBACK, f"Model {FALLBACK}: nobody was shown an order, so position is not modelled."
    if any(positions_are_imitated(part) for part in parts):
        return FALLBACK, (
            f"Model {FALLBACK}: the order in which models were shown follows the models, so judges who lean "
            "towards a position cannot be told from better models (show some pairs in the other order)."
        )
    share = min(position_share(part) for part in parts)
    return DEFAULT, (
        f"Model {DEFAULT}, the default: judges may lean towards the model shown first ({share:.0%} of a leaning's "
        f"effect could not be taken for scores); model={FALLBACK} leaves that out."
    )
