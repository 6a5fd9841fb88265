"""Random parts of a set, refitted: how much of the full ranking they give (sections 5.3, 5.4, appendix F.7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from omegaconf import DictConfig
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.judgments import Judgments
from judgerank.fits.result import Fit
from replication import published
from replication.config import ROOT
from replication.estimators import Estimate, Estimators, estimates_of
from replication.random_designs import draw_outcomes
from replication.replicate import Cell, Study, Task
from replication.statistics import spearman

MEASURES = ("pearson", "spearman")


@dataclass(frozen=True)
class FullData:
    """The full data, and what fits of its parts are held against.

    Attributes
    ----------
    comparisons : Comparisons
        Raw rows.
    references : dict of str to Series
        Scores by model: those of both full-data fits, and of people or of the surrogate's truth where they exist.
    discrimination : Series
        Of the full-data judge-aware fit.
    """

    comparisons: Comparisons
    references: dict[str, pd.Series]
    discrimination: pd.Series


@dataclass(frozen=True)
class Subsample:
    """Judges at random and some of their comparisons, and the estimators of both models."""

    n_judges: int
    n_comparisons: int
    estimators: Estimators


@dataclass(frozen=True)
class Panel:
    """A panel of so many judges, some of them out of the weak ones, and some of its comparisons."""

    n_weak: int
    weak: tuple[str, ...]
    strong: tuple[str, ...]
    panel: int
    n_comparisons: int
    estimators: Estimators


@dataclass(frozen=True)
class Graph:
    """A random connected subgraph: where its comparisons come from, its edges and how its tree is drawn.

    Its budget is the number of comparisons made, unless it names another.
    """

    redraw: str
    n_edges: int
    tree: str = "weights"
    n_comparisons: int | None = None


@dataclass(frozen=True)
class Thinned(Graph):
    """A subgraph with the edges of so many trees, a fraction of all pairs compared, and the estimators."""

    trees: int = field(kw_only=True)
    edge_fraction: float = field(kw_only=True)
    estimators: Estimators = field(kw_only=True)


@dataclass(frozen=True)
class Correlated:
    """How an estimator's fits of a draw ended; their correlations by method, reference and measure, if any."""

    status: str
    correlations: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Draw:
    """One random part of a set.

    Attributes
    ----------
    made : bool
        Whether the set has so many comparisons by the judges drawn.
    estimators : dict of str to Correlated
        By estimator, what became of the draw.
    """

    made: bool
    estimators: dict[str, Correlated] = field(default_factory=dict)


def full_data_of(judgments: Judgments, fits: dict[str, Fit]) -> FullData:
    """A set with its full-data fits and every other reference there is for it."""
    references = {name: fitted.scores for name, fitted in fits.items()}
    if judgments.truth is not None:
        truth = judgments.truth
        references["truth"] = truth[truth["parameter"] == "score"].set_index("name")["value"]
    elif judgments.name == "chatbot_arena":
        references["human"] = published.numbers("chatbot_arena_human", "elo")
    return FullData(judgments.comparisons, references, fits["judge_aware"].discrimination)


def correlations(scores: pd.Series, reference: pd.Series) -> dict[str, float]:
    """Pearson and Spearman correlation with a reference, over the models it has."""
    scores_of_reference = scores[reference.index]
    pearson = float(np.corrcoef(scores_of_reference, reference)[0, 1])
    return {"pearson": pearson, "spearman": spearman(scores_of_reference, reference)}


def held_against(full_data: FullData, parts: Sequence[Comparisons | None], estimators: Estimators) -> list[Draw]:
    """Every part of a set that there is, fitted by every estimator and correlated with every reference."""
    ends = iter(estimates_of([part for part in parts if part is not None], estimators))
    return [Draw(False) if part is None else Draw(True, _correlated(full_data, next(ends))) for part in parts]


def _correlated(full_data: FullData, estimates: dict[str, Estimate]) -> dict[str, Correlated]:
    return {
        name: Correlated(
            estimate.status,
            {
                method: {to: correlations(scores, reference) for to, reference in full_data.references.items()}
                for method, scores in estimate.scores.items()
            },
        )
        for name, estimate in estimates.items()
    }


def subsampled(cell: Subsample, rngs: Sequence[np.random.Generator], full_data: FullData) -> list[Draw]:
    """K judges at random, and T of their comparisons (section 5.3)."""
    c, parts = full_data.comparisons, []
    for rng in rngs:
        judges = rng.choice(len(c.judges), cell.n_judges, replace=False)
        parts.append(_some_of(full_data, judges, cell.n_comparisons, rng))
    return held_against(full_data, parts, cell.estimators)


def empanelled(cell: Panel, rngs: Sequence[np.random.Generator], full_data: FullData) -> list[Draw]:
    """A panel with a given number of weak judges, and T of its comparisons (section 5.4, extended)."""
    c, parts = full_data.comparisons, []
    for rng in rngs:
        chosen = [
            *rng.choice(cell.weak, cell.n_weak, replace=False),
            *rng.choice(cell.strong, cell.panel - cell.n_weak, replace=False),
        ]
        judges = [c.judges.index(name) for name in chosen]
        parts.append(_some_of(full_data, judges, cell.n_comparisons, rng))
    return held_against(full_data, parts, cell.estimators)


def _some_of(
    full_data: FullData, judges: Iterable[int], n_comparisons: int, rng: np.random.Generator
) -> Comparisons | None:
    """So many comparisons by these judges, if there are as many."""
    rows = np.flatnonzero(np.isin(full_data.comparisons.judge, judges))
    if len(rows) < n_comparisons:
        return None
    return full_data.comparisons.take(rng.choice(rows, n_comparisons, replace=False))


def thinned(cell: Thinned, rngs: Sequence[np.random.Generator], full_data: FullData) -> list[Draw]:
    """The comparisons of random connected subgraphs (appendix F.7)."""
    return held_against(full_data, [sparse_part(cell, rng, full_data) for rng in rngs], cell.estimators)


def sparse_part(graph: Graph, rng: np.random.Generator, full_data: FullData) -> Comparisons:
    """A random connected subgraph of the pairs, a budget spread evenly over it (appendix F.7)."""
    c = full_data.comparisons
    n = len(c.models)
    edges, edge_of_row = np.unique(c.pair, return_inverse=True)
    edges_drawn = rng.permutation(connected_edges(rng, *np.divmod(edges, n), n, graph.n_edges, graph.tree))
    edge = np.resize(edges_drawn, graph.n_comparisons or len(c))  # as evenly as whole numbers go
    if graph.redraw == "simulate":
        i, j = np.divmod(edges[edge], n)
        judge = rng.choice(c.judge, len(edge))
        s = full_data.references["judge_aware"].to_numpy()
        p = expit(full_data.discrimination.to_numpy()[judge] * (s[i] - s[j]))
        return Comparisons(c.models, c.judges, i, j, judge, draw_outcomes(rng, p))
    count = np.bincount(edge_of_row)
    start = np.cumsum(count) - count
    if graph.redraw == "subset":
        wanted = np.bincount(edge, minlength=len(edges))
        order = rng.permutation(len(c))
        order = order[np.argsort(edge_of_row[order], kind="stable")]
        position = np.arange(len(c)) - np.repeat(start, count)
        return c.take(order[position < wanted[edge_of_row[order]]])
    order = np.argsort(edge_of_row, kind="stable")
    return c.take(order[start[edge] + np.floor(rng.random(len(edge)) * count[edge]).astype(np.int64)])


def connected_edges(
    rng: np.random.Generator, i: np.ndarray, j: np.ndarray, n_models: int, n_edges: int, tree: str = "weights"
) -> np.ndarray:
    """Indices of `n_edges` random edges out of (i, j) that connect all models: a random tree, then others.

    The tree is that of least total weight under independent random weights; or, as ``uniform``, every spanning
    tree is as likely as any other (first visits of a random walk: Aldous, 1990; Broder, 1989).
    """
    weight = 1.0 + rng.random(len(i))
    if tree == "uniform":
        weight[_first_visits(rng, i, j, n_models)] = 0.5
    least = minimum_spanning_tree(coo_array((weight, (i, j)), shape=(n_models, n_models)))
    in_tree = np.isin(weight, least.data)
    rest = rng.permutation(np.flatnonzero(~in_tree))
    return np.concatenate([np.flatnonzero(in_tree), rest])[:n_edges]


def _first_visits(rng: np.random.Generator, i: np.ndarray, j: np.ndarray, n_models: int) -> list[int]:
    """Indices of the edges by which a random walk first comes to each model but the one it starts from."""
    seen, current, first_edges = {0}, 0, []
    ends = [(np.flatnonzero((i == model) | (j == model))) for model in range(n_models)]
    while len(seen) < n_models:
        edge = int(rng.choice(ends[current]))
        current = int(i[edge] + j[edge] - current)
        if current not in seen:
            seen.add(current)
            first_edges.append(edge)
    return first_edges


def study_of(cfg: DictConfig, section: str, task: Task, full_data: FullData, cells: dict[str, Cell]) -> Study:
    """The configured number of repeats of a task on a set, over cells."""
    repeats = dict.fromkeys(cells, cfg.repeats)
    folder = Path(ROOT, cfg.cache)
    name = f"{section}-{cfg.dataset.name}"
    return Study(name, task, cells, repeats, cfg.seed, folder, cfg.block, full_data, by_block=True)
