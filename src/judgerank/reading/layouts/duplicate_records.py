"""Records that are exact copies of others: answers asked for again, or files merged twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgerank.data.arrays import BoolArray
from judgerank.data.errors import ConfigError, DataError
from judgerank.reading.accepted import COPIES
from judgerank.reading.layouts.table import Layout, Table
from judgerank.reading.layouts.texts import plain, visible

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
