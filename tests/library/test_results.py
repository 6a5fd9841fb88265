"""Results by the names their users type: those of statsmodels in a fit, tables and models in a ranking."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import judgerank
from judgerank import ConfigError, DataError, NoIntervalError, fit, pairwise, rank, rank_intervals
from judgerank.data.comparisons import Comparisons
from judgerank.inference.intervals import RELATIVE
from judgerank.order.scale import scale_of

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


def test_tab_completion_shows_at_most_45_names(fits):
    names = dir(fits["plain"])
    assert len(names) <= 45 and not any(member.startswith("_") for member in names)


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
    with pytest.raises(ConfigError, match="2 groups"):
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
