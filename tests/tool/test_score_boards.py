"""Boards of scores: read as they lie, or refused with the option that reads them."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from judgerank import read
from judgerank.data.errors import ConfigError, DataError, JudgerankError

MODELS = ("gpt-4", "llama-3", "claude-3")
TASKS = tuple(f"t{number}" for number in range(8))
RNG = np.random.default_rng(0)
SCORES = pd.DataFrame(RNG.integers(0, 100, (len(MODELS), len(TASKS))).astype(float), MODELS, TASKS)
BY_TASK = SCORES.rename_axis("model").reset_index()
BY_MODEL = SCORES.T.rename_axis("task").reset_index()
LONG = BY_TASK.melt("model", var_name="task", value_name="score")


def rows(frame, **options):
    """Model, model, task, judge and answer of each comparison."""
    table = read(frame, **options).frame
    names = ("model_a", "model_b", "question_id", "judge_model", "judge_preferred_model")
    return sorted(table[list(names)].fillna("").astype(str).itertuples(index=False, name=None))


def options_in(sentence: str) -> dict[str, str]:
    """The columns that a refusal advises to name."""
    words = shlex.split(re.search(r"\((--column .+?) reads", sentence)[1])
    return dict(word.split("=", 1) for word in words if word != "--column")


@pytest.mark.parametrize(
    "frame",
    [
        BY_TASK,
        BY_MODEL,
        BY_TASK.rename(columns={"model": "model_name"}),
        BY_MODEL.rename(columns={"task": "question_id"}),
        LONG.rename(columns={"task": "benchmark"}),
        LONG.rename(columns={"task": "instance_id", "score": "rating"}),
        LONG.assign(score=LONG["score"].map("{:.1f}%".format)),
        BY_TASK.assign(**{task: SCORES[task].map("{:.0f} %".format).to_numpy() for task in TASKS}),
    ],
)
def test_scores_are_read_as_they_lie(frame):
    assert rows(frame) == rows(LONG)


TRUTH = LONG["score"] > 50


@pytest.mark.parametrize(
    "cells",
    [
        TRUTH,
        TRUTH.map({True: "True", False: "False"}),
        TRUTH.map({True: "yes", False: "No"}),
        TRUTH.map({True: "C", False: "I"}),
    ],
)
def test_words_for_right_and_wrong_are_one_and_zero(cells):
    assert rows(LONG.assign(score=cells)) == rows(LONG.assign(score=TRUTH.astype(int)))
    assert rows(LONG.assign(resolved=cells).drop(columns="score")) == rows(LONG.assign(score=TRUTH.astype(int)))


def test_letters_of_inspect_are_grades():
    letters = pd.Series(np.select([LONG["score"] > 70, LONG["score"] > 40], ["C", "P"], "N"))
    found = read(LONG.assign(score=letters))
    assert rows(LONG.assign(score=letters)) == rows(LONG.assign(score=letters.map({"C": 1, "P": 0.5, "N": 0})))
    assert any("P is 0.5" in remark for remark in found.remarks)


@pytest.mark.parametrize("word", ["-", "N/A", "", None])
def test_cells_without_a_score_are_no_score(word):
    holes = BY_TASK.astype(object)
    holes.loc[0, "t3"] = word
    expected = [row for row in rows(LONG) if not (row[2] == "t3" and "gpt-4" in row[:2])]
    assert [row for row in rows(holes) if row[4]] == expected


def test_some_percent_signs_are_refused():
    mixed = LONG["score"].astype(object).where(LONG.index > 0, "12%")
    with pytest.raises(DataError, match=r"record 2 .*percent"):
        read(LONG.assign(score=mixed))


def test_a_grader_is_a_judge():
    assert rows(LONG.assign(grader="g")) == rows(LONG.assign(judge="g"))
    by_grader = pd.concat([BY_TASK.assign(grader=name) for name in "gh"])
    assert {row[3] for row in rows(by_grader)} == {"g", "h"}


AMBIGUOUS = {
    "an average": (BY_TASK.assign(average=SCORES.mean(axis=1).to_numpy()), TASKS),
    "sizes and prices": (BY_TASK.assign(params=[7, 8, 9], **{"Price ($)": [0.5, 1, 2]}), TASKS),
    "few columns": (BY_TASK[["model", "t0", "t1"]], ("t0", "t1")),
    "an error among the tasks": (BY_TASK.assign(latency_ms=[9, 8, 7], t1_error=[1, 2, 3]), (*TASKS, "t1_error")),
    "columns that are not named like models": (
        BY_MODEL.set_axis(["task", "oak", "elm", "ash"], axis=1),
        ("oak", "elm", "ash"),
    ),
    "criteria": (
        BY_MODEL.set_axis(["question_id", "style", "truth", "f1"], axis=1),
        ("style", "truth"),
    ),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_an_ambiguous_wide_table_is_refused_with_the_option_that_reads_it(name):
    frame, columns = AMBIGUOUS[name]
    with pytest.raises(DataError) as error:
        read(frame)
    advised = options_in(str(error.value))
    found = read(frame, columns=advised)
    assert {"tasks", "models"} & advised.keys()
    named = (
        found.frame["question_id"]
        if "tasks" in advised
        else pd.concat([found.frame["model_a"], found.frame["model_b"]])
    )
    assert {*named} == {*columns}


def test_a_named_task_of_which_less_is_better_is_turned():
    frame = BY_TASK.assign(latency_ms=[9, 8, 7])
    found = read(frame, columns={"tasks": "t0,t1,latency_ms"})
    of_latency = found.frame[found.frame["question_id"] == "latency_ms"]
    first = of_latency[(of_latency["model_a"] == "claude-3") & (of_latency["model_b"] == "gpt-4")]
    assert first["judge_preferred_model"].tolist() == ["a"]
    assert found.comparisons.judges == ("one judge",)


def test_a_text_in_a_named_column_is_refused_by_its_record():
    frame = BY_TASK.astype(object)
    frame.loc[1, "t2"] = "good"
    with pytest.raises(DataError, match="record 2 has 'good' as 't2'"):
        read(frame, columns={"tasks": ",".join(TASKS)})
    with pytest.raises(DataError, match="no column 't99'"):
        read(BY_TASK, columns={"tasks": "t0,t99"})
    with pytest.raises(ConfigError, match="not both"):
        read(BY_TASK, columns={"tasks": "t0,t1", "models": "t2"})


def test_a_model_with_several_rows_is_no_wide_table():
    with pytest.raises(JudgerankError):
        read(pd.concat([BY_TASK, BY_TASK.assign(t0=0.5)]))


RUNS = pd.concat([LONG.assign(score=LONG["score"] + number, seed=number) for number in range(3)])


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (RUNS.rename(columns={"seed": "epoch"}), {}),
        (RUNS, {"columns": {"run": "seed"}}),
        (RUNS.drop(columns="seed"), {"copies": "keep"}),
    ],
)
def test_repeated_runs_are_read_where_they_are_said_to_be(frame, options):
    assert rows(frame, **options) == sorted(rows(LONG) * 3)


def test_repeated_runs_are_refused_with_the_options_that_read_them():
    for frame in (RUNS, RUNS.drop(columns="seed")):
        with pytest.raises(DataError, match=r"--column run=NAME names one, and --copies keep"):
            read(frame)
