"""What `judgerank cells` does, apart from its options, so that its help loads nothing of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from judgerank.cli.terminal import say, say_json
from judgerank.data.errors import ConfigError
from judgerank.ranking.exports import RAW
from judgerank.reading.cells_in_sql import columns_in, counted_cells, left_out_of, statement
from judgerank.reading.files import paths_of, plain
from judgerank.reading.read import ASK, read_judgments
from judgerank.reading.selection import Selection
from judgerank.writing.targets import Outputs


def stated(
    files: list[Path],
    read: Mapping[str, Any],
    dialect: str,
    table: str,
    by_question: bool,
    output: Path | None,
    force: bool,
    json: bool,
) -> None:
    """Print the statement that counts judgments in files with the columns of the first of these, or write it.

    Raises
    ------
    ConfigError
        If it is to read winners or names otherwise than they are written, or to leave judgments out, which it
        does not.
    """
    selection = Selection.of(**{field.name: read[field.name] for field in fields(Selection)})
    if selection:
        raise ConfigError(
            f"a statement counts all judgments: leave out {selection.options()[0]}, and put it into its WHERE"
        )
    if read["winner_values"] or read["names"] != ASK:
        option = "--winner-values" if read["winner_values"] else "--names"
        raise ConfigError(f"a statement counts words as they are written: give {option} to judgerank rank instead")
    paths = paths_of(files)
    outputs = Outputs(plain(paths), force)
    if output is not None:
        outputs.file(output)
    used = columns_in(paths[0], read["form"], read["columns"])
    text = statement(used, dialect, table, by_question)
    if output is not None:
        outputs.write({output: f"{text}\n".encode()})
    if json:
        report: dict[str, object] = {"filter": [], "sql": text, "kinds": None, "judgments": None, "run_next": None}
        say_json("cells", report | {"files": {} if output is None else {"cells": output}})
        return
    say(text if output is None else f"{output}: the statement")


def written(
    files: list[Path], read: Mapping[str, Any], by_question: bool, output: Path, force: bool, json: bool
) -> None:
    """Count judgments into a file; `read` is what `judgerank.reading.read.read_judgments` is told."""
    paths = paths_of(files)
    outputs = Outputs(plain(paths), force)
    outputs.file(output)
    judgments = read_judgments(files, **read)
    cells = counted_cells(judgments, by_question)
    outputs.write({output: RAW[output.suffix.lstrip(".").lower()](cells)})
    kinds, n_judgments = len(cells), int(cells["count"].sum())
    note = left_out_of(judgments, cells, by_question)
    for sentence in filter(None, [*judgments.left_out_by_request, note]):
        say(sentence, err=True)
    command = f"judgerank rank {shlex.quote(str(output))} --column count=count"
    if json:
        report = {
            "filter": judgments.requests,
            "sql": None,
            "kinds": kinds,
            "judgments": n_judgments,
            "run_next": command,
        }
        say_json("cells", report | {"files": {"cells": output}})
        return
    say(f"{output}: {kinds:,} kinds of judgments ({command})")
