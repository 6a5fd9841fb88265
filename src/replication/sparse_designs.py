"""Table A.9: which unstated design gives all of its numbers, by a likelihood of the twenty together.

The paper fixes "the total number of comparisons" and does not say at how many, whether they are drawn with
replacement, or where the iteration stopped. A replication here is a whole table: one random graph for each of its
rows, fitted by the paper's Algorithm A.1. Tables of a design say where one more would fall.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import t

from replication import published
from replication.estimator_names import ALL_DRAWS
from replication.estimators import read_at
from replication.replicate import Study
from replication.resampling import MEASURES, FullData, Graph, correlations, sparse_part
from replication.statistics import SHARE, one_more_by_order


@dataclass(frozen=True)
class Design:
    """Where a table's comparisons come from, how trees are drawn, and how many comparisons there are.

    Attributes
    ----------
    stops : tuple of int
        Iterations of Algorithm A.1.
    n_edges : tuple of int
        Of the graph of every row.
    """

    redraw: str
    tree: str
    n_comparisons: int
    stops: tuple[int, ...]
    n_edges: tuple[int, ...]

    @property
    def name(self) -> str:
        return "-".join(map(str, self.key_columns.values()))

    @property
    def key_columns(self) -> dict[str, str | int]:
        """The columns that name a design in a table."""
        return {"redraw": self.redraw, "tree": self.tree, "n_comparisons": self.n_comparisons}

    @property
    def graphs(self) -> list[Graph]:
        return [Graph(self.redraw, n_edges, self.tree, self.n_comparisons) for n_edges in self.n_edges]


@dataclass(frozen=True)
class Tables:
    """One table at every stop: of each of its rows, the correlations by measure."""

    rows_by_stop: dict[int, list[dict[str, float]]]


def printed_rows(observed: int, n_models: int) -> pd.DataFrame:
    """Rows of Table A.9: ``trees, n_edges, edge_fraction`` and the printed ``pearson, spearman``.

    Parameters
    ----------
    observed : int
        Pairs of models that were compared, of which the printed fractions are shares.
    n_models : int
    """
    table = pd.DataFrame({name: published.numbers("sparsity", name) for name in MEASURES})
    trees = np.rint(table.index.astype(float) * observed / (n_models - 1)).astype(int)
    n_edges = trees * (n_models - 1)
    return table.reset_index(drop=True).assign(trees=trees, n_edges=n_edges, edge_fraction=n_edges / observed)


def design_cells(
    redraws: Iterable[str],
    trees: Iterable[str],
    budgets: Iterable[int],
    stops: Iterable[int],
    n_edges: tuple[int, ...],
) -> list[Design]:
    """Every design out of these lists."""
    return [
        Design(redraw, tree, budget, tuple(stops), n_edges)
        for redraw, tree, budget in product(redraws, trees, budgets)
    ]


def sparse_tables(design: Design, rngs: Sequence[np.random.Generator], full_data: FullData) -> list[Tables]:
    """Tables like the printed one: their rows' graphs, all fitted by Algorithm A.1 at once, read at every stop."""
    models, reference = list(full_data.comparisons.models), full_data.references["judge_aware"]
    parts = [sparse_part(graph, rng, full_data).aggregate() for rng in rngs for graph in design.graphs]
    tables = [Tables({}) for _ in rngs]
    for stop, parameters in read_at(design.stops, parts):
        by_table = parameters.scores.reshape(len(rngs), len(design.graphs), len(models))
        for table, rows in zip(tables, by_table, strict=True):
            table.rows_by_stop[stop] = [correlations(pd.Series(scores, models), reference) for scores in rows]
    return tables


def drawn_tables(study: Study, cell: str, stop: int) -> np.ndarray:
    """The tables of a design: float array, shape (tables, rows, measures)."""
    tables = (record["rows_by_stop"][str(stop)] for record in study.records(cell))
    return np.array([[[row[measure] for measure in MEASURES] for row in rows] for rows in tables])


def graphs_of(study: Study, printed: pd.DataFrame) -> pd.DataFrame:
    """Every graph of every table at every stop, in the columns of `resampled_tables.replications_of`.

    A design is named by ``redraw, tree, n_comparisons``, a table by ``replication``, a stop by the estimator.
    """
    rows = []
    for name, design in study.cells.items():
        for record in study.records(name):
            for stop, table in record["rows_by_stop"].items():
                key_columns = {
                    **design.key_columns,
                    "replication": record["replication"],
                    "estimator": f"{ALL_DRAWS}_{stop}",
                }
                fits = {"method": "judge_aware", "reference": "judge_aware", "status": "stopped"}
                rows.append(
                    printed[["trees", "n_edges", "edge_fraction"]].assign(**key_columns, **fits, **_columns(table))
                )
    return pd.concat(rows, ignore_index=True)


def _columns(table: list[dict[str, float]]) -> dict[str, list[float]]:
    return {measure: [row[measure] for row in table] for measure in MEASURES}


def distances(tables: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Squared distances of one table's numbers from the mean of others, in predictive standard deviations."""
    spread = tables.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(tables))
    return ((table - tables.mean(axis=0)) / spread) ** 2


def log_likelihood(tables: np.ndarray, table: np.ndarray) -> float:
    """Log-density of one more table's numbers, each by Student's t with the tables' mean and spread."""
    spread = tables.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(tables))
    return float(t.logpdf(table, len(tables) - 1, tables.mean(axis=0), spread).sum())


def joint_p(tables: np.ndarray, given_table: np.ndarray) -> float:
    """Share of tables as far from the others as the given one is, itself among them: one p-value for all rows.

    Every table, the given one too, is held against all others by its summed squared distances. Under the design
    each is as likely as any to be the farthest.
    """
    everyone = np.concatenate([given_table[None], tables])
    far = [distances(np.delete(everyone, index, 0), table).sum() for index, table in enumerate(everyone)]
    return float(np.mean(np.array(far) >= far[0]))


def designs(study: Study, printed: pd.DataFrame) -> pd.DataFrame:
    """Every design and stop with what it makes of the printed table, likeliest first.

    Returns
    -------
    DataFrame
        ``redraw, tree, n_comparisons, stop, tables, within`` (printed numbers in the 95% prediction interval, of
        ``numbers``), ``distance`` (the sum of squared standardised distances), ``log_likelihood``, ``p_joint``.
    """
    printed_values, rows = printed[list(MEASURES)].to_numpy(), []
    for name, design in study.cells.items():
        for stop in design.stops:
            tables = drawn_tables(study, name, stop)
            squared = distances(tables, printed_values)
            reach = t.ppf((1 + SHARE) / 2, len(tables) - 1) ** 2
            rows.append(
                {
                    **design.key_columns,
                    "stop": stop,
                    "tables": len(tables),
                    "within": int((squared <= reach).sum()),
                    "numbers": squared.size,
                    "distance": float(squared.sum()),
                    "log_likelihood": log_likelihood(tables, printed_values),
                    "p_joint": joint_p(tables, printed_values),
                }
            )
    return pd.DataFrame(rows).sort_values("log_likelihood", ascending=False, kind="stable", ignore_index=True)


def rows_of(study: Study, cell: str, stop: int, printed: pd.DataFrame) -> pd.DataFrame:
    """Each printed number of Table A.9 beside the tables of one design.

    Returns
    -------
    DataFrame
        ``redraw, tree, n_comparisons, stop, trees, n_edges, edge_fraction, measure, paper, mean, low, high,
        tables, within``; low and high are the ends of the 95% prediction interval by order statistics.
    """
    tables, rows = drawn_tables(study, cell, stop), []
    for index, row in printed.iterrows():
        for column, measure in enumerate(MEASURES):
            values, paper = tables[:, index, column], row[measure]
            expected = one_more_by_order(values)
            rows.append(
                {
                    **study.cells[cell].key_columns,
                    "stop": stop,
                    **{name: int(row[name]) for name in ("trees", "n_edges")},
                    "edge_fraction": row["edge_fraction"],
                    "measure": measure,
                    "paper": paper,
                    "mean": expected.centre,
                    "low": expected.low,
                    "high": expected.high,
                    "tables": expected.draws,
                    "within": bool(expected.low <= paper <= expected.high),
                }
            )
    return pd.DataFrame(rows)
