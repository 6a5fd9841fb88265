"""`judgerank trust`: what would change a ranking, and how many independent judges its panel is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import (
    NEWTON,
    BaselineOption,
    ColumnOption,
    FilesArgument,
    FormatOption,
    LevelOption,
    ModelOption,
    SolverOption,
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.files import paths_of
from judgerank.leaderboard.settings import Settings
from judgerank.publishing import replaceable
from judgerank.reading import read_judgments
from judgerank.trust.report import SECTION, trust_report


def trust(
    files: FilesArgument,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
    model: ModelOption = None,
    solver: SolverOption = NEWTON,
    level: LevelOption = 0.95,
    most: Annotated[
        int, typer.Option(min=1, help="Pairs of neighbours tried, those nearest to a change by the forecast.")
    ] = 20,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the tables, with every judgment of every set."),
    ] = None,
) -> None:
    """Say what would change a ranking: the fewest judgments, questions or judges found, and how many judges count.

    Every set was confirmed by ranking without it.
    """
    files, words = words_of(winner_values, files)
    if output is not None:
        replaceable(output, SECTION)  # before anything is computed
    judgments = read_judgments(paths_of(files), format and format.value, columns_of(column), words, baseline)
    report = trust_report(judgments, Settings(model and model.value, solver.value, level), most)
    folder = None if output is None else report.write(output)
    typer.echo(str(report))
    if folder is not None:
        typer.echo(f"\nthe tables: {folder}")
