"""Section 4.1: mean squared error against the number of comparisons (Figure 1, Tables A.1 and A.3).

python experiments/convergence_mse.py [profile=smoke] [estimator=interior] [settings.n10_k5.sigma_discrimination=1]
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from replication import algorithm_1 as algorithm
from replication import plots, published
from replication.outputs import section_command
from replication.replicate import Study
from replication.simulation import (
    LAST,
    endings_of,
    failures_of,
    is_interior,
    replications_of,
    squared_error,
    study_of,
    truths_of,
)
from replication.tables import Replications, Table

log = logging.getLogger("replication")
SUBSETS = ("all", "interior")
PARAMETERS = ("score", "log_discrimination")
FEWEST = 10  # replications a mean must rest on to count for a slope, where any mean does
SETTING = ["n_models", "n_judges"]


def compute(cfg: DictConfig, _: dict) -> dict[str, Table | Replications]:
    errors, slopes, study = errors_and_slopes(cfg)
    failures = failures_of(study)
    log.info("replications that failed: %d (each with its reason in failures.csv)", len(failures))
    main_draw = errors.query("draw == 0").drop(columns="draw")
    stopped, runs = algorithm_1(cfg, slopes)
    every, interior = (main_draw[main_draw["subset"] == subset].drop(columns="subset") for subset in SUBSETS)
    return {
        "mse": Table(every, "Mean squared error (Figure 1)", 4),
        "mse_interior": Table(interior, "Mean squared error over replications with an interior maximum", 4),
        "mse_draws": Table(errors.query("draw > 0"), "Mean squared error under further draws of the truth", 4),
        "slopes": Table(_with_printed_slopes(slopes), "Log-log slopes of the last five points (Table A.3)"),
        "slopes_draws": Table(slopes, "Slopes under every draw of the truth"),
        "endings": Table(endings_of(study), "How the fits ended, as shares"),
        "truths": Table(truths_of(cfg), "Every truth drawn (appendix C.1)"),
        "failures": Table(failures, "Replications without a result"),
        "replications": Replications(
            pd.concat([replications_of(study), *runs], ignore_index=True),
            "Mean squared errors of every replication; algorithm_1_2000 was stopped after 2,000 iterations",
        ),
        **stopped,
    }


def errors_and_slopes(cfg: DictConfig) -> tuple[pd.DataFrame, pd.DataFrame, Study]:
    """Run the study: mean squared errors by grid point, their slopes by setting, and the study."""
    study = study_of(cfg, "convergence_mse", squared_error)
    study.run(cfg.parallel)
    errors = pd.DataFrame(
        {
            **cell.key_columns,
            "draw": cell.truth.draw,
            "subset": subset,
            "parameter": parameter,
            **_summary(records, parameter, subset),
        }
        for cell in study.cells.values()
        if not cell.beyond
        for records in [study.frame(cell.name)]
        for subset in SUBSETS
        for parameter in PARAMETERS
    )
    lines = errors.groupby([*SETTING, "draw", "subset", "parameter"], sort=False)
    slopes = lines.apply(slope, include_groups=False).reset_index()
    return errors, slopes.astype({"n_replications": int}), study


def algorithm_1(cfg: DictConfig, by_box: pd.DataFrame) -> tuple[dict[str, Table], list[pd.DataFrame]]:
    """The paper's own algorithm on simulated data like these, read at several stops, and whether it explains all.

    Parameters
    ----------
    by_box : DataFrame
        Slopes of the study's own estimator under every draw of the truth.
    """
    study = algorithm.study_of(cfg)
    if not study.cells:
        return {}, []
    study.run(cfg.parallel)
    errors = algorithm.errors_of(study)
    lines = errors.groupby([*SETTING, "draw", "stop", "parameter"], sort=False)
    slopes = lines.apply(slope, include_groups=False).reset_index()
    key_names = [*SETTING, "parameter"]
    slopes = slopes.astype({"n_replications": int}).merge(_printed_slopes(), on=key_names, how="left")
    box = by_box.query("subset == 'all'").merge(_printed_slopes(), on=key_names, how="left")
    has_slope = box.set_index(SETTING).index.isin(slopes.set_index(SETTING).index)
    runs = {cfg.estimator.name: box[has_slope]}
    runs |= {f"Algorithm A.1, {stop} iterations": rows for stop, rows in slopes.groupby("stop")}
    together = algorithm.jointly(runs)
    log.info("slopes of Table A.3 together:\n%s", together.to_string(index=False, float_format="%.3g"))
    caption = "The paper's Algorithm A.1 with its published steps, on simulated data"
    return {
        "algorithm_1_mse": Table(errors, f"{caption}: mean squared error", 4),
        "algorithm_1_slopes": Table(slopes, f"{caption}: log-log slopes of the last five points"),
        "slopes_jointly": Table(together, "All slopes of Table A.3 together, by one run"),
    }, [algorithm.replications_of(study)]


def _summary(records: pd.DataFrame, parameter: str, subset: str) -> dict:
    interior = is_interior(records)
    column = f"errors/judge_aware/{parameter}"
    values = records.reindex(columns=[column]).loc[interior | (subset == "all"), column].dropna()
    return {
        "mean": values.mean(),
        "q25": values.quantile(0.25),
        "q75": values.quantile(0.75),
        "n_replications": len(values),
        "n_interior": int(interior.sum()),
        "standard_error": values.std() / np.sqrt(len(values)) if len(values) > 1 else np.nan,
    }


def slope(line: pd.DataFrame) -> pd.Series:
    """Least-squares slope of log mean on log T over the last points, and its Monte Carlo standard error.

    Beside them, the fewest replications that one of these points rests on.
    """
    points = line.tail(LAST).dropna(subset=["mean"])
    points = points[points["n_replications"] >= min(FEWEST, line["n_replications"].max())]
    if len(points) < 2:
        return pd.Series({"slope": np.nan, "slope_se": np.nan, "n_replications": 0})
    x = np.log(points["n_comparisons"].to_numpy(float))
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    relative = (points["standard_error"] / points["mean"]).to_numpy()
    estimate = {"slope": weights @ np.log(points["mean"]), "slope_se": np.sqrt(np.sum((weights * relative) ** 2))}
    return pd.Series(estimate | {"n_replications": points["n_replications"].min()})


def _with_printed_slopes(slopes: pd.DataFrame) -> pd.DataFrame:
    """Slopes of the main draw, over all and over interior replications, with their ranges over all draws."""
    key_names = [*SETTING, "parameter"]
    frame = slopes.query("draw == 0 and subset == 'all'")[key_names].merge(
        _printed_slopes(), on=key_names, how="left"
    )
    for subset in SUBSETS:
        rows = slopes[slopes["subset"] == subset]
        spread = rows.groupby(key_names)["slope"].agg(draws_min="min", draws_max="max").reset_index()
        both = rows[rows["draw"] == 0].drop(columns=["draw", "subset"]).merge(spread, on=key_names)
        prefix = "" if subset == "all" else "interior_"
        frame = frame.merge(both.set_index(key_names).add_prefix(prefix).reset_index(), on=key_names)
    return frame


def _printed_slopes() -> pd.DataFrame:
    """Table A.3: ``n_models, n_judges, parameter, paper``."""
    printed = published.table("slopes")
    printed.index = pd.MultiIndex.from_tuples(
        [tuple(map(int, name.strip("()").split(","))) for name in printed["printed_name"]], names=SETTING
    )
    stacked = printed[list(PARAMETERS)].rename_axis(columns="parameter").stack()
    return pd.to_numeric(stacked).rename("paper").reset_index()


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    other_draws = tables["mse_draws"].query("subset == 'all'")
    return {
        "mse": plots.mse(
            tables["mse"],
            tables["endings"],
            f"Mean squared error against comparisons, one draw of the truth{suffix}",
        ),
        "mse_draws": plots.mse_draws(other_draws, tables["mse"], tables.get("algorithm_1_mse"), tables["endings"]),
    }


run = section_command("convergence_mse", compute, draw)

if __name__ == "__main__":
    run()
