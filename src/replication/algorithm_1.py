"""Algorithm A.1 on simulated comparisons, read where it may have been stopped (section 4.1, Table A.3).

Many replications run side by side, so that thousands of iterations of every setting are within reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from omegaconf import DictConfig

from replication.config import ROOT, simulation_settings
from replication.estimators import read_at
from replication.random_designs import draw_comparisons
from replication.replicate import Study
from replication.simulation import LAST, Point, grid, truth_of
from replication.tables import as_stored

PARAMETERS = ("score", "log_discrimination")


@dataclass(frozen=True)
class Stopped(Point):
    """A point at which Algorithm A.1 is read at several iterations, over data sets of one truth."""

    stops: tuple[int, ...]
    data_sets: int


@dataclass(frozen=True)
class AtStops:
    """Mean squared errors of every data set, by stop and parameter."""

    errors: dict[int, dict[str, list[float]]]


def errors_at_stops(cell: Stopped, rng: np.random.Generator) -> AtStops:
    """Mean squared errors at every stop of data sets of one truth."""
    truth, n_data_sets = truth_of(cell.truth), cell.data_sets
    parts = [draw_comparisons(rng, truth, cell.n_comparisons) for _ in range(n_data_sets)]
    errors = {}
    for stop, parameters in read_at(cell.stops, parts):
        blocks = {
            "score": (parameters.scores, truth.scores),
            "log_discrimination": (parameters.judges[0], truth.judges[0]),
        }
        errors[stop] = {
            name: np.mean((ours.reshape(n_data_sets, -1) - true) ** 2, axis=1).tolist()
            for name, (ours, true) in blocks.items()
        }
    return AtStops(errors)


def study_of(cfg: DictConfig) -> Study:
    """Algorithm A.1 at the points that slopes are fitted to, in the settings and under the truths asked for."""
    algorithm_settings, settings = cfg.algorithm_1, simulation_settings(cfg)
    cells = {
        point.name: Stopped(
            **vars(point),
            stops=tuple(algorithm_settings.stops),
            data_sets=algorithm_settings.data_sets[point.setting],
        )
        for point in grid(cfg, algorithm_settings.draws)
        if point.setting in algorithm_settings.settings
        and point.n_comparisons in settings[point.setting].n_comparisons[-LAST:]
    }
    repeats = dict.fromkeys(cells, 1)
    return Study("algorithm_1", errors_at_stops, cells, repeats, cfg.seed, Path(ROOT, cfg.cache), 1)


def replications_of(study: Study) -> pd.DataFrame:
    """Every data set at every stop, in columns of `simulation.replications_of`; the estimator names the stop."""
    frames = []
    for name, cell in study.cells.items():
        (record,) = study.records(name)
        key_columns = {**cell.key_columns, "draw": cell.truth.draw, "status": "stopped"}
        for stop, errors in record["errors"].items():
            values = {f"errors_judge_aware_{parameter}": errors[parameter] for parameter in PARAMETERS}
            number = {"replication": range(cell.data_sets), "estimator": f"algorithm_1_{stop}"}
            frames.append(pd.DataFrame({**number, **key_columns, **values}))
    return as_stored(pd.concat(frames))


def errors_of(study: Study) -> pd.DataFrame:
    """``n_models, n_judges, n_comparisons, draw, stop, parameter, mean, standard_error, n_replications``."""
    rows = []
    for name, cell in study.cells.items():
        (record,) = study.records(name)
        key_columns = {**cell.key_columns, "draw": cell.truth.draw}
        for stop, parameter in product(cell.stops, PARAMETERS):
            errors = np.array(record["errors"][str(stop)][parameter])
            summary = {"mean": errors.mean(), "standard_error": errors.std(ddof=1) / np.sqrt(len(errors))}
            rows.append(
                {**key_columns, "stop": stop, "parameter": parameter, **summary, "n_replications": len(errors)}
            )
    return pd.DataFrame(rows)


def jointly(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Whether one run explains all printed slopes together.

    Parameters
    ----------
    runs : mapping of str to DataFrame
        By name, ``n_models, n_judges, parameter, draw, slope, paper``.

    Returns
    -------
    DataFrame
        ``run, slopes`` (settings, parameters and draws of the truth together), ``printed_flatter`` (than how many
        of them), ``draws, distance, p_joint``.
    """
    rows = []
    for name, slopes in runs.items():
        settings = [
            np.vstack(
                [
                    by_draw.groupby("parameter")["paper"].first(),
                    by_draw.pivot(index="draw", columns="parameter", values="slope"),
                ]
            )
            for _, by_draw in slopes.groupby(["n_models", "n_judges"], sort=False)
        ]
        far = [_signed(values) for values in settings]
        rows.append(
            {
                "run": name,
                "slopes": len(slopes),
                "printed_flatter": int((slopes["paper"] > slopes["slope"]).sum()),
                "draws": len(settings[0]) - 1,
                "distance": float(sum(distances[0] for distances in far)),
                "p_joint": _tail(far),
            }
        )
    return pd.DataFrame(rows)


def _signed(values: np.ndarray) -> np.ndarray:
    """How much flatter each study of a setting is than the others of it, float array, shape (studies,).

    The sum over its slopes of their distances from the others' means, in predictive standard deviations.
    """
    deviations = []
    for index, study in enumerate(values):
        rest = np.delete(values, index, 0)
        spread = rest.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(rest))
        deviations.append(float(((study - rest.mean(axis=0)) / spread).sum()))
    return np.array(deviations)


def _tail(far: Iterable[np.ndarray]) -> float:
    """Two-sided p-value of the first study's total over settings, by who of each setting could have been printed.

    Truths of different settings are independent, and within a setting any study may be the printed one.
    """
    far = list(far)
    totals: Iterator[float] = map(sum, product(*far))
    printed = abs(sum(distances[0] for distances in far))
    return float(np.mean([abs(total) >= printed - 1e-12 for total in totals]))
