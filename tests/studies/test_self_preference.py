"""The section on judges of a model's maker: its simulations, its tables, its figure."""

import numpy as np
import pandas as pd
import pytest

from judgerank.model.streams import generator
from replication.config import ROOT
from studies import plots
from studies.doc_tables import BLOCKS
from studies.self_preference import PANELS, drawn, of_set, simulated_once, simulated_row

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
