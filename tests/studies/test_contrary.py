"""Contrary judges and little data: what the section measures is what it says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from studies.contrary import Duel, Few, Panel, accused, covered, separated_few, sweep_row
from tests.replication.test_sections import run


def test_a_contrary_judge_is_named_and_a_random_one_is_not():
    named = accused(Panel("contrary", 80, 5), np.random.default_rng(1))
    assert named == {"last": 1.0, "others": 0.0}
    assert accused(Panel("coins", 80, 5), np.random.default_rng(2))["last"] == 0.0


@pytest.mark.parametrize("wins", [4, 8, 12])
def test_a_sweep_has_the_p_value_of_the_sign_test(wins):
    row = sweep_row(wins, 0, 0)
    assert row["p_value"] == pytest.approx(2 / 2**wins)
    assert row["separated"] == (row["score_low"] > 0) == (wins > 5)


def test_one_win_and_one_loss_beside_many_ties_have_a_short_interval():
    row = sweep_row(1, 1, 98)
    assert row["score_high"] - row["score_low"] < 0.5


def test_a_duel_is_covered_or_not_and_score_and_claim_agree():
    record = covered(Duel(12, 1.0, 0.95), np.random.default_rng(3))
    assert record["agree"] == 1.0
    assert {record["difference"], record["score"]} <= {0.0, 1.0}


def test_few_questions_separate_one_far_ahead_and_no_equals():
    assert separated_few(Few(20, 4, 3, 0.0, 4.0), np.random.default_rng(4)) == {"false": 0.0, "power": 1.0}
    assert np.isnan(separated_few(Few(10, 4, 3, 1.5, 0.0), np.random.default_rng(5))["power"])


def test_the_section_runs_small(tmp_path):
    small = (
        "answers=[20]",
        "questions=[10]",
        "effects=[0.0]",
        "comparisons=[12]",
        "leads=[1.0]",
        "sweeps=[[6,0,0]]",
    )
    counts = ("replications=2", "duels=2", f"cache={tmp_path / 'cache'}", "parallel=sequential")
    done = run("contrary", tmp_path, *small, *counts)
    assert done.returncode == 0, done.stderr
    tables = ("judges", "questions", "intervals", "sweeps")
    sizes = [len(pd.read_csv(tmp_path / f"results/beyond/contrary/{name}.csv")) for name in tables]
    assert sizes == [8, 2, 1, 1]
