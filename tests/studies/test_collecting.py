"""The sections on collecting by rounds and on gates: what is counted, and what is stored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgerank.data.arrays import generator
from replication.config import ROOT
from studies import adaptive, run_gates
from studies.gates import AT_LIMIT, CONDITIONS, RULE, TRUTHS, drawn, held, money, power_and_level, shares

# The section on collecting by rounds: what is counted of a run, and what savings are.
SETTINGS = {"rule": "information", "level": 0.95, "most": 400}


def test_a_run_among_equal_models_can_only_stop_wrongly():
    given = SETTINGS | {"scores": [0.5, 0.5, -1.0], "goal": "all"}
    records = [adaptive.stopped(given, generator(seed, "null")) for seed in range(3)]
    assert all(record["wrong"] == record["stopped"] for record in records)
    assert all(record["naive"] or not record["wrong"] for record in records)  # to look naively stops no later
    assert {record["comparisons"] for record in records} == {400}


def test_a_run_with_an_order_stops_at_it():
    record = adaptive.stopped(SETTINGS | {"scores": [2.0, 0.0, -2.0], "goal": "all"}, generator(1, "spread"))
    assert record["stopped"]
    assert not record["wrong"]
    assert not record["naive"]


def test_false_stops_are_counted_with_their_errors():
    records = pd.DataFrame({"wrong": [True] + [False] * 19, "naive": [True] * 5 + [False] * 15, "looks": 3})
    records["independent"] = records["wrong"]
    told = adaptive.false_stops(records)
    assert (told["rate"], told["naive_rate"]) == (0.05, 0.25)
    assert told["rate_se"] == pytest.approx(np.sqrt(0.05 * 0.95 / 20))
    none = adaptive.false_stops(records.assign(wrong=False))
    assert none["rate_upper"] == pytest.approx(1 - 0.05 ** (1 / 20))


def looks(**errors) -> pd.DataFrame:
    """One playback of each rule at 100, 200, 400 and 800 comparisons; tau rises as errors fall."""
    parts = [
        pd.DataFrame({"look": range(4), "comparisons": [100.0, 200.0, 400.0, 800.0], "error": error})
        .assign(rule=rule, playback=playback, open=1.0)
        .assign(tau=lambda part: 1 - part["error"])
        for rule, errors_of in errors.items()
        for playback, error in enumerate(errors_of)
    ]
    return pd.concat(parts, ignore_index=True)


def test_a_rule_with_half_the_variance_takes_half_the_comparisons():
    size = np.array([100.0, 200.0, 400.0, 800.0])
    random = 1 / np.sqrt(size)
    table = adaptive.savings(looks(random=[random, random], a_optimal=[1 / np.sqrt(2 * size)] * 2))
    table = table[table["measure"] == "error"].set_index("rule")
    assert table["comparisons"].to_dict() == pytest.approx({"random": 400, "a_optimal": 200})
    assert table.loc["a_optimal", "saved"] == pytest.approx(0.5)
    assert (table["comparisons_se"] == 0).all()


def test_what_is_never_as_good_is_told_and_counted_in_full():
    size = np.array([100.0, 200.0, 400.0, 800.0])
    table = adaptive.savings(looks(random=[1 / np.sqrt(size)], swiss=[np.full(4, 0.2)]))
    swiss = table[table["rule"] == "swiss"]
    assert set(swiss["never"]) == {1}
    assert set(swiss["comparisons"]) == {800}
    assert (swiss["saved"] < 0).all()


def test_a_target_between_two_looks_is_met_between_them():
    part = looks(random=[np.array([0.4, 0.3, 0.2, 0.1])])
    assert adaptive.needed(part, "tau", 0.75) == pytest.approx(np.sqrt(200 * 400))
    assert adaptive.needed(part, "tau", 0.5) == pytest.approx(100)
    assert np.isnan(adaptive.needed(part, "error", 0.05))


# The section on gates: what it computes, and that its stored decisions hold what the page promises.
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


@pytest.mark.parametrize("name", run_gates.CONDITIONS)
def test_the_mean_difference_of_scores_that_are_drawn_is_the_truth(name):
    truths = {"margin": -run_gates.RULE.margin} if name == run_gates.BROKEN else run_gates.TRUTHS
    for mean in truths.values():
        by_task = run_gates.drawn(np.random.default_rng(2), 40_000, name, mean).mean(axis=1)
        assert by_task.mean() == pytest.approx(mean, abs=5 * by_task.std() / np.sqrt(len(by_task)))


def test_a_gate_on_scores_keeps_its_level_and_sees_as_much_as_a_paired_t_test():
    """Up to three errors; statgate's bootstrap does not keep its level with five tasks."""
    rng = np.random.default_rng(11)
    (differ,) = (name for name, condition in run_gates.CONDITIONS.items() if "effects" in condition)
    for n_tasks in (5, 12, 40):
        settings = {"condition": differ, "n_questions": n_tasks}
        records = pd.DataFrame([run_gates.decided_once(settings, rng) for _ in range(200)])
        of = shares(records).set_index(["case", "rule"])
        false = of.loc[["equal, blocked", "equal, shipped", "at the margin, shipped"]].xs("gate", level="rule")
        assert held(false).all()
        for case in ("worse, blocked", "better, shipped"):
            gate, t = of.loc[(case, "gate")], of.loc[(case, "t")]
            assert gate["share"] >= t["share"] - 3 * np.hypot(gate["share_se"], t["share_se"])


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
    rare = pd.DataFrame([{**cell, "condition": AT_LIMIT, "case": "ship", "rule": "t", "share": 0.9}])
    found = power_and_level(power, levels, rare).set_index("rule")
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
