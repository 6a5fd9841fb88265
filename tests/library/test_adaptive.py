"""Collecting by rounds: what is chosen, when it stops, and that a stop claims what is so."""

import re
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest

from judgerank import Comparisons, fit
from judgerank.adaptive import spent_at
from judgerank.adaptive.choosing import RULES, all_scores, at_random, by_information, open_aim
from judgerank.adaptive.goals import FORMS, Goal, read_goal
from judgerank.adaptive.joint_covariance import with_tastes
from judgerank.adaptive.rounds import Drawn, Kept, collect_until
from judgerank.adaptive.stop_rule import carried, fitted, look_at, tested_order, without_each_judge
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError
from judgerank.fits.errors_by_question import by_question
from judgerank.model.members import Parameters
from judgerank.order.pairs import orders
from judgerank.ranking.candidates import Candidates
from studies.adaptive import Replayed
from studies.tastes import Tasting


def truth(scores, k: int = 4) -> Parameters:
    alpha = np.linspace(-0.8, 0.8, k)
    return Parameters(np.array(scores) - np.mean(scores), np.array([alpha, np.where(np.arange(k) % 2, 0.3, -0.2)]))


def raw(n: int, k: int, size: int, seed: int) -> Comparisons:
    rng = generator(seed, "raw")
    oracle = Drawn(truth(np.linspace(1, -1, n), k), rng)
    asked = at_random(rng, oracle.left, size)
    return Comparisons(oracle.models, oracle.judges, *asked, oracle.ask(*asked).outcome)


# goals


def test_goals_are_read_in_words():
    documented = [read_goal(form, 5) for form in re.findall("'(.+?)'", FORMS)]
    assert documented == [Goal("top", 3), Goal("all"), Goal("width", 0.3), Goal("comparisons", 5000)]
    assert read_goal("Top 3", 5) == Goal("top", 3)
    assert read_goal("neighbours separated", 5) == read_goal("all", 5) == Goal("all")
    assert read_goal("width .3", 5) == Goal("width", 0.3)
    assert read_goal("500 comparisons", 5) == Goal("comparisons", 500)
    for bad in ("top 5", "top 0", "width 0", "soon", "top three"):
        with pytest.raises(ConfigError, match=r"is not a goal|some must be left"):
            read_goal(bad, 5)


def test_all_looks_together_spend_alpha_and_no_more():
    spent = np.cumsum([spent_at(look, 0.05) for look in range(1, 2000)])
    assert spent[-1] < 0.05
    assert spent[-1] == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize("top", [1, 2, 3])
def test_a_wrong_set_makes_one_of_the_false_claims_that_are_allowed_for(top):
    """Models 0, 1, ... fall in truth; whatever else is claimed, one of so many reversed pairs is among it."""
    n, goal = 5, Goal("top", top)
    false = {(j, i) for i in range(top) for j in range(top, n)}
    assert len(false) == goal.false_claims(n)
    for chosen in combinations(range(n), top):
        order = [*chosen, *(x for x in range(n) if x not in chosen)]
        claims = {(order[i], order[j]) for i, j in goal.pairs(n).T}
        assert bool(claims & false) == (set(chosen) != set(range(top)))


def test_a_wrong_order_turns_round_one_of_the_true_neighbours():
    n, goal = 5, Goal("all")
    false = {(i + 1, i) for i in range(n - 1)}
    assert len(false) == goal.false_claims(n)
    for order in permutations(range(n)):
        claims = {(order[i], order[j]) for i, j in goal.pairs(n).T}
        assert bool(claims & false) == (order != tuple(range(n)))


# what is chosen


def test_a_random_round_takes_what_is_left_and_no_more():
    rng = np.random.default_rng(1)
    left = rng.integers(0, 4, (4, 4, 3))
    chosen = at_random(rng, left, 40)
    asked = np.zeros_like(left)
    np.add.at(asked, tuple(chosen), 1)
    assert asked.sum() == 40
    assert (asked <= left).all()
    everything = at_random(rng, left, 10_000)
    assert everything.shape == (3, left.sum())
    many = np.zeros(left.shape)
    for _ in range(400):
        np.add.at(many, tuple(at_random(rng, np.ones_like(left), 12)), 1)
    assert abs(many - 100).max() < 5 * 10


@pytest.mark.parametrize("aim", ["scores", "claims", "determinant"])
def test_the_first_choice_is_the_best_of_all_by_inverses_of_the_information(aim):
    result = fit(raw(4, 3, 600, 2), "position_aware")
    pairs = np.array([[0, 1], [1, 2]]).T
    contrasts = {"scores": all_scores(result), "claims": open_aim(result, pairs), "determinant": None}[aim]
    left = np.where(np.eye(4, dtype=bool)[:, :, None], 0, np.full((4, 4, 3), 1000))
    costs = np.array([1.0, 1.5, 2.0])
    chosen = by_information(np.random.default_rng(0), result, contrasts, left, costs, 20)
    # the covariance lives where scores and log-discriminations sum to zero
    v = result.covariance
    values, vectors = np.linalg.eigh(v)
    basis = vectors[:, values > 1e-12]
    gains = {}
    for i in range(4):
        for j in range(4):
            for k in range(3):
                if i == j:
                    continue
                outcome = Candidates(result, 0).outcomes(np.array([[i], [j], [k]]))
                x = np.zeros((len(v), 1))
                x[outcome.index[0]] = outcome.root[0]
                inner = np.linalg.inv(basis.T @ v @ basis) + basis.T @ x @ x.T @ basis
                after = basis @ np.linalg.inv(inner) @ basis.T
                if contrasts is None:
                    gain = np.linalg.slogdet(inner)[1] + np.linalg.slogdet(basis.T @ v @ basis)[1]
                else:
                    gain = np.trace(contrasts.T @ (v - after) @ contrasts)
                gains[i, j, k] = outcome.caution[0] * gain / costs[k]
    assert tuple(chosen[:, 0]) == max(gains, key=gains.__getitem__)


@pytest.mark.parametrize("cheap", [0, 1])
def test_of_two_judges_alike_all_that_is_not_drawn_at_random_is_asked_of_the_cheaper(cheap):
    rows = raw(4, 1, 300, 8)
    both = np.tile(np.arange(300), 2)
    twins = Comparisons(
        rows.models, ("x", "y"), rows.first[both], rows.second[both], np.repeat([0, 1], 300), rows.outcome[both]
    )
    result = fit(twins, "position_aware")
    costs = np.where(np.arange(2) == cheap, 1.0, 3.0)
    left = np.where(np.eye(4, dtype=bool)[:, :, None], 0, np.full((4, 4, 2), 1000))
    chosen = by_information(np.random.default_rng(0), result, all_scores(result), left, costs, 40)
    assert (chosen[2, :36] == cheap).all()


def test_a_dear_judge_is_asked_less():
    """Two judges alike, one ten times as dear: it is asked in the share alone that is drawn at random."""
    at = truth(np.linspace(1, -1, 5), 2)
    at = Parameters(at.scores, np.zeros((2, 2)))
    costs = np.array([1.0, 10.0])
    oracle = Drawn(at, generator(3, "oracle"), costs)
    found = collect_until(oracle, Goal("comparisons", 3000), generator(3, "rounds"))
    asked = np.bincount(found.result.comparisons.judge, found.result.comparisons.count)
    assert asked.sum() == 3000
    assert asked[1] < 0.12 * asked.sum()
    assert found.looks["cost"].iloc[-1] == asked @ costs


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_judgment_of_a_data_set_is_given_out_once(rule):
    rows = raw(4, 3, 900, 4)
    oracle = Replayed(rows, generator(4, "oracle"))
    found = collect_until(oracle, Goal("comparisons", 10_000), generator(4, "rounds"), rule)
    assert not found.reached
    assert oracle.left.sum() == 0
    assert found.looks["comparisons"].iloc[-1] == 900
    a, b = found.result.comparisons, rows.aggregate()
    for x in (a, b):
        assert x.count.sum() == 900
    key = ["first", "second", "judge"]
    one, other = (
        pd.DataFrame({"first": x.first, "second": x.second, "judge": x.judge, "n": x.count, "y": x.outcome})
        .sort_values(key)
        .reset_index(drop=True)
        for x in (a, b)
    )
    pd.testing.assert_frame_equal(one, other)


# judges with tastes


def tasting(seed: int, favourite: float = 0.0, sd: float = 0.0) -> Tasting:
    """Six models before four judges; the sharpest favours the third model, in log-odds, or all have tastes."""
    oracle = Tasting(np.linspace(1, -1, 6), sd, None, generator(seed, "tasting"))
    oracle.thought[-1, 2] += favourite
    return oracle


def test_the_joint_covariance_is_the_inverse_of_the_joint_information():
    result = fit(raw(4, 3, 900, 5), "position_aware", "penalised")
    joint, cells = with_tastes(result), result.comparisons
    d, n, k = len(joint.shift), 4, 3
    information = np.zeros((d + n * k, d + n * k))
    for first, second, judge, count in zip(cells.first, cells.second, cells.judge, cells.count, strict=True):
        those = joint.outcomes(result, np.array([[first], [second], [judge]]))
        x = np.zeros(d + n * k)
        np.add.at(x, those.index[0], those.root[0, :, 0])
        information += count * np.outer(x, x)
    information[d:, d:] += np.eye(n * k) / joint.variance
    own = result._inverse("expected")
    values, vectors = np.linalg.eigh(own)
    basis = vectors[:, values > 1e-12]
    at = slice(0, d)
    precision = np.linalg.inv(basis.T @ own @ basis)  # the penalty is among it
    within = np.block([[basis, np.zeros((d, n * k))], [np.zeros((n * k, basis.shape[1])), np.eye(n * k)]])
    inner = within.T @ information @ within
    inner[: basis.shape[1], : basis.shape[1]] = precision
    whole = within @ np.linalg.inv(inner) @ within.T
    np.testing.assert_allclose(joint.v[d:, d:], whole[d:, d:], atol=1e-8)
    np.testing.assert_allclose(joint.v[at, d:], whole[at, d:], atol=1e-8)
    np.testing.assert_allclose(joint.v[at, at] - joint.plain, whole[at, at] - own, atol=1e-8)


@pytest.mark.parametrize(("sd", "least", "most"), [(0.0, 0.0, 0.15), (0.7, 0.3, 1.5)])
def test_the_size_of_tastes_is_found_where_there_are_any(sd, least, most):
    oracle, rng = tasting(1, sd=sd), generator(1, "rounds")
    asked = at_random(rng, oracle.left, 2400)
    rows = Comparisons(oracle.models, oracle.judges, *asked, oracle.ask(*asked).outcome)
    assert least <= np.sqrt(with_tastes(fitted(rows, "position_aware")).variance) <= most


def test_where_judges_have_tastes_the_choice_does_not_rest_on_one_and_errs_no_more_than_random():
    """The sharpest judge favours the third model. A choice without tastes asks it 80%, and errors double."""
    shares, errors = [], {"information": [], "random": []}
    goal, true = Goal("comparisons", 1200), np.linspace(1, -1, 6) / np.linspace(1, -1, 6).std()
    for rule, of_rule in errors.items():
        for seed in range(6):
            run = collect_until(tasting(seed, 1.5), goal, generator(seed, "rounds"), rule)
            scores, cells = run.result.scores.to_numpy(), run.result.comparisons
            of_rule.append(np.mean(((scores - scores.mean()) / scores.std() - true) ** 2))
            if rule == "information":
                shares.append(cells.count[cells.judge == 3].sum() / cells.count.sum())
    assert np.mean(shares) < 0.45
    more = np.subtract(errors["information"], errors["random"])
    assert more.mean() < 2 * more.std(ddof=1) / np.sqrt(len(more))


def at_a_stop(like_these: bool | None):
    """Random answers of a panel whose sharpest judge puts the third model second, and a look at them."""
    oracle, rng = tasting(2, 3.0), generator(1, "rounds")
    asked = at_random(rng, oracle.left, 3000)
    rows = Comparisons(oracle.models, oracle.judges, *asked, oracle.ask(*asked).outcome)
    goal, question = Goal("top", 2, like_these), np.arange(len(rows))
    return rows, question, look_at(rows, question, fitted(rows, "position_aware"), goal, 1, len(rows), 0.05)


def test_a_stop_says_which_judge_turns_its_claims():
    rows, question, look = at_a_stop(like_these=False)
    assert look.reached and set(look.order.models[:2]) == {"m00", "m02"}
    without = without_each_judge(rows, question, "position_aware", look, 0.05)
    table = without.set_index("judge")
    assert table["share"].sum() == pytest.approx(1)
    assert table["reversed"].to_dict() == {"j00": 0, "j01": 0, "j02": 0, "j03": 1}
    assert table.loc["j03", "example"] == "m02 over m01"
    (sentence,) = carried(without)
    assert "j03" in sentence and "m02 over m01" in sentence
    assert len(carried(without.drop(index=3))) == 1 and carried(without.iloc[:0]) == []


def test_a_goal_that_names_no_judges_is_about_judges_like_these_where_tastes_show():
    _, _, look = at_a_stop(like_these=None)
    assert look.goal.like_these
    assert not look.reached


# when it stops


@pytest.mark.parametrize(("goal", "right"), [(Goal("top", 2), {"m00", "m01"}), (Goal("all"), None)])
def test_it_stops_at_the_truth_and_sooner_than_at_random(goal, right):
    """Stops at a false claim come in less than one of twenty; of eight here, none."""
    sizes = {"information": [], "random": []}
    for rule, found in sizes.items():
        for seed in range(4):
            oracle = Drawn(truth(np.linspace(1, -1, 6)), generator(seed, "oracle"))
            run = collect_until(oracle, goal, generator(seed, "rounds"), rule, most=40_000)
            assert run.reached
            assert run.looks["open"].iloc[-1] == 0
            assert (run.looks["open"].iloc[:-1] > 0).all()
            order = run.result.scores.sort_values(ascending=False).index
            assert set(order[:2]) == right if right else list(order) == sorted(order)
            found.append(run.looks["comparisons"].iloc[-1])
    assert np.mean(sizes["information"]) < np.mean(sizes["random"]) / 2


def test_equal_models_at_the_edge_are_rarely_told_apart():
    """Of six collections, at 5% two false stops or more have a probability of .033."""
    stopped = 0
    for seed in range(6):
        oracle = Drawn(truth([1.0, 0.2, 0.2, -0.4, -1.0]), generator(seed, "oracle"))
        run = collect_until(oracle, Goal("top", 2), generator(seed, "rounds"), most=2000)
        stopped += run.reached
        assert run.reached or run.looks["comparisons"].iloc[-1] == 2000
    assert stopped < 2


STOPS_TOO_EARLY = 10  # by the errors of the model alone, found by trying seeds


def in_questions(questions: int, seed: int, watch=None, most: int | None = None):
    """The second and the third model are equal, and all judges see how good each of their answers is."""
    rng = generator(seed, "questions")
    at = truth([0.9, 0.2, 0.2, -0.2, -0.4, -0.7])
    oracle = Drawn(at, rng, questions=questions, question_sd=1.0)
    return collect_until(oracle, Goal("top", 2), rng, most=most, watch=watch)


def test_answers_of_their_own_quality_do_not_pass_for_better_models():
    """Were comparisons of one question independent, this would stop."""
    least = []

    def watch(result, _):
        hurdle = spent_at(len(least) + 1, 0.05) / Goal("top", 2).false_claims(6)
        i, j = Goal("top", 2).pairs(6)
        least.append(next(orders(result)).p_value[i, j].max() <= hurdle)
        return {}

    run = in_questions(40, STOPS_TOO_EARLY, watch)
    assert any(least)
    assert not run.reached
    assert run.looks["by_question"].all()
    assert set(run.looks["questions"]) == {40}
    assert run.looks["comparisons"].iloc[-1] == 40 * 30 * 4


def test_few_questions_are_no_ground_for_errors_by_question():
    looks = in_questions(10, 1, most=400).looks
    assert not looks["by_question"].any()
    assert set(looks["questions"]) == {10}


@pytest.mark.parametrize("seed", [6, 10])  # which stop by the errors of the model alone
def test_ten_questions_are_no_ground_for_a_stop_between_equal_models(seed):
    rng, gamma = generator(seed, "few"), [0.6, 0.4, 0.2, 0.0, 0.0, -0.2, -0.4, -0.6]
    at = Parameters(np.array([1.2, 0.0, 0.0, -1.2]), np.array([gamma, [0.0] * 8]))
    goal, orders_seen = Goal("top", 2), []
    oracle = Drawn(at, rng, questions=10, question_sd=1.2)
    run = collect_until(oracle, goal, rng, most=500, watch=lambda _, order: orders_seen.append(order) or {})
    assert not run.reached
    assert all(order.flipped for order in orders_seen)
    assert (run.looks["open"] > 0).all()
    assert not any(Goal("width", 100.0).reached(order, 1, 500, 0.05) for order in orders_seen)


def test_the_fewest_questions_are_those_whose_least_p_value_passes():
    goal = Goal("top", 2)
    for look in (1, 4):
        least, hurdle = goal.fewest_questions(6, look, 0.05), spent_at(look, 0.05) / goal.false_claims(6)
        assert 2.0 ** (1 - least) <= hurdle < 2.0 ** (2 - least)


def test_what_is_asked_once_is_as_if_there_were_no_questions():
    at, n = truth([1.0, 0.0, -1.0]), 10_000
    runs = [
        collect_until(Drawn(at, generator(7, "oracle"), **given), Goal("top", 1), generator(7, "rounds"), most=600)
        for given in ({}, {"questions": n})
    ]
    assert [set(run.looks["by_question"]) for run in runs] == [{False}] * 2
    assert all((run.looks["questions"] == run.looks["comparisons"]).all() for run in runs)


def test_a_width_is_reached():
    oracle = Drawn(truth(np.linspace(1, -1, 5)), generator(5, "oracle"))
    run = collect_until(oracle, Goal("width", 0.5), generator(5, "rounds"), "a_optimal")
    order = next(orders(run.result))
    assert run.reached
    assert Goal("width", 0.5).reached(order, 1, 0, 0.05)
    assert not Goal("width", 0.2).reached(order, 1, 0, 0.05)
    assert np.isnan(run.looks["open"]).all()


def test_a_run_depends_on_its_seed_alone():
    runs = [
        collect_until(Drawn(truth([1, 0, -1]), generator(6, "oracle")), Goal("all"), generator(6, "rounds"))
        for _ in range(2)
    ]
    pd.testing.assert_frame_equal(runs[0].looks, runs[1].looks)


# data that leave no doubt


def scripted(probability: float, questions: int, seed: int) -> Comparisons:
    """Two judges on two models; of two scripts with one seed the likelier one has all wins of the other."""
    rng = np.random.default_rng(seed)
    order, won = rng.random((questions, 2)) < 0.5, rng.random((questions, 2)) < probability
    first = np.where(order, 0, 1).ravel()
    judge = np.tile([0, 1], questions)
    outcome = np.where(order, won, ~won).ravel().astype(float)
    return Comparisons(("m00", "m01"), ("j00", "j01"), first, 1 - first, judge, outcome)


def looks_until(probability: float, seed: int) -> int:
    """How many looks it takes until all is separated; each has twelve questions more."""
    rows, questions = scripted(probability, 240, seed), np.repeat(np.arange(240), 2)
    for look, size in enumerate(range(24, 481, 24), 1):
        part = Comparisons(
            rows.models, rows.judges, *(column[:size] for column in (rows.first, rows.second, rows.judge)),
            rows.outcome[:size],
        )  # fmt: skip
        oracle = Drawn(truth([1.0, -1.0], 2), generator(seed, "oracle"))
        kept = Kept(oracle, part, questions[:size])
        order, _ = tested_order(kept.raw, kept.question, fitted(kept.raw, "position_aware"))
        if order is not None and Goal("all").reached(order, look, size, 0.05):
            return look
    return 99


@pytest.mark.parametrize("seed", range(4))
def test_more_one_sided_answers_never_need_more_looks(seed):
    looks = [looks_until(probability, seed) for probability in (0.6, 0.7, 0.8, 0.9, 0.97, 1.0)]
    assert looks == sorted(looks, reverse=True)
    assert looks[-1] == 1


@pytest.mark.parametrize("goal", [Goal("all"), Goal("top", 1)])
def test_a_model_that_loses_everything_does_not_keep_a_collection_going(goal):
    sizes = []
    for scores in ([2.0, 0.0, -2.0], [2.0, 0.0, -2.0, -30.0]):
        oracle = Drawn(truth(scores, 2), generator(1, "oracle"), questions=150)
        run = collect_until(oracle, goal, generator(1, "rounds"), most=1200)
        assert run.reached
        sizes.append(run.looks["comparisons"].iloc[-1])
    assert sizes[1] <= 3 * sizes[0]


def test_claims_are_tested_as_a_ranking_tests_its_pairs():
    rows, questions = scripted(0.9, 60, 5), np.repeat(np.arange(60), 2)
    kept = Kept(Drawn(truth([1.0, -1.0], 2), generator(5, "oracle")), rows, questions)
    order, by_questions = tested_order(kept.raw, kept.question, fitted(kept.raw, "position_aware"))
    shown = by_question(fit(rows, "position_aware", "penalised"), rows, questions)
    assert by_questions
    np.testing.assert_allclose(order.p_value, next(orders(replace(shown, raw=rows, question=questions))).p_value)
