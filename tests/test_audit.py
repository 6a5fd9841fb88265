"""The audit: complete, computed, current; verdicts follow from the numbers, findings from what is stored."""

import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from judgerank import published
from judgerank.auditing.audit import Results, Verdict, audit, registry, totals
from judgerank.auditing.findings import FINDINGS
from judgerank.auditing.report import html, page, readme_blocks, with_block
from judgerank.config import ROOT
from judgerank.errors import DataError, DataUnavailableError

STORED = Results(ROOT / "results")
LABELS = {"printed_name", "unit", "place", "statement"}
NOT_RESULTS = {"chatbot_arena_human", "judge_llms"}  # people's ratings, which the paper does not print; a list


@pytest.fixture(scope="module")
def judged():
    findings = [(finding, *finding.check(STORED)) for finding in FINDINGS]
    return audit(STORED, {finding.name for finding, holds, _ in findings if holds}), findings


def test_the_registry_has_every_printed_number_once():
    entries = registry()
    assert not entries.duplicated(["table", "row", "column"]).any()
    names = {path.name.removesuffix(".csv") for path in published.TABLES.iterdir()} - NOT_RESULTS
    assert set(entries["table"]) == names
    for name in names:
        table = published.table(name).drop(columns=LABELS, errors="ignore")
        printed = table.stack()
        assert len(entries[entries["table"] == name]) == (printed.str.strip("- ") != "").sum(), name


def test_every_number_says_what_computes_it_or_what_would():
    entries = registry()
    assert (entries["place"] != "").all()
    assert ((entries["result"] != "") | (entries["needs"] != "")).all()
    assert set(entries["finding"]) - {""} <= {finding.name for finding in FINDINGS}


def test_what_is_exact_is_equal_as_printed_and_what_differs_is_not(judged):
    audited, _ = judged
    for row in audited[audited["difference"].notna() & ~audited["surrogate"].astype(bool)].itertuples():
        plain = row.printed.removesuffix("K")
        same = published.as_printed(float(row.ours), plain) == published.as_printed(float(plain), plain)
        assert same == (row.verdict == Verdict.EXACT), row
        if row.verdict == Verdict.MONTE_CARLO:
            assert row.low <= float(plain) <= row.high


def test_a_surrogate_checks_nothing(judged):
    audited, _ = judged
    made_up = audited["surrogate"].astype(bool)
    assert made_up.sum() > 400
    assert set(audited.loc[made_up, "verdict"]) == {Verdict.UNCHECKED}
    assert (audited.loc[made_up, "needs"] == "in_house_data.json").all()


def test_table_3_is_exact_in_full_and_three_numbers_are_open(judged):
    audited, _ = judged
    arena = audited[audited["place"] == "Table 3"]
    assert (arena["verdict"] == Verdict.EXACT).sum() == len(arena) == 160
    opened = audited[audited["verdict"] == Verdict.UNEXPLAINED]
    assert opened["row"].tolist() == ["openai/gpt-oss-120b", "n20_k10", "n100_k20"]


def test_totals_add_up(judged):
    audited, _ = judged
    table = totals(audited).set_index("place")
    assert table.loc["all", "printed"] == len(audited) == table["printed"].drop("all").sum()
    assert (table.drop(columns="printed").sum(axis=1) == table["printed"]).all()


def test_without_its_finding_a_difference_is_not_explained(judged):
    audited, _ = judged
    bare = audit(STORED, set())
    assert Verdict.EXPLAINED not in set(bare["verdict"])
    changed = audited["verdict"] != bare["verdict"]
    assert set(audited.loc[changed, "verdict"]) == {Verdict.EXPLAINED}
    assert set(bare.loc[changed, "verdict"]) == {Verdict.UNEXPLAINED}


def test_a_changed_result_changes_its_verdict(tmp_path):
    shutil.copytree(
        ROOT / "results", tmp_path / "results", ignore=shutil.ignore_patterns("*.md", "*.tex", "*.html")
    )
    path = tmp_path / "results/chatbot_arena/ranking.csv"
    path.write_text(path.read_text().replace("0.728342335", "0.7279", 1))
    audited = audit(Results(tmp_path / "results"), set())
    one = "table == 'chatbot_arena' and row == 'gpt-4' and column == 'score_judge_aware'"
    assert audited.query(one)["verdict"].item() == Verdict.EXACT
    path.write_text(path.read_text().replace("0.7279", "0.7274", 1))
    assert audit(Results(tmp_path / "results"), set()).query(one)["verdict"].item() == Verdict.UNEXPLAINED


MUTATIONS = {
    "no_interior_maximum": ("judge_reliability/fits.csv", "status", "interior"),
    "left_out_of_table_1": ("tie_handling/mt_bench/ranks.csv", "move_judge_aware", 0),
    "widths": ("chatbot_arena/fits.csv", "mean_width", 0.264),
    "two_scales": ("complete_ranking/*/fits.csv", "relative_width", 0.5),
    "slots": ("data_overview/mt_bench/size.csv", "share_first_is_alphabetically_smaller", 0.5),
    "weak_panels": ("mixed_judges/chatbot_arena/sweep.csv", "mean", 0.5),
    "one_judge_four_names": ("judge_reliability/agreement.csv", "agreement", 0.9),
    "judges_in_the_files": ("judge_reliability/judges.csv", "table_a5", 1),
    "vicuna": ("chatbot_arena/ranking.csv", "score_btl", 0.0),
    "sparsity": ("surrogate/sparsity/in_house/correlation.csv", "q25", 0.7),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_finding_holds_by_what_is_stored_and_falls_with_it(name, tmp_path):
    (finding,) = [finding for finding in FINDINGS if finding.name == name]
    assert finding.check(STORED)[0]
    skipped = shutil.ignore_patterns("*.md", "*.tex", "*.html")
    shutil.copytree(ROOT / "results", tmp_path / "results", ignore=skipped)
    pattern, column, value = MUTATIONS[name]
    paths = list((tmp_path / "results").glob(pattern))
    assert paths
    for path in paths:
        pd.read_csv(path).assign(**{column: value}).to_csv(path, index=False)
    assert not finding.check(Results(tmp_path / "results"))[0]


def test_evidence_configs_and_figures_exist():
    for finding in FINDINGS:
        assert all(STORED.path(name) for name in finding.evidence)
        assert not finding.figure or (ROOT / "figures" / finding.figure).is_file()
        for section in finding.command.split()[1:]:
            assert (ROOT / f"conf/{section}.yaml").is_file()


def test_page_csv_and_readme_are_current(judged):
    text = page(*judged, STORED)
    assert (ROOT / "results/audit.md").read_text() == text
    readme = (ROOT / "README.md").read_text()
    for name, content in readme_blocks(*judged, STORED).items():
        assert content in readme
        assert with_block(readme, name, content) == readme
    stored = pd.read_csv(ROOT / "results/audit.csv", keep_default_na=False)
    assert stored["verdict"].tolist() == list(map(str, judged[0]["verdict"]))


def test_the_html_page_stands_alone(judged):
    shown = html(page(*judged, STORED), "Audit", ROOT / "results")
    assert (ROOT / "results/audit.html").read_text().count("<table>") == shown.count("<table>") > 10
    assert 'src="data:image/png;base64,' in shown
    assert not re.search(r'src="(?!data:)', shown)


def test_links_of_the_page_lead_somewhere(judged):
    for target in re.findall(r"\]\(([^)]+)\)", page(*judged, STORED)):
        assert (ROOT / "results" / target).resolve().is_file(), target


def test_a_result_that_is_not_stored_and_a_value_that_is_not_one_are_refused(tmp_path):
    with pytest.raises(DataUnavailableError, match="make nothing"):
        STORED.table("nothing/here.csv")
    with pytest.raises(DataError, match="gives 20 values"):
        STORED.value("chatbot_arena/ranking.csv", "", "score_btl")
    done = subprocess.run(
        [sys.executable, "experiments/audit.py", f"results={tmp_path}", "readme=null"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
