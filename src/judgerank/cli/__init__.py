"""The command `judgerank`: rank, trust, place, diff, people, plan, collect, doctor."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from judgerank.cli.commands import HELP, Commands
from judgerank.cli.terminal import prepare, say

app = typer.Typer(
    name="judgerank",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"judgerank {version('judgerank')}")
        raise typer.Exit


@app.callback()
def judgerank(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Rank language models from pairwise comparisons by a panel of judges.

    Start with doctor: it says what a file of judgments supports, and which command to run next.
    """
    prepare()
