"""`judgerank people`: a few human votes as the anchor of a panel's many.

Its options; `people_run` does what they say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    OUTPUT,
    RECUSE,
    UNCERTAINTY,
    BaselineOption,
    CategoryOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FactsOption,
    FilesArgument,
    ForceOption,
    FormatOption,
    JsonOption,
    LevelOption,
    NamesOption,
    OnlyJudgeOption,
    OwnMakerOption,
    RawOption,
    WinnerValuesOption,
    WithoutJudgeOption,
    WithoutModelOption,
    how_read,
    selected,
    words_of,
)


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
            help="A published leaderboard of human votes (columns model and elo). Models that are not on it are "
            "placed on its scale, from the judges' verdicts alone.",
        ),
    ] = None,
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
    own_maker: OwnMakerOption = RECUSE,
    models: FactsOption = None,
    level: LevelOption = 0.95,
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            metavar="[question|person|COLUMN]",
            help="What was sampled, by which errors are clustered. Given twice, the two are crossed. By default "
            "question and person where ten people or more voted, some of them several times; else question.",
        ),
    ] = None,
    next_: Annotated[
        Path | None,
        typer.Option("--next", rich_help_panel=OUTPUT, help="File for the items to show to people next, as CSV."),
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
    raw: RawOption = False,
) -> None:
    """Calibrate scores to human votes or a human leaderboard, and test whether the judges agree with people."""
    from judgerank.cli import people_run

    files, words = words_of(winner_values, files)
    selection = selected(without_judge, only_judge, without_model, category)
    read = how_read(column, words, format, baseline, encoding, names, copies, selection)
    items = people_run.NextItems(next_, force, raw)
    if board is not None:
        if cluster:
            raise typer.BadParameter("--cluster is of human votes, and --board has none: leave one out.")
        people_run.place_on_human_board(
            files, read, board, level, human or [], items, json, own_maker.value, models
        )
        return
    people_run.anchored(
        files, read, human or [], level, items, json, own_maker.value, models, tuple(cluster or ())
    )
