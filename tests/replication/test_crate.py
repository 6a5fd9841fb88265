"""The machine and the code in records of runs, and the graph for machines: complete, linked, the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from replication.config import ROOT
from replication.crate import crate_of
from replication.machine import commit, kernels, machine

# The record for machines: every stored file is in it, every link leads somewhere, the bytes are the same.
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def graph() -> dict[str, dict]:
    entities = crate_of(ROOT, PROJECT)["@graph"]
    assert len({entity["@id"] for entity in entities}) == len(entities)
    return {entity["@id"]: entity for entity in entities}


def links(value) -> set[str]:
    """Identifiers that a value refers to."""
    if isinstance(value, list):
        return set().union(*map(links, value))
    return {value["@id"]} if isinstance(value, dict) else set()


def stored(folder: str, *suffixes: str) -> set[str]:
    found = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    return {path.as_posix() for path in found if "smoke" not in path.parts}


def test_every_stored_table_and_figure_is_there(graph):
    files = stored("results", ".csv") | stored("figures", ".png")
    assert len(files) > 100
    assert files <= graph.keys()


def test_every_link_leads_somewhere(graph):
    targets = set().union(*(links(value) for entity in graph.values() for value in entity.values()))
    assert targets - graph.keys() == {"https://w3id.org/ro/crate/1.1"}  # what the record itself conforms to
    files = [name for name, entity in graph.items() if "File" in entity["@type"] and "://" not in name]
    assert [name for name in files if not (ROOT / name).is_file()] == []


def test_every_run_is_one_action_from_a_script_its_code_config_and_data(graph):
    runs = {path: json.loads((ROOT / path).read_text()) for path in stored("results", ".json") if "/run." in path}
    actions = {
        e["subjectOf"]["@id"]: e for e in graph.values() if e["@type"] == "CreateAction" if "subjectOf" in e
    }
    assert actions.keys() == runs.keys()
    for path, run in runs.items():
        script = actions[path]["instrument"]["@id"]
        assert Path(script).stem == run["section"]
        assert "src/replication/records.py" in links(graph[script]["softwareRequirements"])
        used = links(actions[path]["object"])
        assert f"conf/{run['section']}.yaml" in used
        assert any(graph[name].get("version") == run["machine"]["commit"] for name in used)
        sums = {source["sha256"] for source in run["data"].values() if "sha256" in source}
        assert sums <= {graph[name].get("sha256") for name in used}
        made = links(actions[path]["result"])
        assert {f"{Path(path).parent.as_posix()}/{name}" for name in run["files"]} <= made


def test_tables_come_from_data_and_figures_from_tables(graph):
    table = "results/paper/chatbot_arena/ranking.csv"
    (data,) = links(graph[table]["isBasedOn"])
    assert graph[data]["name"] == "judge_results_10k_chatbot_arena.json"
    assert table in links(graph["figures/paper/chatbot_arena/leaderboard.png"]["isBasedOn"])


def test_digests_are_those_of_the_files(graph):
    for name in (
        "results/paper/chatbot_arena/ranking.csv",
        "figures/paper/chatbot_arena/leaderboard.png",
        "results/paper/audit.csv",
    ):
        assert graph[name]["sha256"] == hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


def test_it_is_the_same_each_time_and_surrogates_are_called_so(tmp_path):
    for name in ("experiments", "conf", "src/replication/published_tables", "figures/paper/chatbot_arena"):
        shutil.copytree(ROOT / name, tmp_path / name)
    kept = ROOT / "results/paper/chatbot_arena"
    for folder, surrogate in (("results/paper/chatbot_arena", False), ("results/surrogate/chatbot_arena", True)):
        shutil.copytree(kept, tmp_path / folder)
        record = json.loads((kept / "run.json").read_text()) | {"surrogate": surrogate}
        (tmp_path / folder / "run.json").write_text(json.dumps(record))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("replication.crate.files_of_script", lambda path: [])
        first, second = (crate_of(tmp_path, PROJECT) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
    entities = {entity["@id"]: entity for entity in first["@graph"]}
    assert "#surrogate-chatbot_arena" in links(entities["#run-surrogate/chatbot_arena"]["object"])
    assert entities["#run-surrogate/chatbot_arena"]["description"].startswith("surrogate")
    assert "datePublished" not in entities["./"]  # there is no history to take it from


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
