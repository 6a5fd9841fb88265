"""Options on the model that is fitted."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from judgerank.cli.options import MODEL, NAMED, SOLVERS
from judgerank.data.modules import is_file

Solver = StrEnum("Solver", {name: name for name in SOLVERS})  # type: ignore[misc]  # members are known when it runs
NEWTON, SHRUNK = Solver("newton"), Solver("penalised")


def of_family(value: str | None) -> str | None:
    """Check of a member of the family: one of the library's, or a file."""
    if value is not None and value not in NAMED and not is_file(value):
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, NAMED))}, and no file NAME.py.")
    return value


ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        rich_help_panel=MODEL,
        callback=of_family,
        metavar=f"[{'|'.join(NAMED)}|FILE.py]",
        help="Member of the family of models, or a file that defines one. By default position_aware where the "
        "order of presentation identifies it, else judge_aware (the paper's).",
    ),
]
SolverOption = Annotated[
    Solver,
    typer.Option(
        "--solver",
        rich_help_panel=MODEL,
        help="newton is exact. penalised shrinks toward the panel and always has an estimate. localized is exact "
        "over a box. adam is the paper's Algorithm A.1.",
    ),
]
