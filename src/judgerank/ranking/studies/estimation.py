"""How the ranking was estimated: by which member, how its fit ended, the exact fit beside it, goodness of fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import JudgerankError, NoIntervalError
from judgerank.data.listing import listed, p_of
from judgerank.data.tied_choices import all_ties
from judgerank.engine.solution import Status
from judgerank.fits.result import Fit
from judgerank.inference.uncertainty import MOST_PARAMETERS
from judgerank.model.block import Need
from judgerank.order.head_to_head import shortest_cycle
from judgerank.order.scale import reported_covariance, scale_of, standardised
from judgerank.ranking.choices import EXACT, SHRUNK
from judgerank.ranking.study import Component, Finding, Ranked, clusters, is_usable
from judgerank.trust.fitness import fitness_if_quick
from judgerank.trust.sentences import FRAGILITY, on_fragility

# Which member of the family ranks, where none was named.


def default(ranked: Ranked) -> Finding:
    """A remark that says why it is that one."""
    return Finding([ranked.reason] if ranked.reason else [])


# Where the ranking is not by the fit that was asked for.


def departures(component: Component) -> Finding:
    """Remarks on blocks that are left out, and on a member that question effects replace."""
    return Finding(component.departures)


# How the fit ended, where that is not an interior maximum.


def convergence(component: Component) -> Finding:
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
    if fitted._has_many_parameters:
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


# The fit without shrinkage beside the ranking, and which of the two to trust where they part.


WHICH_FIT = "Which fit: "  # how the remark begins that says which one to trust
HARMLESS = "This ranking is not affected, so there is nothing to do."  # how such a remark ends
FAR = 3.0  # times the median discrimination, beyond which shrinkage may take too much of a judge's
ADVICE = f"leave --solver {EXACT} out, or name --solver {SHRUNK}"


def exact_fit(component: Component) -> Finding:
    """The table ``exact``, and remarks on how the exact fit ended and on which fit to trust."""
    if component.settings.solver == EXACT:
        return Finding(on_exact(component.member))
    exact = component.exact
    if exact is None:
        return Finding()
    if isinstance(exact, JudgerankError):
        return Finding([f"{WHICH_FIT}There is no exact fit ({exact}). The scores shown rest on shrinkage there."])
    table = fit_comparison(component.reported, exact)
    return Finding([*on_shrinkage(table), *on_trust(component.reported, exact)], {"exact": table})


def fit_comparison(reported: Fit, exact: Fit) -> pd.DataFrame:
    """``model, rank, rank_exact, score, score_exact``, best first; scores are reported ones."""
    columns = {
        "rank": reported.ranks,
        "rank_exact": exact.ranks,
        "score": pd.Series(scale_of(reported).scores, reported.scores.index),
        "score_exact": pd.Series(scale_of(exact).scores, exact.scores.index),
    }
    return pd.DataFrame(columns).sort_values("rank").rename_axis("model").reset_index()


def on_shrinkage(table: pd.DataFrame) -> list[str]:
    """How the exact fit ranks the models."""
    n_changed = int((table["rank"] != table["rank_exact"]).sum())
    first = str(table.sort_values("rank_exact")["model"].iloc[0])
    if not n_changed:
        result = "gives the same order"
    else:
        leader = "the same model" if first == table["model"].iloc[0] else first
        models = "one model" if n_changed == 1 else f"{n_changed} models"
        result = f"ranks {leader} first and gives {models} another rank (table exact)"
    return [f"Scores and judges are shrunk toward the panel. The exact fit (--solver {EXACT}) {result}."]


def on_trust(reported: Fit, exact: Fit) -> list[str]:
    """Which fit to trust where a judge runs off or stands at zero in the exact one, and how far."""
    trouble = _trouble(exact)
    if not trouble:
        return []
    remark = f"{WHICH_FIT}Keep the default fit. In the exact fit (--solver {EXACT}) {trouble}."
    sharpness = reported.discrimination
    far = [judge for judge in exact.unbounded_judges if sharpness[judge] > FAR * sharpness.median()]
    if far:
        remark += (
            f" Shrinkage cannot tell how much more {listed(far)} discriminates than the other judges, so the "
            "intervals of scores may be too short. The order and the tests hold."
        )
    mostly_zero = mostly_at_zero(exact)
    if not far and not mostly_zero:
        remark += f" {HARMLESS}"
    if mostly_zero:
        remark += (
            " They are half of the panel or more: if the others answer against quality, this ranking is the "
            "reverse of the true one. Compare it with --model btl, which counts all judges equally."
        )
    return [remark]


def mostly_at_zero(exact: Fit) -> bool:
    """Whether half of the judges or more stand at zero; one label that stands for several counts as most."""
    cells = exact.comparisons
    zero = ~exact.solution.parameters.in_play
    return bool(2 * zero.sum() >= len(zero) and (not cells.is_pooled.any() or zero[cells.is_pooled].all()))


def on_exact(exact: Fit) -> list[str]:
    """Which fit to trust where the exact fit is the reported one."""
    trouble = _trouble(exact)
    return [f"{WHICH_FIT}Trust the shrunk fit instead ({ADVICE}): here {trouble}."] if trouble else []


def _trouble(exact: Fit) -> str:
    """Which judges run off or stand at zero, in words."""
    off, zero = exact.unbounded_judges, exact.judges_at_zero
    parts = []
    if off:
        parts.append(f"a parameter of {listed(off)} grows without limit")
    if zero:
        parts.append(f"the answers of {listed(zero)} have no weight")
    return " and ".join(parts)


# Question effects: how much answers of one model differ, and what that changes in the ranking.


def sigma(component: Component) -> Finding:
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


# Goodness of fit: whether one order describes the panel, and which pairs, judges and questions depart from it.


FIT, CYCLE = "Fit: ", "Cycle: "  # how the remarks begin


def goodness_of_fit(component: Component) -> Finding:
    """The table ``fitness`` and remarks, of a fit of moderate size that has intervals.

    A judge stands out only where the panel's test for tastes rejects, too, by which errors go.

    The fit is the one that the ranking reports, or its member where that has question effects.
    """
    fitted = component.independent if component.independent.effects is None else component.member
    rows = component.judgments.comparisons if fitted.raw is None else fitted.raw
    by_question = clusters(component.judgments, component.settings)
    question = fitted._require_question() if by_question else None
    names = component.judgments.question_ids if by_question else ()
    tests = fitness_if_quick(fitted, rows, question, component.settings.level, names, component.tastes)
    if tests is None:
        return Finding()
    remarks = [FIT + " ".join(tests.sentences()), *on_cycle(shortest_cycle(component.reported, tests.level))]
    return Finding(remarks, {"fitness": tests.table})


def on_cycle(models: Sequence[str]) -> list[str]:
    """A remark on models that beat each other in a circle."""
    if not models:
        return []
    wins = listed(f"{a} beats {b}" for a, b in zip(models, (*models[1:], models[0]), strict=True))
    return [
        f"{CYCLE}{wins}, each significantly in direct comparisons (all pairs tested together). No single ranking "
        "can order these models, and more comparisons do not change that: choose between them pair by pair (Head "
        "to head on the page)."
    ]


# Fragility: how few judgments decide which model is first.


def top_change(component: Component) -> Finding:
    """A remark on the smallest set found, for the member alone, which it says where that does not rank."""
    if all_ties(component.judgments.comparisons):
        return Finding()
    reported, remarks = component.reported, on_fragility(component.member, component.comparisons)
    if reported.blocks or reported.effects is not None:
        what = "further blocks" if reported.blocks else "question effects"
        remarks = [f"Fragility without {what}: {remark.removeprefix(FRAGILITY)}" for remark in remarks]
    return Finding(remarks)
