"""Claims about random parts of the data (section 5.3, appendices F.2 and F.7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from replication.auditing.claim import Decided, Estimates, Outcome, against, claim
from replication.auditing.results import Missing

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


def _curves(stored: Estimates, measure: str) -> tuple[dict[str, Cells], str]:
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
    curves, left_out = _curves(stored, "pearson")
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
    curves, left_out = _curves(stored, measure)
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
    curves, left_out = _curves(stored, "spearman")
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
    curves, left_out = _curves(stored, "pearson")
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
