"""The public entry point: what it refuses, what it returns, and how the result describes itself."""

from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import Comparisons, Fit, Status, fit
from judgerank.data.errors import ConfigError, DataError, DisconnectedError, JudgerankError, NoMaximumError
from judgerank.engine.adam import Adam
from judgerank.engine.newton import Newton

FAMILY = pytest.mark.parametrize("member", ["btl", "judge_aware", "length"])
SCORES, GAMMA, SLOPE = (1.0, 0.2, -0.3, -0.9), (0.6, 1.0, 1.7), (0.3, -0.2, 0.1)
GOOD = (("a", "b", "x", 70, 30), ("b", "c", "x", 65, 35), ("a", "c", "x", 80, 20))


@pytest.fixture(scope="module")
def raw(simulated) -> Comparisons:
    return simulated(41, SCORES, GAMMA, 900, slope=SLOPE, ties=0.05)


@pytest.fixture(scope="module")
def boundary(simulated) -> Fit:
    return fit(simulated(42, SCORES, (1.0, -0.8, 0.7, -0.5, 1.2), 1500))


# what it refuses


def test_an_unknown_model_is_refused(raw):
    with pytest.raises(ConfigError, match=r"^there is no model 'elo' \(known: btl, judge_aware, length, "):
        fit(raw, "elo")


def test_an_unknown_solver_is_refused(raw):
    with pytest.raises(ConfigError, match=r"^there is no solver 'sgd' \(known: newton, adam\b.*\)$"):
        fit(raw, solver="sgd")


@pytest.mark.parametrize("solver", [None, 3, Adam, {"tolerance": 1e-9}])
def test_what_is_neither_a_name_nor_settings_is_refused(raw, solver):
    with pytest.raises(ConfigError, match=r"^a solver is a name or settings with a method `maximise`, not "):
        fit(raw, solver=solver)


def test_length_without_a_covariate_is_refused(cells_of):
    with pytest.raises(
        DataError,
        match=r"^model 'length' needs a covariate, and the comparisons have none \(models that do without: btl, ",
    ):
        fit(cells_of(*GOOD), "length")


@FAMILY
def test_a_disconnected_graph_is_refused_with_its_components(cells_of, member):
    rows = [(*row, 0.0) for row in (*GOOD, ("d", "e", "x", 5, 5))]
    with pytest.raises(DisconnectedError, match="a, b, c; d, e") as caught:
        fit(cells_of(*rows), member)
    assert caught.value.models == (("a", "b", "c"), ("d", "e"))


@FAMILY
def test_a_winner_of_everything_is_refused_by_name(cells_of, member):
    rows = [(*row, 0.0) for row in (*GOOD, ("d", "a", "x", 5, 0))]
    with pytest.raises(NoMaximumError, match=r"won or lost every .* d$"):
        fit(cells_of(*rows), member)


@FAMILY
def test_a_judge_without_comparison_is_refused_by_name(cells_of, member):
    rows = [(*row, 0.0) for row in GOOD]
    with pytest.raises(DataError, match=r"^judge 'silent' has no comparison$"):
        fit(cells_of(*rows, judges=("silent", "x")), member)


def test_models_connected_through_a_judge_at_zero_only_are_refused(cells_of):
    good = [("a", "b", "good", 80, 20), ("c", "d", "good", 70, 30)]
    bad = [("a", "b", "bad", 2, 8), ("c", "d", "bad", 3, 7), ("a", "c", "bad", 5, 5), ("b", "d", "bad", 5, 5)]
    with pytest.raises(
        DisconnectedError, match=r"^with judges at zero discrimination \(bad\) set aside,"
    ) as caught:
        fit(cells_of(*good, *bad))
    assert caught.value.models == (("a", "b"), ("c", "d"))
    assert fit(cells_of(*good, *bad), "btl").converged


def test_a_model_that_lost_only_to_a_judge_at_zero_is_refused(cells_of):
    top = [("d", "a", "x", 9, 0), ("a", "d", "bad", 9, 1), ("b", "a", "bad", 70, 30), ("c", "b", "bad", 60, 40)]
    with pytest.raises(NoMaximumError, match=r"^with judges at zero discrimination \(bad\) .* d$") as caught:
        fit(cells_of(*GOOD, *top))
    assert caught.value.models == (("a", "b", "c"), ("d",))


def test_a_panel_that_agrees_with_no_order_is_refused(cells_of):
    with pytest.raises(NoMaximumError):
        fit(cells_of(("a", "b", "x", 5, 5), ("b", "c", "x", 5, 5), ("a", "c", "y", 5, 5)))


# what it returns


def test_the_defaults_are_the_judge_aware_model_and_the_exact_solver(raw):
    found, explicit = fit(raw), fit(raw, "judge_aware", Newton())
    assert (found.model.name, found.settings) == ("judge_aware", Newton())
    pd.testing.assert_series_equal(found.scores, explicit.scores, check_exact=True)


@FAMILY
def test_scores_and_discriminations_are_named_and_normalised(raw, member):
    found = fit(raw, member)
    assert list(found.scores.index) == list(raw.models)
    assert list(found.discrimination.index) == list(found.slope.index) == list(raw.judges)
    assert abs(found.scores.sum()) < 1e-13
    assert abs(np.log(found.discrimination).mean()) < 1e-13


def test_the_geometric_mean_is_over_judges_in_play(boundary):
    assert boundary.status is Status.BOUNDARY
    assert boundary.judges_at_zero == ("j1", "j3")
    assert (boundary.discrimination[["j1", "j3"]] == 0).all()
    assert abs(np.log(boundary.discrimination[["j0", "j2", "j4"]]).mean()) < 1e-13


@pytest.mark.parametrize("solver", ["newton", Adam(max_iterations=5)], ids=["newton", "adam"])
def test_an_unweighted_fit_gives_every_judge_discrimination_one(raw, solver):
    found = fit(raw, "btl", solver)
    assert found.discrimination.to_dict() == dict.fromkeys(raw.judges, 1.0)
    assert found.slope.to_dict() == dict.fromkeys(raw.judges, 0.0)
    assert found.judges_at_zero == ()


def test_slopes_are_zero_unless_the_model_frees_them(raw):
    assert not fit(raw).slope.any()
    assert fit(raw, "length").slope.all()


@FAMILY
def test_the_log_likelihood_is_the_sum_over_raw_comparisons(raw, member, log_likelihood):
    found = fit(raw, member)
    expected = log_likelihood(
        raw, found.scores.to_numpy(), *(x.to_numpy() for x in (found.discrimination, found.slope))
    )
    assert_allclose(found.log_likelihood, expected, rtol=1e-13)


def test_a_larger_model_has_a_larger_maximum(raw):
    btl, judge_aware, length = (fit(raw, member).log_likelihood for member in ("btl", "judge_aware", "length"))
    assert btl + 5 < judge_aware < length - 1


@FAMILY
def test_raw_rows_and_cells_give_the_same_fit(raw, member):
    one, other = fit(raw, member), fit(raw.aggregate(), member)
    pd.testing.assert_series_equal(one.scores, other.scores, check_exact=True)
    pd.testing.assert_series_equal(one.discrimination, other.discrimination, check_exact=True)


def test_a_frame_can_be_fitted_end_to_end(frame):
    letters = "a" * 6 + "b" * 2 + "c" * 4
    found = fit(Comparisons.from_frame(frame(*(("new", "old", "j", letter) for letter in letters))))
    # eight wins' worth out of twelve
    assert_allclose(found.scores["new"], np.log(8 / 4) / 2, rtol=1e-9)
    assert found.discrimination.to_dict() == {"j": 1.0}
    assert found.converged


def test_the_covariate_does_not_matter_to_models_without_slope(raw):
    plain = Comparisons(raw.models, raw.judges, raw.first, raw.second, raw.judge, raw.outcome)
    for member in ("btl", "judge_aware"):
        one, other = fit(raw, member), fit(plain, member)
        assert_allclose(one.scores, other.scores, rtol=0, atol=1e-8)
        assert_allclose(one.discrimination, other.discrimination, rtol=0, atol=1e-8)


def test_adam_ends_near_the_exact_fit(raw):
    exact, adam = fit(raw), fit(raw, solver="adam")
    assert (adam.status, adam.settings) == (Status.STOPPING_RULE, Adam())
    # the published rule stops at updates of 1e-5 with steps of 1e-2 and 1e-3
    assert_allclose(adam.scores, exact.scores, atol=1e-3)
    assert_allclose(adam.discrimination, exact.discrimination, atol=1e-2)
    assert exact.log_likelihood - 1e-3 < adam.log_likelihood <= exact.log_likelihood


def test_adam_runs_the_published_unweighted_settings_by_default(raw):
    found = fit(raw, "btl", "adam")
    assert found.settings == Adam(step_scores=3e-3, epsilon=1e-8, tolerance=0.0, max_iterations=8000)
    # with no tolerance it runs until steps of 3e-3 no longer change a double, or 8,000 times
    assert_allclose(found.scores, fit(raw, "btl").scores, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "settings", [Newton(1e-300, max_iterations=1), Adam(max_iterations=3)], ids=["newton", "adam"]
)
def test_an_unfinished_fit_is_not_converged(raw, settings):
    found = fit(raw, solver=settings)
    assert (found.status, found.converged) == (Status.ITERATION_LIMIT, False)
    assert "status iteration_limit" in found.summary()


def test_the_result_is_frozen(raw):
    found = fit(raw)
    for owner, name in ((found, "solution"), (found.solution, "status"), (found.comparisons, "outcome")):
        with pytest.raises(FrozenInstanceError):
            setattr(owner, name, None)


def test_what_a_caller_does_to_the_scores_leaves_the_result_alone(raw):
    found = fit(raw, "position_aware")
    names = ("scores", "discrimination", "ranks", "position")
    before = {name: getattr(found, name).copy() for name in names}
    for name in names:
        series = getattr(found, name)
        series.iloc[:] = 0
    for name in names:
        pd.testing.assert_series_equal(getattr(found, name), before[name])


def test_ranks_count_from_the_highest_score(raw):
    found = fit(raw)
    assert found.ranks.to_dict() == {name: 1 + (found.scores > found.scores[name]).sum() for name in raw.models}


# how it describes itself


def test_the_summary_names_judges_at_zero(boundary):
    lines = boundary.summary().splitlines()
    assert lines[0] == "judge_aware: 4 models, 5 judges, 1,500 comparisons"
    assert lines[1].startswith("status boundary after ")
    assert lines[2] == "judges at zero discrimination: j1, j3"
    assert str(boundary) == boundary.summary()


def test_the_summary_lists_models_from_the_highest_score(raw):
    found = fit(raw)
    table = found.summary().split("\n\n")[1].splitlines()[2:]
    order = [line.split()[:3] for line in table]
    assert [name for _, name, _ in order] == list(found.scores.sort_values(ascending=False).index)
    assert [int(rank) for rank, _, _ in order] == [1, 2, 3, 4]
    assert [float(score) for _, _, score in order] == sorted(found.scores.round(3), reverse=True)


def test_an_unbounded_judge_is_named(cells_of):
    firm = [("a", "b", "firm", 6, 0), ("c", "b", "firm", 0, 5)]
    found = fit(cells_of(*GOOD, *firm))
    assert (found.status, found.converged) == (Status.UNBOUNDED, False)
    assert found.unbounded_judges == ("firm",)
    assert "judges with unbounded discrimination: firm" in found.summary().splitlines()


def test_the_status_of_a_judge_says_where_its_discrimination_ended(boundary, cells_of):
    assert boundary.judge_status.to_dict() == {f"j{k}": "zero" if k in (1, 3) else "interior" for k in range(5)}
    firm = fit(cells_of(*GOOD, ("a", "b", "firm", 6, 0), ("c", "b", "firm", 0, 5)))
    assert firm.judge_status["firm"] == "unbounded"


def test_every_named_error_is_a_judgerank_error():
    for error in (ConfigError, DataError, NoMaximumError, DisconnectedError):
        assert issubclass(error, JudgerankError)
    assert issubclass(DisconnectedError, NoMaximumError)
    assert issubclass(ConfigError, ValueError)
