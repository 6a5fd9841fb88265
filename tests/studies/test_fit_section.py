"""The simulated panels of the section on fit, and what its stored tables hold."""

import numpy as np
import pandas as pd
import pytest

from replication.config import ROOT
from studies.fit_tests import FEW, FIT, REPEATED, Design, drawn, few_tested, fit_tested, largest, repeated

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
    one = fit_tested({"design": vars(FIT["one judge with tastes of 1"]), "level": level}, rng)
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
    assert levels.loc["cycle of three models", "order"] > 0.8
    assert levels.loc["one judge with tastes of 1", "judges_right"] > 0.8
    assert levels.loc["one question turned round", "questions_right"] > 0.8


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
