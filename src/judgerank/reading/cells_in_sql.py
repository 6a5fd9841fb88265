"""Judgments counted where they are: one SQL statement that groups records alike, or the same table made here.

What it gives has the published columns and ``count``. A fit of it is that of the records: they are alike to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.data.frames import OUTCOMES
from judgerank.data.judgments import Judgments
from judgerank.reading.contents import COLUMNS
from judgerank.reading.file_formats import opened
from judgerank.reading.files import label_of, named
from judgerank.reading.large.from_engine import are_large
from judgerank.reading.large.sources import session, sources_of
from judgerank.reading.layouts import Table, recognised
from judgerank.reading.layouts.answer_versions import are_keyed
from judgerank.reading.layouts.strength import BOTH_BAD
from judgerank.reading.layouts.tables import ARENA, NAMED, PAPER

KEYS = ("model_a", "model_b", "judge", "winner", "strength", "question")
COUNT = COLUMNS["count"][0]
QUOTES = {"duckdb": '"', "spark": "`", "bigquery": "`", "postgres": '"', "sqlite": '"'}  # around names, by dialect
TEXT = {"spark": "STRING", "bigquery": "STRING"}  # the type of texts, where it is not VARCHAR
TABLE = "judgments"


def columns_in(path: Path, form: str | None, columns: Mapping[str, str | None] | None) -> dict[str, str]:
    """The columns that are read of a file, by their keys, as `judgerank.reading.read` recognises them.

    Raises
    ------
    DataError, DataUnavailableError, ConfigError
        As `judgerank.reading.read.read_judgments`; or if one record is not one comparison.
    """
    label = label_of(path)
    with named(label):
        layout, table = recognised(Table(_first_records(path, form), columns or {}, {}, None, label))
        used = {key: names[0] for key, names in layout.used(table).items()}
        if layout not in (PAPER, ARENA, NAMED):
            raise DataError(f"the records are in {layout.name}, which SQL does not count (leave --sql out)")
        if are_keyed(table, used.get("question", "")):
            raise DataError("answers have changed between judgments, which SQL does not see (leave --sql out)")
        read = next((key for key in ("swapped", "length") if key in used), None)
        if read is not None:
            raise DataError(f"column {used[read]!r} is read record by record (--column {read}=null leaves it out)")
    return {key: table.spelled.get(name, name) for key, name in used.items()}


def _first_records(path: Path, form: str | None) -> pd.DataFrame:
    """The first records of a large file, or all of a small one."""
    if not are_large([path], form):
        return opened(path, form).read()
    with session() as db:
        return sources_of(db, [path], form)[0].sample(db)


def statement(used: Mapping[str, str], dialect: str, table: str = TABLE, questions: bool = False) -> str:
    """The SQL statement that counts records alike.

    Parameters
    ----------
    used : mapping of str to str
        Columns by their keys (`columns_in`).
    dialect : str
        One of `QUOTES`.
    table : str
        What the records are in, as the engine names it.
    questions : bool
        Whether to count those of every question by themselves, which errors by question take.

    Raises
    ------
    ConfigError
        If the dialect is unknown.
    DataError
        If questions are asked for, and there is no column of them.
    """
    if dialect not in QUOTES:
        raise ConfigError(f"there is no dialect {dialect!r} (known: {', '.join(QUOTES)})")
    if questions and "question" not in used:
        raise DataError("there is no column of questions (--column question=NAME names it)")
    quote = QUOTES[dialect]

    def name(text: str) -> str:
        escaped = f"\\{quote}" if dialect == "bigquery" else 2 * quote
        return f"{quote}{text.replace(quote, escaped)}{quote}"

    keys = [key for key in KEYS if key in used and (questions or key != "question")]
    columns = [f"{name(used[key])} AS {name(COLUMNS[key][0])}" for key in keys]
    total = f"SUM({name(used['count'])})" if "count" in used else "COUNT(*)"
    listed = ",\n       ".join([*columns, f"{total} AS {name(COUNT)}"])
    positions = ", ".join(str(position) for position in range(1, len(keys) + 1))
    condition = ""  # judgments without a question are left out of a ranking, too
    if "question" in used:
        condition = f"\nWHERE CAST({name(used['question'])} AS {TEXT.get(dialect, 'VARCHAR')}) <> ''"
    return f"SELECT {listed}\nFROM {table}{condition}\nGROUP BY {positions}"


def counted_cells(judgments: Judgments, questions: bool = False) -> pd.DataFrame:
    """Records alike as one with a count, in the published columns; those that could not be read among them.

    Where nobody knows which answer was shown first, in columns ``winner, loser, tie``, without those.

    Raises
    ------
    DataError
        If questions are asked for, and there are none; if judgments are weights, or have lengths, or strength
        without an order.
    """
    frame = judgments.frame
    column = next((name for name in ("outcome", "length") if name in frame), None)
    if column is not None:
        raise DataError(f"records have a column {column!r}, by which they differ: rank them as they are")
    if questions and "question_id" not in frame:
        raise DataError("there is no column of questions (--column question=NAME names it)")
    keys = [COLUMNS[key][0] for key in KEYS if questions or key != "question"]
    if BOTH_BAD in frame:  # only the word for a winner says it
        winner = COLUMNS["winner"][0]
        frame = frame.assign(**{winner: frame[winner].mask(frame[BOTH_BAD], BOTH_BAD)})
    times = pd.to_numeric(frame[COUNT]) if COUNT in frame else pd.Series(1, frame.index)
    groups = times.groupby([frame[key] for key in keys if key in frame], observed=True, dropna=False)
    cells = groups.sum().rename(COUNT).reset_index()
    return cells if judgments.ordered else _won_and_lost(cells)


def left_out_of(judgments: Judgments, cells: pd.DataFrame, questions: bool) -> str:
    """A sentence on columns that the counts leave out; empty if there are none."""
    several = {"question_id": "questions", "category": "categories", "criterion": "criteria"}
    lost = [what for name, what in several.items() if name in judgments.frame and name not in cells]
    if not lost:
        return ""
    more = " (--by-question keeps questions, for standard errors by question)"
    return f"the counts leave out {' and '.join(lost)}{'' if questions or lost[0] != 'questions' else more}"


def _won_and_lost(cells: pd.DataFrame) -> pd.DataFrame:
    """Counted cells by winner and loser, which say nothing of an order."""
    column = next((name for name in (COLUMNS["strength"][0], BOTH_BAD) if name in cells), None)
    if column is not None:
        raise DataError(
            f"records have a column {column!r}, and do not say which answer was shown first: rank them as they are"
        )
    first, second, answer = (cells.pop(COLUMNS[key][0]) for key in ("model_a", "model_b", "winner"))
    ends = {"winner": first.where(answer != "b", second), "loser": second.where(answer != "b", first)}
    result = pd.DataFrame(ends | {"tie": answer == "c"}).join(cells)
    return result[answer.isin(list(OUTCOMES)).to_numpy()].reset_index(drop=True)
