"""How long the stored runs took, from their records, as blocks that `make audit` keeps current."""

from __future__ import annotations

import json

import pandas as pd

from replication.auditing.results import Results
from replication.config import SCRIPTS
from replication.tables import markdown_table

COMMANDS = ("torture", "verify")  # with records of their own, though they are no sections
UNKNOWN = "--"


def times_table(results: Results) -> str:
    """How long every section took in the stored run, sets together."""
    times = times_of(results)
    rows = [
        (f"`make {row.section}`", f"{row.seconds:.0f} s", _formatted(row.processor, "{:.0f} s"))
        for row in times.itertuples()
    ]
    cpus = " and ".join(sorted(set(times["cpu"])))
    total = f"Together {times['seconds'].sum() / 60:.0f} minutes on {cpus}, without start-up and installation."
    return f"{markdown_table(rows, ['section', 'time taken', 'of the processor'])}\n\n{total}"


def full_run_times(results: Results) -> str:
    """How long the commands take that run many sections, as the stored runs did."""
    times = times_of(results)
    is_paper = times["section"].isin([path.stem for path in SCRIPTS.glob("*.py")])
    rows = [
        (command, f"{len(of)} sections", *_total_minutes(of))
        for command, of in (("reproduce", times[is_paper]), ("beyond", times[~is_paper]))
    ]
    verified = results.audit / "verify/run.json"
    if verified.is_file():
        machine = json.loads(verified.read_text())["machine"]
        of = pd.DataFrame({"seconds": [machine["seconds"]], "processor": [machine["processor_seconds"]]})
        rows.append(("verify", rows[0][1], *_total_minutes(of)))
    rows = [(f"`make {command}`", *rest) for command, *rest in rows]
    return markdown_table(rows, ["command", "what it runs", "time taken", "of the processor"])


def times_of(results: Results) -> pd.DataFrame:
    """Seconds by section, sets together, the slowest first: ``section, seconds, processor, cpu, memory``.

    Those of the processor, and megabytes of the largest process, are NaN where a record does not tell.
    """
    rows = []
    for path in sorted(results.folder.rglob("run.json")):
        run = json.loads(path.read_text())
        if not (run["surrogate"] or run["section"] in COMMANDS):
            machine = run["machine"]
            processor = machine.get("processor_seconds", float("nan"))
            memory = machine.get("peak_memory_mb", float("nan"))
            rows.append((run["section"], machine["seconds"], processor, machine["cpu"], memory))
    frame = pd.DataFrame(rows, columns=["section", "seconds", "processor", "cpu", "memory"])
    sets = frame.groupby("section", sort=False)
    times = sets.agg({"seconds": "sum", "processor": "sum", "cpu": "first", "memory": "max"})
    for name in ("processor", "memory"):
        times[name] = times[name].where(sets[name].count() == sets.size())
    return times.sort_values("seconds", ascending=False, kind="stable").reset_index()


def _total_minutes(times: pd.DataFrame) -> tuple[str, str]:
    """Minutes by the clock and of the processor."""
    return f"{times['seconds'].sum() / 60:.1f} min", _formatted(
        times["processor"].sum(skipna=False) / 60, "{:.1f} min"
    )


def _formatted(time: float, form: str) -> str:
    return UNKNOWN if pd.isna(time) else form.format(time)
