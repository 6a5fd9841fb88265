"""Many models, judges and comparisons, and judges by pairs as a table: what is quick against what is exact."""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from judgerank import Comparisons, Fit, Status, fit
from judgerank.data import connectivity
from judgerank.data.errors import DataError
from judgerank.engine import multistart, search
from judgerank.engine.likelihood import evaluate
from judgerank.engine.penalised import Penalised
from judgerank.engine.penalty import arrow
from judgerank.engine.problem import BlockProblem, Problem
from judgerank.engine.rows import LONG, BlockColumns, Listed, Table, laid_out
from judgerank.fits.fitted import bar, beginning
from judgerank.model import members
from judgerank.model.block import Role
from judgerank.model.members import JUDGE_AWARE, MODELS, Parameters
from judgerank.order import equality as separation_at_scale
from judgerank.order import pairs as ranks

N, K, T = 60, 8, 9_000
MEMBERS = ("btl", "judge_aware", "position_aware")


def panel(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and discriminations at random."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), np.exp(rng.normal(scale=0.5, size=K))


@pytest.fixture(scope="module")
def raw(simulated) -> Comparisons:
    return simulated(19, *panel(19, N), T, ties=0.1)


@pytest.fixture(scope="module", params=MEMBERS)
def kinds(raw, request) -> tuple[Fit, Fit]:
    fitted = fit(raw, request.param)
    return fitted, fitted.clustered(raw, np.random.default_rng(0).integers(600, size=T))


# weights under equality


def statistics(order: ranks.Order) -> np.ndarray:
    return (order.difference[1] / order.error[1])[np.triu_indices(N, 1)]


def test_the_weights_of_all_pairs_are_all_but_those_of_each(kinds, monkeypatch):
    exact = ranks.orders_by_errors(*kinds)
    monkeypatch.setattr(separation_at_scale, "WORK", 0.0)
    quick = ranks.orders_by_errors(*kinds)
    one_weight = kinds[0].model.name == "btl"
    for number, limit in enumerate((2e-3, 6e-2)):  # of the model's errors, and those by clusters
        (one,), (other,) = exact[number], quick[number]
        assert_allclose(other.error[0], one.error[0])
        i, j = np.triu_indices(N, 1)
        change = other.error[1][i, j] / one.error[1][i, j] - 1
        assert np.abs(change).max() < (1e-9 if one_weight else limit)
        near = np.abs(statistics(one)) < 4  # beyond, either says that the two differ
        assert np.abs(statistics(other) - statistics(one))[near].max() < (1e-9 if one_weight else 0.15)
        assert_allclose(other.difference[1], -other.difference[1].T)


def test_components_are_tested_apart_at_scale_too(raw, monkeypatch):
    monkeypatch.setattr(separation_at_scale, "WORK", 0.0)
    one, two = raw.take(np.arange(2000)), raw.take(np.arange(2000, 3000))
    apart = {name: np.r_[getattr(one, name), getattr(two, name) + N] for name in ("first", "second")}
    models = tuple(f"m{i:03d}" for i in range(2 * N))
    both = Comparisons(
        models, raw.judges, **apart, judge=np.r_[one.judge, two.judge], outcome=np.r_[one.outcome, two.outcome]
    )
    result = fit(both, solver="penalised")
    found = list(ranks.orders(result))
    assert [len(order.models) for order in found] == [N, N]
    assert all(np.isfinite(order.difference).all() for order in found)


def test_results_of_an_order_are_computed_once(raw, monkeypatch):
    result = fit(raw)
    first = ranks.pairwise(result)
    monkeypatch.setattr(ranks, "orders_by_errors", None)
    assert ranks.pairwise(result).equals(first)
    with pytest.raises(TypeError):
        ranks.pairwise(replace(result))


# comparisons that grow


@pytest.fixture(scope="module")
def frame(raw) -> pd.DataFrame:
    return raw.to_frame()


def test_extended_comparisons_are_those_of_both_tables(frame):
    early = frame[(frame["model_a"] != "m7") & (frame["model_b"] != "m7") & (frame["judge_model"] != "j3")]
    late = frame.drop(early.index)
    grown = Comparisons.from_frame(early).extended(late)
    whole = Comparisons.from_frame(frame)
    assert (grown.models, grown.judges) == (whole.models, whole.judges)
    for columns in ("first", "second", "judge", "outcome", "count"):
        assert_allclose(getattr(grown.aggregate(), columns), getattr(whole.aggregate(), columns))
    cells = Comparisons.from_frame(early).aggregate().extended(late).aggregate()
    assert_allclose(cells.count, whole.aggregate().count)


def test_answers_dropped_are_counted_on_and_judges_who_are_not_heard_are_left_out(frame):
    start = Comparisons.from_frame(frame.iloc[:500])
    silent = frame.iloc[500:502].assign(judge_preferred_model=["unknown", "a"], judge_model=["j0", "j1"])
    grown = start.extended(silent).extended(silent)
    assert (len(grown), grown.dropped["unknown"]) == (502, 2)
    other = start.extended(silent.assign(judge_model=["new", "j1"]))
    assert (other.judges, len(other), other.dropped["unknown"]) == (start.judges, 501, 1)


def test_counts_ties_and_covariates_are_kept(frame):
    counted = frame.assign(times=3, z=np.linspace(-1, 1, len(frame)))
    start = Comparisons.from_frame(counted.iloc[:500], "z", "times")
    grown = start.extended(counted.iloc[500:600], "z", "times")
    assert grown.n_comparisons == 1800
    assert grown.tied is not None
    assert_allclose(grown.covariate, counted["z"].iloc[:600])
    with pytest.raises(DataError, match=r"\(covariate\)"):
        start.extended(counted.iloc[500:600])


@pytest.mark.parametrize("member", [*MEMBERS, "position_aware_ties"])
def test_a_fit_of_a_part_leads_to_the_fit_of_the_whole(frame, member):
    """New models and judges among the further ones."""
    early = frame[(frame["model_a"] != "m7") & (frame["model_b"] != "m7") & (frame["judge_model"] != "j3")]
    part = Comparisons.from_frame(early)
    whole = part.extended(frame.drop(early.index))
    cold, warm = fit(whole, member), fit(whole, member, start=fit(part, member))
    assert_allclose(warm.scores, cold.scores, atol=1e-7)
    assert_allclose(warm.discrimination, cold.discrimination, atol=1e-7)
    assert warm.status == cold.status
    few = fit(part.extended(frame.drop(early.index)).extended(frame.iloc[:90]), member, start=cold)
    assert few.solution.iterations <= 3


def test_a_start_of_another_member_or_of_other_comparisons_is_no_bar(raw, frame):
    part = raw.take(np.arange(T // 2))
    before, cells = fit(part), raw.aggregate()
    model = before.model
    assert bar(before, cells, fit(raw, "position_aware").model) == np.inf
    assert bar(before, raw.take(np.arange(T // 4, T)).aggregate(), model) == np.inf
    start = beginning(fit(part, "position_aware"), cells, model)
    assert start.judges.shape == (1, K)
    assert_allclose(fit(raw, start=fit(part, "position_aware")).scores, fit(raw).scores, atol=1e-7)


def test_when_another_maximum_becomes_the_higher_it_is_found(cells_of):
    """Two judges of one mind, one of the other; further answers of the one turn the balance."""
    rows = [("a", "b"), ("b", "c"), ("a", "c")]
    strong = [(*pair, judge, 9, 3) for pair in rows for judge in ("x", "y")]
    weak = [(*pair, "z", 3, 9) for pair in rows]
    before = fit(cells_of(*strong, *weak))
    more = pd.DataFrame(
        [(a, b, "z", "b") for a, b in rows for _ in range(150)],
        columns=["model_a", "model_b", "judge_model", "judge_preferred_model"],
    )
    whole = before.comparisons.extended(more)
    cold, warm = fit(whole), fit(whole, start=before)
    assert before.scores["a"] > before.scores["c"]
    assert cold.scores["a"] < cold.scores["c"]
    assert_allclose(warm.scores, cold.scores, atol=1e-7)
    local = fit(whole, start=beginning(before, whole.aggregate(), before.model))
    assert local.log_likelihood < cold.log_likelihood - 1.0  # the one climb alone does not find it


def test_the_bar_is_no_lower_than_what_any_other_maximum_reaches(raw):
    """Further comparisons lower the log-likelihood wherever it is taken."""
    part = fit(raw.take(np.arange(T // 2)))
    at = part.solution.parameters
    assert evaluate(raw.aggregate(), part.model, at).log_likelihood < part.log_likelihood


# many judges


GIVEN = {"scores": 0.8, "log_discrimination": 0.5, "slope": 0.3, "position": 0.7, "log_tie": 0.6}


@pytest.fixture(scope="module")
def many_judges(simulated) -> Comparisons:
    rng = np.random.default_rng(5)
    return simulated(
        5, rng.normal(size=9), np.exp(rng.normal(scale=0.4, size=50)), 400, slope=np.zeros(50), ties=0.2
    )


@pytest.mark.parametrize("member", MODELS)
def test_blocks_say_what_one_matrix_says(many_judges, member):
    model = MODELS[member]
    cells = (many_judges.with_ties() if model.has_ties else many_judges).aggregate()
    whole, blocks = Problem(cells, model), BlockProblem(cells, model)
    x = whole.mode(np.zeros(len(whole.coordinates.free_columns)), GIVEN, Penalised())[0]
    x = x + np.random.default_rng(1).normal(scale=0.01, size=len(x))
    for curvature in ("observed", "expected"):
        one, other = whole.look(x, GIVEN, curvature), blocks.look(x, GIVEN, curvature)
        assert_allclose(other[0], one[0])
        assert_allclose(other[1], one[1], atol=1e-10)
        assert np.linalg.eigvalsh(one[2])[0] > 0
        assert_allclose(blocks.ascent(x, GIVEN, *other[:0:-1]), whole.ascent(x, GIVEN, *one[:0:-1]), atol=1e-9)
    assert_allclose(blocks.marginal(x, GIVEN), whole.marginal(x, GIVEN))


def test_blocks_know_when_the_likelihood_curves_upward(many_judges):
    """Far from the maximum, where observed information has a negative eigenvalue: the step is then another's."""
    cells, told = many_judges.aggregate(), []
    whole, blocks = Problem(cells, JUDGE_AWARE), BlockProblem(cells, JUDGE_AWARE)
    for seed in range(30):
        x = np.random.default_rng(seed).normal(scale=0.1 + 0.06 * seed, size=len(whole.coordinates.free_columns))
        least = np.linalg.eigvalsh(whole.look(x, GIVEN, "observed")[2])[0]
        at, full = whole.parameters(x), whole.evaluated(x, whole.parameters(x), "observed")
        found = arrow(JUDGE_AWARE, at, whole._logarithmic(full), GIVEN, True, cells.at_mean)
        told.append(found.is_positive)
        assert least > 0 or not found.is_positive  # a step that is taken goes up
        assert blocks.look(x, GIVEN, "observed")[2].is_positive
    assert True in told
    assert False in told


@pytest.mark.parametrize("member", ["judge_aware", "position_aware"])
def test_a_fit_by_blocks_is_the_fit_and_is_a_maximum(many_judges, member, monkeypatch):
    expected = fit(many_judges, member, "penalised")
    monkeypatch.setattr("judgerank.engine.problem.LARGE", 0)
    found = fit(many_judges, member, "penalised")
    assert found.status == expected.status == Status.SHRUNK
    assert_allclose(found.scores, expected.scores, atol=1e-6)
    assert_allclose(found.discrimination, expected.discrimination, atol=1e-6)
    problem = BlockProblem(found._working_comparisons, found.model)
    height, gradient, _ = problem.look(problem.point_of(found.solution.parameters), found.solution.spread)
    assert np.abs(gradient).max() <= 1e-9 * abs(height)


# sparse systems


@pytest.mark.parametrize("member", ["judge_aware", "position_aware"])
def test_rough_climbs_by_conjugate_gradients_end_where_others_do(raw, member, monkeypatch):
    cells, model = raw.aggregate(), MODELS[member]
    expected = search.rough_ends(cells, model, search.BOX)
    monkeypatch.setattr(multistart, "SPARSE", 0)
    monkeypatch.setattr(multistart, "_solved", None)  # no matrix is formed
    found = search.rough_ends(cells, model, search.BOX)
    assert_allclose(found.heights, expected.heights, rtol=1e-8)
    for one, other in zip(found.parameters, expected.parameters, strict=True):
        assert_allclose(one.scores, other.scores, atol=1e-4)


def test_the_share_of_a_position_is_that_of_the_decomposition(raw, monkeypatch):
    uneven = raw.take(np.flatnonzero((raw.first < raw.second) | (raw.judge == 0)))
    expected = connectivity.position_share(uneven)
    assert 0.01 < expected < 0.99
    monkeypatch.setattr(connectivity, "LARGE", 0)
    assert_allclose(connectivity.position_share(uneven), expected, rtol=1e-6)


# A table of judges by pairs says the same as the list of its rows.


WITHOUT_SLOPE = [member for member in members.MEMBERS if not member.has_slope]


@pytest.fixture(scope="module")
def cells(simulated):
    """Cells with gaps and ties, some pairs shown both ways round."""
    raw = simulated(1, (1.1, 0.2, -0.4, -0.9), (0.5, 1.0, 2.0), 150, ties=0.1).with_ties()
    turned = np.arange(len(raw)) % 3 == 0
    first, second = np.where(turned, [raw.second, raw.first], [raw.first, raw.second])
    outcome = np.where(turned, 1 - raw.outcome, raw.outcome)
    rows = replace(raw, first=first, second=second, outcome=outcome, covariate=None).aggregate()
    kept = rows.judge + rows.first != 2
    columns = ("first", "second", "judge", "outcome", "count", "tied")
    return replace(rows, **{name: getattr(rows, name)[kept] for name in columns})


@pytest.mark.parametrize("curvature", ["expected", "observed"])
@pytest.mark.parametrize("member", WITHOUT_SLOPE, ids=lambda member: member.name)
@pytest.mark.parametrize("size", [6, 1000])
def test_a_table_and_a_list_give_the_same(cells, member, size, curvature, monkeypatch):
    rng = np.random.default_rng(2)
    at = Parameters(rng.normal(size=4), 0.5 * rng.normal(size=(len(member.judge_blocks), 3)))
    monkeypatch.setattr("judgerank.engine.likelihood.CHUNK", size)
    found = {}
    for many, kind in ((0, Table), (len(cells) + 1, Listed)):
        monkeypatch.setattr("judgerank.engine.rows.MIN_ROWS", many)
        own = replace(cells)  # layouts are remembered for one object
        assert {type(part) for part in laid_out(own, size)} == {kind}
        found[kind] = evaluate(own, member, at, curvature)
    for field in fields(found[Table]):
        one, other = (getattr(found[kind], field.name) for kind in (Table, Listed))
        assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=field.name)


@pytest.mark.parametrize("member", members.MEMBERS, ids=lambda member: member.name)
def test_rows_of_a_pair_add_up_the_same_wherever_they_stand(cells, member):
    rng = np.random.default_rng(3)
    at = Parameters(rng.normal(size=4), 0.5 * rng.normal(size=(len(member.judge_blocks), 3)))
    by_pair = replace(cells, covariate=rng.normal(size=len(cells)))
    order = np.argsort(by_pair.judge, kind="stable")  # hardly two rows of a pair next to each other
    columns = ("first", "second", "judge", "outcome", "count", "covariate", "tied")
    by_judge = replace(by_pair, **{name: getattr(by_pair, name)[order] for name in columns})
    runs = [int(np.sum(np.diff(rows.first * 4 + rows.second) != 0)) for rows in (by_pair, by_judge)]
    assert 2 * runs[0] < len(cells) < 2 * runs[1]
    one, other = (evaluate(rows, member, at, "observed") for rows in (by_pair, by_judge))
    for field in fields(one):
        same = [getattr(found, field.name) for found in (one, other)]
        assert_allclose(*same, rtol=1e-12, atol=1e-12, err_msg=field.name)


def test_lists_of_many_rows_are_kept_up_to_a_number_and_give_the_same_bits(cells, monkeypatch):
    at = Parameters(np.linspace(-1, 1, 4), np.zeros((1, 3)))
    monkeypatch.setattr("judgerank.engine.rows.SMALL", 5)
    monkeypatch.setattr("judgerank.engine.rows.MIN_ROWS", 0)
    found = []
    for most in (len(cells), len(cells) - 1):
        monkeypatch.setattr("judgerank.engine.rows.MAX_CACHED_ROWS", most)
        own = replace(cells)
        assert (laid_out(own, 6) is laid_out(own, 6)) == (most == len(cells))
        assert {type(part) for part in laid_out(own, 6)} == {Listed}
        found.append(evaluate(own, JUDGE_AWARE, at, "observed"))
    for field in fields(found[0]):
        assert_array_equal(*(getattr(one, field.name) for one in found), err_msg=field.name)


@pytest.mark.parametrize("rows", ["raw", "sparse", "unsorted"])
def test_rows_that_make_no_table_stay_a_list(cells, rows, monkeypatch):
    monkeypatch.setattr("judgerank.engine.rows.MIN_ROWS", 0)
    index = {"raw": np.repeat(np.arange(len(cells)), 2), "sparse": np.arange(0, len(cells), 4)}
    index["unsorted"] = np.arange(len(cells))[::-1]
    chosen = {name: getattr(cells, name)[index[rows]] for name in ("first", "second", "judge", "outcome", "count")}
    part = replace(cells, tied=None, **chosen)
    assert all(isinstance(found, Listed) for found in laid_out(part, 1000))


@pytest.mark.parametrize("repeats", [1, 3 * LONG])
def test_sums_over_long_runs_of_rows_are_those_over_rows(cells, repeats):
    """Rows of one pair and judge that differ in a covariate, as many as make sums over runs worth their while."""
    rng, columns = np.random.default_rng(5), ("first", "second", "judge", "outcome", "count", "tied")
    rows = replace(cells, **{name: np.repeat(getattr(cells, name), repeats) for name in columns})
    rows = replace(rows, covariate=rng.normal(size=len(rows)))
    mixed = rng.permutation(len(rows))
    other = replace(rows, **{name: getattr(rows, name)[mixed] for name in (*columns, "covariate")})
    for member in members.MEMBERS:
        at = Parameters(rng.normal(size=4), 0.5 * rng.normal(size=(len(member.judge_blocks), 3)))
        one, two = (evaluate(each, member, at, "observed") for each in (rows, other))
        for field in fields(one):
            same = [getattr(found, field.name) for found in (one, two)]
            assert_allclose(*same, rtol=1e-10, atol=1e-10, err_msg=f"{member.name}: {field.name}")


@pytest.mark.parametrize("repeats", [1, 3 * LONG])
@pytest.mark.parametrize("filled", [0.0, 0.3, 1.0])
def test_sums_of_columns_are_products_of_matrices(cells, repeats, filled):
    rng, (n, k) = np.random.default_rng(6), (4, 3)
    first, second, judge = (np.repeat(ids, repeats) for ids in (cells.first, cells.second, cells.judge))
    x = rng.normal(size=(len(first), 3)) * (rng.random((len(first), 3)) < filled)
    roles, values = (Role.OFFSET, Role.QUALITY, Role.OFFSET), rng.normal(size=len(first))
    columns = BlockColumns(csr_array(x), roles, (first, second), n, judge, k)
    of = {Role.OFFSET: x[:, [0, 2]], Role.QUALITY: x[:, [1]]}
    signs, judges = np.eye(n)[first] - np.eye(n)[second], np.eye(k)[judge]
    for role, own in of.items():
        weighted = own * values[:, None]
        assert_allclose(columns.by_model(role, values), signs.T @ weighted, atol=1e-10)
        assert_allclose(columns.by_judge(role, values), judges.T @ weighted, atol=1e-10)
        assert_allclose(columns.by_column(role, values), weighted.sum(axis=0), atol=1e-10)
        assert_allclose(columns.form(role, np.arange(3.0)), own @ columns.places[role], atol=1e-12)
        for other, there in of.items():
            assert_allclose(columns.by_two(role, other, values), weighted.T @ there, atol=1e-10)
