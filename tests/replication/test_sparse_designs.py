"""Table A.9's design: tables of a design beside the printed one, each by Algorithm A.1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgerank import fit
from judgerank.engine.adam import Adam, iterates
from judgerank.engine.rows import side_by_side
from judgerank.model.members import JUDGE_AWARE
from judgerank.model.streams import generator
from replication.random_designs import draw_comparisons, draw_truth
from replication.replicate import Study
from replication.resampling import MEASURES, FullData, Graph, correlations, sparse_part
from replication.schemas.section import Parallel
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
    sparse_table,
)
from replication.statistics import LEAST_ORDERED, one_more_by_order


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


def test_a_table_has_the_correlations_of_its_own_graphs(whole):
    design = Design("subset", "weights", 60, stops=(100, 40), n_edges=(5, 10))
    tables = sparse_table(design, generator(3, "table"), whole).rows_by_stop
    assert {stop: len(rows) for stop, rows in tables.items()} == {40: 2, 100: 2}
    rng = generator(3, "table")
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
    study = Study("graphs", sparse_table, {"one": design}, {"one": 3}, 1, tmp_path, shared=whole)
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
    study = Study("d", sparse_table, cells, dict.fromkeys(cells, LEAST_ORDERED), 1, tmp_path, shared=whole)
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
