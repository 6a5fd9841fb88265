"""A few human votes beside a panel's many, simulated: what intervals hold, what they save, and the test."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.fits.fit import fit
from judgerank.inference.wald import wald
from judgerank.people.anchor import anchored_by_people, disagreement
from judgerank.people.items import items_of
from judgerank.people.report import on_scale_of, vote_losses
from judgerank.people.toward_panel import drawn_toward_panel
from replication.replicate import Record
from replication.tables import with_errors

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


def drawn(
    rng: np.random.Generator, bias: float, sd: float, n_votes: int
) -> tuple[Comparisons, IntArray, BoolArray]:
    """Answers of a panel to every item, and of people to some; the question, and which rows are people's."""
    ends = np.array([rng.permutation(len(SCORES))[:2] for _ in range(N_ITEMS)])
    quality = rng.normal(0.0, sd, (N_ITEMS, 2))  # of the two answers, for people and judges alike
    s = SCORES + bias * BIAS
    difference = quality[:, 0] - quality[:, 1]
    people = (rng.random(N_ITEMS) < expit(SCORES[ends[:, 0]] - SCORES[ends[:, 1]] + difference)).astype(float)
    seen = s[ends[:, 0]] - s[ends[:, 1]] + difference
    k = len(DISCRIMINATION)
    judged = (rng.random((N_ITEMS, k)) < expit(seen[:, None] * DISCRIMINATION)).astype(float)
    chosen = rng.permutation(N_ITEMS)[:n_votes]
    item = np.r_[np.arange(N_ITEMS).repeat(k), chosen]
    judge = np.r_[np.tile(np.arange(k), N_ITEMS), np.full(n_votes, k)]
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
    anchored = anchored_by_people(items_of(rows, question, human, panel))
    target, level = np.array(human_scale(settings["sd"])), settings["level"]
    joined = on_scale_of(fit(rows, "judge_aware").clustered(rows, question), "people")
    toward = drawn_toward_panel(anchored.items, panel)
    estimates = {
        "helped": (anchored.scores, anchored.covariance),
        "alone": (anchored.alone, anchored.covariance_alone),
    }
    estimates["toward the panel"] = toward.scores, toward.covariance
    record: Record = {"weight": anchored.weight, "saving": anchored.saving, "p": disagreement(anchored, panel)[1]}
    for name, (scores, v) in {**estimates, "as a judge": joined}.items():
        error = np.sqrt(np.diag(v))
        low, high = wald(scores, error, level, anchored.degrees_of_freedom)
        record |= {f"covered/{name}": float(((low <= target) & (target <= high)).mean())}
        record[f"error/{name}"] = float(np.sqrt(((scores - target) ** 2).mean()))
        record[f"se/{name}"] = float(error.mean())
    return record


CROWDS = {"600 votes": 600, "1,500 votes": 1500}  # of one person each, on items that are drawn at random
CROWD_MODELS, CROWD_ITEMS, SLOPE, PEOPLE_SD = (
    59,
    3000,
    0.8,
    0.4,
)  # b, and standard deviation of people's own tastes


def crowded(
    rng: np.random.Generator, models: int, items: int, n_votes: int, own_sd: float
) -> tuple[tuple[Comparisons, IntArray, BoolArray], FloatArray]:
    """Two judges on many items and one person each on some; and what people think of the models.

    Returns
    -------
    votes : Comparisons, int array and bool array
        As `drawn`.
    truth : float array, shape (N,)
        Scores on the human scale, on average zero.
    """
    s = rng.normal(0.0, 0.8, models)
    truth = SLOPE * s + rng.normal(0.0, own_sd, models)
    ends = np.array([rng.permutation(models)[:2] for _ in range(items)])
    gamma, lead = np.exp([-0.3, 0.3]), s[ends[:, 0]] - s[ends[:, 1]]
    judged = (rng.random((items, 2)) < expit(lead[:, None] * gamma)).astype(float)
    chosen = rng.permutation(items)[:n_votes]
    people = (rng.random(n_votes) < expit(truth[ends[chosen, 0]] - truth[ends[chosen, 1]])).astype(float)
    item, judge = np.r_[np.arange(items).repeat(2), chosen], np.r_[np.tile([0, 1], items), np.full(n_votes, 2)]
    names = tuple(f"m{i}" for i in range(models)), ("j0", "j1", "people")
    rows = Comparisons(*names, *ends[item].T, judge, np.r_[judged.ravel(), people])
    return (rows, item, judge == 2), truth - truth.mean()


def crowd_once(settings: dict, rng: np.random.Generator) -> Record:
    """One crowd: error, Spearman's correlation and coverage of every way to scores; NaN where there are none."""
    (rows, question, human), truth = crowded(rng, CROWD_MODELS, CROWD_ITEMS, settings["asked"], PEOPLE_SD)
    panel = fit(rows.take(np.flatnonzero(~human)), "judge_aware")
    items, level = items_of(rows, question, human, panel), settings["level"]
    toward = drawn_toward_panel(items, panel)
    losses = vote_losses(items, panel)
    estimates = {"toward the panel": (toward.scores, toward.covariance, toward.degrees_of_freedom)}
    try:
        anchored = anchored_by_people(items)
        estimates["helped"] = anchored.scores, anchored.covariance, anchored.degrees_of_freedom
        estimates["alone"] = anchored.alone, anchored.covariance_alone, anchored.degrees_of_freedom
    except JudgerankError:
        pass
    by_votes = "helped" in estimates and losses["helped"] < losses["toward_panel"]
    estimates["reported"] = estimates["helped" if by_votes else "toward the panel"]
    record: Record = {"chosen": float(not by_votes), "slope": toward.slope, "spread": toward.spread}
    for name in ("alone", "helped", "toward the panel", "reported"):
        scores, v, freedom = estimates.get(name, (np.full(len(truth), np.nan), np.eye(len(truth)), np.inf))
        low, high = wald(scores, np.sqrt(np.diag(v)), level, freedom)
        is_finite = np.isfinite(scores).all()
        record[f"error/{name}"] = float(np.sqrt(((scores - truth) ** 2).mean()))
        record[f"spearman/{name}"] = spearman(scores, truth) if is_finite else np.nan
        record[f"covered/{name}"] = float(((low <= truth) & (truth <= high)).mean()) if is_finite else np.nan
    return record


def spearman(first: FloatArray, second: FloatArray) -> float:
    """Spearman's rank correlation, without ties."""
    return float(np.corrcoef(np.argsort(np.argsort(first)), np.argsort(np.argsort(second)))[0, 1])


def crowd_row(records: pd.DataFrame, name: str) -> dict[str, Any]:
    """Means with Monte Carlo errors, each over the crowds that have such scores; ``none`` counts the others."""
    row: dict[str, Any] = {"crowd": name, "n_replications": len(records)}
    row["none"] = int(records["error/alone"].isna().sum())
    measures = records.drop(columns=["replication", "failure"], errors="ignore").items()
    return row | with_errors({measure: values.dropna() for measure, values in measures})


def voted(records: pd.DataFrame, name: str) -> dict[str, Any]:
    """Means of the records with their Monte Carlo errors; ``rejected`` at a level of .05."""
    complete_records = records[records["p"].notna()]
    complete_records = complete_records.assign(rejected=(complete_records["p"] < 0.05).astype(float))
    measures = complete_records.drop(columns=["replication", "p", "failure"], errors="ignore")
    row: dict[str, Any] = {"setting": name} | with_errors(measures)
    return row | {"failed": len(records) - len(complete_records), "n_replications": len(records)}
