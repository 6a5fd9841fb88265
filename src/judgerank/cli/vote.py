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
    ForceOption,
    JsonOption,
    QuestionsArgument,
    answer_columns_help,
    answer_columns_of,
    shared_help,
)
from judgerank.cli.terminal import say, say_json
from judgerank.data.listing import counted

NEXT = (
    "judgerank rank votes-NAME.jsonl",
    "judgerank people votes-NAME.jsonl JUDGMENTS   # beside those of LLM judges on the same questions",
)


def vote(
    questions: QuestionsArgument,
    comparisons: Annotated[
        int | None, typer.Option(min=1, help=shared_help("--comparisons", "They are drawn at random."))
    ] = None,
    next_: Annotated[
        Path | None,
        typer.Option(
            "--next", help=shared_help("--next", "judgerank people writes it; they are asked in its order.")
        ),
    ] = None,
    voter: Annotated[str, typer.Option(help="Name of the person; by default the page asks.")] = "",
    ask: Annotated[str, typer.Option(help="The question at the top of the page.")] = "",
    seed: Annotated[
        int,
        typer.Option(min=0, help=shared_help("--seed", "It decides what is asked and which answer comes first.")),
    ] = 2026,
    column: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=FILE,
            metavar="KEY=NAME",
            help=answer_columns_help(ANSWER_COLUMNS),
        ),
    ] = None,
    page: Annotated[Path, typer.Option(rich_help_panel=OUTPUT, help=shared_help("--page"))] = Path("vote.html"),
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Create an offline page for blind human voting, by keyboard or on a phone.

    The page saves a file of votes that `judgerank rank` and `judgerank people` read.
    """
    from judgerank.collecting.answer_sources import files_of, read_questions
    from judgerank.voting.vote_page import drawn_items, listed_items, vote_page
    from judgerank.writing.targets import Outputs

    columns, answers = answer_columns_of(column, ANSWER_COLUMNS)
    outputs = Outputs([*files_of(questions), *([next_] if next_ is not None else ())], force)
    outputs.file(page)  # before anything is read
    read = read_questions(questions, columns, answers)
    tasks = drawn_items(read, comparisons, seed) if next_ is None else listed_items(read, next_, comparisons, seed)
    outputs.write({page: vote_page(read, tasks, voter, ask).encode()})
    if json:
        say_json("vote", {"items": len(tasks), "run_next": list(NEXT), "files": {"page": page}})
        return
    say(f"{counted(len(tasks), 'item')} on {page}. Open it in a browser, vote, save the file, then:")
    for line in NEXT:
        say(line)
