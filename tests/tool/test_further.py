"""`judgerank rank --block`: a ranking by the fit with what judges do besides judging quality."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import fit, rank, read
from judgerank.data.errors import ConfigError
from judgerank.model.members import MODELS
from judgerank.ranking.studies.position_bias import leaning, on_positions
from tests.library.test_blocks import drawn
from tests.tool.command import judgerank


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    records = drawn(2, length=0.6)
    frame = records.comparisons.to_frame()
    extra = records.frame[["question_id", "category", "length_a", "length_b"]]
    return pd.concat([frame, extra], axis=1).assign(text_a="an answer", text_b="another", alone_a=1.0)


def test_the_ranking_is_by_the_fit_with_the_blocks_and_the_one_without_stands_beside_it(table):
    plain = rank(table)
    ranking = rank(table, blocks=["style:length", "category"])
    assert [block.name for block in ranking.fitted.blocks] == ["style", "category"]
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
    assert "Block style" in told and "by question p" in told and "Scores with and without these effects" in told
    page = ranking.to_html()
    assert "What judges do besides judging quality" in page and "What judges do besides" not in plain.to_html()


def test_a_block_without_a_test_by_question_says_what_its_test_assumes(table):
    turned = table[table["category"] == "x"].rename(columns={"model_a": "model_b", "model_b": "model_a"})
    mixed = pd.concat([table[table["category"] != "x"], turned], ignore_index=True)
    for cluster, said in (("question", True), ("none", True), ("effects", False)):
        remarks = rank(mixed, blocks=["category"], cluster=cluster).remarks
        (told,) = (text for text in remarks if text.startswith("Block category"))
        assert ("judgments of one question taken as independent" in told) == said
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
    (told,) = (text for text in ranking.remarks if "position bias" in text)
    assert [told] == on_positions(found, 0.95) and "(tested by question, p = " in told


def test_where_question_effects_are_zero_all_else_is_said_of_the_fit_with_the_blocks(table):
    alone = table.assign(question_id=np.arange(len(table)) % 40)  # judgments that share nothing
    asked = {"model": "position_aware_ties", "blocks": ["style:length"]}
    with_effects, without = rank(alone, cluster="effects", **asked), rank(alone, **asked)
    assert with_effects.fitted.effects is None
    added = [text for text in with_effects.remarks if text not in without.remarks]
    assert len(added) == 1 and added[0].startswith("Question effects: none")
    assert set(without.remarks) <= set(with_effects.remarks)


def test_blocks_whose_fit_has_no_intervals_are_left_out_and_the_ranking_says_so(table, monkeypatch):
    monkeypatch.setattr("judgerank.inference.uncertainty.MOST_PARAMETERS", 3)
    ranking = rank(table, blocks=["style:length"])
    assert not ranking.fitted.blocks and "adjusted" not in ranking.tables
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
    assert "Question effects" in said and "Block style" in said
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
        assert_allclose(counted.to_frame()[name], written.to_frame()[name], rtol=1e-6)
