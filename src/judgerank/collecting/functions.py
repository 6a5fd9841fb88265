"""Judges that are Python functions of the user's: no server, no key, no cost."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from judgerank.collecting.response import CHOICES, Reply
from judgerank.data.errors import ConfigError
from judgerank.data.modules import is_file, object_of

PYTHON = "python"  # the provider of such a judge
DEFAULT = "judge"  # the function's name, if none is given
WANTED = "'a', 'b', 'c' (a tie) or the probability, from 0 to 1, that the first answer is better"

Function = Callable[..., Any]


class NoAnswer(Exception):
    """A function raised an exception, or returned something that is no answer."""

    def __init__(self, kind: str, said: str):
        super().__init__(kind)
        self.kind, self.said = kind, said


def require_function(model: str, server: bool) -> None:
    """Refuse settings that no function can have.

    Raises
    ------
    ValueError
        If the model is not ``FILE.py:FUNCTION``, or the judge has settings of a server.
    """
    if not is_file(model):
        raise ValueError(f"model {model!r} is no Python function: write FILE.py:FUNCTION")
    if server:
        raise ValueError("a judge with provider: python takes no base_url, api_key_env or batch")


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
    found = object_of(model, DEFAULT, "a judge")
    if not callable(found):
        raise ConfigError(f"{model} is a {type(found).__name__}, not a function of (question, first, second)")
    return found


def code_digest(model: str) -> str:
    """What identifies the code of the file that a judge's model names; empty if there is no such file."""
    path = Path(model.partition(":")[0])
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else ""


async def answered(ask: Function, texts: Mapping[str, Any], params: Mapping[str, Any]) -> Reply:
    """The function's answer as a reply, from a thread of its own.

    Raises
    ------
    NoAnswer
        If there is none.
    """
    try:
        value = await asyncio.to_thread(ask, *(texts[name] for name in ("question", "first", "second")), **params)
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
