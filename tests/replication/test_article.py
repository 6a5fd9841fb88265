"""The article and the letter: current, of the journal's form, every number from the stored results."""

import re

import pytest
import yaml

from experiments.audit import full_audit
from replication.auditing.claim import Outcome
from replication.auditing.results import Missing, Results
from replication.auditing.reviewing import authors, written
from replication.config import ROOT

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
