"""The same judgments counted more often, written twice, turned round or renamed have the same answer."""

from dataclasses import replace

import numpy as np
import pytest

from judgerank import Comparisons, fit
from judgerank.data.errors import NotIdentifiedError
from judgerank.engine.count_scaling import USUAL, in_units
from judgerank.model.members import MEMBERS
from judgerank.model.streams import generator
from studies.torture.fits import answer, differ, drawn, tellings

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
