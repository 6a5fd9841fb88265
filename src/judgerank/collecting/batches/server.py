"""The batch interface of one judge's provider: to submit a batch, to look for one, to wait for it, to read it.

Every call is one request by the guarded line of live ones, and is tried again where that may help. The address and
the headers are those of a live request, so that its key goes where live requests go and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import tenacity
from pydantic import field_validator

from judgerank.collecting.batches.providers import Batch, Call, Form, Result
from judgerank.collecting.checking import Settings, checked
from judgerank.collecting.client import Client
from judgerank.collecting.ledger import Record, is_request_record, task_of
from judgerank.collecting.response import AttemptFailed, Refused
from judgerank.collecting.settings import Judge
from judgerank.collecting.task_order import Task
from judgerank.collecting.transport import LARGEST_BODY
from judgerank.data.errors import DataError
from judgerank.writing.atomic import replace_file


# Batches on their way, on disk from before they are submitted until their results are among the judgments.
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


LARGEST_RESULT = 1 << 20  # bytes of one request's result, on average
REQUESTS_IN_TIME = 1000  # that may take as long as one live reply to send or to read
FEWER = "fewer results"  # than the batch says
MOST_PAGES = 1000  # of a list of batches
CLOCKS = 3600.0  # seconds that two clocks may differ by
OF_THE_CONTENT = ("content-length", "content-type", "transfer-encoding")  # headers of one request alone


class Server:
    """One judge's.

    Parameters
    ----------
    client, judge, form
        By what, for whom and how it is asked.
    live : httpx.Request
        Any request to the judge, as it would be sent live.
    retrying : callable
        Makes what attempts again.
    failed : callable
        Told of each attempt that failed, by its kind and what was said.
    poll : float
        Seconds between two looks at a batch.
    """

    def __init__(
        self,
        client: Client,
        judge: Judge,
        form: Form,
        live: httpx.Request,
        retrying: Callable[[], tenacity.AsyncRetrying],
        failed: Callable[[str, str], None],
        poll: float,
    ):
        self._client, self._judge, self.form = client, judge, form
        self._retrying, self._failed, self._poll = retrying, failed, poll
        address = str(live.url)
        if not address.endswith(form.live_path):
            raise Refused("no batches", f"there are none for requests to {address}")
        self._base_url = address.removesuffix(form.live_path)
        self._headers = {name: value for name, value in live.headers.items() if name not in OF_THE_CONTENT}

    async def submit(self, which: Submission, fresh: bool, items: Callable[[], Awaitable[Sequence[bytes]]]) -> str:
        """Submit a batch once, whatever becomes of the answers; the provider's name for it.

        Parameters
        ----------
        which : Submission
        fresh : bool
            Whether it is sure that it was not submitted before; else it is looked for first.
        items : callable
            Its requests.

        Raises
        ------
        AttemptFailed
            If it may have been submitted.
        Refused
            If it was not.
        """
        batch_id = None if fresh else await self._find(which, self._call)
        if batch_id is not None:
            return batch_id
        order = await self.form.order(self._call, which.name, await items())
        sent = False

        async def once() -> str:
            nonlocal sent
            existing_id = await self._find(which, self._once) if sent else None
            if existing_id is None:
                sent = True
                count = len(which.requests)
                existing_id = (
                    await self._once("POST", self.form.folder, count=count, read=self._batch, **order)
                ).id
            return existing_id

        return await self._retrying()(once)

    async def ended(self, batch: str) -> Batch:
        """What is said of a batch when it has ended."""
        while True:
            batch_state = await self._call("GET", f"{self.form.folder}/{quote(batch, safe='')}", read=self._batch)
            if batch_state.ended:
                return batch_state
            await asyncio.sleep(self._poll)

    async def results(self, batch: Batch, count: int) -> list[Result]:
        """All results of a batch that has ended, of at most so many requests.

        Those that are still fewer than the batch says after a few attempts are all that there are.

        Raises
        ------
        AttemptFailed
            If they are cut off.
        """
        received: list[Result] = []

        async def once() -> list[Result]:
            received.clear()
            for address in batch.results:
                received.extend(await self._once("GET", address, count=count, read=self._results))
            if (
                sum(result.answer is not None and result.answer.is_success for result in received)
                < batch.succeeded
            ):
                raise self._fault(FEWER, f"there are fewer than {batch.succeeded}")
            return received

        try:
            return await self._retrying()(once)
        except AttemptFailed as error:
            if error.kind != FEWER:
                raise
            return received

    async def _find(self, which: Submission, call: Call) -> str | None:
        """The provider's name for a batch that may have been submitted; None if it was not."""
        page: dict[str, Any] = {"limit": 100}
        try:
            for _ in range(MOST_PAGES):
                batches, goes_on = await call("GET", self.form.folder, params=page, read=self._listed)
                for batch in batches:
                    if await self._is(batch, which):
                        return batch.id
                if not batches or not goes_on:
                    return None
                page[self.form.after] = batches[-1].id
        except Refused as error:  # it may be there all the same
            raise AttemptFailed(error.kind, error.message) from None
        raise AttemptFailed("no end", "its list of batches has no end")

    async def _is(self, batch: Batch, which: Submission) -> bool:
        """Whether a batch is ours: by its name or, where none is kept, by those of its requests at its end."""
        if batch.name is not None:
            return batch.name == which.name
        count, begun = len(which.requests), datetime.fromisoformat(which.begun).timestamp()
        if batch.total != count or batch.created < begun - CLOCKS:
            return False
        results = await self.results(await self.ended(batch.id), count)
        request_ids = {custom_id(which.name, number) for number in range(count)}
        return any(result.custom_id in request_ids for result in results)

    async def _call(self, *call: Any, **more: Any) -> Any:
        return await self._retrying()(self._once, *call, **more)

    async def _once(
        self,
        method: str,
        address: str,
        count: int = 0,
        read: Callable[[bytes], Any] = json.loads,
        headers: dict[str, str] | None = None,
        **content: Any,
    ) -> Any:
        """One attempt at one call; what it says, as it is read. `count` requests or their results are carried."""
        request = httpx.Request(
            method, self._base_url + address, headers=self._headers | (headers or {}), **content
        )
        seconds = self._client.timeout * (1 + count / REQUESTS_IN_TIME)
        try:
            body = await self._client.call(self._judge, request, seconds, LARGEST_BODY + count * LARGEST_RESULT)
        except (AttemptFailed, Refused) as error:
            self._failed(error.kind, error.message)
            raise
        try:
            return read(body)
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
            raise self._fault("unreadable body", "") from None

    def _fault(self, kind: str, message: str) -> AttemptFailed:
        self._failed(kind, message)
        return AttemptFailed(kind, message)

    def _batch(self, body: bytes) -> Batch:
        return self.form.batch(json.loads(body))

    def _listed(self, body: bytes) -> tuple[list[Batch], bool]:
        """A page of a list of batches, and whether another follows."""
        listing = json.loads(body)
        return [self.form.batch(entry) for entry in listing["data"]], bool(listing.get("has_more"))

    def _results(self, body: bytes) -> list[Result]:
        return [self.form.result(json.loads(line)) for line in body.split(b"\n") if line.strip()]
