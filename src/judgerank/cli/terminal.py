"""What commands print: nothing in it moves a cursor, rings, hides or turns round what is beside it."""

from __future__ import annotations

import logging
import re
import sys
import textwrap
import time
from collections.abc import Iterable

import typer

WIDTH = 100  # characters of a line of text
LONGEST = 4096  # characters without a blank, such as a path; what is longer is a name that nobody reads
PATIENCE = 2.0  # seconds without a word
# controls but tab and newline, marks of direction, what has no width, halves of characters, tags
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
SECOND = re.compile(r"  \S.{0,30}?  +(?=\S)")  # an indented name, and the blanks after it
RUN = re.compile(rf"\S{{{LONGEST + 1},}}")


def plain(text: str) -> str:
    r"""A text that a terminal shows as it is: what it would obey, or not show, is escaped, such as ``\x1b``."""
    text = RUN.sub(lambda run: f"{run[0][:80]}... ({len(run[0]):,} characters)", text)
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def say(text: str, err: bool = False) -> None:
    """Print a text and a newline."""
    typer.echo(plain(text), err=err)


def say_wrapped(texts: Iterable[str], bold: bool = False, colour: str | None = None) -> None:
    """Print texts in lines of at most `WIDTH` characters, further lines of a text below its second column.

    A text has a second column if it is indented, and blanks part a name from what follows. Colours are for a
    terminal alone.
    """
    for text in texts:
        column = SECOND.match(text)
        indent = " " * (column.end() if column else 2)
        wrapped = textwrap.fill(plain(text), WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        typer.secho(wrapped, bold=bold, fg=colour)


class Progress:
    """Says on standard error how far a long computation is, from `PATIENCE` seconds on and as often."""

    def __init__(self, what: str) -> None:
        self._what, self._last = what, time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Tell, if it is time to."""
        if time.monotonic() - self._last >= PATIENCE and done < total:
            self._last = time.monotonic()
            say(f"{self._what}: {done:,} of {total:,}", err=True)


def prepare() -> None:
    """Have the library's log go to standard output as text, and let no character fail to be printed."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not where a test has put another in its place
            stream.reconfigure(errors="backslashreplace")
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(Plain())
    log = logging.getLogger("judgerank")
    log.handlers = [handler]
    log.setLevel(logging.INFO)


class Plain(logging.Formatter):
    """Log lines as `plain` text."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return plain(super().format(record))
