"""Rankings of several answers by unlike judges, simulated: fitted whole, broken into pairs, and by mean ranks.

A judge ranks the answers of k models by g s - b place + noise, with Gumbel noise: the Plackett-Luce model. Each
set is fitted by stages (`judgerank.data.rankings`), and as if every pair in a ranking were a comparison by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.rankings import Ranked, rows_of, with_stages
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from replication.replicate import Record
from replication.statistics import kendall
from replication.tables import with_errors
from studies.default_fits import Rows, any_separated, by_errors, covered, measures_of, squared_error

SCORES = np.linspace(1.2, -1.2, 8)
UNLIKE = tuple(np.exp(np.linspace(-1.0, 1.0, 6)).tolist())
POSITION = np.linspace(-0.3, 0.3, 6)  # log-odds a place
N_RANKINGS = 1_200
# ways to an order: the member, whether shrunk, and whether rankings are broken into pairs
WAYS = {
    "whole": ("position_aware", False, False),
    "pairs": ("position_aware", False, True),
    "whole, judges alike": ("btl", False, False),
    "whole, shrunk": ("position_aware", True, False),
    "pairs, shrunk": ("position_aware", True, True),
}
MEAN_RANKS = "mean ranks"


@dataclass(frozen=True)
class Ranking:
    """How judges rank.

    Attributes
    ----------
    size : int
        Answers in a ranking.
    best : int
        How many of them are ranked; those below are left in no order.
    n_rankings : int
        Rankings in a set.
    discrimination : tuple of float
        Of the judges.
    equal : bool
        All models have one score.
    variants : tuple of str
        Of `WAYS`.
    """

    size: int = 4
    best: int = 60
    n_rankings: int = N_RANKINGS
    discrimination: tuple[float, ...] = UNLIKE
    equal: bool = False
    variants: tuple[str, ...] = ("whole", "pairs", "whole, judges alike")


AT_RANDOM = (0.0, 0.0, 0.0, *UNLIKE[3:])
SHRUNK = ("whole, shrunk", "whole, judges alike")
RANKED: dict[str, Ranking] = {
    "2 answers": Ranking(2),
    "3 answers": Ranking(3),
    "4 answers": Ranking(4),
    "6 answers": Ranking(6),
    "best of 4": Ranking(4, best=1),
    "best of 6": Ranking(6, best=1),
    "few rankings of 4": Ranking(4, n_rankings=60, variants=SHRUNK),
    "few of 4, one judge of six at random": Ranking(
        4, n_rankings=60, discrimination=(0.0, *UNLIKE[1:]), variants=SHRUNK
    ),
    "few of 4, half of the judges at random": Ranking(4, n_rankings=60, discrimination=AT_RANDOM, variants=SHRUNK),
    "equal models, 4 answers": Ranking(4, equal=True, variants=("whole, shrunk", "pairs, shrunk")),
    "equal models, best of 4": Ranking(4, best=1, equal=True, variants=("whole, shrunk", "pairs, shrunk")),
}


def drawn(rng: np.random.Generator, how: Ranking) -> tuple[IntArray, IntArray, IntArray]:
    """Judge of every ranking, shape (R,), models in the order shown, and places in it best first, shape (R, k)."""
    judge = np.arange(how.n_rankings) % len(how.discrimination)
    models = rng.permuted(np.tile(np.arange(len(SCORES)), (how.n_rankings, 1)), axis=1)[:, : how.size]
    quality = np.array(how.discrimination)[judge][:, None] * (0.0 if how.equal else SCORES[models])
    noise = rng.gumbel(size=models.shape)
    order = np.argsort(-(quality - POSITION[judge][:, None] * np.arange(how.size) + noise), axis=1)
    return judge, models, order


def in_stages(judge: IntArray, models: IntArray, order: IntArray, how: Ranking) -> tuple[Comparisons, IntArray]:
    """The rankings by stages, and the ranking behind each row."""
    names = np.array([f"m{i}" for i in range(len(SCORES))], object)
    rankings = []
    for row, order_of_row in zip(names[models], order, strict=True):
        best = row[order_of_row]
        groups = tuple((name,) for name in best[: how.best])
        rankings.append(Ranked(groups, tuple(best[how.best :]), tuple(row)))
    rows = rows_of(rankings)
    of = rows["record"].to_numpy(int)
    first, second = (pd.Index(names).get_indexer(rows[f"model_{side}"]) for side in "ab")
    judges = tuple(f"j{k}" for k in range(len(how.discrimination)))
    c = Comparisons(tuple(names), judges, first, second, judge[of], rows["outcome"].to_numpy(float))
    return with_stages(c, rows), of


def pairs(judge: IntArray, models: IntArray, order: IntArray, how: Ranking) -> tuple[Comparisons, IntArray]:
    """Every two answers whose order is known as a comparison, in the order shown, and the ranking behind each."""
    parts = []
    rank_of = np.argsort(order, axis=1)
    for a, b in combinations(range(how.size), 2):
        rankings = np.flatnonzero(np.minimum(rank_of[:, a], rank_of[:, b]) < how.best)
        won = (rank_of[rankings, a] < rank_of[rankings, b]).astype(float)
        parts.append((rankings, models[rankings, a], models[rankings, b], won))
    of, first, second, won = (np.concatenate(column) for column in zip(*parts, strict=True))
    names = (tuple(f"m{i}" for i in range(len(SCORES))), tuple(f"j{k}" for k in range(len(how.discrimination))))
    return Comparisons(*names, first, second, judge[of], won), of


def mean_ranks(models: IntArray, order: IntArray) -> FloatArray:
    """Minus the mean rank of every model, shape (N,)."""
    model = np.take_along_axis(models, order, axis=1).ravel()
    rank = np.tile(np.arange(models.shape[1]), len(models))
    return np.asarray(-np.bincount(model, rank, len(SCORES)) / np.bincount(model, minlength=len(SCORES)))


def ranked_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One set of rankings: how far off every way is and what its intervals hold, or what it separates."""
    how, level = Ranking(**settings["how"]), settings["level"]
    judge, models, order = drawn(rng, how)
    record: Record = {}
    rows = {False: in_stages(judge, models, order, how), True: pairs(judge, models, order, how)}
    for variant in how.variants:
        member, shrink, broken = WAYS[variant]
        comparisons, of = rows[broken]
        try:
            fitted = fit(comparisons, member, shrink=shrink)
            kinds = by_errors(fitted, comparisons, of)
            measures = any_separated(kinds, level) if how.equal else _measured(kinds, how, level)
        except JudgerankError:
            continue
        record |= {f"{name}/{variant}": value for name, value in measures.items()}
    if not how.equal and how.best > how.size:
        record[f"tau/{MEAN_RANKS}"] = kendall(mean_ranks(models, order), SCORES)
    return record


def _measured(kinds: dict[str, Fit], how: Ranking, level: float) -> dict[str, float]:
    """Of scores over their standard deviation: squared error and coverage; their stretch in log-odds; tau."""
    fitted = kinds["plug_in"]
    s = fitted.scores.to_numpy()
    measures = {"squared": squared_error(fitted, SCORES), "tau": kendall(s, SCORES)}
    if min(how.discrimination) > 0 and fitted.model.weighs_judges:
        measures["stretch"] = float(s.std() / SCORES.std())
    return measures | {f"covered_{kind}": share for kind, share, _ in covered(kinds, SCORES, level)}


def rows_by_way(records: pd.DataFrame, name: str) -> Rows:
    """Means by way with their Monte Carlo errors.

    ``pairs_worth`` is the number of pair judgments, each by itself, that are worth one ranking: the mean squared
    error of whole fits of pairs, which falls as one over their number, over that of the way. `with_worth` adds it.
    """
    rows = []
    for variant in dict.fromkeys(column.split("/")[1] for column in records if "/" in column):
        mine = measures_of(records, variant).dropna()
        row: dict[str, Any] = {"setting": name, "way": variant, "fitted": len(mine) / len(records)}
        rows.append(row | with_errors(mine) | {"n_replications": len(records)})
    return rows


def with_worth(table: pd.DataFrame) -> pd.DataFrame:
    """The table with ``pairs_worth`` (see `rows_by_way`) of whole fits of as many rankings as there are pairs."""
    of = table[table["way"] == "whole"].set_index("setting")
    pair, is_full = of.loc["2 answers"], table["way"] == "whole"
    worth = pair["squared"] / table["squared"]
    error = worth * np.hypot(table["squared_se"] / table["squared"], pair["squared_se"] / pair["squared"])
    return table.assign(pairs_worth=worth.where(is_full), pairs_worth_se=error.where(is_full))
