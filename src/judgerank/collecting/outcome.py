"""Findings of a collection, as tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from judgerank.adaptive.goals import Goal, widest
from judgerank.collecting.batches.pending import Pending
from judgerank.collecting.breaker import Breaker
from judgerank.collecting.costs import typical_costs
from judgerank.collecting.ledger import UNKNOWN, Record, choice_of
from judgerank.collecting.settings import Judge
from judgerank.data.listing import counted
from judgerank.order.pairs import Order

NAMED = 5  # names in one sentence
SMALL = 0.001  # of money: four places would show too little of it
SURE = 0.01  # chance below which an even judge would prefer one place so often


def money(amount: float, currency: str) -> str:
    """An amount, or that it is not known."""
    return "unknown" if math.isnan(amount) else f"{digits(amount)} {currency}"


def digits(amount: float) -> str:
    """An amount to four places; a small one, such as the cost of one request, to two digits."""
    small = 0 < amount < SMALL
    return np.format_float_positional(amount, 2, fractional=False) if small else f"{amount:.4f}"


def replies(count: int, one: str, more: str) -> str:
    """How many replies do something, said of one and of more."""
    return f"1 reply {one}" if count == 1 else f"{count} replies {more}"


def several(names: Sequence[str]) -> str:
    """Names, the first few of them where there are many."""
    few = ", ".join(names[:NAMED])
    return few if len(names) <= NAMED else f"{few} and {len(names) - NAMED} more"


def duration(seconds: float) -> str:
    """A length of time in the unit that suits it."""
    if math.isnan(seconds):
        return "unknown"
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


def piloted(records: Iterable[Record], judges: Mapping[str, Judge]) -> pd.DataFrame:
    """``judge, replies, readable, first, decided, tokens, seconds, cost`` by judge who replied.

    Of the replies that decided, `first` preferred the answer shown first to that shown second; tokens of a reply,
    seconds and cost are means.
    """
    records = list(records)
    frame = pd.DataFrame(records, columns=["judge_model", "completion_tokens", "seconds"])
    frame["choice"] = [choice_of(record) for record in records]
    costs = typical_costs(records, judges)
    rows = []
    for name, own in frame.groupby("judge_model", sort=True):
        choice = own["choice"]
        rows.append(
            {
                "judge": name,
                "replies": len(own),
                "readable": int((choice != UNKNOWN).sum()),
                "first": int((choice == "a").sum()),
                "decided": int(choice.isin(["a", "b"]).sum()),
                "tokens": own["completion_tokens"].mean(),
                "seconds": own["seconds"].mean(),
                "cost": costs.get(str(name), math.nan),
            }
        )
    return pd.DataFrame(rows)


def biased(pilot: pd.DataFrame) -> Iterator[str]:
    """Sentences on judges whose pilot shows position bias beyond chance."""
    from scipy.stats import binomtest  # loads slowly

    for row in pilot.to_dict("records"):
        first, decided = int(row["first"]), int(row["decided"])
        if decided and binomtest(first, decided).pvalue < SURE:
            place = "first" if 2 * first > decided else "second"
            count = max(first, decided - first)
            yield (
                f"judge {row['judge']!r} preferred the answer shown {place} {count} times of {decided}: its "
                "choice may follow the place (--order both lets the ranking allow for it)"
            )


def happened(breakers: Mapping[str, Breaker]) -> Iterator[str]:
    """Sentences on what failed, by judge and kind, with the server's own words."""
    for name, breaker in breakers.items():
        for kind, count in sorted(breaker.failed.items()):
            said = f"; it says: {breaker.said[kind]}" if kind in breaker.said else ""
            given_up = f", {counted(breaker.given_up[kind], 'request')} given up" if breaker.given_up[kind] else ""
            yield f"judge {name!r}: {counted(count, 'attempt')} failed ({kind}){given_up}{said}"
        if breaker.empty:
            yield (
                f"judge {name!r}: {replies(breaker.empty, 'is empty, its', 'are empty, their')} tokens went into "
                "thoughts (finish_reason length); give it more by params: {max_tokens: ...}, then "
                "--again unreadable"
            )
        if breaker.refused:
            refusing = replies(breaker.refused, "refuses", "refuse")
            yield f"judge {name!r}: {refusing} to judge (--again refused asks once more)"
        if breaker.untold:
            untold = replies(breaker.untold, "does not say what it used", "do not say what they used")
            yield f"judge {name!r}: {untold}; each is counted at most"
        if breaker.unpriced:
            attempts = counted(breaker.unpriced, "attempt")
            yield (
                f"judge {name!r}: {attempts} ended without an answer and may have been charged; each is counted "
                "at most"
            )


def unfetched(pending: Pending, judges: Container[str]) -> Iterator[str]:
    """Sentences on batches whose results are not in the file of judgments yet."""
    for which in pending:
        count = f"{len(which.requests)} requests"
        if which.judge not in judges:
            yield f"a batch of judge {which.judge!r} with {count} waits for the judge to be in the panel again"
        elif not which.batch:
            yield f"a batch of judge {which.judge!r} with {count} may be submitted; run it again to find out"
        else:
            yield f"batch {which.batch} of judge {which.judge!r} goes on with {count}; run it again to fetch it"


# How far a collection by rounds is from its goal: which claims are open, and what is still to be asked.
LEVEL = 0.95  # of the goals' claims
FARTHEST = 100.0  # times what there is; a forecast beyond says no more than that it is far


class Outlook(NamedTuple):
    """At one look.

    Attributes
    ----------
    still, claims : int
        Open claims, and all; zero for a goal that makes none.
    needed : float
        Comparisons in all at which the goal would be reached; infinite if that cannot be foreseen.
    """

    still: int
    claims: int
    needed: float


def outlook(order: Order | None, goal: Goal, look: int, comparisons: float) -> Outlook:
    """How far it is at a look (counted from one), after so many comparisons.

    Test statistics grow with the square root of the number of comparisons, and widths shrink with it. So this is
    what it would take if all pairs were asked as they were so far. Rounds ask the open pairs more, so that it
    usually takes less.
    """
    if goal.kind == "comparisons":
        return Outlook(0, 0, goal.size)
    if order is None:
        return Outlook(0, 0, math.inf)
    if goal.kind == "width" and order.flipped:  # no width is reached
        return Outlook(0, 0, math.inf)
    if goal.kind == "width":
        return Outlook(0, 0, _foreseen(comparisons, widest(order, LEVEL) / goal.size))
    still = goal.open_claims(order, look, 1 - LEVEL)
    if not still.any():
        return Outlook(0, len(still), comparisons)
    i, j = goal.pairs(len(order.models))[:, still]
    hurdle = goal.hurdle(len(order.models), look + 1, 1 - LEVEL)
    weakest = float(-ndtri(np.max(order.p_value[i, j]) / 2))
    return Outlook(int(still.sum()), len(still), _foreseen(comparisons, -ndtri(hurdle / 2) / max(weakest, 1e-9)))


def _foreseen(comparisons: float, factor: float) -> float:
    needed = comparisons * factor**2
    return needed if needed <= FARTHEST * comparisons else math.inf


def told(found: Outlook, comparisons: float, left: float, each: float, currency: str) -> str:
    """The same in words, with what the comparisons to go would cost if one costs `each`."""
    claims = f"{found.still} of {found.claims} claims open, " if found.claims else ""
    more = found.needed - comparisons
    if more <= 0:
        return f"{claims}nothing to go" if not found.claims or found.still else "all claims sure"
    if math.isinf(more):
        return f"{claims}the end cannot be foreseen yet"
    price = f" for {money(more * each, currency)}" if each > 0 else ""
    beyond = "" if more <= left else f", and {left:,.0f} are left" if left else ", and none is left"
    return f"{claims}about {more:,.0f} more judgments{price}, as it looks now{beyond}"
