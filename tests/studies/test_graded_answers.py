"""Answers with their strength, and rankings: how they are simulated, what is taken for what, what is stored."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from omegaconf import OmegaConf
from scipy.special import expit

from judgerank import fit
from judgerank.data.arrays import generator
from judgerank.data.judgments import Judgments
from judgerank.model.law import Law
from judgerank.order.scale import scale_of
from replication.config import ROOT
from replication.differences import TOLERANCES
from studies import graded_answers, plots, ranked_answers
from studies.graded_answers import (
    ANSWERED,
    SCORED,
    SEVEN,
    SHUFFLED,
    STATED,
    WAYS,
    WINNER,
    Answering,
    Scoring,
    by_judge,
    shuffled,
    upper_half,
    with_confidence,
)
from studies.ranked_answers import (
    MEAN_RANKS,
    RANKED,
    Ranking,
    in_stages,
    mean_ranks,
    pairs,
    ranked_once,
    rows_by_way,
)
from studies.tied_answers import GROUPS, SPACED, limit, tied_answers, true_order
from tests.drawn import name_of
from tests.replication.test_config import composed
from tests.replication.test_sections import run

ALIKE, EXTREMES, ONE_NOISE, ALL_NOISE = (
    name_of(ANSWERED, how)
    for how in (Answering(), Answering(alike=False, extremes=True), Answering(noise=1), Answering(noise=5))
)


def drawn(how: Answering, seed: int = 1):
    return graded_answers.drawn(np.random.default_rng(seed), how)


def stored(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / f"results/beyond/graded/{name}.csv")


def test_answers_are_drawn_from_the_law(monkeypatch):
    monkeypatch.setattr(graded_answers, "N_JUDGMENTS", 60_000)
    c = drawn(Answering(alike=False))
    eta = graded_answers.DISCRIMINATION[c.judge] * (
        graded_answers.SCORES[c.first] - graded_answers.SCORES[c.second]
    )
    law = Law(eta, graded_answers.USES["nu"][c.judge], np.log(graded_answers.USES["strong"][c.judge]))
    for share, p in ((c.tied, law.tie), (c.strong.sum(axis=1), law.strong[0]), (c.response, law.mean)):
        for k in range(5):
            own = c.judge == k
            off = share[own] - p[own]
            assert abs(off.mean()) < 4 * off.std() / np.sqrt(own.sum())


def test_what_breaks_the_law_breaks_it_as_said(monkeypatch):
    monkeypatch.setattr(graded_answers, "N_JUDGMENTS", 20_000)
    first = {name: (c := drawn(how)).take(np.flatnonzero(c.judge == 0)) for name, how in ANSWERED.items()}
    strong = {name: c.strong.sum(axis=1) for name, c in first.items()}
    extremes = first[EXTREMES]
    assert_array_equal(strong[EXTREMES] == 1, extremes.outcome != 0.5)
    assert (extremes.outcome == 0.5).any()
    assert first[name_of(ANSWERED, Answering(one_sided=True))].strong[:, 1].sum() == 0
    assert first[name_of(ANSWERED, Answering(alike=False, biased=True))].outcome.mean() > 0.6
    lead = graded_answers.SCORES[first[ALIKE].first] - graded_answers.SCORES[first[ALIKE].second]
    for name, follows in ((ALIKE, True), (ONE_NOISE, False)):
        c, far = first[name], np.abs(lead) > 1
        decided = c.outcome != 0.5
        rise = strong[name][decided & far].mean() - strong[name][decided & ~far].mean()
        assert (rise > 0.05) == follows


def test_gain_is_the_ratio_of_mean_squared_errors():
    measures = ("squared", "covered_plug_in", "covered_clustered")
    records = pd.DataFrame({f"{measure}/{way}": [1.0, 1.0, 0.5] for measure in measures for way in WAYS})
    records["squared/strength"] = [0.5, 0.25, 0.5]
    rows = pd.DataFrame(graded_answers.answered(records, "name")).set_index("way")
    assert rows.loc["strength", "gain"] == pytest.approx(2.5 / 1.25)
    assert rows.loc[WINNER, "gain"] == 1 and rows.loc[WINNER, "gain_se"] == 0


def test_seven_levels_hold_the_five_and_are_drawn_from_their_law(monkeypatch):
    monkeypatch.setattr(graded_answers, "N_JUDGMENTS", 60_000)
    c = drawn(Answering(alike=False, levels=7))
    uses, lead = graded_answers.USES, graded_answers.SCORES[c.first] - graded_answers.SCORES[c.second]
    beyond = (np.log(uses[name][c.judge]) for name in ("strong", "stronger"))
    law = Law(graded_answers.DISCRIMINATION[c.judge] * lead, uses["nu"][c.judge], *beyond)
    strong = c.strong[:, ::2] + c.strong[:, 1::2]  # of either model
    for share, p in zip((c.tied, *strong.T), (law.tie, *law.strong), strict=True):
        off = share - p
        assert abs(off.mean()) < 4 * off.std() / np.sqrt(len(off))
    five = graded_answers.merged(c)
    assert_array_equal(five.strong.sum(axis=1), strong.sum(axis=1))
    assert_array_equal(five.strong.sum(axis=0), c.strong[:, :2].sum(axis=0) + c.strong[:, 2:].sum(axis=0))


def test_what_seven_levels_replace_is_the_ratio_of_mean_squared_errors():
    ways = (*WAYS, graded_answers.MERGED)
    records = pd.DataFrame({f"squared/{way}": [1.0, 1.0, 0.5] for way in ways})
    records["squared/strength"] = [0.5, 0.25, 0.5]
    table = pd.DataFrame(graded_answers.seven_levels(records, "name")).set_index("levels")
    assert_allclose(table["gain"], [1, 2, 2, 2])
    assert table.loc[7, "gain_se"] == 0 and (table["gain_se"].drop(7) > 0).all()


def test_stored_seven_levels_save_judgments_and_cover_as_nominal():
    table = stored("levels").set_index(["setting", "levels"])
    assert [*dict.fromkeys(table.index.get_level_values("setting"))] == list(SEVEN)
    fewer = table.drop(7, level="levels")
    assert (fewer["gain"] - 2 * fewer["gain_se"] > 1).all() and (table["failed"] == 0).all()
    for name in SEVEN:
        gain = table.loc[name, "gain"]
        assert gain[5] < gain[2]
        for kind in ("covered_plug_in", "covered_clustered"):
            seven = table.loc[(name, 7)]
            assert abs(seven[kind] - 0.95) < 2.5 * seven[f"{kind}_se"]


def test_confidence_splits_each_judges_answers_most_evenly():
    assert_array_equal(upper_half(np.array([0.5, 0.9, 0.9, 0.95, np.nan])), [0, 1, 1, 1, 0])
    assert_array_equal(upper_half(np.array([1.0, 1.0, 0.2, 0.1])), [1, 1, 0, 0])
    assert not upper_half(np.full(5, 0.9)).any() and not upper_half(np.full(3, np.nan)).any()


def test_shuffling_keeps_how_often_each_judge_is_confident():
    c = replace(drawn(Answering()), strong=None)
    frame = c.to_frame()
    confidence = np.random.default_rng(0).random(len(frame))
    frame = frame.assign(judge_confidence=confidence, question_id=np.arange(len(frame)))
    known = with_confidence(Judgments("x", "x", frame, c, {}))
    anew = shuffled(known, np.random.default_rng(1)).comparisons
    one, other = (np.bincount(c.judge, s.sum(axis=1)) for s in (known.comparisons.strong, anew.strong))
    assert_array_equal(one, other)
    assert (known.comparisons.strong != anew.strong).any()
    table = by_judge(known)
    assert_allclose(table["share_close"], 0.5, atol=0.2)


def test_pairs_of_scores_are_read_by_each_judges_own_gaps():
    who = np.array([[0] * 8, [1] * 8, [0] * 4 + [1] * 4])
    gap = np.array([1.0, -1.0, 3.0, 0.0, 2.0, -2.0, 6.0, 0.0])  # the second judge's are twice the first's
    levels, shares = (graded_answers.read_as(way, who, gap) for way in ("levels", "shares"))
    assert_array_equal(levels.strong, [[0, 0], [0, 0], [1, 0], [0, 0]] * 2)
    assert_array_equal(levels.outcome, [1, 0, 1, 0.5] * 2)
    assert_allclose(shares.outcome, [expit(1), expit(-1), expit(3), 0.5] * 2, rtol=1e-14)
    assert graded_answers.read_as("winner", who, gap).tied is None
    assert_array_equal(graded_answers.read_as(WINNER, who, gap).tied, [0, 0, 0, 1] * 2)


def test_scores_follow_quality_and_stay_on_the_scale():
    rng = np.random.default_rng(0)
    (first, second, _), gap = graded_answers.gaps(rng, Scoring(), 2_000)
    lead = graded_answers.SCORES[first] - graded_answers.SCORES[second]
    assert np.polyfit(lead, gap, 1)[0] == pytest.approx(Scoring().slope[0], abs=0.05)
    (_, _, judge), gap = graded_answers.gaps(rng, Scoring(slope=(0.0, 0.0, 1.5, 1.5, 1.5)), 2_000)
    spread = np.array([gap[judge == k].std() for k in range(5)])
    assert (spread[:2] < spread[2:].min() - 0.5).all() and np.abs(gap).max() <= 9


def test_stored_scores_say_when_shares_are_better():
    table = stored("scores").set_index(["way", "setting"])
    assert list(dict.fromkeys(table.index.get_level_values("setting"))) == list(SCORED)
    levels, shares = (table.loc[way] for way in ("levels", "shares"))
    alike, full = (name_of(SCORED, how) for how in (Scoring(), Scoring(offset=(9.0,) * 5)))
    assert levels.loc[alike, "gain"] > 1.1 and shares.loc[alike, "loss"] < levels.loc[alike, "loss"]
    for other in set(SCORED) - {alike, full}:
        assert levels.loc[other, "loss_difference"] < 0
        assert levels.loc[other, "loss"] < shares.loc[other, "loss"]
    assert max(levels.loc[full, "gain"], shares.loc[full, "gain"]) < 0.9


def test_a_run_writes_what_it_should(tmp_path):
    small = ("replications=2", "draws=2", "few=300", "surrogate=always")
    done = run("graded", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    folder = next(tmp_path.rglob("strength.csv")).parent
    tables = [pd.read_csv(folder / f"{name}.csv") for name in ("strength", "equal")]
    assert [*dict.fromkeys(pd.concat(tables)["setting"])] == list(ANSWERED)
    assert not (folder / "confidence.csv").exists()  # stand-ins for the sets state none


def test_stored_results_are_as_is_said():
    table = stored("strength").set_index(["way", "setting"])
    strength = table.loc["strength"]
    better = strength["gain"] - 2 * strength["gain_se"] > 1
    assert list(strength.index[~better]) == [ALL_NOISE]
    assert strength.loc[ALL_NOISE, "gain"] < 0.96
    far = name_of(ANSWERED, Answering(gap_factor=2.0))
    assert strength.loc[far, "gain"] > strength.loc[ALIKE, "gain"] > 1.15
    # coverage is nominal within Monte Carlo error where the law is the judges', or a little more: Student's
    # quantile goes by the questions that compared two models
    for kind in ("covered_plug_in", "covered_clustered"):
        right = strength[~strength.index.isin([ONE_NOISE, ALL_NOISE])]
        assert (right[kind] > 0.95 - 2.5 * right[f"{kind}_se"]).all() and right[kind].max() < 0.965
        assert strength[kind].min() > 0.92
    equal = stored("equal")
    assert (equal["separated_plug_in"] - 2 * equal["separated_plug_in_se"] <= 0.05).all()
    assert (stored("strength")["failed"] == 0).all() and (equal["failed"] == 0).all()


def test_stored_confidence_carries_nothing_to_unseen_questions():
    whole, few = (stored(name).set_index(["way", "dataset"]) for name in ("confidence", "few"))
    assert {WINNER, STATED, SHUFFLED} == set(whole.index.get_level_values("way"))
    with_it = whole.loc[STATED]
    assert (with_it["difference"] > -2 * with_it["difference_se"]).all()
    in_few = few.loc[STATED]
    t = in_few["difference"] / in_few["difference_se"]
    assert t["chatbot_arena"] < -2 and t["in_house"] > 2 and abs(t["ultrafeedback"]) < 2
    judges = stored("judges").dropna()
    assert (judges["share_far"] - judges["share_close"]).median() > 0.05


def test_the_figures_show_every_setting_and_judge():
    table, judges = stored("strength"), stored("judges")
    left, right = plots.strength(table, "t").axes
    assert [text.get_text() for text in left.get_yticklabels()] == list(dict.fromkeys(table["setting"]))
    assert len(right.containers) == 3
    drawn_judges = sum(len(axes.get_yticklabels()) for axes in plots.use_of_confidence(judges, "t").axes)
    assert drawn_judges == judges["share_far"].notna().sum()


def test_a_stored_setting_comes_out_again():
    name, cfg = EXTREMES, composed("graded")
    settings = {"how": asdict(ANSWERED[name]), "level": cfg.level}
    seeds = (generator(cfg.seed, "graded", name, r) for r in range(cfg.replications))
    records = [graded_answers.answered_once(settings, rng) for rng in seeds]
    rows = graded_answers.answered(pd.DataFrame(records), name)
    table = stored("strength").set_index(["way", "setting"])
    for row in rows:
        for column, value in row.items():
            if isinstance(value, float):
                relative = TOLERANCES["monte_carlo"].relative
                assert table.loc[(row["way"], name), column] == pytest.approx(value, rel=relative)


SHRUNK = name_of(ranked_answers.WAYS, ("position_aware", True, False))


@pytest.fixture(scope="module")
def stored_rankings():
    return pd.read_csv(ROOT / "results/beyond/rankings/fits.csv").set_index(["setting", "way"])


def made(how: Ranking, seed: int = 1):
    return ranked_answers.drawn(np.random.default_rng(seed), how)


def test_rankings_of_two_are_their_pairs():
    how = Ranking(2, n_rankings=600)
    one, other = (fit(make(*made(how), how)[0], "position_aware") for make in (in_stages, pairs))
    assert_allclose(one.scores, other.scores, atol=1e-9)
    assert one.log_likelihood == pytest.approx(other.log_likelihood)


@pytest.mark.parametrize(
    "how", [Ranking(4, n_rankings=30), Ranking(4, best=1, n_rankings=30), Ranking(5, best=2, n_rankings=30)]
)
def test_both_hold_the_same_pairs(how):
    judge, shown, order = made(how)
    (one, of_one), (other, of_other) = (make(judge, shown, order, how) for make in (in_stages, pairs))
    assert one.n_comparisons == pytest.approx(other.n_comparisons)
    wins = np.zeros((2, 8, 8))
    np.add.at(wins[0], (one.first, one.second), one.choices * one.won)
    np.add.at(wins[0], (one.second, one.first), one.choices * one.lost)
    np.add.at(wins[1], (other.first, other.second), other.outcome)
    np.add.at(wins[1], (other.second, other.first), 1 - other.outcome)
    assert_allclose(*wins)
    assert set(of_one) == set(of_other) == set(range(30))
    assert (one.judge == judge[of_one]).all() and (other.judge == judge[of_other]).all()


def test_judges_rank_by_the_model():
    """The best of three equals its probability, and a judge without discrimination goes by place."""
    how = Ranking(3, n_rankings=60_000, discrimination=(1.0,), equal=True)
    _, _, order = made(how)
    places = np.exp(-ranked_answers.POSITION[0] * np.arange(3))
    assert_allclose(np.bincount(order[:, 0]) / 60_000, places / places.sum(), atol=0.01)
    _, shown, order = made(replace(how, equal=False, discrimination=(50.0,)))
    assert (np.diff(np.take_along_axis(shown, order, axis=1), axis=1) > 0).all()


def test_mean_ranks_of_rankings_without_error_are_in_order():
    shown = np.array([[2, 0, 1], [5, 4, 3], [0, 7, 6]])
    found = mean_ranks(shown, np.argsort(shown, axis=1))
    assert_allclose(found, [0, -1, -2, 0, -1, -2, -1, -2])


def test_a_stored_setting_of_rankings_comes_out_again(stored_rankings):
    few = Ranking(4, n_rankings=60, discrimination=ranked_answers.AT_RANDOM, variants=ranked_answers.SHRUNK)
    name, cfg = name_of(RANKED, few), composed("rankings")
    settings = {"how": asdict(RANKED[name]), "level": cfg.level}
    seeds = (generator(cfg.seed, "rankings", name, r) for r in range(cfg.replications))
    rows = rows_by_way(pd.DataFrame([ranked_once(settings, rng) for rng in seeds]), name)
    for row in rows:
        for column, value in row.items():
            if isinstance(value, float):
                expected = pytest.approx(value, rel=TOLERANCES["monte_carlo"].relative)
                assert stored_rankings.loc[(name, row["way"])][column] == expected


def test_stored_rankings_are_as_is_said(stored_rankings):
    ways = {way: stored_rankings.xs(way, level="way") for way in ("whole", "pairs", SHRUNK, MEAN_RANKS)}
    ours, broken = ways["whole"], ways["pairs"]
    assert ((ours["covered_plug_in"] - 0.95).abs() <= 3 * ours["covered_plug_in_se"]).all()
    several = broken.drop("2 answers")
    assert (several["covered_plug_in"] + 2 * several["covered_plug_in_se"] < 0.95).all()
    assert (several["covered_clustered"] > 0.92).all()
    assert ((broken["stretch"] - 1).abs() < 0.02).all()
    full = ours.loc[["2 answers", "3 answers", "4 answers", "6 answers"], "pairs_worth"]
    assert full.is_monotonic_increasing and ours.loc["best of 4", "pairs_worth"] < 1
    weighted, by_ranks = (ways[way]["tau"] for way in (SHRUNK, MEAN_RANKS))
    error = ways[MEAN_RANKS]["tau_se"].loc[weighted.index] + ways[SHRUNK]["tau_se"]
    assert (weighted - by_ranks.loc[weighted.index] > 2 * error).all()
    equal = pd.read_csv(ROOT / "results/beyond/rankings/equal.csv").set_index("way").loc[SHRUNK]
    assert (equal["separated_plug_in"] <= 0.05).all() and (equal["separated_clustered"] <= 0.05).all()
    assert (stored_rankings["fitted"] == 1).all()


def test_the_section_runs_small(tmp_path):
    done = run("rankings", tmp_path, "replications=2", f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    tables = [pd.read_csv(tmp_path / f"results/beyond/rankings/{name}.csv") for name in ("fits", "equal")]
    assert [*dict.fromkeys(pd.concat(tables)["setting"])] == list(RANKED)
    assert (tmp_path / "figures/beyond/rankings/rankings.png").is_file()


def test_the_figure_shows_every_setting(stored_rankings):
    left, middle, right = plots.ranked_answers(stored_rankings.reset_index(), "t").axes
    assert [text.get_text() for text in left.get_yticklabels()] == list(
        stored_rankings.xs("pairs", level="way").index
    )
    assert len(middle.containers) == len(right.containers) == 3


def test_the_example_runs(capsys):
    page = (ROOT / "docs/beyond/rankings.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "rankings.md", "exec"), {})
    assert "'x':" in capsys.readouterr().out


# Sets with ties of several kinds: as many as their titles say, and the same limit whatever the seed.


DESIGNS = {
    name: design
    for name, design in OmegaConf.load(ROOT / "conf/defaults.yaml").designs.items()
    if "tie_kind" in design
}


@pytest.mark.parametrize("name", DESIGNS)
def test_as_many_answers_are_ties_as_the_title_says(name):
    design = DESIGNS[name]
    answers = tied_answers(design.tie_kind, tuple(design.tie_sizes), SPACED, 20_000, generator(1, name))
    assert answers.share_of_ties == pytest.approx(int(design.title.split("%")[0]) / 100, abs=0.02)


def test_the_limit_is_that_of_many_answers():
    sizes = (1.7,) * 4
    answers = tied_answers("threshold", sizes, SPACED, 100_000, generator(2, "limit"))
    assert_allclose(limit("threshold", sizes, "btl"), scale_of(fit(answers, "btl")).scores, atol=0.05)


def test_groups_are_of_equal_models():
    scores = true_order(GROUPS).scores
    assert len(np.unique(scores)) == 2
    assert scores.sum() == pytest.approx(0.0)
