"""Who calls a gate: options as it writes them, and the summary and outputs of a step in GitHub Actions."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

VARIABLE = "JUDGERANK_CALLER"  # environment variable by which the action says that it is the caller
COMMAND, PYTEST, ACTION = "command", "pytest", "action"
INPUTS = (  # of the action, called as options are; longer names first, where one begins with another
    *("allow-host", "alpha", "baseline", "budget", "candidate-model", "candidate", "category", "cluster"),
    *("column", "copies", "criteria", "encoding", "format", "json-file", "judgments", "look", "margin"),
    *("markdown", "missing", "models", "mode", "names", "only-judge", "order", "own-maker", "page", "panel"),
    *("power", "protect", "question-cost", "scale", "until", "whose", "winner-values"),
    *("without-judge", "without-model"),
)
READ = "judgments=judgerank.read(FILE, "  # by which a test says how a file is read
SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"  # environment variables that name files to append to
# A group to protect, whose value may have spaces, as a verdict names it: at the end of a line or of a cell, or so.
PROTECT = r"(?m)--protect (\w[\w ]*)=(.+?)(?= makes that count| \||$)"
# An address of the environment is allowed by the command alone.
ENV_URL = (r"unset it, name (.+), or allow it by --allow-env-url\b", r"unset it, or name \1")
# Options of collecting that no gate has: one asks a judge again whose settings have changed.
OF_COLLECT = (
    (r"(give it more by params: .+?), then --again unreadable", r"\1"),
    (r" \(--again refused asks once more\)", ""),
    (r", longer than --patience\b", ", too long to wait for"),
)
# patterns and what stands in their place
WRITTEN: dict[str, tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]] = {
    COMMAND: ((PROTECT, lambda found: shlex.join(["--protect", f"{found[1]}={found[2]}"])),),
    PYTEST: (
        ENV_URL,
        (PROTECT, lambda found: f"rule=Rule(protect=({found.groups()!r},))"),
        (r"--judgments\b", "--judgerank-judgments"),
        (r"--budget\b", "budget"),
        (r"--missing (\w+)", r"rule=Rule(missing='\1')"),
        (r"--own-maker (\w+)", r"own_maker='\1'"),
        (r"--(names|copies|format|encoding) (\w+)", rf"{READ}\1='\2')"),
        (r"--column (\w+)=(\w+)", rf"{READ}columns={{'\1': '\2'}})"),
        (r"--winner-values ([^\s=]+)=(\w+)", rf"{READ}winner_values={{'\1': '\2'}})"),
        (r"--allow-host (\S+)", r"allow_hosts=['\1']"),
        (r"--look (\d+)", r"rule=Rule(look=\1)"),
        (r"--whose (\w+)", r"rule=Rule(whose='\1')"),
        (r"--order random", "rule=Rule(random_orders=True)"),
        (r"--cluster (\w+)", r"rule=Rule(cluster='\1')"),
        (r"--(baseline|candidate)\b", r"the name of the \1"),
    ),
    ACTION: (
        ENV_URL,
        (r" \(judgerank gate --help(-all)? explains\)", ""),
        (r"numbers: -v\b", "numbers: the step's summary"),
        (r"-v\)", "see the step's summary)"),
        (rf"--({'|'.join(INPUTS)})(?= needs\b)", r"input \1"),
        (rf"--({'|'.join(INPUTS)})[ =]([^\s).,]+)", r"input \1: \2"),
        (rf"--({'|'.join(INPUTS)})\b", r"input \1"),
    ),
}


def as_called(text: str, caller: str | None = None) -> str:
    """A message with the options that it names as the caller writes them.

    Parameters
    ----------
    text : str
    caller : {"command", "pytest", "action"}, optional
        By default the command, or the action where its variable says so.
    """
    for pattern, written in (*OF_COLLECT, *WRITTEN[caller or caller_now()]):
        text = re.sub(pattern, written, text)
    return text


def caller_now() -> str:
    """The action, where its environment variable says so; else the command."""
    return ACTION if os.environ.get(VARIABLE) == ACTION else COMMAND


def tell_github_without_verdict(what: str, message: str) -> None:
    """Append why there is no verdict to the step's summary, and ``error`` or ``skipped`` to its outputs."""
    with suppress(OSError):  # a file that cannot be written must not hide the message
        append(SUMMARY, f"### No verdict: {what}\n\n{as_text(message)}\n")
        append(OUTPUT, f"verdict={what}\nfailed=false\nneeded=\n")


def append(variable: str, text: str) -> None:
    """Append to the file that an environment variable names, if there is one."""
    path = os.environ.get(variable)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def as_text(value: str) -> str:
    """A text that is only text in Markdown: no link, no tag, no end of its cell."""
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")
    for sign in "[]`*_@":
        escaped = escaped.replace(sign, "\\" + sign) if sign != "@" else escaped.replace("@", "&#64;")
    return escaped
