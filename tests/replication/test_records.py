"""What is recorded of a run: where results come out the same, nothing stored changes, not even the record."""

import json
import multiprocessing
import os
import runpy
import shutil
import subprocess
import sys
import time

import pandas as pd
import pytest

from judgerank.writing.atomic import staged
from replication.auditing.doc_numbers import full_run_times, times_of, times_table
from replication.auditing.results import Results
from replication.config import ROOT, SCRIPTS, script_of
from replication.machine import commit, kernels, machine, processor_seconds
from replication.outputs import run_section
from replication.records import RECORD, is_same, write_record
from replication.tables import Table
from replication.verification import is_full, keep
from tests.replication.test_config import composed

MACHINE = {"commit": "a" * 40, "clean": True, "cpu": "C", "seconds": 1.0, "processor_seconds": 2.0}
RECORDED = {
    "section": "x",
    "surrogate": False,
    "data": {},
    "config": {"seed": 1},
    "versions": {"python": "3.11", "numpy": "2"},
    "machine": MACHINE,
    "files": {"a.csv": "0"},
}


def changed(**parts) -> dict:
    """The record with some keys of its parts changed."""
    return RECORDED | {part: RECORDED[part] | keys for part, keys in parts.items()}


@pytest.mark.parametrize(
    "now",
    [
        changed(machine={"commit": "b" * 40, "cpu": "D", "seconds": 9.0}),
        changed(versions={"python": "3.13"}),
        changed(machine={"clean": False}),
    ],
)
def test_what_varies_by_machine_and_time_does_not_replace_a_record(now):
    assert is_same(RECORDED, now)


@pytest.mark.parametrize(
    "now",
    [
        changed(files={"a.csv": "1"}),
        changed(files={"b.csv": "0"}),
        changed(config={"seed": 2}),
        changed(data={"mt_bench": {"sha256": "0"}}),
        changed(versions={"numpy": "3"}),
        changed(machine={"more": "is told"}),
        RECORDED | {"surrogate": True},
    ],
)
def test_other_results_settings_data_and_packages_do(now):
    assert not is_same(RECORDED, now)
    assert not is_same({}, now)


def test_a_record_of_code_that_was_not_committed_gives_way():
    assert not is_same(changed(machine={"clean": False}), RECORDED)


def stored(folder, value, seed=1, root=ROOT):
    with staged(folder) as staging:
        Table(pd.DataFrame({"x": [value]}), "A table").write(staging, "a")
        told = {key: RECORDED[key] for key in ("section", "surrogate", "data", "versions")} | {
            "config": {"seed": seed}
        }
        write_record(staging, folder, told, root, time.monotonic() - value)
    return (folder / RECORD).read_bytes()


def test_a_folder_of_results_is_left_to_the_byte(tmp_path):
    first = stored(tmp_path / "r", 1.0)
    time.sleep(0.2)
    assert stored(tmp_path / "r", 1.0) == first
    assert stored(tmp_path / "r", 1.0, seed=2) != first
    assert stored(tmp_path / "r", 2.0, seed=2) != stored(tmp_path / "r", 1.0, seed=2)


def test_a_table_that_was_edited_is_made_again_under_the_same_record(tmp_path):
    first = stored(tmp_path / "r", 1.0)
    (tmp_path / "r/a.csv").write_text("x\n3\n")
    assert stored(tmp_path / "r", 1.0) == first
    assert (tmp_path / "r/a.csv").read_text() == "x\n1\n"
    assert (tmp_path / "r/a.csv.edited").read_text() == "x\n3\n"


def git(folder, *command: str) -> str:
    names = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    done = subprocess.run(["git", *names, *command], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def commit_all(folder) -> None:
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "results")


def test_results_made_again_in_an_empty_folder_leave_a_repository_clean(tmp_path):
    commit_all(tmp_path)
    stored(tmp_path / "results", 1.0, root=tmp_path)
    commit_all(tmp_path)
    shutil.rmtree(tmp_path / "results")
    time.sleep(0.2)
    stored(tmp_path / "results", 1.0, root=tmp_path)
    assert git(tmp_path, "status", "--porcelain") == ""
    stored(tmp_path / "results", 2.0, root=tmp_path)
    assert git(tmp_path, "status", "--porcelain") != ""


def test_a_section_run_twice_leaves_a_repository_clean(tmp_path):
    def run():
        script = runpy.run_path(str(script_of("mixed_judges")))
        cfg = composed(
            "mixed_judges",
            "dataset=chatbot_arena",
            "surrogate=always",
            "repeats=2",
            "parallel=sequential",
            f"cache={tmp_path}/c",
            f"results={tmp_path}/r",
            f"figures={tmp_path}/f",
        )
        run_section("mixed_judges", cfg, script["compute"], script["draw"])

    run()
    commit_all(tmp_path)
    run()
    assert git(tmp_path, "status", "--porcelain") == ""


def busy() -> None:
    start = time.process_time()
    while time.process_time() - start < 0.3:
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="counts workers that still run on Linux")
def test_seconds_of_the_processor_are_those_of_workers_too_and_counted_once():
    processor_seconds()
    busy()
    ended = multiprocessing.get_context("fork").Process(target=busy)
    ended.start()
    ended.join()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply(busy)
        assert 0.85 < processor_seconds() < 1.5
        assert processor_seconds() < 0.3


def records(folder, **seconds):
    for place, (wall, processor) in seconds.items():
        target = folder / place.replace("__", "/")
        target.mkdir(parents=True)
        machine = MACHINE | {"seconds": wall, "processor_seconds": processor}
        section = place.partition("__")[0]
        (target / RECORD).write_text(json.dumps(RECORDED | {"section": section, "machine": machine}))
    return Results(folder)


def test_times_are_those_of_the_stored_runs_sets_together(tmp_path):
    results = records(
        tmp_path,
        sparsity__a=(60.0, 100.0),
        sparsity__b=(30.0, 50.0),
        panel=(120.0, 240.0),
        torture=(500.0, 900.0),
    )
    assert times_of(results).set_index("section")["seconds"].to_dict() == {"panel": 120.0, "sparsity": 90.0}
    assert "| `make sparsity` | 90 s         | 150 s              |" in times_table(results)
    paper, beyond = full_run_times(results).splitlines()[2:]
    assert paper.split("|")[1:5] == [
        " `make reproduce` ",
        " 1 sections     ",
        " 1.5 min      ",
        " 2.5 min            ",
    ]
    assert beyond.split("|")[1:5] == [
        " `make beyond`    ",
        " 1 sections     ",
        " 2.0 min      ",
        " 4.0 min            ",
    ]


def test_seconds_that_a_record_does_not_tell_are_not_made_up(tmp_path):
    results = records(tmp_path, sparsity__a=(60.0, 100.0), sparsity__b=(30.0, 50.0))
    path = tmp_path / "sparsity/b" / RECORD
    told = json.loads(path.read_text())
    del told["machine"]["processor_seconds"]
    path.write_text(json.dumps(told))
    assert "| 90 s         | --                 |" in times_table(results)


def test_a_whole_verification_is_timed_and_leaves_its_own_record(tmp_path):
    cfg = composed("verify", f"results={tmp_path}")
    assert is_full(cfg)
    assert not is_full(composed("verify", "only=[chatbot_arena]"))
    assert not is_full(composed("verify", "sample=1"))
    keep(cfg, ["chatbot_arena"], time.monotonic() - 120)
    first = (tmp_path / "paper/verify" / RECORD).read_bytes()
    keep(cfg, ["chatbot_arena"], time.monotonic() - 180)
    assert (tmp_path / "paper/verify" / RECORD).read_bytes() == first
    assert "| `make verify`    | 0 sections     | 2.0 min" in full_run_times(records(tmp_path, panel=(1.0, 1.0)))


def test_the_papers_own_sections_are_those_beside_which_ours_lie(tmp_path):
    done = subprocess.run(["make", "-n", "reproduce"], cwd=ROOT, check=True, capture_output=True, text=True)
    run = {
        line.split("experiments/")[1].split(".py")[0] for line in done.stdout.splitlines() if "/python exp" in line
    }
    commands = {"crate", "smoke", "stale", "tables", "verify"}
    assert run == {path.stem for path in SCRIPTS.glob("*.py")} - commands | {"beyond/pages"}


# What is recorded of the machine and of the code, and that skipped tests are spoken of.


@pytest.fixture
def repository(tmp_path):
    def git(*command: str) -> str:
        names = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        done = subprocess.run(["git", *names, *command], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "--quiet")
    for name in ("src/code.py", "results/table.csv", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1\n")
    git("add", "--all")
    git("commit", "--quiet", "-m", "all")
    return tmp_path, git("rev-parse", "HEAD")


def test_results_that_a_run_rewrites_leave_the_code_clean(repository):
    root, head = repository
    assert commit(root) == {"commit": head, "clean": True}
    for name in ("results/table.csv", "results/new.csv", "README.md"):
        (root / name).write_text("2\n")
    assert commit(root) == {"commit": head, "clean": True}
    (root / "src" / "new.py").write_text("2\n")
    assert commit(root) == {"commit": head, "clean": False}


def test_without_git_or_inside_another_repository_nothing_is_known(repository, tmp_path_factory, monkeypatch):
    unknown = {"commit": None, "clean": None}
    root, _ = repository
    assert commit(root / "src") == unknown
    assert commit(tmp_path_factory.mktemp("elsewhere")) == unknown
    monkeypatch.setenv("PATH", "")
    assert commit(root) == unknown


def test_the_machine_names_its_kernels_and_the_time_taken():
    record = machine(ROOT, time.monotonic() - 5)
    assert record["seconds"] == pytest.approx(5, abs=2)
    assert record["cpu"]
    assert 50 < record["peak_memory_mb"] < 50_000
    assert record["blas"] == kernels()
    assert all(len(blas.split()) >= 3 for blas in record["blas"])


def test_skipped_tests_are_counted_with_what_would_let_them_run():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/replication/test_published.py",
    ]
    environment = os.environ | {"JUDGERANK_PAPER": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    told = [line for line in done.stdout.splitlines() if "tests skipped; they would run" in line]
    assert len(told) == 1
    assert "by JUDGERANK_PAPER=FILE, the paper's TeX" in told[0]
