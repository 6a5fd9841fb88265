"""What commands print: nothing in it moves a cursor, rings, hides or turns round what is beside it.

Printing never ends a command: it goes on if its reader is gone, and `unwritten` says what else went wrong.
"""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import typer

from judgerank.data.errors import DataUnavailableError
from judgerank.data.listing import counted

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100  # characters of a line of text, at most
NARROWEST = 40  # on the narrowest terminal
LONGEST = 4096  # characters without a blank, such as a path; what is longer is a name that nobody reads
PATIENCE = 2.0  # seconds without a word
MOST_ROWS = 10_000  # of a table in JSON; all pairs of 1,000 models are only in the output folder
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
    """What is known of standard output.

    Attributes
    ----------
    json : bool
        Whether it is for one JSON document, and all else goes to standard error.
    failed : str or None
        Why something could not be written to it, if so.
    """

    json = False
    failed: str | None = None


def unwritten() -> str | None:
    """Why standard output is not all there, in a sentence; None if it is, or if its reader closed it."""
    return _Output.failed and f"standard output could not be written: {_Output.failed}"


def _print(text: str, err: bool) -> None:
    """Print on a stream that may be closed or full: its reader may go, but what is lost otherwise is kept."""
    try:
        typer.echo(text, err=err)
    except OSError as error:
        lose(error, err)


def lose(error: OSError, err: bool = False) -> None:
    """Keep why a stream failed, and have it write nowhere from now on: Python's end writes what waits in it."""
    stream: Any = sys.stderr if err else sys.stdout
    with suppress(OSError, ValueError):  # where a test has put another in its place
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    if not err and error.errno != errno.EPIPE:
        _Output.failed = error.strerror or str(error)


def say(text: str, err: bool = False) -> None:
    """Print a text and a newline."""
    _print(plain(text), err or _Output.json)


def say_json(command: str, result: Mapping[str, object]) -> None:
    """Print the JSON document of a command on standard output, in ASCII whatever the terminal's encoding."""
    document = {"command": command, **result}
    text = json.dumps(document, indent=2, allow_nan=False, default=_as_text)
    _print(text.replace("\x7f", "\\u007f"), err=False)  # the one control in ASCII that JSON leaves as it is


def _as_text(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def sized(tables: Mapping[str, pd.DataFrame]) -> tuple[dict[str, list[dict[str, object]]], list[str]]:
    """Tables as records, and the names of those that are too large for a document."""
    from judgerank.writing.spreadsheets import records

    small = {name: records(table) for name, table in tables.items() if len(table) <= MOST_ROWS}
    return small, [name for name in tables if name not in small]


def number(value: Any) -> float | None:
    """A number for a document; None if it is missing or infinite."""
    import numpy as np

    return float(value) if value is not None and np.isfinite(value) else None


def say_wrapped(texts: Iterable[str], bold: bool = False, colour: str | None = None) -> None:
    """Print texts in lines that fit a terminal, further lines of a text below its second column.

    A text has a second column if it is indented, and blanks part a name from what follows. Colours are for a
    terminal alone.
    """
    width = _width()
    for text in texts:
        column = SECOND.match(text)
        indent = " " * (column.end() if column else 2)
        wrapped = textwrap.fill(plain(text), width, subsequent_indent=indent, break_on_hyphens=False)
        _print(typer.style(wrapped, bold=bold, fg=colour), _Output.json)


def _width() -> int:
    """Characters of a line: those of a terminal, within bounds; `WIDTH` in a file, wherever it is made."""
    stream = sys.stderr if _Output.json else sys.stdout
    if stream is None or not stream.isatty():
        return WIDTH
    return max(NARROWEST, min(shutil.get_terminal_size().columns, WIDTH))


class Screen(NamedTuple):
    """A result on one screen: who leads, the evidence, a table, one warning, what to do next.

    Attributes
    ----------
    headline : str
        Without a full stop.
    evidence, table : str
    basis : sequence of str
        What the table rests on.
    warnings, notes : sequence of str
        Of these, only the first warning is printed; the others are counted.
    next : sequence of str
        What to do.
    hidden_models : int
        Models that the table leaves out.
    elsewhere : str
        Where else everything is, to follow ``--verbose``.
    """

    headline: str
    evidence: str
    table: str
    basis: Sequence[str]
    warnings: Sequence[str]
    notes: Sequence[str]
    next: Sequence[str]
    hidden_models: int = 0
    elsewhere: str = ""

    def print_lead(self) -> None:
        """Print the headline and the evidence."""
        say_wrapped([f"{self.headline}."], bold=True)
        say_wrapped([self.evidence])

    def print(self, verbose: bool = False) -> None:
        """Print it; with `verbose`, all warnings and notes."""
        self.print_lead()
        say(f"\n{self.table}")
        say_wrapped(self.basis)
        say_wrapped(self.warnings if verbose else self.warnings[:1])
        say_wrapped(f"Note: {note}" for note in self.notes if verbose)
        say_wrapped(self.next)
        hidden = {"more warning": len(self.warnings) - 1, "note": len(self.notes)}
        hidden["more model"] = self.hidden_models
        counts = [counted(n, what) for what, n in hidden.items() if n > 0]
        if counts and not verbose:
            say(f"{' and '.join(counts)}: --verbose{self.elsewhere}.")


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
    _Output.json, _Output.failed = json, None
    if sys.stdin is None:  # closed by the shell (<&-)
        sys.stdin = ClosedInput()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not where a test has put another in its place
            stream.reconfigure(errors="backslashreplace")
    log = logging.getLogger("judgerank")
    log.handlers = [Messages(err=json)]
    log.setLevel(logging.INFO)


class ClosedInput(io.StringIO):
    """Standard input that is closed: nobody is there to ask, and a file that was to come by it is not."""

    @property
    def buffer(self) -> NoReturn:
        """What a file would be read from."""
        raise DataUnavailableError("standard input is closed: name a file, or send one (judgerank ... - < FILE)")


class Messages(logging.Handler):
    """Prints the log's lines as `say` does."""

    def __init__(self, err: bool):
        super().__init__()
        self.err = err

    def emit(self, record: logging.LogRecord) -> None:
        """Print one."""
        say(self.format(record), self.err)
