"""How the fit ended, where that is not an interior maximum."""

from __future__ import annotations

from judgerank.data.listing import listed
from judgerank.engine.solution import Status
from judgerank.fits.result import Fit
from judgerank.inference.uncertainty import MOST_PARAMETERS
from judgerank.model.needs import Need
from judgerank.ranking.study import Component, Finding


def of_component(component: Component) -> Finding:
    """Remarks on the estimates that are shown."""
    return Finding(on_fit(component.independent))


def on_fit(fitted: Fit) -> list[str]:
    """How the fit ended, where that is not an interior maximum."""
    said = []
    if fitted.unbounded_judges:
        sided = ", or always for one position" if fitted.model.uses(Need.ORDER) else ""
        held = (
            "Scores are where the search stopped, and nothing here has an interval."
            if fitted.solution.alone is None
            else "What is such a judge's own is held finite by shrinking it toward the others, alone, and has no "
            "interval."
        )
        said.append(
            f"The likelihood has no maximum: {listed(fitted.unbounded_judges)} never answered against the order "
            f"of the models{sided}, so a parameter runs off to infinity. {held} More comparisons of close models "
            "by that judge help, or model=btl."
        )
    if fitted.has_many_parameters:
        said.append(
            f"No intervals: {len(fitted.scores):,} models and {len(fitted.comparisons.judges):,} judges have more "
            f"parameters together than the {MOST_PARAMETERS:,} of which a covariance is kept."
        )
    if fitted.judges_at_zero:
        told = (
            f"At zero discrimination: {listed(fitted.judges_at_zero)}. These answers do not rise with the scores "
            "that the other judges agree on; they count for nothing in the ranking."
        )
        if 2 * len(fitted.judges_at_zero) >= len(fitted.comparisons.judges):
            told += (
                " They are half of the panel or more: were the others the contrary ones, this ranking would be "
                "the reverse of the true one. Compare it with model=btl, which counts all judges."
            )
        said.append(told)
    if fitted.slopes_at_bound:
        said.append(f"Slope in length on its bound, taken as given: {listed(fitted.slopes_at_bound)}.")
    if fitted.status is Status.ITERATION_LIMIT:
        said.append("The fit stopped before its tolerance was met: this is not a maximum (solver.max_iterations).")
    if len(fitted.comparisons.judges) == 1 and fitted.model.judge_blocks:
        said.append(
            "There is one judge, whose discrimination is one by definition: scores are on that judge's scale."
        )
    return said
