"""Whose opinion the scores are: this panel's, or that of judges like these."""

from __future__ import annotations

import pandas as pd

from judgerank.data.listing import p_of
from judgerank.fits.result import Fit
from judgerank.inference.uncertainty import TASTE
from judgerank.inference.wald import wald_by_covariance
from judgerank.order.pairs import pairwise
from judgerank.order.scale import reported_covariance, scale_of
from judgerank.ranking.study import Component, Finding

NAME = "whose_opinion"


def of_component(component: Component) -> Finding:
    """The table ``whose_opinion`` and a remark, where the block ``taste`` is fitted."""
    reported, level = component.reported, component.settings.level
    if not any(block.name == TASTE for block in reported.blocks) or not component.has_intervals:
        return Finding()
    table = both_intervals(reported, level)
    return Finding([_remark(reported, table, level)], {NAME: table})


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


def _remark(fitted: Fit, table: pd.DataFrame, level: float) -> str:
    n_judges = len(fitted.comparisons.judges)
    tested = "" if fitted.effects is not None else f", p {p_of(fitted.test(TASTE).p_value)}"
    if fitted.spread[TASTE] == 0:
        return (
            f"Whose opinion: the {n_judges} judges show no tastes of their own (standard deviation 0{tested}). "
            "Intervals hold for this panel and for judges like these alike."
        )
    widths = {
        name: float((table[f"high_{name}"] - table[f"low_{name}"]).mean())
        for name in ("this_panel", "judges_like_these")
    }
    counts = [int(pairwise(result, level)["separated"].sum()) for result in (fitted.for_this_panel(), fitted)]
    return (
        f"Whose opinion: judges have tastes of their own (standard deviation {fitted.spread[TASTE]:.2f} log-odds"
        f"{tested}). The ranking and its intervals are for judges like these: another panel drawn as this one was "
        f"would agree with them. An interval is {widths['judges_like_these']:.2f} wide on average. For this panel "
        f"of {n_judges} as it is, it is {widths['this_panel']:.2f} wide, and {counts[0]} pairs are significantly "
        f"different instead of {counts[1]}. More comparisons narrow the intervals for this panel; to narrow those "
        "for judges like these, add judges."
    )
