"""Tables of scores: a row for each model, question and judge, as rubrics and MT-Bench's single grades have.

Two models' scores by one judge on one question are a comparison (`layouts.sample_scores.paired`).

MT-Bench: ``data/mt_bench/model_judgment/*_single.jsonl`` of FastChat (``play_a_match_single`` in
fastchat/llm_judge/common.py, https://github.com/lm-sys/FastChat): a judge is a pair of its name and its prompt's,
each question has two turns, and a grade of -1 is a reply that could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.frames import question_name
from judgerank.data.judgments import ITEM
from judgerank.data.listing import counted, listed
from judgerank.reading.contents import COLUMNS
from judgerank.reading.layouts.sample_scores import (
    GAPS,
    LETTERS,
    SCORES,
    grade_of,
    is_metric,
    lower_is_better,
    on_directions,
)
from judgerank.reading.layouts.table import (
    MISSING,
    ONE_JUDGE,
    Aliases,
    Layout,
    Table,
    columns_by_key,
    names_of,
    values,
)
from judgerank.reading.layouts.texts import plain

JUDGES = ("judge", "judge_model", "scorer", "annotator", "rater", "evaluator", "grader", "grader_model")
ASKED = (
    "question_id",
    "question",
    "prompt_id",
    "prompt",
    "item_id",
    "item",
    "sample_id",
    "sample",
    "id",
    "instruction",
    "user_input",
    "case_id",
    "test_id",
    "eval_id",
    "instance_id",
    "task_id",
    "task",
    "benchmark",
)
PASSES = ("resolved", "correct", "is_correct", "passed")  # a task, where there is no other score
OF_A_MODEL: Aliases = {
    "model": COLUMNS["model"][1],
    "score": (*COLUMNS["score"][1], *PASSES),
    "question": ASKED,
    "judge": JUDGES,
    "category": COLUMNS["category"][1],
    "strength": (),
    "run": (),
}
TASKS = ("task", "dataset", "benchmark")  # whose questions may have the same ids
RUNS = ("epoch", "repeat", "run", "run_index", "run_number", "trial")
PARTS = ("turn", *RUNS, "category", "criterion", "metric", "aspect", "dimension")
METRIC = "metric"
MEASURES = (METRIC, "scorer")  # columns that name what a score measures; judges' names say nothing of that
RANK = "rank"  # of which the lowest is best
DECIMAL_COMMA = re.compile(r"\s*-?\d+(,\d+)?\s*")
NO_SCORE = MISSING | {"-", "--", "\N{EN DASH}", "\N{EM DASH}", "N/A", "n/a", "NA", "none"}  # in a table
SINGLE = {"judgment", "user_prompt"}  # beside the scores in FastChat's single grades
# columns of two models, or of another log of scores
OTHERS = {"model_a", "model_b", "model_1", "model_2", "left", "right", "winner", "loser", "chosen", "rejected"}
OTHERS |= {"generator_1", "item_a", "games", "filtered_resps", "samples", "model_A", "label_a", "baseline"}


def _table(table: Table) -> pd.DataFrame:
    _refuse_two(table, "score")
    columns = _columns(table)
    size = len(table.frame)
    read = {
        key: (names_of(table, name) if key in ("model", "judge") else values(table.frame, name)).tolist()
        for key, name in columns.items()
    }
    model = names_in(read["model"], columns["model"])
    judge = judges_in(read.get("judge", [ONE_JUDGE] * size), columns.get("judge", ""))
    raw_scores = as_numbers(read["score"], columns["score"])
    score = [_score(row, columns["score"], value) for row, value in enumerate(raw_scores, 1)]
    sign = _signs(table, columns, judge)
    if table.frame.columns.isin(list(SINGLE)).sum() == len(SINGLE):
        score = [None if grade == -1 else grade for grade in score]
    signed = [None if grade is None else grade * turn for grade, turn in zip(score, sign, strict=True)]
    rows = zip(
        model, questions_in(table, columns["question"]), items_in(table, columns), judge, signed, strict=True
    )
    frame = pd.DataFrame(list(rows), columns=list(SCORES))
    if table.copies == "keep":  # said of scores that were asked for again, too
        frame = frame.assign(**{ITEM: _numbered_runs(frame)})
    if columns.get("strength", columns["score"]) != columns["score"]:
        raise DataError(
            f"the strength of comparisons made of scores is the gap between these (--column "
            f"strength={columns['score']} takes it)"
        )
    frame = frame.assign(**{GAPS: True}) if "strength" in columns else frame
    return frame.assign(category=read["category"]) if "category" in read else frame


def _numbered_runs(frame: pd.DataFrame) -> list[str]:
    """Items of scores, those that are repeated runs numbered as they come."""
    times = frame.groupby([name for name in SCORES if name != "score"], sort=False).cumcount()
    if not times.any():
        return list(frame[ITEM])
    return [f"{item} run {number + 1}".strip() for item, number in zip(frame[ITEM], times, strict=True)]


def is_missing(value: object) -> bool:
    """Whether a cell says that there is no score."""
    return value is None or (isinstance(value, str) and (not value.strip() or value.strip() in NO_SCORE))


def as_numbers(cells: Sequence[object], column: str) -> list[object]:
    """Scores without percent signs and decimal commas; None where a cell says that there is none.

    Raises
    ------
    DataError
        If some have a percent sign, and others do not.
    """
    present = [None if is_missing(value) else value for value in cells]
    texts = [value.strip() if isinstance(value, str) else value for value in present]
    in_percent = [isinstance(text, str) and text.endswith("%") for text in texts]
    if any(in_percent):
        bare = next((row for row, text in enumerate(texts) if text is not None and not in_percent[row]), None)
        if bare is not None:
            raise DataError(
                f"record {bare + 1} has {cells[bare]!r} as {column!r}, and others have a percent sign: write all "
                "scores on one scale"
            )
        present = [text[:-1] if isinstance(text, str) else None for text in texts]
    return _with_points(present) or present


def _with_points(cells: Sequence[object]) -> list[object] | None:
    """Scores with decimal commas as ones with points; None if there are none, or they may separate thousands."""
    texts = [value for value in cells if isinstance(value, str) and value.strip()]
    commas = [text for text in texts if "," in text]
    if not commas or not all(DECIMAL_COMMA.fullmatch(text) for text in texts):
        return None
    if all(len(text.strip().partition(",")[2]) == 3 for text in commas):
        return None
    return [value.replace(",", ".") if isinstance(value, str) else value for value in cells]


def on_cells(table: Table) -> Iterator[str]:
    """Decimal commas, and scores of -1 below a scale that begins at 0 or more."""
    columns = _columns(table)
    cells = values(table.frame, columns["score"]).tolist()
    numbers = as_numbers(cells, columns["score"])
    if any(isinstance(value, str) and "," in value for value in cells):
        yield "Scores have decimal commas: 7,5 is read as 7.5."
    words = sorted({value for value in numbers if isinstance(value, str) and value in LETTERS})
    if words:
        yield f"Scores are letters: {', '.join(f'{word} is {grade_of(word):g}' for word in words)}."
    scores = [parsed for value in numbers if (parsed := grade_of(value)) is not None]
    absent = [value for value in cells if isinstance(value, str) and value.strip() in NO_SCORE]
    if absent:
        yield f"{counted(len(absent), 'score')} of {len(cells):,} missing: {listed(sorted({*absent}))} is none."
    regular = [score for score in scores if score != -1]
    single = table.frame.columns.isin(list(SINGLE)).sum() == len(SINGLE)
    if regular and len(regular) < len(scores) and min(regular) >= 0 and max(regular) > 1 and not single:
        yield (
            f"{len(scores) - len(regular):,} of {len(scores):,} scores are -1, and all others are from "
            f"{min(regular):g} to {max(regular):g}. They count as the lowest score. "
            "If -1 stands for a reply that could not be read, leave these cells empty."
        )


def _columns(table: Table, needed: Sequence[str] = ("model", "score", "question")) -> dict[str, str]:
    """The columns that are read, by their keys: without a judge, each metric is one, as in logs."""
    columns = columns_by_key(table, OF_A_MODEL, needed)
    is_free = METRIC in table.frame.columns and METRIC not in table.specified.values()
    if is_free and "judge" not in columns and "judge" not in table.specified:
        columns["judge"] = METRIC
    return columns


def _signs(table: Table, columns: Mapping[str, str], judges: Sequence[str]) -> list[float]:
    """-1 for every score of which less is better, by its column or by what it measures, else 1."""
    if lower_is_better(_score_column(table, columns)) or columns["score"] == RANK:
        return [-1.0] * len(judges)
    measured = _measured(table, columns, judges)
    turned = {name for names in measured for name in set(names) if lower_is_better(name)}
    return [-1.0 if not turned.isdisjoint(names) else 1.0 for names in zip(*measured, strict=True)]


def _measured(table: Table, columns: Mapping[str, str], judges: Sequence[str]) -> list[Sequence[str]]:
    """Names of what every score measures, by metric and by scorer; empty where nothing says it."""
    scorers = judges if _are_measures(columns) else [""] * len(judges)
    metrics = [""] * len(judges)
    if METRIC in _parts(table, columns):
        metrics = [str(metric or "") for metric in values(table.frame, METRIC).tolist()]
    return [scorers, metrics]


def _are_measures(columns: Mapping[str, str]) -> bool:
    return plain(columns.get("judge", "")) in MEASURES


def _score_column(table: Table, columns: Mapping[str, str]) -> str:
    return table.spelled.get(columns["score"], columns["score"])


def _on_judges(table: Table) -> Iterator[str]:
    """Which scores are better, and what counts as a judge where there are metrics."""
    yield from on_better(table)
    columns = _columns(table)
    if METRIC in _parts(table, columns):
        yield (
            f"Scores of the same {METRIC} are compared, and all metrics count together (--column "
            f"judge={table.spelled.get(METRIC, METRIC)} counts each metric as a judge)."
        )
    elif _are_measures(columns):
        yield f"Each {plain(columns['judge'])} counts as a judge."


def on_better(table: Table) -> Iterator[str]:
    """Which scores are better, by the column or by what they measure."""
    columns = _columns(table)
    if columns["score"] == RANK:
        return
    if lower_is_better(_score_column(table, columns)):
        yield on_directions([_score_column(table, columns)], [])
        return
    column = columns.get("judge", "")
    judges = judges_in(names_of(table, column).tolist(), column) if column else [""] * len(table.frame)
    names = {name for measured in _measured(table, columns, judges) for name in measured} - {""}
    less = {name for name in names if lower_is_better(name)}
    yield on_directions(less, names - less)
    alike = sorted({name for name in judges if is_metric(name)} if not names else ())
    if alike:
        yield (
            f"Names of metrics among the judges: {listed(alike)}. Judges' scores are read as higher is better. If "
            f"these are metrics, call the column {METRIC!r} instead of {table.spelled.get(column, column)!r}."
        )


def notes(table: Table) -> Iterator[str]:
    """What to know of how a table of scores is read."""
    yield from on_cells(table)
    yield from _on_judges(table)


def _refuse_two(table: Table, key: str) -> None:
    """Refuse a table in which several columns could be meant."""
    candidates = [name for name in COLUMNS[key][1] if name in table.frame.columns]
    candidates = candidates or [name for name in OF_A_MODEL[key] if name in table.frame.columns]
    if len(candidates) > 1 and not table.specified.get(key):
        raise DataError(
            f"the {key} could be {' or '.join(map(repr, candidates))} (--column {key}=NAME chooses one)"
        )


def names_in(names: Sequence[Any], column: str) -> list[str]:
    for row, name in enumerate(names, 1):
        if name is None or isinstance(name, list | dict | np.ndarray) or not str(name).strip():
            raise DataError(f"record {row} has {name!r} as {column!r}, not a name")
    return [str(name) for name in names]


def judges_in(names: Sequence[Any], column: str) -> list[str]:
    """Judges' names; of a pair of judge and prompt the first."""
    alone = [name[0] if isinstance(name, list | tuple | np.ndarray) and len(name) else name for name in names]
    return names_in(alone, column)


def _score(row: int, column: str, value: object) -> float | None:
    if value is None:
        return None
    score = grade_of(bool(value) if isinstance(value, np.bool_) else value)
    if score is None:
        raise DataError(
            f"record {row} has {value!r} as {column!r}, not a number, and none of True, False, yes, no, C, "
            "P, I and N (leave it empty if there is none)"
        )
    return score


def questions_in(table: Table, column: str) -> list[str]:
    """A question's name, with its task's before it where there is one."""
    tasks = [name for name in TASKS if name in table.frame.columns and name != column]
    columns = [values(table.frame, name).tolist() for name in (*tasks, column)]
    names = []
    for row, parts in enumerate(zip(*columns, strict=True), 1):
        if parts[-1] is None:
            raise DataError(f"record {row} has no {column!r}")
        names.append("/".join(question_name(part) for part in parts if part is not None))
    return names


def _parts(table: Table, columns: Mapping[str, str]) -> list[str]:
    used = {*table.specified.values(), *(columns[key] for key in columns if key not in ("category", "run"))}
    parts = [name for name in PARTS if name in table.frame.columns and name not in used]
    return [*parts, columns["run"]] if "run" in columns else parts


def items_in(table: Table, columns: Mapping[str, str]) -> list[str]:
    """Item of each score, which two scores must share beside the question, such as the turn."""
    cells = [values(table.frame, name).tolist() for name in _parts(table, columns)]
    return [" ".join(map(str, parts)) for parts in zip(*cells, strict=True)] if cells else [""] * len(table.frame)


def _used(table: Table) -> dict[str, list[str]]:
    columns = _columns(table, ())
    used = {key: [name] for key, name in columns.items()}
    parts = [name for name in (*TASKS, *_parts(table, columns)) if name in table.frame.columns]
    parts = [name for name in parts if [name] not in used.values()]
    return used | ({"parts of the question": parts} if parts else {})


def _is_table(columns: frozenset[str], table: Table) -> bool:
    scores = {*OF_A_MODEL["score"]} - {RANK}  # ranks by themselves are rankings (`layouts.ranked`)
    return columns.isdisjoint(OTHERS) and all(columns & names for names in ({*OF_A_MODEL["model"]}, scores))


SCORE_TABLE = Layout(
    "a table of scores",
    (),
    _table,
    _used,
    also=_is_table,
    remark="Two models' scores by one judge on one question are a comparison.",
    notes=notes,
    of_scores=True,
    ordered=False,
    accepts=frozenset(OF_A_MODEL),
    aliases=OF_A_MODEL,
    reads=(*TASKS, *PARTS),
)
LAYOUTS = (SCORE_TABLE,)
