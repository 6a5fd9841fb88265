"""Judgments on disk: appended one whole line at a time, so that a killed run loses none that it had."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from judgerank.collecting.tasks import Task
from judgerank.errors import ConfigError, DataError


class Ledger:
    """An open file of judgments.

    Attributes
    ----------
    records : list of dict
        What earlier runs wrote.
    torn : int
        Bytes of a line that was cut off by a kill, and is gone.
    """

    def __init__(self, path: Path):
        self._file = path.open("a+b")
        self._lock = threading.Lock()
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        self.torn = len(content) - whole
        self.records = [_record(path, number, line) for number, line in enumerate(content[:whole].splitlines(), 1)]
        if self.torn:
            self._file.truncate(whole)
            os.fsync(self._file.fileno())

    def append(self, record: dict) -> None:
        """Write one record; when this returns it is on the disk."""
        line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def task_of(record: dict) -> Task:
    """The request that a record answers."""
    return Task(*(record[key] for key in ("question_id", "model_a", "model_b", "judge_model", "repeat")))


@contextmanager
def opened(path: Path) -> Iterator[Ledger]:
    """The file of judgments, for this process alone.

    Raises
    ------
    ConfigError
        If another process has it.
    DataError
        Naming the line that is not a judgment.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(path.name + ".lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ConfigError(f"{path.name} is being written by another run") from None
    try:
        ledger = Ledger(path)
        try:
            yield ledger
        finally:
            ledger.close()
    finally:
        lock.release()


def _record(path: Path, number: int, line: bytes) -> dict:
    try:
        record = json.loads(line)
        task_of(record)
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path.name}: line {number} is not a judgment of an earlier run") from None
    return record
