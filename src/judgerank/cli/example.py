"""`judgerank example`: a file of judgments to play with. Its options; `example_run` does what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import ForceOption, JsonOption


def example(
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="File to write: NAME.csv, or NAME.jsonl for JSON Lines.")
    ] = Path("judgments.csv"),
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Write a file of simulated judgments to play with, and say what to run next.

    Six models answer 150 questions in three categories, and five judges compare them in pairs. One judge favours
    the answer shown first, one answers at random. The file is always the same, and none is overwritten.
    """
    from judgerank.cli import example_run

    example_run.written(file, force, json)
