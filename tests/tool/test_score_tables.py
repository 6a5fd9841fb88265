"""Tables of scores, and pairs without an order become comparisons within question and judge."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from judgerank import rank, read
from judgerank.data.errors import ConfigError, DataError
from judgerank.reading.layouts.sample_scores import TO_TURN
from judgerank.reading.read import judgments_of
from tests.tool.test_layouts import WON, renamed, rows

GRADES = [
    {"question_id": question, "model": model, "judge": judge, "score": score}
    for question, judge, grades in (
        ("q1", "j", {"x": 8, "y": 6.5, "z": 8}),
        ("q2", "j", {"x": 3, "y": 9, "z": None}),
        ("q1", "k", {"x": 1, "y": 2}),
    )
    for model, score in grades.items()
]
ONE_WINS = [{"question": "q", "model": "x", "score": 9}, {"question": "q", "model": "y", "score": 4}]
EXPECTED = [
    ("x", "y", "j", 0.0),
    ("x", "y", "j", 1.0),
    ("x", "y", "k", 0.0),
    ("x", "z", "j", 0.5),
    ("y", "z", "j", 0.0),
]


def found_in(records, **said):
    return judgments_of(pd.DataFrame(records), said)


@pytest.mark.parametrize(
    "names",
    [
        {},
        {"question_id": "prompt", "judge": "rater", "score": "rating"},
        {"question_id": "instruction"},
        {"question_id": "user_input"},
        {"question_id": "item", "judge": "annotator", "score": "grade", "model": "model_name"},
    ],
)
def test_scores_are_compared_within_question_and_judge(names):
    found = found_in(renamed(GRADES, **names))
    assert sorted(rows(found)) == EXPECTED
    assert found.comparisons.dropped == {"unknown": 0, "null": 2}
    assert not found.ordered
    assert found.remarks[0].startswith("The records are in a table of scores.")
    assert found.remarks[1] == "Higher is better. Where that is wrong, change the sign of the scores."
    assert found.remarks[2].startswith(
        "5 comparisons were made of the scores of two models on the same sample: 1 of"
    )


LOWER = (
    "mse",
    "MAE",
    "rmse",
    "eval_loss",
    "errorRate",
    "word_perplexity",
    "bits_per_byte",
    "latency_ms",
    "toxicity",
)
HIGHER = ("exact_match", "f1", "cost_efficiency", "hallucination_free", "bias_detection_f1", "Mae", "bertscore")


@pytest.mark.parametrize("name", [*LOWER, *HIGHER])
@pytest.mark.parametrize("told", ["scorer", "metric", "score"])
def test_scores_are_turned_by_the_name_of_what_they_measure_and_that_is_said(name, told):
    pairs = [
        {"question": q, "model": model, "score": score} for q in "ab" for model, score in (("x", 1), ("y", 2))
    ]
    records = [record | ({told: name} if told != "score" else {}) for record in pairs]
    found = found_in(records) if told != "score" else found_in(renamed(records, score=name), score=name)
    lower = name in LOWER
    assert {row[3] for row in rows(found)} == {float(lower)}
    assert (re.match(rf"Lower\b.* {re.escape(name)}, by the name\b", found.remarks[1]) is not None) == lower
    assert found.remarks[1].endswith(TO_TURN)


@pytest.mark.parametrize("column", ["judge", "annotator", "rater", "evaluator"])
@pytest.mark.parametrize(
    ("name", "is_said"),
    [
        *((name, False) for name in ("perplexity/sonar-pro", "toxicity-judge", "error-analyst", "loss-llama")),
        *((name, True) for name in ("Ece", "wer", "bits_per_byte", "perplexity")),
    ],
)
def test_names_of_judges_never_turn_their_scores(column, name, is_said):
    found = found_in([{**record, column: name} for record in ONE_WINS])
    assert rows(found) == [("x", "y", name, 1.0)]
    assert found.remarks[1].startswith("Higher ") and found.remarks[1].endswith(TO_TURN)
    hint = re.compile(rf": {re.escape(name)}\..* 'metric' instead of {column!r}\.$")
    assert any(map(hint.search, found.remarks)) == is_said


def test_a_metric_beside_judges_says_which_scores_are_better():
    found = found_in([record | {"judge": "wer", "metric": "toxicity"} for record in ONE_WINS])
    assert rows(found) == [("x", "y", "wer", 0.0)]
    assert found.remarks[1].startswith("Lower is better for toxicity, by the name. Where that is wrong")
    assert not any("'metric' instead of" in said for said in found.remarks)


def test_metrics_are_judges_where_there_are_no_others():
    pairs = [(metric, model, score) for metric in ("f1", "wer") for model, score in (("x", 1), ("y", 2))]
    records = [
        {"question": "q", "metric": metric, "model": model, "score": score} for metric, model, score in pairs
    ]
    found = found_in(records)
    assert sorted(rows(found)) == [("x", "y", "f1", 0.0), ("x", "y", "wer", 1.0)]
    assert "Each metric counts as a judge." in found.remarks
    together = found_in(records, judge=None)
    assert together.comparisons.judges == ("one judge",) and len(together.comparisons) == 2
    beside = [record | {"judge": "gpt"} for record in records]
    said = "compared, and all metrics count together (--column judge=metric counts each metric as a judge)."
    assert any(remark.endswith(said) for remark in found_in(beside).remarks)
    assert rows(found_in(beside)) == [("x", "y", "gpt", 0.0), ("x", "y", "gpt", 1.0)]
    assert sorted(rows(found_in(beside, judge="metric"))) == sorted(rows(found))
    assert not any("as a judge" in remark for remark in found_in(GRADES).remarks)


def test_a_table_without_judges_has_one():
    found = found_in([record for record in GRADES if record["judge"] == "j"])
    alone = found_in(
        [{k: v for k, v in record.items() if k != "judge"} for record in GRADES if record["judge"] == "j"]
    )
    assert alone.comparisons.judges == ("one judge",)
    assert len(alone.comparisons) == len(found.comparisons)


def test_names_of_columns_may_be_told():
    own = renamed(GRADES, model="llm", score="points", judge="who", question_id="task_id")
    found = found_in(own, model="llm", score="points", judge="who", question="task_id")
    assert sorted(rows(found)) == EXPECTED
    with pytest.raises(ConfigError, match="column reply=NAME is not for a table of scores: leave that out"):
        found_in(own, model="llm", score="points", reply="who")


def test_ranks_that_are_said_to_be_scores_are_scores_of_which_less_is_better():
    ranks = [record | {"score": -record["score"]} for record in GRADES if record["score"] is not None]
    assert sorted(rows(found_in(renamed(ranks, score="rank"), score="rank"))) == EXPECTED


def test_metrics_of_which_less_is_better_are_turned():
    errors = [record | {"scorer": "wer", "score": -record["score"]} for record in GRADES[:3]]
    errors = [{key: value for key, value in record.items() if key != "judge"} for record in errors]
    assert sorted(rows(found_in(errors)))[0] == ("x", "y", "wer", 1.0)


def test_repeats_are_told_apart_by_what_else_there_is():
    twice = [record | {"turn": turn, "score": turn} for record in GRADES[:2] for turn in (1, 2)]
    found = found_in(twice)
    assert rows(found) == [("x", "y", "j", 0.5)] * 2
    assert set(found.frame["question_id"]) == {"q1"}
    with pytest.raises(
        DataError, match=r"model .x. has two scores of .j. on sample .q1. \(a column such as .turn., .epoch."
    ):
        found_in([{k: v for k, v in record.items() if k != "turn"} for record in twice])


def test_criteria_are_categories_to_rank_by():
    by = [
        record | {"criterion": name, "question_id": f"{record['question_id']}{n}"}
        for name in ("style", "truth")
        for n in range(4)
        for record in GRADES[:5]
    ]
    found = found_in(by)
    assert found.frame["category"].value_counts().to_dict() == {"style": 16, "truth": 16}
    assert set(rank(found, solver="penalised").tables["categories"]["category"]) == {"style", "truth"}


def test_fastchats_single_grades_are_read(tmp_path):
    records = [
        {"question_id": 81, "model": model, "judge": ["gpt-4", prompt], "turn": turn, "score": score}
        | {"user_prompt": "...", "judgment": "[[8]]", "tstamp": 1.5}
        for turn, prompt, grades in ((1, "single-v1", (8, 7)), (2, "single-v1-multi-turn", (-1, 9)))
        for model, score in zip("xy", grades, strict=True)
    ]
    path = tmp_path / "gpt-4_single.jsonl"
    pd.DataFrame(records).to_json(path, orient="records", lines=True)
    found = read(path)
    assert rows(found) == [("x", "y", "gpt-4", 1.0)]
    assert found.comparisons.dropped["null"] == 1  # a grade that could not be read


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        (
            [record | {"rating": 1} for record in GRADES],
            "the score could be 'score' or 'rating' .--column score=NAME",
        ),
        ([record | {"score": "good"} for record in GRADES], "record 1 has 'good' as 'score', not a number"),
        ([record | {"model": " "} for record in GRADES], "record 1 has ' ' as 'model', not a name"),
        ([record | {"question_id": None} for record in GRADES], "record 1 has no 'question_id'"),
        (
            renamed(GRADES, question_id="nothing"),
            "the table has no column 'question_id' or .* .it has: .*question=NAME",
        ),
        (GRADES[:1], "there are scores of one model only, 'x'"),
    ],
)
def test_scores_that_are_unclear_are_refused(records, sentence):
    with pytest.raises(DataError, match=sentence):
        found_in(records)


def test_winners_and_losers_have_no_order_and_may_tie():
    found = judgments_of(pd.DataFrame(WON))
    assert rows(found) == [("x", "y", "j", 1.0), ("y", "z", "j", 0.0), ("x", "z", "k", 0.5)]
    assert not found.ordered
    turned = judgments_of(pd.DataFrame(renamed(WON, winner="chosen", loser="rejected")))
    assert rows(turned) == rows(found)
    assert (
        "'chosen' and 'rejected' are read as names of models: x, y, z. If they are answers, add columns "
        "'chosen_model' and 'rejected_model' with the names." in turned.remarks
    )
    assert not any("'chosen_model'" in said for said in found.remarks)
    dotted = [{"chosen": "gpt-4.1", "rejected": "Llama 3.1 (8B)"}, {"chosen": "Llama 3.1 (8B)", "rejected": "v.2"}]
    assert judgments_of(pd.DataFrame(dotted)).comparisons.models == ("Llama 3.1 (8B)", "gpt-4.1", "v.2")


def test_what_is_said_of_either_model_is_turned_with_it():
    records = [record | {"words_a": 10, "words_b": 20} for record in WON]
    found = judgments_of(pd.DataFrame(records))
    assert found.frame[["words_a", "words_b"]].to_numpy().tolist() == [[10, 20], [20, 10], [10, 20]]


def test_a_list_of_winners_and_losers_is_ranked():
    pairs = [("x", "y"), ("y", "x"), ("x", "z"), ("z", "x"), ("x", "y"), ("y", "z"), ("z", "y")]
    found = rank(pairs)
    assert found.leaderboard["model"][0] == "x"
    assert not found.judgments.ordered
    assert list(rank([(1, 2), (2, 1), (1, 2)]).leaderboard["model"]) == ["1", "2"]


def test_answers_are_no_models():
    texts = [{"chosen": f"It is {n}.", "rejected": f"It may be {n}."} for n in range(10)]
    for records in (
        texts,
        [{"chosen": [{"role": "user"}], "rejected": [{"role": "user"}]}],
        [{"chosen": "a\nb", "rejected": "x"}],
        [{"prompt": "is it prime?", "chosen": "Yes", "rejected": "No"}] * 20,
        [{"chosen": "I think so.", "rejected": "Why?"}] * 20,
    ):
        with pytest.raises(
            DataError, match="columns 'chosen' and 'rejected' hold answers, not the names of models"
        ):
            judgments_of(pd.DataFrame(records))
    named = [record | {"chosen_model": "x", "rejected_model": "y"} for record in texts]
    for records in (named, renamed(named, chosen_model="chosen-model", rejected_model="rejected-model")):
        assert rows(judgments_of(pd.DataFrame(records)))[0] == ("x", "y", "one judge", 1.0)
    with pytest.raises(DataError, match="record 2 has 'maybe' as 'tie', neither true nor false"):
        judgments_of(pd.DataFrame([WON[0], WON[1] | {"tie": "maybe"}]))
