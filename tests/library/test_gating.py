"""The decision of `judgerank gate`: exact where it says so, and with the question as the unit."""

import re
from collections import Counter
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom, norm

from judgerank.data.errors import ConfigError, DataError
from judgerank.gating.decision import Evidence, evidence, holm, largest, least, outcome, p_not_above, p_not_below
from judgerank.gating.gate import gate, more_needed
from judgerank.gating.outputs import as_dict, five_lines
from judgerank.gating.rule import MODES, Rule
from judgerank.gating.scores import scored
from judgerank.gating.verdict_text import sentence, table, warnings, what_decides
from judgerank.order.flips import p_above


def records(preference, first=None, judges=None):
    """Judgments as a table: preference for `new` by question and judge, nan for a reply that cannot be read."""
    preference = np.atleast_2d(np.asarray(preference, float).T).T
    n, k = preference.shape
    first = np.where(np.indices((n, k)).sum(axis=0) % 2 == 0, 1, -1) if first is None else first
    words = {1.0: "new", 0.0: "old", 0.5: "tie"}
    rows = []
    for q, j in product(range(n), range(k)):
        a, b = ("new", "old") if first[q, j] > 0 else ("old", "new")
        won = words.get(preference[q, j])
        answer = "unknown" if won is None else {a: "model_a", b: "model_b"}.get(won, "tie")
        judge = judges[j] if judges else f"judge-{j}"
        rows.append({"question": f"q{q}", "model_a": a, "model_b": b, "judge": judge, "winner": answer})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("n", "won"), [(1, 1), (3, 3), (5, 4), (40, 25), (500, 270)])
def test_the_bounded_test_of_wins_and_losses_is_the_exact_binomial_test(n, won):
    scores = np.repeat([1.0, 0.0], [won, n - won])
    assert p_not_above(scores, 0.45) == pytest.approx(binom.sf(won - 1, n, 0.45), abs=1e-8)
    assert p_not_below(scores, 0.55) == pytest.approx(binom.cdf(won, n, 0.55), abs=1e-8)
    assert least(scores, 0.05) == pytest.approx(beta.ppf(0.05, won, n - won + 1), abs=1e-6)
    high = beta.ppf(0.95, won + 1, n - won) if won < n else 1.0
    assert largest(scores, 0.05) == pytest.approx(high, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_the_bounded_test_is_the_chance_of_a_randomly_weighted_mean(n):
    rng = np.random.default_rng(n)
    scores = np.round(rng.random(n), 1)
    weight = rng.exponential(size=(200_000, n + 1))
    mean = weight[:, :-1] @ scores / weight.sum(axis=1)
    for threshold in (0.3, 0.45):
        drawn = np.mean(mean <= threshold)
        error = 4 * np.sqrt(max(drawn * (1 - drawn), 1e-5) / len(mean))
        assert p_not_above(scores, threshold) == pytest.approx(drawn, abs=error)


def test_of_one_score_the_bound_is_markovs_inequality():
    assert least(np.array([0.6]), 0.05) == pytest.approx(0.05 * 0.6, abs=1e-6)


def test_questions_that_all_tie_ship_when_a_rare_failure_would_have_shown():
    assert p_not_above(np.full(28, 0.5), 0.45) > 0.05 > p_not_above(np.full(29, 0.5), 0.45)
    assert p_not_above(np.full(29, 0.5), 0.45) == pytest.approx(0.9**29, abs=1e-6)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_the_sign_flip_test_counts_all_exchanges(n):
    differences = np.random.default_rng(n).integers(-4, 6, n) / 8
    signs = np.array(list(product([-1, 1], repeat=n)))
    exact = np.mean(signs @ np.abs(differences) >= differences.sum() - 1e-9)
    assert p_above(differences) == pytest.approx(exact, abs=1e-9)


def test_without_a_difference_nothing_speaks_for_either():
    assert p_above(np.zeros(7)) == 1


def test_with_three_questions_no_default_gate_decides():
    for wins in (np.ones(3), np.zeros(3)):
        for mode in MODES:
            scores = scored(wins[:, None], np.zeros((3, 1)))
            assert outcome([evidence(scores, Rule(mode))], Rule(mode)) == "inconclusive"
    generous = Rule(margin=0.2)
    assert outcome([evidence(scored(np.ones((3, 1)), np.zeros((3, 1))), generous)], generous) == "ship"


def test_clones_of_a_judge_change_nothing():
    one = np.random.default_rng(1).integers(0, 3, (20, 1)) / 2
    first = np.where(np.arange(20)[:, None] % 2, 1.0, -1.0)
    alone = evidence(scored(one, first), Rule())
    copied = evidence(scored(np.repeat(one, 6, axis=1), np.repeat(first, 6, axis=1)), Rule())
    for name in Evidence.__dataclass_fields__:
        assert getattr(copied, name) == pytest.approx(getattr(alone, name), abs=1e-9)


def test_exchanging_the_names_exchanges_better_and_worse():
    rng = np.random.default_rng(2)
    preference, first = rng.integers(0, 3, (30, 3)) / 2, rng.choice([-1.0, 1.0], (30, 3))
    one, other = scored(preference, first), scored(1 - preference, -first)
    np.testing.assert_allclose(one.differences, -other.differences, atol=1e-12)
    np.testing.assert_allclose(one.position, other.position, atol=1e-12)


def test_position_bias_alone_neither_ships_nor_blocks():
    """A judge who always prefers the first answer, with the candidate first in two thirds of the questions."""
    first = np.repeat([1.0, -1.0], [80, 40])[:, None]
    found = scored((first > 0).astype(float), first)
    assert (found.order, len(found.used)) == ("uneven", 80)
    assert found.win_rate == pytest.approx(0.5)
    assert evidence(found, Rule("two-sided")).p_ship > 0.4
    even = scored((np.tile([1.0, -1.0], 60)[:, None] > 0).astype(float), np.tile([1.0, -1.0], 60)[:, None])
    assert even.order == "even"
    assert evidence(even, Rule("two-sided")).p_ship > 0.4


@pytest.mark.parametrize("place", [1.0, 0.0])
def test_judges_who_always_chose_one_place_decide_nothing(place):
    """The candidate was there in 25 of 30 questions; the reader takes winners for written there."""
    first = np.repeat([[1], [-1]], [25, 5], axis=0) * (1 if place else -1)
    found = gate(records(np.where(first > 0, place, 1 - place), first), "old", "new")
    assert found.verdict == "inconclusive"
    assert found.criteria[0].evidence.win_rate == pytest.approx(0.5)
    assert any(re.search(r"model_[ab] won in all 30\b", said) for said in found.remarks)


def test_one_order_alone_decides_nothing():
    won = np.tile([1.0, 1.0, 1.0, 0.0], 10)[:, None]
    found = gate(records(won, np.ones((40, 1))), "old", "new")
    assert gate(records(won), "old", "new").verdict == "ship"
    assert (found.verdict, found.criteria[0].scores.order) == ("inconclusive", "one")
    assert found.needed is None
    assert "both orders" in sentence(found)


@pytest.mark.parametrize("sides", [[6], [6, 6, 6], [14]])
def test_position_bias_in_slightly_uneven_orders_makes_no_false_decisions(sides):
    """Six or fourteen of twenty questions with the candidate first: too few to call the orders uneven."""
    rng, runs = np.random.default_rng(9), 400
    first = np.repeat([[1.0], [-1.0]], [sides[0], 20 - sides[0]], axis=0) * np.ones(len(sides))
    blocked = shipped = 0
    for _ in range(runs):
        for lead in (0.0, -1.0):  # at a bias of 3 the latter is a win rate of 45%
            drawn = rng.random(first.shape) < 1 / (1 + np.exp(-lead - 3 * first))
            seen = scored(drawn.astype(float), first)
            assert seen.order == "even" and not seen.balanced and len(seen.differences) == 12
            blocked += lead == 0 and evidence(seen, Rule()).p_block <= 0.05
            shipped += lead < 0 and p_not_above(seen.within, seen.place_of(0.45)) <= 0.05
    assert max(blocked, shipped) / runs <= 0.05


def crowd(rng, judges, of_candidate, first=0.7, questions=60, bias=1.0):
    """Each question before one of many judges, all of whom favour the first answer: preferences and sides."""
    preference, sides = np.full((2, questions, judges), np.nan)
    who = rng.integers(judges, size=questions), np.where(rng.random(questions) < first, 1.0, -1.0)
    asked = np.arange(questions), who[0]
    preference[asked] = rng.random(questions) < 1 / (1 + np.exp(-of_candidate - bias * who[1]))
    sides[asked] = who[1]
    return preference, sides


@pytest.mark.parametrize("judges", [60, 20])
def test_judges_who_saw_one_place_each_have_a_position_bias_together(judges):
    """At a bias of 1 a lead of -0.256 is a win rate of 45%: the candidate, mostly shown first, must not ship."""
    rng, runs, shipped, rates = np.random.default_rng(judges), 300, 0, []
    for _ in range(runs):
        seen = scored(*crowd(rng, judges, -0.256))
        shipped += evidence(seen, Rule()).p_ship <= 0.05
        rates.append(seen.win_rate)
    assert shipped / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
    assert np.mean(rates) == pytest.approx(0.45, abs=0.02)


def test_a_crowd_to_whom_orders_were_drawn_evenly_is_as_good_as_one_judge():
    """Answers of judges with one each are no bias of their own, which nothing could be seen beside."""
    rng, blocked = np.random.default_rng(5), {60: 0, 1: 0}
    for judges in blocked:
        for _ in range(100):
            blocked[judges] += evidence(scored(*crowd(rng, judges, -0.8, 0.5)), Rule()).p_block <= 0.05
    assert blocked[60] >= 0.85 * blocked[1] > 50


def test_what_the_first_place_gains_is_a_mean_over_answers():
    rng = np.random.default_rng(1)
    first = rng.choice([-1.0, 1.0], (100, 5))
    preference = (rng.random((100, 5)) < 0.5 + 0.1 * first).astype(float)
    preference[6:, 3:] = np.nan  # of two judges six answers each, all for the second place
    preference[:6, 3:] = first[:6, 3:] < 0
    found = gate(records(preference, first).query("winner != 'unknown'"), "old", "new")
    assert np.nanmean(found.criteria[0].scores.position) < 0 < found.criteria[0].scores.first_gains
    assert dict(table(found))["position"].startswith("the answer shown first gains")


def test_judges_of_whom_no_answer_counts_are_not_called_silent():
    """Nine of ten saw the candidate first, so that most answers are left out, and with them some judges."""
    rng = np.random.default_rng(3)
    preference, first = crowd(rng, 100, 0.0, 0.9, 150)
    found = gate(records(preference, first).query("winner != 'unknown'"), "old", "new").criteria[0]
    assert found.scores.order == "uneven" and len(found.judged.questions) < 60
    assert found.judged.silent and not found.silent
    assert found.judged.missing == found.judged.preference.size - len(found.judged.questions)


def test_the_position_of_a_judge_who_always_prefers_the_first_is_taken_off_in_full():
    first = np.repeat([1.0, -1.0], [9, 11])[:, None]
    seen = scored((first > 0).astype(float), first)
    assert seen.position == pytest.approx([0.5])
    assert np.abs(seen.differences).max() == pytest.approx(0)
    assert seen.fair == pytest.approx(np.full(20, 0.5))


def test_a_judge_who_saw_one_order_alone_is_left_out():
    """One who always saw the candidate first, and one who never did, would look even together."""
    first = np.tile([1.0, -1.0, 0.0], (30, 1))
    seen = scored(np.tile([1.0, 0.5, 0.5], (30, 1)), first)
    assert (seen.order, seen.shown, seen.win_rate) == ("uneven", (30, 30, 30), 0.5)
    assert scored(np.ones((30, 2)), first[:, :2]).order == "one"


def test_a_few_answers_in_one_order_beside_answers_in_both_keep_their_questions():
    """Equal answers are ties in both orders: to leave out the others would be to forget why one gates."""
    first = np.r_[np.zeros(50), np.ones(4)][:, None]
    seen = scored(np.r_[np.full(50, 0.5), np.zeros(4)][:, None], first)
    assert (seen.order, len(seen.scores), len(seen.differences)) == ("even", 54, 50)
    assert seen.win_rate == pytest.approx(25 / 54)


def test_the_verdict_says_how_often_the_candidate_was_first():
    won = np.tile([1.0, 0.5, 0.0, 0.5], 5)[:, None]

    def said(n):
        first = np.repeat([1, -1], [n, 20 - n])[:, None]
        return dict(table(gate(records(won, first), "old", "new")))["position"]

    assert said(10).endswith("the orders are balanced: the candidate was first in 10 answers, second in 10")
    assert said(6).endswith(
        "the candidate was first in 6 answers, second in 14: one of the two block tests leaves out each judge's "
        "surplus answers in the more frequent order"
    )
    assert "balanced" not in said(6)


@pytest.mark.parametrize("n", [4000, 6000])
def test_thousands_of_questions_are_not_rounded_to_nothing(n):
    assert p_above(np.where(np.arange(n) < 0.6 * n, 0.5, -0.5)) < 1e-9
    assert p_above(np.where(np.arange(n) < 0.5 * n, 0.5, -0.5)) > 0.4


def test_a_frequent_order_makes_no_false_decisions():
    """A judge with position bias, who sees the candidate first in nine of ten questions; 3 errors beside 5%."""
    rng, runs = np.random.default_rng(8), 300
    blocked = shipped = 0
    for _ in range(runs):
        first = np.where(rng.random((40, 1)) < 0.9, 1.0, -1.0)
        for win_rate in (0.5, 0.45):
            seen = evidence(scored((rng.random((40, 1)) < win_rate + 0.3 * first).astype(float), first), Rule())
            blocked += win_rate == 0.5 and seen.p_block <= 0.05
            shipped += win_rate == 0.45 and seen.p_ship <= 0.05
    assert max(blocked, shipped) / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_where_one_order_is_frequent_as_many_answers_count_as_of_the_other():
    first = np.repeat([[1.0, 1.0], [-1.0, 1.0]], [30, 10], axis=0)
    first[:10, 1] = -1.0
    found = scored(np.tile([[0.0, 1.0], [1.0, np.nan]], (20, 1)), first)
    assert found.order == "uneven"
    assert 0 < len(found.used) < 40
    table = gate(records(np.tile([[0.0, 1.0]], (40, 1)), first), "old", "new").criteria[0]
    assert len(table.judged.questions) == len(table.scores.scores) == table.evidence.questions < 40


def test_what_orders_add_by_chance_is_taken_off_the_win_rate():
    """Both variants equal, and the candidate first a little more often than not."""
    first = np.repeat([1.0, -1.0], [100, 80])[:, None]
    found = scored((first > 0).astype(float), first)
    assert found.order == "even"
    assert found.scores.mean() == pytest.approx(100 / 180)
    assert found.win_rate == pytest.approx(0.5, abs=0.002)


def test_a_margin_in_score_is_one_in_win_rate():
    frame = records(np.tile([1.0, 0.5, 0.0], 20))
    margin = 0.1
    one = gate(frame, "old", "new", Rule(margin=margin))
    other = gate(frame, "old", "new", Rule(margin=np.log(0.6 / 0.4), scale="score"))
    assert one.criteria[0].evidence == other.criteria[0].evidence
    assert (one.verdict, one.needed) == (other.verdict, other.needed)
    said = as_dict(other)["criteria"][0]["score"]
    assert said["estimate"] == pytest.approx(0) and said["low"] < 0 < said["high"]
    assert as_dict(gate(records(np.ones((3, 1))), "old", "new"))["criteria"][0]["score"]["estimate"] is None
    assert "in score" in sentence(other) and "in score" not in sentence(one)


def test_one_look_of_each_of_several_runs_spends_its_share():
    levels = [Rule(look=look, run=run).level for run in range(1, 60) for look in range(1, 60)]
    assert 0.048 < sum(levels) < 0.05


def test_a_judge_who_never_answers_is_missing_and_named():
    preference = np.tile([[1.0, np.nan], [0.5, np.nan]], (20, 1))
    found = gate(records(preference), "old", "new")
    assert (found.verdict, found.criteria[0].judged.silent) == ("ship", ("judge-1",))
    assert (
        dict(table(found))["missing"]
        == "40 of 80 expected answers (one per judge and question; 40 unreadable; none from judge-1). They count "
        "for neither side."
    )
    with pytest.raises(DataError, match="usable"):
        gate(records(np.full((20, 2), np.nan)), "old", "new")


def test_a_verdict_prints_as_its_report():
    found = gate(records(np.tile([1.0, 0.0], 9)), "old", "new")
    assert str(found).startswith(sentence(found)) and "win rate" in str(found)
    assert sentence(found)[:30] in repr(found) and len(repr(found)) < 400


def test_both_orders_cancel_position_bias():
    first_wins, second_wins = np.repeat([1.0, 0.0], [24, 6]), np.zeros(30)  # six questions agree on `old`
    seen = ((first_wins, 1), (second_wins, -1))
    found = gate(pd.concat([records(won, np.full((30, 1), side)) for won, side in seen]), "old", "new")
    assert found.criteria[0].evidence.win_rate == pytest.approx(24 * 0.5 / 30)
    assert found.criteria[0].judged.contradicted == pytest.approx(0.8)
    assert np.isnan(found.criteria[0].scores.position).all()
    assert len(found.criteria[0].judged.questions) == 30


def test_a_missing_answer_is_no_loss():
    preference = np.ones((12, 2))
    preference[::2, 1] = np.nan
    found = gate(records(preference), "old", "new").criteria[0]
    assert (found.evidence.win_rate, found.judged.missing, found.judged.unread) == (1.0, 6, 6)


def test_repeats_are_one_question_and_give_the_noise_floor():
    one = records(np.tile([1.0, 0.0], 10)[:, None]).assign(reply="first")
    other = records(np.tile([1.0, 1.0], 10)[:, None]).assign(reply="second")
    found = gate(pd.concat([one, other]), "old", "new").criteria[0]
    assert found.evidence.questions == 20
    assert found.evidence.win_rate == 0.75
    assert found.judged.noise == pytest.approx(0.5)


def test_a_judge_of_the_candidates_maker_is_named_and_left_out():
    preference = np.column_stack([np.ones(60), np.full(60, 0.5), np.tile([0.0, 0.0, 0.5], 20)])
    frame = records(preference, judges=["gpt-4o", "claude-3-opus", "llama-3-70b"]).replace("new", "gpt-5")
    panel = Rule(whose="this_panel")
    found = gate(frame, "old", "gpt-5", panel)
    assert found.related == found.own.recused == ("gpt-4o",) and found.own.n_left_out == 60
    assert (found.verdict, found.without_related, found.with_related) == ("block", "block", "ship")
    assert found.criteria[0].judged.judges == ("claude-3-opus", "llama-3-70b") and not found.own.condition
    counted = gate(frame, "old", "gpt-5", panel, own_maker="count")
    assert (counted.verdict, counted.without_related, counted.with_related) == ("ship", "block", "ship")
    assert counted.own.recused == () and counted.own.n_left_out == 0
    left_out = "2 judges; left out: 1 judge by the maker of either model (--own-maker count)"
    assert five_lines(found)[1].endswith(left_out) and five_lines(counted)[1].endswith("3 judges")
    assert (
        gate(frame.replace("old", "gpt-4"), "gpt-4", "gpt-5", panel).verdict == "block"
    )  # nearer to one of the two
    assert gate(frame, "old", "gpt-5", makers={"gpt-4o": "Acme"}).related == ()
    assert gate(frame.replace("gpt-5", "new"), "old", "new", candidate_model="gpt-5").related == ("gpt-4o",)


def test_criteria_all_pass_or_one_blocks_by_holm():
    good, bad = records(np.tile([1.0, 0.5], 30)), records(np.tile([0.0, 0.5], 30))
    assert gate({"style": good, "facts": good}, "old", "new").verdict == "ship"
    found = gate({"style": good, "facts": bad}, "old", "new")
    assert (found.verdict, [one.name for one in found.failed]) == ("block", ["facts"])
    assert found.criteria[1].p_block == pytest.approx(2 * found.criteria[1].evidence.p_block)
    assert found.criteria[0].p_block == 1


def test_holms_adjustment_is_that_of_the_textbook():
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_looks_spend_alpha_once():
    assert sum(Rule(look=look).level for look in range(1, 2000)) == pytest.approx(0.05, rel=1e-3)
    assert Rule(look=None).level == 0.05


@pytest.mark.parametrize("mode", MODES)
def test_the_questions_still_needed_decide_about_as_often_as_said(mode):
    """Scores drawn again from those seen, as many as there would be; the forecast is approximate."""
    rng = np.random.default_rng(3)
    rule = Rule(mode, margin=0.1 if mode == "equivalence" else 0.05)
    drawn = [12, 16, 12] if mode == "equivalence" else [11, 14, 15]
    preference = np.repeat([0.0, 0.5, 1.0], drawn)[:, None]
    seen = scored(preference, np.zeros((40, 1)))
    assert outcome([evidence(seen, rule)], rule) == "inconclusive"
    more = more_needed([seen], rule.next_look)
    decided = 0
    for _ in range(200):
        drawn = scored(rng.choice(preference[:, 0], (40 + more, 1)), np.zeros((40 + more, 1)))
        decided += outcome([evidence(drawn, rule.next_look)], rule.next_look) != "inconclusive"
    assert 0.7 < decided / 200 < 0.92


def test_a_worse_candidate_takes_as_many_questions_to_be_shown_different_as_in_a_two_sided_test():
    """Equivalence is refuted on either side, each at half of alpha."""
    seen = scored(np.repeat([0.0, 0.5, 1.0], [15, 15, 10])[:, None], np.zeros((40, 1)))
    one, other = (more_needed([seen], Rule(mode, margin=0.01)) for mode in ("equivalence", "two-sided"))
    assert one == other > 100


@pytest.mark.parametrize("n_criteria", [1, 3, 10])
@pytest.mark.parametrize(("mode", "won"), [("non-inferiority", 0.0), ("two-sided", 1.0), ("equivalence", 0.0)])
def test_a_candidate_who_always_wins_or_loses_takes_as_many_questions_as_an_exact_test(mode, won, n_criteria):
    """Sign flips of n questions have a p-value of 2^-n at least: the forecast is enough for that, and no more."""
    rule = Rule(mode, margin=0.01)
    seen = scored(np.full((2, 1), won), np.zeros((2, 1)))
    assert outcome([evidence(seen, rule)] * n_criteria, rule) == "inconclusive"
    total = 2 + more_needed([seen] * n_criteria, rule)
    at_total, before = (
        outcome([evidence(scored(np.full((n, 1), won), np.zeros((n, 1))), rule)] * n_criteria, rule)
        for n in (total, total - 1)
    )
    assert (at_total, before) == ("ship" if won else "block", "inconclusive")


def test_a_tie_that_stays_a_tie_is_never_decided_by_a_two_sided_gate():
    assert more_needed([scored(np.full((9, 1), 0.5), np.zeros((9, 1)))], Rule("two-sided").next_look) is None


def test_an_inconclusive_verdict_says_which_look_is_next():
    rows = records(np.tile([1.0, 1.0, 0.0, 0.0], 5))
    for look, after in ((None, 2), (1, 2), (4, 5)):
        found = gate(rows, "old", "new", Rule(look=look))
        assert found.next_look == after and sentence(found).endswith(f"--look {after}.")
    only, first = (gate(rows, "old", "new", Rule(look=look)) for look in (None, 1))
    assert only.needed == first.needed  # for the look that is to come
    shipped = gate(records(np.ones((40, 1))), "old", "new")
    assert (shipped.verdict, shipped.next_look) == ("ship", None)


def test_a_first_look_without_a_number_adds_half_of_alpha_at_most():
    looks = [Rule()]
    while len(looks) < 2000:
        looks.append(looks[-1].next_look)
    assert sum(rule.level for rule in looks) == pytest.approx(0.075, rel=1e-3)


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_no_distribution_on_three_values_is_shipped_too_often(n, alpha):
    """The exact level, by all samples of n scores on (0, middle, 1), at distributions of mean .45 on a grid."""
    worst = 0.0
    for middle in (0.2, 0.46, 0.5, 0.6):
        counts = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)])
        values = np.array([0.0, middle, 1.0])
        ships = np.array([p_not_above(np.repeat(values, row), 0.45) <= alpha for row in counts])
        ways = np.array([factorial(n) / prod(map(factorial, row)) for row in counts.tolist()])
        for weight in np.linspace(0, 1, 41):
            top = 0.45 - weight * middle
            if top < 0 or weight + top > 1:
                continue
            chances = np.array([1 - weight - top, weight, top])
            level = float((ways * np.prod(chances**counts, axis=1))[ships].sum())
            worst = max(worst, level)
    assert worst <= alpha + 1e-9
    assert worst > 0 or n == 3


def test_equal_variants_are_blocked_at_most_as_often_as_said():
    """Five questions and three judges: the exact level cannot be above 1/32; here with shared question errors."""
    rng = np.random.default_rng(4)
    blocked = 0
    for _ in range(400):
        quality, first = rng.normal(size=(5, 1)), rng.choice([-1.0, 1.0], (5, 3))
        lead = norm.cdf(quality + 0.5 * first)
        found = scored((rng.random((5, 3)) < lead).astype(float), first)
        blocked += outcome([evidence(found, Rule())], Rule()) == "block"
    assert blocked / 400 <= 1 / 32 + 3 * np.sqrt(1 / 32 * 31 / 32 / 400)


def false_blocks(rule: Rule, n: int, n_criteria: int) -> float:
    """The exact chance of a block where the two are equal: criteria apart, n questions each, no ties."""
    won = [
        evidence(scored(np.repeat([1.0, 0.0], [w, n - w])[:, None], np.zeros((n, 1))), rule) for w in range(n + 1)
    ]
    chance = binom(n, 0.5).pmf(np.arange(n + 1))
    total = 0.0
    for counts in combinations_with_replacement(range(n + 1), n_criteria):
        if outcome([won[w] for w in counts], rule) == "block":
            arrangements = factorial(n_criteria) / prod(map(factorial, Counter(counts).values()))
            total += arrangements * float(np.prod(chance[list(counts)]))
    return total


@pytest.mark.parametrize("n_criteria", [1, 2, 3, 5])
@pytest.mark.parametrize("mode", MODES)
def test_false_blocks_are_within_alpha_over_all_criteria(mode, n_criteria):
    """At 18 questions a one-sided test alone nearly spends alpha, 4.8%: two of them would exceed it."""
    rule = Rule(mode, margin=0.1)
    false = false_blocks(rule, 18, n_criteria)
    assert 0 < false <= (0.025 if mode == "two-sided" else 0.05) * (1 + 1e-9)


def test_what_cannot_be_used_is_refused():
    frame = records(np.ones((5, 1)))
    with pytest.raises(DataError, match="no model 'newer'"):
        gate(frame, "old", "newer")
    with pytest.raises(DataError, match="question=NAME"):
        gate(frame.drop(columns="question"), "old", "new")
    with pytest.raises(DataError, match="same model"):
        gate(frame, "old", "old")
    wrongs = [{"mode": "better"}, {"margin": 0.5}, {"alpha": 0.0}, {"power": 1.0}, {"look": 0}, {"run": 0}]
    wrongs += [{"margin": np.nan}, {"margin": 0, "mode": "equivalence"}, {"margin": -1, "scale": "score"}]
    for wrong in [*wrongs, {"scale": "elo"}]:
        with pytest.raises(ConfigError):
            Rule(**wrong)


def test_a_report_has_at_most_ten_lines_and_says_the_same_everywhere():
    one = records(np.tile([[1.0, 0.0, np.nan], [0.0, 0.0, 1.0]], (9, 1)))
    frames = {f"criterion {n}": pd.concat([one, one.iloc[:9]]) for n in range(8)}
    found = gate(frames, "old", "new", candidate_model="judge-0", own_maker="count")
    assert len(table(found)) == 10
    assert {"missing", "position", "noise", "own maker"} < set(dict(table(found)))
    assert "of 7 pairs of identical requests disagree" in dict(table(found))["noise"]
    assert as_dict(found)["verdict"] == found.verdict == sentence(found).split(".")[0].lower()


def in_both_orders(*by_judge):
    """Judgments in both orders: of each judge whether the candidate won, when shown first and second."""
    first, second = (np.column_stack([judge[side] for judge in by_judge]) for side in (0, 1))
    names = [f"judge-{number}" for number in range(len(by_judge))]
    shape = first.shape
    seen = [records(first, np.ones(shape), names), records(second, -np.ones(shape), names)]
    return pd.concat(seen, ignore_index=True)


def test_a_ship_says_where_the_candidate_is_worse_though_within_the_margin():
    """Two in five won before one judge, and three who always take the first: 47.5%, and surely below one half."""
    n = 600
    good = np.tile([1.0, 0.0, 0.0, 1.0, 0.0], n // 5)
    first = (np.ones(n), np.zeros(n))
    panel = Rule(whose="this_panel")
    found = gate(in_both_orders((good, good), first, first, first), "old", "new", panel)
    (one,) = found.criteria
    assert (found.verdict, found.different, found.failed) == ("ship", (one,), ())
    assert max(one.p_block, one.evidence.p_ship) < 0.001
    assert "But new is significantly worse than old, though within the 5% margin." in sentence(found)
    assert as_dict(found)["criteria"][0]["p_block"] == one.p_block
    equivalence = Rule("equivalence", whose="this_panel")
    equivalent = gate(in_both_orders((1 - good, 1 - good), first, first, first), "old", "new", equivalence)
    assert "significantly better than old, though within the 5% margin" in sentence(equivalent)
    by_score = Rule(scale="score", margin=0.2, whose="this_panel")
    score = gate(in_both_orders((good, good), first, first, first), "old", "new", by_score)
    assert "though within the margin of 0.2 in score" in sentence(score)
    assert "significantly" not in sentence(gate(records(np.tile([1.0, 0.5], 30)), "old", "new"))


def test_judges_without_a_signal_are_named_with_the_verdict_without_them():
    rng, n = np.random.default_rng(0), 400
    good = (rng.random(n) < 0.4).astype(float)
    coin = tuple(rng.integers(0, 2, n).astype(float) for _ in range(2))
    first, second = (np.ones(n), np.zeros(n)), (np.zeros(n), np.ones(n))
    found = gate(in_both_orders((good, good), first, coin, second), "old", "new", Rule(whose="this_panel"))
    assert (found.verdict, found.without_uninformative) == ("ship", "block")
    assert dict(table(found))["no signal"] == (
        "judge-1: picks the first answer 100% of the time; judge-2: answers the two orders of a question as "
        "independently as a coin; judge-3: picks the second answer 100% of the time. Without these judges the "
        "verdict is block"
    )
    said = as_dict(found)
    assert list(said["uninformative_judges"]) == ["judge-1", "judge-2", "judge-3"]
    assert said["verdict_without_uninformative_judges"] == "block"
    alone = gate(in_both_orders((good, good)), "old", "new")
    assert (alone.uninformative, alone.without_uninformative) == ({}, None)
    assert "no signal" not in dict(table(alone))


def test_a_coin_that_saw_one_order_of_a_question_is_known_by_the_other_judges():
    rng, n = np.random.default_rng(1), 300
    quality = np.tile([1.0, 0.0], n // 2)
    wrong = rng.random((n, 3)) < 0.2
    good = np.where(wrong, 1 - quality[:, None], quality[:, None])
    first = np.where(rng.random((n, 4)) < 0.5, 1.0, -1.0)
    found = gate(records(np.column_stack([good, rng.integers(0, 2, n)]), first), "old", "new")
    assert [*found.uninformative] == ["judge-3"] and "coin" in found.uninformative["judge-3"]


def test_a_judge_is_not_named_on_weak_evidence():
    """One who prefers the baseline on every question alike, few questions, and a candidate in one place alone."""
    rng = np.random.default_rng(2)
    steady = tuple((rng.random(600) < 0.4).astype(float) for _ in range(2))
    assert gate(in_both_orders(steady), "old", "new").uninformative == {}
    few = (np.ones(10), np.zeros(10))
    assert gate(in_both_orders(few), "old", "new").uninformative == {}
    assert gate(records(np.ones((40, 1)), np.ones((40, 1))), "old", "new").uninformative == {}


@pytest.mark.parametrize(("n", "named"), [(64, False), (1600, True)])
def test_a_judge_is_called_a_coin_only_where_an_agreement_of_its_answers_is_ruled_out(n, named):
    """Answers in the two orders that agree exactly as often as not: of few questions they may yet be related."""
    better = np.tile([1.0, 1.0, 0.0, 0.0], n // 4), np.tile([1.0, 0.0, 1.0, 0.0], n // 4)
    assert bool(gate(in_both_orders(better), "old", "new").uninformative) == named


def test_answers_of_judges_without_names_are_no_repeats_of_one_request():
    one, other = np.tile([1.0, 0.0], 10), np.tile([1.0, 1.0], 10)
    rows = in_both_orders((one, other), (other, one)).drop(columns="judge")
    found = gate(rows, "old", "new")
    assert found.criteria[0].judged.unnamed
    said = dict(table(found))
    assert "noise" not in said and said["judges"].startswith("not named")
    assert said["position"].startswith("every question was judged in both orders")
    assert as_dict(found)["criteria"][0]["noise"] is None


def test_a_criterion_has_a_short_representation():
    (one,) = gate(records(np.ones((400, 3))), "old", "new").criteria
    assert repr(one) == "<Criterion all: win rate 1.000 on 400 questions, p_ship 0.000, p_block 1.000>"
    assert max(map(len, map(repr, (one.judged, one.scores)))) < 100


def test_categories_that_differ_have_a_line_and_leave_the_verdict():
    """Better in code as often as it is worse in writing, and the same in 18 others of two questions each."""
    won = np.r_[np.tile([1.0, 1.0, 0.0, 1.0], 10), np.tile([0.0, 0.0, 1.0, 0.0], 10), np.tile([0.0, 1.0], 18)]
    names = np.repeat(["code", "writing", *(f"other {n}" for n in range(18))], [40, 40, *[2] * 18])
    rows = in_both_orders((won, won)).assign(category=np.tile(names, 2))
    found = gate(rows, "old", "new")
    plain = gate(rows.drop(columns="category"), "old", "new")
    assert (found.verdict, found.needed) == (plain.verdict, plain.needed)
    assert plain.categories == ()
    said = [text for name, text in table(found) if name == "category"]
    rest = "on 40 questions; p = 0.044, adjusted for 20 categories)"
    assert said == [
        f"code: new is significantly better (win rate 75% {rest}",
        f"writing: new is significantly worse (win rate 25% {rest}",
    ]
    assert len(as_dict(found)["categories"]) == 20
    exact = 2 * binom.sf(29, 40, 0.5)
    assert found.categories[0].p_value == pytest.approx(20 * exact)
    few = gate(rows[rows["category"] == "code"], "old", "new")
    assert few.categories == ()
    assert gate(rows.assign(category=[*names, *names[::-1]]), "old", "new").categories == ()


@pytest.mark.parametrize("is_both", [True, False])
def test_nothing_is_decided_by_judges_who_pick_one_place_whoever_is_shown_there(is_both):
    """The win rate is one half then, without any error, and would pass for a candidate as good as the baseline."""
    first = np.ones(60)
    if is_both:
        found = gate(in_both_orders((first, 1 - first)), "old", "new")
    else:
        answers = [
            {"model_a": a, "model_b": b, "winner": "model_a", "judge": judge, "question_id": question}
            for question in range(60)
            for judge in ("j1", "j2")
            for a, b in [("old", "new") if question % 2 else ("new", "old")]
        ]
        found = gate(pd.DataFrame(answers), "old", "new")
    assert found.verdict == "inconclusive" and found.needed is None
    assert "Every judge picks one place" in what_decides(found)
    assert warnings(found) == []  # the next step says it all
    assert "cancels" not in dict(table(found)).get("position", "")
    assert dict(table(found))["no signal"].endswith("picks the first answer 100% of the time")


def test_few_answers_that_all_pick_one_place_call_for_other_judges_and_not_for_more_questions():
    first = np.ones(5)
    found = gate(in_both_orders((first, 1 - first)), "old", "new")
    assert found.verdict == "inconclusive" and found.needed is None
    assert not found.criteria[0].checks.go_by_place
    assert what_decides(found).startswith("All answers so far pick the first place, whichever variant is shown")
    assert dict(table(found))["position"] == "every judge saw both orders, and one place is picked in either"
    but_one = in_both_orders((np.r_[first[1:], 0.0], 1 - first))
    assert "more questions decide" in what_decides(gate(but_one, "old", "new"))


def test_all_ties_are_told_as_such_with_what_to_do():
    found = gate(in_both_orders((np.full(40, 0.5), np.full(40, 0.5))), "old", "new")
    assert found.verdict == "ship" and "50% of the time (all 80 answers are ties), at least" in sentence(found)
    assert warnings(found)[0].startswith(
        "All answers are ties. Judges who never choose make any candidate look as"
    )
    assert "noise" not in dict(table(found))  # a tie has no winner that could change
    no_end = gate(in_both_orders((np.full(40, 0.5), np.full(40, 0.5))), "old", "new", Rule("two-sided"))
    assert what_decides(no_end).endswith(
        "within reach decides: choose on other grounds, such as cost, or try another candidate."
    )
    assert "ties" not in sentence(gate(records(np.tile([1.0, 0.5], 30)), "old", "new"))


def test_who_saw_one_place_alone_is_told_as_it_is():
    """The candidate in the same place for all, and in one place for each judge but not the same for all."""
    n = 30
    for first, said in (
        (np.ones((n, 2)), "The candidate was always shown in the same place"),
        (np.tile([1, -1], (n, 1)), "No judge saw the candidate in both places"),
    ):
        found = gate(records(np.tile([[1.0, 1.0], [1.0, 0.0]], (n // 2, 1)), first), "old", "new")
        assert what_decides(found) == f"{said}, so quality cannot be told from position bias: collect both orders."
        assert dict(table(found))["position"].startswith(said.lower()) and warnings(found) == []


def test_a_verdict_for_the_panel_alone_is_named_only_where_it_decides():
    good = np.ones(40)
    for mode, said in (
        ("non-inferiority", " For this panel alone the verdict is ship (--whose this_panel)."),
        ("two-sided", ""),
    ):
        found = gate(in_both_orders((good, good), (1 - good, 1 - good)), "old", "new", Rule(mode))
        assert what_decides(found) == f"Judges differ significantly: add judges.{said}"
