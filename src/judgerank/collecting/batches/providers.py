"""Batch formats of two providers: how to submit a batch, and how to read its status and results.

OpenAI takes a file of requests and gives files of results: https://platform.openai.com/docs/guides/batch.
Anthropic takes and gives them directly: https://docs.anthropic.com/en/docs/build-with-claude/batch-processing.
Both charge half, and give up after a day what they could not do.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

import httpx

LABEL = "judgerank"  # key of our own name for a batch, where a provider keeps one beside it
Call = Callable[..., Awaitable[Any]]


class Batch(NamedTuple):
    """What a provider says of a batch.

    `name` is ours for it, or None where none is kept; `total` the number of its requests and `succeeded` that of
    those answered; `created` is in seconds since 1970, and `results` are addresses.
    """

    id: str
    status: str
    ended: bool
    name: str | None
    total: int
    succeeded: int
    created: float
    results: tuple[str, ...]
    message: str = ""


class Result(NamedTuple):
    """What became of one request: what a live one would have been answered, or why there is no answer."""

    custom_id: str
    answer: httpx.Response | None
    kind: str = ""
    message: str = ""


class Form(Protocol):
    """One provider's.

    Attributes
    ----------
    live_path : str
        End of the address of live requests, which all others share but for it.
    folder : str
        That of batches.
    after : str
        Parameter that says where the next page of a list begins.
    most_requests, most_bytes : int
        That a batch may have.
    """

    live_path: str
    folder: str
    after: str
    most_requests: int
    most_bytes: int

    def item(self, custom_id: str, body: bytes) -> bytes:
        """One request of a batch."""

    async def order(self, call: Call, name: str, items: Sequence[bytes]) -> Mapping[str, Any]:
        """Content of the request that begins a batch, after all that must come before it."""

    def batch(self, response: Mapping[str, Any]) -> Batch:
        """What is said of a batch."""

    def result(self, line: Mapping[str, Any]) -> Result:
        """A line of the results."""


class OpenAI:
    live_path, folder, after = "/chat/completions", "/batches", "after"
    most_requests, most_bytes = 50_000, 200_000_000

    def item(self, custom_id: str, body: bytes) -> bytes:
        wanted = {
            "custom_id": custom_id,
            "method": "POST",
            "url": f"/v1{self.live_path}",
            "body": json.loads(body),
        }
        return json.dumps(wanted).encode()

    async def order(self, call: Call, name: str, items: Sequence[bytes]) -> Mapping[str, Any]:
        file = (f"{name}.jsonl", b"".join(item + b"\n" for item in items), "application/jsonl")
        uploaded = await call("POST", "/files", data={"purpose": "batch"}, files={"file": file})
        wanted = {"input_file_id": uploaded["id"], "endpoint": f"/v1{self.live_path}", "completion_window": "24h"}
        return {"json": wanted | {"metadata": {LABEL: name}}}

    def batch(self, response: Mapping[str, Any]) -> Batch:
        counts = response.get("request_counts") or {}
        files = (response.get(key) for key in ("output_file_id", "error_file_id"))
        faults = (response.get("errors") or {}).get("data") or [{}]
        return Batch(
            id=_text(response["id"]),
            status=_text(response["status"]),
            ended=response["status"] in ("completed", "failed", "expired", "cancelled"),
            name=str((response.get("metadata") or {}).get(LABEL, "")),
            total=int(counts.get("total", 0)),
            succeeded=int(counts.get("completed", 0)),
            created=float(response.get("created_at", 0)),
            results=tuple(f"/files/{quote(file, safe='')}/content" for file in files if file),
            message=str(faults[0].get("message") or ""),
        )

    def result(self, line: Mapping[str, Any]) -> Result:
        answer, error = line.get("response"), line.get("error") or {}
        if answer:
            return Result(_text(line["custom_id"]), _answer(answer["status_code"], answer["body"]))
        kind = str(error.get("code") or "no answer")
        return Result(_text(line["custom_id"]), None, kind, str(error.get("message") or ""))


class Anthropic:
    live_path, folder, after = "/messages", "/messages/batches", "after_id"
    most_requests, most_bytes = 100_000, 256_000_000

    def item(self, custom_id: str, body: bytes) -> bytes:
        return json.dumps({"custom_id": custom_id, "params": json.loads(body)}).encode()

    async def order(self, call: Call, name: str, items: Sequence[bytes]) -> Mapping[str, Any]:
        content = b'{"requests": [' + b", ".join(items) + b"]}"
        return {"content": content, "headers": {"content-type": "application/json"}}

    def batch(self, response: Mapping[str, Any]) -> Batch:
        counts = response.get("request_counts") or {}
        return Batch(
            id=_text(response["id"]),
            status=_text(response["processing_status"]),
            ended=response["processing_status"] == "ended",
            name=None,
            total=sum(int(count) for count in counts.values()),
            succeeded=int(counts.get("succeeded", 0)),
            created=datetime.fromisoformat(response["created_at"]).timestamp(),
            results=(f"{self.folder}/{quote(response['id'], safe='')}/results",),
        )

    def result(self, line: Mapping[str, Any]) -> Result:
        name, result = _text(line["custom_id"]), line["result"]
        if result["type"] == "succeeded":
            return Result(name, _answer(200, result["message"]))
        error = (result.get("error") or {}).get("error") or {}
        return Result(name, None, str(error.get("type") or result["type"]), str(error.get("message") or ""))


FORMS: Mapping[str, Form] = {"openai": OpenAI(), "anthropic": Anthropic()}


def _answer(status: int, body: Any) -> httpx.Response:
    return httpx.Response(int(status), content=json.dumps(body).encode())


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise TypeError("no name where one is to be")
    return value
