"""Beyond the paper: how many comparisons, judges and repeats a wanted precision takes, checked by simulation.

python experiments/plan.py [dataset=chatbot_arena] [data.path=my.jsonl] [wanted.pair_power=0.9 pair=[m01,m02]] ...
"""

import logging
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from judgerank import fit, plots
from judgerank.config import main, require_least, solver_settings
from judgerank.errors import ConfigError
from judgerank.judgments import Judgments
from judgerank.outputs import run_section
from judgerank.planning import panels, precision
from judgerank.planning.panels import Panel
from judgerank.planning.study import grid, records_of, study_of
from judgerank.planning.tables import (
    by_judges,
    by_repeats,
    curves,
    formula_and_data,
    pairs_of_repeats,
    panel_table,
)
from judgerank.simulation import failures_of
from judgerank.tables import Table

log = logging.getLogger("judgerank")
LEAST = {"replications": 1, "draw_replications": 1, "draws": 1, "block": 1, "points": 1, "seed": 0, "repeats": 1}


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    wanted = checked(cfg)
    title, panel = panel_of(cfg, data)
    everyone, pair = len(panel.judges), pair_of(cfg, panel)
    at = {"level": cfg.level, "pair": pair}
    sizes = [size for size in dict.fromkeys(cfg.n_judges) if size < everyone]
    sub_panels = {size: panels.sub_panels(panel, size, cfg.draws, cfg.seed) for size in sizes}
    sub_panels[everyone] = [panel]
    precisions = {size: [precision.precision_of(one) for one in of_size] for size, of_size in sub_panels.items()}
    independent = {
        goal: precision.needed(goal, value, precisions[everyone], **at) for goal, value in wanted.items()
    }
    planned = {goal: precision.whole(size, cfg.repeats, cfg.correlation) for goal, size in independent.items()}
    study = study_of(cfg, sub_panels, planned, pair)
    study.run(cfg.parallel)
    beside = partial(formula_and_data, cfg, records_of(study), precisions, at)
    plan = pd.DataFrame(
        {"goal": goal, "wanted": wanted[goal], "comparisons": size, **beside(goal, everyone, size)}
        for goal, size in planned.items()
    )
    points = pd.DataFrame(
        {"n_judges": n_judges, "comparisons": size, "goal": goal, **beside(goal, n_judges, size)}
        for n_judges in sub_panels
        for size in grid(cfg)
        for goal in precision.GOALS
    )
    log.info("%s", plan.to_string(index=False, float_format="%.4f"))
    first, second = (panel.models[index[pair]] for index in np.triu_indices(len(panel.models), 1))
    caption = f"{title}: {len(panel.models)} models, {everyone} judges, {cfg.level:.0%} intervals"
    return {
        "plan": Table(plan, f"{caption}; the pair is {first} and {second}", 4),
        "by_judges": Table(by_judges(cfg, precisions, wanted, at), f"{title}: comparisons needed by panel size"),
        "by_repeats": Table(by_repeats(cfg, independent), f"{title}: comparisons needed with repeats"),
        "simulated": Table(points, f"{title}: formula and simulation", 4),
        "curves": Table(curves(cfg, precisions, at), f"{title}: expected by formula", 4),
        "panel": Table(panel_table(panel), f"{title}: the panel planned for"),
        "failures": Table(failures_of(study), "Replications that failed"),
    }


def checked(cfg: DictConfig) -> dict[str, float]:
    """What is wanted, by goal; refuses settings out of range before anything is computed."""
    require_least(cfg, LEAST)
    for repeats, correlation in [(cfg.repeats, cfg.correlation), *pairs_of_repeats(cfg)]:
        precision.design_effect(repeats, correlation)
    if not cfg.n_comparisons or min(cfg.n_comparisons) < 1:
        raise ConfigError("n_comparisons must be one or more numbers of at least 1")
    wanted = {goal: float(value) for goal, value in cfg.wanted.items() if value is not None}
    if not wanted:
        raise ConfigError(f"nothing is wanted (wanted.GOAL=NUMBER, GOAL one of {', '.join(precision.GOALS)})")
    for goal, value in wanted.items():
        precision.require_reasonable(goal, value)
    return wanted


def panel_of(cfg: DictConfig, data: dict[str, Judgments]) -> tuple[str, Panel]:
    """Title and panel: of a fit if there are judgments, else as assumed."""
    title = f"{cfg.assumed.name} panel"
    panel = None if data else panels.assumed(OmegaConf.to_object(cfg.assumed))
    for judgments in data.values():
        fitted = fit(judgments.comparisons, "judge_aware", *solver_settings(cfg.solver, "judge_aware"))
        title, panel = judgments.title, Panel.fitted(fitted)
        if fitted.judges_at_zero:
            log.info("%s: at zero discrimination, left out: %s", title, ", ".join(fitted.judges_at_zero))
    weights = OmegaConf.to_container(cfg.weights)
    return title, panel.weighted(weights["judges"], weights["pairs"])


def pair_of(cfg: DictConfig, panel: Panel) -> int:
    """The pair asked for, or the one whose difference is the median of all."""
    if cfg.pair is not None:
        return panel.pair(cfg.pair, "pair")
    i, j = np.triu_indices(len(panel.models), 1)
    return int(np.argsort(np.abs(panel.at.scores[i] - panel.at.scores[j]), kind="stable")[(len(i) - 1) // 2])


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    names = ("plan", "by_judges", "simulated", "curves")
    return {"plan": plots.plan(*(tables[name] for name in names), f"What a design is expected to tell{suffix}")}


@main("plan")
def run(cfg: DictConfig) -> None:
    run_section("plan", cfg, compute, draw)


if __name__ == "__main__":
    run()
