"""`judgerank people`: a few human votes as the anchor of a panel's many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import (
    BaselineOption,
    ColumnOption,
    FilesArgument,
    FormatOption,
    LevelOption,
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.files import paths_of
from judgerank.people.report import people_report
from judgerank.publishing import STORED_FORMAT, replace_file
from judgerank.reading import read_judgments


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
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
    level: LevelOption = 0.95,
    next_: Annotated[
        Path | None, typer.Option("--next", help="File for the items to show to people next, as CSV.")
    ] = None,
) -> None:
    """Put scores on the human scale by a few human votes; say whether panel and people agree."""
    files, words = words_of(winner_values, files)
    judgments = read_judgments(paths_of(files), format and format.value, columns_of(column), words, baseline)
    report = people_report(judgments, human or (), level)
    if next_ is not None:
        replace_file(next_, report.next.to_csv(index=False, float_format=STORED_FORMAT, lineterminator="\n"))
    typer.echo(str(report))
    if next_ is not None:
        typer.echo(f"\nthe items: {next_}")
