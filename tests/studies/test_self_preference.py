"""Judges of a model's maker, and slots that follow names: simulations, tables, figure, and who is biased."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from judgerank.data.arrays import generator
from replication.config import ROOT
from studies import plots, position_orders
from studies.doc_tables import BLOCKS
from studies.position_orders import standardised_scores, truth_of
from studies.self_preference import PANELS, drawn, of_set, simulated_once, simulated_row
from tests.replication.test_sections import run

QUESTIONS = 40


@pytest.fixture(scope="module")
def row():
    cell = {"panel": "3 judges", "bias": 2.5, "questions": QUESTIONS}
    records = [simulated_once(cell, generator(0, "test of self-preference", number)) for number in range(4)]
    return simulated_row(pd.DataFrame(records), cell)


def test_a_simulated_judge_who_favours_his_maker_decides_only_where_his_votes_count(row):
    assert row["wrong_counted"] == row["wrong_btl"] == 1 and row["wrong_recused"] <= 0.5
    assert row["lead_counted"] < 0 < row["lead_recused"]
    assert row["guilty_accused"] == 1 and row["innocent_accused"] == 0
    assert row["n_replications"] == 4 and np.isfinite(row["lead_recused_se"])


def test_a_panel_of_one_maker_is_warned_of_and_nobody_in_it_accused():
    (panel,) = (name for name, judges in PANELS.items() if set(judges) == {"gpt-4o", "gpt-4.1", "o3"})
    cell = {"panel": panel, "bias": 2.5, "questions": QUESTIONS}
    record = simulated_once(cell, generator(0, "test of self-preference", "one maker"))
    assert record["wrong_recused"] == record["warned"] == 1
    assert record["guilty_accused"] == record["innocent_accused"] == 0


def test_simulated_sets_have_every_pair_in_both_orders_by_every_judge():
    judgments = drawn(generator(0, "test of self-preference", "set"), PANELS["5 judges"], 0.0, 3)
    rows = judgments.frame.groupby(["question_id", "model_a", "model_b", "judge_model"]).size()
    assert len(rows) == 3 * 20 * 5 and (rows == 1).all()
    found = of_set(judgments)
    assert found["left_out"] == found["one_own"] == pytest.approx(2 * 8 / (20 * 5))
    assert found["dependent"] == 0 and found["spearman"] <= 1


class Tables:
    """Stored tables, as the documentation reads them."""

    def __init__(self, **tables):
        self._tables = tables

    def table(self, name):
        return self._tables[name.removeprefix("self_preference/").removesuffix(".csv")]


def test_the_page_and_the_figure_show_every_row(row):
    simulated = pd.DataFrame([row, row])
    sets = pd.DataFrame([of_set(drawn(generator(0, "t"), PANELS["3 judges"], 0.0, 10)) | {"dataset": "mt_bench"}])
    tables = Tables(simulated=simulated, sets=sets)
    assert BLOCKS["own maker"](tables).count("MT-Bench") == 1
    assert BLOCKS["own maker simulated"](tables).count("3 judges") == 2
    figure = plots.self_preference(simulated, "t")
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["3 judges, bias 2.5"] * 2
    page = (ROOT / "docs/beyond/self_preference.md").read_text()
    assert "<!-- own maker: written by make audit -->" in page


# Position bias with slots that follow names: the design, and who is biased.


PANEL = {"seed": 1, "n_models": 5, "n_judges": 3, "sigma_scores": 1.0, "sigma_discrimination": 0.3}
PANEL |= {"mean_position": 1.0, "sigma_position": 0.5, "n_comparisons": 20_000}


def test_slots_follow_names_or_not():
    named, random = (
        position_orders.drawn(PANEL | {"order": order}, generator(2)) for order in ("names", "random")
    )
    assert (named.first < named.second).all()
    share = (random.count * (random.first < random.second)).sum() / random.n_comparisons
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(20_000)


def test_outcomes_are_those_of_the_truth():
    truth = truth_of(PANEL)
    for order in ("names", "random"):
        cells = position_orders.drawn(PANEL | {"order": order}, generator(2))
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


@pytest.mark.slow
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
