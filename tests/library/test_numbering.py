"""Numbers without gaps are those of `numpy.unique`, however they are found."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from judgerank.data.numbering import numbered, sizes

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
