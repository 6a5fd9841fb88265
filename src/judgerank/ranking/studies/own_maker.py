"""Votes of judges on models of their own maker: how many there are, and what they would say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from judgerank.data.errors import JudgerankError
from judgerank.data.listing import counted, noun, percent
from judgerank.ranking.components import fit_member, parts_of
from judgerank.ranking.recusal import Recusal
from judgerank.ranking.study import Component, Finding, Ranked

LARGE = 200_000  # judgments beyond which the ranking with all votes is not fitted beside
COLUMNS = ["judge", "maker", "votes", "left_out", "share_own", "share_expected"]
OF_RANKINGS = "Some judges rank models of their own maker among others, and these count."


def of_set(ranked: Ranked) -> Finding:
    """The table ``own_maker``, and a remark; nothing where no judge has a model of his maker before him."""
    recusal = ranked.recusal
    if not recusal.is_own.any():
        return Finding()
    if recusal.judgments.comparisons.stages is not None:
        return Finding([" ".join([*recusal.sentences(), *_if_counted(ranked)]) or OF_RANKINGS])
    table = table_of(recusal, ranked.components)
    return Finding([" ".join(_remark(ranked, table))], {"own_maker": table})


def table_of(recusal: Recusal, components: Sequence[Component]) -> pd.DataFrame:
    """Votes of each judge on models of his own maker.

    Returns
    -------
    DataFrame
        ``judge, maker, votes, left_out``: how many there are, and how many do not count. ``share_own``: share won
        by the model of his maker, of those with one such model, a tie being half a win; ``share_expected``: the
        same as the scores, the judge's discrimination and his position bias have it. NaN where nothing is known
        of them.
    """
    c, related = recusal.judgments.comparisons, recusal.related
    judge = c.judge.astype(np.intp)
    side = related.is_own[judge, c.first].astype(float) - related.is_own[judge, c.second]
    won = np.where(side > 0, c.outcome, 1 - c.outcome)
    expected = _expected(recusal, components)
    expected = np.where(side > 0, expected, 1 - expected)
    rows = []
    for k in np.unique(judge[recusal.is_own]):
        mine = recusal.is_own & (judge == k)
        single = mine & (side != 0)
        shares = [_mean(values[single], c.count[single]) for values in (won, expected)]
        n_votes = (round(float(c.count[which].sum())) for which in (mine, mine & ~recusal.counts))
        rows.append((c.judges[k], related.makers[k] or c.judges[k], *n_votes, *shares))
    return pd.DataFrame(rows, columns=COLUMNS)


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    """Weighted mean; NaN of nothing."""
    return float(values @ weights / weights.sum()) if len(values) else float("nan")


def _expected(recusal: Recusal, components: Sequence[Component]) -> np.ndarray:
    """Probability that the model shown first wins, a tie being half a win, by the scores; NaN where unknown."""
    p = np.full(len(recusal.counts), np.nan)
    for component in components:
        judgments, rows = recusal.with_left_out(component.judgments)
        fitted = component.member
        if len(rows):
            p[rows] = fitted.probability(fitted.model.observed(judgments.comparisons))
    return p


def _remark(ranked: Ranked, table: pd.DataFrame) -> Iterator[str]:
    recusal = ranked.recusal
    n, total = recusal.n_left_out, recusal.judgments.comparisons.n_comparisons
    if not n:
        votes = int(table["votes"].sum())
        yield (
            f"{counted(votes, 'vote')} of {len(table)} {noun(len(table), 'judge')} on models of their own maker "
            f"{'count' if votes > 1 else 'counts'} ({percent(votes / total)} of all; table own_maker)."
        )
        return
    yield from recusal.sentences()
    known = table.dropna()
    if len(known):
        won, expected = (float(np.average(known[name], weights=known["votes"])) for name in COLUMNS[-2:])
        yield f"Their own maker's model wins {won:.0%} of them; the other votes let one expect {expected:.0%}."
    yield from _if_counted(ranked)


def _if_counted(ranked: Ranked) -> Iterator[str]:
    """Who would lead by all votes, where some are left out and that is known."""
    leader = _leader_if_counted(ranked) if ranked.recusal.n_left_out else ""
    if leader:
        still = "still " * (leader == ranked.components[0].reported.scores.idxmax())
        yield f"If they counted, {leader} would {still}have the highest score (--own-maker count counts them)."


def _leader_if_counted(ranked: Ranked) -> str:
    """The model with the highest score by all votes; empty where the set is large, or there is no such ranking."""
    recusal = ranked.recusal
    if len(recusal.counts) > LARGE:
        return ""
    try:
        part = parts_of(recusal.judgments)[0]
        return str(fit_member(part.comparisons, ranked.member, ranked.settings.solver).scores.idxmax())
    except JudgerankError:
        return ""
