"""Every recipe reads its own example to the judgments that it says, in every form that can hold it."""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from judgerank import read
from judgerank.data.errors import DataError
from judgerank.data.rankings import Ranked, rankings_of
from judgerank.reading.file_formats import read_table
from judgerank.reading.layouts.by_recipe import recipes

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
