"""Rankings of boards of scores: by the sizes of differences, with closed forms for complete tables."""

import json
from itertools import combinations
from itertools import pairwise as pairwise_in

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, nct, t, ttest_rel

from judgerank import load, pairwise, rank, read
from judgerank.inference.winners_lead import corrected_lead
from judgerank.ranking.choices import Settings
from judgerank.ranking.score_boards import fewest_to_change
from judgerank.ranking.trust_report import trust_report
from tests.forked import judgerank

RNG = np.random.default_rng(1)
MODELS, TASKS = [f"m{number}" for number in range(5)], [f"t{number}" for number in range(14)]
SCORES = pd.DataFrame(
    50 + np.array([6.0, 4, 2, 0, -3])[:, None] + RNG.normal(0, 4, 14) + RNG.normal(0, 4, (5, 14)), MODELS, TASKS
)


def long(scores=SCORES, **columns):
    frame = scores.rename_axis("model").reset_index().melt("model", var_name="task", value_name="score")
    return frame.dropna().assign(**columns)


def with_holes(scores=SCORES):
    return scores.mask(np.random.default_rng(3).random(scores.shape) < 0.15)


def holm(p):
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.sort(p) * np.arange(len(p), 0, -1)))
    return adjusted


RANKED = rank(long())


def test_a_pair_of_a_complete_table_has_its_paired_t_test():
    pairs, unit = RANKED.pairs, RANKED.fit.errors.sizes.unit
    assert pairs["test"].isin(["paired_t", "implied"]).all()
    expected = [
        ttest_rel(SCORES.loc[a], SCORES.loc[b]) for a, b in zip(pairs["first"], pairs["second"], strict=True)
    ]
    of_pair = pairs["test"] == "paired_t"
    p = np.array([test.pvalue for test in expected])
    assert np.allclose(pairs["p_value"][of_pair], p[of_pair], rtol=1e-9)
    assert np.allclose(pairs["p_holm"][of_pair], holm(p)[of_pair], rtol=1e-9)
    ends = np.array([test.confidence_interval() for test in expected])
    assert np.allclose(pairs[["low", "high"]] / unit, ends)


def test_all_that_is_ranked_follows_the_means():
    means = SCORES.mean(axis=1).sort_values(ascending=False)
    board, table = RANKED.leaderboard, RANKED.tables["mean_scores"].set_index("model")
    assert list(RANKED) == list(means.index) == list(RANKED.fit.ranks.sort_values().index)
    assert np.allclose(table["above_mean"], means - means.mean())
    assert np.allclose(board.set_index("model")["score"], RANKED.fit.errors.sizes.unit * table["above_mean"])
    assert np.allclose(board["above_mean"], table["above_mean"])
    assert board["win_rate"].is_monotonic_decreasing
    better = RANKED.pairs[RANKED.pairs["separated"]]
    assert board.set_index("model")["rank_low"].to_dict() == {
        model: 1 + int((better["second"] == model).sum()) for model in means.index
    }
    assert {*RANKED.tables} == {"leaderboard", "judges", "pairs", "next", "mean_scores"}


def test_right_and_wrong_is_tested_by_mcnemar_exactly():
    right = SCORES.gt(SCORES.stack().median())
    for _, pair in rank(long(right.astype(int))).pairs.iterrows():
        first, second = right.loc[pair["first"]], right.loc[pair["second"]]
        wins, losses = int((first & ~second).sum()), int((second & ~first).sum())
        expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert pair["test"] == "implied" or pair["p_value"] == pytest.approx(expected, rel=1e-9)


def test_a_difference_that_is_the_same_on_every_task_is_no_surer_than_their_signs():
    scores = SCORES.iloc[:, :4].round()
    scores.loc["m1"] = scores.loc["m0"] + 2
    pairs = rank(long(scores)).pairs.set_index(["first", "second"])
    assert pairs.loc[("m1", "m0"), "p_value"] == pytest.approx(2 * 0.5**4)


def test_a_complete_part_of_the_tasks_is_least_squares_with_holes():
    """Tasks that one pair alone has tell nothing of the others, and all of the pair."""
    scores = SCORES.iloc[:2].copy()
    fitted = rank(long(with_holes()).pipe(lambda frame: frame[frame["model"].isin(["m0", "m1"])])).fit.errors.sizes
    both = with_holes().loc[scores.index].dropna(axis=1)
    gap = both.loc["m0"] - both.loc["m1"]
    assert fitted.scores[0] - fitted.scores[1] == pytest.approx(gap.mean())
    assert fitted.errors[0, 1] == pytest.approx(gap.std() / np.sqrt(len(gap)))
    assert fitted.degrees[0, 1] == pytest.approx(len(gap) - 1)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.sample(frac=1, random_state=2),
        lambda frame: frame.assign(score=3 * frame["score"] - 70),
        lambda frame: frame.assign(score=frame["score"] + frame["task"].str[1:].astype(float)),
        lambda frame: pd.concat([frame.assign(grader=name) for name in "gh"]),
        lambda frame: pd.concat([frame.assign(epoch=number) for number in range(3)]),
    ],
)
def test_tests_do_not_depend_on_the_form(change, holes):
    frame = long(with_holes() if holes else SCORES)
    key = ["first", "second"]
    before, after = (rank(part).pairs.set_index(key)["p_holm"] for part in (frame, change(frame)))
    assert np.allclose(before, after[before.index], rtol=1e-6)


def test_intervals_of_tables_with_holes_cover():
    rng, covered = np.random.default_rng(5), []
    for _ in range(60):
        s = rng.normal(0, 1, 4)
        scores = pd.DataFrame(s[:, None] + rng.normal(0, 2, 10) + rng.standard_t(4, (4, 10))).set_axis(MODELS[:4])
        sizes = rank(long(scores.mask(rng.random(scores.shape) < 0.1)), few=0).fit.errors.sizes
        i, j = np.triu_indices(4, 1)
        reach = t.ppf(0.975, sizes.degrees[i, j]) * sizes.errors[i, j]
        covered += (np.abs((sizes.scores[i] - sizes.scores[j]) - (s[i] - s[j])) <= reach).tolist()
    assert 0.91 <= np.mean(covered) <= 0.99


def test_clusters_of_tasks_are_what_was_sampled():
    frame = long().assign(category=lambda part: "suite " + (part["task"].str[1:].astype(int) % 5).astype(str))
    result = rank(frame, cluster="category")
    sizes = SCORES.T.groupby(np.arange(14) % 5).size().to_numpy()
    assert result.fit.errors.sizes.n_clusters == 5
    assert (result.fit.errors.sizes.degrees <= 4).all()
    assert len({*sizes}) > 1
    assert result.sampled_by == "category"


def test_a_named_model_ranks_by_signs():
    assert rank(long(), model="btl").fit.errors.sizes is None


def test_models_with_a_single_task_are_ranked_by_signs():
    """Nothing tells the error of a mean of one task."""
    scores = SCORES.copy()
    scores.loc["m4", TASKS[1:]] = np.nan
    result = rank(long(scores))
    assert result.fit.errors.sizes is None
    assert any("not by how much" in remark for remark in result.remarks)


def test_votes_are_not_scores():
    votes = pd.DataFrame({"model_a": list("xxyz") * 20, "model_b": list("yzzx") * 20, "winner": list("abab") * 20})
    assert rank(votes).fit.errors.sizes is None


def test_the_fewest_tasks_that_change_the_first_are_found():
    times, rival = fewest_to_change(RANKED.fit.errors.sizes)

    def changes(left):
        return (SCORES[list(left)].mean(axis=1).idxmax()) != "m0"

    if times <= 4:
        assert any(changes({*TASKS} - {*some}) for some in combinations(TASKS, times))
    assert not any(changes({*TASKS} - {*some}) for some in combinations(TASKS, min(times - 1, 3)))
    assert RANKED.fit.comparisons.models[rival] != "m0"


SMALL = pd.DataFrame(  # x leads y by 4, 3, 2, -2 and -2
    [[9, 9, 9, 2, 3], [5, 6, 7, 4, 5], [1, 1, 1, 1, 1]], list("xyz"), [f"q{q}" for q in range(5)]
)


def test_trust_of_scores_goes_by_the_fit_that_ranks_them():
    report = trust_report(read(long(SMALL)))
    np.testing.assert_allclose(report.fitted.scores, rank(long(SMALL)).fit.scores)
    changes = report.fragility.changes
    assert {*changes["by"]} == {"tasks"} and changes["total"].eq(5).all()
    found = changes[["change", "first", "second", "size"]].fillna(0).to_numpy().tolist()
    assert found == [["top", "x", "y", 2], ["swap", "x", "y", 2], ["swap", "y", "z", 0]]
    assert {*report.records().query("set == 1")["question_id"]} == {"q0", "q1"}
    text = str(report)
    assert "Removing 2 of 5 tasks (40%) would put y first. Fewer would not." in text
    assert "The tasks whose removal changes the leader: q0, q1" in text
    assert "not sought for scores" in text and "--model judge_aware" in text
    assert "--model btl" in str(trust_report(read(long(SMALL)), Settings(model="btl")))


def test_trust_of_scores_leaves_each_judge_out():
    """Two judges for whom x is better, and one for whom y is by more."""
    opposite = SMALL.set_axis(["y", "x", "z"]).add([9, 0, 0], axis="index")
    by_name = {"a": SMALL, "b": SMALL + 1, "c": opposite}
    report = trust_report(read(pd.concat([long(scores, judge=name) for name, scores in by_name.items()])))
    by_judge = report.fragility.judges.set_index("judge")
    assert report.fitted.scores.idxmax() == "y" and by_judge["top"].to_dict() == {"a": "y", "b": "y", "c": "x"}
    top = report.fragility.changes.query("change == 'top' and by == 'judges'").iloc[0]
    assert top["size"] == 1 and top["second"] == "x"
    assert "Without c, x is first." in str(report)


def test_trust_of_scores_with_holes_says_that_it_does_not_search():
    report = trust_report(read(long(SMALL).drop(index=0)))
    assert report.fragility.changes["size"].isna().all()
    assert "where every model has a score on every task" in str(report)


def test_a_saved_board_is_the_same(tmp_path):
    RANKED.fit.save(tmp_path / "board.fit")
    again = load(tmp_path / "board.fit")
    pd.testing.assert_frame_equal(pairwise(again), pairwise(RANKED.fit))


def test_the_command_says_so(tmp_path):
    SCORES.rename_axis("model").to_csv(tmp_path / "board.csv")
    said = judgerank("rank", "board.csv", "--json", cwd=tmp_path)
    report = json.loads(said.stdout)
    assert 0 < report["corrected_lead"] < RANKED.fit.errors.sizes.scores[0] - RANKED.fit.errors.sizes.scores[1]
    assert any("14 tasks" in note and "paired t" in note for note in report["notes"])
    assert "14 tasks" in judgerank("rank", "board.csv", "-o", "again", cwd=tmp_path).stdout
    assert [row["model"] for row in report["tables"]["mean_scores"]] == [
        row["model"] for row in report["leaderboard"]
    ]


def test_the_plan_is_in_tasks_with_the_power_of_the_paired_t_test(tmp_path):
    SCORES.rename_axis("model").to_csv(tmp_path / "board.csv")
    (row,) = json.loads(judgerank("plan", "board.csv", "--pair", "m2", "m0", "--json", cwd=tmp_path).stdout)[
        "plan"
    ]
    gap = SCORES.loc["m0"] - SCORES.loc["m2"]
    assert (row["first"], row["more"]) == ("m0", max(row["tasks"] - len(gap), 0))

    def power(n):
        return nct.sf(t.ppf(0.975, n - 1), n - 1, gap.mean() / gap.std() * np.sqrt(n))

    assert power(row["tasks"]) >= 0.8 > power(row["tasks"] - 1)
    neighbours = json.loads(judgerank("plan", "board.csv", "--json", cwd=tmp_path).stdout)["plan"]
    assert [(part["first"], part["second"]) for part in neighbours] == [*pairwise_in(list(RANKED))]


def test_a_plan_for_scores_refuses_what_is_about_judgments(tmp_path):
    SCORES.rename_axis("model").to_csv(tmp_path / "board.csv")
    assert judgerank("plan", "board.csv", "--by-judges", "2", cwd=tmp_path).returncode == 2
    assert "comparisons" in judgerank("plan", "board.csv", "--model", "judge_aware", cwd=tmp_path).stdout


def test_the_lead_of_a_model_that_was_picked_is_not_overstated():
    """Over boards of normal true scores the corrected lead is right on average, and the observed one is not."""
    rng, observed, corrected, true = np.random.default_rng(11), [], [], []
    for _ in range(4000):
        s = rng.normal(0, 1, 12)
        x = s + rng.normal(0, 1, 12)
        x -= x.mean()
        first, second = np.argsort(-x)[:2]
        observed.append(x[first] - x[second])
        true.append(s[first] - s[second])
        corrected.append(corrected_lead(x, np.eye(12) - 1 / 12))
    error = np.std(np.subtract(corrected, true)) / np.sqrt(len(true))
    assert abs(np.mean(corrected) - np.mean(true)) < 3 * error
    assert np.mean(observed) - np.mean(true) > 10 * error
    assert corrected_lead(np.array([1.0, 0, -1]), np.eye(3)) is None


def test_trust_says_that_it_goes_by_sizes(tmp_path):
    SCORES.rename_axis("model").to_csv(tmp_path / "board.csv")
    notes = json.loads(judgerank("trust", "board.csv", "--most", "1", "--json", cwd=tmp_path).stdout)["notes"]
    assert any("judgerank rank" in note for note in notes)


def test_graders_of_one_instrument_keep_its_units_and_others_their_shares():
    graded = pd.concat([long(grader="g"), long(SCORES.clip(lower=SCORES.min().min() + 2), grader="h")])
    assert rank(graded).fit.errors.sizes.scores.max() > 1
    scaled = pd.concat([long(grader="g"), long(10 * SCORES, grader="h")])
    shares, alone = (rank(frame).fit.errors.sizes for frame in (scaled, long()))
    assert not shares.is_in_units
    assert np.allclose(shares.scores, alone.scores / np.ptp(SCORES))


def test_graders_of_few_tasks_are_graders_of_their_own():
    """Under one label for all of them, two who score other models of the same task would seem one with gaps."""
    few = long(SCORES.iloc[:3, :2], grader="h"), long(SCORES.iloc[2:, :2], grader="k")
    ranked = rank(pd.concat([long(grader="g"), *few]))
    assert ranked.judgments.few_judges
    assert ranked.fit.errors.sizes is not None


def test_models_of_the_same_mean_are_level():
    """Sums of the same scores in another order differ in their last digits."""
    scores = SCORES.round(1)
    scores.loc["m1"] = scores.loc["m0"].to_numpy()[::-1]
    ranked = rank(long(scores))
    first, second = ranked.leaderboard["score"].iloc[:2]
    assert first == second
    assert "same mean score" in str(ranked)
