"""The section on question effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judgerank import Comparisons, fit
from judgerank.data.judgments import Judgments
from replication.auditing.results import Results
from replication.config import ROOT
from replication.datasets import find_file, read_records
from studies import panel, panel_blocks, plots
from studies.dependence import standardised_errors
from studies.tastes import EQUAL, STOPS, drawn, held_once, held_row, panel_scores, stopped_once, stops_row
from tests.drawn import name_of
from tests.real_data import FILES, needs_data
from tests.studies.test_dependence import run


def with_effects(seed, design):
    comparisons, question = panel.drawn(np.random.default_rng(seed), design, 1.0)
    return fit(comparisons, panel.MEMBER, questions="effects", question=question)


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
    found = with_effects(3, "one pair")
    assert record["sigma"] == found.sigma and record["p"] == found.likelihood_ratio()[1]
    assert record["error/without"] == pytest.approx(standardised_errors(found.without).mean())
    assert record["error/with"] > record["error/without"]


def test_the_first_member_with_a_maximum_is_used():
    found = with_effects(4, "many pairs")
    gained = panel.gains(found, ["position_aware_ties"], 3, 1, "x")
    assert gained["gain"] == gained["gain_several"] > 0 and gained["held_out_member"] == "position_aware_ties"
    unshared = np.arange(len(found.comparisons))
    nothing = panel.gains(replace(found, question=unshared), ["position_aware_ties", "btl_ties"], 3, 1, "x")
    assert np.isnan(nothing["gain"]) and nothing["held_out_member"] == ""


def test_draws_agree_with_the_rule():
    found = with_effects(5, "one pair")
    value, error = panel.integrals(found, 300, 1, "x")
    assert abs(value - found.log_likelihood) < 4 * error and error < 1


LAST_WORD = """
from judgerank.model.block import Block, Design, Role, indicator

def block():
    def design(records):
        c = records.comparisons
        last = [name == c.models[-1] for name in c.models]
        values = 1.0 * (c.judge % 2 == 0) * [last[i] - last[j] for i, j in zip(c.first, c.second)]
        return Design(indicator(len(c), (0 * c.judge, values), width=1), ("every other judge",))
    return Block("last_word", Role.OFFSET, design)
"""


def test_a_surrogate_run_writes_what_it_should(tmp_path):
    """With a block of its own: one file, and its name in the configuration."""
    (tmp_path / "last_word.py").write_text(LAST_WORD)
    small = ["surrogate=always", "replications=2", "question_sd=[1.0]", "folds=2", "draws=5", "members=[btl_ties]"]
    small += ["~datasets.in_house", "~datasets.ultrafeedback", "block_replications=2"]
    small += [f"blocks=[family,category,{tmp_path}/last_word.py]"]
    done = run("panel", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results/surrogate/panel"
    tables = {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}
    assert set(tables) == {"summary", "estimates", "coverage", "blocks", "block_estimates", "block_coverage"}
    blocks = tables["blocks"].set_index(["dataset", "block"])
    assert len(blocks) == 6 and blocks["gain"].notna().sum() == 4
    assert blocks["remark"].str.contains("needs a column 'category'").sum() == 2  # which a surrogate does not have
    estimates = tables["block_estimates"].set_index(["dataset", "block"])
    assert estimates.loc[("mt_bench", "last_word"), "parameter"] == "every other judge"
    assert list(tables["block_coverage"]["size"]) == [0.0, 0.3, 0.0, 0.4, 0.0, 0.4]
    assert list(tables["summary"]["dataset"]) == ["mt_bench", "chatbot_arena"]
    assert list(tables["coverage"]["intervals"]) == ["without", "with", "clustered"] * 2


def test_the_figure_shows_every_set():
    summary = pd.read_csv(ROOT / "results/beyond/panel/summary.csv")
    left, right = plots.panel(summary, "t").axes
    assert [text.get_text().split("\n")[0] for text in left.get_yticklabels()] == list(summary["title"][::-1])
    assert sorted(right.lines[0].get_xdata()) == sorted(summary["without_ratio"])
    assert left.get_xlabel() and right.get_xlabel()


def test_stored_coverage_is_better_with_effects():
    table = pd.read_csv(ROOT / "results/beyond/panel/coverage.csv").query("question_sd == 1")
    covered = table.pivot(index="design", columns="intervals", values="covered")
    assert (covered["with"] > covered["without"] + 0.05).all() and (covered["with"] > 0.9).all()


def mt_bench() -> Judgments:
    frame = read_records(find_file(FILES["mt_bench"]).read_bytes())
    return Judgments("mt_bench", "MT-Bench", frame, Comparisons.from_frame(frame), {})


@needs_data
def test_records_get_categories_and_lengths_where_these_are_at_hand():
    records = panel_blocks.records_of(mt_bench(), "mt_bench_question.jsonl", "mt_bench_answer_lengths.csv")
    assert len(records.frame) == len(records.comparisons) == 9706
    assert records.frame["category"].nunique() == 8 and records.frame["category"].notna().all()
    counts = pd.read_csv(find_file("mt_bench_answer_lengths.csv"), dtype={"question_id": str})
    row = records.frame.iloc[17]
    mine = counts.set_index(["question_id", "model"]).loc[(row["question_id"], row["model_b"])]
    assert row["characters_b"] == pytest.approx(np.log1p(mine["characters_turn_1"] + mine["characters_turn_2"]))
    bare = panel_blocks.records_of(mt_bench(), None, None)
    assert "category" not in bare.frame and "characters_a" not in bare.frame


@needs_data
def test_categories_of_mt_bench_hang_on_its_questions():
    """The test by comparisons is sure of categories; questions left out do not know of them."""
    table = (
        pd.read_csv(ROOT / "results/beyond/panel/blocks.csv")
        .set_index(["dataset", "block"])
        .loc[("mt_bench", "category")]
    )
    records = panel_blocks.records_of(mt_bench(), "mt_bench_question.jsonl", None)
    result = fit(records, table["member"], blocks=["category"])
    assert 2 * (result.marginal_log_likelihood - result.without.log_likelihood) == pytest.approx(
        table["twice_gain"], abs=1e-3
    )
    assert result.spread["category"] / result.scores.std(ddof=0) == pytest.approx(table["spread"], rel=1e-3)
    assert table["p"] < 1e-10 and table["gain"] < 2 * table["gain_se"]


def test_a_simulated_block_is_there_and_not():
    rng = np.random.default_rng(1)
    records, scores = panel_blocks.drawn(rng, "family", 5.0, 0.0)
    c = records.comparisons
    own = c.judge == c.first
    assert scores.sum() == pytest.approx(0) and c.outcome[own].mean() > 0.9
    settings = {"block": "style:length", "size": 0.3, "question_sd": 0.0, "level": 0.95}
    record = panel_blocks.block_tested(settings, np.random.default_rng(2))
    records = panel_blocks.drawn(np.random.default_rng(2), "style:length", 0.3, 0.0)[0]
    result = fit(records, "position_aware", blocks=["style:length"])
    assert (
        record["estimate"] == result.parameters("style")["length"] and record["p"] == result.test("style").p_value
    )


def test_stored_tests_by_question_keep_their_level():
    table = pd.read_csv(ROOT / "results/beyond/panel/block_coverage.csv").query("size == 0")
    known = table[table["rejected_by_question"].notna()]
    assert (known["rejected_by_question"] < 0.05 + 3 * np.sqrt(0.05 * 0.95 / known["n_replications"])).all()
    assert (table.query("block == 'category' and question_sd == 1")["rejected"] > 0.1).all()  # told in the docs


def test_figures_of_blocks_show_what_is_stored():
    rows = pd.read_csv(ROOT / "results/beyond/panel/blocks.csv")
    left, right = plots.blocks(rows, pd.read_csv(ROOT / "results/beyond/panel/block_coverage.csv"), "t").axes
    assert len(left.get_yticklabels()) == rows["gain"].notna().sum()
    assert [text.get_text() for text in right.get_yticklabels()] == ["style:length", "category", "family"]
    within = pd.read_csv(ROOT / "results/beyond/panel/categories.csv")
    shown = [axes for axes in plots.categories(within, "t").axes if axes.get_visible()]
    assert [axes.get_title().split("\n")[0] for axes in shown] == sorted(set(within["category"]))


# The section on judges' tastes: what its parts return, and what its stored tables say.


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
    (name,) = (name for name, stop in STOPS.items() if stop.get("turns") == (1.5, 300))
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
    tastes = stops.loc[name_of(STOPS, {"scores": EQUAL, "sd": 0.5})]
    assert tastes["wrong_like_these"] <= 0.05 + 2 * tastes["wrong_like_these_se"] < tastes["wrong_drift"]
    assert tastes["wrong_panel_drift"] <= 0.05 + 2 * tastes["wrong_panel_drift_se"]
    crowds = stored.table("people/crowds.csv")
    assert (crowds["error/reported"] < 0.8 * crowds["error/alone"]).all()
    assert (crowds["covered/reported"] >= 0.93).all()
