"""The command does its work at the versions that are installed: `make lowest` and `make newest` run this."""

import os
import sys
from importlib.metadata import version

import pandas as pd
import pytest
from packaging.version import Version

from replication.config import ROOT
from tests.forked import environment, judgerank, run_anew, usage_text
from tests.replication.test_packaging import DECLARED

pytestmark = pytest.mark.versions

EXAMPLE = ROOT / "examples/judgments.csv"
COMMANDS = ("rank", "doctor", "trust", "place", "people", "plan", "collect")


def test_only_the_version_option_prints_the_version():
    asked = judgerank("--version", anew=True)
    assert (asked.returncode, asked.stdout.split()) == (0, ["judgerank", version("judgerank")])
    other = judgerank("doctor", EXAMPLE, anew=True)
    assert other.returncode == 0
    assert "600 records" in other.stdout


def test_commands_compute_with_one_thread_of_blas_unless_told_otherwise(tmp_path):
    pytest.importorskip("threadpoolctl")
    program = (
        "import atexit, threadpoolctl; from judgerank.cli import app; "
        "atexit.register(lambda: print({one['num_threads'] for one in threadpoolctl.threadpool_info()})); "
        f"app(['rank', {str(EXAMPLE)!r}, '--output', {str(tmp_path / 'out')!r}])"
    )
    for told, threads in ((None, {1}), ("2", {min(2, os.cpu_count() or 1)})):
        changed = environment(OPENBLAS_NUM_THREADS=told, MKL_NUM_THREADS=told, OMP_NUM_THREADS=None)
        done = run_anew(["-c", program], tmp_path, changed)
        assert done.stdout.splitlines()[-1] == str(threads)


def test_help_names_every_command_and_every_command_has_help():
    said = judgerank("--help", anew=True)
    assert said.returncode == 0
    for command in COMMANDS:
        assert command in said.stdout
        own = judgerank(command, "--help")
        assert own.returncode == 0
        assert f"judgerank {command}" in usage_text(own.stdout)


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl.zst"])
def test_the_example_is_ranked_in_every_form_with_a_picture(form, tmp_path):
    file = tmp_path / f"mine.{form}"
    judgments = pd.read_csv(EXAMPLE)
    if form == "csv":
        judgments.to_csv(file, index=False)
    elif form == "parquet":
        judgments.to_parquet(file)
    else:
        judgments.to_json(file, orient="records", lines=True)
    done = judgerank("rank", file, "-o", tmp_path / "out", anew=True)
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(tmp_path / "out/leaderboard.csv")["model"].iloc[0] == "aster"
    page = (tmp_path / "out/index.html").read_text()
    assert page.count("<svg ") > 5
    assert "pip install" not in page


def test_a_mistake_ends_in_a_sentence_and_not_in_success(tmp_path):
    gone = judgerank("rank", tmp_path / "none.csv", anew=True)
    assert (gone.returncode, len(gone.stderr.splitlines())) == (1, 1)
    unknown = judgerank("rank", EXAMPLE, "--nothing-of-the-kind", anew=True)
    assert unknown.returncode == 2
    assert judgerank("rank", EXAMPLE, "--model", "nothing", anew=True).returncode == 2


def test_a_dry_run_of_collecting_asks_nobody_and_writes_nothing(tmp_path):
    files = [ROOT / "examples" / name for name in ("answers.jsonl", "panel.yaml")]
    done = judgerank("collect", files[0], "--panel", files[1], "--dry-run", cwd=tmp_path, anew=True)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(
    os.environ.get("JUDGERANK_RESOLUTION") != "lowest-direct" or sys.version_info[:2] != (3, 11),
    reason="make lowest",
)
def test_every_lower_bound_is_the_version_that_was_tried():
    bounds = {
        requirement.name: Version(part.version)
        for requirement in DECLARED
        for part in requirement.specifier
        if part.operator == ">=" and requirement.name != "inspect-ai"  # not with the lowest others (Makefile)
    }
    assert {name: Version(version(name)) for name in bounds} == bounds
