"""`judgerank vote`: a page on which people vote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import ForceOption, QuestionsArgument
from judgerank.cli.terminal import say
from judgerank.cli.values import named
from judgerank.collecting.answer_sources import COLUMNS, files_of, read_questions
from judgerank.voting.vote_items import drawn_items, listed_items
from judgerank.voting.vote_page import vote_page
from judgerank.writing.targets import Outputs


def vote(
    questions: QuestionsArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("vote.html"),
    votes: Annotated[
        int | None, typer.Option(min=1, help="How many votes to ask for, at random; by default all there are.")
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="Ask for these, in this order: the file that judgerank people --next writes."),
    ] = None,
    voter: Annotated[str, typer.Option(help="Name of the person; by default the page asks.")] = "",
    ask: Annotated[str, typer.Option(help="The question at the top of the page.")] = "",
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=NAME",
            help=f"Name of a column, if it is not {', '.join(COLUMNS)}. Can be given several times.",
        ),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with a list of answers; by default a row is one answer."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides what is drawn and which answer comes first.")] = 2026,
    force: ForceOption = False,
) -> None:
    """Write a page on which people vote blind: two answers, no names, keyboard or phone, no network.

    The page saves a file of votes that `judgerank rank` and `judgerank people` read.
    """
    inputs = [*files_of(questions), *([items] if items is not None else ())]
    outputs = Outputs(inputs, force)
    outputs.file(output)  # before anything is read
    read = read_questions(questions, named(column, tuple(COLUMNS)), answers)
    asked = drawn_items(read, votes, seed) if items is None else listed_items(read, items, votes, seed)
    outputs.write({output: vote_page(read, asked, voter, ask).encode()})
    say(f"{len(asked)} items on {output}. Open it in a browser, vote, save the file, then:")
    say("judgerank rank votes-NAME.jsonl")
    say("judgerank people votes-NAME.jsonl JUDGMENTS   # beside those of LLM judges on the same questions")
