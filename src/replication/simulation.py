"""The simulation study (section 4): its cells, and one replication of each of its two parts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from omegaconf import DictConfig, OmegaConf
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError, NoIntervalError, NoMaximumError
from judgerank.engine.adam import Adam
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton
from judgerank.engine.solution import Status
from judgerank.engine.solvers import Settings, kind, maximise
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import wald
from judgerank.model.members import JUDGE_AWARE, Parameters
from judgerank.model.simulate import draw_comparisons, draw_truth, generator
from replication.config import ROOT, simulation_settings
from replication.replicate import Record, Study, Task
from replication.schemas.simulation import Setting

LAST = 5  # grid points that the paper fits its slopes to


@lru_cache(maxsize=64)
def truth_of(
    seed: int, draw: int, n_models: int, n_judges: int, sigma_scores: float, sigma_discrimination: float
) -> Parameters:
    """A ground truth, the same in every section that asks for this draw."""
    rng = generator(seed, "truth", n_models, n_judges, draw)
    return draw_truth(rng, n_models, n_judges, sigma_scores, sigma_discrimination)


def truths_of(cfg: DictConfig) -> pd.DataFrame:
    """Every truth that a study draws, a value a row: ``n_models, n_judges, draw, parameter, number, value``."""
    rows = []
    for setting in simulation_settings(cfg).values():
        sizes = setting.n_models, setting.n_judges
        for draw in range(cfg.draws + 1):
            truth = truth_of(cfg.seed, draw, *sizes, setting.sigma_scores, setting.sigma_discrimination)
            for parameter, values in (("score", truth.scores), ("log_discrimination", truth.judges[0])):
                rows += [(*sizes, draw, parameter, number, value) for number, value in enumerate(values, 1)]
    return pd.DataFrame(rows, columns=["n_models", "n_judges", "draw", "parameter", "number", "value"])


def identity_of(settings: dict) -> tuple:
    """What determines a cell's truth: the arguments of `truth_of` and `btl_scale`."""
    names = ("seed", "draw", "n_models", "n_judges", "sigma_scores", "sigma_discrimination")
    return tuple(settings[name] for name in names)


def drawn(settings: dict, rng: np.random.Generator) -> tuple[Parameters, Comparisons]:
    """The truth of a cell, and one data set."""
    truth = truth_of(*identity_of(settings))
    return truth, draw_comparisons(rng, truth, settings["n_comparisons"])


def estimate(cells: Comparisons, settings: Settings) -> Fit:
    """The judge-aware fit by a solver, whether or not the likelihood is known to have a maximum."""
    return Fit(cells, JUDGE_AWARE, settings, maximise(cells, JUDGE_AWARE, settings))


def interior_maximum(cells: Comparisons, settings: Newton) -> tuple[Fit | None, str]:
    """The exact fit if it is an interior maximum, and how the fit ended."""
    try:
        exact = fit(cells, solver=settings)
    except NoMaximumError:
        return None, "no_maximum"
    return exact if exact.status is Status.INTERIOR else None, str(exact.status)


def fitted(settings: dict, cells: Comparisons) -> tuple[Fit | None, Record]:
    """The estimate a cell asks for, if there is one, how it ended, and whether there is an interior maximum.

    The estimator ``interior`` takes interior maxima only; the others always give an estimate.
    """
    name, values = settings["estimator"]
    if name == "interior":
        result, status = interior_maximum(cells, Newton(**values))
        return result, {"status": status, "interior": result is not None}
    if name == "localized":
        result = estimate(cells, Localized(**values))
        ended = {"status": str(result.status), "interior": result.status is Status.INTERIOR}
        rival = result.solution.rival
        return result, ended | {"ambiguous": rival is not None and rival.ambiguous}
    result = estimate(cells, Adam(**values))
    exact, _ = interior_maximum(cells, Newton())
    return result, {"status": str(result.status), "interior": exact is not None}


def squared_error(settings: dict, rng: np.random.Generator) -> Record:
    """One replication of section 4.1: mean squared errors of the scores and of the log-discriminations."""
    truth, cells = drawn(settings, rng)
    result, record = fitted(settings, cells)
    return record if result is None else record | errors_of(result, truth)


def errors_of(result: Fit, truth: Parameters) -> Record:
    """Mean squared errors of the scores and of the log-discriminations.

    Of the scores also with either side at mean zero and standard deviation one: the order and the gaps without the
    scale, which hangs on the geometric mean of the discriminations and so on the weakest judge.
    """
    at = result.solution.parameters
    shapes = [(scores - scores.mean()) / scores.std() for scores in (at.scores, truth.scores)]
    return {
        "score": float(np.mean((at.scores - truth.scores) ** 2)),
        "standardised_score": float(np.mean((shapes[0] - shapes[1]) ** 2)),
        "log_discrimination": float(np.mean((at.judges - truth.judges) ** 2)),
    }


def shrunk_error(settings: dict, rng: np.random.Generator) -> Record:
    """Squared errors of the configured estimator and of a penalised fit of the same data, and what it covers."""
    truth, cells = drawn(settings, rng)
    result, record = fitted(settings, cells)
    if result is not None:
        record |= errors_of(result, truth)
    name, values = settings["solver"]
    shrunk = fit(cells, "judge_aware", kind(name)(**values))
    record |= {f"{key}_shrunk": value for key, value in errors_of(shrunk, truth).items()}
    n = len(truth.scores)
    low, high = wald(shrunk.scores.to_numpy(), shrunk.standard_errors[:n], settings["level"])
    record["coverage_shrunk"] = float(np.mean((low <= truth.scores) & (truth.scores <= high)))
    return record | {f"spread_{block}": value for block, value in shrunk.solution.spread.items()}


@lru_cache(maxsize=64)
def btl_scale(*identity) -> float:
    """Best constant c with c s_0 near the scores that BTL converges to under uniform triples.

    Those are its scores on the expected outcomes of every triple; `identity` is that of `truth_of`.
    """
    truth = truth_of(*identity)
    n, k = len(truth.scores), truth.judges.shape[1]
    first, second = np.triu_indices(n, 1)
    i, j = np.repeat(first, k), np.repeat(second, k)
    judge = np.tile(np.arange(k), len(first))
    p = expit(np.exp(truth.judges[0])[judge] * (truth.scores[i] - truth.scores[j]))
    names = tuple(map(str, range(n))), tuple(map(str, range(k)))
    limit = fit(Comparisons(*names, i, j, judge, p), "btl").solution.parameters.scores
    return float(limit @ truth.scores / (truth.scores @ truth.scores))


def interval_coverage(settings: dict, rng: np.random.Generator) -> Record:
    """One replication of section 4.2: shares of scores covered, and mean widths, by both models.

    BTL's intervals are held against the truth, as in the paper, and against the truth on BTL's own scale.
    """
    truth, cells = drawn(settings, rng)
    result, record = fitted(settings, cells)
    scale = btl_scale(*identity_of(settings))
    try:
        unweighted = fit(cells, "btl")
    except JudgerankError:  # no maximum: no intervals, as for the judge-aware estimator
        unweighted = None
    targets = {"btl": [("btl", 1.0), ("btl_rescaled", scale)], "judge_aware": [("judge_aware", 1.0)]}
    for fit_result in filter(None, (result, unweighted)):
        scores = fit_result.solution.parameters.scores
        try:
            errors = fit_result.standard_errors[: len(scores)]
        except NoIntervalError:  # fewer comparisons than parameters
            continue
        low, high = wald(scores, errors, settings["level"])
        for method, factor in targets[fit_result.model.name]:
            target = factor * truth.scores
            record[f"{method}_coverage"] = float(np.mean((low <= target) & (target <= high)))
            record[f"{method}_width"] = float(np.mean(high - low))
            record[f"{method}_spread"] = float(scores.std())
    return record


def grid(cfg: DictConfig, beyond: bool = False) -> Iterator[tuple[str, Setting, int]]:
    """Name of the setting, setting, and number of comparisons of every grid point that the config keeps.

    With `beyond`, the points past the paper's grid instead (none where `points` cuts the grid short).
    """
    for name, setting in simulation_settings(cfg).items():
        sizes = setting.n_comparisons[: cfg.points]
        if beyond:
            sizes = setting.beyond if cfg.points is None else []
        for size in sizes:
            yield name, setting, size


def place_of(setting: Setting, size: int) -> dict[str, int]:
    """The columns that name a grid point in a table."""
    return {"n_models": setting.n_models, "n_judges": setting.n_judges, "n_comparisons": size}


def cell_name(setting: str, size: int, draw: int) -> str:
    return f"{setting}-t{size}-draw{draw}"


def named(solver: DictConfig) -> list:
    """A configured solver as its name and the settings of its judge-aware fits."""
    values = OmegaConf.to_container(solver)
    values.pop("btl", None)
    return [values.pop("name"), values]


def study_of(cfg: DictConfig, section: str, task: Task) -> Study:
    """The configured study: every grid point under the main draw of the truth (0) and under the further ones.

    Points beyond the paper's grid are taken under the main draw only.
    """
    cells, replications = {}, {}
    points = [(*point, cfg.draws) for point in grid(cfg)] + [(*point, 0) for point in grid(cfg, beyond=True)]
    for setting_name, setting, size, draws in points:
        for draw in range(draws + 1):
            cell = cell_name(setting_name, size, draw)
            sigmas = {"sigma_scores": setting.sigma_scores, "sigma_discrimination": setting.sigma_discrimination}
            cells[cell] = {
                "seed": cfg.seed,
                "draw": draw,
                **place_of(setting, size),
                **sigmas,
                "estimator": named(cfg.estimator),
            }
            if "level" in cfg:
                cells[cell]["level"] = cfg.level
            if "solver" in cfg:
                cells[cell]["solver"] = named(cfg.solver)
            replications[cell] = cfg.draw_replications if draw else cfg.replications
    return Study(section, task, cells, replications, cfg.seed, Path(ROOT, cfg.cache), cfg.block)


def records_of(study: Study, setting: str, size: int, draw: int) -> pd.DataFrame:
    """A cell's records, one row per replication; a failed replication has its reason in ``failure``."""
    frame = pd.DataFrame(study.records(cell_name(setting, size, draw)))
    always = [name for name in ("status", "interior", "failure") if name not in frame]
    return frame.assign(**dict.fromkeys(always))


def failures_of(study: Study) -> pd.DataFrame:
    """Every failed replication with its reason: ``cell, replication, failure``."""
    rows = [
        {"cell": cell, "replication": record["replication"], "failure": record["failure"]}
        for cell in study.cells
        for record in study.records(cell)
        if "failure" in record
    ]
    return pd.DataFrame(rows, columns=["cell", "replication", "failure"])


def endings_of(study: Study, cfg: DictConfig) -> pd.DataFrame:
    """How the fits of every grid point ended, as shares, main draw and further draws apart."""
    rows = []
    for name, setting, size in grid(cfg):
        for draws, label in ((range(1), "main"), (range(1, cfg.draws + 1), "further")):
            frames = [records_of(study, name, size, draw) for draw in draws]
            if frames:
                records = pd.concat(frames)
                shares = records["status"].value_counts(normalize=True).to_dict()
                if "ambiguous" in records:  # rounding could have chosen another maximum
                    shares["ambiguous"] = float(records["ambiguous"].eq(True).mean())
                rows.append({**place_of(setting, size), "draws": label, **shares})
    frame = pd.DataFrame(rows)
    statuses = sorted(set(frame.columns) - {"n_models", "n_judges", "n_comparisons", "draws"})
    return frame[["n_models", "n_judges", "n_comparisons", "draws", *statuses]].fillna(0.0)
