"""The tables of a plan: what is needed, by number of judges and with repeats, and what the formulas expect."""

from __future__ import annotations

import numpy as np
import pandas as pd
from omegaconf import DictConfig

from judgerank.planning import precision
from judgerank.planning.panels import Panel
from judgerank.planning.plans import Precisions
from judgerank.planning.questions import INDEPENDENT, Questions
from studies.plan_study import grid, summary_of

CURVE = 25  # points of a curve


def formula_and_data(
    cfg: DictConfig, records: pd.DataFrame, precisions: Precisions, at: dict, goal: str, n_judges: int, size: int
) -> dict[str, float]:
    """What the formula expects of so many comparisons and judges, and what data give."""
    effective = size / precision.design_effect(cfg.repeats, cfg.correlation)
    formula = precision.expected(goal, precisions[n_judges], effective, **at)
    return {"formula": formula, **summary_of(records, n_judges, size, goal)}


def pairs_of_repeats(cfg: DictConfig) -> list[tuple[int, float]]:
    return [(repeats, rho) for repeats in cfg.repeats_compared for rho in cfg.correlations_compared]


def by_repeats(cfg: DictConfig, independent: dict[str, float]) -> pd.DataFrame:
    """Comparisons for every goal, repeats among them, by repeats and their correlation."""
    return pd.DataFrame(
        {"repeats": repeats, "correlation": rho, "design_effect": precision.design_effect(repeats, rho)}
        | {goal: precision.whole(size, repeats, rho) for goal, size in independent.items()}
        for repeats, rho in pairs_of_repeats(cfg)
    )


def by_questions(cfg: DictConfig, panel: Panel, wanted: dict, at: dict, sd: float) -> pd.DataFrame:
    """New questions and comparisons for every goal, by pairs of a question and judges of each pair."""
    rows = []
    for pairs in cfg.questions.pairs_compared:
        for judges in cfg.questions.judges_compared:
            asked = Questions(sd, pairs, judges)
            if asked != asked.within(panel):
                continue
            told = precision.precision_of(panel, asked)
            for goal, value in wanted.items():
                size = asked.whole(precision.needed(goal, value, [told], **at))
                row = {"pairs": pairs, "judges": judges, "goal": goal, "wanted": value}
                rows.append(row | {"questions": size // asked.size, "comparisons": size})
    return pd.DataFrame(rows, columns=["pairs", "judges", "goal", "wanted", "questions", "comparisons"])


def curves(cfg: DictConfig, precisions: Precisions, at: dict, questions: Questions = INDEPENDENT) -> pd.DataFrame:
    """What the formulas expect over the range simulated: widths for every number of judges, power for all."""
    sizes = grid(cfg, questions)
    between = np.geomspace(min(sizes), max(sizes), CURVE).round()
    sizes = np.union1d(between, sizes)
    effect = precision.design_effect(cfg.repeats, cfg.correlation)
    return pd.DataFrame(
        {
            "n_judges": n_judges,
            "comparisons": int(size),
            "goal": goal,
            "formula": precision.expected(goal, of_size, size / effect, **at),
        }
        for n_judges, of_size in precisions.items()
        for goal in (precision.GOALS if n_judges == max(precisions) else precision.WIDTHS)
        for size in sizes
    )


def panel_table(panel: Panel) -> pd.DataFrame:
    values = {
        "score": (panel.models, panel.at.scores),
        "discrimination": (panel.judges, np.exp(panel.at.judges[0])),
    }
    frames = [
        pd.DataFrame({"parameter": parameter, "name": names, "value": value})
        for parameter, (names, value) in values.items()
    ]
    return pd.concat(frames, ignore_index=True)
