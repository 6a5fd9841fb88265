"""Judgments on disk: appended one whole line at a time, so that a killed run loses none that it had."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BufferedWriter
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import Field

from judgerank.collecting.checking import Settings, checked
from judgerank.collecting.replies import Form, Verdict, read
from judgerank.collecting.response import Reply
from judgerank.collecting.task_order import Task
from judgerank.data.errors import ConfigError, DataError
from judgerank.writing.atomic import replace_file

# Money that no judgment shows: attempts that ended without an answer, and requests on their way when a run ended.
#
# A provider may charge for both. So what they may have cost at most stands in a file beside the judgments, and a
# budget counts it in every later run. The file is written before a request is sent that makes the sum larger, so a
# kill at any moment leaves no less than the truth. It is there only if there is such money.


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


FIRST_KEY = b'{"question_id": '  # what every record begins with
TASK = ("question_id", "model_a", "model_b", "judge_model", "repeat")  # keys that say what was asked of a pair
SHOWN, RANKING = "shown", "ranking"  # keys in place of two models: all in the order shown, and their ranking
UNKNOWN = "unknown"  # what a reply that cannot be read chooses
Record = dict[str, Any]  # one judgment, as JSON has it


class Ledger:
    """A file of judgments. It is read as it is, and opened for writing with the first judgment.

    Attributes
    ----------
    records : list of dict
        What earlier runs wrote.
    torn : int
        Bytes of a line that was cut off by a kill; they go with the first judgment.
    charges : Charges
        What attempts may have cost of which there is no judgment.
    """

    def __init__(self, path: Path):
        self._path, self.charges = path, Charges(path)
        self._file: BufferedWriter | None = None
        self._lock = threading.Lock()
        content = path.read_bytes() if path.exists() else b""
        end_of_lines = content.rfind(b"\n") + 1
        tail = content[end_of_lines:]
        self.records = [
            _record(path, number, line) for number, line in enumerate(content[:end_of_lines].splitlines(), 1)
        ]
        self.torn = 0
        self._end = b""  # what a last line without its end still needs
        if tail and _is_torn(tail):
            self.torn = len(tail)
        elif tail:
            self.records.append(_record(path, len(self.records) + 1, tail))
            self._end = b"\n"
        self._keep = len(content) - self.torn

    def append(self, record: Record) -> None:
        """Write one record; when this returns it is on the disk.

        Raises
        ------
        DataError
            If the disk does not take it.
        """
        line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            try:
                if self._file is None:
                    self._file = self._path.open("ab")
                    self._file.truncate(self._keep)
                    line = self._end + line
                self._file.write(line)
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError as error:
                raise DataError(f"{self._path.name} cannot be written: {error.strerror}") from None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def task_of(record: Record) -> Task:
    """The request that a record answers."""
    if SHOWN in record:
        return Task.of(record["question_id"], record[SHOWN], record["judge_model"], record["repeat"])
    return Task(*(record[key] for key in TASK))


def request_record(task: Task, ranked: bool) -> Record:
    """The first keys of a record, from which `task_of` makes the request again; `ranked` says how it was asked."""
    models = {SHOWN: list(task.models)} if ranked else {"model_a": task.first, "model_b": task.second}
    return {"question_id": task.question_id, **models, "judge_model": task.judge, "repeat": task.repeat}


def is_request_record(record: Record) -> bool:
    """Whether a record has the keys of a request."""
    if SHOWN not in record:
        return record.keys() >= set(TASK) and not any(isinstance(record[key], dict | list) for key in TASK)
    models, scalar_keys = record[SHOWN], ("question_id", "judge_model", "repeat")
    return (
        isinstance(models, list)
        and len(models) > 1
        and all(isinstance(name, str) for name in models)
        and all(not isinstance(record.get(key, []), dict | list) for key in scalar_keys)
    )


def choice_of(record: Record) -> str:
    """The letter that a record chooses, of a ranking between the two answers shown first; or `UNKNOWN`."""
    if SHOWN not in record:
        return str(record.get("judge_preferred_model"))
    if not record.get(RANKING):
        return UNKNOWN
    rank = {name: position for position, group in enumerate(record[RANKING]) for name in group}
    first, second = (rank[name] for name in record[SHOWN][:2])
    return "a" if first < second else "b" if second < first else "c"


@contextmanager
def opened(path: Path) -> Iterator[Ledger]:
    """The file of judgments, for this process alone, by whatever name it is called.

    Raises
    ------
    ConfigError
        If another process has it, or there cannot be such a file.
    DataError
        Naming the line that is not a judgment; nothing is changed then.
    """
    path = path.resolve()  # one lock for a file and every link to it
    if path.is_dir():
        raise ConfigError(f"{path.name} is a folder, not a file to write judgments to (--output FILE)")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock_path = path.with_name(path.name + ".lock")
        if lock_path.exists() and (
            not lock_path.is_file() or lock_path.stat().st_size
        ):  # which locking would empty
            raise ConfigError(
                f"{lock_path.name} is not the lock of an earlier run, and would be emptied (move it away)"
            )
        is_new = not lock_path.exists()
        lock = FileLock(lock_path, timeout=0)
        lock.acquire()
    except Timeout:
        raise ConfigError(f"{path.name} is being written by another run") from None
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be written: {error.strerror}") from None
    try:
        try:
            ledger = Ledger(path)
        except DataError:
            if is_new:
                lock_path.unlink()
            raise
        try:
            yield ledger
        finally:
            ledger.close()
    except PermissionError as error:
        raise ConfigError(f"{path.name} cannot be read: {error.strerror}") from None
    finally:
        lock.release()


def _is_torn(tail: bytes) -> bool:
    """Whether a last line without its end is the beginning of a record, and no more than that."""
    if not (tail.startswith(FIRST_KEY) or FIRST_KEY.startswith(tail)):
        return False
    try:
        json.loads(tail)
    except ValueError:
        return True
    return False


def _record(path: Path, number: int, line: bytes) -> Record:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not is_request_record(record):
        raise DataError(f"{path.name}: line {number} is not a judgment of an earlier run")
    return record


# One judgment as it is kept: what was asked, what was answered, and what it took.


def record_of(request: Record, reply: Reply, tokens_at_most: tuple[float, float], form: Form) -> Record:
    """A record, whose first keys are what was asked; what is rare is there only where there is something to say.

    Tokens at most are kept where the reply does not say what it used. The verdict is read in the form that was
    asked for.
    """
    verdict = read(reply.text, form, reply.finish_reason)
    answer = _answer(request, verdict)
    untold = reply.prompt_tokens is None or reply.completion_tokens is None
    optional_fields = {
        "strength": verdict.strength,
        "nonce": form.nonce,
        "cached_tokens": reply.cached,
        "cache_written_tokens": reply.cache_written,
        "tokens_at_most": tokens_at_most if untold else None,
        "refusal": reply.refusal,
        "asked_without": sorted(reply.asked_without),
        "letters": reply.letters_for(answer.get("judge_preferred_model", UNKNOWN)),
    }
    return {
        **request,
        **answer,
        "raw": reply.text,
        "model_answered": reply.model,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "asked_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **{name: value for name, value in optional_fields.items() if value},
    }


def _answer(request: Record, verdict: Verdict) -> Record:
    """What a reply says: a choice and a confidence, or a ranking, its models in groups from best to worst."""
    if SHOWN not in request:
        return {"judge_preferred_model": verdict.choice, "judge_confidence": verdict.confidence}
    models, positions = request[SHOWN], verdict.ranking
    if positions is None or sum(map(len, positions)) != len(models):
        return {RANKING: None}
    return {RANKING: [[models[position] for position in group] for group in positions]}
