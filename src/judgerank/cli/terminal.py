"""What commands print: nothing in it moves a cursor, rings, hides or turns round what is beside it."""

from __future__ import annotations

import json
import logging
import re
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import typer

WIDTH = 100  # characters of a line of text
LONGEST = 4096  # characters without a blank, such as a path; what is longer is a name that nobody reads
PATIENCE = 2.0  # seconds without a word
ENOUGH = 0.1  # share of the work from which its pace says how long the rest takes
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


class _Output:
    """Whether standard output is for one JSON document, and all else goes to standard error."""

    json = False


def say(text: str, err: bool = False) -> None:
    """Print a text and a newline."""
    typer.echo(plain(text), err=err or _Output.json)


def say_json(command: str, found: Mapping[str, object]) -> None:
    """Print the JSON document of a command on standard output, in ASCII whatever the terminal's encoding."""
    document = {"command": command, **found}
    text = json.dumps(document, indent=2, allow_nan=False, default=_as_text)
    typer.echo(text.replace("\x7f", "\\u007f"))  # the one control in ASCII that JSON leaves as it is


def _as_text(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def say_wrapped(texts: Iterable[str], bold: bool = False, colour: str | None = None) -> None:
    """Print texts in lines of at most `WIDTH` characters, further lines of a text below its second column.

    A text has a second column if it is indented, and blanks part a name from what follows. Colours are for a
    terminal alone.
    """
    for text in texts:
        column = SECOND.match(text)
        indent = " " * (column.end() if column else 2)
        wrapped = textwrap.fill(plain(text), WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        typer.secho(wrapped, bold=bold, fg=colour, err=_Output.json)


class Progress:
    """Says on standard error how far a long computation is, from `PATIENCE` seconds on and as often."""

    def __init__(self, what: str) -> None:
        self._what, self._begun = what, time.monotonic()
        self._last = self._begun

    def __call__(self, done: float, total: float) -> None:
        """Say what share of the work is done, and how long the rest takes at this pace, if it is time to."""
        now = time.monotonic()
        if now - self._last >= PATIENCE and 0 < done < total:
            self._last = now
            left = (now - self._begun) * (total - done) / done
            estimate = f", about {_duration(left)} left" if done / total >= ENOUGH else ""
            say(f"{self._what}: {done / total:.0%}{estimate}", err=True)


def _duration(seconds: float) -> str:
    """A length of time in the unit that suits it."""
    return f"{max(seconds, 1):.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def prepare(json: bool = False) -> None:
    """Have the library's log go to standard output as text, and let no character fail to be printed.

    With `json` the log and all that is said go to standard error.
    """
    _Output.json = json
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not where a test has put another in its place
            stream.reconfigure(errors="backslashreplace")
    handler = logging.StreamHandler(sys.stderr if json else sys.stdout)
    handler.setFormatter(Plain())
    log = logging.getLogger("judgerank")
    log.handlers = [handler]
    log.setLevel(logging.INFO)


class Plain(logging.Formatter):
    """Log lines as `plain` text."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return plain(super().format(record))
