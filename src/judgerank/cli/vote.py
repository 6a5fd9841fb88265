"""`judgerank vote`: a page on which people vote. Its options; `vote_run` does what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import ANSWER_COLUMNS, FILE, OUTPUT, ForceOption, JsonOption, QuestionsArgument, named


def vote(
    questions: QuestionsArgument,
    votes: Annotated[
        int | None, typer.Option(min=1, help="How many votes to ask for, at random; by default all there are.")
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="Ask for these, in this order: the file that judgerank people --next writes."),
    ] = None,
    voter: Annotated[str, typer.Option(help="Name of the person; by default the page asks.")] = "",
    ask: Annotated[str, typer.Option(help="The question at the top of the page.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Decides what is drawn and which answer comes first.")] = 2026,
    column: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=FILE,
            metavar="KEY=NAME",
            help=f"Name of a column, if it is not {', '.join(ANSWER_COLUMNS)}. Can be given several times.",
        ),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=FILE,
            metavar="COLUMN",
            help="Column with a list of answers; by default a row is one answer.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", rich_help_panel=OUTPUT, help="HTML file to write.")
    ] = Path("vote.html"),
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Write a page on which people vote blind: two answers, no names, keyboard or phone, no network.

    The page saves a file of votes that `judgerank rank` and `judgerank people` read.
    """
    from judgerank.cli import vote_run

    drawn = vote_run.Drawn(votes, items, seed)
    columns = named(column, ANSWER_COLUMNS)
    vote_run.written(questions, columns, answers, drawn, (voter, ask), vote_run.Page(output, force), json)
