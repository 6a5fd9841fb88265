"""A judge's preference with the human vote on the same battle beside it: the files of Soft-Elo's release.

``data/<arena>/annotations_<judge>.csv`` in https://github.com/kargibora/SoftElo, and its sample. A preference is 0
for model_a, 1 for model_b and 0.5 for a tie. Each record is two comparisons: one by the judge, one by people. The
files of several judges of one arena hold the same human votes, which count once.
"""

from __future__ import annotations

import pandas as pd

from judgerank.reading.layouts.runs import preferences
from judgerank.reading.layouts.table import (
    Layout,
    Table,
    aliases_with,
    columns_by_key,
    records,
    require_models,
    values,
)

PAIR, PREFERENCES = ("model_a", "model_b"), ("judge_pref", "human_pref")
PEOPLE = "people"
# the first of these that every record has: ids of a battle that other judges' files share come first
QUESTIONS = ("original_question_id_hash", "instruction_id_hash", "question_id", "row_id", "battle_id")


def _aliases(table: Table) -> dict[str, tuple[str, ...]]:
    complete = [name for name in QUESTIONS if name in table.frame and _is_complete(values(table.frame, name))]
    aliases = aliases_with(judge=("judge", "judge_model"), question=tuple(complete[:1]))
    del aliases["winner"], aliases["human"]
    return aliases


def _is_complete(column: pd.Series) -> bool:
    return not (column.isna() | (column == "")).any()


def _to_frame(table: Table) -> pd.DataFrame:
    frame = records(table, _aliases(table), PAIR)
    require_models(frame)
    parts = []
    for name, by_people in zip(PREFERENCES, (False, True), strict=True):
        letters = preferences(values(table.frame, name), f"{name} of record")
        part = frame.assign(judge_preferred_model=pd.Series(letters, dtype=object))
        parts.append(part.assign(human="yes" if by_people else "no"))
    parts[1]["judge_model"] = PEOPLE
    parts[1] = parts[1][parts[1]["judge_preferred_model"].notna()]  # where people were not asked, there is no vote
    return pd.concat(parts, ignore_index=True)


def _used(table: Table) -> dict[str, list[str]]:
    used = {key: [name] for key, name in columns_by_key(table, _aliases(table), PAIR).items()}
    return used | {"winner": [PREFERENCES[0]], "human": [PREFERENCES[1]]}


LAYOUTS = (
    Layout(
        "judges' preferences beside people's (Soft-Elo)",
        (*PAIR, *PREFERENCES),
        _to_frame,
        _used,
        remark="Each record is two comparisons, by its judge and by people (judgerank people puts scores on their "
        "scale); model_a is taken as shown first, since the order is not told; rubric scores are not used.",
        aliases=aliases_with(judge=("judge", "judge_model"), question=QUESTIONS),
        reads=("scores_a", "scores_b"),
        shared=lambda frame: (frame["human"] == "yes").to_numpy(),
    ),
)
