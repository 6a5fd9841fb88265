"""Questions as clusters: resamples, data with question effects, what intervals then hold, and their section."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import spearmanr

from judgerank import Comparisons, fit
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.inference.wald import normal_quantile
from judgerank.model.members import Parameters
from judgerank.order.scale import standardised
from replication.auditing.results import Results
from replication.config import ROOT
from replication.datasets import find_file, read_records
from studies import panel, panel_blocks, plots, tastes
from studies.dependence import (
    QuestionData,
    agreements,
    bootstrap,
    calibrated,
    drawn,
    few_draws,
    limit,
    resampled,
    standardised_errors,
)
from studies.tastes import EQUAL, STOPS, held_once, held_row, panel_scores, stopped_once, stops_row
from tests.drawn import name_of
from tests.real_data import FILES, needs_data
from tests.replication.test_sections import run, tree

SCORES, GAMMA = np.array([1.0, 0.3, -0.4, -0.9]), np.array([0.6, 1.0, 1.7])
N, K, QUESTIONS = len(SCORES), len(GAMMA), 60


@pytest.fixture(scope="module")
def asked(simulated) -> QuestionData:
    raw = simulated(91, SCORES, GAMMA, 3000)
    truth = Parameters(SCORES, np.log(GAMMA)[None, :])
    return QuestionData(raw, np.random.default_rng(3).integers(QUESTIONS, size=3000), "judge_aware", truth)


def test_a_resample_takes_questions_whole(asked):
    again = resampled(np.random.default_rng(0), asked.comparisons, asked.question)
    drawn_questions = np.random.default_rng(0).integers(QUESTIONS, size=QUESTIONS)
    weight = np.bincount(drawn_questions, minlength=QUESTIONS)[asked.question]
    assert again.n_comparisons == weight.sum()
    copies = asked.comparisons.take(np.repeat(np.arange(len(weight)), weight))
    assert_allclose(fit(again).scores, fit(copies).scores, atol=1e-9)


@pytest.mark.parametrize("member", ["judge_aware", "position_aware"])
def test_a_resample_has_the_maximum_of_a_full_search_wherever_its_climb_begins(asked, member):
    """Also with a judge at zero, whom some resamples take back."""
    noise = np.random.default_rng(8).random(len(asked.comparisons)) < 0.5
    c = asked.comparisons
    data = replace(c, outcome=np.where(c.judge == 0, noise, c.outcome))
    whole = fit(data, member)
    zeros = set()
    for number in range(8):
        again = resampled(generator(4, number), data, asked.question)
        found, searched = fit(again, member, start=whole.solution.parameters), fit(again, member)
        assert found.log_likelihood == pytest.approx(searched.log_likelihood, rel=1e-11)
        assert_allclose(found.scores, searched.scores, atol=1e-6)
        zeros.add(found.judges_at_zero)
    assert len(zeros) == 2


def test_only_climbs_take_a_start(asked):
    with pytest.raises(ConfigError, match=r"penalised\b.*\bstart"):
        fit(asked.comparisons, solver="penalised", start=asked.truth)


def test_few_draws_hold_their_level():
    rng = np.random.default_rng(2)
    size, level = 5, 0.9
    statistic, draws = rng.normal(0, 2, 40_000), rng.normal(0, 2, (size, 40_000))
    error, quantile = few_draws(draws, level)
    assert error.mean() == pytest.approx(2, rel=0.01)
    held = np.mean(np.abs(statistic) <= quantile * error)
    assert abs(held - level) < 3 * np.sqrt(level * (1 - level) / 40_000)
    assert np.mean(np.abs(statistic) <= normal_quantile(level) * error) < level - 0.03


def made_up(size: int) -> Judgments:
    rng = generator(11, "agreements")
    first, judge = rng.integers(5, size=size), rng.integers(2, size=size)
    second = (first + rng.integers(1, 5, size=size)) % 5
    lead = 0.15 * (second - first) * np.where(judge == 0, 2.0, 0.3)
    columns = {"model_a": first, "model_b": second, "judge_model": judge}
    frame = pd.DataFrame({name: [f"{name[0]}{code}" for code in codes] for name, codes in columns.items()})
    frame["judge_preferred_model"] = np.where(rng.random(size) < expit(lead), "a", "b")
    frame["question_id"] = rng.integers(40, size=size)
    return Judgments("made_up", "Made up", frame, Comparisons.from_frame(frame), {})


def test_members_agree_with_a_reference_on_the_same_resamples():
    judgments = made_up(150)
    reference = pd.Series([4.0, 3.0, 1.0, 0.0], ["m0", "m1", "m3", "m4"])
    fits = {"one": fit(judgments.comparisons), "same": fit(judgments.comparisons)}
    fits["btl"] = fit(judgments.comparisons, "btl")
    found = agreements(3, 12, judgments, fits, reference)
    assert found["one"].equals(found["same"])
    again = resampled(generator(3, "agreements", "made_up", 5), judgments.comparisons, judgments.question)
    for name in ("one", "btl"):
        scores = fit(again, fits[name].model.name).scores[reference.index]
        assert found.loc[5, name] == pytest.approx(spearmanr(scores, reference).statistic)
    assert found["one"].std() > 0
    assert agreements(3, 4, judgments, fits, reference).equals(found[:4])


def test_the_bootstrap_and_the_sandwich_agree(asked):
    data = drawn(np.random.default_rng(5), asked, 0.8)
    resamples = [
        bootstrap({}, generator(1, "bootstrap", number), replace(asked, comparisons=data))["scores"]
        for number in range(200)
    ]
    clustered = standardised_errors(fit(data).clustered(data, asked.question))
    # 200 resamples know a standard deviation to five per cent; three of those
    assert_allclose(np.std(resamples, axis=0), clustered, rtol=0.2)
    assert clustered.mean() > 1.3 * standardised_errors(fit(data)).mean()


def test_standardised_errors_are_the_delta_method_by_differences(asked):
    fitted = fit(asked.comparisons)
    s, v = fitted.scores.to_numpy(), fitted.covariance[:N, :N]
    jacobian = np.empty((N, N))
    for column, step in enumerate(np.eye(N) * 1e-6):
        sides = [(s + way) / np.sqrt(np.mean((s + way - (s + way).mean()) ** 2)) for way in (step, -step)]
        jacobian[:, column] = (sides[0] - sides[1]) / 2e-6
    centre = np.eye(N) - 1 / N
    assert_allclose(standardised(s, v)[1], centre @ jacobian @ v @ jacobian.T @ centre, atol=1e-9)
    assert_allclose(standardised(s, v)[0], s / s.std())


def test_question_effects_are_shared_by_the_judges_and_have_the_spread_asked_for(asked):
    """With gamma alike and large, outcomes show the order of the two answers: judges agree within a question."""
    truth = Parameters(np.zeros(N), np.full((1, K), 5.0))
    data = drawn(np.random.default_rng(1), replace(asked, truth=truth), 1.0)
    frame = pd.DataFrame({"question": asked.question, "first": data.first, "second": data.second})
    turned = data.first > data.second
    frame["pair"] = np.minimum(data.first, data.second) * N + np.maximum(data.first, data.second)
    frame["won"] = np.where(turned, 1 - data.outcome, data.outcome)
    means = frame.groupby(["question", "pair"])["won"].mean()
    assert ((means < 0.05) | (means > 0.95)).mean() > 0.9
    assert abs(frame["won"].mean() - 0.5) < 0.1
    alike = drawn(np.random.default_rng(1), replace(asked, truth=truth), 0.0)
    assert abs(alike.outcome.mean() - 0.5) < 0.05


def test_the_limit_is_the_truth_without_effects_and_flatter_with_them(asked):
    none, some = (limit(asked, sd) for sd in (0.0, 1.0))
    expected = SCORES - SCORES.mean()
    assert_allclose(none.scores, expected * np.exp(np.log(GAMMA).mean()), atol=1e-8)
    assert some.scores.std() < 0.95 * none.scores.std()
    rng = np.random.default_rng(0)
    effect = rng.normal(0, 1.0, (200_000, 2))
    by_hand = expit(GAMMA[2] * (SCORES[0] - SCORES[1] + effect[:, 0] - effect[:, 1])).mean()
    pair = Comparisons(("m0", "m1"), ("j",), [0], [1], [0], [0.5])
    one = replace(
        asked, comparisons=pair, question=np.array([0]), truth=Parameters(SCORES[:2], np.log(GAMMA[2:])[None])
    )
    found = limit(one, 1.0).scores
    assert_allclose(expit(found["m0"] - found["m1"]), by_hand, atol=3e-3)


def test_plug_in_errors_fall_short_where_questions_matter_and_clustered_ones_do_not(asked):
    held = {}
    for sd in (0.0, 0.8):
        scores = limit(asked, sd).scores
        settings = {
            "question_sd": sd,
            "level": 0.9,
            "bootstraps": 0,
            "limit": (scores / scores.std(ddof=0)).tolist(),
        }
        records = pd.DataFrame(calibrated(settings, generator(2, "data", r), asked) for r in range(80))
        held[sd] = records
        assert (records["status"] == "interior").all()
    se = np.sqrt(0.9 * 0.1 / 80)
    assert abs(held[0.0]["covered/plug_in"].mean() - 0.9) < 3 * se
    assert held[0.8]["covered/plug_in"].mean() < 0.9 - 4 * se
    assert abs(held[0.8]["covered/clustered"].mean() - 0.9) < 3 * se
    assert held[0.8]["error/clustered"].mean() > 1.3 * held[0.8]["error/plug_in"].mean()
    assert held[0.8]["ranks_held/clustered"].mean() >= 0.9
    assert held[0.8]["separated/clustered"].mean() <= held[0.8]["separated/plug_in"].mean()


def test_an_interval_that_misses_is_counted_as_missing(asked):
    settings = {"question_sd": 0.0, "level": 0.95, "bootstraps": 2, "limit": [3.0, -3.0, 3.0, -3.0]}
    record = calibrated(settings, generator(2, "data"), asked)
    assert record["covered/plug_in"] == 0
    assert record["ranks_held/plug_in"] == 0
    assert record["wrongly_separated/plug_in"] == 1


# the section


def test_a_surrogate_run_writes_what_it_should(tmp_path):
    small = ["dataset=mt_bench", "surrogate=always", "replications=2", "bootstraps=5", "inner_bootstraps=2"]
    done = run("uncertainty", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results/surrogate/uncertainty/mt_bench"
    tables = {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}
    assert set(tables) == {"summary", "errors", "ranks", "pairs", "calibration"}
    row = tables["errors"].iloc[0]
    assert row["high_clustered"] - row["score"] == pytest.approx(
        normal_quantile(0.95) * row["clustered"], rel=1e-6
    )
    assert set(tables["errors"]["member"]) == {"judge_aware", "position_aware"}
    assert tables["summary"]["resamples_lost"].eq(0).all()


@needs_data
def test_stored_ratios_come_out_again(tmp_path):
    small = ["dataset=mt_bench", "surrogate=never", "replications=0", "bootstraps=5"]
    done = run("uncertainty", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    place = "uncertainty/mt_bench"
    again, stored = (tree(base / "results/beyond" / place) for base in (tmp_path, ROOT))
    assert again["ranks.csv"] == stored["ranks.csv"]
    assert again["pairs.csv"] == stored["pairs.csv"]
    summary = pd.read_csv(ROOT / "results/beyond" / place / "summary.csv").set_index("member")
    # eighty questions behind ten thousand comparisons: errors are twice what they seem
    assert (summary["clustered_ratio"] > 1.8).all()
    assert (summary["bootstrap_ratio"] / summary["clustered_ratio"]).between(0.85, 1.15).all()


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


def test_a_surrogate_run_on_question_effects_writes_what_it_should(tmp_path):
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
    _, thought = tastes.drawn(np.random.default_rng(1), 4, 0.0, 10)
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
