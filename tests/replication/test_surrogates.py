"""Stand-ins for data: the published size, parameters from where they are said to come, reproducible."""

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf

from judgerank import fit
from judgerank.data.errors import DataUnavailableError
from replication import published, surrogates
from replication.schemas.dataset import Dataset
from replication.surrogates import AT_ZERO_IN_HOUSE, STORED, printed_panel, surrogate_judgments
from tests.replication.test_config import composed


@pytest.mark.parametrize("name", ["chatbot_arena", "mt_bench", "ultrafeedback"])
def test_surrogates_have_the_published_size_and_the_stored_parameters(name):
    wanted = Dataset(name, name, "", None, None, 10_000)
    first, again = (surrogate_judgments(wanted, 2026) for _ in range(2))
    assert np.array_equal(first.comparisons.outcome, again.comparisons.outcome)
    other = surrogate_judgments(wanted, 2027)
    assert not np.array_equal(first.comparisons.outcome, other.comparisons.outcome)
    assert len(first.comparisons) == 10_000
    assert "surrogate" in first.title
    file = "chatbot_arena/ranking" if name == "chatbot_arena" else f"benchmark_alignment/{name}"
    truth = pd.read_csv(STORED / f"{file}.csv").set_index("model")["score_judge_aware"]
    # BTL's scale differs, the order of well separated models does not
    assert np.corrcoef(fit(first.comparisons, "btl").scores[truth.index], truth)[0, 1] > 0.97


def test_a_surrogate_without_a_stored_fit_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(surrogates, "STORED", tmp_path)
    with pytest.raises(DataUnavailableError, match="no surrogate of mt_bench"):
        surrogate_judgments(Dataset("mt_bench", "MT-Bench", "", None, None, 10), 1)


def test_a_surrogate_without_a_size_is_refused():
    with pytest.raises(DataUnavailableError, match="`records` is not set"):
        surrogate_judgments(Dataset("mt_bench", "MT-Bench", "", None, None), 1)


@pytest.fixture(scope="module")
def in_house():
    return surrogate_judgments(OmegaConf.to_object(composed("complete_ranking").dataset), 2026)


def test_the_in_house_stand_in_has_the_published_size(in_house):
    c = in_house.comparisons
    assert (len(c.models), len(c.judges), len(c)) == (45, 18, 36_000)
    assert set(c.models) == set(published.table("complete_ranking").index)
    assert np.mean(c.outcome == 0.5) == pytest.approx(0.1, abs=0.005)
    assert in_house.frame["question_id"].nunique() == 2000
    assert in_house.is_surrogate
    assert "surrogate" in in_house.title


def test_its_pairs_and_its_order_of_presentation_are_random(in_house):
    c = in_house.comparisons
    assert np.mean(c.first < c.second) == pytest.approx(0.5, abs=0.01)
    counts = np.bincount(np.minimum(c.first, c.second) * 45 + np.maximum(c.first, c.second))
    counts = counts[counts > 0]
    assert len(counts) == 990
    assert counts.var() / counts.mean() == pytest.approx(1.0, abs=0.15)  # Poisson, nearly


def test_the_other_stand_ins_show_the_alphabetically_smaller_model_first():
    c = surrogate_judgments(OmegaConf.to_object(composed("complete_ranking", "dataset=mt_bench").dataset), 1)
    assert np.all(c.comparisons.first < c.comparisons.second)


def test_scores_and_discriminations_come_from_the_printed_tables():
    panel = printed_panel()
    printed = published.numbers("complete_ranking", "score_judge_aware")
    assert np.allclose(panel.scores, printed - printed.mean())
    pool = published.numbers("mixed_judges", "discrimination")
    elsewhere = published.numbers("judge_discrimination", "ultrafeedback")
    others = panel.discrimination.index.difference(pool.index).drop(AT_ZERO_IN_HOUSE)
    assert len(others) == 9
    assert np.ptp(np.log(panel.discrimination[pool.index] / pool)) < 1e-12
    assert np.ptp(np.log(panel.discrimination[others] / elsewhere[others])) < 1e-12
    assert panel.discrimination[AT_ZERO_IN_HOUSE] == 0.0
    above = panel.discrimination.drop(AT_ZERO_IN_HOUSE)
    assert np.log(above).mean() == pytest.approx(0.0, abs=1e-12)


def test_the_slopes_drawn_are_found_again(in_house):
    truth = in_house.truth.pivot(index="name", columns="parameter", values="value")["slope"].dropna()
    found = fit(in_house.with_lengths(), "length")
    rows = found.confidence_intervals().query("parameter == 'slope'").set_index("name").dropna()
    error = (rows["high"] - rows["estimate"]) / 1.96
    standardised = (rows["estimate"] - truth[rows.index]) / error
    assert len(rows) == 16
    assert standardised.abs().max() < 3.5
    assert np.count_nonzero(truth) == 6


def test_a_stand_in_is_the_same_each_time_and_another_for_another_seed(in_house):
    wanted = OmegaConf.to_object(composed("complete_ranking").dataset)
    again, other = surrogate_judgments(wanted, 2026), surrogate_judgments(wanted, 7)
    assert again.frame.equals(in_house.frame)
    assert not other.frame.equals(in_house.frame)


def test_lengths_do_not_change_what_is_asked_of_whom():
    wanted = OmegaConf.to_object(composed("complete_ranking", "dataset=mt_bench").dataset)
    longer = OmegaConf.to_object(
        composed("complete_ranking", "dataset=mt_bench", "dataset.stand_in.log_length_mean=7").dataset
    )
    one, other = (surrogate_judgments(dataset, 3) for dataset in (wanted, longer))
    assert np.array_equal(one.comparisons.first, other.comparisons.first)
    assert np.array_equal(one.comparisons.outcome, other.comparisons.outcome)
    assert other.lengths.median() > 3 * one.lengths.median()
