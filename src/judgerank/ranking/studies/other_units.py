"""What intervals and pairs would be by other columns that may name what was sampled, such as templates."""

from __future__ import annotations

import numpy as np

from judgerank.data.errors import JudgerankError
from judgerank.data.listing import counted
from judgerank.data.units import UNITS
from judgerank.fits.errors_by_question import by_clusters, number_of
from judgerank.fits.presentation import pairs
from judgerank.fits.result import Fit
from judgerank.inference.clusters import Clusters
from judgerank.inference.wald import wald_by_covariance
from judgerank.order.scale import reported_covariance
from judgerank.ranking.study import Component, Finding
from judgerank.trust.sentences import MOST_ROWS

SAMPLED = "Sampling: "  # how the remarks begin


def of_component(component: Component) -> Finding:
    """A remark for each such column that is there and was not named."""
    reported = component.reported
    large = len(component.comparisons) > MOST_ROWS
    if large or not component.has_intervals or reported.effects is not None or reported.robust is None:
        return Finding()
    named = () if reported.clusters is None else reported.clusters.names
    own: tuple[float, int] | None = None
    remarks = []
    for name in UNITS:
        label = None if name in named else component.judgments.unit_if_known(name)
        if label is None or not 1 < number_of(label) < (reported.n_clusters or 0):
            continue
        try:
            fitted = by_clusters(component.independent, Clusters((name,), (label,)), component.independent.raw)
            own = own or _size(component, reported)
            remarks.append(_remark(name, number_of(label), _size(component, fitted), own))
        except JudgerankError:
            continue
    return Finding(remarks)


def _size(component: Component, fitted: Fit) -> tuple[float, int]:
    """Mean width of the intervals of scores, and how many pairs are significantly different."""
    level = component.settings.level
    covariance, degrees = reported_covariance(fitted), fitted.degrees_of_scores
    low, high = wald_by_covariance(np.zeros(len(covariance)), covariance, level, degrees)
    return float((high - low).mean()), int(pairs(fitted, level)["separated"].sum())


def _remark(name: str, n_units: int, size: tuple[float, int], own: tuple[float, int]) -> str:
    return (
        f"{SAMPLED}By {name} ({n_units} values) intervals would be {size[0] / own[0]:.2f} times as wide, and "
        f"{counted(size[1], 'pair')} of models significantly different instead of {own[1]}. If {name} is what was "
        f"sampled: --cluster {name}."
    )
