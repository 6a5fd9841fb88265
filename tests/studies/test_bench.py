"""The bench fails where a ratio is worse than stored by more than a tenth, and in no other case."""

import json
import time

import numpy as np
import pandas as pd
import pytest

import studies.config  # noqa: F401 (its settings)
from replication.config import ROOT
from replication.freshness import stale
from replication.records import provenance
from studies import speed, stored_speed
from studies.speed import both
from studies.stored_speed import (
    COLUMNS,
    MADE_BY,
    Measured,
    goals_table,
    keep,
    measured,
    read,
    with_measured,
    worse,
)
from tests.replication.test_config import composed

EARLIER = ["0", "0", "0", "abc", "2026-01-01"]  # code, settings, data, commit, date
STORED = pd.DataFrame(
    [
        ["choix", "ours / choix", 2.0, "at most 2", "7.4", *EARLIER],
        ["adam", "adam / ours", 100.0, "at least 500", "", *EARLIER],
    ],
    columns=COLUMNS,
)


def line(ratio, row="choix", measure="ours / choix", goal="at most 2"):
    return Measured(row, measure, ratio, 1.0, goal)


@pytest.mark.parametrize("ratio, is_worse", [(1.0, False), (2.19, False), (2.21, True)])
def test_a_ratio_that_is_to_be_small_is_worse_if_it_is_larger(ratio, is_worse):
    told = worse([line(ratio)], STORED, 0.1)
    assert bool(told) == is_worse
    if is_worse:
        assert told == ["choix: ours / choix: 2.21, stored 2 (at most 2)"]


@pytest.mark.parametrize("ratio, is_worse", [(200.0, False), (91.0, False), (90.0, True)])
def test_a_ratio_that_is_to_be_large_is_worse_if_it_is_smaller(ratio, is_worse):
    assert bool(worse([line(ratio, "adam", "adam / ours", "at least 500")], STORED, 0.1)) == is_worse


def test_what_is_not_stored_or_has_no_goal_is_not_worse():
    assert not worse([line(9.0, measure="new"), line(9.0, goal="")], STORED, 0.1)


def test_a_ratio_that_seems_worse_is_measured_again_and_its_median_counts():
    ratios = iter([5.0, 1.9, 2.0])
    (found,) = measured("choix", lambda: [("ours / choix", next(ratios), 1.0, "at most 2")], STORED, 0.1, again=2)
    assert found.ratio == 2.0 and found.met and not list(ratios)
    ratios = iter([1.9, 9.0])
    measured("choix", lambda: [("ours / choix", next(ratios), 1.0, "at most 2")], STORED, 0.1, again=2)
    assert list(ratios) == [9.0]
    ratios = iter([5.0, 1.9, 4.0])
    (found,) = measured("choix", lambda: [("ours / choix", next(ratios), 1.0, "at most 2")], STORED, 0.1, again=2)
    assert worse([found], STORED, 0.1) and not found.met


def stored_in(folder, lines, before, growth=None):
    record = provenance("bench", composed("bench"), {}, "")
    keep(folder, lines, before, record, growth, time.monotonic())
    return record["made_by"]


def test_rows_are_stored_in_place_of_theirs_with_what_was_before_and_what_they_were_made_by(tmp_path):
    folder = tmp_path / "results/beyond/bench"
    assert read(folder).empty
    stored_in(folder, [line(300.0, "adam", "adam / ours", "at least 500")], STORED, pd.DataFrame({"size": [1]}))
    made_by = stored_in(folder, [line(1.5)], read(folder))
    found = read(folder).set_index("row")
    assert found.loc["choix", "ratio"] == 1.5 and found.loc["adam", "ratio"] == 300
    assert found.loc["choix", "before"] == "7.4"
    assert found.loc["choix", list(made_by)].to_dict() == made_by
    assert (folder / "growth.csv").read_text() == "size\n1\n"  # of an earlier run
    table = goals_table(folder)
    assert "| 7.4" in table and "missed" in table and "met" in table
    run = json.loads((folder / "run.json").read_text())
    assert run["by_row"] == "ratios.csv" and "made_by" not in run
    assert stale(tmp_path / "results").empty


def test_each_row_is_stale_by_itself(tmp_path):
    folder = tmp_path / "results/beyond/bench"
    stored_in(folder, [line(1.5)], STORED)
    (row,) = stale(tmp_path / "results").itertuples()
    assert (row.set, row.kind, row.why) == ("adam", "ratios", "code, settings, data")
    assert row.command == "make bench ROWS=adam ARGS=store=true"


def test_a_row_that_was_measured_only_before_is_shown_and_is_not_held_against_a_run(tmp_path):
    (tmp_path / "ratios.csv").write_text("row,measure,ratio,goal,before\nstudies,both / drawing,,at most 5,7.3\n")
    stored = read(tmp_path)
    assert not worse([line(9.0, "studies", "both / drawing", "at most 5")], stored, 0.1)
    *shown, verdict = (cell.strip() for cell in goals_table(tmp_path).splitlines()[2].split("|")[3:7])
    assert shown == ["7.3", "--", "at most 5"] and verdict.startswith("not ")
    found = with_measured(
        stored, [line(4.0, "studies", "both / drawing", "at most 5")], dict.fromkeys(MADE_BY, "")
    )
    assert found.loc[0, ["ratio", "before"]].tolist() == [4.0, "7.3"]


def test_calls_take_turns():
    called = []
    first, second = both(lambda: called.append(1), lambda: called.append(2), 3)
    assert called == [1, 2] * 4 and first >= 0 and second >= 0


def test_exponents_are_those_of_powers_and_their_errors_of_noise(monkeypatch):
    sizes = np.array([1e3, 1e4, 1e5, 1e6, 1e7])
    clean = pd.DataFrame({"axis": "judgments", "size": sizes, "seconds": 1e-6 * sizes**1.2})
    (one,) = speed.exponents(clean).itertuples()
    assert one.exponent == pytest.approx(1.2) and one.error < 1e-9
    (noisy,) = speed.exponents(clean.assign(seconds=clean["seconds"] * [1, 1, 1.3, 0.8, 1.2])).itertuples()
    assert abs(noisy.exponent - 1.2) < 3 * noisy.error and noisy.error > 0.01
    monkeypatch.setattr(speed, "SIZES", {"judgments": (300, 600, 900, 1200, 1500), "models": (3, 4, 5, 6, 7)})
    monkeypatch.setattr(speed, "BASE", {"judgments": 500, "models": 5, "judges": 3, "questions": 100})
    monkeypatch.setattr(speed, "REPEATS", 1)
    found = speed.times(1)
    assert (found["seconds"] > 0).all() and len(found) == 10
    assert len(speed.drawn(found, speed.exponents(found)).axes) == 2


def test_the_page_shows_the_stored_ratios():
    shown = (ROOT / "docs/performance.md").read_text()
    assert goals_table(stored_speed.STORED) in shown
    assert stored_speed.read(stored_speed.STORED)["measure"].is_unique
