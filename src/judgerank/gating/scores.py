"""One score a question: the panel's mean preference for the candidate, and what the order of presentation adds.

A judge who saw both orders counts with the mean of both. One who saw a single order adds his position bias to the
score; the estimated bias is taken off. Where one order is clearly more frequent, only as many of its answers count
as there are of the other: the error of the estimate would be one that no exact test knows of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.order.sign_flips import p_above

UNBALANCED = 0.05  # p-value below which orders are taken not to be drawn evenly
PRIOR = 5.0  # judgments without position bias added to every judge's: few questions must not be led by noise


@dataclass(frozen=True)
class Scores:
    """What the questions say.

    Attributes
    ----------
    scores : float array, shape (Q,)
        Mean preference for the candidate, from 0 to 1; ties count one half.
    fair : float array, shape (Q,)
        Scores less what position bias adds, from `-reach` to `1 + reach`.
    reach : float
        The most that position bias adds to any score.
    differences : float array, shape (Q,)
        Scores less one half, less what position bias adds as if both were equal: for exact sign flips.
    position : float array, shape (K,)
        Estimated addition to a judge's preference for the answer shown first, shrunk towards 0; nan where no
        single order was shown.
    order : str
        ``unknown``, ``one`` (no judge saw the candidate in both places), ``uneven`` or ``even``.
    used : int array, shape (Q,)
        Places of these questions among those given: all, but where orders are uneven.
    """

    scores: FloatArray
    fair: FloatArray
    reach: float
    differences: FloatArray
    position: FloatArray
    order: str
    used: IntArray

    @property
    def win_rate(self) -> float:
        """The panel's mean preference for the candidate, less position bias."""
        return float(np.clip(self.fair.mean(), 0.0, 1.0))

    @property
    def within(self) -> FloatArray:
        """The fair scores, moved and scaled to lie from 0 to 1, shape (Q,)."""
        return self.place_of(self.fair)

    def place_of(self, rates: FloatArray | float) -> Any:
        """Where win rates lie on the scale of `within`."""
        return (rates + self.reach) / (1 + 2 * self.reach)

    def rate_at(self, place: float) -> float:
        """The win rate at a place on the scale of `within`; from 0 to 1."""
        return min(max(place * (1 + 2 * self.reach) - self.reach, 0.0), 1.0)


def scored(preference: FloatArray, first: FloatArray) -> Scores:
    """Scores of questions of which every one was judged at least once.

    Parameters
    ----------
    preference : float array, shape (Q, K)
        Of judge k for the candidate in question q, from 0 to 1; nan where there is none.
    first : float array, shape (Q, K)
        1 where the candidate was shown first, -1 where second, 0 where both were, nan where it is not known.
    """
    used = np.arange(len(preference))
    order = order_of(preference, first)
    if order == "uneven":
        evened = _evened(preference, first)
        used = np.flatnonzero(~np.isnan(evened).all(axis=1))
        if len(used):
            preference, first = evened[used], first[used]
        else:  # whoever judged, saw the candidate in one place alone
            order, used = "one", np.arange(len(preference))
    there = ~np.isnan(preference)
    side = np.nan_to_num(np.where(there, first, 0.0))
    lead = np.where(there, preference - 0.5, 0.0)
    judges = there.sum(axis=1)
    position = _position(lead, side, 0.0 if order == "uneven" else PRIOR)
    differences = (lead - side * np.nan_to_num(position)).sum(axis=1) / judges
    scores = 0.5 + lead.sum(axis=1) / judges
    added = (side * _slope(lead, side, there)).sum(axis=1) / judges
    reach = float(np.abs(added).max())
    return Scores(scores, scores - added, reach, differences, position, order, used)


def order_of(preference: FloatArray, first: FloatArray) -> str:
    """How the candidate's places were chosen, as far as they show."""
    there = ~np.isnan(preference)
    side = np.where(there, first, 0.0)
    if np.isnan(side).any():
        return "unknown"
    if not side.any():
        return "even"
    if (there & (side == 0)).any() or ((side == 1).any() and (side == -1).any()):
        by_question = side.sum(axis=1)
        return "uneven" if 2 * min(p_above(by_question), p_above(-by_question)) < UNBALANCED else "even"
    return "one"


def _evened(preference: FloatArray, first: FloatArray) -> FloatArray:
    """The preferences, with as many of every judge's answers in one order as in the other; the rest nan.

    Which of them count is drawn once and for all. Where all judges of a question saw the same order, it stays or
    goes as a whole; else by judge, lest one order be kept in questions that more judges answered.
    """
    kept, rng = preference.copy(), np.random.default_rng(0)
    drawn = rng.permutation(len(preference))
    side = np.where(np.isnan(preference), 0.0, first)
    is_shared = bool((np.abs(side.sum(axis=1)) == np.abs(side).sum(axis=1)).all())
    for judge in range(preference.shape[1]):
        drawn = drawn if is_shared else rng.permutation(len(preference))
        there = drawn[~np.isnan(preference[drawn, judge])]
        sides = [there[first[there, judge] == side] for side in (1, -1)]
        fewer = min(map(len, sides))
        for places in sides:
            kept[places[fewer:], judge] = np.nan
    return kept


def _position(lead: FloatArray, side: FloatArray, prior: float) -> FloatArray:
    """Mean lead of the first place by judge, shape (K,), as if both variants were equal; shrunk towards none.

    Where orders were evened, answers do not all have the same weight, and what is shrunk away would be left in.
    Exchanging the names in a question turns lead and side, and leaves this as it is, so sign flips stay exact.
    """
    shown = np.abs(side).sum(axis=0)
    return (lead * side).sum(axis=0) / np.where(shown > 0, shown + prior, np.nan)


def _slope(lead: FloatArray, side: FloatArray, there: BoolArray) -> FloatArray:
    """Slope of the lead on the side by judge, shape (K,), shrunk towards none."""
    count = np.maximum(there.sum(axis=0), 1)
    centred = np.where(there, side - side.sum(axis=0) / count, 0.0)
    return (centred * lead).sum(axis=0) / ((centred * side).sum(axis=0) + PRIOR)
