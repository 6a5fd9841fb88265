"""How often each judge gives a person's answer on items that both judged, and which judges clearly do so less.

An answer of a judge and a vote of a person on the same item agree if both prefer the same model; ties of either
are left out. The share is that of all such pairs, and its errors are those of a ratio of sums over questions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.listing import counted, listed
from judgerank.inference.wald import normal_quantile, require_level, two_sided
from judgerank.order.claims import holm

COLUMNS = ["judge", "agreement", "low", "high", "pairs", "questions", "p_as_best"]
CHANCE = 0.5  # of agreement, by answers that do not depend on the models


def agreement_with_people(
    comparisons: Comparisons, question: IntArray, human: BoolArray, level: float = 0.95
) -> pd.DataFrame:
    """``judge, agreement, low, high, pairs, questions, p_as_best`` by judge, the best first.

    Pairs are of an answer and a vote. `p_as_best` is the p-value of "it agrees as often as the best judge", paired
    by question, with Holm's adjustment over all pairs of judges, since the best was found in the same data; NaN of
    the best, and where errors are not known. Judges without such pairs are left out.

    Parameters
    ----------
    comparisons : Comparisons
        Raw rows of the panel and of people, T of them.
    question : int array, shape (T,)
    human : bool array, shape (T,)
    level : float
    """
    require_level(level)
    judges, equal, total = _sums(comparisons, question, human)
    if not judges:
        return pd.DataFrame(columns=COLUMNS)
    share = equal.sum(axis=0) / total.sum(axis=0)
    influence = (equal - share * total) / total.sum(axis=0)
    n_questions = (total > 0).sum(axis=0)
    low, high = _interval(share, _error(influence, n_questions), n_questions, level)
    best = int(np.argmax(share))
    columns = (
        judges,
        share,
        low,
        high,
        total.sum(axis=0).astype(int),
        n_questions,
        _p_as(best, share, influence, total),
    )
    frame = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
    return frame.sort_values("agreement", ascending=False, kind="stable", ignore_index=True)


def _sums(c: Comparisons, question: IntArray, human: BoolArray) -> tuple[list[str], FloatArray, FloatArray]:
    """Judges, and by question their equal and all decided pairs with people's votes, shape (Q, K) each."""
    _, number = np.unique(question, return_inverse=True)
    _, item = np.unique(number * len(c.models) ** 2 + c.pair, return_inverse=True)
    lead = np.where(c.first > c.second, -1, 1) * np.sign(c.outcome - 0.5)
    frame = pd.DataFrame({"item": item, "question": number, "judge": c.judge, "lead": lead, "count": c.count})
    frame = frame[frame["lead"] != 0].assign(human=human[lead != 0])
    frame["for_first"] = frame["count"] * (frame["lead"] > 0)
    votes = frame[frame["human"]].groupby("item")[["for_first", "count"]].sum()
    answers = frame[~frame["human"]].groupby(["item", "question", "judge"])[["for_first", "count"]].sum()
    both = answers.reset_index().merge(votes, on="item", suffixes=("", "_people"))
    against, against_people = both["count"] - both["for_first"], both["count_people"] - both["for_first_people"]
    both["equal"] = both["for_first"] * both["for_first_people"] + against * against_people
    both["total"] = both["count"] * both["count_people"]
    sums = both.pivot_table(index="question", columns="judge", values=["equal", "total"], aggfunc="sum").fillna(
        0.0
    )
    if sums.empty:
        return [], np.empty((0, 0)), np.empty((0, 0))
    judges = [c.judges[judge] for judge in sums["total"].columns]
    return judges, sums["equal"].to_numpy(float), sums["total"].to_numpy(float)


def _error(influence: FloatArray, questions: FloatArray | IntArray) -> FloatArray:
    """Standard errors of sums over questions, shape (...); NaN of a single one."""
    q = np.asarray(questions, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((influence**2).sum(axis=0) * np.where(q > 1, q / (q - 1), np.nan)))


def _interval(
    share: FloatArray, error: FloatArray, questions: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval of as many independent pairs as have this error; as many as questions, if it is zero."""
    z = np.array([normal_quantile(level, float(max(q - 1, 1))) for q in questions])
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(error > 0, share * (1 - share) / error**2, questions)
    middle = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    reach = z / (1 + z**2 / size) * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    single = np.isnan(error)
    return np.where(single, np.nan, middle - reach), np.where(single, np.nan, middle + reach)


def _p_as(best: int, share: FloatArray, influence: FloatArray, total: FloatArray) -> FloatArray:
    """Adjusted p-values of every judge beside the best; NaN of the best.

    A share of none or all has no error by its own answers; it then has that of Laplace's estimate,
    (x + 1) / (n + 2) of n questions, and the two judges are taken for independent.
    """
    i, j = np.triu_indices(len(share), 1)
    questions = ((total[:, i] > 0) | (total[:, j] > 0)).sum(axis=0)
    error = _error(influence[:, i] - influence[:, j], questions)
    n_own = (total > 0).sum(axis=0)
    is_bound = (share <= 0) | (share >= 1)
    laplace = (share * n_own + 1) / (n_own + 2)
    own = np.where(is_bound, np.sqrt(laplace * (1 - laplace) / n_own), _error(influence, n_own))
    error = np.where(is_bound[i] | is_bound[j], np.hypot(own[i], own[j]), error)
    difference = share[i] - share[j]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0, 0.0, difference / error)
    p_value = np.array(
        [float(two_sided(statistic, max(q - 1, 1))) for statistic, q in zip(z, questions, strict=True)]
    )
    p_adjusted = np.full(len(share), np.nan)
    is_tested = ~np.isnan(p_value)
    p_value[is_tested] = holm(p_value[is_tested])
    with_best = (i == best) | (j == best)
    p_adjusted[np.where(i == best, j, i)[with_best]] = p_value[with_best]
    return p_adjusted


def agreement_text(table: pd.DataFrame, level: float) -> Iterator[str]:
    """Which judge agrees with people best, and which clearly less; then the table."""
    if table.empty:
        yield "\nNo judge answered an item on which people voted, so agreement with people is not known."
        return
    best, alpha = table.iloc[0], 1 - level
    often = f"its answer is a person's {best['agreement']:.0%} of the time{_ends(best, level)}"
    yield f"\n{best['judge']} agrees with people most often: {often}, ties left out."
    worse = table[table["p_as_best"] <= alpha]
    if len(worse):
        parts = [f"{row.judge} ({row.agreement:.0%})" for row in worse.itertuples()]
        yield f"- Significantly less often (Holm-adjusted over all pairs of judges): {listed(parts)}."
    elif len(table) > 1:
        yield "- No other judge agrees significantly less often."
    below = table["high"] < CHANCE
    by_chance = (table["low"] <= CHANCE) & ~below
    if below.any():
        yield f"- Significantly less often than a coin: {listed(table[below]['judge'])}. Are labels swapped?"
    if by_chance.any():
        yield f"- Not significantly more often than a coin: {listed(table[by_chance]['judge'])}."
    yield table.to_string(index=False, float_format="{:.3f}".format, na_rep="")


def _ends(row: pd.Series, level: float) -> str:
    if np.isnan(row["low"]):
        return f" ({counted(int(row['pairs']), 'pair')} on one question: too few for an interval)"
    return f" ({level:.0%} confidence interval {row['low']:.0%} to {row['high']:.0%}, clustered by question)"
