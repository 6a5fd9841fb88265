"""A table of records with the options it is read by, and a layout that tells how to read it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data import UNITS
from judgerank.data.arrays import BoolArray
from judgerank.data.errors import DataError
from judgerank.data.frames import codes, question_name
from judgerank.data.judgments import ITEM
from judgerank.data.listing import listed
from judgerank.reading.contents import COLUMNS
from judgerank.reading.layouts.texts import plain, texts_in
from judgerank.reading.layouts.words import KINDS, word

OF_SCORES = ("model", "score")  # keys of tables that have a row for each model
SIDES = ("_a", "_b")  # ends of names of columns that are about one answer each
TURN = "turn"  # of a conversation: its answers are others than those of another turn to the same question
EXACT = "exact"  # of the ways in which names are read: as they are written
ASK = "ask"  # of the column of counts: refuse one that is there and not spoken of
COUNTS = ("n", "count", "counts", "num", "times", "weight", "weights", "n_votes", "votes", "frequency", "freq")
ONE_JUDGE = "one judge"
SCORE_GAP = "score_gap"  # column: by how much model_a's score is above model_b's, as a share of the judge's scale
SCORE_SCALE = "score_scale"  # column: length of that scale, in the units of the file
PAIR = ("model_a", "model_b")
OF_NAMES = (*PAIR, "judge")  # keys of columns of names
WIDE = "if each judge has a column of answers, say what words but a, b and tie mean: --winner-values W=VALUE"
MISSING = frozenset(("None", "nan", "NaN", "NaT", "<NA>", "#N/A", "null", "NULL"))  # as programs write it
FEW_WITHOUT = 0.1  # share of records that may be left out since they have no question
Aliases = Mapping[str, tuple[str, ...]]  # ours: the names it is known by


@dataclass(frozen=True)
class Table:
    """Records as they are, and the options they are read by.

    Attributes
    ----------
    frame : DataFrame
    named : mapping of str to str
        Names of columns, by their keys in `COLUMNS`.
    words : mapping of str to str
        Letters of words for the winner.
    path : Path, optional
        The file they are from.
    label : str
        What that file is called in a sentence.
    baseline : str, optional
        The model that all others were compared with, where the records do not name it.
    names, copies : str
        What to do with names that differ in case alone, and with records that are copies of others
        (`judgerank.reading.layouts.names.NAMES`, `judgerank.reading.layouts.names.COPIES`).
    keep : tuple of str
        Further columns to keep as they are, such as those of a unit of sampling; `data.judgments.UNITS` are kept.
    spelled : mapping of str to str
        Columns as they are called in the file, by the names they are read as.
    is_complete : bool
        Whether these are all records of the file, so that what is so of all of them can be said of it.
    """

    frame: pd.DataFrame
    named: Mapping[str, str | None] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None
    label: str = ""
    baseline: str | None = None
    names: str = ASK
    copies: str = ASK
    spelled: Mapping[str, str] = field(default_factory=dict)
    is_complete: bool = True
    keep: tuple[str, ...] = ()

    @property
    def specified(self) -> dict[str, str | None]:
        """Names of columns that were given by their keys; to ask about counts names none."""
        return {key: name for key, name in self.named.items() if (key, name) != ("count", ASK)}


@dataclass(frozen=True)
class Layout:
    """One way in which judgments, or scores they can be made of, are written down.

    Attributes
    ----------
    name : str
    needs : tuple of str
        Columns without which it is another.
    to_frame : callable
        From a `Table` to records in the published columns, ``count`` and ``outcome`` (the share that the model
        shown first won, where that is a number) beside them; of scores, to `layouts.sample_scores.SCORES`.
    used : callable
        From a `Table` to the names of the columns that are read, by what they are read as.
    also : callable
        What else tells the layout, of the names of columns and the `Table`.
    remark : str
        What to know of how it is read.
    of_scores : bool
        Whether its records are scores of one model.
    ordered : bool
        Whether the first of two models is the one that was shown first.
    accepts : set of str, optional
        Keys of the columns that may be named; by default all of `COLUMNS`.
    notes : callable
        From a `Table` to what else to know of its records.
    lacks_baseline : callable
        Whether a `Table` leaves open which model all others were compared with.
    aliases : mapping of str to tuple of str
        The names that columns are known by, by their keys in `COLUMNS`.
    reads : tuple of str
        Further columns that are read where they are there.
    of_file : callable
        What a `Table`'s file says of all its records by its name or its folder, such as the model: equal records
        of files that say different things are no copies.
    shared : callable
        From records to which of them other files of this layout have too, shape (records,): those count once.
    prepare : callable
        From a `Table` as it lies to the one that `to_frame` and `used` read.
    recipe : mapping, optional
        The recipe that describes it (`layouts.by_recipe`); its columns are not known by other spellings.
    """

    name: str
    needs: tuple[str, ...]
    to_frame: Callable[[Table], pd.DataFrame]
    used: Callable[[Table], dict[str, list[str]]]
    also: Callable[[frozenset[str], Table], bool] = lambda columns, sample: True
    remark: str = ""
    of_scores: bool = False
    ordered: bool = True
    accepts: frozenset[str] | None = None
    notes: Callable[[Table], Iterable[str]] = lambda table: ()
    lacks_baseline: Callable[[Table], bool] = lambda table: False
    aliases: Aliases = field(default_factory=lambda: aliases_with())
    reads: tuple[str, ...] = ()
    of_file: Callable[[Table], str] = lambda table: ""
    shared: Callable[[pd.DataFrame], BoolArray] = lambda frame: np.zeros(len(frame), bool)
    prepare: Callable[[Table], Table] = lambda table: table
    recipe: Mapping[str, Any] | None = None

    @property
    def names(self) -> dict[str, str | None]:
        """All columns that are known by their names, and their keys in `COLUMNS`, if they have one."""
        column_keys = dict.fromkeys((*self.needs, *self.reads))
        return column_keys | {name: key for key, names in self.aliases.items() for name in names}

    def matches(self, columns: frozenset[str], sample: Table) -> bool:
        """Whether records with these columns are in this layout."""
        return columns.issuperset(self.needs) and self.also(columns, sample)


def aliases_with(**names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The names that columns are known by, where they are not the usual ones."""
    return {key: usual for key, (_, usual) in COLUMNS.items() if key not in OF_SCORES} | names


def columns_by_key(table: Table, aliases: Aliases, needed: Iterable[str]) -> dict[str, str]:
    """The column that each of ours is read from, by its key in `COLUMNS`; without those that are not there.

    Raises
    ------
    DataError
        If one that is named, or needed, is not there.
    """
    available = table.frame.columns
    columns, needed = {}, set(needed)
    for key, names in aliases.items():
        named = table.specified.get(key)
        if key in table.specified and named is None and key not in needed:  # told that there is none
            continue
        wanted = (named,) if named else names
        name = next((name for name in wanted if name in available), None)
        if name is not None and not named and _is_half(table, aliases, key, name):
            name = None
        if name is None and (named or key in needed):
            missing = " or ".join(map(repr, wanted))
            wide = f"; {WIDE}" if key == "winner" and not named else ""
            raise DataError(
                f"the table has no column {missing} (it has: "
                f"{listed(table.spelled.get(name, name) for name in available)}; if it has another name: "
                f"{_named_pair(available) if key in PAIR else f'--column {key}=NAME'}{wide})"
            )
        if name is not None:
            columns[key] = name
    return columns


def _is_half(table: Table, aliases: Aliases, key: str, name: str) -> bool:
    """Whether a numbered model, such as model_1, lacks its other: then nothing says from which number on."""
    if key not in PAIR or not name[-1].isdecimal():
        return False
    other = PAIR[1 - PAIR.index(key)]
    at = aliases[key].index(name)
    partner = aliases[other][at] if other in aliases and at < len(aliases[other]) else name
    return partner not in table.frame.columns and table.specified.get(other) != partner


def _named_pair(available: Iterable[object]) -> str:
    """The options that name both models, by two columns that count from zero where there are such."""
    names = [name for name in available if isinstance(name, str)]
    pairs = [(name, f"{name[:-1]}1") for name in names if name.endswith("0") and f"{name[:-1]}1" in names]
    pair = next(
        (pair for pair in pairs if not {"model", "system", "llm"}.isdisjoint(plain(pair[0]).split("_"))), None
    )
    return " ".join(f"--column {key}={name}" for key, name in zip(PAIR, pair or ("NAME", "NAME"), strict=True))


def zero_based(columns: Mapping[str, str]) -> dict[str, str]:
    """Letters of words that count from zero, such as model_1 for the second, where the models' columns do."""
    if not all(columns.get(key, "").endswith(end) for key, end in zip(PAIR, "01", strict=True)):
        return {}
    stem = columns["model_a"][:-1]
    kinds = {stem, *(f"{kind}{gap}" for kind in KINDS for gap in ("", "_", " "))}
    return {f"{kind}{digit}": letter for kind in kinds for digit, letter in zip("01", "ab", strict=True)}


def records(table: Table, aliases: Aliases, needed: Iterable[str]) -> pd.DataFrame:
    """The columns that are used, under the published names; missing values as None, answers as they are.

    Raises
    ------
    DataError
        If a column is missing or is there twice; if more than a few records alone have no question.
    """
    sources = columns_by_key(table, aliases, needed)
    columns = {
        COLUMNS[key][0]: names_of(table, name) if key in OF_NAMES else values(table.frame, name)
        for key, name in sources.items()
    }
    texts = texts_in(table.frame, {*sources.values()})
    columns |= {name: values(table.frame, of) for name, of in texts.items()}
    columns |= {name: values(table.frame, name) for name in by_answer(table.frame) if name not in columns}
    columns |= {name: values(table.frame, of) for name, of in _kept(table, columns).items()}
    if TURN in table.frame.columns and TURN not in sources.values():
        turns = [str(turn) for turn in values(table.frame, TURN)]
        columns |= {ITEM: pd.Series(turns, dtype=object)} if len({*turns}) > 1 else {}
    frame = pd.DataFrame(columns).reset_index(drop=True)
    if "judge_model" not in frame:
        frame["judge_model"] = ONE_JUDGE
    if "question_id" in frame:
        frame["question_id"] = pd.Series(_questions(frame["question_id"]), dtype=object)
        _refuse_many_without(frame["question_id"], table.spelled.get(sources["question"], sources["question"]))
    return frame


def _kept(table: Table, columns: Collection[str]) -> dict[str, str]:
    """Columns that are kept as they are, by the name that they are asked for by.

    Raises
    ------
    DataError
        If one that was asked for is not there.
    """
    called = {table.spelled.get(name, name): name for name in table.frame.columns}
    kept = {name: called[name] for name in UNITS if name in called and name not in columns}
    for name in table.keep:
        if name in called and name not in columns:
            kept[name] = called[name]
        elif name not in {*called, *columns, *COLUMNS}:
            raise DataError(f"the table has no column {name!r} (it has: {listed(called)})")
    return kept


def _refuse_many_without(question: pd.Series, called: str) -> None:
    """Refuse records without a question, unless they are few: those are left out (`judgerank.reading.read`)."""
    empty = question.isna().to_numpy()
    if empty.sum() > FEW_WITHOUT * len(empty):
        raise DataError(
            f"record {int(empty.argmax()) + 1} has no {called!r}, like {empty.sum()} of {len(empty)}: "
            "name another column (--column question=NAME) or delete this one"
        )


def by_answer(table: pd.DataFrame) -> list[str]:
    """Columns of numbers that say something of both answers, such as length_a and length_b, which blocks go by."""
    names = {
        name for name in table.columns if isinstance(name, str) and name[-2:] in SIDES and _is_number(table[name])
    }
    return [name for name in table.columns if name in names and other_side(name) in names]


def _is_number(column: pd.Series | pd.DataFrame) -> bool:
    """Whether the first value that is there is a number; texts of answers are none, and are not kept."""
    if not isinstance(column, pd.Series):  # two columns of one name
        return False
    present = column.dropna()
    try:
        return len(present) > 0 and bool(np.isfinite(float(present.iloc[0])))
    except (TypeError, ValueError, OverflowError):
        return False


def other_side(name: str) -> str:
    """The column that says of the other answer what this one says."""
    return name[:-1] + {"a": "b", "b": "a"}[name[-1]]


def values(table: pd.DataFrame, name: str) -> pd.Series:
    """A column; missing values as None."""
    column = table[name]
    if isinstance(column, pd.DataFrame):
        raise DataError(f"the table has {column.shape[1]} columns {name!r}: give each a name of its own")
    column = column.astype(object)
    return column.where(column.notna(), None).reset_index(drop=True)


def names_of(table: Table, name: str) -> pd.Series:
    """A column of names, numbers as the texts they would be in CSV; missing values as None.

    Raises
    ------
    DataError
        If a name is how programs write a missing value, unless names are read exactly as they are.
    """
    names = pd.Series([as_name(value) for value in values(table.frame, name)], dtype=object)
    if table.names != EXACT:
        _refuse_missing(names, table.spelled.get(name, name))
    return names


def refuse_missing_names(frame: pd.DataFrame) -> None:
    """Refuse records or scores in which a name is how programs write a missing one."""
    for name in ("model_a", "model_b", "judge_model", *OF_NAMES[2:], "model"):
        if name in frame:
            _refuse_missing(frame[name], name)


def _refuse_missing(names: pd.Series, called: str) -> None:
    if MISSING.isdisjoint({text for text in names.tolist() if isinstance(text, str)}):
        return
    row = next(row for row, text in enumerate(names) if isinstance(text, str) and text in MISSING)
    raise DataError(
        f"record {row + 1} has {names.iloc[row]!r} as {called!r}, which is how programs "
        "write a missing name: fill it in or delete the record (--names exact takes it for a name)"
    )


def as_name(value: object) -> object:
    """A number as the text it would be in CSV; anything else as it is."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return word(value) if is_number else value


def require_models(frame: pd.DataFrame, names: tuple[str, str] = ("model_a", "model_b")) -> None:
    """Refuse a record without two models, by the names that their columns have in the file."""
    codes(frame[["model_a", "model_b"]].set_axis(names, axis=1), list(names))


def _questions(column: pd.Series) -> list[str | None]:
    """Every question's id as one string; refuses different ids that would become the same."""
    meant: dict[str, object] = {}
    names = []
    for number, value in enumerate(column, 1):
        value = value.tolist() if isinstance(value, np.ndarray) else value  # Parquet's lists
        name = None if value is None or value == "" else question_name(value)
        if name is not None:
            previous = meant.setdefault(name, value)
            if type(previous) is not type(value) or previous != value:
                raise DataError(f"record {number} has the question {value!r}, and another record {previous!r}")
        names.append(name)
    return names
