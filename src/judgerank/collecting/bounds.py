"""How many tokens a request may take at most: no fewer than any tokenizer makes of it.

Tokenizers of bytes give no byte more than one token, so that the bytes of a text in UTF-8 bound its tokens in
every script. English takes about a quarter of that, Chinese or digits up to all of it. What else a provider counts
(the frame of messages, a schema) is allowed for; where a judge is told to have used more, its bound is raised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judgerank.collecting.images import tokens_of
from judgerank.collecting.requests import longest
from judgerank.collecting.settings import Judge, Prompt

OF_A_REQUEST = 64  # tokens around the messages, such as a chat template's own system message
OF_A_MESSAGE = 16  # its role, and marks of its beginning and end
OF_A_SCHEMA = 768  # the schema itself, and what providers say of it to the model


class Bounds:
    """By judge, as corrected by what was told."""

    def __init__(self) -> None:
        self._more: dict[str, int] = {}
        self._longer: dict[str, float] = {}

    def tokens(self, judge: Judge, prompt: Prompt, sent: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
        """Of the messages and of the reply."""
        if judge.is_local:
            return 0.0, 0.0
        name = judge.judge
        asked = prompt_tokens(judge, sent) + self._more.get(name, 0)
        return float(asked), longest(judge, prompt) * self._longer.get(name, 1.0)

    def learn(
        self, judge: Judge, prompt: Prompt, sent: Sequence[Mapping[str, Any]], asked: int | None, said: int | None
    ) -> None:
        """Raise the bounds to what a request was told to have used."""
        name, most = judge.judge, longest(judge, prompt)
        if asked is not None:
            self._more[name] = max(self._more.get(name, 0), asked - prompt_tokens(judge, sent))
        if said is not None and most:
            self._longer[name] = max(self._longer.get(name, 1.0), said / most)

    def raised(self, judges: Iterable[str]) -> list[str]:
        """Judges who used more than a request was thought to take."""
        return [name for name in judges if self._more.get(name, 0) > 0 or self._longer.get(name, 1.0) > 1]


def prompt_tokens(judge: Judge, sent: Sequence[Mapping[str, Any]]) -> int:
    """Of messages, at most."""
    content = sum(OF_A_MESSAGE + _tokens(judge, message["content"]) for message in sent)
    return content + OF_A_REQUEST + (OF_A_SCHEMA if judge.structured else 0)


def _tokens(judge: Judge, content: str | Sequence[Mapping[str, Any]]) -> int:
    """Of a message's text, or of its texts and images."""
    if isinstance(content, str):
        return len(content.encode(errors="surrogatepass"))
    return sum(_tokens(judge, part["text"]) if "text" in part else tokens_of(judge) for part in content)
