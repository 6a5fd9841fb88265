"""Whose opinion the scores are: this panel's, or that of judges like these."""

from __future__ import annotations

import pandas as pd

from judgerank.data.listing import p_of
from judgerank.fits.result import Fit
from judgerank.inference.taste_errors import TASTE
from judgerank.inference.wald import wald_by_covariance
from judgerank.order.pairs import pairwise
from judgerank.order.scale import reported_covariance, scale_of
from judgerank.ranking.choices import THIS_PANEL
from judgerank.ranking.study import Component, Finding

NAME = "whose_opinion"
LEVEL = 0.05  # of the test for tastes, as it is said


def of_component(component: Component) -> Finding:
    """The table ``whose_opinion`` and a remark, where tastes are in the errors or in the fit."""
    reported, level = component.reported, component.settings.level
    is_fitted = any(block.name == TASTE for block in reported.blocks)
    if not component.has_intervals or not (is_fitted or component.tastes is not None):
        return Finding()
    if not reported.speaks_of_judges_like_these:
        has_both = is_fitted and not reported.of_panel
        return Finding([_on_this_panel(component)], {NAME: both_intervals(reported, level)} if has_both else {})
    table = both_intervals(reported, level)
    return Finding([_on_both(component, table)], {NAME: table})


def both_intervals(fitted: Fit, level: float) -> pd.DataFrame:
    """Reported scores with intervals in both senses, best first.

    Returns
    -------
    DataFrame
        ``rank, model, score, low_this_panel, high_this_panel, low_judges_like_these, high_judges_like_these``.
    """
    columns = {"rank": fitted.ranks.to_numpy(), "model": fitted.ranks.index, "score": scale_of(fitted).scores}
    for name, result in (("this_panel", fitted.for_this_panel()), ("judges_like_these", fitted)):
        scores, covariance = scale_of(result).scores, reported_covariance(result)
        ends = wald_by_covariance(scores, covariance, level, result.degrees_of_scores)
        columns[f"low_{name}"], columns[f"high_{name}"] = ends
    return pd.DataFrame(columns).sort_values("rank", ignore_index=True)


def _test(component: Component) -> tuple[float, float | None]:
    """Standard deviation of tastes, and the p-value of none; None where that is not tested."""
    if component.tastes is not None:
        return component.tastes.spread, component.tastes.p_value
    fitted = component.reported
    return fitted.spread[TASTE], None if fitted.effects is not None else fitted.test(TASTE).p_value


def _on_this_panel(component: Component) -> str:
    spread, p_value = _test(component)
    n_judges = len(component.reported.comparisons.judges)
    tested = "" if p_value is None else f", p {p_of(p_value)}"
    if component.settings.whose == THIS_PANEL and spread > 0:
        return (
            f"Whose opinion: the ranking and its intervals are for this panel of {n_judges} alone, as asked for "
            f"(tastes of its judges: standard deviation {spread:.2f} log-odds{tested})."
        )
    return (
        f"Whose opinion: the {n_judges} judges show no tastes of their own (standard deviation "
        f"{spread:.2g}{tested}), so intervals are for this panel."
    )


def _on_both(component: Component, table: pd.DataFrame) -> str:
    fitted, level = component.reported, component.settings.level
    spread, p_value = _test(component)
    n_judges = len(fitted.comparisons.judges)
    tested = "" if p_value is None else f", p {p_of(p_value)}"
    have = "may have" if p_value is not None and p_value > LEVEL else "have"
    widths = {
        name: float((table[f"high_{name}"] - table[f"low_{name}"]).mean())
        for name in ("this_panel", "judges_like_these")
    }
    counts = [int(pairwise(result, level)["separated"].sum()) for result in (fitted.for_this_panel(), fitted)]
    return (
        f"Whose opinion: judges {have} tastes of their own (standard deviation {spread:.2f} log-odds{tested}). "
        "The ranking and its intervals are for judges like these: another panel drawn as this one was would agree "
        f"with them. An interval is {widths['judges_like_these']:.2f} wide on average. For this panel of "
        f"{n_judges} as it is, it is {widths['this_panel']:.2f} wide, and {counts[0]} pairs are significantly "
        f"different instead of {counts[1]}. More comparisons narrow the intervals for this panel; to narrow those "
        "for judges like these, add judges."
    )
