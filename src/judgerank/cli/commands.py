"""How every command ends: in one sentence, whether the input is at fault or we are."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from judgerank.cli.terminal import lose, say, say_json, unwritten
from judgerank.data.errors import JudgerankError
from judgerank.data.listing import shortened

DEFECT = 70  # an error of the program's own (sysexits.h)
WRONG_USAGE = 2  # a command line that cannot be meant
INTERRUPTED = 130  # what a shell gives for Ctrl-C
INTERRUPTION = "interrupted; what was finished is kept"
BROKEN_INPUT = {"gate": 3}  # exit code of a command in which 1 means something else
HEADINGS = {  # commands under their heading, in the order in which most people need them
    "Commands": ("example", "rank", "gate", "plan", "collect", "people"),
    "More commands": ("doctor", "trust", "vote", "place", "diff", "cells"),
}
COMMANDS = {  # module of each command, and its line in the list; a module is loaded when its command runs
    "example": ("example", "Write a file of simulated judgments to play with, and say what to run next."),
    "rank": (
        "rank",
        "Rank models: scores and ranks with intervals, the judges, pairs separated, what to collect next.",
    ),
    "gate": (
        "gate",
        "Decide whether a candidate may replace a baseline: ship, block, or how many more questions.",
    ),
    "plan": ("plan", "Plan how many comparisons, questions and judges a given precision requires."),
    "collect": ("collect", "Ask LLM judges which of two answers is better, or to rank several."),
    "people": (
        "people",
        "Calibrate scores to human votes or a human leaderboard, and test whether the judges agree with people.",
    ),
    "doctor": (
        "doctor",
        "Say how files of judgments are read, what they support, what is wrong, and which command to run next.",
    ),
    "trust": (
        "trust",
        "Stress-test a ranking: the smallest sets of judgments, questions or judges whose removal changes it.",
    ),
    "vote": (
        "vote",
        "Create an offline page for blind human voting, by keyboard or on a phone.",
    ),
    "place": (
        "boards",
        "Add new models to a saved board without refitting it, and test whether they would change it.",
    ),
    "diff": (
        "boards",
        "Compare two saved boards: which models moved by more than noise, and which judges and questions changed.",
    ),
    "cells": (
        "cells",
        "Aggregate identical judgments into a smaller file, here or in an SQL engine.",
    ),
}
HEADING_OF = {name: heading for heading, names in HEADINGS.items() for name in names}
FIRST_HELP = {  # options that --help shows, of commands that have more than fit two screens
    "rank": (
        *("--column", "--without-judge", "--category", "--cluster", "--level", "--answers", "--since"),
        *("--output", "--save", "--export", "--json", "--verbose"),
    ),
    "gate": (
        *("--baseline", "--candidate", "--margin", "--protect", "--panel", "--budget"),
        *("--column", "--without-judge", "--page", "--json", "--verbose"),
    ),
    "plan": (
        *("--want", "--pair", "--n-models", "--n-judges", "--column", "--without-judge"),
        *("--level", "--cluster", "--json"),
    ),
    "collect": (
        *("--panel", "--judge", "--dry-run", "--budget", "--prompt", "--until", "--order", "--column"),
        *("--judgments", "--json"),
    ),
    "people": (
        *("--human", "--leaderboard", "--column", "--without-judge", "--category", "--level"),
        *("--cluster", "--next", "--json", "--verbose"),
    ),
    "doctor": ("--column", "--winner-values", "--format", "--without-judge", "--category", "--models", "--json"),
    "trust": (
        *("--column", "--without-judge", "--category", "--models", "--level", "--most", "--output"),
        *("--json", "--verbose"),
    ),
    "place": ("--column", "--without-judge", "--category", "--models", "--level", "--json"),
    "cells": ("--by-question", "--sql", "--table", "--column", "--without-judge", "--output", "--json"),
}
MINUS = re.compile(r"No such option: -\d")
CHOICE = re.compile(r"'([^']*)' is not one of (.+)")  # in typer's words and in ours
REWORDED = {  # of typer's messages
    "Value error, ": "",
    "Input should be a valid number, unable to parse string as a number": "expected a number",
    "Input should be a valid integer, unable to parse string as an integer": "expected a whole number",
    ". Did you mean": "; did you mean",
    "Input should be greater than or equal to": "expected at least",
    "Input should be less than or equal to": "expected at most",
    "Input should be greater than": "expected more than",
    "Input should be less than": "expected less than",
}
RENAMED = {  # earlier names of options, by command, and what to type now
    "collect": {
        "--judges": "--panel FILE",
        "--output": "--judgments FILE",
        "-o": "--judgments FILE",
        "--answers": "--column answers=NAME",
    },
    "vote": {
        "--output": "--page FILE",
        "-o": "--page FILE",
        "--items": "--next FILE",
        "--votes": "--comparisons NUMBER",
        "--answers": "--column answers=NAME",
    },
    "rank": {"--next": "--next-lines NUMBER"},
    "gate": {"--this-panel": "--whose this_panel"},
    "people": {"--board": "--leaderboard CSV"},
}
HELP_ALL = "--help-all"
HELP = {"-h", "--help", HELP_ALL}
LONGEST_VALUE = 14  # characters of what stands for a value in the first help: all help is beside the longest
LONGEST = 1500  # characters of a sentence
JSON = "judgerank.json"  # where the context keeps whether --json is on the command line
TRACEBACK = "JUDGERANK_TRACEBACK"  # environment variable: 1 lets errors through as Python shows them


class Commands(TyperGroup):
    """Commands that end in exit code 1 and one sentence on standard error for anything that is the input's fault.

    What is wrong with the command line itself ends in exit code 2, and a defect of ours in 70. Where a command has
    other meanings for 1 and 2, both ends have the code in `BROKEN_INPUT`. A reader who closes standard output
    changes no exit code; output that cannot be written for another reason ends as wrong input does.
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
        if self._listing:
            return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1], rich_help_panel=HEADING_OF[cmd_name])
        return self._command(cmd_name)

    def _command(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = loaded(name, COMMANDS[name][0])
        return self._loaded[name]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listing = True
        super().format_help(ctx, formatter)
        self._listing = False

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except (typer.Exit, OSError, SystemExit) as error:  # the last is rich's, where nobody reads help any more
            if isinstance(error, OSError):
                lose(error)
            lost = unwritten()
            if lost is None:
                raise typer.Exit from None
            message, code = lost, 1
        except KeyboardInterrupt:
            message, code = INTERRUPTION, INTERRUPTED
        except Exception as error:
            if not is_slip(error):
                raise
            message, code = slip(error, str(info_name)), WRONG_USAGE
        return _end(str(info_name), None, message, code, "--json" in args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[JSON] = "--json" in args
        if HELP & set(args) and not ctx.resilient_parsing:  # before typer loads what it checks values by
            name, is_command = args[0], args[0] in COMMANDS
            if is_command or name in HELP:
                about = (
                    typer.Context(_helped(name, HELP_ALL in args), info_name=name, parent=ctx)
                    if is_command
                    else ctx
                )
                typer.echo(about.get_help())
                raise typer.Exit
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        message, code = None, 0
        try:
            super().invoke(ctx)
        except typer.Exit as leaving:
            code = leaving.exit_code
        except KeyboardInterrupt:
            message, code = INTERRUPTION, INTERRUPTED
        except Exception as error:
            message, code = self._ending(ctx, error)
        name = ctx.invoked_subcommand
        if message is None and (message := unwritten()):
            code = BROKEN_INPUT.get(str(name), 1)
        if message is None:
            raise typer.Exit(code)
        return _end(ctx.command_path, name, message, code, ctx.meta[JSON])

    def _ending(self, ctx: Any, error: Exception) -> tuple[str, int]:
        """What to say of an error, and the exit code; raises it if it is for typer, or a user wants to see it."""
        name = ctx.invoked_subcommand
        if is_slip(error):
            path = f"{ctx.command_path} {name}" if name in COMMANDS else ctx.command_path
            return slip(error, path), BROKEN_INPUT.get(str(name), WRONG_USAGE)
        if isinstance(error, typer.Abort) or os.environ.get(TRACEBACK) == "1":
            raise error
        message, code = ending(error)
        return message, BROKEN_INPUT.get(name, 1) if code == 1 else code


def _end(path: str, command: str | None, message: str, code: int, json: bool) -> NoReturn:
    """Say in one sentence why a command ends, and end it; with ``--json`` as a document, too."""
    command_name = command if command in COMMANDS else None
    if command_name == "gate":
        from judgerank.gating.callers import as_called, tell_github_without_verdict

        message = as_called(message)
        tell_github_without_verdict("error", message)
    if json:
        say_json(command_name or "judgerank", {"error": message, "exit_code": code})
    say(f"{path} {command_name}: {message}" if command_name else f"{path}: {message}", err=True)
    raise typer.Exit(code)


def is_slip(error: Exception) -> bool:
    """Whether an error is typer's, for what is wrong with the command line."""
    return hasattr(error, "format_message")


def slip(error: Any, path: str) -> str:
    """One sentence for a slip on the command line: what is wrong, what is near, where all of it is listed."""
    message = " ".join(error.format_message().split()).removeprefix("Invalid value: ").rstrip(".")
    for typers, ours in REWORDED.items():
        message = message.replace(typers, ours)
    possibilities = getattr(error, "possibilities", None)
    option = getattr(error, "option_name", None)
    new_name = RENAMED.get(path.split()[-1], {}).get(str(option))
    if possibilities is not None or new_name:
        message = f"there is no option {option}"
        possibilities = [new_name] if new_name else possibilities
    elif choice := CHOICE.search(message):
        possibilities = get_close_matches(choice[1], re.findall(r"'([^']+)'", choice[2]), 1)
    elif MINUS.match(message):
        message += "; a word for the winner that begins with a minus needs --winner-values before it"
    if possibilities:
        message += f"; did you mean {next(iter(possibilities))}?"
    explains = HELP_ALL if path.rpartition(" ")[2] in COMMANDS else "--help"
    return f"{message[:1].lower()}{message[1:]} ({path} {explains} explains)"


def loaded(name: str, module: str) -> Any:
    """A command with its options, from its module."""
    command = _command_of(name, getattr(import_module(f"judgerank.cli.{module}"), name))
    command.params += _command_of(name, _with_help_all).params
    return command


def _command_of(name: str, function: Callable[..., None]) -> Any:
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name)(function)
    return typer.main.get_command(alone)


def _with_help_all(
    help_all: Annotated[
        bool, typer.Option(HELP_ALL, expose_value=False, help="Show all options in full.")
    ] = False,
) -> None:
    """Carry the option that every command has besides its own; `Commands.parse_args` acts on it."""


def _helped(name: str, is_all: bool) -> Any:
    """A command as its help shows it: with all its options, or `FIRST_HELP` and a sentence on each.

    It is loaded for that alone, so that completion and near misses know all options.
    """
    command = loaded(name, COMMANDS[name][0])
    if is_all:
        return command
    options = [one for one in command.params if isinstance(one, TyperOption)]
    rare = [one for one in options if not {*FIRST_HELP.get(name, one.opts), HELP_ALL} & {*one.opts}]
    for one in command.params:
        one.help, one.rich_help_panel, one.hidden = first_sentence(one.help), None, one in rare
        if len(one.metavar or "") > LONGEST_VALUE or isinstance(one.default, Enum):
            one.metavar = "CHOICE"
        elif getattr(one, "min", None) is not None:
            one.metavar = "NUMBER"
    command.help = command.help.partition("\n\n")[0]
    if rare:
        command.epilog = f"{len(rare)} more options: judgerank {name} {HELP_ALL}"
    return command


def first_sentence(text: str) -> str:
    """A text up to the first full stop before a blank."""
    first, stop, _ = text.partition(". ")
    return f"{first}{stop.strip()}"


def ending(error: Exception) -> tuple[str, int]:
    """What to say of an error, and the exit code."""
    if isinstance(error, JudgerankError | OSError):
        return sentence(error), 1
    if isinstance(error, MemoryError):
        return "there is not enough memory for this (fewer files at once, or a machine with more)", 1
    last = traceback.extract_tb(error.__traceback__)[-1]
    message = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {sentence(error)}"
    return f"this is a defect of judgerank, please report it: {message} ({TRACEBACK}=1 shows all of it)", DEFECT


def sentence(error: Exception) -> str:
    """What went wrong, on one line."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return shortened(text, LONGEST)
