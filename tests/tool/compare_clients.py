"""Client libraries on the same faults: ``python -m tests.tool.compare_clients litellm``.

Or inspect, any-llm, judgerank, each in an environment that has it. One question goes to a server on loopback that
misbehaves. Printed: how it ended, after how many requests, and whether another host was reached. The results are
in the table of docs/reference/collect.md.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-SECRETKEY1234567890"
QUESTION = [{"role": "user", "content": "Which is better?"}]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "j", "schema": {"type": "object", "properties": {}}}}
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "a, 0.9"}}
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
FINE = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE], "usage": USAGE}
Act = Callable[[int, bytes], Any]  # of the number of a request and its body: a status with more, or a name


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append(self.headers.get("Authorization", ""))
        try:
            self._do(self.server.act(len(self.server.seen), body))
        except OSError:
            self.close_connection = True

    def _do(self, act: Any) -> None:
        if act == "fine":
            self._send(200, FINE)
        elif act == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
        elif act == "gone":
            self.close_connection = True
        else:
            self._send(*act)

    def _send(self, status: int, told: Any, headers: dict[str, str] | None = None) -> None:
        content = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def serving(act: Act) -> Any:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.act, server.seen = True, act, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def refusing(status: int, said: str = "no", **headers: str) -> tuple[int, dict, dict[str, str]]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return (
        status,
        {"error": {"message": said, "type": "x", "code": None}},
        {"Content-Type": "application/json"} | named,
    )


def first(fault: Any, many: int = 1) -> Act:
    return lambda number, body: fault if number <= many else "fine"


def outage(seconds: float) -> Act:
    began: list[float] = []

    def act(number: int, body: bytes) -> Any:
        began.append(time.monotonic())
        return refusing(503) if began[-1] - began[0] < seconds else "fine"

    return act


async def litellm(url: str | None, model: str, **more: Any) -> str:
    import litellm as library

    at = {"api_base": url} if url else {}
    told = await library.acompletion(model=f"openai/{model}", messages=QUESTION, api_key=KEY, **at, **more)
    return told.choices[0].message.content


async def any_llm(url: str | None, model: str, **more: Any) -> str:
    from any_llm import acompletion

    at = {"api_base": url} if url else {}
    told = await acompletion(model=model, provider="openai", messages=QUESTION, api_key=KEY, **at, **more)
    return told.choices[0].message.content


async def inspect(url: str | None, model: str, **more: Any) -> str:
    from inspect_ai.model import GenerateConfig, get_model

    form = {"extra_body": {"response_format": more.pop("response_format")}} if "response_format" in more else {}
    at = {"base_url": url} if url else {}
    asked = get_model(
        f"openai/{model}",
        api_key=KEY,
        config=GenerateConfig(**more, **form),
        memoize=False,
        responses_api=False,
        **at,
    )
    return (await asked.generate(QUESTION[0]["content"])).completion


async def judgerank(url: str | None, model: str, **more: Any) -> str:
    from judgerank.collecting.client import Client
    from judgerank.collecting.response import AttemptFailed
    from judgerank.collecting.settings import Judge, Prompt

    judge = Judge(
        judge="j", model=model if url else f"openai/{model}", base_url=url, structured="response_format" in more
    )
    judge = judge if url else judge.with_address("https://api.openai.com/v1/chat/completions", "")
    client = Client({"j": judge}, Prompt(), 30.0, {"j": KEY})
    try:
        for attempt in range(6):
            try:
                return (await client.attempt(judge, QUESTION)).text
            except AttemptFailed as error:
                await asyncio.sleep(error.wait or min(8.0, 2.0**attempt))
        return "given up after six attempts"
    finally:
        await client.close()


LIBRARIES: dict[str, Callable[..., Awaitable[str]]] = {
    "litellm": litellm,
    "any-llm": any_llm,
    "inspect": inspect,
    "judgerank": judgerank,
}


def run(
    library: str, name: str, act: Act, other: Any = None, env: dict | None = None, url: bool = True, **more: Any
) -> None:
    server, before = serving(act), dict(os.environ)
    place = f"http://127.0.0.1:{server.server_port}/v1"
    os.environ.update({key: value or place for key, value in (env or {}).items()})
    start = time.monotonic()

    async def ask() -> str:
        async with asyncio.timeout(120):
            return await LIBRARIES[library](place if url else None, more.pop("model", "gpt-4.1"), **more)

    try:
        told = f"answer {asyncio.run(ask())!r}"
    except Exception as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
    os.environ.clear()
    os.environ.update(before)
    server.shutdown()
    keyed = " with the key" if other is not None and any(KEY in one for one in other.seen) else ""
    beside = f"; another host got {len(other.seen)} requests{keyed}" if other is not None else ""
    print(f"{name}: {told}, {len(server.seen)} requests, {time.monotonic() - start:.1f} s{beside}", flush=True)


def main(library: str) -> None:
    run(library, "warm-up", first("fine"))  # which imports the library
    run(library, "429 with Retry-After", first(refusing(429, Retry_After="3")))
    run(library, "500 twice", first(refusing(500), 2))
    run(library, "503 for 20 s", outage(20))
    for fault in ("cut", "gone"):
        run(library, fault, first(fault))
    run(library, "HTML once", first((200, b"<html>busy</html>", {"Content-Type": "text/html"})))
    run(library, "no choices once", first((200, FINE | {"choices": []})))
    for status in (401, 400):
        run(library, str(status), lambda number, body, status=status: refusing(status))
    other = serving(lambda number, body: "fine")
    away = {"Location": f"http://localhost:{other.server_port}/v1/chat/completions"}
    run(library, "307 to another host", lambda number, body: (307, b"", away), other)
    other = serving(lambda number, body: "fine")
    proxy = dict.fromkeys(("HTTP_PROXY", "http_proxy"), f"http://127.0.0.1:{other.server_port}")
    run(library, "HTTP_PROXY", lambda number, body: "fine", other, proxy)
    run(library, "OPENAI_BASE_URL", lambda number, body: "fine", env={"OPENAI_BASE_URL": ""}, url=False)
    run(library, "50 MB", first((200, b'{"choices": "' + b"x" * (50 << 20) + b'"}')))
    warm = refusing(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    thinks = {"model": "gpt-5-mini", "temperature": 0.0, "max_tokens": 1024}
    run(library, "gpt-5-mini", lambda number, body: warm if b'"temperature"' in body else "fine", **thinks)
    form = refusing(500, "expected 'text' or 'json_object' for response_format")
    run(library, "schema", lambda number, body: form if b"json_schema" in body else "fine", response_format=SCHEMA)


if __name__ == "__main__":
    main(sys.argv[1])
