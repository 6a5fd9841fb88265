"""Toy tasks and studies of tests/test_replicate.py, in a module of their own so that workers can import them."""

from __future__ import annotations

import multiprocessing
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

from threadpoolctl import threadpool_info

from judgerank.data.errors import NoMaximumError
from replication.replicate import Study
from replication.schemas.section import Parallel
from replication.simulation import interval_coverage, squared_error


def numbers(settings, rng):
    return {"normal": rng.normal(settings["mean"]), "whole": int(rng.integers(2**62)), "word": "plain"}


def other_numbers(settings, rng):
    return {"normal": rng.normal(settings["mean"], 2.0), "whole": int(rng.integers(2**62)), "word": "other"}


def both_sections(cell, rng):
    return replace(squared_error(cell, rng), intervals=interval_coverage(cell, rng).intervals)


def blas_threads(settings, rng):
    return {"threads": max(library["num_threads"] for library in threadpool_info())}


def numbers_and_process(settings, rng):
    return {**numbers(settings, rng), "process": multiprocessing.current_process().name}


def wordy(settings, rng):
    return {"text": "x" * 1000}


def failing(settings, rng):
    """Fails in one of three ways in most replications."""
    draw = rng.random()
    if draw < 0.2:
        raise ValueError(f"{draw:.3f} is too small,\nfar too small")
    if draw < 0.4:
        raise NoMaximumError(f"{draw:.3f} has no maximum", (("x",), ("y",)))
    if draw < 0.6:
        raise ZeroDivisionError(f"{draw:.3f} is divided by nothing")
    return {"draw": draw}


def buggy(settings, rng):
    """As long as a marker exists, a bug: it shows once enough blocks beside it are finished."""
    if settings["marker"] and Path(settings["marker"]).exists():
        deadline = time.monotonic() + 30
        while len(list(Path(settings["folder"]).rglob("*.jsonl"))) < settings["finished"]:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        raise {"KeyError": KeyError, "TypeError": TypeError}[settings["kind"]]("a bug")
    return {"draw": rng.random()}


SEQUENTIAL = Parallel("sequential", 1)
CELLS = {"a": {"mean": 0.0, "unused": 1}, "b": {"mean": 5.0, "unused": 2}, "c": {"mean": -5.0, "unused": 3}}


def toy(folder: Path, many: int = 7, **changes) -> Study:
    cells = changes.get("cells", CELLS)
    replications = dict.fromkeys(cells, many)
    usual = {"name": "toy", "task": numbers, "cells": cells, "replications": replications, "seed": 1, "block": 3}
    return Study(folder=folder, **(usual | changes))


# Programs that tests start: ``shared FOLDER``, one of several runs of a study in one folder; ``memory FOLDER
# COUNT...``, bytes that Python held at most while a study ran and its records were read.


def shared(folder: str) -> None:
    toy(Path(folder), 40, block=1).run(SEQUENTIAL)


def memory(folder: str, *counts: str) -> None:
    """Print the bytes for each number of replications."""
    for many in map(int, counts):
        study = toy(Path(folder, str(many)), many, cells={"a": {}}, task=wordy, block=25)
        tracemalloc.start()
        assert study.run(SEQUENTIAL) == many
        assert sum(len(record["text"]) for record in study.records("a")) == 1000 * many
        print(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()


if __name__ == "__main__":  # its tasks are those of the module, whatever this process is called
    from tests.replication import replicate_tasks

    getattr(replicate_tasks, sys.argv[1])(*sys.argv[2:])
