"""What families of models take in a request, by provider and by the model's name.

The rules are those that providers document and enforce. A server that refuses more is believed, and asked without
(`refusals`); this table saves those attempts, and states what no server says: whose thoughts use up the tokens of
the reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

When = Literal["always", "not while thinking", "never"]

# tokens left for thoughts, by the effort asked for; the cap of a reply has to hold both
THOUGHTS = {
    "none": 0,
    "disable": 0,
    "minimal": 1024,
    "low": 2048,
    "default": 8192,
    "medium": 8192,
    "high": 16384,
    "xhigh": 32768,
    "max": 32768,
}
# tokens of thoughts at Anthropic: https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
LEAST_BUDGET = 1024


@dataclass(frozen=True)
class Rule:
    """What one family takes.

    Attributes
    ----------
    family : str
        What people call it.
    provider, model : str
        Patterns of litellm's name of the provider, and of the beginning of the model's own name.
    temperature, logprobs : {"always", "not while thinking", "never"}
        When the parameter is taken.
    thinks : bool
        Whether it thinks without being asked to.
    least_budget : int
        Tokens of thoughts, where it is told how many.
    """

    family: str
    provider: str
    model: str
    temperature: When = "always"
    logprobs: When = "always"
    thinks: bool = False
    least_budget: int = 1


ANY = ".*"
RULES = (
    Rule("GPT-5 chat", ANY, r"gpt-5-chat"),
    # think only if told to, and take sampling parameters only while they do not
    Rule("GPT-5.1 to 5.4", ANY, r"gpt-5\.[1-4](?!.*(pro|codex|chat))", "not while thinking", "not while thinking"),
    Rule("OpenAI's reasoning models", ANY, r"(gpt-[5-9]|o[1-9])(?![0-9])", "never", "never", thinks=True),
    # since Opus 4.7, models decide themselves how much to think and take no sampling parameters
    Rule(
        "Claude from Opus 4.7 on",
        ANY,
        r"claude-(opus-4-([7-9]|\d\d(?!\d))|[a-z]+-([5-9]|\d\d(?!\d)))",
        "never",
        "never",
        thinks=True,
    ),
    Rule("Claude", ANY, r"claude", "not while thinking", "never", least_budget=LEAST_BUDGET),
    Rule("Anthropic's interface", "anthropic", ANY, "not while thinking", "never", least_budget=LEAST_BUDGET),
    Rule("Gemini that thinks", ANY, r"gemini-(2\.5|[3-9]|flash-latest|pro-latest)", thinks=True),
    Rule("DeepSeek's reasoning models", ANY, r"deepseek-(reasoner|r1)", logprobs="never", thinks=True),
    Rule(
        "open reasoning models",
        ANY,
        r"gpt-oss|qwq|qwen3.*thinking|kimi-k2-thinking|magistral|grok-[4-9]|glm-4\.[5-9]|minimax-m",
        thinks=True,
    ),
)
PLAIN = Rule("other models", ANY, ANY)


@dataclass(frozen=True)
class Images:
    """What one family does with images.

    Attributes
    ----------
    provider, model : str
        As of a `Rule`.
    seen : bool
    tokens : int
        That one takes at most.
    """

    provider: str
    model: str
    seen: bool
    tokens: int


# tokens by the providers' pages on images; Claude's are 1.15 megapixels by 750, from Opus 4.7 on told as 4,784
IMAGES = (
    Images(
        ANY, r"(o1-mini|o3-mini|gpt-3|gpt-4(-\d{4})?$|gpt-oss|text-|claude-(2|instant)|gemma-[12](?!\d))", False, 0
    ),
    Images(ANY, r"gpt-4o-mini", True, 2833 + 8 * 5667),  # 8 tiles of 512 pixels in 2,048 by 768
    Images(ANY, r"(chatgpt-4o|gpt-4o|gpt-4\.[15]|gpt-4-turbo|o[134])", True, 3779),  # 1,536 patches by 2.46
    Images(ANY, r"gpt-[5-9]", True, 12_000),  # 10,000 patches by 1.2
    Images(ANY, r"claude-(opus-4-([7-9]|\d\d(?!\d))|[a-z]+-([5-9]|\d\d(?!\d)))", True, 4784),
    Images(ANY, r"claude-", True, 1600),
    Images("anthropic", ANY, True, 4784),
    Images(ANY, r"gemini-([3-9])", True, 2240),  # at the highest resolution
    Images(ANY, r"gemini-", True, 24 * 258),  # tiles
    Images(
        ANY,
        r"(llava|pixtral|internvl|minicpm-v|qwen.*-?vl|llama-3\.2.*vision|llama-4|gemma-?3|grok-4)",
        True,
        16_384,
    ),
)
UNKNOWN = Images(ANY, ANY, False, 16_384)  # Qwen-VL's most, the largest of the open models
Family = TypeVar("Family", Rule, Images)


def images_for(provider: str, model: str) -> Images:
    """What a model does with images, by names as `rule_for` has them."""
    return _first_fitting(IMAGES, provider, model, UNKNOWN)


def rule_for(provider: str, model: str) -> Rule:
    """The first rule that fits.

    Parameters
    ----------
    provider : str
        By litellm's name.
    model : str
        As it is sent; folders before its own name do not matter (``openai/gpt-5-mini``).
    """
    return _first_fitting(RULES, provider, model, PLAIN)


def _first_fitting(families: Iterable[Family], provider: str, model: str, otherwise: Family) -> Family:
    own = model.rpartition("/")[2].lower()
    fits = (one for one in families if re.fullmatch(one.provider, provider) and re.match(one.model, own))
    return next(fits, otherwise)
