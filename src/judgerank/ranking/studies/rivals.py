"""How far the order depends on the judges' weights: the ranking without them, and another maximum."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.data.errors import JudgerankError
from judgerank.data.tied_choices import all_ties
from judgerank.engine import newton, search
from judgerank.engine.problem import in_units
from judgerank.engine.solution import Solution
from judgerank.fits.result import Fit
from judgerank.model.block import Need
from judgerank.ranking.choices import DEFAULT
from judgerank.ranking.study import Component, Finding

AGREE = 0.9  # rank correlation with btl below which a ranking is warned of
EQUAL = 1e-9  # range of scores, in log-odds, below which it is rounding
DISAGREE = "WARNING: the two disagree"
SAME = 0.999  # rank correlation from which two maxima count as one ranking


def of_component(component: Component) -> Finding:
    """Remarks on rivals of the ranking by the member alone."""
    if all_ties(component.judgments.comparisons):
        return Finding()
    return Finding(on_rivals(component.member, component.refit))


@dataclass(frozen=True)
class Rival:
    """Another maximum of the same likelihood.

    Attributes
    ----------
    gap : float
        By how much its log-likelihood is lower.
    correlation : float
        Spearman's, of its scores with those of the fit.
    first : str
        The model that it ranks first.
    """

    gap: float
    correlation: float
    first: str


def rival(fitted: Fit) -> Rival | None:
    """The highest other maximum that many starts lead to.

    None if all of these give the same ranking, or the fit is not an exact maximum with free discriminations.
    """
    model, cells, settings = fitted.model, fitted.comparisons, fitted.settings
    if not isinstance(settings, newton.Newton) or not model.weighs_judges or fitted._at_mean.any():
        return None
    bounds, (cells, size) = search.BOX | {"slope": settings.slope_bound}, in_units(cells)
    starts = search.worth_climbing(cells, model, search.rough_ends(cells, model, bounds), within=np.inf)
    ends = (newton.climb(cells, model, settings, start).times(size) for start in starts)
    maxima = [_rival_of(fitted, end) for end in ends if end.status.converged]
    return min(
        (maximum for maximum in maxima if maximum.correlation < SAME),
        key=lambda maximum: maximum.gap,
        default=None,
    )


def _rival_of(fitted: Fit, end: Solution) -> Rival:
    scores = end.parameters.scores
    gap = fitted.log_likelihood - end.evaluation.log_likelihood
    return Rival(float(gap), _spearman(scores, fitted.scores), fitted.comparisons.models[int(np.argmax(scores))])


def on_rivals(fitted: Fit, refit: Callable[[str], Fit]) -> list[str]:
    """How far the order hangs on the judges' weights, for a member whose judges have weights and no positions.

    Nothing of one judge, nor where all scores are equal.

    Parameters
    ----------
    fitted : Fit
    refit : callable
        Fits another member, given by name, to the same comparisons.
    """
    if not fitted.model.weighs_judges or fitted.model.uses(Need.ORDER):
        return []
    if len(fitted.comparisons.judges) < 2 or np.ptp(fitted.scores) <= EQUAL:  # no weights, or no order
        return []
    remarks = []
    # rows of rankings keep their ties as outcomes
    equals = "btl_ties" if fitted.model.has_ties and fitted.comparisons.stages is not None else "btl"
    try:
        correlation = _spearman(refit(equals).scores, fitted.scores)
    except JudgerankError as error:
        remarks.append(f"There is no comparison with equally weighted judges (model {equals}): {error}.")
    else:
        remark = f"Rank correlation with equally weighted judges (--model {equals}): {correlation:.2f}."
        such = f", such as position bias (--model {DEFAULT} corrects for it)" if fitted.comparisons.ordered else ""
        doubt = (
            f" {DISAGREE}. Most judges may share a habit besides quality{such}. Without a reason for one of "
            "them, trust neither."
        )
        remarks.append(remark + doubt if correlation < AGREE else remark)
    maximum = rival(fitted)
    if maximum is not None:
        remarks.append(
            f"The likelihood has a second maximum, {maximum.gap:.1f} lower. There {maximum.first} ranks first, "
            "and "
            f"the rank correlation with this ranking is {maximum.correlation:.2f}."
        )
    return remarks


def _spearman(first: Iterable[float], second: Iterable[float]) -> float:
    """Rank correlation; zero where all scores of one are equal."""
    first, second = np.asarray(first, float), np.asarray(second, float)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(pd.Series(first).rank(), pd.Series(second).rank())[0, 1])
