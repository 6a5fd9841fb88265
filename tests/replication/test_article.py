"""The article, the letter, the page of claims and the manifest: current, complete, from the stored results."""

import hashlib
import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from experiments.audit import full_audit
from replication.auditing.audit import OTHERS
from replication.auditing.claim import Outcome
from replication.auditing.results import Missing, Results
from replication.auditing.reviewing import (
    SPECIFICATION,
    UNKNOWN,
    authors,
    cost_of,
    manifest,
    numbers_claimed,
    words_claimed,
    written,
)
from replication.config import ROOT
from replication.crate import crate_of
from tests.replication.test_packaging import make_sections

STORED = Results(ROOT / "results")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
ARTICLE = (ROOT / "paper/paper.md").read_text()
LETTER = (ROOT / "paper/letter.md").read_text()
TEMPLATES = sorted((ROOT / "paper").glob("*.j2"))
SECTIONS = [  # that the Journal of Open Source Software requires
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
]


@pytest.fixture(scope="module")
def audited():
    return full_audit(STORED)


def test_article_and_letter_are_current(audited):
    texts = written(ROOT / "paper", audited, STORED, CITATION)
    assert texts == {"paper.md": ARTICLE, "letter.md": LETTER}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_number_is_typed_by_hand(path):
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"@\w+|Table \w[.\d]*", "", text)
    assert not re.findall(r".*\d.*", text)


def test_the_article_has_the_form_of_the_journal():
    _, head, body = ARTICLE.split("---\n", 2)
    told = yaml.safe_load(head)
    assert told.keys() == {"title", "tags", "authors", "affiliations", "date", "bibliography"}
    indices = {place["index"] for place in told["affiliations"]}
    assert all(author["affiliation"] in indices for author in told["authors"])
    assert re.findall(r"^# (.*)$", body, re.MULTILINE) == SECTIONS
    assert 750 <= len(body.split()) <= 1750
    assert all((ROOT / "paper" / name).is_file() for name in re.findall(r"\]\((\S+\.png)\)", body))


def test_what_is_cited_is_in_the_bibliography_and_the_other_way_round():
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/paper.bib").read_text(), re.MULTILINE)
    assert sorted(entries) == sorted(set(re.findall(r"@(\w+)", ARTICLE)))


def test_authors_come_from_the_citation_and_nowhere_else():
    person = {"given-names": "Ada", "family-names": "L", "affiliation": "A", "orcid": "https://orcid.org/0"}
    made = authors(CITATION | {"authors": [person, {"name": "B", "affiliation": "C"}, {"name": "D"}]})
    assert [author["name"] for author in made["authors"]] == ["Ada L", "B", "D"]
    assert [author["place"] for author in made["authors"]] == [1, 2, 3]
    assert made["affiliations"] == ["A", "C", "Independent"]
    (name,) = (author["name"] for author in CITATION["authors"])
    assert all(name not in path.read_text() for path in TEMPLATES)
    assert name in ARTICLE


def test_every_claim_is_in_the_counts_of_the_article_and_the_letter(audited):
    for text in written(ROOT / "paper", audited, STORED, CITATION).values():
        total, counts = re.search(r"Of (\d+) claims in words, these are the verdicts:\n(.*?)\.\n", text).groups()
        assert sum(map(int, re.findall(r"\d+", counts))) == int(total) == len(audited.claims)


def test_the_letter_names_the_claims_that_do_not_hold_and_no_others(audited):
    letter = written(ROOT / "paper", audited, STORED, CITATION)["letter.md"]
    failed = audited.claims["outcome"] == Outcome.FAILS
    for claim, fails in zip(audited.claims.itertuples(), failed, strict=True):
        assert (f"- {claim.statement} ({claim.place})." in letter) == fails


def test_the_letter_has_every_finding_with_its_command(audited):
    appendix = LETTER.partition("## Appendix: findings")[2]
    for number, told in enumerate(audited.held, 1):
        assert f"### {number}. {told.finding.title}\n\n{told.text}" in appendix
        assert f"`{told.finding.command}`" in appendix


def test_without_a_table_that_a_number_comes_from_nothing_is_written(audited, tmp_path):
    with pytest.raises(Missing):
        written(ROOT / "paper", audited, Results(tmp_path), CITATION)


# The page of claims and the manifest: every claim is there, with a command and files that exist.


PAGE = (ROOT / "docs/claims.md").read_text()


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
    assert cost_of(["b"], Results(tmp_path)).cells() == ("under 0.1", UNKNOWN)
    assert cost_of(["a", "b"], Results(tmp_path)).cells() == ("1.5", UNKNOWN)


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
