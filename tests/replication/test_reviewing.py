"""The page of claims and the manifest: every claim is there, with a command and files that exist."""

import json
import re

import pytest
import yaml

from experiments.audit import full_audit
from replication.auditing.audit import OTHERS
from replication.auditing.results import Results
from replication.auditing.reviewing import SPECIFICATION, cost_of, manifest, numbers_claimed, words_claimed
from replication.config import ROOT
from tests.replication.test_packaging import make_sections

STORED = Results(ROOT / "results")
PAGE = (ROOT / "docs/claims.md").read_text()


@pytest.fixture(scope="module")
def audited():
    return full_audit(STORED)


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()[2:]]


def test_every_result_and_every_claim_is_on_the_page(audited):
    numbers, words = numbers_claimed(audited, STORED), words_claimed(audited, STORED)
    assert numbers in PAGE
    assert words in PAGE
    results = audited.numbers[~audited.numbers["verdict"].isin(OTHERS)]
    assert len(cells(numbers)) == results["place"].nunique()
    expected = [re.search(r"\d+", row[4]) for row in cells(numbers)]
    assert sum(int(found[0]) if found else 1 for found in expected) == len(results)
    assert sum(int(n) for row in cells(numbers) for n in re.findall(r": (\d+)", row[5])) == len(results)
    assert len(cells(words)) == len(audited.claims)


def test_every_command_of_the_page_is_one_of_make(audited):
    known = {*make_sections(), "audit"}
    for row in cells(numbers_claimed(audited, STORED)) + cells(words_claimed(audited, STORED)):
        assert set(re.fullmatch(r"`make (.*)`", row[1])[1].split()) <= known
    (table_2,) = (row for row in cells(numbers_claimed(audited, STORED)) if row[0].startswith("Table 2"))
    assert "unstated_settings" in table_2[1]  # the run that shows the cause


def test_costs_are_those_of_the_records(tmp_path):
    for name, machine in {
        "a/x": {"seconds": 60, "peak_memory_mb": 500},
        "a/y": {"seconds": 30, "peak_memory_mb": 1500},
        "b": {"seconds": 1},
    }.items():
        (tmp_path / name).mkdir(parents=True)
        record = {"section": name[0], "surrogate": False, "machine": {"cpu": "one", **machine}}
        (tmp_path / name / "run.json").write_text(json.dumps(record))
    assert cost_of(["a"], Results(tmp_path)).cells() == ("1.5", "1.5 GB")
    assert cost_of(["b"], Results(tmp_path)).cells() == ("under 0.1", "not recorded")
    assert cost_of(["a", "b"], Results(tmp_path)).cells() == ("1.5", "not recorded")


def test_the_manifest_is_current_and_lists_outputs_that_are_there(audited):
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    text = (ROOT / "codecheck.yml").read_text()
    assert text == manifest(audited, STORED, citation)
    told = yaml.safe_load(text)
    assert told["version"] == SPECIFICATION
    assert told["paper"].keys() == {"title", "authors", "reference"}
    assert all(entry.keys() == {"file", "comment"} for entry in told["manifest"])
    files = [entry["file"] for entry in told["manifest"]]
    assert len(files) == len(set(files)) > 30
    assert all((ROOT / name).is_file() for name in files)
