"""Claims about the simulation study (section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from replication import published
from replication.auditing.claim import Decided, Estimates, Outcome, against, claim
from replication.auditing.results import Missing

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


# Claims about random parts of the data (section 5.3, appendices F.2 and F.7).


IN_HOUSE, GAINS = "subsampling_efficiency/in_house/correlation.csv", "subsampling_efficiency/{}/gains.csv"
PAPER_K = (4, 8, 12, 16)
NEAR_PERFECT = 0.95
FITS = ("judge_aware", "btl")


@dataclass(frozen=True)
class Cells:
    """Means or differences of means with their standard errors, both float arrays or frames of one shape.

    Only those are counted whose error is known: a mean of one draw has none.
    """

    estimates: pd.DataFrame | pd.Series | np.ndarray
    errors: pd.DataFrame | pd.Series | np.ndarray

    def _countable(self) -> tuple[np.ndarray, np.ndarray]:
        values, errors = (np.asarray(part, float) for part in (self.estimates, self.errors))
        is_countable = np.isfinite(values) & np.isfinite(errors)
        return values[is_countable], errors[is_countable]

    @property
    def count(self) -> int:
        """How many there are with a known error."""
        return len(self._countable()[0])

    @property
    def negative(self) -> int:
        """How many are below zero."""
        return int((self._countable()[0] < 0).sum())

    @property
    def clearly_negative(self) -> int:
        """How many are below zero by more than two errors."""
        values, errors = self._countable()
        return int((values < -2 * errors).sum())

    @property
    def clearly_positive(self) -> int:
        """How many are above zero by more than two errors."""
        return Cells(-np.asarray(self.estimates), self.errors).clearly_negative

    def mean(self) -> Cells:
        """The mean of those that exist, as independent; its error is not known unless all of theirs are."""
        values, errors = (np.asarray(part, float) for part in (self.estimates, self.errors))
        exists = np.isfinite(values)
        error = np.sqrt((errors[exists] ** 2).sum()) / exists.sum()
        return Cells(values[exists].mean(keepdims=True), np.array([error]))

    def in_words(self) -> str:
        """The first with its error."""
        value, error = (float(np.asarray(part).ravel()[0]) for part in (self.estimates, self.errors))
        return f"{value:+.3f} (error {'not known' if np.isnan(error) else f'{error:.3f}'})"


def gain_rows(stored: Estimates, name: str) -> pd.DataFrame:
    """Gains of judge-aware over BTL on a set's draws at the paper's numbers of judges, one row for each point.

    Each fit is held against its own full-data fit (Pearson). The errors are of the differences on the same draws.
    """
    table = stored.table(GAINS.format(name))
    is_own = (table["reference"] == "own") & (table["measure"] == "pearson")
    return table[is_own & table["n_judges"].isin(PAPER_K)]


def by_point(rows: pd.DataFrame, value: str) -> Cells:
    """A column of the rows with its error, by judges (rows) and comparisons."""
    cells = rows.pivot(index="n_judges", columns="n_comparisons", values=[value, "standard_error"])
    return Cells(cells[value], cells["standard_error"])


def draws_left_out(rows: pd.DataFrame) -> str:
    """How many draws the means in rows leave out since they have no estimate, in words; nothing if none."""
    left_out = int((rows["n_draws"] - rows["n_repeats"]).sum())
    return f" The means leave out {left_out:,} of {int(rows['n_draws'].sum()):,} draws." if left_out else ""


def _curves_by_panel(stored: Estimates, measure: str) -> tuple[dict[str, Cells], str]:
    """Mean correlations in-house of both fits, each with its own full-data fit, and which draws they leave out."""
    table = stored.table(IN_HOUSE)
    table = table[(table["measure"] == measure) & table["n_judges"].isin(PAPER_K)]
    rows = {fit: table[(table[["method", "reference"]] == fit).all(axis=1)] for fit in FITS}
    if any(curve.empty for curve in rows.values()):
        raise Missing(f"{IN_HOUSE} has no {measure} of both fits")
    # both fits of a draw are left out together
    return {fit: by_point(curve, "mean") for fit, curve in rows.items()}, draws_left_out(rows["btl"])


@claim
def weighted_ahead(stored: Estimates) -> Decided:
    rows = gain_rows(stored, "in_house")
    gain = by_point(rows, "judge_aware_minus_btl")
    evidence = (
        f"Behind at {gain.negative} of {gain.count} points, by more than two errors at {gain.clearly_negative}."
    )
    return against(gain.clearly_negative, gain.count), evidence + draws_left_out(rows)


@claim
def gain_at_small_t(stored: Estimates) -> Decided:
    rows = gain_rows(stored, "in_house")
    gain = by_point(rows, "judge_aware_minus_btl")
    first, last = gain.estimates.columns[[0, -1]]
    change = Cells(gain.estimates[last] - gain.estimates[first], np.hypot(gain.errors[first], gain.errors[last]))
    by_k = ", ".join(f"K = {k} {row[first]:.3f} and {row[last]:.3f}" for k, row in gain.estimates.iterrows())
    evidence = (
        f"Gain at T = {first:,} and {last:,}: {by_k}; by more than two errors it grows at "
        f"{change.clearly_positive} and falls at {change.clearly_negative} of {change.count} K."
    )
    outcome = against(change.clearly_positive, change.count, change.clearly_negative)
    return outcome, evidence + draws_left_out(rows)


@claim
def fewer_comparisons(stored: Estimates) -> Decided:
    curves, left_out = _curves_by_panel(stored, "pearson")
    aware, btl = (curves[fit].estimates for fit in FITS)
    by_k, contrary = [], 0
    for k in aware.index:
        a, b = aware.loc[k].dropna(), btl.loc[k].dropna()
        level = min(a.max(), b.max())
        needed = [float(np.interp(level, np.maximum.accumulate(x), np.log(x.index))) for x in (a, b)]
        contrary += needed[0] > needed[1]
        by_k.append(f"K = {k} {np.exp(needed[0]):,.0f} against {np.exp(needed[1]):,.0f} for {level:.3f}")
    evidence = (
        f"Comparisons needed, weighted against unweighted, interpolated: {'; '.join(by_k)}. No errors stored."
    )
    return against(contrary, len(aware)), evidence + left_out


def _steps(means: pd.DataFrame, errors: pd.DataFrame) -> Cells:
    """Differences between neighbours along rows, which have no draws in common."""
    above, below = errors.to_numpy()[:, 1:], errors.to_numpy()[:, :-1]
    return Cells(np.diff(means.to_numpy(), axis=1), np.hypot(above, below))


def _monotone(stored: Estimates, measure: str, over: str, only_largest: bool = False) -> Decided:
    curves, left_out = _curves_by_panel(stored, measure)
    parts, contrary, rising, of = [], 0, 0, 0
    for fit, curve in curves.items():
        cells = (curve.estimates.T, curve.errors.T) if over == "K" else (curve.estimates, curve.errors)
        step = _steps(*(part.iloc[-1:] if only_largest else part for part in cells))
        parts.append(
            f"{fit} falls in {step.negative} of {step.count} steps in {over}, by more than two errors in "
            f"{step.clearly_negative}, and rises by as much in {step.clearly_positive}"
        )
        contrary, rising = contrary + step.clearly_negative, rising + step.clearly_positive
        of += step.count
    return against(contrary, of, rising), f"{'; '.join(parts)}.{left_out}"


@claim
def rises_with_t(stored: Estimates) -> Decided:
    return _monotone(stored, "pearson", "T")


@claim
def rises_with_k(stored: Estimates) -> Decided:
    return _monotone(stored, "pearson", "K")


@claim
def many_judges_large_t(stored: Estimates) -> Decided:
    return _monotone(stored, "spearman", "K", only_largest=True)


@claim
def many_judges_small_t(stored: Estimates) -> Decided:
    """Up to the largest K at which several draws have an estimate: one alone has no error."""
    curves, left_out = _curves_by_panel(stored, "spearman")
    parts, lower, higher = [], 0, 0
    has_error = np.all([curve.errors.iloc[:, 0].notna() for curve in curves.values()], axis=0)
    if has_error.sum() < 2:
        raise Missing("fewer than two numbers of judges have several draws with an estimate")
    for fit, curve in curves.items():
        means, errors = curve.estimates.iloc[has_error, 0], curve.errors.iloc[has_error, 0]
        change = Cells(means.iloc[[-1]] - means.iloc[0], np.hypot(errors.iloc[[-1]], errors.iloc[0]))
        lower, higher = lower + change.clearly_negative, higher + change.clearly_positive
        parts.append(f"{fit} {means.iloc[0]:.3f} to {means.iloc[-1]:.3f}, change {change.in_words()}")
    outcome = (Outcome.FAILS if higher else Outcome.UNDECIDED, Outcome.PARTLY, Outcome.HOLDS)[lower]
    evidence = (
        f"From K = {means.index[0]} to {means.index[-1]} at the smallest T: {'; '.join(parts)}; by more than two "
        f"errors lower in {lower} and higher in {higher} of 2 fits."
    )
    return outcome, evidence + left_out


@claim
def gap_closes_with_k(stored: Estimates) -> Decided:
    rows = gain_rows(stored, "in_house")
    gain = by_point(rows, "judge_aware_minus_btl")
    sizes = gain.estimates.abs()
    change = Cells(sizes.iloc[-1] - sizes.iloc[0], np.hypot(gain.errors.iloc[-1], gain.errors.iloc[0]))
    wider, closer = change.clearly_positive, change.clearly_negative
    evidence = (
        f"From K = {sizes.index[0]} to {sizes.index[-1]} the gap is smaller at {change.negative} of "
        f"{change.count} T, by more than two errors at {closer}, and larger by as much at {wider}."
    )
    return against(wider, change.count, closer), evidence + draws_left_out(rows)


@claim
def near_one(stored: Estimates) -> Decided:
    curves, left_out = _curves_by_panel(stored, "pearson")
    values = pd.concat({fit: curve.estimates.iloc[:, -1] for fit, curve in curves.items()})
    far = int((values < NEAR_PERFECT).sum())
    evidence = (
        f"At the largest T stored the means run from {values.min():.3f} to {values.max():.3f}. Called near "
        f"perfect from {NEAR_PERFECT} on; {far} of {len(values)} are below."
    )
    return against(far, len(values)), evidence + left_out


def _sparse(stored: Estimates) -> pd.DataFrame:
    """The design that Table A.9 comes from, by measure, from the spanning tree to the densest graph."""
    rows = stored.table("sparsity/in_house/found.csv")
    return rows.sort_values("trees").set_index("measure")


@claim
def tree_lowest(stored: Estimates) -> Decided:
    rows, parts, contrary = _sparse(stored), [], 0
    measures = rows.index.unique()
    for measure in measures:
        means = rows.loc[[measure], "mean"].to_numpy()
        contrary += int(means.argmin() != 0)
        parts.append(f"{measure} {means[0]:.2f}, next {means[1]:.2f}")
    return against(contrary, len(measures)), f"Mean correlation on the tree: {'; '.join(parts)}."


@claim
def sparse_above(stored: Estimates) -> Decided:
    rows = _sparse(stored)
    denser = rows[rows["trees"] > 1]
    under = int((denser["mean"] <= 0.8).sum())
    reaching = int((denser["low"] <= 0.8).sum())
    evidence = (
        f"Denser graphs whose mean is not above .8 (both correlations): {under} of {len(denser)}; the lowest is "
        f"{denser['mean'].min():.2f}. One graph in forty may be as low as .8 at {reaching} of them."
    )
    return against(under, len(denser)), evidence
