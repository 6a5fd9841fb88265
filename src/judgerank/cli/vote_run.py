"""What `judgerank vote` does, apart from its options, so that its help loads nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from judgerank.cli.terminal import say, say_json
from judgerank.collecting.answer_sources import files_of, read_questions
from judgerank.voting.vote_page import drawn_items, listed_items, vote_page
from judgerank.writing.targets import Outputs

NEXT = (
    "judgerank rank votes-NAME.jsonl",
    "judgerank people votes-NAME.jsonl JUDGMENTS   # beside those of LLM judges on the same questions",
)


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
