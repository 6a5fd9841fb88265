"""What is recorded of the machine and of the code, and that skipped tests are spoken of."""

import os
import subprocess
import sys
import time

import pytest

from replication.config import ROOT
from replication.machine import commit, kernels, machine


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
