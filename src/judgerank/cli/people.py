"""`judgerank people`: a few human votes as the anchor of a panel's many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    BaselineOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FilesArgument,
    ForceOption,
    FormatOption,
    LevelOption,
    NamesOption,
    RawOption,
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.cli.terminal import say
from judgerank.data.errors import ConfigError
from judgerank.people.human_board import HumanBoard
from judgerank.people.report import on_human_board, people_report
from judgerank.reading.files import paths_of, plain
from judgerank.reading.read import read_judgments
from judgerank.writing.spreadsheets import csv_of
from judgerank.writing.targets import Outputs


def people(
    files: FilesArgument,
    human: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JUDGE",
            help="A judge who is a person; can be given several times. People can be marked in a column, too "
            "(--column human=NAME).",
        ),
    ] = None,
    board: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="A published human board (columns model and elo): places the models that are not on it on its "
            "scale, by judges' verdicts alone.",
        ),
    ] = None,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    level: LevelOption = 0.95,
    next_: Annotated[
        Path | None, typer.Option("--next", help="File for the items to show to people next, as CSV.")
    ] = None,
    force: ForceOption = False,
    raw: RawOption = False,
) -> None:
    """Put scores on the human scale by human votes or a human board; say whether panel and people agree."""
    if board is not None and (human or next_ is not None):
        raise ConfigError("--board takes the place of human votes: leave --human and --next out")
    files, words = words_of(winner_values, files)
    paths = paths_of(files)
    outputs = Outputs(plain(paths), force)
    if next_ is not None:
        outputs.file(next_)  # before anything is computed
    read = columns_of(column), words, baseline, encoding, names.value, copies.value
    judgments = read_judgments(paths, format and format.value, *read)
    if board is not None:
        say(str(on_human_board(judgments, HumanBoard.read(board), level)))
        return
    report = people_report(judgments, human or (), level)
    if next_ is not None:
        outputs.write({next_: csv_of(report.next, raw=raw).encode()})
    say(str(report))
    if next_ is not None:
        say(f"\nthe items: {next_}")
