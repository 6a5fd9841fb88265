"""What a judge's server refuses in a request: found in its message, remembered, and asked without from then on.

A status alone does not say so: llama.cpp's server answers 500 to a form of replies that it does not know, and
others 422, 400 or 404. Its words do. Only what judgerank chose itself is given up: the temperature of the prompt,
the log-probabilities, how a structured reply is asked for, and by which name the length of a reply goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from judgerank.collecting.requests import structured_by
from judgerank.collecting.settings import Judge

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
