"""Wide tables of scores: a row for each model and a column for each task, or the other way round.

They become tables with a row for each score (`layouts.score_tables`). Nothing in such a table says that a column
is a task: it may be a criterion, an average or a price. So only tables in which each column can be nothing else
are read as they lie. Of the others it has to be said, and the refusal prints the option.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.listing import listed
from judgerank.reading.layouts.names import NUMBERS
from judgerank.reading.layouts.sample_scores import grade_of, lower_is_better
from judgerank.reading.layouts.score_tables import (
    ASKED,
    JUDGES,
    METRIC,
    OF_A_MODEL,
    OTHERS,
    PARTS,
    SCORE_TABLE,
    as_numbers,
    is_missing,
    on_better,
    on_cells,
)
from judgerank.reading.layouts.table import COUNTS, Layout, Table, values
from judgerank.reading.layouts.texts import plain, visible

FEWEST_TASKS, FEWEST_MODELS = 3, 2  # columns from which a table is one of scores
SCORE = "score"
# words in the names of columns that are no tasks, and of those that are no models
OF_NO_TASK = (
    "average avg mean median overall total sum rank ranking position place score id size params param parameters "
    "release released date year month license price cost tokens latency speed runtime time elo votes wins losses "
    "context window std stdev stderr se ci lower upper low high n"
)
OF_NO_MODEL = (
    "run trial epoch repeat seed turn judge rater annotator grader metric top rouge bleu pass recall precision "
    "acc accuracy f ndcg mrr map em k at bert bertscore level grade question criterion"
)
NOT_TASKS = frozenset(OF_NO_TASK.split())
NOT_MODELS = NOT_TASKS | frozenset(OF_NO_MODEL.split())
OF_A_MODEL_NAME = re.compile(r"(?=.*\d)(?=.*[A-Za-z]).*[-/:.].*")  # such as gpt-4 and meta/llama3:8b


def columns_named(table: Table, key: str) -> list[str]:
    """The columns that an option names, separated by commas; after ``!`` those that it does not name.

    Raises
    ------
    DataError
        If one is not there.
    """
    text = str(table.specified.get(key) or "")
    by_sight = {visible(name): name for name in table.frame.columns if isinstance(name, str)}
    names = [name for name in text.removeprefix("!").split(",") if name]
    for name in names:
        if visible(name) not in by_sight:
            raise DataError(f"the table has no column {name!r} (it has: {listed(map(str, table.frame.columns))})")
    named = [by_sight[visible(name)] for name in names]
    if not text.startswith("!"):
        return named
    keys = {name for key_, name in table.specified.items() if key_ != key}
    return [
        name
        for name in _free(table, (*OF_A_MODEL["model"], *ASKED, *JUDGES, *PARTS, *keys))
        if name not in named and _is_score(table, name)
    ]


def _free(table: Table, excluded: Sequence[str | None]) -> list[str]:
    """Columns that are none of these, and number nothing."""
    names = [name for name in table.frame.columns if isinstance(name, str)]
    return [name for name in names if name not in excluded and plain(name) not in NUMBERS]


def _is_score(table: Table, name: str) -> bool:
    """Whether a column has a score in each cell that is not empty, and in some."""
    if not isinstance(table.frame[name], pd.Series):
        return False
    present = [value for value in values(table.frame, name).tolist() if not is_missing(value)]
    if not present:
        return False
    try:
        return all(grade_of(value) is not None for value in as_numbers(present, name))
    except DataError:
        return False


def _words(name: str) -> set[str]:
    return {*plain(name).split("_")}


def _key_of(table: Table, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in table.frame.columns), None)


def _repeats(table: Table, key: str) -> bool:
    """Whether a row is not the only one of its model or task, judge and run."""
    among = [name for name in (key, *JUDGES, *PARTS) if name in table.frame.columns]
    return bool(table.frame[among].astype(str).duplicated().any())


def _tasks(table: Table) -> list[str]:
    """The columns of a table with a row for each model that can be nothing but tasks; else none."""
    columns = {*map(str, table.frame.columns)}
    key = _key_of(table, OF_A_MODEL["model"])
    if key is None or columns & {*OTHERS, *ASKED, *OF_A_MODEL["score"]} or _repeats(table, key):
        return []
    names = _free(table, (key, *JUDGES, *PARTS))
    turned = [lower_is_better(name) for name in names]
    is_clear = all(not _words(name) & (NOT_TASKS | {*COUNTS}) for name in names)
    is_clear &= len(names) >= FEWEST_TASKS and (all(turned) or not any(turned))
    return names if is_clear and all(_is_score(table, name) for name in names) else []


def _models(table: Table) -> list[str]:
    """The columns of a table with a row for each task that can be nothing but models; else none."""
    columns = {*map(str, table.frame.columns)}
    key = _key_of(table, ASKED)
    others = {*OTHERS, *OF_A_MODEL["model"], *OF_A_MODEL["score"]}
    if key is None or columns & others or _repeats(table, key):
        return []
    names = _free(table, (*ASKED, *JUDGES, *PARTS))
    is_clear = len(names) >= FEWEST_MODELS and all(
        OF_A_MODEL_NAME.fullmatch(name) and not _words(name) & NOT_MODELS for name in names
    )
    return names if is_clear and all(_is_score(table, name) for name in names) else []


def _long(table: Table, columns: Sequence[str], of: str, row: str) -> Table:
    """A row for each score; `of` is what a column is, and `row` what a row is."""
    if not columns:
        raise DataError("no column is named: name those of scores, separated by commas")
    key = table.specified.get(row) or _key_of(table, OF_A_MODEL[row])
    if key is None or key not in table.frame.columns:
        raise DataError(
            f"the table has no column of {row}s (it has: {listed(map(str, table.frame.columns))}; if it has "
            f"another name: --column {row}=NAME)"
        )
    for name in columns:
        _refuse_other_than_scores(table, name)
    kept = [name for name in table.frame.columns if name not in columns and name not in (of, SCORE)]
    number = pd.RangeIndex(len(table.frame))
    parts = [
        table.frame[kept].set_axis(number).assign(**{of: name}).assign(**{SCORE: values(table.frame, name)})
        for name in columns
    ]
    frame = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    ours = {"model": of if of == "model" else key, "question": of if of != "model" else key, SCORE: SCORE}
    spoken = {name: value for name, value in table.named.items() if name not in ("tasks", "models", *ours)}
    if row == "model":
        spoken.setdefault("category", None)  # one of models says nothing of tasks
    return replace(table, frame=frame, named={**spoken, **ours})


def _refuse_other_than_scores(table: Table, name: str) -> None:
    cells = values(table.frame, name).tolist()
    for row, value in enumerate(cells, 1):
        text = value.strip().removesuffix("%").replace(",", ".") if isinstance(value, str) else value
        if not is_missing(value) and grade_of(text) is None:
            raise DataError(f"record {row} has {value!r} as {name!r}, which is not a score")


def _by_task(table: Table) -> Table:
    columns = columns_named(table, "tasks") if table.specified.get("tasks") else _tasks(table)
    return _signed(_long(table, columns, "task", "model"))


def _by_model(table: Table) -> Table:
    columns = columns_named(table, "models") if table.specified.get("models") else _models(table)
    return _long(table, columns, "model", "question")


def _signed(table: Table) -> Table:
    """The table with the tasks' names as what their scores measure, where less of one is better."""
    tasks = values(table.frame, "task")
    if not tasks.map(lower_is_better).any():
        return table
    named = table.named if set(JUDGES) & set(table.frame.columns) else {"judge": None, **table.named}
    return replace(table, frame=table.frame.assign(**{METRIC: tasks}), named=named)


def _notes(key: str) -> Callable[[Table], Iterator[str]]:
    def notes(table: Table) -> Iterator[str]:
        """What the columns are, and how cells are read."""
        names = sorted({*values(table.frame, key)}, key=str)
        yield f"{len(names)} columns are {key}s: {listed(names)}."
        yield from on_cells(table)
        yield from on_better(table)

    return notes


def _layout(
    key: str, column: str, prepare: Callable[[Table], Table], clear: Callable[[Table], list[str]]
) -> Layout:
    """The layout whose columns are what an option names, and what each of them is read as."""
    name = f"a wide table of scores, one column a {key.removesuffix('s')}"
    return replace(
        SCORE_TABLE,
        name=name,
        prepare=prepare,
        notes=_notes(key.removesuffix("s")),
        also=lambda columns, table: bool(clear(table)),
        accepts=frozenset({*OF_A_MODEL, key}),
        aliases={name: usual for name, usual in OF_A_MODEL.items() if name not in (SCORE, column)},
        remark=f"{SCORE_TABLE.remark} Columns that may be something else are named (--column {key}=A,B,C).",
    )


WIDE_BY_TASK = _layout("tasks", "question", _by_task, _tasks)
WIDE_BY_MODEL = _layout("models", "model", _by_model, _models)
BY_KEY: Mapping[str, Layout] = {"tasks": WIDE_BY_TASK, "models": WIDE_BY_MODEL}
LAYOUTS = (WIDE_BY_TASK, WIDE_BY_MODEL)


def refuse_wide_scores(table: Table) -> None:
    """Refuse a wide table in which a column need not be a task, or a model, naming the options that read it.

    Raises
    ------
    DataError
    """
    columns = {*map(str, table.frame.columns)}
    if columns & {*OTHERS, *OF_A_MODEL["score"]}:
        return
    model, asked = _key_of(table, OF_A_MODEL["model"]), _key_of(table, ASKED)
    scores = [
        name
        for name in _free(table, (*OF_A_MODEL["model"], *ASKED, *JUDGES, *PARTS))
        if _is_score(table, name) and plain(name) not in COUNTS
    ]
    if model is not None and asked is None:
        _refuse("task", model, "model", table, [name for name in scores if not _words(name) & NOT_TASKS], scores)
    elif asked is not None and model is None:
        likely = [name for name in scores if not _words(name) & NOT_MODELS]
        _refuse("model", asked, "question", table, likely, scores)


def _refuse(of: str, key: str, row: str, table: Table, likely: Sequence[str], scores: Sequence[str]) -> None:
    """Refuse a table with a row for each model, or task, whose columns may be tasks, or models."""
    if len(likely) < 2 or _repeats(table, key):
        return
    other = [name for name in scores if name not in likely]
    shorter = "!" + ",".join(other) if other and len(other) < len(likely) else ",".join(likely)
    option = shlex.join(["--column", f"{of}s={shorter}"])
    if any("," in name for name in (*likely, *other)):
        option = f"rename the columns with a comma, and then --column {of}s=A,B,C"
    doubt = f"{listed(other)} may be none" if other else f"they need not be {of}s"
    raise DataError(
        f"the table has a row for each {row} and {len(scores)} columns of numbers, and {doubt} ({option} reads "
        f"{len(likely)} as {of}s)"
    )
