"""The record for machines: every stored file is in it, every link leads somewhere, the bytes are the same."""

import hashlib
import json
import shutil
import tomllib
from pathlib import Path

import pytest

from replication.config import ROOT
from replication.crate import crate_of

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
