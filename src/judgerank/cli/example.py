"""`judgerank example`: write a file of simulated judgments to play with."""

from __future__ import annotations

import csv
import io
import json as json_text
import shlex
from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import ForceOption, JsonOption
from judgerank.cli.terminal import say, say_json
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted
from judgerank.writing.targets import Outputs

FORMS = (".csv", ".jsonl")


def content(form: str) -> bytes:
    """The file, as CSV or JSON Lines."""
    from judgerank.data.simulated import judgments

    records = list(judgments())
    if form == FORMS[1]:
        return "".join(f"{json_text.dumps(record)}\n" for record in records).encode()
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def write(path: Path, force: bool, as_json: bool) -> None:
    """Write the file, and say what it is and what to run next.

    Raises
    ------
    ConfigError
        If there is a file of that name, or its name ends in no form that is written.
    """
    from judgerank.data.simulated import JUDGES, PAIRS, QUESTIONS, SCORES

    form = path.suffix.lower()
    if form not in FORMS:
        raise ConfigError(f"{path.name}: an example is CSV or JSON Lines (end its name in {' or '.join(FORMS)})")
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already, and would be replaced (name another file, or use --force)")
    outputs = Outputs((), force)
    outputs.file(path)
    outputs.write({path: content(form)})
    models, judges = len(SCORES), len(JUDGES)
    size, named = QUESTIONS * PAIRS * judges, shlex.quote(str(path))
    commands = [f"judgerank doctor {named}", f"judgerank rank {named}"]
    if as_json:
        counts = {"judgments": size, "models": models, "judges": judges, "questions": QUESTIONS}
        say_json("example", {"simulated": True, **counts, "run_next": commands, "files": {"judgments": path}})
        return
    sizes = f"{counted(models, 'model')} by {counted(judges, 'judge')} on {QUESTIONS} questions"
    say(f"{path}: {size:,} simulated judgments of {sizes}.")
    say("judge-first favours the answer shown first, and judge-random answers at random.")
    say(f"Next: {commands[0]}   # what does the file support?")
    say(f"      {commands[1]}     # who leads, and how certain is it?")


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
    write(file, force, json)
