"""Claims about the simulation study (section 4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from replication import published
from replication.auditing.claim import Decided, Estimates, Outcome, against, claim

CURVE = ["n_models", "n_judges", "parameter"]
CELL = ["n_models", "n_judges", "draw"]
NEAR = 0.02  # coverage this far from nominal is still called close
STRAIGHT = 0.95  # R squared from which five points are called roughly a straight line


def _curves(stored: Estimates) -> Iterator[tuple[tuple, pd.DataFrame]]:
    table = stored.table("convergence_mse/mse.csv").sort_values("n_comparisons")
    yield from table.groupby([*CURVE, "draw"] if "draw" in table else CURVE)


@claim
def mse_falls(stored: Estimates) -> Decided:
    steps = rises = falls = 0
    for _, curve in _curves(stored):
        step, error = np.diff(curve["mean"]), curve["standard_error"].to_numpy()
        clear = 2 * np.hypot(error[1:], error[:-1])
        rises, falls, steps = (
            rises + int((step > clear).sum()),
            falls + int((step < -clear).sum()),
            steps + len(step),
        )
    evidence = f"Of {steps} steps in T, by more than two errors {rises} rise and {falls} fall."
    return against(rises, steps, falls), evidence


@claim
def mse_power_law(stored: Estimates) -> Decided:
    squares = []
    for _, curve in _curves(stored):
        x, y = np.log(curve["n_comparisons"].to_numpy()[-5:]), np.log(curve["mean"].to_numpy()[-5:])
        squares.append(np.corrcoef(x, y)[0, 1] ** 2)
    bent = sum(square < STRAIGHT for square in squares)
    evidence = (
        f"R squared of the lines runs from {min(squares):.4f} to {max(squares):.4f}; under {STRAIGHT} in {bent}"
    )
    return against(bent, len(squares)), f"{evidence} of {len(squares)} curves."


@claim
def slopes_near_one(stored: Estimates) -> Decided:
    slopes = stored.table("convergence_mse/slopes_draws.csv")
    printed = np.concatenate([published.numbers("slopes", c) for c in ("score", "log_discrimination")])
    largest_printed = float(np.abs(printed + 1).max())
    far = np.abs(slopes["slope"] + 1) - 2 * slopes["slope_se"] > largest_printed
    first = far[slopes["draw"] == 0]
    evidence = (
        f"Called close: within {largest_printed:.3f}, the largest distance printed. Further off by more than two "
        f"errors: {int(first.sum())} of {len(first)} slopes under the truth shown, {int(far.sum())} of {len(far)} "
        f"over {slopes['draw'].nunique()} draws of it; ours run from {slopes['slope'].min():.2f} to "
        f"{slopes['slope'].max():.2f}."
    )
    return against(int(far.sum()), len(far)), evidence


def coverage_by_cell(stored: Estimates, method: str) -> pd.DataFrame:
    """Cells of one method under the truth shown (draw 0) and under the others, by setting, draw and T."""
    main_draw = stored.table("ci_coverage/coverage.csv").assign(draw=0)
    table = pd.concat([main_draw, stored.table("ci_coverage/coverage_draws.csv")], ignore_index=True)
    return table[table["method"] == method].set_index([*CELL, "n_comparisons"]).sort_index()


def by_draw(cells: pd.Series) -> str:
    """How many cells are true, under the truth shown and under the others, in words."""
    main = cells[cells.index.get_level_values("draw") == 0]
    rest = cells[cells.index.get_level_values("draw") != 0]
    return (
        f"{int(main.sum())} of {len(main)} cells under the truth shown, {int(rest.sum())} of {len(rest)} under "
        "others"
    )


@claim
def coverage_nominal(stored: Estimates) -> Decided:
    cells = coverage_by_cell(stored, "judge_aware")
    off = (cells["coverage"] - 0.95).abs()
    far, is_off = off - 2 * cells["coverage_se"] > NEAR, off > 2 * cells["coverage_se"]
    evidence = (
        f"Further than {NEAR} from .95 by more than two errors: {by_draw(far)}. Different from .95 by more than "
        f"two errors: {by_draw(is_off)}. Coverage runs from {cells['coverage'].min():.3f} to "
        f"{cells['coverage'].max():.3f}."
    )
    return against(int(far.sum()), len(far)), evidence


@claim
def btl_under_covers(stored: Estimates) -> Decided:
    cells = coverage_by_cell(stored, "btl")
    under = cells["coverage"] + 2 * cells["coverage_se"] < 0.95
    evidence = f"Under .95 by more than two errors: {by_draw(under)}; the lowest is {cells['coverage'].min():.3f}."
    return against(int((~under).sum()), len(under)), evidence


def change_with_t(cells: pd.DataFrame, column: str, errors: str = "") -> tuple[pd.Series, pd.Series]:
    """Change of a column from the smallest to the largest T by setting and draw, and its error if it has one."""
    ends = cells.groupby(level=CELL)
    change = ends[column].last() - ends[column].first()
    return change, np.hypot(ends[errors].last(), ends[errors].first()) if errors else 0 * change


@claim
def btl_worsens(stored: Estimates) -> Decided:
    change, error = change_with_t(coverage_by_cell(stored, "btl"), "coverage", "coverage_se")
    worse = change < -2 * error
    evidence = (
        f"From the smallest to the largest T it falls by more than two errors in {by_draw(worse)} "
        f"(a cell being a setting under a truth); the change runs from {change.min():.3f} to {change.max():.3f}."
    )
    return against(int((~worse).sum()), len(worse)), evidence


def _wider(stored: Estimates, column: str) -> Decided:
    aware, btl = (coverage_by_cell(stored, method)[column] for method in ("judge_aware", "btl"))
    wider = aware > btl
    by_setting = "; ".join(
        f"({n}, {k}) {int(cells.sum())} of {len(cells)}" for (n, k), cells in wider.groupby(level=CELL[:2])
    )
    evidence = f"Wider than the unweighted ones: {by_draw(wider)}; by setting, over all draws: {by_setting}."
    return against(int(wider.sum()), len(wider)), f"{evidence} Widths are means, stored without errors."


@claim
def shorter_intervals(stored: Estimates) -> Decided:
    return _wider(stored, "width")


@claim
def shorter_relative(stored: Estimates) -> Decided:
    return _wider(stored, "relative_width")


@claim
def ranks_follow_scores(_: Estimates) -> Decided:
    off = {}
    for fit in ("judge_aware", "btl"):
        score, rank = (published.numbers("complete_ranking", f"{name}_{fit}") for name in ("score", "rank"))
        # equal printed scores may stand in any order
        low, high = (score.rank(ascending=False, method=method) for method in ("min", "max"))
        off[fit] = int(((rank < low) | (rank > high)).sum())
    evidence = (
        f"Printed ranks that do not: {off['judge_aware']} weighted and {off['btl']} unweighted, of {len(rank)} "
        "each."
    )
    return Outcome.HOLDS if not any(off.values()) else Outcome.PARTLY, evidence
