"""Self-preference: what is lost and gained by leaving out votes of judges on models of their own maker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.ranking.choices import Settings
from judgerank.ranking.findings import ranked_set
from judgerank.ranking.recusal import COUNT, recusal_of
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.by_judge import OF_MAKERS
from replication.replicate import Record
from replication.statistics import spearman
from replication.tables import with_errors

# Five models, the second of which is best; the first has a judge of its maker who may favour it.
SCORES = {"gpt-4o-mini": 0.5, "claude-haiku": 0.7, "llama-3-70b": 0.1, "mistral-large": 0.3, "our-ft-7b": -0.4}
FAVOURED, BEST = list(SCORES)[:2]
# discrimination and position bias of judges; the first is the one who may favour his maker's model
THREE = {"gpt-4o": (1.6, 0.1), "claude-sonnet": (1.8, 0.0), "qwen-72b": (0.7, 0.9)}
FIVE = {**THREE, "deepseek-chat": (1.2, 0.2), "gemini-pro": (1.0, -0.3)}
PANELS = {
    "3 judges": THREE,
    "5 judges": FIVE,
    "two makers, a judge each": {name: THREE[name] for name in ("gpt-4o", "claude-sonnet")},
    "every judge of one maker": {"gpt-4o": (1.6, 0.1), "gpt-4.1": (1.8, 0.0), "o3": (0.7, 0.9)},
}
QUALITY_SD, TIES = 0.5, 0.08  # of answers to one question, and share of ties
METHODS = ("recused", "counted", "btl", "guilty_left_out", "guilty_recused")


def of_set(judgments: Judgments) -> dict[str, Any]:
    """Votes left out of one set, and what that changes.

    Returns
    -------
    dict
        ``left_out``: share of the comparisons; ``one_own``: share of those with one model of the judge's maker,
        not two. ``dependent``: models that only judges of their maker compared with some others. ``spearman``:
        rank correlation of the scores with and without such votes; ``same_first``: how many of the first three
        models, counted from the first, have the same place.
    """
    recusal = recusal_of(judgments)
    c, own = recusal.judgments.comparisons, recusal.related.is_own
    judge = c.judge.astype(np.intp)
    one_own = own[judge, c.first] != own[judge, c.second]
    without, every = (_scores(judgments, settings) for settings in (Settings(), Settings(own_maker=COUNT)))
    orders = [list(scores.sort_values(ascending=False).index[:3]) for scores in (without, every)]
    same = [a == b for a, b in zip(*orders, strict=True)]
    return {
        "dataset": judgments.name,
        "models": len(c.models),
        "judges": len(c.judges),
        "left_out": recusal.n_left_out / c.n_comparisons,
        "one_own": float(c.count[one_own].sum() / c.n_comparisons),
        "dependent": len(recusal.dependent),
        "spearman": spearman(without, every[without.index]),
        "same_first": same.index(False) if False in same else len(same),
    }


def _scores(judgments: Judgments, settings: Settings) -> pd.Series:
    return ranked_set(judgments, settings).components[0].reported.scores


def drawn(
    rng: np.random.Generator, judges: dict[str, tuple[float, float]], bias: float, questions: int
) -> Judgments:
    """Every pair by every judge in both orders on each question; the first judge adds `bias` to `FAVOURED`."""
    n, names = len(SCORES), list(judges)
    quality = np.array(list(SCORES.values())) + rng.normal(0.0, QUALITY_SD, (questions, n))
    q, i, j, k = (
        values.ravel()
        for values in np.meshgrid(range(questions), range(n), range(n), range(len(names)), indexing="ij")
    )
    q, i, j, k = (values[i != j] for values in (q, i, j, k))
    gamma, position = np.array(list(judges.values())).T
    favoured = (i == 0).astype(float) - (j == 0)
    eta = gamma[k] * (quality[q, i] - quality[q, j]) + position[k] + bias * (k == 0) * favoured
    won = (rng.random(len(eta)) < expit(eta)).astype(float)
    outcome = np.where(rng.random(len(eta)) < TIES, 0.5, won)
    rows = Judgments.of(Comparisons(tuple(SCORES), tuple(names), i, j, k, outcome))
    return replace(rows, frame=rows.frame.assign(question_id=[f"q{number}" for number in q]))


def simulated_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One set: who is first by several methods and by how much, and which judges are said to go by their maker."""
    judges = PANELS[settings["panel"]]
    judgments = drawn(rng, judges, settings["bias"], settings["questions"])
    ranked = ranked_set(judgments, Settings())
    component, c = ranked.components[0], judgments.comparisons
    partial, favoured = next(iter(judges)), c.models.index(FAVOURED)
    guilty = c.judge == c.judges.index(partial)
    own = guilty & ((c.first == favoured) | (c.second == favoured))
    member = component.member.model
    scores = {
        "recused": component.reported.scores,
        "counted": _scores(judgments, Settings(own_maker=COUNT)),
        "btl": fit(c, "btl").scores,
        "guilty_left_out": fit(c.take(np.flatnonzero(~guilty)), member, "penalised").scores,
        "guilty_recused": fit(c.take(np.flatnonzero(~own)), member, "penalised").scores,
    }
    record: Record = {}
    for method, values in scores.items():
        lead = float((values[BEST] - values[FAVOURED]) / values.std(ddof=0))
        record |= {f"wrong_{method}": float(values.idxmax() != BEST), f"lead_{method}": lead}
    verdicts = panel.table_of(component).set_index("judge")["verdict"]
    accused = {judge for judge, verdict in verdicts.items() if str(verdict).endswith(OF_MAKERS)}
    first = str(component.reported.scores.idxmax())
    return record | {
        "guilty_accused": float(partial in accused),
        "innocent_accused": float(bool(accused - {partial})),
        "warned": float(ranked.recusal.are_all_by_maker_of(first) or first in ranked.recusal.dependent),
    }


def simulated_row(records: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Means of one cell with Monte Carlo standard errors."""
    row: dict[str, Any] = {name: settings[name] for name in ("panel", "bias")} | with_errors(records)
    scores = np.array(list(SCORES.values()))
    return row | {"true_lead": (scores[1] - scores[0]) / scores.std(), "n_replications": len(records)}
