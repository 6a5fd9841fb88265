"""`judgerank place` and `judgerank diff`: a newcomer on a saved board, and two saved boards.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgerank.cli.options import (
    BoardOwnMakerOption,
    FactsOption,
    FilesArgument,
    JsonOption,
    LevelOption,
    Reading,
    reads_files,
)
from judgerank.cli.terminal import say, say_json

if TYPE_CHECKING:
    from judgerank.boards import moving
    from judgerank.boards.comparing import Difference


SAVED = "saved by judgerank rank --save"


@reads_files
def place(
    board: Annotated[Path, typer.Argument(metavar="BOARD", help=f"A board, {SAVED}.")],
    files: FilesArgument,
    read: Reading,
    own_maker: BoardOwnMakerOption = None,
    models: FactsOption = None,
    level: LevelOption = 0.95,
    json: JsonOption = False,
) -> None:
    """Add new models to a saved board without refitting it, and test whether they would change it."""
    from judgerank.boards import moving
    from judgerank.boards.reported import placement_text
    from judgerank.fits import result
    from judgerank.ranking.page_options import makers_on
    from judgerank.ranking.recusal import RECUSE
    from judgerank.reading.files import paths_of
    from judgerank.reading.read import read_judgments

    fitted, kept = result.load(board), result.about(board)
    judgments = read_judgments(paths_of(files), **read)
    counting = str(own_maker or kept.get("own_maker", RECUSE))  # as they did on the board
    makers = {**kept.get("makers", {}), **dict(makers_on(judgments, models))}
    placement = moving.place(fitted, judgments, level=level, own_maker=counting, makers=makers)
    if json:
        record = {"own_maker": counting, "filter": judgments.requests}
        say_json("place", {**_placement(placement), **record})
        return
    for line in placement_text(placement):
        say(line)


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help=f"A board, {SAVED}.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another board, usually a newer one.")],
    level: LevelOption = 0.95,
    json: JsonOption = False,
) -> None:
    """Compare two saved boards: which models moved by more than noise, and which judges and questions changed."""
    from judgerank.boards.comparing import compare
    from judgerank.boards.reported import difference_text
    from judgerank.fits import result

    difference = compare(result.load(old), result.load(new), level)
    about = result.about(old), result.about(new)
    if json:
        say_json("diff", {**_difference(difference), "kept": dict(zip(("old", "new"), about, strict=True))})
        return
    for line in difference_text(difference, *about):
        say(line)


def _placement(placement: moving.Placement) -> dict[str, object]:
    import numpy as np

    from judgerank.boards.reported import placement_headline
    from judgerank.writing.spreadsheets import records

    return {
        "headline": placement_headline(placement),
        "notes": placement.remarks,
        "level": placement.level,
        "left_out": dict(placement.anchored.left_out),
        "missing_judges": {model: list(judges) for model, judges in placement.anchored.missing_judges.items()},
        "tastes": float(np.sqrt(placement.anchored.tastes.variance)),
        "newcomers": records(placement.newcomers),
        "differences": records(placement.differences),
        "moved": placement.moved,
        "moves": records(placement.moves),
        "judges": records(placement.judges),
        "no_refit": placement.why or None,
    }


def _difference(difference: Difference) -> dict[str, object]:
    from judgerank.writing.spreadsheets import records

    sides = ("gone", "new")
    return {
        "level": difference.level,
        "relation": difference.relation,
        "comparisons": dict(zip(("old", "new"), difference.comparisons, strict=True)),
        "members": dict(zip(("old", "new"), difference.members, strict=True)),
        "models": dict(zip(sides, difference.models, strict=True)),
        "judges": dict(zip(sides, difference.judges, strict=True)),
        "same_judges": difference.n_same_judges,
        "untested": difference.untested or None,
        "moved": difference.moved,
        "moves": records(difference.moves),
    }
