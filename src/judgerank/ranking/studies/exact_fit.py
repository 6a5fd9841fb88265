"""The fit without shrinkage beside the ranking, and which of the two to trust where they part."""

from __future__ import annotations

import pandas as pd

from judgerank.data.errors import JudgerankError
from judgerank.data.listing import listed
from judgerank.fits.result import Fit
from judgerank.order.scale import scale_of
from judgerank.ranking.choices import EXACT, SHRUNK
from judgerank.ranking.study import Component, Finding

WHICH_FIT = "Which fit: "  # how the remark begins that says which one to trust
HARMLESS = "This ranking is not affected, so there is nothing to do."  # how such a remark ends
FAR = 3.0  # times the median discrimination, beyond which shrinkage may take too much of a judge's
ADVICE = f"leave --solver {EXACT} out, or name --solver {SHRUNK}"


def of_component(component: Component) -> Finding:
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
