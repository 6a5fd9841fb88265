"""What is compared for speed counts the same cells."""

import numpy as np
import pytest

from judgerank import aggregate
from studies.scaling import TASKS, extrapolated, line_at, measured, write_judgments

pytest.importorskip("duckdb")
pytest.importorskip("polars")


def test_engines_and_ours_count_the_same_cells_of_the_same_judgments(tmp_path):
    paths = write_judgments(tmp_path, 3000, 1, ("parquet", "csv"))
    cells = {form: aggregate(path) for form, path in paths.items()}
    assert cells["csv"].n_comparisons == cells["parquet"].n_comparisons == 3000
    assert 0.05 < aggregate(paths["csv"], ties=True).known_ties.mean() < 0.15
    for form, path in paths.items():
        for task in ("by_duckdb", "by_polars", "by_acero", "to_cells"):
            assert TASKS[task](str(path), "500MB") == len(cells[form]), task


def test_a_measure_has_its_time_and_its_own_memory(tmp_path):
    path = write_judgments(tmp_path, 3000, 1, ("parquet",))["parquet"]
    held = bytearray(400_000_000)
    held[::4096] = b"x" * len(held[::4096])  # of this process, and none of that one's
    found = measured("by_duckdb", path, "500MB")
    assert 0 < found["seconds"] < 60
    assert 1e7 < found["peak"] < 4e8
    assert found["counted"] == len(aggregate(path))


def test_a_line_is_found_with_an_error_that_is_its_own():
    x = np.array([1e6, 3e6, 1e7, 3e7])
    assert line_at(x, 2 + 3e-6 * x, 1e9) == (pytest.approx(3002), pytest.approx(0, abs=1e-6))
    rng, off, said = np.random.default_rng(0), [], []
    for _ in range(400):
        value, error = line_at(x, (2 + 3e-6 * x) * (1 + 0.05 * rng.standard_normal(4)), 1e9)
        off.append(value - 3002)
        said.append(error**2)
    assert np.mean(said) == pytest.approx(np.var(off), rel=0.25)


def test_what_is_extrapolated_is_a_line_in_rows_and_one_in_cells_which_run_out():
    most = 1000 * 999 // 2 * 100  # the files show each pair in one order
    found = {}
    for rows in (10**6, 3 * 10**6, 10**7, 3 * 10**7):
        cells = -most * np.expm1(-rows / most)
        alike = {"counted": cells}
        times = {"seconds": 1 + 4e-7 * rows, "processor": 2 + 5e-7 * rows}
        fitted = {what: taken + 0.1 + 3e-7 * cells for what, taken in times.items()}
        found[rows] = {"to_cells": alike | times, "to_fit": alike | fitted}
    values = [line.split("|")[2].strip() for line in extrapolated(found, 10**9)]
    assert values == ["401", "416", "502", "517"]
