"""`judgerank vote`: a page on which people vote.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from judgerank.cli.options import ANSWER_COLUMNS, FILE, OUTPUT, ForceOption, JsonOption, QuestionsArgument, named
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
    """Create an offline page for blind human voting, by keyboard or on a phone.

    The page saves a file of votes that `judgerank rank` and `judgerank people` read.
    """
    drawn = Drawn(votes, items, seed)
    columns = named(column, ANSWER_COLUMNS)
    written(questions, columns, answers, drawn, (voter, ask), Page(output, force), json)


class Drawn(NamedTuple):
    """What is asked: so many votes, of a list of items if there is one."""

    votes: int | None
    items: Path | None
    seed: int


class Page(NamedTuple):
    """Where the page goes, and whether it may replace anything."""

    path: Path
    force: bool


def written(
    sources: list[str],
    columns: Mapping[str, str | None],
    answers: str | None,
    drawn: Drawn,
    pair_columns: tuple[str, str],
    page: Page,
    json: bool,
) -> None:
    """Write the page; `shown` are the person's name and the question at the top."""
    from judgerank.collecting.answer_sources import files_of, read_questions
    from judgerank.voting.vote_page import drawn_items, listed_items, vote_page
    from judgerank.writing.targets import Outputs

    votes, items, seed = drawn
    outputs = Outputs([*files_of(sources), *([items] if items is not None else ())], page.force)
    outputs.file(page.path)  # before anything is read
    read = read_questions(sources, columns, answers)
    tasks = drawn_items(read, votes, seed) if items is None else listed_items(read, items, votes, seed)
    outputs.write({page.path: vote_page(read, tasks, *pair_columns).encode()})
    if json:
        say_json("vote", {"items": len(tasks), "run_next": list(NEXT), "files": {"page": page.path}})
        return
    say(f"{len(tasks)} items on {page.path}. Open it in a browser, vote, save the file, then:")
    for line in NEXT:
        say(line)
