"""Money: budgets hold for every kind of text, and costs are what providers charge."""

import pytest

from judgerank.collecting.bounds import Bounds, prompt_tokens
from judgerank.collecting.costs import at_most, cost, recorded_cost
from judgerank.collecting.library import library, list_prices
from judgerank.collecting.settings import Judge, Prompt
from tests.tool.money_collecting import KINDS, collected

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
        assert charged <= spent <= limit
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
