"""The simulation study (section 4): its cells, and one replication of each of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd
from omegaconf import DictConfig
from scipy.special import expit

from judgerank.data.arrays import generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError, NoIntervalError, NoMaximumError
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton
from judgerank.engine.solution import Status
from judgerank.engine.solvers import Settings, maximise
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import wald
from judgerank.model.members import JUDGE_AWARE, Parameters
from replication.config import ROOT, simulation_settings, solver_settings
from replication.random_designs import draw_comparisons, draw_truth
from replication.replicate import Study, Task
from replication.tables import as_stored

# Records of the simulation study: what a replication depends on, and what it gives.


@dataclass(frozen=True)
class Truth:
    """What a ground truth is drawn by: equal ones are one truth, in whichever section."""

    n_models: int
    n_judges: int
    sigma_scores: float
    sigma_discrimination: float
    seed: int
    draw: int


@dataclass(frozen=True)
class Point:
    """A point of the grid under one draw of the truth."""

    setting: str
    truth: Truth
    n_comparisons: int

    @property
    def name(self) -> str:
        return f"{self.setting}-t{self.n_comparisons}-draw{self.truth.draw}"

    @property
    def key_columns(self) -> dict[str, int]:
        """The columns that name a grid point in a table."""
        sizes = {"n_models": self.truth.n_models, "n_judges": self.truth.n_judges}
        return {**sizes, "n_comparisons": self.n_comparisons}


@dataclass(frozen=True)
class Cell(Point):
    """What a replication of the study depends on.

    Attributes
    ----------
    estimator : Settings
        Of the judge-aware fit. By Newton's method only interior maxima count; the others always give an estimate.
    solver : Settings, optional
        Of the shrunk fit beside it.
    level : float, optional
        Of the intervals.
    beyond : bool
        Whether the point is past the paper's grid.
    """

    estimator: Settings
    solver: Settings | None = None
    level: float | None = None
    beyond: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Errors:
    """Mean squared errors of a fit: of the scores, and of the log-discriminations.

    Of the scores also with either side at mean zero and standard deviation one: the order and the gaps without the
    scale, which hangs on the geometric mean of the discriminations and so on the weakest judge.
    """

    score: float
    standardised_score: float
    log_discrimination: float


@dataclass(frozen=True)
class Intervals:
    """Of the scores of one fit: the share of intervals that hold, their mean width, and the scores' spread."""

    coverage: float
    width: float
    spread: float


@dataclass(frozen=True)
class Replication:
    """How the judge-aware fit of one data set ended, and what every method made of the data.

    Attributes
    ----------
    status : str
    interior : bool
        Whether there is an interior maximum.
    ambiguous : bool, optional
        Whether rounding could have chosen another maximum of the box.
    errors, intervals : dict
        By method.
    penalties : dict of str to float
        Standard deviations that the shrunk fit chose, by block.
    """

    status: str
    interior: bool
    ambiguous: bool | None = None
    errors: dict[str, Errors] = field(default_factory=dict)
    intervals: dict[str, Intervals] = field(default_factory=dict)
    penalties: dict[str, float] = field(default_factory=dict)


LAST = 5  # grid points that the paper fits its slopes to


@lru_cache(maxsize=64)
def truth_of(truth: Truth) -> Parameters:
    """A ground truth, the same in every section that asks for this draw."""
    rng = generator(truth.seed, "truth", truth.n_models, truth.n_judges, truth.draw)
    return draw_truth(rng, truth.n_models, truth.n_judges, truth.sigma_scores, truth.sigma_discrimination)


def truths_of(cfg: DictConfig) -> pd.DataFrame:
    """Every truth that a study draws, a value a row: ``n_models, n_judges, draw, parameter, number, value``."""
    rows = []
    for truth in dict.fromkeys(point.truth for point in grid(cfg, cfg.draws)):
        parameters, key = truth_of(truth), (truth.n_models, truth.n_judges, truth.draw)
        for parameter, values in (("score", parameters.scores), ("log_discrimination", parameters.judges[0])):
            rows += [(*key, parameter, number, value) for number, value in enumerate(values, 1)]
    return pd.DataFrame(rows, columns=["n_models", "n_judges", "draw", "parameter", "number", "value"])


def drawn(cell: Point, rng: np.random.Generator) -> tuple[Parameters, Comparisons]:
    """The truth of a cell, and one data set."""
    truth = truth_of(cell.truth)
    return truth, draw_comparisons(rng, truth, cell.n_comparisons)


def interior_maximum(cells: Comparisons, settings: Newton) -> tuple[Fit | None, str]:
    """The exact fit if it is an interior maximum, and how the fit ended."""
    try:
        exact = fit(cells, solver=settings)
    except NoMaximumError:
        return None, "no_maximum"
    return exact if exact.status is Status.INTERIOR else None, str(exact.status)


def fitted(estimator: Settings, cells: Comparisons) -> tuple[Fit | None, dict]:
    """The estimate, if there is one, and how it ended: the first fields of a `Replication`."""
    if isinstance(estimator, Newton):
        result, status = interior_maximum(cells, estimator)
        return result, {"status": status, "interior": result is not None}
    result = Fit(cells, JUDGE_AWARE, estimator, maximise(cells, JUDGE_AWARE, estimator))
    status = str(result.status)
    if isinstance(estimator, Localized):
        rival = result.solution.rival
        ambiguous = rival is not None and rival.ambiguous
        return result, {"status": status, "interior": result.status is Status.INTERIOR, "ambiguous": ambiguous}
    return result, {"status": status, "interior": interior_maximum(cells, Newton())[0] is not None}


def squared_error(cell: Cell, rng: np.random.Generator) -> Replication:
    """One replication of section 4.1: mean squared errors of the scores and of the log-discriminations."""
    truth, cells = drawn(cell, rng)
    result, ended = fitted(cell.estimator, cells)
    return Replication(**ended, errors={} if result is None else {"judge_aware": errors_of(result, truth)})


def errors_of(result: Fit, truth: Parameters) -> Errors:
    parameters = result.solution.parameters
    shapes = [(scores - scores.mean()) / scores.std() for scores in (parameters.scores, truth.scores)]
    return Errors(
        score=float(np.mean((parameters.scores - truth.scores) ** 2)),
        standardised_score=float(np.mean((shapes[0] - shapes[1]) ** 2)),
        log_discrimination=float(np.mean((parameters.judges - truth.judges) ** 2)),
    )


def intervals_of(result: Fit, target: np.ndarray, level: float) -> Intervals:
    """Intervals of a fit's scores held against a target, shape (n_models,)."""
    scores = result.solution.parameters.scores
    low, high = wald(scores, result.standard_errors[: len(scores)], level)
    held = (low <= target) & (target <= high)
    return Intervals(float(np.mean(held)), float(np.mean(high - low)), float(scores.std()))


def shrunk_error(cell: Cell, rng: np.random.Generator) -> Replication:
    """Squared errors of the configured estimator and of a penalised fit of the same data, and what it covers."""
    truth, cells = drawn(cell, rng)
    result, ended = fitted(cell.estimator, cells)
    shrunk = fit(cells, "judge_aware", cell.solver)
    results = {"judge_aware": result, "shrunk": shrunk}
    return Replication(
        **ended,
        errors={
            method: errors_of(fit_result, truth)
            for method, fit_result in results.items()
            if fit_result is not None
        },
        intervals={"shrunk": intervals_of(shrunk, truth.scores, cell.level)},
        penalties=dict(shrunk.solution.spread),
    )


@lru_cache(maxsize=64)
def btl_scale(truth: Truth) -> float:
    """Best constant c with c s_0 near the scores that BTL converges to under uniform triples.

    Those are its scores on the expected outcomes of every triple.
    """
    parameters = truth_of(truth)
    n, k = truth.n_models, truth.n_judges
    first, second = np.triu_indices(n, 1)
    i, j = np.repeat(first, k), np.repeat(second, k)
    judge = np.tile(np.arange(k), len(first))
    p = expit(np.exp(parameters.judges[0])[judge] * (parameters.scores[i] - parameters.scores[j]))
    names = tuple(map(str, range(n))), tuple(map(str, range(k)))
    limit = fit(Comparisons(*names, i, j, judge, p), "btl").solution.parameters.scores
    return float(limit @ parameters.scores / (parameters.scores @ parameters.scores))


def interval_coverage(cell: Cell, rng: np.random.Generator) -> Replication:
    """One replication of section 4.2: shares of scores covered, and mean widths, by both models.

    BTL's intervals are held against the truth, as in the paper, and against the truth on BTL's own scale.
    """
    truth, cells = drawn(cell, rng)
    result, ended = fitted(cell.estimator, cells)
    try:
        unweighted = fit(cells, "btl")
    except JudgerankError:  # no maximum: no intervals, as for the judge-aware estimator
        unweighted = None
    methods = {
        "judge_aware": (result, truth.scores),
        "btl": (unweighted, truth.scores),
        "btl_rescaled": (unweighted, btl_scale(cell.truth) * truth.scores),
    }
    intervals = {}
    for method, (fit_result, target) in methods.items():
        with suppress(NoIntervalError):  # fewer comparisons than parameters
            if fit_result is not None:
                intervals[method] = intervals_of(fit_result, target, cell.level)
    return Replication(**ended, intervals=intervals)


def grid(cfg: DictConfig, draws: int, beyond: bool = False) -> Iterator[Point]:
    """Every grid point that the config keeps under the main draw of the truth (0) and under the further ones.

    With `beyond`, the points past the paper's grid instead (none where `points` cuts the grid short).
    """
    for name, setting in simulation_settings(cfg).items():
        sizes = setting.n_comparisons[: cfg.points]
        if beyond:
            sizes = setting.beyond if cfg.points is None else []
        design = setting.n_models, setting.n_judges, setting.sigma_scores, setting.sigma_discrimination
        for size in sizes:
            for draw in range(draws + 1):
                yield Point(name, Truth(*design, cfg.seed, draw), size)


def study_of(cfg: DictConfig, section: str, task: Task) -> Study:
    """The configured study; points beyond the paper's grid are taken under the main draw only."""
    solver = solver_settings(cfg.solver, "judge_aware") if "solver" in cfg else None
    common = {
        "estimator": solver_settings(cfg.estimator, "judge_aware"),
        "solver": solver,
        "level": cfg.get("level"),
    }
    cells = [Cell(**vars(point), **common) for point in grid(cfg, cfg.draws)]
    cells += [Cell(**vars(point), **common, beyond=True) for point in grid(cfg, 0, beyond=True)]
    replications = {cell.name: cfg.draw_replications if cell.truth.draw else cfg.replications for cell in cells}
    named = {cell.name: cell for cell in cells}
    return Study(section, task, named, replications, cfg.seed, Path(ROOT, cfg.cache), cfg.block)


def replications_of(study: Study) -> pd.DataFrame:
    """Every replication of every grid point, its numbers as they are stored.

    Returns
    -------
    DataFrame
        ``n_models, n_judges, n_comparisons, draw, replication, estimator, status``, then whatever the replications
        record, such as ``errors_judge_aware_score``, and ``failure``, the reason why one has no result.
    """
    frames = []
    for cell in study.cells.values():
        key_columns = {
            **cell.key_columns,
            "draw": cell.truth.draw,
            "estimator": type(cell.estimator).__name__.lower(),
        }
        frames.append(study.frame(cell.name).assign(**key_columns))
    frame = pd.concat(frames, ignore_index=True).rename(columns=lambda name: name.replace("/", "_"))
    frame["failure"] = frame["failure"].astype("string")  # most often there are none
    first = [*cell.key_columns, "draw", "replication", "estimator", "status"]
    return as_stored(frame[[*first, *(name for name in frame if name not in (*first, "failure")), "failure"]])


def by_draws(study: Study) -> Iterator[tuple[dict, list[pd.DataFrame]]]:
    """Columns that name a point of the paper's grid, main draw and further draws apart, and records by draw."""
    on_grid = [cell for cell in study.cells.values() if not cell.beyond]
    for key_columns, cells in groupby(on_grid, lambda cell: cell.key_columns):
        frames = [study.frame(cell.name) for cell in cells]
        yield {**key_columns, "draws": "main"}, frames[:1]
        if frames[1:]:
            yield {**key_columns, "draws": "further"}, frames[1:]


def is_interior(records: pd.DataFrame) -> pd.Series:
    """Which replications have an interior maximum; of those that failed, none."""
    return records.reindex(columns=["interior"])["interior"].eq(True)


def failures_of(study: Study) -> pd.DataFrame:
    """Every failed replication with its reason: ``cell, replication, failure``."""
    rows = [
        {"cell": cell, "replication": record["replication"], "failure": record["failure"]}
        for cell in study.cells
        for record in study.records(cell)
        if "failure" in record
    ]
    return pd.DataFrame(rows, columns=["cell", "replication", "failure"])


def endings_of(study: Study) -> pd.DataFrame:
    """How the fits of every grid point ended, as shares, main draw and further draws apart."""
    rows = []
    for key_columns, frames in by_draws(study):
        records = pd.concat(frames)
        shares = records["status"].value_counts(normalize=True).to_dict()
        if "ambiguous" in records:  # rounding could have chosen another maximum
            shares["ambiguous"] = float(records["ambiguous"].eq(True).mean())
        rows.append({**key_columns, **shares})
    frame = pd.DataFrame(rows)
    statuses = sorted(set(frame.columns) - {"n_models", "n_judges", "n_comparisons", "draws"})
    return frame[["n_models", "n_judges", "n_comparisons", "draws", *statuses]].fillna(0.0)
