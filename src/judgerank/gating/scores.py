"""One score a question: the panel's mean preference for the candidate, and what the order of presentation adds.

A judge who saw both orders counts with the mean of both. One who saw a single order adds his position bias to the
score. Where the order was drawn at random this is noise without a direction. `differences` takes the estimated
bias off; `scores` leaves it in, since a mean over random orders is right without any estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.order.flips import p_above

UNBALANCED = 0.01  # p-value below which orders are taken not to be drawn evenly
PRIOR = 5.0  # judgments without position bias added to every judge's: few questions must not be led by noise


@dataclass(frozen=True)
class Scores:
    """What the questions say.

    Attributes
    ----------
    scores : float array, shape (Q,)
        Mean preference for the candidate, from 0 to 1; ties count one half.
    differences : float array, shape (Q,)
        Scores less one half, less what position bias adds.
    position : float array, shape (K,)
        Estimated addition to a judge's preference for the answer shown first, shrunk towards 0; nan where no
        single order was shown.
    order : str
        ``unknown``, ``one`` (the candidate always had the same place), ``uneven`` or ``even``.
    """

    scores: FloatArray
    differences: FloatArray
    position: FloatArray
    order: str


def scored(preference: FloatArray, first: FloatArray) -> Scores:
    """Scores of questions of which every one was judged at least once.

    Parameters
    ----------
    preference : float array, shape (Q, K)
        Of judge k for the candidate in question q, from 0 to 1; nan where there is none.
    first : float array, shape (Q, K)
        1 where the candidate was shown first, -1 where second, 0 where both were, nan where it is not known.
    """
    there = ~np.isnan(preference)
    side = np.where(there, first, 0.0)
    lead = np.where(there, preference - 0.5, 0.0)
    judges = there.sum(axis=1)
    order = order_of(side, there)
    side = np.nan_to_num(side)
    position = _position(lead, side) if order != "uneven" else _position_beside_lead(lead, side, there)
    known = np.nan_to_num(position)
    differences = (lead - side * known).sum(axis=1) / judges
    scores = 0.5 + lead.sum(axis=1) / judges
    if order == "uneven":
        scores = np.clip(0.5 + differences, 0.0, 1.0)
    return Scores(scores, differences, position, order)


def order_of(side: FloatArray, there: BoolArray) -> str:
    """How the candidate's places were chosen, as far as they show."""
    if np.isnan(side).any():
        return "unknown"
    if not side.any():
        return "even"
    if (there & (side == 0)).any() or ((side == 1).any() and (side == -1).any()):
        by_question = side.sum(axis=1)
        return "uneven" if 2 * min(p_above(by_question), p_above(-by_question)) < UNBALANCED else "even"
    return "one"


def _position(lead: FloatArray, side: FloatArray) -> FloatArray:
    """Mean lead of the first place by judge, shape (K,), as if both variants were equal; shrunk towards none.

    Exchanging the names in a question turns lead and side, and leaves this as it is, so sign flips stay exact.
    """
    shown = np.abs(side).sum(axis=0)
    return (lead * side).sum(axis=0) / np.where(shown > 0, shown + PRIOR, np.nan)


def _position_beside_lead(lead: FloatArray, side: FloatArray, there: BoolArray) -> FloatArray:
    """Slope of the lead on the side by judge, shape (K,); the panel's where a judge saw one order alone."""
    count = there.sum(axis=0)
    count = np.where(count > 0, count, np.nan)
    centred = np.where(there, side - side.sum(axis=0) / count, 0.0)
    covered, spread = (centred * lead).sum(axis=0), (centred * side).sum(axis=0)
    pooled = covered.sum() / spread.sum()
    return np.where(spread > 0, covered / np.where(spread > 0, spread, 1.0), pooled)
