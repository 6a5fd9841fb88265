"""Do panels of two or three judges better have equal weights? The default against two fits that give these.

By Spearman's correlation with the truth of simulated sets, and with people's Elo on samples of Chatbot Arena.
Log-loss does not decide: weights may predict judges well and people badly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from omegaconf import DictConfig, OmegaConf
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.ranking.choices import DEFAULT, SHRUNK
from replication import published
from replication.replicate import Record, Study
from replication.statistics import spearman

EQUAL = ("position_only", "btl")  # members of the family in which all judges weigh the same
ARENA = "chatbot_arena"
SIGMA_SCORES = 0.6  # of simulated models, in log-odds


@dataclass(frozen=True)
class FewJudges:
    """A small panel: drawn from a population of judges, or from those of Chatbot Arena.

    Attributes
    ----------
    n_judges, n_models, n_comparisons : int
        Without models it is a sample of Chatbot Arena.
    spread, position, taste : float
        Standard deviation of log-discriminations, the first judge's preference for the model shown first, and the
        standard deviation of tastes, in log-odds.
    """

    n_judges: int
    n_models: int
    n_comparisons: int
    spread: float = 0.0
    position: float = 0.0
    taste: float = 0.0


def of_few_judges(cell: FewJudges, rng: np.random.Generator, arena: Comparisons | None) -> Record:
    """Spearman's correlation of the default's scores, and of each rival's, with the truth or with people."""
    data, truth = _drawn(cell, rng) if cell.n_models else _sampled(cell, rng, arena)
    scores = {member: fit(data, member, SHRUNK).scores for member in (DEFAULT, *EQUAL)}
    return {member: spearman(values, truth[values.index]) for member, values in scores.items()}


def _drawn(cell: FewJudges, rng: np.random.Generator) -> tuple[Comparisons, pd.Series]:
    """Comparisons of random pairs by judges drawn from their population, and the models' scores."""
    n, size = cell.n_models, cell.n_comparisons
    scores = pd.Series(rng.normal(0.0, SIGMA_SCORES, n), [f"m{number}" for number in range(n)])
    gamma = np.exp(rng.normal(0.0, cell.spread, cell.n_judges))
    tastes = rng.normal(0.0, cell.taste, (cell.n_judges, n))
    i, k = rng.integers(n, size=size), rng.integers(cell.n_judges, size=size)
    j = (i + rng.integers(1, n, size=size)) % n
    s = scores.to_numpy()
    eta = gamma[k] * (s[i] - s[j]) + tastes[k, i] - tastes[k, j] + cell.position * (k == 0)
    frame = pd.DataFrame({"model_a": scores.index[i], "model_b": scores.index[j], "judge_model": k.astype(str)})
    frame["judge_preferred_model"] = np.where(rng.random(size) < expit(eta), "a", "b")
    return Comparisons.from_frame(frame), scores


def _sampled(
    cell: FewJudges, rng: np.random.Generator, arena: Comparisons | None
) -> tuple[Comparisons, pd.Series]:
    """Comparisons by some judges of Chatbot Arena, drawn at random, and people's Elo."""
    assert arena is not None
    judges = rng.choice(len(arena.judges), cell.n_judges, replace=False)
    rows = rng.permutation(np.flatnonzero(np.isin(arena.judge, judges)))[: cell.n_comparisons]
    chosen = arena.take(np.sort(rows)).with_judges([arena.judges[k] for k in sorted(judges)])
    return chosen, published.numbers("chatbot_arena_human", "elo")


def cells_of(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, FewJudges]:
    """Cells by name: every simulated panel, and samples of Chatbot Arena where it is at hand."""
    p = OmegaConf.to_container(cfg.few_judges)
    others = [{}, {"position": p["position"]}, {"taste": p["taste"]}]
    cells = {}
    for n_judges in p["n_judges"]:
        for (n_models, size), spread, other in product(
            zip(p["n_models"], p["n_comparisons"], strict=True), p["spreads"], others
        ):
            name = f"k{n_judges}-n{n_models}-spread{spread:g}-{next(iter(other), 'plain')}"
            cells[name] = FewJudges(n_judges, n_models, size, spread, **other)
        if ARENA in data and not data[ARENA].is_surrogate:
            for size in p["sampled"]:
                cells[f"k{n_judges}-arena{size}"] = FewJudges(n_judges, 0, size)
    return cells


def few_judges_rows(study: Study) -> Iterator[dict[str, Any]]:
    """Every cell: the default's correlation, and how much higher each rival's is, with Monte Carlo errors."""
    for name, cell in study.cells.items():
        frame = pd.DataFrame(list(study.records(name))).dropna()
        row: dict[str, Any] = {"set": "simulated" if cell.n_models else ARENA, "n_judges": cell.n_judges}
        row |= {"n_models": cell.n_models, "n_comparisons": cell.n_comparisons}
        row |= {"spread": cell.spread, "position": cell.position, "taste": cell.taste}
        row |= {"default": frame[DEFAULT].mean(), "default_se": frame[DEFAULT].sem()}
        for member in EQUAL:
            gain = frame[member] - frame[DEFAULT]
            row |= {member: gain.mean(), f"{member}_se": gain.sem()}
        yield row | {"n_replications": len(frame)}
