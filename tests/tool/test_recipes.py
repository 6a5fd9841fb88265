"""Recipes read their own examples to the judgments they say, and no layout passes over what nobody spoke of."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import rank, read
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.frames import ITSELF
from judgerank.data.rankings import Ranked, rankings_of, sizes_of_rankings
from judgerank.reading.file_formats import read_table
from judgerank.reading.layouts import LAYOUTS
from judgerank.reading.layouts.by_recipe import recipes
from judgerank.reading.layouts.guards import NOT_COUNTING
from tests.tool.test_layouts import NAMED, SAMPLES, rows

RECIPES = {recipe["name"]: recipe for recipe in recipes()}


def example(recipe, folder: Path) -> list[Path]:
    """The example's files in a folder; a second one where a form takes a file for each model."""
    written = []
    for place, text in enumerate(recipe["example"].get("texts", [recipe["example"].get("text")])):
        written.append(folder / f"example{place}.{recipe['example']['form']}")
        written[-1].write_text(text.lstrip("\n"))
    return written


def ranked_as_text(ranked: Ranked) -> str:
    groups = [" = ".join(sorted(group)) for group in ranked.groups]
    last = ", ".join(sorted(ranked.unranked))
    return " > ".join(groups + ([f"{{{last}}}" if "," in last else last] if last else []))


def judgments(found) -> list[str]:
    """Every judgment as ``first second share judge question``; of rankings, ``first > {second, third}``."""
    c, frame = found.comparisons, found.frame[found.parsed]
    if c.stages is not None:
        return [ranked_as_text(ranked) for ranked in rankings_of(found)[0]]
    questions = frame["question_id"].tolist() if "question_id" in frame else [""] * len(frame)
    names = zip(c.first, c.second, c.outcome, c.judge, c.count, questions, strict=True)
    rows = []
    for a, b, share, judge, count, question in names:
        judge = "-" if c.judges[judge] == "one judge" else c.judges[judge]
        row = f"{c.models[a]} {c.models[b]} {share:g} {judge} {question}".strip()
        rows.append((f"{count:g} x " if count != 1 else "") + row.removesuffix(" -"))
    return rows


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_reads_its_example(name, tmp_path):
    recipe = RECIPES[name]
    found = read(example(recipe, tmp_path))
    assert found.source["layout"] == name
    assert judgments(found) == recipe["example"]["reads"]
    assert recipe["source"].startswith("https://")


def frame_of(recipe, folder: Path) -> pd.DataFrame:
    return pd.concat([read_table(path) for path in example(recipe, folder)], ignore_index=True).astype(object)


@pytest.mark.parametrize("name", RECIPES)
def test_no_recipe_passes_over_what_nobody_spoke_of(name, tmp_path):
    frame = frame_of(RECIPES[name], tmp_path)
    counts = any("count" in game for game in RECIPES[name].get("games", ()))
    if not counts:
        with pytest.raises(DataError, match=r"\bn_votes\b.*--column count=null\b"):
            read(frame.assign(n_votes=[*range(2, len(frame) + 2)]))
    last = range(max(len(frame) - 2, 0), len(frame))
    refused = [row for row in last if _is_refused(_marked(frame, row))]
    assert refused
    fewer = []
    for marked in (_marked(frame, row) for row in refused):
        left, every = (read(marked, columns={"valid": name}) for name in ("is_refusal", None))
        fewer.append(len(judgments(left)) < len(judgments(every)))
    assert any(fewer)  # some would not have counted in any case


def _marked(frame: pd.DataFrame, row: int) -> pd.DataFrame:
    return frame.assign(is_refusal=[place == row for place in range(len(frame))])


def _is_refused(frame: pd.DataFrame) -> bool:
    try:
        read(frame)
    except DataError as error:
        return "is_refusal" in str(error)
    return False


# refusals that name the options


def said_options(message: str) -> tuple[dict[str, str], dict[str, str]]:
    """The columns and the words that a refusal says to name."""
    words = shlex.split(re.search(r"\((--column .*) reads (?:them|it)\)", message)[1])
    options = list(zip(words[::2], words[1::2], strict=True))
    columns = dict(text.split("=", 1) for option, text in options if option == "--column")
    return columns, dict(text.rsplit("=", 1) for option, text in options if option == "--winner-values")


NEARLY = {  # a column that a form is known by and that is not read
    "argilla's records with a question of preference": "fields",
    "argilla's records, a row for each response": "_server_id",
    "distilabel's ratings of generations": "generations",
    "Every Eval Ever's instances": "schema_version",
    "Label Studio's pairwise annotations, short or as CSV": "lead_time",
    "MultiPref's annotations": "comparison_id",
    "reward-bench's scores of one model": "text_chosen",
}


@pytest.mark.parametrize("name", NEARLY)
def test_a_refusal_of_nearly_a_form_is_followed(name, tmp_path):
    recipe = RECIPES[name]
    frame = frame_of(recipe, tmp_path).drop(columns=NEARLY[name])
    with pytest.raises(DataError, match=re.escape(name)) as error:
        read(frame)
    columns, words = said_options(str(error.value))
    assert judgments(read(frame, columns=columns, winner_values=words)) == recipe["example"]["reads"]


def test_the_options_that_a_refusal_of_scores_names_read_them():
    frame = pd.DataFrame({"session_id": [*"aabb"], "model_test": [*"xyxy"], "score": [7, 8, 6, 5], "chat": "t"})
    with pytest.raises(DataError) as error:
        read(frame)
    columns, _ = said_options(str(error.value))
    assert judgments(read(frame, columns=columns)) == ["x y 0 - a", "x y 1 - b"]


def test_paths_name_what_is_within_other_columns():
    records = [
        {"run": {"first": {"model": "x"}, "second": {"model": "y"}}, "verdict": {"side": side}} for side in "abc"
    ]
    with pytest.raises(DataError, match=r"run\.first\.model"):
        read(records)
    columns = {"model_a": "run.first.model", "model_b": "run.second.model", "winner": "verdict.side"}
    assert judgments(read(records, columns=columns)) == ["x y 1", "x y 0", "x y 0.5"]
    listed = [{"models": ["x", "y"], "votes": [{"by": "j", "side": "a"}, {"by": "k", "side": "b"}]}]
    columns = {"model_a": "models[0]", "model_b": "models[1]", "winner": "votes[*].side", "judge": "votes[*].by"}
    assert judgments(read(listed, columns=columns)) == ["x y 1 j", "x y 0 k"]
    uneven = [{"model": ["x", "y"], "score": [1, 2, 3], "question": "q"}]
    with pytest.raises(DataError, match=r"record 1 has 2 values in 'model.*' and 3 in"):
        read(uneven, columns={"model": "model[*]", "score": "score[*]"})


def test_one_game_of_arena_hard_is_one_comparison():
    record = {"question_id": "q", "model": "x", "baseline": "base", "judge": "j", "games": [{"score": "B>A"}]}
    assert judgments(read([record, record | {"question_id": "r", "model": "y"}])) == [
        "base x 0 j q",
        "base y 0 j r",
    ]


# What no layout may pass over: counts, records that do not count, swaps, a model with itself, halves of names.

SCORES = [
    {"question": f"q{row // 2}", "model": "xy"[row % 2], "score": score, "judge": "j"}
    for row, score in enumerate((3, 1, 4, 2, 1, 5, 2, 2))
]
EVERY = {name: sample[0] for name, sample in SAMPLES.items()} | {"a table of scores": SCORES}
# whole runs and logs in one record have no records that anything beside could be said of
WHOLE = {"evaluatorq's runs", "JudgeArena's reports", "judgments of a panel in a log of inspect_ai"}
NAMES = ("opal", "flint", "amber", "slate")


def table(name: str) -> pd.DataFrame:
    once = name.startswith(("ranks", "a table of scores"))  # where one answer has one rank, and one score
    return pd.DataFrame(EVERY[name] * (1 if once else 2), dtype=object)


def opened(name: str, frame: pd.DataFrame, **columns: str | None):
    return read(frame, columns=NAMED.get(name, {}) | columns, copies="keep")


def advised(message: str) -> list[dict[str, str | None]]:
    """The columns that each alternative of a refusal names."""
    told = re.search(r"\((--column.*)\)", message)
    assert told is not None, message
    alternatives = []
    for part in told[1].split(";"):
        words = shlex.split(part)
        pairs = [words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--column"]
        alternatives.append({key: None if name == "null" else name for key, name in pairs})
    return alternatives


def drawn(size: int, seed: int = 0) -> pd.DataFrame:
    """Votes of three judges on models of which the first is the best, in random orders."""
    rng, strength = np.random.default_rng(seed), dict(zip(NAMES, (1.2, 0.3, -0.3, -1.2), strict=True))
    records = []
    for question in range(size):
        a, b = rng.choice(NAMES, 2, replace=False)
        won = rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        tied = rng.random() < 0.15
        records.append((f"q{question}", a, b, "tie" if tied else a if won else b, f"j{rng.integers(3)}"))
    return pd.DataFrame(records, columns=["question", "model_a", "model_b", "winner", "judge"])


@pytest.mark.parametrize("name", EVERY)
def test_no_layout_passes_over_counts_that_nobody_spoke_of(name):
    frame = table(name)
    with pytest.raises(DataError, match="'freq' looks like one of counts") as error:
        opened(name, frame.assign(freq=[*range(1, len(frame) + 1)]))
    for columns in advised(str(error.value)):
        opened(name, frame.assign(freq=[*range(1, len(frame) + 1)]), **columns)


@pytest.mark.parametrize("mark", NOT_COUNTING)
@pytest.mark.parametrize("name", [name for name in EVERY if name not in WHOLE])
def test_no_layout_passes_over_records_that_do_not_count(name, mark):
    frame = table(name)
    counting = np.arange(len(frame)) < len(frame) // 2
    cells: object = np.where(counting, not NOT_COUNTING[mark], NOT_COUNTING[mark])
    column, _, key = mark.partition(".")
    marked = frame.assign(**{column: [{key: bool(cell)} for cell in cells] if key else cells})
    with pytest.raises(DataError, match=rf"\b{column}\b") as error:
        opened(name, marked)
    left_out, counted = (opened(name, marked, **columns) for columns in advised(str(error.value)))
    assert rows(left_out) == rows(opened(name, frame[counting]))
    assert counted.comparisons.n_comparisons > left_out.comparisons.n_comparisons
    assert counted.warnings


def test_every_layout_is_walked():
    others = {layout.name for layout in LAYOUTS if layout.of_scores or layout.recipe is not None}
    assert {layout.name for layout in LAYOUTS} - EVERY.keys() <= others  # recipes: tests/tool/test_recipes.py


def test_votes_that_do_not_count_do_not_turn_a_ranking():
    votes, others = drawn(300), drawn(120, 1).assign(winner="slate", model_a="slate", model_b="opal", judge="k")
    both = pd.concat([votes.assign(anony=True), others.assign(anony=False)], ignore_index=True)
    with pytest.raises(DataError, match="120 of 420 records do not count"):
        read(both)
    assert rank(both, columns={"valid": "anony"}).leaderboard["model"].iloc[0] == "opal"


def test_rankings_count_as_often_as_their_record_says():
    frame = pd.DataFrame({"ranking": ["a > b > c > d", "a > b > d > c", "b > a > c > d"], "freq": [9, 3, 2]})
    found = read(frame, columns={"count": "freq"})
    assert len(sizes_of_rankings(found)) == 14
    repeated = frame.loc[np.repeat(frame.index, frame["freq"])].drop(columns="freq")
    assert rows(found) == rows(read(repeated))
    assert found.frame["question_id"].nunique() == 14


def test_a_model_with_itself_is_left_out_up_to_one_in_ten():
    frame = drawn(100).assign(winner="tie")
    few, many = (frame.assign(model_b=frame["model_b"].where(frame.index >= n, frame["model_a"])) for n in (9, 30))
    assert read(few).comparisons.dropped[ITSELF] == 9
    with pytest.raises(DataError, match=r"^30 of 100 records\b.*\brecord 1\b"):
        read(many)


@pytest.mark.parametrize("stem", ["model_", "model"])
def test_following_the_advice_on_names_that_count_from_zero_keeps_the_order(stem):
    votes = drawn(200)
    named = votes.rename(columns={"model_a": f"{stem}0", "model_b": f"{stem}1"})
    with pytest.raises(DataError) as error:
        read(named)
    (columns,) = advised(_options_of(str(error.value)))
    assert rows(read(named, columns=columns)) == rows(read(votes))
    letters = np.where(votes["winner"] == votes["model_a"], f"{stem}0", f"{stem}1")
    by_place = named.assign(winner=np.where(votes["winner"] == "tie", "tie", letters))
    assert rows(read(by_place, columns=columns)) == rows(read(votes))
    with pytest.raises(DataError):  # one name of the two says nothing of the other
        read(named, columns={"model_b": f"{stem}0"})


def _options_of(message: str) -> str:
    options = re.findall(r"--column \S+?=[\w.\[\]*]+", message)
    return f"({' '.join(options)})"


def test_pairs_in_the_order_of_their_names_say_nothing_of_positions():
    votes = drawn(19)
    first, second = votes[["model_a", "model_b"]].min(axis=1), votes[["model_a", "model_b"]].max(axis=1)
    in_order = votes.assign(model_a=first, model_b=second)
    other = dict(zip(NAMES, ("delta", "bravo", "alpha", "charlie"), strict=True))
    renamed = votes.replace(other)
    pair = renamed[["model_a", "model_b"]]
    renamed = renamed.assign(model_a=pair.min(axis=1), model_b=pair.max(axis=1))
    boards = [rank(frame, solver="penalised").leaderboard for frame in (in_order, renamed)]
    scores = [dict(zip(board["model"], board["score"], strict=True)) for board in boards]
    assert_allclose([scores[0][name] for name in NAMES], [scores[1][other[name]] for name in NAMES], atol=1e-6)


def test_the_best_of_several_is_no_tie_among_the_others():
    rng, wins = np.random.default_rng(4), dict(zip(NAMES, (35, 13, 6, 6), strict=True))
    chosen = rng.permutation([name for name, n in wins.items() for _ in range(n)])
    outputs = [
        {
            "provider": {"id": name},
            "prompt": {"raw": "p"},
            "vars": {"topic": str(test)},
            "gradingResult": {
                "componentResults": [
                    {"assertion": {"type": kind}, "pass": name == best, "score": float(name == best)}
                ]
            },
        }
        for test, best in enumerate(chosen)
        for name in NAMES
        for kind in ("select-best",)
    ]
    report = [{"results": {"results": outputs}, "config": {}}]
    found = read(report)
    assert set(sizes_of_rankings(found)) == {4} and len(sizes_of_rankings(found)) == 60
    board = rank(report, model="btl", solver="newton").leaderboard.set_index("model")["score"]
    expected = np.log([wins[name] for name in NAMES])  # Luce's first choice in closed form
    assert_allclose(board[list(NAMES)], expected - expected.mean(), atol=2e-3)


def test_names_that_programs_write_for_none_are_refused_in_every_layout():
    battles = [record | {"judge_model": "None"} for record in EVERY["JudgeArena's battles"]]
    report = [EVERY["JudgeArena's reports"][0] | {"model_A": "nan"}]
    for records in (battles, report):
        with pytest.raises((DataError, ConfigError), match=r"\b(None|nan)\b.*--names\b"):
            read(records)


def test_one_judge_of_a_wide_table_is_named_and_one_who_is_silent_is_counted():
    frame = pd.DataFrame(
        {"question": range(8), "model_a": "x", "model_b": "y", "j": [*"abab", *"aaaa"], "k": None}
    )
    alone = read(frame, columns={"judges": "j"}).comparisons
    assert alone.judges == ("j",)
    assert alone.n_comparisons == 8
    both = read(frame, columns={"judges": "j,k"}).comparisons
    assert both.n_comparisons == 8
    assert sum(both.dropped.values()) == 8
    with pytest.raises(DataError, match="judge"):
        read(frame, columns={"judges": "k"})
