"""Which items to send to people next: those whose votes add most information on the scores.

An answer to an item x moves the scores by about H^-1 x (y - lambda f), so its worth is the length of H^-1 x times
the spread of y - lambda f, which is learned from the items that people were asked about: it is larger where the
panel is split. Votes are spread best in proportion to that (Neyman, 1934; Zrnic and Candes, arXiv 2403.03208).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import FloatArray
from judgerank.engine.information import zero_sum_basis
from judgerank.people.anchor import People, inverse_information
from judgerank.people.items import HumanScores, table
from judgerank.people.paired_rows import PairedRows

LEAST = 0.05  # spread of an answer, lest items be never asked about that the panel agrees on


def next_items(human_scores: HumanScores, names: pd.Series | None = None) -> pd.DataFrame:
    """Items that people were not asked about, the most telling first: ``first, second, question, panel, worth``.

    ``worth`` is in units of the mean item's. Of a pair, draw items at random: the intervals take those that people
    were asked about for a random sample.

    Parameters
    ----------
    found : HumanScores
        Scores that are drawn toward the panel's know more of some models than votes alone do: an answer is then
        worth what it takes off their errors.
    names : Series, optional
        Names of the questions, by number.
    """
    items = human_scores.items
    rows = PairedRows.of(items)
    p = expit(human_scores.scores[items.first] - human_scores.scores[items.second])
    if isinstance(human_scores, People):
        predictors = rows.predictors(inverse_information(items, 0.0, human_scores.scores))
        worth = np.linalg.norm(predictors, axis=1) * _spread(human_scores, p)
    else:
        basis = zero_sum_basis(len(items.models))
        left = rows.predictors(basis.T @ human_scores.covariance @ basis)
        worth = np.linalg.norm(left, axis=1) * np.sqrt(p * (1 - p))
    frame = table(items, names).drop(columns="human").assign(worth=worth / worth.mean())[~items.asked]
    return frame.sort_values("worth", ascending=False, kind="stable", ignore_index=True)


def next_pairs(listed: pd.DataFrame) -> pd.DataFrame:
    """Items by pair of models: ``first, second, items, share``, the share of the next votes that suits each."""
    by = listed.groupby(["first", "second"], sort=False)["worth"].agg(["size", "sum"]).reset_index()
    by = by.assign(share=by["sum"] / by["sum"].sum()).rename(columns={"size": "items"}).drop(columns="sum")
    return by.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def _spread(people: People, p: FloatArray) -> FloatArray:
    """Standard deviation of y - lambda f of every item, a line in the panel's split f (1 - f)."""
    items, has_votes = people.items, people.items.asked
    split = items.panel * (1 - items.panel)
    off = (items.human - p - people.weight * (items.panel - p))[has_votes]
    design = np.column_stack([np.ones(int(has_votes.sum())), split[has_votes]])
    (base, slope), *_ = np.linalg.lstsq(design, off**2, rcond=None)
    return np.asarray(np.sqrt(np.maximum(base + slope * split, LEAST**2)))
