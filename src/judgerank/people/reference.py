"""People as one more judge, whose discrimination is the unit: scores on the human scale, if the panel is right.

If people and panel see one order with one set of gaps, all votes go into one fit, and on the scale on which their
discrimination is one the scores are e^alpha s, alpha being theirs. That is much narrower than what needs no such
assumption (`judgerank.people.anchor`), and wrong where they disagree.

If the fit models ties as an outcome, one unit is the log-odds of a win against a loss. Elo points of human
leaderboards count a tie as half a win, which makes differences smaller: do not convert such scores to Elo points.
"""

from __future__ import annotations

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import DataError
from judgerank.fits.result import Fit
from judgerank.order.scale import scale_by


def on_scale_of(fitted: Fit, judge: str) -> tuple[FloatArray, FloatArray]:
    """Scores on the scale on which a judge's discrimination is one, and their covariance by the delta method.

    Parameters
    ----------
    fitted : Fit
    judge : str

    Returns
    -------
    scores : float array, shape (N,)
    covariance : float array, shape (N, N)

    Raises
    ------
    DataError
        If there is no such judge, or its discrimination is not free and above zero.
    NoIntervalError
        If the fit has no covariance.
    """
    judges = fitted.comparisons.judges
    k = judges.index(judge) if judge in judges else None
    if k is None or not fitted.free[:1, k].any():
        raise DataError(
            f"{judge!r} is not a judge with a free discrimination: it cannot be the unit of the scores"
        )
    scale = scale_by(fitted, {judge: 1.0})
    return scale.scores, scale.covariance(fitted.covariance)
