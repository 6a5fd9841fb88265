"""Tables with a pair of models in each row.

The paper's: ``data/*.json`` in its repository. The arena's: the set lmsys/chatbot_arena_conversations on the hub.
One-hot winners: https://www.kaggle.com/competitions/lmsys-chatbot-arena. Left and right: ``*-comparisons.csv`` in
https://github.com/dustalov/llmfao, and https://github.com/dustalov/evalica. Preferences from -3 (response 1 is far
better) to 3: the set nvidia/HelpSteer3 on the hub, which names no models. Wide ones are nobody's format.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.frames import STRENGTH, UNHEARD, UNPARSED
from judgerank.data.listing import listed, noun, shortened
from judgerank.reading.contents import COLUMNS
from judgerank.reading.layouts import strength
from judgerank.reading.layouts.guards import still_counted
from judgerank.reading.layouts.table import (
    COUNTS,
    Aliases,
    Layout,
    Table,
    aliases_with,
    by_answer,
    columns_by_key,
    records,
    require_models,
    values,
    zero_based,
)
from judgerank.reading.layouts.texts import plain, texts_in, visible
from judgerank.reading.layouts.words import (
    ANSWERS,
    OF_HELPSTEER,
    OTHER,
    answers,
    everyday,
    number,
    numbers_told,
    others_unknown,
    readings,
    with_custom,
    word,
    words_by_column,
)

PAIR = ("model_a", "model_b")
NEEDED = (*PAIR, "winner")
OURS = aliases_with()
WINNERS = COLUMNS["winner"][1]
SIDES = aliases_with(model_a=("left",), model_b=("right",), winner=("winner",), question=("question_id", "prompt"))
SIDES["judge"] = ("judge", "worker")
ONE_HOT = {"winner_model_a": "a", "winner_model_b": "b", "winner_tie": "c"}
OF_JUDGEARENA = ("pref", "source", "judge_model", "question_id")  # what its battles have beside the arena's
HELPSTEER = aliases_with(winner=OF_HELPSTEER[2:], question=(*COLUMNS["question"][1], "context"))
WIDE_WITHOUT = ("winner", "judge", "judges", "reply", "human")  # a record has those of several judges
OF_REPLIES = re.compile(r"(?:\w+_)?(?:judge?ment|output)")  # columns of what a judge wrote, not named after one
MOST_WORDS = 100  # different ones of a judge, but for names of models
FEWEST_JUDGES = 2  # one column of answers could be anything: it is told as the winner's


def _flat(table: Table, aliases: Aliases = OURS) -> pd.DataFrame:
    frame = records(table, aliases, NEEDED)
    winners = frame["judge_preferred_model"]
    frame = strength.with_strength(frame, winners)
    frame["judge_preferred_model"] = _letters(table, frame, winners, aliases)
    if not table.specified.get("winner"):
        _refuse_contradictions(table, frame)
    return frame


def _letters(table: Table, frame: pd.DataFrame, winners: pd.Series, aliases: Aliases = OURS) -> list[str | None]:
    first, second = frame["model_a"].tolist(), frame["model_b"].tolist()
    return answers(winners, first, second, everyday(winners, [*first, *second]) | words_of(table, aliases))


def words_of(table: Table, aliases: Aliases = OURS) -> dict[str, str]:
    """Letters of all usual words for the winner, among them those that the name of its column explains."""
    columns = columns_by_key(table, aliases, ())
    name, by_column = columns.get("winner"), dict[str, str]()
    if name is not None:
        winners = values(table.frame, name)
        by_column = words_by_column(table.spelled.get(name, name), winners, table.frame.columns)
    return with_custom(ANSWERS | by_column | zero_based(columns), table.words)


def _refuse_contradictions(table: Table, frame: pd.DataFrame) -> None:
    """Refuse a table with two columns of winners that are not the same throughout."""
    present = [name for name in WINNERS if name in table.frame.columns]
    for name in present[1:]:
        both = frame["judge_preferred_model"], pd.Series(_letters(table, frame, values(table.frame, name)))
        first, second = (letters.where(letters.notna(), UNPARSED) for letters in both)
        odd = (first != second).to_numpy()
        if odd.any():
            raise DataError(
                f"record {int(odd.argmax()) + 1} has one winner as {present[0]!r} and another as {name!r} "
                "(--column winner=NAME chooses one)"
            )


def _readings(table: Table, aliases: Aliases = OURS, usual: tuple[str, ...] = ()) -> Iterator[str]:
    """How winners were read that are said in everyday words."""
    columns = columns_by_key(table, aliases, ())
    if {*NEEDED} <= columns.keys():
        winners = values(table.frame, columns["winner"])
        models = [model for key in PAIR for model in values(table.frame, columns[key])]
        words = {
            text: letter
            for text, letter in everyday(winners, models).items()
            if text not in (*table.words, *usual)
        }
        yield from filter(
            None, [readings(winners.tolist(), words), _on_others(winners, table, aliases, words, models)]
        )


def _on_others(
    winners: pd.Series, table: Table, aliases: Aliases, words: Mapping[str, str], models: Iterable[object]
) -> str:
    """How many answers were taken for unknown because that was said of all other words."""
    spoken = [text for value in winners if (text := word(value)) is not None]
    unknown = others_unknown(
        spoken, {**words_of(table, aliases), **words}, {name for name in models if isinstance(name, str)}
    )
    n_unknown = sum(text in unknown for text in spoken)
    if not n_unknown:
        return ""
    return f"{n_unknown:,} answers in other words were taken for unknown, such as {shortened(min(unknown))!r}."


def _used(table: Table, aliases: Aliases = OURS, needed: tuple[str, ...] = NEEDED) -> dict[str, list[str]]:
    return {key: [name] for key, name in columns_by_key(table, aliases, needed).items()}


def _sides(table: Table) -> pd.DataFrame:
    frame = records(table, SIDES, NEEDED)
    frame = strength.with_strength(frame, frame["judge_preferred_model"])
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
            stated = ", ".join(f"{name}={cell!r}" for name, cell in zip(ONE_HOT, cells, strict=True))
            raise DataError(f"record {row + 1} has {stated}: one of them must be 1, and the others 0")
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
        replies = values(table.frame, name)
        letters = answers(replies, first, second, words, f"answer of {name!r}")
        part = frame.assign(judge_model=name, judge_preferred_model=pd.Series(letters, dtype=object))
        parts.append(strength.with_strength(part, replies))
    combined = pd.concat(parts, ignore_index=True)
    if STRENGTH in combined and STRENGTH not in frame:  # in the words of some judges
        combined[STRENGTH] = combined[STRENGTH].fillna(1.0)
    return combined


def _pair_and_question() -> dict[str, tuple[str, ...]]:
    return {key: names for key, names in OURS.items() if key not in WIDE_WITHOUT}


def _judges(table: Table) -> list[str]:
    """The columns that are named as judges'.

    Raises
    ------
    DataError
        If one is not there, or says nothing but what the others do.
    """
    by_sight = {visible(name): name for name in table.frame.columns if isinstance(name, str)}
    judges = []
    for name in filter(None, (table.specified.get("judges") or "").split(",")):
        if visible(name) not in by_sight:
            raise DataError(f"the table has no column {name!r} (it has: {listed(map(str, table.frame.columns))})")
        judges.append(by_sight[visible(name)])
    derived = _derived(table, judges)
    if derived:
        raise DataError(
            f"column {derived[0]!r} is not a judge: the other columns determine what it says in every record, "
            f"as of a majority (--column judges={','.join(name for name in judges if name not in derived)})"
        )
    return judges


def _derived(table: Table, names: Sequence[str]) -> list[str]:
    """The one column that is a function of two others or more, such as their majority; empty if there is none."""
    texts = {name: values(table.frame, name).map(str) for name in names}
    derived = []
    for name in names if len(names) > 2 and len(table.frame) >= FEWEST else ():
        others = pd.Series(
            list(zip(*(texts[other] for other in names if other != name), strict=True)), dtype=object
        )
        groups = texts[name].groupby(others)
        repeated = groups.transform("size") > 1
        is_one = groups.transform("first") == texts[name]
        if repeated.sum() >= FEWEST and len({*texts[name]}) > 1 and is_one.all():
            derived.append(name)
    return derived if len(derived) == 1 else []  # of several nobody knows which came first


def _candidates(table: Table) -> list[str]:
    """Columns with a word for either model in them, or with words for answers only, everyday ones among these."""
    words, models = ANSWERS | dict(table.words), _models_in(table)
    wins = {text for text, letter in words.items() if letter in ("a", "b")} | models
    return [
        name
        for name, texts in _texts_by_column(table).items()
        if texts.keys() & wins
        or (len(texts) <= MOST_WORDS and texts.keys() <= words.keys() | everyday(texts, models).keys())
    ]


def _models_in(table: Table) -> set[str]:
    return {value for name in PAIR for value in values(table.frame, name) if isinstance(value, str)}


def _texts_by_column(table: Table) -> dict[str, dict[str, None]]:
    """The different words in every column that could be a judge's, in the order of the records."""
    specified = {name for key, name in table.specified.items() if key != "judges"}
    excluded = {name for names in _pair_and_question().values() for name in names} | specified
    by_column = {}
    for name in table.frame.columns:
        is_free = isinstance(name, str) and name not in excluded and plain(name) not in COUNTS
        if is_free and not OF_REPLIES.fullmatch(plain(name)):
            texts = (word(value) for value in values(table.frame, name))
            by_column[name] = dict.fromkeys(text for text in texts if text is not None and text.strip())
    return {name: column_texts for name, column_texts in by_column.items() if column_texts}


def _everyday_in(table: Table) -> dict[str, str]:
    """Letters of everyday words in the columns of judges."""
    by_column = _texts_by_column(table)
    texts = (text for name in _judges(table) for text in by_column.get(name, ()))  # a silent judge has none
    return everyday(texts, _models_in(table))


def _on_wide(table: Table) -> Iterator[str]:
    """How everyday words were read, and columns that are no judge's and are not read otherwise."""
    spoken = [value for name in _judges(table) for value in values(table.frame, name)]
    words = {text: letter for text, letter in _everyday_in(table).items() if text not in table.words}
    yield from filter(None, [readings(spoken, words)])
    used = {name for names in _used_wide(table).values() for name in names}
    used |= {*texts_in(table.frame, used).values(), *by_answer(table.frame)}
    unread = [str(table.spelled.get(name, name)) for name in table.frame.columns if name not in used]
    if unread:
        yield (f"Columns that are not read: {listed(unread)}.")


def refuse_unasked_wide(table: Table) -> None:
    """Refuse a table in which several columns say who won and none is named: not each needs to be a judge's."""
    columns = {*map(str, table.frame.columns)}
    if columns & {*WINNERS, *ONE_HOT} or not columns >= {*PAIR} or table.specified.get("winner"):
        return
    found = _candidates(table)
    derived = _derived(table, found)
    judges = [name for name in found if name not in derived]
    if len(judges) >= FEWEST_JUDGES:
        option = shlex.join(["--column", f"judges={','.join(judges)}"])
        raise DataError(
            f"{len(judges)} columns say who won ({listed(judges)}): name those that are judges ({option}), and "
            "none that is a criterion, another game or a consensus; or name one (--column winner=NAME)"
        )


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
    aliases=SIDES,
)
ONE_HOT_WINNER = Layout(
    "the winner as one of three columns (LMSYS on Kaggle)",
    (*PAIR, *ONE_HOT),
    _one_hot,
    lambda table: _used(table, _without_winner(), PAIR) | {"winner": list(ONE_HOT)},
    aliases=_without_winner(),
)
HELPSTEER3 = Layout(
    "HelpSteer3's preferences, with names of models",
    (*PAIR, *OF_HELPSTEER),
    lambda table: _flat(table, HELPSTEER),
    lambda table: _used(table, HELPSTEER),
    also=lambda columns, sample: columns.isdisjoint(WINNERS),
    remark="Below zero the first response won, and the size is how much better it is; without other ids, a "
    "context is a question.",
    aliases=HELPSTEER,
)
WIDE = Layout(
    "a wide table, one column a judge",
    PAIR,
    _wide,
    _used_wide,
    also=lambda columns, sample: bool(sample.specified.get("judges")),
    remark="Each column of answers is a judge; without a column of questions, a row is one.",
    notes=_on_wide,
    aliases=_pair_and_question(),
)
LAYOUTS = (PAPER, ARENA, LLMFAO, ONE_HOT_WINNER, HELPSTEER3, WIDE)


# Notes on how records were read: other spellings of columns, numbers for winners, winners first.
Read = tuple[Layout, Table]
SEVERAL = ("[", "{", "(", "array(")  # how a value begins that holds several
FEWEST = 20  # decided records from which it is no chance that the winner is always in one column


def on_reading(read: Sequence[Read]) -> list[str]:
    """Columns read by other spellings of their names, numbers read as winners, and words that no record has."""
    remarks = (remark for layout, table in read for remark in _on_one(layout, table))
    return [*dict.fromkeys(remarks), *_on_unused_words(read)]


def _on_unused_words(read: Sequence[Read]) -> Iterator[str]:
    """Words for the winner whose meaning was told and that no record has, such as misspelt ones."""
    of_forms = {text for layout, _ in read if layout.recipe is not None for text in layout.recipe.get("words", ())}
    unused = {text for _, table in read for text in table.words} - {OTHER} - of_forms
    for layout, table in read if unused else ():
        used = layout.used(table)
        for name in {
            name for names in ([used["winner"]] if "winner" in used else used.values()) for name in names
        }:
            texts = {text for value in values(table.frame, name) if (text := word(value)) is not None}
            several = [text for text in texts if text.startswith(SEVERAL)]
            numbers = any(number(text) is not None for text in texts)  # where one says what all of them mean
            unused -= texts | {candidate for candidate in unused if any(candidate in text for text in several)}
            unused -= {candidate for candidate in unused if numbers and number(candidate) is not None}
    if unused:
        words = listed(map(repr, sorted(unused)))
        yield f"--winner-values: no record has {words} for a winner, so that changes nothing. Check the spelling."


def on_unheard(answers: Mapping[str, int]) -> list[str]:
    """A note on judges none of whose answers could be read, by how many answers each has."""
    judges = listed(f"{judge} ({count:,} {noun(count, 'answer')})" for judge, count in sorted(answers.items()))
    return [f"{UNHEARD}{judges}."] if answers else []


def _on_one(layout: Layout, table: Table) -> Iterator[str]:
    if table.spelled:
        renamed = ", ".join(f"{usual} from {name!r}" for usual, name in table.spelled.items())
        yield f"Columns read though their names are written in another way: {renamed}."
    winner = columns_by_key(table, layout.aliases, ()).get("winner")
    if winner is not None:
        yield from numbers_told(values(table.frame, winner), words_of(table, layout.aliases))
    yield from still_counted(table, {name for names in layout.used(table).values() for name in names})


def winner_written(frame: pd.DataFrame) -> list[str]:
    """That the winner always stands in one column, which then says nothing of what was shown first."""
    letters = frame["judge_preferred_model"]
    decided = letters[letters.isin(["a", "b", "c"])]
    if len(decided) < FEWEST or (decided != decided.iloc[0]).any() or decided.iloc[0] == "c" or "outcome" in frame:
        return []
    column, position = {"a": ("model_a", "first"), "b": ("model_b", "second")}[decided.iloc[0]]
    return [
        f"Winners seem to be written {position}: {column} won in all {len(decided):,} records that could be read, "
        "so the order carries no position and is not used. If answers were shown in this order, every judge "
        f"always chose the {position}, and nothing can be learned."
    ]
