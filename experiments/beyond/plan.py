"""Beyond the paper: how many comparisons, judges and repeats a wanted precision takes, checked by simulation.

python experiments/beyond/plan.py [dataset=chatbot_arena] [data.path=my.jsonl] [wanted.pair_power=0.9] ...
"""

import logging
from dataclasses import replace
from functools import partial

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from judgerank import fit
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.planning import panels, precision
from judgerank.planning.panels import Panel
from judgerank.planning.plans import (
    asked_as,
    by_judges,
    comparisons_needed,
    fitted_panel,
    pair_of,
    panels_by_size,
    questions_like,
    to_make,
)
from judgerank.planning.questions import INDEPENDENT, Questions
from judgerank.ranking.choices import FALLBACK
from replication.config import solver_settings
from replication.simulation import failures_of
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.planning import (
    by_questions,
    by_repeats,
    curves,
    defaults_table,
    formula_and_data,
    grid,
    kept_study,
    kept_table,
    panel_table,
    promise_table,
    promises,
    records_of,
    study_of,
)

log = logging.getLogger("studies")
QUESTION_KEYS = ("sd", "pairs", "judges")  # of questions


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    wanted = checked(cfg)
    is_fitted = bool(cfg.dataset or cfg.data.path)
    title, panel, questions = panel_of(cfg, data if is_fitted else {})
    everyone, pair = len(panel.judges), pair_of(panel, cfg.pair)
    goal_settings = {"level": cfg.level, "pair": pair}
    make = partial(to_make, questions, repeats=cfg.repeats, correlation=cfg.correlation)
    sub_panels = panels_by_size(panel, cfg.n_judges, cfg.draws, cfg.seed)
    precisions = {
        size: [precision.precision_of(sub_panel, questions) for sub_panel in of_size]
        for size, of_size in sub_panels.items()
    }
    planned = comparisons_needed(precisions[everyone], wanted, make, goal_settings)
    alone = [precision.precision_of(panel)]
    independent = {goal: precision.needed(goal, value, alone, **goal_settings) for goal, value in wanted.items()}
    study = study_of(cfg, sub_panels, planned, pair, questions)
    study.run(cfg.parallel)
    formula_row = partial(formula_and_data, cfg, records_of(study), precisions, goal_settings)
    plan = pd.DataFrame(
        {
            **{"goal": goal, "wanted": wanted[goal], "comparisons": size},
            **{"questions": size // questions.size, **formula_row(goal, everyone, size)},
        }
        for goal, size in planned.items()
    )
    points = pd.DataFrame(
        {"n_judges": n_judges, "comparisons": size, "goal": goal, **formula_row(goal, n_judges, size)}
        for n_judges in sub_panels
        for size in grid(cfg, questions)
        for goal in precision.GOALS
    )
    log.info("%s", plan.to_string(index=False, float_format="%.4f"))
    first, second = panel.pairs[pair]
    caption = f"{title}: {len(panel.models)} models, {everyone} judges, {cfg.level:.0%} intervals"
    promise_study, from_files = promises(cfg), kept_study(cfg)
    promise_study.run(cfg.parallel)
    from_files.run(cfg.parallel)
    defaults = {} if is_fitted else {"defaults": Table(defaults_table(data), "Panels of the public sets", 4)}
    return defaults | {
        "kept": Table(kept_table(from_files), "Share of pairs separated by data of a size planned from a file", 4),
        "promises": Table(promise_table(promise_study), "Power of new data of a size planned from a file", 4),
        "plan": Table(plan, f"{caption}; the pair is {first} and {second}", 4),
        "by_judges": Table(
            by_judges(precisions, wanted, make, goal_settings), f"{title}: comparisons needed by panel size"
        ),
        "by_repeats": Table(by_repeats(cfg, independent), f"{title}: comparisons needed with repeats"),
        "by_questions": Table(
            by_questions(cfg, panel, wanted, goal_settings, questions.sd),
            f"{title}: new questions needed, by pairs of each and judges of a pair (deviation {questions.sd:.2f})",
        ),
        "simulated": Table(points, f"{title}: formula and simulation", 4),
        "curves": Table(curves(cfg, precisions, goal_settings, questions), f"{title}: expected by formula", 4),
        "panel": Table(panel_table(panel), f"{title}: the panel planned for"),
        "failures": Table(failures_of(study), "Replications that failed"),
    }


def checked(cfg: DictConfig) -> dict[str, float]:
    """What is wanted, by goal; refuses to plan for nothing before anything is computed."""
    if not cfg.n_comparisons:
        raise ConfigError("n_comparisons is empty")
    wanted = {goal: float(value) for goal, value in cfg.wanted.items() if value is not None}
    if not wanted:
        raise ConfigError(f"nothing is wanted (wanted.GOAL=NUMBER, GOAL one of {', '.join(precision.GOALS)})")
    return wanted


def assumed_panel(cfg: DictConfig) -> Panel:
    values = OmegaConf.to_container(cfg.assumed)
    assumptions = {key: value for key, value in values.items() if key != "name"}
    return panels.assumed(**assumptions, model=cfg.model or FALLBACK)


def panel_of(cfg: DictConfig, data: dict[str, Judgments]) -> tuple[str, Panel, Questions]:
    """Title, panel and questions: of a fit if there are judgments, else as assumed."""
    weights, wanted = OmegaConf.to_container(cfg.weights), {key: cfg.questions[key] for key in QUESTION_KEYS}
    if data:
        (judgments,) = data.values()
        panel, fitted = fitted_panel(
            judgments, lambda name: fit(judgments.comparisons, name, solver_settings(cfg.solver, name)), cfg.model
        )
        title, like_questions = judgments.title, questions_like(panel, fitted, judgments)
    else:
        title, panel, like_questions = f"{cfg.assumed.name} panel", assumed_panel(cfg), INDEPENDENT
    questions = asked_as(like_questions, panel, wanted, cfg.repeats)
    panel = replace(panel, doubt=None)  # formulas are put beside data drawn from this very panel
    return title, panel.weighted(weights["judges"], weights["pairs"]), questions


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    names = ("plan", "by_judges", "simulated", "curves")
    return {"plan": plots.plan(*(tables[name] for name in names), f"What a design is expected to tell{suffix}")}


run = section_command("plan", compute, draw)

if __name__ == "__main__":
    run()
