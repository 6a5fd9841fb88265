"""Stored results of the simulation study are this code's: cells recomputed in full give the stored rows."""

from dataclasses import asdict

import pandas as pd
import pytest

from judgerank.model.streams import generator
from replication.config import ROOT
from replication.differences import TOLERANCES
from replication.simulation import interval_coverage, squared_error, study_of
from tests.replication.test_config import composed


def recomputed(section: str, task, setting: str, size: int) -> pd.DataFrame:
    study = study_of(composed(section), section, task)
    cell = f"{setting}-t{size}-draw0"
    seeds = (generator(study.seed, section, cell, r) for r in range(study.replications[cell]))
    return pd.json_normalize([asdict(task(study.cells[cell], rng)) for rng in seeds], sep="/")


def stored(name: str, **place) -> pd.DataFrame:
    rows = pd.read_csv(ROOT / f"results/paper/{name}.csv")
    for column, value in place.items():
        rows = rows[rows[column] == value]
    return rows


@pytest.mark.parametrize(("setting", "place"), [("n10_k5", (10, 5, 400)), ("n20_k10", (20, 10, 1600))])
def test_a_mean_squared_error_comes_out_again(setting, place):
    records = recomputed("convergence_mse", squared_error, setting, place[2])
    names = dict(zip(("n_models", "n_judges", "n_comparisons"), place, strict=True))
    for row in stored("convergence_mse/mse", **names).to_dict("records"):
        values = records[f"errors/judge_aware/{row['parameter']}"]
        found = (values.mean(), values.quantile(0.25), values.quantile(0.75))
        assert found == pytest.approx(
            (row["mean"], row["q25"], row["q75"]), rel=TOLERANCES["monte_carlo"].relative
        )
        assert (len(records), records["interior"].sum()) == (row["n_replications"], row["n_interior"])


def test_a_coverage_comes_out_again():
    records = recomputed("ci_coverage", interval_coverage, "n10_k5", 1600)
    rows = stored("ci_coverage/coverage", n_models=10, n_comparisons=1600).to_dict("records")
    assert len(rows) == 3
    for row in rows:
        found = tuple(records[f"intervals/{row['method']}/{name}"].mean() for name in ("coverage", "width"))
        assert found == pytest.approx((row["coverage"], row["width"]), rel=TOLERANCES["monte_carlo"].relative)
        assert row["n_replications"] == len(records) == 500


def test_nothing_failed():
    for section in ("convergence_mse", "ci_coverage"):
        assert stored(f"{section}/failures").empty


def test_the_studies_have_the_papers_sizes():
    assert stored("convergence_mse/mse")["n_replications"].unique().tolist() == [100]
    assert len(stored("convergence_mse/mse")) == 28 * 2
    assert stored("ci_coverage/coverage")["n_replications"].unique().tolist() == [500]
    assert len(stored("ci_coverage/coverage")) == 20 * 3
