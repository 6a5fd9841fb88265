"""The section on judges' tastes: what its parts return, and what its stored tables say."""

import numpy as np
import pandas as pd
import pytest

from replication.auditing.results import Results
from replication.config import ROOT
from studies.tastes import STOPS, drawn, held_once, held_row, panel_scores, stopped_once, stops_row


@pytest.fixture(scope="module")
def stored():
    return Results(ROOT / "results")


def test_a_simulated_set_says_what_both_intervals_hold():
    settings = {"judges": 4, "sd": 0.5, "size": 800, "level": 0.95}
    records = pd.DataFrame([held_once(settings, np.random.default_rng(seed)) for seed in range(2)])
    row = held_row(records, settings)
    assert row["n_replications"] == 2 and row["failed"] == 0
    assert row["like_these"] == pytest.approx(records["like_these"].mean())
    assert ((records >= 0) & (records <= 1)).all().all()


def test_the_panels_own_scores_are_those_of_judges_without_tastes():
    _, thought = drawn(np.random.default_rng(1), 4, 0.0, 10)
    np.testing.assert_allclose(panel_scores(thought), np.linspace(1, -1, 8), atol=1e-12)


def test_a_simulated_collection_says_how_every_rule_ends():
    name = "one judge's taste turns within 300 of its answers"
    records = pd.DataFrame([stopped_once(STOPS[name] | {"level": 0.95, "most": 250}, np.random.default_rng(3))])
    row = stops_row(records, name)
    assert {f"{what}_{rule}" for what in ("stopped", "wrong") for rule in ("plain", "drift", "like_these")} <= set(
        row
    )
    assert row["comparisons_plain"] <= 250


def test_the_stored_tables_say_what_the_pages_do(stored):
    simulated = stored.table("tastes/simulated.csv")
    nulls, others = simulated[simulated["true_sd"] == 0], simulated[simulated["true_sd"] > 0]
    assert (nulls["rejected"] <= 0.05 + 2 * nulls["rejected_se"]).all()
    assert (simulated["like_these"] >= 0.95 - 3 * simulated["like_these_se"]).all()
    assert (others["plain"] < others["like_these"] - 0.1).all()
    stops = stored.table("tastes/stops.csv").set_index("design")
    tastes = stops.loc["tastes, second and third equal"]
    assert tastes["wrong_like_these"] <= 0.05 + 2 * tastes["wrong_like_these_se"] < tastes["wrong_drift"]
    assert tastes["wrong_panel_drift"] <= 0.05 + 2 * tastes["wrong_panel_drift_se"]
    crowds = stored.table("people/crowds.csv")
    assert (crowds["error/reported"] < 0.8 * crowds["error/alone"]).all()
    assert (crowds["covered/reported"] >= 0.93).all()
