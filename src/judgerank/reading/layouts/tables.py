"""Tables with a pair of models in each row.

The paper's: ``data/*.json`` in its repository. The arena's: the set lmsys/chatbot_arena_conversations on the hub.
One-hot winners: https://www.kaggle.com/competitions/lmsys-chatbot-arena. Left and right: ``*-comparisons.csv`` in
https://github.com/dustalov/llmfao, and https://github.com/dustalov/evalica. Preferences from -3 (response 1 is far
better) to 3: the set nvidia/HelpSteer3 on the hub, which names no models. Wide ones are nobody's format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.frames import UNPARSED
from judgerank.data.listing import listed, shortened
from judgerank.data.strengths import STRENGTH
from judgerank.reading.accepted import COLUMNS
from judgerank.reading.layouts import strength
from judgerank.reading.layouts.judged_texts import texts_in
from judgerank.reading.layouts.table import (
    COUNTS,
    Known,
    Layout,
    Table,
    by_answer,
    found,
    known_as,
    records,
    require_models,
    values,
)
from judgerank.reading.layouts.texts import plain
from judgerank.reading.layouts.words import (
    ANSWERS,
    OF_HELPSTEER,
    answers,
    everyday,
    number,
    others_unknown,
    readings,
    with_own,
    word,
    words_by_column,
)

PAIR = ("model_a", "model_b")
NEEDED = (*PAIR, "winner")
OURS = known_as()
WINNERS = COLUMNS["winner"][1]
SIDES = known_as(model_a=("left",), model_b=("right",), winner=("winner",), question=("question_id", "prompt"))
SIDES["judge"] = ("judge", "worker")
ONE_HOT = {"winner_model_a": "a", "winner_model_b": "b", "winner_tie": "c"}
OF_JUDGEARENA = ("pref", "source", "judge_model", "question_id")  # what its battles have beside the arena's
HELPSTEER = known_as(winner=OF_HELPSTEER[2:], question=(*COLUMNS["question"][1], "context"))
WIDE_WITHOUT = ("winner", "judge", "reply", "human")  # a record has those of several judges
OF_REPLIES = re.compile(r"(?:\w+_)?(?:judge?ment|output)")  # columns of what a judge wrote, not named after one
MOST_WORDS = 100  # different ones of a judge, but for names of models
FEWEST_JUDGES = 2  # one column of answers could be anything: it is told as the winner's


def _flat(table: Table, known: Known = OURS) -> pd.DataFrame:
    frame = records(table, known, NEEDED)
    said = frame["judge_preferred_model"]
    frame = strength.kept(frame, said)
    frame["judge_preferred_model"] = _letters(table, frame, said, known)
    if not table.said.get("winner"):
        _refuse_contradictions(table, frame)
    return frame


def _letters(table: Table, frame: pd.DataFrame, said: pd.Series, known: Known = OURS) -> list[str | None]:
    first, second = frame["model_a"].tolist(), frame["model_b"].tolist()
    return answers(said, first, second, everyday(said, [*first, *second]) | words_of(table, known))


def words_of(table: Table, known: Known = OURS) -> dict[str, str]:
    """Letters of all usual words for the winner, among them those that the name of its column explains."""
    name, by_column = found(table, known, ()).get("winner"), dict[str, str]()
    if name is not None:
        said = values(table.frame, name)
        by_column = words_by_column(table.spelled.get(name, name), said, table.frame.columns)
    return with_own(ANSWERS | by_column, table.words)


def _refuse_contradictions(table: Table, frame: pd.DataFrame) -> None:
    """Refuse a table with two columns of winners that are not the same throughout."""
    there = [name for name in WINNERS if name in table.frame.columns]
    for name in there[1:]:
        both = frame["judge_preferred_model"], pd.Series(_letters(table, frame, values(table.frame, name)))
        one, other = (letters.where(letters.notna(), UNPARSED) for letters in both)
        odd = (one != other).to_numpy()
        if odd.any():
            raise DataError(
                f"record {int(odd.argmax()) + 1} has one winner as {there[0]!r} and another as {name!r} "
                "(--column winner=NAME chooses one)"
            )


def _readings(table: Table, known: Known = OURS, usual: tuple[str, ...] = ()) -> Iterator[str]:
    """How winners were read that are said in everyday words."""
    columns = found(table, known, ())
    if {*NEEDED} <= columns.keys():
        said = values(table.frame, columns["winner"])
        models = [model for key in PAIR for model in values(table.frame, columns[key])]
        words = {
            text: letter for text, letter in everyday(said, models).items() if text not in (*table.words, *usual)
        }
        yield from filter(None, [readings(said.tolist(), words), _on_others(said, table, known, words, models)])


def _on_others(
    said: pd.Series, table: Table, known: Known, words: Mapping[str, str], models: Iterable[object]
) -> str:
    """How many answers were taken for unknown because that was said of all other words."""
    spoken = [text for value in said if (text := word(value)) is not None]
    others = others_unknown(
        spoken, {**words_of(table, known), **words}, {name for name in models if isinstance(name, str)}
    )
    many = sum(text in others for text in spoken)
    if not many:
        return ""
    return f"{many:,} answers in other words were taken for unknown, such as {shortened(min(others))!r}."


def _used(table: Table, known: Known = OURS, needed: tuple[str, ...] = NEEDED) -> dict[str, list[str]]:
    return {key: [name] for key, name in found(table, known, needed).items()}


def _sides(table: Table) -> pd.DataFrame:
    frame = records(table, SIDES, NEEDED)
    frame = strength.kept(frame, frame["judge_preferred_model"])
    first, second = frame["model_a"].tolist(), frame["model_b"].tolist()
    spoken = everyday(frame["judge_preferred_model"], [*first, *second])
    words = {**spoken, "left": "a", "right": "b", "tie": "c", **table.words}
    frame["judge_preferred_model"] = answers(frame["judge_preferred_model"], first, second, words)
    require_models(frame, ("left", "right"))
    return frame


def _one_hot(table: Table) -> pd.DataFrame:
    frame = records(table, _without_winner(), PAIR)
    hot = {letter: values(table.frame, name).tolist() for name, letter in ONE_HOT.items()}
    letters: list[str | None] = []
    for row, cells in enumerate(zip(*hot.values(), strict=True)):
        if all(cell is None for cell in cells):
            letters.append(None)
            continue
        numbers = [float(cell) if isinstance(cell, bool) else number(cell) for cell in cells]
        if sorted(numbers, key=str) != [0.0, 0.0, 1.0]:
            told = ", ".join(f"{name}={cell!r}" for name, cell in zip(ONE_HOT, cells, strict=True))
            raise DataError(f"record {row + 1} has {told}: one of them must be 1, and the others 0")
        letters.append(list(hot)[numbers.index(1.0)])
    frame["judge_preferred_model"] = letters
    return frame


def _without_winner() -> dict[str, tuple[str, ...]]:
    return {key: names for key, names in OURS.items() if key != "winner"}


def _wide(table: Table) -> pd.DataFrame:
    frame = records(table, _pair_and_question(), PAIR)
    require_models(frame)
    if "question_id" not in frame:
        frame["question_id"] = [f"row {number}" for number in range(1, len(frame) + 1)]
    first, second = frame["model_a"].tolist(), frame["model_b"].tolist()
    words = ANSWERS | _everyday_in(table) | dict(table.words)
    parts = []
    for name in _judges(table):
        said = values(table.frame, name)
        letters = answers(said, first, second, words, f"answer of {name!r}")
        part = frame.assign(judge_model=name, judge_preferred_model=pd.Series(letters, dtype=object))
        parts.append(strength.kept(part, said))
    whole = pd.concat(parts, ignore_index=True)
    if STRENGTH in whole and STRENGTH not in frame:  # in the words of some judges
        whole[STRENGTH] = whole[STRENGTH].fillna(1.0)
    return whole


def _pair_and_question() -> dict[str, tuple[str, ...]]:
    return {key: names for key, names in OURS.items() if key not in WIDE_WITHOUT}


def _judges(table: Table) -> list[str]:
    """Columns with a word for either model in them, or with words for answers only, everyday ones among these."""
    words, models = ANSWERS | dict(table.words), _models_in(table)
    wins = {text for text, letter in words.items() if letter in ("a", "b")} | models
    return [
        name
        for name, said in _said_in_columns(table).items()
        if said & wins or (len(said) <= MOST_WORDS and said <= words.keys() | everyday(said, models).keys())
    ]


def _models_in(table: Table) -> set[str]:
    return {value for name in PAIR for value in values(table.frame, name) if isinstance(value, str)}


def _said_in_columns(table: Table) -> dict[str, set[str]]:
    """The different words in every column that could be a judge's."""
    own = {name for names in _pair_and_question().values() for name in names} | {*table.said.values()}
    found = {}
    for name in table.frame.columns:
        is_free = isinstance(name, str) and name not in own and plain(name) not in COUNTS
        if is_free and not OF_REPLIES.fullmatch(plain(name)):
            texts = (word(value) for value in values(table.frame, name))
            found[name] = {text for text in texts if text is not None and text.strip()}
    return {name: said for name, said in found.items() if said}


def _everyday_in(table: Table) -> dict[str, str]:
    """Letters of everyday words in the columns of judges."""
    said = _said_in_columns(table)
    return everyday({text for name in _judges(table) for text in said[name]}, _models_in(table))


def _on_wide(table: Table) -> Iterator[str]:
    """How everyday words were read, and columns that are no judge's and are not read otherwise."""
    spoken = [value for name in _judges(table) for value in values(table.frame, name)]
    words = {text: letter for text, letter in _everyday_in(table).items() if text not in table.words}
    yield from filter(None, [readings(spoken, words)])
    used = {name for names in _used_wide(table).values() for name in names}
    used |= {*texts_in(table.frame, used).values(), *by_answer(table.frame)}
    unread = [str(table.spelled.get(name, name)) for name in table.frame.columns if name not in used]
    if unread:
        yield (
            f"Columns that are not read: {listed(unread)}. If one is a judge's, say what its words mean "
            "(--winner-values WORD=VALUE)."
        )


def _is_wide(columns: frozenset[str], sample: Table) -> bool:
    others = {*WINNERS, *COLUMNS["judge"][1], *ONE_HOT}
    return not columns & others and not sample.said.get("judge") and len(_judges(sample)) >= FEWEST_JUDGES


def _used_wide(table: Table) -> dict[str, list[str]]:
    return _used(table, _pair_and_question(), PAIR) | {"judges": _judges(table)}


PAPER = Layout("the paper's columns", (*PAIR, WINNERS[0]), _flat, _used, notes=_readings)
ARENA = Layout(
    "the arena's columns (LMArena)",
    (*PAIR, WINNERS[1]),
    _flat,
    _used,
    also=lambda columns, sample: WINNERS[0] not in columns and not columns.issuperset(OF_JUDGEARENA),
    notes=_readings,
)
NAMED = Layout("the columns that are named", (), _flat, _used, notes=_readings)
LLMFAO = Layout(
    "LLMFAO's and Evalica's columns (left, right, winner)",
    ("left", "right", "winner"),
    _sides,
    lambda table: _used(table, SIDES),
    notes=lambda table: _readings(table, SIDES, ("left", "right", "tie")),
    known=SIDES,
)
ONE_HOT_WINNER = Layout(
    "the winner as one of three columns (LMSYS on Kaggle)",
    (*PAIR, *ONE_HOT),
    _one_hot,
    lambda table: _used(table, _without_winner(), PAIR) | {"winner": list(ONE_HOT)},
    known=_without_winner(),
)
HELPSTEER3 = Layout(
    "HelpSteer3's preferences, with names of models",
    (*PAIR, *OF_HELPSTEER),
    lambda table: _flat(table, HELPSTEER),
    lambda table: _used(table, HELPSTEER),
    also=lambda columns, sample: columns.isdisjoint(WINNERS),
    remark="Below zero the first response won, and the size is how much better it is; without other ids, a "
    "context is a question.",
    known=HELPSTEER,
)
WIDE = Layout(
    "a wide table, one column a judge",
    PAIR,
    _wide,
    _used_wide,
    also=_is_wide,
    remark="Each column of answers is a judge; without a column of questions, a row is one.",
    notes=_on_wide,
    known=_pair_and_question(),
)
LAYOUTS = (PAPER, ARENA, LLMFAO, ONE_HOT_WINNER, HELPSTEER3, WIDE)
