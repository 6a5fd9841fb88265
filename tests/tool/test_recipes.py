"""Every recipe reads its own example to the judgments that it says, in every form that can hold it."""

from pathlib import Path

import pandas as pd
import pytest

from judgerank import read
from judgerank.data.errors import DataError
from judgerank.data.rankings import sizes_of_rankings
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


def judgments(found) -> list[str]:
    """Every judgment as ``first second share judge question``; of rankings, their sizes."""
    c, frame = found.comparisons, found.frame[found.parsed]
    if c.stages is not None:
        return [f"{size} ranked" for size in sizes_of_rankings(found)]
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
    with pytest.raises(DataError, match="looks like one of counts"):
        read(frame.assign(n_votes=[*range(2, len(frame) + 2)]))
    refused = frame.assign(is_refusal=[row % 2 == 0 for row in range(len(frame))])
    with pytest.raises(DataError, match="do not count"):
        read(refused)
    kept = len(judgments(read(refused, columns={"valid": "is_refusal"})))
    assert kept < len(judgments(read(refused, columns={"valid": None})))
