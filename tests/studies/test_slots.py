"""Position bias with slots that follow names: the design, and who is biased."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from judgerank.model.streams import generator
from replication.config import ROOT
from studies.position_orders import drawn, standardised_scores, truth_of
from tests.replication.test_sections import run

PANEL = {"seed": 1, "n_models": 5, "n_judges": 3, "sigma_scores": 1.0, "sigma_discrimination": 0.3}
PANEL |= {"mean_position": 1.0, "sigma_position": 0.5, "n_comparisons": 20_000}


def test_slots_follow_names_or_not():
    named, random = (drawn(PANEL | {"order": order}, generator(2)) for order in ("names", "random"))
    assert (named.first < named.second).all()
    share = (random.count * (random.first < random.second)).sum() / random.n_comparisons
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(20_000)


def test_outcomes_are_those_of_the_truth():
    truth = truth_of(PANEL)
    for order in ("names", "random"):
        cells = drawn(PANEL | {"order": order}, generator(2))
        d = truth.scores[cells.first] - truth.scores[cells.second]
        p = expit(np.exp(truth.judges[0])[cells.judge] * d + truth.judges[1][cells.judge])
        z = (cells.outcome - p) * np.sqrt(cells.count / (p * (1 - p)))
        assert np.abs(z).max() < 4.5
        assert abs(np.mean(z**2) - 1) < 6 * np.sqrt(2 / len(z))


def test_scores_are_standardised_and_a_fit_without_a_maximum_is_told():
    record = standardised_scores(PANEL | {"order": "random", "members": ["btl", "position_aware"]}, generator(3))
    for member in ("btl", "position_aware"):
        assert_allclose([np.mean(record[member]), np.std(record[member])], [0, 1], atol=1e-12)
        assert record[f"status/{member}"] == "interior"
    few = PANEL | {"order": "names", "n_comparisons": 4, "members": ["btl"]}
    assert standardised_scores(few, generator(3))["status/btl"] in {
        "NoMaximumError",
        "DisconnectedError",
        "DataError",
    }


def test_the_section_says_who_is_biased(tmp_path):
    small = ["n_comparisons=[4000]", "replications=10", "n_models=5", f"cache={tmp_path / 'cache'}"]
    done = run("slot_bias", tmp_path, *small, "parallel=sequential")
    assert done.returncode == 0, done.stderr
    summary = pd.read_csv(tmp_path / "results/beyond/slot_bias/summary.csv").set_index(["order", "member"])
    assert (
        summary.at[("names", "judge_aware"), "rms_bias"] > 4 * summary.at[("names", "position_aware"), "rms_bias"]
    )
    assert (summary["n_replications"] == 10).all()
    assert (tmp_path / "figures/beyond/slot_bias/bias.png").exists()


@pytest.mark.parametrize("order", ["names", "random"])
def test_the_stored_bias_of_the_position_aware_member_falls_to_the_noise(order):
    summary = pd.read_csv(ROOT / "results/beyond/slot_bias/summary.csv")
    lines = summary[summary["order"] == order].set_index(["member", "n_comparisons"]).sort_index()
    ours = lines.loc["position_aware"]
    assert ours["rms_bias"].iloc[-1] < 2 * ours["rms_noise"].iloc[-1]
    if order == "names":
        for member in ("btl", "judge_aware"):
            assert lines.loc[member]["rms_bias"].iloc[-1] > 0.8 * lines.loc[member]["rms_bias"].iloc[0]
            assert lines.loc[member]["rms_bias"].iloc[-1] > 20 * lines.loc[member]["rms_noise"].iloc[-1]
