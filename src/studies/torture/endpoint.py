"""A server on loopback that speaks two providers' forms of chat and of batches, and misbehaves on demand."""

from __future__ import annotations

import gzip
import json
import math
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import parse_qs, urlsplit

# what happens to a request, by the number of times its prompt has been sent: a name of a fault, or None
Faults = Callable[[str, int], str | None]
_numbers = count()  # of replies, in their ids
STATUS = re.compile(r"(\d{3})(?: (.*?))?(?:: (.*))?", re.S)  # with Retry-After, and the server's message
USAGE = "usage "  # before what a reply says of its tokens, in JSON


class Server(ThreadingHTTPServer):
    """Counts what it was asked and what it answered."""

    daemon_threads = True

    def __init__(
        self,
        faults: Faults,
        delay: float,
        reply: Callable[[str], str],
        model: str | None,
        refuses: Collection[str],
        batching: Batching,
    ):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults, self.delay, self.reply, self.model, self.refuses = faults, delay, reply, model, refuses
        self.batching = batching
        self.sent: dict[str, int] = defaultdict(int)
        self.answered: Counter[str] = Counter()
        self.earliest: tuple[str, bytes] | None = (
            None  # the model and the first answer, which a cache gives others
        )
        self.is_read = False  # that answer, as a judge is asked once before all else
        self.happened: Counter[str] = Counter()
        self.requests: list[dict] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.keys: set[str] = set()
        self.lock = threading.Lock()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        length = int(self.headers["Content-Length"] or 0)
        content = self.rfile.read(length)
        if len(content) < length:  # the client has gone
            return
        step = step_of(self.command, self.path)
        if step:
            self._batch(step, content)
            return
        body = json.loads(content)
        prompt = _prompt(body)
        with server.lock:
            server.sent[prompt] += 1
            server.requests.append(body)
            server.paths.append(self.path)
            server.times.append(time.monotonic())
            server.keys |= self._keys()
            server.is_read |= server.earliest is not None and server.earliest[0] == body["model"]
            refused = sorted(body.keys() & set(server.refuses))
            fault = (
                f"400: {refused[0]} is not supported" if refused else server.faults(prompt, server.sent[prompt])
            )
            server.happened[fault or "answered"] += 1
        time.sleep(server.delay)
        self._act(fault, lambda: self._answer(prompt, body, fault))

    do_GET = do_POST

    def _keys(self) -> set[str]:
        return {self.headers[name] for name in ("Authorization", "x-api-key") if self.headers[name]}

    def _batch(self, step: str, content: bytes) -> None:
        """One step of a batch."""
        server = self.server
        with server.lock:
            server.batching.steps[step] += 1
            server.keys |= self._keys()
            fault = server.batching.faults(step, server.batching.steps[step])
            if fault in (None, "lost"):
                try:
                    content_sent = done(server.batching, step, self.path, self.headers, content, self._batched)
                except KeyError:
                    fault = "404"
        self._act("gone" if fault == "lost" else fault, lambda: self._send(200, content_sent))

    def _batched(self, body: dict) -> dict:
        """What a request in a batch is answered."""
        prompt = _prompt(body)
        self.server.answered[prompt] += 1
        return self._formed(prompt, body, True)

    def _act(self, fault: str | None, answer: Callable[[], None]) -> None:
        try:
            self._do(fault, answer)
        except OSError:  # the client has gone
            self.close_connection = True

    def _do(self, fault: str | None, answer: Callable[[], None]) -> None:
        if fault in ANSWERING or str(fault).startswith(USAGE):
            answer()
        elif fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
        elif fault == "gone":
            self.close_connection = True
        elif fault in BODIES:
            self._send(200, BODIES[fault]())
        elif fault == "html":
            self._send(200, b"<html><body>The service is busy.</body></html>", {"Content-Type": "text/html"})
        elif fault == "drip":
            self._drip(0.05, b" ")
        elif fault == "endless":
            self._drip(0.0, b" " * 65536)
        elif fault == "bomb":
            self._send(200, gzip.compress(b" " * (16 << 20)), {"Content-Encoding": "gzip"})
        elif fault.startswith("redirect "):
            self._send(307, b"", {"Location": fault.removeprefix("redirect ")})
        else:
            status, wait, message = STATUS.fullmatch(fault).groups()
            body = json.dumps({"error": {"message": message or "no"}}).encode()
            self._send(int(status), body, {} if wait is None else {"Retry-After": wait})

    def _answer(self, prompt: str, body: dict, fault: str | None) -> None:
        """An answer, whole or with what a server may do to one."""
        answer = self._formed(prompt, body, fault != "thinks")
        if fault == "half":
            choice = answer["choices"][0]
            choice["message"]["content"] = choice["message"]["content"][:-6]  # before the verdict is whole
            choice["finish_reason"] = "length"
        elif fault is not None and fault.startswith(USAGE):
            answer["usage"] = json.loads(fault.removeprefix(USAGE))
        content = json.dumps(answer).encode()
        if fault == "another's" and self.server.is_read:
            self._send(200, self.server.earliest[1])
            return
        if fault == "gzip":
            self._send(200, gzip.compress(content), {"Content-Encoding": "gzip"})
            return
        with self.server.lock:
            self.server.earliest = self.server.earliest or (body["model"], content)
        self._send(200, content)
        with self.server.lock:
            self.server.answered[prompt] += 1
        if fault == "twice":
            self._send(200, content)

    def _formed(self, prompt: str, body: dict, has_text: bool) -> dict:
        """An answer in the provider's form."""
        text = self.server.reply(prompt) if has_text else ""
        if "response_format" in body:
            choice, confidence = text.split(", ")
            text = json.dumps({"choice": choice, "confidence": float(confidence)})
        form = _anthropic if "/messages" in self.path else _openai
        return form(text, "stop" if has_text else "length", self.server.model or body["model"], prompt, body)

    def _drip(self, pause: float, part: bytes) -> None:
        """Parts without end, so that no single wait is long."""
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(part)
            self.wfile.flush()
            time.sleep(pause)

    def _send(self, status: int, body: bytes, headers: dict | None = None) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


# faults of an answer that is there all the same, and none
ANSWERING = (None, "thinks", "half", "another's", "gzip", "twice")
BODIES: dict[str, Callable[[], bytes]] = {  # that are no answer
    "broken": lambda: b'{"choices": [{"message"',
    "no choices": lambda: b'{"id": "1", "object": "chat.completion", "choices": []}',
    "50 MB": lambda: b'{"choices": "' + b"x" * (50 << 20) + b'"}',
    "deep": lambda: b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


def _prompt(body: dict) -> str:
    return body["model"] + "\n" + _text(body["messages"][-1]["content"])


def _text(content: str | list[dict]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _openai(text: str, reason: str, model: str, prompt: str, body: dict) -> dict:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text}}
    if body.get("logprobs"):
        tokens = [{"token": token, "logprob": math.log(p)} for token, p in ((text[0], 0.8), ("c", 0.1))]
        first = tokens[0] | {"bytes": None, "top_logprobs": [token | {"bytes": None} for token in tokens]}
        rest = {"token": text[1:], "logprob": -0.1, "bytes": None, "top_logprobs": []}
        choice["logprobs"] = {"content": [first, rest]}
    answer = {
        "id": f"reply-{next(_numbers)}",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [choice],
    }
    if "no usage" not in prompt:
        answer["usage"] = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return answer


def _anthropic(text: str, reason: str, model: str, prompt: str, body: dict) -> dict:
    return {
        "id": f"reply-{next(_numbers)}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": {"stop": "end_turn", "length": "max_tokens"}[reason],
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def better(prompt: str) -> str:
    """Prefers the answer with the larger number in it."""
    first, second = (int(number) for number in re.findall(r"answer of quality (\d+)", prompt))
    return "a, 0.90" if first > second else "b, 0.80" if second > first else "c, 0.50"


@contextmanager
def serving(
    faults: Faults = lambda prompt, times: None, delay=0.0, reply=better, model=None, refuses=(), batching=None
) -> Iterator[Server]:
    with running(Server(faults, delay, reply, model, refuses, batching or Batching())) as server:
        yield server


@contextmanager
def running(server):
    """A server that answers in a thread of its own, until it is no longer needed."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


Body = dict
PAGE = 2  # batches on a page of a list, so that there are several
FILE = re.compile(r"/v1/files/([^/]+)/content")
BATCH = re.compile(r"/v1/(?:messages/)?batches/([^/]+?)(/results)?")


def complete_file(lines: Sequence[bytes]) -> bytes:
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
    tamper: Callable[[Sequence[bytes]], bytes] = complete_file
    looks: int = 1  # at a batch that goes on still
    end: str = "completed"
    steps: Counter[str] = field(default_factory=Counter)
    files: dict[str, bytes] = field(default_factory=dict)
    results: dict[str, list[bytes]] = field(default_factory=dict)  # lines by the name of a file
    batches: dict[str, Body] = field(default_factory=dict)  # by id, in order


def step_of(method: str, path: str) -> str | None:
    """The step of a batch that a request asks for; None if it is none of one."""
    route = urlsplit(path).path
    if route == "/v1/files":
        return "upload"
    if route in ("/v1/batches", "/v1/messages/batches"):
        return {"POST": "create", "GET": "list"}[method]
    if FILE.fullmatch(route):
        return "results"
    match = BATCH.fullmatch(route)
    return None if match is None else "results" if match[2] else "look"


def done(batching: Batching, step: str, path: str, headers, content: bytes, answer) -> bytes:
    """Do what a step asks for; `answer` is what a live request would be answered, by its prompt and body."""
    anthropic, route = "/messages/" in path, urlsplit(path).path
    if step == "upload":
        return _uploaded(batching, headers["Content-Type"], content)
    if step == "create":
        fields = json.loads(content)
        return _told(batching, _created(batching, fields, anthropic, answer), anthropic)
    if step == "list":
        return _listed(batching, parse_qs(urlsplit(path).query), anthropic)
    if step == "look":
        batch = batching.batches[BATCH.fullmatch(route)[1]]
        batch["looks"] += 1
        return _told(batching, batch, anthropic)
    name = FILE.fullmatch(route)[1] if not anthropic else f"output-{BATCH.fullmatch(route)[1]}"
    return batching.tamper(batching.results[name])


def _uploaded(batching: Batching, kind: str, content: bytes) -> bytes:
    message = message_from_bytes(f"Content-Type: {kind}\n\n".encode() + content)
    parts = {part.get_param("name", header="content-disposition"): part for part in message.get_payload()}
    assert parts["purpose"].get_payload() == "batch"
    name = f"file-{len(batching.files)}"
    batching.files[name] = parts["file"].get_payload(decode=True)
    return json.dumps({"id": name, "object": "file", "purpose": "batch"}).encode()


def _created(batching: Batching, fields: Body, anthropic: bool, answer) -> Body:
    """A new batch, all of whose requests are answered at once, and paid for."""
    if anthropic:
        requests = [(line["custom_id"], line["params"]) for line in fields["requests"]]
    else:
        lines = [json.loads(line) for line in batching.files[fields["input_file_id"]].splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
        assert (fields["endpoint"], fields["completion_window"]) == ("/v1/chat/completions", "24h")
        requests = [(line["custom_id"], line["body"]) for line in lines]
    assert len({name for name, _ in requests}) == len(requests)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name, _ in requests)
    batch = {
        "id": f"batch-{len(batching.batches)}",
        "looks": 0,
        "metadata": fields.get("metadata"),
        "count": len(requests),
    }
    written, failed, kinds = [], [], Counter()
    for name, body in requests:
        outcome = batching.outcome(json.dumps(body))
        kinds[outcome] += 1
        if outcome != "missing":
            line = (_anthropic_line if anthropic else _openai_line)(name, outcome, body, answer)
            (written if anthropic or outcome in (None, "broken") else failed).append(json.dumps(line).encode())
    batch["kinds"] = kinds
    for prefix, lines in (("output", written), ("error", failed)):
        if lines:
            batching.results[f"{prefix}-{batch['id']}"] = lines[::-1]  # in another order
    batching.batches[batch["id"]] = batch
    return batch


def _openai_line(name: str, outcome: str | None, body: Body, answer) -> Body:
    line = {"id": "r", "custom_id": name, "response": None, "error": None}
    if outcome == "expired":
        return line | {"error": {"code": "batch_expired", "message": "it took too long"}}
    status = 400 if outcome == "400" else 200
    answer_body = {"error": {"message": "not this one"}} if status == 400 else {} if outcome else answer(body)
    return line | {"response": {"status_code": status, "request_id": "r", "body": answer_body}}


def _anthropic_line(name: str, outcome: str | None, body: Body, answer) -> Body:
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


def _listed(batching: Batching, query: dict[str, list[str]], anthropic: bool) -> bytes:
    """A page of the batches, the newest first."""
    names = list(batching.batches)[::-1]
    after = query.get("after_id" if anthropic else "after")
    names = names[names.index(after[0]) + 1 :] if after else names
    page = [_state(batching, batching.batches[name], anthropic) for name in names[:PAGE]]
    page_fields = {"object": "list", "data": page, "has_more": len(names) > PAGE}
    return json.dumps(page_fields | {"last_id": page[-1]["id"] if page else None}).encode()
