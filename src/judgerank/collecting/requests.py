"""What litellm is asked to send for one judge, and what goes into the request's body as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from judgerank.collecting.settings import LENGTHS, Judge, Prompt

# What families of models take in a request, by provider and by the model's name.
#
# The rules are those that providers document and enforce. A server that refuses more is believed, and asked
# without (`refusals`); this table saves those attempts, and states what no server says: whose thoughts use up the
# tokens of the reply.
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
    model_name = model.rpartition("/")[2].lower()
    fits = (
        family
        for family in families
        if re.fullmatch(family.provider, provider) and re.match(family.model, model_name)
    )
    return next(fits, otherwise)


N_TOP_LOGPROBS = 5  # likely tokens whose log-probabilities are asked for
TRANSLATED = ("temperature", "max_tokens")  # parameters that every provider has, each by its own name
TARGET_KEYS = ("model", "api_base")
SCHEMA = {
    "type": "object",
    "properties": {
        "choice": {"type": "string", "enum": ["a", "b", "c"]},
        "confidence": {"type": "number"},
    },
    "required": ["choice", "confidence"],
    "additionalProperties": False,
}
# of OpenAI; litellm writes it in the form of other providers, such as `format` of Ollama
JSON_SCHEMA = "json_schema"
FORM = {"type": JSON_SCHEMA, JSON_SCHEMA: {"name": "judgment", "strict": True, "schema": SCHEMA}}
# all ways, in the order in which they are tried
STRUCTURED: dict[str, dict[str, Any]] = {
    JSON_SCHEMA: {"response_format": FORM},
    "json_object": {"response_format": {"type": "json_object", "schema": SCHEMA}},  # llama.cpp's
    "guided_json": {"response_format": None, "guided_json": SCHEMA},  # vLLM's, before it took OpenAI's
}
NOTHING: frozenset[str] = frozenset()


def rule_of(judge: Judge) -> Rule:
    """What the judge's model takes."""
    return rule_for(judge.form, judge.sent)


def thinks(judge: Judge) -> bool:
    """Whether the judge thinks before it replies."""
    if judge.reasoning_effort is not None:
        return THOUGHTS.get(judge.reasoning_effort, 1) > 0
    return bool(judge.reasoning_budget) or rule_of(judge).thinks


def thoughts(judge: Judge) -> int:
    """Tokens that are left for thoughts beside those of the reply."""
    if judge.reasoning_budget:
        return judge.reasoning_budget
    return THOUGHTS.get(judge.reasoning_effort or "default", THOUGHTS["max"]) if thinks(judge) else 0


def longest(judge: Judge, prompt: Prompt) -> int:
    """Tokens that a reply takes at most, thoughts among them; none from a function.

    A length in the judge's parameters holds the thoughts, too, but for those of a budget.
    """
    if judge.is_local:
        return 0
    for name in LENGTHS:
        if isinstance(judge.params.get(name), int):
            return int(judge.params[name]) + (judge.reasoning_budget or 0)
    return prompt.max_tokens + thoughts(judge)


def is_bounded(judge: Judge) -> bool:
    """Whether requests say how long a reply may be."""
    limits = [judge.params[name] for name in LENGTHS if name in judge.params]
    return judge.is_local or "max_tokens" not in judge.params or any(limit is not None for limit in limits)


def request(judge: Judge, prompt: Prompt, refused: Set[str] = NOTHING) -> dict[str, Any]:
    """What litellm is asked to send, but for the messages and the key.

    Parameters
    ----------
    judge, prompt
    refused : set of str
        What the server has refused: parameters and ways to ask for a structured reply.
    """
    rule, parameters = rule_of(judge), dict[str, Any]()
    if "temperature" in judge.params:
        parameters["temperature"] = judge.params["temperature"]
    elif _applies(rule.temperature, judge) and "temperature" not in refused:
        parameters["temperature"] = prompt.temperature
    if judge.params.get("max_tokens", True) is not None and judge.params.get("max_completion_tokens") is None:
        parameters["max_completion_tokens" if "max_tokens" in refused else "max_tokens"] = longest(judge, prompt)
    if judge.reasoning_effort:
        parameters["reasoning_effort"] = judge.reasoning_effort
    if judge.reasoning_budget:
        parameters["thinking"] = {"type": "enabled", "budget_tokens": judge.reasoning_budget}
    if structured_by(judge, refused) == JSON_SCHEMA:
        parameters |= STRUCTURED[JSON_SCHEMA]
    if judge.logprobs and _applies(rule.logprobs, judge) and "logprobs" not in refused:
        parameters |= {"logprobs": True, "top_logprobs": N_TOP_LOGPROBS}
    given_parameters = {name: value for name, value in parameters.items() if value is not None}
    return given_parameters | {"model": judge.called, "api_base": judge.base_url}


def _applies(when: When, judge: Judge) -> bool:
    return when == "always" or (when == "not while thinking" and not thinks(judge))


def structured_by(judge: Judge, refused: Set[str]) -> str:
    """How a structured reply is asked for; empty if none is wanted, or each way was refused.

    Only a server of OpenAI's form at an address of its own has other ways than the provider's.
    """
    structured_forms = (
        STRUCTURED if judge.base_url and judge.form not in ("anthropic", "gemini") else (JSON_SCHEMA,)
    )
    return next(
        (
            structured_form
            for structured_form in structured_forms
            if judge.structured and structured_form not in refused
        ),
        "",
    )


def unknown(parameters: Iterable[str], translated: Iterable[str]) -> list[str]:
    """Which parameters go out as they are, as the library has no translation of them for a model.

    They are sent all the same: its lists of what a model takes are older than some models. What it translates must
    not go out twice, by the provider's name and by OpenAI's: Anthropic's servers refuse fields they do not know.
    """
    return sorted(set(parameters) - {*TRANSLATED, *TARGET_KEYS, *translated})


def wire_params(judge: Judge, refused: Set[str] = NOTHING) -> dict[str, Any]:
    """Parameters that go into the body as they are."""
    structured_form = structured_by(judge, refused)
    own_parameters = {name: value for name, value in judge.params.items() if name not in TRANSLATED}
    return (STRUCTURED[structured_form] if structured_form not in ("", JSON_SCHEMA) else {}) | own_parameters


# What a judge's server refuses in a request: found in its message, remembered, and asked without from then on.
#
# A status alone does not say so: llama.cpp's server answers 500 to a form of replies that it does not know, and
# others 422, 400 or 404. Its words do. Only what judgerank chose itself is given up: the temperature of the
# prompt, the log-probabilities, how a structured reply is asked for, and by which name the length of a reply goes.
# by what is given up, the names under which servers speak of it
CALLED = {
    "temperature": ("temperature",),
    "logprobs": ("logprobs", "log_probs", "log probabilities", "top_logprobs"),
    "max_tokens": ("max_tokens",),
}
STRUCTURED_REPLY = (
    *("response_format", "json_schema", "json_object", "guided_json", "output_format", "output_config"),
    *("structured output", "response format", "response_schema", "responseschema", "response_json_schema"),
)
NOT_THESE = (401, 402, 429)  # of the key, the account and the pace: their words may name anything
REFUSED_PHRASES = {
    "temperature": "refuses temperature; it is asked without",
    "logprobs": "refuses logprobs; it is asked without, and letters have no probabilities",
    "max_tokens": "refuses max_tokens; it is asked with max_completion_tokens",
    "json_schema": "refuses or ignores json_schema as the form of a reply",
    "json_object": "refuses or ignores json_object with a schema as the form of a reply",
    "guided_json": "refuses or ignores guided_json as the form of a reply",
}


def refusal(judge: Judge, parameters: Mapping[str, Any], refused: Set[str], message: str) -> str | None:
    """What to give up after a request was refused; None if it is nothing of ours.

    Parameters
    ----------
    judge : Judge
    parameters : mapping
        What the request was made of (`requests.request`).
    refused : set of str
        What was given up for that request already.
    message : str
        The server's message.
    """
    message = message.lower()
    structured_form = structured_by(judge, refused)
    ours = {
        name: CALLED[name]
        for name in CALLED
        if name in parameters and (name == "logprobs" or judge.params.get(name) is None)
    }
    if structured_form:
        ours[structured_form] = STRUCTURED_REPLY
    positions = {
        name: min((message.find(word) for word in words if word in message), default=-1)
        for name, words in ours.items()
    }
    named = {name: position for name, position in positions.items() if position >= 0}
    return min(named, key=named.__getitem__) if named else None


def refused_sentences(name: str, refused: Set[str]) -> list[str]:
    """Sentences on what a judge's server has refused."""
    return [
        f"judge {name!r} {REFUSED_PHRASES[parameter]}" for parameter in REFUSED_PHRASES if parameter in refused
    ]
