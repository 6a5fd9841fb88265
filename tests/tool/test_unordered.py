"""Where nobody was shown an order, no position is modelled, offered or asked for."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import judgerank
from judgerank import Comparisons, fit, load, rank, read
from judgerank.data.errors import DataError, JudgerankError
from judgerank.ranking.choices import default_member
from judgerank.ranking.diagnosis import examine
from judgerank.ranking.trust_report import trust_report

RATES = {"alpha": 0.8, "beta": 0.53, "gamma": 0.3}


def logs(folder, questions=60, rates=RATES, scorers=("match", "includes")):
    """Logs of inspect_ai, one a model, of random right and wrong answers."""
    rng = np.random.default_rng(0)
    paths = []
    for name, rate in rates.items():
        right = rng.random((questions, len(scorers))) < rate
        samples = [
            {
                "id": q,
                "epoch": 1,
                "scores": {s: {"value": "C" if yes else "I"} for s, yes in zip(scorers, row, strict=True)},
            }
            for q, row in enumerate(right)
        ]
        paths.append(folder / f"{name}.json")
        log = {"version": 2, "status": "success", "eval": {"task": "sums", "model": name}, "samples": samples}
        paths[-1].write_text(json.dumps(log))
    return paths


def test_scores_are_ranked_without_positions(tmp_path):
    found = rank(logs(tmp_path))
    assert not found.judgments.ordered
    assert found.fitted.model.name == "judge_aware"
    assert (
        "Fitted without position bias (judge_aware): the records have no order of presentation." in found.remarks
    )
    assert not any("lean" in remark for remark in found.remarks)
    assert not found.tables["members"]["member"].str.startswith("position").any()
    assert not {"share_a", "position"} & set(found.tables["judges"])
    assert '"ordered": false' in found.to_html().replace('"ordered":false', '"ordered": false')


def test_a_member_with_positions_is_refused_in_a_sentence(tmp_path):
    found = read(logs(tmp_path))
    sentence = (
        "model 'position_aware' needs an order of presentation, and the comparisons have none "
        ".models that do without: btl, "
    )
    for solver in ("newton", "penalised"):
        with pytest.raises(DataError, match=sentence):
            rank(found, model="position_aware", solver=solver)
    with pytest.raises(DataError, match="model 'position_aware_ties' needs an order"):
        fit(found, "position_aware_ties", questions="effects")
    with pytest.raises(DataError, match="block 'category_position' is of the answer shown first"):
        frame = found.frame.assign(category=["one", "two"] * (len(found.frame) // 2))
        fit(replace(found, frame=frame), "judge_aware", blocks=["category_position"])


def test_the_doctor_says_nothing_of_who_was_shown_first(tmp_path):
    said = dict(examine(logs(tmp_path)))
    assert (
        said["order"] == "Fitted without position bias (judge_aware): the records have no order of presentation."
    )
    assert "shown" not in said["answers"]
    assert "position" not in said["ties"]


def test_the_flag_stays_through_what_is_made_of_comparisons(tmp_path):
    c = read(logs(tmp_path)).comparisons
    made = [c.aggregate(), c.pool_judges(), c.take(np.arange(9)), c.with_judges(c.judges[:1]), c.with_ties()]
    made += [c.without_ties(), c.extended(c.without_ties().to_frame())]
    assert not any(one.ordered for one in made)
    path = tmp_path / "fit.npz"
    fit(c).save(path)
    kept = load(path).comparisons
    assert not kept.ordered
    assert default_member([kept])[0] == "judge_aware"


def test_files_with_and_without_an_order_are_read_without_one(tmp_path):
    paths = logs(tmp_path)
    records = [
        {"question_id": f"q{n}", "model_a": "gamma", "model_b": "alpha", "judge": "j", "winner": "b"}
        for n in range(3)
    ]
    (tmp_path / "mine.json").write_text(json.dumps(records))
    found = read([*paths, tmp_path / "mine.json"])
    assert not found.ordered
    assert any("Some files do not say which model was shown first (inspect_ai" in said for said in found.remarks)
    mine = found.frame[found.frame["judge_model"] == "j"]
    assert set(mine["model_a"]) == {"alpha"}
    assert set(mine["judge_preferred_model"]) == {"a"}


def test_a_board_with_positions_takes_no_newcomers_without_an_order(tmp_path):
    rng = np.random.default_rng(1)
    first, second = np.array([(i, j) for i in range(3) for j in range(3) if i != j] * 30).T
    board = fit(
        Comparisons(("x", "y", "z"), ("match",), first, second, first * 0, rng.random(len(first)) < 0.5 * 1.0),
        "position_aware",
    )
    given = read(logs(tmp_path, rates={"x": 0.5, "new": 0.5}, scorers=("match",))).comparisons
    with pytest.raises(
        JudgerankError, match="the board's model 'position_aware' needs an order of presentation, and these"
    ):
        judgerank.place(board, given)


def test_scorers_that_agree_everywhere_give_true_errors_and_no_warnings(tmp_path):
    """Two judges who answer as one do not differ at all, which says nothing of the scores."""
    one = read(logs(tmp_path, scorers=("match",)))
    twice = [one.frame, one.frame.assign(judge_model="includes")]
    both = judgerank.rank(replace(one, **_with(twice)), model="judge_aware", solver="newton")
    alone = judgerank.rank(one, model="judge_aware", solver="newton")
    ends = ["score", "low", "high", "rank_low", "rank_high"]
    np.testing.assert_allclose(
        both.tables["leaderboard"][ends].to_numpy(float),
        alone.tables["leaderboard"][ends].to_numpy(float),
        rtol=1e-6,
    )
    assert (both.tables["judges"][["low_discrimination", "high_discrimination"]].round(6) == 1).all(axis=None)
    both.to_html()
    assert "the 2 judges carry as much information as 1.0 independent judges" in str(trust_report(both.judgments))


def _with(frames):
    from judgerank.reading.from_tables import comparisons_of

    frame = pd.concat(frames, ignore_index=True)
    return {"frame": frame, "comparisons": comparisons_of(frame, ordered=False)}
