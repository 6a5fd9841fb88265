"""Faults seeded one by one where nothing is recomputed: prose, provenance, legends, claims, verdicts."""

import json
import re
import runpy
import shutil
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
from hydra import initialize_config_dir

from judgerank.writing.sidecars import digest
from replication import legends, published
from replication.auditing.audit import Verdict
from replication.auditing.claim import Outcome
from replication.auditing.doc_blocks import current, markdown_in
from replication.auditing.doc_numbers import MARKED, in_the_form_of, unmarked, unused, value_at, with_numbers
from replication.auditing.results import Missing, Results
from replication.auditing.stored_checks import ORDERS, require_as_recorded, require_no_fall
from replication.config import CONF, ROOT, script_of
from replication.differences import unlike_versions
from replication.errors import ChecksumError, NotAsStoredError
from replication.records import RECORD, VERSIONED, record_digest
from tests import forked

STORED = Results(ROOT / "results")
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in markdown_in([ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "docs"])
}
WITH_NUMBERS = [name for name, text in PAGES.items() if MARKED.search(text)]
ABOUT_RESULTS = ("README", "docs/beyond/", "docs/paper/", "docs/trust", "docs/index")
LOCK = (ROOT / "requirements.lock").read_text()
RUNS = sorted((ROOT / "results").rglob("run.json"))


# numbers in prose


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_any_altered_digit_of_a_marked_number_is_put_right(name):
    text = PAGES[name]
    assert with_numbers(text, STORED) == text
    for mark in MARKED.finditer(text):
        last = max(match.start() for match in re.finditer(r"\d", mark["number"])) + mark.start()
        altered = f"{text[:last]}{(int(text[last]) + 1) % 10}{text[last + 1 :]}"
        assert with_numbers(altered, STORED) == text, mark[0]


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_every_mark_names_a_stored_value(name):
    for mark in MARKED.finditer(PAGES[name]):
        assert value_at(mark, STORED) is not None


@pytest.mark.parametrize("name", PAGES)
def test_no_number_in_prose_is_without_a_source(name):
    found = unmarked(PAGES[name], name, name.startswith(ABOUT_RESULTS))
    assert not found, (
        f"name the stored value after each (CONTRIBUTING.md, Results), or list it in constants.csv: {found}"
    )


def test_no_constant_is_listed_in_vain():
    assert not unused(PAGES.items())


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("as precise with 43% of the comparisons", ["43%"]),
        ("leaving out 2 of 9,937 judgments", ["2", "9,937"]),
        ("a correlation of .613, or -0.25", [".613", "-0.25"]),
        ("851 comparisons, five times", ["851"]),
        ("in 1985, GLM-4.5-Air, version 1.82.7, N = 6", []),
        ("```sh\nlevel=0.9\n```\n`0.9` in [code](https://a.b/1.5) of arXiv 2508.11847", []),
        ("<!-- slots: written by make audit -->\n0.5\n<!-- /slots -->", []),
        ("57%<!-- adaptive/saved.csv[rule=information].saved --> saved", []),
        ("57% <!-- adaptive/saved.csv[rule=information].saved --> saved", ["57%"]),
        ("0.9 now\n\n## [0.2.0] - 2026-11-22\n\n0.8 then\n", ["0.9"]),
    ],
)
def test_numbers_without_a_source_are_found(sentence, found):
    assert unmarked(sentence, "README.md") == found


@pytest.mark.parametrize(
    ("value", "shown", "written"),
    [
        (0.5736, "43%", "57%"),
        (0.5736, ".9", ".6"),
        (9227.48, "9,000", "9,227"),
        (9227.48, "12", "9,227"),
        (-0.2549, "0.25", "-0.25"),
        (1.2, ".90", "1.20"),
        (-0.3, "-.3", "-.3"),
    ],
)
def test_a_number_keeps_its_form(value, shown, written):
    assert in_the_form_of(value, shown) == written


def test_an_address_that_leads_nowhere_is_said_and_changes_nothing(caplog):
    for address, said in {
        "nothing/here.csv[].x": "`make nothing`",
        "adaptive/saved.csv[rule=information].saved": "4 rows meet the conditions, not one",
        "adaptive/saved.csv[rule=none].saved": "has no row with rule=none",
        "least of adaptive/saved.csv[].none": "has no column none",
        "median of adaptive/saved.csv[].saved": "there is no reading 'median'",
        "grid of adaptive/saved.csv[].rule": "[].rule is",
    }.items():
        text = f"57%<!-- {address} --> saved"
        assert with_numbers(text, STORED, "README.md") == text
        assert said in caplog.messages[-1]
        with pytest.raises(Missing):
            value_at(MARKED.search(text), STORED)


def test_the_audit_writes_numbers_and_blocks_alike():
    number = "33%<!-- adaptive/saved.csv[dataset=in_house; rule=information;\nmeasure=error].saved -->"
    page = f"<!-- a: b -->\nold\n<!-- /a -->\n{number}"
    saved = STORED.table("adaptive/saved.csv").set_index(["dataset", "rule", "measure"])["saved"]
    share = f"{saved['in_house', 'information', 'error']:.0%}"
    assert current(page, {"a": "new"}, STORED) == page.replace("old", "new").replace("33%", share)


# provenance


def test_stored_versions_are_those_of_the_lock_file():
    assert len(RUNS) > 40
    own_environment = ROOT / "results/beyond/packages/run.json"  # of `make packages`: arena-rank fixes numpy
    for path in {*RUNS} - {own_environment}:
        assert not unlike_versions(json.loads(path.read_text())["versions"], LOCK, VERSIONED), path
    versions = json.loads(own_environment.read_text())["versions"]
    unlike = unlike_versions(versions, LOCK, VERSIONED)
    assert [difference.column for difference in unlike] == ["versions.numpy"]


@pytest.mark.parametrize(
    "fault",
    [{name: "9.9.9"} for name in VERSIONED] + [{"python": "3.10.1"}, {"python": "3"}, {"python": "3.12.4"}],
)
def test_an_edited_version_is_noticed(fault):
    stored = json.loads(RUNS[0].read_text())["versions"]
    found = unlike_versions(stored | fault, LOCK, VERSIONED)
    assert found
    assert unlike_versions({name: stored[name] for name in stored if name not in fault}, LOCK, VERSIONED)


def test_verify_looks_at_versions_without_recomputing(tmp_path):
    for kind in ("results", "figures"):
        shutil.copytree(ROOT / kind / "paper/chatbot_arena", tmp_path / kind / "paper/chatbot_arena")
    path = tmp_path / "results/paper/chatbot_arena/run.json"
    path.write_text(path.read_text().replace('"scipy": "1.', '"scipy": "0.'))
    folders = [f"{kind}={tmp_path / kind}" for kind in ("results", "figures")]
    done = forked.run(["experiments/verify.py", *folders, "only=[chatbot_arena]", "recompute=false"])
    assert done.returncode == 1
    assert "run.json, versions.scipy: stored 0." in done.stdout


# legends


def drawn(section: str) -> list[tuple]:
    """Figures of a section with the tables that they show, of every set stored."""
    draw, found = runpy.run_path(str(script_of(section)))["draw"], []
    for run in sorted((ROOT / "results/paper" / section).rglob("run.json")):
        tables = {path.stem: pd.read_csv(path) for path in run.parent.glob("*.csv")}
        found += [(name, figure, tables) for name, figure in draw(tables, "").items()]
    return found


@pytest.mark.parametrize("section", sorted(set(pd.read_csv(legends.LEGENDS)["section"])))
def test_every_label_is_beside_its_numbers_and_a_swapped_one_is_noticed(section):
    seen = 0
    for name, figure, tables in drawn(section):
        assert not list(legends.wrong_labels(section, name, figure, tables)), name
        shown = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
        texts = [text for legend in filter(None, shown) for text in legend.get_texts()]
        if len(texts) > 1 and legends.expected(section, name):
            first, second = texts[0].get_text(), texts[1].get_text()
            seen += 1
            texts[0].set_text(second)
            texts[1].set_text(first)
            assert list(legends.wrong_labels(section, name, figure, tables)), name
    assert seen


def test_labels_swapped_in_the_code_of_figure_2_are_noticed(monkeypatch):
    figure_2 = import_module("replication.plots.simulations")
    one, other = figure_2.LABELS["judge_aware"], figure_2.LABELS["btl"]
    monkeypatch.setattr(figure_2, "LABELS", figure_2.LABELS | {"judge_aware": other, "btl": one})
    ((name, figure, tables),) = drawn("ci_coverage")
    wrong = list(legends.wrong_labels("ci_coverage", name, figure, tables))
    assert any(one in words for words in wrong)
    assert any(other in words for words in wrong)


# what the paper prints and claims


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """The printed tables in a folder of their own."""
    for name in ("published_tables", "auditing"):
        shutil.copytree(published.HERE / name, tmp_path / name)
    monkeypatch.setattr(published, "HERE", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("published_tables/claims.csv", "close to -1", "close to -2"),
        ("published_tables/claims.csv", "GPT-4 ranks", "GPT-5 ranks"),
        ("published_tables/slopes.csv", "-1.109", "-1.119"),
        ("published_tables/in_text.csv", "0.9955", "0.9965"),
        ("auditing/claims_quoted.csv", "close to -1", "close to -2"),
    ],
)
def test_altered_numbers_and_words_of_the_paper_are_noticed_without_its_tex(file, old, new, copied):
    published.require_unaltered()
    text = (copied / file).read_text()
    assert old in text
    (copied / file).write_text(text.replace(old, new))
    with pytest.raises(ChecksumError, match=rf"\b{re.escape(Path(file).name)} "):
        published.require_unaltered()


def test_another_tex_is_refused(tmp_path, monkeypatch):
    (tmp_path / "paper.tex").write_text("\\section{Another}")
    monkeypatch.setenv("JUDGERANK_PAPER", str(tmp_path / "paper.tex"))
    with pytest.raises(ChecksumError, match=r"paper\.tex: its SHA-256 is"):
        published.paper()


# verdicts


@pytest.mark.parametrize(
    ("table", "row", "now", "said"),
    [
        (
            "audit.csv",
            20,
            Verdict.OPEN,
            rf"'{Verdict.EXACT}'.*'{Verdict.OPEN}'",
        ),
        ("audit.csv", 20, None, rf"'{Verdict.EXACT}'.*no longer"),
        (
            "audit_claims.csv",
            "mse_falls",
            Outcome.PARTLY,
            rf"mse_falls\b.*'{Outcome.HOLDS}'.*'{Outcome.PARTLY}'",
        ),
        (
            "audit_claims.csv",
            "mse_falls",
            Outcome.UNCHECKED,
            rf"mse_falls\b.*'{Outcome.HOLDS}'.*'{Outcome.UNCHECKED}'",
        ),
    ],
)
def test_a_verdict_that_falls_is_refused_by_name_and_one_that_rises_is_not(table, row, now, said, tmp_path):
    frames = {name: pd.read_csv(STORED.audit / name, keep_default_na=False) for name in ORDERS}
    for name, frame in frames.items():
        frame.to_csv(tmp_path / name, index=False)
    require_no_fall(tmp_path, *frames.values())
    column = ORDERS[table][1]
    better = frames[table]
    row = row if isinstance(row, int) else better.index[better["id"] == row][0]
    worse = better.drop(index=row) if now is None else better.copy()
    if now is not None:
        worse.loc[row, column] = now
    with pytest.raises(NotAsStoredError, match=said):
        require_no_fall(tmp_path, *(frames | {table: worse}).values())
    worse.to_csv(tmp_path / table, index=False)
    require_no_fall(tmp_path, *frames.values())


def test_the_command_ends_with_an_error_and_writes_nothing_when_a_verdict_falls(tmp_path):
    shutil.copytree(ROOT / "results/paper/chatbot_arena", tmp_path / "paper/chatbot_arena")
    command = ["experiments/audit.py", f"results={tmp_path}", f"figures={tmp_path / 'figures'}", "pages=[]"]
    command.append("accept_stale=true")  # this is about verdicts
    assert forked.run(command).returncode == 0
    path, before = tmp_path / "paper/chatbot_arena/ranking.csv", (tmp_path / "paper/audit.csv").read_bytes()
    ranking = pd.read_csv(path)
    ranking.assign(score_btl=ranking["score_btl"] + 0.01 * (ranking["model"] == "gpt-4")).to_csv(path, index=False)
    record = tmp_path / "paper/chatbot_arena" / RECORD
    run = json.loads(record.read_text())
    run |= {"files": run["files"] | {path.name: digest(path)}}
    record.write_text(json.dumps(run | {"digest": record_digest(run)}))
    done = forked.run(command)
    assert done.returncode == 1
    assert "chatbot_arena, gpt-4, score_btl was 'exact at printed precision' and is now 'cause not" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert (tmp_path / "paper/audit.csv").read_bytes() == before
    done = forked.run([*command, "accept_falls=true"])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "paper/audit.csv").read_bytes() != before


@pytest.fixture
def arena(tmp_path):
    shutil.copytree(ROOT / "results/paper/chatbot_arena", tmp_path / "paper/chatbot_arena")
    return tmp_path / "paper"


def test_a_table_that_its_run_did_not_write_is_refused_whatever_it_says(arena):
    with initialize_config_dir(CONF, version_base=None):
        require_as_recorded(arena)
        path = arena / "chatbot_arena/ranking.csv"
        path.write_text(path.read_text().replace("0.7283", "0.7284", 1))  # no printed number changes
        for any_settings in (False, True):
            with pytest.raises(NotAsStoredError, match=r"chatbot_arena: ranking.csv is \w+, and should be"):
                require_as_recorded(arena, any_settings)


def test_results_of_other_settings_are_refused_until_they_are_accepted(arena):
    record = arena / "chatbot_arena" / RECORD
    run = json.loads(record.read_text())
    run |= {"config": run["config"] | {"seed": 1}}
    record.write_text(json.dumps(run | {"digest": record_digest(run)}))
    with initialize_config_dir(CONF, version_base=None):
        with pytest.raises(NotAsStoredError, match=r"chatbot_arena: config\.seed is 1, and should be 2026"):
            require_as_recorded(arena)
        require_as_recorded(arena, any_settings=True)


def test_a_verdict_that_rises_is_named(tmp_path, caplog):
    now = {name: pd.read_csv(STORED.audit / name, keep_default_na=False) for name in ORDERS}
    before = now["audit.csv"].copy()
    before.loc[0, "verdict"] = Verdict.OPEN
    before.to_csv(tmp_path / "audit.csv", index=False)
    now["audit_claims.csv"].to_csv(tmp_path / "audit_claims.csv", index=False)
    with caplog.at_level("INFO", "replication"):
        require_no_fall(tmp_path, *now.values())
    assert f"was 'cause not established' and is now '{now['audit.csv'].loc[0, 'verdict']}'" in caplog.text
