"""Random truths, designs and outcomes: appendix C of the paper, by exact counts and by Monte Carlo.

Monte Carlo checks run on fixed seeds. Their bounds are four standard errors, or one in a thousand of a chi-square.
"""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import chi2, kstest, norm

from judgerank.data.arrays import generator
from judgerank.data.connectivity import components
from judgerank.data.errors import ConfigError
from judgerank.model.members import Parameters
from replication.random_designs import draw_comparisons, draw_outcomes, draw_panel, draw_truth, uniform_triples

TRUTH = Parameters(np.array([1.3, -0.4, 0.2, -1.1]), np.log([[0.3, 1.0, 10 / 3]]))
PANEL = (
    {"m2": -0.6, "m0": 0.9, "m1": -0.3},
    {"never": 0.5, "often": 0.8, "always": 2.0, "now and then": 1.5},
    {"often": 0.3, "never": 0.0, "always": 0.9, "now and then": 0.1},
)


def truth_of_size(n: int, k: int) -> Parameters:
    return draw_truth(generator(1, n, k), n, k, 1.0, 1.0)


def p_of(chi_square: float, freedom: int) -> float:
    """Chance of a chi-square further out, on the nearer side."""
    return min(chi2.sf(chi_square, freedom), chi2.cdf(chi_square, freedom))


def p_uniform(counts: np.ndarray) -> float:
    expected = counts.sum() / counts.size
    return p_of(float(((counts - expected) ** 2).sum() / expected), counts.size - 1)


# streams


@pytest.mark.parametrize("names", [(), ("truth",), ("truth", 10, 5, 0), ("ci_coverage", "n10_k5-t100-draw0", 7)])
def test_the_same_names_give_the_same_stream(names):
    assert_array_equal(generator(7, *names).random(50), generator(7, *names).random(50))


def test_different_names_or_seeds_give_different_streams():
    names = [(), ("a",), ("b",), ("a", "b"), ("b", "a"), ("ab",), ("a", 0), ("a", 1), (0, "a"), (0,), (1,), (1, 0)]
    streams = [generator(seed, *name).random(3).tobytes() for seed in (0, 1, 2026) for name in names]
    assert len(set(streams)) == 3 * len(names)


def test_a_stream_does_not_depend_on_what_was_drawn_before():
    keys = [("x", k) for k in range(5)]
    forwards = {key: generator(3, *key).normal(size=4) for key in keys}
    backwards = {key: generator(3, *key).normal(size=9)[:4] for key in reversed(keys)}
    for key in keys:
        assert_array_equal(forwards[key], backwards[key])


def test_neighbouring_streams_are_not_correlated():
    one, other = (generator(3, "cell", k).normal(size=10_000) for k in (0, 1))
    assert abs(np.mean(one * other)) < 4 / np.sqrt(10_000)


# truth


@pytest.mark.parametrize(("n", "k"), [(2, 1), (10, 5), (100, 20)])
def test_the_truth_sums_to_zero_in_scores_and_in_log_discriminations(n, k):
    truth = draw_truth(generator(1, n), n, k, 2.0, 1.5)
    assert truth.scores.shape == (n,)
    assert truth.judges.shape == (1, k)
    # a sum of a hundred numbers near one, in double precision
    assert abs(truth.scores.sum()) < 1e-13
    assert abs(truth.judges.sum()) < 1e-13


@pytest.mark.parametrize("part", ["scores", "judges"])
def test_the_truth_has_the_standard_deviations_asked_for(part):
    rng, many = generator(2, part), 2000
    draws = [getattr(draw_truth(rng, 10, 5, 0.7, 1.5), part).ravel() for _ in range(many)]
    expected = {"scores": 0.7, "judges": 1.5}[part] ** 2
    freedom = many * (len(draws[0]) - 1)
    # with one degree of freedom lost to the mean, the variance has the standard error of a chi-square
    assert abs(np.var(draws, axis=1, ddof=1).mean() / expected - 1) < 4 * np.sqrt(2 / freedom)


def test_the_truth_is_normal():
    rng, truth = generator(3), norm(0, np.sqrt(1 - 1 / 50))
    draws = [draw_truth(rng, 50, 50, 1.0, 1.0) for _ in range(2000)]
    assert kstest([draw.scores[0] for draw in draws], truth.cdf).pvalue > 1e-3
    assert kstest([draw.judges[0, 2] for draw in draws], truth.cdf).pvalue > 1e-3


# design


@pytest.mark.parametrize(
    ("n", "k", "size"), [(2, 1, 1), (2, 3, 50), (9, 4, 8), (9, 4, 9), (9, 4, 20), (9, 4, 900)]
)
def test_a_design_has_exactly_the_comparisons_asked_for_and_is_connected(n, k, size):
    for seed in range(40):
        cells = draw_comparisons(generator(seed), truth_of_size(n, k), size)
        assert cells.n_comparisons == size
        assert len(components(cells)) == 1


def test_the_smallest_design_is_a_tree():
    for seed in range(100):
        cells = draw_comparisons(generator(seed), truth_of_size(12, 3), 11)
        assert_array_equal(cells.count, np.ones(11))
        assert len(set(zip(cells.first, cells.second, strict=True))) == 11
        assert len(components(cells)) == 1


@pytest.mark.parametrize("size", [8, 30, 5000])
def test_a_design_is_aggregated_and_sorted_with_the_lower_model_first(size):
    cells = draw_comparisons(generator(5), truth_of_size(9, 4), size)
    assert cells.aggregate() is cells
    assert np.all(cells.first < cells.second)


def test_models_and_judges_are_numbered_in_the_order_of_the_truth():
    cells = draw_comparisons(generator(5), TRUTH, 50)
    assert cells.models == ("m0000", "m0001", "m0002", "m0003")
    assert cells.judges == ("j0000", "j0001", "j0002")


def test_counts_and_wins_are_whole_numbers():
    cells = draw_comparisons(generator(6), TRUTH, 500)
    wins = cells.count * cells.outcome
    assert_array_equal(cells.count, np.round(cells.count))
    assert_allclose(wins, np.round(wins), rtol=0, atol=1e-12)


def test_the_same_generator_draws_the_same_comparisons():
    one, other = (draw_comparisons(generator(8, "x"), TRUTH, 60) for _ in range(2))
    for column in ("first", "second", "judge", "outcome", "count"):
        assert_array_equal(getattr(one, column), getattr(other, column))


@pytest.mark.parametrize("size", [0, 10])
def test_too_few_comparisons_for_a_tree_are_refused(size):
    with pytest.raises(ConfigError, match=f"{size} comparisons cannot connect 12 models"):
        draw_comparisons(generator(1), truth_of_size(12, 3), size)


def test_the_tree_takes_parents_uniformly_from_the_earlier_models_and_judges_uniformly():
    rng, truth, many = generator(9), truth_of_size(7, 3), 4000
    counts = np.zeros((7, 7, 3))
    for _ in range(many):
        tree = draw_comparisons(rng, truth, 6)
        counts[tree.second, tree.first, tree.judge] += 1
    chi_square, freedom = 0.0, 0
    for child in range(1, 7):
        own = counts[child, :child]
        assert own.sum() == many
        chi_square += ((own - many / own.size) ** 2).sum() * own.size / many
        freedom += own.size - 1
    assert p_of(chi_square, freedom) > 1e-3


def test_all_small_trees_are_equally_likely():
    rng, truth = generator(16), truth_of_size(4, 2)
    trees = Counter()
    for _ in range(4800):
        tree = draw_comparisons(rng, truth, 3)
        trees[tuple(sorted(zip(tree.second, tree.first, tree.judge, strict=True)))] += 1
    # two parents for the third model, three for the fourth, and three judges out of two
    assert len(trees) == 2 * 3 * 2**3
    assert p_uniform(np.array(list(trees.values()))) > 1e-3


def test_the_rest_of_a_design_is_uniform_over_all_triples():
    cells = draw_comparisons(generator(10), truth_of_size(4, 3), 100_000)
    assert len(cells) == 18
    # the three comparisons of the tree are far below the standard error of a count, which is 72
    assert p_uniform(cells.count) > 1e-3


def test_uniform_triples_are_uniform_with_the_lower_model_first():
    i, j, k = uniform_triples(generator(11), 5, 4, 80_000)
    assert np.all(i < j)
    counts = np.zeros((5, 5, 4))
    np.add.at(counts, (i, j, k), 1)
    assert p_uniform(counts[np.triu_indices(5, 1)]) > 1e-3


# outcomes


def test_outcomes_have_the_means_of_the_model():
    cells = draw_comparisons(generator(12), TRUTH, 500_000)
    gamma = (0.3, 1.0, 10 / 3)
    rows = zip(cells.first, cells.second, cells.judge, strict=True)
    p = np.array([1 / (1 + np.exp(-gamma[k] * (TRUTH.scores[i] - TRUTH.scores[j]))) for i, j, k in rows])
    z = (cells.outcome - p) * np.sqrt(cells.count / (p * (1 - p)))
    assert np.abs(z).max() < 4
    assert p_of(float(z @ z), len(z)) > 1e-3


@pytest.mark.parametrize("split", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_splitting_votes_keeps_the_mean_and_ties_as_often_as_two_votes_cancel(p, split):
    many = 200_000
    outcome = draw_outcomes(generator(13), np.full(many, p), split)
    tied = split * 2 * p * (1 - p)
    assert abs(outcome.mean() - p) < 4 * np.sqrt(p * (1 - p) / many)
    assert abs(np.mean(outcome == 0.5) - tied) <= 4 * np.sqrt(tied * (1 - tied) / many)
    assert set(outcome) == ({0.0, 0.5, 1.0} if split else {0.0, 1.0})


def test_comparisons_are_split_one_by_one():
    split = np.repeat([0.0, 1.0], 1000)
    outcome = draw_outcomes(generator(14), np.full(2000, 0.5), split)
    assert not np.any(outcome[:1000] == 0.5)
    assert 0.4 < np.mean(outcome[1000:] == 0.5) < 0.6


# panels


@pytest.fixture(scope="module")
def panel():
    return draw_panel(generator(15), *PANEL, 200_000)


def test_a_panel_keeps_its_names_in_order(panel):
    assert panel.models == ("m0", "m1", "m2")
    assert panel.judges == ("always", "never", "now and then", "often")


def test_a_panel_has_raw_rows_uniform_over_triples(panel):
    assert len(panel) == panel.n_comparisons == 200_000
    assert_array_equal(panel.count, 1.0)
    assert np.all(panel.first < panel.second)
    assert p_uniform(panel.aggregate().count) > 1e-3


def test_a_panel_has_the_means_of_its_scores_and_discriminations(panel):
    scores, gamma, _ = PANEL
    cells = panel.aggregate()
    s = np.array([scores[name] for name in cells.models])
    g = np.array([gamma[name] for name in cells.judges])
    p = expit(g[cells.judge] * (s[cells.first] - s[cells.second]))
    # ties only make outcomes vary less
    assert np.all(np.abs(cells.outcome - p) < 4 * np.sqrt(p * (1 - p) / cells.count))


@pytest.mark.parametrize("judge", ["never", "now and then", "often"])
def test_a_panel_ties_as_often_as_asked(panel, judge):
    tied = panel.outcome[panel.judge == panel.judges.index(judge)] == 0.5
    share = PANEL[2][judge]
    assert abs(tied.mean() - share) <= 4 * np.sqrt(share * (1 - share) / len(tied))


def test_a_judge_cannot_tie_more_often_than_two_votes_cancel(panel):
    scores, gamma, asked = PANEL
    tied = panel.outcome[panel.judge == panel.judges.index("always")] == 0.5
    pairs = [("m0", "m1"), ("m0", "m2"), ("m1", "m2")]
    p = expit(gamma["always"] * np.array([scores[a] - scores[b] for a, b in pairs]))
    most = np.mean(2 * p * (1 - p))
    assert most < asked["always"]
    assert abs(tied.mean() - most) < 4 * np.sqrt(most * (1 - most) / len(tied))
