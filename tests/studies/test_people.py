"""The section on human votes: what it draws, writes and has stored."""

import numpy as np
import pandas as pd
import pytest

from replication.config import ROOT
from studies import people, plots
from tests.replication.test_sections import run


def test_people_are_asked_about_as_many_items_as_is_said_and_judges_about_all():
    rows, question, human = people.drawn(np.random.default_rng(1), 1.0, 1.0, 120)
    assert human.sum() == 120 == len(set(question[human]))
    assert len(rows) - 120 == people.N_ITEMS * len(people.DISCRIMINATION)
    assert {rows.judges[k] for k in set(rows.judge[human])} == {"people"}


def test_failures_are_counted():
    record = {"p": 0.01, "saving": 0.1, "replication": 0}
    row = people.voted(pd.DataFrame([record, {"replication": 1, "failure": "x"}]), "name")
    assert row["failed"] == 1 and row["rejected"] == 1 and row["saving"] == pytest.approx(0.1)


def test_a_run_writes_what_it_should(tmp_path):
    few = ["replications=2", "crowds=2", f"cache={tmp_path / 'cache'}", "parallel=sequential"]
    done = run("people", tmp_path, *few)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "results/beyond/people/votes.csv")
    assert list(table["setting"]) == list(people.VOTED)
    assert (tmp_path / "figures/beyond/people/people.png").is_file()


def test_stored_intervals_hold_and_the_saving_is_as_small_as_is_said():
    table = pd.read_csv(ROOT / "results/beyond/people/votes.csv").set_index("setting")
    assert (table["covered/helped"] > 0.91).all() and (table["saving"] < 0.3).all()
    biased = table[table.index.str.startswith("biased")]
    assert (biased["covered/as a judge"] < 0.7).all() and biased["rejected"].iloc[-1] > 0.9
    assert table.loc["fair panel", "error/as a judge"] < 0.7 * table.loc["fair panel", "error/helped"]
    assert table.loc["fair panel", "rejected"] < 0.1


def test_the_figure_shows_every_setting():
    table = pd.read_csv(ROOT / "results/beyond/people/votes.csv")
    left, right = plots.people(table, "t").axes
    assert [text.get_text() for text in left.get_yticklabels()] == list(table["setting"])
    assert len(left.containers) == len(right.containers) == 4
