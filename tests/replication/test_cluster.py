"""Replications on a cluster, and sweeps as jobs of their own: real schedulers, on this machine's loopback."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from replication.config import ROOT
from tests.forked import environment, run
from tests.replication.test_replicate import tree

SMALL = ["n_comparisons=[500]", "replications=4", "block=2"]


def section(name: str, *overrides: str) -> subprocess.CompletedProcess:
    return run([str(ROOT / "experiments" / f"{name}.py"), *overrides], env=environment())


def outputs(folder, seed: str = "") -> list[str]:
    inside = f"/{seed}" if seed else ""
    return [f"cache={folder}/cache", f"results={folder}/results{inside}", f"figures={folder}/figures{inside}"]


@contextmanager
def cluster(folder, n_workers: int, sources: Path | None = None) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """A scheduler and workers as processes of their own; yields the scheduler's address, and all of them.

    The workers have the packages of the checkout, or those in another folder.
    """
    distributed = pytest.importorskip("distributed")
    told = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    flags = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told)]
    processes = [subprocess.Popen([*dask, "scheduler", *flags], env=environment(), stderr=subprocess.DEVNULL)]
    try:
        address = _address(told)
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        socket.create_connection((host, int(port)), timeout=10).close()
        worker = [*dask, "worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard"]
        worker += ["--no-nanny"]  # which would be one more process each
        seen = environment() | ({"PYTHONPATH": str(sources)} if sources else {})
        for number in range(n_workers):
            place = ["--local-directory", str(folder / f"worker{number}")]
            processes.append(subprocess.Popen([*worker, *place], cwd=folder, env=seen, stderr=subprocess.DEVNULL))
        with distributed.Client(address) as client:
            client.wait_for_workers(n_workers, 120)  # by joblib's rule one worker alone is given nothing
        yield address, processes
    finally:
        for process in reversed(processes):
            process.kill()  # a worker without a nanny may take long to end well
        for process in processes:
            process.wait(30)


def _address(told) -> str:
    for _ in range(300):
        if told.is_file() and told.stat().st_size:
            return json.loads(told.read_text())["address"]
        time.sleep(0.1)
    raise TimeoutError("the scheduler did not start")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The folder of a run in one process."""
    folder = tmp_path_factory.mktemp("alone")
    done = section("beyond/slot_bias", *SMALL, "seed=2", "parallel=sequential", *outputs(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.skipif(os.name != "posix", reason="processes are ended by signals")
def test_a_scheduler_with_two_workers_gives_the_bytes_of_one_process(alone, tmp_path):
    with cluster(tmp_path, 2) as (address, _):
        where = ["parallel=dask_cluster", f"parallel.options.address={address}"]
        done = section("beyond/slot_bias", *SMALL, "seed=2", *where, *outputs(tmp_path / "cluster"))
    assert done.returncode == 0, done.stderr
    assert "8 replications computed" in done.stdout + done.stderr
    results = [_without_place(folder) for folder in (alone, tmp_path / "cluster")]
    assert len(results[0]) > 8
    assert results[0] == results[1]


@pytest.mark.skipif(os.name != "posix", reason="processes are ended by signals")
def test_workers_with_other_code_are_refused_in_one_sentence_and_nothing_of_theirs_is_kept(tmp_path):
    other = tmp_path / "other"
    shutil.copytree(ROOT / "src", other, ignore=shutil.ignore_patterns("__pycache__"))
    path = other / "judgerank/data/arrays.py"
    path.write_text(f"{path.read_text()}\nLATER = 1\n")
    with cluster(tmp_path, 2, other) as (address, _):
        where = ["parallel=dask_cluster", f"parallel.options.address={address}"]
        done = section("beyond/slot_bias", *SMALL, "seed=2", *where, *outputs(tmp_path / "run"))
    assert done.returncode == 1
    sentence = done.stderr.strip().splitlines()[-1]
    assert re.match(
        r"slot_bias: the worker tcp://\S+ has other code \(judgerank/data/arrays.py\): nothing", sentence
    )
    assert "Traceback" not in done.stdout + done.stderr
    assert not list((tmp_path / "run").rglob("*.jsonl"))
    assert not (tmp_path / "run/results").exists()


@pytest.mark.skipif(os.name != "posix", reason="processes are ended by signals")
def test_a_killed_scheduler_ends_a_run_in_one_sentence_and_finished_blocks_are_kept(tmp_path):
    cache = tmp_path / "run/cache"
    with cluster(tmp_path, 2) as (address, processes):

        def kill() -> None:
            while not list(cache.rglob("*.jsonl")):
                time.sleep(0.05)
            processes[0].kill()

        Thread(target=kill, daemon=True).start()
        where = ["parallel=dask_cluster", f"parallel.options.address={address}", "replications=4000"]
        done = section("beyond/slot_bias", *SMALL, "seed=2", *where, *outputs(tmp_path / "run"))
    assert done.returncode == 1
    assert f"slot_bias: the cluster {address} was lost" in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stdout + done.stderr
    assert list(cache.rglob("*.jsonl"))


def test_a_sweep_runs_as_jobs_of_submitit(alone, tmp_path):
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    jobs = ["--multirun", "hydra/launcher=submitit_local", "seed=1,2", f"hydra.sweep.dir={tmp_path}/jobs"]
    swept = outputs(tmp_path / "swept", "${seed}")
    done = section("beyond/slot_bias", *jobs, *SMALL, "parallel=sequential", *swept)
    assert done.returncode == 0, done.stderr
    logs = list((tmp_path / "jobs").rglob("*_log.out"))
    assert len(logs) == 2  # a job each
    swept = tmp_path / "swept" / "results"
    other, swept, tables = (
        {path.name: path.read_bytes() for path in folder.rglob("*.csv")}
        for folder in (swept / "1", swept / "2", alone / "results")
    )
    assert swept == tables
    assert other.keys() == tables.keys() and other != tables


def _without_place(folder) -> dict[str, bytes]:
    """Tables, figures and finished replications; the record beside them names where they went and how they ran."""
    return {name: content for name, content in tree(folder).items() if not name.endswith("run.json")}
