"""The small run: every section of the paper is in it, and its page shows the paper's numbers beside ours."""

import re
import runpy

import pytest
from omegaconf import OmegaConf

from replication.auditing.audit import Verdict
from replication.auditing.registry import items
from replication.auditing.results import Results
from replication.auditing.smoke import HERE, STORED, Layered, compared, places_of, smoke_page
from replication.config import ROOT
from replication.pages import whole_page
from tests.replication.test_config import composed

SMOKE = runpy.run_path(str(ROOT / "experiments" / "smoke.py"))
CFG = composed("smoke")
WHOLE = Results(ROOT / "results")


def layered(fresh) -> Layered:
    return Layered(WHOLE.folder, fresh, frozenset(CFG.monte_carlo))


@pytest.fixture
def copied(tmp_path):
    """A small run that stored Table 3, one number of it another, and slopes of few replications."""
    for name in ("chatbot_arena/ranking.csv", "convergence_mse/slopes_draws.csv"):
        (tmp_path / "paper" / name).parent.mkdir(parents=True)
        (tmp_path / "paper" / name).write_text(WHOLE.path(name)[0].read_text())
    path = tmp_path / "paper/chatbot_arena/ranking.csv"
    path.write_text(path.read_text().replace("gpt-4,1,", "gpt-4,7,", 1))
    return layered(tmp_path)


def test_every_item_is_there_in_the_papers_order_with_a_section_that_is_run():
    listed = items()
    assert set(listed["section"]) <= set(CFG.sections)
    sections = {path.stem for path in (ROOT / "experiments").glob("*.py") if "run_section(" in path.read_text()}
    assert set(CFG.sections) == sections
    assert set(CFG.monte_carlo) < sections


def test_every_items_tables_and_figures_are_stored():
    for item in items().itertuples():
        assert all(WHOLE.real(name) for name in item.tables.split(";")), item
        # the ratings' figure needs the hub
        assert not item.figures or "ratings" in item.figures or WHOLE.figure(item.figures), item


def test_every_small_section_composes():
    for section, overrides in CFG.sections.items():
        cfg = composed(section, "results=x", "figures=y", *overrides)
        assert (cfg.results, cfg.figures) == ("x", "y")


def test_tables_of_this_run_replace_stored_ones_but_not_those_of_few_replications(copied):
    numbers = compared(copied)
    of = numbers.set_index("table")
    assert set(of.loc["chatbot_arena", "from"]) == {HERE}
    assert set(of.loc[["slopes", "mt_bench"], "from"]) <= {STORED, ""}
    first = numbers.query("table == 'chatbot_arena' and row == 'gpt-4' and column == 'rank_judge_aware'").iloc[0]
    assert (first["ours"], first["verdict"]) == (7, Verdict.OPEN)
    others = numbers.drop(index=first.name).query("table == 'chatbot_arena'")
    assert set(others["verdict"]) == {Verdict.EXACT}


def test_the_page_shows_every_item_and_its_links_lead_somewhere(copied):
    numbers = compared(copied)
    text = smoke_page(numbers, copied, copied.fresh / "figures", {"sparsity": "sparsity: no room"})
    heads = re.findall(r"^## ((?:Table|Figure) [A.\d]+):", text, re.MULTILINE)
    assert heads == items()["item"].tolist()
    assert "**sparsity did not run**: sparsity: no room" in text
    assert "surrogate" not in text
    links = set(re.findall(r"\]\(((?!http)[^)]+)\)", text))
    assert len(links) > 60
    assert [link for link in links if not (copied.fresh / link).is_file()] == []
    placed = numbers["place"].isin([place for item in heads for place in places_of(item)])
    printed = text.partition("## Numbers in the text")
    assert text.count("| this run") + text.count("| the whole run") == (numbers["from"] != "").sum()
    assert f"({(~placed).sum()})" in printed[2].splitlines()[0]
    assert "data:image/png" in whole_page(text, "page", copied.fresh)


def test_without_data_a_section_runs_on_a_surrogate_and_the_page_says_so(tmp_path):
    cfg = OmegaConf.create({"workers": 1, "sections": {"chatbot_arena": ["surrogate=always"]}})
    stale = tmp_path / "results/paper/chatbot_arena/ranking.csv"
    stale.parent.mkdir(parents=True)
    stale.write_text("of an earlier run")
    assert SMOKE["run_all"](cfg, tmp_path / "results", tmp_path / "figures") == {}
    assert not stale.exists()
    results = layered(tmp_path / "results")
    numbers = compared(results)
    assert HERE not in set(numbers["from"])
    text = smoke_page(numbers, results, tmp_path / "figures", {})
    assert "**surrogate**: data are missing, so chatbot_arena ran on simulated stand-ins" in text
    assert "*chatbot_arena ran on a surrogate here.*" in text


def test_a_section_that_fails_is_told_by_its_last_line(tmp_path):
    cfg = OmegaConf.create({"workers": 2, "sections": {"chatbot_arena": ["level=2"]}})
    told = SMOKE["run_all"](cfg, tmp_path / "results", tmp_path / "figures")
    assert list(told) == ["chatbot_arena"]
    assert told["chatbot_arena"].startswith("chatbot_arena: level")
