"""Time and memory from a file to a fit, beside an engine's own group-by; every measure in a process of its own.

python -m replication.scaling 1e6 1e7 [--memory 2GB]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.special import expit

from judgerank import aggregate, fit
from judgerank.scale.engine import session
from judgerank.scale.questions import clustered
from judgerank.simulate import draw_truth, generator, uniform_triples

N_MODELS, N_JUDGES, ASKED = 1000, 100, 10  # comparisons of a question, on average
PART = 1_000_000  # rows written at a time
KEYS = ("model_a", "model_b", "judge_model")
ANSWER = "judge_preferred_model"
Measures = Iterator[tuple[str, float, float, str]]


def write_judgments(folder: Path, rows: int, seed: int, forms: tuple[str, ...]) -> dict[str, Path]:
    """Simulated judgments on a uniform design, one comparison in ten a tie, in files of several forms."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng = generator(seed, "scaling", rows)
    truth = draw_truth(rng, N_MODELS, N_JUDGES, 1.0, 1.0)
    text = pa.string()
    schema = pa.schema([("question_id", text), *((name, text) for name in (*KEYS, ANSWER))])
    labels = [
        [f"{kind}-{n:04d}" for n in range(many)] for kind, many in (("model", N_MODELS), ("judge", N_JUDGES))
    ]
    paths = {form: folder / f"judgments.{form}" for form in forms}
    open_as = {"parquet": pa.parquet.ParquetWriter, "csv": pa.csv.CSVWriter}
    writers = [open_as[form](paths[form], schema) for form in forms]
    for start in range(0, rows, PART):
        size = min(PART, rows - start)
        i, j, k = uniform_triples(rng, N_MODELS, N_JUDGES, size)
        eta = np.exp(truth.judges[0])[k] * (truth.scores[i] - truth.scores[j])
        answer = np.where(rng.random(size) < 0.1, 2, rng.random(size) < expit(eta))
        question = rng.integers(max(2, rows // ASKED), size=size).astype(str)
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
    said = polars.col(ANSWER)
    wins = polars.when(said == "a").then(1.0).when(said == "c").then(0.5).otherwise(0.0)
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


TASKS: dict[str, Callable[[str, str], int]] = {
    task.__name__: task for task in (by_duckdb, by_polars, by_acero, to_cells, to_fit, to_questions)
}


def peak_memory() -> float:
    """Bytes that this process held at most (Linux; what `resource` says would include its parent's)."""
    status = Path("/proc/self/status").read_text()
    return 1024.0 * int(status.split("VmHWM:")[1].split()[0])


def measured(task: str, path: Path, memory: str) -> dict[str, float]:
    """Seconds of a task, without starting Python, its peak memory by the operating system, and what it counted."""
    command = [sys.executable, "-m", "replication.scaling", "--task", task, str(path), "--memory", memory]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measures(rows: int, memory: str, seed: int) -> Measures:
    """Ratios to the engine's own group-by, and memory, of one size."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_judgments(Path(folder), rows, seed, ("parquet", "csv"))
        for form, path in paths.items():
            label = f"{form}, N=1,000 K=100 T={rows:,}, memory {memory}"
            own = measured("by_duckdb", path, memory)
            tasks = {"to_cells": "file to cells", "to_fit": "file to fit"}
            others = {"by_polars": "polars' group-by", "by_acero": "Acero's group-by"}
            if form == "parquet":
                tasks["to_questions"] = "file to errors by question"
            for task, title in (tasks | others).items():
                found = measured(task, path, memory)
                goal = "at most 1.5" if task in ("to_cells", "to_fit") else ""
                yield f"{title} / DuckDB's own group-by, {label}", found["seconds"], own["seconds"], goal
                yield f"its peak memory / 4 GB, {title}, {label}", found["peak"], 4e9, "at most 1" if goal else ""
            yield f"DuckDB's own group-by, its peak memory / 4 GB, {label}", own["peak"], 4e9, ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--task", choices=TASKS)
    given = parser.parse_args()
    if given.task:
        start = time.perf_counter()
        counted = TASKS[given.task](given.rows[0], given.memory)
        told = {"seconds": time.perf_counter() - start, "processor": time.process_time()}
        print(json.dumps(told | {"peak": peak_memory(), "counted": counted}))
        return
    print("| form | rows | what | cells | seconds | peak GB |\n|:--|--:|:--|--:|--:|--:|")
    for rows in (int(float(one)) for one in given.rows):
        with tempfile.TemporaryDirectory() as folder:
            for form, path in write_judgments(Path(folder), rows, 1, ("parquet", "csv")).items():
                for task in TASKS:
                    if (form, task) == ("csv", "to_questions"):
                        continue
                    told = measured(task, path, given.memory)
                    seconds, peak = f"{told['seconds']:.1f}", f"{told['peak'] / 1e9:.2f}"
                    print(f"| {form} | {rows:,} | {task} | {told['counted']:,} | {seconds} | {peak} |", flush=True)


if __name__ == "__main__":
    main()
