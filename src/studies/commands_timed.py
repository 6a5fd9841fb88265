"""Processor seconds and memory of whole commands, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from replication.config import ROOT
from studies.scaling import measured, write_judgments

EXAMPLE = ROOT / "examples/judgments.csv"
LARGE = {"n_models": 200, "n_judges": 51, "asked": 5}  # of the file whose ranking is timed
# as pip installs it: with its modules compiled
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
USAGE = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run([sys.executable, "-m", "judgerank", *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
told = {"seconds": time.perf_counter() - start, "processor": used.ru_utime + used.ru_stime}
print(json.dumps(told | {"peak": 1024.0 * used.ru_maxrss}))
"""


def usage(*arguments: object) -> dict[str, float]:
    """Seconds by the clock and of the processor, and peak memory in bytes, of a command."""
    command = [sys.executable, "-c", USAGE, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return dict(json.loads(done.stdout))


def processor(repeats: int, *arguments: object) -> float:
    """Median processor seconds of a command, after a run that compiles what it loads."""
    usage(*arguments)
    return median(usage(*arguments)["processor"] for _ in range(repeats))


def of_commands(sets: dict[str, Path]) -> Iterator[tuple]:
    """Processor seconds of starting, and of rankings of the example and of real sets, over those allowed."""
    for option in ("--version", "--help"):
        yield f"processor seconds of judgerank {option} / 0.2 s", processor(5, option), 0.2, "at most 1"
    allowed = {"example": 1.0, "chatbot_arena": 2.0, "in_house": 4.0}
    with TemporaryDirectory() as folder:
        for name, path in {"example": EXAMPLE, **sets}.items():
            taken = processor(3, "rank", path, "--output", Path(folder) / name, "--force")
            label = f"processor seconds of judgerank rank, {name} / {allowed[name]:g} s"
            yield label, taken, allowed[name], "at most 1"


def of_large_rank(rows: int, memory: str, seed: int) -> Iterator[tuple]:
    """A ranking of a large file of Parquet over the engine's own group-by, and its memory."""
    with TemporaryDirectory() as folder:
        path = write_judgments(Path(folder), rows, seed, ("parquet",), **LARGE)["parquet"]
        own = [measured("by_duckdb", path, memory) for _ in range(3)]
        whole = usage("rank", path, "--output", Path(folder) / "ranking")
        shape = f"{rows:,} rows of Parquet, {LARGE['n_models']} models, {LARGE['n_judges']} judges"
        second = median(one["processor"] for one in own)
        label = f"processor seconds of judgerank rank / of DuckDB's own group-by, {shape}"
        yield label, whole["processor"], second, "at most 10"
        yield f"peak memory of judgerank rank / 3 GB, {shape}", whole["peak"], 3e9, "at most 1"
