"""Pairs tested by sign flips of whole questions, where there are too few questions for clustered errors."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

import judgerank
from judgerank import Comparisons, fit
from judgerank.fits.errors_by_question import by_question, questions_of, too_few
from judgerank.fits.presentation import leaderboard, win_rate_intervals
from judgerank.order.flips import leads_by_question, p_either
from judgerank.order.pairs import pairwise
from judgerank.order.rank_intervals import rank_intervals
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
    assert too_few(found).many == 8
    assert_allclose(found.covariance, by.covariance)
    assert (found.degrees_of_scores <= 7).all()
    pd.testing.assert_frame_equal(pairwise(found), pairwise(flipped))
    pd.testing.assert_frame_equal(rank_intervals(found), rank_intervals(flipped))
    ends = ["low", "high"]
    boards = [leaderboard(each, 0.95)[ends] for each in (found, by, flipped)]
    pd.testing.assert_frame_equal(boards[0], boards[1])
    wins = [win_rate_intervals(each, 0.95) for each in (found, by)]
    pd.testing.assert_frame_equal(*wins)
    assert ((boards[0]["high"] - boards[0]["low"]) > 1.3 * (boards[2]["high"] - boards[2]["low"])).all()


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
    assert board["band"].tolist() == [1, 2, 2, 2]
    assert board.loc["m0", ["rank_low", "rank_high"]].tolist() == [1, 1]
    text = str(ranking)
    assert "m0 leads." in text
    assert "a significant difference. m0 ranks first" in text
    assert "Only 8 questions" in text


def test_without_questions_it_is_said_once_that_they_may_repeat(few):
    text = str(rank(few[1].to_frame(), model="position_aware"))
    assert text.count("judges that copy each other cannot be recognised") == 1


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
    assert equal[1].effective == equal[1].many == 40
    assert heavy[0].flips is not None and heavy[0].robust is None
    assert heavy[1].effective == pytest.approx(267**2 / (150**2 + 39 * 9))
    assert "40 questions of unequal size, which count as 3 of equal size, and " in str(heavy[1])
    assert too_few(heavy[0]).many == 40


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
