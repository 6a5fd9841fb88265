"""Rankings of several answers: one in a cell, or a row for each answer with its rank.

``x > y = z`` has y and z tied, and ``x > {y, z}`` says nothing of their order: only the best is known. They become
the rows of the rankings' stages (`judgerank.data.rankings`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.arrays import IntArray
from judgerank.data.errors import DataError
from judgerank.data.frames import counts
from judgerank.data.judgments import ITEM
from judgerank.data.listing import counted
from judgerank.data.rankings import Ranked, refuse_odd, rows_of
from judgerank.reading.contents import COLUMNS
from judgerank.reading.layouts.score_tables import (
    ASKED,
    JUDGES,
    OTHERS,
    PARTS,
    RANK,
    TASKS,
    items_in,
    judges_in,
    names_in,
    questions_in,
)
from judgerank.reading.layouts.table import ONE_JUDGE, Aliases, Layout, Table, columns_by_key, names_of, values
from judgerank.reading.layouts.words import number

RANKING, SHOWN, PLACE = "ranking", "shown", "place"
BETTER, WORSE, EQUAL, OPEN, CLOSE, BETWEEN = ">", "<", "=", "{", "}", ","
LETTERS = {1: "a", 0: "c", -1: "b"}  # by who of two answers won
CONTEXT: Aliases = {"question": ASKED, "judge": JUDGES, "category": COLUMNS["category"][1]}
OF_A_RANKING: Aliases = {**CONTEXT, "count": ()}
OF_AN_ANSWER: Aliases = {"model": COLUMNS["model"][1], **CONTEXT}
MOST_COUNTED = 100_000  # rankings that records may stand for
REMARK = "A ranking is a sequence of choices: the best of all, then the best of the others (Plackett-Luce model)."
UNSHOWN = f"{REMARK} No column says in which order answers were shown."


def _in_cells(table: Table) -> pd.DataFrame:
    """A ranking in every record that is not empty."""
    cells, orders = values(table.frame, RANKING).tolist(), [None] * len(table.frame)
    if SHOWN in table.frame.columns:
        orders = values(table.frame, SHOWN).tolist()
    filled = [row for row, value in enumerate(cells) if value is not None]
    if not filled:
        raise DataError("no record has a ranking")
    rankings = [_ranking(row + 1, cells[row], orders[row]) for row in filled]
    columns = columns_by_key(table, OF_A_RANKING, ())
    context: dict[str, list[Any]] = {
        "question_id": [f"row {row}" for row in range(1, len(cells) + 1)],
        "judge_model": [ONE_JUDGE] * len(cells),
    }
    if "question" in columns:
        context["question_id"] = questions_in(table, columns["question"])
    if "judge" in columns:
        context["judge_model"] = judges_in(names_of(table, columns["judge"]).tolist(), columns["judge"])
    if "category" in columns:
        context["category"] = values(table.frame, columns["category"]).tolist()
    if "count" not in columns:
        return as_rows(rankings, pd.DataFrame(context).iloc[filled])
    times = _times(table, columns["count"])[filled]
    whose = pd.DataFrame(context).iloc[np.repeat(filled, times)]
    if "question" not in columns:  # like rankings are answers to different questions
        whose = whose.assign(question_id=[f"row {place}" for place in range(1, len(whose) + 1)])
    return as_rows([ranked for ranked, n in zip(rankings, times, strict=True) for _ in range(n)], whose)


def _times(table: Table, column: str) -> IntArray:
    """How many like rankings every record stands for."""
    times = counts(values(table.frame, column).rename(column))
    if (times % 1).any() or times.sum() > MOST_COUNTED:
        raise DataError(f"column {column!r} counts rankings: whole numbers, {MOST_COUNTED:,} in all at most")
    return times.astype(np.int64)


def _on_empty(table: Table) -> Iterator[str]:
    """A note on records without a ranking."""
    empty = sum(value is None for value in values(table.frame, RANKING))
    if empty:
        yield f"Left out: {counted(empty, 'record')} without a ranking."


def _ranking(row: int, value: object, shown_order: object) -> Ranked:
    """The ranking in a cell, `row` being its record counted from one."""
    unranked: tuple[str, ...] = ()
    groups: list[Any] = []
    if isinstance(value, str):
        texts = [text.strip() for text in value.split(BETTER)]
        if texts[-1].startswith(OPEN) and texts[-1].endswith(CLOSE):
            unranked = tuple(name.strip() for name in texts.pop()[1:-1].split(BETWEEN))
        groups = [[name.strip() for name in text.split(EQUAL)] for text in texts]
    elif isinstance(value, list | tuple | np.ndarray):
        groups = [list(item) if isinstance(item, list | tuple | np.ndarray) else [item] for item in value]
    names = [*(name for group in groups for name in group), *unranked]
    signs = {OPEN, CLOSE} | ({WORSE, BETWEEN} if isinstance(value, str) else set())
    if len(names) < 2 or not all(isinstance(name, str) and name and not {*name} & signs for name in names):
        raise DataError(
            f"cannot read {value!r} as a ranking; write w > x = y, or w > {{x, y}} where the order of x and y is "
            f"not known, or list the names (record {row})"
        )
    order = None if shown_order is None else _shown_order(row, shown_order)
    ranked = Ranked(tuple(map(tuple, groups)), unranked, order)
    refuse_odd(ranked, row)
    return ranked


def _shown_order(row: int, value: object) -> tuple[str, ...]:
    """Models in the order in which their answers were shown."""
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(BETWEEN))
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(map(str, value))
    raise DataError(
        f"record {row} has {value!r} as {SHOWN!r}, not models' names in the order shown: a list, or x, y, z"
    )


def _in_rows(table: Table) -> pd.DataFrame:
    """A rank in every record: those of one judge on one question are a ranking."""
    columns = columns_by_key(table, OF_AN_ANSWER, ("model", "question"))
    model = names_in(names_of(table, columns["model"]).tolist(), columns["model"])
    judge = [ONE_JUDGE] * len(model)
    if "judge" in columns:
        judge = judges_in(names_of(table, columns["judge"]).tolist(), columns["judge"])
    read = {
        "model": model,
        "judge_model": judge,
        "question_id": questions_in(table, columns["question"]),
        ITEM: items_in(table, columns),
        "rank": [_number(row, RANK, value) for row, value in enumerate(values(table.frame, RANK), 1)],
    }
    if "category" in columns:
        read["category"] = values(table.frame, columns["category"]).tolist()
    if PLACE in table.frame.columns:
        read[PLACE] = [_number(row, PLACE, value) for row, value in enumerate(values(table.frame, PLACE), 1)]
    frame = pd.DataFrame(read)
    rankings, first_rows = [], []
    for _, part in frame.groupby(["question_id", ITEM, "judge_model"], sort=False):
        if len(part) > 1 and part["rank"].notna().any():
            rankings.append(_of_rows(part))
            first_rows.append(part.index[0])
    if not rankings:
        raise DataError("no judge ranks two models on one question: there are no comparisons")
    return as_rows(rankings, frame.loc[first_rows].drop(columns=["model", "rank", PLACE], errors="ignore"))


def _of_rows(part: pd.DataFrame) -> Ranked:
    """The ranking of one judge on one question; models without a rank are below those with one."""
    groups = tuple(tuple(group) for _, group in part.groupby("rank")["model"])
    shown_order = None
    if PLACE in part:
        if part[PLACE].isna().any() or part[PLACE].duplicated().any():
            raise DataError(
                f"record {part.index[0] + 1} and those of its ranking need different places as {PLACE!r}"
            )
        shown_order = tuple(part.sort_values(PLACE)["model"])
    ranked = Ranked(groups, tuple(part["model"][part["rank"].isna()]), shown_order)
    refuse_odd(ranked, int(part.index[0]) + 1)
    return ranked


def _number(row: int, column: str, value: object) -> float:
    parsed = np.nan if value is None else number(value)
    if parsed is None:
        raise DataError(
            f"record {row} has {value!r} as {column!r}, not a number (leave it empty if there is none)"
        )
    return parsed


def as_rows(rankings: Sequence[Ranked], context: pd.DataFrame) -> pd.DataFrame:
    """Rows of all rankings in the published columns, with what stands beside each ranking."""
    rows = rows_of(rankings)
    whose = context.iloc[rows.pop("record").to_numpy(int)].reset_index(drop=True)
    letters = np.sign(rows["outcome"] - 0.5).astype(int).map(LETTERS)
    return pd.concat([whose, rows], axis=1).assign(judge_preferred_model=letters.astype(object))


def chosen(scores: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Rankings of which the best alone is known, of scores that say who was chosen, and what to know of them.

    One judge's scores on one sample are a choice: the highest is the best, and the others are not ordered.
    """
    rankings, first_rows, n_open = [], [], 0
    for _, part in scores.groupby(["question", ITEM, "judge"], sort=False):
        if part["score"].isna().any() or len(part) < 2:
            n_open += 1
            continue
        best = part["score"] == part["score"].max()
        if not best.all():
            rankings.append(Ranked((tuple(part["model"][best]),), tuple(part["model"][~best])))
            refuse_odd(rankings[-1], int(part.index[0]) + 1)
            first_rows.append(part.index[0])
        else:
            n_open += 1
    if not rankings:
        raise DataError("nothing was chosen among the answers of any sample: there are no comparisons")
    names = {"question": "question_id", "judge": "judge_model"}
    context = scores.loc[first_rows].rename(columns=names)[[*names.values(), ITEM]]
    left = f"; {counted(n_open, 'sample')} without one left out" if n_open else ""
    return as_rows(
        rankings, context
    ), f"{counted(len(rankings), 'choice')} of the best among several answers{left}."


def _used(table: Table, aliases: Aliases, *extra: str) -> dict[str, list[str]]:
    used = {key: [name] for key, name in columns_by_key(table, aliases, ()).items()}
    parts = [name for name in (*extra, *TASKS, *PARTS) if name in table.frame.columns]
    return used | {name: [name] for name in parts if [name] not in used.values()}


def _is_cells(columns: frozenset[str], table: Table) -> bool:
    return columns.isdisjoint(OTHERS | {*COLUMNS["model"][1]})


def _is_rows(columns: frozenset[str], table: Table) -> bool:
    scores = {*COLUMNS["score"][1]} - {RANK}
    return columns.isdisjoint(OTHERS | scores) and bool(columns & {*OF_AN_ANSWER["model"]})


def _layout(by_row: bool, has_order: bool) -> Layout:
    """One of rankings in cells or in rows, with or without the order in which answers were shown."""
    order, needs = (PLACE, RANK) if by_row else (SHOWN, RANKING)
    aliases, of = (OF_AN_ANSWER, _is_rows) if by_row else (OF_A_RANKING, _is_cells)
    what = "ranks, a row for each answer" if by_row else "rankings, best first"
    return Layout(
        f"{what}, with the order shown" if has_order else what,
        (needs, order) if has_order else (needs,),
        _in_rows if by_row else _in_cells,
        lambda table: _used(table, aliases, needs, order),
        also=lambda columns, table: of(columns, table) and (order in columns) == has_order,
        remark=REMARK if has_order else UNSHOWN,
        ordered=has_order,
        accepts=frozenset(aliases),
        aliases=aliases,
        notes=(lambda table: ()) if by_row else _on_empty,
        reads=(*TASKS, *PARTS, *((order,) if has_order else ())),
    )


LAYOUTS = tuple(_layout(by_row, shown) for by_row in (False, True) for shown in (False, True))
