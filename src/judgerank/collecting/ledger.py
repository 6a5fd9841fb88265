"""Judgments on disk: appended one whole line at a time, so that a killed run loses none that it had."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import BufferedReader, FileIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from filelock import FileLock, Timeout
from pydantic import Field

from judgerank.collecting.checking import Settings, checked
from judgerank.collecting.replies import Form, Verdict, read
from judgerank.collecting.response import Reply
from judgerank.collecting.task_order import Task
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.listing import counted
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
TAIL = 256  # bytes at the end of the file by which it is known again
WAITS = (0.0, 0.05, 0.1, 0.2, 0.4)  # seconds before another look at a line that has no end yet
UNKNOWN = "unknown"  # what a reply that cannot be read chooses
Record = dict[str, Any]  # one judgment, as JSON has it


class Replaced(DataError):
    """Something else put another file in the place of the judgments, or took them away."""


class Ledger:
    """A file of judgments. It is read as it is, and opened for writing with the first judgment.

    Something else may write to it meanwhile, which takes no lock. So each write is preceded by a look: what was
    appended is read, and a file that is no longer the one that was read stays as it is.

    Attributes
    ----------
    records : list of dict
        What earlier runs wrote, and what was appended since by something else.
    torn : int
        Bytes of a line that was cut off by a kill; they go with the first judgment.
    charges : Charges
        What attempts may have cost of which there is no judgment.
    """

    def __init__(self, path: Path):
        self._path, self.charges = path, Charges(path)
        self._file: FileIO | None = None
        self._lock = threading.Lock()
        self._written: list[bytes] = []  # lines of this run
        self._appended = set[Task]()  # answered by something else since
        self._kept: Path | None = None  # where this run's judgments went instead
        self.records: list[Record] = []
        self.torn, self._end = 0, b""  # and what a last line without its end still needs
        self._identity: tuple[int, int] | None = None
        self._size, self._tail = 0, b""  # of the file as it was last seen
        with suppress(FileNotFoundError), path.open("rb") as file:
            self._identity = _identity(os.fstat(file.fileno()))
            self._take(file.read())

    def _take(self, content: bytes) -> list[Record]:
        """Read what stands behind the judgments that are known already; the new ones."""
        start = self._size - self.torn
        end_of_lines = content.rfind(b"\n") + 1
        tail = content[end_of_lines:]
        lines = content[:end_of_lines].splitlines()
        first = len(self.records) + len(self._written) + 1
        records = [_record(self._path, number, line) for number, line in enumerate(lines, first)]
        if self.torn:  # which is read once more, with what follows it
            self._tail = self._tail[: -self.torn]
        self.torn, self._end = 0, b""
        if tail and _is_torn(tail):
            self.torn = len(tail)
        elif tail:
            records.append(_record(self._path, first + len(records), tail))
            self._end = b"\n"
        self.records += records
        self._see(start, content)
        return records

    def _see(self, start: int, content: bytes) -> None:
        """Remember how the file ends once it has this content from a byte on."""
        self._size = start + len(content)
        self._tail = (self._tail + content if start else content)[-TAIL:]

    def refresh(self) -> None:
        """Read what something else appended.

        Raises
        ------
        DataError
            If that is no judgment.
        Replaced
            If the file is no longer the one that was read; the judgments of this run then are in another one.
        """
        with self._lock:
            self._look()

    def is_answered(self, task: Task) -> bool:
        """Whether something else has appended an answer to a request since the file was first read."""
        return task in self._appended

    def _look(self, line: bytes = b"") -> None:
        """Read what was appended; a line that is about to be written is kept where it cannot be."""
        if self._kept is not None:
            raise self._replaced(line)
        try:
            if not stat.S_ISREG(self._path.stat().st_mode):  # a pipe would never open
                raise self._replaced(line)
            with self._path.open("rb") as file:
                state = os.fstat(file.fileno())
                if self._identity not in (None, _identity(state)) or state.st_size < self._size:
                    raise self._replaced(line)
                file.seek(self._size - len(self._tail))
                if file.read(len(self._tail)) != self._tail:
                    raise self._replaced(line)
                if state.st_size > self._size:
                    self._identity = _identity(state)
                    if self._end:  # of a line that was whole but for its end
                        self._skip_end(file)
                    self._read_on(file, line)
        except FileNotFoundError:
            if self._identity is not None:
                raise self._replaced(line) from None

    def _read_on(self, file: BufferedReader, line: bytes) -> None:
        """Read what was appended, and wait for the end of a line that is being written."""
        for wait in WAITS:
            time.sleep(wait)
            file.seek(self._size - self.torn)
            self._appended |= {task_of(record) for record in self._take(file.read())}
            if not self.torn:
                return
        raise self._replaced(line, "the last line is being written by something else")

    def _skip_end(self, file: BufferedReader) -> None:
        """Step over the end of a line that something else wrote before its own."""
        if file.read(1) != b"\n":
            raise DataError(f"{self._path.name}: line {len(self.records)} is not a judgment of an earlier run")
        self._see(self._size, b"\n")
        self._end = b""

    def _replaced(self, line: bytes = b"", begins: str = "") -> Replaced:
        """The error; what this run has written, and a line more, goes into a file of its own."""
        if line:
            self._written.append(line)
        was = f"{self._path.name} was replaced or removed by something else while judges were asked"
        sentence = f"{begins or was}, and the file stays as it is now"
        if not self._written:
            return Replaced(sentence)
        content = b"".join(self._written).decode()
        name = f"{self._path.stem}.kept-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}{self._path.suffix}"
        for kept in [self._kept] if self._kept else [folder / name for folder in self._folders()]:
            with suppress(OSError, ConfigError):  # the folder may be gone, too
                replace_file(kept, content)
                self._kept = kept
                break
        n_written, are = counted(len(self._written), "judgment"), "is" if len(self._written) == 1 else "are"
        if self._kept is None:
            return Replaced(f"{sentence}; no folder could store the {n_written} of this run")
        where = self._kept.name if self._kept.parent == self._path.parent else str(self._kept)
        return Replaced(f"{sentence}; the {n_written} of this run {are} in {where}")

    def _folders(self) -> Iterator[Path]:
        """Where judgments go that cannot go into their file."""
        yield self._path.parent
        yield Path.cwd()
        yield Path(gettempdir())

    def append(self, record: Record) -> None:
        """Write one record, unless something else has appended an answer to the same request.

        When this returns it is on the disk.

        Raises
        ------
        DataError
            If the disk does not take it.
        Replaced
            If the file is no longer the one that was read; the record then is in another one.
        """
        line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            try:
                self._look(line)
                if self.is_answered(task_of(record)):
                    return
                self._write(line)
            except Replaced:
                raise
            except DataError as error:  # a line that is no judgment
                raise self._replaced(line, str(error)) from None
            except OSError as error:
                raise DataError(f"{self._path.name} cannot be written: {error.strerror}") from None

    def _write(self, line: bytes) -> None:
        if self._file is None:
            self._file = self._path.open("ab", buffering=0)  # no part of a failed line waits to be written later
            self._identity = self._identity or _identity(os.fstat(self._file.fileno()))
        if _identity(os.fstat(self._file.fileno())) != self._identity:
            raise self._replaced(line)
        if self.torn:
            self._file.truncate(self._size - self.torn)
            self._size, self._tail, self.torn = self._size - self.torn, self._tail[: -self.torn], 0
        if self._end:
            self._put(self._end)
            self._end, self.torn = b"", 0
        self._put(line)
        self.torn = 0
        os.fsync(self._file.fileno())
        self._written.append(line)

    def _put(self, content: bytes) -> None:
        """Write bytes at the end; of what a full disk does not take whole, the part is a torn line."""
        assert self._file is not None
        unwritten = memoryview(content)
        while unwritten:
            part = self._file.write(unwritten)
            self._see(self._size, bytes(unwritten[:part]))
            self.torn += part
            unwritten = unwritten[part:]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _identity(state: os.stat_result) -> tuple[int, int]:
    """What tells a file from another that is put in its place."""
    return state.st_dev, state.st_ino


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
def opened(path: Path, wait: float = 0.0) -> Iterator[Ledger]:
    """The file of judgments, for this process alone, by whatever name it is called.

    Parameters
    ----------
    path : Path
    wait : float
        Seconds to wait for another process that has it.

    Raises
    ------
    ConfigError
        If another process has it for longer, or there cannot be such a file.
    DataError
        Naming the line that is not a judgment; nothing is changed then.
    """
    path = path.resolve()  # one lock for a file and every link to it
    if path.is_dir():
        raise ConfigError(f"{path.name} is a folder, not a file to write judgments to (--judgments FILE)")
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
        lock = FileLock(lock_path)
        lock.acquire(timeout=wait)
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
        "reply_id": reply.reply_id,
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
