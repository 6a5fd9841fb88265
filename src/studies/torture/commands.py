"""Commands on small random files of judgments in every layout: an answer, or one sentence and no file."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

from judgerank.cli import app
from judgerank.cli.commands import BROKEN_INPUT, DEFECT
from replication.replicate import Record
from studies.random_files import LAYOUTS, Row, drawn_records

BOARDS = ("before.npz", "after.npz")  # two saved boards, where the judgments can be ranked
WORDS = {  # by command: what is asked of judgments.json, and what else it may be asked, each or none
    "rank": ("rank {file}", ("-o out", "--export out.csv", "--save out.npz", "--card out.json", "--model btl")),
    "doctor": ("doctor {file}", ("--model judge_aware",)),
    "trust": ("trust {file}", ("-o out", "--level 0.8")),
    "cells": ("cells {file} -o out.csv", ("--force",)),
    "plan": ("plan {file}", ("--want score_width=0.4", "--want pair_power=0.8", "--by-judges 2", "--repeats 2")),
    "people": ("people {file} --human kim", ("--human j0", "--next out.csv", "--level 0.8")),
    "gate": (
        "gate {file} --baseline m0 --candidate m1",
        (
            "--mode two-sided",
            "--mode equivalence",
            "--json-file out.json",
            "--scale score --margin 0.2",
            "--look 2",
        ),
    ),
    "place": ("place {board} {file}", ("--only-judge j0", "--without-judge j1")),
    "diff": ("diff {board} {other}", ("--level 0.8",)),
}
VERDICTS = {"gate": (0, 1, 2)}  # exit codes that are no refusal, where there are others than 0
ODDITIES: dict[str, Callable[[list[Row], np.random.Generator], list[Row]]] = {
    "as drawn": lambda rows, _: rows,
    "one record": lambda rows, _: rows[:1],
    "few records": lambda rows, rng: rows[: int(rng.integers(2, 6))],
    "ties alone": lambda rows, _: [(a, b, judge, "tie", q) for a, b, judge, _, q in rows],
    "first always": lambda rows, _: [(a, b, judge, "model_a", q) for a, b, judge, _, q in rows],
    "one question": lambda rows, _: [(a, b, judge, winner, 0) for a, b, judge, winner, _ in rows],
    "a judge each": lambda rows, _: [(a, b, f"j{n}", won, q) for n, (a, b, _, won, q) in enumerate(rows)],
    "one judge": lambda rows, _: [(a, b, "j0", winner, q) for a, b, _, winner, q in rows],
    "islands": lambda rows, _: [(a, b, *rest) for a, b, *rest in rows if int(a[1:]) % 2 == int(b[1:]) % 2],
}


def misanswered(settings: dict, rng: np.random.Generator) -> Record:
    """One run of a ``command``: how it ended, and whether that is a defect, no sentence, or a file left behind."""
    command = settings["command"]
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        layout, oddity = str(rng.choice(list(LAYOUTS))), str(rng.choice(list(ODDITIES)))
        rows = ODDITIES[oddity](drawn_records(rng), rng)
        if command == "people":
            rows = [voted for row in rows for voted in (row, (*row[:2], "kim", *row[3:]))]
        Path("judgments.json").write_text(json.dumps(LAYOUTS[layout].written(rows)))
        words = _words(command, rows, rng)
        if "judgments.json" in words:
            named = LAYOUTS[layout].columns(rows).items()
            words += [word for key, column in named for word in ("--column", f"{key}={column}")]
        paths_before = {*Path().rglob("*")}
        code, stdout, stderr = ended(words)
        faults = list(faults_of(command, code, stdout, stderr, {*Path().rglob("*")} - paths_before))
        told = json.dumps({"layout": layout, "oddity": oddity, "words": words, "faults": faults, "stderr": stderr})
        return {"status": f"exit {code}", "bad": int(bool(faults)), "told": told}


def _words(command: str, rows: list[Row], rng: np.random.Generator) -> list[str]:
    """The command line; boards that it takes are saved before."""
    template, options = WORDS[command]
    if "{board}" in template:
        newcomer = max(row[0] for row in rows) if command == "place" and rows else ""
        before = [row for row in rows if newcomer not in row[:2]]
        _saved(before, BOARDS[0])
        if "{other}" in template:
            _saved(rows[: 1 + len(rows) * 3 // 4], BOARDS[1])
    words = template.format(file="judgments.json", board=BOARDS[0], other=BOARDS[1])
    chosen = [option for option in options if rng.random() < 1 / 3]
    return [*words.split(), *" ".join(chosen).split(), "--json"]


def _saved(rows: list[Row], board: str) -> None:
    """A board of the judgments in the arena's columns, where they can be ranked; else there is no such file."""
    Path("board.json").write_text(json.dumps(LAYOUTS["the arena's columns (LMArena)"].written(rows)))
    ended(["rank", "board.json", "--save", board, "--json"])


NAME = "judgerank"  # of the program in its sentences; a worker of joblib has another


def ended(words: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command; an error let through is a defect."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            app(words, prog_name=NAME)
        except SystemExit as ended:
            code = int(ended.code or 0)
        except BaseException:
            code = DEFECT
            err.write(traceback.format_exc())
    return code, out.getvalue(), err.getvalue()


def faults_of(command: str, code: int, stdout: str, stderr: str, new: set[Path]) -> list[str]:
    """What must not happen: a defect, no JSON, numbers that JSON has none of, or a refusal that leaves a file."""
    answers, refusals = VERDICTS.get(command, (0,)), (BROKEN_INPUT.get(command, 1), 2)
    if code not in {*answers, *refusals}:
        return [f"exit code {code}"]
    try:
        document = json.loads(stdout, parse_constant=_refuse)
    except ValueError as error:
        return [f"no JSON: {error}"]
    faults = [f"left behind: {path}" for path in sorted(new) if path.suffix == ".partial"]
    if code in answers and "error" not in document:
        return faults
    sentence = document.get("error", "")
    if not sentence or "\n" in sentence or "Traceback" in stderr:
        faults.append(f"no sentence: {sentence!r}")
    if code not in answers:
        faults += [f"left behind by a refusal: {path}" for path in sorted(new)]
    return faults


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")
