"""When to give up on a judge: no answers, refusals, or unreadable replies. The other judges continue."""

from __future__ import annotations

from collections import Counter, deque

IN_A_ROW = 5  # requests given up, one after the other, that stop a judge
RECENT = 20  # replies, of which more than half must be readable
FEWEST = 4  # replies that say anything about a judge at the end of its pilot


class Breaker:
    """What happened to one judge's requests.

    Attributes
    ----------
    why : str or None
        Why it was stopped, as a clause.
    answered, unreadable, empty, refused : int
        Replies; of those, the ones that could not be read; the ones without a word, cut off at their longest; and
        the ones that refuse to judge.
    untold, unpriced : int
        Replies without told usage, and attempts without an answer, which both count as much as they may cost.
    failed, given_up : Counter
        Attempts and requests by the kind of their failure.
    said : dict
        The server's last message by the kind of failure.
    """

    def __init__(self) -> None:
        self.why: str | None = None
        self.answered, self.unreadable, self.empty, self.refused = 0, 0, 0, 0
        self.untold, self.unpriced = 0, 0
        self.failed, self.given_up = Counter[str](), Counter[str]()
        self.said: dict[str, str] = {}
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

    def failure(self, kind: str, said: str) -> None:
        """Count an attempt that failed."""
        self.failed[kind] += 1
        if said:
            self.said[kind] = said

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
            self.stop(f"none of its {self.given_up.total()} first requests was answered ({kind})", kind)
        elif len(self._recent) >= FEWEST:
            self._require_readable()

    def stop(self, why: str, kind: str = "") -> None:
        """Ask it no more."""
        if self.why is None:
            said = self.said.get(kind)
            self.why = why + (f"; it says: {said}" if said else "")

    def _require_readable(self) -> None:
        unread = self._recent.count(False)
        if 2 * unread > len(self._recent):
            why = f"{unread} of its last {len(self._recent)} replies cannot be read"
            if self.refused:
                why += f" (refusing to judge: {self.refused})"
            if self.empty:
                why += f" (empty: {self.empty}; the tokens went into thoughts, so give it more)"
            self.stop(why)
