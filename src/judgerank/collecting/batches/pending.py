"""Batches on their way, on disk from before they are submitted until their results are among the judgments."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import field_validator

from judgerank.collecting.checking import Settings, checked
from judgerank.collecting.ledger import Record, is_request_record, task_of
from judgerank.collecting.task_order import Task
from judgerank.data.errors import DataError
from judgerank.writing.atomic import replace_file


class Submission(Settings):
    """One batch.

    Attributes
    ----------
    name : str
        Ours for it; it begins the name of each of its requests.
    judge, begun : str
        Who is asked, and since when (UTC).
    requests : list of dict
        What was asked, and what identifies it, in order.
    batch : str
        The provider's name for it; empty until it is known to be submitted.
    """

    name: str
    judge: str
    begun: str
    requests: list[dict[str, Any]]
    batch: str = ""

    @field_validator("requests")
    @classmethod
    def _are_requests(cls, requests: list[Record]) -> list[Record]:
        if not all(map(is_request_record, requests)):
            raise ValueError("there is one that does not say what was asked")
        return requests

    @property
    def tasks(self) -> list[Task]:
        return [task_of(request) for request in self.requests]


class _Stored(Settings):
    batches: list[Submission]


class Pending:
    """The batches on their way whose answers go into one file of judgments; they lie in a file beside it.

    Raises
    ------
    ConfigError, DataError
        If that file is none of these.
    """

    def __init__(self, judgments: Path):
        judgments = judgments.resolve()
        self.path = judgments.with_name(judgments.name + ".batches.json")
        self._entries: dict[str, Submission] = {}
        if self.path.exists():
            try:
                values = json.loads(self.path.read_bytes())
            except (OSError, ValueError):
                values = None
            if not isinstance(values, dict):
                raise DataError(f"{self.path.name} is not a record of batches of an earlier run")
            self._entries = {entry.name: entry for entry in checked(_Stored, values, self.path.name).batches}

    def __iter__(self) -> Iterator[Submission]:
        return iter(list(self._entries.values()))

    @property
    def requests(self) -> list[Record]:
        """All that are in batches."""
        return [request for submission in self for request in submission.requests]

    @property
    def tasks(self) -> list[Task]:
        """The same, as tasks."""
        return [task for submission in self for task in submission.tasks]

    def begin(self, judge: str, name: str, requests: Iterable[Record]) -> Submission:
        """A batch that is about to be submitted."""
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        return self._keep(Submission(name=name, judge=judge, begun=begun, requests=list(requests)))

    def submitted(self, which: Submission, batch: str) -> Submission:
        """The same, with the provider's name for it."""
        return self._keep(which.model_copy(update={"batch": batch}))

    def drop(self, which: Submission) -> None:
        """Its results are in the file of judgments, or it was refused."""
        del self._entries[which.name]
        self._write()

    def _keep(self, which: Submission) -> Submission:
        self._entries[which.name] = which
        self._write()
        return which

    def _write(self) -> None:
        try:
            if self._entries:
                stored = _Stored(batches=list(self._entries.values()))
                replace_file(self.path, stored.model_dump_json(indent=1) + "\n")
            else:
                self.path.unlink()
        except OSError as error:
            raise DataError(f"{self.path.name} cannot be written: {error.strerror}") from None


def new_name() -> str:
    """A name that no other batch has."""
    return uuid.uuid4().hex[:16]


def custom_id(name: str, number: int) -> str:
    """What one of a batch's requests is called."""
    return f"{name}-{number}"
