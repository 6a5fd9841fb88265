"""Reading judgments, refusing bad ones, aggregation, filters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from judgerank import Comparisons, fit
from judgerank.data import comparisons as aggregation
from judgerank.data.arrays import generator, numbered, sizes
from judgerank.data.comparisons import POOLED_JUDGE
from judgerank.data.errors import DataError, JudgerankError, NotIdentifiedError
from judgerank.data.frames import COLUMNS, numbered_questions, question_keys
from judgerank.engine.problem import USUAL, in_units
from judgerank.model.members import MEMBERS
from studies.torture.fits import answer, differ, drawn, tellings

KEY = ["first", "second", "judge"]
EPS = np.finfo(float).eps
GOOD = [("b", "a", "y", "a"), ("a", "c", "x", "b"), ("c", "b", "y", "c")]


def table(rows: Comparisons) -> pd.DataFrame:
    columns = {name: getattr(rows, name) for name in (*KEY, "outcome", "count")}
    if rows.covariate is not None:
        columns["covariate"] = rows.covariate
    return pd.DataFrame(columns)


def grouped(rows: Comparisons, key: list[str]) -> pd.DataFrame:
    """Aggregation as pandas does it."""
    frame = table(rows)
    frame["wins"] = frame["outcome"] * frame["count"]
    sums = frame.groupby(key, as_index=False)[["wins", "count"]].sum()
    sums["outcome"] = sums.pop("wins") / sums["count"]
    return sums[[*key, "outcome", "count"]]


@st.composite
def rows_of_comparisons(draw, with_covariate=True):
    """Few labels, so that keys repeat; counts and outcomes whose sums are exact in double precision."""
    n, k, size = draw(st.integers(2, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 40))
    pairs = st.permutations(range(n)).map(lambda order: order[:2])
    pair = np.array(draw(st.lists(pairs, min_size=size, max_size=size)))

    def column(values):
        return np.array(draw(st.lists(values, min_size=size, max_size=size)))

    return Comparisons(
        tuple("abcd"[:n]),
        tuple("xyz"[:k]),
        pair[:, 0],
        pair[:, 1],
        column(st.integers(0, k - 1)),
        column(st.sampled_from([0.0, 0.5, 1.0])),
        column(st.integers(1, 5)) if draw(st.booleans()) else None,
        column(st.sampled_from([-1.5, 0.0, 0.1, 2.0])) if with_covariate and draw(st.booleans()) else None,
    )


# reading


def test_labels_are_sorted_and_index_the_rows(frame):
    read = Comparisons.from_frame(frame(*GOOD))
    assert read.models == ("a", "b", "c")
    assert read.judges == ("x", "y")
    assert [read.judges[k] for k in read.judge] == ["y", "x", "y"]


def test_the_model_shown_first_stays_first(frame):
    read = Comparisons.from_frame(frame(*GOOD))
    assert [read.models[i] for i in read.first] == ["b", "a", "c"]
    assert [read.models[i] for i in read.second] == ["a", "c", "b"]


def test_preferences_become_outcomes_of_the_first_model(frame):
    read = Comparisons.from_frame(frame(*GOOD))
    assert_array_equal(read.outcome, [1.0, 0.0, 0.5])
    assert_array_equal(read.count, [1.0, 1.0, 1.0])
    assert read.n_comparisons == len(read) == 3


def test_unknown_and_null_are_dropped_and_counted_apart(frame):
    unparsed = [("a", "b", "x", "unknown"), ("a", "b", "x", None), ("b", "c", "y", "unknown")]
    unparsed += [("a", "b", "y", float("nan")), ("c", "a", "y", "unknown")]
    rows = frame(unparsed[0], GOOD[0], *unparsed[1:3], GOOD[1], *unparsed[3:], GOOD[2])
    read = Comparisons.from_frame(rows)
    assert read.dropped == {"unknown": 3, "null": 2}
    assert_array_equal(read.outcome, [1.0, 0.0, 0.5])
    assert [read.models[i] for i in read.first] == ["b", "a", "c"]


def test_nothing_dropped_counts_zero(frame):
    assert Comparisons.from_frame(frame(*GOOD)).dropped == {"unknown": 0, "null": 0}


def test_a_model_met_in_unparsed_records_only_keeps_its_label(frame):
    read = Comparisons.from_frame(frame(*GOOD, ("d", "a", "x", "unknown")))
    assert read.models == ("a", "b", "c", "d")


def test_the_index_of_the_frame_does_not_matter(frame):
    plain = frame(*GOOD, ("a", "b", "x", "unknown"), ("a", "b", "x", "a"))
    expected = Comparisons.from_frame(plain)
    for index in ([7, 7, 3, -1, 0], list("edcba"), [4, 3, 2, 1, 0]):
        read = Comparisons.from_frame(plain.set_axis(index))
        assert (read.models, read.judges, read.dropped) == (expected.models, expected.judges, expected.dropped)
        pd.testing.assert_frame_equal(table(read), table(expected))


def test_columns_may_be_strings_or_categories(frame):
    expected = table(Comparisons.from_frame(frame(*GOOD, ("a", "b", "x", None))))
    for dtype in ("string", "category"):
        read = Comparisons.from_frame(frame(*GOOD, ("a", "b", "x", None)).astype(dtype))
        pd.testing.assert_frame_equal(table(read), expected)


def test_the_six_published_columns_are_read_and_others_ignored(frame):
    rows = frame(*GOOD).assign(question_id=[["f", 1], 2, "3"], judge_confidence=0.5, extra=None)
    assert set(COLUMNS) <= set(rows.columns)
    pd.testing.assert_frame_equal(table(Comparisons.from_frame(rows)), table(Comparisons.from_frame(frame(*GOOD))))


def test_the_covariate_follows_the_rows_that_are_kept(frame):
    rows = frame(GOOD[0], ("a", "b", "x", "unknown"), *GOOD[1:]).assign(z=[1.0, np.nan, 2.0, 3.0])
    assert_array_equal(Comparisons.from_frame(rows, covariate="z").covariate, [1.0, 2.0, 3.0])
    assert Comparisons.from_frame(rows).covariate is None


# refusing to read

BAD_RECORDS = {
    "unknown letter": (("a", "b", "x", "A"), r"record 4 has the unknown preference 'A' \(known: a, b, c.*\)"),
    "number for a letter": (("a", "b", "x", 1), r"record 4 has the unknown preference 1 \(known: .*\)"),
    "no model_a": ((None, "b", "x", "a"), "record 4 has no 'model_a': fill in the name or delete the record"),
    "no model_b": (("a", None, "x", "a"), "record 4 has no 'model_b': fill in the name or delete the record"),
    "no judge": (("a", "b", None, "a"), "record 4 has no 'judge_model': fill in the name or delete the record"),
    "number as model_a": ((3, "b", "x", "a"), "record 4 has 3 as 'model_a', not a name"),
    "number as model_b": (("a", 3, "x", "a"), "record 4 has 3 as 'model_b', not a name"),
    "empty model_b": (
        ("a", "", "x", "a"),
        "record 4 has '' as 'model_b', not a name: fill it in or delete the record",
    ),
    "number as judge": (("a", "b", 3.5, "a"), "record 4 has 3.5 as 'judge_model', not a name"),
}


@pytest.mark.parametrize(("record", "message"), BAD_RECORDS.values(), ids=BAD_RECORDS.keys())
def test_a_bad_record_is_refused_by_number(frame, record, message):
    later = [("a", "b", "x", "a"), ("b", "c", "y", "b")]
    with pytest.raises(DataError, match=f"^{message}$"):
        Comparisons.from_frame(frame(*GOOD, record, *later).set_axis(list("kjihgf")))


def test_a_judge_without_an_answer_is_left_out_and_counted(frame):
    c = Comparisons.from_frame(frame(*GOOD, ("a", "b", "A", "unknown"), ("a", "b", "A", None)))
    whole = Comparisons.from_frame(frame(*GOOD))
    assert (c.judges, c.judge.tolist()) == (whole.judges, whole.judge.tolist())
    assert c.dropped == {"unknown": whole.dropped["unknown"] + 1, "null": whole.dropped["null"] + 1}
    with pytest.raises(DataError, match="usable"):
        Comparisons.from_frame(frame(("a", "b", "z", "unknown")))


def test_the_first_of_several_bad_records_is_named(frame):
    rows = frame(*GOOD, ("a", "b", "x", "q"), ("a", "b", "x", "z"), ("a", "b", "x", "q"))
    with pytest.raises(DataError, match=r"^record 4 has the unknown preference 'q'"):
        Comparisons.from_frame(rows)


@pytest.mark.parametrize("column", ["model_a", "model_b", "judge_model", "judge_preferred_model"])
def test_a_missing_column_is_named(frame, column):
    with pytest.raises(DataError, match=rf"^the table has no column '{column}' \(it has: \w+, \w+, \w+\)$"):
        Comparisons.from_frame(frame(*GOOD).drop(columns=column))


def test_a_missing_covariate_column_is_named(frame):
    with pytest.raises(DataError, match=r"^the table has no column 'length' "):
        Comparisons.from_frame(frame(*GOOD), covariate="length")


def test_an_empty_frame_is_refused(frame):
    with pytest.raises(DataError, match=r"^there are no comparisons: the set is empty$"):
        Comparisons.from_frame(frame())


def test_a_data_error_is_also_a_value_error(frame):
    with pytest.raises(ValueError) as caught:
        Comparisons.from_frame(frame())
    assert isinstance(caught.value, JudgerankError)


# the constructor


def constructed(**changed):
    columns = {"models": ("a", "b"), "judges": ("x",), "first": [0, 1], "second": [1, 0], "judge": [0, 0]}
    columns |= {"outcome": [1.0, 0.5]} | changed
    names = columns.pop("models"), columns.pop("judges")
    return Comparisons(*names, **{name: np.asarray(values) for name, values in columns.items()})


def test_the_constructor_takes_good_columns():
    assert constructed().n_comparisons == 2


BAD_COLUMNS = {
    "one model": ({"models": ("a",)}, "there is only one model, 'a': nothing to rank it against"),
    "no rows": ({name: [] for name in (*KEY, "outcome")}, "there are no comparisons: the set is empty"),
    "first too large": ({"first": [0, 2]}, "column 'first' must hold 2 whole numbers below 2"),
    "second negative": ({"second": [1, -1]}, "column 'second' must hold 2 whole numbers below 2"),
    "judge too large": ({"judge": [0, 1]}, "column 'judge' must hold 2 whole numbers below 1"),
    "judge too short": ({"judge": [0]}, "column 'judge' must hold 2 whole numbers below 1"),
    "itself": ({"second": [1, 1]}, "record 2 compares 'b' with itself"),
    "outcome above one": ({"outcome": [1.0, 1.5]}, "column 'outcome' must hold 2 numbers from 0 to 1"),
    "outcome negative": ({"outcome": [-0.5, 1.0]}, "column 'outcome' must hold 2 numbers from 0 to 1"),
    "outcome missing": ({"outcome": [np.nan, 1.0]}, "column 'outcome' must hold 2 numbers from 0 to 1"),
    "outcome too long": ({"outcome": [0, 1, 1]}, "column 'outcome' must hold 2 numbers from 0 to 1"),
    "count zero": ({"count": [1, 0]}, "column 'count' must hold 2 numbers above zero"),
    "count missing": ({"count": [1, np.nan]}, "column 'count' must hold 2 numbers above zero"),
    "covariate infinite": ({"covariate": [0.0, np.inf]}, "column 'covariate' must hold 2 finite numbers"),
    "covariate missing": ({"covariate": [0.0, np.nan]}, "column 'covariate' must hold 2 finite numbers"),
    "covariate too short": ({"covariate": [0.0]}, "column 'covariate' must hold 2 finite numbers"),
}


@pytest.mark.parametrize(("changed", "message"), BAD_COLUMNS.values(), ids=BAD_COLUMNS.keys())
def test_the_constructor_refuses_a_bad_column(changed, message):
    with pytest.raises(DataError, match=f"^{message}$"):
        constructed(**changed)


# aggregation


@given(rows=rows_of_comparisons())
def test_aggregation_equals_a_groupby(rows):
    key = KEY if rows.covariate is None else [*KEY, "covariate"]
    expected = grouped(rows, key)[[*KEY, "outcome", "count", *key[3:]]]
    pd.testing.assert_frame_equal(table(rows.aggregate()), expected, check_dtype=False, check_exact=True)


@pytest.mark.parametrize("places", [0, 10**6], ids=["by sorting", "by counting"])
def test_aggregation_is_the_same_by_counting_and_by_sorting(monkeypatch, places):
    rng = np.random.default_rng(5)
    first, outcome = rng.integers(3, size=400), rng.choice([0.0, 0.5, 1.0], 400)
    second, judge = (first + rng.integers(1, 3, 400)) % 3, rng.integers(2, size=400)
    strong = np.stack([(outcome == 1) & (rng.random(400) < 0.5), np.zeros(400)], axis=1).astype(float)
    tied, count = (outcome == 0.5).astype(float), rng.integers(1, 4, 400).astype(float)
    rows = Comparisons(tuple("abc"), tuple("xy"), first, second, judge, outcome, count, tied=tied, strong=strong)
    monkeypatch.setattr(aggregation, "PLACES", places)
    cells = rows.aggregate()
    kind = np.ravel_multi_index((first, second, judge), (3, 3, 2))
    for name in ("outcome", "tied", "strong"):
        values, found = (getattr(one, name).reshape(len(one), -1)[:, 0] for one in (rows, cells))
        sums = np.bincount(kind, values * count)[np.unique(kind)]
        assert_allclose(found * cells.count, sums, rtol=4 * EPS, atol=4 * EPS)


def test_aggregation_of_fractional_counts_equals_a_groupby():
    rng = np.random.default_rng(3)
    first = rng.integers(3, size=500)
    rows = Comparisons(
        tuple("abc"),
        tuple("xy"),
        first,
        (first + rng.integers(1, 3, 500)) % 3,
        rng.integers(2, size=500),
        rng.random(500),
        rng.exponential(size=500),
    )
    # a cell sums about 40 products, each rounded once
    pd.testing.assert_frame_equal(
        table(rows.aggregate()), grouped(rows, KEY), check_dtype=False, rtol=40 * np.finfo(float).eps
    )


@given(rows=rows_of_comparisons())
def test_aggregating_again_changes_nothing(rows):
    once = rows.aggregate()
    assert once.aggregate() is once


@given(rows=rows_of_comparisons())
def test_aggregation_preserves_comparisons_and_wins(rows):
    once = rows.aggregate()
    assert once.n_comparisons == rows.n_comparisons
    assert_allclose(once.count @ once.outcome, rows.count @ rows.outcome, rtol=1e-14)


@given(rows=rows_of_comparisons(), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(rows, seed):
    order = np.random.default_rng(seed).permutation(len(rows))
    names = [*KEY, "outcome", "count"] + (["covariate"] if rows.covariate is not None else [])
    shuffled = Comparisons(rows.models, rows.judges, **{name: getattr(rows, name)[order] for name in names})
    pd.testing.assert_frame_equal(table(shuffled.aggregate()), table(rows.aggregate()), check_exact=True)


def test_distinct_covariate_values_keep_rows_apart(cells_of):
    rows = cells_of(("a", "b", "x", 3, 1, 0.5), ("a", "b", "x", 1, 3, -0.5), ("a", "b", "x", 0, 4, 0.5))
    once = rows.aggregate()
    assert_array_equal(once.covariate, [-0.5, 0.5])
    assert_array_equal(once.count, [4, 8])
    assert_array_equal(once.outcome, [0.25, 0.375])


def test_presentation_order_keeps_rows_apart(cells_of):
    once = cells_of(("a", "b", "x", 3, 1), ("b", "a", "x", 1, 3), ("a", "b", "x", 1, 0)).aggregate()
    assert_array_equal(np.c_[once.first, once.second, once.count], [[0, 1, 5], [1, 0, 4]])


@given(rows=rows_of_comparisons())
def test_pooling_equals_a_groupby_over_pairs(rows):
    pooled = rows.pool_judges()
    expected = grouped(rows, ["first", "second"])
    pd.testing.assert_frame_equal(
        table(pooled)[list(expected.columns)], expected, check_dtype=False, check_exact=True
    )
    assert (pooled.judges, pooled.covariate, set(pooled.judge)) == ((POOLED_JUDGE,), None, {0})


@given(rows=rows_of_comparisons(with_covariate=False))
def test_pooling_may_come_before_or_after_aggregation(rows):
    # the mean outcome of a cell is rounded once before it is pooled
    pd.testing.assert_frame_equal(
        table(rows.aggregate().pool_judges()), table(rows.pool_judges()), rtol=1e-15, atol=1e-15
    )


# filters


def panel(cells_of):
    return cells_of(("a", "b", "x", 1, 0), ("b", "c", "y", 0, 1), ("c", "a", "z", 1, 1), ("a", "c", "x", 0, 1))


def test_with_judges_keeps_their_rows_and_all_models(cells_of):
    kept = panel(cells_of).with_judges(["z", "x"])
    assert kept.models == ("a", "b", "c")
    assert kept.judges == ("x", "z")
    assert_array_equal(kept.judge, [0, 1, 0])
    assert_array_equal(kept.first, [0, 2, 0])
    assert_array_equal(kept.count, [1, 2, 1])


def test_with_judges_keeps_the_covariate_and_what_was_dropped(frame):
    rows = frame(*GOOD, ("a", "b", "x", "unknown")).assign(z=[1.0, 2.0, 3.0, 4.0])
    kept = Comparisons.from_frame(rows, covariate="z").with_judges(["y"])
    assert_array_equal(kept.covariate, [1.0, 3.0])
    assert kept.dropped == {"unknown": 1, "null": 0}


def test_with_judges_refuses_an_unknown_name(cells_of):
    with pytest.raises(DataError, match=r"^there is no judge 'w' among x, y, z$"):
        panel(cells_of).with_judges(["x", "w"])


def test_with_judges_refuses_to_leave_nothing(cells_of):
    with pytest.raises(DataError, match=r"^there are no comparisons: the set is empty$"):
        panel(cells_of).with_judges([])


def test_without_ties_drops_halves_only(frame):
    rows = Comparisons.from_frame(frame(*GOOD, ("a", "b", "x", "c"), ("b", "a", "x", "b")))
    kept = rows.without_ties()
    assert_array_equal(kept.outcome, [1.0, 0.0, 0.0])
    assert [kept.judges[k] for k in kept.judge] == ["y", "x", "x"]


@pytest.mark.parametrize("needs_raw", [Comparisons.without_ties, Comparisons.to_frame])
def test_what_needs_raw_rows_refuses_aggregated_ones(frame, needs_raw):
    rows = Comparisons.from_frame(frame(*GOOD, GOOD[0])).aggregate()
    with pytest.raises(DataError, match="aggregated"):
        needs_raw(rows)


def test_a_frame_reads_back_as_it_was_written(frame):
    written = Comparisons.from_frame(frame(*GOOD, ("c", "a", "x", "a"))).to_frame()
    pd.testing.assert_frame_equal(written, frame(*GOOD, ("c", "a", "x", "a")), check_dtype=False)


@pytest.mark.parametrize(
    ("ids", "number", "names"),
    [
        ([10, 9, 10, 9], [0, 1, 0, 1], ["10", "9"]),
        (["b", "a", "b"], [1, 0, 1], ["a", "b"]),
        ([["f", 2], ["e", 1], "f/2"], [1, 0, 1], ["e/1", "f/2"]),
        ([1, "1", 1.0], [0, 0, 1], ["1", "1.0"]),
    ],
)
def test_questions_are_numbered_in_the_order_of_their_names(ids, number, names):
    found, labels = numbered_questions(pd.Series(ids))
    assert found.tolist() == number and labels == names
    assert len({*question_keys(labels).tolist()}) == len(names)
    assert question_keys(labels[:1])[0] == question_keys(labels)[0]


# Numbers without gaps are those of `numpy.unique`, however they are found.
CASES = {
    "close": np.array([5, 3, 3, 9, 5], np.int32),
    "far apart": np.array([10**12, 3, 3], np.int64),
    "below zero": np.array([-1, 4, -1]),
    "one": np.array([0]),
    "none": np.array([], np.int64),
    "unsigned": np.array([2, 0, 2], np.uint8),
    "texts": np.array(["b", "a", "b"]),
    "fractions": np.array([0.5, 2.0, 0.5]),
}


@pytest.mark.parametrize("case", CASES)
def test_values_are_numbered_as_by_sorting(case):
    values = CASES[case]
    different, place = numbered(values)
    expected, places = np.unique(values, return_inverse=True)
    assert_array_equal(different, expected)
    assert_array_equal(place, places)
    assert different.dtype == expected.dtype


@pytest.mark.parametrize("case", CASES)
def test_sizes_are_those_of_the_different_values_in_order(case):
    values = CASES[case]
    expected, place, times = np.unique(values, return_inverse=True, return_counts=True)
    count = np.linspace(0.0, 2.0, len(values))  # a value may count nothing
    assert_array_equal(sizes(values), times)
    assert_array_equal(sizes(values, count), np.bincount(place, count, len(expected)))


# The same judgments counted more often, written twice, turned round or renamed have the same answer.
SIZES = {"models": [3, 4], "judges": [2, 3], "comparisons": [20, 60]}
FACTORS = [3.0, 30.0, 1e6]


@pytest.mark.parametrize("member", [member.name for member in MEMBERS])
def test_an_answer_is_the_same_however_the_judgments_are_told(member):
    for seed in range(2):
        rng = generator(seed, "counts")
        rows = drawn(SIZES | {"member": member}, rng)
        first = answer(rows, member)
        for told, other in tellings(rows.with_ties(), FACTORS, rng):
            found = answer(other, member)
            assert not differ(first, found), told
            if first.status in ("interior", "boundary"):
                np.testing.assert_allclose(found.scores, first.scores, atol=1e-9)
                assert found.height == pytest.approx(first.height, abs=1e-12)


def design(*columns: str) -> Comparisons:
    """Models, judges and outcomes of raw rows, a digit each; 2 for a tie."""
    first, second, judge, outcome = (np.array(list(column), int) for column in columns)
    names = (
        tuple(f"{kind}{x}" for x in range(many + 1))
        for kind, many in (("m", max(first.max(), second.max())), ("j", judge.max()))
    )
    return Comparisons(*names, first, second, judge, np.where(outcome == 2, 0.5, outcome))


# maxima by one scale of the counts and none by others, where heights were compared in judgments
AWARE = design(
    "10423115153212300514213010525142223113521103503510432303203024231031522114531342123131332",
    "53201002421534443005334335311254055301240225151051250031031213450120030540125435551025011",
    "42421100441342141333443240431032020111102120330013244202400202311341422243112234003013330",
    "21111110112001210200000110111100210000001100010001111100100010010110111110011100210002000",
)
TIES = design(
    "230151514442404433454014144231122244200135244551002",
    "514223232120540244213131235512300102412402423244310",
    "113230013312112222230122230300123002333111211030000",
    "100101010001000010000110101011111001001221002110210",
)


@pytest.mark.parametrize(("rows", "member"), [(AWARE, "judge_aware"), (TIES, "judge_aware_ties")])
def test_designs_that_once_had_a_maximum_by_some_scales_and_none_by_others(rows, member):
    first = answer(rows, member)
    for factor in (2.0, 1e4):
        assert not differ(first, answer(replace(rows.with_ties(), count=factor * rows.count), member))


def test_units_are_the_same_to_the_last_bit_at_every_scale():
    units, size = in_units(AWARE.aggregate())
    assert units.n_comparisons == pytest.approx(USUAL * len(AWARE.models) * len(AWARE.judges))
    for factor in (3.0, 7.0, 1e9):
        counted = replace(AWARE, count=factor * AWARE.count).aggregate()
        others, larger = in_units(counted)
        assert np.array_equal(units.count, others.count)
        assert larger == pytest.approx(factor * size, rel=1e-15)


def test_estimates_with_a_judge_that_runs_off_do_not_hang_on_the_scale():
    rows = drawn(
        {"models": [4, 4], "judges": [3, 3], "comparisons": [25, 25], "member": "judge_aware"}, generator(4)
    )
    found = fit(rows)
    assert found.status == "unbounded"
    many = fit(replace(rows, count=1e6 * rows.count))
    np.testing.assert_allclose(many.scores, found.scores, atol=1e-9)
    np.testing.assert_allclose(many.discrimination, found.discrimination, rtol=1e-8)
    errors = [np.sqrt(np.diag(fitted.covariance)) for fitted in (found, many)]
    np.testing.assert_allclose(errors[0], 1e3 * errors[1], rtol=1e-6)


def test_a_judge_of_one_length_is_named():
    rows = drawn(SIZES | {"member": "length"}, generator(1, "counts"))
    alike = replace(rows, covariate=np.where(rows.judge == 1, 1.0, rows.known_covariate))
    with pytest.raises(NotIdentifiedError, match="one length: j1"):
        fit(alike, "length")


def test_where_nothing_is_held_the_scale_is_that_of_the_judges_who_do_not_run_off():
    """Where a climb stops in a judge's discrimination that has no maximum has no part in the scores."""
    rng = generator(2026, "torture_scales", "length", 28)
    rows = drawn({"models": [3, 6], "judges": [1, 5], "comparisons": [4, 160], "member": "length"}, rng)
    found = fit(rows, "length")
    assert found.unbounded_judges == ("j2",) and found.solution.alone is None
    assert found.discrimination[["j0", "j1"]].prod() == pytest.approx(1)
    for _, other in tellings(rows.with_ties(), FACTORS, rng):
        np.testing.assert_allclose(fit(other, "length").scores.sort_index(), found.scores, rtol=1e-5)
