"""What servers take and do: the rules of providers, faults, a kill or Ctrl-C; nothing is paid for twice."""

import asyncio
import json
import random
import re
import signal
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest
import yaml

from judgerank.collecting.client import Client
from judgerank.collecting.replies import Form, read
from judgerank.collecting.requests import longest, refused_sentences, rule_for
from judgerank.collecting.response import Refused, retry_after
from judgerank.collecting.settings import Judge, Prompt, read_panel
from judgerank.collecting.transport import LARGEST_BODY
from judgerank.data.errors import ConfigError
from replication.config import ROOT
from studies.torture.endpoint import serving
from tests.forked import Forked, environment, run_anew
from tests.tool import provider_rules as rules
from tests.tool.collecting import KEY, TOTAL, collected, command, judgments, started


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
    for family, names in {
        "OpenAI's": ("gpt-5", "gpt-5.4-pro", "o3-mini", "o2something-else"),
        "chat": ("gpt-5-chat-latest",),
        "GPT-5.1": ("gpt-5.2",),
        "Claude": ("claude-3-5-haiku-20241022", "claude-opus-4-20250514", "claude-opus-4-5-20251101"),
        "Opus 4.7": ("claude-opus-4-10", "claude-haiku-5-5"),
        "Gemini": ("google/gemini-2.5-pro",),
        "other": ("gemini-2.0-flash", "llama-3"),
    }.items():
        found = {rule_for("x", name).family for name in names}
        assert len(found) == 1 and family in found.pop(), names


def recipes(tmp_path: Path) -> dict[str, Judge]:
    page = (ROOT / "docs/reference/collect.md").read_text()
    marker = "<!-- recipes: run by tests/tool/test_collecting_servers.py -->"
    block = page.split(f"{marker}\n```yaml\n")[1].split("```")[0]
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
        "'claude': Claude requires a reasoning_budget of at least 1024 tokens",
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


# What a server, a kill or Ctrl-C may do to `judgerank collect`: nothing is lost, or paid for twice.

# what a server does, and how the attempt is counted
COUNTED = {
    "429 0.05": "429",
    "429": "429",
    "500": "500",
    "503": "503",
    "cut": "connection",
    "gone": "connection",
    "broken": "unreadable",
    "no choices": "unreadable",
    "html": "unreadable",
}


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def failed(stdout: str) -> Counter:
    """Attempts that failed, by the first word of their kind, over all judges."""
    found = Counter()
    for line in stdout.splitlines():
        if re.search(r" attempts? failed \(", line):
            found[re.split("[ )]", line.split("(")[1])[0]] += int(line.split(": ")[1].split()[0])
    return found


def test_every_failure_is_counted_and_no_judgment_is_lost_or_asked_twice(tmp_path):
    """Each prompt fails with three faults in turn, starting anywhere, before it is answered."""
    faults, starts, prompts = list(COUNTED), {}, len(COUNTED) + 1

    def fault(prompt: str, times: int) -> str | None:
        start = starts.setdefault(prompt, len(starts))
        return None if times > 3 else faults[(start + times) % len(faults)]

    with serving(fault) as server:
        # so short, because others are tried before those that failed: nothing is answered for long
        some = ("--comparisons", prompts, "--concurrent", 1, "--patience", "10m", "--first-wait", 1e-9)
        done = collected(tmp_path, server.url, *some)
        assert done.returncode == 0, done.stderr
    assert set(server.answered.values()) == {1}
    assert len(judgments(tmp_path)) == len(server.answered) == prompts
    expected = Counter()
    for name, kind in COUNTED.items():
        assert server.happened[name] > 0
        expected[kind] += server.happened[name]
    assert expected.total() == 3 * prompts
    assert failed(done.stdout) == expected
    assert len(server.requests) == 4 * prompts  # the client library tries nothing again by itself
    assert "given up" not in done.stdout


@pytest.mark.parametrize("fault", ["drip", "endless", "50 MB"])
def test_bodies_without_an_end_are_left(tmp_path, fault):
    """A judge who answers so is left after its time, or after as many bytes as a reply may have."""
    with serving(lambda prompt, times: fault if times == 1 else None) as server:
        timeout = 1 if fault == "drip" else 2
        done = collected(tmp_path, server.url, "--timeout", timeout, "--comparisons", 4, "--attempts", 20)
    assert done.returncode == 0, done.stderr
    assert len(judgments(tmp_path)) == 4
    counted = failed(done.stdout)
    # a busy machine may be late with a good answer or with many bytes: that too is a timeout
    assert counted.keys() <= {"timeout", "body"}
    assert counted.total() >= server.happened[fault] == 4
    assert fault != "drip" or counted["timeout"] >= 4
    assert LARGEST_BODY < 50 << 20


def test_a_redirect_is_not_followed_and_the_key_does_not_travel(tmp_path):
    with serving() as other:
        with serving(lambda prompt, times: f"redirect {other.url}/chat/completions") as server:
            done = collected(tmp_path, server.url)
        assert other.requests == []
        assert other.keys == set()
    assert server.keys == {f"Bearer {KEY}"}
    assert done.returncode == 1
    place = other.url.removeprefix("http://").removesuffix("/v1")
    assert re.search(rf"\(redirect\).* {re.escape(place)}\b", done.stderr.splitlines()[-1])


def test_a_redirect_to_itself_is_not_followed_either(tmp_path):
    with serving(lambda prompt, times: "redirect /v1/elsewhere") as server:
        done = collected(tmp_path, server.url, "--concurrent", 1)
    assert done.returncode == 1
    assert set(server.paths) == {"/v1/chat/completions"}


def test_what_has_no_answer_is_counted_and_asked_the_next_time(tmp_path):
    def fault(prompt: str, times: int) -> str | None:
        return (
            "500"
            if "Question 0" in prompt and "quality 2" not in prompt and times < 3
            else "400: not this one"
            if "Question 1" in prompt and times < 2
            else None
        )

    with serving(fault) as server:
        done = collected(tmp_path, server.url, "--attempts", 2, "--concurrent", 1)
        assert done.returncode == 0
        for judge in ("j1", "j2"):
            told = f"judge '{judge}': {{}} attempts failed ({{}}), {{}} given up; it says: {{}}\n"
            assert told.format(3, 400, "3 requests", "not this one") in done.stdout
            assert told.format(2, 500, "1 request", "no") in done.stdout
        assert "8 requests have no answer yet" in done.stdout
        assert len(judgments(tmp_path)) == 16
        collected(tmp_path, server.url, "--attempts", 3)
    assert len(judgments(tmp_path)) == TOTAL
    assert set(server.answered.values()) == {1}


@pytest.mark.parametrize("kind", ["500", "504"])
def test_requests_that_always_fail_are_given_up_and_the_judge_is_not_stopped(tmp_path, kind):
    """The first that are asked, more of them than go at a time; those of a gateway (504) when patience ends."""
    bad = set()

    def fault(prompt: str, times: int) -> str | None:
        if len(bad) < 5:
            bad.add(prompt)
        return kind if prompt in bad else None

    with serving(fault) as server:
        options = ("--concurrent", 2, "--attempts", 3, "--patience", "1s", "--pilot", 0)
        done = collected(tmp_path, server.url, *options, judges=[{"judge": "j1"}])
    assert done.returncode == 0, done.stderr
    assert set(server.answered.values()) == {1}
    assert len(judgments(tmp_path)) == 7
    assert re.search(rf"attempts failed \({kind}\), 5 requests given up; it says: no", done.stdout)
    assert "5 requests have no answer yet; run it again to ask them" in done.stdout


def test_what_attempts_cost_is_shown_as_they_fail(tmp_path):
    """Not only when a request has ended, which may take as long as patience."""
    judge = {"judge": "j1", "prompt_price": 1000, "completion_price": 1000}
    with serving(lambda prompt, times: "cut") as server:
        done = collected(tmp_path, server.url, "--patience", "0.5s", judges=[judge])
    assert done.returncode == 1
    assert len(server.requests) >= 3
    shown = set(re.findall(r"spent (\d+\.\d+) USD", done.stderr))
    assert len(shown - {"0.0000"}) == len(server.requests)


def test_a_key_that_is_missing_or_cannot_be_sent_is_told(tmp_path):
    for key, words in ((None, "OPENAI_API_KEY holds no"), (f"{KEY}\n", "OPENAI_API_KEY has a character")):
        with serving() as server:
            done = collected(tmp_path, server.url, key=key)
        assert done.returncode == 1
        assert words in done.stderr.splitlines()[-1]
        assert server.requests == []
    with serving() as server:
        done = collected(tmp_path, server.url, judges=[{"judge": "j1", "model": KEY}])
        assert re.search(r"\bOPENAI_API_KEY\b.*\bsetting\b", done.stderr)
        for params in ({"api_key": "abc"}, {"extra": [{"user": KEY}]}, {KEY: 1}):
            done = collected(tmp_path, server.url, judges=[{"judge": "j1", "params": params}])
            assert "(api_key_env:" in done.stderr
            assert KEY not in done.stderr
    assert KEY not in done.stderr


def test_a_second_run_on_the_same_file_is_refused(tmp_path):
    with serving(delay=0.05) as server:
        first = started(tmp_path, server.url, "--concurrent", 1)
        wait_for(first, tmp_path / "judgments.jsonl", 2)
        second = collected(tmp_path, server.url)
        first.communicate(timeout=120)
    assert second.returncode == 1
    assert "judgments.jsonl is being written by another run" in second.stderr
    assert first.returncode == 0
    assert len(judgments(tmp_path)) == TOTAL
    assert set(server.answered.values()) == {1}


def wait_for(running: Forked, path: Path, count: int) -> None:
    """Until the file has so many lines; a run that has ended will not write more."""
    while lines(path) < count and running.poll() is None:
        time.sleep(0.005)


@pytest.mark.parametrize("options", [(), ("--until", "top 2 separated")], ids=["all", "by rounds"])
def test_an_interrupt_ends_the_run_at_once_and_loses_nothing(tmp_path, options):
    """One judge waits a minute for its next attempt; the other's requests are on their way."""
    with serving(lambda prompt, times: "503" if prompt.startswith("j2") else None, delay=0.05) as server:
        running = started(tmp_path, server.url, "--first-wait", 60, "--patience", "30m", *options)
        wait_for(running, tmp_path / "judgments.jsonl", 3)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=120)
        sent = len(server.requests)
        kept = judgments(tmp_path)
        time.sleep(0.2)
        assert len(server.requests) == sent  # no further one
        assert 3 <= len(kept) <= sum(server.answered.values()) <= len(kept) + 8  # those on their way
    assert running.returncode == 130
    assert stderr.splitlines()[-1] == "judgerank collect: interrupted; what was finished is kept"
    assert "Traceback" not in stdout + stderr
    assert re.search(rf"^{len(kept)} judgments\b", stdout, re.MULTILINE)
    assert "connection" not in stdout  # being cancelled is no fault of the server


@pytest.mark.parametrize("seed", range(3))
def test_a_kill_at_any_moment_loses_nothing_and_pays_for_nothing_twice(tmp_path, seed):
    """`python -m tests.tool.collecting` does so more often."""
    killed_and_gone_on(tmp_path, seed)


def killed_and_gone_on(folder: Path, seed: int, concurrent: int = 3) -> tuple[int, int]:
    """Kill a run when it has written some lines, go on, and check; lines kept, and requests paid twice."""
    rng = random.Random(seed)
    path = folder / "judgments.jsonl"
    with serving(delay=0.03) as server:
        running = started(folder, server.url, "--concurrent", concurrent)
        wait_for(running, path, rng.randrange(TOTAL - concurrent))
        time.sleep(rng.random() * 0.05)
        running.kill()
        running.wait()
        time.sleep(0.2)  # the server answers what was on its way
        kept, before = lines(path), sum(server.answered.values())
        torn = rng.choice([b"", b'{"question_id": "q0", "mod'])
        with path.open("ab") as file:
            file.write(torn)
        done = collected(folder, server.url)
    assert done.returncode == 0, done.stderr
    assert (f" {len(torn)} bytes " in done.stdout) == bool(torn)
    assert re.search(rf"judgments\.jsonl: {kept}\b", done.stdout)
    records = judgments(folder)
    asked = {(r["question_id"], r["model_a"], r["model_b"], r["judge_model"]) for r in records}
    assert len(asked) == len(records) == TOTAL
    twice = sum(server.answered.values()) - TOTAL
    assert twice == before - kept  # only what was on its way
    assert 0 <= twice <= concurrent
    return kept, twice


def test_nothing_is_fetched_loaded_or_printed_by_the_client_library(tmp_path):
    """No list of prices from elsewhere, no key out of a folder's .env, no advice on standard output."""
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-a-file\nANTHROPIC_API_KEY=from-a-file\n")
    with serving(lambda prompt, times: "500" if times == 1 else None) as server:
        arguments = command(tmp_path, server.url, "--comparisons", 2)
        env = environment(OPENAI_API_KEY=KEY, HTTPS_PROXY="http://127.0.0.1:9", ANTHROPIC_API_KEY=None)
        done = run_anew(["-m", "judgerank", *arguments], tmp_path, env)
        assert done.returncode == 0, done.stderr
        assert server.keys == {f"Bearer {KEY}"}
    said = (done.stdout + done.stderr).lower()
    assert "litellm" not in said
    assert "warning" not in said
    sent = json.dumps(server.requests)
    assert "from-a-file" not in sent
