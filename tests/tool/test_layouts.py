"""Every layout is told by its columns and read to the comparisons in it; what is unclear is refused."""

import copy
import gzip
import io
import json
import random
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from judgerank import rank, read
from judgerank.cli.plan import Assumption, fitted_to
from judgerank.data.errors import ConfigError, DataError, DataUnavailableError, JudgerankError
from judgerank.reading.layouts import LAYOUTS
from judgerank.reading.read import judgments_of
from tests.forked import judgerank
from tests.tool.test_reading import RECORDS, same, written

# a sample in each layout, as its source writes it

FASTCHAT = [
    {"question_id": 81, "model_1": "x", "model_2": "y", "g1_winner": "model_1", "g2_winner": "model_2"},
    {"question_id": 82, "model_1": "y", "model_2": "z", "g1_winner": "tie", "g2_winner": "model_1"},
    {"question_id": 81, "model_1": "x", "model_2": "z", "g1_winner": "model_2", "g2_winner": "error"},
]
FASTCHAT = [record | {"judge": ["gpt-4", "pair-v2"], "g1_judgment": "[[A]]", "turn": 1} for record in FASTCHAT]
ALPACA_EVAL = [
    {"instruction": "Who?", "generator_1": "x", "generator_2": "y", "annotator": "j", "preference": 1},
    {"instruction": "Why?", "generator_1": "x", "generator_2": "z", "annotator": "j", "preference": 2.0},
    {"instruction": "How?", "generator_1": "y", "generator_2": "z", "annotator": "k", "preference": 1.5},
    {"instruction": "Who?", "generator_1": "y", "generator_2": "z", "annotator": "k", "preference": 1.25},
    {"instruction": "When?", "generator_1": "y", "generator_2": "z", "annotator": "k", "preference": 0},
    {"instruction": "Where?", "generator_1": "y", "generator_2": "z", "annotator": "k", "preference": None},
]


def games(question: str, model: str, one: str | None, other: str | None) -> dict:
    scores = [{"score": one, "judgment": "..."}, {"score": other, "judgment": "..."}]
    return {"uid": question, "model": model, "baseline": "base", "judge": "j", "games": scores}


ARENA_HARD = [
    games("q1", "x", "A>>B", "B>A"),
    games("q2", "x", "B>>A", "A>B"),
    games("q1", "y", "A=B", "A>>B"),
    games("q2", "y", None, "B>>A"),
]
LLMFAO = [
    {"id": 0, "prompt": 8, "left": "x", "right": "y", "winner": "left"},
    {"id": 1, "prompt": 8, "left": "z", "right": "y", "winner": "right"},
    {"id": 2, "prompt": 5, "left": "x", "right": "z", "winner": "tie"},
]
ONE_HOT = [
    {"id": 30, "model_a": "x", "model_b": "y", "winner_model_a": 1, "winner_model_b": 0, "winner_tie": 0},
    {"id": 31, "model_a": "z", "model_b": "y", "winner_model_a": 0, "winner_model_b": 1, "winner_tie": 0},
    {"id": 32, "model_a": "x", "model_b": "z", "winner_model_a": 0, "winner_model_b": 0, "winner_tie": 1},
]
NAMES = [
    {"model_a": "x", "model_b": "y", "winner": "x"},
    {"model_a": "z", "model_b": "y", "winner": "y"},
    {"model_a": "x", "model_b": "z", "winner": "tie"},
]
NUMBERS = [record | {"winner": share} for record, share in zip(NAMES, (1, 0, 0.5), strict=True)]
WIDE = [
    {"question": "q1", "model_a": "x", "model_b": "y", "kim": "a", "gpt": "x", "note": "unclear", "turn": 1},
    {"question": "q2", "model_a": "z", "model_b": "y", "kim": "tie", "gpt": "y", "note": "unknown", "turn": 1},
    {"question": "q3", "model_a": "x", "model_b": "z", "kim": None, "gpt": "x", "note": None, "turn": 1},
]

BATTLES = [
    {"model_a": a, "model_b": b, "winner": winner, "pref": pref, "source": source, "judge_model": judge}
    for a, b, winner, pref, source, judge in [
        ("x", "y", "model_a", 0.25, "llm-judge", "j"),
        ("x", "y", "model_b", 1.0, "llm-judge", "j"),
        ("z", "x", "tie", 0.5, "llm-judge", "j"),
        ("z", "x", "tie", None, "llm-judge", "j"),  # could not be parsed
        ("y", "z", "model_a", 0.0, "human", None),
    ]
]
BATTLES = [
    record | {"question_id": question, "orientation": orientation}
    for record, question, orientation in zip(
        BATTLES,
        ("q1", "q1", "q2", "q2", "q3"),
        ("direct", "reversed", "direct", "reversed", "single"),
        strict=True,
    )
]
REPORT = {
    "schema_version": "1",
    "report_type": "BattleReport",
    "task": "alpaca-eval",
    "model_A": "x",
    "model_B": "y",
    "judge_model": "j",
    "swap_mode": "both",
    "metadata": {"baseline_assignment": "flat"},
    "preferences": [0.25, 0.5, None, 1.0, 0.5, 0.0],
}


def vote(judge: str, *observations: tuple[str, str | None], reconciled: str | None = None) -> dict:
    kept = [{"ordering": order, "repetition": 0, "verdict": verdict} for order, verdict in observations]
    return {"model": judge, "vote": reconciled, "flipped": False, "observations": kept}


def run_of(*entries: tuple[str, list[dict]], **own: object) -> dict:
    told = [{"question": question, "comparison": {"winner": "A", "votes": votes}} for question, votes in entries]
    return {
        "judging": "pairwise",
        "run_name": "r",
        "label_a": "x",
        "label_b": "y",
        "swap": True,
        "entries": told,
        **own,
    }


RUN = run_of(
    ("q1", [vote("j", ("ab", "A"), ("ba", "A")), vote("k", ("ab", "A"), ("ba", "B"))]),
    ("q2", [vote("j", ("ab", "tie"), ("ba", None)), vote("old", reconciled="B"), vote("k")]),
)
JUDGED = [
    {"judge": "j", "item_a": "x", "item_b": "y", "p_a": 1.0, "weight": 3.0},
    {"judge": "j", "item_a": "y", "item_b": "z", "p_a": 0.0, "weight": 1.0},
    {"judge": "k", "item_a": "x", "item_b": "z", "p_a": 0.5, "weight": 2.0},
]

WON = [
    {"question": "q1", "judge": "j", "winner": "x", "loser": "y", "tie": False},
    {"question": "q2", "judge": "j", "winner": "z", "loser": "y", "tie": False},
    {"question": "q3", "judge": "k", "winner": "x", "loser": "z", "tie": True},
]


def renamed(records: list[dict], **names: str) -> list[dict]:
    return [{names.get(key, key): value for key, value in record.items()} for record in records]


PANEL = [
    {"model_a": "x", "model_b": "y", "judge_model": "j", "judge_preferred_model": "a", "raw": "A"},
    {"model_a": "y", "model_b": "x", "judge_model": "k", "judge_preferred_model": "b", "raw": "B"},
    {"model_a": "y", "model_b": "z", "judge_model": "k", "judge_preferred_model": "c", "raw": "C"},
    {"model_a": "y", "model_b": "z", "judge_model": "j", "judge_preferred_model": "unknown", "raw": "?"},
]
IN_INSPECT = {
    "eval": {"task": "t", "model": "m"},
    "samples": [{"id": 1, "scores": {"pairwise": {"metadata": {"judgerank": PANEL}}}}],
}

RANKED = [{"question": "q1", "judge": "j", "ranking": "x > y > z"}, {"question": "q2", "ranking": "z > {x, y}"}]
RANKED = [record | {"judge": "j"} for record in RANKED]
RANKS = [
    {"question": question, "judge": "j", "model": model, "rank": place}
    for question, ranking in (("q1", {"x": 1, "y": 2, "z": 3}), ("q2", {"z": 1, "x": None, "y": None}))
    for model, place in ranking.items()
]
BESIDE = [
    {"model_a": a, "model_b": b, "judge_pref": judge, "human_pref": human, "judge": "j", "instruction_id_hash": q}
    for a, b, judge, human, q in (
        ("x", "y", 0.0, 0.5, "q1"),
        ("y", "z", 1.0, 0.0, "q2"),
        ("x", "z", 1.0, None, "q3"),
    )
]

HELPSTEER = [
    {
        "domain": "general",
        "language": "english",
        "context": [{"role": "user", "content": f"question {place}"}],
        "response1": "one",
        "response2": "two",
        "overall_preference": preference,
        "individual_preference": [{"score": preference, "reasoning": "because"}],
        "model_a": "xyz"[place],
        "model_b": "xyz"[place - 1],
    }
    for place, preference in enumerate((-3, 1, 0))
]

# layout, records; then won by the first, by the second, ties and not read
SAMPLES = {
    "the paper's columns": (RECORDS, 2, 1, 1, 2),
    "the arena's columns (LMArena)": (NAMES, 1, 1, 1, 0),
    "LLMFAO's and Evalica's columns (left, right, winner)": (LLMFAO, 1, 1, 1, 0),
    "the winner as one of three columns (LMSYS on Kaggle)": (ONE_HOT, 1, 1, 1, 0),
    "HelpSteer3's preferences, with names of models": (HELPSTEER, 1, 1, 1, 0),
    "a wide table, one column a judge": (WIDE, 3, 1, 1, 1),
    "FastChat's pairwise judgments": (FASTCHAT, 2, 2, 1, 1),
    "arena-hard-auto's verdicts": (ARENA_HARD, 3, 3, 1, 1),
    "AlpacaEval's annotations": (ALPACA_EVAL, 1, 1, 2, 1),
    "evaluatorq's judged comparisons": (JUDGED, 1, 1, 1, 0),
    "evaluatorq's runs": ([RUN], 4, 2, 1, 3),
    "judgments of a panel in a log of inspect_ai": ([IN_INSPECT], 1, 1, 1, 1),
    "JudgeArena's battles": (BATTLES, 3, 0, 1, 1),
    "JudgeArena's reports": ([REPORT], 2, 1, 2, 1),
    "judges' preferences beside people's (Soft-Elo)": (BESIDE, 2, 2, 1, 0),
    "winners and losers (winner, loser)": (WON, 1, 1, 1, 0),
    "rankings, best first": (RANKED, 3, 2, 2, 0),
    "rankings, best first, with the order shown": ([one | {"shown": "z, y, x"} for one in RANKED], 2, 3, 2, 0),
    "ranks, a row for each answer": (RANKS, 3, 2, 2, 0),
    "ranks, a row for each answer, with the order shown": (
        [record | {"place": " zyx".index(str(record["model"]))} for record in RANKS],
        *(2, 3, 2, 0),
    ),
}
JUDGES = {"judges": "kim,gpt"}
NAMED = {"a wide table, one column a judge": JUDGES}  # columns that must be named
PAIRS = (("winner_model", "loser_model"), ("chosen_model", "rejected_model"), ("chosen", "rejected"))
SAMPLES |= {
    f"winners and losers ({won}, {lost})": (renamed(WON, winner=won, loser=lost), 1, 1, 1, 0)
    for won, lost in PAIRS
}


NESTED = ("arena-hard-auto's verdicts", "evaluatorq's runs", "JudgeArena's reports")  # which are in JSON only
NESTED += ("judgments of a panel in a log of inspect_ai", "HelpSteer3's preferences, with names of models")


def rows(found) -> list[tuple]:
    c = found.comparisons
    names = zip(c.first, c.second, c.judge, c.outcome, strict=True)
    return [(c.models[i], c.models[j], c.judges[k], float(y)) for i, j, k, y in names]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_layout_is_told_and_read(name, tmp_path):
    records, first, second, ties, unread = SAMPLES[name]
    found = read(written(tmp_path, "jsonl", records), columns=NAMED.get(name))
    assert found.source["layout"] == name
    won = found.comparisons.outcome
    assert [(won == share).sum() for share in (1, 0, 0.5)] == [first, second, ties]
    assert sum(found.comparisons.dropped.values()) == unread
    same(judgments_of(pd.DataFrame(records), columns=NAMED.get(name)).comparisons, found.comparisons)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in NESTED])
def test_every_layout_reads_the_same_out_of_a_table(name, form, tmp_path):
    records = SAMPLES[name][0]
    if "judge" in records[0] and isinstance(records[0]["judge"], list):
        records = [record | {"judge": "gpt-4"} for record in records]
    same(
        read(written(tmp_path, form, records), columns=NAMED.get(name)).comparisons,
        read(written(tmp_path, "jsonl", records), columns=NAMED.get(name)).comparisons,
    )


def test_every_layout_has_a_sample_and_a_name_of_its_own():
    names = [layout.name for layout in LAYOUTS]
    assert len(set(names)) == len(names)
    own = {layout.name for layout in LAYOUTS if not layout.of_scores and layout.recipe is None}
    assert own == SAMPLES.keys()


# judges and people beside each other


def beside(judge: str, *preferences: tuple[float | None, float | None]) -> list[dict]:
    """A judge's file of Soft-Elo's release: preference of the judge and of people, by battle."""
    return [
        {
            "battle_id": f"arena-{judge}-{place:06d}",
            "judge": judge,
            "original_question_id_hash": "" if place else "h0",  # not of every battle
            "instruction_id_hash": f"i{place}",
            "model_a": "xyz"[place % 3],
            "model_b": "xyz"[(place + 1) % 3],
            "human_pref": human,
            "judge_pref": own,
            "scores_a": "{'clarity': 7.0}",
            "scores_b": "{'clarity': 9.0}",
        }
        for place, (own, human) in enumerate(preferences)
    ]


def test_a_record_of_a_judge_beside_people_is_two_comparisons(tmp_path):
    found = read(written(tmp_path, "csv", beside("j", (0.0, 1.0), (0.5, 0.5), (None, 0.0))))
    assert rows(found) == [
        ("x", "y", "j", 1.0),
        ("y", "z", "j", 0.5),
        ("x", "y", "people", 0.0),
        ("y", "z", "people", 0.5),
        ("z", "x", "people", 1.0),
    ]
    assert found.frame["human"].tolist() == ["no"] * 3 + ["yes"] * 3
    assert found.frame["question_id"].tolist() == ["i0", "i1", "i2"] * 2  # every battle has one


def test_human_votes_in_the_files_of_several_judges_count_once(tmp_path):
    files = []
    for judge, own in (("j", 0.0), ("k", 1.0)):
        records = beside(judge, (own, 1.0), (own, 0.0), (own, 0.5))
        # one battle twice in one file: two votes, in the file of either judge
        (tmp_path / judge).mkdir()
        files.append(written(tmp_path / judge, "csv", [*records, records[0] | {"battle_id": "again"}]))
    found = read(files)
    judge = np.array(found.comparisons.judges)[found.comparisons.judge]
    assert {name: int((judge == name).sum()) for name in ("j", "k", "people")} == {"j": 4, "k": 4, "people": 4}
    assert any("4 human votes are in several files" in remark for remark in found.remarks)


@pytest.mark.parametrize("wrong", [{"judge_pref": 2.0}, {"human_pref": "a lot"}])
def test_a_preference_that_is_none_is_named_with_its_record(wrong, tmp_path):
    records = beside("j", (0.0, 1.0), (1.0, 1.0))
    records[1] |= wrong
    with pytest.raises(DataError, match=f"{next(iter(wrong))} of record 2 has"):
        read(written(tmp_path, "jsonl", records))


# preferences with a sign


def test_helpsteers_preferences_below_zero_are_for_the_first_response(tmp_path):
    found = read(written(tmp_path, "parquet", HELPSTEER))
    assert rows(found) == [
        ("x", "z", "one judge", 1.0),
        ("y", "x", "one judge", 0.0),
        ("z", "y", "one judge", 0.5),
    ]
    assert found.comparisons.strong.tolist() == [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert found.frame["question_id"].nunique() == 3
    whose = {"model_a": "m1", "model_b": "m2"}
    named = pd.DataFrame(HELPSTEER).rename(columns=whose)
    again = judgments_of(named, columns=whose | {"winner": "overall_preference"})
    assert_array_equal(again.comparisons.outcome, found.comparisons.outcome)
    turned = judgments_of(pd.DataFrame(HELPSTEER), winner_values={"1": "a"})  # what one says comes first
    assert_array_equal(turned.comparisons.outcome, 1 - found.comparisons.outcome)
    with pytest.raises(DataError, match=r"no column 'model_a' .* nearest to HelpSteer3's preferences"):
        judgments_of(pd.DataFrame(without(without(HELPSTEER, "model_a"), "model_b")))


# two games in a record


def test_fastchats_games_are_in_both_orders(tmp_path):
    found = read(written(tmp_path, "jsonl", FASTCHAT))
    assert rows(found) == [
        ("x", "y", "gpt-4", 1.0),
        ("y", "x", "gpt-4", 1.0),
        ("y", "z", "gpt-4", 0.5),
        ("z", "y", "gpt-4", 0.0),
        ("x", "z", "gpt-4", 0.0),
    ]
    assert found.comparisons.dropped == {"unknown": 1, "null": 0}
    assert_array_equal(found.question, [0, 0, 1, 1, 0])
    assert re.search(r"\btwo games\b", found.remarks[0])


def test_arena_hards_verdicts_are_in_both_orders_and_strong_ones_count_once(tmp_path):
    found = read(written(tmp_path, "jsonl", ARENA_HARD))
    assert rows(found) == [
        ("base", "x", "j", 1.0),
        ("x", "base", "j", 0.0),
        ("base", "x", "j", 0.0),
        ("x", "base", "j", 1.0),
        ("base", "y", "j", 0.5),
        ("y", "base", "j", 1.0),
        ("y", "base", "j", 0.0),
    ]
    assert found.comparisons.n_comparisons == 7
    assert "position_aware_graded" in found.remarks[0]


def test_a_baseline_that_the_records_do_not_name_is_told(tmp_path):
    named = [record | {"baseline": "gpt-4-0314"} for record in ARENA_HARD]
    path = written(tmp_path, "jsonl", without(ARENA_HARD, "baseline"))  # as version 0.1 writes them
    found = read(path, baseline="gpt-4-0314")
    same(found.comparisons, judgments_of(pd.DataFrame(named)).comparisons)
    told = rank(pd.DataFrame(without(ARENA_HARD, "baseline")), baseline="gpt-4-0314", solver="penalised")
    assert "gpt-4-0314" in set(told.leaderboard["model"])
    assert read(path, baseline="x").remarks[0] == "Left out: 4 judgments of a model with itself."
    with pytest.raises(DataError, match="record 1 has '' as 'baseline', not a name"):
        read(path, baseline="")


@pytest.mark.parametrize("records", [ARENA_HARD, NAMES, FASTCHAT])
def test_a_baseline_is_not_told_twice_nor_where_there_is_none(records):
    with pytest.raises(ConfigError, match=r"a baseline is given, but .* name both models: leave it out"):
        judgments_of(pd.DataFrame(records), baseline="gpt-4-0314")


# runs, whose answers came from which order is told


def test_a_reversed_battle_of_judgearena_showed_the_second_model_first(tmp_path):
    found = read(written(tmp_path, "parquet", BATTLES))
    assert rows(found) == [
        ("x", "y", "j", 1.0),
        ("y", "x", "j", 1.0),
        ("z", "x", "j", 0.5),
        ("y", "z", "human", 1.0),
    ]
    assert found.comparisons.strong.tolist() == [[0, 0], [1, 0], [0, 0], [0, 0]]  # people's vote has no strength
    assert found.comparisons.dropped == {"unknown": 0, "null": 1}  # the tie that is none
    assert_array_equal(found.question, [0, 0, 1, 2])
    without_orders = judgments_of(pd.DataFrame(without(BATTLES, "orientation")))
    assert rows(without_orders)[1] == ("x", "y", "j", 0.0)
    unasked = judgments_of(pd.DataFrame([record | {"question_id": None} for record in BATTLES]))
    assert "question_id" not in unasked.frame


def test_the_second_half_of_judgearenas_preferences_is_in_the_other_order(tmp_path):
    (tmp_path / "results-x.json").write_text(json.dumps(REPORT))  # one object, as it is saved
    found = read(tmp_path / "results-x.json")
    assert rows(found) == [
        ("x", "y", "j", 1.0),
        ("x", "y", "j", 0.5),
        ("y", "x", "j", 1.0),
        ("y", "x", "j", 0.5),
        ("y", "x", "j", 0.0),
    ]
    assert found.comparisons.strong.tolist() == [[0, 0], [0, 0], [1, 0], [0, 0], [0, 1]]
    assert list(found.frame["question_id"]) == [f"alpaca-eval/{n}" for n in (0, 1, 2, 0, 1, 2)]
    fixed = judgments_of(pd.DataFrame([REPORT | {"swap_mode": "fixed"}]))
    assert [row[:2] for row in rows(fixed)] == [("x", "y")] * 5
    assert fixed.frame["question_id"].nunique() == 6


def test_evaluatorqs_answers_are_in_the_order_they_were_given_in(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    found = read(tmp_path / "run.json")
    assert rows(found) == [
        ("x", "y", "j", 1.0),
        ("y", "x", "j", 0.0),
        ("x", "y", "k", 1.0),
        ("y", "x", "k", 1.0),
        ("x", "y", "j", 0.5),
        ("x", "y", "old", 0.0),
        ("y", "x", "old", 1.0),
    ]
    assert set(found.frame["question_id"]) == {"q1", "q2"}
    one_order = run_of(("q", [vote("j", reconciled="A")]), swap=False)
    assert rows(judgments_of(pd.DataFrame([one_order]))) == [("x", "y", "j", 1.0)]


def test_what_evaluatorq_itself_saves_is_read(tmp_path):
    runs = pytest.importorskip("evaluatorq.pairwise_run")
    pairwise = pytest.importorskip("evaluatorq.pairwise")
    ranking = pytest.importorskip("evaluatorq.ranking")
    run = runs.new_run(run_name="mine", label_a="x", label_b="y", judges=["j"])
    seen = [
        pairwise.RepetitionObservation(ordering=order, repetition=0, verdict=verdict)
        for order, verdict in (("ab", "A"), ("ba", "B"))
    ]
    voted = pairwise.PairwiseVote(model="j", vote=None, flipped=True, observations=seen)
    comparison = pairwise.PairwiseComparison(winner="inconclusive", votes=[voted])
    run.add(comparison, question="Why?", response_a="Because.", response_b="So.")
    path = run.save(tmp_path / "run.json")
    assert rows(read(path)) == [("x", "y", "j", 1.0), ("y", "x", "j", 1.0)]
    records = [ranking.JudgedComparison(**record).model_dump() for record in JUDGED]
    assert records == JUDGED


def test_a_weight_of_evaluatorqs_is_a_number_of_judgments():
    found = judgments_of(pd.DataFrame(JUDGED))
    assert_array_equal(found.comparisons.count, [3, 1, 2])
    assert_array_equal(judgments_of(pd.DataFrame(JUDGED), {"count": None}).comparisons.count, [1, 1, 1])
    soft = judgments_of(pd.DataFrame(changed(JUDGED, 0, p_a=0.8)))
    assert_array_equal(soft.comparisons.outcome, [0.8, 0, 0.5])


# weights


def test_a_preference_between_one_and_two_is_a_weight(tmp_path):
    found = read(written(tmp_path, "json", ALPACA_EVAL))
    assert_array_equal(found.comparisons.outcome, [1.0, 0.0, 0.5, 0.75, 0.5])  # 0 is its own draw
    assert found.comparisons.judges == ("j", "k")
    assert found.judges.set_index("judge").loc["k", "share_a"] == 1 / 3  # the nearer of the two
    assert any(remark.startswith("1 answer is a weight") for remark in found.remarks)
    assert found.comparisons.dropped == {"unknown": 0, "null": 1}
    with pytest.raises(DataError, match=r"\bshares\b"):
        found.comparisons.to_frame()
    untied = read(tmp_path / "mine.json", winner_values={"0": "unknown"}).comparisons
    assert_array_equal(untied.outcome, [1.0, 0.0, 0.5, 0.75])


def test_weights_are_ranked_as_their_share(tmp_path):
    base = {"generator_1": "x", "generator_2": "y", "annotator": "j", "instruction": "q"}
    weighted = [base | {"preference": p} for p in (1.25, 1.25, 1.25, 1.25)]
    letters = [base | {"preference": p} for p in (1, 1, 1, 2)]
    boards = [
        rank(pd.DataFrame(records), model="btl", cluster="none").tables["leaderboard"]
        for records in (weighted, letters)
    ]
    np.testing.assert_allclose(boards[0]["score"], boards[1]["score"], atol=1e-8)


# tables


def test_numbers_are_shares_and_names_are_models():
    one, other = judgments_of(pd.DataFrame(NAMES)), judgments_of(pd.DataFrame(NUMBERS))
    same(one.comparisons, other.comparisons)
    assert_array_equal(one.comparisons.outcome, [1, 0, 0.5])


def test_columns_of_a_wide_table_are_judges_if_they_are_named():
    wide = pd.DataFrame(WIDE)
    found = judgments_of(wide, columns=JUDGES)
    assert found.comparisons.judges == ("gpt", "kim")
    assert_array_equal(found.frame["question_id"], ["q1", "q2", "q3"] * 2)
    alone = judgments_of(wide.drop(columns="question"), columns=JUDGES)
    assert alone.frame["question_id"].nunique() == 3
    shares = wide.assign(kim=[1, 0.5, 0], gpt=[1, 0, 0]).drop(columns="turn")
    told = judgments_of(shares, columns=JUDGES, winner_values={"1": "a", "0": "b", "0.5": "tie"})
    assert_array_equal(told.comparisons.outcome, [1, 0.5, 0, 1, 0, 0])
    with pytest.raises(DataError, match="no column 'ana'"):
        judgments_of(wide, columns={"judges": "kim,ana"})


def test_columns_of_winners_are_no_judges_until_they_are_named():
    rng = np.random.default_rng(6)
    wide = pd.DataFrame([record | {"question": f"q{n}"} for n, record in enumerate(WIDE * 20)])
    wide = wide.drop(columns=["note", "turn"])
    wide["kim"], wide["gpt"], wide["ana"] = (rng.choice([*"abc"], 60) for _ in range(3))
    votes = wide[["kim", "gpt", "ana"]]
    wide["consensus"] = [row.mode()[0] if row.nunique() < 3 else "c" for _, row in votes.iterrows()]
    with pytest.raises(DataError, match=r"\b\d columns\b.*\bjudges=") as error:
        judgments_of(wide)
    named = re.search(r"judges=([\w,]+)", str(error.value))[1]
    assert named == "kim,gpt,ana"
    assert judgments_of(wide, columns={"judges": named}).comparisons.judges == ("ana", "gpt", "kim")
    with pytest.raises(DataError, match="column 'consensus' is not a judge"):
        judgments_of(wide, columns={"judges": f"{named},consensus"})


@pytest.mark.parametrize(
    "words",
    [("A", "B", "Tie"), ("Model A", "model_b", "draw"), ("[[A]]", "[[B]]", "[[C]]"), ("first", "SECOND", "C")],
)
@pytest.mark.parametrize("judges", [("kim",), ("kim", "gpt"), ("kim", "gpt", "ana")])
def test_judges_of_a_wide_table_may_write_everyday_words(words, judges):
    plain = pd.DataFrame(WIDE * 2).drop(columns=["note", "turn", "question"])
    plain["kim"], plain["gpt"], plain["ana"] = [*"abcabc"], [*"aabbca"], [*"bbaacc"]
    written = plain.assign(**{name: plain[name].map(dict(zip("abc", words, strict=True))) for name in judges})
    found, expected = (judgments_of(table, columns={"judges": "kim,gpt,ana"}) for table in (written, plain))
    same(found.comparisons, expected.comparisons)
    assert f": {words[0]!r} as a (" in " ".join(found.remarks)
    assert not any("not read" in said for said in found.remarks)


def test_strength_in_the_words_of_some_judges_of_a_wide_table_is_kept():
    table = pd.DataFrame(WIDE).assign(kim=["A>>B", "B>A", "A=B"])
    found = judgments_of(table, columns=JUDGES)
    assert found.frame["strength"].tolist() == [2, 1, 1, 1, 1, 1]
    assert found.comparisons.strong.sum() == found.comparisons.strong[0, 0] == 1


def test_columns_of_a_wide_table_that_are_not_read_are_named():
    numbers = pd.DataFrame(WIDE).assign(ana=[1, 2, 1], answer_a="yes", answer_b="no", n_a=10, n_b=20)
    found = judgments_of(numbers, columns=JUDGES)
    assert found.comparisons.judges == ("gpt", "kim")
    assert "Columns that are not read: note, turn, ana." in found.remarks


# words of one's own


def test_other_words_are_told(tmp_path):
    said = {"x": "first!", "y": "second!", "tie": "A=B"}
    records = [record | {"winner": said[record["winner"]]} for record in NAMES] + [NAMES[0] | {"winner": "?"}]
    values = {"first!": "a", "second!": "b", "A=B": "tie", "?": "unknown"}
    path = written(tmp_path, "csv", records)
    found = read(path, winner_values=values)
    assert_array_equal(found.comparisons.outcome, [1, 0, 0.5])
    assert found.comparisons.dropped["unknown"] == 1
    with pytest.raises(DataError, match="record 1 has the unknown winner 'first!'"):
        read(path)
    with pytest.raises(ConfigError, match=r"--winner-values x=left: 'left' is not an answer \(known: a, b, tie"):
        read(path, winner_values={"x": "left"})
    numbers = judgments_of(
        pd.DataFrame(NAMES).assign(winner=[1, 2, 3]), winner_values={"1": "a", "2": "b", 3: "tie"}
    )
    assert_array_equal(numbers.comparisons.outcome, [1, 0, 0.5])


def test_words_for_games_by_name_are_about_the_first_column(tmp_path):
    records = [FASTCHAT[0] | {"g1_winner": "one", "g2_winner": "one"}]
    found = judgments_of(pd.DataFrame(records), winner_values={"one": "a"})
    assert rows(found) == [("x", "y", "gpt-4", 1.0), ("y", "x", "gpt-4", 0.0)]


# refusals


def changed(records: list[dict], row: int, **values: object) -> list[dict]:
    return [record | (values if number == row else {}) for number, record in enumerate(records)]


A_WINS = [
    {"model_a": "x", "model_b": "y", "a_wins": 1},
    {"model_a": "z", "model_b": "y", "a_wins": 0},
]


def without(records: list[dict], name: str) -> list[dict]:
    return [{key: value for key, value in record.items() if key != name} for record in records]


REFUSED = [
    (changed(FASTCHAT, 1, g2_winner="model_3"), "record 2 has the unknown g2_winner 'model_3'"),
    (changed(FASTCHAT, 1, model_2=None), "record 2 has no 'model_2'"),
    (without(FASTCHAT, "g2_winner"), "the table has no column 'g2_winner' .it has: .* nearest to FastChat"),
    ([record | {"m1_score": 3} for record in FASTCHAT], "column 'm1_score'"),
    (changed(ALPACA_EVAL, 1, preference=2.5), "record 2 has the preference 2.5, which is neither 0 nor from 1"),
    (changed(ALPACA_EVAL, 1, preference=-1), "record 2 has the preference -1"),
    (changed(ALPACA_EVAL, 1, preference="x"), "record 2 has the preference 'x'"),
    (changed(ALPACA_EVAL, 1, preference=True), "record 2 has the preference True"),
    (changed(ALPACA_EVAL, 2, generator_1=None), "record 3 has no 'generator_1'"),
    (without(ALPACA_EVAL, "preference"), "the table has no column 'preference'"),
    (changed(ARENA_HARD, 1, games=[{"score": "A>B"}] * 3), "record 2 has no one or two games with a score each"),
    (changed(ARENA_HARD, 1, games=None), "record 2 has no one or two games"),
    (
        changed(ARENA_HARD, 0, games=[{"score": "A>B"}, {"score": "A>>>B"}]),
        "record 1 has the unknown score of game 2",
    ),
    (without(ARENA_HARD, "baseline"), "the records do not name the baseline, .* .--baseline gpt-4-0314"),
    (changed(BATTLES, 0, pref=0.7), "record 1 has one winner as 'winner' and another as 'pref'"),
    (changed(BATTLES, 1, pref=1.5), "record 2 has 1.5 as its preference, not a number from 0 to 1"),
    (
        changed(BATTLES, 1, orientation="sideways"),
        "record 2 has the unknown orientation 'sideways' .known: direct",
    ),
    (changed(BATTLES, 0, judge_model=None), "record 1 has no 'judge_model'"),
    ([REPORT | {"preferences": []}], "report 1 has no preferences"),
    ([REPORT | {"preferences": [0, 1, "x", 0]}], "report 1: preference 3 has 'x' as its preference"),
    ([REPORT | {"preferences": [0, 1, 0]}], "report 1 has 3 preferences, an odd number, for two orders"),
    ([REPORT | {"swap_mode": "never"}], "report 1 has the unknown swap_mode 'never' .known: fixed, random, both"),
    (without([REPORT], "swap_mode"), "report 1 does not say in which order answers were shown .swap_mode., like"),
    ([REPORT | {"metadata": {"baseline_assignment": "per-row"}}], "report 1 is of several baselines"),
    ([RUN | {"label_a": "A", "label_b": "B"}], "run 1 does not name what it compares: write both names into it"),
    ([RUN | {"entries": []}], "run 1 has no entries"),
    ([RUN | {"label_b": "x"}], "record 1 compares 'x' with itself"),
    ([run_of(("q", []))], r".*\bno answers\b"),
    ([run_of(("q", [vote("j", ("ab", "C"))]))], "run 1, entry 1 has the unknown verdict 'C' .known: A, B, tie"),
    ([run_of(("q", [vote("j", ("aa", "A"))]))], "run 1, entry 1 has the unknown ordering 'aa' .known: ab, ba"),
    ([run_of((None, [vote("j", ("ab", "A"))]))], "None is not a question"),
    (changed(JUDGED, 1, p_a=2), "record 2 has 2 as 'p_a', not a probability from 0 to 1"),
    (changed(JUDGED, 1, weight=0.5), "record 2 has 0.5 as 'weight', not a whole number of judgments"),
    (changed(LLMFAO, 1, winner="middle"), "record 2 has the unknown winner 'middle'"),
    (without(LLMFAO, "right"), "the table has no column 'right'"),
    (changed(ONE_HOT, 1, winner_tie=1), "record 2 has winner_model_a=0, winner_model_b=1, winner_tie=1: one of"),
    (changed(ONE_HOT, 1, winner_model_b=0), "record 2 has winner_model_a=0, winner_model_b=0, winner_tie=0"),
    (changed(ONE_HOT, 1, winner_model_b="yes"), "record 2 has .*winner_model_b='yes'"),
    (changed(ONE_HOT, 1, winner_model_b=None), "record 2 has .*winner_model_b=None"),
    (
        [{name.replace("l_b", "lb") if "win" in name else name: one[name] for name in one} for one in ONE_HOT],
        "column 'winner_modelb' looks like 'winner_model_b' of the winner as",
    ),
    ([one | {"draw": 0} for one in A_WINS], "column 'draw' would not be read, though it may say which"),
    (changed(NUMBERS, 1, winner=2), "record 2 has the unknown winner 2"),
    (changed(NUMBERS, 1, winner="model_b"), "record 1 has the unknown winner 1"),
    (changed(NAMES, 1, winner="x"), "record 2 has the unknown winner 'x'"),
    (changed(NAMES, 1, winner=True), "record 2 has the unknown winner True"),
    (changed(WIDE, 2, kim="x!"), "record 3 has the unknown answer of 'kim' 'x!'"),
    (changed(WIDE, 1, model_b=None), "record 2 has no 'model_b'"),
    ([one | two for one, two in zip(NAMES, LLMFAO, strict=True)], "could be in the arena's .* or in LLMFAO's"),
    (
        [one | two for one, two in zip(NAMES, ONE_HOT, strict=True)],
        "could be in the arena's .* or in the winner as",
    ),
    ([one | two for one, two in zip(NAMES, FASTCHAT, strict=True)], "could be in the arena's .* or in FastChat's"),
]


@pytest.mark.parametrize(("records", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_what_is_unclear_is_refused(records, sentence, tmp_path):
    with pytest.raises(DataError, match=f"^mine.jsonl: (the records )?{sentence}"):
        read(written(tmp_path, "jsonl", records), columns=JUDGES if "kim" in records[0] else None)


def test_naming_the_columns_decides_between_layouts(tmp_path):
    both = [one | two for one, two in zip(NAMES, ONE_HOT, strict=True)]
    found = read(written(tmp_path, "jsonl", both), columns={"winner": "winner"})
    assert_array_equal(found.comparisons.outcome, [1, 0, 0.5])


# scores of samples


def inspect_log(model: str, grades: dict[object, object], task: str = "arithmetic") -> dict:
    samples = [
        {
            "id": one,
            "epoch": 1,
            "input": "?",
            "target": "!",
            "scores": {"match": {"value": grade}} if grade else {},
        }
        for one, grade in grades.items()
    ]
    return {"version": 2, "status": "success", "eval": {"task": task, "model": model}, "samples": samples}


X = inspect_log("openai/x", {1: "C", 2: "I", 3: "C", 4: "P", 5: "C"})
Y = inspect_log("openai/y", {1: "I", 2: "I", 3: "C", 4: "C", 6: "C"})


def archived(log: dict) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({key: log[key] for key in ("version", "status", "eval")}))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    return content.getvalue()


def test_inspects_logs_become_comparisons_on_the_same_samples(tmp_path):
    (tmp_path / "x.json").write_text(json.dumps(X))
    (tmp_path / "y.eval").write_bytes(archived(Y))
    found = read([tmp_path / "x.json", tmp_path / "y.eval"])
    assert rows(found) == [
        ("openai/x", "openai/y", "match", 1.0),
        ("openai/x", "openai/y", "match", 0.5),
        ("openai/x", "openai/y", "match", 0.5),
        ("openai/x", "openai/y", "match", 0.0),
    ]
    assert list(found.frame["question_id"]) == [f"arithmetic/{n}" for n in (1, 2, 3, 4)]
    direction, judges, said = found.remarks
    assert direction == "Higher is better for match. Where that is wrong, change the sign of the scores."
    assert re.search(r"\bscorer\b.*\bjudge\b", judges)
    assert said.startswith(
        "4 comparisons were made of the scores of two models on the same sample: 2 of them are ties"
    )
    assert "2 scores without another" in said
    assert said in rank(found, solver="penalised").remarks


def test_answers_in_another_turn_are_no_repeated_request():
    both = [record | {"turn": turn} for record in FASTCHAT for turn in (1, 2)]
    found = judgments_of(pd.DataFrame(both))
    assert (found.n_questions, len(np.unique(found.item)), len(found.comparisons)) == (2, 4, 10)
    assert "item" not in judgments_of(pd.DataFrame(FASTCHAT)).frame


def test_another_epoch_is_another_answer_and_no_repeated_request(tmp_path):
    rng = np.random.default_rng(5)
    logs = [inspect_log(name, dict.fromkeys(range(40), "C")) for name in "xyz"]
    for log in logs:
        log["samples"] = [{**sample, "epoch": epoch} for sample in log["samples"] for epoch in (1, 2)]
        for sample in log["samples"]:
            sample["scores"] = {"match": {"value": str(rng.choice(["C", "I"]))}}
    (tmp_path / "logs.json").write_text(json.dumps(logs))
    found = read(tmp_path / "logs.json")
    assert (found.n_questions, len(np.unique(found.item)), len(found.comparisons)) == (40, 80, 240)
    ranking = rank(found, solver="penalised")
    assert "repeats" not in ranking.tables
    assert not [remark for remark in ranking.remarks if "same again" in remark]
    unsaid = Assumption(None, None, None, None)
    assert fitted_to([tmp_path / "logs.json"], {}, ("judge_aware", "penalised"), 0.95, unsaid).seen is None
    once = found.frame.drop(columns="item")
    assert "repeats" in rank(replace(found, frame=once), solver="penalised").tables


def test_a_sample_that_failed_is_not_read(tmp_path):
    failed = inspect_log("openai/y", {1: "I", 2: "C", 3: None})
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(log) + "\n" for log in (X, failed)))
    found = read(tmp_path / "logs.jsonl")
    assert found.comparisons.dropped == {"unknown": 0, "null": 1}
    assert len(found.comparisons) == 2


@pytest.mark.parametrize(
    ("logs", "sentence"),
    [
        ([X], "there are scores of one model only, 'openai/x'"),
        ([X, X, Y], "model 'openai/x' has two scores of 'match' on sample 'arithmetic/1'"),
        ([X, inspect_log("y", {1: "C"}, "other")], r".*\bof two models\b"),
        ([X, inspect_log("y", {1: "C", 2: "maybe"})], "sample 2 has 'maybe' as 'match', which is neither"),
        ([X, inspect_log("y", {1: "maybe"})], "no sample of the log has a score that is a number"),
        ([X, inspect_log("y", {})], "log 2 has no samples"),
        ([X, Y | {"eval": {"task": "arithmetic"}}], "log 2 does not name its model and task"),
        ([X, inspect_log("y", {None: "C"})], "sample 1 has no id"),
    ],
)
def test_logs_that_cannot_be_compared_are_refused(logs, sentence, tmp_path):
    (tmp_path / "logs.json").write_text(json.dumps(logs))
    with pytest.raises(DataError, match=f"^logs.json: {sentence}"):
        read(tmp_path / "logs.json")


def test_archives_that_are_none_are_refused(tmp_path):
    path = tmp_path / "x.eval"
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match=r"^x.eval: this is not a log of inspect_ai"):
        read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("results.json", "{}")
    with pytest.raises(DataError, match=r"^x.eval: .* has neither header.json nor _journal/start.json"):
        read(path)


def harness(folder: Path, model: str, scores: dict[int, object], task: str = "arc", **own: object) -> Path:
    path = folder / model / f"samples_{task}_2025-02-03T04-05-06.789.jsonl"
    path.parent.mkdir(exist_ok=True)
    common = {"doc": {"q": "?"}, "target": "1", "resps": [["1"]], "filtered_resps": ["1"], "filter": "none"}
    common |= {"metrics": ["acc"], "doc_hash": "0f", **own}
    with path.open("w") as file:
        for number, score in scores.items():
            file.write(json.dumps({"doc_id": number, **common, "acc": score}) + "\n")
    return path


def test_the_harnesss_logs_are_of_the_models_that_their_folders_name(tmp_path):
    paths = [
        harness(tmp_path, name, scores)
        for name, scores in (("x", {0: 1.0, 1: 0.0, 2: 1.0}), ("y", {0: 0.0, 1: 0.0}))
    ]
    found = read([*paths, harness(tmp_path, "z", {0: 1, 1: None})])
    assert rows(found) == [
        ("x", "y", "acc", 1.0),
        ("x", "y", "acc", 0.5),
        ("x", "z", "acc", 0.5),
        ("y", "z", "acc", 0.0),
    ]
    assert found.comparisons.dropped["null"] == 2
    assert set(found.frame["question_id"]) == {"arc/0", "arc/1"}
    assert "2 of them are ties" in found.remarks[-1]


def test_models_with_the_same_answers_are_no_copies_of_each_other(tmp_path):
    answers = {number: float(number % 3 > 0) for number in range(30)}
    paths = [harness(tmp_path, name, answers) for name in ("x", "y", "z")]
    found = read(paths)
    assert len(found.comparisons) == 90 and not any("copies" in said for said in found.remarks)
    again = paths[0].with_name("samples_arc_2031-01-01T00-00-00.000001.jsonl")
    again.write_bytes(paths[0].read_bytes())
    with pytest.raises(DataError, match="two scores of 'acc'"):
        read([*paths, again])
    same = read([*paths, again], copies="drop")
    assert rows(same) == rows(found)
    assert same.remarks[0].startswith("30 of 120 records were left out, since they are exact copies")


def test_metrics_and_filters_are_judges_and_lower_may_be_better(tmp_path):
    scores = {0: 0.2, 1: 0.7}
    more = {"metrics": ["acc", "brier_score", "f1"], "brier_score": 0.3, "f1": [0, 1], "filter": "strict"}
    one = harness(tmp_path, "x", scores, **more)
    other = harness(tmp_path, "y", scores, **more | {"brier_score": 0.4})
    found = read([one, other])
    assert found.comparisons.judges == ("acc,strict", "brier_score,strict")
    assert [row[3] for row in rows(found) if row[2].startswith("brier")] == [1.0, 1.0]
    assert "Lower is better for brier_score, by the name; higher is better for acc. Where" in found.remarks[1]


def test_filters_of_one_run_are_told(tmp_path):
    paths = []
    for name in ("x", "y"):
        path = harness(tmp_path, name, {0: 1.0, 1: 0.0}, filter="strict-match")
        other = path.read_text().replace("strict-match", "flexible-extract")
        path.write_text(path.read_text() + other)
        paths.append(path)
    found = read(paths)
    assert found.comparisons.judges == ("acc,flexible-extract", "acc,strict-match")
    (said,) = [remark for remark in found.remarks if "Filters" in remark]  # once, since it is so of both files
    assert said.startswith("Filters flexible-extract, strict-match score the same answers by nearly the same rule")


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    paths = [harness(tmp_path, name, {0: "?"}) for name in ("x", "y")]
    with pytest.raises(
        DataError, match=r"^x/samples_arc_[\dT.-]+.jsonl: no metric of this log has one number for each sample"
    ):
        read(paths)
    many = [harness(tmp_path, name, {0: 1}, doc_hash=name) for name in "uvwxy"]
    with pytest.raises(DataError, match=r"^u/.*, v/.*, w/.* and 2 more: no sample has scores of two models"):
        read(many)


def test_samples_of_different_texts_are_not_the_same(tmp_path):
    with pytest.raises(DataError, match=r"\bof two models\b"):
        read([harness(tmp_path, "x", {0: 1}), harness(tmp_path, "y", {0: 1}, doc_hash="1e")])


def test_scores_have_no_words_and_no_columns(tmp_path):
    path = harness(tmp_path, "x", {0: 1})
    for given in ({"columns": {"judge": "acc"}}, {"winner_values": {"1": "a"}}):
        with pytest.raises(ConfigError, match="not for lm-evaluation-harness"):
            read(path, **given)


# forms


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "parquet"])
@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_files_read_to_the_same(form, ending, tmp_path):
    if ending == "zst":
        pytest.importorskip("zstandard")
    path = written(tmp_path, form, RECORDS)
    plain = read(path)
    squeeze = gzip.compress if ending == "gz" else lambda content: pa.compress(content, "zstd", asbytes=True)
    packed = tmp_path / f"mine.{form}.{ending}"
    packed.write_bytes(squeeze(path.read_bytes()))
    found = read(packed)
    same(found.comparisons, plain.comparisons)
    assert found.name == "mine"
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(DataError, match=rf"^mine.{form}.{ending}: this is not (gzip|zstd), or cut short"):
        read(packed)


def test_zstd_takes_a_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "m.csv.zst").write_bytes(pa.compress(b"model_a,model_b,winner\n", "zstd", asbytes=True))
    with pytest.raises(ConfigError, match=r"reading zstd requires the extra 'zstd' \(pip install 'zstandard>="):
        read(tmp_path / "m.csv.zst")


@pytest.mark.parametrize(("form", "sign"), [("tsv", "\t"), ("csv", ";"), ("csv", "\t"), ("tsv", ",")])
def test_fields_may_be_separated_otherwise(form, sign, tmp_path):
    path = tmp_path / f"mine.{form}"
    pd.DataFrame(RECORDS).to_csv(path, index=False, sep=sign)
    same(read(path).comparisons, judgments_of(pd.DataFrame(RECORDS)).comparisons)
    path.write_text("model_a|model_b|winner\n")
    with pytest.raises(DataError, match=r"^mine"):
        read(path)


def test_a_header_that_could_be_cut_in_two_ways_is_refused(tmp_path):
    (tmp_path / "m.csv").write_text("model_a;model_b\twinner\n")
    with pytest.raises(DataError, match=r"m.csv: the header could be separated by any of ';', '.t'"):
        read(tmp_path / "m.csv")


# several files


@pytest.fixture
def parts(tmp_path) -> Iterator[Path]:
    for number, records in enumerate((RECORDS[:3], RECORDS[3:])):
        (tmp_path / f"part{number}").mkdir()
        written(tmp_path / f"part{number}", "jsonl", records).rename(tmp_path / f"part{number}.jsonl")
    shutil.rmtree(tmp_path / "part0")
    yield tmp_path


def test_several_files_and_patterns_are_one_set(parts, monkeypatch):
    expected = judgments_of(pd.DataFrame(RECORDS)).comparisons
    for source in (
        [parts / "part0.jsonl", parts / "part1.jsonl"],
        str(parts / "*.jsonl"),
        [parts / "part?.jsonl"],
    ):
        found = read(source)
        same(found.comparisons, expected)
        assert found.name == "part0-and-1-more"
        assert [one["file"] for one in found.source["files"]] == ["part0.jsonl", "part1.jsonl"]
        assert found.source["records"] == 6
    monkeypatch.chdir(parts)
    same(read("part*.jsonl").comparisons, expected)


def test_files_may_be_in_different_layouts(tmp_path):
    found = read([written(tmp_path, "csv", NAMES), written(tmp_path, "json", LLMFAO_PLAIN)])
    assert len(found.comparisons) == 6
    assert len(found.source["layout"]) == 2


LLMFAO_PLAIN = without(LLMFAO, "prompt")


def test_the_file_at_fault_is_named(parts):
    first = parts / "part0.jsonl"
    for content, sentence in (
        ('{"model_a": "x"', "bad.jsonl: line 1 is not JSON"),
        ("", "bad.jsonl: there are no comparisons"),
        (json.dumps(RECORDS[0] | {"model_b": None}), "bad.jsonl: record 1 has no 'model_b'"),
        (json.dumps(RECORDS[0] | {"judge_model": [3]}), r"bad.jsonl: record 1 has \[3\] as 'judge_model'"),
        (json.dumps(RECORDS[0] | {"judge_preferred_model": "?"}), "bad.jsonl: record 1 has the unknown winner"),
        (json.dumps(NAMES[0]), "part0.jsonl, bad.jsonl: some of the files have 'question_id', and others do not"),
    ):
        (parts / "bad.jsonl").write_text(content)
        with pytest.raises(DataError, match=f"^{sentence}"):
            read([first, parts / "bad.jsonl"])


def test_files_that_are_not_there_or_there_twice_are_refused(parts):
    with pytest.raises(DataUnavailableError, match=r"no file matches .*\*\.csv"):
        read(parts / "*.csv")
    with pytest.raises(ConfigError, match=r"part0.jsonl is named twice"):
        read([parts / "part0.jsonl", parts / "*.jsonl"])
    with pytest.raises(ConfigError, match=r"^no file\b"):
        read([])


# the command


def test_files_and_words_on_the_command_line(tmp_path):
    letters = {"x": "one", "y": "two", "tie": "A=B"}
    for name, some in (("p", NAMES), ("q", NAMES[::-1])):
        records = [record | {"winner": letters[record["winner"]]} for record in some] * 2
        written(tmp_path, "csv", records).rename(tmp_path / f"{name}.csv")
    words = ["--winner-values", "one=a", "two=b", "A=B=tie", "--solver", "penalised"]
    done = judgerank("rank", "p.csv", "q.csv", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "rankings" / "p-and-1-more" / "index.html").is_file()
    done = judgerank("rank", "p.csv", "--winner-values", "one=left", cwd=tmp_path)
    assert done.returncode == 2
    done = judgerank("rank", "p.csv", "r.csv", "--output", "out", cwd=tmp_path)
    assert "there is no file 'r.csv'" in done.stderr


def test_a_doctor_names_the_layout_and_what_is_used(tmp_path):
    written(tmp_path, "jsonl", FASTCHAT * 3).rename(tmp_path / "a.jsonl")
    written(tmp_path, "json", [record | {"judge": "k", "question_id": 1} for record in NAMES]).rename(
        tmp_path / "b.json"
    )
    done = judgerank("doctor", "a.jsonl", "b.json", cwd=tmp_path)
    said = " ".join(done.stdout.split())
    assert (
        "file: a.jsonl: jsonl, 9 records layout: FastChat's pairwise judgments. Each record is two games" in said
    )
    assert "model_a from 'model_1', model_b from 'model_2', judge, question from 'question_id', " in said
    assert "winner from 'g1_winner', 'g2_winner'; not used: g1_judgment" in said
    assert "file: b.json: json, 3 records layout: the arena's columns (LMArena)." in said


# random damage


def damaged(records: object, rng: random.Random) -> object:
    """The same with one value or key, anywhere in it, taken out, renamed or replaced."""
    records = at = copy.deepcopy(records)
    while True:
        key = rng.choice(list(at)) if isinstance(at, dict) else rng.randrange(len(at))
        if isinstance(at[key], list | dict) and at[key] and rng.random() < 0.75:
            at = at[key]
            continue
        kind = rng.random()
        if kind < 0.3:
            del at[key]
        elif kind < 0.5 and isinstance(at, dict):
            at[rng.choice(["winner", "model_a", "games", "eval", "n", f"{key}x"])] = at.pop(key)
        else:
            at[key] = rng.choice([None, "", 0, 0.5, 2, "x", "tie", True, [], ["a"], {"a": 1}, np.nan, -1, 10**400])
        return records


@pytest.mark.parametrize("name", [*SAMPLES, "inspect"])
def test_damage_ends_in_a_sentence_or_in_comparisons(name, tmp_path):
    rng = random.Random(name)
    records = [X, Y] if name == "inspect" else SAMPLES[name][0]
    for _ in range(60):
        (tmp_path / "m.json").write_text(json.dumps(damaged(records, rng)))
        try:
            assert len(read(tmp_path / "m.json").comparisons) > 0
        except JudgerankError as error:
            assert len(str(error).splitlines()) == 1
