"""Words for who won, and what they mean."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.frames import MOST_STRENGTHS
from judgerank.data.listing import LONGEST, shortened
from judgerank.reading.contents import MEANINGS
from judgerank.reading.layouts.texts import plain

# How much better an answer is, as people and judges write it: words, signs and numbers.
KEPT = 1 << 12  # texts of which what they say is kept
SLIGHTLY, BETTER, MUCH, VERY_MUCH = range(4)
WORDS = {
    **dict.fromkeys(("slightly", "slight", "weak", "weakly", "marginally", "a little", "a bit"), SLIGHTLY),
    **dict.fromkeys(("", "somewhat", "moderately", "moderate"), BETTER),
    **dict.fromkeys(("much", "strongly", "strong", "significantly", "clearly", "a lot"), MUCH),
    **dict.fromkeys(("very much", "far", "overwhelmingly", "vastly"), VERY_MUCH),
}
ENDING = re.compile(r"(.*?)\s*\b(?:better|preferred)")
SIGN = re.compile(r"(a|b)(>+|<+)(a|b)")
NUMBER = re.compile(r"[+-]?\d+(?:\.0*)?")


@lru_cache(maxsize=KEPT)
def grade(text: str) -> float | str | None:
    """The strength in a normal text: a number, a grade's word as `WORDS` has it, or None."""
    if NUMBER.fullmatch(text):
        return abs(float(text))
    if re.fullmatch(r">+", text):
        return float(len(text))
    end = ENDING.fullmatch(text)
    plain = text if end is None else end[1]
    return plain if plain in WORDS and (plain or end) else None


def degrees(texts: Iterable[str]) -> FloatArray:
    """Strengths of normal texts from one up, NaN where there is none, shape (T,).

    *Slightly better* is one and *better* two where both are there; else both are one, and *much better* is two.
    """
    grades = [grade(text) for text in texts]
    both = {SLIGHTLY, BETTER} <= {WORDS[value] for value in grades if isinstance(value, str)}
    strengths = [_degree(value, both) for value in grades]
    return np.array(strengths, float)


def _degree(value: float | str | None, both: bool) -> float:
    if isinstance(value, str):
        return float(max(WORDS[value], BETTER) + (both and WORDS[value] > SLIGHTLY))
    return np.nan if value is None or not 1 <= value <= MOST_STRENGTHS else value


@lru_cache(maxsize=KEPT)
def of_verdict(text: str) -> str | None:
    """The part of a winner's normal text that says how much better it is; None if nothing does.

    Such as ``>>`` of ``a>>b``, ``slightly better`` of ``a is slightly better``, and ``3`` of ``-3``.
    """
    signs = SIGN.fullmatch(text)
    if signs is not None:
        return signs[2].replace("<", ">") if signs[1] != signs[3] else None
    phrase = PHRASE.fullmatch(text)
    if phrase is not None:
        return f"{phrase[2] or ''} better".strip()
    return text.lstrip("+-") if NUMBER.fullmatch(text) else None


def side_of_phrase(text: str) -> str | None:
    """The letter of a winner in a phrase such as ``response 1 is much better``."""
    phrase = PHRASE.fullmatch(text)
    return None if phrase is None else {"a": "a", "1": "a", "b": "b", "2": "b"}[phrase[1]]


def side_of_signs(text: str) -> str | None:
    """The letter of the winner of a verdict such as ``a>>>b``."""
    signs = SIGN.fullmatch(text)
    if signs is None or signs[1] == signs[3]:
        return None
    return signs[1] if signs[2][0] == ">" else signs[3]


def are_signed(values: Collection[float]) -> bool:
    """Whether numbers are strengths with a sign for either model: whole, some below zero, not all within one."""
    are_integers = all(float(value).is_integer() and abs(value) <= MOST_STRENGTHS for value in values)
    return are_integers and min(values, default=0.0) < 0 and max(map(abs, values), default=0.0) > 1


_KINDS = r"(?:(?:model|assistant|response|answer|output|candidate|option|system) ?)?"
_GRADES = "|".join(sorted(filter(None, WORDS), key=len, reverse=True))
PHRASE = re.compile(rf"{_KINDS}(a|b|1|2)(?: is)? (?:({_GRADES}) )?better(?: than {_KINDS}(?:a|b|1|2))?")


ANSWERS = {"a": "a", "b": "b", "c": "c", "model_a": "a", "model_b": "b", "tie": "c"}
ANSWERS |= {"tie (bothbad)": "c", "both_bad": "c", "unknown": "unknown"}  # the arena's words for two bad answers
SIDES = {"a": "a", "1": "a", "b": "b", "2": "b"}
KINDS = ("model", "assistant", "response", "answer", "output", "candidate", "option", "system")
TIES = ("tie", "ties", "tied", "draw", "equal", "both bad", "bothbad", "both good", "bothgood")
EVERYDAY = {  # words as `normal` writes them
    **{f"{kind}{gap}{side}": letter for kind in KINDS for gap in ("", " ") for side, letter in SIDES.items()},
    **{"a": "a", "first": "a", "left": "a", "b": "b", "second": "b", "right": "b", "c": "c", "unknown": "unknown"},
    **{"a=b": "c", "b=a": "c"},  # other signs: `grades`
    **{tie: "c" for word in TIES for tie in (word, f"tie ({word})")},
    **{"tie (inconsistent)": "c", "ignore": "unknown"},  # MT-Bench's, where two orders differ, and Evalica's
}
SHARES = {1.0: "a", 0.0: "b", 0.5: "c"}  # what the model shown first won
NAMES = {"c": "tie"}  # of letters, in a sentence
EXACT = 2**53  # whole numbers below it are themselves in double precision
SWAPPED = {"a": "b", "b": "a"}
PLACES = {1.0: "a", 2.0: "b"}
BOOLEANS = {"true", "false"}
OF_ONE = re.compile(  # names of columns that are one, or true, where the model they name won
    r"(?:model_)?(a|b|first|second|left|right)_(?:wins?|won|is_better|better|preferred|is_winner)"
    r"|(?:winner|wins?|won|prefers?|preferred|score|prob|p)_(?:is_)?(?:model_)?(a|b|first|second|left|right)"
)
OF_A_WINNER = re.compile(rf"(?!(?:score|prob|p)_)(?:{OF_ONE.pattern})")  # those that can be nothing else
FIRST = {"a", "first", "left"}
VERDICT = re.compile(r"\[\[ *(A|B|C) *\]\]")  # as LLM judges write it at the end of a reply
AFTER_VERDICT = re.compile(r"[\s.*`\"']*")  # what may stand behind it
OTHER = "other"  # of --winner-values, to take all other words for no answer
FEW_WORDS = 3  # in a sentence on unknown ones
OF_HELPSTEER = ("response1", "response2", "overall_preference")  # below zero the first response won


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
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


@lru_cache(maxsize=1 << 12)
def normal(text: str) -> str:
    """A word without what people write in different ways: case, blanks, underscores, [[brackets]] of a verdict."""
    text = " ".join(text.replace("_", " ").casefold().split())
    inner = text[2:-2].strip() if text.startswith("[[") and text.endswith("]]") else text
    return re.sub(r" ?([<>=]+) ?", r"\1", inner)


def everyday(cells: Iterable[object], models: Iterable[object]) -> dict[str, str]:
    """Letters of everyday words for a winner, in the order of the records; a word that names a model is none."""
    names = set(map(normal, {model for model in models if isinstance(model, str)}))
    texts = dict.fromkeys(text for value in cells if (text := word(value)) is not None and text not in ANSWERS)
    letters = {text: letter_of(normal(text)) or verdict_of(text) for text in texts if normal(text) not in names}
    return {text: letter for text, letter in letters.items() if letter is not None}


def verdict_of(reply: str) -> str | None:
    """The letter of a whole reply that ends with a verdict such as [[A]], if it has no other verdict."""
    matches = list(VERDICT.finditer(reply))
    if (
        not matches
        or len({match[1] for match in matches}) > 1
        or not AFTER_VERDICT.fullmatch(reply, matches[-1].end())
    ):
        return None
    return matches[-1][1].lower() if matches[-1].start() else None


def others_unknown(
    spoken: Iterable[str | None], letters: Mapping[str, str], names: Collection[object]
) -> dict[str, str]:
    """All other words than known ones, numbers and names as no answer, if that is told (`OTHER`)."""
    if letters.get(OTHER) != "unknown":
        return {}
    texts = {text for text in spoken if text is not None and text.strip()} - letters.keys()
    return {text: "unknown" for text in texts if text not in names and not _is_number(text)}


def letter_of(text: str) -> str | None:
    """The letter of a winner's text as `normal` writes it; None for other words."""
    return EVERYDAY.get(text) or side_of_signs(text) or side_of_phrase(text)


def readings(cells: Iterable[object], words: Mapping[str, str]) -> str:
    """How everyday words in a column of winners were read; empty if there are none."""
    return readings_of(Counter(text for value in cells if (text := word(value)) is not None), words)


def readings_of(times: Counter[str], words: Mapping[str, str]) -> str:
    """How everyday words were read, by how many records have each of them."""
    grouped = Counter[str]()
    for text, n in times.items():
        if text in words:
            grouped[f"...[[{words[text].upper()}]]" if verdict_of(text) else text] += n
    words = {**words, **{f"...[[{letter.upper()}]]": letter for letter in "abc"}}
    counts = grouped.most_common()
    parts = [f"{text!r} as {NAMES.get(words[text], words[text])} ({n})" for text, n in counts]
    return f"Winners read: {', '.join(parts)}; --winner-values WORD=VALUE changes it." if parts else ""


def meanings(values: Mapping[str, str] | None) -> dict[str, str]:
    """Words of one's own, and the answers they are.

    Raises
    ------
    ConfigError
        If one is to mean anything but a, b, tie or unknown.
    """
    letters = {}
    for key, value in (values or {}).items():
        if value not in MEANINGS:
            raise ConfigError(
                f"--winner-values {key}={value}: {value!r} is not an answer (known: a, b, tie, unknown)"
            )
        letters[str(word(key))] = MEANINGS[value]
    return letters


def answers(
    cells: Iterable[object],
    first: Sequence[object],
    second: Sequence[object],
    words: Mapping[str, str],
    column: str = "winner",
) -> list[str | None]:
    """The letter of every answer: by its word, by the name of the model that won, or as a share throughout.

    Parameters
    ----------
    cells : iterable
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
    cells = list(cells)
    spoken = [value if type(value) is str else word(value) for value in cells]
    meaning: Mapping[str, str] = {**numbers(set(spoken), words), **words}
    names = {model for model in (*first, *second) if isinstance(model, str)}
    meaning = {**others_unknown(set(spoken), meaning, names), **meaning}
    letters: list[str | None] = []
    for row, (text, a, b) in enumerate(zip(spoken, first, second, strict=True)):
        text = text if text is None or text in meaning or text.strip() else None
        letter = None if text is None else meaning.get(text)
        if text is not None and text in (a, b):
            named_letter = "a" if text == a else "b"
            if letter not in (None, named_letter):
                position = "first" if named_letter == "a" else "second"
                raise DataError(
                    f"record {row + 1} has the {column} {text!r}, the name of the model shown {position} and "
                    "the word for another answer: rename the models"
                )
            letter = named_letter
        if text is not None and letter is None:
            raise DataError(
                f"record {row + 1} has the unknown {column} {_short(cells[row])!r} (known: "
                f"{', '.join(_in_order(_usual(words)))} or null, a model's name, or 1, 0 and 0.5 throughout). "
                f"{_remedy(cells[row], spoken, {*meaning, *names})}"
            )
        letters.append(letter)
    return letters


def _short(value: object) -> object:
    return shortened(value) if isinstance(value, str) else value


def _usual(words: Iterable[str]) -> list[str]:
    """Words without whole replies and what stands for all others."""
    return [text for text in words if text != OTHER and verdict_of(text) is None]


def _remedy(value: object, spoken: Iterable[str | None], known_words: Collection[object]) -> str:
    """Advice on an unknown answer: scales and probabilities have layouts of their own."""
    spoken = list(spoken)
    texts = {text for text in spoken if text is not None and text.strip()}
    parsed = {parsed_number for text in texts if (parsed_number := number(text)) is not None}
    if len(parsed) == len(texts) > len(SHARES):
        if all(0 <= share <= 1 for share in parsed):
            return (
                "If these are probabilities that the first model is better, call the columns item_a, item_b, "
                "judge and p_a, as evaluatorq does"
            )
        return (
            "If this is a scale, subtract its middle to get grades such as -3 to 3, and say who wins below zero: "
            "--winner-values -1=a --winner-values 1=b"
        )
    if not isinstance(value, str | int | float | np.number):
        return "A winner is one word or number: name another column (--column winner=NAME)"
    unknown = list(dict.fromkeys(text for text in spoken if text and text.strip() and text not in known_words))
    rest = "" if number(value) is not None else "--winner-values other=unknown takes all other words for no answer"
    if len(str(value)) > LONGEST:
        return (
            "If these are whole replies, let each end with its verdict, such as [[A]], [[B]] or [[C]] for a tie, "
            f"or name a column of winners (--column winner=NAME). {rest}"
        )
    options = " ".join(f"--winner-values {shlex.quote(f'{text}=VALUE')}" for text in unknown[:FEW_WORDS])
    more = f" (and {len(unknown) - FEW_WORDS:,} more words)" if len(unknown) > FEW_WORDS else ""
    means = "it means" if len(unknown) == 1 else "each means"
    return f"Say what {means}: {options}{more}, VALUE being a, b, tie or unknown. {rest}".rstrip()


def _in_order(words: Iterable[str]) -> list[str]:
    """The usual words first, as they are; those of one file last, by the alphabet."""
    return sorted(words, key=lambda text: (text != text.lower(), "" if text == text.lower() else text))


def numbers(spoken: Collection[str | None], words: Mapping[str, str]) -> dict[str, str]:
    """Letters of numbers, if all that is said are numbers and known words.

    They are places where they are one and two, and shares of the model shown first where a tie is one half; beside
    words a share could mean anything. Where one is below zero, their signs are either model's and their sizes are
    strengths; the words say whose, by any number with a sign.

    Raises
    ------
    DataError
        If they are zero and one only, or true and false, or have signs: either could be the first model's, unless
        it is told.
    """
    texts = {text for text in spoken if text is not None and text.strip()}
    if words.get(OTHER) == "unknown":
        if any(words.get(text) in SWAPPED and not _is_number(text) for text in texts):
            return {}  # winners are words: a number among them is to be spoken of by itself
        texts = {text for text in texts if text in words or _is_number(text)}
    open_ = texts - words.keys()
    if not open_ or not all(_is_number(text) for text in open_):
        return {}
    parsed = {text: number(text) for text in open_}
    values = set(parsed.values())
    if _have_signs({parsed_number for text in texts if (parsed_number := number(text)) is not None}):
        above = _side_above_zero(words)
        return {text: _by_sign(value, above) for text, value in parsed.items() if value is not None}
    alone = all(_is_number(text) for text in texts)
    if alone and any(number(text) not in (*SHARES, None) for text in texts - open_):  # told, and no share
        return {}
    two = "true and false" if open_ <= BOOLEANS else "0 and 1" if values <= {0.0, 1.0} else ""
    if two and alone:
        no, yes = ("false", "true") if "t" in two else ("0", "1")
        raise DataError(
            f"the winner is one of {two} in every record, which does not say which model that is (--winner-values "
            f"{yes}=a {no}=b if {yes} means that model_a won; --winner-values {no}=a {yes}=b if it means model_b)"
        )
    meant = PLACES if values <= PLACES.keys() and 2.0 in values else SHARES if alone else {}
    return {text: meant[value] for text, value in parsed.items() if value in meant}


def _have_signs(values: Collection[float]) -> bool:
    return (-1.0 in values and {*values} <= {-1.0, 0.0, 1.0}) or are_signed(values)


def _side_above_zero(words: Mapping[str, str]) -> str:
    """Whose a number above zero is, by those of the words that have a sign.

    Raises
    ------
    DataError
        If none has, or they say both.
    """
    signed = [(number(text) or 0.0, letter) for text, letter in words.items() if letter in SWAPPED]
    sides = {letter if value > 0 else SWAPPED[letter] for value, letter in signed if value}
    if len(sides) != 1:
        raise DataError(
            "the winner is a number above or below zero, which does not say which model that is (--winner-values "
            "-1=a --winner-values 1=b if below zero means that model_a won; --winner-values -1=b --winner-values "
            "1=a if it means model_b)"
        )
    return sides.pop()


def _by_sign(value: float, above: str) -> str:
    return "c" if value == 0 else above if value > 0 else SWAPPED[above]


def _is_number(text: str) -> bool:
    return text in BOOLEANS or number(text) is not None


def words_by_column(name: str, cells: Iterable[object], columns: Collection[object]) -> dict[str, str]:
    """Letters of one and zero, and of true and false, where a column's name says which model they are about.

    Parameters
    ----------
    name : str
    cells : iterable
        What is in the column. Where some is below zero, zero is a tie.
    columns : collection
        Names of all columns: those of HelpSteer3 say what its preferences mean.
    """
    if name == OF_HELPSTEER[2] and {*OF_HELPSTEER} <= {*columns}:
        return {"-1": "a", "1": "b"}
    match = OF_ONE.fullmatch(plain(name))
    if match is None:
        return {}
    yes = "a" if (match[1] or match[2]) in FIRST else "b"
    if any(parsed < 0 for value in cells if (parsed := number(value)) is not None):
        return {"1": yes, "-1": SWAPPED[yes]}
    return dict.fromkeys(("1", "true"), yes) | dict.fromkeys(("0", "false"), SWAPPED[yes])


def winner_by_name(names: Iterable[object]) -> str | None:
    """The one column, such as ``a_wins``, whose name says which model won where it is one or true, if any."""
    matches = [name for name in names if isinstance(name, str) and OF_A_WINNER.fullmatch(plain(name))]
    return matches[0] if len(matches) == 1 else None


def with_custom(usual: Mapping[str, str], custom: Mapping[str, str]) -> dict[str, str]:
    """Usual words and one's own, which come first: one number with a sign says what all of them mean."""
    has_sign = "-1" in usual and any(map(number, custom))
    return {**{text: letter for text, letter in usual.items() if not (has_sign and text in ("1", "-1"))}, **custom}


def numbers_told(cells: Iterable[object], words: Mapping[str, str]) -> list[str]:
    """How answers that are numbers, or true and false, were read, if they are."""
    spoken = {text for value in cells if (text := word(value)) is not None}
    letters = {**numbers(spoken, words), **words}
    if not spoken or not all(map(_is_number, spoken)):
        return []
    names = {"a": "model_a", "b": "model_b", "c": "a tie"}
    parts = [f"{text} is {names.get(letters[text], letters[text])}" for text in sorted(spoken) if text in letters]
    return [f"The winner is in numbers: {', '.join(parts)} (--winner-values says otherwise)."] if parts else []
