"""`judgerank doctor`: what a file of judgments supports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import ColumnOption, FormatOption, columns_of
from judgerank.leaderboard.examination import examine


def doctor(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File of judgments, one a row.")],
    format: FormatOption = None,
    column: ColumnOption = None,
) -> None:
    """Say what a file of judgments supports, what is wrong with it, and which command to run next.

    The exit code is 0 if it can be ranked, and 1 if not.
    """
    for topic, said in examine(file, format and format.value, columns_of(column)):
        typer.echo(f"{topic + ':':<11}{said}")
