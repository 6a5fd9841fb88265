"""Tables of one ranking: the leaderboard, the judges, the pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from judgerank.errors import NoIntervalError
from judgerank.inference import wald
from judgerank.judgments import Judgments
from judgerank.leaderboard import panel
from judgerank.leaderboard.bands import bands_of
from judgerank.leaderboard.copies import same_judges
from judgerank.ranks import Order, at_best_known_scale, orders, pairwise, rank_intervals
from judgerank.result import FitResult


def has_errors(fitted: FitResult) -> bool:
    """Whether the fit has a covariance."""
    try:
        return len(fitted.covariance) > 0
    except NoIntervalError:
        return False


def orders_of(fitted: FitResult) -> list[Order] | None:
    """`ranks.orders`, or None where the fit has no covariance, or a difference of scores no standard error."""
    try:
        return list(orders(fitted))
    except NoIntervalError:
        return None


def leaderboard(fitted: FitResult, level: float) -> pd.DataFrame:
    """``rank, model, score, low, high, rank_low, rank_high, comparisons``, best first.

    Intervals of scores are on the scale at which they are known best (`ranks.at_best_known_scale`), those of ranks
    hold for all models at once. Ends are missing where the fit has no intervals.
    """
    cells, scores = fitted.comparisons, fitted.scores
    n, missing = len(scores), pd.Series(pd.NA, scores.index, "Int64")
    compared = np.bincount(cells.first, cells.count, n) + np.bincount(cells.second, cells.count, n)
    frame = pd.DataFrame({"rank": fitted.ranks, "score": scores, "low": np.nan, "high": np.nan})
    frame = frame.assign(rank_low=missing, rank_high=missing, comparisons=compared.astype(int))
    found = orders_of(fitted)
    if found is not None:
        v = at_best_known_scale(scores.to_numpy(), fitted.covariance, fitted.n_free_discriminations)
        frame["low"], frame["high"] = wald(scores.to_numpy(), np.sqrt(np.diag(v)), level)
        ranks = rank_intervals(found, level).set_index("model")
        frame["rank_low"], frame["rank_high"] = ranks["low"], ranks["high"]
    frame = frame.astype({"rank_low": "Int64", "rank_high": "Int64"})
    frame = frame.sort_values("rank").rename_axis("model").reset_index()
    return frame[["rank", "model", *frame.columns.drop(["rank", "model"])]]


def with_bands(board: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """A leaderboard with ``band`` (`bands.bands_of`), missing where the pairs say nothing of being separated."""
    known = "separated" in pairs
    bands = pd.Series(bands_of(list(board["model"]), pairs) if known else pd.NA, board.index, "Int64")
    return board.assign(band=bands)[[*board.columns.drop("comparisons"), "band", "comparisons"]]


def judges(
    fitted: FitResult, judgments: Judgments, level: float, few: int, merged: Mapping[str, str]
) -> pd.DataFrame:
    """What each judge answered and what was fitted of it, most discriminating first.

    ``judge, verdict, comparisons, share_a, share_b, share_tie, unparsed, agreement, information, status`` and, for
    every free parameter such as ``discrimination``, its estimate and the ends ``low_`` and ``high_`` of its
    interval. `judgerank.leaderboard.panel` says what verdict, agreement and information are. Of judge ids that
    were merged with another, given by its name, there are the answers alone.
    """
    frame = judgments.judges.drop(columns="dataset").set_index("judge")
    if not judgments.ordered:
        frame = frame.drop(columns=["share_a", "share_b"])  # the first by name won, which says nothing
    same = {} if merged else same_judges(fitted, judgments, level)
    frame.insert(0, "verdict", panel.verdicts(fitted, few, level, same))
    frame["agreement"] = panel.agreement(fitted.comparisons)
    frame["information"] = panel.information_share(fitted)
    frame["status"] = fitted.judge_status
    if fitted.unbounded_judges and fitted.solution.alone is None:  # the others have no maximum either
        frame.loc[~frame.index.isin(fitted.unbounded_judges), "status"] = "no maximum"
    for judge, leader in merged.items():
        frame.loc[judge, ["verdict", "status"]] = f"{panel.SAME}{leader}", panel.MERGED
    try:
        rows = fitted.confidence_intervals(level).set_index("name")
    except NoIntervalError:
        rows = None
    for block in fitted.model.judge_blocks:
        name = block.removeprefix("log_")
        if name == "discrimination" and fitted.model.fixed_scale:
            continue
        frame[name] = getattr(fitted, name)
        ends = None if rows is None else rows[rows["parameter"] == name]
        for end in ("low", "high"):
            frame[f"{end}_{name}"] = np.nan if ends is None else ends[end]
    if "discrimination" in frame:
        frame = frame.sort_values("discrimination", ascending=False, kind="stable")
    return frame.rename_axis("judge").reset_index()


def pairs(fitted: FitResult, level: float) -> pd.DataFrame:
    """Every pair of models as in `ranks.pairwise`; of a fit without intervals, the differences alone."""
    found = orders_of(fitted)
    if found is not None:
        return pairwise(found, level)
    scores = fitted.scores.sort_values(ascending=False, kind="stable")
    i, j = np.triu_indices(len(scores), 1)
    difference = scores.to_numpy()[i] - scores.to_numpy()[j]
    names = {"first": scores.index[i], "second": scores.index[j]}
    return pd.DataFrame({**names, "difference": difference, "comparable": True})


def across(components: Sequence[Sequence[str]]) -> pd.DataFrame:
    """The pairs of models of different components, none of them comparable: ``first, second, comparable``."""
    apart = [(a, b, False) for one, other in combinations(components, 2) for a in one for b in other]
    return pd.DataFrame(apart, columns=["first", "second", "comparable"])


def together(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables of components below each other, with the number of the component if there are several."""
    if len(tables) == 1:
        return tables[0]
    rows = [table.assign(component=number) for number, table in enumerate(tables, 1) if len(table)]
    joined = pd.concat(rows or [tables[0].assign(component=0)], ignore_index=True)
    return joined[["component", *joined.columns.drop("component")]]
