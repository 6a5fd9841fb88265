"""Algorithm A.1 against printed columns, and searches for settings that the paper does not state."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import Comparisons, fit
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError
from judgerank.engine.adam import Adam, iterates, maximise
from judgerank.engine.rows import side_by_side
from judgerank.model.members import JUDGE_AWARE, Parameters
from replication import published, setting_searches
from replication.datasets import load_judgments
from replication.random_designs import draw_comparisons, draw_truth
from replication.replicate import Study
from replication.resampling import MEASURES, FullData, Graph, correlations, sparse_part
from replication.schemas.section import Parallel
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
    turned,
    width_search,
)
from replication.sparse_designs import (
    Design,
    design_cells,
    designs,
    distances,
    drawn_tables,
    graphs_of,
    joint_p,
    printed_rows,
    rows_of,
    sparse_tables,
)
from replication.statistics import LEAST_ORDERED, one_more_by_order
from replication.stopping import (
    LIMIT,
    Path,
    Tried,
    combinations_of,
    followed,
    gradient_at_printed,
    one_at_a_time,
    printed_differences,
    same_as_printed,
    search,
    stops,
)
from tests.real_data import needs_data, needs_in_house
from tests.replication.test_config import composed


def panel():
    rng = generator(1, "stopping")
    return draw_comparisons(rng, draw_truth(rng, 5, 4, 1.0, 0.5), 4000)


def print_as(monkeypatch, cells, gammas):
    """Let the paper have printed these discriminations, and no score."""
    table = pd.Series(gammas, list(cells.judges))
    scores = pd.Series(np.nan, list(cells.models))
    monkeypatch.setattr(published, "numbers", lambda name, _: table if "judge" in name else scores)


def test_a_number_is_the_printed_one_at_two_decimals_only():
    found = same_as_printed(np.array([1.2349, 1.2351, 1.0]), np.array([1.23, 1.23, np.nan]))
    assert found.tolist() == [True, False, False]


def test_a_path_ends_where_the_solver_does():
    cells, start = panel(), Parameters(np.zeros(5), np.zeros((1, 4)))
    settings = Adam(max_iterations=300, tolerance=0.0)
    (path,) = Path.together([(cells, start, settings)])
    solved = maximise(cells, JUDGE_AWARE, settings)
    assert np.array_equal(path.scores[-1], solved.parameters.scores)
    assert np.array_equal(path.log_discrimination[-1], solved.parameters.judges[0])
    moved = np.diff(path.scores, axis=0), np.diff(path.log_discrimination, axis=0)
    assert_allclose(path.euclidean[1:], np.max([np.linalg.norm(one, axis=1) for one in moved], axis=0))
    assert_allclose(path.maximum[1:], np.max([np.abs(one).max(axis=1) for one in moved], axis=0))


def test_small_steps_are_compared_at_every_tenth_iteration_at_round_ones_and_the_last():
    cells, start = panel(), Parameters(np.zeros(5), np.zeros((1, 4)))
    small, smaller = (Adam(1e-4, step, max_iterations=1010, tolerance=0.0) for step in (1e-5, 3e-5))
    at = {step: Path.together([(cells, start, settings)])[0] for step, settings in ((10, small), (3, smaller))}
    assert at[10].iterations.tolist() == list(range(10, 1011, 10))
    assert set(at[3].iterations) == {*range(3, 1011, 3), 1000, 1010}
    alone = maximise(cells, JUDGE_AWARE, replace(small, max_iterations=1000)).parameters
    assert np.array_equal(at[10].log_discrimination[99], alone.judges[0])


def test_stops_are_the_first_to_meet_their_rule():
    matched = pd.DataFrame({"both_matched": [0, 2, 2, 1], "largest_difference": [4.0, 3.0, 1.0, 2.0]})
    frame = matched.set_axis([999, 1000, 1001, 2000]).assign(euclidean=[1.0, 1e-3, 1e-4, 1e-4], maximum=1e-4)
    rule = "euclidean norm of the update at most"
    (_, nearest), (_, most_matched), *by_rule = stops(frame)
    assert (nearest, most_matched) == (1001, 1000)
    assert dict(by_rule) == {LIMIT: 1000, f"{rule} 0.001": 1000, f"{rule} 0.0001": 1001}


def test_settings_differ_in_one_respect():
    found = list(one_at_a_time(Tried(9), start=["b"], steps=[[0.5, 0.25]], betas=[[0.5, 0.75]]))
    steps, rates = Tried(9, step_scores=0.5, step_judges=0.25), Tried(9, beta1=0.5, beta2=0.75)
    assert found == [Tried(9), Tried(9, "b"), steps, rates]


def test_pairs_of_constants_are_two_numbers():
    with pytest.raises(ConfigError, match=r"search.betas takes pairs .* not \[0.9\]"):
        list(one_at_a_time(Tried(9), betas=[[0.9]]))


def test_the_best_is_of_all_judges_and_a_round_number_comes_before_others(monkeypatch):
    cells = panel()
    print_as(monkeypatch, cells, fit(cells).discrimination.to_numpy())
    quick = Tried(3000, step_judges=1e-2)  # at its maximum before it ends, so that all late stops match the same
    zero = Parameters(np.zeros(5), np.zeros((1, 4)))
    result = search(
        SimpleNamespace(comparisons=cells),
        "made_up",
        [replace(quick, left_out=cells.judges[:1]), quick],
        {"zero": zero},
    )
    complete = result.rows[result.rows["left_out"] == "none"]
    assert (result.best["stop"], result.best["of"]) == (LIMIT, 4)
    assert result.best["matched"] == complete["matched"].max() == 4
    assert result.path.cells.judges == cells.judges


def test_grids_have_every_combination_as_far_as_its_steps_reach():
    grid = {"step_scores": [1e-2, 1e-3], "step_judges": [1e-3, 1e-4], "beta2": [0.9]}
    found = list(combinations_of(grid, 2.0))
    assert len({(one.step_scores, one.step_judges) for one in found}) == len(found) == 4
    assert {(one.length, one.step_judges, one.beta2) for one in found} == {(2000, 1e-3, 0.9), (20_000, 1e-4, 0.9)}


@needs_data
@pytest.mark.parametrize("beside", [1, 2])  # two runs are summed in one order, three and more in another
def test_ultrafeedbacks_numbers_come_out_in_smaller_steps_than_published_however_sums_round(beside):
    judgments = load_judgments(composed("judge_reliability").datasets.ultrafeedback)
    cells = judgments.comparisons.aggregate()
    zero = Parameters(np.zeros(len(cells.models)), np.zeros((1, len(cells.judges))))
    small = Tried(16_000, step_scores=5e-4, step_judges=1e-4, beta2=0.99)
    found = search(judgments, "ultrafeedback", [small, *[replace(small, beta2=0.999)] * beside], {"zero": zero})
    best = found.best
    assert (best["beta2"], best["matched"], best["of"]) == (0.99, 20, 20)
    assert best["scores_matched"] == best["scores_of"] == 5
    numbers = printed_differences(found, "ultrafeedback", fit(cells))
    assert numbers["reproduced"].sum() == 25
    assert numbers.groupby("column")["maximum"].min()["ultrafeedback"] == 0.0
    assert found.rows.query("beta2 == 0.999")["matched"].max() < 10


def test_rounded_estimates_are_settled_and_a_wrong_one_is_not(monkeypatch):
    cells = panel()
    gammas = fit(cells).discrimination.round(2).to_numpy()
    print_as(monkeypatch, cells, gammas)
    assert gradient_at_printed(cells, "made_up")["settled"].all()
    print_as(monkeypatch, cells, gammas + np.array([0.0, 0.3, 0.0, 0.0]))
    assert not gradient_at_printed(cells, "made_up")["settled"][1]


def test_runs_of_one_size_take_at_once_the_paths_that_they_take_alone():
    cells = panel()
    few = cells.with_judges(cells.judges[:3]).aggregate()
    at = {judges: Parameters(np.linspace(-1, 1, 5), np.zeros((1, judges))) for judges in (3, 4)}
    slow = Adam(max_iterations=40, tolerance=0.0)
    quick = Adam(max_iterations=30, tolerance=0.0, step_judges=1e-2)
    rates = replace(slow, beta1=0.5, beta2=0.95, epsilon=1e-2, step_scores=5e-3)
    runs = [(cells, at[4], slow), (few, at[3], slow), (cells.aggregate(), at[4], rates), (few, at[3], quick)]
    runs += [(few, Parameters(np.zeros(5), at[3].judges), slow), (few, at[3], rates)] * 10
    paths = dict(followed(runs))
    assert sorted(paths) == list(range(len(runs)))
    for number, run in enumerate(runs):
        path, (alone,) = paths[number], Path.together([run])
        assert path.cells is run[0]
        assert_allclose(path.scores, alone.scores, rtol=0, atol=1e-13)
        assert_allclose(path.log_discrimination, alone.log_discrimination, rtol=0, atol=1e-13)
        solved = maximise(run[0], JUDGE_AWARE, run[2], run[1]).parameters
        assert_allclose(path.scores[-1], solved.scores, rtol=0, atol=1e-13)


# Table A.9's design: tables of a design beside the printed one, each by Algorithm A.1.


@pytest.fixture(scope="module")
def whole():
    rng = generator(5, "sparse designs")
    cells = draw_comparisons(rng, draw_truth(rng, 6, 3, 1.0, 0.3), 900)
    fitted = fit(cells)
    return FullData(cells, {"judge_aware": fitted.scores}, fitted.discrimination)


def test_sets_side_by_side_take_the_paths_they_take_alone():
    rng = generator(1, "side by side")
    truth = draw_truth(rng, 6, 3, 1.0, 0.3)
    parts = [draw_comparisons(rng, truth, size) for size in (120, 300)]
    settings = Adam(tolerance=0.0, max_iterations=200)
    *_, (_, together, _) = iterates(side_by_side(parts), JUDGE_AWARE, [settings] * 2)
    for place, part in enumerate(parts):
        *_, (_, alone, _) = iterates(part, JUDGE_AWARE, settings)
        assert together.scores.reshape(2, -1)[place] == pytest.approx(alone.scores, abs=1e-9)
        assert together.judges.reshape(2, -1)[place] == pytest.approx(alone.judges[0], abs=1e-9)


@pytest.mark.parametrize("number", [0, 1])
def test_a_table_has_the_correlations_of_its_own_graphs(whole, number):
    design = Design("subset", "weights", 60, stops=(100, 40), n_edges=(5, 10))
    by_table = sparse_tables(design, [generator(3, "table", name) for name in range(2)], whole)
    tables = by_table[number].rows_by_stop
    assert {stop: len(rows) for stop, rows in tables.items()} == {40: 2, 100: 2}
    rng = generator(3, "table", number)
    parts = [sparse_part(Graph("subset", n_edges, n_comparisons=60), rng, whole) for n_edges in (5, 10)]
    for place, part in enumerate(parts):
        for stop in design.stops:
            *_, (_, at, _) = iterates(part, JUDGE_AWARE, Adam(tolerance=0.0, max_iterations=stop))
            scores = pd.Series(at.scores, list(whole.comparisons.models))
            for measure, value in correlations(scores, whole.references["judge_aware"]).items():
                assert tables[stop][place][measure] == pytest.approx(value, abs=1e-9)


def test_every_graph_behind_the_tables_is_in_a_row(whole, tmp_path):
    printed = pd.DataFrame({"trees": [1, 2], "n_edges": [5, 10], "edge_fraction": [1 / 3, 2 / 3]})
    design = Design("subset", "weights", 60, stops=(40, 100), n_edges=(5, 10))
    study = Study("graphs", sparse_tables, {"one": design}, {"one": 3}, 1, tmp_path, shared=whole, by_block=True)
    study.run(Parallel("sequential", 1))
    graphs = graphs_of(study, printed)
    assert len(graphs) == 3 * 2 * 2  # tables, stops, rows
    for stop in design.stops:
        rows = graphs[graphs["estimator"] == f"algorithm_1_{stop}"]
        found = rows[list(MEASURES)].to_numpy().reshape(3, 2, 2)
        assert np.array_equal(found, drawn_tables(study, "one", stop))
        assert rows["n_edges"].tolist() == [5, 10] * 3


def test_the_joint_p_value_is_uniform_where_the_design_is_right():
    rng = np.random.default_rng(0)
    p = []
    for _ in range(400):
        tables = rng.normal(size=(20, 3, 2)) * [[1.0], [2.0], [0.3]]
        p.append(joint_p(tables[1:], tables[0]))
    assert np.mean(np.array(p) <= 0.1 + 1e-9) == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / 400))
    assert joint_p(tables[1:], tables[0] + 20) == pytest.approx(1 / 20)


def test_distances_are_in_predictive_standard_deviations():
    tables = np.array([1.0, 2.0, 3.0]).reshape(3, 1, 1)
    assert distances(tables, np.array([[4.0]])) == pytest.approx(4 / (4 / 3))


def test_order_statistics_hold_one_more_draw_as_often_as_they_say():
    rng = np.random.default_rng(7)
    held = []
    for draws in rng.exponential(size=(3000, LEAST_ORDERED + 1)):
        found = one_more_by_order(draws[:-1])
        held.append(found.low <= draws[-1] <= found.high)
    assert np.mean(held) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 3000))
    with pytest.raises(ValueError, match=f"it takes {LEAST_ORDERED}"):
        one_more_by_order(np.arange(LEAST_ORDERED - 1))


def test_rows_of_the_printed_table_are_multiples_of_a_tree():
    rows = printed_rows(990, 45)
    assert rows["n_edges"].tolist() == [44 * trees for trees in range(1, 11)]
    assert rows["pearson"].iloc[0] == 0.613


def test_the_likeliest_design_comes_first_and_its_rows_say_who_is_within(whole, tmp_path, monkeypatch):
    printed = pd.DataFrame({"trees": [1, 2], "n_edges": [5, 10], "edge_fraction": [0.3, 0.7]})
    printed = printed.assign(pearson=[0.5, 0.8], spearman=[0.4, 0.7])
    cells = {cell.name: cell for cell in design_cells(["subset"], ["weights"], [60, 600], [10], (5, 10))}
    study = Study("d", sparse_tables, cells, dict.fromkeys(cells, LEAST_ORDERED), 1, tmp_path, shared=whole)
    rng = np.random.default_rng(0)
    centre = {"subset-weights-60": 0.0, "subset-weights-600": 0.3}

    def records(self, cell):
        for _ in range(LEAST_ORDERED):
            rows = [
                {name: printed[name].iloc[row] + centre[cell] + 0.05 * rng.normal() for name in MEASURES}
                for row in (0, 1)
            ]
            yield {"rows_by_stop": {"10": rows}}

    monkeypatch.setattr(Study, "records", records)
    found = designs(study, printed)
    assert found["n_comparisons"].tolist() == [60, 600]
    assert found["within"].tolist() == [4, 0]
    assert found["p_joint"].iloc[1] == pytest.approx(1 / (LEAST_ORDERED + 1))
    assert rows_of(study, "subset-weights-60", 10, printed)["within"].all()
    assert not rows_of(study, "subset-weights-600", 10, printed)["within"].any()


# Searches: nearest first, every choice tried, samples as the generators draw them.


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
    found = dict(setting_searches.stops(c, Adam(max_iterations=40), [10, 40]))
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
    ((_, stopped),) = setting_searches.stops(part, settings, [10_000])
    btl = fit(part, "btl")
    assert against_table_2(stopped, btl, reference)["reproduced"].all()
    at_maximum = against_table_2(fit(part), btl, reference).set_index("name")["reproduced"]
    assert not at_maximum[judges].any()
    assert at_maximum[["pearson_btl", "spearman_btl"]].all()
