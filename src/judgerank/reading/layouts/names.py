"""Names of models and judges that look the same, or differ in case alone: one of each, or as they are written."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgerank.data.arrays import BoolArray
from judgerank.data.errors import ConfigError, DataError
from judgerank.reading.contents import COPIES, NAMES
from judgerank.reading.layouts.table import EXACT, Layout, Table, names_of, values
from judgerank.reading.layouts.texts import plain, seen, visible

OF = {"models": ("model", "model_a", "model_b"), "judges": ("judge", "judge_model")}
HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-")
WHOLE = re.compile(r"(-?\d+)\.0+")  # a whole number as a column with gaps has it
SHOWN = 3  # groups of names in a sentence
Written = dict[str, Counter[str]]  # spellings with their records, by the name that they are


def require_names(names: str) -> None:
    """Refuse anything but the ways in which names can be read.

    Raises
    ------
    ConfigError
    """
    if names not in NAMES:
        raise ConfigError(f"names are read in one of the ways {', '.join(NAMES)}, not {names!r}")


def with_answers(table: Table, layout: Layout) -> Table:
    """The table with answers that are names written as the models of their records are, and no blanks around."""
    if table.names == EXACT:
        return table
    used = layout.used(table)
    pair = [used[key][0] for key in ("model_a", "model_b") if used.get(key) and used[key][0] in table.frame]
    models = [names_of(table, name).tolist() for name in pair]
    same = _folded if table.names == "fold" else _same
    model_names = {same(model) for column in models for model in {*filter(_is_text, column)}}
    columns = {}
    for name in (*used.get("winner", ()), *used.get("judges", ())):
        answers = values(table.frame, name).tolist()
        cleaned = {text: visible(text) for text in {*filter(_is_text, answers)} if same(text) not in model_names}
        written = [
            cleaned[text]
            if _is_text(text) and text in cleaned
            else _as_written(text, [column[row] for column in models], same)
            for row, text in enumerate(answers)
        ]
        if written != answers:
            columns[name] = pd.Series(written, table.frame.index, dtype=object)
    return replace(table, frame=table.frame.assign(**columns)) if columns else table


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _as_written(text: object, models: Sequence[object], same: Callable[[str], str]) -> object:
    if not isinstance(text, str) or text in models:
        return text
    same_models = (model for model in models if isinstance(model, str) and same(model) == same(text))
    return next(same_models, visible(text))


def _same(name: str) -> str:
    """A key that is the same for names that look the same: hyphens of any kind, whole numbers ending in .0."""
    text = seen(name).translate(HYPHENS)
    match = WHOLE.fullmatch(text)
    return match[1] if match else text


def _folded(name: str) -> str:
    return _same(name).casefold()


def named_once(frames: Sequence[pd.DataFrame], names: str) -> tuple[list[pd.DataFrame], list[str]]:
    """Records in which every model and judge has one name, and what was done for that.

    Raises
    ------
    DataError
        If names differ in case alone, and nobody said what they are.
    """
    frames, remarks = list(frames), []
    for what, columns in OF.items():
        same = _written(frames, columns, _same)
        alike = _written(frames, columns, _folded)
        differ = [counts for counts in alike.values() if len({_same(name) for name in counts}) > 1]
        if names == EXACT:
            unmerged = [counts for counts in alike.values() if len(counts) > 1]
            remarks += [f"Kept apart as written, though they look alike: {_listed(unmerged)}."] if unmerged else []
            continue
        if differ and names == "ask":
            raise DataError(
                f"these {what} differ in case alone: {_listed(differ)} (--names fold reads them as one, --names "
                "exact keeps them apart)"
            )
        groups = alike if names == "fold" else same
        several = [counts for counts in groups.values() if len(counts) > 1]
        if several:
            reason = "look alike or differ in case" if names == "fold" else "look the same"
            remarks.append(
                f"{what.capitalize()} whose names {reason} are one: {_listed(several)} (--names exact keeps them "
                "apart)."
            )
        new = {name: _usual(counts) for counts in groups.values() for name in counts}
        frames = [_renamed(frame, columns, new) for frame in frames]
    return frames, remarks


def _written(frames: Iterable[pd.DataFrame], columns: Iterable[str], same: Callable[[str], str]) -> Written:
    spellings: Written = defaultdict(Counter)
    counts = Counter(
        name for frame in frames for column in columns if column in frame for name in frame[column].tolist()
        if isinstance(name, str)
    )  # fmt: skip
    for name, times in sorted(counts.items()):
        spellings[same(name)][name] = times
    return spellings


def _usual(counts: Counter[str]) -> str:
    """The spelling that most records have, without what no reader sees; a whole number without a zero behind."""
    times: Counter[str] = Counter()
    for name, count in counts.items():
        times[visible(name)] += count
    return min(times, key=lambda name: (WHOLE.fullmatch(name) is not None, -times[name], name))


def _renamed(frame: pd.DataFrame, columns: Iterable[str], new: dict[str, str]) -> pd.DataFrame:
    if all(old == name for old, name in new.items()):
        return frame
    present = [column for column in columns if column in frame]
    renamed = {
        column: [new[name] if isinstance(name, str) else name for name in frame[column].tolist()]
        for column in present
    }
    return frame.assign(**{column: pd.Series(some, frame.index, dtype=object) for column, some in renamed.items()})


def _listed(groups: Sequence[Counter[str]]) -> str:
    parts = [" and ".join(f"{name!a} ({times})" for name, times in counts.items()) for counts in groups[:SHOWN]]
    more = f"; and {len(groups) - SHOWN} more" if len(groups) > SHOWN else ""
    return "; ".join(parts) + more


def alike(names: Iterable[str]) -> list[str]:
    """The first names that look the same, or differ in case alone; none if all are different."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[_folded(name)].append(name)
    return next((group for group in groups.values() if len(group) > 1), [])


def on_questions(frame: pd.DataFrame) -> list[str]:
    """That ids of questions look the same and are not, where some are."""
    if "question_id" not in frame:
        return []
    return on_ids([name for name in frame["question_id"].unique() if isinstance(name, str)])


def on_ids(ids: Sequence[str]) -> list[str]:
    """A note on ids of questions that look the same and are not, of different ids."""
    together = "".join(ids)
    if together.isascii() and len(together.split()) <= 1:  # nothing in them is invisible
        return []
    n_alike = len(ids) - len({seen(name) for name in ids})
    if not n_alike:
        return []
    return [f"{n_alike} ids of questions differ from others in invisible signs alone, and count as different."]


# Records that are exact copies of others: answers asked for again, or files merged twice.
FEWEST = 20  # different records from which it is no chance that each is there equally often
NUMBERS = {"", "index", "row", "row_id", "unnamed_0", "level_0"}  # columns that number the lines of a file
Read = tuple[Layout, Table]


def require_copies(copies: str) -> None:
    """Refuse anything but the ways in which copies can be read.

    Raises
    ------
    ConfigError
    """
    if copies not in COPIES:
        raise ConfigError(f"copies are read in one of the ways {', '.join(COPIES)}, not {copies!r}")


def without_copies(read: Sequence[Read], copies: str) -> tuple[list[Read], list[str]]:
    """The tables, without copies of records if that is told, and what there is to say of copies.

    Copies look equal in every column. Without questions answers are equal by nature, so that only records which
    are all there a multiple of times are copies.

    Raises
    ------
    DataError
        If most records seem to be there more than once by accident, and nobody said what they are; if copies are
        to be left out where nothing tells them from equal answers.
    """
    has_questions = any("question" in layout.used(table) for layout, table in read)
    keys = _keys(read)
    remarks, multiplicity = on_copies(keys, has_questions, copies)
    return (_without(read, _copied(keys, multiplicity)) if copies == "drop" and remarks else list(read)), remarks


def on_copies(keys: NDArray[np.uint64], has_questions: bool, copies: str) -> tuple[list[str], int]:
    """Notes on records that are copies of others, and how often every record is there at least.

    Parameters
    ----------
    keys : uint64 array, shape (T,)
        The same for copies, and for no others.
    has_questions : bool
        Whether there are questions.
    copies : str
        What is to be done with them.

    Raises
    ------
    DataError
        As of `without_copies`.
    """
    inside, size = np.sort(keys), len(keys)
    new = np.r_[True, inside[1:] != inside[:-1], True]
    different, multiplicity = int(np.count_nonzero(new)) - 1, 1
    if different >= FEWEST and not (new[1:] & new[:-1]).any():  # nothing is there once
        multiplicity = int(np.gcd.reduce(np.diff(np.flatnonzero(new))))
    n_copies = size - (size // multiplicity if multiplicity > 1 else different)
    if not n_copies or not (has_questions or multiplicity > 1 or copies == "drop"):
        return [], multiplicity
    if copies == "drop" and not (has_questions or multiplicity > 1):
        raise DataError(
            "without a column of questions nothing tells copies of records from equal answers (--column "
            "question=NAME names one)"
        )
    if copies == "drop":
        return [
            f"{n_copies:,} of {size:,} records were left out, since they are exact copies of others."
        ], multiplicity
    if copies != "keep" and different >= FEWEST and (multiplicity > 1 or 2 * n_copies >= size):
        often = f" (every record is there {multiplicity} times)" if multiplicity > 1 else ""
        raise DataError(
            f"{n_copies:,} of {size:,} records are exact copies of others{often}, as if files were merged twice "
            "(--copies drop reads each once; --copies keep counts all, if they were asked for again)"
        )
    return [
        f"{n_copies:,} of {size:,} records are exact copies of others, and counted as separate judgments "
        "(--copies drop leaves them out)."
    ], multiplicity


def _copied(keys: NDArray[np.uint64], multiplicity: int) -> BoolArray:
    """Which records are copies of others, where all are there `multiplicity` times or a multiple of that."""
    of = pd.Series(keys)
    return (
        of.groupby(of).cumcount() >= (of.map(of.value_counts()) // multiplicity if multiplicity > 1 else 1)
    ).to_numpy()


def _keys(read: Sequence[Read]) -> NDArray[np.uint64]:
    """A number for every record of all tables, the same for copies."""
    file_labels = np.array([layout.of_file(table) for layout, table in read], object)
    of_file = pd.util.hash_array(file_labels, categorize=False)
    keys = np.concatenate(
        [
            _hashes(table.frame, {*chain(*layout.used(table).values())}, start)
            for (layout, table), start in zip(read, of_file, strict=True)
        ]
    )
    # all columns are looked at only where those that are used are equal
    twice, start = pd.Series(keys).duplicated(keep=False).to_numpy(), 0
    for (_, table), start_of in zip(read, of_file, strict=True):
        mine = twice[start : start + len(table.frame)]
        if mine.any():
            counted = {name for name in table.frame.columns if plain(str(name)) not in NUMBERS}
            keys[start : start + len(mine)][mine] = _hashes(table.frame[mine], counted, start_of)
        start += len(mine)
    return keys


def _hashes(frame: pd.DataFrame, columns: set[Any], of_file: np.uint64) -> NDArray[np.uint64]:
    """A number for every record, the same where these columns and what the file says are the same."""
    positions = sorted((str(name), position) for position, name in enumerate(frame.columns) if name in columns)
    total = np.full(len(frame), of_file)
    for name, position in positions:
        texts = np.array([visible(str(value)) for value in frame.iloc[:, position].tolist()], object)
        hashed = pd.util.hash_array(texts) + np.uint64(len(name))
        total = total * np.uint64(1_099_511_628_211) + hashed  # as FNV does
    return total


def _without(read: Sequence[Read], copy: BoolArray) -> list[Read]:
    remaining, start = [], 0
    for layout, table in read:
        mine = ~copy[start : start + len(table.frame)]
        remaining.append((layout, replace(table, frame=table.frame[mine].reset_index(drop=True))))
        start += len(mine)
    return [(layout, table) for layout, table in remaining if len(table.frame)]
