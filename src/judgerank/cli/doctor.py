"""`judgerank doctor`: what a file of judgments supports."""

from __future__ import annotations

import typer

from judgerank.cli.options import (
    BaselineOption,
    ColumnOption,
    FilesArgument,
    FormatOption,
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.leaderboard.examination import examine


def doctor(
    files: FilesArgument,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
) -> None:
    """Say how files of judgments are read, what they support, what is wrong, and which command to run next.

    The exit code is 0 if they can be ranked, and 1 if not.
    """
    files, words = words_of(winner_values, files)
    for topic, said in examine(files, format and format.value, columns_of(column), words, baseline):
        typer.echo(f"{topic + ':':<12}{said}")
