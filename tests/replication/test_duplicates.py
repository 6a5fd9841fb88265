"""Judges that answer alike: shared items, and merging."""

import pandas as pd
import pytest

from judgerank import fit
from judgerank.data.comparisons import Comparisons
from judgerank.data.judgments import Judgments
from replication.datasets import load_judgments
from replication.duplicates import agreement_by_kind, answer_agreement, with_judges_merged
from tests.real_data import needs_data
from tests.replication.test_config import composed

COLUMNS = ["question_id", "model_a", "model_b", "judge_model", "judge_preferred_model"]


def judgments(*rows: tuple) -> Judgments:
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return Judgments("made_up", "Made up", frame, Comparisons.from_frame(frame), {})


ROWS = [
    ("q1", "x", "y", "j", "a"),
    ("q1", "x", "y", "k", "a"),
    ("q1", "x", "y", "j", "b"),  # a second answer of j
    ("q1", "y", "x", "j", "b"),  # another item: the other order
    ("q2", "x", "y", "j", "c"),
    ("q2", "x", "y", "k", "b"),
    ("q3", "x", "y", "j", "a"),
    ("q3", "x", "y", "k", "unknown"),
    ("q3", "x", "y", "l", "a"),
]


def test_agreement_is_over_items_both_judged_first_answers_only():
    found = answer_agreement(judgments(*ROWS), 1).set_index(["judge_1", "judge_2"])
    assert found.loc[("j", "k"), ["shared", "agreement"]].tolist() == [2, 0.5]
    assert found.loc[("j", "l"), ["shared", "agreement"]].tolist() == [1, 1.0]
    assert ("k", "l") not in found.index


def test_pairs_with_too_few_shared_items_are_left_out():
    assert len(answer_agreement(judgments(*ROWS), 2)) == 1
    assert answer_agreement(judgments(*ROWS), 3).empty


def test_a_merged_judge_has_one_vote_an_item():
    merged = with_judges_merged(judgments(*ROWS), ["j", "k"], "both")
    assert merged.judges == ("both", "l")
    rows = sorted(zip(merged.first, merged.second, merged.judge, merged.outcome, strict=True))
    x, y = merged.models.index("x"), merged.models.index("y")
    # q1 in one order: a, a, b; in the other: b; q2: a tie and b; q3: a
    votes = sorted([(x, y, 0, 2 / 3), (y, x, 0, 0.0), (x, y, 0, 0.25), (x, y, 0, 1.0), (x, y, 1, 1.0)])
    assert [row[:3] for row in rows] == [vote[:3] for vote in votes]
    assert [row[3] for row in rows] == pytest.approx([vote[3] for vote in votes])


@needs_data
def test_four_ids_answer_as_one_model_on_mt_bench():
    cfg = composed("judge_reliability")
    loaded = load_judgments(cfg.datasets.mt_bench)
    table = answer_agreement(loaded, cfg.fewest_shared)
    same = table["judge_1"].isin(list(cfg.one_model)) & table["judge_2"].isin(list(cfg.one_model))
    assert same.sum() == 6
    assert table["agreement"][same].min() > 0.97 > 0.92 > table["agreement"][~same].max()
    merged = with_judges_merged(loaded, cfg.one_model, "merged")
    assert len(merged.judges) == 17
    assert fit(merged).ranks.equals(fit(loaded.comparisons).ranks)


def test_shares_of_equal_answers_have_wilsons_interval():
    row = answer_agreement(judgments(*ROWS), 2).iloc[0]
    z = 1.959963984540054
    centre, half = (0.5 * 2 + z**2 / 2) / (2 + z**2), z * (0.25 * 2 + z**2 / 4) ** 0.5 / (2 + z**2)
    assert row[["low", "high"]].tolist() == pytest.approx([centre - half, centre + half], rel=1e-9)


def test_suspected_ids_are_pooled_apart_from_strong_pairs_and_the_rest():
    pairs = pd.DataFrame(
        {
            "dataset": "s",
            "judge_1": ["a", "a", "c"],
            "judge_2": ["b", "c", "w"],
            "shared": [10, 20, 40],
            "agreement": [1.0, 0.75, 0.5],
            "one_model": [True, False, False],
        }
    )
    found = agreement_by_kind(pairs, ["a", "b", "c"]).set_index("kind")
    assert found["agreement"].to_dict() == {
        "other pairs": 0.5,
        "other strong pairs": 0.75,
        "the ids that may be one model": 1.0,
    }
    assert found.at["other strong pairs", "shared"] == 20
