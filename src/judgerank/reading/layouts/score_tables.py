"""Tables of scores: a row for each model, question and judge, as rubrics and MT-Bench's single grades have.

Two models' scores by one judge on one question are a comparison (`layouts.sample_scores.paired`). Ranks and
rankings, best first, are scores of which less is better.

MT-Bench: ``data/mt_bench/model_judgment/*_single.jsonl`` of FastChat (``play_a_match_single`` in
fastchat/llm_judge/common.py, https://github.com/lm-sys/FastChat): a judge is a pair of its name and its prompt's,
each question has two turns, and a grade of -1 is a reply that could not be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.frames import question_name
from judgerank.reading.accepted import COLUMNS
from judgerank.reading.layouts.sample_scores import GAPS, LOWER_IS_BETTER, SCORES
from judgerank.reading.layouts.table import OF_SCORES, ONE_JUDGE, Known, Layout, Table, found, values
from judgerank.reading.layouts.words import number

JUDGES = ("judge", "judge_model", "scorer", "annotator", "rater", "evaluator")
ASKED = ("question_id", "question", "prompt_id", "prompt", "item_id", "item", "sample_id", "sample", "id")
OF_A_MODEL: Known = {
    "model": COLUMNS["model"][1],
    "score": COLUMNS["score"][1],
    "question": ASKED,
    "judge": JUDGES,
    "category": COLUMNS["category"][1],
    "strength": (),
}
OF_A_RANKING: Known = {"score": ("ranking",), "question": ASKED, "judge": JUDGES}
TASKS = ("task", "dataset", "benchmark")  # whose questions may have the same ids
PARTS = ("turn", "epoch", "repeat", "category", "criterion", "metric", "aspect", "dimension")
RANKS = ("rank", "ranking")  # of which the lowest is best
SINGLE = {"judgment", "user_prompt"}  # beside the scores in FastChat's single grades
BETTER, EQUAL = ">", "="  # in a ranking that is text
# columns of two models, or of another log of scores
OTHERS = {"model_a", "model_b", "model_1", "model_2", "left", "right", "winner", "loser", "chosen", "rejected"}
OTHERS |= {"generator_1", "item_a", "games", "filtered_resps", "samples", "model_A", "label_a", "baseline"}


def _table(table: Table) -> pd.DataFrame:
    _refuse_two(table, "score")
    columns = found(table, OF_A_MODEL, ("model", "score", "question"))
    size = len(table.frame)
    read = {key: values(table.frame, name).tolist() for key, name in columns.items()}
    model = _named(read["model"], columns["model"])
    judge = _judges(read.get("judge", [ONE_JUDGE] * size), columns.get("judge", ""))
    score = [_score(row, columns["score"], value) for row, value in enumerate(read["score"], 1)]
    sign = [-1.0 if columns["score"] in RANKS or name.lower() in LOWER_IS_BETTER else 1.0 for name in judge]
    if table.frame.columns.isin(list(SINGLE)).sum() == len(SINGLE):
        score = [None if one == -1 else one for one in score]
    signed = [None if one is None else one * turn for one, turn in zip(score, sign, strict=True)]
    rows = zip(model, _questions(table, columns["question"]), _items(table), judge, signed, strict=True)
    frame = pd.DataFrame(list(rows), columns=list(SCORES))
    if columns.get("strength", columns["score"]) != columns["score"]:
        raise DataError(
            f"the strength of comparisons made of scores is the gap between these (--column "
            f"strength={columns['score']} takes it)"
        )
    frame = frame.assign(**{GAPS: True}) if "strength" in columns else frame
    return frame.assign(category=read["category"]) if "category" in read else frame


def _refuse_two(table: Table, key: str) -> None:
    """Refuse a table in which several columns could be meant."""
    there = [name for name in OF_A_MODEL[key] if name in table.frame.columns]
    if len(there) > 1 and not table.said.get(key):
        raise DataError(f"the {key} could be {' or '.join(map(repr, there))} (--column {key}=NAME chooses one)")


def _named(names: Sequence[Any], column: str) -> list[str]:
    for row, name in enumerate(names, 1):
        if name is None or isinstance(name, list | dict | np.ndarray) or not str(name).strip():
            raise DataError(f"record {row} has {name!r} as {column!r}, not a name")
    return [str(name) for name in names]


def _judges(names: Sequence[Any], column: str) -> list[str]:
    """Judges' names; of a pair of judge and prompt the first."""
    alone = [name[0] if isinstance(name, list | tuple | np.ndarray) and len(name) else name for name in names]
    return _named(alone, column)


def _score(row: int, column: str, value: object) -> float | None:
    if value is None:
        return None
    known = float(value) if isinstance(value, bool | np.bool_) else number(value)
    if known is None:
        raise DataError(
            f"record {row} has {value!r} as {column!r}, not a number (leave it empty if there is none)"
        )
    return known


def _questions(table: Table, column: str) -> list[str]:
    """A question's name, with its task's before it where there is one."""
    tasks = [name for name in TASKS if name in table.frame.columns and name != column]
    told = [values(table.frame, name).tolist() for name in (*tasks, column)]
    names = []
    for row, parts in enumerate(zip(*told, strict=True), 1):
        if parts[-1] is None:
            raise DataError(f"record {row} has no {column!r}")
        names.append("/".join(question_name(part) for part in parts if part is not None))
    return names


def _parts(table: Table) -> list[str]:
    return [name for name in PARTS if name in table.frame.columns and name not in table.said.values()]


def _items(table: Table) -> list[str]:
    """What two scores must share beside the question, such as the turn."""
    told = [values(table.frame, name).tolist() for name in _parts(table)]
    return [" ".join(map(str, parts)) for parts in zip(*told, strict=True)] if told else [""] * len(table.frame)


def _rankings(table: Table) -> pd.DataFrame:
    columns = found(table, OF_A_RANKING, ("score",))
    size, told = len(table.frame), values(table.frame, columns["score"])
    judge = [ONE_JUDGE] * size
    if "judge" in columns:
        judge = _judges(values(table.frame, columns["judge"]).tolist(), columns["judge"])
    question = [f"row {row}" for row in range(1, size + 1)]
    if "question" in columns:
        question = _questions(table, columns["question"])
    items = _items(table)
    rows = [
        (model, question[row], items[row], judge[row], -float(place))
        for row, value in enumerate(told)
        for model, place in _ranking(row + 1, value)
    ]
    return pd.DataFrame(rows, columns=list(SCORES))


def _ranking(row: int, value: object) -> Iterator[tuple[str, int]]:
    """The models of a ranking and their places; those in one list, or joined by =, share a place."""
    places: list[Any] = []
    if isinstance(value, str):
        places = [[name.strip() for name in group.split(EQUAL)] for group in value.split(BETTER)]
    elif isinstance(value, list | tuple | np.ndarray):
        places = [list(one) if isinstance(one, list | tuple | np.ndarray) else [one] for one in value]
    names = [name for group in places for name in group]
    if len(names) < 2 or not all(isinstance(name, str) and name for name in names) or len({*names}) < len(names):
        raise DataError(
            f"record {row} has {value!r} as its ranking, not models' names, best first: a list, or x > y = z"
        )
    yield from ((name, place) for place, group in enumerate(places) for name in group)


def _used(table: Table, known: Known) -> dict[str, list[str]]:
    used = {key: [name] for key, name in found(table, known, ()).items()}
    parts = [name for name in (*TASKS, *_parts(table)) if name in table.frame.columns]
    parts = [name for name in parts if [name] not in used.values()]
    return used | ({"parts of the question": parts} if parts else {})


def _is_table(columns: frozenset[str], table: Table) -> bool:
    return columns.isdisjoint(OTHERS) and not any(columns.isdisjoint(OF_A_MODEL[key]) for key in OF_SCORES)


def _is_ranking(columns: frozenset[str], table: Table) -> bool:
    return columns.isdisjoint(OTHERS | {*COLUMNS["model"][1]})


SCORE_TABLE = Layout(
    "a table of scores",
    (),
    _table,
    lambda table: _used(table, OF_A_MODEL),
    also=_is_table,
    remark="Two models' scores by one judge on one question are a comparison. More is better, except of ranks "
    "(turn the signs of other scores of which less is better).",
    of_scores=True,
    ordered=False,
    takes=frozenset(OF_A_MODEL),
    known=OF_A_MODEL,
    reads=(*TASKS, *PARTS),
)
RANKINGS = Layout(
    "rankings, best first",
    ("ranking",),
    _rankings,
    lambda table: _used(table, OF_A_RANKING),
    also=_is_ranking,
    remark="Any two models of one ranking are a comparison.",
    of_scores=True,
    ordered=False,
    takes=frozenset(OF_A_RANKING),
    known=OF_A_RANKING,
    reads=(*TASKS, *PARTS),
)
LAYOUTS = (SCORE_TABLE, RANKINGS)
