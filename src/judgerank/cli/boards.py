"""`judgerank place` and `judgerank diff`: a newcomer on a saved board, and two saved boards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.boards import moving
from judgerank.boards.comparing import compare
from judgerank.boards.reported import difference_text, placement_text
from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    BaselineOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FilesArgument,
    FormatOption,
    LevelOption,
    NamesOption,
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.cli.terminal import say
from judgerank.fits import loading
from judgerank.reading.files import paths_of
from judgerank.reading.read import read_judgments

SAVED = "saved by judgerank rank --save"


def place(
    board: Annotated[Path, typer.Argument(metavar="BOARD", help=f"A board, {SAVED}.")],
    files: FilesArgument,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    level: LevelOption = 0.95,
) -> None:
    """Place new models on a board by their own judgments, the board as it is, and say whether they move it."""
    fitted = loading.load(board)
    files, words = words_of(winner_values, files)
    read = columns_of(column), words, baseline, encoding, names.value, copies.value
    judgments = read_judgments(paths_of(files), format and format.value, *read)
    question = judgments.question if "question_id" in judgments.frame else None
    placed = moving.place(fitted, judgments.comparisons, question, level)
    for line in placement_text(placed):
        say(line)


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help=f"A board, {SAVED}.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one.")],
    level: LevelOption = 0.95,
) -> None:
    """Say what moved between two boards, whether by more than noise, and whether judges or questions changed."""
    found = compare(loading.load(old), loading.load(new), level)
    for line in difference_text(found, loading.about(old), loading.about(new)):
        say(line)
