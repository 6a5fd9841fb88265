"""The scripts as a user runs them: what they write, what they refuse, and that stored results are current."""

from __future__ import annotations

import io
import json
import os
import re
import runpy
from pathlib import Path

import pandas as pd
import pytest
from omegaconf import OmegaConf

from judgerank.writing.atomic import STORED_FORMAT
from judgerank.writing.sidecars import written
from replication.auditing.audit import Verdict
from replication.auditing.page import html_page
from replication.auditing.registry import items
from replication.auditing.results import Results
from replication.auditing.smoke import HERE, STORED, Layered, compared, places_of, smoke_page
from replication.config import ROOT, script_of
from replication.differences import compare
from replication.freshness import listed_figures
from replication.outputs import Draw, load_section_data, run_section
from tests import forked
from tests.real_data import FILES, needs_data
from tests.replication.test_config import composed

SECTIONS = ["chatbot_arena", "benchmark_alignment", "judge_reliability"]
SEARCHED = [f"search.{name}=[]" for name in ("steps", "betas", "epsilon", "grids")] + [
    "search.answers=['ties dropped']"
]
LONG = {
    "settings_tried",
    "stopped_settings",
    "stopped_iterate",
    "stopping_path",
}  # of the best of all settings that are tried


def run(section: str, folder: Path, *overrides: str, by=forked.run, **environment: str):
    outputs = [f"results={folder / 'results'}", f"figures={folder / 'figures'}"]
    return by([str(script_of(section)), *outputs, *overrides], env=os.environ | environment)


def run_here(section: str, folder: Path, *overrides: str, draw: Draw | None = None) -> None:
    """A section as its command runs it, in this process; its figures are its script's, unless told."""
    script = runpy.run_path(str(script_of(section)))
    places = [f"{kind}={folder / kind}" for kind in ("results", "figures")]
    run_section(section, composed(section, *places, *overrides), script["compute"], draw or script["draw"])


def undrawn(tables: dict, suffix: str) -> dict:
    return {}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module", params=SECTIONS)
def surrogate(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    by = forked.run_anew if request.param == SECTIONS[0] else forked.run
    return request.param, folder, run(request.param, folder, "surrogate=always", by=by)


def test_a_surrogate_run_says_so_everywhere(surrogate):
    section, folder, done = surrogate
    assert done.returncode == 0, done.stderr
    assert all("surrogate" in line for line in done.stdout.splitlines())
    files = tree(folder)
    assert files
    assert all(name.split("/")[1:3] == ["surrogate", section] for name in files)
    assert all(b"surrogate" in content for name, content in files.items() if name.endswith(".json"))


def test_a_surrogate_run_makes_no_comparison_with_the_paper(surrogate):
    assert not [name for name in tree(surrogate[1]) if "paper_check" in name or "stopping" in name]


def test_tables_are_csv_files_and_figures_png_files(surrogate):
    names = {(name.split("/")[0], Path(name).suffix) for name in tree(surrogate[1])}
    assert names == {("results", ".csv"), ("results", ".json"), ("figures", ".png"), ("figures", ".json")}


def test_figures_are_redrawn_from_stored_tables_to_the_same_bytes(surrogate):
    section, folder, _ = surrogate
    before = tree(folder)
    for path in (folder / "figures").rglob("*.*"):
        path.unlink()
    done = run(section, folder, "draw_only=true", JUDGERANK_DATA="/nowhere")
    assert done.returncode == 0, done.stderr
    assert tree(folder) == before


def test_drawing_without_stored_tables_is_refused(tmp_path):
    done = run("chatbot_arena", tmp_path, "draw_only=true")
    assert done.returncode == 1
    assert done.stderr.strip() == "chatbot_arena: there are no stored tables of chatbot_arena to draw from"


def test_bad_data_leave_earlier_results_as_they_were(surrogate, tmp_path):
    section, folder, _ = surrogate
    before = tree(folder)
    for name in FILES.values():
        (tmp_path / name).write_text('[{"question_id": 1}]')
    done = run(section, folder, JUDGERANK_DATA=str(tmp_path))
    assert done.returncode == 1
    assert "record 1 has no 'model_a'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert tree(folder) == before


@pytest.mark.parametrize(
    ("winners", "names"),
    [
        ([("x", "y", "ab"), ("v", "w", "ab")], "v, w; x, y"),
        ([("x", "y", "a"), ("y", "z", "ab"), ("x", "z", "a")], "x; y, z"),
        ([("x", "y", "ab"), ("y", "z", "b"), ("x", "z", "b")], "x, y; z"),
    ],
)
def test_sets_that_cannot_be_ranked_name_their_models(winners, names, tmp_path):
    rows = [
        {
            "question_id": 1,
            "model_a": a,
            "model_b": b,
            "judge_model": "j",
            "judge_preferred_model": letter,
            "judge_confidence": 1.0,
        }
        for a, b, letters in winners
        for letter in letters
    ]
    (tmp_path / "mine.json").write_text(json.dumps(rows))
    own = ["dataset=chatbot_arena", "dataset.name=mine", "dataset.file=mine.json", "dataset.sha256=null"]
    done = run("complete_ranking", tmp_path, *own, JUDGERANK_DATA=str(tmp_path))
    assert done.returncode == 1
    assert names in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "results").exists()


@needs_data
@pytest.mark.parametrize("section", SECTIONS)
def test_stored_tables_come_out_again(section):
    # The hub's ratings are left out: whether they can be had depends on the network. So are most settings of
    # Algorithm A.1 that were tried, which take long: `make verify` recomputes them all. Without a maximum late
    # iterates hang on rounding, and so on which runs are followed together: either all are compared or none.
    fewer = {"benchmark_alignment": ["ratings=null"], "judge_reliability": SEARCHED}
    cfg = composed(section, "surrogate=never", *fewer.get(section, []))
    tables = runpy.run_path(str(script_of(section)))["compute"](cfg, load_section_data(cfg)[0])
    stored = {path.stem: pd.read_csv(path) for path in (ROOT / "results/paper" / section).glob("*.csv")}
    assert stored.keys() - {"ratings"} == tables.keys()
    for name, table in tables.items():
        if name in LONG:
            assert len(table.frame)
            continue
        again = pd.read_csv(io.StringIO(table.frame.to_csv(index=False, float_format=STORED_FORMAT)))
        assert list(map(str, compare(name, stored[name], again))) == []
        assert len(again) > 0.9 * len(stored[name])


def test_results_and_figures_may_go_to_one_folder_and_leave_what_is_there(tmp_path):
    notes = tmp_path / "surrogate" / "complete_ranking" / "mt_bench" / "notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("mine")
    one = [f"results={tmp_path}", f"figures={tmp_path}"]
    for _ in range(2):
        run_here("complete_ranking", tmp_path, "surrogate=always", "dataset=mt_bench", *one)
    names = {path.name for path in notes.parent.iterdir()}
    assert notes.read_text() == "mine"
    assert {"notes.txt", "run.json", "ranking.csv"} <= names
    assert any(name.endswith(".png") for name in names)
    assert {*written(notes.parent, "run.json"), *listed_figures(notes.parent)} == names - {"notes.txt", "run.json"}


@pytest.mark.parametrize("section", SECTIONS)
def test_provenance_is_stored_beside_every_result(section):
    run_json = json.loads((ROOT / "results/paper" / section / "run.json").read_text())
    assert run_json["section"] == section
    assert run_json["surrogate"] is False
    for name, source in run_json["data"].items():
        assert source["sha256"] == run_json["config"]["datasets"][name]["sha256"]
        assert source["records"] == run_json["config"]["datasets"][name]["records"] >= 10_000
        assert set(source["dropped"]) == {"unknown", "null"}
    assert run_json["versions"]["numpy"]


def test_contracted_columns():
    columns = {
        "chatbot_arena/ranking": "model rank_judge_aware rank_btl score_judge_aware score_btl low_judge_aware "
        "high_judge_aware low_btl high_btl",
        "judge_reliability/discrimination": "dataset judge discrimination low high status",
    }
    for name, expected in columns.items():
        assert sorted(pd.read_csv(ROOT / f"results/paper/{name}.csv").columns) == sorted(expected.split())
    for name in ("mt_bench", "ultrafeedback"):
        columns = pd.read_csv(ROOT / f"results/paper/benchmark_alignment/{name}.csv").columns
        assert {"model", "score_btl", "score_judge_aware"} <= set(columns)


# The small run: every section of the paper is in it, and its page shows the paper's numbers beside ours.
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
    scripts = (ROOT / "experiments").glob("*.py")
    sections = {path.stem for path in scripts if "section_command(" in path.read_text()}
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
    printed = text.partition("## Numbers")
    assert text.count("| this run") + text.count("| the whole run") == (numbers["from"] != "").sum()
    assert f"({(~placed).sum()})" in printed[2].splitlines()[0]
    assert "data:image/png" in html_page(text, "page", copied.fresh)


@pytest.mark.slow
def test_without_data_a_section_runs_on_a_surrogate_and_the_page_says_so(tmp_path):
    cfg = OmegaConf.create({"workers": 1, "sections": {"chatbot_arena": ["surrogate=always"]}})
    stale = tmp_path / "results/paper/chatbot_arena/ranking.csv"
    stale.parent.mkdir(parents=True)
    stale.write_text("stale")
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
