"""The simulation study: its cells, one replication of each part by hand, and the summaries behind the figures."""

import importlib.util
import pickle
from dataclasses import astuple, replace
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from numpy.testing import assert_allclose, assert_array_equal
from omegaconf import DictConfig
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from judgerank import fit
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError
from judgerank.engine.adam import Adam
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton
from judgerank.engine.search import maximise
from judgerank.model.members import JUDGE_AWARE
from replication.config import CONF, script_of
from replication.random_designs import draw_comparisons, draw_truth
from replication.simulation import (
    Cell,
    Replication,
    Truth,
    btl_scale,
    drawn,
    endings_of,
    errors_of,
    failures_of,
    fitted,
    interval_coverage,
    squared_error,
    study_of,
    truth_of,
)

GRIDS = {
    "convergence_mse": {
        (10, 5): [100, 200, 400, 800, 1600, 3200, 6400],
        (20, 10): [200, 400, 800, 1600, 3200, 6400, 12800],
        (50, 20): [1000, 2000, 4000, 8000, 16000, 32000, 64000],
        (100, 20): [1500, 3000, 6000, 12000, 24000, 48000, 96000],
    },
    "ci_coverage": {
        (10, 5): [1600, 3000, 5000, 8000, 13000],
        (20, 10): [9000, 15000, 23000, 34000, 45000],
        (50, 20): [38000, 60000, 90000, 140000, 190000],
        (100, 20): [40000, 65000, 100000, 150000, 200000],
    },
}
TASKS = {"convergence_mse": squared_error, "ci_coverage": interval_coverage}
BOX = Localized(score_bound=5.0, discrimination_bound=5.0, tolerance=1e-10, max_iterations=500)
ADAM = Adam(max_iterations=50)
EXACT = Newton(tolerance=1e-10, max_iterations=200)
TRUTH = Truth(n_models=5, n_judges=3, sigma_scores=1.0, sigma_discrimination=0.7, seed=3, draw=1)
CELL = Cell("any", TRUTH, n_comparisons=600, estimator=BOX, level=0.9)
SCORE = "errors/judge_aware/score"
SECTIONS = pytest.mark.parametrize("section", GRIDS)


def composed(section: str, *overrides: str) -> DictConfig:
    with initialize_config_dir(CONF, version_base="1.3"):
        return compose(section, list(overrides))


def tiny(section: str, folder, sizes: list[int], *overrides: str, beyond: tuple[int, ...] = ()) -> DictConfig:
    """A section with four models, two judges, and a dozen replications of every grid point."""
    counts = ["replications=12", "draws=2", "draw_replications=5", "block=4"]
    cfg = composed(section, "parallel=sequential", f"cache={folder}", *counts, *overrides)
    cfg.settings = {"tiny": {"n_models": 4, "n_judges": 2, "n_comparisons": sizes, "beyond": list(beyond)}}
    return cfg


def script(section: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(section, script_of(section))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def flaky(cell: Cell, rng: np.random.Generator) -> dict:
    """A task that fails about one time in four."""
    u = rng.random()
    if u < 0.25:
        raise ValueError(f"bad luck {cell.n_comparisons}")
    return {"status": "interior" if u < 0.5 else "localized", "interior": u < 0.5}


# truth


def test_both_sections_ask_for_the_same_truths():
    truths = []
    for section, task in TASKS.items():
        cells = study_of(composed(section), section, task).cells.values()
        asked = (replace(cell, n_comparisons=100) for cell in cells if cell.truth.n_models <= 20)
        drawn_here = {cell.truth: drawn(cell, generator(1, section))[0] for cell in asked}
        truths.append({key: (truth.scores.tolist(), truth.judges.tolist()) for key, truth in drawn_here.items()})
    shared = truths[0].keys() & truths[1].keys()  # one of them takes more draws of the truth
    assert len(shared) >= 6
    assert all(truths[0][key] == truths[1][key] for key in shared)


def test_truths_differ_between_draws_seeds_and_sizes():
    sizes = ((10, 5), (10, 6), (11, 5))
    keys = [Truth(*size, 1.0, 1.0, seed, draw) for seed in (1, 2) for draw in range(4) for size in sizes]
    truths = [truth_of(key) for key in keys]
    assert len({truth.scores[:3].tobytes() for truth in truths}) == len(keys)
    assert len({truth.judges[0, :3].tobytes() for truth in truths}) == len(keys)


def test_a_truth_does_not_depend_on_which_were_asked_for_before():
    key = Truth(10, 5, 1.0, 1.0, seed=5, draw=0)
    first = truth_of(key)
    truth_of.cache_clear()
    truth_of(replace(key, draw=1))
    again = truth_of(key)
    assert_array_equal(again.scores, first.scores)
    assert_array_equal(again.judges, first.judges)


def test_standard_deviations_scale_the_truth():
    one, other = (truth_of(Truth(10, 5, *sigmas, seed=5, draw=0)) for sigmas in ((1.0, 1.0), (2.0, 0.5)))
    assert_allclose(other.scores, 2 * one.scores, rtol=0, atol=1e-14)
    assert_allclose(other.judges, one.judges / 2, rtol=0, atol=1e-14)


def test_drawn_pairs_the_truth_with_comparisons_under_it():
    truth, cells = drawn(CELL, generator(9, "x"))
    again = draw_truth(generator(3, "truth", 5, 3, 1), 5, 3, 1.0, 0.7)
    assert_array_equal(truth.scores, again.scores)
    assert cells.n_comparisons == 600
    assert (len(cells.models), len(cells.judges)) == (5, 3)


# cells


@SECTIONS
def test_the_study_has_the_papers_cells_under_every_draw(section):
    cfg = composed(section)
    study = study_of(cfg, section, TASKS[section])
    expected = {
        f"n{n}_k{k}-t{size}-draw{draw}": Cell(
            f"n{n}_k{k}",
            Truth(n, k, 1.0, 1.5 if (n, k) == (10, 5) else 1.0, cfg.seed, draw),
            size,
            estimator=BOX,
            level=0.95 if section == "ci_coverage" else None,
        )
        for (n, k), sizes in GRIDS[section].items()
        for size in sizes
        for draw in range(cfg.draws + 1)
    }
    assert len(expected) == (cfg.draws + 1) * sum(map(len, GRIDS[section].values()))
    assert {name: study.cells[name] for name in expected} == expected


@SECTIONS
def test_the_main_draw_has_the_papers_replications_and_the_others_their_own(section):
    cfg = composed(section)
    study = study_of(cfg, section, TASKS[section])
    assert set(study.replications) == set(study.cells)
    by_draw = {(cell.truth.draw > 0, study.replications[name]) for name, cell in study.cells.items()}
    assert by_draw == {
        (False, {"convergence_mse": 100, "ci_coverage": 500}[section]),
        (True, cfg.draw_replications),
    }


@SECTIONS
def test_every_truth_is_of_the_studys_seed(section):
    study = study_of(composed(section, "seed=7"), section, TASKS[section])
    assert {study.seed, *(cell.truth.seed for cell in study.cells.values())} == {7}


@SECTIONS
@pytest.mark.parametrize("estimator", ["localized", "interior", "adam"])
def test_a_cell_travels_to_workers_with_every_estimator(section, estimator, tmp_path):
    short = ["estimator.max_iterations=50"] if estimator == "adam" else []
    cfg = tiny(section, tmp_path, [300], f"estimator={estimator}", *short)
    (cell, *_) = study_of(cfg, section, TASKS[section]).cells.values()
    assert pickle.loads(pickle.dumps(cell)) == cell
    assert TASKS[section](cell, generator(1, 0)).status in ("interior", "iteration_limit")


def test_points_keeps_the_first_grid_points():
    cells = study_of(composed("convergence_mse", "points=2"), "convergence_mse", squared_error).cells.values()
    kept = {
        (n, k): sorted({c.n_comparisons for c in cells if c.truth.n_models == n}) for n, k in ((10, 5), (50, 20))
    }
    assert kept == {(10, 5): [100, 200], (50, 20): [1000, 2000]}


def test_points_beyond_the_papers_grid_are_taken_under_the_main_draw_unless_the_grid_is_cut(tmp_path):
    for points, kept in (("null", {(20, 0), (20, 1), (20, 2), (90, 0)}), ("1", {(20, 0), (20, 1), (20, 2)})):
        cfg = tiny("ci_coverage", tmp_path, [20], f"points={points}", beyond=(90,))
        cells = study_of(cfg, "ci_coverage", interval_coverage).cells.values()
        assert {(cell.n_comparisons, cell.truth.draw) for cell in cells} == kept
        assert {cell.n_comparisons for cell in cells if cell.beyond} == {size for size, _ in kept if size == 90}


# section 4.1


def test_squared_error_is_the_mean_squared_error_by_hand():
    record = squared_error(CELL, generator(9, "x"))
    truth = truth_of(TRUTH)
    found = fit(draw_comparisons(generator(9, "x"), truth, 600))
    score = sum((found.scores.iloc[i] - truth.scores[i]) ** 2 for i in range(5)) / 5
    gamma = [np.log(found.discrimination.iloc[k]) - truth.judges[0, k] for k in range(3)]
    errors = record.errors["judge_aware"]
    assert_allclose(errors.score, score, rtol=1e-8)
    assert_allclose(errors.log_discrimination, sum(x**2 for x in gamma) / 3, rtol=1e-8)
    shapes = [np.array(s) / np.std(s) for s in (found.scores, truth.scores)]  # both sum to zero
    assert_allclose(errors.standardised_score, np.mean((shapes[0] - shapes[1]) ** 2), rtol=1e-8)
    assert record == Replication("interior", True, ambiguous=False, errors={"judge_aware": errors})


def test_the_error_of_standardised_scores_does_not_depend_on_the_scale():
    truth, result = truth_of(TRUTH), fit(drawn(CELL, generator(9, "x"))[1])
    at = replace(result.solution.parameters, scores=3 * result.solution.parameters.scores)
    scaled = replace(result, solution=replace(result.solution, parameters=at))
    one, other = errors_of(result, truth), errors_of(scaled, truth)
    assert other.standardised_score == pytest.approx(one.standardised_score)
    assert other.score > 2 * one.score


def test_the_interior_estimator_agrees_where_there_is_an_interior_maximum():
    one, other = (squared_error(replace(CELL, estimator=by), generator(9, "x")) for by in (BOX, EXACT))
    assert one.status == other.status == "interior"
    assert astuple(one.errors["judge_aware"]) == pytest.approx(astuple(other.errors["judge_aware"]), rel=1e-8)


GOOD = [("a", "b", "x", 70, 30), ("b", "c", "x", 65, 35), ("a", "c", "x", 80, 20)]
OTHER = [("a", "b", "y", 60, 40), ("b", "c", "y", 75, 25), ("a", "c", "y", 85, 15)]
WITHOUT_INTERIOR = {
    "boundary": [("a", "b", "z", 30, 70), ("b", "c", "z", 40, 60), ("a", "c", "z", 35, 65)],
    "unbounded": [("a", "b", "z", 6, 0), ("b", "c", "z", 5, 0), ("a", "c", "z", 7, 0)],
    "no_maximum": [("w", "a", "x", 3, 0), ("w", "b", "y", 4, 0)],
}


@pytest.mark.parametrize("status", WITHOUT_INTERIOR)
def test_the_interior_estimator_gives_nothing_but_the_reason_without_an_interior_maximum(cells_of, status):
    cells = cells_of(*GOOD, *OTHER, *WITHOUT_INTERIOR[status])
    assert fitted(EXACT, cells) == (None, {"status": status, "interior": False})
    assert fitted(BOX, cells)[0].converged


@pytest.mark.parametrize("estimator", [BOX, EXACT, ADAM], ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize(("rows", "interior"), [([], True), (WITHOUT_INTERIOR["boundary"], False)])
def test_every_estimator_tells_whether_there_is_an_interior_maximum(cells_of, estimator, rows, interior):
    result, record = fitted(estimator, cells_of(*GOOD, *OTHER, *rows))
    assert record["interior"] is interior
    assert result is not None or not interior


def test_a_maximum_far_outside_the_box_is_no_interior_one():
    """One judge there decides every pair; climbs once came to an end before it, 3.3 lower."""
    study = study_of(composed("convergence_mse"), "convergence_mse", squared_error)
    cell = "n20_k10-t400-draw0"
    _, cells = drawn(study.cells[cell], generator(study.seed, study.name, cell, 54))
    found = maximise(cells, JUDGE_AWARE, Newton())
    assert (found.status, found.unbounded_judges) == ("unbounded", (3,))
    inside, record = fitted(study.cells[cell].estimator, cells)
    assert not record["interior"]
    assert found.evaluation.log_likelihood > inside.log_likelihood + 3


def test_a_replication_without_an_interior_maximum_has_no_error_entries():
    few = replace(CELL, n_comparisons=6, estimator=EXACT)
    assert squared_error(few, generator(9, "x")) == Replication("no_maximum", False)
    assert squared_error(replace(few, estimator=BOX), generator(9, "x")).errors["judge_aware"].score > 0


def test_the_mean_squared_error_falls_like_one_over_the_comparisons():
    means, errors = [], []
    for size in (1000, 4000):
        values = [
            squared_error(replace(CELL, n_comparisons=size), generator(4, size, r)).errors["judge_aware"].score
            for r in range(80)
        ]
        means.append(np.mean(values))
        errors.append(np.std(values, ddof=1) / np.sqrt(len(values)) / means[-1])
    # three standard errors of the log ratio; terms of order 1/T are below that
    assert abs(np.log(means[0] / means[1]) - np.log(4)) < 3 * np.hypot(*errors)


# section 4.2


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_interval_coverage_is_the_share_of_truths_inside_by_hand(level):
    record = interval_coverage(replace(CELL, level=level), generator(9, "x"))
    truth, scale = truth_of(TRUTH).scores, btl_scale(TRUTH)
    cells = draw_comparisons(generator(9, "x"), truth_of(TRUTH), 600)
    expected = {}
    for method, model, target in (
        ("judge_aware", "judge_aware", truth),
        ("btl", "btl", truth),
        ("btl_rescaled", "btl", scale * truth),
    ):
        intervals = fit(cells, model).confidence_intervals(level).loc[lambda rows: rows["parameter"] == "score"]
        low, high = intervals["low"].to_numpy(), intervals["high"].to_numpy()
        inside = [low[i] <= target[i] <= high[i] for i in range(5)]
        spread = np.sqrt(np.mean(intervals["estimate"] ** 2))
        expected[method] = pytest.approx((sum(inside) / 5, (high - low).mean(), spread), rel=1e-8)
    assert replace(record, intervals={}) == Replication("interior", True, ambiguous=False)
    assert {method: astuple(found) for method, found in record.intervals.items()} == expected


def test_without_an_unweighted_maximum_only_the_judge_aware_model_has_intervals():
    record = interval_coverage(replace(CELL, n_comparisons=18), generator(9, "3"))
    assert set(record.intervals) == {"judge_aware"}


def test_fewer_comparisons_than_parameters_give_no_intervals():
    # six comparisons, and four scores and two discriminations that are free
    record = interval_coverage(replace(CELL, n_comparisons=6), generator(9, "x"))
    assert record == Replication("localized", False, ambiguous=False)


def test_without_an_interior_maximum_only_btl_has_intervals():
    cell = replace(CELL, n_comparisons=60, estimator=EXACT)
    records = [interval_coverage(cell, generator(9, replication)) for replication in range(20)]
    assert {(record.status == "interior", *record.intervals) for record in records} == {
        (True, "judge_aware", "btl", "btl_rescaled"),
        (False, "btl", "btl_rescaled"),
    }


@pytest.fixture(scope="module")
def coverage():
    """150 replications under a truth that BTL shrinks by a sixth."""
    cell = replace(CELL, truth=Truth(6, 3, 1.0, 1.0, seed=5, draw=0), n_comparisons=10_000, level=0.95)
    records = [interval_coverage(cell, generator(5, "end to end", r)) for r in range(150)]
    assert {record.status for record in records} == {"interior"}
    return pd.DataFrame({name: found.coverage for name, found in r.intervals.items()} for r in records)


def z_score(values: pd.Series) -> float:
    """Mean over its Monte Carlo standard error; scores are dependent, so replications are what is counted."""
    return values.mean() * np.sqrt(len(values)) / values.std()


def test_coverage_of_the_judge_aware_model_is_nominal(coverage):
    assert abs(z_score(coverage["judge_aware"] - 0.95)) < 3


def test_coverage_of_btl_is_lower(coverage):
    assert z_score(coverage["judge_aware"] - coverage["btl"]) > 10


def test_coverage_of_btl_on_its_own_scale_is_higher(coverage):
    assert z_score(coverage["btl_rescaled"] - coverage["btl"]) > 10


# the scale of BTL


def test_the_scale_of_two_models_has_a_closed_form():
    key = Truth(2, 4, 1.0, 1.0, seed=5, draw=0)
    truth = truth_of(key)
    d = truth.scores[0] - truth.scores[1]
    share = expit(np.exp(truth.judges[0]) * d).mean()
    assert_allclose(btl_scale(key), logit(share) / d, rtol=1e-8)


def test_the_scale_is_the_least_squares_slope_of_the_scores_that_maximise_the_expected_likelihood():
    key = Truth(6, 3, 1.0, 1.5, seed=5, draw=0)
    truth, i, j = truth_of(key), *np.triu_indices(6, 1)
    share = expit(np.exp(truth.judges[0])[:, None] * (truth.scores[i] - truth.scores[j])).mean(axis=0)

    def loss(free):
        d = np.subtract.outer(scores := np.r_[free, -free.sum()], scores)[i, j]
        return -np.sum(share * log_expit(d) + (1 - share) * log_expit(-d))

    free = minimize(loss, truth.scores[:5], options={"gtol": 1e-8}).x
    limit = np.r_[free, -free.sum()]
    slope, offset = np.polynomial.polynomial.polyfit(truth.scores, limit, 1)[::-1]
    # BFGS with differences of a sum near ten: gradients are good to about 1e-7
    assert_allclose(btl_scale(key), slope, rtol=0, atol=1e-5)
    assert np.std(limit - slope * truth.scores - offset) > 0.05


def test_the_scale_is_one_where_all_judges_are_alike():
    # a relative gradient of 1e-10 over an information above a tenth
    assert_allclose(btl_scale(Truth(8, 4, 1.0, 0.0, seed=5, draw=0)), 1.0, rtol=0, atol=1e-8)


def test_the_scale_is_the_slope_of_a_btl_fit_to_many_comparisons():
    key = Truth(6, 3, 1.0, 1.0, seed=5, draw=0)
    truth, scale = truth_of(key), btl_scale(key)
    slopes = []
    for replication in range(12):
        cells = draw_comparisons(generator(6, "scale", replication), truth, 400_000)
        slopes.append(np.polynomial.polynomial.polyfit(truth.scores, fit(cells, "btl").scores, 1)[1])
    assert abs(np.mean(slopes) - scale) < 4 * np.std(slopes, ddof=1) / np.sqrt(len(slopes))
    assert abs(scale - 1) > 20 * np.std(slopes)


# slopes


def line(means, relative, sizes=(100, 200, 400, 800, 1600, 3200, 6400), many=100) -> pd.DataFrame:
    means = np.asarray(means, float)
    columns = {"n_comparisons": sizes, "mean": means, "standard_error": relative * means, "n_replications": many}
    return pd.DataFrame(columns)


def test_the_slope_of_a_power_law_is_its_exponent():
    sizes = np.array([100, 200, 400, 800, 1600, 3200, 6400])
    found = script("convergence_mse").slope(line(3.0 * sizes**-1.1, 0.0))
    assert_allclose(found["slope"], -1.1, rtol=1e-12)
    assert found["slope_se"] == 0


def test_the_slope_is_that_of_the_last_five_points():
    sizes = np.array([100, 200, 400, 800, 1600, 3200, 6400])
    means = 3.0 * sizes**-1.1
    means[:2] = 50.0, 0.01
    assert_allclose(script("convergence_mse").slope(line(means, 0.0))["slope"], -1.1, rtol=1e-12)
    means[2] *= 2
    assert script("convergence_mse").slope(line(means, 0.0))["slope"] < -1.15


def test_points_without_a_mean_are_left_out_of_the_slope():
    sizes = np.array([100, 200, 400, 800, 1600, 3200, 6400])
    means = 3.0 * sizes**-1.1
    means[[0, 1, 3]] = np.nan
    assert_allclose(script("convergence_mse").slope(line(means, 0.01))["slope"], -1.1, rtol=1e-12)


def test_means_of_few_replications_are_left_out_of_the_slope_unless_all_are():
    slope, sizes = script("convergence_mse").slope, np.array([100, 200, 400, 800, 1600, 3200, 6400])
    means = 3.0 * sizes**-1.1
    means[3] = 50.0
    counts = np.array([100, 100, 100, 9, 10, 80, 100])
    assert_allclose(slope(line(means, 0.01, many=counts))["slope"], -1.1, rtol=1e-12)
    counts[3] = 10
    assert slope(line(means, 0.01, many=counts))["slope"] < -1.2
    assert_allclose(slope(line(3.0 * sizes**-1.1, 0.01, many=4))["slope"], -1.1, rtol=1e-12)


def test_fewer_than_two_points_have_no_slope():
    found = script("convergence_mse").slope(line([0.5], 0.1, [100]))
    assert found[["slope", "slope_se"]].isna().all()
    assert found["n_replications"] == 0


def test_the_standard_error_of_the_slope_is_what_repetition_shows():
    slope, rng, many = script("convergence_mse").slope, generator(7), 1500
    sizes = np.array([100, 200, 400, 800, 1600, 3200, 6400])
    relative = np.array([0.5, 0.5, 0.04, 0.01, 0.02, 0.01, 0.05])
    exact = line(3.0 / sizes, relative)
    noisy = (exact.assign(mean=exact["mean"] * (1 + relative * rng.normal(size=7))) for _ in range(many))
    found = np.std([slope(each)["slope"] for each in noisy])
    # terms of second order in errors of 5% are below a tenth of the four standard errors allowed
    assert abs(found / slope(exact)["slope_se"] - 1) < 4 / np.sqrt(2 * many)


# summaries


@pytest.fixture(scope="module")
def mse(tmp_path_factory):
    """The tables of a tiny section 4.1, its study, and its config."""
    cfg = tiny("convergence_mse", tmp_path_factory.mktemp("mse"), [25, 60, 200])
    module = script("convergence_mse")
    return module.compute(cfg, {}), study_of(cfg, "convergence_mse", squared_error), cfg


@pytest.mark.parametrize("parameter", ["score", "log_discrimination"])
@pytest.mark.parametrize("size", [25, 60, 200])
def test_mean_squared_errors_are_summarised_over_replications(mse, parameter, size):
    tables, study, _ = mse
    records = study.frame(f"tiny-t{size}-draw0")
    values = np.sort(records[f"errors/judge_aware/{parameter}"])
    assert len(values) == 12
    (row,) = (
        tables["mse"].frame.query(f"n_comparisons == {size} and parameter == '{parameter}'").to_dict("records")
    )
    assert_allclose(row["mean"], values.sum() / 12, rtol=1e-12)
    # positions 2.75 and 8.25 of twelve values
    assert_allclose(row["q25"], values[2] + 0.75 * (values[3] - values[2]), rtol=1e-12)
    assert_allclose(row["q75"], values[8] + 0.25 * (values[9] - values[8]), rtol=1e-12)
    variance = ((values - values.mean()) ** 2).sum() / 11
    assert_allclose(row["standard_error"], np.sqrt(variance / 12), rtol=1e-12)


def test_every_replication_is_summarised_and_interior_ones_are_counted(mse):
    tables, study, _ = mse
    for row in tables["mse"].frame.to_dict("records"):
        records = study.frame(f"tiny-t{row['n_comparisons']}-draw0")
        assert row["n_replications"] == 12
        assert row["n_interior"] == records["interior"].sum()
    assert 0 < tables["mse"].frame["n_interior"].min() < 12


def test_interior_replications_are_summarised_apart(mse):
    tables, study, _ = mse
    records = study.frame("tiny-t25-draw0")
    values = records.loc[records["interior"], SCORE]
    (row,) = tables["mse_interior"].frame.query("n_comparisons == 25 and parameter == 'score'").to_dict("records")
    assert 1 < len(values) < 12
    assert row["n_replications"] == row["n_interior"] == len(values)
    assert_allclose(row["mean"], np.mean(values), rtol=1e-12)


def test_further_draws_are_summarised_apart(mse):
    tables, study, _ = mse
    frame = tables["mse_draws"].frame.query("n_comparisons == 200 and draw == 2 and parameter == 'score'")
    values = study.frame("tiny-t200-draw2")[SCORE]
    assert len(values) == 5
    assert np.isclose(frame["mean"], np.mean(values), rtol=1e-12).any()
    assert set(tables["mse_draws"].frame["draw"]) == {1, 2}


def test_endings_are_the_shares_of_statuses_by_main_and_further_draws(mse):
    _, study, _ = mse
    shares = endings_of(study).set_index(["n_comparisons", "draws"])
    for size in (25, 60, 200):
        for label, draws in (("main", [0]), ("further", [1, 2])):
            statuses = pd.concat(study.frame(f"tiny-t{size}-draw{draw}")["status"] for draw in draws)
            assert_allclose(shares.loc[(size, label), "interior"], (statuses == "interior").mean())
            columns = shares.columns.difference(["n_models", "n_judges", "ambiguous"])
            assert_allclose(shares.loc[(size, label), columns].sum(), 1.0)
    assert len(shares) == 6


def test_the_interior_estimator_is_summarised_over_interior_maxima_only(tmp_path):
    cfg = tiny("convergence_mse", tmp_path, [25], "estimator=interior")
    module = script("convergence_mse")
    frame = module.compute(cfg, {})["mse"].frame
    records = study_of(cfg, "convergence_mse", squared_error).frame("tiny-t25-draw0")
    values = records.loc[records["status"] == "interior", SCORE]
    assert 1 < len(values) < 12
    (row,) = frame.loc[lambda rows: rows["parameter"] == "score"].to_dict("records")
    assert row["n_replications"] == row["n_interior"] == len(values)
    assert_allclose(row["mean"], np.mean(values), rtol=1e-12)


def test_coverage_is_summarised_over_replications():
    records = pd.DataFrame(
        {
            "interior": [True, False, True, True],
            "intervals/judge_aware/coverage": [1.0, 0.8, 0.9, 1.0],
            "intervals/judge_aware/width": [1.0, 2.0, 3.0, 4.0],
            "intervals/judge_aware/spread": [2.0, 2.0, 2.0, 8.0],
        }
    )
    found = script("ci_coverage").summary(records, "judge_aware")
    assert found["coverage"] == pytest.approx(0.925, rel=1e-12)
    # squared deviations from 0.925: 0.005625 twice, 0.015625 and 0.000625
    assert found["coverage_se"] == pytest.approx(np.sqrt(0.0275 / 3 / 4), rel=1e-12)
    assert found["width"] == pytest.approx(2.5, rel=1e-12)
    assert found["relative_width"] == pytest.approx((0.5 + 1.0 + 1.5 + 0.5) / 4, rel=1e-12)
    assert (found["n_replications"], found["n_interior"]) == (4, 3)


def test_replications_without_intervals_are_left_out_of_coverage_but_not_of_the_others():
    names = [
        f"intervals/{method}/{name}"
        for method in ("btl", "judge_aware")
        for name in ("coverage", "width", "spread")
    ]
    records = pd.DataFrame([[0.5] * 6, [1.0, 1.0, 1.0, np.nan, np.nan, np.nan]], columns=names)
    records = records.assign(interior=[True, False])
    summary = script("ci_coverage").summary
    aware, btl, missing = (summary(records, method) for method in ("judge_aware", "btl", "btl_rescaled"))
    assert (aware["n_replications"], aware["n_interior"], aware["coverage"]) == (1, 1, 0.5)
    assert (btl["n_replications"], btl["n_interior"], btl["coverage"]) == (2, 1, 0.75)
    assert missing["n_replications"] == 0
    assert np.isnan(missing["coverage"])


def test_the_coverage_section_tabulates_every_method_at_every_point(tmp_path):
    cfg = tiny("ci_coverage", tmp_path, [200, 400], "replications=4", "draw_replications=2")
    tables = script("ci_coverage").compute(cfg, {})
    keys = tables["coverage"].frame[["n_comparisons", "method"]].to_numpy().tolist()
    methods = ("judge_aware", "btl", "btl_rescaled")
    assert keys == [[size, method] for size in (200, 400) for method in methods]
    records = study_of(cfg, "ci_coverage", interval_coverage).frame("tiny-t400-draw0")
    (row,) = tables["coverage"].frame.query("n_comparisons == 400 and method == 'btl'").to_dict("records")
    assert_allclose(row["coverage"], records["intervals/btl/coverage"].mean(), rtol=1e-12)


def test_points_beyond_the_papers_grid_have_a_table_of_their_own(tmp_path):
    cfg = tiny("ci_coverage", tmp_path, [200], "replications=4", "draws=0", beyond=(300,))
    tables = script("ci_coverage").compute(cfg, {})
    assert set(tables["coverage"].frame["n_comparisons"]) == {200}
    assert set(tables["coverage_beyond"].frame["n_comparisons"]) == {300}


# failures


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    cfg = tiny("convergence_mse", tmp_path_factory.mktemp("failing"), [40, 80], "replications=40")
    study = study_of(cfg, "flaky", flaky)
    study.run(cfg.parallel)
    return study


def test_every_failure_is_listed_with_its_reason(failing):
    expected = [
        (name, replication, f"ValueError: bad luck {cell.n_comparisons}")
        for name, cell in failing.cells.items()
        for replication in range(failing.replications[name])
        if generator(failing.seed, "flaky", name, replication).random() < 0.25
    ]
    assert len(expected) > 10
    assert list(failures_of(failing).itertuples(index=False, name=None)) == expected


def test_failures_do_not_shift_the_shares_of_the_other_endings(failing):
    shares = endings_of(failing).set_index(["n_comparisons", "draws"])
    records = failing.frame("tiny-t80-draw0")
    assert records["status"].isna().any()
    interior, localized = ((records["status"] == status).sum() for status in ("interior", "localized"))
    row = shares.loc[(80, "main")]
    assert_allclose(row["interior"] / row["localized"], interior / localized, rtol=1e-12)


def test_records_carry_their_replication_and_a_reason_if_they_failed(failing):
    records = failing.frame("tiny-t80-draw0")
    assert_array_equal(records["replication"], np.arange(40))
    assert_array_equal(records["failure"].isna(), records["status"].notna())


def test_records_without_a_failure_have_an_empty_reason(mse):
    assert mse[1].frame("tiny-t60-draw0")["failure"].isna().all()


def test_a_study_without_failures_lists_none(mse):
    failures = failures_of(mse[1])
    assert failures.empty
    assert list(failures.columns) == ["cell", "replication", "failure"]


def test_a_budget_that_cannot_connect_the_models_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(ConfigError, match="setting 'tiny': budgets must differ and connect 4 models"):
        study_of(tiny("convergence_mse", tmp_path, [2, 60]), "convergence_mse", squared_error)


def test_a_cell_without_a_result_is_tabulated_without_a_mean(tmp_path):
    # three comparisons of four models are a tree: somebody won everything
    cfg = tiny("convergence_mse", tmp_path, [3, 300, 900], "estimator=interior")
    tables = script("convergence_mse").compute(cfg, {})
    rows = tables["mse"].frame.set_index("n_comparisons")[["n_replications", "mean"]]
    assert (rows.loc[3, "n_replications"] == 0).all()
    assert rows.loc[3, "mean"].isna().all()
    assert rows.loc[[300, 900], "mean"].notna().all()
    assert tables["slopes"].frame["slope"].notna().all()
