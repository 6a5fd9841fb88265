"""Effects by judge: score tests against fits of the same effects, their level, and what differs by judge."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judgerank import Comparisons, fit
from judgerank.fits.judge_effects import LEAST, alike, judge_effects


def drawn(seed: int, effects, size: int = 1500, questions: int = 0):
    """Comparisons, a standardised difference of the answers, and the question of each."""
    rng = np.random.default_rng(seed)
    n, many = 6, len(effects)
    scores, k = np.linspace(1, -1, n), rng.integers(0, many, size)
    a = rng.integers(0, n, size)
    b = (a + rng.integers(1, n, size)) % n
    question = rng.integers(questions or size, size=size)
    x = rng.standard_normal(size)
    eta = scores[a] - scores[b] + np.asarray(effects)[k] * x
    y = (rng.random(size) < 1 / (1 + np.exp(-eta))).astype(float)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(many))
    data = Comparisons(*names, a, b, k, y, np.ones(size), ordered=True)
    return data, x, np.unique(question, return_inverse=True)[1]


@pytest.mark.parametrize("shrink", [False, True])
def test_a_small_effect_is_what_one_more_column_of_a_regression_gives(shrink):
    data, x, _ = drawn(1, [0.1, 0.0, -0.1], 6_000)
    fitted = fit(data, "position_aware", shrink=shrink)
    found = judge_effects(fitted, data, x[:, None], ["length"], None).set_index("judge")
    n, k = len(data.models), len(data.judges)
    design = np.zeros((len(data), n + k + k))
    rows = np.arange(len(data))
    design[rows, data.first], design[rows, data.second] = 1, -1
    design[rows, n + data.judge] = 1
    design[rows, n + k + data.judge] = x
    theta = np.zeros(design.shape[1])
    for _ in range(20):  # judges are alike in truth: a logistic regression with one discrimination
        p = 1 / (1 + np.exp(-design @ theta))
        information = design.T @ (design * (p * (1 - p))[:, None]) + 1e-9 * np.eye(len(theta))
        theta += np.linalg.solve(information, design.T @ (data.outcome - p))
    errors = np.sqrt(np.diag(np.linalg.inv(information)))[-k:]
    for number, judge in enumerate(data.judges):
        assert found.loc[judge, "estimate"] == pytest.approx(theta[n + k + number], abs=0.02)
        assert found.loc[judge, "standard_error"] == pytest.approx(errors[number], rel=0.05)


def test_the_level_holds_and_the_judge_who_goes_by_it_is_found():
    """False alarms in any of four judges: .05 expected, Monte Carlo error .03."""
    alarms, hits = [], []
    for seed in range(50):
        data, x, question = drawn(100 + seed, [0.0] * 4, 800, questions=100)
        found = judge_effects(fit(data, "position_aware", shrink=True), data, x[:, None], ["length"], question)
        alarms.append((found["p_holm"] <= 0.05).any())
        if seed < 8:
            data, x, question = drawn(seed, [0.0, 0.0, 0.0, 0.8], 800, questions=100)
            found = judge_effects(fit(data, "position_aware", shrink=True), data, x[:, None], ["length"], question)
            hits.append(list(found[found["p_holm"] <= 0.05]["judge"]))
    assert np.mean(alarms) <= 0.14
    assert sum("j3" in hit for hit in hits) == 8


def test_judges_who_saw_few_differences_and_sets_without_any_have_no_row():
    data, x, question = drawn(2, [0.0, 0.0], 400)
    seen = np.where((data.judge == 0) | (np.cumsum(data.judge == 1) < LEAST), x, 0.0)
    fitted = fit(data, "position_aware", shrink=True)
    assert list(judge_effects(fitted, data, seen[:, None], ["length"], question)["judge"]) == ["j0"]
    assert judge_effects(fitted, data, np.zeros((len(data), 1)), ["length"], None).empty


def test_one_effect_for_all_is_told_from_effects_that_differ():
    table = pd.DataFrame({"estimate": [0.5, 0.6, 0.4], "standard_error": 0.1})
    assert alike(table) > 0.3
    assert alike(replace_first(table, 1.6)) < 1e-6
    assert alike(table.head(1)) == 1.0


def replace_first(table: pd.DataFrame, value: float) -> pd.DataFrame:
    return table.assign(estimate=[value, *table["estimate"][1:]])


def test_a_judge_at_zero_is_not_tested(cells_of):
    data, x, _ = drawn(3, [0.0, 0.0, 0.0], 900)
    contrary = replace(data, outcome=np.where(data.judge == 2, 1 - data.outcome, data.outcome))
    fitted = fit(contrary, "position_aware")
    assert fitted.judges_at_zero == ("j2",)
    assert "j2" not in set(judge_effects(fitted, contrary, x[:, None], ["length"], None)["judge"])


def test_a_judge_who_answers_at_random_now_and_then_is_not_one_who_favours_the_last():
    """False alarms: .05 expected, Monte Carlo error .045; .3 or more if lapses are not allowed for."""
    alarms, scores, away = [], np.array([1.2, 0.8, 0.4, 0.0, -0.4, -2.0]), np.array([0.0, 0.0, 0.0, 0.3])
    for seed in range(24):
        rng = np.random.default_rng([seed, 5])
        size, k = 2400, rng.integers(0, 4, 2400)
        a = rng.integers(0, 6, size)
        b = (a + rng.integers(1, 6, size)) % 6
        p = 1 / (1 + np.exp(-np.where(k == 3, 3.0, 1.0) * (scores[a] - scores[b])))
        y = (rng.random(size) < (1 - away[k]) * p + away[k] / 2).astype(float)
        names = tuple(f"m{i}" for i in range(6)), tuple(f"j{i}" for i in range(4))
        data = Comparisons(*names, a, b, k, y, np.ones(size), ordered=True)
        favoured = np.where(k == 3, (a == 5) * 1.0 - (b == 5), 0.0)
        found = judge_effects(fit(data, shrink=True), data, favoured[:, None], ["the last"], None)
        alarms.append(found.set_index("judge").loc["j3", "p_value"] <= 0.05)
    assert np.mean(alarms) <= 0.05 + 3 * 0.045
