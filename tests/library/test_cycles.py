"""Models that beat each other in a circle: found where they do, and hardly ever where one order holds."""

import numpy as np
import pytest

import judgerank
from judgerank import Comparisons, fit
from judgerank.order.cycles import shortest_cycle
from judgerank.ranking.verdict import verdict

MODELS = ("m0", "m1", "m2", "m3")


def played(wins: dict[tuple[str, str], float], times: int, seed: int) -> Comparisons:
    """Comparisons of pairs in both orders, won by the first with a probability, by two judges in turn."""
    rng = np.random.default_rng(seed)
    rows = [(a, b, k % 2, k // 2 % 2, rng.random() < p) for (a, b), p in wins.items() for k in range(times)]
    first, second, judge, outcome = [], [], [], []
    for a, b, k, swapped, is_won in rows:
        i, j = MODELS.index(a), MODELS.index(b)
        first.append(j if swapped else i)
        second.append(i if swapped else j)
        judge.append(k)
        outcome.append(float(is_won != bool(swapped)))
    return Comparisons(MODELS, ("x", "y"), *map(np.array, (first, second, judge, outcome)))


CIRCLE = {
    ("m0", "m1"): 0.8,
    ("m1", "m2"): 0.8,
    ("m2", "m0"): 0.8,
    ("m0", "m3"): 0.8,
    ("m1", "m3"): 0.8,
    ("m2", "m3"): 0.8,
}


@pytest.mark.parametrize("member", ["btl", "position_aware"])
def test_a_circle_is_found_in_its_direction(member):
    found = shortest_cycle(fit(played(CIRCLE, 60, 1), member), 0.95)
    start = found.index("m0")
    assert (*found[start:], *found[:start]) == ("m0", "m1", "m2")


def test_a_longer_circle_is_found_where_no_three_models_make_one():
    wins = {("m0", "m1"): 0.9, ("m1", "m2"): 0.9, ("m2", "m3"): 0.9, ("m3", "m0"): 0.9}
    assert sorted(shortest_cycle(fit(played(wins, 60, 2), "btl"), 0.95)) == list(MODELS)


def test_equal_models_make_no_circle():
    """Of 100 sets in which all models are equal, at most 5% may have one; ten would be chance once in 40,000."""
    even = dict.fromkeys(CIRCLE, 0.5)
    assert sum(bool(shortest_cycle(fit(played(even, 20, seed), "btl"), 0.95)) for seed in range(100)) < 10


def test_a_circle_among_those_who_lead_stands_in_the_headline_and_what_is_next():
    ranking = judgerank.rank(played(CIRCLE, 60, 1).to_frame())
    summary = verdict(ranking)
    leading = set(ranking.leaderboard["model"][ranking.leaderboard["rank_low"] == 1])
    assert leading & {"m0", "m1", "m2"}
    assert all(model in summary.headline.partition(", but ")[2] for model in MODELS[:3])
    assert any("m0 beats m1" in warning and "m2 beats m0" in warning for warning in summary.warnings)
    assert "m0, m1 and m2" in summary.caution
    assert "collect" not in summary.next
