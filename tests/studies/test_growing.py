"""Public sets with their last judgments appended: the fit from that of the others against the fit from nothing."""

import pytest
from numpy.testing import assert_allclose

from judgerank import Comparisons, fit
from replication.datasets import find_file, read_records
from tests.real_data import FILES, needs_data

pytestmark = needs_data
SPLITS, MOST_STEPS = 8, 5


@pytest.mark.parametrize("member", ["judge_aware", "position_aware", "judge_aware_ties"])
@pytest.mark.parametrize("name", FILES)
def test_the_fit_of_what_was_appended_is_that_of_all(name, member):
    frame = read_records(find_file(FILES[name]).read_bytes())
    steps = []
    for seed in range(SPLITS):
        mixed = frame.sample(frac=1, random_state=seed)
        cut = len(mixed) - len(mixed) // 100
        part = Comparisons.from_frame(mixed.iloc[:cut])
        whole = part.extended(mixed.iloc[cut:])
        cold, warm = fit(whole, member), fit(whole, member, start=fit(part, member))
        assert warm.status == cold.status
        assert warm.log_likelihood == pytest.approx(cold.log_likelihood, abs=1e-7)
        assert_allclose(warm.scores, cold.scores, atol=1e-7)
        steps.append(warm.solution.iterations)
    assert max(steps) <= MOST_STEPS
