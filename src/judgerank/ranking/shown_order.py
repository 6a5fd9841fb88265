"""Whether each pair of models was shown in both orders, without which position bias looks like quality."""

from __future__ import annotations

from dataclasses import dataclass

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import imitating_scores, position_share

LITTLE = 0.1  # position share below which intervals of a fit with positions are too narrow in simulations
APART = 0.5  # difference of the imitating scores from which position bias moves one model beside another
OTHER_ORDER = (
    "Show the other order: ask the judges again with the two answers swapped, until each pair is shown in both "
    "orders equally often (judgerank collect --order both). More answers in the same order do not help."
)


@dataclass(frozen=True)
class ShownOrder:
    """Effect of showing in one order on the two best models.

    Attributes
    ----------
    nearly : bool
        Whether some comparisons had the other order, though too few.
    position : str
        Where the best was shown beside the second: ``first`` or ``second``; empty if position bias moves both
        alike.
    best : str
    """

    nearly: bool
    position: str
    best: str

    @property
    def unless(self) -> str:
        """When the best is no better, to follow a comma; empty if position bias moves both alike."""
        return f"unless judges favour the answer shown {self.position}" if self.position else ""

    def sentence(self) -> str:
        """A sentence on the fault, and the model that it favours."""
        few, can = ("nearly always", "can hardly be") if self.nearly else ("always", "cannot be")
        text = (
            f"Each pair of models was {few} shown in the same order, so position bias and quality {can} "
            "distinguished."
        )
        if self.position:
            return (
                f"{text} If judges favour the answer shown {self.position}, {self.best} may lead for that alone."
            )
        return f"{text} Models shown first may be ranked too high or too low beside those shown second."


def one_order(cells: Comparisons, best: str, second: str) -> ShownOrder | None:
    """The fault in the order of showing, if there is one; None where no order is known."""
    if not cells.ordered:
        return None
    share = position_share(cells)
    if share >= LITTLE:
        return None
    v = imitating_scores(cells)
    lead = float(v[cells.models.index(best)] - v[cells.models.index(second)])
    position = "" if abs(lead) < APART else "first" if lead > 0 else "second"
    return ShownOrder(share > 1e-6, position, best)
