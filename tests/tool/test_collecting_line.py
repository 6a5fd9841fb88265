"""The line to a server: what it lets through, and what litellm is asked to send by it."""

import asyncio
import json

import httpx
import pytest

from judgerank.collecting.client import Client
from judgerank.collecting.requests import longest, request
from judgerank.collecting.response import letters_of, reply_of
from judgerank.collecting.secrets import Secrets
from judgerank.collecting.settings import Judge, Prompt
from judgerank.collecting.transport import Line, with_params

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
    assert ended == ["sent", "an attempt is one request"]
    for other in ("http://elsewhere:8000/v1", "https://here:8000/v1", "http://here/v1", "http://here:8001/v1"):
        seen, ended = sent_through(line, other)
        assert seen == []
        assert ended[0].startswith("the key is not for ")


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
    assert line.said == said


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
    with pytest.raises(TypeError, match="no text"):
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
