"""How every command ends: in one sentence where the input is at fault."""

from __future__ import annotations

import errno
from typing import Any

import typer
from typer.core import TyperGroup

from judgerank.errors import JudgerankError

INTERRUPTED = 130  # what a shell gives for Ctrl-C


class Commands(TyperGroup):
    """Commands that end in exit code 1 and one sentence on standard error for anything that is the input's fault.

    What is wrong with the command line itself ends in exit code 2.
    """

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (JudgerankError, OSError) as error:
            if getattr(error, "errno", None) == errno.EPIPE:  # whoever read the output has gone
                raise
            said, code = sentence(error), 1
        except KeyboardInterrupt:
            said, code = "interrupted; what was finished is kept", INTERRUPTED
        typer.echo(f"{ctx.command_path} {ctx.invoked_subcommand}: {said}", err=True)
        raise typer.Exit(code)


def sentence(error: Exception) -> str:
    """What went wrong, on one line."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(text.split())
