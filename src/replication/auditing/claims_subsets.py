"""Claims about random parts of the data (section 5.3, appendices F.2 and F.7)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from replication.auditing.claim import Decided, Outcome, against, claim, real
from replication.auditing.finding import PUBLIC, TITLES
from replication.auditing.results import Missing, Results

IN_HOUSE = "subsampling_efficiency/in_house/correlation.csv"
PAPER_K = (4, 8, 12, 16)
NEAR_PERFECT = 0.95


def _own(results: Results, name: str, measure: str, method: str) -> pd.DataFrame:
    """Means and errors by judges (rows of the paper's budgets) and comparisons, against the fit's own full "
    "data."""
    table = real(results, name)
    rows = table[
        (table["method"] == method)
        & (table["reference"] == method)
        & (table["measure"] == measure)
        & table["n_judges"].isin(PAPER_K)
    ]
    if rows.empty:
        raise Missing(f"{name} has no {measure} of {method}")
    return rows.pivot(index="n_judges", columns="n_comparisons", values=["mean", "standard_error"])


def gap_to_unweighted(results: Results, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judge-aware less BTL, and its error as if the two were independent (they share their subsets: too large)."""
    aware, btl = (_own(results, name, "pearson", method) for method in ("judge_aware", "btl"))
    return aware["mean"] - btl["mean"], np.hypot(aware["standard_error"], btl["standard_error"])


def behind(results: Results, name: str) -> tuple[int, int, int]:
    """At how many points judge-aware is behind BTL, at how many by more than two errors, and of how many."""
    gap, error = gap_to_unweighted(results, name)
    known = int(gap.notna().to_numpy().sum())
    return int((gap < 0).to_numpy().sum()), int((gap < -2 * error).to_numpy().sum()), known


@claim
def weighted_ahead(results: Results) -> Decided:
    below, clearly, points = behind(results, IN_HOUSE)
    shown = f"Behind at {below} of {points} points, by more than two errors at {clearly}."
    return against(clearly, points), shown


@claim
def weighted_ahead_elsewhere(results: Results) -> Decided:
    told, contrary, of = [], 0, 0
    for name in PUBLIC:
        below, clearly, points = behind(results, IN_HOUSE.replace("in_house", name))
        told.append(f"{TITLES[name]} {below} of {points} points, by more than two errors {clearly}")
        contrary, of = contrary + clearly, of + points
    return against(contrary, of), f"Behind at: {'; '.join(told)}."


@claim
def gain_at_small_t(results: Results) -> Decided:
    gap, error = gap_to_unweighted(results, IN_HOUSE)
    first, last = gap.columns[[0, -1]]
    change, of = gap[last] - gap[first], np.hypot(error[first], error[last])
    grows, falls = int((change > 2 * of).sum()), int((change < -2 * of).sum())
    told = ", ".join(f"K = {k} {gap.at[k, first]:.3f} and {gap.at[k, last]:.3f}" for k in gap.index)
    shown = (
        f"Gain at T = {first:,} and {last:,}: {told}; by more than two errors it grows at {grows} and falls at "
        f"{falls} of {len(gap)} K."
    )
    return against(grows, len(gap), falls), shown


@claim
def fewer_comparisons(results: Results) -> Decided:
    aware, btl = (_own(results, IN_HOUSE, "pearson", method)["mean"] for method in ("judge_aware", "btl"))
    told, contrary = [], 0
    for k in aware.index:
        a, b = aware.loc[k].dropna(), btl.loc[k].dropna()
        level = min(a.max(), b.max())
        needed = [float(np.interp(level, np.maximum.accumulate(x), np.log(x.index))) for x in (a, b)]
        contrary += needed[0] > needed[1]
        told.append(f"K = {k} {np.exp(needed[0]):,.0f} against {np.exp(needed[1]):,.0f} for {level:.3f}")
    shown = f"Comparisons needed, weighted against unweighted, interpolated: {'; '.join(told)}. No errors stored."
    return against(contrary, len(aware)), shown


def _steps(means: pd.DataFrame, errors: pd.DataFrame) -> tuple[int, int, int, int]:
    """Falls, falls and rises by more than two errors, and steps, along rows."""
    step = np.diff(means.to_numpy(), axis=1)
    error = np.hypot(errors.to_numpy()[:, 1:], errors.to_numpy()[:, :-1])
    known = np.isfinite(step)
    falls, clear_falls, clear_rises = step < 0, step < -2 * error, step > 2 * error
    return int(falls.sum()), int(clear_falls.sum()), int(clear_rises.sum()), int(known.sum())


def _monotone(results: Results, measure: str, over: str, only: object = None) -> Decided:
    told, contrary, clear, of = [], 0, 0, 0
    for method in ("judge_aware", "btl"):
        cells = _own(results, IN_HOUSE, measure, method)
        means, errors = cells["mean"], cells["standard_error"]
        if over == "K":
            means, errors = means.T, errors.T
        if only == "largest":
            means, errors = means.iloc[-1:], errors.iloc[-1:]
        falls, clearly, rises, steps = _steps(means, errors)
        told.append(
            f"{method} falls in {falls} of {steps} steps in {over}, by more than two errors in {clearly}, and "
            f"rises by as much in {rises}"
        )
        contrary, clear, of = contrary + clearly, clear + rises, of + steps
    return against(contrary, of, clear), f"{'; '.join(told)}."


@claim
def rises_with_t(results: Results) -> Decided:
    return _monotone(results, "pearson", "T")


@claim
def rises_with_k(results: Results) -> Decided:
    return _monotone(results, "pearson", "K")


@claim
def many_judges_large_t(results: Results) -> Decided:
    return _monotone(results, "spearman", "K", "largest")


@claim
def many_judges_small_t(results: Results) -> Decided:
    """Up to the largest K at which several samples have an estimate: one alone has no error."""
    told, lower, higher = [], 0, 0
    by_method = {method: _own(results, IN_HOUSE, "spearman", method) for method in ("judge_aware", "btl")}
    known = np.all([cells["standard_error"].iloc[:, 0].notna() for cells in by_method.values()], axis=0)
    if known.sum() < 2:
        raise Missing("fewer than two numbers of judges have several samples with an estimate")
    for method, cells in by_method.items():
        means, errors = cells["mean"].iloc[known, 0], cells["standard_error"].iloc[known, 0]
        change, error = means.iloc[-1] - means.iloc[0], np.hypot(errors.iloc[-1], errors.iloc[0])
        lower, higher = lower + (change < -2 * error), higher + (change > 2 * error)
        told.append(f"{method} {means.iloc[0]:.3f} to {means.iloc[-1]:.3f} (error of the change {error:.3f})")
    ends = f"K = {means.index[0]} to {means.index[-1]} at the smallest T"
    outcome = (Outcome.FAILS if higher else Outcome.UNDECIDED, Outcome.PARTLY, Outcome.HOLDS)[lower]
    shown = f"From {ends}: {'; '.join(told)}; by more than two errors lower in {lower} and higher in {higher}"
    return outcome, f"{shown} of 2 fits."


@claim
def gap_closes_with_k(results: Results) -> Decided:
    gap, error = gap_to_unweighted(results, IN_HOUSE)
    change = gap.iloc[-1].abs() - gap.iloc[0].abs()
    of = np.hypot(error.iloc[-1], error.iloc[0])
    wider, closer = int((change > 2 * of).sum()), int((change < -2 * of).sum())
    shown = (
        f"From K = {gap.index[0]} to {gap.index[-1]} the gap is smaller at {int((change < 0).sum())} of "
        f"{len(change)} T, by more than two errors at {closer}, and larger by as much at {wider}."
    )
    return against(wider, len(change), closer), shown


@claim
def near_one(results: Results) -> Decided:
    lowest = {
        method: _own(results, IN_HOUSE, "pearson", method)["mean"].iloc[:, -1] for method in ("judge_aware", "btl")
    }
    values = pd.concat(lowest)
    far = int((values < NEAR_PERFECT).sum())
    shown = f"At the largest T stored the means run from {values.min():.3f} to {values.max():.3f}"
    return against(
        far, len(values)
    ), f"{shown}. Called near perfect from {NEAR_PERFECT} on; {far} of {len(values)} are below."


def _sparse(results: Results) -> pd.DataFrame:
    table = real(results, "sparsity/in_house/correlation.csv")
    rows = table[(table["method"] == "judge_aware") & (table["reference"] == "judge_aware")]
    return rows.sort_values("trees").set_index(["redraw", "measure"])


@claim
def tree_lowest(results: Results) -> Decided:
    rows, told, contrary = _sparse(results), [], 0
    keys = rows.index.unique()
    for key in keys:
        curve = rows.loc[[key]]
        contrary += int(curve["mean"].to_numpy().argmin() != 0)
        told.append(f"{key[0]} {key[1]} {curve['mean'].iloc[0]:.2f}, next {curve['mean'].iloc[1]:.2f}")
    return against(contrary, len(keys)), f"On the tree: {'; '.join(told)}."


@claim
def sparse_above(results: Results) -> Decided:
    rows = _sparse(results)
    denser = rows[rows["trees"] > 1]
    under = denser["q025"] <= 0.8
    told = (
        f"{redraw} {int(cells.sum())} of {len(cells)}"
        for redraw, cells in under.groupby(level="redraw", sort=False)
    )
    shown = f"Denser graphs whose central 95% of draws reaches down to .8 (both correlations): {'; '.join(told)}"
    return against(int((denser["mean"] <= 0.8).sum()), len(denser)), (
        f"{shown}. The lowest mean is {denser['mean'].min():.2f}."
    )
