"""A server on loopback that speaks two providers' forms of chat and of batches, and misbehaves on demand."""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

from tests.tool.batch_endpoint import Batching, done, step_of

# what happens to a request, by the number of times its prompt has been sent: a name of a fault, or None
Faults = Callable[[str, int], str | None]
_numbers = count()  # of replies, in their ids
STATUS = re.compile(r"(\d{3})(?: ([\d.]+))?(?:: (.*))?")  # with seconds to wait, and the server's message


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
        self.happened: Counter[str] = Counter()
        self.requests: list[dict] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.keys: set[str] = set()
        self.lock = threading.Lock()

    @property
    def place(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"{self.place}/v1"


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
            refused = sorted(body.keys() & set(server.refuses))
            fault = (
                f"400: {refused[0]} is not supported" if refused else server.faults(prompt, server.sent[prompt])
            )
            server.happened[fault or "answered"] += 1
        time.sleep(server.delay)
        self._act(fault, lambda: self._answer(prompt, body, fault is None))

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
                    said = done(server.batching, step, self.path, self.headers, content, self._batched)
                except KeyError:
                    fault = "404"
        self._act("gone" if fault == "lost" else fault, lambda: self._send(200, said))

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
        if fault is None or fault == "thinks":
            answer()
        elif fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
        elif fault == "gone":
            self.close_connection = True
        elif fault == "broken":
            self._send(200, b'{"choices": [{"message"')
        elif fault == "no choices":
            self._send(200, b'{"id": "1", "object": "chat.completion", "choices": []}')
        elif fault == "html":
            self._send(200, b"<html><body>The service is busy.</body></html>", {"Content-Type": "text/html"})
        elif fault == "drip":
            self._drip(0.05, b" ")
        elif fault == "endless":
            self._drip(0.0, b" " * 65536)
        elif fault == "50 MB":
            self._send(200, b'{"choices": "' + b"x" * (50 << 20) + b'"}')
        elif fault.startswith("redirect "):
            self._send(307, b"", {"Location": fault.removeprefix("redirect ")})
        else:
            status, wait, said = STATUS.fullmatch(fault).groups()
            told = json.dumps({"error": {"message": said or "no"}}).encode()
            self._send(int(status), told, {"Retry-After": wait} if wait else {})

    def _answer(self, prompt: str, body: dict, said: bool) -> None:
        self._send(200, json.dumps(self._formed(prompt, body, said)).encode())
        with self.server.lock:
            self.server.answered[prompt] += 1

    def _formed(self, prompt: str, body: dict, said: bool) -> dict:
        """An answer in the provider's form."""
        text = self.server.reply(prompt) if said else ""
        if "response_format" in body:
            choice, confidence = text.split(", ")
            text = json.dumps({"choice": choice, "confidence": float(confidence)})
        form = _anthropic if "/messages" in self.path else _openai
        return form(text, "stop" if said else "length", self.server.model or body["model"], prompt, body)

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
    server = Server(faults, delay, reply, model, refuses, batching or Batching())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
