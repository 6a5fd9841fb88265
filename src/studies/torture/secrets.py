"""Collections from a server that sends keys back in random places: where the keys can be read in the end.

Variables of the environment name other servers. Everything is on loopback.
"""

from __future__ import annotations

import io
import json
import logging
import os
import tempfile
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import quote

import numpy as np

from judgerank.collecting.run import collect
from judgerank.collecting.settings import Collection
from judgerank.data.errors import JudgerankError
from replication.replicate import Record

PART = 12  # characters in a row that count as a key
PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
ADDRESSES = ("OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "GEMINI_API_BASE")
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/="
FAULTS = (400, 401, 404, 429, 500, 307)


def strayed(settings: dict, rng: np.random.Generator) -> Record:
    """One collection of the ``way``, own, provider or https: in how many places a key stands where none must."""
    keys = {f"KEY_{x}": "sk-" + "".join(rng.choice(list(LETTERS), int(rng.integers(16, 60)))) for x in range(2)}
    with tempfile.TemporaryDirectory() as name, listening() as elsewhere, echoing(keys, rng) as server:
        folder = Path(name)
        named, judges = _judges(settings["way"], server, elsewhere, rng)
        allowed = bool(rng.integers(2))
        with _environment(keys | _astray(elsewhere, rng) | named), _heard() as said:
            status = _collected(folder, judges, allowed)
        places = [path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file()]
        places += [said.getvalue(), *server.bodies, b"".join(elsewhere.came).decode("latin-1")]
    called = elsewhere.connections if settings["way"] != "https" else 0
    unasked = server.connections if named and not allowed else 0
    found = sum(shows(text, key) for text in places for key in keys.values())
    return {"status": status, "found": found, "called": called + unasked, "bad": int(found + called + unasked > 0)}


def shows(text: str, key: str) -> bool:
    """Whether a text has a key, a part of it, or either as addresses and Base64 write it."""
    forms = (key, quote(key, safe=""), b64encode(key.encode()).decode()[: len(key) * 4 // 3])
    lower = text.lower()
    return any(form[at : at + PART].lower() in lower for form in forms for at in range(len(form) - PART + 1))


def _judges(way: str, server: Echo, elsewhere: Ear, rng: np.random.Generator) -> tuple[dict[str, str], list[dict]]:
    """Two judges with a key each, and variables that name where they are asked."""
    if way == "provider":
        asked = [
            {"judge": "j0", "model": "openai/gpt-4.1", "api_key_env": "KEY_0"},
            {"judge": "j1", "model": "anthropic/claude-sonnet-4-5", "api_key_env": "KEY_1"},
        ]
        first, second = ADDRESSES[rng.integers(2)], ADDRESSES[2 + rng.integers(2)]
        return {first: f"{server.place}/v1", second: server.place}, asked
    place = f"https://{elsewhere.place}/v1" if way == "https" else f"{server.place}/v1"
    providers = ("openai", "anthropic", "cohere_chat")
    return {}, [
        {"judge": f"j{x}", "base_url": place, "api_key_env": f"KEY_{x}", "provider": str(rng.choice(providers))}
        for x in range(2)
    ]


def _astray(elsewhere: Ear, rng: np.random.Generator) -> dict[str, str]:
    """Random variables of proxies and of providers' addresses, and none that names loopback as an exception."""
    chosen = [name for name in PROXIES if rng.integers(2)]
    found = dict.fromkeys(chosen, f"http://{elsewhere.place}") | {"NO_PROXY": "", "no_proxy": ""}
    return found | {"GEMINI_API_BASE": f"http://{elsewhere.place}"}


def _collected(folder: Path, judges: list[dict], allowed: bool) -> str:
    questions = folder / "answers.jsonl"
    rows = [{"question_id": "q", "question": "?", "model": f"m{x}", "answer": f"{x}"} for x in range(3)]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings: dict[str, Any] = {
        "questions": str(questions),
        "panel": {"judges": judges},
        "output": folder / "judgments.jsonl",
        "order": "both",
        "attempts": 2,
        "first_wait": 0.01,
        "patience": 0.5,
        "timeout": 5.0,
        "pilot": 2,
        "allow_env_url": allowed,
    }
    try:
        collect(Collection.model_validate(settings))
    except JudgerankError as error:
        print(error)
        return type(error).__name__
    return "collected"


@contextmanager
def _environment(named: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    for name in (*PROXIES, *ADDRESSES):
        os.environ.pop(name, None)
    os.environ.update(named)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _heard() -> Iterator[io.StringIO]:
    """All that is printed and logged meanwhile."""
    said, log = io.StringIO(), logging.getLogger()
    handler = logging.StreamHandler(said)
    ours = logging.getLogger("judgerank")
    before = log.level, ours.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    ours.setLevel(logging.INFO)
    try:
        with redirect_stdout(said), redirect_stderr(said):
            yield said
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        ours.setLevel(before[1])


class Ear(ThreadingTCPServer):
    """Keeps what comes to it, and answers that it cannot connect."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Ear)
        self.connections, self.came = 0, list[bytes]()

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class _Ear(BaseRequestHandler):
    server: Ear

    def handle(self) -> None:
        self.server.connections += 1
        self.request.settimeout(1.0)
        try:
            self.server.came.append(self.request.recv(1 << 16))
            self.request.sendall(b"HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n")
        except OSError:
            pass


class Echo(ThreadingHTTPServer):
    """Answers in two providers' forms, with keys in random places."""

    daemon_threads = True

    def __init__(self, keys: dict[str, str], rng: np.random.Generator) -> None:
        super().__init__(("127.0.0.1", 0), _Echo)
        self.keys, self.rng, self.lock = list(keys.values()), rng, threading.Lock()
        self.connections, self.bodies = 0, list[str]()
        self.failing = float(rng.choice([0.0, 0.1, 0.5]))

    @property
    def place(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def secret(self) -> str:
        """A key, or a part of one, in one of the ways to write it."""
        key = str(self.rng.choice(self.keys))
        start = int(self.rng.integers(len(key) - PART))
        stop = int(self.rng.integers(start + PART, len(key) + 1))
        forms = (key, f"Bearer {key}", key[start:stop], quote(key, safe=""), key.swapcase())
        coded = tuple(b64encode((before + key).encode()).decode() for before in ("", ":", "u:"))
        return str(self.rng.choice(forms + coded))


class _Echo(BaseHTTPRequestHandler):
    server: Echo

    def do_POST(self) -> None:
        server = self.server
        content = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        with server.lock:
            server.connections += 1
            server.bodies.append(self.path + content)
            status = int(server.rng.choice(FAULTS)) if server.rng.random() < server.failing else 200
            body = (_fault if status != 200 else _answer)(self.path, server.secret, server.rng)
            headers = {"x-request-id": server.secret(), "retry-after": server.secret()}
            headers |= {"location": f"http://{quote(server.secret(), safe='')}/"} if status == 307 else {}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _fault(path: str, secret: Callable[[], str], rng: np.random.Generator) -> bytes:
    texts = (
        json.dumps({"error": {"message": f"wrong key {secret()}"}}),
        f"<html>{secret()}</html>",
        f"[{secret()}",
    )
    return str(rng.choice(texts)).encode()


def _answer(path: str, secret: Callable[[], str], rng: np.random.Generator) -> bytes:
    """A reply with keys in its text, model, reason and other fields, whole or in two pieces, plain or escaped."""
    whole = secret()
    cut = int(rng.integers(len(whole)))
    text = ["a, 0.90", f"{whole} a, 0.90", f"[[A]] {whole[:cut]}"][rng.integers(3)]
    model, reason = [("m", "stop"), (whole, "stop"), (whole[cut:], whole)][rng.integers(3)]
    if "/messages" in path:
        pieces = [{"type": "text", "text": part} for part in (whole[:cut], whole[cut:], text)]
        body: dict[str, Any] = {"id": whole, "type": "message", "role": "assistant", "content": pieces}
        body |= {"stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 9}}
    elif "chat/completions" in path:
        message = {"role": "assistant", "content": text, "refusal": whole}
        body = {"id": whole, "object": "chat.completion", "created": 1}
        body |= {"choices": [{"index": 0, "finish_reason": reason, "message": message}]}
    else:
        body = {"id": whole, "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}
        body |= {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 9, "output_tokens": 9}}}
    said = json.dumps(body | {"model": model})
    if rng.integers(3) == 0:
        said = said.replace("s", "\\u0073").replace("/", "\\/")
    return said.encode("utf-16" if rng.integers(5) == 0 else "utf-8")


@contextmanager
def _served(server: Any) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def listening() -> Iterator[Ear]:
    """A server where nothing is to come."""
    with _served(Ear()) as server:
        yield server


@contextmanager
def echoing(keys: dict[str, str], rng: np.random.Generator) -> Iterator[Echo]:
    """A server that is asked."""
    with _served(Echo(keys, rng)) as server:
        yield server
