"""Judges that answer as one: two names of one endpoint, say, which count twice for what is said once."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array, triu
from scipy.sparse.csgraph import connected_components

from judgerank.data.arrays import FloatArray
from judgerank.data.judgments import Judgments
from judgerank.fits.duplicates import ITEM, wilson
from judgerank.fits.result import FitResult
from judgerank.model.law import Law

FEWEST = 30  # items that two judges both decided
EXCESS = 0.8  # share of the agreement still possible, beyond which two judges are taken for one
SURE = 0.5  # of the lower end of its interval


def excess_agreement(fitted: FitResult, judgments: Judgments, fewest: int = FEWEST) -> pd.DataFrame:
    """How much oftener two judges agree on shared items than a fit expects of judges who err apart.

    An item is a question with two models in the order shown; of several answers of a judge the first counts, and
    ties do not. Agreement is set against its expectation p p' + (1 - p)(1 - p') under the fit, in units of what is
    left above it, as Cohen's (1960) kappa is: zero for judges who err apart, one for judges who never differ.

    Returns
    -------
    DataFrame
        ``judge_1, judge_2, shared, agreement, expected, excess`` of pairs with at least `fewest` shared items.
    """
    c = fitted.comparisons
    frame = judgments.frame[judgments.frame["judge_preferred_model"].isin(["a", "b"])]
    frame = frame[frame["model_a"].isin(c.models) & frame["model_b"].isin(c.models)]
    once = frame.drop_duplicates([*ITEM, "judge_model"])
    item = once.groupby(ITEM, sort=False).ngroup().to_numpy()
    judge = pd.Index(c.judges).get_indexer(pd.Index(once["judge_model"]))
    first = np.where(once["judge_preferred_model"] == "a", 1.0, 0.0)
    shape = (int(item.max(initial=-1)) + 1, len(c.judges))

    def spread(values: FloatArray) -> csr_array:
        return coo_array((values, (item, judge)), shape=shape).tocsr()

    asked, said, chance = spread(np.ones(len(item))), spread(first), spread(_chances(fitted, once))
    shared = triu(asked.T @ asked, 1).tocoo()
    enough = shared.data >= fewest
    one, other, n = shared.row[enough], shared.col[enough], shared.data[enough]

    def agreeing(x: csr_array) -> FloatArray:
        """Sum of x x' + (1 - x)(1 - x') over shared items."""
        both, alone = (x.T @ x).tocsr(), (asked.T @ x).tocsr()
        return np.asarray(n - alone[other, one] - alone[one, other] + 2 * both[one, other]).ravel()

    observed, expected = agreeing(said) / n, agreeing(chance) / n
    names = np.asarray(c.judges, object)
    columns = {"judge_1": names[one], "judge_2": names[other], "shared": n.astype(int), "agreement": observed}
    return pd.DataFrame({**columns, "expected": expected, "excess": (observed - expected) / (1 - expected)})


def _chances(fitted: FitResult, records: pd.DataFrame) -> FloatArray:
    """P(first preferred) of records that are no ties."""
    s, gamma, b = fitted.scores, fitted.discrimination, fitted.position
    judge = records["judge_model"]
    lead = s[records["model_a"]].to_numpy() - s[records["model_b"]].to_numpy()
    return Law(gamma[judge].to_numpy() * lead + b[judge].to_numpy(), None).mean


def same_judges(fitted: FitResult, judgments: Judgments, level: float) -> dict[str, str]:
    """For each judge that answers as another does, the first of them in the fit's order.

    Two judges are taken for one if their excess agreement is at least `EXCESS`, and surely above `SURE`; whoever
    is one with either is one with both. On the paper's data that finds the four names of one endpoint, and no
    others.
    """
    if "question_id" not in judgments.frame:
        return {}
    pairs = excess_agreement(fitted, judgments)
    pairs = pairs[pairs["excess"] >= EXCESS]
    judges = list(fitted.comparisons.judges)
    place = pd.Index(judges)
    alike = (pairs["agreement"] * pairs["shared"]).round().astype(int)
    low = np.array([wilson(k, n, level)[0] for k, n in zip(alike, pairs["shared"], strict=True)])
    sure = low - pairs["expected"].to_numpy() > SURE * (1 - pairs["expected"].to_numpy())
    one, other = (place.get_indexer(pd.Index(pairs[name][sure])) for name in ("judge_1", "judge_2"))
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(len(judges), len(judges)))
    _, group = connected_components(graph, directed=False)
    leader = {number: judges[place] for place, number in reversed(list(enumerate(group)))}
    return {judge: leader[g] for judge, g in zip(judges, group, strict=True) if leader[g] != judge}
