"""`judgerank cells`: judgments counted, here or by an SQL engine. Its options; `cells_run` does what they say."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    CELL_FORMS,
    CELL_TABLE,
    DIALECTS,
    OUTPUT,
    BaselineOption,
    CategoryOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FilesArgument,
    ForceOption,
    FormatOption,
    JsonOption,
    NamesOption,
    OnlyJudgeOption,
    WinnerValuesOption,
    WithoutJudgeOption,
    WithoutModelOption,
    how_read,
    selected,
    words_of,
)

Dialect = StrEnum("Dialect", {name: name for name in DIALECTS})  # type: ignore[misc]  # known when it runs


def cells(
    files: FilesArgument,
    by_question: Annotated[
        bool, typer.Option("--by-question", help="Count the judgments of every question by themselves.")
    ] = False,
    sql: Annotated[
        Dialect | None,
        typer.Option(
            help="Print the statement that counts the judgments instead, in this dialect. Columns are those of "
            "the file, of which a few records are enough."
        ),
    ] = None,
    table: Annotated[str, typer.Option(help="Table of the statement, as the engine names it.")] = CELL_TABLE,
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
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            rich_help_panel=OUTPUT,
            help=f"File to write: {', '.join(CELL_FORMS)}; of --sql, any.",
        ),
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Count judgments that are alike: a small file in place of a large one, made here or by an SQL engine.

    A ranking of the counts has the scores of a ranking of the judgments. Standard errors by question take
    --by-question. Rank them with --column count=count.
    """
    from judgerank.cli import cells_run

    files, words = words_of(winner_values, files)
    selection = selected(without_judge, only_judge, without_model, category)
    read = how_read(column, words, format, baseline, encoding, names, copies, selection)
    if sql is not None:
        cells_run.stated(files, read, sql.value, table, by_question, output, force, json)
        return
    if output is None or output.suffix.lstrip(".").lower() not in CELL_FORMS:
        raise typer.BadParameter(f"name a file that ends in {', '.join(CELL_FORMS)}.", param_hint="'--output'")
    cells_run.written(files, read, by_question, output, force, json)
