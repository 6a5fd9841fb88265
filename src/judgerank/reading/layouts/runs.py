"""Runs of JudgeArena and of evaluatorq: each has its own way to say in which order answers were shown.

JudgeArena's battles: ``battles.parquet`` of its Elo tasks (judgearena/battles.py and
judgearena/benchmarks/elo/execution.py in https://github.com/OpenEuroLLM/JudgeArena). A reversed battle has its
models and its preference as in the direct one. A reply that could not be parsed has no preference, and earlier
versions write it as a tie. Preferences are quarters where judges give arena-hard's verdicts (0 is ``A>>B``, 0.25
is ``A>B``), and sigmoid(temperature (score_b - score_a)) where they score both answers
(judgearena/prompts/parsing.py).

JudgeArena's reports: ``results-*.json`` of its pairwise tasks (``BattleReport`` in judgearena/utils/eval.py).
Preferences are 0 for model_A to 1 for model_B, first all in one order and then, by swap_mode ``both``, all in the
other. The place among them is the question's number in the task. ``metadata`` says how replies were read
(``judge_parser``).

evaluatorq's runs: ``PairwiseRun.save`` (evaluatorq/pairwise_run.py in https://github.com/orq-ai/evaluatorq, and
``docs/pairwise-judging.md`` there). Verdicts are for label_a (A) or label_b (B) in either order. Runs saved before
every answer was kept have a judge's vote alone, which is what it said in both orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from judgerank.reading.layouts.tables import NEEDED, OF_JUDGEARENA
from judgerank.reading.layouts.words import ANSWERS, SWAPPED, answers, number

BATTLE = aliases_with(winner=("winner",), judge=("judge_model",), question=("question_id",))
REVERSED = {"direct": False, "single": False, "reversed": True}
HUMAN = "human"
REPORT = ("model_A", "model_B", "judge_model", "preferences")
GRADED = {0.0: "a>>b", 0.25: "a>b", 0.5: "a=b", 0.75: "b>a", 1.0: "b>>a"}  # a preference that is a verdict
ALIKE = {0.0: "a>b", 1.0: "b>a"}  # of judges without grades
GRADES = "arena-hard-verdict"  # a report's parser
BOTH = {"fixed": False, "random": False, "both": True}
RUN = ("judging", "label_a", "label_b", "entries")
VERDICTS = {"A": "a", "B": "b", "tie": "c"}
ORDERS = {"ab": False, "ba": True}
Row = tuple[
    Any, Any, Any, Any, str | None
]  # the model shown first, the second, the judge, the question, the letter


def _battles(table: Table) -> pd.DataFrame:
    questions = values(table.frame, "question_id")
    if questions.isna().all():  # of arenas whose questions have no ids
        table = replace(table, frame=table.frame.drop(columns="question_id"))
    frame = records(table, BATTLE, NEEDED)
    require_models(frame)
    first, second = frame["model_a"].tolist(), frame["model_b"].tolist()
    letters = answers(frame["judge_preferred_model"], first, second, ANSWERS | dict(table.words))
    shares = _shares(values(table.frame, "pref"), "record")
    sides = [_side(share) for share in shares]
    for row, (letter, side) in enumerate(zip(letters, sides, strict=True), 1):
        if side is not None and letter in VERDICTS.values() and letter != side:
            raise DataError(f"record {row} has one winner as 'winner' and another as 'pref'")
    letters = [None if side is None else letter for letter, side in zip(letters, sides, strict=True)]
    by_people = values(table.frame, "source") == HUMAN
    frame["judge_model"] = frame["judge_model"].where(~(by_people & frame["judge_model"].isna()), HUMAN)
    by_judge = pd.Series(shares, dtype=float).groupby(frame["judge_model"].to_numpy(), dropna=False)
    frame = strength.with_strength(frame, _verdicts(shares, by_judge.transform(_are_grades).astype(bool)))
    turned = _turned(table)
    frame["model_a"], frame["model_b"] = np.where(turned, (second, first), (first, second))
    frame["judge_preferred_model"] = pd.Series(
        [_as_shown(letter, turn) for letter, turn in zip(letters, turned, strict=True)], dtype=object
    )
    return frame


def _turned(table: Table) -> list[bool]:
    """Whether the model in the second column was shown first, by record."""
    if "orientation" not in table.frame:
        return [False] * len(table.frame)
    orientations = values(table.frame, "orientation")
    return [_one_of(REVERSED, f"record {row}", "orientation", value) for row, value in enumerate(orientations, 1)]


def _one_of(choices: Mapping[str, Any], where: str, name: str, value: object) -> Any:
    if not isinstance(value, str) or value not in choices:
        raise DataError(f"{where} has the unknown {name} {value!r} (known: {', '.join(choices)})")
    return choices[value]


def _as_shown(letter: str | None, turn: bool) -> str | None:
    return SWAPPED.get(letter, letter) if turn and letter is not None else letter


def preferences(cells: Iterable[Any], unit: str) -> list[str | None]:
    """The side of every preference from 0 to 1; None for a missing one."""
    return [_side(share) for share in _shares(cells, unit)]


def _shares(cells: Iterable[Any], unit: str) -> list[float | None]:
    shares: list[float | None] = []
    for position, value in enumerate(cells, 1):
        if value is None or value != value:  # the standard reader of JSON takes NaN
            shares.append(None)
            continue
        share = number(value)
        if share is None or not 0 <= share <= 1:
            raise DataError(f"{unit} {position} has {value!r} as its preference, not a number from 0 to 1")
        shares.append(share)
    return shares


def _side(share: float | None) -> str | None:
    return None if share is None else "c" if share == 0.5 else "a" if share < 0.5 else "b"


def _are_grades(shares: pd.Series) -> bool:
    """Whether one judge's preferences are verdicts with a strength: quarters, not all of them whole or a half."""
    present = shares.dropna()
    return bool(present.isin(list(GRADED)).all() and present.isin([0.25, 0.75]).any())


def _verdicts(shares: Sequence[float | None], grades: Iterable[bool]) -> list[str | None]:
    """The verdict behind every preference; all wins of a judge without grades are alike."""
    return [
        None if share is None else GRADED.get(share) if graded or share == 0.5 else ALIKE[float(share > 0.5)]
        for share, graded in zip(shares, grades, strict=True)
    ]


def _reports(table: Table) -> pd.DataFrame:
    rows, verdicts = [], list[str | None]()
    for position, record in enumerate(_objects(table), 1):
        shares, report_rows = _report(f"report {position}", record)
        rows += report_rows
        graded = _meta(record).get("judge_parser", GRADES if _are_grades(pd.Series(shares, dtype=float)) else "")
        verdicts += _verdicts(shares, [graded == GRADES] * len(shares))
    return strength.with_strength(_framed(rows, ("model_A", "model_B")), verdicts)


def _meta(report: Mapping[str, Any]) -> Mapping[str, Any]:
    about = report.get("metadata")
    return about if isinstance(about, Mapping) else {}


def _report(where: str, report: Mapping[str, Any]) -> tuple[list[float | None], list[Row]]:
    """Its preferences from 0 to 1, and what they say."""
    recorded = report.get("preferences")
    if not isinstance(recorded, list) or not recorded:
        raise DataError(f"{where} has no preferences")
    if _meta(report).get("baseline_assignment", "flat") != "flat":
        raise DataError(f"{where} is of several baselines, and does not say which preference is of which")
    if report.get("swap_mode") is None:
        raise DataError(
            f"{where} does not say in which order answers were shown (swap_mode), like those of MT-Bench"
        )
    both = _one_of(BOTH, where, "swap_mode", report["swap_mode"])
    if both and len(recorded) % 2:
        raise DataError(f"{where} has {len(recorded)} preferences, an odd number, for two orders")
    questions = len(recorded) // 2 if both else len(recorded)
    first, second, judge = (report.get(name) for name in REPORT[:3])
    shares, rows = _shares(recorded, f"{where}: preference"), list[Row]()
    for index, share in enumerate(shares):
        turn = index >= questions
        pair = (second, first) if turn else (first, second)
        question = f"{report.get('task')}/{index % questions}"
        rows.append((*pair, judge, question, _as_shown(_side(share), turn)))
    return shares, rows


def _runs(table: Table) -> pd.DataFrame:
    words = VERDICTS | dict(table.words)
    rows: list[Row] = []
    for position, run in enumerate(_objects(table), 1):
        entries = run.get("entries")
        if not isinstance(entries, list) or not entries:
            raise DataError(f"run {position} has no entries")
        if (run.get("label_a"), run.get("label_b")) == ("A", "B"):
            raise DataError(
                f"run {position} does not name what it compares: write both names into it, as label_a and label_b"
            )
        for number_, entry in enumerate(entries, 1):
            rows += _entry(f"run {position}, entry {number_}", run, entry, words)
    return _framed(rows, ("label_a", "label_b"))


def _entry(where: str, run: Mapping[str, Any], entry: Any, words: Mapping[str, str]) -> Iterator[Row]:
    comparison = entry.get("comparison") if isinstance(entry, Mapping) else None
    votes = comparison.get("votes") if isinstance(comparison, Mapping) else None
    if not isinstance(votes, list) or not all(isinstance(vote, Mapping) for vote in votes):
        raise DataError(f"{where}: there are no votes")
    for vote in votes:
        for observation in vote.get("observations") or _as_voted(vote, bool(run.get("swap", True))):
            if not isinstance(observation, Mapping):
                raise DataError(f"{where}: {observation!r} is not an observation")
            turn = _one_of(ORDERS, where, "ordering", observation.get("ordering"))
            verdict = observation.get("verdict")
            letter = None if verdict is None else _one_of(words, where, "verdict", verdict)
            labels = run.get("label_b"), run.get("label_a")
            pair = labels if turn else labels[::-1]
            yield (*pair, vote.get("model"), entry.get("question"), _as_shown(letter, turn))


def _as_voted(vote: Mapping[str, Any], swap: bool) -> list[dict[str, Any]]:
    return [{"ordering": order, "verdict": vote.get("vote")} for order in (ORDERS if swap else ("ab",))]


def _objects(table: Table) -> list[dict[str, Any]]:
    """Records as they are, but for values that are missing, which are None."""
    columns = {name: values(table.frame, name) for name in map(str, table.frame.columns)}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _framed(rows: Sequence[Row], names: tuple[str, str]) -> pd.DataFrame:
    if not rows:
        raise DataError("there are no answers")
    columns = ("model_a", "model_b", "judge_model", "question_id", "judge_preferred_model")
    cells = dict(zip(columns, zip(*rows, strict=True), strict=True))
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in cells.items()})
    require_models(frame, names)
    for question in frame["question_id"]:
        if not isinstance(question, str):
            raise DataError(f"{question!r} is not a question")
    return frame


def _used_battles(table: Table) -> dict[str, list[str]]:
    used = {key: [name] for key, name in columns_by_key(table, BATTLE, NEEDED).items()}
    more = [name for name in ("pref", "source", "orientation") if name in table.frame]
    return used | {"winner": ["winner", *more]}


BATTLES = Layout(
    "JudgeArena's battles",
    (*NEEDED, *OF_JUDGEARENA),
    _battles,
    _used_battles,
    remark="A battle without a preference is not read; a judge's preferences have a strength where all are "
    "quarters, as of arena-hard's verdicts; without a column of orientations, model_a is taken as shown first.",
    aliases=BATTLE,
    reads=("orientation",),
)
REPORTS = Layout(
    "JudgeArena's reports",
    REPORT,
    _reports,
    lambda table: {
        "model_a": ["model_A"],
        "model_b": ["model_B"],
        "judge": ["judge_model"],
        "winner": ["preferences"],
        "order": ["swap_mode"],
    },
    remark="Preferences have a strength where judges give arena-hard's verdicts; questions are known by their "
    "place; with swap_mode random, model_A is taken as shown first.",
    aliases={},
    reads=("swap_mode", "task", "metadata"),
)
RUNS = Layout(
    "evaluatorq's runs",
    RUN,
    _runs,
    lambda table: {"model_a": ["label_a"], "model_b": ["label_b"], "winner": ["entries"]},
    remark="Each answer in each order is one comparison; where only votes were kept, a vote is one in each.",
    aliases={},
    reads=("swap",),
)
LAYOUTS = (BATTLES, REPORTS, RUNS)
