"""How every command ends: in one sentence, whether the input is at fault or we are."""

from __future__ import annotations

import errno
import os
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from judgerank.cli.terminal import say
from judgerank.data.errors import JudgerankError
from judgerank.data.listing import shortened

DEFECT = 70  # an error of the program's own (sysexits.h)
INTERRUPTED = 130  # what a shell gives for Ctrl-C
BROKEN_INPUT = {"gate": 3}  # exit code of a command in which 1 means something else
COMMANDS = {  # module of each command, and its line in the list; a module is loaded when its command runs
    "doctor": (
        "doctor",
        "Say how files of judgments are read, what they support, what is wrong, and which command to run next.",
    ),
    "rank": (
        "rank",
        "Rank models: scores and ranks with intervals, the judges, pairs separated, what to collect next.",
    ),
    "gate": (
        "gate",
        "Decide whether a candidate may replace a baseline: ship, block, or how many more questions.",
    ),
    "trust": (
        "trust",
        "Say what would change a ranking: the fewest judgments, questions or judges found, and how many judges "
        "count.",
    ),
    "place": (
        "boards",
        "Place new models on a board by their own judgments, the board as it is, and say whether they move it.",
    ),
    "diff": (
        "boards",
        "Say what moved between two boards, whether by more than noise, and whether judges or questions changed.",
    ),
    "people": (
        "people",
        "Put scores on the human scale by a few human votes; say whether panel and people agree.",
    ),
    "plan": ("plan", "Plan: how many comparisons, questions and judges a wanted precision takes."),
    "vote": (
        "vote",
        "Write a page on which people vote blind: two answers, no names, keyboard or phone, no network.",
    ),
    "cells": (
        "cells",
        "Count judgments that are alike: a small file in place of a large one, made here or by an SQL engine.",
    ),
    "collect": ("collect", "Ask LLM judges which of two answers is better."),
}
LONGEST = 1500  # characters of a sentence
TRACEBACK = "JUDGERANK_TRACEBACK"  # environment variable: 1 lets errors through as Python shows them


class Commands(TyperGroup):
    """Commands that end in exit code 1 and one sentence on standard error for anything that is the input's fault.

    What is wrong with the command line itself ends in exit code 2, and a defect of ours in 70. Where a command has
    other meanings for 1 and 2, both ends have the code in `BROKEN_INPUT`.
    """

    _listing = False

    @property
    def commands(self) -> Any:
        """All commands, loaded."""
        return {name: self._command(name) for name in COMMANDS}

    @commands.setter
    def commands(self, _: Any) -> None:
        self._loaded: dict[str, Any] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1]) if self._listing else self._command(cmd_name)

    def _command(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = loaded(name, COMMANDS[name][0])
        return self._loaded[name]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listing = True
        super().format_help(ctx, formatter)
        self._listing = False

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            said, code = "interrupted; what was finished is kept", INTERRUPTED
        except Exception as error:
            # typer's own have an exit code, and of a broken pipe there is nobody left to tell
            typers = hasattr(error, "exit_code") or isinstance(error, typer.Abort)
            if typers or getattr(error, "errno", None) == errno.EPIPE or os.environ.get(TRACEBACK) == "1":
                if hasattr(error, "exit_code") and not isinstance(error, typer.Exit):  # a slip on the command line
                    error.exit_code = BROKEN_INPUT.get(ctx.invoked_subcommand, error.exit_code)
                raise
            said, code = ending(error)
            code = BROKEN_INPUT.get(ctx.invoked_subcommand, 1) if code == 1 else code
        say(f"{ctx.command_path} {ctx.invoked_subcommand}: {said}", err=True)
        raise typer.Exit(code)


def loaded(name: str, module: str) -> Any:
    """A command with its options, from its module."""
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name)(getattr(import_module(f"judgerank.cli.{module}"), name))
    return typer.main.get_command(alone)


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
