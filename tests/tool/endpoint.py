"""A server on loopback that speaks the chat completions protocol and misbehaves on demand."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# what happens to a request, by the number of times its prompt has been sent: a name of a fault, or None
Faults = Callable[[str, int], str | None]


class Server(ThreadingHTTPServer):
    """Counts what it was asked and what it answered."""

    daemon_threads = True

    def __init__(self, faults: Faults, delay: float, reply: Callable[[str], str], model: str | None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults, self.delay, self.reply, self.model = faults, delay, reply, model
        self.sent: dict[str, int] = defaultdict(int)
        self.answered: Counter[str] = Counter()
        self.happened: Counter[str] = Counter()
        self.requests: list[dict] = []
        self.times: list[float] = []
        self.keys: set[str] = set()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["model"] + "\n" + body["messages"][0]["content"]
        with server.lock:
            server.sent[prompt] += 1
            server.requests.append(body)
            server.times.append(time.monotonic())
            server.keys.add(self.headers["Authorization"])
            fault = server.faults(prompt, server.sent[prompt])
            server.happened[fault or "answered"] += 1
        time.sleep(server.delay)
        if fault is None:
            self._answer(prompt, body)
        elif fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
        elif fault == "broken":
            self._send(200, b'{"choices": [{"message"')
        elif fault == "no choices":
            self._send(200, b'{"id": "1", "object": "chat.completion", "choices": []}')
        elif fault == "drip":
            self._drip()
        elif fault == "flood":
            self._send(200, b'{"choices": "' + b"x" * (6 << 20) + b'"}')
        else:
            status, _, wait = fault.partition(" ")
            self._send(int(status), b'{"error": {"message": "no"}}', {"Retry-After": wait} if wait else {})

    def _answer(self, prompt: str, body: dict) -> None:
        server = self.server
        message = {"role": "assistant", "content": server.reply(prompt)}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": server.model or body["model"]}
        answer["choices"] = [{"index": 0, "finish_reason": "stop", "message": message}]
        if "no usage" not in prompt:
            answer["usage"] = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        self._send(200, json.dumps(answer).encode())
        with server.lock:
            server.answered[prompt] += 1

    def _drip(self) -> None:
        """A byte every now and then, so that no single wait is long."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        try:
            for _ in range(1000):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.05)
        except OSError:  # the client has gone, as it should
            self.close_connection = True

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


def better(prompt: str) -> str:
    """Prefers the answer with the larger number in it."""
    first, second = (int(number) for number in re.findall(r"answer of quality (\d+)", prompt))
    return "a, 0.90" if first > second else "b, 0.80" if second > first else "c, 0.50"


@contextmanager
def serving(faults: Faults = lambda prompt, times: None, delay=0.0, reply=better, model=None) -> Iterator[Server]:
    server = Server(faults, delay, reply, model)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
