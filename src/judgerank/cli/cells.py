"""`judgerank cells`: judgments counted, here or by an SQL engine."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    FILE,
    OUTPUT,
    BaselineOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FilesArgument,
    ForceOption,
    FormatOption,
    NamesOption,
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.cli.terminal import say
from judgerank.ranking.exports import RAW
from judgerank.reading.cells_in_sql import QUOTES, TABLE, columns_in, counted_cells, statement
from judgerank.reading.files import paths_of, plain
from judgerank.reading.read import read_judgments
from judgerank.writing.targets import Outputs

Dialect = StrEnum("Dialect", {name: name for name in QUOTES})  # type: ignore[misc]  # known when it runs
FORMS = ("csv", "tsv", "parquet", "json", "jsonl")  # that judgments are read from


def cells(
    files: FilesArgument,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    sql: Annotated[
        Dialect | None,
        typer.Option(
            rich_help_panel=OUTPUT,
            help="Print the statement that counts the judgments instead, in this dialect. Columns are those of "
            "the file, of which a few records are enough.",
        ),
    ] = None,
    table: Annotated[
        str, typer.Option(rich_help_panel=FILE, help="Table of the statement, as the engine names it.")
    ] = TABLE,
    by_question: Annotated[
        bool, typer.Option("--by-question", help="Count the judgments of every question by themselves.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", rich_help_panel=OUTPUT, help=f"File to write: {', '.join(FORMS)}."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Count judgments that are alike: a small file in place of a large one, made here or by an SQL engine.

    A ranking of the counts has the scores of a ranking of the judgments. Standard errors by question take
    --by-question. Rank them with --column count=count.
    """
    files, words = words_of(winner_values, files)
    paths = paths_of(files)
    if sql is not None:
        say(
            statement(
                columns_in(paths[0], format and format.value, columns_of(column)), sql.value, table, by_question
            )
        )
        return
    form = "" if output is None else output.suffix.lstrip(".").lower()
    if output is None or form not in FORMS:
        raise typer.BadParameter(f"name a file that ends in {', '.join(FORMS)}.", param_hint="'--output'")
    outputs = Outputs(plain(paths), force)
    outputs.file(output)
    read = columns_of(column), words, baseline, encoding, names.value, copies.value
    found = counted_cells(read_judgments(paths, format and format.value, *read), by_question)
    outputs.write({output: RAW[form](found)})
    say(f"{output}: {len(found):,} kinds of judgments (judgerank rank {output} --column count=count)")
