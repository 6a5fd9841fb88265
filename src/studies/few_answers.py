"""Judges with few answers each: one discrimination for each, or that of the panel for all; and voting blocs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.engine.solvers import Settings
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile
from judgerank.model.naming import member
from judgerank.order.pairs import pairwise
from judgerank.order.scale import standardised
from judgerank.ranking.choices import DEFAULT, EXACT, SHRUNK
from judgerank.ranking.studies.one_sided_votes import one_sided
from replication.replicate import Record
from replication.statistics import spearman
from replication.tables import with_errors

SCORES = np.linspace(1.0, -1.0, 6)
LAST = len(SCORES) - 1  # the model that a bloc votes for
DISCRIMINATION, POSITION, TASTE = 0.4, 0.3, 0.5  # standard deviations of log-discriminations, positions, tastes
METHODS: Mapping[str, tuple[str, str | Settings]] = {
    "own": (DEFAULT, SHRUNK),  # a discrimination for every judge
    "shared": (DEFAULT, SHRUNK),  # that of the panel for judges with few answers
    "btl": ("btl", EXACT),
}
MEASURES = ("spearman", "error", "coverage", "separated", "first")


@dataclass(frozen=True)
class Cell:
    """A panel and a crowd.

    Attributes
    ----------
    kind : str
        ``honest``; ``tastes``: the crowd and each judge of the panel have their own; ``coins``: half of the crowd
        tosses coins; ``equal``: all models are alike; ``bloc``, ``half bloc``: all of the crowd, or half of it,
        votes for the last model.
    answers : int
        Of each judge in the crowd.
    crowd : int
        Answers of the crowd.
    panel, panel_answers : int
        Judges with many answers, and how many.
    level : float
    """

    kind: str
    answers: int
    crowd: int
    panel: int
    panel_answers: int
    level: float


def drawn(cell: Cell, rng: np.random.Generator) -> tuple[Comparisons, np.ndarray]:
    """Comparisons of random pairs by a panel and a crowd, and the models' scores."""
    n, panel = len(SCORES), cell.panel
    crowd = cell.crowd // cell.answers
    judge = np.r_[
        np.repeat(np.arange(panel), cell.panel_answers), panel + np.repeat(np.arange(crowd), cell.answers)
    ]
    scores = np.zeros(n) if cell.kind == "equal" else SCORES
    i = rng.integers(0, n, len(judge))
    j = (i + rng.integers(1, n, len(judge))) % n
    thought = np.exp(rng.normal(0.0, DISCRIMINATION, panel + crowd))[:, None] * scores
    if cell.kind == "tastes":
        thought[:panel] += rng.normal(0.0, TASTE, (panel, n))
        thought[panel:] += rng.normal(0.0, TASTE, n)  # which the crowd shares
    eta = thought[judge, i] - thought[judge, j] + rng.normal(0.0, POSITION, panel + crowd)[judge]
    odd = (judge >= panel) & ((judge - panel) % 2 == 0)
    if cell.kind == "coins":
        eta[odd] = 0.0
    won = rng.random(len(judge)) < expit(eta)
    if "bloc" in cell.kind:
        voting = odd if cell.kind == "half bloc" else judge >= panel
        is_first, rival = rng.random(len(judge)) < 0.5, rng.integers(0, LAST, len(judge))
        i, j = (np.where(voting, np.where(side, LAST, rival), x) for side, x in ((is_first, i), (~is_first, j)))
        won = np.where(voting, is_first, won)
    names = tuple(f"m{number}" for number in range(n)), tuple(f"j{number}" for number in range(panel + crowd))
    return Comparisons(*names, i, j, judge, won.astype(float)), scores


def measured(cell: Cell, rng: np.random.Generator) -> Record:
    """One set fitted by every method: order, size and intervals of scores, and votes that are called one-sided."""
    comparisons, scores = drawn(cell, rng)
    pooled = comparisons.pool_few(cell.answers + 1)
    record = Record()
    for method, (name, solver) in METHODS.items():
        try:
            fitted = fit(pooled if method == "shared" else comparisons, name, solver)
            values = _measures(fitted, scores, cell.level)
        except JudgerankError:
            values = {}
        record |= {f"{measure}/{method}": values.get(measure, np.nan) for measure in MEASURES}
    return record


def accused(cell: Cell, rng: np.random.Generator) -> Record:
    """Whether votes of one set are called one-sided, and who is first without them."""
    comparisons, scores = drawn(cell, rng)
    groups = one_sided(comparisons.pool_few(cell.answers + 1), member(DEFAULT))
    first = float(groups[0].first == "m0") if groups and scores.any() else np.nan
    return {"accused": float(len(groups) > 0), "first_without": first}


def _measures(fitted: Fit, scores: np.ndarray, level: float) -> dict[str, float]:
    """Scores are over their standard deviation, which no scale of discriminations changes."""
    measures = {"separated": float(pairwise(fitted, level)["separated"].any())}
    if not scores.any():
        return measures
    n, truth = len(scores), scores / scores.std()
    estimate, covariance = standardised(fitted.scores.to_numpy(), fitted.covariance[:n, :n])
    away = np.abs(estimate - truth)
    within = away <= normal_quantile(level) * np.sqrt(np.diag(covariance))
    measures |= {"spearman": spearman(estimate, truth), "error": float(np.sqrt(np.mean(away**2)))}
    return measures | {"coverage": float(within.mean()), "first": float(np.argmax(estimate) == np.argmax(truth))}


def row(records: pd.DataFrame, cell: Cell) -> dict[str, object]:
    """Means of one cell with Monte Carlo standard errors."""
    measures = records.drop(columns="replication").items()
    means = with_errors({column.replace("/", "_"): values.dropna() for column, values in measures})
    settings = {"kind": cell.kind, "panel": cell.panel, "answers": cell.answers}
    return settings | means | {"n_replications": len(records)}
