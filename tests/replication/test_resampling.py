"""Random parts of a set, refitted: designs, what is recorded, summaries, reproducibility."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerank import Comparisons, fit
from judgerank.data.arrays import generator
from judgerank.data.judgments import Judgments
from judgerank.engine.adam import Adam, maximise
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton
from judgerank.model.members import BTL, JUDGE_AWARE
from replication.config import fits_by
from replication.estimators import estimates_of
from replication.replicate import Study
from replication.resampled_tables import (
    NOT_MADE,
    efficiency_claims,
    endings_of,
    gains_of,
    replications_of,
    summary_of,
    tally,
)
from replication.resampling import (
    FullData,
    Panel,
    Subsample,
    Thinned,
    connected_edges,
    correlations,
    empanelled,
    full_data_of,
    held_against,
    subsampled,
    thinned,
)
from replication.schemas.section import Parallel
from replication.tables import Replications, Table, stored_frame

SOLVERS = {"judge_aware": Newton(), "btl": Newton()}
ESTIMATORS = {
    "exact": SOLVERS,
    "box": {"judge_aware": Localized(), "btl": Localized()},
    "algorithm_1": {"judge_aware": Adam(max_iterations=400), "btl": Adam(max_iterations=400)},
}
SEQUENTIAL = Parallel("sequential", 1)


@pytest.fixture(scope="module")
def raw(simulated):
    return simulated(3, [1.0, 0.4, 0.0, -0.5, -0.9], [2.0, 1.5, 1.0, 0.5, 0.3, 0.2], 4000)


@pytest.fixture(scope="module")
def whole(raw):
    fits = fits_by(SOLVERS, raw)
    return FullData(
        raw, {name: fitted.scores for name, fitted in fits.items()}, fits["judge_aware"].discrimination
    )


@pytest.fixture
def seen(monkeypatch):
    """The parts that are refitted."""
    parts = []

    def record(whole, drawn, estimators):
        parts.extend(drawn)
        return []

    monkeypatch.setattr("replication.resampling.held_against", record)
    return parts


def graph(redraw: str, n_edges: int, n_comparisons: int | None = None) -> Thinned:
    given = {"trees": 1, "edge_fraction": 0.5, "estimators": ESTIMATORS}
    return Thinned(redraw, n_edges, n_comparisons=n_comparisons, **given)


@given(st.integers(2, 9), st.integers(0, 2**32), st.data())
def test_the_edges_kept_connect_everything_and_are_as_many_as_asked(n, seed, data):
    i, j = np.triu_indices(n, 1)
    order = generator(seed, "order").permutation(len(i))
    i, j = i[order], j[order]
    many = data.draw(st.integers(n - 1, len(i)))
    kept = connected_edges(generator(seed, "edges"), i, j, n, many)
    assert len(set(kept.tolist())) == many
    reached, frontier = {0}, [0]
    while frontier:
        node = frontier.pop()
        for a, b in zip(i[kept], j[kept], strict=True):
            for other in ({a, b} - {node}) if node in (a, b) else ():
                if other not in reached:
                    reached.add(other)
                    frontier.append(other)
    assert len(reached) == n


@pytest.mark.parametrize("tree", ["weights", "uniform"])
def test_every_edge_can_be_in_a_random_tree(tree):
    i, j = np.triu_indices(5, 1)
    kept = [connected_edges(generator(seed, "tree"), i, j, 5, 4, tree) for seed in range(300)]
    share = np.bincount(np.concatenate(kept), minlength=10) / 300
    assert np.allclose(share, 0.4, atol=0.12)


def test_uniform_trees_are_equally_likely():
    """Of a path 0-1-2-3 with the chord 0-2, every tree leaves out one edge of the triangle."""
    i, j = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 2])
    draws = 600
    kept = [connected_edges(generator(seed, "uniform"), i, j, 4, 3, "uniform") for seed in range(draws)]
    share = np.bincount(np.concatenate(kept), minlength=4) / draws
    assert share[2] == 1
    assert np.allclose(share[[0, 1, 3]], 2 / 3, atol=4 * np.sqrt(2 / 9 / draws))


@pytest.mark.parametrize("redraw", ["resample", "simulate"])
@pytest.mark.parametrize("n_edges", [4, 7, 10])
def test_a_thinned_design_spends_the_whole_budget_evenly(whole, seen, redraw, n_edges):
    thinned(graph(redraw, n_edges), [generator(1, "thin")], whole)
    (part,) = seen
    pair = np.minimum(part.first, part.second) * 5 + np.maximum(part.first, part.second)
    counts = np.unique(pair, return_counts=True)[1]
    assert len(counts) == n_edges
    assert counts.sum() == len(whole.comparisons)
    assert np.ptp(counts) <= 1


def test_resampled_comparisons_are_those_of_their_edge(whole, seen):
    c = whole.comparisons
    thinned(graph("resample", 6), [generator(2, "thin")], whole)
    made = set(zip(c.first, c.second, c.judge, c.outcome, strict=True))
    (part,) = seen
    judges = [c.judges.index(name) for name in part.judges]
    again = zip(part.first, part.second, np.array(judges)[part.judge], part.outcome, strict=True)
    assert set(again) <= made


@pytest.mark.parametrize(("n_edges", "budget"), [(4, 100), (10, 4000)])
def test_a_subset_takes_each_comparison_once_and_an_edges_share_at_most(whole, seen, n_edges, budget):
    c = whole.comparisons
    marked = FullData(
        Comparisons(c.models, c.judges, c.first, c.second, c.judge, np.arange(len(c)) / len(c)), {}, None
    )
    thinned(graph("subset", n_edges, budget), [generator(3, "thin")], marked)
    (part,) = seen
    assert len(np.unique(part.outcome)) == len(part) <= budget
    pair = np.minimum(part.first, part.second) * 5 + np.maximum(part.first, part.second)
    counts = np.unique(pair, return_counts=True)[1]
    made = np.bincount(np.minimum(c.first, c.second) * 5 + np.maximum(c.first, c.second))
    assert len(counts) == n_edges
    assert counts.max() <= -(-budget // n_edges)
    if n_edges == 10:  # some edges have fewer comparisons than their share
        assert len(part) == np.minimum(made[made > 0], budget // n_edges).sum() < budget
    else:
        assert len(part) == budget


@pytest.mark.parametrize("redraw", ["resample", "simulate"])
def test_a_thinned_design_takes_another_budget(whole, seen, redraw):
    thinned(graph(redraw, 6, 90), [generator(1, "thin")], whole)
    assert len(seen[0]) == 90


def test_simulated_comparisons_follow_the_full_data_fit(whole, seen):
    for repeat in range(20):
        thinned(graph("simulate", 10), [generator(repeat, "thin")], whole)
    s, gamma = whole.references["judge_aware"].to_numpy(), whole.discrimination.to_numpy()
    d = np.concatenate([gamma[part.judge] * (s[part.first] - s[part.second]) for part in seen])
    outcome = np.concatenate([part.outcome for part in seen])
    for low, high in ((0, 0.4), (0.4, 1), (1, 9)):  # pairs are in the order of the true scores
        rows = (d > low) & (d < high)
        expected = (1 / (1 + np.exp(-d[rows]))).mean()
        assert outcome[rows].mean() == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(rows.sum()))


def test_a_subsample_has_the_judges_and_the_comparisons_asked_for(raw, seen):
    marked = Comparisons(
        raw.models, raw.judges, raw.first, raw.second, raw.judge, np.arange(len(raw)) / len(raw)
    )  # every outcome once
    for repeat in range(10):
        subsampled(Subsample(3, 500, ESTIMATORS), [generator(repeat, "sub")], FullData(marked, {}, None))
    panels = [part.judges for part in seen]
    assert all(len(judges) == 3 for judges in panels)
    assert len(set(panels)) > 3
    assert all(len(np.unique(part.outcome)) == len(part) == 500 for part in seen)


def test_a_panel_has_the_weak_judges_asked_for(whole, seen):
    weak, strong = ("j3", "j4", "j5"), ("j0", "j1", "j2")
    for n_weak in range(4):
        empanelled(Panel(n_weak, weak, strong, 3, 600, ESTIMATORS), [generator(n_weak, "panel")], whole)
        assert len(set(seen[-1].judges) & set(weak)) == n_weak
        assert len(seen[-1].judges) == 3


def test_a_draw_of_too_many_comparisons_is_not_made_and_the_others_are(whole):
    typical = int(2 * np.median(np.bincount(whole.comparisons.judge)))  # of two judges
    cell, rngs = Subsample(2, typical, ESTIMATORS), [generator(seed, "few") for seed in range(8)]
    draws = subsampled(cell, rngs, whole)
    assert {draw.made for draw in draws} == {True, False}
    assert all(bool(draw.estimators) == draw.made for draw in draws)


def test_a_draw_without_a_maximum_keeps_the_other_estimators(whole, cells_of):
    apart = cells_of(("m0", "m1", "j", 2, 2), ("m2", "m3", "j", 2, 2))
    runaway = cells_of(("m0", "m1", "j", 4, 0), ("m1", "m2", "j", 2, 2), ("m0", "m2", "j", 3, 0))
    for part, status in ((apart, "DisconnectedError"), (runaway, "NoMaximumError")):
        (found,) = estimates_of([part], ESTIMATORS)
        assert (found["exact"].status, found["exact"].scores) == (status, {})
        for estimator in ("box", "algorithm_1"):
            assert {*found[estimator].scores} == {"judge_aware", "btl"}
            assert all(np.isfinite(scores).all() for scores in found[estimator].scores.values())
    assert found["box"].scores["btl"]["m0"] == pytest.approx(5.0)  # the bound, which stands for infinity


def test_each_estimator_is_what_it_is_called(whole):
    part = whole.comparisons
    (found,) = estimates_of([part], ESTIMATORS | {"further": ESTIMATORS["algorithm_1"]})
    for model, method in ((JUDGE_AWARE, "judge_aware"), (BTL, "btl")):
        exact = fit(part, method).scores
        assert found["exact"].scores[method].to_numpy() == pytest.approx(exact.to_numpy(), abs=1e-9)
        assert found["box"].scores[method].to_numpy() == pytest.approx(exact.to_numpy(), abs=1e-7)
        stopped = maximise(part, model, ESTIMATORS["algorithm_1"][method]).parameters.scores
        assert found["algorithm_1"].scores[method].to_numpy() == pytest.approx(stopped, abs=1e-9)
    assert found["algorithm_1"].status == "iteration_limit"


def test_the_whole_agrees_with_itself(whole):
    (draw,) = held_against(whole, [whole.comparisons], ESTIMATORS)
    for estimator in ("exact", "box"):
        found = draw.estimators[estimator].correlations
        for method in ("judge_aware", "btl"):
            for measure in ("pearson", "spearman"):
                assert found[method][method][measure] == pytest.approx(1.0)


def test_correlations_are_over_the_models_of_the_reference():
    scores = pd.Series({"a": 1.0, "b": 2.0, "c": 4.0, "d": -9.0})
    assert correlations(scores, pd.Series({"a": 10, "b": 20, "c": 40})) == pytest.approx(
        {"pearson": 1, "spearman": 1}
    )
    assert correlations(scores, -scores) == pytest.approx({"pearson": -1, "spearman": -1})
    found = correlations(scores, pd.Series({"b": 1, "a": 2, "c": 3}))
    assert found["spearman"] == pytest.approx(0.5)


def test_references_are_people_where_there_are_ratings_and_the_truth_of_a_surrogate(raw):
    fits = {"judge_aware": fit(raw), "btl": fit(raw, "btl")}
    truth = pd.DataFrame({"parameter": "score", "name": list(raw.models), "value": np.arange(5.0)})
    made_up = Judgments("any", "Any", None, raw, {"surrogate": True}, None, truth)
    assert set(full_data_of(made_up, fits).references) == {"judge_aware", "btl", "truth"}
    assert full_data_of(made_up, fits).references["truth"].tolist() == [0, 1, 2, 3, 4]
    arena = Judgments("chatbot_arena", "Arena", None, raw, {})
    assert full_data_of(arena, fits).references["human"].max() == 1227
    assert set(full_data_of(Judgments("mt_bench", "MT", None, raw, {}), fits).references) == {"judge_aware", "btl"}


def study(folder: Path, whole: FullData, **changes) -> Study:
    cells = {f"k{k}": Subsample(k, 300, ESTIMATORS) for k in (3, 6)}
    usual = {
        "name": "parts",
        "task": subsampled,
        "cells": cells,
        "replications": dict.fromkeys(cells, 4),
        "seed": 5,
        "block": 2,
        "by_block": True,
    }
    return Study(folder=folder, shared=whole, **(usual | changes))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.jsonl")}


def test_neither_workers_nor_a_second_run_change_anything(tmp_path, whole):
    assert study(tmp_path / "one", whole).run(SEQUENTIAL) == 8
    assert study(tmp_path / "two", whole).run(Parallel("loky", 2)) == 8
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    whole.comparisons.pool_judges()  # what is computed on the way does not make it another set
    assert study(tmp_path / "one", whole).run(SEQUENTIAL) == 0


def test_another_data_set_takes_no_blocks_of_this_one(tmp_path, whole):
    study(tmp_path, whole).run(SEQUENTIAL)
    c = whole.comparisons
    turned = Comparisons(c.models, c.judges, c.first, c.second, c.judge, 1 - c.outcome)
    assert study(tmp_path, FullData(turned, whole.references, whole.discrimination)).run(SEQUENTIAL) == 8


def test_no_draw_depends_on_the_others_of_its_block(tmp_path, whole):
    tables = []
    for block in (1, 3, 4):
        one = study(tmp_path / str(block), whole, block=block)
        one.run(SEQUENTIAL)
        tables.append(replications_of(one, ["n_judges"]))
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


def records_of(values: dict[str, list[tuple[float, float] | None]]) -> list[dict]:
    """Records of draws, with Pearson correlations of both methods with each reference or no maximum."""
    return [
        {
            "replication": number,
            "made": True,
            "estimators": {
                estimator: {
                    "status": "interior" if pair else "NoMaximumError",
                    "correlations": {
                        method: {key: {"pearson": value, "spearman": value} for key in ("judge_aware", "btl")}
                        for method, value in zip(("judge_aware", "btl"), pair or (), strict=False)
                    },
                }
                for estimator, pair in zip(values, pairs, strict=True)
            },
        }
        for number, pairs in enumerate(zip(*values.values(), strict=True))
    ]


@pytest.fixture
def draws(tmp_path, whole, monkeypatch):
    """Draws of which the exact fit has one, Algorithm A.1 all four; a fifth was not made."""
    stopped = [(0.9, 0.8), (0.7, 0.75), (0.5, 0.3), (0.8, 0.8)]
    records = records_of({"exact": [None, (0.7, 0.75), None, None], "algorithm_1": stopped})
    records.append({"replication": 4, "made": False, "estimators": {}})
    monkeypatch.setattr(Study, "records", lambda self, cell: iter(records))
    estimators = {"exact": {}, "algorithm_1": {}}
    one = study(tmp_path, whole, cells={"k": Subsample(3, 9, estimators)}, replications={"k": 5})
    return replications_of(one, ["n_judges"])


def test_every_draw_is_in_the_table_with_or_without_a_maximum(draws):
    assert len(draws) == 5 * 2 * 2 * 2  # draws, estimators, methods, references
    lost = draws.query("estimator == 'exact' and replication == 0")
    assert set(lost["status"]) == {"NoMaximumError"}
    assert lost[["pearson", "spearman"]].isna().to_numpy().all()
    assert set(draws.query("replication == 4")["status"]) == {NOT_MADE}
    ended = endings_of(draws, ["n_judges"]).set_index(["estimator", "status"])["repeats"]
    assert ended["exact"].to_dict() == {"NoMaximumError": 3, "interior": 1, NOT_MADE: 1}
    assert ended["algorithm_1"].to_dict() == {"interior": 4, NOT_MADE: 1}


def test_a_mean_says_how_many_draws_it_leaves_out_and_one_draw_has_no_error(draws):
    table = summary_of(draws, ["n_judges"], 2).query("method == reference and measure == 'pearson'")
    rows = table.set_index(["estimator", "method"])
    exact, stopped = rows.loc[("exact", "judge_aware")], rows.loc[("algorithm_1", "judge_aware")]
    assert (exact["n_repeats"], exact["n_draws"], exact["mean"]) == (1, 4, 0.7)
    assert np.isnan(exact["standard_error"])
    known = np.array([0.9, 0.7, 0.5, 0.8])
    assert (stopped["n_repeats"], stopped["n_draws"]) == (4, 4)
    assert stopped["mean"] == pytest.approx(known.mean())
    assert stopped["paper_mean"] == pytest.approx(0.8)
    assert stopped["standard_error"] == pytest.approx(known.std(ddof=1) / 2)
    assert (stopped["q25"], stopped["q75"]) == pytest.approx((0.65, 0.825))


def test_gains_are_paired_and_the_error_of_one_is_missing(draws):
    rows = (
        gains_of(draws, ["n_judges"]).query("measure == 'pearson' and reference == 'own'").set_index("estimator")
    )
    gain = np.array([0.1, -0.05, 0.2, 0.0])
    assert rows.at["algorithm_1", "judge_aware_minus_btl"] == pytest.approx(gain.mean())
    assert rows.at["algorithm_1", "standard_error"] == pytest.approx(gain.std(ddof=1) / 2)
    assert rows.at["exact", "judge_aware_minus_btl"] == pytest.approx(-0.05)
    assert np.isnan(rows.at["exact", "standard_error"])
    assert rows[["n_repeats", "n_draws"]].to_numpy().tolist() == [[1, 4], [4, 4]]


def test_the_stored_replications_give_the_stored_tables_to_the_byte(tmp_path, whole):
    one, columns = study(tmp_path / "cache", whole), ["n_judges", "n_comparisons"]
    one.run(SEQUENTIAL)
    made = replications_of(one, columns)
    Replications(made, "draws").write(tmp_path, "replications")
    Table(summary_of(made, columns, 2), "means").write(tmp_path, "correlation")
    Table(gains_of(made, columns), "gains").write(tmp_path, "gains")
    stored = stored_frame(tmp_path / "replications.parquet")
    again = tmp_path / "again"
    again.mkdir()
    Replications(stored, "draws").write(again, "replications")
    Table(summary_of(stored, columns, 2), "means").write(again, "correlation")
    Table(gains_of(stored, columns), "gains").write(again, "gains")
    for name in ("replications.parquet", "correlation.csv", "gains.csv"):
        assert (again / name).read_bytes() == (tmp_path / name).read_bytes()


def test_records_are_plain_json(tmp_path, whole):
    one = study(tmp_path, whole)
    one.run(SEQUENTIAL)
    for line in next(iter(contents(tmp_path).values())).decode().splitlines()[1:]:  # after the block's checksum
        record = json.loads(line)
        for ended in record["estimators"].values():
            assert ended["status"]
            by_reference = [found for method in ended["correlations"].values() for found in method.values()]
            assert len(by_reference) == 2 * 2
            assert all(-1 <= value <= 1 for found in by_reference for value in found.values())


def test_rows_taken_keep_the_models_and_lose_the_judges_without_rows(raw):
    rows = np.flatnonzero(np.isin(raw.judge, [1, 4]))[[0, 0, 5]]
    part = raw.take(rows)
    assert part.models == raw.models
    assert set(part.judges) <= {"j1", "j4"}
    assert [part.judges[k] for k in part.judge] == [raw.judges[k] for k in raw.judge[rows]]
    assert np.array_equal(part.outcome, raw.outcome[rows])


# Claims in words: what counts as holding, as clear, and over which places.


NOISE = np.array([-1.0, 1.0, -1.0, 1.0, 0.0, 0.0]) * 0.01


def curves(rise: float, lead: float, judges: float) -> pd.DataFrame:
    """Draws of a grid of K and T: correlation by T, judge-aware's lead, and a change with K."""
    rows = []
    for k, t, (replication, noise) in product((4, 8), (1000, 2000, 3000), enumerate(NOISE)):
        for method in ("judge_aware", "btl"):
            value = 0.8 + rise * t / 1000 + judges * (k == 8) + noise + lead * (method == "judge_aware")
            rows.append((k, t, replication, method, method, value))
    frame = pd.DataFrame(
        rows, columns=["n_judges", "n_comparisons", "replication", "method", "reference", "pearson"]
    )
    exact = frame.assign(estimator="exact", pearson=frame["pearson"].where(frame["replication"] == 0))
    return pd.concat([exact, frame.assign(estimator="algorithm_1")]).assign(spearman=np.nan)


def claims(estimator: str = "algorithm_1", **shape: float) -> pd.DataFrame:
    found = efficiency_claims(curves(**shape), 2)
    return found[found["estimator"] == estimator].set_index(["claim", "method"])


def test_each_claim_is_over_its_own_places():
    found = claims(rise=0.05, lead=0.01, judges=-0.03)
    ahead = found.xs("both", level="method").iloc[0]
    assert ahead[["places", "hold", "clear", "clearly_not"]].tolist() == [6, 6, 6, 0]
    closer = found.xs("btl", level="method").iloc[0]
    assert closer[["places", "hold", "clear", "clearly_not"]].tolist() == [4, 4, 4, 0]
    few = found.loc[("less close with more judges at T = 1000", "btl")]
    assert few[["places", "hold", "clear"]].tolist() == [1, 1, 1]
    many = found.loc[("more close with more judges at T = 3000", "btl")]
    assert many[["places", "hold", "clearly_not"]].tolist() == [1, 0, 1]


def test_a_difference_of_one_draw_is_neither_clear_nor_clearly_not():
    found = claims("exact", rise=0.05, lead=0.01, judges=-0.03)
    assert (found["places"] > 0).all()
    assert not found[["clear", "clearly_not"]].any().any()


def test_claims_fall_when_the_curves_turn():
    found = claims(rise=-0.05, lead=-0.01, judges=0.03)
    assert found.xs("judge_aware", level="method")["clearly_not"].iloc[0] == 4
    ahead = found.xs("both", level="method").iloc[0]
    assert ahead[["hold", "clearly_not", "hold_paper_repeats"]].tolist() == [0, 6, 0]


def test_what_noise_may_explain_is_not_clear():
    noisy = pd.Series([0.1, -0.1, 0.12, -0.08, np.nan])
    row = tally("any", "pearson", "btl", [(noisy, None), (noisy, noisy + 1.0)], 1)
    assert (row["places"], row["hold"], row["clear"], row["clearly_not"]) == (2, 1, 0, 1)
    assert row["hold_paper_repeats"] == pytest.approx(1)


def test_a_place_where_no_repeat_gave_both_fits_is_left_out():
    some, none = pd.Series([0.1, 0.2, 0.3]), pd.Series([np.nan, np.nan, np.nan])
    row = tally("claim", "pearson", "btl", [(some, None), (none, None), (some, none)], 2)
    assert (row["places"], row["hold"], row["clear"], row["clearly_not"]) == (1, 1, 1, 0)
