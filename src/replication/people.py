"""A few human votes beside a panel's many, simulated: what intervals hold, what they save, and the test."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import BoolArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.fit import fit
from judgerank.inference.wald import wald
from judgerank.people.anchor import anchored_by_people, disagreement
from judgerank.people.items import items_of
from judgerank.people.reference import on_scale_of
from replication.replicate import Record

SCORES = np.linspace(1.0, -1.0, 6)  # people's, on average zero
BIAS = np.array([0.0, -0.9, 0.0, 0.9, 0.0, 0.0])  # what the biased panel adds
DISCRIMINATION = np.exp(np.linspace(-0.4, 0.4, 5)) * 1.5
N_ITEMS = 1000  # each on a question of its own, by every judge
NODES = 40  # of the quadrature over the qualities of an item's answers
# settings by name: share of BIAS, sd of an answer's own quality, items that people are asked about
VOTED: dict[str, tuple[float, float, int]] = {
    "fair panel, alike answers": (0.0, 0.0, 200),
    "fair panel": (0.0, 1.0, 200),
    "biased panel": (1.0, 1.0, 200),
    "biased panel, 100 items": (1.0, 1.0, 100),
    "biased panel, 400 items": (1.0, 1.0, 400),
}


def drawn(rng: np.random.Generator, bias: float, sd: float, asked: int) -> tuple[Comparisons, IntArray, BoolArray]:
    """Answers of a panel to every item, and of people to some; the question, and which rows are people's."""
    ends = np.array([rng.permutation(len(SCORES))[:2] for _ in range(N_ITEMS)])
    quality = rng.normal(0.0, sd, (N_ITEMS, 2))  # of the two answers, for people and judges alike
    s = SCORES + bias * BIAS
    apart = quality[:, 0] - quality[:, 1]
    people = (rng.random(N_ITEMS) < expit(SCORES[ends[:, 0]] - SCORES[ends[:, 1]] + apart)).astype(float)
    seen = s[ends[:, 0]] - s[ends[:, 1]] + apart
    k = len(DISCRIMINATION)
    judged = (rng.random((N_ITEMS, k)) < expit(seen[:, None] * DISCRIMINATION)).astype(float)
    chosen = rng.permutation(N_ITEMS)[:asked]
    item = np.r_[np.arange(N_ITEMS).repeat(k), chosen]
    judge = np.r_[np.tile(np.arange(k), N_ITEMS), np.full(asked, k)]
    outcome = np.r_[judged.ravel(), people[chosen]]
    names = tuple(f"m{i}" for i in range(len(SCORES))), (*(f"j{i}" for i in range(k)), "people")
    return Comparisons(*names, *ends[item].T, judge, outcome), item, judge == k


@lru_cache(maxsize=8)
def human_scale(sd: float) -> tuple[float, ...]:
    """What scores of people's votes converge to: a mean over answers is flatter than the curve."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    i, j = np.triu_indices(len(SCORES), 1)
    d = SCORES[i] - SCORES[j]
    mean = expit(d[:, None] + np.sqrt(2) * sd * nodes) @ (weights / weights.sum())
    names = tuple(f"m{x}" for x in range(len(SCORES))), ("people",)
    return tuple(fit(Comparisons(*names, i, j, np.zeros(len(i), int), mean), "btl").scores)


def voted_once(settings: dict, rng: np.random.Generator) -> Record:
    """One panel and some human votes: what intervals of every way to scores hold, and how wide they are."""
    rows, question, human = drawn(rng, settings["bias"], settings["sd"], settings["asked"])
    judges = rows.take(np.flatnonzero(~human))
    panel = fit(judges, "judge_aware").clustered(judges, question[~human])
    found = anchored_by_people(items_of(rows, question, human, panel))
    target, level = np.array(human_scale(settings["sd"])), settings["level"]
    joined = on_scale_of(fit(rows, "judge_aware").clustered(rows, question), "people")
    ways = {"helped": (found.scores, found.covariance), "alone": (found.alone, found.covariance_alone)}
    record: Record = {"weight": found.weight, "saving": found.saving, "p": disagreement(found, panel)[1]}
    for name, (scores, v) in {**ways, "as a judge": joined}.items():
        error = np.sqrt(np.diag(v))
        low, high = wald(scores, error, level, found.clusters - 1.0)
        record |= {f"covered/{name}": float(((low <= target) & (target <= high)).mean())}
        record[f"error/{name}"] = float(np.sqrt(((scores - target) ** 2).mean()))
        record[f"se/{name}"] = float(error.mean())
    return record


def voted(records: pd.DataFrame, name: str) -> dict[str, Any]:
    """Means of the records with their Monte Carlo errors; ``rejected`` at a level of .05."""
    kept = records[records["p"].notna()]
    kept = kept.assign(rejected=(kept["p"] < 0.05).astype(float))
    row: dict[str, Any] = {"setting": name}
    for measure in [*kept.columns.drop(["replication", "p", *(["failure"] if "failure" in kept else [])])]:
        row |= {measure: kept[measure].mean(), f"{measure}_se": kept[measure].std() / np.sqrt(len(kept))}
    return row | {"failed": len(records) - len(kept), "n_replications": len(records)}
