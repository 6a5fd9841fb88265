"""Requests asked more than once: flip rates, what repeats buy, and judges who answer otherwise than before."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import beta, chi2_contingency, norm, t

import judgerank
from judgerank import fit
from judgerank.adaptive.goals import LIKE_THESE, read_goal
from judgerank.adaptive.rounds import collect_until
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import changed_answers
from judgerank.ranking.page import OTHERS
from judgerank.ranking.ranking import rank
from judgerank.trust import retest as module
from judgerank.trust.drift import drift, drifted
from judgerank.trust.repeats import Repeats, design_effect, repeats_of
from judgerank.trust.retest import asked_again, firsts, p_of_change, requests_of
from replication.config import ROOT
from studies.fit_tests import Design, drawn
from studies.tastes import Tasting
from tests.forked import judgerank as command

# Requests asked more than once: flip rates with intervals, and what repeats buy.
GOAL = "score_width=0.3"


def asked(seed: int, **settings) -> tuple[Comparisons, np.ndarray]:
    return drawn(
        Design(**{"judges": 3, "questions": 40, "pairs": 3, "repeats": 2} | settings), np.random.default_rng(seed)
    )


def flip_rate(request, answer, count) -> float:
    differ, pairs = changed_answers(request, answer, count)
    return differ.sum() / pairs.sum()


def test_pairs_of_answers_to_one_request_are_counted():
    request, answer = np.array([0, 0, 0, 1, 1, 2]), np.array([1.0, 0.0, 1.0, 0.5, 0.5, 1.0])
    differ, pairs = changed_answers(request, answer, np.ones(6))
    assert (differ.tolist(), pairs.tolist()) == ([2, 0, 0], [3, 1, 0])


def test_counts_are_as_many_answers():
    once = changed_answers(np.zeros(4, int), np.array([1.0, 1.0, 1.0, 0.0]), np.ones(4))
    counted = changed_answers(np.zeros(2, int), np.array([1.0, 0.0]), np.array([3.0, 1.0]))
    assert [x.tolist() for x in once] == [x.tolist() for x in counted]


def test_the_table_is_by_judge_and_of_all():
    rows, question = asked(1)
    found = repeats_of(fit(rows, "position_aware"), rows, question)
    assert found is not None
    table = found.table.set_index("judge")
    assert table.index.tolist() == ["all judges", "j0", "j1", "j2"]
    assert table.loc["all judges", "requests"] == table.loc["j0":, "requests"].sum()
    asked_for = np.c_[question, rows.first, rows.second, rows.judge]
    request = np.unique(asked_for, axis=0, return_inverse=True)[1].ravel()  # of another shape in numpy 2.0
    assert table.loc["all judges", "flip_rate"] == pytest.approx(flip_rate(request, rows.outcome, rows.count))
    mine = rows.judge == 1
    assert table.loc["j1", "flip_rate"] == pytest.approx(
        flip_rate(request[mine], rows.outcome[mine], rows.count[mine])
    )
    assert (table["low"] <= table["flip_rate"]).all()
    assert (table["flip_rate"] <= table["high"]).all()
    assert found.correlation == pytest.approx(1 - table["noise"].iloc[0])


def test_independent_answers_are_all_noise_and_a_judge_who_never_changes_has_none():
    rows, question = asked(2, questions=150)
    noisy = repeats_of(fit(rows, "position_aware"), rows, question)
    assert noisy is not None
    assert noisy.table["noise_high"].iloc[0] > 0.9
    assert noisy.table["second_answer"].iloc[0] > 0.7
    first = np.arange(len(rows)) - np.arange(len(rows)) % 2  # both answers are the first one
    same = Comparisons(
        rows.models, rows.judges, rows.first, rows.second, rows.judge, rows.outcome[first], ordered=True
    )
    still = repeats_of(fit(same, "position_aware"), same, question)
    assert still is not None
    row = still.table.iloc[0]
    assert (row["flip_rate"], row["noise"], row["second_answer"], row["pays_from"]) == (0, 0, 0, np.inf)
    assert 0 < row["high"] < 0.1
    assert "new" in list(still.sentences())[1].rpartition(":")[2]
    free = noisy.table.assign(pays_from=0.01)
    who, told, *_ = Repeats(free).sentences()
    assert f"% of {free['requests'].iloc[1]} requests)" in who
    assert "pays if" in told


def test_a_second_answer_pays_from_the_price_at_which_both_cost_the_same():
    """Variance times cost of one answer and of two, a new question costing c beside its answers."""
    rows, question = asked(3, judge_sd=1.5)
    found = repeats_of(fit(rows, "position_aware"), rows, question)
    assert found is not None
    row, rho = found.table.iloc[0], found.correlation
    c = row["pays_from"]
    assert (c + 1) * 1 == pytest.approx((c + 2) * (1 + rho) / 2)
    assert row["second_answer"] == pytest.approx(2 / (1 + rho) - 1)


def test_intervals_of_a_coin_that_is_asked_twice_are_in_closed_form():
    """Its answers depart from an even chance by a half: what it changes is half of what is noise."""
    asked, changed = 41, 12
    question, answer = np.repeat(np.arange(asked), 2), np.zeros((asked, 2))
    answer[:changed, 0] = 1
    answer[changed::2] = 1  # of the other 29 questions 15, and 14 answered as often against
    answer = np.r_[answer.ravel(), 0.0, 0.0]
    question = np.r_[question, asked, asked + 1]  # two more, asked once, make the chance even
    ends = np.zeros(len(answer), int)
    rows = Comparisons(("a", "b"), ("coin",), ends, ends + 1, ends, answer, ordered=True)
    found = repeats_of(fit(rows, "btl"), rows, question)
    assert answer.mean() == 0.5 and found is not None
    row, rate, trials = found.table.iloc[0], changed / asked, asked - 1  # Q - 1 by the variance's own factor
    counted = trials * (norm.ppf(0.975) / t.ppf(0.975, trials)) ** 2
    hits = rate * counted
    assert row["flip_rate"] == pytest.approx(rate)
    assert row["low"] == pytest.approx(beta.ppf(0.025, hits, counted - hits + 1))
    assert row["high"] == pytest.approx(beta.ppf(0.975, hits + 1, counted - hits))
    reach = t.ppf(0.975, trials) * 2 * np.sqrt(rate * (1 - rate) / trials)
    assert row["noise"] == pytest.approx(2 * rate)
    assert (row["noise_low"], row["noise_high"]) == pytest.approx((2 * rate - reach, 2 * rate + reach))


def retested(seed: int, views: np.ndarray, noise: np.ndarray, margin: float, n_questions: int = 700):
    """Judges with normal views of every request, normal noise in every answer, and ties up to a margin."""
    rng, scores, k = np.random.default_rng(seed), np.linspace(-0.9, 0.9, 4), len(views)
    i = np.repeat(rng.integers(0, 4, n_questions), k)
    j = (i + np.repeat(rng.integers(1, 4, n_questions), k)) % 4
    judge, question = np.tile(np.arange(k), n_questions), np.repeat(np.arange(n_questions), k)
    view = scores[i] - scores[j] + views[judge] * rng.standard_normal(len(i))
    latent = np.repeat(view, 2) + np.repeat(noise[judge], 2) * rng.standard_normal(2 * len(i))
    outcome = np.where(np.abs(latent) < margin, 0.5, (latent > 0).astype(float))
    names = tuple(f"m{x}" for x in range(4)), tuple(f"j{x}" for x in range(k))
    columns = (np.repeat(x, 2) for x in (i, j, judge))
    return Comparisons(*names, *columns, outcome, ordered=True), np.repeat(question, 2)


@pytest.mark.parametrize(("margin", "member"), [(0.0, "position_aware"), (0.4, "position_aware_ties")])
def test_noise_within_a_judge_is_told_from_views_that_it_repeats(margin, member):
    """Two judges discriminate alike: one is noisy, and the other's views are its own."""
    views, noise = np.array([0.4, 1.2, 1.0, 0.0]), np.array([1.2, 0.4, 1.0, 0.6])
    rows, question = retested(1, views, noise, margin)
    fitted = fit(rows, member)
    found = repeats_of(fitted, rows, question)
    assert found is not None
    table, truth = found.table.iloc[1:], views**2 / (views**2 + noise**2)
    assert table["reliability"].to_numpy() == pytest.approx(truth, abs=0.1)
    assert ((table["reliability_low"] <= truth) & (truth <= table["reliability_high"])).all()
    gamma = fitted.discrimination.to_numpy()
    assert gamma[0] == pytest.approx(gamma[1], rel=0.25)
    settled = gamma[:3] / np.sqrt(table["reliability"].to_numpy()[:3])  # of the fourth there is nothing to repeat
    assert settled / settled[1] == pytest.approx(views[1] / views[:3], rel=0.3)


def test_answers_that_are_shares_have_no_reliability():
    rows, question = retested(2, np.ones(2), np.ones(2), 0.0, 60)
    shares = dataclasses.replace(rows, outcome=0.1 + 0.8 * rows.outcome)
    found = repeats_of(fit(shares, "position_aware"), shares, question)
    assert found is not None
    assert found.table["reliability"].isna().all() and found.table["noise"].notna().all()
    list(found.sentences())


def test_a_judge_gains_no_weight_by_answers_to_one_request_that_tell_nothing_new():
    rows, question = retested(3, np.array([1.5, 0.7, 0.7]), np.array([0.0, 0.7, 0.7]), 0.0, 150)
    twice = (np.arange(len(rows)) % 2 == 0) | (rows.judge == 0)  # one judge is asked twice, and says the same
    frame = rows.to_frame().assign(question_id=[f"q{q}" for q in question], repeat=np.arange(len(rows)) % 2)
    once = np.arange(len(rows)) % 2 == 0
    shares = [
        rank(frame[which]).judges.set_index("judge").loc["j0", "information"] for which in (np.array(once), twice)
    ]
    assert shares[1] == pytest.approx(shares[0], abs=0.02)


def test_doctor_and_the_table_of_judges_say_how_often_each_changed_its_answer(tmp_path):
    rows, question = retested(4, np.array([1.0, 0.3]), np.array([0.3, 1.0]), 0.0, 120)
    frame = rows.to_frame().assign(question_id=[f"q{q}" for q in question], repeat=np.arange(len(rows)) % 2)
    frame.to_csv(tmp_path / "twice.csv", index=False)
    judges = rank(frame).judges.set_index("judge")
    document = json.loads(command("doctor", tmp_path / "twice.csv", "--json").stdout)
    (said,) = [finding["text"] for finding in document["findings"] if finding["topic"] == "repeats"]
    for name, row in judges.iterrows():
        assert row["low_flip_rate"] < row["flip_rate"] < row["high_flip_rate"]
        assert f"{name} changed" in said and f"({row['flip_rate']:.0%} of" in said
    assert judges.loc["j0", "reliability"] > judges.loc["j1", "reliability"]
    assert judges.loc["j0", "disattenuated"] > judges.loc["j0", "discrimination"]
    frame.drop_duplicates(["question_id", "judge_model"]).to_csv(tmp_path / "once.csv", index=False)
    once = json.loads(command("doctor", tmp_path / "once.csv", "--json").stdout)
    assert "repeats" not in [finding["topic"] for finding in once["findings"]]


def test_nothing_is_said_where_nothing_was_repeated():
    rows, question = asked(4, repeats=1, pairs=1)
    assert repeats_of(fit(rows, "position_aware"), rows, question) is None


def test_design_effects_are_kishs():
    assert design_effect(3, 0.25) == 1.5
    for repeats, correlation, said in (
        (0, 0.5, r"\brepeats\b.*\b0$"),
        (2, 1.5, r"\bcorrelation\b.*\b1\.5$"),
    ):
        with pytest.raises(ConfigError, match=said):
            design_effect(repeats, correlation)


def test_a_ranking_has_the_table_and_a_line():
    rows, question = asked(5)
    frame = rows.to_frame().assign(question_id=[f"q{q}" for q in question], nth=np.arange(len(rows)) % 2)
    ranking = rank(frame)
    assert isinstance(ranking.tables["repeats"], pd.DataFrame)
    overall = ranking.tables["repeats"].iloc[0]
    (said,) = (text for text in ranking.remarks if text.startswith("Asked "))
    assert f"{overall['flip_rate']:.0%}" in said and f"{overall['pays_from']:.1f} judgments" in said
    assert all(OTHERS[name] in ranking.to_html() for name in ("repeats", "fitness"))


def test_a_plan_takes_the_correlation_of_repeats_from_the_file(tmp_path):
    rows, question = asked(6, judge_sd=2.0)
    frame = rows.to_frame().assign(question_id=[f"q{q}" for q in question], nth=np.arange(len(rows)) % 2)
    frame.to_csv(tmp_path / "twice.csv", index=False)
    found = repeats_of(fit(rows, "position_aware", shrink=True), rows, question)
    assert found is not None

    def planned(*more: object) -> list[str]:
        done = command("plan", tmp_path / "twice.csv", "--repeats", 2, "--question-sd", 0, "--want", GOAL, *more)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    told = planned()
    assert next(found.sentences()) in " ".join(" ".join(told).split())
    assert told[-1] == planned("--correlation", found.correlation)[-1]
    assert told[-1] != planned("--correlation", 0)[-1]


# A judge who answers otherwise than before, and collections that end for it.
N, K = 5, 4


def drawn_in_halves(seed: int, size: int, change: float) -> Comparisons:
    """Judges with tastes and positions; what one of them thinks of one model changes half way."""
    rng = np.random.default_rng(seed)
    thought, position = np.linspace(1, -1, N) + rng.normal(0, 0.5, (K, N)), rng.normal(0, 0.4, K)
    i, k = rng.integers(0, N, size), rng.integers(0, K, size)
    j = (i + rng.integers(1, N, size)) % N
    late = np.arange(size) >= size // 2
    eta = thought[k, i] - thought[k, j] + position[k]
    eta = eta + change * (late & (k == 1)) * ((i == 2).astype(float) - (j == 2))
    names = tuple(f"m{x}" for x in range(N)), tuple(f"j{x}" for x in range(K))
    return Comparisons(*names, i, j, k, (rng.random(size) < expit(eta)).astype(float), ordered=True)


def test_a_change_is_found_and_its_judge_named():
    rows = drawn_in_halves(1, 2000, 2.0)
    assert drifted(rows, 0.95) == ("j1",)
    found = drift(rows)
    assert found["judge"].iloc[0] == "j1"
    assert found["comparisons"].sum() == len(rows)
    assert (found["degrees_of_freedom"] == N).all()  # N - 1 of the models, and the position


def test_time_decides_which_answers_are_the_earlier():
    rows = drawn_in_halves(1, 2000, 2.0)
    place = np.random.default_rng(0).permutation(len(rows))
    shuffled = rows.take(place)
    pd.testing.assert_frame_equal(drift(shuffled, place), drift(rows), rtol=1e-6)
    assert drifted(shuffled, 0.95) == ()


def test_the_level_is_kept_where_judges_have_tastes():
    """Of 60 sets in which nobody changes at most 9 may seem to: more come once in a thousand times at .05."""
    assert sum(bool(drifted(drawn_in_halves(seed, 400, 0.0), 0.95)) for seed in range(60)) <= 9


def test_a_judge_of_two_models_has_pearsons_statistics_of_its_two_tables_if_other_orders_were_shown_later():
    """Shown either way, each order has a table of earlier and later answers, and nothing else is free."""
    won = {(0, 0): 21, (0, 1): 4, (1, 0): 5, (1, 1): 12}  # by (half, order), of so many:
    shown = {(0, 0): 30, (0, 1): 10, (1, 0): 10, (1, 1): 30}
    first = np.concatenate([np.full(shown[half, order], order) for half in (0, 1) for order in (0, 1)])
    won_of = [np.arange(shown[half, order]) < won[half, order] for half in (0, 1) for order in (0, 1)]
    one, often = np.zeros(len(first), int), np.full(len(first), 1000.0)  # often: the prior tells next to nothing
    outcome = np.concatenate(won_of).astype(float)
    rows = Comparisons(("a", "b"), ("j",), first, 1 - first, one, outcome, often, ordered=True)
    tables = [[[won[h, order], shown[h, order] - won[h, order]] for h in (0, 1)] for order in (0, 1)]
    pearson = sum(chi2_contingency(np.array(table) * 1000, correction=False).statistic for table in tables)
    found = drift(rows).iloc[0]
    assert found["degrees_of_freedom"] == 2
    assert found["statistic"] == pytest.approx(pearson, rel=1e-3)


def test_judges_of_few_answers_are_not_tested():
    assert len(drift(drawn_in_halves(1, 60, 2.0))) == 0
    assert drifted(drawn_in_halves(1, 60, 2.0), 0.95) == ()


def test_a_collection_ends_without_its_goal_if_a_judge_changed():
    turning = {"scores": np.array([0.9, 0.2, 0.2, -0.2, -0.4, -0.7]), "sd": 0.0, "turns": (3.0, 60)}
    ended = {}
    for checked in (True, False):
        rng = np.random.default_rng(2)
        goal = read_goal("top 2 for this panel", 6)
        oracle = Tasting(**turning, rng=np.random.default_rng(1))
        ended[checked] = collect_until(oracle, goal, rng, most=900, checks_drift=checked)
    assert ended[False].reached and not ended[True].reached
    assert ended[True].drifted == ("j03",)
    assert not ended[True].looks["reached"].any()
    assert len(ended[True].looks) == len(ended[False].looks)


def test_a_goal_for_judges_like_these_takes_their_tastes_into_account():
    """The second and the third model are equal, but this panel's tastes part them."""
    scores = np.array([0.9, 0.2, 0.2, -0.2, -0.4, -0.7])
    reached = {}
    for text in ("top 2 for this panel", "top 2", "top 2 separated for judges like these"):
        oracle = Tasting(scores, 0.7, None, np.random.default_rng(6))
        run = collect_until(oracle, read_goal(text, 6), np.random.default_rng(3), most=900)
        reached[text] = run.reached
    assert list(reached.values()) == [True, False, False]


def test_goals_say_whom_they_are_about():
    assert read_goal("all", 4).like_these is None
    assert read_goal("all separated for this panel", 4).whose == "for this panel as it answers now"
    like_these = read_goal("Top 1 separated  for judges like these", 4)
    assert like_these.like_these and like_these.size == 1
    assert like_these.whose == LIKE_THESE
    with pytest.raises(ConfigError, match="500 comparisons for"):
        read_goal("500 comparisons for judges like these", 4)


@pytest.mark.parametrize(("change", "changed"), [(2.5, ["j1"]), (0.0, [])])
def test_a_ranking_says_so_where_the_records_have_a_time(change, changed):
    c = drawn_in_halves(4, 1500, change)
    names, judges = np.array(c.models), np.array(c.judges)
    frame = pd.DataFrame({"model_a": names[c.first], "model_b": names[c.second], "judge_model": judges[c.judge]})
    frame["judge_preferred_model"] = np.where(c.outcome == 1, "a", "b")
    timed = frame.assign(asked_at=[f"2026-01-01T{n // 60:02d}:{n % 60:02d}" for n in range(len(frame))])
    ranking = rank(timed)
    (said,) = (remark for remark in ranking.remarks if "with time" in remark)
    assert [judge for judge in judges if re.search(rf"\b{judge}\b", said)] == changed
    assert set(ranking.tables["drift"]["judge"]) == set(judges)
    assert "drift" not in rank(frame).tables


def by_question(seed: int, many: int, sigma: float, change: float = 0.0) -> tuple[Comparisons, np.ndarray]:
    """Questions asked one after the other, all pairs of each by all judges; answers differ in quality."""
    rng, quality = np.random.default_rng(seed), np.linspace(1, -1, N)
    ends = np.array([(i, j) for i in range(N) for j in range(i + 1, N)])
    i, j = np.tile(ends.repeat(K, axis=0), (many, 1)).T
    k, question = np.tile(np.arange(K), many * len(ends)), np.arange(many).repeat(len(ends) * K)
    u = rng.normal(0, sigma, (many, N))
    turned = change * ((k == 1) & (question >= many // 2)) * ((i == 2).astype(float) - (j == 2))
    eta = 1.5 * (quality[i] - quality[j] + u[question, i] - u[question, j]) + turned
    names = tuple(f"m{x}" for x in range(N)), tuple(f"j{x}" for x in range(K))
    won = (rng.random(len(i)) < expit(eta)).astype(float)
    return Comparisons(*names, i, j, k, won, ordered=True), question


def test_answers_of_other_quality_later_are_no_change_of_the_judges():
    """Of 60 sets in which nobody changes at most 9 may seem to; without the questions, many more do."""
    sets = [by_question(seed, 30, 1.5) for seed in range(60)]
    assert sum(bool(drifted(rows, 0.95, question=question)) for rows, question in sets) <= 9
    assert sum(bool(drifted(rows, 0.95)) for rows, _ in sets) > 9
    rows, question = by_question(0, 60, 0.7, change=2.5)
    assert drifted(rows, 0.95, question=question) == ("j1",)


def test_few_questions_that_recur_give_no_verdict():
    rows, question = by_question(0, 5 * N - 1, 1.5)
    assert drift(rows, question=question)["p_value"].isna().all()
    rows, question = by_question(0, 5 * N, 1.5)
    assert drift(rows, question=question)["p_value"].notna().all()


# A judge who is asked the same again later: whether it changed, held against its own noise.


SCORES = 2 * np.array([0.9, 0.2, 0.2, -0.2, -0.4, -0.7])
SETS = 200
CHANGES = ("nothing", "position", "replaced", "one taste")
PAGE = ROOT / "docs" / "tutorials" / "anchors.md"


def answers_of(rng: np.random.Generator, requests: int, rounds: int, change: str) -> tuple[np.ndarray, np.ndarray]:
    """One judge's answers to the same requests in every round, and what these are about."""
    i = rng.integers(0, 6, requests)
    j = (i + rng.integers(1, 6, requests)) % 6
    x = np.zeros((requests, 7))
    x[np.arange(requests), i], x[np.arange(requests), j], x[:, 6] = 1.0, -1.0, 1.0
    own, other = rng.normal(0, 2, (2, requests))  # what it makes of these very answers, and another model would
    at = (np.arange(rounds) / (rounds - 1))[:, None]
    eta = np.repeat((SCORES[i] - SCORES[j] + own)[None], rounds, axis=0)
    if change == "position":
        eta[1:] += 1.5
    elif change == "replaced":
        eta[rounds // 2 :] += other - own
    elif change == "one taste":  # from 1 to -1 log-odds, as in the section on tastes
        eta += (1 - 2 * at) * ((i == 2).astype(float) - (j == 2))
    return (rng.random(eta.shape) < expit(eta)).astype(float).T, x


@cache
def found(change: str, requests: int, rounds: int) -> float:
    """In how many of the sets the judge is found to have changed, at 5%."""
    rng = np.random.default_rng([CHANGES.index(change), requests, rounds])
    return float(np.mean([p_of_change(*answers_of(rng, requests, rounds, change)) <= 0.05 for _ in range(SETS)]))


@pytest.mark.slow
def test_the_page_says_how_often_weekly_looks_raise_a_false_alarm(monkeypatch):
    """A look after each of nine weeks, at 1% each, on the answers so far of a judge who does not change."""
    monkeypatch.setattr(module, "PERMUTATIONS", 499)
    rng, alarms = np.random.default_rng(5), []
    for _ in range(SETS // 2):
        answers, x = answers_of(rng, 50, 10, "nothing")
        alarms.append(any(p_of_change(answers[:, :rounds], x) <= 0.01 for rounds in range(2, 11)))
    assert (
        f"Nine weekly looks at a judge who does not change raise an alarm in {np.mean(alarms):.0%} of"
        in PAGE.read_text()
    )


@pytest.fixture(autouse=True)
def fewer_permutations(monkeypatch):
    monkeypatch.setattr(module, "PERMUTATIONS", 199)


@pytest.mark.slow
@pytest.mark.parametrize("requests", [20, 50, 100])
def test_the_page_says_how_often_a_change_is_found(requests):
    """Also the level: a judge who does not change is found to have in 5% of sets, with an error of 1.5%."""
    cells = [f"{found(change, requests, rounds):.0%}" for change in CHANGES for rounds in (3, 10)]
    assert f"| {requests} | {' | '.join(cells)} |" in PAGE.read_text()
    assert max(found("nothing", requests, rounds) for rounds in (3, 10)) <= 0.05 + 3 * 0.0155


def test_two_answers_are_a_test_of_signs():
    """All 2^n exchanges of first and later answers give the p-value of the random ones."""
    x = np.zeros((6, 3))
    x[:, 0], x[:, 1], x[:, 2] = 1, -1, 1
    early = np.array([1.0, 1, 1, 1, 1, 0])
    by_sums = [
        sum(sign * (2 * each - 1) for sign, each in zip(signs, early, strict=True)) ** 2
        for signs in itertools.product((1, -1), repeat=6)
    ]
    exact = np.mean(np.array(by_sums) >= by_sums[0])
    assert p_of_change(np.stack([early, 1 - early], axis=1), x) == pytest.approx(exact, abs=4 * 0.5 / 200**0.5)


def test_answers_that_never_change_say_nothing():
    assert p_of_change(np.ones((20, 5)), np.ones((20, 2))) == 1.0
    assert p_of_change(np.zeros((0, 5)), np.ones((0, 2))) == 1.0


def rows_of(changes: bool, ordered: bool = True) -> tuple[Comparisons, np.ndarray, np.ndarray]:
    """Two judges, asked the same in six rounds, the second of whom is replaced after the third, with times."""
    rng = np.random.default_rng(3)
    parts = []
    for k in range(2):
        answers, x = answers_of(rng, 80, 6, "replaced" if changes and k == 1 else "nothing")
        i, j = x[:, :6].argmax(axis=1), x[:, :6].argmin(axis=1)
        parts += [
            pd.DataFrame({"i": i, "j": j, "k": k, "y": answers[:, t], "q": np.arange(80), "t": t})
            for t in range(6)
        ]
    frame = pd.concat(parts, ignore_index=True).sample(frac=1, random_state=1)
    names = tuple(f"m{n}" for n in range(6)), ("steady", "replaced")
    columns = (frame[name].to_numpy() for name in ("i", "j", "k", "y"))
    return Comparisons(*names, *columns, ordered=ordered), frame["q"].to_numpy(), frame["t"].to_numpy()


def test_the_judge_that_changed_is_named():
    rows, question, time = rows_of(changes=True)
    table = asked_again(rows, question, time)
    assert list(table["judge"]) == ["replaced", "steady"]
    assert table["p_holm"][0] <= 0.02 and table["p_value"][1] > 0.05
    assert list(table["requests"]) == [80, 80] and list(table["answers"]) == [480, 480]
    assert (asked_again(rows_of(changes=False)[0], question, time)["p_holm"] > 0.05).all()


def test_the_order_of_rows_and_of_two_models_does_not_matter_where_positions_are_unknown():
    rows, question, time = rows_of(changes=True, ordered=False)
    back = np.random.default_rng(0).random(len(rows)) < 0.5
    swapped = Comparisons(
        rows.models,
        rows.judges,
        np.where(back, rows.second, rows.first),
        np.where(back, rows.first, rows.second),
        rows.judge,
        np.where(back, 1 - rows.outcome, rows.outcome),
        ordered=False,
    )
    pd.testing.assert_frame_equal(asked_again(swapped, question, time), asked_again(rows, question, time))


def test_only_first_answers_count_where_halves_are_compared():
    """Asking a few requests a hundred times more is no evidence of more answers."""
    rows, question, time = rows_of(changes=False)
    first = firsts(requests_of(rows, question), time)
    assert (time[first] == 0).all() and len(first) == 160
    alone = drift(rows.take(first), time[first], question[first])
    pd.testing.assert_frame_equal(drift(rows, time, question), alone)


@pytest.mark.parametrize(("changes", "said"), [(True, "Judge replaced no longer answers"), (False, "permutation")])
def test_a_ranking_says_whether_judges_changed(changes, said):
    rows, question, time = rows_of(changes)
    names, judges = np.array(rows.models), np.array(rows.judges)
    frame = pd.DataFrame(
        {"model_a": names[rows.first], "model_b": names[rows.second], "judge_model": judges[rows.judge]}
    )
    frame["judge_preferred_model"] = np.where(rows.outcome == 1, "a", "b")
    frame["question_id"] = [f"q{n}" for n in question]
    frame["asked_at"] = [f"2026-{1 + week:02d}-01T10:00:00+00:00" for week in time]
    ranking = judgerank.rank(frame)
    assert any(said in remark for remark in ranking.remarks)
    assert set(ranking.tables["asked_again"]["judge"]) == {"steady", "replaced"}
    minute = frame.assign(asked_at=[f"2026-01-01T10:00:{second:02d}+00:00" for second in time])
    assert not any("permutation" in remark for remark in judgerank.rank(minute).remarks)
