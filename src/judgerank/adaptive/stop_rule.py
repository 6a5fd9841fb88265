"""Whether a goal is reached at a look, whose claims these are, and which judges they rest on.

Claims are tested as a ranking of the same judgments tests its pairs. Before a collection stops, they are tested
with the judges' own tastes too (`inference.taste_errors`): with the errors for judges like these where the goal
asks for them, or where it says nothing and a test finds tastes, as in a ranking, else with those for this panel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judgerank.adaptive.goals import Goal
from judgerank.data.arrays import BoolArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError, NoIntervalError
from judgerank.data.listing import counted, listed
from judgerank.fits.errors_by_question import by_question
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.fits.taste_test import taste_test
from judgerank.inference.taste_errors import TASTE
from judgerank.model.members import Model
from judgerank.order.pairs import Order, orders
from judgerank.ranking.choices import SHRUNK


@dataclass(frozen=True, eq=False)
class Look:
    """How far a collection is.

    Attributes
    ----------
    order : Order or None
        All models in one order with the tests of the claims; None while there are no errors, or several parts.
    by_question : bool
        Whether errors allow for dependence within questions.
    goal : Goal
        With whom it is about: `like_these` is decided where tastes were tested.
    reached : bool
    still_open : bool array, shape (P,), optional
        Which claims are not sure; None where the goal makes none, or there is no order.
    """

    order: Order | None
    by_question: bool
    goal: Goal
    reached: bool
    still_open: BoolArray | None


def fitted(comparisons: Comparisons, model: str | Model) -> Fit:
    """The shrunk fit, by which a ranking tests its pairs; it exists where a model has won or lost everything."""
    return fit(comparisons, model, SHRUNK)


def look_at(
    comparisons: Comparisons, question: IntArray, result: Fit, goal: Goal, number: int, asked: int, alpha: float
) -> Look:
    """The look of this number, counted from one, after so many comparisons were asked.

    Parameters
    ----------
    comparisons : Comparisons
        All that were answered and count.
    question : int array, shape (T,)
        Of each.
    result : Fit
        `fitted` to them.
    """
    order, has_errors_by_question = tested_order(comparisons, question, result)
    if order is not None and goal.kind != "comparisons" and goal.reached(order, number, asked, alpha):
        if goal.like_these is None:
            recurs = len(np.unique(question)) < len(question)
            tastes = taste_test(result, comparisons, question if recurs else None)
            goal = replace(goal, like_these=tastes is not None and tastes.found)
        order = allowing_for_tastes(comparisons, result.model, order, bool(goal.like_these))
    reached = order is not None and goal.reached(order, number, asked, alpha)
    has_claims = order is not None and goal.makes_claims
    still_open = goal.open_claims(order, number, alpha) if order is not None and has_claims else None
    return Look(order, has_errors_by_question, goal, reached, still_open)


def tested_order(comparisons: Comparisons, question: IntArray, result: Fit) -> tuple[Order | None, bool]:
    """All models in one order with the tests of a ranking of these, and whether errors allow for questions.

    None while there are no errors, or several parts. Errors are by question where questions are asked more than
    once; with too few of them, pairs are tested by sign flips.
    """
    has_errors_by_question = False
    try:
        if len(np.unique(question)) < len(question):
            result = by_question(replace(result, raw=comparisons, question=question), None, question)
            has_errors_by_question = result.errors.flips is None
        component_orders = list(orders(result))
    except NoIntervalError:
        return None, has_errors_by_question
    return component_orders[0] if len(component_orders) == 1 else None, has_errors_by_question


def allowing_for_tastes(
    comparisons: Comparisons, model: str | Model, order: Order, like_these: bool
) -> Order | None:
    """The same with tastes, for judges like these or for this panel; each error is the larger of both.

    A fit without tastes weighs what judges think by who was asked about which pair. Where tastes cannot be fitted,
    nothing is sure about other judges (None), and for this panel the order stays as it is. A pair's comparisons by
    themselves (`order.head_to_head`) say what this panel thinks, and nothing of other judges.
    """
    try:
        taste_fit = fit(comparisons, model, blocks=[TASTE])
        with_tastes = next(iter(orders(taste_fit if like_these else taste_fit.for_this_panel())))
    except (JudgerankError, StopIteration):
        return None if like_these else order
    index = {name: number for number, name in enumerate(with_tastes.models)}
    if len(index) != len(order.models):
        return None
    mine = np.array([index[name] for name in order.models])
    allowing = replace(
        order,
        difference=with_tastes.difference[:, mine][:, :, mine],
        error=np.maximum(with_tastes.error[:, mine][:, :, mine], order.error),
        covariance=with_tastes.covariance[np.ix_(mine, mine)],
        degrees_of_freedom=min(with_tastes.degrees_of_freedom, order.degrees_of_freedom),
        degrees_of_pairs=np.minimum(with_tastes.by_pair[np.ix_(mine, mine)], order.by_pair),
    )
    return replace(allowing, head_to_head=None) if like_these else allowing


# Which judges the claims rest on.

RANKED, UNDECIDED, REVERSED = "claims", "undecided", "reversed"


def without_each_judge(
    comparisons: Comparisons, question: IntArray, model: str | Model, stop: Look, alpha: float
) -> pd.DataFrame:
    """The claims of a stop without each judge in turn, fitted anew and looked at once.

    Returns
    -------
    DataFrame
        ``judge, share, claims, undecided, reversed, example``, a row for each judge: its share of the comparisons,
        and how many claims are then not sure, or the other way round by the scores; ``example`` is one of the
        latter, or of the former if there is none. Without a row where the goal makes no claims.
    """
    rows: list[dict[str, object]] = []
    if stop.order is not None and stop.goal.makes_claims and len(comparisons.judges) > 1:
        share = np.bincount(comparisons.judge, comparisons.count, len(comparisons.judges))
        for number, judge in enumerate(comparisons.judges):
            row = {"judge": judge, "share": share[number] / share.sum()}
            kept = np.flatnonzero(comparisons.judge != number)
            rows.append(row | _claims(comparisons.take(kept), question[kept], model, stop, alpha))
    return pd.DataFrame(rows, columns=["judge", "share", RANKED, UNDECIDED, REVERSED, "example"])


def _claims(
    comparisons: Comparisons, question: IntArray, model: str | Model, stop: Look, alpha: float
) -> dict[str, object]:
    """How many of a stop's claims others do not make."""
    assert stop.order is not None
    names, n = stop.order.models, len(stop.order.models)
    better, worse = stop.goal.pairs(n)
    order: Order | None = None
    try:
        order, _ = tested_order(comparisons, question, fitted(comparisons, model))
        if order is not None:
            order = allowing_for_tastes(comparisons, model, order, bool(stop.goal.like_these))
    except JudgerankError:  # some models are then compared by nobody
        pass
    counts = {RANKED: len(better), UNDECIDED: len(better), REVERSED: 0, "example": ""}
    if order is None or len(order.models) != n:
        return counts
    place = {name: number for number, name in enumerate(order.models)}
    i, j = (np.array([place[name] for name in names[side]]) for side in (better, worse))
    turned = order.difference[0][i, j] < 0
    unsure = ~turned & (order.p_value[i, j] > alpha / stop.goal.false_claims(n))
    counts |= {UNDECIDED: int(unsure.sum()), REVERSED: int(turned.sum())}
    if turned.any() or unsure.any():
        first = int(np.argmax(turned if turned.any() else unsure))
        counts["example"] = f"{names[better[first]]} over {names[worse[first]]}"
    return counts


def carried(without: pd.DataFrame) -> list[str]:
    """Which judges the claims of a stop rest on, in sentences; none where the goal makes no claims."""
    if without.empty:
        return []
    sentences = []
    for row in without[without[REVERSED] > 0].to_dict("records"):
        reversed_claims = f"{row[REVERSED]} of {counted(row[RANKED], 'claim')}"
        sentences.append(f"without judge {row['judge']}, {reversed_claims} would be reversed ({row['example']})")
    needed = without[(without[REVERSED] == 0) & (without[UNDECIDED] > 0)].sort_values(UNDECIDED, ascending=False)
    if len(needed):
        names, most = listed(needed["judge"], len(needed)), needed.iloc[0]
        which = f"{most[UNDECIDED]} of {counted(most[RANKED], 'claim')}"
        if len(needed) == 1:
            sentences.append(f"without judge {names}, {which} would be undecided")
        else:
            sentences.append(f"without any one of {names}, up to {which} would be undecided")
    return sentences or ["without any single judge, every claim would still be decided"]
