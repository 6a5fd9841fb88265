"""Fits and rankings: what the entry point refuses and returns, and results by the names their users type."""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import judgerank
from judgerank import (
    Comparisons,
    ConfigError,
    DataError,
    Fit,
    NoIntervalError,
    Status,
    fit,
    pairwise,
    rank,
    rank_intervals,
)
from judgerank.data.errors import DisconnectedError, JudgerankError, NoMaximumError
from judgerank.engine.adam import Adam
from judgerank.engine.newton import Newton
from judgerank.inference.intervals import RELATIVE
from judgerank.order.scale import scale_of

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


# Results by the names their users type: those of statsmodels in a fit, tables and models in a ranking.


DESCRIBED = {
    "plain": {},
    "shrunk": {"model": "position_aware", "shrink": True},
    "clustered": {"model": "position_aware", "cluster": "question"},
    "btl": {"model": "btl"},
    "fixed scale": {"model": "position_only"},
    "ties": {"model": "position_aware_ties"},
    "effects": {"model": "position_aware_ties", "questions": "effects"},
    "shrunk_block": {"blocks": ["category"]},
    "no effects": {"model": "btl_ties", "questions": "effects"},
}


@pytest.fixture(scope="module")
def fits():
    return {name: fit(judgerank.example(), **how) for name, how in DESCRIBED.items()}


@pytest.fixture(scope="module")
def firm(cells_of):
    """A fit without intervals: a judge with a slope who never errs."""
    rows = [("a", "b", "x", 6, 3), ("b", "c", "x", 5, 4), ("a", "c", "x", 6, 2), ("a", "b", "firm", 6, 0)]
    rows += [("c", "b", "firm", 0, 5)]
    return fit(cells_of(*((*row, (-1.0) ** number) for number, row in enumerate(rows))), "length")


@pytest.fixture(scope="module")
def ranking():
    return rank(judgerank.example())


# a fit


@pytest.mark.parametrize("name", DESCRIBED)
def test_params_are_the_estimates_with_labels(fits, name):
    result = fits[name]
    frame = result.to_frame().query("parameter != 'relative sigma'").set_index(["parameter", "name"])
    pd.testing.assert_series_equal(result.params, frame["estimate"], check_names=False)
    pd.testing.assert_series_equal(result.bse, frame["standard_error"], check_names=False)
    pd.testing.assert_series_equal(result.params["score"], result.scores, check_names=False)
    for alpha in (0.05, 0.2):
        ends = result.to_frame(1 - alpha).set_index(["parameter", "name"]).loc[frame.index, ["low", "high"]]
        assert_allclose(result.conf_int(alpha), ends, rtol=1e-12)
        assert list(result.conf_int(alpha)) == [0, 1] and result.conf_int(alpha).index.equals(frame.index)


@pytest.mark.parametrize("name", DESCRIBED)
def test_the_covariance_has_the_squares_of_the_errors_and_those_of_contrasts(fits, name):
    result, covariance = fits[name], fits[name].cov_params()
    assert covariance.index.equals(result.params.index) and covariance.columns.equals(result.params.index)
    assert_allclose(np.sqrt(np.diag(covariance)), result.bse, rtol=1e-9)
    assert_allclose(covariance, covariance.T, rtol=1e-12, atol=1e-18)
    lead = result.contrast({"oak": 1.0, "thorn": -1.0})
    weights = pd.Series(0.0, result.params.index)
    weights["score", "oak"], weights["score", "thorn"] = 1.0, -1.0
    assert weights @ covariance.fillna(0.0) @ weights == pytest.approx(lead["standard_error"] ** 2)


def test_the_covariance_of_sigma_with_scores_is_that_behind_the_error_of_their_ratio(fits):
    result, n = fits["effects"], 6
    covariance = result.cov_params()
    scores, s = [("score", model) for model in result.scores.index], result.scores.to_numpy()
    gradient = np.r_[-s / (s @ s), 1 / result.sigma]  # of log sigma - log sd(s)
    (sigma,) = (name for name in covariance.index if name[0] == "sigma")
    part = covariance.loc[[*scores, sigma], [*scores, sigma]]
    row = result.to_frame().set_index("parameter").loc[RELATIVE]
    assert len(scores) == n
    assert row["standard_error"] / row["estimate"] == pytest.approx(np.sqrt(gradient @ part.to_numpy() @ gradient))


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("name", DESCRIBED)
def test_a_p_value_is_below_alpha_where_the_interval_misses_the_null_value(fits, name, alpha):
    result = fits[name]
    ends, p = result.conf_int(alpha), result.pvalues
    kind = result.params.index.get_level_values("parameter")
    null = np.where(kind.isin(["discrimination", "tie"]), 1.0, 0.0)
    tested = result.bse.notna() & (kind != "sigma")
    assert p[tested].notna().all() and p[~tested].isna().all()
    assert ((p < alpha) == ((ends[0] > null) | (ends[1] < null)))[tested].all()


def test_the_log_likelihood_and_criteria_are_those_of_their_definitions(fits):
    result, size = fits["plain"], 6 - 1 + 4 - 1  # a judge at zero is not counted
    assert result.llf == result.log_likelihood
    assert result.nobs == 1500
    assert result.aic == pytest.approx(2 * size - 2 * result.llf)
    assert result.bic == pytest.approx(np.log(1500) * size - 2 * result.llf)


@pytest.mark.parametrize("name", [*DESCRIBED, "firm"])
def test_python_can_ask_for_every_attribute(fits, firm, name):
    """Whether it is there, with a default, and all at once: also of what is not listed, and without intervals."""
    result = firm if name == "firm" else fits[name]
    assert [member for member, _ in inspect.getmembers(result)] == dir(result)
    assert all(hasattr(result, member) for member in dir(result))
    for member in {*dir(type(result)), *vars(result)}:
        getattr(result, member, None)


# of statsmodels, lifelines and scikit-learn, then the model's, then ways to show, test and keep it
NAMES = """
params bse pvalues conf_int cov_params llf nobs aic bic summary predict
scores ranks discrimination slope position tie strength sigma spread errors
confidence_intervals to_frame leaderboard plot save contrast discrimination_curve
clustered for_this_panel test wald order categories probability member
status converged remarks judge_status judges_at_zero unbounded_judges
comparisons model settings
"""
# of other modules; they may change
UNLISTED = """
blocks clusters covariance degrees_of_freedom degrees_of_pairs degrees_of_scores dispersion effects
level_probabilities likelihood_ratio log_likelihood marginal_log_likelihood merged n_parameters parameters question
question_keys ranking_probability raw relative_sigma scale_weights slopes_at_bound solution standard_errors
tie_probability win_probability without
"""


def test_the_public_names_of_a_fit_are_these(fits):
    names = dir(fits["plain"])
    assert len(names) <= 45 and sorted(names) == sorted(NAMES.split())
    every = {name for name in object.__dir__(fits["plain"]) if not name.startswith("_")}
    assert every == {*NAMES.split(), *UNLISTED.split()}


def test_a_saved_fit_has_the_fields_that_earlier_versions_wrote(fits, tmp_path):
    """Those of `errors` lie among those of the fit, so that files go both ways."""
    fits["plain"].clustered().save(tmp_path / "fit.npz")
    with np.load(tmp_path / "fit.npz") as file:
        saved = json.loads(str(file["header"]))["fit"]
    of_errors = """
    robust meat by_cluster n_clusters effective_clusters effective_by_pair of_panel flips across flips_across
    tastes panel sizes
    """
    of_fit = """
    comparisons model settings solution effects raw question without remarks merged scale_weights question_keys
    clusters
    """
    assert saved.keys() == {*of_fit.split(), *of_errors.split()}
    again = judgerank.load(tmp_path / "fit.npz")
    assert again.errors.n_clusters == 150 and again.bse.equals(fits["plain"].clustered().bse)


def test_the_public_names_of_a_ranking_are_these(ranking):
    listed = """
    leaderboard judges pairs summary plot without fit fits tables categories remarks title settings judgments
    write export to_html board_text panel_fit anchors clustered recusal sampled_by whose
    """
    assert sorted(name for name in dir(ranking) if not name.startswith("_")) == sorted(listed.split())
    for name, _ in inspect.getmembers(ranking):
        assert hasattr(ranking, name)
    assert repr(ranking).splitlines()[1].split()[:3] == ["rank", "model", "score"]


def test_what_does_not_exist_is_missing(fits, firm):
    assert np.isnan([fits["shrunk"].aic, fits["shrunk_block"].bic, fits["plain"].sigma]).all()
    assert firm.params.notna().all()
    assert firm.bse.isna().all() and firm.pvalues.isna().all() and firm.conf_int().isna().all(axis=None)
    with pytest.raises(NoIntervalError, match="unbounded"):
        firm.cov_params()


@pytest.mark.parametrize("alpha", [0.95, 0, 1, -0.1, 95])
def test_a_level_given_as_alpha_is_refused_with_the_cure(fits, alpha):
    with pytest.raises(ConfigError, match=r"conf_int\(0.05\)"):
        fits["btl"].conf_int(alpha)


@pytest.mark.parametrize("name", DESCRIBED)
def test_the_table_of_scores_says_its_scale_where_the_leaderboard_has_another(fits, name):
    result = fits[name]
    factor = scale_of(result).factor
    (line,) = [line for line in result.summary().splitlines() if line.startswith("score (")]
    assert (f"{factor:.4f}" in line) == (factor != 1)
    board = result.leaderboard().set_index("model")["score"]
    assert_allclose(board[result.scores.index], result.scores * factor, rtol=1e-9)


# a ranking


def test_tables_are_attributes_which_may_be_changed(ranking):
    for name in ("leaderboard", "judges", "pairs"):
        table = getattr(ranking, name)
        pd.testing.assert_frame_equal(table, ranking.tables[name])
        table["changed"] = 1
        assert "changed" not in ranking.tables[name]


def test_a_ranking_holds_its_models_best_first(ranking):
    assert list(ranking) == ranking.leaderboard["model"].tolist()
    assert len(ranking) == 6
    assert "oak" in ranking and "ok" not in ranking and 3 not in ranking
    for model in ranking:
        row = ranking[model]
        expected = ranking.leaderboard.set_index("model").loc[model]
        assert row.index.equals(expected.index) and (row == expected).all()
    with pytest.raises(KeyError, match=r"'ok'.*oak, maple"):
        ranking["ok"]


def test_its_repr_is_a_table_and_its_summary_has_the_verdict(ranking):
    lines = repr(ranking).splitlines()
    assert lines[0] == ranking.title
    assert [line.split()[1] for line in lines[2:8]] == list(ranking)
    assert ranking.summary() == str(ranking)
    assert ranking.summary().endswith("\n".join(lines[1:]))
    first = np.arange(40)
    names = tuple(f"{'m' * 300}{i}" for i in first)
    many = Comparisons(names, ("j",), first, np.roll(first, 1), np.zeros(40, int), np.ones(40))
    text = repr(rank(many, model="btl"))
    assert len(text.splitlines()) < 25 and max(map(len, text.splitlines())) < 200


def test_pairs_and_rank_intervals_take_a_ranking(ranking):
    pd.testing.assert_frame_equal(pairwise(ranking), pairwise(ranking.fit))
    pd.testing.assert_frame_equal(rank_intervals(ranking), rank_intervals(ranking.fit))
    pd.testing.assert_frame_equal(ranking.pairs[list(pairwise(ranking))], pairwise(ranking))


def test_without_judges_is_the_ranking_of_the_others(ranking):
    judgments = judgerank.example()
    for judges in ("judge-random", ["judge-random", "judge-first"]):
        others = judgments[~judgments["judge"].isin([judges] if isinstance(judges, str) else judges)]
        without, expected = ranking.without(judges=judges), rank(others)
        pd.testing.assert_frame_equal(without.leaderboard, expected.leaderboard)
        pd.testing.assert_frame_equal(without.judges, expected.judges)
        assert without.settings == ranking.settings
    assert len(ranking.judges) == 5  # which is as it was


def test_without_models_is_the_ranking_of_the_others(ranking):
    judgments = judgerank.example()
    others = judgments[~judgments[["model_a", "model_b"]].isin(["oak"]).any(axis=1)]
    pd.testing.assert_frame_equal(ranking.without(models="oak").leaderboard, rank(others).leaderboard)


def test_judges_that_are_not_there_or_all_are_refused(ranking):
    for judges in ("nobody", ["judge-first", "nobody"]):
        with pytest.raises(ConfigError, match="nobody"):
            ranking.without(judges=judges)
    with pytest.raises(DataError, match=rf"of the {len(ranking.judgments.frame):,}\b.*--"):
        ranking.without(judges=ranking.judges["judge"])


def test_a_plot_takes_one_scale_and_the_extra(ranking, monkeypatch):
    assert len(ranking.plot().axes) == 2
    islands = pd.concat([judgerank.example(), judgerank.example().replace({"oak": "ash", "maple": "elm"})])
    other = {"willow": "w", "cedar": "c", "hazel": "h", "thorn": "t"}
    islands = pd.concat([judgerank.example(), islands.iloc[1500:].replace(other)])
    with pytest.raises(ConfigError, match="2 components"):
        rank(islands).plot()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for module in [name for name in sys.modules if name.startswith(("matplotlib.", "judgerank.plots"))]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ConfigError, match="plot"):
        ranking.plot()


# both


def test_the_docs_show_the_line_that_makes_fit_equal_to_rank():
    from replication.config import ROOT

    page = (ROOT / "docs/tutorials/python.md").read_text()
    (code,) = [block.split("```")[0] for block in page.split("```py\n") if "ranking.fit.scores" in block]
    names: dict[str, object] = {}
    exec(compile(code, "python.md", "exec"), names)
    result, ranking = names["result"], names["ranking"]
    assert_allclose(result.scores, ranking.fit.scores, rtol=0)
    board = ranking.leaderboard.set_index("model")
    expected = result.leaderboard().set_index("model")
    pd.testing.assert_frame_equal(board[list(expected)], expected, check_dtype=False)
