"""Defects that the localised fit had, each with its smallest reproducer."""

import numpy as np
import pytest

from judgerank import Status, fit
from judgerank.data.errors import ConfigError
from judgerank.engine import newton, search
from judgerank.engine.localized import Localized, maximise
from judgerank.model.members import JUDGE_AWARE, Parameters
from tests.library.test_localized import APART, GOOD, OTHER, assert_in_box, small_panel


def test_opposed_judges_do_not_end_at_the_saddle_point_zero(cells_of):
    rows = [("a", "b", "x", 9, 1), ("a", "b", "y", 1, 9), ("c", "d", "x", 5, 5), ("c", "d", "y", 5, 5)]
    found = maximise(cells_of(*rows), JUDGE_AWARE, Localized())
    # is -27.726 = 40 log(1/2), status interior, 0 iterations; SLSQP reaches -24.0456
    assert found.evaluation.log_likelihood > -24.05


@pytest.mark.parametrize("size", [1, 10])
def test_a_consistent_judge_is_no_interior_maximum(cells_of, size):
    firm = [("a", "b", "z", 6, 0), ("b", "c", "z", 5, 0), ("a", "c", "z", 7, 0)]
    cells = cells_of(*((*row[:3], row[3] / size, row[4] / size) for row in [*GOOD, *OTHER]), *firm)
    assert search.maximise(cells, JUDGE_AWARE, newton.Newton()).status is Status.UNBOUNDED
    assert maximise(cells, JUDGE_AWARE, Localized()).status is Status.LOCALIZED


def test_unlinked_groups_have_no_interior_maximum(cells_of):
    assert fit(cells_of(*GOOD, *OTHER, *APART), solver="localized").status is Status.LOCALIZED


def test_interior_means_that_the_exact_fit_is_interior(simulated):
    wrong = []
    for seed in range(600):
        cells = small_panel(seed, simulated)
        if maximise(cells, JUDGE_AWARE, Localized()).status is Status.INTERIOR:
            try:
                status = str(fit(cells).status)
            except Exception as error:
                status = type(error).__name__
            if status != "interior":
                wrong.append((seed, status))
    assert not wrong, wrong


def test_a_start_outside_the_box_is_pulled_inside(simulated):
    cells = simulated(11, (1.2, 0.3, -0.5, -1.0), (0.5, 1, 2), 900).aggregate()
    box = Localized(1.0, 1.0)
    start = Parameters(np.array([3.0, 0, 0, -3]), np.zeros((1, 3)))
    found = maximise(cells, JUDGE_AWARE, box, start)
    assert found.status is Status.LOCALIZED
    assert_in_box(found.parameters, box)


@pytest.mark.parametrize("bound", [0.0, -1.0, np.nan, np.inf])
def test_bounds_are_positive_numbers(bound):
    with pytest.raises(ConfigError):
        Localized(bound, 5.0)
