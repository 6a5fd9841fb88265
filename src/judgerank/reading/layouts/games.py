"""Two games in each record, one in each order: FastChat's pairwise judgments and arena-hard-auto's verdicts.

FastChat: ``play_a_match_pair`` in https://github.com/lm-sys/FastChat (fastchat/llm_judge/common.py), files
``data/mt_bench/model_judgment/*_pair.jsonl``. The second game shows ``model_2`` first; both winners are by name.

arena-hard-auto: ``gen_judgment.py`` in https://github.com/lmarena/arena-hard-auto, files
``model_judgment/<judge>/<model>.jsonl``. The first game shows the baseline as A, and the second the model. Records
of version 0.1 do not name the baseline; its ``config/judge_config.yaml`` does (``baseline_model: gpt-4-0314``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.reading.layouts import strength
from judgerank.reading.layouts.table import (
    Layout,
    Table,
    aliases_with,
    columns_by_key,
    records,
    require_models,
    values,
)
from judgerank.reading.layouts.words import SWAPPED, answers

PAIR = ("model_a", "model_b")
ONE_OF_TWO = aliases_with(model_a=("model_1",), model_b=("model_2",))
AGAINST = aliases_with(model_a=("baseline",), model_b=("model",), question=("question_id", "uid"))
for _aliases in (ONE_OF_TWO, AGAINST):
    del _aliases["winner"], _aliases["swapped"]
G_WINNERS = ("g1_winner", "g2_winner")
G_WORDS = {"model_1": "a", "model_2": "b", "tie": "c", "error": "unknown"}
VERDICTS = {"A>>B": "a", "A>B": "a", "A=B": "c", "B>A": "b", "B>>A": "b"}
VERDICTS |= {"A<<B": "b", "A<B": "b", "B=A": "c"}  # version 2 takes these for the same


def _fastchat(table: Table) -> pd.DataFrame:
    _refuse_grades(table)
    frame = records(table, ONE_OF_TWO, PAIR)
    frame["judge_model"] = pd.Series([_judge(value) for value in frame["judge_model"]], dtype=object)
    require_models(frame, ("model_1", "model_2"))
    first, second = frame["model_a"].tolist(), frame["model_b"].tolist()
    words = G_WORDS | dict(table.words)
    games = [answers(values(table.frame, name), first, second, words, name) for name in G_WINNERS]
    # both winners are by name: in the second game, the model in the second column was shown first
    return _in_both_orders(frame, games[0], _swapped(games[1]))


def _judge(value: object) -> object:
    """The judge of a pair of judge and prompt."""
    return value[0] if isinstance(value, list | tuple) and value else value


def _refuse_grades(table: Table) -> None:
    """Refuse two grades made into one winner, which is then there twice."""
    if "m1_score" in table.frame.columns:
        raise DataError(
            "column 'm1_score' holds grades, not a second game: g1_winner and g2_winner are one answer"
        )


def _arena_hard(table: Table) -> pd.DataFrame:
    if _lacks_baseline(table) and table.baseline is None:
        raise DataError(
            "the records do not name the baseline, as those of arena-hard-auto do from version 2 on "
            "(--baseline gpt-4-0314 names that of version 0.1 as published)"
        )
    frame = records(_with_baseline(table), AGAINST, PAIR)
    require_models(frame, ("baseline", "model"))
    both = [_two_scores(number, games) for number, games in enumerate(values(table.frame, "games"), 1)]
    words = VERDICTS | dict(table.words)
    baseline, model = frame["model_a"].tolist(), frame["model_b"].tolist()
    first_game = answers([pair[0] for pair in both], baseline, model, words, "score of game 1")
    second_game = answers([pair[1] for pair in both], model, baseline, words, "score of game 2")
    frames = _in_both_orders(frame, first_game, second_game)
    # record by record, the first game before the second
    frames = strength.with_strength(frames, [verdict for pair in both for verdict in pair])
    played = [place < n for n in _numbers_of_games(table) for place in range(2)]
    return frames[np.array(played, bool)].reset_index(drop=True)


def _numbers_of_games(table: Table) -> list[int]:
    """Games in every record: two, or one where judges see one order only."""
    return [len(games) for games in values(table.frame, "games")]


def _lacks_baseline(table: Table) -> bool:
    return "baseline" not in table.frame.columns and not table.specified.get("model_a")


def _with_baseline(table: Table) -> Table:
    return table if table.baseline is None else replace(table, frame=table.frame.assign(baseline=table.baseline))


def _two_scores(number: int, value: Any) -> list[object]:
    games = list(value) if isinstance(value, list | np.ndarray) else []
    if len(games) not in (1, 2) or not all(
        game is None or (isinstance(game, dict) and "score" in game) for game in games
    ):
        raise DataError(f"record {number} has no one or two games with a score each")
    return [None if game is None else game["score"] for game in (games if len(games) == 2 else [*games, None])]


def _swapped(letters: list[str | None]) -> list[str | None]:
    return [None if letter is None else SWAPPED.get(letter, letter) for letter in letters]


def _in_both_orders(
    frame: pd.DataFrame, first_game: Sequence[str | None], second_game: Sequence[str | None]
) -> pd.DataFrame:
    """Two records for each: the second shows the models the other way round; letters are by order shown."""
    turned = frame.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    sides = ((frame, first_game), (turned, second_game))
    games = [side.assign(judge_preferred_model=pd.Series(letters, dtype=object)) for side, letters in sides]
    return pd.concat(games).sort_index(kind="stable").reset_index(drop=True)


def _used(table: Table, aliases: dict[str, tuple[str, ...]], answered: tuple[str, ...]) -> dict[str, list[str]]:
    return {key: [name] for key, name in columns_by_key(table, aliases, ()).items()} | {"winner": list(answered)}


FASTCHAT = Layout(
    "FastChat's pairwise judgments",
    ("model_1", "model_2", *G_WINNERS),
    _fastchat,
    lambda table: _used(table, ONE_OF_TWO, G_WINNERS),
    remark="Each record is two games, one in each order; a judge is a model, whatever its prompt; "
    "an error is not read.",
    aliases=ONE_OF_TWO,
)
ARENA_HARD = Layout(
    "arena-hard-auto's verdicts",
    ("model", "judge", "games"),
    _arena_hard,
    lambda table: _used(table, AGAINST, ("games",)),
    remark="Each record is two games, one in each order; >> is a win, and its strength is kept "
    "(--model position_aware_graded uses it).",
    lacks_baseline=_lacks_baseline,
    aliases=AGAINST,
)
LAYOUTS = (FASTCHAT, ARENA_HARD)
