"""Rank correlations against those of scipy."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from replication.correlation import kendall, spearman

PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=30)


@given(PAIRS)
def test_correlations_are_those_of_scipy_ties_among_them(pairs):
    one, other = np.array(pairs, float).T
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        assert np.isnan([spearman(one, other), kendall(one, other)]).all()
        return
    assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)
    assert kendall(one, other) == pytest.approx(kendalltau(one, other).statistic, abs=1e-12)


def test_a_worker_loads_neither_scipy_stats_nor_hydra():
    tasks = ("adaptive", "boards", "panel", "people", "ranked_answers", "soft", "trusting", "validity")
    code = "; ".join(["import sys", *(f"import studies.{name}" for name in tasks), "print(*sys.modules)"])
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy.stats", "hydra", "requests"} & {*ran.stdout.split()}
