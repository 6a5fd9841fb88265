"""Time and memory from a file to a fit, beside an engine's own group-by; every measure in a process of its own.

python -m studies.scaling 1e6 1e7 [--memory 2GB] [--forms parquet csv] [--tasks to_fit] [--to 1e9]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.special import expit

from judgerank import aggregate, fit
from judgerank.data.arrays import generator
from judgerank.fits.errors_by_question import clustered, resampled
from judgerank.reading.large.sources import session
from replication.random_designs import draw_truth, uniform_triples

N_MODELS, N_JUDGES, N_PER_QUESTION = 1000, 100, 10  # comparisons of a question, on average
PART = 1_000_000  # rows written at a time
REPLICATES = 5
KEYS = ("model_a", "model_b", "judge_model")
ANSWER = "judge_preferred_model"
Measures = Iterator[tuple[str, float, float, str]]


def write_judgments(
    folder: Path,
    rows: int,
    seed: int,
    forms: tuple[str, ...],
    n_models: int = N_MODELS,
    n_judges: int = N_JUDGES,
    per_question: int = N_PER_QUESTION,
) -> dict[str, Path]:
    """Simulated judgments on a uniform design, one comparison in ten a tie, in files of several forms."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng = generator(seed, "scaling", rows)
    truth = draw_truth(rng, n_models, n_judges, 1.0, 1.0)
    text = pa.string()
    schema = pa.schema([("question_id", text), *((name, text) for name in (*KEYS, ANSWER))])
    labels = [
        [f"{kind}-{n:04d}" for n in range(n_of_kind)]
        for kind, n_of_kind in (("model", n_models), ("judge", n_judges))
    ]
    paths = {form: folder / f"judgments.{form}" for form in forms}
    open_as = {"parquet": pa.parquet.ParquetWriter, "csv": pa.csv.CSVWriter}
    writers = [open_as[form](paths[form], schema) for form in forms]
    for start in range(0, rows, PART):
        size = min(PART, rows - start)
        i, j, k = uniform_triples(rng, n_models, n_judges, size)
        eta = np.exp(truth.judges[0])[k] * (truth.scores[i] - truth.scores[j])
        answer = np.where(rng.random(size) < 0.1, 2, rng.random(size) < expit(eta))
        question = rng.integers(max(2, rows // per_question), size=size).astype(str)
        codes = [(i, labels[0]), (j, labels[0]), (k, labels[1]), (answer, ["b", "a", "c"])]
        columns = [pa.array(question), *(pa.DictionaryArray.from_arrays(c.astype(np.int32), x) for c, x in codes)]
        part = pa.table([column.cast(text) for column in columns], schema=schema)
        for writer in writers:
            writer.write_table(part)
    for writer in writers:
        writer.close()
    return paths


def by_duckdb(path: str, memory: str) -> int:
    wins = f"sum(CASE {ANSWER} WHEN 'a' THEN 1.0 WHEN 'c' THEN 0.5 ELSE 0.0 END)"
    with session(memory) as db:
        grouped = f"SELECT {', '.join(KEYS)}, count(*) AS n, {wins} AS w FROM '{path}' GROUP BY ALL"
        return int(db.rows(f"SELECT count(*) FROM ({grouped}) WHERE n > 0 AND w >= 0")[0][0])


def by_polars(path: str, memory: str) -> int:
    import polars

    rows = polars.scan_csv(path) if path.endswith("csv") else polars.scan_parquet(path)
    answer = polars.col(ANSWER)
    wins = polars.when(answer == "a").then(1.0).when(answer == "c").then(0.5).otherwise(0.0)
    grouped = rows.group_by(KEYS).agg(n=polars.len(), w=wins.sum())
    return int(grouped.select(polars.len()).collect(engine="streaming").item())


def by_acero(path: str, memory: str) -> int:
    import pyarrow.compute as pc
    import pyarrow.dataset
    from pyarrow import acero

    rows = pyarrow.dataset.dataset(path, format=path.rsplit(".", 1)[-1])
    names = [pc.field(name) for name in KEYS]
    wins = pc.if_else(pc.field(ANSWER) == "a", 1.0, pc.if_else(pc.field(ANSWER) == "c", 0.5, 0.0))
    steps = [
        acero.Declaration("scan", acero.ScanNodeOptions(rows, columns=[*KEYS, ANSWER])),
        acero.Declaration("project", acero.ProjectNodeOptions([*names, wins], [*KEYS, "w"])),
        acero.Declaration(
            "aggregate",
            acero.AggregateNodeOptions(
                [("w", "hash_sum", None, "w"), ("w", "hash_count", None, "n")], keys=list(KEYS)
            ),
        ),
    ]
    return int(acero.Declaration.from_sequence(steps).to_table().num_rows)


def to_cells(path: str, memory: str) -> int:
    return len(aggregate(path, memory=memory))


def to_fit(path: str, memory: str) -> int:
    return len(fit(aggregate(path, memory=memory)).comparisons)


def to_questions(path: str, memory: str) -> int:
    return int(clustered(fit(aggregate(path, memory=memory)), path, memory=memory).degrees_of_freedom + 1)


def to_resamples(path: str, memory: str) -> int:
    return sum(len(cells) for cells in resampled(path, REPLICATES, seed=1, memory=memory))


def nothing(settings: dict, rng: np.random.Generator) -> dict:
    """A replication that takes no time, for what a block costs beside its replications."""
    return {}


TASKS: dict[str, Callable[[str, str], int]] = {
    task.__name__: task for task in (by_duckdb, by_polars, by_acero, to_cells, to_fit, to_questions, to_resamples)
}
OF_QUESTIONS = {to_questions.__name__, to_resamples.__name__}  # measured on Parquet alone


def own_peak_bytes() -> float:
    """Bytes that this process alone held at most (Linux; what `resource` says would include its parent's)."""
    status = Path("/proc/self/status").read_text()
    return 1024.0 * int(status.split("VmHWM:")[1].split()[0])


def measured(task: str, path: Path, memory: str) -> dict[str, float]:
    """Seconds, and those of the processor, without starting Python; peak memory by the system; what it counted."""
    command = [sys.executable, "-m", "studies.scaling", "--task", task, str(path), "--memory", memory]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measures(rows: int, memory: str, seed: int) -> Measures:
    """Ratios to the engine's own group-by, and memory, of one size."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_judgments(Path(folder), rows, seed, ("parquet", "csv"))
        for form, path in paths.items():
            label = f"{form}, N=1,000 K=100 T={rows:,}, memory {memory}"
            baseline = measured("by_duckdb", path, memory)
            tasks = {"to_cells": "file to cells", "to_fit": "file to fit"}
            other_engines = {"by_polars": "polars' group-by", "by_acero": "Acero's group-by"}
            if form == "parquet":
                tasks["to_questions"] = "file to errors by question"
                tasks["to_resamples"] = f"file to {REPLICATES} resamples of the questions"
            for task, title in (tasks | other_engines).items():
                usage = measured(task, path, memory)
                goal = {"to_cells": "at most 1.3", "to_fit": "at most 2"}.get(task, "")
                for what, unit in (("seconds", ""), ("processor", " (processor)")):
                    yield f"{title} / DuckDB's own group-by{unit}, {label}", usage[what], baseline[what], goal
                yield f"its peak memory / 4 GB, {title}, {label}", usage["peak"], 4e9, "at most 1" if goal else ""
            yield f"DuckDB's own group-by, its peak memory / 4 GB, {label}", baseline["peak"], 4e9, ""


def line_at(x: Sequence[float], y: Sequence[float], point: float) -> tuple[float, float]:
    """Value, and standard error, of a line at a point; fitted by least squares of what it misses relative to y."""
    slope_and_start, covariance = np.polyfit(x, y, 1, w=1 / np.asarray(y), cov=True)
    regressors = np.array([point, 1.0])
    return float(regressors @ slope_and_start), float(np.sqrt(regressors @ covariance @ regressors))


def extrapolated(measures_by_size: Mapping[int, Mapping[str, Mapping[str, float]]], rows: int) -> Iterator[str]:
    """Lines of a table: what so many rows would take, by lines through measures (by size and task); not measured.

    A file is read, and cells made, in proportion to rows. Cells run out, and a fit takes them: what it adds is in
    proportion to cells, of which a uniform design has an expected number. Memory is no line: the engine fills its
    bound first.
    """
    sizes, most = (
        list(measures_by_size),
        N_MODELS * (N_MODELS - 1) // 2 * N_JUDGES,
    )  # each pair is shown in one order
    cells, full_cells = (
        [measures_by_size[size]["to_cells"]["counted"] for size in sizes],
        -most * np.expm1(-rows / most),
    )
    for what in ("seconds", "processor"):
        before = [measures_by_size[size]["to_cells"][what] for size in sizes]
        added = [
            measures_by_size[size]["to_fit"][what] - read_cost
            for size, read_cost in zip(sizes, before, strict=True)
        ]
        (read, read_error), (fitted, fit_error) = line_at(sizes, before, rows), line_at(cells, added, full_cells)
        yield f"| {what}, file to cells | {read:.0f} | {read_error:.0f} |"
        yield f"| {what}, file to fit | {read + fitted:.0f} | {np.hypot(read_error, fit_error):.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--forms", nargs="+", default=["parquet", "csv"], choices=["parquet", "csv"])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--to", type=float, help="rows to extrapolate to, from four sizes or more")
    parser.add_argument("--task", choices=TASKS)
    arguments = parser.parse_args()
    if arguments.task:
        start, before = time.perf_counter(), time.process_time()
        counted = TASKS[arguments.task](arguments.rows[0], arguments.memory)
        usage = {"seconds": time.perf_counter() - start, "processor": time.process_time() - before}
        print(json.dumps(usage | {"peak": own_peak_bytes(), "counted": counted}))
        return
    print("| form | rows | what | cells | seconds | processor | peak GB |\n|:--|--:|:--|--:|--:|--:|--:|")
    measures_by_size: dict[int, dict[str, dict[str, float]]] = {}
    for rows in (int(float(count)) for count in arguments.rows):
        with tempfile.TemporaryDirectory() as folder:
            for form, path in write_judgments(Path(folder), rows, 1, tuple(arguments.forms)).items():
                for task in arguments.tasks:
                    if form == "csv" and task in OF_QUESTIONS:
                        continue
                    usage = measured(task, path, arguments.memory)
                    if form == arguments.forms[0]:
                        measures_by_size.setdefault(rows, {})[task] = usage
                    seconds, peak = (
                        f"{usage['seconds']:.1f} | {usage['processor']:.1f}",
                        f"{usage['peak'] / 1e9:.2f}",
                    )
                    print(
                        f"| {form} | {rows:,} | {task} | {usage['counted']:,} | {seconds} | {peak} |", flush=True
                    )
    if arguments.to:
        print(f"\n| extrapolated to {arguments.to:,.0f} rows | value | standard error |\n|:--|--:|--:|")
        print("\n".join(extrapolated(measures_by_size, int(arguments.to))))


if __name__ == "__main__":
    main()
