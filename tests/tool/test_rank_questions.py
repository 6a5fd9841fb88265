"""Rankings by the unit that was sampled: questions with effects, the single judgment, or a column."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from judgerank import fit, load, pairwise, rank, rank_intervals, read
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError, DataError, NoIntervalError, NotIdentifiedError
from judgerank.inference.clusters import two_way
from judgerank.order.pairs import orders
from judgerank.order.scale import scale_of
from judgerank.ranking import study
from judgerank.ranking.candidates import half_information
from judgerank.ranking.verdict import verdict
from judgerank.reading.read import judgments_of
from tests.forked import judgerank


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
    assert number == "3" and re.match(r"judges, .*\b[\d.]+$", what)
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
    saddle = found._with_errors(robust=np.full_like(found.errors.robust, np.nan))
    assert saddle.scores.equals(found.scores)
    assert f"{found.sigma:.3f}" in saddle.summary()
    with pytest.raises(NoIntervalError, match="singular"):
        saddle.confidence_intervals()
    monkeypatch.setattr(study, "fit", lambda *_, **__: saddle)
    ranking = rank(frame, **EXACTLY)
    clustered = found.without.clustered()
    pd.testing.assert_frame_equal(ranking.tables["pairs"], pairwise(clustered), check_exact=False, atol=1e-9)
    assert any(re.search(rf"\b{saddle.status} and has no\b", text) for text in ranking.remarks)


# Rankings by the unit that was sampled: the single judgment where no question is named, or a column.

ENDS = ["score", "low", "high", "win_rate", "rank_low", "rank_high"]
TESTS = ["difference", "standard_error", "low", "high", "p_value", "p_holm"]


def votes(name: str, n_rows: int = 240, n_models: int = 4) -> pd.DataFrame:
    """Judgments by four judges with a third of ties, each on a question of its own."""
    rng = generator(0, "rank clusters", name)
    ends = np.array([rng.choice(n_models, 2, replace=False) for _ in range(n_rows)])
    lead = (ends[:, 1] - ends[:, 0]) * 0.5 + rng.logistic(size=n_rows)
    names = np.array([f"m{i}" for i in range(n_models)])
    frame = pd.DataFrame({"model_a": names[ends[:, 0]], "model_b": names[ends[:, 1]]})
    frame["judge"] = [f"j{k}" for k in rng.integers(0, 4, n_rows)]
    frame["winner"] = np.where(np.abs(lead) < 0.7, "tie", np.where(lead > 0, "a", "b"))
    return frame.assign(question=[f"q{number:04d}" for number in range(n_rows)])


def assert_same_ranking(one, other) -> None:
    assert one.leaderboard["model"].tolist() == other.leaderboard["model"].tolist()
    assert_allclose(*(ranking.leaderboard[ENDS].astype(float) for ranking in (one, other)), rtol=1e-9)
    first, second = (ranking.pairs.sort_values(["first", "second"]) for ranking in (one, other))
    assert first["test"].tolist() == second["test"].tolist()
    assert_allclose(first[TESTS].astype(float), second[TESTS].astype(float), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"solver": "newton"}, {"blocks": ["taste"]}], ids=str)
def test_a_file_without_questions_is_ranked_as_with_an_id_for_every_judgment(settings):
    frame = votes("ids")
    assert_same_ranking(rank(frame, **settings), rank(frame.drop(columns="question"), **settings))


def test_so_is_one_with_fewer_judgments_than_parameters():
    frame = votes("few", n_rows=9, n_models=3)
    assert_same_ranking(rank(frame), rank(frame.drop(columns="question")))


def test_a_row_that_counts_for_several_is_as_many_judgments():
    frame = votes("counted").drop(columns="question")
    counted = frame.groupby(list(frame)).size().rename("count").reset_index()
    assert counted["count"].max() > 2
    written, given = (
        rank(source, columns=names) for source, names in ((frame, None), (counted, {"count": "count"}))
    )
    assert_same_ranking(written, given)


def test_a_ranking_of_several_answers_is_one_judgment():
    rng = generator(0, "rank clusters", "rankings")
    rows = [" > ".join(f"m{i}" for i in np.argsort(rng.gumbel(size=4) - np.arange(4) * 0.4)) for _ in range(90)]
    frame = pd.DataFrame({"ranking": rows, "judge": [f"j{n % 3}" for n in range(90)]})
    named = frame.assign(question=[f"q{n:03d}" for n in range(90)])
    assert_same_ranking(rank(named), rank(frame))


def test_errors_are_the_models_own_on_request_alone():
    frame = votes("none").drop(columns="question")
    by_judgment, by_model = rank(frame), rank(frame, cluster="none")
    assert by_judgment.fit.errors.robust is not None and by_model.fit.errors.robust is None
    widths = [(board["high"] - board["low"]).mean() for board in (by_judgment.leaderboard, by_model.leaderboard)]
    assert 0.9 < widths[0] / widths[1] < 1.1  # the model allows for ties, which vary less than wins and losses


# Units that are named.


@pytest.fixture(scope="module")
def crossed() -> pd.DataFrame:
    """Judgments of 40 questions, each by several of 24 raters, from templates of eight questions."""
    rng, frame = generator(0, "rank clusters", "raters"), votes("crossed", n_rows=480)
    number, rater = rng.integers(0, 40, 480), rng.integers(0, 24, 480)
    columns = {"question": [f"q{n:02d}" for n in number], "template": [f"t{n // 8}" for n in number]}
    return frame.assign(**columns, person=[f"r{n:02d}" for n in rater])


def test_question_by_name_is_the_default(crossed):
    assert_same_ranking(rank(crossed), rank(crossed, cluster="question"))
    assert_same_ranking(rank(crossed), rank(crossed, cluster=["question"]))


def test_a_column_with_the_ids_of_questions_is_their_like(crossed):
    other = crossed.assign(unit=crossed["question"].map({f"q{n:02d}": f"u{97 * n % 40}" for n in range(40)}))
    assert_same_ranking(rank(crossed), rank(other, cluster="unit"))


def test_the_two_ways_are_the_sum_of_either_less_both(crossed):
    judgments = read(crossed, keep=["person"])
    fitted = fit(judgments, "judge_aware")
    question, rater = judgments.question, judgments.unit("person")
    of_both = fitted.clustered(cluster=(question, rater)).covariance
    parts = [fitted.clustered(cluster=labels).covariance for labels in (question, rater, question * 24 + rater)]
    assert np.linalg.eigvalsh(parts[0] + parts[1] - parts[2])[0] > -1e-9
    assert_allclose(of_both, parts[0] + parts[1] - parts[2], rtol=1e-9, atol=1e-12)


def test_crossed_clusters_have_no_order_and_no_names(crossed):
    one = rank(crossed, cluster=("question", "person"))
    assert one.fit.errors.across is not None and one.fit.degrees_of_freedom < 24
    assert_same_ranking(one, rank(crossed, cluster="person,question"))
    other = crossed.assign(person=crossed["person"].map(lambda name: f"p{int(name[1:]) * 7 % 24}"))
    assert_same_ranking(one, rank(other.sample(frac=1.0, random_state=1), cluster=["question", "person"]))


def test_a_variance_that_would_be_negative_is_none():
    first, both = np.diag([1.0, 2.0]), np.diag([3.0, 1.0])
    assert_allclose(two_way(first, first, both, np.ones(2)), np.diag([0.0, 3.0]), atol=1e-12)
    scale = np.array([4.0, 9.0])
    turned = two_way(*(np.outer(np.sqrt(scale), np.sqrt(scale)) * x for x in (first, first, both)), scale)
    assert_allclose(turned, np.diag([0.0, 27.0]), atol=1e-12)


def test_questions_within_templates_are_no_further_unit(crossed):
    one = rank(crossed, cluster=("question", "template"))
    assert one.sampled_by == "template"
    assert_same_ranking(one, rank(crossed, cluster="template"))


@pytest.mark.parametrize("cluster", ["template", "template,person"])
def test_pairs_are_tested_by_flips_where_there_are_few_units(crossed, cluster):
    ranking = rank(crossed, cluster=cluster)
    assert set(ranking.pairs["test"]) <= {"flips", "implied"}
    plain = rank(crossed).pairs["p_value"]
    assert ranking.pairs["p_value"].min() > 0.99 * 2.0**-4 > plain.min()


@pytest.mark.parametrize(
    ("cluster", "error"),
    [("templat", DataError), ("none,person", ConfigError), ("a,b,c", ConfigError), ("", ConfigError)],
)
def test_what_is_no_unit_is_refused_in_a_sentence(crossed, cluster, error):
    with pytest.raises(error):
        rank(crossed, cluster=cluster)


def test_a_unit_that_is_not_known_of_a_record_is_refused(crossed):
    with pytest.raises(DataError, match="record 7 "):
        rank(crossed.assign(person=crossed["person"].mask(crossed.index == 6)), cluster="person")


def test_the_command_takes_columns_once_or_twice(crossed, tmp_path):
    file = tmp_path / "votes.csv"
    crossed.to_csv(file, index=False)
    out = ["--output", tmp_path / "out", "--json", "--cluster"]
    once, twice = (
        judgerank("rank", file, *out, "template"),
        judgerank("rank", file, *out, "question", "--cluster", "person"),
    )
    assert json.loads(once.stdout)["cluster"] == "template"
    assert json.loads(twice.stdout)["cluster"].split(" and ") == ["question", "person"]
    wrong = judgerank("rank", file, *out, "templat")
    assert wrong.returncode == 1 and "template" in wrong.stdout


def test_the_column_of_judges_is_a_unit_by_its_own_name_too(crossed):
    file = crossed.drop(columns="judge").rename(columns={"person": "rater"})
    assert rank(file, cluster="question,rater").sampled_by.split(" and ") == ["question", "rater"]
    assert_same_ranking(rank(file, cluster="question,rater"), rank(file, cluster="question,judge"))


def test_a_plan_takes_the_values_of_a_column_for_questions(crossed, tmp_path):
    file = tmp_path / "votes.csv"
    crossed.to_csv(file, index=False)
    crossed.drop(columns="question").rename(columns={"template": "question"}).to_csv(
        tmp_path / "as.csv", index=False
    )
    named, read_as = (
        judgerank("plan", file, "--cluster", "template", "--json"),
        judgerank("plan", tmp_path / "as.csv", "--json"),
    )
    plans = [json.loads(run.stdout) for run in (named, read_as)]
    assert plans[0]["plan"] == plans[1]["plan"] and plans[0]["cluster"] == "template"
    assert plans[0]["plan"] != json.loads(judgerank("plan", file, "--json").stdout)["plan"]
    assert judgerank("plan", file, "--cluster", "templat").returncode == 1
    assert judgerank("plan", "--cluster", "template").returncode == 2


@pytest.mark.parametrize("sizes", [[400], [400, 20, 20, 20, 20]])
def test_questions_with_more_judgments_than_are_looked_at_are_sampled(monkeypatch, sizes):
    rng = np.random.default_rng(2)
    question = np.repeat(np.arange(len(sizes)), sizes)
    winner = rng.choice(["a", "b"], len(question), p=[0.6, 0.4])
    frame = pd.DataFrame({"question": question, "model_a": "x", "model_b": "y", "judge": "j", "winner": winner})
    frame["item"] = np.arange(len(frame))  # no two records are copies
    judgments = read(frame)
    whole = rank(judgments).leaderboard
    monkeypatch.setattr(study, "MOST_SAMPLED", 50)
    sample = study.sampled(judgments)
    assert len(sample.comparisons) == (50 if len(sizes) == 1 else 40)
    assert len(sample.frame) == len(sample.comparisons)
    assert sizes[int(sample.question[0])] >= 20
    pd.testing.assert_frame_equal(rank(judgments).leaderboard, whole)
