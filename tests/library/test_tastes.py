"""Judges' own tastes: the test for them, the errors that allow for them, and judges who favour one model."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from judgerank.fits.favourites import favourites, studentised
from judgerank.fits.fit import fit
from judgerank.fits.taste_test import Likelihood, taste_test
from judgerank.order.equality import NetResults
from judgerank.order.pairs import pairwise
from judgerank.ranking.choices import Settings
from judgerank.ranking.findings import ranked_set
from judgerank.ranking.ranking import rank
from judgerank.ranking.studies import next_comparisons
from judgerank.ranking.trust_report import trust_report
from judgerank.ranking.verdict import verdict
from judgerank.reading.read import read_judgments

EQUAL, APART = np.zeros(6), np.array([1.0, 0.6, 0.2, -0.2, -0.6, -1.0])


def drawn(seed, scores=EQUAL, sd=0.0, judges=5, size=1500, n_questions=None, own=0.0):
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
    p = np.array([tested(drawn(seed, scores, **design)).p_value for seed in range(40)])
    assert (p <= 0.05).mean() <= 0.15  # .05 with three Monte Carlo standard errors


def test_tastes_are_found_at_their_size():
    tests = [tested(drawn(seed, scores, 0.5)) for seed in range(6) for scores in (EQUAL, APART)]
    assert all(test.p_value < 1e-3 for test in tests)
    assert np.mean([test.spread for test in tests]) == pytest.approx(0.5, abs=0.1)
    assert tested(drawn(0, APART, 0.5), "newton").spread == pytest.approx(tests[1].spread, abs=0.1)
    assert tested(drawn(0, APART, own=1.5)).p_value < 0.01


def test_what_tells_nothing_of_tastes_is_not_tested():
    assert tested(drawn(0, EQUAL[:2])) is None
    assert tested(drawn(0, judges=1)) is None
    assert tested(drawn(0, EQUAL[:3], judges=2)) is None  # one difference beside scores and discriminations


def test_rank_separates_no_equal_models_by_the_tastes_of_five_judges():
    """Without the default, some pair is significantly different in most of these sets."""
    counts = []
    for seed in range(12):
        judgments = read_judgments(drawn(seed, sd=0.5))
        both = (ranked_set(judgments, settings) for settings in (Settings(whose="this_panel"), Settings()))
        counts.append([one.components[0].pairs["separated"].any() for one in both])
    panel, like_these = np.sum(counts, axis=0)
    assert panel >= 5 and like_these <= 2


@pytest.mark.parametrize("n_questions", [None, 300, 12], ids=["unique", "questions", "flips"])
def test_errors_allow_for_tastes_that_are_found(n_questions):
    ranking = rank(drawn(1, APART, 0.5, n_questions=n_questions))
    fitted, panel = ranking.fit, ranking.fit.for_this_panel()
    assert ranking.whose == "judges_like_these" and fitted.tastes > 0.2 and panel.tastes == 0
    assert (fitted.flips is not None) == (n_questions == 12)
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
    frame = drawn(2, APART, 0.5, judges=8, size=4000)
    by_default, block = rank(frame), rank(frame, blocks=["taste"])
    widths = [(one.leaderboard["high"] - one.leaderboard["low"]).mean() for one in (by_default, block)]
    assert widths[0] == pytest.approx(widths[1], rel=0.25)
    assert by_default.fit.tastes == pytest.approx(block.fit.spread["taste"], rel=0.25)
    assert rank(frame, blocks=["taste"], whose="this_panel").whose == "this_panel"


def test_where_no_tastes_are_found_nothing_changes():
    frame = drawn(3, APART)
    ranking, panel = rank(frame), rank(frame, whose="this_panel")
    assert ranking.whose == panel.whose == "this_panel" and "whose_opinion" not in ranking.tables
    assert ranking.leaderboard.equals(panel.leaderboard) and ranking.pairs.equals(panel.pairs)


def test_a_fit_saved_is_read_with_both_errors(tmp_path):
    from judgerank.fits.loading import load

    fitted = rank(drawn(1, APART, 0.5)).fit
    fitted.save(tmp_path / "fit.npz")
    again = load(tmp_path / "fit.npz")
    assert again.tastes == fitted.tastes and np.array_equal(again.covariance, fitted.covariance)
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
    sets = [found(drawn(seed, MIDDLE, **design)) for seed in range(24)]
    assert np.mean([bool(one) for one in sets]) <= 0.18  # .05 with three Monte Carlo standard errors


def test_one_judge_who_favours_or_slights_one_model_is_found():
    for own in (2.5, -2.5):
        sets = [found(drawn(seed, MIDDLE, own=own)) for seed in range(6)]
        assert sum(("j0", "m0", np.sign(own)) in one for one in sets) >= 5
        assert sum(len(one) for one in sets) <= 8


def test_of_few_judges_nobody_is_named_unless_the_others_agree():
    for seed in range(6):
        assert not found(drawn(seed, MIDDLE, own=3.0, judges=2))
        assert {("j0", "m0", 1.0)} >= {*found(drawn(seed, MIDDLE, own=3.0, judges=3))}


def test_a_judge_who_contradicts_the_others_favours_nobody():
    frame = drawn(0, APART)
    contrary = frame["judge_model"] == "j1"
    frame.loc[contrary, "winner"] = frame.loc[contrary, "winner"].map({"a": "b", "b": "a"})
    assert all(judge != "j1" for judge, *_ in found(frame))


def test_names_and_sides_do_not_matter():
    frame = drawn(0, MIDDLE, own=2.5)
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
    judgments = read_judgments(drawn(4, MIDDLE), copies="keep")
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
    frame = drawn(0, MIDDLE, own=2.0, size=4000)
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


def test_rank_says_whom_a_judge_favours_and_does_not_count_these_votes():
    frame = drawn(1, MIDDLE, own=2.5, n_questions=300)
    ranking, panel = rank(frame), rank(frame, whose="this_panel")
    row = ranking.tables["favourites"].iloc[0]
    votes = frame[(frame["judge_model"] == "j0") & frame[["model_a", "model_b"]].eq("m0").any(axis=1)]
    assert (row["judge"], row["model"], row["left_out"]) == ("j0", "m0", len(votes))
    assert ranking.fit.comparisons.n_comparisons == len(frame) - len(votes)
    assert row["share_won"] > row["share_expected"] + 0.1
    for text in (verdict(ranking).lead, verdict(panel).lead):
        assert "j0 favours m0" in text
    assert panel.tables["favourites"]["left_out"].eq(0).all()
    assert panel.fit.comparisons.n_comparisons == len(frame)
    report = trust_report(read_judgments(frame, copies="keep"))
    assert report.fitted.comparisons.n_comparisons == ranking.fit.comparisons.n_comparisons
    assert np.allclose(report.fitted.scores, ranking.fit.scores)


def test_votes_that_alone_connect_a_model_count():
    """One judge alone compared the last model: there is nobody to contradict it."""
    frame = drawn(1, MIDDLE, own=2.5)
    others = frame["judge_model"] != "j0"
    frame = frame[~(others & frame[["model_a", "model_b"]].eq("m0").any(axis=1))]
    assert "favourites" not in rank(frame).tables
