"""The section on question effects."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judgerank import fit
from judgerank.questions.fit import fit_questions
from replication import panel, plots
from replication.config import ROOT
from replication.dependence import standardised_errors
from tests.study.test_dependence import run


def test_drawn_judgments_have_their_design():
    rng = np.random.default_rng(0)
    for design, (questions, pairs) in panel.DESIGNS.items():
        c, question = panel.drawn(rng, design, 1.0)
        assert len(c) == questions * pairs * panel.JUDGES_EACH and question.max() + 1 == questions
        alone = pd.DataFrame({"q": question, "row": np.arange(len(c)) // panel.JUDGES_EACH, "judge": c.judge})
        assert not alone.duplicated().any()


def test_drawn_outcomes_follow_the_law():
    """Without effects the fit finds the truth, within what its own errors say."""
    parts = [panel.drawn(np.random.default_rng(seed), "many pairs", 0.0)[0] for seed in range(8)]
    frame = pd.concat([part.to_frame() for part in parts])
    found = fit(type(parts[0]).from_frame(frame), panel.MEMBER)
    at = panel.truth()
    true = np.r_[at.scores, np.exp(at.judges[0]), at.judges[1], np.exp(at.judges[2])]
    table = found.confidence_intervals(0.9995)  # 24 parameters: wrong once in 80 times
    assert ((table["low"] <= true) & (true <= table["high"])).all()


def test_a_record_is_what_its_fit_says():
    settings = {"design": "one pair", "question_sd": 1.0, "level": 0.95}
    record = panel.covered(settings, np.random.default_rng(3))
    found = fit_questions(*panel.drawn(np.random.default_rng(3), "one pair", 1.0), panel.MEMBER)
    assert record["sigma"] == found.sigma and record["p"] == found.likelihood_ratio()[1]
    assert record["error/without"] == pytest.approx(standardised_errors(found.without).mean())
    assert record["error/with"] > record["error/without"]


def test_the_first_member_with_a_maximum_is_used():
    found = fit_questions(*panel.drawn(np.random.default_rng(4), "many pairs", 1.0))
    gained = panel.gains(found, ["position_aware_ties"], 3, 1, "x")
    assert gained["gain"] == gained["gain_several"] > 0 and gained["held_out_member"] == "position_aware_ties"
    unshared = np.arange(len(found.comparisons))
    nothing = panel.gains(replace(found, question=unshared), ["position_aware_ties", "btl_ties"], 3, 1, "x")
    assert np.isnan(nothing["gain"]) and nothing["held_out_member"] == ""


def test_draws_agree_with_the_rule():
    found = fit_questions(*panel.drawn(np.random.default_rng(5), "one pair", 1.0))
    value, error = panel.integrals(found, 300, 1, "x")
    assert abs(value - found.log_likelihood) < 4 * error and error < 1


def test_a_surrogate_run_writes_what_it_should(tmp_path):
    small = ["surrogate=always", "replications=2", "question_sd=[1.0]", "folds=2", "draws=5", "members=[btl_ties]"]
    small += ["~datasets.in_house", "~datasets.ultrafeedback"]
    done = run("panel", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results/surrogate/panel"
    tables = {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}
    assert set(tables) == {"summary", "estimates", "coverage"}
    assert list(tables["summary"]["dataset"]) == ["mt_bench", "chatbot_arena"]
    assert list(tables["coverage"]["intervals"]) == ["without", "with", "clustered"] * 2


def test_the_figure_shows_every_set():
    summary = pd.read_csv(ROOT / "results/panel/summary.csv")
    left, right = plots.panel(summary, "t").axes
    assert [text.get_text().split("\n")[0] for text in left.get_yticklabels()] == list(summary["title"][::-1])
    assert sorted(right.lines[0].get_xdata()) == sorted(summary["without_ratio"])
    assert left.get_xlabel() and right.get_xlabel()


def test_stored_coverage_is_better_with_effects():
    table = pd.read_csv(ROOT / "results/panel/coverage.csv").query("question_sd == 1")
    covered = table.pivot(index="design", columns="intervals", values="covered")
    assert (covered["with"] > covered["without"] + 0.05).all() and (covered["with"] > 0.9).all()
