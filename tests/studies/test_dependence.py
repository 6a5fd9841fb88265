"""Questions as clusters: resamples, data with question effects, and what intervals then hold."""

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
from replication.config import ROOT
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
from tests.real_data import needs_data
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
