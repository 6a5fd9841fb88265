"""A judge who answers otherwise than before, and collections that end for it."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import chi2_contingency

import judgerank
from judgerank.adaptive.goals import read_goal
from judgerank.adaptive.rounds import collect_until
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.trust.drift import drift, drifted
from studies.tastes import Tasting

N, K = 5, 4


def drawn(seed: int, size: int, change: float) -> Comparisons:
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
    rows = drawn(1, 2000, 2.0)
    assert drifted(rows, 0.95) == ("j1",)
    found = drift(rows)
    assert found["judge"].iloc[0] == "j1"
    assert found["comparisons"].sum() == len(rows)
    assert (found["degrees_of_freedom"] == N).all()  # N - 1 of the models, and the position


def test_time_decides_which_answers_are_the_earlier():
    rows = drawn(1, 2000, 2.0)
    place = np.random.default_rng(0).permutation(len(rows))
    shuffled = rows.take(place)
    pd.testing.assert_frame_equal(drift(shuffled, place), drift(rows), rtol=1e-6)
    assert drifted(shuffled, 0.95) == ()


def test_the_level_is_kept_where_judges_have_tastes():
    """Of 60 sets in which nobody changes at most 9 may seem to: more come once in a thousand times at .05."""
    assert sum(bool(drifted(drawn(seed, 400, 0.0), 0.95)) for seed in range(60)) <= 9


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
    assert len(drift(drawn(1, 60, 2.0))) == 0
    assert drifted(drawn(1, 60, 2.0), 0.95) == ()


def test_a_collection_ends_without_its_goal_if_a_judge_changed():
    turning = {"scores": np.array([0.9, 0.2, 0.2, -0.2, -0.4, -0.7]), "sd": 0.0, "turns": (3.0, 200)}
    ended = {}
    for checked in (True, False):
        rng = np.random.default_rng(2)
        goal = read_goal("top 2 separated", 6)
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
    for text in ("top 2 separated", "top 2 separated for judges like these"):
        oracle = Tasting(scores, 0.7, None, np.random.default_rng(6))
        run = collect_until(oracle, read_goal(text, 6), np.random.default_rng(3), most=900)
        reached[text] = run.reached
    assert list(reached.values()) == [True, False]


def test_goals_say_whom_they_are_about():
    assert read_goal("all separated", 4).whose == "for this panel as it answers now"
    like_these = read_goal("Top 1 separated  for judges like these", 4)
    assert like_these.like_these and like_these.size == 1
    assert like_these.whose == "for judges like these"
    with pytest.raises(ConfigError, match="makes no claim about judges"):
        read_goal("500 comparisons for judges like these", 4)


@pytest.mark.parametrize(("change", "said"), [(2.5, "Answers changed with time: j1"), (0.0, "No judge's answers")])
def test_a_ranking_says_so_where_the_records_have_a_time(change, said):
    c = drawn(4, 1500, change)
    names, judges = np.array(c.models), np.array(c.judges)
    frame = pd.DataFrame({"model_a": names[c.first], "model_b": names[c.second], "judge_model": judges[c.judge]})
    frame["judge_preferred_model"] = np.where(c.outcome == 1, "a", "b")
    timed = frame.assign(asked_at=[f"2026-01-01T{n // 60:02d}:{n % 60:02d}" for n in range(len(frame))])
    ranking = judgerank.rank(timed)
    assert any(remark.startswith(said) for remark in ranking.remarks)
    assert set(ranking.tables["drift"]["judge"]) == set(judges)
    assert "drift" not in judgerank.rank(frame).tables


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
