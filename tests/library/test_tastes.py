"""Judges' own tastes: the test for them, and the errors that allow for them."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from judgerank.fits.fit import fit
from judgerank.fits.tastes import taste_test
from judgerank.order.pairs import pairwise
from judgerank.ranking.choices import Settings
from judgerank.ranking.findings import ranked_set
from judgerank.ranking.ranking import rank
from judgerank.ranking.studies import next_comparisons
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
