"""The two batch interfaces of the server on loopback: what is submitted, how it goes on, and what comes of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from urllib.parse import parse_qs, urlsplit

Body = dict
PAGE = 2  # batches on a page of a list, so that there are several
FILE = re.compile(r"/v1/files/([^/]+)/content")
BATCH = re.compile(r"/v1/(?:messages/)?batches/([^/]+?)(/results)?")


def whole(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


@dataclass
class Batching:
    """How batches are dealt with, and what was done.

    `faults` says what happens at a step (upload, create, list, look, results) by how often it was asked for: a
    fault of the server, or "lost" where its answer does not arrive. `outcome` says what becomes of a request by
    its prompt: answered by default, else expired, 400, missing or broken. `tamper` writes a file of results.
    """

    faults: Callable[[str, int], str | None] = lambda step, times: None
    outcome: Callable[[str], str | None] = lambda prompt: None
    tamper: Callable[[Sequence[bytes]], bytes] = whole
    looks: int = 1  # at a batch that goes on still
    end: str = "completed"
    steps: Counter[str] = field(default_factory=Counter)
    files: dict[str, bytes] = field(default_factory=dict)
    results: dict[str, list[bytes]] = field(default_factory=dict)  # lines by the name of a file
    batches: dict[str, Body] = field(default_factory=dict)  # by id, in order


def step_of(method: str, path: str) -> str | None:
    """The step of a batch that a request asks for; None if it is none of one."""
    place = urlsplit(path).path
    if place == "/v1/files":
        return "upload"
    if place in ("/v1/batches", "/v1/messages/batches"):
        return {"POST": "create", "GET": "list"}[method]
    if FILE.fullmatch(place):
        return "results"
    match = BATCH.fullmatch(place)
    return None if match is None else "results" if match[2] else "look"


def done(batching: Batching, step: str, path: str, headers, content: bytes, answer) -> bytes:
    """Do what a step asks for; `answer` is what a live request would be answered, by its prompt and body."""
    anthropic, place = "/messages/" in path, urlsplit(path).path
    if step == "upload":
        return _uploaded(batching, headers["Content-Type"], content)
    if step == "create":
        said = json.loads(content)
        return _told(batching, _created(batching, said, anthropic, answer), anthropic)
    if step == "list":
        return _listed(batching, parse_qs(urlsplit(path).query), anthropic)
    if step == "look":
        batch = batching.batches[BATCH.fullmatch(place)[1]]
        batch["looks"] += 1
        return _told(batching, batch, anthropic)
    name = FILE.fullmatch(place)[1] if not anthropic else f"output-{BATCH.fullmatch(place)[1]}"
    return batching.tamper(batching.results[name])


def _uploaded(batching: Batching, kind: str, content: bytes) -> bytes:
    message = message_from_bytes(f"Content-Type: {kind}\n\n".encode() + content)
    parts = {part.get_param("name", header="content-disposition"): part for part in message.get_payload()}
    assert parts["purpose"].get_payload() == "batch"
    name = f"file-{len(batching.files)}"
    batching.files[name] = parts["file"].get_payload(decode=True)
    return json.dumps({"id": name, "object": "file", "purpose": "batch"}).encode()


def _created(batching: Batching, said: Body, anthropic: bool, answer) -> Body:
    """A new batch, all of whose requests are answered at once, and paid for."""
    if anthropic:
        asked = [(line["custom_id"], line["params"]) for line in said["requests"]]
    else:
        lines = [json.loads(line) for line in batching.files[said["input_file_id"]].splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
        assert (said["endpoint"], said["completion_window"]) == ("/v1/chat/completions", "24h")
        asked = [(line["custom_id"], line["body"]) for line in lines]
    assert len({name for name, _ in asked}) == len(asked)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name, _ in asked)
    batch = {
        "id": f"batch-{len(batching.batches)}",
        "looks": 0,
        "metadata": said.get("metadata"),
        "count": len(asked),
    }
    written, failed, kinds = [], [], Counter()
    for name, body in asked:
        outcome = batching.outcome(json.dumps(body))
        kinds[outcome] += 1
        if outcome != "missing":
            line = (_anthropic if anthropic else _openai)(name, outcome, body, answer)
            (written if anthropic or outcome in (None, "broken") else failed).append(json.dumps(line).encode())
    batch["kinds"] = kinds
    for prefix, lines in (("output", written), ("error", failed)):
        if lines:
            batching.results[f"{prefix}-{batch['id']}"] = lines[::-1]  # in another order
    batching.batches[batch["id"]] = batch
    return batch


def _openai(name: str, outcome: str | None, body: Body, answer) -> Body:
    line = {"id": "r", "custom_id": name, "response": None, "error": None}
    if outcome == "expired":
        return line | {"error": {"code": "batch_expired", "message": "it took too long"}}
    status = 400 if outcome == "400" else 200
    said = {"error": {"message": "not this one"}} if status == 400 else {} if outcome else answer(body)
    return line | {"response": {"status_code": status, "request_id": "r", "body": said}}


def _anthropic(name: str, outcome: str | None, body: Body, answer) -> Body:
    result = {"type": {None: "succeeded", "broken": "succeeded", "400": "errored"}.get(outcome, outcome)}
    if result["type"] == "succeeded":
        result["message"] = {} if outcome else answer(body)
    if outcome == "400":
        error = {"type": "invalid_request_error", "message": "not this one"}
        result["error"] = {"type": "error", "error": error}
    return {"custom_id": name, "result": result}


def _state(batching: Batching, batch: Body, anthropic: bool) -> Body:
    ended = batch["looks"] > batching.looks
    kinds, name = batch["kinds"], batch["id"]
    answered = kinds[None] + kinds["broken"]
    if anthropic:
        counts = {"succeeded": answered, "errored": kinds["400"], "expired": kinds["expired"], "canceled": 0}
        counts = (
            {**counts, "processing": 0} if ended else {**dict.fromkeys(counts, 0), "processing": batch["count"]}
        )
        created = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": created,
            "results_url": f"https://elsewhere.invalid/{name}" if ended else None,
        }
    files = {
        key: file if ended and (file := f"{prefix}-{name}") in batching.results else None
        for key, prefix in (("output_file_id", "output"), ("error_file_id", "error"))
    }
    failed = ended and batching.end == "failed"
    return {
        "id": name,
        "object": "batch",
        "status": batching.end if ended else "in_progress",
        "created_at": 1,
        "metadata": batch["metadata"],
        "request_counts": {"total": batch["count"], "completed": 0 if failed else answered * ended, "failed": 0},
        "errors": {"data": [{"code": "token_limit_exceeded", "message": "too many tokens wait"}]}
        if failed
        else None,
        **(dict.fromkeys(files) if failed else files),
    }


def _told(batching: Batching, batch: Body, anthropic: bool) -> bytes:
    return json.dumps(_state(batching, batch, anthropic)).encode()


def _listed(batching: Batching, asked: dict[str, list[str]], anthropic: bool) -> bytes:
    """A page of the batches, the newest first."""
    names = list(batching.batches)[::-1]
    after = asked.get("after_id" if anthropic else "after")
    names = names[names.index(after[0]) + 1 :] if after else names
    page = [_state(batching, batching.batches[name], anthropic) for name in names[:PAGE]]
    said = {"object": "list", "data": page, "has_more": len(names) > PAGE}
    return json.dumps(said | {"last_id": page[-1]["id"] if page else None}).encode()
