"""What is compared for speed counts the same cells."""

import pytest

from judgerank import aggregate
from replication.scaling import TASKS, measured, write_judgments

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
