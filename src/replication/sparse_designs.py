"""Table A.9: which unstated design gives all of its numbers, by a likelihood of the twenty together.

The paper fixes "the total number of comparisons" and does not say at how many, whether they are drawn with
replacement, or where the iteration stopped. A replication here is a whole table: one random graph for each of its
rows, fitted by the paper's Algorithm 1. Tables of a design say where one more would fall.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product

import numpy as np
import pandas as pd
from scipy.stats import t

from judgerank.data.comparisons import Comparisons
from judgerank.engine.adam import Adam, iterates
from judgerank.model.members import JUDGE_AWARE
from replication import published
from replication.prediction import SHARE, one_more_by_order
from replication.replicate import Record, Settings, Study
from replication.resampling import MEASURES, Whole, correlations, sparse_part

DESIGN = ("redraw", "tree", "n_comparisons")


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
    stops: Sequence[int],
    n_edges: Sequence[int],
) -> dict[str, Settings]:
    """Every design by its name: where comparisons come from, how the tree is drawn, how many there are in all."""
    return {
        f"{redraw}-{tree}-{budget}": {
            **dict(zip(DESIGN, (redraw, tree, budget), strict=True)),
            "stops": list(stops),
            "n_edges": list(n_edges),
        }
        for redraw, tree, budget in product(redraws, trees, budgets)
    }


def sparse_table(settings: dict, rng: np.random.Generator, whole: Whole) -> Record:
    """One table like the printed one: its rows' graphs, each fitted by Algorithm 1 and read at every stop."""
    parts = [
        sparse_part({**settings, "n_edges": n_edges}, rng, whole).aggregate() for n_edges in settings["n_edges"]
    ]
    stops, n = settings["stops"], len(whole.comparisons.models)
    steps = iterates(
        side_by_side(parts), JUDGE_AWARE, Adam(tolerance=0.0, max_iterations=max(stops)), sets=len(parts)
    )
    record, done = {}, 0
    for stop in sorted(stops):
        *_, (_, at, _) = islice(steps, stop - done)
        done = stop
        for place, scores in enumerate(at.scores.reshape(len(parts), n)):
            found = correlations(
                pd.Series(scores, list(whole.comparisons.models)), whole.references["judge_aware"]
            )
            record |= {f"{stop}/{place}/{measure}": value for measure, value in found.items()}
    return record


def side_by_side(parts: Sequence[Comparisons]) -> Comparisons:
    """Sets of the same models and judges as one set, in which no two share a model or a judge."""
    n, k = len(parts[0].models), len(parts[0].judges)

    def labels(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{number}/{name}" for number in range(len(parts)) for name in names)

    index = {"first": n, "second": n, "judge": k}
    columns = {
        name: np.concatenate([getattr(part, name) + size * number for number, part in enumerate(parts)])
        for name, size in index.items()
    }
    rows = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("outcome", "count")}
    return Comparisons(labels(parts[0].models), labels(parts[0].judges), **columns, **rows)


def drawn_tables(study: Study, cell: str, stop: int) -> np.ndarray:
    """The tables of a design: float array, shape (tables, rows, measures)."""
    rows = range(len(study.cells[cell]["n_edges"]))
    return np.array(
        [
            [[record[f"{stop}/{row}/{measure}"] for measure in MEASURES] for row in rows]
            for record in study.records(cell)
        ]
    )


def distances(tables: np.ndarray, one: np.ndarray) -> np.ndarray:
    """Squared distances of one table's numbers from the mean of others, in predictive standard deviations."""
    spread = tables.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(tables))
    return ((one - tables.mean(axis=0)) / spread) ** 2


def log_likelihood(tables: np.ndarray, one: np.ndarray) -> float:
    """Log-density of one more table's numbers, each by Student's t with the tables' mean and spread."""
    spread = tables.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(tables))
    return float(t.logpdf(one, len(tables) - 1, tables.mean(axis=0), spread).sum())


def joint_p(tables: np.ndarray, one: np.ndarray) -> float:
    """Share of tables as far from the others as the given one is, itself among them: one p-value for all rows.

    Every table, the given one too, is held against all others by its summed squared distances. Under the design
    each is as likely as any to be the farthest.
    """
    everyone = np.concatenate([one[None], tables])
    far = [distances(np.delete(everyone, place, 0), table).sum() for place, table in enumerate(everyone)]
    return float(np.mean(np.array(far) >= far[0]))


def designs(study: Study, printed: pd.DataFrame) -> pd.DataFrame:
    """Every design and stop with what it makes of the printed table, likeliest first.

    Returns
    -------
    DataFrame
        ``redraw, tree, n_comparisons, stop, tables, within`` (printed numbers in the 95% prediction interval, of
        ``numbers``), ``distance`` (the sum of squared standardised distances), ``log_likelihood``, ``p_joint``.
    """
    one, rows = printed[list(MEASURES)].to_numpy(), []
    for cell, settings in study.cells.items():
        for stop in settings["stops"]:
            tables = drawn_tables(study, cell, stop)
            squared = distances(tables, one)
            reach = t.ppf((1 + SHARE) / 2, len(tables) - 1) ** 2
            rows.append(
                {
                    **{name: settings[name] for name in DESIGN},
                    "stop": stop,
                    "tables": len(tables),
                    "within": int((squared <= reach).sum()),
                    "numbers": squared.size,
                    "distance": float(squared.sum()),
                    "log_likelihood": log_likelihood(tables, one),
                    "p_joint": joint_p(tables, one),
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
    tables, settings, rows = drawn_tables(study, cell, stop), study.cells[cell], []
    for place, row in printed.iterrows():
        for column, measure in enumerate(MEASURES):
            values, paper = tables[:, place, column], row[measure]
            expected = one_more_by_order(values)
            rows.append(
                {
                    **{name: settings[name] for name in DESIGN},
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
