"""How the fit ended, where that is not an interior maximum."""

from __future__ import annotations

from judgerank.data.listing import listed
from judgerank.engine.solution import Status
from judgerank.fits.result import Fit
from judgerank.inference.uncertainty import MOST_PARAMETERS
from judgerank.model.block import Need
from judgerank.ranking.studies.exact_fit import mostly_at_zero
from judgerank.ranking.study import Component, Finding


def of_component(component: Component) -> Finding:
    """Remarks on the estimates that are shown."""
    return Finding(on_fit(component.independent))


def on_fit(fitted: Fit) -> list[str]:
    """How the fit ended, where that is not an interior maximum."""
    remarks = []
    if fitted.unbounded_judges:
        sided = ", or always chose one position" if fitted.model.uses(Need.ORDER) else ""
        held = (
            "Scores are where the search stopped, and there are no intervals."
            if fitted.solution.alone is None
            else "The parameters of such a judge are shrunk toward the others and have no interval."
        )
        remarks.append(
            f"The likelihood has no maximum: {listed(fitted.unbounded_judges)} never contradicted the ranking"
            f"{sided}, so a parameter grows without limit. {held} Ask that judge to compare close models, or use "
            "--model btl."
        )
    if fitted.has_many_parameters:
        remarks.append(
            f"No intervals: {len(fitted.scores):,} models and {len(fitted.comparisons.judges):,} judges have more "
            f"than the {MOST_PARAMETERS:,} parameters for which a covariance is computed."
        )
    if fitted.judges_at_zero:
        remark = (
            f"Judges with zero discrimination: {listed(fitted.judges_at_zero)}. Their answers do not follow the "
            "scores that the other judges agree on, so they have no weight in this fit."
        )
        if mostly_at_zero(fitted):
            remark += (
                " They are at least half of the panel. If the other judges are the contrary ones, this ranking is "
                "upside down. Compare it with --model btl, which counts all judges."
            )
        remarks.append(remark)
    if fitted.slopes_at_bound:
        remarks.append(f"Slope in length at its bound and held there: {listed(fitted.slopes_at_bound)}.")
    if fitted.status is Status.ITERATION_LIMIT:
        remarks.append("The fit did not converge within its number of iterations (solver.max_iterations).")
    if (
        len(fitted.comparisons.judges) == 1
        and fitted.model.judge_blocks
        and not fitted.comparisons.is_pooled.any()
    ):
        remarks.append(
            "With a single judge, its discrimination is one by definition: scores are on that judge's scale."
        )
    return remarks
