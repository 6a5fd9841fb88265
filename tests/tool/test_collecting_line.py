"""The line to a server: what it lets through, and what litellm is asked to send by it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import socket
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest

from judgerank.collecting.batches.providers import FORMS
from judgerank.collecting.client import Client, JudgeRefused
from judgerank.collecting.requests import longest, request
from judgerank.collecting.response import letters_of, reply_of
from judgerank.collecting.secrets import Secrets
from judgerank.collecting.settings import Judge, Prompt
from judgerank.collecting.transport import Line, guarded, let_through, proxy_for, with_params
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError
from studies.torture import writing as torture
from studies.torture.endpoint import serving
from studies.torture.writing import ADDRESSES, PROXIES, listening, shows
from tests.tool.collecting import KEY, TOTAL, collected, judgments

HERE = "http://here:8000/v1"
NO_KEYS = Secrets()


def sent_through(line_of, *urls: str) -> tuple[list[httpx.Request], list[str]]:
    """What reaches the network of requests to some addresses, one after the other, and how each ended."""
    seen, ended = [], []

    def answer(outgoing: httpx.Request) -> httpx.Response:
        seen.append(outgoing)
        return httpx.Response(200, json={"ok": True})

    async def send() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
            line = line_of(client)
            for url in urls:
                try:
                    await line.handle_async_request(
                        httpx.Request("POST", url, json={"a": 1, "b": {"c": 2, "d": 3}})
                    )
                    ended.append("sent")
                except httpx.TransportError as error:
                    ended.append(str(error))

    asyncio.run(send())
    return seen, ended


def test_one_request_goes_to_the_host_that_the_key_is_for_and_no_second():
    def line(client: httpx.AsyncClient) -> Line:
        return Line(client, HERE, {}, NO_KEYS)

    seen, ended = sent_through(line, f"{HERE}/chat", f"{HERE}/chat")
    assert len(seen) == 1
    assert ended[0] == "sent" and len(ended) == 2 and "one request" in ended[1]
    for other in ("http://elsewhere:8000/v1", "https://here:8000/v1", "http://here/v1", "http://here:8001/v1"):
        seen, ended = sent_through(line, other)
        assert seen == []
        assert ended[0] != "sent" and ended[0].endswith(f" {urlsplit(other).hostname}")


def test_params_go_into_the_body_and_none_takes_out():
    seen, _ = sent_through(
        lambda client: Line(client, HERE, {"a": None, "b": {"c": None, "e": 4}, "f": [1]}, NO_KEYS), HERE
    )
    assert json.loads(seen[0].content) == {"b": {"d": 3, "e": 4}, "f": [1]}
    assert seen[0].headers["content-length"] == str(len(seen[0].content))
    assert with_params(b"not json", {}) == b"not json"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "no such model"}}', "no such model"),
        (b'{"error": "quota"}', "quota"),
        (b'{"detail": [{"msg": "bad field"}]}', "bad field"),
        (b"<html>busy</html>", "<html>busy</html>"),
        (b"plain\nwords sk-1\x00", "plain words (the key)"),
        (b"x" * 1000, "x" * 300 + " ..."),
        (b"[" * 50_000, "[" * 300 + " ..."),
    ],
)
def test_the_servers_own_words_are_found_short_and_without_the_key(body, said):
    line = Line(None, HERE, {}, NO_KEYS)
    line.body = Secrets(["sk-1"]).blanked_body(body)
    assert line.short_message == said


def test_what_a_judge_is_asked_with():
    prompt = Prompt()
    plain = request(Judge(judge="j", base_url=HERE), prompt)
    assert plain["model"] == "openai/j"
    assert (plain["temperature"], plain["max_tokens"]) == (0, 1024)
    thinking = Judge(judge="j", model="anthropic/c", reasoning_budget=1500, structured=True)
    asked = request(thinking, prompt)
    assert asked["model"] == "anthropic/c"
    assert "temperature" not in asked
    assert asked["max_tokens"] == 2524
    assert asked["thinking"]["budget_tokens"] == 1500
    assert asked["response_format"]["type"] == "json_schema"
    longer = Judge(judge="j", base_url=HERE, params={"max_completion_tokens": 9})
    assert "max_tokens" not in request(longer, prompt)
    assert longest(longer, prompt) == 9


@pytest.mark.parametrize(
    ("given", "name"),
    [({"structured": True}, "response_format"), ({"reasoning_effort": "low"}, "reasoning_effort")],
)
def test_a_parameter_goes_out_under_one_name(given, name, monkeypatch):
    """A server that knows it by another name refuses OpenAI's."""

    async def body(provider: str, model: str) -> dict:
        judge = Judge(judge="j", provider=provider, model=model, base_url=HERE, **given)
        client = Client({"j": judge}, Prompt(), 10.0)
        try:
            return json.loads((await client.prepared(judge, [{"role": "user", "content": "?"}])).content)
        finally:
            await client.close()

    monkeypatch.setenv("JUDGERANK_API_KEY", "k")
    of_openai, of_anthropic = (
        asyncio.run(body(*of)) for of in (("openai", "my/own"), ("anthropic", "claude-sonnet-4-5"))
    )
    assert name in of_openai
    assert name not in of_anthropic
    assert len({"temperature"} | of_anthropic.keys()) == len(
        {"temperature"} | of_openai.keys()
    )  # the other name is there
    assert not {"allowed_openai_params", "api_base"} & {*of_openai, *of_anthropic}


class Told:
    """Attributes of a response."""

    def __init__(self, **given):
        self.__dict__ |= given


def response(content, prompt_tokens=3, completion_tokens=4, **more) -> Told:
    choice = Told(message=Told(content=content), finish_reason="stop", **more)
    return Told(
        choices=[choice], model="m", usage=Told(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
    )


def test_replies_are_texts_and_tokens_that_are_not_told_are_unknown():
    assert reply_of(response(None)).text == ""
    assert reply_of(response("b \ud800")).text.encode()
    assert reply_of(response("a", 0, 0)).prompt_tokens is None
    for count in (float("nan"), -5, "7", None, True, float("inf")):
        assert reply_of(response("a", 3, count)).completion_tokens is None
    with pytest.raises(TypeError):
        reply_of(response(7))
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "B?"}]}, {"type": "text", "text": "A"}]
    assert reply_of(response(parts)).text == "A"
    with pytest.raises(TypeError):
        reply_of(response([{"type": "text", "text": 7}]))


def test_the_letters_are_those_of_the_last_one_said():
    def token(text: str, logprob: float, *others: tuple[str, float]) -> Told:
        beside = [Told(token=other, logprob=value) for other, value in others]
        return Told(token=text, logprob=logprob, top_logprobs=beside)

    tokens = [token("A", -9.0), token(" is", 0.0), token("[[", 0.0), token("B", -0.1, ("B", -0.1), (" a", -2.5))]
    assert letters_of(Told(content=[*tokens, token("]]", 0.0)])) == ("b", {"b": -0.1, "a": -2.5})
    assert letters_of(Told(content=[token("so", 0.0)])) is None
    assert letters_of(None) is None
    reply = reply_of(response("[[B]]", logprobs=Told(content=tokens)))
    assert reply.letters_for("b") == {"b": -0.1, "a": -2.5}
    assert reply.letters_for("a") is None


# A key goes to one server, in one header, and nowhere else: to no proxy, into no file, onto no screen.
NO_EXCEPTIONS = {"NO_PROXY": "", "no_proxy": ""}
ONE = [{"judge": "j1", "api_key_env": "OPENAI_API_KEY", "prompt_price": 1, "completion_price": 1}]
PROVIDERS = {
    "OPENAI_BASE_URL": "openai/gpt-4.1",
    "OPENAI_API_BASE": "openai/gpt-4.1",
    "ANTHROPIC_BASE_URL": "anthropic/claude-sonnet-4-5",
    "ANTHROPIC_API_BASE": "anthropic/claude-sonnet-4-5",
}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in (*PROXIES, *ADDRESSES):
        monkeypatch.delenv(name, raising=False)


def everywhere(place: str) -> dict[str, str]:
    """Every variable of a proxy names it."""
    return dict.fromkeys(PROXIES, place) | NO_EXCEPTIONS


def written(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("provider", ["openai", "anthropic", "cohere_chat"])
def test_requests_to_a_server_of_http_go_through_no_proxy(tmp_path, provider):
    """The client library has clients of its own for some providers, which must not be taken."""
    with serving() as server, listening() as proxy:
        env = everywhere(f"http://{proxy.address}")
        done = collected(tmp_path, server.url, "--attempts", 1, judges=[ONE[0] | {"provider": provider}], env=env)
        assert server.requests
        assert proxy.connections == 0
    if provider != "cohere_chat":  # whose form the server does not speak
        assert done.returncode == 0
        assert f"asked at {server.url}: j1" in done.stdout


@pytest.mark.parametrize("form", FORMS)
def test_nor_do_batches(tmp_path, form):
    judge = ONE[0] | {"provider": form, "batch": True}
    url = "{}/v1" if form == "openai" else "{}"
    with serving() as server, listening() as proxy:
        given = ("--poll", 0.02, "--pilot", 1)
        env = everywhere(f"http://{proxy.address}")
        done = collected(tmp_path, url.format(server.origin), *given, judges=[judge], env=env)
        assert done.returncode == 0, done.stderr
        assert server.batching.steps["create"] == 1
        assert proxy.connections == 0


def test_a_proxy_of_https_is_told_of_a_host_and_no_more(tmp_path):
    with listening() as server, listening() as proxy:
        env = everywhere(f"http://user:word@{proxy.address}")
        given = ("--attempts", 1, "--patience", "0.5s")  # of a proxy that connects nobody
        done = collected(tmp_path, f"https://{server.address}/v1", *given, judges=ONE, env=env)
        assert f"asked at https://{server.address}/v1, through the proxy http://{proxy.address}: j1" in done.stdout
        assert proxy.came
        assert all(content.startswith(b"CONNECT " + server.address.encode()) for content in proxy.came)
        assert server.connections == 0
        assert not any(KEY.encode() in content for content in proxy.came)
        assert json.loads((tmp_path / "judgments.jsonl.run.json").read_text())["addresses"]["j1"] == {
            "address": f"https://{server.address}/v1",
            "proxy": f"http://{proxy.address}",
        }
    assert "word" not in written(tmp_path) + done.stdout + done.stderr


def test_which_proxy_is_taken(monkeypatch):
    assert proxy_for("https://here/v1") is None
    monkeypatch.setenv("ALL_PROXY", "there:3128")
    assert proxy_for("https://here/v1") == "http://there:3128"
    assert proxy_for("http://here/v1") is None
    monkeypatch.setenv("NO_PROXY", "here")
    assert proxy_for("https://here/v1") is None
    monkeypatch.setenv("https_proxy", "ftp://there")
    with pytest.raises(ConfigError, match="kind 'ftp'"):
        proxy_for("https://elsewhere/v1")


@pytest.mark.parametrize("variable", PROVIDERS)
def test_an_address_of_the_environment_is_refused_unless_it_is_allowed(tmp_path, variable):
    judges = [ONE[0] | {"model": PROVIDERS[variable]}]
    with serving() as server:
        place = server.origin if "anthropic" in PROVIDERS[variable] else server.url
        env = {variable: f"{place.replace('//', '//me:word@')}"}
        for options in ((), ("--dry-run",)):
            done = collected(tmp_path, None, *options, judges=judges, env=env)
            assert done.returncode == 1
            assert f" {variable} has judge 'j1'" in done.stderr
            assert f"at {place}" in done.stderr
            assert "--allow-env-url" in done.stderr
            assert "word" not in done.stderr
        assert server.requests == []
        assert not (tmp_path / "judgments.jsonl").exists()
        done = collected(tmp_path, None, "--allow-env-url", judges=judges, env=env)
        assert done.returncode == 0, done.stderr
        assert f", from the environment variable {variable}: j1" in done.stdout
        assert {record["address"].startswith(place) for record in judgments(tmp_path)} == {True}
        assert len(server.requests) == TOTAL // 2
    stored = json.loads((tmp_path / "judgments.jsonl.run.json").read_text())["addresses"]["j1"]
    assert stored["address"].startswith(place)
    assert variable in stored["named_by"]
    assert "word" not in written(tmp_path)


def test_a_key_in_an_address_of_the_environment_is_not_shown(tmp_path):
    env = {"OPENAI_BASE_URL": f"http://127.0.0.1:9/{KEY}/v1?key={KEY}"}
    done = collected(tmp_path, None, judges=[ONE[0] | {"model": "openai/gpt-4.1"}], env=env)
    assert "http://127.0.0.1:9/(the key)/v1" in done.stderr
    assert KEY not in done.stderr + done.stdout


def test_a_dry_run_says_where_a_provider_is_asked_and_needs_no_key(tmp_path):
    done = collected(tmp_path, None, "--dry-run", judges=[ONE[0] | {"model": "openai/gpt-4.1"}], key=None)
    assert done.returncode == 0, done.stderr
    assert "asked at https://api.openai.com/v1/chat/completions: j1" in done.stdout


def test_one_file_is_of_one_address(tmp_path):
    with serving() as first, serving() as second:
        collected(tmp_path, first.url, "--comparisons", 6, judges=ONE)
        before = judgments(tmp_path)
        done = collected(tmp_path, second.url, judges=ONE)
        assert done.returncode == 1
        assert f" {first.url}, not at {second.url} (--moved" in done.stderr
        assert second.requests == []
        assert judgments(tmp_path) == before
        done = collected(tmp_path, second.url, "--moved", judges=ONE)
        assert done.returncode == 0, done.stderr
        assert {record["address"] for record in judgments(tmp_path)} == {first.url, second.url}


def test_judgments_of_earlier_versions_are_gone_on_with(tmp_path):
    with serving() as server:
        collected(tmp_path, server.url, judges=ONE)
        file = tmp_path / "judgments.jsonl"
        old = [{key: record[key] for key in record if key != "address"} for record in judgments(tmp_path)][:-2]
        file.write_text("".join(json.dumps(record) + "\n" for record in old))
        done = collected(tmp_path, server.url, judges=ONE)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^{len(old)} earlier\b.*\baddress\b", done.stdout, re.MULTILINE)
    assert len(judgments(tmp_path)) == TOTAL // 2


OTHER = "sk-other-9876543210-zyxwvu"
JUDGES = [{"judge": "j1"}, {"judge": "j2", "api_key_env": "OTHER_KEY"}]


@pytest.mark.parametrize("said", [KEY, OTHER, KEY[2:16], KEY.upper(), b64encode(f"u:{KEY}".encode()).decode()])
@pytest.mark.parametrize("place", ["reply", "model", "401: no, not {}", "500: {}", "redirect http://{}/"])
def test_a_key_that_a_server_sends_back_stays_out_of_files_and_sentences(tmp_path, place, said):
    how = {}
    if place == "reply":
        how = {"reply": lambda prompt: f"{said}\n\na, 0.90"}
    elif place == "model":
        how = {"model": said}
    else:
        how = {"faults": lambda prompt, times: place.format(said)}
    with serving(**how) as server:
        options = ("--attempts", 1, "--pilot", 1, "--comparisons", 8)
        done = collected(tmp_path, server.url, *options, judges=JUDGES, env={"OTHER_KEY": OTHER})
    text = written(tmp_path) + done.stdout + done.stderr
    assert server.requests
    assert not shows(text, KEY)
    assert not shows(text, OTHER)
    if place in ("reply", "model"):
        assert "(the key)" in written(tmp_path)
    if place == "reply":
        assert {record["judge_preferred_model"] for record in judgments(tmp_path)} == {"a"}


def test_a_key_in_a_result_of_a_batch_is_blanked(tmp_path):
    with serving(reply=lambda prompt: f"{KEY}\n\na, 0.90", model=f"Bearer {KEY}") as server:
        judge = ONE[0] | {"batch": True}
        done = collected(tmp_path, server.url, "--poll", 0.02, "--pilot", 1, judges=[judge])
    assert done.returncode == 0, done.stderr
    assert len(judgments(tmp_path)) == TOTAL // 2
    assert not shows(written(tmp_path) + done.stdout + done.stderr, KEY)


def test_texts_are_blanked_in_every_way_to_write_a_key():
    key = "sk-Ab/9+xyZ0123456789=="
    secrets = Secrets([key, "sk-1", "ab"])
    for text in (key, key[:12], key[5:20], key.swapcase(), quote(key, safe=""), f"İ{key}"):
        assert secrets.blanked(f"so {text} it").startswith("so ")
        assert not shows(secrets.blanked(f"so {text} it"), key)
    for before in ("", "x", "xy"):
        coded = b64encode(f"{before}{key}".encode()).decode()
        assert not shows(secrets.blanked(coded), key)
        assert coded[5:17] not in secrets.blanked(coded)
    assert secrets.blanked(f"{key}{key} and {key[:12]}") == "(the key) and (the key)"
    assert secrets.blanked("Bearer sk-1, task-1, sk-12") == "Bearer (the key), task-1, sk-12"
    assert secrets.blanked("ab") == "ab"  # no key that is worth hiding, and a reply might say so
    assert secrets.blanked(key[:11]) == key[:11]
    assert Secrets().blanked(key) == key


def test_bodies_are_blanked_as_they_are_read():
    key = "sk-abcdefghij/0123456789"
    secrets = Secrets([key])
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in key)
    for body in (
        json.dumps({"a": [key, {key: 1}]}).encode(),
        f'{{"a": "{escaped}"}}'.encode(),
        json.dumps({"a": key}).replace("/", "\\/").encode(),
        json.dumps({"a": key}).encode("utf-16"),
        f'{{"a": 1}}\n{{"b": "{escaped}"}}\n'.encode(),
        f"<html>{key}</html>".encode(),
        f'{{"cut": "{key}'.encode(),
    ):
        cleaned = secrets.blanked_body(body)
        assert b"(the key)" in cleaned
        assert not shows(cleaned.decode(), key)
    assert json.loads(secrets.blanked_body(b'{"n": 1, "a": "' + key.encode() + b'"}')) == {
        "n": 1,
        "a": "(the key)",
    }
    for clean in (b'{"a": 1,  "b": "x"}', b"\xff\x00", "{}".encode("utf-16")):
        assert secrets.blanked_body(clean) is clean
    assert Secrets(["123456789012"]).blanked_body(b'{"a": 123456789012}') == b'{"a": (the key)}'


def test_what_is_logged_is_blanked_at_the_door(caplog):
    with Secrets([KEY]).out_of_logs(), caplog.at_level(logging.INFO, "judgerank"):
        logging.getLogger("judgerank").info("it says %s", KEY)
    assert caplog.messages == ["it says (the key)"]


def test_nothing_is_reached_while_a_request_is_prepared_but_by_its_line():
    class Asked:
        astray = ""

    with listening() as server, socket.socket() as way:
        host, port = server.address.split(":")
        with guarded(Asked, None):
            with pytest.raises(PermissionError, match=r"nothing is sent to 127\.0\.0\.1"):
                way.connect((host, int(port)))
            with pytest.raises(PermissionError, match=r"nothing is sent to example\.org"):
                socket.getaddrinfo("example.org", 443)
            assert Asked.astray == "example.org"
            with let_through():
                way.connect((host, int(port)))


def test_a_judge_without_an_address_is_sent_nothing():
    judge = Judge(judge="j1", model="openai/gpt-4.1", api_key_env="OPENAI_API_KEY")

    async def attempt() -> None:
        client = Client({"j1": judge}, Prompt(), 5.0, known_keys={"j1": KEY})
        try:
            await client.attempt(judge, [{"role": "user", "content": "?"}])
        finally:
            await client.close()

    with pytest.raises(JudgeRefused) as refused:
        asyncio.run(attempt())
    assert "api.openai.com" in refused.value.message


def test_headers_of_a_reply_are_blanked():
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"x-id": KEY, "retry-after": KEY}, content=KEY)

    async def send() -> tuple[Line, httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
            line = Line(client, None, {}, Secrets([KEY]))
            return line, await line.handle_async_request(httpx.Request("POST", "http://here"))

    line, response = asyncio.run(send())
    assert KEY not in str(line.headers) + str(response.headers) + response.text + line.short_message


@pytest.mark.parametrize("way", ["own", "provider", "https"])
def test_a_random_collection_leaves_no_key(way):
    records = [torture.strayed({"way": way}, generator(7, way, number)) for number in range(2)]
    assert [record["bad"] for record in records] == [0, 0]
    assert not any(name in os.environ for name in PROXIES)


def test_a_key_that_strays_would_be_counted(monkeypatch):
    monkeypatch.setattr(Secrets, "blanked", lambda self, text: text)
    records = [torture.strayed({"way": "own"}, generator(7, "counted", number)) for number in range(2)]
    assert any(record["found"] for record in records)
