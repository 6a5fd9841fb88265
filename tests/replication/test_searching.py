"""Searches: nearest first, every choice tried, samples as the generators draw them."""

import random

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import Comparisons, fit
from judgerank.engine.adam import Adam
from replication import published
from replication.datasets import load_judgments
from replication.setting_searches import (
    AVERAGES,
    DRAWS,
    against_table_2,
    attempts,
    drawn,
    exchanged,
    reduction_search,
    sample_search,
    samples,
    stops,
    turned,
    width_search,
)
from tests.real_data import needs_in_house
from tests.replication.test_config import composed


def test_attempts_are_nearest_first_what_is_reproduced_before_all():
    found = attempts("item", "0.2", [({"n": 1}, 0.26), ({"n": 2}, 0.151), ({"n": 3}, 0.1499), ({"n": 4}, 0.21)])
    assert found["n"].tolist() == [4, 2, 3, 1]
    assert found["reproduced"].tolist() == [True, True, False, False]
    assert found["difference"][0] == pytest.approx(0.01)


@pytest.mark.parametrize("kind", DRAWS)
def test_draws_are_without_replacement_and_of_their_seed(kind):
    one, again, other = (drawn(kind, seed, 50, 20) for seed in (1, 1, 2))
    assert len(set(one.tolist())) == 20
    assert set(one.tolist()) <= set(range(50))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_pythons_sample_is_the_one_of_its_own_documentation():
    random.seed(42)
    assert drawn("random.sample", 42, 100, 10).tolist() == random.sample(range(100), 10)


RECORDS = pd.DataFrame(
    [(f"q{n}", "xyz"[n % 3], "xyz"[(n + 1) % 3], "jk"[n // 4 % 2], "abc?ab"[n % 6]) for n in range(240)],
    columns=["question_id", "model_a", "model_b", "judge_model", "judge_preferred_model"],
).replace({"?": "unknown"})


def test_samples_are_of_the_records_asked_for():
    c = Comparisons.from_frame(RECORDS)
    judges, parsed, no_ties, everyone = composed("unstated_settings").sizes
    sizes = {judges: [60], parsed: [60], no_ties: [60], everyone: [100]}
    tried = list(samples(RECORDS, c, ["j"], sizes, [1]))
    assert len(tried) == len(DRAWS) * 4
    for setting, part in tried:
        assert part.judges == ("j",)
        exact = setting["drawn_from"] in (parsed, no_ties)
        assert (len(part) == 60) if exact else len(part) < setting["size"]
        assert (0.5 in part.outcome) == (setting["drawn_from"] != no_ties)


def test_a_sample_is_found_again(simulated):
    c = simulated(5, np.linspace(1, -1, 6), [1.5, 1.0, 0.5], 3000)
    reference = fit(c).scores
    parts = {n: c.take(drawn("random.sample", n, len(c), 300)) for n in range(5)}
    scores = fit(parts[3], "btl").scores
    printed = {
        "pearson": f"{np.corrcoef(scores, reference)[0, 1]:.4f}",
        "spearman": f"{scores.corr(reference, method='spearman'):.4f}",
    }
    found = sample_search((({"seed": n}, part) for n, part in parts.items()), reference, printed)
    assert found.loc[0, ["seed", "reproduced"]].tolist() == [3, 2]
    assert found["reproduced"].is_monotonic_decreasing


def test_stops_are_where_the_algorithm_is_stopped(simulated):
    c = simulated(5, np.linspace(1, -1, 6), [1.5, 1.0, 0.5], 3000)
    found = dict(stops(c, Adam(max_iterations=40), [10, 40]))
    assert list(found) == [10, 40]
    for many, fitted in found.items():
        same = fit(c, "judge_aware", Adam(max_iterations=many))
        assert np.array_equal(fitted.scores, same.scores)


def test_comparisons_told_of_the_other_way_round_are_the_same(simulated):
    c = simulated(5, np.linspace(1, -1, 6), [1.5, 1.0, 0.5], 3000, ties=0.1)
    other = turned(c, np.random.default_rng(0))
    assert 1000 < (other.first != c.first).sum() < 2000
    assert_allclose(fit(other).scores, fit(c).scores, atol=1e-9)
    assert np.array_equal(other.judge, c.judge)


def test_neighbours_that_exchange_places_are_found(cells_of):
    before = fit(cells_of(("a", "b", "j", 11, 10), ("b", "c", "j", 20, 9), ("a", "c", "j", 20, 9)), "btl")
    after = fit(cells_of(("a", "b", "j", 10, 11), ("b", "c", "j", 20, 9), ("a", "c", "j", 20, 9)), "btl")
    (pair,) = exchanged(before, after, 0.95)
    assert (pair["model_1"], pair["model_2"], pair["rank_1"]) == ("a", "b", 1)
    assert pair["difference_before"] > 0 > pair["difference_after"]
    assert exchanged(before, before, 0.95) == []


def test_words_are_told_apart_by_what_they_give(simulated):
    c = simulated(7, np.linspace(1, -1, 6), [2.0, 1.0, 0.3], 4000)
    fits = {("all", "half", model): fit(c, model) for model in ("judge_aware", "btl")}
    widths = width_search(fits, 0.95)
    assert set(widths["average"]) == set(AVERAGES)
    found = reduction_search({"in_house": fits}, 0.95).set_index("meaning")["value"] / 100
    less, more = sorted(found.index[found.index.str.endswith(", means")])  # over the width of either model
    assert (1 - found[less]) * (1 + found[more]) == pytest.approx(1)


@needs_in_house
def test_the_sample_and_the_stop_behind_table_2():
    cfg = composed("unstated_settings")
    judgments = load_judgments(cfg.datasets.in_house)
    judges = published.table("mixed_judges").index.tolist()
    _, parsed, *_ = cfg.sizes
    tried = samples(judgments.frame, judgments.comparisons, judges, {parsed: [2000]}, [42])
    (part,) = (part for setting, part in tried if setting["generator"] == "random.sample")
    reference = fit(judgments.comparisons).scores
    settings = Adam(epsilon=1e-8, tolerance=0.0, max_iterations=10_000)
    ((_, stopped),) = stops(part, settings, [10_000])
    btl = fit(part, "btl")
    assert against_table_2(stopped, btl, reference)["reproduced"].all()
    at_maximum = against_table_2(fit(part), btl, reference).set_index("name")["reproduced"]
    assert not at_maximum[judges].any()
    assert at_maximum[["pearson_btl", "spearman_btl"]].all()
