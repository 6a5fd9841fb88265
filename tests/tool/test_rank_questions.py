"""Rankings with a quality of its own for every answer: the numbers of the fit, what is said, what is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from judgerank import fit, load, pairwise, rank, rank_intervals
from judgerank.data.errors import ConfigError, DataError, NoIntervalError, NotIdentifiedError
from judgerank.model.streams import generator
from judgerank.order.pairs import orders
from judgerank.order.scale import scale_of
from judgerank.ranking import study
from judgerank.ranking.candidates import half_information
from judgerank.ranking.verdict import verdict
from judgerank.reading.read import judgments_of
from tests.tool.command import judgerank


def frame_of(seed, sigma, scores=(1.0, 0.3, -0.3, -1.0), n_questions=120, ties=0.15, copy=False) -> pd.DataFrame:
    """Every question asked of four judges on one pair, in random order; as a copy, the last repeats the first."""
    rng, rows = generator(0, "rank questions", seed), []
    gamma, b = np.array([1.6, 1.0, 0.9, 0.7]), np.array([0.0, 0.4, -0.3, 0.0])
    for question in range(n_questions):
        i, j = rng.choice(len(scores), 2, replace=False)
        lead = scores[i] - scores[j] + np.sqrt(2) * sigma * rng.normal()
        said = np.where(rng.random(4) < ties, "tie", np.where(rng.random(4) < expit(gamma * lead + b), "a", "b"))
        if copy and rng.random() > 0.03:
            said[-1] = said[0]
        rows += [(question, f"m{i}", f"m{j}", f"j{k}", answer) for k, answer in enumerate(said)]
    return pd.DataFrame(rows, columns=["question", "model_a", "model_b", "judge", "winner"])


EXACTLY = {"cluster": "effects", "solver": "newton"}  # as the fits that rankings are held against


def fit_questions(judgments, model="position_aware_ties"):
    return fit(judgments, model, questions="effects")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return frame_of("shared", 1.2)


@pytest.fixture(scope="module")
def found(frame):
    return fit_questions(judgments_of(frame))


@pytest.fixture(scope="module")
def ranking(frame):
    return rank(frame, **EXACTLY)


def test_the_tables_are_those_of_the_fit(ranking, found):
    board, scale = ranking.tables["leaderboard"].set_index("model"), scale_of(found)
    assert_allclose(board["score"], scale.factor * found.scores[board.index], atol=1e-8)
    assert board["rank"].to_dict() == found.scores.rank(ascending=False).astype(int).to_dict()
    ranges = rank_intervals(found).set_index("model").loc[board.index]
    assert board[["rank_low", "rank_high"]].to_numpy().tolist() == ranges[["low", "high"]].to_numpy().tolist()
    pairs = ranking.tables["pairs"]
    pd.testing.assert_frame_equal(pairs, pairwise(found), check_exact=False, atol=1e-8)
    v, s = scale.covariance(found.covariance), scale.factor * found.scores
    tested = pairs.set_index(["first", "second"]).loc[(board.index[0], board.index[1])]
    i, j = (list(s.index).index(name) for name in board.index[:2])
    assert tested["difference"] == pytest.approx(s.iloc[i] - s.iloc[j])
    own = v[i, i] + v[j, j] - 2 * v[i, j]
    assert tested["standard_error"] == pytest.approx(np.sqrt(own))
    judges = ranking.tables["judges"].set_index("judge")
    assert_allclose(judges["discrimination"], found.discrimination[judges.index] / scale.factor, atol=1e-8)
    assert ranking.clustered


def test_equal_scores_are_tested_by_the_residuals_of_each_question(found):
    clustered = found.without.clustered()
    plain, here = (next(orders(one)) for one in (clustered, found))
    place = [list(plain.models).index(name) for name in here.models]
    statistic = (plain.difference / plain.error)[1][np.ix_(place, place)]
    assert_allclose(here.difference[1] / here.error[1], statistic, atol=1e-9)
    assert here.degrees_of_freedom == len(np.unique(found.question)) - 1
    ratio = scale_of(found).scores.std() / scale_of(found.without).scores.std()
    assert_allclose(here.difference[1], ratio * plain.difference[1][np.ix_(place, place)], atol=1e-9)
    off = ~np.eye(len(place), dtype=bool)
    assert_allclose(here.error[1][off], ratio * plain.error[1][np.ix_(place, place)][off], rtol=1e-9)


def test_models_that_are_equal_are_seldom_separated():
    """By effects and by clustered errors as often as the level says at most, by independent ones far too often."""
    many, rejected = 40, {"effects": 0, "clustered": 0, "independent": 0}
    for seed in range(many):
        data = judgments_of(frame_of(seed, 2.0, scores=(0.0, 0.0, 0.0), n_questions=60, ties=0.0))
        found = fit_questions(data, model="btl")
        clustered = found.without.clustered()
        for name, fitted in zip(rejected, (found, clustered, found.without), strict=True):
            rejected[name] += bool(pairwise(fitted)["separated"].any())
    assert max(rejected["effects"], rejected["clustered"]) <= 6  # of binomial(40, .05), once in 300 times more
    assert rejected["independent"] > 7


def test_probabilities_are_those_of_a_question_drawn_at_random(ranking, found):
    fitted = ranking.fit
    lead = found.scores.iloc[0] - found.scores.iloc[-1]
    either = fitted.win_probability(np.array([lead, -lead, 0.0]))
    assert_allclose([either[0] + either[1], either[2]], [1.0, 0.5])
    known = replace(fitted, effects=None)  # on a question whose answers are as good as their models
    assert 0.5 < either[0] < known.win_probability(np.array(lead))
    rng, at = np.random.default_rng(0), found
    u = np.sqrt(2) * found.sigma * rng.standard_normal(40_000)
    drawn = known.win_probability(lead + u)
    assert either[0] == pytest.approx(drawn.mean(), abs=4 * drawn.std() / np.sqrt(len(u)))
    assert at.log_likelihood == found.log_likelihood
    assert at.n_parameters == found.without.n_parameters + 1


@pytest.mark.parametrize("model", ["position_aware_ties", "judge_aware_ties"])
def test_the_information_of_a_comparison_is_that_of_its_marginal_law(frame, model):
    fitted = fit_questions(judgments_of(frame), model=model)
    eta, gamma, judge, h = np.array([0.7, -1.1]), np.array([1.3, 0.4]), np.array([0, 1]), 1e-4
    nu = fitted._values.nu[judge]

    def law(move=0.0, by_tie=0.0):
        at = fitted.effects.law(eta + move, gamma, nu * np.exp(by_tie))
        return np.array([at.mean - at.tie / 2, at.tie, 1 - at.mean - at.tie / 2])

    slopes = np.array([(law(h) - law(-h)) / (2 * h), (law(0, h) - law(0, -h)) / (2 * h)])
    information = np.einsum("aot,bot,ot->tab", slopes, slopes, 1 / law())
    half = half_information(fitted, eta, gamma, judge)
    assert_allclose(half @ half.transpose(0, 2, 1), information, atol=1e-7)
    plain = half_information(replace(fitted, effects=None), eta, gamma, judge)
    assert (half[:, 0] ** 2).sum() < (plain[:, 0] ** 2).sum()  # what a question adds is noise to a new comparison


def test_it_says_how_much_answers_differ_and_what_that_moved(ranking, found):
    (said,) = [text for text in ranking.remarks if "sigma = " in text]
    statistic, p = found.likelihood_ratio()
    row = found.confidence_intervals().set_index("parameter").loc["sigma"]
    assert f"sigma = {found.sigma:.2f} ({row['low']:.2f} to {row['high']:.2f})" in said
    assert f" {statistic:.1f}, p < 0.0001" in said and p < 1e-4
    assert (re.search(r"\d+ of \d+ ranks\b", said) is None) == (list(found.without.ranks) == list(found.ranks))
    assert any(
        re.match(r"Model position_aware_ties .*\bposition_aware\b.*\beffects\b", text) for text in ranking.remarks
    )
    page = ranking.to_html()
    assert f" {found.sigma:.3f}, " in page
    assert "sandwich" not in page
    assert "independent" not in " ".join(verdict(ranking).warnings)


def test_without_effects_in_the_data_errors_are_by_question():
    data = next(
        one
        for one in (frame_of(f"none {n}", 0.0) for n in range(20))
        if fit_questions(judgments_of(one)).sigma == 0
    )
    ranking = rank(data, **EXACTLY)
    assert any("(sigma is" in text for text in ranking.remarks)
    judgments = judgments_of(data)
    plain = fit(judgments.comparisons, "position_aware_ties").clustered(judgments.comparisons, judgments.question)
    pd.testing.assert_frame_equal(ranking.tables["pairs"], pairwise(plain), check_exact=False, atol=1e-9)


def test_ids_that_answer_as_one_are_merged_and_named():
    data = frame_of("copies", 0.8, n_questions=250, ties=0.0, copy=True)
    ranking = rank(data, **EXACTLY)
    judges = ranking.tables["judges"].set_index("judge")
    assert judges.loc["j3", ["verdict", "status"]].tolist() == ["same as j0", "merged"]
    assert np.isnan(judges.loc["j3", "discrimination"]) and judges.loc["j3", "comparisons"] == 250
    assert judges["discrimination"].notna().sum() == 3
    assert "These judge ids answer as one, and count as one judge: j0, j3." in ranking.remarks
    number, what = verdict(ranking).facts[-1]
    assert number == "3" and re.match(r"judges, .*\b[\d.]+ equal\b", what)
    assert '"j3"' in ranking.to_html()


def test_components_have_effects_of_their_own_and_one_that_has_none_does_not_stop_the_others():
    data = frame_of("islands", 1.0)
    other = frame_of("other island", 1.0, scores=(0.5, 0.0, -0.5))
    sides = ["model_a", "model_b"]
    other[sides] = "x" + other[sides]
    both = rank(pd.concat([data, other.assign(question=other["question"] + 1000)]), **EXACTLY)
    alone = rank(data, **EXACTLY)
    first = both.tables["leaderboard"].query("component == 1")
    assert_allclose(first["score"], alone.tables["leaderboard"]["score"], atol=1e-6)
    assert sum("sigma" in text for text in both.remarks) == 2
    once = other.drop_duplicates("question").assign(question=lambda rows: rows["question"] + 1000)
    kept = rank(pd.concat([data, once]), **EXACTLY)
    assert sorted(kept.tables["leaderboard"]["model"]) == ["m0", "m1", "m2", "m3"]
    assert any("Not ranked: xm0, xm1, xm2. No question has two comparisons" in text for text in kept.remarks)


def test_counts_are_as_many_records(frame):
    chosen = {**EXACTLY, "model": "btl_ties"}
    counted = rank(frame.assign(n=2), columns={"count": "n"}, **chosen)
    twice = rank(pd.concat([frame, frame]), copies="keep", **chosen)
    for name in ("leaderboard", "pairs"):
        pd.testing.assert_frame_equal(counted.tables[name], twice.tables[name], check_exact=False, atol=1e-6)


def test_what_has_no_question_effects_is_refused_in_a_sentence(frame, tmp_path):
    for kwargs, error, told in [
        ({"solver": "adam"}, ConfigError, "solver=newton or penalised"),
        ({"model": "position_aware"}, ConfigError, r"'position_aware'.*\bposition_aware_ties\b"),
        ({"cluster": "pairs"}, DataError, "no column 'pairs'"),
    ]:
        with pytest.raises(error, match=told):
            rank(frame, **({"cluster": "effects"} | kwargs))
    with pytest.raises(DataError, match=r"^cluster=effects\b.*--column question="):
        rank(frame.drop(columns="question"), **EXACTLY)
    with pytest.raises(NotIdentifiedError, match=r"\bno question\b"):
        rank(frame.assign(question=range(len(frame))), **EXACTLY)
    frame.drop(columns="question").to_csv(tmp_path / "a file.csv", index=False)
    done = judgerank("rank", "a file.csv", "--cluster", "effects", cwd=tmp_path)
    assert done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "rankings").exists()


def test_the_command_writes_what_the_library_finds(frame, tmp_path, ranking):
    frame.to_csv(tmp_path / "answers.csv", index=False)
    done = judgerank("rank", "answers.csv", "--cluster", "effects", "--solver", "newton", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    board = pd.read_csv(tmp_path / "rankings" / "answers" / "leaderboard.csv")
    assert_allclose(board["score"], ranking.tables["leaderboard"]["score"], atol=1e-6)
    run = json.loads((tmp_path / "rankings" / "answers" / "run.json").read_text())
    assert run["settings"]["cluster"] == "effects"


def test_a_fit_comes_back_as_it_was_and_is_shown(found, tmp_path):
    found.save(tmp_path / "a fit")
    back = load(tmp_path / "a fit")
    assert back.summary() == found.summary()
    assert np.array_equal(back.covariance, found.covariance) and np.array_equal(back.question, found.question)
    pd.testing.assert_frame_equal(pairwise(back), pairwise(found), check_exact=True)
    assert back.predict("m0", "m1") == found.predict("m0", "m1")
    assert back.win_probability(1.0) == found.win_probability(1.0)
    assert np.array_equal(back.clustered().covariance, found.covariance)
    html = found._repr_html_()
    assert "<table" in html and f"{found.sigma:.3f}" in html
    hostile = replace(found, remarks=("<b>",))
    assert "<b>" not in hostile._repr_html_().replace("<p><b>", "") and "&lt;b&gt;" in hostile._repr_html_()


def test_a_fit_that_ended_nowhere_is_not_ranked_by(found, frame, monkeypatch):
    """At a saddle there are no intervals: the ranking is that without question effects, its errors by question."""
    saddle = replace(found, robust=np.full_like(found.robust, np.nan))
    assert saddle.scores.equals(found.scores)
    assert f"{found.sigma:.3f}" in saddle.summary()
    with pytest.raises(NoIntervalError, match="singular"):
        saddle.confidence_intervals()
    monkeypatch.setattr(study, "fit", lambda *_, **__: saddle)
    ranking = rank(frame, **EXACTLY)
    clustered = found.without.clustered()
    pd.testing.assert_frame_equal(ranking.tables["pairs"], pairwise(clustered), check_exact=False, atol=1e-9)
    assert any(re.search(rf"\b{saddle.status} and has no\b", text) for text in ranking.remarks)
