"""The section on gates: what it computes, and that its stored decisions hold what the page promises."""

import numpy as np
import pandas as pd
import pytest

from replication.config import ROOT
from studies.gates import CONDITIONS, RULE, TRUTHS, beside_levels, drawn, held, money

KEYS = ["condition", "n_questions", "n_judges"]


def stored(name):
    return pd.read_csv(ROOT / f"results/beyond/gate/{name}.csv")


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("truth", TRUTHS)
def test_the_win_rate_of_what_is_drawn_is_the_truth(name, truth):
    """Over both orders alike: where one is more frequent, each counts by half. Five errors of the mean."""
    preference, first = drawn(np.random.default_rng(1), 40_000, 3, name, TRUTHS[truth])
    by_order = [np.nanmean(np.where(first == side, preference, np.nan)) for side in (1.0, -1.0)]
    assert np.mean(by_order) == pytest.approx(TRUTHS[truth], abs=5 * 0.5 / np.sqrt(40_000))


def test_a_gate_never_decides_falsely_more_often_than_it_says():
    levels = stored("levels")
    gates = levels[levels["rule"] == "gate"]
    assert len(gates) >= 2 * len(CONDITIONS) * 7
    assert held(gates).all() and gates["held"].all()
    looks = stored("looks")
    for case, decision in (("equal", "block"), ("inferior", "ship"), ("worse", "ship"), ("better", "block")):
        assert held(looks[(looks["case"] == case) & (looks["rule"] == decision)]).all()


def test_a_gate_sees_as_much_as_the_sign_test_from_10_questions_on_and_as_the_t_test_from_100():
    """Up to three errors of the difference; the others have no error rate, or break it somewhere."""
    power = stored("power")
    enough = power["n_questions"] >= np.where(power["rule"] == "sign", 10, 100)
    keep = power[power["holds"] & (power["rule"] != "gate") & enough]
    gates = power[power["rule"] == "gate"].set_index([*KEYS, "case"])["share_se"]
    error = gates.loc[pd.MultiIndex.from_frame(keep[[*KEYS, "case"]])].to_numpy()
    assert (keep["gap"] <= 3 * np.hypot(keep["share_se"], error) + 1e-9).all()
    assert not power.loc[power["rule"].isin(["majority", "mcnemar"]), "holds"].any()


def test_power_stands_beside_the_level_in_the_same_cell_and_at_the_worst():
    cell = {"condition": "plain", "n_questions": 5, "n_judges": 3, "n_replications": 100}
    other = {**cell, "condition": "clones"}
    levels = pd.DataFrame(
        [{**cell, "case": "equal", "rule": rule, "share": 0.04} for rule in ("gate", "t")]
        + [
            {**other, "case": "equal", "rule": rule, "share": share}
            for rule, share in (("gate", 0.03), ("t", 0.3))
        ]
    )
    power = pd.DataFrame(
        [{**cell, "case": "worse", "rule": rule, "share": share} for rule, share in (("gate", 0.2), ("t", 0.5))]
    )
    rare = pd.DataFrame([{**cell, "condition": "rarely broken", "case": "ship", "rule": "t", "share": 0.9}])
    found = beside_levels(power, levels, rare).set_index("rule")
    assert found.loc["t", ["level", "worst_level", "worst_condition"]].tolist() == [0.04, 0.3, "clones"]
    assert found["holds"].tolist() == [True, False]
    assert found["gap"].tolist() == pytest.approx([0, 0.3])


def test_money_is_that_of_the_smallest_size_that_is_right_as_often():
    shares = {"ship": 0.0, "block": 0.9, "questions": 25.0, "fixed 10": 0.5, "fixed 40": 0.92, "fixed 90": 1.0}
    looks = pd.DataFrame(
        [{"condition": "plain", "case": "worse", "rule": k, "share": v} for k, v in shares.items()]
    )
    row = money(looks, 0.1).iloc[0]
    assert (row["decision"], row["questions"], row["fixed"], row["largest"]) == ("block", 25, 40, 90)
    assert (row["cost"], row["fixed_cost"]) == pytest.approx((2.5, 4.0))
    assert RULE.alpha == 0.05
