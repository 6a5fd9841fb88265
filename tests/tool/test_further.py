"""`judgerank rank --block`: a ranking by the fit with what judges do besides judging quality."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import fit, rank, read
from judgerank.data.errors import ConfigError
from judgerank.model.members import MODELS
from judgerank.ranking.diagnosis import examine
from judgerank.ranking.studies import prediction
from judgerank.ranking.studies.by_judge import BY_JUDGE
from judgerank.ranking.studies.coverage import far_from_the_rest
from judgerank.ranking.studies.estimation import WHICH_FIT
from judgerank.ranking.studies.panel import UNBOUNDED
from judgerank.ranking.studies.position_bias import leaning, on_positions
from judgerank.ranking.studies.prediction import KEEP
from judgerank.ranking.verdict import verdict
from tests.forked import judgerank
from tests.library.test_blocks import drawn


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    records = drawn(2, length=0.6)
    frame = records.comparisons.to_frame()
    extra = records.frame[["question_id", "category", "length_a", "length_b"]]
    return pd.concat([frame, extra], axis=1).assign(text_a="an answer", text_b="another", alone_a=1.0)


def test_the_ranking_is_by_the_fit_with_the_blocks_and_the_one_without_stands_beside_it(table):
    plain = rank(table)
    ranking = rank(table, blocks=["style:length", "category"])
    assert [block.name for block in ranking.fit.blocks] == ["style", "category"]
    own = ranking.tables["leaderboard"].set_index("model")
    blocks, adjusted = ranking.tables["blocks"], ranking.tables["adjusted"]
    row = blocks.set_index("block").loc["style"]
    assert row["parameter"] == "length" and row["low"] > 0
    assert set(adjusted["category"]) == {"all", "x", "y", "z"}
    every = adjusted[adjusted["category"] == "all"].set_index("model")
    assert every["score"].is_monotonic_decreasing
    board = plain.tables["leaderboard"].set_index("model")
    np.testing.assert_allclose(every["score"], own.loc[every.index, "score"])
    np.testing.assert_allclose(every[["low", "high"]], own.loc[every.index, ["low", "high"]])
    assert (every["rank"] == own.loc[every.index, "rank"]).all()
    np.testing.assert_allclose(every["score_without"], board.loc[every.index, "score"])
    assert (every["rank_without"] == board.loc[every.index, "rank"]).all()
    # longer answers are better models' here, and some of their lead was for length
    assert every["score"].std() < every["score_without"].std()
    assert (adjusted["rank_low"] <= adjusted["rank"]).all() and (adjusted["rank"] <= adjusted["rank_high"]).all()
    told = " ".join(ranking.remarks)
    assert "Block style" in told and "by question p" in told and re.search(r"\bcorrelate at \d\.\d+", told)
    page = ranking.to_html()
    assert 'id="further-head"' in page and 'id="further-head"' not in plain.to_html()


def test_a_block_without_a_test_by_question_says_what_its_test_assumes(table):
    turned = table[table["category"] == "x"].rename(columns={"model_a": "model_b", "model_b": "model_a"})
    mixed = pd.concat([table[table["category"] != "x"], turned], ignore_index=True)
    for cluster, said in (("question", True), ("none", True), ("effects", False)):
        remarks = rank(mixed, blocks=["category"], cluster=cluster).remarks
        (told,) = (text for text in remarks if text.startswith("Block category"))
        assert ("independent" in told) == said
        assert "by question p" not in told


@pytest.mark.parametrize(
    "asked", [{"blocks": ["style:length"]}, {"cluster": "effects"}, {"blocks": ["category"], "cluster": "effects"}]
)
def test_position_bias_is_tested_between_fits_that_differ_in_positions_alone(table, asked):
    """Where the fit that ranks has none, whatever else it has."""
    ranking = rank(table, model="btl_ties", **asked)
    data = ranking.judgments.comparisons
    smaller, larger = fit(data, "btl_ties"), fit(data, MODELS["btl_ties"].counterpart())
    found = leaning(smaller, lambda _: larger, 0.95, (data, ranking.judgments.question))
    (told,) = (text for text in ranking.remarks if "bias (" in text)
    assert [told] == on_positions(found, 0.95) and "(tested by question, p = " in told


def test_where_question_effects_are_zero_all_else_is_said_of_the_fit_with_the_blocks(table):
    alone = table.assign(question_id=np.arange(len(table)) % 40)  # judgments that share nothing
    asked = {"model": "position_aware_ties", "blocks": ["style:length"]}
    with_effects, without = rank(alone, cluster="effects", **asked), rank(alone, **asked)
    assert with_effects.fit.effects is None
    added = [text for text in with_effects.remarks if text not in without.remarks]
    assert len(added) == 1 and "(sigma is" in added[0]
    assert set(without.remarks) <= set(with_effects.remarks)


def test_blocks_whose_fit_has_no_intervals_are_left_out_and_the_ranking_says_so(table, monkeypatch):
    monkeypatch.setattr("judgerank.inference.uncertainty.MOST_PARAMETERS", 3)
    ranking = rank(table, blocks=["style:length"])
    assert not ranking.fit.blocks and "adjusted" not in ranking.tables
    assert "Further blocks (style:length) are left out: the fit with them has no intervals." in ranking.remarks


def test_only_numbers_of_both_answers_are_kept(table):
    kept = rank(table).judgments.frame.columns
    assert {"length_a", "length_b"} <= set(kept)
    assert not {"text_a", "text_b", "alone_a"} & set(kept)


def test_the_command_writes_its_tables(table, tmp_path):
    table.to_csv(tmp_path / "judgments.csv", index=False)
    done = judgerank("rank", "judgments.csv", "--block", "style:length", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(pd.read_csv(tmp_path / "out/blocks.csv")["block"]) == ["style"]
    assert len(pd.read_csv(tmp_path / "out/adjusted.csv")) == 5
    assert '"style:length"' in (tmp_path / "out/run.json").read_text()


@pytest.mark.parametrize("solver", ["newton", "penalised"])
def test_the_command_ranks_by_blocks_question_effects_and_shrinkage_together(table, tmp_path, solver):
    table.to_csv(tmp_path / "judgments.csv", index=False)
    asked = ["--block", "style:length", "--cluster", "effects", "--solver", solver]
    done = judgerank("rank", "judgments.csv", *asked, "--verbose", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "sigma" in said and "Block style" in said
    fitted = fit(
        read(tmp_path / "judgments.csv"),
        "position_aware_ties",
        solver,
        blocks=["style:length"],
        questions="effects",
        merge_copies=True,
    )
    board = pd.read_csv(tmp_path / "out/leaderboard.csv").set_index("model")
    reported = fitted.leaderboard().set_index("model")["score"]
    np.testing.assert_allclose(board["score"], reported[board.index], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--block", "stile"], "there is no block 'stile'"),
        (["--block", "style:words"], "needs a column 'words_a'"),
        (["--block", "style:length", "--solver", "adam"], "style:length goes with solver=newton or penalised"),
    ],
)
def test_bad_blocks_end_in_one_sentence_and_no_folder(table, tmp_path, arguments, message):
    table.to_csv(tmp_path / "judgments.csv", index=False)
    done = judgerank("rank", "judgments.csv", *arguments, "-o", "out", cwd=tmp_path)
    assert done.returncode == 1 and message in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_fitted_is_said_and_the_ranking_stands(table):
    sure = table.assign(sure_a=(table["judge_preferred_model"] == "a") * 1.0)
    sure["sure_b"] = (table["judge_preferred_model"] == "b") * 1.0
    ranking = rank(sure, blocks=["style:sure"])
    assert "adjusted" not in ranking.tables
    assert any(
        "Further blocks (style:sure) are left out: the likelihood has no maximum" in x for x in ranking.remarks
    )


def test_settings_are_looked_at_before_anything_is_read():
    with pytest.raises(ConfigError, match="there twice"):
        rank("nowhere.csv", blocks=["category", "category"])


def test_records_with_counts_rank_with_blocks_as_if_written_out():
    frame = drawn(1).comparisons.to_frame()
    frame["category"] = np.where(np.arange(len(frame)) % 3, "x", "y")
    counted = rank(frame.assign(n=2), blocks=["category"], columns={"count": "n"}, cluster="none")
    written = rank(pd.concat([frame, frame]), blocks=["category"], cluster="none", copies="keep")
    for name in ("score", "low", "high"):
        assert_allclose(counted.leaderboard[name], written.leaderboard[name], rtol=1e-6)


# What `rank` fits unless told otherwise: shrunk, with the exact fit beside it and a word on which to trust.


def drawn_votes(size: int, gamma=(1.5, 1.0, 0.7), seed: int = 1, length: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n, k = 5, rng.integers(0, len(gamma), size)
    scores = np.linspace(1, -1, n)
    a = rng.integers(0, n, size)
    b = (a + rng.integers(1, n, size)) % n
    x = rng.integers(20, 400, (size, 2))
    z = (x[:, 0] - x[:, 1]) / 150
    eta = np.asarray(gamma)[k] * (scores[a] - scores[b]) + length * z * (k == 0)
    y = rng.random(size) < 1 / (1 + np.exp(-eta))
    return pd.DataFrame(
        {
            "model_a": [f"m{i}" for i in a],
            "model_b": [f"m{i}" for i in b],
            "judge": [f"j{i}" for i in k],
            "winner": np.where(y, "model_a", "model_b"),
            "question": np.arange(size) % 150,
            "length_a": x[:, 0],
            "length_b": x[:, 1],
        }
    )


def which(ranking) -> list[str]:
    return [remark.removeprefix(WHICH_FIT) for remark in ranking.remarks if remark.startswith(WHICH_FIT)]


def test_a_ranking_is_shrunk_and_the_exact_fit_is_in_a_table_beside_it():
    ranking = rank(drawn_votes(600))
    data = ranking.judgments.comparisons
    assert str(ranking.fit.status) == "shrunk"
    np.testing.assert_allclose(ranking.fit.scores, fit(data, "position_aware", shrink=True).scores, atol=1e-8)
    exact = fit(data, "position_aware").leaderboard().set_index("model")
    beside = ranking.tables["exact"].set_index("model")
    np.testing.assert_allclose(beside["score_exact"], exact["score"][beside.index], atol=1e-8)
    assert (beside["rank_exact"] == exact["rank"][beside.index]).all()
    assert any("--solver newton) gives the same order" in remark for remark in ranking.remarks)
    assert which(ranking) == []
    members = ranking.tables["members"].set_index("member")
    assert members.index[members["ranks"]].tolist() == ["position_aware (shrunk)"]
    assert members.loc["position_aware (shrunk)", "log_loss"] > 0


def test_where_a_judge_stands_at_zero_the_shrunk_fit_is_the_one_to_trust():
    table = drawn_votes(900, (1.5, 1.0, -0.8))
    ranking = rank(table)
    (said,) = which(ranking)
    assert said == (
        "Keep the default fit. In the exact fit (--solver newton) the answers of j2 have no weight. This ranking "
        "is not affected, so there is nothing to do."
    )
    assert said not in verdict(ranking).warnings  # a note: there is nothing to do
    assert ranking.tables["judges"].set_index("judge")["verdict"]["j2"] == "contrary"
    ranking = rank(drawn_votes(150, (1.5, 1.0, 0.0), seed=5))  # its interval reaches beyond the median judge
    few = ranking.tables["judges"].set_index("judge")
    assert len(which(ranking)) == 1 and few.loc["j2", "comparisons"] > ranking.settings.few
    assert few.loc["j2", "high_discrimination"] > few["discrimination"].median()
    assert few.loc["j2", "verdict"] == "unclear"
    (other,) = which(rank(table, solver="newton"))
    assert other.startswith("Trust the shrunk fit instead (leave --solver newton out")


def test_an_exact_fit_that_a_warning_advises_against_is_not_advised(monkeypatch, tmp_path):
    monkeypatch.setattr(prediction, "CLEAR", 0.0)  # standard errors: it predicts better by less than one
    table = drawn_votes(1_500, (1.5, 1.0, -0.8))
    table.loc[(table["judge"] != "j2") & (np.arange(1_500) % 3 == 0), "winner"] = "model_a"
    ranking = rank(table)
    (said,) = (remark for remark in ranking.remarks if "held-out" in remark)
    assert re.match(r"position_aware \(exact\) .*\bbetter\b.* position_aware \(shrunk\)", said)
    assert len(which(ranking)) == 1 and "To use it" not in said
    assert KEEP in said
    table.to_csv(tmp_path / "judgments.csv", index=False)
    told = [text for about, text in examine(tmp_path / "judgments.csv") if about == "exact fit"]
    assert ["rank shows the shrunk one unless" in text for text in told] == [True, False]


def test_where_a_judge_runs_off_it_is_said_and_scores_have_intervals():
    table = drawn_votes(400, (0.8, 1.0, 60.0), seed=3)
    ranking = rank(table, model="judge_aware")
    (said,) = which(ranking)
    assert "a parameter of j2 grows without limit" in said
    assert "how much more j2 discriminates than the other judges" in said
    assert ranking.tables["leaderboard"]["low"].notna().all()
    assert ranking.tables["judges"].set_index("judge")["verdict"]["j2"] == UNBOUNDED


def test_a_model_that_always_won_is_ranked_with_a_word_on_it_and_refused_by_the_exact_fit():
    table = drawn_votes(500)
    first = table["model_a"].eq("m0")
    table.loc[first | table["model_b"].eq("m0"), "winner"] = np.where(first, "model_a", "model_b")[
        first | table["model_b"].eq("m0")
    ]
    ranking = rank(table)
    assert ranking.tables["leaderboard"]["model"].iloc[0] == "m0"
    (said,) = which(ranking)
    assert re.match(r".*\bno exact fit \(.*\bm0\b.*\bshrinkage\b", said)
    assert "penalised" not in said and "compare" not in said  # it is shrunk already
    assert "exact" not in ranking.tables


def test_a_judge_who_goes_by_length_is_named_and_one_coefficient_for_all_is_warned_of():
    table = drawn_votes(1500, (1.0, 1.0, 1.0), seed=2, length=1.5)
    ranking = rank(table)
    verdicts = ranking.tables["judges"].set_index("judge")["verdict"]
    assert verdicts["j0"] == "prefers longer answers"
    assert (verdicts[["j1", "j2"]] == "fine").all()
    assert not any(remark.startswith(BY_JUDGE) for remark in ranking.remarks)
    one = rank(table, blocks=["style:length"])
    (said,) = [text for text in verdict(one).warnings if "style_by_judge:length" in text]
    assert said.startswith("Judges differ in length (p < 0.0001), most of all j0")


@pytest.mark.parametrize("solver", ["penalised", "newton"])
def test_judges_of_a_family_are_tested_for_it(solver):
    table = drawn_votes(1500, (1.0, 1.0, 1.0), seed=4)
    named = table.replace({"m0": "gpt-4", "m4": "gpt-3.5-turbo", "j0": "gpt-4"})
    own = (named["judge"] == "gpt-4") & ((named["model_a"] == "gpt-4") | (named["model_b"] == "gpt-4"))
    rng = np.random.default_rng(0)
    favours = np.where(named["model_a"] == "gpt-4", "model_a", "model_b")
    turned = own & (rng.random(len(named)) < 0.8)
    fair = rank(named, solver=solver).tables
    assert "gpt-4" in set(fair["effects"]["judge"])
    assert not fair["judges"]["verdict"].str.startswith("favours").any()
    named.loc[turned, "winner"] = favours[turned]
    named.loc[(named["judge"] != "gpt-4") & (named["model_a"] == "gpt-4"), "winner"] = "model_b"
    named.loc[(named["judge"] != "gpt-4") & (named["model_b"] == "gpt-4"), "winner"] = "model_a"
    found = rank(named, solver="penalised").tables["judges"].set_index("judge")["verdict"]
    assert found["gpt-4"] == "favours its own answers"


def with_a_newcomer(score: float, many: int, seed: int = 1) -> pd.DataFrame:
    """Eleven models about alike, much compared, and one with another score and few comparisons."""
    rng = np.random.default_rng(seed)
    s = np.r_[score, rng.normal(0, 0.5, 11)]
    a = np.r_[rng.integers(1, 12, 1500), np.zeros(many, int)]
    b = np.r_[1 + (a[:1500] - 1 + rng.integers(1, 11, 1500)) % 11, rng.integers(1, 12, many)]
    won = rng.random(len(a)) < 1 / (1 + np.exp(s[b] - s[a]))
    turned = rng.random(len(a)) < 0.5
    names = np.array([f"m{i:02d}" for i in range(12)])
    return pd.DataFrame(
        {
            "question_id": np.arange(len(a)) // 5,
            "model_a": names[np.where(turned, b, a)],
            "model_b": names[np.where(turned, a, b)],
            "judge_model": [f"j{t % 5}" for t in range(len(a))],
            "winner": np.where(won != turned, "model_a", "model_b"),
        }
    )


@pytest.mark.parametrize(("score", "many", "named"), [(3.0, 20, True), (0.0, 20, False), (3.0, 400, False)])
def test_a_model_that_shrinkage_draws_from_far_out_is_named(score, many, named):
    said = " ".join(rank(with_a_newcomer(score, many)).remarks)
    assert ("m00 lies far from the other models" in said) == named


def test_what_comparisons_say_without_shrinkage_decides_who_is_far_out():
    rng = np.random.default_rng(2)
    exact, variance, tau = np.r_[rng.normal(0, 0.5, 30), 4.0], np.r_[np.full(30, 0.01), 0.3], 0.7
    kept = tau**2 / (tau**2 + variance)  # a normal score with a normal prior
    far = far_from_the_rest(kept * exact, np.sqrt(kept * variance), tau)
    assert far.tolist() == [False] * 30 + [True]
    assert not far_from_the_rest(kept * exact, np.full(31, tau), tau).any()  # nothing is known beyond the prior
