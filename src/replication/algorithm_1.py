"""The paper's Algorithm 1 on simulated comparisons, read where it may have been stopped (section 4.1, Table A.3).

Many replications run side by side, so that thousands of iterations of every setting are within reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from pathlib import Path

import numpy as np
import pandas as pd
from omegaconf import DictConfig

from judgerank.engine.adam import Adam, iterates
from judgerank.model.members import JUDGE_AWARE
from judgerank.model.simulate import draw_comparisons
from replication.config import ROOT
from replication.replicate import Record, Study
from replication.simulation import LAST, cell_name, grid, identity_of, place_of, truth_of
from replication.sparse_designs import side_by_side

PARAMETERS = ("score", "log_discrimination")


def errors_at_stops(settings: dict, rng: np.random.Generator) -> Record:
    """Mean squared errors at every stop, over data sets of one truth: their mean and its standard error."""
    truth, many = truth_of(*identity_of(settings)), settings["data_sets"]
    parts = [draw_comparisons(rng, truth, settings["n_comparisons"]) for _ in range(many)]
    constants = Adam(tolerance=0.0, max_iterations=max(settings["stops"]))
    steps, record, done = iterates(side_by_side(parts), JUDGE_AWARE, constants, sets=many), {}, 0
    for stop in sorted(settings["stops"]):
        *_, (_, at, _) = islice(steps, stop - done)
        done = stop
        blocks = {"score": (at.scores, truth.scores), "log_discrimination": (at.judges[0], truth.judges[0])}
        for parameter, (ours, true) in blocks.items():
            errors = np.mean((ours.reshape(many, -1) - true) ** 2, axis=1)
            record[f"{stop}/{parameter}/mean"] = float(errors.mean())
            record[f"{stop}/{parameter}/standard_error"] = float(errors.std(ddof=1) / np.sqrt(many))
    return record


def study_of(cfg: DictConfig) -> Study:
    """Algorithm 1 at the points that slopes are fitted to, in the settings and under the truths asked for."""
    own, cells = cfg.algorithm_1, {}
    for name, setting, size in grid(cfg):
        if name not in own.settings or size not in setting.n_comparisons[-LAST:]:
            continue
        for draw in range(own.draws + 1):
            cells[cell_name(name, size, draw)] = {
                "seed": cfg.seed,
                "draw": draw,
                **place_of(setting, size),
                "sigma_scores": setting.sigma_scores,
                "sigma_discrimination": setting.sigma_discrimination,
                "stops": list(own.stops),
                "data_sets": own.data_sets[name],
            }
    repeats = dict.fromkeys(cells, 1)
    return Study("algorithm_1", errors_at_stops, cells, repeats, cfg.seed, Path(ROOT, cfg.cache), 1)


def errors_of(study: Study) -> pd.DataFrame:
    """``n_models, n_judges, n_comparisons, draw, stop, parameter, mean, standard_error, n_replications``."""
    rows = []
    for cell, settings in study.cells.items():
        (record,) = study.records(cell)
        place = {name: settings[name] for name in ("n_models", "n_judges", "n_comparisons", "draw")}
        for stop, parameter in product(settings["stops"], PARAMETERS):
            found = {name: record[f"{stop}/{parameter}/{name}"] for name in ("mean", "standard_error")}
            one = {"stop": stop, "parameter": parameter, **found, "n_replications": settings["data_sets"]}
            rows.append(place | one)
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
                "distance": float(sum(one[0] for one in far)),
                "p_joint": _tail(far),
            }
        )
    return pd.DataFrame(rows)


def _signed(values: np.ndarray) -> np.ndarray:
    """How much flatter each study of a setting is than the others of it, float array, shape (studies,).

    The sum over its slopes of their distances from the others' means, in predictive standard deviations.
    """
    found = []
    for place, one in enumerate(values):
        others = np.delete(values, place, 0)
        spread = others.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(others))
        found.append(float(((one - others.mean(axis=0)) / spread).sum()))
    return np.array(found)


def _tail(far: Iterable[np.ndarray]) -> float:
    """Two-sided p-value of the first study's total over settings, by who of each setting could have been printed.

    Truths of different settings are independent, and within a setting any study may be the printed one.
    """
    far = list(far)
    totals: Iterator[float] = map(sum, product(*far))
    printed = abs(sum(one[0] for one in far))
    return float(np.mean([abs(total) >= printed - 1e-12 for total in totals]))
