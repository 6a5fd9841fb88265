"""Findings of a collection, as tables and sentences."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from judgerank.adaptive.goals import Goal, widest
from judgerank.collecting.batches.server import Pending
from judgerank.collecting.costs import typical_costs
from judgerank.collecting.ledger import UNKNOWN, Record, choice_of
from judgerank.collecting.settings import Judge
from judgerank.collecting.transport import shortened
from judgerank.data.listing import counted, noun
from judgerank.order.pairs import Order

# When to give up on a judge: no answers, refusals, or unreadable replies. The other judges continue.
IN_A_ROW = 5  # requests given up, one after the other, that stop a judge
RECENT = 20  # replies, of which more than half must be readable
FEWEST = 4  # replies that say anything about a judge at the end of its pilot
N_EXAMPLES = 3  # replies in another form that are shown
MAX_EXAMPLE_LENGTH = 60  # characters of one, its last


class Breaker:
    """What happened to one judge's requests.

    Attributes
    ----------
    why : str or None
        Why it was stopped, as a clause.
    answered, unreadable, empty, refused : int
        Replies; of those, the ones that could not be read; the ones without a word, cut off at their longest; and
        the ones that refuse to judge.
    other_form, cut_off : int
        Of the ones that could not be read, those with words in another form than the prompt asks for; and of
        these, the ones that ended by length.
    examples : list of str
        The ends of the first of them.
    untold, unpriced : int
        Replies without told usage, and attempts without an answer, which both count as much as they may cost.
    failed, given_up : Counter
        Attempts and requests by the kind of their failure.
    said : dict
        The server's last message by the kind of failure.
    """

    def __init__(self, most_other_forms: float = 1.0) -> None:
        self.why: str | None = None
        self._most_other_forms = most_other_forms
        self.answered, self.unreadable, self.empty, self.refused = 0, 0, 0, 0
        self.other_form, self.cut_off = 0, 0
        self.examples: list[str] = []
        self.untold, self.unpriced = 0, 0
        self.failed, self.given_up = Counter[str](), Counter[str]()
        self.messages: dict[str, str] = {}
        self._in_a_row = 0
        self._recent: deque[bool] = deque(maxlen=RECENT)

    def reply(self, readable: bool, empty: bool, refused: bool = False) -> None:
        """Count a reply."""
        self.answered += 1
        self.unreadable += not readable and not refused
        self.empty += empty
        self.refused += refused
        self._in_a_row = 0
        self._recent.append(readable)
        if len(self._recent) == RECENT:
            self._require_readable()
            self._require_form()

    def in_another_form(self, text: str, was_cut_off: bool) -> None:
        """Count a reply with words that are not in the form asked for; `reply` counts it as unreadable."""
        self.other_form += 1
        self.cut_off += was_cut_off
        if len(self.examples) < N_EXAMPLES:
            line = shortened(text[-1000:])
            self.examples.append(line if len(line) <= MAX_EXAMPLE_LENGTH else f"... {line[-MAX_EXAMPLE_LENGTH:]}")

    def failure(self, kind: str, message: str) -> None:
        """Count an attempt that failed."""
        self.failed[kind] += 1
        if message:
            self.messages[kind] = message

    def gave_up(self, kind: str) -> None:
        """Count a request that was given up."""
        self.given_up[kind] += 1
        self._in_a_row += 1
        if self._in_a_row >= IN_A_ROW:
            self.stop(f"{self._in_a_row} requests in a row were given up, the last for {kind}", kind)

    def end_pilot(self) -> None:
        """Stop a judge whose pilot failed."""
        if not self.answered and self.given_up:
            kind = self.given_up.most_common(1)[0][0]
            n_first = self.given_up.total()
            which = f"none of its first {n_first} requests was" if n_first > 1 else "its first request was not"
            self.stop(f"{which} answered ({kind})", kind)
        elif len(self._recent) >= FEWEST:
            self._require_readable()

    def stop(self, why: str, kind: str = "") -> None:
        """Ask it no more."""
        if self.why is None:
            message = self.messages.get(kind)
            self.why = why + (f"; it says: {message}" if message else "")

    def _require_form(self) -> None:
        """Pause a judge before it costs more, if too many replies are in another form than the prompt asks for."""
        if self.other_form > self._most_other_forms * self.answered:
            self.stop(
                f"{self.other_form} of its {self.answered} replies are in another form than the prompt asks for; "
                "look at them, then change the prompt or its form, or go on with --other-forms 1"
            )

    def _require_readable(self) -> None:
        unread = self._recent.count(False)
        if 2 * unread > len(self._recent):
            why = f"{unread} of its last {len(self._recent)} replies cannot be read"
            if self.refused:
                why += f" (refusing to judge: {self.refused})"
            if self.empty:
                why += f" (empty: {self.empty}; the tokens went into thoughts, so give it more)"
            self.stop(why)


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


def replies(count: int, singular: str, plural: str) -> str:
    """How many replies do something, said of one and of more."""
    return f"1 reply {singular}" if count == 1 else f"{count} replies {plural}"


def several(names: Sequence[str]) -> str:
    """Names, the first few of them where there are many."""
    few = ", ".join(names[:NAMED])
    return few if len(names) <= NAMED else f"{few} and {len(names) - NAMED} more"


def duration(seconds: float) -> str:
    """A length of time in the unit that suits it."""
    if math.isnan(seconds):
        return "unknown"
    if seconds < 100:
        return counted(round(seconds), "second")
    return counted(round(seconds / 60), "minute") if seconds < 6000 else f"{seconds / 3600:.1f} hours"


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
    for name, replies_of_judge in frame.groupby("judge_model", sort=True):
        choice = replies_of_judge["choice"]
        rows.append(
            {
                "judge": name,
                "replies": len(replies_of_judge),
                "readable": int((choice != UNKNOWN).sum()),
                "first": int((choice == "a").sum()),
                "decided": int(choice.isin(["a", "b"]).sum()),
                "tokens": replies_of_judge["completion_tokens"].mean(),
                "seconds": replies_of_judge["seconds"].mean(),
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
            position = "first" if 2 * first > decided else "second"
            count = max(first, decided - first)
            yield (
                f"judge {row['judge']!r} preferred the answer shown {position} {count} times of {decided}: its "
                "choice may follow the place (--order both lets the ranking allow for it)"
            )


def happened(breakers: Mapping[str, Breaker]) -> Iterator[str]:
    """Sentences on what failed, by judge and kind, with the server's own words."""
    for name, breaker in breakers.items():
        for kind, count in sorted(breaker.failed.items()):
            server_message = f"; it says: {breaker.messages[kind]}" if kind in breaker.messages else ""
            given_up = f", {counted(breaker.given_up[kind], 'request')} given up" if breaker.given_up[kind] else ""
            yield f"judge {name!r}: {counted(count, 'attempt')} failed ({kind}){given_up}{server_message}"
        if breaker.empty:
            yield (
                f"judge {name!r}: {replies(breaker.empty, 'is empty, its', 'are empty, their')} tokens went into "
                "thoughts (finish_reason length); give it more by params: {max_tokens: ...}, then "
                "--again unreadable"
            )
        if breaker.other_form:
            cut = f", {breaker.cut_off} of them cut off at their longest" if breaker.cut_off else ""
            shown = "; ".join(f'"{example}"' for example in breaker.examples)
            yield (
                f"judge {name!r}: {breaker.other_form} of {replies(breaker.answered, 'is', 'are')} in another "
                f"form than the prompt asks for{cut}, such as: {shown}"
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
        count = counted(len(which.requests), "request")
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
    open_claims = goal.open_claims(order, look, 1 - LEVEL)
    if not open_claims.any():
        return Outlook(0, len(open_claims), comparisons)
    i, j = goal.pairs(len(order.models))[:, open_claims]
    hurdle = goal.hurdle(len(order.models), look + 1, 1 - LEVEL)
    weakest = float(-ndtri(np.max(order.p_value[i, j]) / 2))
    return Outlook(
        int(open_claims.sum()), len(open_claims), _foreseen(comparisons, -ndtri(hurdle / 2) / max(weakest, 1e-9))
    )


def _foreseen(comparisons: float, factor: float) -> float:
    needed = comparisons * factor**2
    return needed if needed <= FARTHEST * comparisons else math.inf


def outlook_sentence(forecast: Outlook, comparisons: float, left: float, unit_cost: float, currency: str) -> str:
    """The same in words, with what the comparisons to go would cost if one costs `unit_cost`."""
    claims = f"{forecast.still} of {counted(forecast.claims, 'claim')} open, " if forecast.claims else ""
    n_more = forecast.needed - comparisons
    if n_more <= 0:
        return f"{claims}nothing to go" if not forecast.claims or forecast.still else "all claims sure"
    if math.isinf(n_more):
        return f"{claims}the end cannot be foreseen yet"
    price = f" for {money(n_more * unit_cost, currency)}" if unit_cost > 0 else ""
    beyond = "" if n_more <= left else f", and {left:,.0f} are left" if left else ", and none is left"
    return f"{claims}about {n_more:,.0f} more {noun(round(n_more), 'judgment')}{price}, as it looks now{beyond}"
