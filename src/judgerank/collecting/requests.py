"""What litellm is asked to send for one judge, and what goes into the request's body as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from judgerank.collecting.rules import THOUGHTS, Rule, When, rule_for
from judgerank.collecting.settings import LENGTHS, Judge, Prompt

BESIDE = 5  # likely tokens whose log-probabilities are asked for
TRANSLATED = ("temperature", "max_tokens")  # parameters that every provider has, each by its own name
PLACE = ("model", "api_base")
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
    given = [judge.params[name] for name in LENGTHS if name in judge.params]
    return judge.is_local or "max_tokens" not in judge.params or any(each is not None for each in given)


def request(judge: Judge, prompt: Prompt, refused: Set[str] = NOTHING) -> dict[str, Any]:
    """What litellm is asked to send, but for the messages and the key.

    Parameters
    ----------
    judge, prompt
    refused : set of str
        What the server has refused: parameters and ways to ask for a structured reply.
    """
    rule, asked = rule_of(judge), dict[str, Any]()
    if "temperature" in judge.params:
        asked["temperature"] = judge.params["temperature"]
    elif _taken(rule.temperature, judge) and "temperature" not in refused:
        asked["temperature"] = prompt.temperature
    if judge.params.get("max_tokens", True) is not None and judge.params.get("max_completion_tokens") is None:
        asked["max_completion_tokens" if "max_tokens" in refused else "max_tokens"] = longest(judge, prompt)
    if judge.reasoning_effort:
        asked["reasoning_effort"] = judge.reasoning_effort
    if judge.reasoning_budget:
        asked["thinking"] = {"type": "enabled", "budget_tokens": judge.reasoning_budget}
    if structured_by(judge, refused) == JSON_SCHEMA:
        asked |= STRUCTURED[JSON_SCHEMA]
    if judge.logprobs and _taken(rule.logprobs, judge) and "logprobs" not in refused:
        asked |= {"logprobs": True, "top_logprobs": BESIDE}
    known = {name: value for name, value in asked.items() if value is not None}
    return known | {"model": judge.called, "api_base": judge.base_url}


def _taken(when: When, judge: Judge) -> bool:
    return when == "always" or (when == "not while thinking" and not thinks(judge))


def structured_by(judge: Judge, refused: Set[str]) -> str:
    """How a structured reply is asked for; empty if none is wanted, or each way was refused.

    Only a server of OpenAI's form at an address of its own has other ways than the provider's.
    """
    ways = STRUCTURED if judge.base_url and judge.form not in ("anthropic", "gemini") else (JSON_SCHEMA,)
    return next((way for way in ways if judge.structured and way not in refused), "")


def unknown(asked: Iterable[str], translated: Iterable[str]) -> list[str]:
    """Which parameters go out as they are, as the library has no translation of them for a model.

    They are sent all the same: its lists of what a model takes are older than some models. What it translates must
    not go out twice, by the provider's name and by OpenAI's: Anthropic's servers refuse fields they do not know.
    """
    return sorted(set(asked) - {*TRANSLATED, *PLACE, *translated})


def wire_params(judge: Judge, refused: Set[str] = NOTHING) -> dict[str, Any]:
    """Parameters that go into the body as they are."""
    way = structured_by(judge, refused)
    own = {name: value for name, value in judge.params.items() if name not in TRANSLATED}
    return (STRUCTURED[way] if way not in ("", JSON_SCHEMA) else {}) | own


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
TOLD = {
    "temperature": "refuses temperature; it is asked without",
    "logprobs": "refuses logprobs; it is asked without, and letters have no probabilities",
    "max_tokens": "refuses max_tokens; it is asked with max_completion_tokens",
    "json_schema": "refuses or ignores json_schema as the form of a reply",
    "json_object": "refuses or ignores json_object with a schema as the form of a reply",
    "guided_json": "refuses or ignores guided_json as the form of a reply",
}


def refusal(judge: Judge, asked: Mapping[str, Any], refused: Set[str], said: str) -> str | None:
    """What to give up after a request was refused; None if it is nothing of ours.

    Parameters
    ----------
    judge : Judge
    asked : mapping
        What the request was made of (`requests.request`).
    refused : set of str
        What was given up for that request already.
    said : str
        The server's message.
    """
    said = said.lower()
    way = structured_by(judge, refused)
    ours = {
        name: CALLED[name]
        for name in CALLED
        if name in asked and (name == "logprobs" or judge.params.get(name) is None)
    }
    if way:
        ours[way] = STRUCTURED_REPLY
    places = {
        name: min((said.find(word) for word in words if word in said), default=-1) for name, words in ours.items()
    }
    named = {name: place for name, place in places.items() if place >= 0}
    return min(named, key=named.__getitem__) if named else None


def told(name: str, refused: Set[str]) -> list[str]:
    """Sentences on what a judge's server has refused."""
    return [f"judge {name!r} {TOLD[each]}" for each in TOLD if each in refused]
