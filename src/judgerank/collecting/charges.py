"""Money that no judgment shows: attempts that ended without an answer, and requests on their way when a run ended.

A provider may charge for both. So what they may have cost at most stands in a file beside the judgments, and a
budget counts it in every later run. The file is written before a request is sent that makes the sum larger, so a
kill at any moment leaves no less than the truth. It is there only if there is such money.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field

from judgerank.collecting.checking import Settings, checked
from judgerank.data.errors import DataError
from judgerank.writing.atomic import replace_file


class _Stored(Settings):
    without_answer: float = Field(ge=0)
    on_their_way: float = Field(ge=0)


class Charges:
    """What attempts into one file of judgments may have cost at most, in the currency of the prices.

    Parameters
    ----------
    judgments : Path, optional
        The file of judgments. Without it nothing is stored.

    Attributes
    ----------
    without_answer : float
        Of earlier runs and of this one. What was on its way when a run was killed is counted in.

    Raises
    ------
    ConfigError, DataError
        If the file beside the judgments is none of these.
    """

    def __init__(self, judgments: Path | None = None):
        self._path = judgments.with_name(judgments.name + ".charges.json") if judgments else None
        self._now, self._most = 0.0, 0.0
        self._stored = self._read()
        self.without_answer = self._stored.without_answer + self._stored.on_their_way

    def add(self, amount: float) -> None:
        """Count an attempt that ended without an answer and may have been charged."""
        self.without_answer += amount
        self._write()

    @contextmanager
    def on_their_way(self, amount: float) -> Iterator[None]:
        """While a request is on its way that may cost so much."""
        self._change(amount)
        try:
            yield
        finally:
            self._change(-amount)

    def end(self) -> None:
        """Nothing is on its way any more."""
        self._now, self._most = 0.0, 0.0
        self._write()

    def _change(self, amount: float) -> None:
        """Write what is on its way if there is more of it than the file says, or less than half: not each time."""
        self._now += amount
        if not self._now <= self._most <= 2 * self._now:
            self._most = max(self._now, 0.0)
            self._write()

    def _read(self) -> _Stored:
        if self._path is None or not self._path.exists():
            return _Stored(without_answer=0.0, on_their_way=0.0)
        try:
            values = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            values = None
        if not isinstance(values, dict):
            raise DataError(f"{self._path.name} is not a record of what earlier attempts may have cost")
        return checked(_Stored, values, self._path.name)

    def _write(self) -> None:
        stored = _Stored(without_answer=self.without_answer, on_their_way=self._most)
        if self._path is None or stored == self._stored:
            return
        try:
            if stored.without_answer or stored.on_their_way:
                replace_file(self._path, stored.model_dump_json() + "\n")
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise DataError(f"{self._path.name} cannot be written: {error.strerror}") from None
        self._stored = stored
