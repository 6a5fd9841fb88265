"""A table of judges by pairs says the same as the list of its rows."""

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from judgerank.engine.likelihood import evaluate
from judgerank.engine.rows import LONG, BlockColumns, Listed, Table, laid_out
from judgerank.model.block import Role
from judgerank.model.members import JUDGE_AWARE, MEMBERS, Parameters

WITHOUT_SLOPE = [member for member in MEMBERS if not member.has_slope]


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


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
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
    for member in MEMBERS:
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
