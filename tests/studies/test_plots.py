"""Figures of the sections beyond the paper: readable, complete, and the same to the byte each time."""

from __future__ import annotations

import re

import pytest

from judgerank.plots.looks import in_style
from replication.auditing.doc_blocks import current, markdown_in, rendered
from replication.auditing.results import Results
from replication.config import ROOT
from studies import plots
from studies.doc_tables import BLOCKS
from tests import forked
from tests.replication.test_paper_figures import require_data_uncovered, require_legible
from tests.replication.test_plots import as_bytes, marks, require_labelled, stored


@pytest.fixture(autouse=True)
def clean_slate():
    with in_style():
        yield


def uncertain(name: str) -> tuple:
    return tuple(stored(f"uncertainty/{name}/{table}") for table in ("errors", "ranks"))


FIGURES = {
    "shrunk": lambda: plots.shrunk(stored("small_samples/mse"), "t"),
    "character": lambda: plots.character(stored("model_comparison/mt_bench/judges"), "t"),
    "uncertainty": lambda: plots.uncertainty(*uncertain("chatbot_arena"), "t"),
    "defaults": lambda: plots.defaults(stored("defaults/accuracy"), stored("defaults/simulated"), "t"),
    "slot bias": lambda: plots.slot_bias(stored("slot_bias/summary"), stored("slot_bias/bias"), "t"),
    "tastes": lambda: plots.tastes(stored("tastes/simulated"), "t"),
    "plan": lambda: plots.plan(
        *(stored(f"plan/assumed/{name}") for name in ("plan", "by_judges", "simulated", "curves")), "t"
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_can_be_read_and_are_the_same_to_the_byte(name):
    figure = FIGURES[name]()
    require_labelled(figure)
    content = as_bytes(figure)
    figure.draw_without_rendering()
    require_legible(figure)
    require_data_uncovered(figure)
    assert content == as_bytes(FIGURES[name]())


def test_a_rank_interval_of_no_length_has_a_mark():
    errors, ranks = uncertain("mt_bench")
    shown = ranks[ranks["member"] == errors["member"].iloc[-1]]
    assert (shown["low_plug_in"] == shown["high_plug_in"]).any()
    right = plots.uncertainty(errors, ranks, "t").axes[1]
    assert marks(right, "|") == 2 * 2 * len(shown)  # both ends, both kinds of errors


# What the documentation shows of the sections beyond the paper is as stored, and `make audit` keeps it so.


STORED = Results(ROOT / "results")
PAGES = {path: path.read_text() for path in markdown_in([ROOT / "README.md", ROOT / "docs"])}
SCRIPT = "experiments/beyond/pages.py"


def test_every_block_is_on_a_page_and_as_stored():
    shown = rendered(BLOCKS, STORED)
    assert shown.keys() == BLOCKS.keys()
    for name in shown:
        assert any(f"<!-- {name}:" in text for text in PAGES.values()), f"no page shows the block {name}"
    for path, text in PAGES.items():
        assert current(text, shown, STORED) == text, path


def test_a_page_that_is_not_current_is_written_again_and_nothing_else(tmp_path):
    text = (ROOT / "docs/beyond/defaults.md").read_text()
    stale, fresh = tmp_path / "stale.md", tmp_path / "fresh.md"
    block = re.search(r"<!-- defaults accuracy:[^>]*-->\n(.*?)<!-- /defaults accuracy -->", text, re.DOTALL)[1]
    stale.write_text(text.replace(block, "stale\n"))
    fresh.write_text(text)
    before = fresh.stat().st_mtime_ns
    done = forked.run([SCRIPT, f"pages=[{stale},{fresh}]"])
    assert done.returncode == 0, done.stderr
    assert (stale.read_text(), fresh.read_text()) == (text, text)
    assert fresh.stat().st_mtime_ns == before


def test_blocks_whose_results_are_not_stored_stay_as_they_are(tmp_path, caplog):
    with caplog.at_level("WARNING", "replication"):
        shown = rendered(BLOCKS, Results(tmp_path))
    assert shown.keys() == {"bench", "layouts", "recipes"}  # of ratios and forms, which are not among the results
    assert all(any(name in said for said in caplog.messages) for name in BLOCKS.keys() - shown.keys())


@pytest.mark.parametrize("override", ["pages=[nowhere.md]", "page=[README.md]"])
def test_a_bad_setting_ends_in_one_sentence(override):
    done = forked.run([SCRIPT, override])
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
