"""Degrees of freedom of each score and difference of scores, by the questions that compared those models."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.stats import t as student

from judgerank import Comparisons, fit, load, pairwise
from judgerank.fits.presentation import leaderboard, win_rate_intervals
from judgerank.inference.clusters import effective_by_pair, sums_and_products
from judgerank.inference.wald import at_degrees, two_sided
from judgerank.order.pairs import Order, orders
from judgerank.order.rank_intervals import rank_intervals

OLD, LATE, K, Q, FEW = 3, 2, 4, 60, 5


def numbers(known, prior=0.0):
    return effective_by_pair(*sums_and_products(csr_array(np.array(known, float))), prior)


def test_clusters_that_compare_all_models_alike_count_in_full():
    assert_allclose(numbers(np.outer(np.ones(7), [1, 2, 5])), np.full((3, 3), 7.0), rtol=1e-12)


def test_models_of_different_clusters_have_those_of_both_in_their_difference():
    assert_allclose(numbers([[1, 0]] * 4 + [[0, 1]] * 4), [[4, 8], [8, 4]])
    # variances 1 / 4 and 1 / 10, in four and ten equal parts
    both = (1 / 4 + 1 / 10) ** 2 / (1 / 4**3 + 1 / 10**3)
    assert_allclose(numbers([[1, 0]] * 4 + [[0, 1]] * 10), [[4, both], [both, 10]])


def test_unequal_clusters_count_by_their_shares():
    assert_allclose(numbers([[6.0], [3.0], [1.0]]), [[100 / 46]])


def test_what_a_penalty_tells_is_known_without_clusters():
    """Of a model in one cluster the penalty tells three times as much: (1 + 3)^2 / 1^2."""
    assert_allclose(numbers([[1.0, 1.0]] + [[0.0, 1.0]] * 19, np.array([3.0, 0.0]))[[0, 1], [0, 1]], [16, 20])


def late(seed: int, sd: float = 1.0) -> tuple[Comparisons, np.ndarray]:
    """Old models on all questions, and late ones, equal to each other, by all judges on the first few."""
    rng = np.random.default_rng(seed)
    n, rows = OLD + LATE, []
    scores = np.r_[1.0, 0.0, -1.0, np.ones(LATE)]
    for q in range(Q):
        quality = scores + rng.normal(0, sd, n)
        there = [(*rng.permutation(OLD)[:2], rng.integers(K)) for _ in range(4)]
        if q < FEW:
            there += [(*rng.permutation([x, y]), k) for x in range(OLD, n) for y in range(x) for k in range(K)]
        for i, j, k in there:
            rows.append((i, j, k, rng.random() < 1 / (1 + np.exp(quality[j] - quality[i])), q))
    i, j, k, won, q = np.array(rows).T.astype(int)
    names = tuple(f"m{x}" for x in range(n)), tuple(f"j{x}" for x in range(K))
    return Comparisons(*names, i, j, k, won.astype(float)), q


@pytest.fixture(scope="module")
def added():
    rows, question = late(2)
    return fit(rows, "position_aware", "penalised").clustered(rows, question)


def test_late_models_have_the_degrees_of_their_few_questions(added):
    degrees, whole = added.degrees_of_pairs, added.degrees_of_freedom
    assert whole > 20
    assert (degrees[OLD:, OLD:] < FEW + 1).all()
    assert (degrees[:OLD, :OLD] == whole).all()
    assert (degrees <= whole).all() and (degrees == degrees.T).all()
    assert (np.diag(degrees) == added.degrees_of_scores).all()


def test_every_interval_and_p_value_of_a_late_model_takes_them(added):
    names, degrees = added.comparisons.models, added.degrees_of_pairs
    rows = pairwise(added).set_index(["first", "second"])
    one = rows.index[[set(pair) == {names[OLD], names[OLD + 1]} for pair in rows.index]][0]
    row, own = rows.loc[one], degrees[OLD, OLD + 1]
    (order,) = orders(added)
    place = [list(order.models).index(name) for name in one]
    ratios = order.ratios[:, place[0], place[1]]
    least = np.abs(ratios).min() * (ratios.prod() > 0)
    assert_allclose(row["p_value"], 2 * student.sf(least, own), rtol=1e-6)
    contrast = added.contrast({names[OLD]: 1, names[OLD + 1]: -1})
    width = 2 * student.isf(0.025, own) * contrast["standard_error"]
    assert_allclose(contrast["high"] - contrast["low"], width)
    board = leaderboard(added, 0.9).set_index("model").loc[list(names)]
    inside = leaderboard(replace(added, effective_by_pair=None), 0.9).set_index("model").loc[list(names)]
    longer = student.isf(0.05, added.degrees_of_scores) / student.isf(0.05, added.degrees_of_freedom)
    assert_allclose((board["high"] - board["low"]) / (inside["high"] - inside["low"]), longer)
    wins = [win_rate_intervals(each, 0.9) for each in (added, replace(added, effective_by_pair=None))]
    wider = ((wins[0]["high"] - wins[0]["low"]) / (wins[1]["high"] - wins[1]["low"])).loc[list(names)]
    assert (wider[OLD:] > 1.1).all()


def test_a_saved_fit_keeps_them_and_an_older_one_has_one_number_for_all(added, tmp_path):
    added.save(tmp_path / "fit.npz")
    assert_allclose(load(tmp_path / "fit.npz").degrees_of_pairs, added.degrees_of_pairs)
    before = replace(added, effective_by_pair=None)
    assert (before.degrees_of_pairs == added.degrees_of_freedom).all()


def test_statistics_of_different_degrees_are_compared_by_their_p_values():
    own = np.array([[99.0, 4.0], [4.0, 99.0]])
    difference = np.array([[0.0, 3.0], [-3.0, 0.0]])
    error = np.array([[np.inf, 1.0], [1.0, np.inf]])
    one = Order(np.array(["a", "b"]), np.stack([difference] * 2), np.stack([error] * 2), np.eye(2) / 2, 99.0)
    few = replace(one, degrees_of_pairs=own)
    assert_allclose(few.p_value[0, 1], 2 * student.sf(3, 4))
    assert_allclose(student.sf(few.statistic[0, 1], 99), student.sf(3, 4))
    assert_allclose(few.statistic, -few.statistic.T)
    # t of 3 is beyond the quantile at 99 degrees of freedom, and not at four, where it is 2.78 with p 0.04
    assert rank_intervals([one], 0.97)["low"].tolist() == [1, 2]
    assert rank_intervals([few], 0.97)["low"].tolist() == [1, 1]


def test_a_statistic_keeps_its_p_value_and_its_sign():
    z = np.array([-50.0, -2.0, 0.0, 0.3, 7.0])
    for own, common in ((1.0, 30.0), (5.0, 6.0), (40.0, np.inf)):
        assert_allclose(two_sided(at_degrees(z, own, common), common), two_sided(z, own), rtol=1e-9)
    assert (at_degrees(z, 30.0, 30.0) == z).all()
    assert np.isfinite(at_degrees(np.array([1e3]), 1e4, 1e5)).all()


def test_a_late_model_with_question_effects_has_them_too():
    rows, question = late(3)
    found = fit(rows.with_ties(), "btl_ties", question=question, questions="effects")
    assert (found.degrees_of_pairs[OLD:, OLD:] < FEW + 1).all()
    assert (found.degrees_of_pairs[:OLD, :OLD] > 20).all()
