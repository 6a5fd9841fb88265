"""Question effects: how much answers of one model differ, and what that changes in the ranking."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import NoIntervalError
from judgerank.data.listing import listed, p_of
from judgerank.fits.result import Fit
from judgerank.order.scale import reported_covariance, scale_of, standardised
from judgerank.ranking.component_fit import is_usable
from judgerank.ranking.study import Component, Finding


def of_component(component: Component) -> Finding:
    """Remarks on the size of question effects, where they are asked for."""
    asked = component.asked
    return Finding([] if asked.effects is None else on_effects(asked, component.settings.level))


def on_effects(found: Fit, level: float) -> list[str]:
    """How much answers of a model differ, whether that is more than chance, and what it moved."""
    statistic, p = found.likelihood_ratio()
    test = f"LR test, statistic {statistic:.1f}, p {p_of(p)}"
    if found.sigma == 0:
        return [
            *found.remarks,
            "Question effects: none were found (sigma is zero). Judges of the same question do not err together "
            "more than by chance, so the ranking leaves question effects out.",
        ]
    if not is_usable(found):
        return [
            *found.remarks,
            f"Question effects: their fit ended as {found.status} and has no intervals, so the ranking leaves "
            f"them out ({test}).",
        ]
    rows = found.confidence_intervals(level).set_index("parameter").loc[["sigma", "relative sigma"]]
    ends = [f" ({row.low:.2f} to {row.high:.2f})" for row in rows.itertuples()]
    return [
        *found.remarks,
        f"Question effects: the quality of a model's answers varies with standard deviation sigma = "
        f"{found.sigma:.2f}{ends[0]}. That is {found.relative_sigma:.2f}{ends[1]} times the standard deviation of "
        f"the scores ({test}). {_moved(found)}",
    ]


def _moved(found: Fit) -> str:
    """What question effects changed in the ranking."""
    names, before, after = found.scores.index, _without(found).ranks.tolist(), found.ranks.tolist()
    moved = [f"{m} from {a} to {b}" for m, a, b in zip(names, before, after, strict=True) if a != b]
    told = f"They change {len(moved)} of {len(names)} ranks: {listed(moved)}." if moved else "They change no rank."
    try:
        ratio = _errors(found).mean() / _errors(_without(found)).mean()
    except NoIntervalError:  # of the fit without
        return told
    return f"{told} Standard errors of standardised scores are {ratio:.2f} times those without question effects."


def _without(found: Fit) -> Fit:
    assert found.without is not None
    return found.without


def _errors(fitted: Fit) -> FloatArray:
    return np.sqrt(np.diag(standardised(scale_of(fitted).scores, reported_covariance(fitted))[1]))
