"""`judgerank place` and `judgerank diff`: a newcomer on a saved board, and two saved boards.

Their options; `boards_run` does what they say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    BaselineOption,
    BoardOwnMakerOption,
    CategoryOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FactsOption,
    FilesArgument,
    FormatOption,
    JsonOption,
    LevelOption,
    NamesOption,
    OnlyJudgeOption,
    WinnerValuesOption,
    WithoutJudgeOption,
    WithoutModelOption,
    how_read,
    selected,
    words_of,
)

SAVED = "saved by judgerank rank --save"


def place(
    board: Annotated[Path, typer.Argument(metavar="BOARD", help=f"A board, {SAVED}.")],
    files: FilesArgument,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    format: FormatOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    without_judge: WithoutJudgeOption = None,
    only_judge: OnlyJudgeOption = None,
    without_model: WithoutModelOption = None,
    category: CategoryOption = None,
    own_maker: BoardOwnMakerOption = None,
    models: FactsOption = None,
    level: LevelOption = 0.95,
    json: JsonOption = False,
) -> None:
    """Add new models to a saved board without refitting it, and test whether they would change it."""
    from judgerank.cli import boards_run

    files, words = words_of(winner_values, files)
    selection = selected(without_judge, only_judge, without_model, category)
    read = how_read(column, words, format, baseline, encoding, names, copies, selection)
    boards_run.place_newcomers(board, files, read, level, json, own_maker, models)


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help=f"A board, {SAVED}.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another board, usually a newer one.")],
    level: LevelOption = 0.95,
    json: JsonOption = False,
) -> None:
    """Compare two saved boards: which models moved by more than noise, and which judges and questions changed."""
    from judgerank.cli import boards_run

    boards_run.compared(old, new, level, json)
