"""The section on trust: simulated panels of known dependence, and what it writes."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from judgerank.model.streams import generator
from replication.config import ROOT
from studies import plots, trusting
from tests.replication.test_sections import run


@pytest.mark.parametrize("name", trusting.PANELS)
def test_every_judge_answers_by_the_model_whatever_the_dependence(name):
    camps, share = trusting.PANELS[name]
    rng, parts = np.random.default_rng(1), []
    for _ in range(40):
        rows, question = trusting.drawn(rng, camps, share)
        d = trusting.SCORES[rows.first] - trusting.SCORES[rows.second]
        p = expit(trusting.DISCRIMINATION[rows.judge] * d)
        residual = (rows.outcome - p) / np.sqrt(p * (1 - p))
        assert len(rows) == trusting.N_JUDGES * trusting.N_QUESTIONS == len(question)
        parts.append(residual.reshape(-1, trusting.N_JUDGES))
    residual = np.concatenate(parts)
    assert np.abs(residual.mean(axis=0)).max() < 4 / np.sqrt(len(residual))
    apart = np.array(camps)[:, None] != np.array(camps)
    r = residual.T @ residual / len(residual)
    assert np.abs(r[apart]).max(initial=0.0) < 4 / np.sqrt(len(residual))
    # two uniform draws are the same with the share's square; discriminations differ, and so do the thresholds
    within = ~apart & ~np.eye(len(camps), dtype=bool)
    assert r[within].mean() == pytest.approx(share**2, abs=0.04 + 0.12 * share**2)


def test_worth_is_the_variance_of_independent_judges_over_theirs():
    rng = np.random.default_rng(2)
    records = {}
    for name, sd in (("independent", 1.0), ("twice", np.sqrt(2.0))):
        values = {
            f"{measure}/{end}": 4.0 for measure in ("information", "kish") for end in ("estimate", "low", "high")
        }
        rows = [{"scores": rng.normal(0, sd, 5).tolist(), **values} for _ in range(2000)]
        records[name] = pd.DataFrame(rows)
    table = trusting.calibration(records, 2001).set_index("panel")
    assert table.loc["independent", "worth"] == trusting.N_JUDGES
    row = table.loc["twice"]
    assert abs(row["worth"] - trusting.N_JUDGES / 2) < 4 * row["worth_se"] < 0.6
    assert (table["failed"] == 1).all()


def test_a_surrogate_run_writes_what_it_should(tmp_path):
    small = ["surrogate=always", "replications=2", "draws=2", "designs=2", "most=1", "members=[judge_aware]"]
    small += ["~datasets.in_house", "~datasets.ultrafeedback", "~datasets.chatbot_arena"]
    done = run("trust", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    tables = {path.stem: pd.read_csv(path) for path in (tmp_path / "results/surrogate/trust").glob("*.csv")}
    assert set(tables) == {"summary", "changes", "judges", "panel", "another", "calibration", "small_sets"}
    assert list(tables["calibration"]["panel"]) == list(trusting.PANELS)
    assert {path.stem for path in (tmp_path / "figures/surrogate/trust").glob("*.png")} == {
        "fragility",
        "effective",
    }


def test_stored_panels_are_worth_what_is_said():
    table = pd.read_csv(ROOT / "results/beyond/trust/calibration.csv")
    off = (table["information"] - table["worth"]).abs()
    assert (off < 3 * np.hypot(table["worth_se"], table["information_se"]) + 0.05 * table["worth"]).all()
    kept = table["panel"] != "one judge eight times"  # which gets no interval
    copies = table["panel"] == "six copies"
    assert (table["information_covered"][kept & ~copies] > 0.85).all()
    assert (table["information_covered"][kept] > 0.75).all()


def test_stored_small_sets_refute_no_bound():
    table = pd.read_csv(ROOT / "results/beyond/trust/small_sets.csv")
    assert table["designs"].sum() > 60
    assert (table["bound_refuted"] == 0).all()
    assert table["single_missed"].sum() <= 1  # stored before every one was left out: the next test has it
    assert (table["smaller"][table["by_steps"] != "1"] > 0).any()


def test_a_single_judgment_whose_forecast_has_the_wrong_sign_is_found():
    record = trusting.searched({"member": "position_aware"}, generator(2026, "trust_search", "small", 6))
    assert record["steps"] == 3 and record["size"] == 1 and record["alone"] == 1


def test_a_missed_single_judgment_and_a_refuted_bound_are_counted():
    records = pd.DataFrame({"steps": [2, 2, 4, None], "size": [2, 1, 3, None], "bound": [1, 1, 4, None]})
    table = trusting.small_sets(records.assign(alone=[1.0, 1.0, 0.0, None])).set_index("by_steps")
    assert list(table.loc["2", ["designs", "smaller", "single_missed"]]) == [2, 0.5, 1]
    assert table.loc["3 to 5", "bound_refuted"] == 1


def test_stored_sets_are_as_small_as_is_known():
    summary = pd.read_csv(ROOT / "results/beyond/trust/summary.csv").set_index(["dataset", "member"])
    assert summary.loc[("chatbot_arena", "judge_aware"), "top_judgments"] == 1
    assert summary.loc[("mt_bench", "judge_aware"), "top_judgments"] <= 6
    changes = pd.read_csv(ROOT / "results/beyond/trust/changes.csv")
    assert (changes["size"].notna() == changes["why"].isna()).all()


def test_the_figures_show_every_set():
    summary, changes = (pd.read_csv(ROOT / f"results/beyond/trust/{name}.csv") for name in ("summary", "changes"))
    left, right = plots.fragility(summary, changes, "t").axes
    assert [text.get_text() for text in left.get_yticklabels()] == list(dict.fromkeys(summary["title"]))
    assert len(right.lines) == 1 + summary["member"].nunique()
    alone, empty = plots.effective(summary, None, "t").axes
    assert len(alone.get_yticklabels()) == len(summary) and not empty.axison
