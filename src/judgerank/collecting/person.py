"""A person at the terminal as a judge: sees a question and two answers without names, and types a letter."""

from __future__ import annotations

import asyncio
import sys
import threading

from judgerank.collecting.request_errors import JudgeRefused, Refused
from judgerank.collecting.response import Reply
from judgerank.reading.answers.found import Text

PERSON = "person"  # the provider of such a judge
KEYS = {"a": "a", "1": "a", "b": "b", "2": "b", "t": "c", "0": "c"}
SKIP, QUIT = "s", "q"
ASKED = "Which answer is better? a, b, t (equally good), s (skip), q (stop): "
_one_at_a_time = threading.Lock()


async def vote(name: str, question: Text, first: Text, second: Text) -> Reply:
    """What a person says.

    Raises
    ------
    Refused
        If the person skips this one.
    JudgeRefused
        If the person stops, or there is nobody at the terminal.
    """
    key = await asyncio.to_thread(_ask, name, question, first, second)
    if key == SKIP:
        raise Refused("skipped", "the person skipped it")
    if key == QUIT:
        raise JudgeRefused("stopped", "the person stopped, or nobody is at the terminal")
    return Reply(KEYS[key], None, None, 0, 0, None)


def _ask(name: str, question: Text, first: Text, second: Text) -> str:
    """Show both answers, and ask until a key is known; the end of the input is a stop."""
    with _one_at_a_time:
        for heading, text in (("QUESTION", question), ("ANSWER A", first), ("ANSWER B", second)):
            turns = [text] if isinstance(text, str) else text
            print(f"\n--- {heading} ---", *turns, sep="\n", file=sys.stderr)
        while True:
            print(f"\n{name}: {ASKED}", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            key = line.strip().lower()[:1] if line else QUIT
            if key in (*KEYS, SKIP, QUIT):
                return key
