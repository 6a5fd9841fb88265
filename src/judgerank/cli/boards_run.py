"""What `judgerank place` and `judgerank diff` do, apart from their options, so that help loads nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgerank.boards import moving
from judgerank.boards.comparing import Difference, compare
from judgerank.boards.reported import difference_text, placement_text
from judgerank.cli.documents import records
from judgerank.cli.terminal import say, say_json
from judgerank.fits import loading
from judgerank.reading.files import paths_of
from judgerank.reading.read import read_judgments


def placed(board: Path, files: list[Path], read: Mapping[str, Any], level: float, json: bool) -> None:
    """Place the new models of files on a board; `read` is what `read_judgments` is told."""
    fitted = loading.load(board)
    judgments = read_judgments(paths_of(files), **read)
    question = judgments.question if "question_id" in judgments.frame else None
    found = moving.place(fitted, judgments.comparisons, question, level)
    if json:
        say_json("place", _placement(found))
        return
    for line in placement_text(found):
        say(line)


def _placement(found: moving.Placement) -> dict[str, object]:
    return {
        "level": found.level,
        "left_out": dict(found.anchored.left_out),
        "newcomers": records(found.newcomers),
        "differences": records(found.differences),
        "moved": found.moved,
        "moves": records(found.moves),
        "judges": records(found.judges),
        "no_refit": found.why or None,
    }


def compared(old: Path, new: Path, level: float, json: bool) -> None:
    """Say what differs between two boards."""
    found = compare(loading.load(old), loading.load(new), level)
    about = loading.about(old), loading.about(new)
    if json:
        say_json("diff", {**_difference(found), "kept": dict(zip(("old", "new"), about, strict=True))})
        return
    for line in difference_text(found, *about):
        say(line)


def _difference(found: Difference) -> dict[str, object]:
    sides = ("gone", "new")
    return {
        "level": found.level,
        "relation": found.relation,
        "comparisons": dict(zip(("old", "new"), found.comparisons, strict=True)),
        "members": dict(zip(("old", "new"), found.members, strict=True)),
        "models": dict(zip(sides, found.models, strict=True)),
        "judges": dict(zip(sides, found.judges, strict=True)),
        "moved": found.moved,
        "moves": records(found.moves),
    }
