"""`judgerank trust`: what would change a ranking, and how many independent judges its panel is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.model_options import SHRUNK, ModelOption, SolverOption
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
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.cli.terminal import Progress, say
from judgerank.ranking.choices import Settings
from judgerank.ranking.trust_report import SECTION, trust_report
from judgerank.reading.files import paths_of, place_of, plain
from judgerank.reading.read import read_judgments
from judgerank.writing.targets import Outputs


def trust(
    files: FilesArgument,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    model: ModelOption = None,
    solver: SolverOption = SHRUNK,
    level: LevelOption = 0.95,
    most: Annotated[
        int, typer.Option(min=1, help="Pairs of neighbours tried, those nearest to a change by the forecast.")
    ] = 20,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the tables, with every judgment of every set."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Say what would change a ranking: the fewest judgments, questions or judges found, and how many judges count.

    Every set was confirmed by ranking without it.
    """
    files, words = words_of(winner_values, files)
    paths = paths_of(files)
    if output is not None:
        Outputs(plain(paths), force).folder(output, SECTION, place_of(paths))  # before anything is computed
    read = columns_of(column), words, baseline, encoding, names.value, copies.value
    judgments = read_judgments(paths, format and format.value, *read)
    report = trust_report(judgments, Settings(model, solver.value, level), most, Progress("sets searched for"))
    folder = None if output is None else report.write(output, force=force)
    say(str(report))
    if folder is not None:
        say(f"\nthe tables: {folder}")
