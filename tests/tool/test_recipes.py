"""Every recipe reads its own example to the judgments that it says, in every form that can hold it."""

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
        with pytest.raises(DataError, match="looks like one of counts"):
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
        return "do not count" in str(error)
    return False
