"""Beyond the paper: how many comparisons, judges and repeats a wanted precision takes, checked by simulation.

python experiments/beyond/plan.py [dataset=chatbot_arena] [data.path=my.jsonl] [wanted.pair_power=0.9] ...
"""

import logging
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from judgerank import FitResult, fit
from judgerank.errors import ConfigError
from judgerank.judgments import Judgments
from judgerank.leaderboard.members import DEFAULT, FALLBACK, default_member
from judgerank.planning import panels, precision
from judgerank.planning.panels import Panel
from judgerank.planning.questions import INDEPENDENT, Questions, asked_in, deviation
from replication import plots
from replication.config import main, solver_settings
from replication.outputs import run_section
from replication.plan_study import grid, records_of, study_of
from replication.plan_tables import (
    by_judges,
    by_questions,
    by_repeats,
    curves,
    formula_and_data,
    panel_table,
    to_make,
)
from replication.simulation import failures_of
from replication.tables import Table

log = logging.getLogger("replication")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    wanted = checked(cfg)
    title, panel, questions = panel_of(cfg, data)
    if questions.sd > 0 and cfg.repeats > 1:
        raise ConfigError("repeats are planned for without questions (questions.sd=0 leaves those out)")
    everyone, pair = len(panel.judges), pair_of(cfg, panel)
    at = {"level": cfg.level, "pair": pair}
    sizes = [size for size in dict.fromkeys(cfg.n_judges) if size < everyone]
    sub_panels = {size: panels.sub_panels(panel, size, cfg.draws, cfg.seed) for size in sizes}
    sub_panels[everyone] = [panel]
    precisions = {
        size: [precision.precision_of(one, questions) for one in of_size] for size, of_size in sub_panels.items()
    }
    planned = {
        goal: to_make(cfg, questions, precision.needed(goal, value, precisions[everyone], **at))
        for goal, value in wanted.items()
    }
    alone = [precision.precision_of(panel)]
    independent = {goal: precision.needed(goal, value, alone, **at) for goal, value in wanted.items()}
    study = study_of(cfg, sub_panels, planned, pair, questions)
    study.run(cfg.parallel)
    beside = partial(formula_and_data, cfg, records_of(study), precisions, at)
    plan = pd.DataFrame(
        {
            **{"goal": goal, "wanted": wanted[goal], "comparisons": size},
            **{"questions": size // questions.size, **beside(goal, everyone, size)},
        }
        for goal, size in planned.items()
    )
    points = pd.DataFrame(
        {"n_judges": n_judges, "comparisons": size, "goal": goal, **beside(goal, n_judges, size)}
        for n_judges in sub_panels
        for size in grid(cfg, questions)
        for goal in precision.GOALS
    )
    log.info("%s", plan.to_string(index=False, float_format="%.4f"))
    first, second = (panel.models[index[pair]] for index in np.triu_indices(len(panel.models), 1))
    caption = f"{title}: {len(panel.models)} models, {everyone} judges, {cfg.level:.0%} intervals"
    return {
        "plan": Table(plan, f"{caption}; the pair is {first} and {second}", 4),
        "by_judges": Table(
            by_judges(cfg, precisions, wanted, at, questions), f"{title}: comparisons needed by panel size"
        ),
        "by_repeats": Table(by_repeats(cfg, independent), f"{title}: comparisons needed with repeats"),
        "by_questions": Table(
            by_questions(cfg, panel, wanted, at, questions.sd),
            f"{title}: new questions needed, by pairs of each and judges of a pair (deviation {questions.sd:.2f})",
        ),
        "simulated": Table(points, f"{title}: formula and simulation", 4),
        "curves": Table(curves(cfg, precisions, at, questions), f"{title}: expected by formula", 4),
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
    return panels.assumed(**{key: value for key, value in values.items() if key != "name"})


def panel_of(cfg: DictConfig, data: dict[str, Judgments]) -> tuple[str, Panel, Questions]:
    """Title, panel and questions: of a fit if there are judgments, else as assumed."""
    weights = OmegaConf.to_container(cfg.weights)
    if not data:
        panel = assumed_panel(cfg).weighted(weights["judges"], weights["pairs"])
        return f"{cfg.assumed.name} panel", panel, questions_of(cfg, panel, None, None)
    (judgments,) = data.values()
    title = judgments.title
    name, why = default_member([judgments.comparisons])
    if cfg.model not in (None, DEFAULT, FALLBACK):
        raise ConfigError(f"a plan is for model={DEFAULT} or {FALLBACK}, not {cfg.model}")
    if cfg.model is None:
        log.info("%s: %s", title, why)
    name = cfg.model or name
    fitted = fit(judgments.comparisons, name, solver_settings(cfg.solver, name))
    panel = Panel.fitted(fitted)
    if fitted.judges_at_zero:
        log.info("%s: at zero discrimination, left out: %s", title, ", ".join(fitted.judges_at_zero))
    questions = questions_of(cfg, panel, fitted, judgments)
    return title, panel.weighted(weights["judges"], weights["pairs"]), questions


def questions_of(
    cfg: DictConfig, panel: Panel, fitted: FitResult | None, judgments: Judgments | None
) -> Questions:
    """How new questions are asked: as the settings say, else as in the judgments, else with nothing in common."""
    wanted, found = cfg.questions, INDEPENDENT
    if judgments is not None and "question_id" in judgments.frame:
        asked = judgments.comparisons, judgments.question
        pairs, judges = asked_in(panel, *asked)
        if len(set(judgments.question)) > fitted.n_parameters:  # as for a ranking's intervals
            sd = deviation(panel, fitted, fitted.clustered(*asked), pairs, judges)
            found = Questions(sd, pairs, judges)
    said = {key: wanted[key] for key in ("sd", "pairs", "judges") if wanted[key] is not None}
    questions = replace(found, **said).within(panel)
    if questions.sd > 0:
        log.info(
            "Every new question is planned with %d pairs of models by %d judges each; in a question answers are "
            "better or worse than their models usually are by a standard deviation of %.2f, for all judges alike; "
            "pairs, and either order of a pair, are compared equally often unless weighted.",
            *(questions.pairs, questions.judges, questions.sd),
        )
    return questions


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
