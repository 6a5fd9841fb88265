"""Pairs tested by sign flips of whole questions, where there are too few questions for clustered errors."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.special import expit
from scipy.stats import t as student

import judgerank
from judgerank import Comparisons, fit, load
from judgerank.fits.errors_by_question import by_question, questions_of, too_few
from judgerank.fits.presentation import leaderboard, win_rate_intervals
from judgerank.inference.clusters import effective_by_pair, sums_and_products
from judgerank.inference.wald import at_degrees, two_sided
from judgerank.order.flips import leads_by_question, p_either
from judgerank.order.pairs import Order, orders, pairwise, rank_intervals
from judgerank.ranking.ranking import rank
from judgerank.ranking.studies.next_comparisons import cost_of_pair

N, K = 4, 6


def asked(seed: int, questions: int, scores=(0.0,) * N, effect: float = 0.0) -> tuple[Comparisons, np.ndarray]:
    """Every pair of every question asked of all judges in random order; judges favour one place."""
    rng = np.random.default_rng(seed)
    n = len(scores)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    shared = effect * rng.standard_normal((questions, len(pairs)))
    q, p, judge = (x.ravel() for x in np.meshgrid(range(questions), range(len(pairs)), range(K), indexing="ij"))
    turned = rng.random(len(q)) < 0.5
    first, second = np.where(turned, pairs[p].T[::-1], pairs[p].T)
    lead = np.asarray(scores)[first] - np.asarray(scores)[second] + np.where(turned, -1, 1) * shared[q, p]
    won = rng.random(len(q)) < expit(np.linspace(0.7, 1.3, K)[judge] * lead + np.linspace(-0.8, 0.9, K)[judge])
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{k}" for k in range(K))
    return Comparisons(*names, first, second, judge, won.astype(float), ordered=True), q


def frame_of(rows: Comparisons, question: np.ndarray) -> pd.DataFrame:
    return rows.to_frame().assign(question_id=[f"q{one}" for one in question])


def test_exchanging_names_in_a_question_turns_the_lead_there_and_no_other():
    rows, question = asked(1, 5)
    fitted = fit(rows, "position_aware")
    at, model = fitted.solution.parameters, fitted.model
    turned = {0: 2, 2: 0}
    there = question == 3
    first, second = (np.where(there, [turned.get(m, m) for m in ends], ends) for ends in (rows.first, rows.second))
    other = Comparisons(rows.models, rows.judges, first, second, rows.judge, rows.outcome, ordered=True)
    lead, changed = (leads_by_question(one, model, at, question).toarray()[:, 2] for one in (rows, other))
    sign = np.where(np.arange(5) == 3, -1, 1)
    assert np.abs(lead).min() > 1e-3
    assert_allclose(changed, sign * lead, atol=1e-12)


def test_leads_are_of_one_judge_on_the_same_third_model_and_repeats_count_once():
    """By hand, without positions: 0 beat 1 once and lost once; judge x had 2 beat 1, too."""
    first, second = np.array([0, 0, 0, 0, 1, 0]), np.array([1, 1, 1, 2, 2, 3])
    judge, outcome = np.array([0, 0, 1, 0, 0, 1]), np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    rows = Comparisons(("a", "b", "c", "d"), ("x", "y"), first, second, judge, outcome)
    fitted = fit(asked(1, 5)[0], "btl")
    lead = leads_by_question(rows, fitted.model, fitted.solution.parameters, np.zeros(6, int)).toarray()[0]
    assert_allclose(lead[1], 2 * 0.0 + 2 * 0.5 + (0.5 + 0.5))  # 0 and 3 by judge y alone: no third model of 1
    assert_allclose(lead[2], 2 * 0.5 + (0.0 - 0.5))
    assert_allclose(lead[3], 2 * 0.5)


def test_answers_that_one_judge_repeats_leave_every_lead_as_it_was():
    rows, question = asked(2, 4)
    fitted = fit(rows, "position_aware")
    often = np.repeat(np.arange(len(rows)), np.where(rows.judge == 1, 3, 1))
    once, repeated = (
        leads_by_question(rows.take(those), fitted.model, fitted.solution.parameters, question[those]).toarray()
        for those in (np.arange(len(rows)), often)
    )
    assert_allclose(repeated, once, atol=1e-12)


def test_p_values_are_shares_of_all_exchanges():
    differences = np.array([3.0, 1.0, -0.5, 2.0, 2.0])
    sums = np.array([np.dot(signs, differences) for signs in product((1, -1), repeat=5)])
    assert p_either(differences) == pytest.approx(np.mean(np.abs(sums) >= differences.sum() - 1e-9))
    assert p_either(-differences) == p_either(differences)


@pytest.fixture(scope="module")
def few():
    rows, question = asked(3, 8, (3.0, 0.0, 0.0, 0.0), 1.0)
    return by_question(fit(rows, "position_aware"), rows, question), rows, question


def test_scores_of_shrunk_fits_have_errors_by_question_and_pairs_those_of_the_flips(few):
    rows, question = few[1:]
    alone = fit(rows, "position_aware", "penalised")
    found, flipped, by = (
        by_question(alone, rows, question),
        alone.flipped(rows, question),
        alone.clustered(rows, question),
    )
    assert too_few(found).n_questions == 8
    assert_allclose(found.covariance, by.covariance)
    assert (found.degrees_of_scores <= 7).all()
    pd.testing.assert_frame_equal(pairwise(found), pairwise(flipped))
    pd.testing.assert_frame_equal(rank_intervals(found), rank_intervals(flipped))
    ends = ["low", "high"]
    boards = [leaderboard(each, 0.95)[ends] for each in (found, by, flipped)]
    wins = [win_rate_intervals(each, 0.95) for each in (found, by)]
    for of_flips, wald in (boards[:2], wins):  # of the first, which surely differs from all, the flips know more
        assert of_flips["low"].iloc[0] > wald["low"].iloc[0]
        pd.testing.assert_frame_equal(of_flips.iloc[1:], wald.iloc[1:])
        pd.testing.assert_series_equal(of_flips["high"], wald["high"])  # nor of its other end
    wide, narrow = (board["high"] - board["low"] for board in (boards[1], boards[2]))
    assert (wide > 1.3 * narrow).all()


def test_scores_of_few_questions_are_in_their_intervals():
    """The fit of very many questions stands for the truth, since effects that judges share flatten scores."""
    held = {"by question": [], "independent": []}
    rows, question = asked(5, 2_000, (1.0, 0.3, -0.3, -1.0), 1.5)
    limit = leaderboard(fit(rows, "position_aware", "penalised"), 0.95).set_index("model").sort_index()["score"]
    for seed in range(15):
        rows, question = asked(200 + seed, 8, (1.0, 0.3, -0.3, -1.0), 1.5)
        alone = fit(rows, "position_aware", "penalised")
        for name, each in (("by question", by_question(alone, rows, question)), ("independent", alone)):
            board = leaderboard(each, 0.95).set_index("model").sort_index()
            held[name].append(((board["low"] <= limit) & (limit <= board["high"])).mean())
    assert np.mean(held["by question"]) > 0.93
    assert np.mean(held["independent"]) < 0.85


def test_a_single_question_leaves_errors_as_they_are(few):
    rows = few[1]
    alone = fit(rows, "position_aware", "penalised")
    assert by_question(alone, rows, np.zeros(len(rows), int)).robust is None


def test_pairs_and_ranks_follow_from_the_flips(few):
    fitted = few[0]
    pairs, ranks = pairwise(fitted), rank_intervals(fitted).set_index("model")
    assert fitted.flips is not None
    assert fitted.robust is None
    led = pairs[pairs["first"] == "m0"]
    assert led["separated"].all()
    assert (led["p_value"] >= 2 / 2**8 - 1e-12).all()
    assert set(led["test"]) == {"flips"}
    assert not pairs[pairs["first"] != "m0"]["separated"].any()
    assert ranks.loc["m0"].tolist() == [1, 1, 1]
    assert (ranks.drop("m0")["low"] == 2).all()
    assert (ranks["high"].drop("m0") == 4).all()
    holds_zero = ~(pairs["low"] > 0)
    assert (holds_zero == (pairs["p_value"] > 0.05)).all()
    lead = fitted.flips.toarray()[:, 1]
    assert led.set_index("second").loc["m1", "p_value"] == pytest.approx(p_either(lead))


def test_a_lead_against_the_scores_separates_nothing(few):
    fitted, *_ = few
    turned = fitted.flipped(few[1], few[2])
    object.__setattr__(turned, "flips", -turned.flips)
    assert (pairwise(turned)["p_value"] == 1).all()
    assert pairwise(turned)["low"].isna().all()


def test_it_comes_back_from_a_file(few, tmp_path):
    few[0].save(tmp_path / "few.npz")
    assert_allclose(pairwise(judgerank.load(tmp_path / "few.npz"))["p_value"], pairwise(few[0])["p_value"])


def test_all_tables_of_a_ranking_agree(few):
    ranking = rank(frame_of(*few[1:]), model="position_aware")
    pairs, board = ranking.tables["pairs"], ranking.tables["leaderboard"].set_index("model")
    assert pairs["separated"].tolist() == pairwise(ranking.fits)["separated"].tolist() == [True] * 3 + [False] * 3
    assert board["group"].tolist() == ["a", "b", "b", "b"]
    assert board.loc["m0", ["rank_low", "rank_high"]].tolist() == [1, 1]
    text = str(ranking)
    assert "m0 leads." in text
    assert "a significant difference. m0 ranks first" in text
    assert "Only 8 questions" in text


def test_without_questions_it_is_said_once_that_they_may_repeat(few):
    text = str(rank(few[1].to_frame(), model="position_aware"))
    assert text.count("question=NAME") == 1


def test_equal_models_are_seldom_separated_by_effects_that_judges_share():
    """The plain errors separate some pair in a sixth of sets and more."""
    found, plain = [], []
    for seed in range(60):
        rows, question = asked(100 + seed, 10, (0.0,) * 6, 1.5)
        alone = fit(rows, "position_aware")
        found.append(pairwise(by_question(alone, rows, question))["separated"].any())
        plain.append(pairwise(alone)["separated"].any())
    assert np.mean(found) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    assert np.mean(plain) > 0.14


def sized(seed: int, sizes) -> tuple[Comparisons, np.ndarray]:
    """Questions of unequal size: the first pairs of each, by all judges, repeated where there are more."""
    rows, question = asked(seed, len(sizes))
    here = [np.resize(np.flatnonzero(question == q), K * size) for q, size in enumerate(sizes)]
    return rows._rows(np.concatenate(here)), np.repeat(np.arange(len(sizes)), K * np.array(sizes))


def test_questions_of_unequal_size_count_as_fewer():
    """One of forty has most judgments: its share alone decides, and t with 39 degrees of freedom is far off."""
    found = {}
    for name, sizes in (("equal", [6] * 40), ("heavy", [150] + [3] * 39)):
        rows, question = sized(1, sizes)
        fitted = fit(rows, "position_aware")
        found[name] = by_question(fitted, rows, question), questions_of(fitted, rows, question)
    equal, heavy = found["equal"], found["heavy"]
    assert (equal[0].flips, equal[0].degrees_of_freedom, too_few(equal[0])) == (None, 39, None)
    assert equal[1].effective == equal[1].n_questions == 40
    assert heavy[0].flips is not None and heavy[0].robust is None
    assert heavy[1].effective == pytest.approx(267**2 / (150**2 + 39 * 9))
    assert "40 questions of unequal size, which count as 3 of equal size, and " in str(heavy[1])
    assert too_few(heavy[0]).n_questions == 40


def test_degrees_of_freedom_are_those_of_the_effective_number():
    rows, question = sized(2, [12] * 10 + [3] * 40)
    found = by_question(fit(rows, "position_aware"), rows, question)
    assert found.n_clusters == 50
    assert found.degrees_of_freedom == pytest.approx(240**2 / (10 * 144 + 40 * 9) - 1)
    assert "within 50 clusters, which count as 32 of equal size" in found.summary()


def test_no_number_of_comparisons_is_promised_where_questions_are_few(few):
    assert cost_of_pair(few[0], "m1", "m2") is None
    text = str(rank(frame_of(*few[1:]), model="position_aware"))
    assert "compare the two on new questions. Too few questions to tell how many comparisons" in text
    assert "80% power" not in text


# Degrees of freedom of each score and difference of scores, by the questions that compared those models.
OLD, LATE, N_JUDGES, Q, FEW = 3, 2, 4, 60, 5


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
        there = [(*rng.permutation(OLD)[:2], rng.integers(N_JUDGES)) for _ in range(4)]
        if q < FEW:
            there += [
                (*rng.permutation([x, y]), k) for x in range(OLD, n) for y in range(x) for k in range(N_JUDGES)
            ]
        for i, j, k in there:
            rows.append((i, j, k, rng.random() < 1 / (1 + np.exp(quality[j] - quality[i])), q))
    i, j, k, won, q = np.array(rows).T.astype(int)
    names = tuple(f"m{x}" for x in range(n)), tuple(f"j{x}" for x in range(N_JUDGES))
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
