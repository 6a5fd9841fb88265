"""What can go wrong with a request, and how long the server asks to wait."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


class AttemptFailed(Exception):
    """An attempt failed in a way that another may not; `paid` if the server may have charged for it."""

    def __init__(self, kind: str, said: str = "", wait: float | None = None, paid: bool = False):
        super().__init__(kind)
        self.kind, self.said, self.wait, self.paid = kind, said, wait, paid


class Refused(Exception):
    """The server will not answer this request, however often it is sent."""

    def __init__(self, kind: str, said: str = ""):
        super().__init__(kind)
        self.kind, self.said = kind, said


class JudgeRefused(Refused):
    """The server will not answer any request to this judge."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait; None if it does not.

    It says so in milliseconds (``retry-after-ms``), in seconds or as a date (``retry-after``, RFC 9110).
    """
    found = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(found.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        return max(0.0, parsedate_to_datetime(found.get("retry-after", "")).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
