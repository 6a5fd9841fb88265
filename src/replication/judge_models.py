"""Models behind judges' ids: ids that may be one model, and how large models are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.frames import OUTCOMES
from judgerank.data.judgments import Judgments
from judgerank.fits.same_judges import with_one_vote
from judgerank.inference.wald import wilson
from replication import published

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


# Sizes of language models: what a name says, what the paper prints, and all parameters.


UNITS = {"B": 1.0, "T": 1000.0}
SIZE = re.compile(r"(?<![A-Za-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![A-Za-z0-9])", re.IGNORECASE)
EXPERTS = re.compile(r"-\d+E(?![A-Za-z0-9])")


class Counted(StrEnum):
    """What the size in a name counts."""

    ALL = "all parameters"
    ACTIVE = "active parameters"
    EXPERTS = "number of experts times the size of one"


@dataclass(frozen=True)
class NamedSize:
    """The size in a name.

    Attributes
    ----------
    billions : float
    counted : Counted
    """

    billions: float
    counted: Counted


def size_in_name(name: str) -> NamedSize | None:
    """The size that a model's name states, such as 235B, 1.5b or 8x7B; None if it states none.

    Active parameters (A22B) and effective ones (E4B) are no sizes. Where a name counts its experts (17B-128E), its
    size is that of the active parameters.
    """
    match = SIZE.search(name)
    if not match:
        return None
    experts, size = match.groups()
    if experts:
        return NamedSize(int(experts) * float(size), Counted.EXPERTS)
    return NamedSize(float(size), Counted.ACTIVE if EXPERTS.search(name) else Counted.ALL)


def billions(text: str) -> float:
    """A size such as 8.4B or 1T in billions of parameters; NaN for a dash."""
    return float(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else float("nan")


def printed_sizes() -> pd.Series:
    """Billions of parameters by judge as Table A.8 prints them; NaN for a dash."""
    return published.table("judge_discrimination")["size"].map(billions)


def all_parameters() -> pd.Series:
    """Billions of parameters by judge, with all of them where the printed size counts otherwise (`cited.csv`)."""
    cited = published.cited()
    totals = cited[cited["column"] == "all_parameters"].set_index("row")["value"].map(billions)
    sizes = printed_sizes()
    return sizes.where(~sizes.index.isin(totals.index), totals.reindex(sizes.index))
