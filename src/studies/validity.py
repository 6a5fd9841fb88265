"""Do the claims of a fit hold where they are hardest to keep? Levels, wrong directions, coverage and power."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import split
from judgerank.data.errors import NoIntervalError, NoMaximumError
from judgerank.engine.solvers import Settings
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import wald
from judgerank.model.members import Model, Parameters
from judgerank.order.claims import holm
from judgerank.order.pairs import Order, claims_of, orders, orders_by_errors
from studies.schemas.beyond import Design, Fitted

# Fit each connected component by itself, where there is no ranking of all models.


def fit_components(
    comparisons: Comparisons,
    model: str | Model = "judge_aware",
    solver: str | Settings = "newton",
    cluster: IntArray | None = None,
) -> tuple[Fit, ...]:
    """Fit every component by itself; `order.pairs.pairwise` and `rank_intervals` take the fits together.

    Scores are comparable within a component only, and so are discriminations: a judge has one in each.

    Parameters
    ----------
    comparisons : Comparisons
        Raw comparisons where there are clusters.
    model, solver
        As for `fit`.
    cluster : int array, shape (T,), optional
        Cluster of each comparison, for `Fit.clustered`.

    Raises
    ------
    JudgerankError
        As `fit` and `Fit.clustered` do, for any component.
    """
    fits = []
    for part, rows in split(comparisons):
        fitted = fit(part, model, solver)
        fits.append(fitted if cluster is None else fitted.clustered(part, cluster[rows]))
    return tuple(fits)


# Data sets are drawn on designs where models are all but equal, where judges see the same questions, where no
# chain of comparisons connects the models, where a judge never errs. Each is fitted once; its pairs and ranks are
# judged by the two tests of `judgerank.order.pairs` and, for comparison, by the fit's Wald test alone.
TESTS = ("wald", "both")


@dataclass(frozen=True)
class Cell:
    """A design, and the fit whose claims are checked on it."""

    name: str
    design: Design
    method: str
    fitted: Fitted
    level: float


@dataclass(frozen=True)
class OnSet:
    """A set, and the fit that is made of it."""

    name: str
    fitted: Fitted
    level: float


@dataclass(frozen=True)
class TestsKept:
    """By one test: is a pair of equals separated, or any the wrong way round; are all ranks held; the power."""

    false: float
    wrong: float
    ranks: float
    power: float


@dataclass(frozen=True)
class Covered:
    """Shares of intervals that hold: of differences of scores, across islands, of discriminations, the far one."""

    scores: float
    across: float | None = None
    discrimination: float | None = None
    far: float | None = None


@dataclass(frozen=True)
class Measured:
    """How the fit of one data set ended; of a fit with intervals, what they and both tests keep."""

    status: str
    tests: dict[str, TestsKept] = field(default_factory=dict)
    coverage: Covered | None = None


@dataclass(frozen=True)
class Half:
    """How the fit of half a set ended, and whether every score has an interval."""

    status: str
    intervals: float


@dataclass(frozen=True)
class Separated:
    """Pairs of a set, and how many are separated, by kind of error and test."""

    status: str
    pairs: int
    separated: dict[str, dict[str, int]]


def drawn(design: Design, rng: np.random.Generator) -> tuple[Comparisons, np.ndarray, Parameters]:
    """Raw comparisons, the question behind each, and the scores and log-discriminations they were drawn from.

    In question q model i performs as s_i + e_iq for all judges. With ``islands`` models are compared within two
    halves only; a ``far`` judge's discrimination is that many times the others' typical one.
    """
    n, k, size = design.n_models, design.n_judges, design.n_comparisons
    s = rng.normal(0.0, 1.0, n) * design.sigma_scores
    s[: design.equal] = 0.0
    alpha = rng.normal(0.0, design.sigma_discrimination, k)
    alpha[0] += np.log(design.far)
    truth = Parameters(s - s.mean(), (alpha - alpha.mean())[None])
    group = n // 2 if design.islands else n
    start = rng.integers(n // group, size=size) * group
    i = rng.integers(group, size=size)
    j = (i + rng.integers(1, group, size=size)) % group + start
    i, judge = i + start, rng.integers(k, size=size)
    question = rng.integers(design.questions or size, size=size)
    effect = rng.normal(0.0, 1.0, (question.max() + 1, n)) * design.question_sd
    gamma, position = np.exp(truth.judges[0])[judge], design.position * np.linspace(-1, 1, k)[judge]
    eta = gamma * (s[i] + effect[question, i] - s[j] - effect[question, j]) + position
    outcome = (rng.random(size) < expit(eta)).astype(float)
    outcome[rng.random(size) < design.ties] = 0.5
    names = tuple(f"m{x:02d}" for x in range(n)), tuple(f"j{x:02d}" for x in range(k))
    return Comparisons(*names, i, j, judge, outcome), question, truth


def measured(cell: Cell, rng: np.random.Generator) -> Measured:
    """One data set: errors of both kinds of test, what the ranks and intervals hold, and the power."""
    data, question, truth = drawn(cell.design, rng)
    try:
        fits = _fits(cell, data, question if cell.design.clustered else None)
        fit_orders = [order for part in fits for order in orders(part)]
    except (NoMaximumError, NoIntervalError) as error:
        return Measured(type(error).__name__)
    tests = {name: tests_kept(tested, truth, cell.level) for name, tested in by_test(fit_orders).items()}
    return Measured(str(fits[0].status), tests, _covered(fits[0], truth, cell) if len(fits) == 1 else None)


def _fits(cell: Cell, data: Comparisons, cluster) -> tuple[Fit, ...]:
    member, solver = cell.fitted.member, cell.fitted.solver
    if cell.design.islands and solver != "penalised":
        return fit_components(data, member, solver, cluster=cluster)
    fitted = fit(data, member, solver)
    return (fitted if cluster is None else fitted.clustered(data, cluster),)


def by_test(fit_orders: list[Order]) -> dict[str, list[Order]]:
    """The orders by the Wald tests of the fit alone, and by both."""
    alone = [
        replace(order, difference=order.difference[[0, 0]], error=order.error[[0, 0]], head_to_head=None)
        for order in fit_orders
    ]
    return dict(zip(TESTS, (alone, fit_orders), strict=True))


def tests_kept(fit_orders: list[Order], truth: Parameters, level: float) -> TestsKept:
    """What the claims on all pairs keep; equal models may be ranked either way.

    Ranks hold where no claim is false, since they are views of the claims.
    """
    false, wrong, power = [], [], []
    for claims in claims_of(fit_orders, level):
        s = truth.scores[[int(name[1:]) for name in claims.models]]
        i, j = np.triu_indices(len(s), 1)
        better, difference = claims.better[i, j], s[i] - s[j]
        false.append(better & (difference == 0))
        wrong.append(better & (difference < 0))
        power.append(claims.is_separated[i, j][difference != 0])
    false, wrong, power = (np.concatenate(values) for values in (false, wrong, power))
    return TestsKept(
        false=float(false.any()),
        wrong=float(wrong.any()),
        ranks=float(not (false | wrong).any()),
        power=float(power.mean()) if len(power) else np.nan,
    )


def _covered(fitted: Fit, truth: Parameters, cell: Cell) -> Covered | None:
    """Shares of intervals that hold.

    The truth's discriminations have the geometric mean one over all judges, so judges must all be in play. Where
    models do better or worse by question fits converge to flatter scores than the truth's, and nothing is said.
    """
    design = cell.design
    if fitted.judges_at_zero or design.question_sd:
        return None
    rows = fitted.confidence_intervals(cell.level)
    gamma = rows[rows["parameter"] == "discrimination"].set_index("name")
    n, s = len(truth.scores), fitted.scores.to_numpy()
    v = fitted.covariance[:n, :n]
    i, j = np.triu_indices(n, 1)
    error = np.sqrt(np.diag(v)[i] + np.diag(v)[j] - 2 * v[i, j])
    off = np.abs(s[i] - s[j] - truth.scores[i] + truth.scores[j])
    low, high = wald(off, error, cell.level, fitted.degrees_of_pairs[i, j])
    held = (low <= 0) & (high >= 0)
    across = design.islands & ((i < n // 2) != (j < n // 2))
    shares = Covered(float(held[~across].mean()), float(held[across].mean()) if across.any() else None)
    if gamma.empty or not design.sigma_scores:
        return shares
    true, has_interval = np.exp(truth.judges[0]), gamma["low"].notna().to_numpy()
    inside = ((gamma["low"] <= true) & (true <= gamma["high"])).to_numpy()[has_interval]
    shares = replace(shares, discrimination=float(inside.mean()))
    return replace(shares, far=float(inside[0])) if design.far != 1 and has_interval[0] else shares


def half(cell: OnSet, rng: np.random.Generator, sets: dict) -> Half:
    """A random half of a set's comparisons: whether every score has an interval."""
    comparisons = sets[cell.name][0]
    part = comparisons.take(np.sort(rng.choice(len(comparisons), len(comparisons) // 2, replace=False)))
    try:
        fitted = fit(part, cell.fitted.member, cell.fitted.solver)
        rows = fitted.confidence_intervals().query("parameter == 'score'")
    except (NoMaximumError, NoIntervalError) as error:
        return Half(type(error).__name__, 0.0)
    finite = bool(np.isfinite(rows[["low", "high"]].to_numpy()).all())
    return Half(str(fitted.status), float(finite))


def separated(cell: OnSet, rng: np.random.Generator, sets: dict) -> Separated:
    """Pairs of a set that Holm's procedure separates, by the Wald tests alone and by both, by kind of error."""
    comparisons, question = sets[cell.name]
    fitted = fit(comparisons, cell.fitted.member, cell.fitted.solver)
    kinds = {"plug_in": fitted, "clustered": fitted.clustered(comparisons, question)}
    counts: dict[str, dict[str, int]] = {kind: {} for kind in kinds}
    for kind, orders_of_kind in zip(kinds, orders_by_errors(*kinds.values()), strict=True):
        for name, tested_orders in by_test(orders_of_kind).items():
            p = np.concatenate([order.p_value[np.triu_indices(len(order.models), 1)] for order in tested_orders])
            counts[kind][name] = int((holm(p) <= 1 - cell.level).sum())
    return Separated(str(fitted.status), len(p), counts)
