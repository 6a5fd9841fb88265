"""The sections on fit and on few judges: their simulated panels, and what their stored tables hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgerank import Comparisons
from judgerank.data.arrays import generator
from replication import published
from replication.config import ROOT
from studies.contrary import Duel, Few, Panel, accused, covered, separated_few, sweep_row
from studies.few_judges import EQUAL, FewJudges, cells_of, few_judges_rows, of_few_judges
from studies.fit_tests import FEW, FIT, REPEATED, Design, drawn, few_tested, fit_tested, largest, repeated
from tests.drawn import name_of
from tests.replication.test_config import composed
from tests.replication.test_sections import run

STORED = ROOT / "results/beyond/fitness"
TESTS = ("overall", "order", "judge", "question")
NULL = [name for name, d in FIT.items() if not (d.cycle or d.taste or d.all_tastes or d.turned)]


def test_a_panel_is_asked_as_its_design_says():
    rows, question = drawn(Design(questions=7, pairs=3, repeats=2), np.random.default_rng(1))
    assert len(rows) == 7 * 3 * 6 * 2
    assert np.bincount(question).tolist() == [36] * 7
    assert (rows.judge[::2] == rows.judge[1::2]).all()
    islands, _ = largest(*drawn(FIT["two islands"], np.random.default_rng(1)))
    assert len(islands.models) == 4
    apart = drawn(Design(one_question_each=True), np.random.default_rng(1))[1]
    assert len(set(apart)) == len(apart)


def test_one_set_gives_a_record_of_every_kind():
    rng, level = np.random.default_rng(2), 0.95
    one = fit_tested({"design": vars(Design(taste=1.0)), "level": level}, rng)
    assert {"overall", "order", "judge", "question", "judges_right"} <= set(one)
    few = few_tested({"design": vars(FEW["10 questions, one model ahead by 3"]), "level": level}, rng)
    assert few["flips_power"] == few["rank_power"] > 0.5
    again = repeated({"design": vars(next(iter(REPEATED.values()))), "level": level}, rng)
    assert again["low"] < again["flip_rate"] < again["high"]


@pytest.mark.parametrize("test", TESTS)
def test_stored_levels_hold(test):
    levels = pd.read_csv(STORED / "levels.csv").set_index("design")
    assert set(levels.index) == set(FIT)
    many = levels.loc[NULL, "n_replications"]
    assert (levels.loc[NULL, test] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / many)).all()
    assert (levels["failed"] <= 0.05 * levels["n_replications"]).all()


def test_stored_power():
    levels = pd.read_csv(STORED / "levels.csv").set_index("design")
    for design, measure in (
        (Design(cycle=0.8), "order"),
        (Design(taste=1.0), "judges_right"),
        (Design(turned=1, pairs=15), "questions_right"),
    ):
        assert levels.loc[name_of(FIT, design), measure] > 0.8


def test_stored_tests_of_few_questions_hold_and_find():
    few = pd.read_csv(STORED / "few.csv").set_index("design")
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / few["n_replications"])
    for kind in ("rank", "flips"):
        assert (few[f"{kind}_false"] <= limit).all()
        assert (few[f"{kind}_ranks"] >= 1 - limit).all()
    assert few.loc["10 questions, models equal", "plain_false"] > 0.1
    assert few.loc["10 questions, one model ahead by 3", "rank_power"] > 0.8
    assert few.loc["20 questions, one model ahead by 3", "rank_power"] > 0.9
    assert few.loc["5 questions, one model ahead by 3", "rank_power"] == 0  # no p-value is below 1/16


# Contrary judges and little data: what the section measures is what it says.


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


# The comparison of equal weights with the default where judges are few.


def test_weights_help_where_one_judge_answers_at_random_and_cost_little_where_judges_are_alike():
    gains = {}
    for spread in (0.0, 2.5):
        cell = FewJudges(3, 8, 500, spread)
        records = pd.DataFrame([of_few_judges(cell, generator(seed, "few"), None) for seed in range(12)])
        assert records.notna().all(axis=None)
        gains[spread] = (records["position_only"] - records["position_aware"]).mean()
    assert gains[2.5] < -0.02 < gains[0.0]


def test_samples_of_chatbot_arena_are_held_against_people():
    elo = published.numbers("chatbot_arena_human", "elo")
    rng = np.random.default_rng(1)
    names, size = elo.index.to_numpy(), 3000
    i = rng.integers(len(names), size=size)
    j = (i + rng.integers(1, len(names), size=size)) % len(names)
    frame = pd.DataFrame({"model_a": names[i], "model_b": names[j]})
    frame["judge_model"] = rng.integers(4, size=size).astype(str)
    is_better = elo.to_numpy()[i] > elo.to_numpy()[j]
    frame["judge_preferred_model"] = np.where(is_better ^ (rng.random(size) < 0.1), "a", "b")
    record = of_few_judges(FewJudges(2, 0, 800), generator(1, "few"), Comparisons.from_frame(frame))
    assert set(record) == {"position_aware", *EQUAL}
    assert all(value > 0.9 for value in record.values())


def test_every_cell_has_a_row():
    cells = cells_of(composed("defaults"), {})
    assert len(cells) == 36 and len(set(cells.values())) == 36

    class Computed:
        def __init__(self):
            self.cells = dict(list(cells.items())[:2])

        def records(self, name):
            return [{"position_aware": 0.8, "position_only": 0.7, "btl": 0.9}] * 2

    for row in few_judges_rows(Computed()):
        assert (row["position_only"], row["btl"]) == (pytest.approx(-0.1), pytest.approx(0.1))
