"""Does rounding decide anything? Small sections and numerical tests under several kernels of the same libraries.

python experiments/beyond/kernels.py [short=true] [tests=[]] ...
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig

from replication.config import ROOT, launched
from replication.differences import Difference, compare
from replication.errors import NotAsStoredError
from studies.config import main

log = logging.getLogger("studies")


def run_sections(cfg: DictConfig, names: list[str], environment: dict[str, str], folder: Path) -> list[str]:
    """Run small sections into a folder under some environment; returns those that failed, with their last line."""
    failed = []
    for name in names:
        outputs = [f"{kind}={folder / kind}" for kind in ("results", "figures")]
        if name in cfg.replicated:
            outputs += [f"cache={folder / 'cache'}", "parallel=sequential"]
        error = launched(name, *outputs, *cfg.sections[name], environment=environment)
        if error:
            failed.append(f"{name}: {error}")
    return failed


def run_tests(cfg: DictConfig, environment: dict[str, str]) -> tuple[str, list[str]]:
    """The last line of the numerical tests, and the names of those that fail."""
    files = [f"tests/{name}" for name in cfg.tests]
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "--tb=no", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    lines = done.stdout.strip().splitlines() or [done.stderr.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return lines[-1], failed or ([] if done.returncode == 0 else [lines[-1]])


def tables_in(folder: Path) -> dict[str, pd.DataFrame]:
    return {path.relative_to(folder).as_posix(): pd.read_csv(path) for path in sorted(folder.rglob("*.csv"))}


def unlike(first: dict[str, pd.DataFrame], second: dict[str, pd.DataFrame]) -> list[Difference]:
    """Cells in which the tables of two settings differ by more than `replication.differences` allows."""
    differences = [
        Difference(name, "", "table", name in first, name in second) for name in first.keys() ^ second.keys()
    ]
    return differences + [
        d for name in first.keys() & second.keys() for d in compare(name, first[name], second[name])
    ]


def made_by(folder: Path) -> str:
    """The kernels and loops that a setting's runs say they had."""
    machine = json.loads(next(folder.rglob("run.json")).read_text())["machine"]
    kernels = sorted({blas.split()[-1] for blas in machine["blas"]})
    return f"BLAS {', '.join(kernels)}; numpy {', '.join(machine['simd']) or 'baseline'}"


def problems_of(cfg: DictConfig) -> int:
    """Run everything under every setting, one line for each; returns how much differs or fails."""
    settings = list(cfg.short_settings if cfg.short else cfg.settings)
    sections = list(cfg.short_sections if cfg.short else cfg.sections)
    first, problems = None, 0
    with tempfile.TemporaryDirectory(prefix="judgerank-kernels-") as name:
        for setting in settings:
            began, folder = time.monotonic(), Path(name, setting)
            environment = os.environ | dict(cfg.settings[setting])
            failed = run_sections(cfg, sections, environment, folder)
            if not any(folder.rglob("run.json")):
                log.info("%s: nothing runs on this processor (%s)", setting, failed[0])
                problems += first is None
                continue
            tested, failing = ("no tests", []) if cfg.short or not cfg.tests else run_tests(cfg, environment)
            tables = tables_in(folder / "results")
            different = [] if first is None else unlike(first, tables)
            first = tables if first is None else first
            log.info(
                "%s (%s): %d tables, %d cells unlike the first setting's; %s; %.0f s",
                *(setting, made_by(folder), len(tables), len(different), tested, time.monotonic() - began),
            )
            for line in [*failed, *failing, *different[: cfg.shown]]:
                log.info("  %s", str(line).replace("stored", "first").replace("recomputed", "here"))
            problems += len(failed) + len(failing) + len(different)
    return problems


@main("kernels")
def run(cfg: DictConfig) -> None:
    problems = problems_of(cfg)
    if problems:
        raise NotAsStoredError(f"{problems} differences or failures between kernels")


if __name__ == "__main__":
    run()
