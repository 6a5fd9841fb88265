"""What litellm is asked to send for one judge, and what goes into the request's body as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from judgerank.collecting.settings import Judge, Prompt

BESIDE = 5  # likely tokens whose log-probabilities are asked for
TRANSLATED = ("temperature", "max_tokens")  # parameters that every provider has, each by its own name
PLACE = ("model", "api_base")
FORM = {
    "type": "json_schema",
    "json_schema": {
        "name": "judgment",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "choice": {"type": "string", "enum": ["a", "b", "c"]},
                "confidence": {"type": "number"},
            },
            "required": ["choice", "confidence"],
            "additionalProperties": False,
        },
    },
}


def request(judge: Judge, prompt: Prompt, structured: bool) -> dict[str, Any]:
    """What litellm is asked to send, but for the messages and the key."""
    asked: dict[str, Any] = {"temperature": prompt.temperature, "max_tokens": judge.longest(prompt)}
    for name in TRANSLATED:
        if judge.params.get(name, asked[name]) is None:
            del asked[name]
    if "temperature" in asked:
        asked["temperature"] = judge.params.get("temperature", prompt.temperature)
    if judge.params.get("max_completion_tokens") is not None:
        asked.pop("max_tokens", None)
    if judge.reasoning_effort:
        asked["reasoning_effort"] = judge.reasoning_effort
    if judge.reasoning_budget:
        asked["thinking"] = {"type": "enabled", "budget_tokens": judge.reasoning_budget}
    if structured:
        asked["response_format"] = FORM
    if judge.logprobs:
        asked |= {"logprobs": True, "top_logprobs": BESIDE}
    return asked | {"model": judge.called, "api_base": judge.base_url}


def unknown(asked: Iterable[str], translated: Iterable[str]) -> list[str]:
    """Which parameters go out as they are, as the library has no translation of them for a model.

    They are sent all the same: its lists of what a model takes are older than some models. What it translates must
    not go out twice, by the provider's name and by OpenAI's: Anthropic's servers refuse fields they do not know.
    """
    return sorted(set(asked) - {*TRANSLATED, *PLACE, *translated})


def wire_params(judge: Judge) -> dict[str, Any]:
    """Parameters that go into the body as they are."""
    return {name: value for name, value in judge.params.items() if name not in TRANSLATED}
