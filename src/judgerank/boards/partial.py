"""Judges who rate a newcomer differently from the panel, such as those of its own family."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.boards.placing import Anchored, best_scores
from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError
from judgerank.engine.information import information
from judgerank.engine.sums import evaluate
from judgerank.inference.wald import two_sided
from judgerank.order.pairs import holm
from judgerank.order.scale import scale_of


def by_judge(held: Anchored) -> pd.DataFrame:
    """Whether single judges see a newcomer otherwise than the panel does.

    Returns
    -------
    DataFrame
        ``newcomer, judge, comparisons, lead, standard_error, p_value, p_holm``: by how much the newcomer's
        reported score would rise if that judge's comparisons alone counted, others held; infinite where the judge
        is always of one mind. A judge who favours a newcomer, such as its own kin, has a lead above zero. Judges
        who tell nothing of it are left out. The test takes one Newton step, whose error is given.
    """
    rows, board, m = held.comparisons, held.board, len(held.newcomers)
    n, v, parts = len(board.scores), board.covariance, []
    unit = scale_of(board).factor
    told = _told(held, rows)
    for k, name in enumerate(rows.judges):
        mine = np.flatnonzero(rows.judge == k)
        if not len(mine):
            continue
        c = rows._rows(mine)
        gradient, own, carry = _told(held, c)
        met = np.bincount(np.r_[c.first, c.second], np.tile(c.decided, 2), n + m)[n:]
        for number in np.flatnonzero(own > 0):
            if own[number] >= told[1][number]:  # the only judge who tells of it
                continue
            apart = carry[number] / own[number] - told[2][number] / told[1][number]
            variance = 1 / own[number] - 1 / told[1][number] + apart @ v @ apart
            step, error, lead = gradient[number] / own[number], np.sqrt(variance), _lead(held, c, n + int(number))
            p = float(two_sided(step / error, held.errors.degrees_of_freedom[number]))
            parts.append((held.newcomers[number], name, met[number], unit * lead, unit * error, p))
    columns = ["newcomer", "judge", "comparisons", "lead", "standard_error", "p_value"]
    frame = pd.DataFrame(parts, columns=columns).sort_values("p_value", ignore_index=True)
    return frame.assign(p_holm=holm(frame["p_value"].to_numpy(float)))


def _lead(held: Anchored, rows: Comparisons, place: int) -> float:
    """How far a newcomer's score is from where these comparisons put it.

    Infinite where they are of one mind, NaN where the climb to it does not settle.
    """
    for_it = np.r_[rows.outcome[rows.first == place], 1 - rows.outcome[rows.second == place]]
    if len(np.unique(for_it)) == 1 and for_it[0] != 0.5:
        return float(np.copysign(np.inf, for_it[0] - 0.5))
    try:
        at = best_scores(rows, held.board.model, held.at, slice(place, place + 1))
    except NoMaximumError:
        return np.nan
    return float(at.scores[place] - held.at.scores[place])


def _told(held: Anchored, rows: Comparisons) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gradient and information of the newcomers' scores in some comparisons, and the latter's with the board's."""
    n, m = len(held.board.scores), len(held.newcomers)
    here = evaluate(rows, held.board.model, held.at, "expected")
    info = information(here, held.board.free)
    new = np.arange(n, n + m)
    rest = np.setdiff1d(np.arange(len(info)), new)
    return here.top_gradient[n:], np.diag(info)[new], info[np.ix_(new, rest)]
