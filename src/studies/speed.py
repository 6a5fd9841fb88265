"""Time and memory at many models and many judges, of growing sets, of whole commands, and on a cluster."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from hydra import compose
from matplotlib.figure import Figure
from omegaconf import DictConfig
from scipy.special import expit

from judgerank import Comparisons, Records, fit
from judgerank.data.arrays import generator
from judgerank.model.members import Parameters
from judgerank.model.naming import named
from judgerank.order.equality import ManyResults, NetResults, differences_of_many, differences_under_equality
from judgerank.plots.looks import PAGE, canvas, shades
from replication.config import ROOT
from replication.random_designs import draw_outcomes, draw_truth, uniform_triples
from replication.replicate import Study
from replication.schemas.section import Parallel
from replication.simulation import interval_coverage, study_of
from studies.scaling import measured, nothing, write_judgments

# Measures of the bench at many models, many judges, judgments that grow, and replications on a cluster.
RANK = """
import sys, time
import judgerank
from studies.scaling import own_peak_bytes
start = time.process_time()
ranking = judgerank.rank(sys.argv[1], solver=sys.argv[2])
assert len(ranking.tables["leaderboard"]) == len(ranking.fit.comparisons.models)
print(time.process_time() - start, own_peak_bytes())
"""


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Median processor seconds of a call, after one that is not counted if there are several."""
    times = [_time(run) for _ in range(repeats + (repeats > 1))]
    return median(times[repeats > 1 :])


def both(first: Callable[[], object], second: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Median processor seconds of two calls in turns: what else runs slows both. The first turn does not count."""
    times = [(_time(first), _time(second)) for _ in range(repeats + 1)][1:]
    return median(first_time for first_time, _ in times), median(second_time for _, second_time in times)


def _time(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def simulated(seed: int, n_models: int, n_judges: int, size: int) -> tuple[Comparisons, Parameters]:
    """Raw comparisons on a uniform design under a drawn truth, and that truth."""
    rng = generator(seed, "bench", n_models, n_judges, size)
    truth = draw_truth(rng, n_models, n_judges, 1.0, 1.0)
    i, j, k = uniform_triples(rng, n_models, n_judges, size).astype(np.int32)
    k[:n_judges] = np.arange(n_judges)  # no judge is left without a comparison
    eta = np.exp(truth.judges[0])[k] * (truth.scores[i] - truth.scores[j])
    names = [
        tuple(f"{kind}{n:04d}" for n in range(n_of_kind)) for kind, n_of_kind in (("m", n_models), ("j", n_judges))
    ]
    return Comparisons(*names, i, j, k, draw_outcomes(rng, expit(eta))), truth


def rank_command(rows: Comparisons, solver: str, questions: int) -> tuple[float, float]:
    """Seconds of `judgerank.rank` from a file, in a process of its own, and the peak memory of that in bytes."""
    question = generator(0, "bench", "questions", len(rows)).integers(questions, size=len(rows))
    frame = rows.to_frame().rename(columns={"judge_preferred_model": "winner"}).assign(question_id=question)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "judgments.csv"
        frame.to_csv(path, index=False)
        done = subprocess.run(
            [sys.executable, "-c", RANK, str(path), solver], capture_output=True, text=True, check=True
        )
    elapsed, peak = map(float, done.stdout.split())
    return elapsed, peak


def against_many(cfg: DictConfig) -> Iterator[tuple]:
    """Many models, and many judges with ten votes each; beside limits in seconds and bytes."""
    for count, size, goal in ((1000, 100_000, 5.0), (5000, 500_000, 45.0)):
        elapsed, peak = rank_command(simulated(cfg.seed, count, 20, size)[0], "newton", 5000)
        yield (
            f"seconds of rank from a file, N={count:,} K=20 T={size:,} / {goal:.0f} s",
            elapsed,
            goal,
            "at most 1",
        )
        if count == 1000:
            yield "peak memory of that process (bytes) / 0.5 GB", peak, 0.5e9, "at most 1"
    judges, _ = simulated(cfg.seed, 100, 10_000, 100_000)
    for member, goal in (("judge_aware", 1.0), ("position_aware", 30.0)):
        shrinkage_time = seconds(lambda member=member: fit(judges, member, "penalised"), 1)
        yield (
            f"seconds of shrinkage, {member}, N=100 K=10,000 T=100,000 / {goal:.0f} s",
            shrinkage_time,
            goal,
            "at most 1",
        )
    for count in (100, 1000):
        rows, truth = simulated(cfg.seed, 100, count, 100_000)
        shrunk = fit(rows, "judge_aware", "penalised")
        scores = shrunk.confidence_intervals().iloc[:100]
        held = scores["low"].le(truth.scores) & scores["high"].ge(truth.scores)
        label = f"share of 95% intervals of shrunk scores that hold, N=100 K={count:,} T=100,000 / 0.95"
        yield label, held.mean(), 0.95, ""
    cells = simulated(cfg.seed, 100, 20, 20_000)[0]
    fitted = fit(cells)
    chosen, parts = np.arange(100), (fitted.comparisons, fitted.model, fitted.solution.parameters)
    exact = seconds(lambda: differences_under_equality(NetResults.of(*parts)), 1)
    quick = seconds(lambda: differences_of_many(ManyResults.of(*parts, chosen), [None], chosen, 100), 5)
    yield "test under equality pair by pair / for all pairs at once, N=100 K=20", exact, quick, "at least 20"


def against_blocks(cfg: DictConfig) -> Iterator[tuple]:
    """Replications by a dask scheduler and two workers: what a block of them costs by itself, and all of them."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    dask, alone = Parallel("dask", -1, options), Parallel("sequential", 1, {})

    def elapsed_seconds(
        parallel: Parallel, task: Callable, settings: dict, n_replications: int, block: int
    ) -> float:
        logging.disable(logging.WARNING)  # what is printed is a table
        with TemporaryDirectory() as folder:
            study = Study(
                "bench", task, {"cell": settings}, {"cell": n_replications}, cfg.seed, Path(folder), block
            )
            start = time.perf_counter()  # most of it is in other processes
            study.run(parallel)
        logging.disable(logging.NOTSET)
        return time.perf_counter() - start

    few, n_many = 20, 420
    block_cost = (elapsed_seconds(dask, nothing, {}, n_many, 1) - elapsed_seconds(dask, nothing, {}, few, 1)) / (
        n_many - few
    )
    yield (
        "seconds of a block beside its replications, dask, two workers / 1% of 10 s",
        block_cost,
        0.1,
        "at most 1",
    )
    cells = study_of(compose("ci_coverage", ["draws=0"]), "ci_coverage", interval_coverage).cells
    name = next(name for name in cells if name.startswith("n20"))
    work = interval_coverage, cells[name], 2000, 500
    label = f"2,000 replications of ci_coverage, {name}, in blocks of 500: dask, two workers / one process"
    yield label, elapsed_seconds(dask, *work), elapsed_seconds(alone, *work), ""


def against_further(records: Records, blocks: Sequence[str], title: str) -> Iterator[tuple]:
    """Fits with further blocks against the judge-aware fit, both of raw comparisons."""
    for block in blocks:
        block_time, plain_time = both(
            lambda block=block: fit(_fresh(records), "judge_aware", blocks=[block]),  # type: ignore[misc]
            lambda: fit(replace(records.comparisons), "judge_aware"),
            5,
        )
        goal = "" if any(named_block.shrunk for named_block in named(block)) else "at most 2.5"
        yield f"judge-aware fit with block {block} / without, {title}", block_time, plain_time, goal


def _fresh(records: Records) -> Records:
    """Comparisons of their own, with which nothing is remembered."""
    return replace(records, comparisons=replace(records.comparisons))


def against_growing(comparisons: Comparisons, title: str) -> Iterator[tuple]:
    """The last hundredth of the judgments appended: from the fit of the others, and from nothing."""
    frame = comparisons.to_frame().sample(frac=1, random_state=0)
    cut = len(frame) - len(frame) // 100
    for member in ("judge_aware", "position_aware"):
        before = fit(Comparisons.from_frame(frame.iloc[:cut]), member)
        late = frame.iloc[cut:]
        warm = seconds(lambda b=before, m=member: fit(b.comparisons.extended(late), m, start=b), 21)  # noqa: B023
        cold = seconds(lambda b=before, m=member: fit(b.comparisons.extended(late), m), 21)  # noqa: B023
        yield f"1% appended: fit from that of the rest / from nothing, {member}, {title}", warm, cold, "at most 1"
        yield f"1% appended, seconds of the first / 50 ms, {member}, {title}", warm, 0.05, "at most 1"
        steps = [steps_of(comparisons, member, split) for split in range(12)]
        label = f"most Newton steps of the first in 12 splits, {np.bincount(steps)[4:].sum()} with more than 3 / 3"
        yield f"1% appended, {label}, {member}, {title}", max(steps), 3.0, "at most 1"


def steps_of(comparisons: Comparisons, member: str, split: int) -> int:
    frame = comparisons.to_frame().sample(frac=1, random_state=split)
    cut = len(frame) - len(frame) // 100
    before = fit(Comparisons.from_frame(frame.iloc[:cut]), member)
    return fit(before.comparisons.extended(frame.iloc[cut:]), member, start=before).solution.iterations


# How the time of a ranking's fit grows with judgments, models, judges and questions.
BASE = {"judgments": 100_000, "models": 30, "judges": 10, "questions": 10_000}
SIZES: Mapping[str, Sequence[int]] = {
    "judgments": (30_000, 100_000, 300_000, 1_000_000, 3_000_000),
    "models": (10, 30, 100, 300, 600),
    "judges": (3, 10, 30, 100, 300),
    "questions": (1_000, 3_000, 10_000, 30_000, 100_000),
}
REPEATS = 3
MEMBER = "position_aware"


def times(seed: int) -> pd.DataFrame:
    """Processor seconds from judgments to a shrunk fit with errors by question: ``axis, size, seconds``."""
    rows = []
    for axis, sizes in SIZES.items():
        for size in sizes:
            shape = BASE | {axis: size}
            measured_seconds = [_seconds(shape, seed) for _ in range(REPEATS)]
            rows.append((axis, size, float(np.median(measured_seconds))))
    return pd.DataFrame(rows, columns=["axis", "size", "seconds"])


def _seconds(shape: Mapping[str, int], seed: int) -> float:
    rows, _ = simulated(seed, shape["models"], shape["judges"], shape["judgments"])
    question = generator(seed, "growth").integers(shape["questions"], size=len(rows))
    start = time.process_time()
    fit(rows, MEMBER, "penalised").clustered(rows, question)
    return time.process_time() - start


def exponents(measured_times: pd.DataFrame) -> pd.DataFrame:
    """Slopes of log seconds on log size by axis, over the larger sizes: ``axis, exponent, error``.

    The two smallest sizes are left out: there most of the time depends on nothing. The error is that of a
    least-squares line.
    """
    lines = []
    for axis, part in measured_times.groupby("axis", sort=False):
        x, y = np.log(part["size"].to_numpy(float)[2:]), np.log(part["seconds"].to_numpy()[2:])
        (slope, start), left = np.polyfit(x, y, 1), x - x.mean()
        noise = ((y - start - slope * x) ** 2).sum() / (len(x) - 2)
        lines.append((axis, slope, float(np.sqrt(noise / (left**2).sum()))))
    return pd.DataFrame(lines, columns=["axis", "exponent", "error"])


def measures(measured_times: pd.DataFrame) -> Iterator[tuple]:
    """The exponents of measured times as lines of the bench."""
    for row in exponents(measured_times).itertuples():
        yield f"exponent of the time of a fit in {row.axis} / 1", row.exponent, 1.0, ""


def drawn(measured_times: pd.DataFrame, lines: pd.DataFrame) -> Figure:
    """Time against size on logarithmic axes, a curve for each axis, with its exponent; within `in_style`."""
    figure, panels = canvas(PAGE, 2.6, 1, len(SIZES))
    exponent_of_axis = lines.set_index("axis")
    for axes, (axis, part), (colour, marker) in zip(
        panels, measured_times.groupby("axis", sort=False), shades(len(SIZES)), strict=True
    ):
        axes.plot(part["size"], part["seconds"], color=colour, marker=marker)
        exponent, error = exponent_of_axis.loc[axis, ["exponent", "error"]]
        axes.set(xscale="log", yscale="log", xlabel=axis, title=f"exponent {exponent:.2f} (SE {error:.2f})")
    panels[0].set_ylabel("seconds of the processor")
    low, high = measured_times["seconds"].min() / 1.5, measured_times["seconds"].max() * 1.5
    for axes in panels:
        axes.set_ylim(low, high)
    return figure


# Processor seconds and memory of whole commands, each in a process of its own.
EXAMPLE = ROOT / "examples/judgments.csv"
LARGE = {"n_models": 200, "n_judges": 51, "per_question": 5}  # of the file whose ranking is timed
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
            elapsed = processor(3, "rank", path, "--output", Path(folder) / name, "--force")
            label = f"processor seconds of judgerank rank, {name} / {allowed[name]:g} s"
            yield label, elapsed, allowed[name], "at most 1"


def of_large_rank(rows: int, memory: str, seed: int) -> Iterator[tuple]:
    """A ranking of a large file of Parquet over the engine's own group-by, and its memory."""
    with TemporaryDirectory() as folder:
        path = write_judgments(Path(folder), rows, seed, ("parquet",), **LARGE)["parquet"]
        baseline = [measured("by_duckdb", path, memory) for _ in range(3)]
        command_usage = usage("rank", path, "--output", Path(folder) / "ranking")
        shape = f"{rows:,} rows of Parquet, {LARGE['n_models']} models, {LARGE['n_judges']} judges"
        second = median(run["processor"] for run in baseline)
        label = f"processor seconds of judgerank rank / of DuckDB's own group-by, {shape}"
        yield label, command_usage["processor"], second, "at most 10"
        yield f"peak memory of judgerank rank / 3 GB, {shape}", command_usage["peak"], 3e9, "at most 1"
