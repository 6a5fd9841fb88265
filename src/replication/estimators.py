"""The estimators that every draw of a resampled section is fitted by: exact, over a box, by Algorithm A.1.

The likelihood of a small part of a set often has no maximum, and whether it has one depends on the outcomes. A
mean over the draws with a maximum is therefore not that of all draws; the box and the stopped iteration always
give scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import pandas as pd
from omegaconf import DictConfig

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError
from judgerank.engine.adam import Adam, iterates, maximise_each
from judgerank.engine.localized import Localized
from judgerank.engine.rows import side_by_side
from judgerank.engine.solution import Solution, Status
from judgerank.engine.solvers import Settings, maximise
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.model.members import BTL, JUDGE_AWARE, Parameters
from replication.config import both_solvers
from replication.estimator_names import ALL_DRAWS

METHODS = ("judge_aware", "btl")
Estimators = dict[str, dict[str, Settings]]  # by name, the solver of each model


@dataclass(frozen=True)
class Estimate:
    """How an estimator's fits of one draw ended, and their scores by model; none where either has none."""

    status: str
    scores: dict[str, pd.Series] = field(default_factory=dict)


def estimators_of(cfg: DictConfig) -> Estimators:
    """The configured solver (Newton's method is exact), the box, and Algorithm A.1."""
    first = "exact" if cfg.solver.name == "newton" else cfg.solver.name
    configured = {first: cfg.solver, "box": cfg.box, ALL_DRAWS: cfg.algorithm_1}
    return {name: both_solvers(solver) for name, solver in configured.items()}


def estimates_of(parts: Sequence[Comparisons], estimators: Estimators) -> list[dict[str, Estimate]]:
    """Both fits of every part of a set by every estimator.

    Parameters
    ----------
    parts : sequence of Comparisons
        Of the same models.
    """
    cells = [part.aggregate() for part in parts]
    maxima: list[dict[str, Fit]] = [{} for _ in cells]  # the maxima of the likelihood that are known
    by_name = {}
    for name, solvers in estimators.items():
        if all(isinstance(solver, Adam) for solver in solvers.values()):
            by_name[name] = _by_algorithm_1(cells, solvers)
        elif all(isinstance(solver, Localized) for solver in solvers.values()):
            by_name[name] = [_over_box(*part, solvers) for part in zip(cells, maxima, strict=True)]
        else:
            by_name[name] = [_exact(*part, solvers) for part in zip(cells, maxima, strict=True)]
    return [dict(zip(by_name, ends, strict=True)) for ends in zip(*by_name.values(), strict=True)]


def _exact(cells: Comparisons, maxima: dict[str, Fit], solvers: dict[str, Settings]) -> Estimate:
    """Both maxima, which are added to those known; without either of them only the reason why."""
    statuses = {}
    for model, solver in solvers.items():
        try:
            fitted = fit(cells, model, solver)
        except NoMaximumError as error:
            statuses[model] = type(error).__name__
            continue
        statuses[model] = str(fitted.status)
        if fitted.converged:
            maxima[model] = fitted
    if len(maxima) == len(solvers):
        return Estimate(statuses["judge_aware"], {model: fitted.scores for model, fitted in maxima.items()})
    return Estimate(next(status for model, status in statuses.items() if model not in maxima))


def _over_box(cells: Comparisons, maxima: dict[str, Fit], solvers: dict[str, Localized]) -> Estimate:
    """Both maxima over the box: those of the likelihood where they lie inside it.

    One judge has discrimination one, so that the judge-aware fit of pooled judges is the unweighted one.
    """
    ends = {}
    for model, solver in solvers.items():
        maximum = maxima.get(model)
        if maximum is not None and maximum.status is Status.INTERIOR and solver.holds(maximum.solution.parameters):
            ends[model] = maximum.solution
        else:
            ends[model] = maximise(cells if model == "judge_aware" else cells.pool_judges(), JUDGE_AWARE, solver)
    return _estimate(cells, ends)


def _by_algorithm_1(cells: Sequence[Comparisons], solvers: dict[str, Adam]) -> list[Estimate]:
    """Both stopped iterations of every part; parts with equally many judges at once."""
    by_size: dict[int, list[int]] = {}
    for index, part in enumerate(cells):
        by_size.setdefault(len(part.judges), []).append(index)
    aware: dict[int, Solution] = {}
    for indices in by_size.values():
        ends = maximise_each([cells[index] for index in indices], JUDGE_AWARE, solvers["judge_aware"])
        aware |= zip(indices, ends, strict=True)
    pooled = maximise_each([part.pool_judges() for part in cells], BTL, solvers["btl"])
    return [
        _estimate(part, {"judge_aware": aware[index], "btl": unweighted})
        for index, (part, unweighted) in enumerate(zip(cells, pooled, strict=True))
    ]


def _estimate(cells: Comparisons, ends: dict[str, Solution]) -> Estimate:
    scores = {model: pd.Series(end.parameters.scores, list(cells.models)) for model, end in ends.items()}
    return Estimate(str(ends["judge_aware"].status), scores)


def read_at(stops: Sequence[int], parts: Sequence[Comparisons]) -> Iterator[tuple[int, Parameters]]:
    """Every stop, in rising order, with the parameters of all sets after so many iterations."""
    constants = [Adam(tolerance=0.0, max_iterations=max(stops))] * len(parts)
    steps, done = iterates(side_by_side(parts), JUDGE_AWARE, constants, quick=True), 0
    for stop in sorted(stops):
        *_, (_, parameters, _) = islice(steps, stop - done)
        done = stop
        yield stop, parameters
