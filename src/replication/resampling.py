"""Random parts of a set, refitted: how much of the full ranking they give (sections 5.3, 5.4, appendix F.7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from omegaconf import DictConfig, OmegaConf
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.fits.result import Fit
from judgerank.model.simulate import draw_outcomes
from replication import published
from replication.config import ROOT, both_fits
from replication.correlation import spearman
from replication.replicate import Record, Study, Task

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


def held_against(whole: Whole, part: Comparisons, settings: dict) -> Record:
    """Both fits of a part, correlated with every reference; if either has no maximum, only the reason why."""
    try:
        fits = both_fits(OmegaConf.create(settings["solver"]), part)
    except NoMaximumError as error:
        return {"status": type(error).__name__}
    status = next((str(fitted.status) for fitted in fits.values() if not fitted.converged), "")
    record: Record = {"status": status or str(fits["judge_aware"].status)}
    if not status:
        for method, fitted in fits.items():
            for name, reference in whole.references.items():
                for measure, value in correlations(fitted.scores, reference).items():
                    record[f"{method}/{name}/{measure}"] = value
    return record


def subsampled(settings: dict, rng: np.random.Generator, whole: Whole) -> Record:
    """K judges at random, and T of their comparisons (section 5.3)."""
    c = whole.comparisons
    judges = rng.choice(len(c.judges), settings["n_judges"], replace=False)
    return _some_of(whole, np.flatnonzero(np.isin(c.judge, judges)), settings, rng)


def empanelled(settings: dict, rng: np.random.Generator, whole: Whole) -> Record:
    """A panel with a given number of weak judges, and T of its comparisons (section 5.4, extended)."""
    c, n_weak = whole.comparisons, settings["n_weak"]
    chosen = [
        *rng.choice(settings["weak"], n_weak, replace=False),
        *rng.choice(settings["strong"], settings["panel"] - n_weak, replace=False),
    ]
    judges = [c.judges.index(name) for name in chosen]
    return _some_of(whole, np.flatnonzero(np.isin(c.judge, judges)), settings, rng)


def _some_of(whole: Whole, rows: np.ndarray, settings: dict, rng: np.random.Generator) -> Record:
    size = settings["n_comparisons"]
    if len(rows) < size:
        return {"status": "TooFewComparisons"}
    return held_against(whole, whole.comparisons.take(rng.choice(rows, size, replace=False)), settings)


def thinned(settings: dict, rng: np.random.Generator, whole: Whole) -> Record:
    """Both fits of a random connected subgraph's comparisons (appendix F.7)."""
    return held_against(whole, sparse_part(settings, rng, whole), settings)


def sparse_part(settings: dict, rng: np.random.Generator, whole: Whole) -> Comparisons:
    """A random connected subgraph of the pairs, a budget spread evenly over it (appendix F.7).

    The budget is the number of comparisons made, unless the settings name another.
    """
    c = whole.comparisons
    n = len(c.models)
    pair = np.minimum(c.first, c.second).astype(np.int64) * n + np.maximum(c.first, c.second)
    edges, edge_of_row = np.unique(pair, return_inverse=True)
    tree = settings.get("tree", "weights")
    kept = rng.permutation(connected_edges(rng, *np.divmod(edges, n), n, settings["n_edges"], tree))
    edge = np.resize(kept, settings.get("n_comparisons", len(c)))  # as evenly as whole numbers go
    if settings["redraw"] == "simulate":
        i, j = np.divmod(edges[edge], n)
        judge = rng.choice(c.judge, len(edge))
        s = whole.references["judge_aware"].to_numpy()
        p = expit(whole.discrimination.to_numpy()[judge] * (s[i] - s[j]))
        return Comparisons(c.models, c.judges, i, j, judge, draw_outcomes(rng, p))
    count = np.bincount(edge_of_row)
    start = np.cumsum(count) - count
    if settings["redraw"] == "subset":
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


def study_of(cfg: DictConfig, section: str, task: Task, whole: Whole, cells: dict[str, dict]) -> Study:
    """The configured number of repeats of a task on a set, over cells of settings."""
    solver = OmegaConf.to_container(cfg.solver)
    name = f"{section}-{cfg.dataset.name}"
    settings = {cell: {**values, "solver": solver} for cell, values in cells.items()}
    repeats = dict.fromkeys(settings, cfg.repeats)
    return Study(name, task, settings, repeats, cfg.seed, Path(ROOT, cfg.cache), cfg.block, whole)


def summary_of(study: Study, columns: Iterable[str], paper_repeats: int) -> pd.DataFrame:
    """Correlations by cell, method, reference and measure, over the repeats that gave both fits.

    Returns
    -------
    DataFrame
        The cell's settings named by `columns`, ``method, reference, measure, mean, standard_error, q25, q75,
        q025, q975`` (the central 95% of repeats), ``n_repeats``, and ``paper_mean``, the mean over the first
        `paper_repeats` repeats.

    Raises
    ------
    ConfigError
        If there is no repeat with both fits, or no cell.
    """
    rows = []
    for cell, settings in study.cells.items():
        records = pd.DataFrame(study.records(cell))
        place = {name: settings[name] for name in columns}
        for key in (column for column in records.columns if column.count("/") == 2):
            method, reference, measure = key.split("/")
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
    for settings, records in ((study.cells[cell], pd.DataFrame(study.records(cell))) for cell in study.cells):
        status = records.reindex(columns=["status"])["status"]
        if "failure" in records:
            status = status.fillna(records["failure"].str.partition(":")[0])
        counts = status.value_counts()
        place = {name: settings[name] for name in columns}
        rows += [place | {"status": ended, "repeats": many} for ended, many in counts.items()]
    return pd.DataFrame(rows)
