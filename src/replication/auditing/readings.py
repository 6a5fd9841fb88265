"""How a printed number is read off the rows of a stored table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.stats import norm

from replication import published
from replication.auditing.results import Missing, Results

Reading = Callable[[pd.DataFrame, str, Results], float | str]
QUARTET = ["koala-13b", "alpaca-13b", "dolly-v2-12b", "llama-13b"]
PICKED_BY_HAND = {"kimi-k2-thinking-turbo", "moonshot-v1-128k"}


def cell(rows: pd.DataFrame, column: str, _: Results) -> float:
    """The one value there is."""
    if len(rows) != 1:
        raise Missing(f"{len(rows)} rows meet the conditions, not one")
    return rows[column].iloc[0]


def only(rows: pd.DataFrame, column: str, _: Results) -> float:
    """The value that all rows share."""
    values = rows[column].unique()
    if len(values) != 1:
        raise Missing(f"{column} has {len(values)} values, not one")
    return values[0]


def thousands(rows: pd.DataFrame, column: str, results: Results) -> float:
    """In thousands."""
    return cell(rows, column, results) / 1000


def percent(rows: pd.DataFrame, column: str, results: Results) -> float:
    """As a percentage."""
    return 100 * cell(rows, column, results)


def grid(rows: pd.DataFrame, column: str, _: Results) -> str:
    """The different values in order, as text."""
    return " ".join(map(str, sorted(rows[column].unique())))


def moved_pairs(rows: pd.DataFrame, column: str, _: Results) -> float:
    """Half as many models as moved: how often neighbours traded places."""
    return float((rows[column] != 0).sum() / 2)


def gain(rows: pd.DataFrame, column: str, _: Results) -> float:
    """Judge-aware less BTL."""
    by_method = rows.set_index("method")[column]
    if not {"judge_aware", "btl"} <= set(by_method.index):
        raise Missing("the rows are not of both methods")
    return by_method["judge_aware"] - by_method["btl"]


def place_in_table_1(rows: pd.DataFrame, column: str, _: Results) -> float:
    """Rank of GPT-4 among the models that Table 1 shows."""
    printed_models = rows.set_index("model")[column].reindex(published.table("mt_bench").index).dropna()
    if "gpt-4" not in printed_models:
        raise Missing("there is no model gpt-4")
    return float(printed_models.rank()["gpt-4"])


def first_picked(rows: pd.DataFrame, column: str, _: Results) -> float:
    """How many of the largest values belong, without a gap, to the judges that the authors had picked."""
    order = rows.sort_values(column, ascending=False)["judge"].isin(PICKED_BY_HAND)
    return float(order.cumprod().sum())


def same_order(rows: pd.DataFrame, column: str, results: Results) -> float:
    """How many of four models stand, in ranks, in the order of the human ranking: the longest part that does."""
    people = results.table("chatbot_arena/human.csv").set_index("model")["elo"]
    ranks = rows.set_index("model")[column]
    if not set(QUARTET) <= set(ranks.index) & set(people.index):
        raise Missing(f"not all of {', '.join(QUARTET)} are ranked")
    ours = ranks[people[QUARTET].sort_values(ascending=False).index].tolist()
    longest = [1] * len(ours)
    for i in range(len(ours)):
        longest[i] += max((longest[j] for j in range(i) if ours[j] < ours[i]), default=0)
    return float(max(longest))


def level_of_widths(rows: pd.DataFrame, _column: str, _results: Results) -> float:
    """Level, in percent, of our intervals, if the printed ones of Table A.7 have 95%."""
    width = (rows["high_judge_aware"] - rows["low_judge_aware"]).mean()
    ends = (published.numbers("complete_ranking", f"{end}_judge_aware") for end in ("high", "low"))
    printed = float(np.subtract(*ends).mean())
    return float(100 * (2 * norm.cdf(norm.ppf(0.975) * width / printed) - 1))


def points_of_slope(rows: pd.DataFrame, column: str, results: Results) -> float:
    """How many of the last points of a curve give the stored slope, if they do."""
    keys = ["n_models", "n_judges", "parameter"]
    slopes = results.table("convergence_mse/slopes.csv").set_index(keys)["slope"]
    counts = set()
    for key, curve in rows.sort_values("n_comparisons").groupby(keys):
        x, y = np.log(curve["n_comparisons"].to_numpy()), np.log(curve[column].to_numpy())
        fits = [n for n in range(2, len(x) + 1) if abs(np.polyfit(x[-n:], y[-n:], 1)[0] - slopes[key]) < 1e-6]
        counts.add(fits[-1] if fits else 0)
    if len(counts) != 1:
        raise Missing("the stored slopes are not of one number of points")
    return float(counts.pop())


def _summary(name: str) -> Reading:
    return lambda rows, column, _: float(getattr(rows[column], name)())


READINGS: dict[str, Reading] = {
    read.__name__: read
    for read in (
        *(cell, only, thousands, percent, grid, moved_pairs, gain, place_in_table_1, first_picked, same_order),
        *(level_of_widths, points_of_slope),
    )
} | {"rows": _summary("count"), "distinct": _summary("nunique"), "largest": _summary("max")}
READINGS |= {"least": _summary("min"), "total": _summary("sum")}
