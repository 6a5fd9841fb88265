"""Judge ids that may be one model, beside other pairs: how alike they answer, and what merging them changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.frames import OUTCOMES
from judgerank.data.judgments import Judgments
from judgerank.fits.same_judges import with_one_vote
from judgerank.inference.wald import wilson

ITEM = ["question_id", "model_a", "model_b"]


def answer_agreement(judgments: Judgments, fewest: int, level: float = 0.95) -> pd.DataFrame:
    """Share of equal answers of every two judges on the items both judged, with Wilson's interval.

    An item is a question with two models in the order shown; of several answers of a judge the first counts.

    Returns
    -------
    DataFrame
        ``dataset, judge_1, judge_2, shared, agreement, low, high`` for pairs with at least `fewest` shared items.
    """
    frame = judgments.frame[judgments.frame["judge_preferred_model"].isin(list(OUTCOMES))]
    once = frame.drop_duplicates([*ITEM, "judge_model"])
    answers = once.pivot(index=ITEM, columns="judge_model", values="judge_preferred_model")
    rows = []
    for judge, peer in combinations(sorted(answers.columns), 2):
        both = answers[[judge, peer]].dropna()
        if len(both) >= fewest:
            share = float((both[judge] == both[peer]).mean())
            rows.append((judgments.name, judge, peer, len(both), share, *wilson(share, len(both), level)))
    return pd.DataFrame(rows, columns=["dataset", "judge_1", "judge_2", "shared", "agreement", "low", "high"])


def agreement_by_kind(pairs: pd.DataFrame, strong: Iterable[str], level: float = 0.95) -> pd.DataFrame:
    """The suspected ids beside other pairs of strong judges, and beside the rest.

    Strong judges are the fair comparison: two judges who always prefer the same slot answer alike too.

    Parameters
    ----------
    pairs : DataFrame
        As `answer_agreement` gives it for one set, with ``one_model``: whether both are suspected ids.
    strong : iterable of str
    level : float
        Of Wilson's interval of the pooled share; pairs share items, so it is somewhat too short.

    Returns
    -------
    DataFrame
        ``dataset, kind, pairs, shared, agreement, low, high, lowest, highest``.
    """
    strong = list(strong)
    both = pairs["judge_1"].isin(strong) & pairs["judge_2"].isin(strong)
    kind = pd.Series("other pairs", pairs.index).mask(both, "other strong pairs")
    kind = kind.mask(pairs["one_model"], "the ids that may be one model")
    rows = []
    for (dataset, name), group in pairs.groupby([pairs["dataset"], kind], sort=False):
        shared = int(group["shared"].sum())
        alike = round(float(group["shared"].to_numpy() @ group["agreement"].to_numpy()))
        row = {
            "dataset": dataset,
            "kind": name,
            "pairs": len(group),
            "shared": shared,
            "agreement": alike / shared,
        }
        low, high = wilson(alike / shared, shared, level)
        ends = {"low": low, "high": high, "lowest": group["agreement"].min(), "highest": group["agreement"].max()}
        rows.append(row | ends)
    columns = ["dataset", "kind", "pairs", "shared", "agreement", "low", "high", "lowest", "highest"]
    return pd.DataFrame(rows, columns=columns).sort_values(["dataset", "kind"], ignore_index=True)


def with_judges_merged(judgments: Judgments, names: Iterable[str], merged: str) -> Comparisons:
    """The comparisons with these judges as one judge, who has one vote an item: the mean of their answers."""
    comparisons, first, *rest = judgments.comparisons.with_ties(), *names
    rows, _ = with_one_vote(comparisons, judgments.question, dict.fromkeys(rest, first))
    return replace(rows, judges=tuple(merged if name == first else name for name in rows.judges), tied=None)
