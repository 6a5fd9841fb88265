"""How every command ends: in one sentence, whether the input is at fault or we are."""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from judgerank.cli.terminal import say
from judgerank.data.errors import JudgerankError
from judgerank.data.listing import shortened

DEFECT = 70  # an error of the program's own (sysexits.h)
INTERRUPTED = 130  # what a shell gives for Ctrl-C
HELP = {"help_option_names": ["-h", "--help"]}
LONGEST = 1500  # characters of a sentence
TRACEBACK = "JUDGERANK_TRACEBACK"  # environment variable: 1 lets errors through as Python shows them


# by its name on the command line, the module of a command and the function in it
FUNCTIONS = {
    "doctor": ("doctor", "doctor"),
    "rank": ("rank", "rank"),
    "trust": ("trust", "trust"),
    "place": ("boards", "place"),
    "diff": ("boards", "diff"),
    "people": ("people", "people"),
    "plan": ("plan", "plan"),
    "collect": ("collect", "collect"),
}


class Loaded(Mapping[str, Any]):
    """The commands, each with its modules loaded when it is first asked for, which takes seconds for some."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._found:
            module, function = FUNCTIONS[name]
            callback = getattr(import_module(f"judgerank.cli.{module}"), function)
            one = typer.Typer(add_completion=False, context_settings=HELP, pretty_exceptions_enable=False)
            one.command(name, context_settings=HELP)(callback)
            self._found[name] = typer.main.get_command(one)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(FUNCTIONS)

    def __len__(self) -> int:
        return len(FUNCTIONS)


class Commands(TyperGroup):
    """Commands that end in exit code 1 and one sentence on standard error for anything that is the input's fault.

    What is wrong with the command line itself ends in exit code 2, and a defect of ours in 70.
    """

    def __init__(self, *args: Any, **more: Any):
        super().__init__(*args, **more)
        self.commands = Loaded()  # type: ignore[assignment]  # nothing is added to it

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names; none is loaded for it."""
        return list(FUNCTIONS)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            said, code = "interrupted; what was finished is kept", INTERRUPTED
        except Exception as error:
            # typer's own have an exit code, and of a broken pipe there is nobody left to tell
            typers = hasattr(error, "exit_code") or isinstance(error, typer.Abort)
            if typers or getattr(error, "errno", None) == errno.EPIPE or os.environ.get(TRACEBACK) == "1":
                raise
            said, code = ending(error)
        say(f"{ctx.command_path} {ctx.invoked_subcommand}: {said}", err=True)
        raise typer.Exit(code)


def ending(error: Exception) -> tuple[str, int]:
    """What to say of an error, and the exit code."""
    if isinstance(error, JudgerankError | OSError):
        return sentence(error), 1
    if isinstance(error, MemoryError):
        return "there is not enough memory for this (fewer files at once, or a machine with more)", 1
    last = traceback.extract_tb(error.__traceback__)[-1]
    told = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {sentence(error)}"
    return f"this is a defect of judgerank, please report it: {told} ({TRACEBACK}=1 shows all of it)", DEFECT


def sentence(error: Exception) -> str:
    """What went wrong, on one line."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return shortened(text, LONGEST)
