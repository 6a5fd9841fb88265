"""Random parts of a set, refitted: how much of the full ranking they give (sections 5.3, 5.4, appendix F.7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from omegaconf import DictConfig
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.engine.solvers import Settings
from judgerank.fits.result import Fit
from replication import published
from replication.config import ROOT, fits_by
from replication.correlation import spearman
from replication.random_designs import draw_outcomes
from replication.replicate import Cell, Study, Task

MEASURES = ("pearson", "spearman")


@dataclass(frozen=True)
class Whole:
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
    """Judges at random and some of their comparisons, and the solver of each model's fit to them."""

    n_judges: int
    n_comparisons: int
    solvers: dict[str, Settings]


@dataclass(frozen=True)
class Panel:
    """A panel of so many judges, some of them out of the weak ones, and some of its comparisons."""

    n_weak: int
    weak: tuple[str, ...]
    strong: tuple[str, ...]
    panel: int
    n_comparisons: int
    solvers: dict[str, Settings]


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
    """A subgraph with the edges of so many trees, a fraction of all pairs compared, and the solvers of fits."""

    trees: int = field(kw_only=True)
    edge_fraction: float = field(kw_only=True)
    solvers: dict[str, Settings] = field(kw_only=True)


@dataclass(frozen=True)
class Correlated:
    """How both fits of a part ended; if both have a maximum, correlations by method, reference and measure."""

    status: str
    correlations: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)


def whole_of(judgments: Judgments, fits: dict[str, Fit]) -> Whole:
    """A set with its full-data fits and every other reference there is for it."""
    references = {name: fitted.scores for name, fitted in fits.items()}
    if judgments.truth is not None:
        truth = judgments.truth
        references["truth"] = truth[truth["parameter"] == "score"].set_index("name")["value"]
    elif judgments.name == "chatbot_arena":
        references["human"] = published.numbers("chatbot_arena_human", "elo")
    return Whole(judgments.comparisons, references, fits["judge_aware"].discrimination)


def correlations(scores: pd.Series, reference: pd.Series) -> dict[str, float]:
    """Pearson and Spearman correlation with a reference, over the models it has."""
    known = scores[reference.index]
    pearson = float(np.corrcoef(known, reference)[0, 1])
    return {"pearson": pearson, "spearman": spearman(known, reference)}


def held_against(whole: Whole, part: Comparisons, solvers: dict[str, Settings]) -> Correlated:
    """Both fits of a part, correlated with every reference; if either has no maximum, only the reason why."""
    try:
        fits = fits_by(solvers, part)
    except NoMaximumError as error:
        return Correlated(type(error).__name__)
    for fitted in fits.values():
        if not fitted.converged:
            return Correlated(str(fitted.status))
    found = {
        method: {name: correlations(fitted.scores, reference) for name, reference in whole.references.items()}
        for method, fitted in fits.items()
    }
    return Correlated(str(fits["judge_aware"].status), found)


def subsampled(cell: Subsample, rng: np.random.Generator, whole: Whole) -> Correlated:
    """K judges at random, and T of their comparisons (section 5.3)."""
    c = whole.comparisons
    judges = rng.choice(len(c.judges), cell.n_judges, replace=False)
    return _some_of(whole, np.flatnonzero(np.isin(c.judge, judges)), cell, rng)


def empanelled(cell: Panel, rng: np.random.Generator, whole: Whole) -> Correlated:
    """A panel with a given number of weak judges, and T of its comparisons (section 5.4, extended)."""
    c = whole.comparisons
    chosen = [
        *rng.choice(cell.weak, cell.n_weak, replace=False),
        *rng.choice(cell.strong, cell.panel - cell.n_weak, replace=False),
    ]
    judges = [c.judges.index(name) for name in chosen]
    return _some_of(whole, np.flatnonzero(np.isin(c.judge, judges)), cell, rng)


def _some_of(whole: Whole, rows: np.ndarray, cell: Subsample | Panel, rng: np.random.Generator) -> Correlated:
    if len(rows) < cell.n_comparisons:
        return Correlated("TooFewComparisons")
    part = whole.comparisons.take(rng.choice(rows, cell.n_comparisons, replace=False))
    return held_against(whole, part, cell.solvers)


def thinned(cell: Thinned, rng: np.random.Generator, whole: Whole) -> Correlated:
    """Both fits of a random connected subgraph's comparisons (appendix F.7)."""
    return held_against(whole, sparse_part(cell, rng, whole), cell.solvers)


def sparse_part(graph: Graph, rng: np.random.Generator, whole: Whole) -> Comparisons:
    """A random connected subgraph of the pairs, a budget spread evenly over it (appendix F.7)."""
    c = whole.comparisons
    n = len(c.models)
    edges, edge_of_row = np.unique(c.pair, return_inverse=True)
    kept = rng.permutation(connected_edges(rng, *np.divmod(edges, n), n, graph.n_edges, graph.tree))
    edge = np.resize(kept, graph.n_comparisons or len(c))  # as evenly as whole numbers go
    if graph.redraw == "simulate":
        i, j = np.divmod(edges[edge], n)
        judge = rng.choice(c.judge, len(edge))
        s = whole.references["judge_aware"].to_numpy()
        p = expit(whole.discrimination.to_numpy()[judge] * (s[i] - s[j]))
        return Comparisons(c.models, c.judges, i, j, judge, draw_outcomes(rng, p))
    count = np.bincount(edge_of_row)
    start = np.cumsum(count) - count
    if graph.redraw == "subset":
        wanted = np.bincount(edge, minlength=len(edges))
        order = rng.permutation(len(c))
        order = order[np.argsort(edge_of_row[order], kind="stable")]
        place = np.arange(len(c)) - np.repeat(start, count)
        return c.take(order[place < wanted[edge_of_row[order]]])
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
    seen, at, found = {0}, 0, []
    ends = [(np.flatnonzero((i == model) | (j == model))) for model in range(n_models)]
    while len(seen) < n_models:
        edge = int(rng.choice(ends[at]))
        at = int(i[edge] + j[edge] - at)
        if at not in seen:
            seen.add(at)
            found.append(edge)
    return found


def study_of(cfg: DictConfig, section: str, task: Task, whole: Whole, cells: dict[str, Cell]) -> Study:
    """The configured number of repeats of a task on a set, over cells."""
    repeats = dict.fromkeys(cells, cfg.repeats)
    folder = Path(ROOT, cfg.cache)
    return Study(f"{section}-{cfg.dataset.name}", task, cells, repeats, cfg.seed, folder, cfg.block, whole)


def summary_of(study: Study, columns: Iterable[str], paper_repeats: int) -> pd.DataFrame:
    """Correlations by cell, method, reference and measure, over the repeats that gave both fits.

    Returns
    -------
    DataFrame
        The cell's fields named by `columns`, ``method, reference, measure, mean, standard_error, q25, q75,
        q025, q975`` (the central 95% of repeats), ``n_repeats``, and ``paper_mean``, the mean over the first
        `paper_repeats` repeats.

    Raises
    ------
    ConfigError
        If there is no repeat with both fits, or no cell.
    """
    rows = []
    for name, cell in study.cells.items():
        records, place = study.frame(name), {column: getattr(cell, column) for column in columns}
        for key in (column for column in records.columns if column.startswith("correlations/")):
            _, method, reference, measure = key.split("/")
            known = records[key].dropna()
            row = {
                "method": method,
                "reference": reference,
                "measure": measure,
                "mean": known.mean(),
                "standard_error": known.std() / np.sqrt(len(known)),
                "q25": known.quantile(0.25),
                "q75": known.quantile(0.75),
                "q025": known.quantile(0.025),
                "q975": known.quantile(0.975),
                "n_repeats": len(known),
                "paper_mean": records[key].iloc[:paper_repeats].mean(),
            }
            rows.append(place | row)
    if not rows:
        raise ConfigError(f"{study.name}: at none of the settings has the set enough for a fit")
    return pd.DataFrame(rows)


def endings_of(study: Study, columns: Iterable[str]) -> pd.DataFrame:
    """How many repeats of every cell ended how; a failed one by the kind of its failure."""
    rows = []
    for name, cell in study.cells.items():
        records, place = study.frame(name), {column: getattr(cell, column) for column in columns}
        counts = records["status"].fillna(records["failure"].str.partition(":")[0]).value_counts()
        rows += [place | {"status": ended, "repeats": many} for ended, many in counts.items()]
    return pd.DataFrame(rows)
