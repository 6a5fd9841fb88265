"""Requests that providers take: each kind of judge is read by a server that enforces its provider's rules."""

import asyncio
import re
from pathlib import Path

import httpx
import pytest
import yaml

from judgerank.collecting.client import Client
from judgerank.collecting.replies import Form, read
from judgerank.collecting.requests import longest, refused_sentences, rule_for
from judgerank.collecting.response import Refused, retry_after
from judgerank.collecting.settings import Judge, Prompt, read_panel
from judgerank.data.errors import ConfigError
from replication.config import ROOT
from tests.tool import provider_rules as rules
from tests.tool.collecting import collected


def chosen(reply, is_structured: bool = True) -> str:
    """The choice of a judge who may have been asked by a schema."""
    return read(reply.text, Form(is_structured=is_structured), reply.finish_reason).choice


ASKED = [{"role": "user", "content": "which?"}]


def asked(judge: Judge, rule, times: int = 3) -> tuple[list, list[dict], set[str]]:
    """Replies one after the other, the requests' bodies, and what was refused."""
    server = rules.Server(rule)

    async def ask() -> tuple[list, set[str]]:
        client = Client({"j": judge}, Prompt(), 30.0, {judge.judge: "secret-key"})
        replies = []
        async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
            for _ in range(times):
                reply = await client.attempt(judge, ASKED, http)
                if chosen(reply) == "unknown" and judge.structured:
                    client.unheeded(judge, reply)
                replies.append(reply)
        await client.close()
        return replies, client.refused[judge.judge]

    replies, refused = asyncio.run(ask())
    return replies, server.bodies, refused


OWN = {"base_url": "http://here:8000/v1"}
AZURE = {"base_url": "https://mine.openai.azure.com/openai/v1"}
ALL = {"temperature", "max_tokens", "logprobs"}
# judge, what its provider enforces, and what has to be learnt from it
TAKEN = [
    ({"model": "openai/gpt-5-mini"}, rules.openai_reasoning, set()),
    ({"model": "openai/gpt-5.5", "reasoning_effort": "high", "logprobs": True}, rules.openai_reasoning, set()),
    ({"model": "openai/o4-mini", "reasoning_effort": "low"}, rules.openai_reasoning, set()),
    ({"model": "openai/gpt-4.1", "structured": True, "logprobs": True}, rules.openai_plain, set()),
    ({"model": "anthropic/claude-sonnet-4-5"}, rules.anthropic, set()),
    ({"model": "anthropic/claude-sonnet-4-5", "reasoning_budget": 2000}, rules.anthropic, set()),
    ({"model": "anthropic/claude-sonnet-4-5", "reasoning_effort": "low"}, rules.anthropic, set()),
    ({"model": "anthropic/claude-sonnet-4-5", "reasoning_effort": "high"}, rules.anthropic, set()),
    ({"model": "anthropic/claude-sonnet-4-5", "structured": True, "logprobs": True}, rules.anthropic, set()),
    ({"model": "anthropic/claude-opus-4-7"}, rules.anthropic, set()),
    ({"model": "anthropic/claude-opus-4-7", "reasoning_effort": "low"}, rules.anthropic, set()),
    ({"model": "anthropic/claude-opus-5", "reasoning_budget": 2000}, rules.anthropic, set()),
    ({"model": "anthropic/claude-sonnet-5"}, rules.anthropic, set()),
    ({"model": "gemini/gemini-2.5-flash"}, rules.gemini, set()),
    ({"model": "gemini/gemini-2.5-flash", "reasoning_effort": "low"}, rules.gemini, set()),
    ({"model": "deployment", **AZURE, "logprobs": True, "reasoning_effort": "low"}, rules.openai_reasoning, ALL),
    ({"model": "own", **OWN, "structured": True}, rules.llama_cpp, {"json_schema"}),
    ({"model": "own", **OWN, "structured": True}, rules.old_vllm, {"json_schema", "json_object"}),
    ({"model": "own", **OWN, "structured": True, "provider": "hosted_vllm"}, rules.openai_plain, set()),
    ({"model": "own", **OWN, "structured": True}, rules.openai_plain, set()),
    ({"model": "ollama_chat/llama3", "structured": True}, rules.ollama, set()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "rule", "learnt"),
    TAKEN,
    ids=[f"{rule.__name__}-{given['model']}-{number}" for number, (given, rule, _) in enumerate(TAKEN)],
)
def test_every_kind_of_judge_is_answered_and_a_refusal_is_paid_for_once(given, rule, learnt):
    judge = Judge(judge="j", **given)
    replies, bodies, refused = asked(judge, rule)
    assert [chosen(reply) for reply in replies] == ["a"] * 3
    assert refused == learnt
    assert len(bodies) == 3 + len(learnt)
    assert {reply.asked_without for reply in replies} == {frozenset(learnt)}


def test_a_form_of_replies_that_a_server_ignores_is_not_asked_for_again():
    replies, bodies, refused = asked(Judge(judge="j", model="own", structured=True, **OWN), rules.deaf)
    assert [chosen(reply) for reply in replies] == ["unknown", "a", "a"]
    assert refused == {"json_schema"}
    assert refused_sentences("j", refused) == ["judge 'j' refuses or ignores json_schema as the form of a reply"]
    assert len(bodies) == 3


@pytest.mark.parametrize("said", ["busy", "the model is overloaded"])
def test_a_fault_that_names_no_parameter_takes_nothing_away(said):
    def broken(request, body):
        raise rules.Refusing(400, said)

    with pytest.raises(Refused):
        asked(Judge(judge="j", model="own", structured=True, logprobs=True, **OWN), broken)


def test_what_the_user_asked_for_is_never_left_out():
    """A temperature in params, a budget of thoughts: the server's words are told instead."""
    for given in ({"params": {"temperature": 0.5}}, {"reasoning_effort": "low"}):
        rule = rules.openai_reasoning if "params" in given else _no_effort
        with pytest.raises(Refused, match="400"):
            asked(Judge(judge="j", model="own", **AZURE, **given), rule)


def _no_effort(request, body):
    raise rules.Refusing(400, "Unrecognized request argument supplied: reasoning_effort")


def test_lengths_leave_room_for_thoughts():
    plain, prompt = Judge(judge="j", model="openai/gpt-4.1"), Prompt()
    assert longest(plain, prompt) == prompt.max_tokens
    for model in (
        "openai/gpt-5-mini",
        "gemini/gemini-3-pro",
        "anthropic/claude-opus-4-8",
        "groq/openai/gpt-oss-20b",
    ):
        judge = Judge(judge="j", model=model)
        assert longest(judge, prompt) > prompt.max_tokens
        assert longest(judge.model_copy(update={"params": {"max_tokens": 77}}), prompt) == 77
    assert longest(Judge(judge="j", model="openai/gpt-5.2", reasoning_effort="none"), prompt) == prompt.max_tokens


def test_families_are_told_by_their_names():
    for name, family in (
        ("gpt-5", "OpenAI's reasoning models"),
        ("gpt-5-chat-latest", "GPT-5 chat"),
        ("gpt-5.2", "GPT-5.1 to 5.4"),
        ("gpt-5.4-pro", "OpenAI's reasoning models"),
        ("o3-mini", "OpenAI's reasoning models"),
        ("claude-3-5-haiku-20241022", "Claude"),
        ("claude-opus-4-20250514", "Claude"),
        ("claude-opus-4-5-20251101", "Claude"),
        ("claude-opus-4-10", "Claude from Opus 4.7 on"),
        ("claude-haiku-5-5", "Claude from Opus 4.7 on"),
        ("gemini-2.0-flash", "other models"),
        ("google/gemini-2.5-pro", "Gemini that thinks"),
        ("o2something-else", "OpenAI's reasoning models"),
        ("llama-3", "other models"),
    ):
        assert rule_for("x", name).family == family, name


def recipes(tmp_path: Path) -> dict[str, Judge]:
    page = (ROOT / "docs/reference/collect.md").read_text()
    block = page.split("<!-- recipes: run by tests/tool/test_collecting_rules.py -->\n```yaml\n")[1].split("```")[
        0
    ]
    (tmp_path / "panel.yaml").write_text(block)
    return read_panel(tmp_path / "panel.yaml", []).by_name


RECIPES = {
    "azure": rules.azure,
    "vertex": rules.vertex,
    "llama-cpp": rules.llama_cpp,
    "vllm": rules.openai_plain,
    "ollama": rules.ollama,
}


def test_the_recipes_of_the_tutorial_are_answered_by_servers_that_enforce_their_rules(tmp_path):
    judges = recipes(tmp_path)
    assert judges.keys() == RECIPES.keys()
    for name, judge in judges.items():
        replies, _, _ = asked(judge, RECIPES[name])
        assert [chosen(reply) for reply in replies] == ["a"] * 3, name


def test_providers_that_cannot_be_asked_as_they_are_say_how_they_can():
    for model, words in (
        ("azure/gpt-5", "openai.azure.com/openai/v1"),
        ("vertex_ai/gemini-2.5-pro", "endpoints/openapi"),
    ):
        with pytest.raises((ConfigError, ValueError), match=re.escape(words)):
            Judge(judge="j", model=model)


def test_a_dry_run_shows_each_first_request_and_what_is_wrong_with_it(tmp_path):
    judges = [
        {"judge": "gpt", "model": "openai/gpt-5-mini", "api_key_env": "OPENAI_API_KEY", "logprobs": True},
        {
            "judge": "claude",
            "model": "anthropic/claude-sonnet-4-5",
            "api_key_env": "NONE",
            "reasoning_budget": 500,
        },
        {"judge": "own", "model": "mine", "base_url": "http://here:8000/v1", "api_key_env": None},
    ]
    key = "sk-secret-0123456789"
    done = collected(tmp_path, None, "--dry-run", judges=judges, key=key)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("reading ")
    place = next(
        n for n, line in enumerate(lines) if "request to judge 'gpt': POST https://api.openai.com/v1" in line
    )
    assert lines[place + 1].strip() == "authorization: (the key)"
    body = yaml.safe_load(lines[place + 2])
    assert {"model", "messages", "max_completion_tokens"} == body.keys()
    assert key not in done.stdout + done.stderr
    for words in (
        "'gpt': OpenAI's reasoning models gives no logprobs here",
        "'claude': the environment variable NONE holds no key yet",
        "'claude': Claude takes a reasoning_budget of at least 1024 tokens",
        "'own' has no price: what it costs is unknown",
    ):
        assert words in done.stdout, words


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_a_wait_is_read_in_every_form(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_wait_until_a_date_is_as_long_as_that_is_away():
    from datetime import UTC, datetime, timedelta
    from email.utils import format_datetime

    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 85 < retry_after({"retry-after": later}) <= 90


def test_a_refusal_to_judge_is_told_as_such():
    def refuse(request, body):
        return rules.openai_reply("", body, refusal="I cannot compare these.")

    (reply,), _, _ = asked(Judge(judge="j", model="own", **OWN), refuse, 1)
    assert reply.refusal == "I cannot compare these."
