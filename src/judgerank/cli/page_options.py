"""Options of `judgerank rank` on what its page shows besides the ranking."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.offered import FACTS
from judgerank.cli.options import PAGE

FactsOption = Annotated[
    Path | None,
    typer.Option(
        "--models",
        rich_help_panel=PAGE,
        metavar="FILE",
        help="Facts on the models to show and to filter by: a table with a column model and any of "
        f"{', '.join(FACTS)}.",
    ),
]
SinceOption = Annotated[
    Path | None,
    typer.Option(
        "--since",
        rich_help_panel=PAGE,
        metavar="BOARD",
        help="Show what changed since a board that --save wrote earlier.",
    ),
]
AnswersOption = Annotated[
    str | None,
    typer.Option(
        "--answers",
        rich_help_panel=PAGE,
        metavar="FILE",
        help="Questions and answers that were judged, to read on the page: the file that judgerank collect takes.",
    ),
]
CardOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--card",
        rich_help_panel=PAGE,
        metavar="FILE",
        help="Picture of the ranking for a slide or a message: NAME.svg or NAME.png.",
    ),
]
EachJudgeOption = Annotated[
    bool | None,
    typer.Option(
        "--each-judge/--no-each-judge",
        rich_help_panel=PAGE,
        help="Add the ranking without each of the judges to the page. By default only if it takes a few seconds.",
    ),
]


def one_card(paths: list[Path] | None) -> Path | None:
    """The card to write; more than one is refused, of which all but the last would be dropped in silence."""
    if paths and len(paths) > 1:
        message = f"given {len(paths)} times, and one card is written. Rank again for another one."
        raise typer.BadParameter(message, param_hint="'--card'")
    return paths[0] if paths else None
