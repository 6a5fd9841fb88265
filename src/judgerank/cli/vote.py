"""`judgerank vote`: a page on which people vote.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import (
    ANSWER_COLUMNS,
    FILE,
    OUTPUT,
    AnswerListOption,
    ForceOption,
    JsonOption,
    QuestionsArgument,
    named,
)
from judgerank.cli.terminal import say, say_json

NEXT = (
    "judgerank rank votes-NAME.jsonl",
    "judgerank people votes-NAME.jsonl JUDGMENTS   # beside those of LLM judges on the same questions",
)


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
    answers: AnswerListOption = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", rich_help_panel=OUTPUT, help="HTML file to write.")
    ] = Path("vote.html"),
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Write a page on which people vote blind: two answers, no names, keyboard or phone, no network.

    The page saves a file of votes that `judgerank rank` and `judgerank people` read.
    """
    from judgerank.collecting.answer_sources import files_of, read_questions
    from judgerank.voting.vote_page import drawn_items, listed_items, vote_page
    from judgerank.writing.targets import Outputs

    columns = named(column, ANSWER_COLUMNS)
    outputs = Outputs([*files_of(questions), *([items] if items is not None else ())], force)
    outputs.file(output)  # before anything is read
    read = read_questions(questions, columns, answers)
    tasks = drawn_items(read, votes, seed) if items is None else listed_items(read, items, votes, seed)
    outputs.write({output: vote_page(read, tasks, voter, ask).encode()})
    if json:
        say_json("vote", {"items": len(tasks), "run_next": list(NEXT), "files": {"page": output}})
        return
    say(f"{len(tasks)} items on {output}. Open it in a browser, vote, save the file, then:")
    for line in NEXT:
        say(line)
