"""Question effects: how much answers of one model differ, and what that changes in the ranking."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import NoIntervalError
from judgerank.data.listing import listed, p_of
from judgerank.fits.result import Fit
from judgerank.order.scale import reported_covariance, scale_of, standardised
from judgerank.ranking.study import Component, Finding, is_usable


def of_component(component: Component) -> Finding:
    """Remarks on the size of question effects, where they are asked for."""
    requested = component.requested
    return Finding([] if requested.effects is None else on_effects(requested, component.settings.level))


def on_effects(fitted: Fit, level: float) -> list[str]:
    """How much answers of a model differ, whether that is more than chance, and what it moved."""
    statistic, p = fitted.likelihood_ratio()
    test = f"LR test, statistic {statistic:.1f}, p {p_of(p)}"
    if fitted.sigma == 0:
        return [
            *fitted.remarks,
            "Question effects: none were found (sigma is zero). Judges of the same question do not err together "
            "more than by chance, so the ranking leaves question effects out.",
        ]
    if not is_usable(fitted):
        return [
            *fitted.remarks,
            f"Question effects: their fit ended as {fitted.status} and has no intervals, so the ranking leaves "
            f"them out ({test}).",
        ]
    rows = fitted.confidence_intervals(level).set_index("parameter").loc[["sigma", "relative sigma"]]
    ends = [f" ({row.low:.2f} to {row.high:.2f})" for row in rows.itertuples()]
    return [
        *fitted.remarks,
        f"Question effects: the quality of a model's answers varies with standard deviation sigma = "
        f"{fitted.sigma:.2f}{ends[0]}. That is {fitted.relative_sigma:.2f}{ends[1]} times the standard "
        "deviation of "
        f"the scores ({test}). {_rank_changes(fitted)}",
    ]


def _rank_changes(fitted: Fit) -> str:
    """A sentence on the ranks that question effects change."""
    names, before, after = fitted.scores.index, _without(fitted).ranks.tolist(), fitted.ranks.tolist()
    changed = [f"{m} from {a} to {b}" for m, a, b in zip(names, before, after, strict=True) if a != b]
    remark = (
        f"They change {len(changed)} of {len(names)} ranks: {listed(changed)}."
        if changed
        else "They change no rank."
    )
    try:
        ratio = _errors(fitted).mean() / _errors(_without(fitted)).mean()
    except NoIntervalError:  # of the fit without
        return remark
    return f"{remark} Standard errors of standardised scores are {ratio:.2f} times those without question effects."


def _without(fitted: Fit) -> Fit:
    assert fitted.without is not None
    return fitted.without


def _errors(fitted: Fit) -> FloatArray:
    return np.sqrt(np.diag(standardised(scale_of(fitted).scores, reported_covariance(fitted))[1]))
