"""How far a collection by rounds is from its goal: which claims are open, and what is still to be asked."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from judgerank.adaptive.goals import Goal, widest
from judgerank.collecting.outcome import money
from judgerank.order.pairs import Order

LEVEL = 0.95  # of the goals' claims
FARTHEST = 100.0  # times what there is; a forecast beyond says no more than that it is far


class Outlook(NamedTuple):
    """At one look.

    Attributes
    ----------
    still, claims : int
        Open claims, and all; zero for a goal that makes none.
    needed : float
        Comparisons in all at which the goal would be reached; infinite if that cannot be foreseen.
    """

    still: int
    claims: int
    needed: float


def outlook(order: Order | None, goal: Goal, look: int, comparisons: float) -> Outlook:
    """How far it is at a look (counted from one), after so many comparisons.

    Test statistics grow with the square root of the number of comparisons, and widths shrink with it. So this is
    what it would take if all pairs were asked as they were so far. Rounds ask the open pairs more, so that it
    usually takes less.
    """
    if goal.kind == "comparisons":
        return Outlook(0, 0, goal.size)
    if order is None:
        return Outlook(0, 0, math.inf)
    if goal.kind == "width" and order.flipped:  # no width is reached
        return Outlook(0, 0, math.inf)
    if goal.kind == "width":
        return Outlook(0, 0, _foreseen(comparisons, widest(order, LEVEL) / goal.size))
    still = goal.open_claims(order, look, 1 - LEVEL)
    if not still.any():
        return Outlook(0, len(still), comparisons)
    i, j = goal.pairs(len(order.models))[:, still]
    hurdle = goal.hurdle(len(order.models), look + 1, 1 - LEVEL)
    weakest = float(-ndtri(np.max(order.p_value[i, j]) / 2))
    return Outlook(int(still.sum()), len(still), _foreseen(comparisons, -ndtri(hurdle / 2) / max(weakest, 1e-9)))


def _foreseen(comparisons: float, factor: float) -> float:
    needed = comparisons * factor**2
    return needed if needed <= FARTHEST * comparisons else math.inf


def told(found: Outlook, comparisons: float, left: float, each: float, currency: str) -> str:
    """The same in words, with what the comparisons to go would cost if one costs `each`."""
    claims = f"{found.still} of {found.claims} claims open, " if found.claims else ""
    more = found.needed - comparisons
    if more <= 0:
        return f"{claims}nothing to go" if not found.claims or found.still else "all claims sure"
    if math.isinf(more):
        return f"{claims}the end cannot be foreseen yet"
    price = f" for {money(more * each, currency)}" if each > 0 else ""
    beyond = "" if more <= left else f", and {left:,.0f} are left" if left else ", and none is left"
    return f"{claims}about {more:,.0f} more judgments{price}, as it looks now{beyond}"
