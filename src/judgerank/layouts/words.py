"""Words for who won, and what they mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from judgerank.errors import ConfigError, DataError

ANSWERS = {"a": "a", "b": "b", "c": "c", "model_a": "a", "model_b": "b", "tie": "c"}
ANSWERS |= {"tie (bothbad)": "c", "both_bad": "c", "unknown": "unknown"}  # the arena's words for two bad answers
SHARES = {1.0: "a", 0.0: "b", 0.5: "c"}  # what the model shown first won
MEANINGS = {"a": "a", "b": "b", "tie": "c", "c": "c", "unknown": "unknown"}  # what a word may be said to mean
EXACT = 2**53  # whole numbers below it are themselves in double precision
SWAPPED = {"a": "b", "b": "a"}


def word(value: object) -> str | None:
    """A value as the word it would be in a text file; None for a missing one."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | np.floating):
        exact = float(value)
        return str(int(exact)) if exact.is_integer() and abs(exact) < EXACT else str(exact)
    return str(value) if isinstance(value, int | np.integer) else repr(value)


def number(value: object) -> float | None:
    """A value as a finite number, if it is one or the text of one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | np.number):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def meanings(values: Mapping[str, str] | None) -> dict[str, str]:
    """Words of one's own, and the answers they are.

    Raises
    ------
    ConfigError
        If one is to mean anything but a, b, tie or unknown.
    """
    found = {}
    for key, value in (values or {}).items():
        if value not in MEANINGS:
            raise ConfigError(f"winner value {key}={value}: {value!r} is no answer (known: a, b, tie, unknown)")
        found[str(word(key))] = MEANINGS[value]
    return found


def answers(
    said: Iterable[object],
    first: Sequence[object],
    second: Sequence[object],
    words: Mapping[str, str],
    column: str = "winner",
) -> list[str | None]:
    """The letter of every answer: by its word, by the name of the model that won, or as a share throughout.

    Parameters
    ----------
    said : iterable
        Values as they are; None is no answer.
    first, second : sequence
        The models that ``a`` and ``b`` stand for, by record.
    words : mapping of str to str
        Letter by word.
    column : str
        What the answers are called in a refusal.

    Raises
    ------
    DataError
        Naming the record that has an unknown answer, or one that is a word for one model and the other's name.
    """
    said = list(said)
    spoken = [value if type(value) is str else word(value) for value in said]
    known: Mapping[str, str] = {**shares(set(spoken)), **words}
    letters: list[str | None] = []
    for row, (text, a, b) in enumerate(zip(spoken, first, second, strict=True)):
        letter = None if text is None else known.get(text)
        if text is not None and text in (a, b):
            own = "a" if text == a else "b"
            if letter not in (None, own):
                place = "first" if own == "a" else "second"
                raise DataError(
                    f"record {row + 1} has the {column} {text!r}, the name of the model shown {place} and "
                    "the word for another answer: rename the models"
                )
            letter = own
        if text is not None and letter is None:
            raise DataError(
                f"record {row + 1} has the unknown {column} {said[row]!r} (known: {', '.join(words)} or null, a "
                "model's name, or 1, 0 and 0.5 throughout; winner value KEY=VALUE says what others mean)"
            )
        letters.append(letter)
    return letters


def shares(spoken: set[str | None]) -> dict[str, str]:
    """Letters of numbers, if all that is said are numbers: a number among words could mean anything."""
    found = {text: number(text) for text in spoken if text is not None}
    if None in found.values():
        return {}
    return {text: SHARES[value] for text, value in found.items() if value in SHARES}
