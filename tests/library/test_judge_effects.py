"""Effects by judge and judges' own tastes: score tests, their level, and the errors that allow for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import judgerank
from judgerank import fit, pairwise
from judgerank.adaptive.goals import LIKE_THESE
from judgerank.adaptive.stop_rule import allowing_for_tastes
from judgerank.cli.plan import Assumption, fitted_to
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.fits.favourites import favourites, studentised
from judgerank.fits.judge_effects import LEAST, alike, judge_effects
from judgerank.fits.taste_test import Likelihood, taste_test
from judgerank.inference.taste_errors import _singular_pair, panel_means
from judgerank.order.equality import NetResults
from judgerank.order.pairs import orders
from judgerank.ranking.choices import SHRUNK, Settings
from judgerank.ranking.diagnosis import examine
from judgerank.ranking.findings import ranked_set
from judgerank.ranking.ranking import rank
from judgerank.ranking.studies import next_comparisons
from judgerank.ranking.trust_report import trust_report
from judgerank.ranking.verdict import verdict
from judgerank.reading.read import read_judgments


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


# Tastes: what every judge thinks of every model beyond the scores, and whose opinion an interval is of.
N, K = 6, 5
SCORES = np.linspace(1, -1, N)
GAMMA = np.exp(np.linspace(-0.4, 0.4, K))


def drawn_tastes(rng: np.random.Generator, sd: float, size: int = 2000) -> tuple[Comparisons, np.ndarray]:
    """Comparisons by judges with tastes, and what every judge thinks of every model, shape (K, N)."""
    thought = GAMMA[:, None] * SCORES + rng.normal(0, sd, (K, N))
    i, k = rng.integers(0, N, size), rng.integers(0, K, size)
    j = (i + rng.integers(1, N, size)) % N
    won = rng.random(size) < expit(thought[k, i] - thought[k, j])
    names = tuple(f"m{x}" for x in range(N)), tuple(f"j{x}" for x in range(K))
    return Comparisons(*names, i, j, k, won.astype(float), ordered=True), thought


@pytest.fixture(scope="module")
def with_tastes():
    return fit(drawn_tastes(np.random.default_rng(3), 0.5, 3000)[0], "judge_aware", blocks=["taste"])


def test_tastes_are_found_and_have_no_part_along_scores_or_discriminations(with_tastes):
    assert 0.3 < with_tastes.spread["taste"] < 0.8
    assert with_tastes.test("taste").p_value < 1e-8
    tastes = with_tastes.parameters("taste").to_numpy().reshape(K, N)
    gamma, scores = with_tastes.discrimination.to_numpy(), with_tastes.scores.to_numpy()
    np.testing.assert_allclose(gamma @ tastes, 0, atol=1e-6)
    np.testing.assert_allclose(tastes @ scores, 0, atol=1e-6)
    np.testing.assert_allclose(tastes.sum(axis=1), 0, atol=1e-6)


def test_what_this_panel_thinks_is_the_first_singular_pair():
    """Its derivatives beside differences of the singular pair itself."""
    rng = np.random.default_rng(0)
    u, v = np.exp(rng.normal(0, 0.3, K)), SCORES - SCORES.mean()
    u /= np.exp(np.log(u).mean())
    rest = rng.normal(0, 0.3, (K, N))
    rest = (np.eye(K) - np.outer(u, u) / (u @ u)) @ rest @ (np.eye(N) - np.outer(v, v) / (v @ v) - 1 / N)

    def pair(x: np.ndarray) -> np.ndarray:
        s, alpha, t = x[:N], x[N : N + K], x[N + K :].reshape(K, N)
        thought = np.exp(alpha)[:, None] * s + t
        left, size, right = np.linalg.svd(thought - thought.mean(axis=1, keepdims=True))
        sign = np.sign(left[:, 0].sum())
        scale = np.log(sign * left[:, 0]).mean()
        return np.r_[sign * size[0] * np.exp(scale) * right[0], np.log(sign * left[:, 0]) - scale]

    at, steps = np.r_[v, np.log(u), rest.ravel()], 1e-6 * np.eye(N + K + K * N)
    differences = np.array([(pair(at + step) - pair(at - step)) / 2e-6 for step in steps]).T
    centre = np.eye(N) - 1 / N
    differences[:, :N] = differences[:, :N] @ centre  # of zero-sum scores
    chosen = np.ones(len(at), bool)
    found = _singular_pair(v, u, rest, chosen, slice(N + K, len(at)))
    found[:, :N] = found[:, :N] @ centre
    of_alpha = np.eye(K) - 1 / K  # of log-discriminations of mean zero
    for table in (found, differences):
        table[:, N : N + K] = table[:, N : N + K] @ of_alpha
    np.testing.assert_allclose(found, differences, atol=1e-6)


def test_judges_like_these_have_wider_intervals_than_this_panel(with_tastes):
    panel = with_tastes.for_this_panel()
    widths = {}
    for name, each in (("panel", panel), ("like these", with_tastes)):
        rows = each.confidence_intervals().loc[lambda rows: rows["parameter"] == "score"]
        widths[name] = float((rows["high"] - rows["low"]).mean())
        np.testing.assert_allclose(rows["estimate"], with_tastes.scores, rtol=1e-12)
    assert widths["panel"] < 0.7 * widths["like these"]
    tau, n = with_tastes.spread["taste"], with_tastes.discrimination.to_numpy()
    least = tau / np.sqrt(n @ n)  # what no number of comparisons takes away
    assert widths["like these"] / 2 > 1.96 * 0.9 * least
    assert pairwise(panel)["separated"].sum() > pairwise(with_tastes)["separated"].sum()
    assert with_tastes.degrees_of_freedom == (K - 1) * (N - 2)
    assert np.isinf(panel.degrees_of_freedom)


def test_intervals_for_judges_like_these_hold_the_score_and_plain_ones_do_not():
    rng, held = np.random.default_rng(7), []
    for _ in range(25):
        fitted = fit(drawn_tastes(rng, 0.5)[0], "judge_aware", blocks=["taste"])
        row = []
        for each in (fitted, fitted.without):
            rows = each.confidence_intervals().loc[lambda rows: rows["parameter"] == "score"]
            row.append(((rows["low"] <= SCORES) & (rows["high"] >= SCORES)).mean())
        held.append(row)
    like_these, plain = np.mean(held, axis=0)
    assert like_these > 0.88
    assert plain < 0.75


def test_without_tastes_both_intervals_are_the_plain_ones():
    found = next(
        each
        for each in (
            fit(drawn_tastes(np.random.default_rng(seed), 0.0)[0], "judge_aware", blocks=["taste"])
            for seed in range(9)
        )
        if each.spread["taste"] == 0
    )
    assert found.test("taste").p_value == 1
    plain = found.without.confidence_intervals().loc[lambda rows: rows["parameter"] == "score"]
    for each in (found, found.for_this_panel()):
        rows = each.confidence_intervals().loc[lambda rows: rows["parameter"] == "score"]
        np.testing.assert_allclose(rows[["low", "high"]], plain[["low", "high"]], atol=1e-6)
    assert np.isinf(found.degrees_of_freedom)
    np.testing.assert_array_equal(
        panel_means(found.model, found.solution.parameters, found._chosen), np.eye(len(found.covariance))
    )


def test_the_standard_deviation_is_not_too_small_with_few_judges():
    """Restricted likelihood: the plain one would give .36 where the truth is .5."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(30):
        whole, _ = drawn_tastes(rng, 0.5, 4000)
        few = whole.take(np.flatnonzero(whole.judge < 3))
        few = Comparisons(few.models, few.judges[:3], few.first, few.second, few.judge, few.outcome, ordered=True)
        found.append(fit(few, "judge_aware", blocks=["taste"]).spread["taste"])
    assert 0.42 < np.mean(found) < 0.58


def test_a_ranking_says_whose_opinion_it_is(tmp_path):
    c, _ = drawn_tastes(np.random.default_rng(3), 0.5)
    names, judges = np.array(c.models), np.array(c.judges)
    frame = pd.DataFrame({"model_a": names[c.first], "model_b": names[c.second], "judge_model": judges[c.judge]})
    frame["judge_preferred_model"] = np.where(c.outcome == 1, "a", "b")
    ranking = judgerank.rank(frame, blocks=["taste"])
    said = next(text for text in ranking.remarks if LIKE_THESE in text)
    assert "For this panel of 5 as it is" in said
    table, board = ranking.tables["whose_opinion"], ranking.tables["leaderboard"]
    assert list(table["model"]) == list(board["model"])
    np.testing.assert_allclose(table["low_judges_like_these"], board["low"], rtol=1e-9)
    assert (table["low_this_panel"] > table["low_judges_like_these"]).all()
    assert "whose_opinion" not in judgerank.rank(frame, whose="this_panel").tables


def test_a_fit_for_this_panel_is_kept_as_it_is(with_tastes, tmp_path):
    panel = with_tastes.for_this_panel()
    panel.save(tmp_path / "panel.npz")
    again = judgerank.load(tmp_path / "panel.npz")
    assert again.errors.of_panel
    pd.testing.assert_frame_equal(again.to_frame(), panel.to_frame())


def test_what_cannot_be_is_refused(with_tastes):
    with pytest.raises(ConfigError, match=r"'taste'.*column"):
        judgerank.fit(drawn_tastes(np.random.default_rng(0), 0.0)[0], blocks=["taste:length"])
    with pytest.raises(ConfigError, match="no further block 'taste'"):
        with_tastes.without.for_this_panel()
    two = Comparisons(("a", "b"), ("j", "k"), [0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 1, 1], [1.0, 0.0, 0.0, 1.0])
    with pytest.raises(DataError, match=r"'taste'.*\b2 and 2\b"):
        fit(two, "btl", blocks=["taste"])


def test_a_stop_takes_what_judges_with_tastes_think_with_the_errors_for_whom_it_speaks(with_tastes):
    """For this panel or for judges like these, with no error smaller than before."""
    raw = with_tastes.raw
    (before,) = orders(fit(raw, "judge_aware"))
    for like_these, fitted in ((False, with_tastes.for_this_panel()), (True, with_tastes)):
        after = allowing_for_tastes(raw, "judge_aware", before, like_these)
        (own,) = orders(fitted)
        mine = [list(own.models).index(name) for name in before.models]
        np.testing.assert_allclose(after.difference, own.difference[:, mine][:, :, mine], rtol=1e-9)
        np.testing.assert_allclose(
            after.error, np.maximum(before.error, own.error[:, mine][:, :, mine]), rtol=1e-9
        )
    alone = raw.with_judges(raw.judges[:1])
    (order,) = orders(fit(alone, "btl"))
    assert allowing_for_tastes(alone, "btl", order, True) is None
    assert allowing_for_tastes(alone, "btl", order, False) is order


# Judges' own tastes: the test for them, the errors that allow for them, and judges who favour one model.


EQUAL, APART = np.zeros(6), np.array([1.0, 0.6, 0.2, -0.2, -0.6, -1.0])


def drawn_panel(seed, scores=EQUAL, sd=0.0, judges=5, size=1500, n_questions=None, own=0.0):
    """Judgments by judges with tastes; one may favour the first model by `own` log-odds."""
    rng = np.random.default_rng(seed)
    n, gamma = len(scores), np.exp(rng.normal(0, 0.3, judges))
    thought = gamma[:, None] * scores + rng.normal(0, sd, (judges, n))
    thought[0, 0] += own
    position = rng.normal(0, 0.3, judges)
    i, k = rng.integers(0, n, size), rng.integers(0, judges, size)
    j = (i + rng.integers(1, n, size)) % n
    question = np.arange(size) if n_questions is None else rng.integers(0, n_questions, size)
    first = rng.random(size) < expit(thought[k, i] - thought[k, j] + position[k])
    names = {"model_a": "m", "model_b": "m", "judge_model": "j", "question_id": "q"}
    columns = dict(zip(names, (i, j, k, question), strict=True))
    frame = {name: [f"{names[name]}{number}" for number in values] for name, values in columns.items()}
    return pd.DataFrame(frame | {"winner": np.where(first, "a", "b")})


def tested(frame, solver="penalised"):
    judgments = read_judgments(frame, copies="keep")
    fitted = fit(judgments, "position_aware", solver)
    return taste_test(fitted, judgments.comparisons, judgments.question)


@pytest.mark.parametrize("scores", [EQUAL, APART], ids=["equal", "apart"])
@pytest.mark.parametrize("design", [{}, {"judges": 3, "size": 400, "n_questions": 40}], ids=["many", "few"])
def test_the_test_keeps_its_level_without_tastes(scores, design):
    p = np.array([tested(drawn_panel(seed, scores, **design)).p_value for seed in range(40)])
    assert (p <= 0.05).mean() <= 0.15  # .05 with three Monte Carlo standard errors


def test_tastes_are_found_at_their_size():
    tests = [tested(drawn_panel(seed, scores, 0.5)) for seed in range(6) for scores in (EQUAL, APART)]
    assert all(test.p_value < 1e-3 for test in tests)
    assert np.mean([test.spread for test in tests]) == pytest.approx(0.5, abs=0.1)
    assert tested(drawn_panel(0, APART, 0.5), "newton").spread == pytest.approx(tests[1].spread, abs=0.1)
    assert tested(drawn_panel(0, APART, own=1.5)).p_value < 0.01


def test_what_tells_nothing_of_tastes_is_not_tested():
    assert tested(drawn_panel(0, EQUAL[:2])) is None
    assert tested(drawn_panel(0, judges=1)) is None
    assert tested(drawn_panel(0, EQUAL[:3], judges=2)) is None  # one difference beside scores and discriminations


def test_rank_separates_no_equal_models_by_the_tastes_of_five_judges():
    """Without the default, some pair is significantly different in most of these sets."""
    counts = []
    for seed in range(12):
        judgments = read_judgments(drawn_panel(seed, sd=0.5))
        both = (ranked_set(judgments, settings) for settings in (Settings(whose="this_panel"), Settings()))
        counts.append([one.components[0].pairs["separated"].any() for one in both])
    panel, like_these = np.sum(counts, axis=0)
    assert panel >= 5 and like_these <= 2


@pytest.mark.parametrize("n_questions", [None, 300, 12], ids=["unique", "questions", "flips"])
def test_errors_allow_for_tastes_that_are_found(n_questions):
    ranking = rank(drawn_panel(1, APART, 0.5, n_questions=n_questions))
    fitted, panel = ranking.fit, ranking.fit.for_this_panel()
    assert ranking.whose == "judges_like_these" and fitted.errors.tastes > 0.2 and panel.errors.tastes == 0
    assert (fitted.errors.flips is not None) == (n_questions == 12)
    assert np.array_equal(fitted.scores, panel.scores)
    wide, narrow = (result.leaderboard() for result in (fitted, panel))
    assert ((wide["high"] - wide["low"]) > 1.2 * (narrow["high"] - narrow["low"])).all()
    wide, narrow = pairwise(fitted), pairwise(panel)
    assert (wide["p_value"] >= narrow["p_value"] - 1e-9).all()
    table = ranking.tables["whose_opinion"]
    assert np.allclose(table["low_judges_like_these"], ranking.leaderboard["low"])
    assert next_comparisons.tastes_matter(fitted) and not next_comparisons.tastes_matter(panel)


def test_errors_by_tastes_are_as_those_of_the_block():
    """The block fits tastes, and so weighs judges otherwise: the errors are alike."""
    frame = drawn_panel(2, APART, 0.5, judges=8, size=4000)
    by_default, block = rank(frame), rank(frame, blocks=["taste"])
    widths = [(one.leaderboard["high"] - one.leaderboard["low"]).mean() for one in (by_default, block)]
    assert widths[0] == pytest.approx(widths[1], rel=0.25)
    assert by_default.fit.errors.tastes == pytest.approx(block.fit.spread["taste"], rel=0.25)
    assert rank(frame, blocks=["taste"], whose="this_panel").whose == "this_panel"


def test_where_no_tastes_are_found_nothing_changes():
    frame = drawn_panel(3, APART)
    ranking, panel = rank(frame), rank(frame, whose="this_panel")
    assert ranking.whose == panel.whose == "this_panel" and "whose_opinion" not in ranking.tables
    assert ranking.leaderboard.equals(panel.leaderboard) and ranking.pairs.equals(panel.pairs)


def test_a_fit_saved_is_read_with_both_errors(tmp_path):
    from judgerank.fits.result import load

    fitted = rank(drawn_panel(1, APART, 0.5)).fit
    fitted.save(tmp_path / "fit.npz")
    again = load(tmp_path / "fit.npz")
    assert again.errors.tastes == fitted.errors.tastes and np.array_equal(again.covariance, fitted.covariance)
    assert np.array_equal(again.for_this_panel().covariance, fitted.for_this_panel().covariance)


def found(frame):
    """Judge, model and sign of the tastes that stand out."""
    judgments = read_judgments(frame, copies="keep")
    fitted = fit(judgments, "position_aware", "penalised")
    behind = fitted, judgments.comparisons, judgments.question
    return [(one.judge, one.model, np.sign(one.log_odds)) for one in favourites(*behind, taste_test(*behind))]


MIDDLE = np.array([0.2, 0.8, 0.5, -0.2, -0.5, -0.8])


@pytest.mark.parametrize("design", [{}, {"sd": 0.5}, {"judges": 3}, {"n_questions": 40}], ids=str)
def test_no_favourite_is_found_where_there_is_none(design):
    sets = [found(drawn_panel(seed, MIDDLE, **design)) for seed in range(24)]
    assert np.mean([bool(one) for one in sets]) <= 0.18  # .05 with three Monte Carlo standard errors


def test_one_judge_who_favours_or_slights_one_model_is_found():
    for own in (2.5, -2.5):
        sets = [found(drawn_panel(seed, MIDDLE, own=own)) for seed in range(6)]
        assert sum(("j0", "m0", np.sign(own)) in one for one in sets) >= 5
        assert sum(len(one) for one in sets) <= 8


def test_of_few_judges_nobody_is_named_unless_the_others_agree():
    for seed in range(6):
        assert not found(drawn_panel(seed, MIDDLE, own=3.0, judges=2))
        assert {("j0", "m0", 1.0)} >= {*found(drawn_panel(seed, MIDDLE, own=3.0, judges=3))}


def test_a_judge_who_contradicts_the_others_favours_nobody():
    frame = drawn_panel(0, APART)
    contrary = frame["judge_model"] == "j1"
    frame.loc[contrary, "winner"] = frame.loc[contrary, "winner"].map({"a": "b", "b": "a"})
    assert all(judge != "j1" for judge, *_ in found(frame))


def test_names_and_sides_do_not_matter():
    frame = drawn_panel(0, MIDDLE, own=2.5)
    renamed = {f"m{number}": f"m{(number + 2) % 6}" for number in range(6)}
    judges = {f"j{number}": f"j{(number + 3) % 5}" for number in range(5)}
    other = frame.assign(judge_model=frame["judge_model"].map(judges))
    for name in ("model_a", "model_b"):
        other[name] = frame[name].map(renamed)
    assert found(frame) == [("j0", "m0", 1.0)] and found(other) == [("j3", "m2", 1.0)]
    turned = frame.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    assert found(turned.assign(winner=frame["winner"].map({"a": "b", "b": "a"}))) == found(frame)


def test_a_studentised_taste_is_that_of_least_squares():
    """Without weights and tastes, by an ordinary regression of net results on scores and one taste."""
    judgments = read_judgments(drawn_panel(4, MIDDLE), copies="keep")
    fitted = fit(judgments, "btl")
    results = NetResults.of(fitted.comparisons, fitted.model, fitted.solution.parameters, by_judge=True)
    z = studentised(Likelihood(results, 1.0), Likelihood(results, 1.0).solution(0.0))
    k, n = z.shape
    roots = [
        np.linalg.cholesky(of + np.ones((n, n))) for of in results.information
    ]  # the shift is in no net result
    rows = np.vstack([root.T for root in roots])
    y = np.concatenate([np.linalg.solve(root, net) for root, net in zip(roots, results.net, strict=True)])
    for judge, model in ((0, 0), (2, 3), (4, 5)):
        taste = np.zeros((k, n))
        taste[judge, model] = 1.0
        column = np.concatenate([root.T @ one for root, one in zip(roots, taste, strict=True)])
        shifts = np.zeros((k * n, k))  # every judge's own
        for number, root in enumerate(roots):
            shifts[number * n : (number + 1) * n, number] = root.T @ np.ones(n)
        design = np.column_stack([column, rows, shifts])
        inverse = np.linalg.pinv(design.T @ design)
        assert z[judge, model] == pytest.approx((inverse @ design.T @ y)[0] / np.sqrt(inverse[0, 0]), rel=1e-6)


def test_the_taste_is_that_of_a_fit_with_it_as_a_parameter():
    """A block with one column, fitted exactly, is the second solver: size of the taste, and the model's score."""
    frame = drawn_panel(0, MIDDLE, own=2.0, size=4000)
    side = (frame["model_a"] == "m0").astype(float) - (frame["model_b"] == "m0")
    mine = side * (frame["judge_model"] == "j0")
    ranking = rank(frame, solver="newton")
    block = fit(
        read_judgments(frame.assign(taste_a=(mine > 0) * 1.0, taste_b=(mine < 0) * 1.0)),
        ranking.fit.model.name,
        "newton",
        blocks=["style:taste"],
    )
    row = ranking.tables["favourites"].iloc[0]
    size = float(block.parameters("style").iloc[0]) / np.sqrt((mine**2).mean())
    assert (row["judge"], row["model"]) == ("j0", "m0") and row["left_out"] == row["votes"] == (mine != 0).sum()
    assert row["log_odds"] == pytest.approx(size, abs=0.1)
    alone, joint, panel = (one.scores["m0"] for one in (ranking.fit, block, rank(frame, whose="this_panel").fit))
    assert alone == pytest.approx(joint, abs=0.1) and panel > joint + 0.15


def test_rank_says_whom_a_judge_favours_and_does_not_count_these_votes(tmp_path):
    frame = drawn_panel(1, MIDDLE, own=2.5, n_questions=300)
    ranking, panel = rank(frame), rank(frame, whose="this_panel")
    row = ranking.tables["favourites"].iloc[0]
    votes = frame[(frame["judge_model"] == "j0") & frame[["model_a", "model_b"]].eq("m0").any(axis=1)]
    assert (row["judge"], row["model"], row["left_out"]) == ("j0", "m0", len(votes))
    assert ranking.fit.comparisons.n_comparisons == len(frame) - len(votes)
    assert row["share_won"] > row["share_expected"] + 0.1
    for one, left_out in ((verdict(ranking), len(votes)), (verdict(panel), 0)):
        (favours,) = one.favourites
        assert (favours.judge, favours.model, favours.left_out) == ("j0", "m0", left_out)
        assert favours.log_odds > 1 and "j0 favours m0" in one.lead
        assert one.on_favourites[0] in one.caveats()
    assert panel.tables["favourites"]["left_out"].eq(0).all()
    assert panel.fit.comparisons.n_comparisons == len(frame)
    report = trust_report(read_judgments(frame, copies="keep"))
    assert report.fitted.comparisons.n_comparisons == ranking.fit.comparisons.n_comparisons
    assert np.allclose(report.fitted.scores, ranking.fit.scores)
    plan = fitted_to(read_judgments(frame, copies="keep"), {}, (None, SHRUNK), 0.95, Assumption(*[None] * 4))
    assert plan.collected == ranking.fit.comparisons.n_comparisons
    (left_out,) = ranking.recusal.sentences()
    assert left_out in plan.warnings and plan.panel.models == ranking.fit.comparisons.models
    frame.to_csv(tmp_path / "m.csv", index=False)
    told = list(examine(tmp_path / "m.csv", copies="keep"))
    assert ("favourites", left_out) in told
    assert any(topic == "judges" and "(j0) to" in sentence for topic, sentence in told)


def test_votes_that_alone_connect_a_model_count():
    """One judge alone compared the last model: there is nobody to contradict it."""
    frame = drawn_panel(1, MIDDLE, own=2.5)
    others = frame["judge_model"] != "j0"
    frame = frame[~(others & frame[["model_a", "model_b"]].eq("m0").any(axis=1))]
    assert "favourites" not in rank(frame).tables


def test_a_contrary_judge_is_no_taste_and_tastes_are_no_contrary_judge():
    scores, turned = np.array([1.2, 0.4, -0.4, -1.2]), np.array([1.0, 1.1, -1.1])
    found = []
    for thought in (turned[:, None] * scores, np.random.default_rng(3).normal(0, 0.6, (5, 4))):
        rng, size = np.random.default_rng(1), 150 * len(thought)
        i, judge = rng.integers(4, size=size), rng.integers(len(thought), size=size)
        j = (i + rng.integers(1, 4, size)) % 4
        won = (rng.random(size) < expit(thought[judge, i] - thought[judge, j])).astype(float)
        judges = tuple(f"j{number}" for number in range(len(thought)))
        rows = Comparisons(tuple("abcd"), judges, i, j, judge, won)
        found.append(taste_test(fit(rows, "position_aware"), rows, None))
    contrary, tastes = found
    assert contrary.signed
    assert not contrary.found
    assert not tastes.signed
    assert tastes.found


def test_a_ranking_without_tastes_says_where_an_opinion_is_contrary():
    rng, size = np.random.default_rng(0), 900
    scores, turned = np.array([1.2, 0.4, -0.4, -1.2]), np.array([1.0, 1.1, 0.9, -1.1])
    i, judge = rng.integers(4, size=size), rng.integers(4, size=size)
    j = (i + rng.integers(1, 4, size)) % 4
    won = rng.random(size) < expit(turned[judge] * (scores[i] - scores[j]))
    models, judges = np.array(["m0", "m1", "m2", "m3"]), np.array(list("wxyz"))
    frame = pd.DataFrame(
        {"model_a": models[i], "model_b": models[j], "judge": judges[judge], "winner": np.where(won, "a", "b")}
    )
    for chosen, contrary in ((frame, True), (frame[frame["judge"] != "z"], False)):
        (said,) = [text for text in rank(chosen).remarks if text.startswith("Whose opinion")]
        assert ("contrary" in said) == contrary
