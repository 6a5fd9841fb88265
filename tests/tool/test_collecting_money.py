"""Money: budgets hold for every kind of text and over all runs, and costs are what providers charge."""

import json
import signal
import time

import pytest

from judgerank.collecting.costs import Bounds, at_most, cost, prompt_tokens, recorded_cost
from judgerank.collecting.library import library, list_prices
from judgerank.collecting.settings import Judge, Prompt
from tests.tool.collecting import collected as run
from tests.tool.collecting import judgments, started
from tests.tool.endpoint import serving
from tests.tool.money_collecting import KINDS, collected

PRICED = [{"judge": "j1", "prompt_price": 1000, "completion_price": 1000}]  # an answer costs 0.11, at most 1.9
CHARGES = "judgments.jsonl.charges.json"

# whatever a tokenizer of bytes may make of a text: one token a byte at most, about a quarter of that of English
TOKENIZERS = {
    "a token a byte": lambda text: len(text.encode()),
    "a token a character": len,
    "four characters a token": lambda text: len(text) // 4,
}


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_budget_is_overrun_whatever_the_text(kind, tokenizer):
    asked = 0
    for seed in range(6):
        limit, charged, spent, count = collected(seed, kind, TOKENIZERS[tokenizer])
        assert charged <= min(spent, limit)
        asked += count
    assert asked > 20


@pytest.mark.parametrize("kind", KINDS)
def test_no_prompt_has_more_tokens_than_its_bound_by_a_real_tokenizer(kind):
    import random

    text = KINDS[kind](random.Random(1))
    count = library().token_counter(model="gpt-4", messages=[{"role": "user", "content": text}])
    judge = Judge(judge="j", base_url="http://here/v1")
    assert count <= prompt_tokens(judge, [{"content": text}])


def test_a_judge_who_uses_more_than_was_counted_on_is_counted_on_for_that():
    judge, prompt, bounds = Judge(judge="j", base_url="http://here/v1"), Prompt(), Bounds()
    short, long = [{"content": "x"}], [{"content": "x" * 1000}]
    before = bounds.tokens(judge, prompt, long)
    bounds.learn(judge, prompt, short, 5, 7)
    assert bounds.tokens(judge, prompt, long) == before
    assert bounds.raised(["j"]) == []
    bounds.learn(judge, prompt, short, prompt_tokens(judge, short) + 500, 2 * prompt.max_tokens)
    assert bounds.tokens(judge, prompt, long) == (before[0] + 500, 2 * before[1])
    assert bounds.raised(["j"]) == ["j"]


@pytest.mark.parametrize("model", ["gpt-5-mini", "claude-sonnet-4-5", "gemini/gemini-2.5-flash"])
def test_cached_tokens_cost_what_the_provider_charges(model):
    """2,000 tokens of which 1,500 were cached, and 500 of the reply, beside the library's own arithmetic."""
    litellm = library()
    judge = Judge(judge="j", model=model if "/" in model else f"x/{model}")
    judge = judge.model_copy(update=list_prices(judge))
    usage = litellm.Usage(
        prompt_tokens=2000, completion_tokens=500, total_tokens=2500, prompt_tokens_details={"cached_tokens": 1500}
    )
    answer = litellm.ModelResponse(model=model, usage=usage)
    assert cost(judge, 2000, 500, cached=1500) == pytest.approx(litellm.completion_cost(answer, model=model))
    assert cost(judge, 2000, 500, cached=1500) < 0.8 * cost(judge, 2000, 500)
    assert at_most(judge, (2000.0, 500.0)) >= cost(judge, 2000, 500)


def test_what_is_not_known_is_not_nothing():
    half = Judge(judge="j", base_url="http://here/v1", prompt_price=1.0)
    assert cost(half, 10, 10) != cost(half, 10, 10)  # nan
    assert recorded_cost(half.model_copy(update={"completion_price": 2.0}), {"tokens_at_most": (1e6, 1e6)}) == 3.0


def test_attempts_without_an_answer_count_in_later_runs(tmp_path):
    """A server that charges and never answers gets the budget once, however often it is run."""
    with serving(lambda prompt, times: "broken") as server:
        options = ("--budget", 10, "--concurrent", 1, "--attempts", 2)
        done = run(tmp_path, server.url, *options, judges=PRICED)
        assert "stopped: the next request to judge 'j1' might exceed the budget" in done.stdout
        asked, spent = len(server.requests), float(done.stdout.split("spent ")[-1].split()[0])
        assert asked > 3
        stored = json.loads((tmp_path / CHARGES).read_text())
        assert stored == {"without_answer": pytest.approx(spent, abs=1e-4), "on_their_way": 0.0}
        done = run(tmp_path, server.url, *options, judges=PRICED)
        assert len(server.requests) == asked
        assert f"earlier attempts without an answer may have cost {spent:.4f} USD; that counts" in done.stdout
        assert "run it again with a larger --budget" in done.stdout


def test_nothing_left_to_ask_costs_nothing_and_is_said_so(tmp_path):
    with serving() as server:
        assert run(tmp_path, server.url, judges=[*PRICED, {"judge": "j2"}]).returncode == 0
        done = run(tmp_path, server.url, "--budget", 0.01, judges=PRICED)
    assert done.returncode == 0
    assert "nothing is left to ask" in done.stdout
    assert "at most 0 requests" not in done.stdout and "budget leaves" not in done.stdout
    spent = 0.11 * len([one for one in judgments(tmp_path) if one["judge_model"] == "j1"])
    assert f"spent {spent:.4f} USD, which is more than the budget of 0.0100 USD" in done.stdout
    assert f"({spent:.4f} USD of it before this run)" in done.stdout
    done = run(tmp_path, server.url, "--dry-run", judges=[*PRICED, {"judge": "j2"}])
    (line,) = [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["j2"]]
    assert line[2] == "0" and float(line[-1]) == 0.0


def test_an_interrupted_request_without_a_price_is_no_gift(tmp_path):
    with serving(delay=5) as server:
        running = started(tmp_path, server.url)
        while not server.requests and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        stdout, _ = running.communicate()
    assert running.returncode == 130
    assert "spent unknown (no price for: j1" in stdout


def test_what_was_on_its_way_at_a_kill_counts_in_the_next_run(tmp_path):
    with serving(delay=5) as server:
        running = started(tmp_path, server.url, "--budget", 100, judges=PRICED)
        while not server.requests and running.poll() is None:
            time.sleep(0.01)
        running.kill()
        running.wait()
        stored = json.loads((tmp_path / CHARGES).read_text())
    assert stored["without_answer"] == 0 < stored["on_their_way"]
    with serving() as server:
        done = run(tmp_path, server.url, "--moved", "--dry-run", "--budget", stored["on_their_way"], judges=PRICED)
        assert "more than the budget leaves (0.0000 USD)" in done.stdout
        done = run(tmp_path, server.url, "--moved", "--budget", 100, judges=PRICED)
    told = float(done.stdout.split("spent ")[-1].split()[0])
    assert told == pytest.approx(0.11 * len(judgments(tmp_path)) + stored["on_their_way"], abs=1e-4)


def test_a_run_that_ends_well_leaves_no_charges_and_a_file_that_is_none_is_refused(tmp_path):
    with serving() as server:
        assert run(tmp_path, server.url, "--comparisons", 2, judges=PRICED).returncode == 0
        assert not (tmp_path / CHARGES).exists()
        for content, words in (("no", "is not a record"), ('{"without_answer": -1, "on_their_way": 0}', "=-1")):
            (tmp_path / CHARGES).write_text(content)
            done = run(tmp_path, server.url, judges=PRICED)
            assert done.returncode == 1
            assert CHARGES in done.stderr.splitlines()[-1]
            assert words in done.stderr
            assert (tmp_path / CHARGES).read_text() == content
    assert len(server.requests) == 2


def test_a_dry_run_counts_what_is_there_already(tmp_path):
    with serving() as server:
        run(tmp_path, server.url, "--comparisons", 4)
        done = run(tmp_path, server.url, "--comparisons", 10, "--dry-run")
        assert "4 of the judgments are there already" in done.stdout
        assert "at most 6 requests, estimated cost at most unknown (no price for: j1, j2)" in done.stdout
        assert len(server.requests) == 4
        changed = [{"judge": "j1", "reasoning_effort": "low"}, {"judge": "j2"}]
        refused = run(tmp_path, server.url, "--dry-run", judges=changed)
        assert refused.returncode == 1
        assert "asked with other parameters" in refused.stderr
