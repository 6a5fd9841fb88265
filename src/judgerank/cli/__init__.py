"""The command `judgerank`: its commands, and what it says without one."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import Annotated

import typer

from judgerank.cli.commands import HEADINGS, JSON, Commands
from judgerank.cli.terminal import prepare, say

FIRST = """\
judgerank ranks language models from pairwise judgments, and says how sure the
ranking is. Try it:

  judgerank example               # write judgments.csv, simulated, to play with
  judgerank doctor judgments.csv  # what does a file support? What is wrong?
  judgerank rank judgments.csv    # who leads, and how certain is it?
"""
LAST = "judgerank --help says what each is for, judgerank COMMAND --help explains one."

FEW_SEARCHES = 100_000  # objects made between two searches for garbage
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # of linear algebra

app = typer.Typer(
    name="judgerank",
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"judgerank {version('judgerank')}")
        raise typer.Exit


def _leave() -> None:
    """Spare the end of the process a search for garbage, which takes a tenth of a second.

    DuckDB reports what is not found in it as leaked.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()


@app.callback()
def judgerank(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Rank language models from pairwise comparisons by a panel of judges.

    Start with example, which writes a file to play with, or with doctor on a file of your own.
    """
    prepare(ctx.meta.get(JSON, False))
    gc.set_threshold(FEW_SEARCHES)
    for name in THREADS:  # on a busy machine the threads of small matrices wait for each other most of the time
        os.environ.setdefault(name, "1")
    atexit.register(_leave)
    if ctx.invoked_subcommand is None:
        say(FIRST)
        width = max(map(len, HEADINGS)) + 2
        for heading, names in HEADINGS.items():
            say(f"  {heading:<{width}}{', '.join(names)}")
        say(f"\n{LAST}")
