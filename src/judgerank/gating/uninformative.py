"""Find judges whose answers say nothing about the two variants: they go by place, or are as random as a coin."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from judgerank.data.arrays import FloatArray
from judgerank.gating.decision import p_not_above
from judgerank.gating.judged import Judged

SURE = 0.05  # level of each test of a judge
MOSTLY = 0.8  # share of answers for one place, in both orders, above which a judge goes by place
UNRELATED = 0.15  # correlation of a judge's answers in the two orders, below which they are as a coin's
FEW = 50  # questions with two clear answers, below which they do not tell
REACH, REACH_OF_BOTH = -ndtri(SURE), -ndtri(SURE / 2)  # standard errors of a one-sided and a two-sided test


def uninformative(table: Judged) -> dict[str, str]:
    """What each judge does who says nothing about the variants, by name."""
    leads = {judge: lead for judge in table.judges if (lead := _leads(table, judge)) is not None}
    reasons = {judge: reason for judge, lead in leads.items() if (reason := _by_place(lead))}
    remaining = {judge: _less_position(lead) for judge, lead in leads.items() if judge not in reasons}
    means = np.array([_mean(lead) for lead in remaining.values()]).reshape(len(remaining), len(table.questions))
    for number, (judge, lead) in enumerate(remaining.items()):
        if reason := _as_a_coin(lead, means[number], np.delete(means, number, axis=0)):
            reasons[judge] = reason
    return {judge: reasons[judge] for judge in leads if judge in reasons}


def _leads(table: Judged, judge: str) -> FloatArray | None:
    """Preference for the candidate less one half, with it shown first and second, shape (Q, 2); nan for none."""
    rows = table.rows[(table.rows["judge"] == judge) & table.rows["first"].isin((1.0, -1.0))]
    if rows.empty:
        return None
    mean = rows.groupby(["question", "first"])["preference"].mean().astype(float).unstack("first")
    return mean.reindex(index=table.questions, columns=[1.0, -1.0]).to_numpy(float) - 0.5


def _by_place(lead: FloatArray) -> str:
    """Whether a judge picks one place in both orders, and how often."""
    of_first = [(0.5 + lead[:, 0]), (0.5 - lead[:, 1])]
    of_first = [values[~np.isnan(values)] for values in of_first]
    share = float(np.concatenate(of_first).mean())
    chosen = of_first if share > 0.5 else [1 - values for values in of_first]
    if any(p_not_above(values, MOSTLY) > SURE for values in chosen):
        return ""
    return f"picks the {'first' if share > 0.5 else 'second'} answer {max(share, 1 - share):.0%} of the time"


def _less_position(lead: FloatArray) -> FloatArray:
    """The leads less the judge's position bias, where both orders are there."""
    seen = ~np.isnan(lead).all(axis=0)
    if not seen.all():
        return lead
    first, second = np.nanmean(lead, axis=0)
    bias = (first - second) / 2
    return lead - np.array([bias, -bias])


def _as_a_coin(lead: FloatArray, judge_leads: FloatArray, panel_leads: FloatArray) -> str:
    """Whether a judge's answers agree neither in the two orders nor, if it saw one of them, with other judges'."""
    both = lead[~np.isnan(lead).any(axis=1)]
    product = both.prod(axis=1)
    if np.count_nonzero(product) >= FEW:
        means = both.mean(axis=1)
        if abs(means.mean()) > REACH_OF_BOTH * _error(means):  # it prefers one variant
            return ""
        size = float(np.sqrt((both**2).mean(axis=0).prod()))
        mean, reach = product.mean(), REACH * _error(product)
        if mean <= reach < UNRELATED * size - mean:
            return "answers the two orders of a question as independently as a coin"
        return ""
    is_shared = ~np.isnan(judge_leads) & ((~np.isnan(panel_leads)).sum(axis=0) > 1)
    judge_leads, panel_shared = judge_leads[is_shared], panel_leads[:, is_shared]
    if np.count_nonzero(judge_leads) < FEW:
        return ""
    if abs(judge_leads.mean()) > REACH_OF_BOTH * _error(judge_leads):
        return ""
    count = (~np.isnan(panel_shared)).sum(axis=0)
    total = np.nansum(panel_shared, axis=0)
    with_them, among_them = (
        judge_leads * total / count,
        (total**2 - np.nansum(panel_shared**2, axis=0)) / (count * (count - 1)),
    )
    short = with_them - among_them / 2
    unrelated = abs(with_them.mean()) <= REACH_OF_BOTH * _error(with_them)
    if unrelated and short.mean() + REACH * _error(short) < 0:
        return "agrees with the other judges no more than a coin"
    return ""


def _mean(lead: FloatArray) -> FloatArray:
    """Over both orders, shape (Q,); nan where there is neither."""
    is_answered = ~np.isnan(lead)
    count = is_answered.sum(axis=1)
    return np.where(count > 0, np.nansum(lead, axis=1) / np.maximum(count, 1), np.nan)


def _error(values: FloatArray) -> float:
    """Standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))
