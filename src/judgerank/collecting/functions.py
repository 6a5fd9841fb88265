"""Judges that are no servers: Python functions of the user's, and a person at the terminal."""

from __future__ import annotations

import asyncio
import hashlib
import math
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from judgerank.collecting.response import CHOICES, JudgeRefused, Refused, Reply
from judgerank.data.errors import ConfigError
from judgerank.data.modules import is_file, object_of
from judgerank.reading.answers.found import Text

# Judges that are Python functions of the user's: no server, no key, no cost.
PYTHON = "python"  # the provider of such a judge
DEFAULT = "judge"  # the function's name, if none is given
WANTED = "'a', 'b', 'c' (a tie) or the probability, from 0 to 1, that the first answer is better"

Function = Callable[..., Any]


class NoAnswer(Exception):
    """A function raised an exception, or returned something that is no answer."""

    def __init__(self, kind: str, message: str):
        super().__init__(kind)
        self.kind, self.message = kind, message


def require_function(model: str, server: bool) -> None:
    """Refuse settings that no function can have.

    Raises
    ------
    ValueError
        If the model is not ``FILE.py:FUNCTION``, or the judge has settings of a server.
    """
    if not is_file(model):
        raise ValueError(f"model {model!r} is not a Python function: write FILE.py:FUNCTION")
    if server:
        raise ValueError("a judge with provider: python must not have base_url, api_key_env or batch")


def function(model: str) -> Function:
    """The function that a judge's model names (``FILE.py:FUNCTION``); each version of a file is run once.

    Raises
    ------
    ConfigError
        If there is no such file or function, or the file raises an exception.
    """
    return _function(model, str(Path.cwd()), code_digest(model))


@cache
def _function(model: str, folder: str, code: str) -> Function:  # the folder and the code tell versions apart
    function = object_of(model, DEFAULT, "a judge")
    if not callable(function):
        raise ConfigError(f"{model} is a {type(function).__name__}, not a function of (question, first, second)")
    return function


def code_digest(model: str) -> str:
    """What identifies the code of the file that a judge's model names; empty if there is no such file."""
    path = Path(model.partition(":")[0])
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else ""


async def answered(function: Function, texts: Mapping[str, Any], params: Mapping[str, Any]) -> Reply:
    """The function's answer as a reply, from a thread of its own.

    Raises
    ------
    NoAnswer
        If there is none.
    """
    try:
        value = await asyncio.to_thread(
            function, *(texts[name] for name in ("question", "first", "second")), **params
        )
    except Exception as error:
        raise NoAnswer(type(error).__name__, str(error)) from error
    return reply_of(value)


def reply_of(value: Any) -> Reply:
    """What a function returned as the reply of a judge who was asked for a letter and a confidence.

    Raises
    ------
    NoAnswer
        If it is neither a letter nor a probability.
    """
    if isinstance(value, str) and value in CHOICES:
        return Reply(value, None, None, 0, 0, None)
    try:
        chance = math.nan if isinstance(value, str | bool) else float(value)
    except (TypeError, ValueError):
        chance = math.nan
    if not 0 <= chance <= 1:
        raise NoAnswer("no answer", f"the function returned {value!r:.100}; expected {WANTED}")
    choice = "c" if chance == 0.5 else "a" if chance > 0.5 else "b"
    text = f"{choice}, {max(chance, 1 - chance):.6f}"
    chances = {"a": chance, "b": 1 - chance}
    logarithms = {letter: math.log(share) for letter, share in chances.items() if share > 0}
    return Reply(text, None, None, 0, 0, (choice, logarithms))


# A person at the terminal as a judge: sees a question and two answers without names, and types a letter.
PERSON = "person"  # the provider of such a judge
KEYS = {"a": "a", "1": "a", "b": "b", "2": "b", "t": "c", "0": "c"}
SKIP, QUIT = "s", "q"
KEY_PROMPT = "Which answer is better? a, b, t (equally good), s (skip), q (stop): "
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
            print(f"\n{name}: {KEY_PROMPT}", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            key = line.strip().lower()[:1] if line else QUIT
            if key in (*KEYS, SKIP, QUIT):
                return key
