"""Settings of a collection in which judges rank several answers at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from judgerank.collecting.prompt_settings import Prompt
from judgerank.collecting.wording import PAIRWISE, RANKED

PAIR = 2  # answers in a request, unless more are asked for


class Asked(Protocol):
    """What matters of a judge."""

    judge: str
    structured: bool
    logprobs: bool

    @property
    def is_local(self) -> bool: ...


def with_ranking_prompt(values: Any) -> Any:
    """Settings as they are told, with the prompt for rankings where judges rank by no text of the user's."""
    if not isinstance(values, dict) or not isinstance(values.get("k"), int) or values["k"] <= PAIR:
        return values
    prompt = values.get("prompt", Prompt())
    if not isinstance(prompt, Prompt) or prompt.text != PAIRWISE["text"]:
        return values
    name = RANKED["name"] if prompt.name == PAIRWISE["name"] else prompt.name
    return {**values, "prompt": prompt.model_copy(update={"name": name, "text": RANKED["text"]})}


def require_rankable(k: int, prompt: Prompt, judges: Iterable[Asked], until: str | None, anchors: int) -> None:
    """Refuse what is made for pairs where judges rank k answers, and a prompt for rankings where they do not.

    Raises
    ------
    ValueError
    """
    if k == PAIR:
        if prompt.ranks:
            raise ValueError("the prompt's text has {answers}, which asks for rankings: say of how many (--k 4)")
        return
    with_k = f"with k={k}, judges rank answers:"
    absent = [field for field in ("{question}", "{answers}") if field not in prompt.text]
    if absent:
        raise ValueError(f"{with_k} the prompt's text must say where {absent[0]} goes")
    if prompt.scale == 5:
        raise ValueError(f"{with_k} scale 5 is for pairs, leave it out")
    if until is not None:
        raise ValueError(f"{with_k} until is for pairs, leave it out")
    if anchors:
        raise ValueError(f"{with_k} anchors are for pairs, leave them out")
    for judge in judges:
        if judge.is_local:
            raise ValueError(f"{with_k} judge {judge.judge!r}, a function or a person, can only compare two")
        if judge.structured or judge.logprobs:
            key = "structured" if judge.structured else "logprobs"
            raise ValueError(f"{with_k} {key} of judge {judge.judge!r} is for pairs, leave it out")
