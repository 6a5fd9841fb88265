"""Figures of the sections beyond the paper: readable, complete, and the same to the byte each time."""

from __future__ import annotations

import pytest

from judgerank.plots.looks import in_style
from studies import plots
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
