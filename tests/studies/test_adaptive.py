"""The section on collecting by rounds: what is counted of a run, and what savings are."""

import numpy as np
import pandas as pd
import pytest

from judgerank.model.streams import generator
from studies import adaptive

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
