"""Results do not depend on names, nor on the order of records: over every layout there is."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from judgerank.data.judgments import Judgments
from judgerank.ranking.choices import default_member
from judgerank.ranking.ranking import rank
from judgerank.reading.from_tables import judgments_from
from judgerank.reading.layouts import LAYOUTS, Table

MODELS, JUDGES, QUESTIONS = ("a1", "b2", "c3", "d4"), ("j1", "k2", "l3"), tuple(f"q{n:02}" for n in range(18))
QUALITY = {"a1": 0.4, "b2": 1.1, "c3": -0.9, "d4": -0.2}
LEAN = {"j1": 0.6, "k2": -0.3, "l3": 0.0}
TURNED = {"a": "b", "b": "a", "c": "c"}


class Said(NamedTuple):
    """One judgment: who was shown first, who second, by whom, on what, and the letter of the answer."""

    first: str
    second: str
    judge: str
    question: str
    letter: str


class Names(NamedTuple):
    """New names of models, judges and questions, in another alphabetical order."""

    models: Mapping[str, str]
    judges: Mapping[str, str]
    questions: Mapping[str, str]


def drawn(seed: int = 0) -> list[Said]:
    rng, found = np.random.default_rng(seed), []
    for question in QUESTIONS:
        for first, second in rng.permuted([(a, b) for a in MODELS for b in MODELS if a < b], axis=1):
            for judge in JUDGES:
                eta = 1.2 * (QUALITY[first] - QUALITY[second]) + LEAN[judge]
                letter = "c" if rng.random() < 0.15 else "a" if rng.random() < 1 / (1 + np.exp(-eta)) else "b"
                found.append(Said(str(first), str(second), judge, question, letter))
    return found


def graded(seed: int = 0) -> list[tuple[str, str, str, int]]:
    """Model, judge, question, grade."""
    rng = np.random.default_rng(seed)
    return [
        (model, judge, question, int(np.clip(np.round(3 + QUALITY[model] + rng.normal()), 1, 5)))
        for model in MODELS
        for judge in JUDGES
        for question in QUESTIONS
    ]


def renamed(names: Names) -> list[Said]:
    return [
        Said(
            names.models[s.first],
            names.models[s.second],
            names.judges[s.judge],
            names.questions[s.question],
            s.letter,
        )
        for s in drawn()
    ]


def scores(names: Names) -> list[dict]:
    return [
        {"model": names.models[m], "judge": names.judges[j], "question": names.questions[q], "score": grade}
        for m, j, q, grade in graded()
    ]


# every layout as records (or as tables of their own): from names to what a file holds

Written = Callable[[Names], list[dict]]
WRITTEN: dict[str, Written] = {}


def writes(name: str) -> Callable[[Written], Written]:
    def kept(function: Written) -> Written:
        WRITTEN[name] = function
        return function

    return kept


def flat(
    names: Names, first: str, second: str, winner: str, judge: str, question: str, words=None, **more
) -> list[dict]:
    told = words or {"a": "a", "b": "b", "c": "c"}
    return [
        {first: s.first, second: s.second, winner: told[s.letter], judge: s.judge, question: s.question, **more}
        for s in renamed(names)
    ]


@writes("the paper's columns")
def paper(names):
    return flat(names, "model_a", "model_b", "judge_preferred_model", "judge_model", "question_id")


@writes("the arena's columns (LMArena)")
def arena(names):
    return [
        r | {"winner": {"a": r["model_a"], "b": r["model_b"], "c": "tie"}[r["winner"]]}
        for r in flat(names, "model_a", "model_b", "winner", "judge", "question")
    ]


@writes("LLMFAO's and Evalica's columns (left, right, winner)")
def llmfao(names):
    words = {"a": "left", "b": "right", "c": "tie"}
    return flat(names, "left", "right", "winner", "worker", "prompt", words)


@writes("the winner as one of three columns (LMSYS on Kaggle)")
def one_hot(names):
    return [
        {"model_a": s.first, "model_b": s.second, "judge": s.judge, "question": s.question}
        | {
            f"winner_{end}": int(s.letter == letter)
            for end, letter in (("model_a", "a"), ("model_b", "b"), ("tie", "c"))
        }
        for s in renamed(names)
    ]


@writes("HelpSteer3's preferences, with names of models")
def helpsteer(names):
    words = {"a": (-1, -3), "b": (2, 1), "c": (0, 0)}
    texts = {"context": "c", "response1": "one", "response2": "two"}
    told = flat(names, "model_a", "model_b", "overall_preference", "judge", "question", **texts)
    return [r | {"overall_preference": words[r["overall_preference"]][n % 2]} for n, r in enumerate(told)]


@writes("a wide table, one column a judge")
def wide(names):
    rows: dict[tuple, dict] = {}
    for s in renamed(names):
        row = rows.setdefault(
            (s.question, s.first, s.second), {"question": s.question, "model_a": s.first, "model_b": s.second}
        )
        row[s.judge] = s.letter
    return list(rows.values())


@writes("FastChat's pairwise judgments")
def fastchat(names):
    words = {"a": "model_1", "b": "model_2", "c": "tie"}
    other = {
        ("a", 0): "model_1",
        ("b", 0): "model_2",
        ("c", 0): "model_2",
        ("a", 1): "tie",
        ("b", 1): "model_2",
        ("c", 1): "tie",
    }
    return [
        {
            "question_id": s.question,
            "model_1": s.first,
            "model_2": s.second,
            "judge": [s.judge, "p"],
            "g1_winner": words[s.letter],
            "g2_winner": other[s.letter, n % 2],
        }
        for n, s in enumerate(renamed(names))
    ]


@writes("arena-hard-auto's verdicts")
def arena_hard(names):
    first, other = {"a": "A>>B", "b": "B>A", "c": "A=B"}, {"a": "B>A", "b": "A>>B", "c": "A>B"}
    return [
        {
            "uid": s.question,
            "model": s.second,
            "baseline": s.first,
            "judge": s.judge,
            "games": [{"score": first[s.letter]}, {"score": other[s.letter]}],
        }
        for s in renamed(names)
    ]


@writes("AlpacaEval's annotations")
def alpaca_eval(names):
    return flat(
        names,
        "generator_1",
        "generator_2",
        "preference",
        "annotator",
        "instruction",
        {"a": 1.1, "b": 1.8, "c": 1.5},
    )


@writes("evaluatorq's judged comparisons")
def judged(names):
    return flat(names, "item_a", "item_b", "p_a", "judge", "question", {"a": 1.0, "b": 0.0, "c": 0.5}, weight=2)


@writes("JudgeArena's battles")
def battles(names):
    words = {"a": "model_a", "b": "model_b", "c": "tie"}
    pref = {"model_a": (0.0, 0.25, 0.25), "model_b": (0.75, 1.0, 0.75), "tie": (0.5,) * 3}  # some are much better
    told = flat(names, "model_a", "model_b", "winner", "judge_model", "question_id", words, source="llm-judge")
    return [
        r | {"pref": pref[r["winner"]][n % 3], "orientation": ("direct", "reversed")[n % 2]}
        for n, r in enumerate(told)
    ]


@writes("judges' preferences beside people's (Soft-Elo)")
def beside(names):
    words = {"a": 0.0, "b": 1.0, "c": 0.5}
    return flat(names, "model_a", "model_b", "judge_pref", "judge", "instruction_id_hash", words, human_pref=None)


@writes("JudgeArena's reports")
def reports(names):
    pref, told = {"a": 0.25, "b": 1.0, "c": 0.5}, {}
    for s, plain in zip(renamed(names), drawn(), strict=True):  # sides as they were before they had new names
        pair = (s.first, s.second) if plain.first < plain.second else (s.second, s.first)
        letter = s.letter if pair[0] == s.first else TURNED[s.letter]
        told.setdefault((*pair, s.judge), []).append(pref[letter])
    common = {"report_type": "BattleReport", "task": names.questions["q00"], "swap_mode": "both"}
    return [
        {**common, "model_A": a, "model_B": b, "judge_model": judge, "preferences": preferences}
        for (a, b, judge), preferences in told.items()
    ]


@writes("evaluatorq's runs")
def runs(names):
    verdicts, told = {"a": "A", "b": "B", "c": "tie"}, {}
    for s in renamed(names):
        told.setdefault((s.first, s.second), []).append(
            {
                "question": s.question,
                "comparison": {
                    "votes": [
                        {"model": s.judge, "observations": [{"ordering": "ab", "verdict": verdicts[s.letter]}]}
                    ]
                },
            }
        )
    return [
        {"judging": "pairwise", "label_a": a, "label_b": b, "entries": entries} for (a, b), entries in told.items()
    ]


def won_lost(won: str, lost: str) -> Written:
    def written(names: Names) -> list[dict]:
        return [
            {won: s.second if s.letter == "b" else s.first, lost: s.first if s.letter == "b" else s.second}
            | {"judge": s.judge, "question": s.question, "tie": s.letter == "c"}
            for s in renamed(names)
        ]

    return written


for _pair in (
    ("winner", "loser"),
    ("winner_model", "loser_model"),
    ("chosen_model", "rejected_model"),
    ("chosen", "rejected"),
):
    WRITTEN[f"winners and losers ({', '.join(_pair)})"] = won_lost(*_pair)


@writes("a table of scores")
def score_table(names):
    return scores(names)


@writes("a wide table of scores, one column a task")
def scores_by_task(names):
    table = pd.DataFrame(scores(names)).pivot(index=["model", "judge"], columns="question", values="score")
    return table.reset_index().to_dict("records")


@writes("a wide table of scores, one column a model")
def scores_by_model(names):
    table = pd.DataFrame(scores(names)).pivot(index=["question", "judge"], columns="model", values="score")
    return table.reset_index().to_dict("records")


@writes("ranks, a row for each answer")
def ranks(names):
    rows = [r | {"rank": -r["score"]} for r in scores(names)]
    return [{key: r[key] for key in ("judge", "question", "model", "rank")} for r in rows]


@writes("ranks, a row for each answer, with the order shown")
def ranks_in_order(names):
    groups: dict[tuple, list[dict]] = {}
    for r in ranks(names):
        groups.setdefault((r["judge"], r["question"]), []).append(r)
    return [
        r | {"place": (place + turn) % len(rows) + 1}
        for turn, rows in enumerate(groups.values())
        for place, r in enumerate(rows)
    ]


@writes("rankings, best first, with the order shown")
def rankings_in_order(names):
    told: dict[tuple, list[dict]] = {}
    for r in ranks_in_order(names):
        told.setdefault((r["judge"], r["question"]), []).append(r)
    return [
        {
            "judge": judge,
            "question": question,
            "ranking": ranked(rows),
            "shown": ", ".join(r["model"] for r in sorted(rows, key=lambda r: r["place"])),
        }
        for (judge, question), rows in told.items()
    ]


@writes("rankings, best first")
def rankings(names):
    return [{key: r[key] for key in ("judge", "question", "ranking")} for r in rankings_in_order(names)]


def ranked(rows: list[dict]) -> str:
    places: dict[float, list[str]] = {}
    for r in rows:
        places.setdefault(r["rank"], []).append(r["model"])
    return " > ".join(" = ".join(places[place]) for place in sorted(places))


@writes("inspect_ai's log of samples")
def inspect(names):
    logs: dict[str, dict] = {}
    for r in scores(names):
        samples = logs.setdefault(r["model"], {})
        samples.setdefault(r["question"], {})[r["judge"]] = {"value": r["score"]}
    return [
        {
            "eval": {"model": model, "task": "t"},
            "samples": [{"id": q, "epoch": 1, "scores": one} for q, one in samples.items()],
        }
        for model, samples in logs.items()
    ]


@writes("judgments of a panel in a log of inspect_ai")
def judged_in_inspect(names):
    samples: dict[str, list[dict]] = {}
    for r in flat(names, "model_a", "model_b", "judge_preferred_model", "judge_model", "question"):
        samples.setdefault(r.pop("question"), []).append(r | {"raw": "because"})
    return [
        {
            "eval": {"model": "m", "task": "t"},
            "samples": [{"id": q, "epoch": 1, "scores": {"pairwise": {"metadata": {"judgerank": told}}}}],
        }
        for q, told in samples.items()
    ]


@writes("lm-evaluation-harness's log of samples")
def harness(names):
    rows: dict[tuple, dict] = {}
    for r in scores(names):
        row = rows.setdefault((r["model"], r["question"]), {"model": r["model"], "doc_id": r["question"]})
        row[r["judge"]] = r["score"]
    return [row | {"doc": {}, "filtered_resps": ["1"]} for row in rows.values()]


def promptfoo_outputs(names: Names) -> list[dict]:
    outputs: dict[tuple, dict] = {}
    for r in scores(names):
        one = {"provider": {"id": "x", "label": r["model"]}, "vars": {"q": r["question"]}}
        found = outputs.setdefault((r["model"], r["question"]), one | {"parts": []})
        found["parts"].append({"score": r["score"], "assertion": {"type": "llm-rubric", "metric": r["judge"]}})
    return [
        {key: value for key, value in one.items() if key != "parts"}
        | {"prompt": {"raw": "Say", "label": "Say"}, "gradingResult": {"componentResults": one["parts"]}}
        for one in outputs.values()
    ]


writes("promptfoo's report, a line for each output")(promptfoo_outputs)


@writes("promptfoo's report")
def promptfoo(names):
    return [{"results": {"version": 3, "results": [one]}, "config": {}} for one in promptfoo_outputs(names)]


def cells(names: Names) -> dict[tuple, list[dict]]:
    """Scores of every model on every question."""
    found: dict[tuple, list[dict]] = {}
    for r in scores(names):
        found.setdefault((r["model"], r["question"]), []).append(r)
    return found


@writes("claude plugin eval's results")
def plugin_evals(names):
    cases: dict[str, dict] = {}
    for (model, question), parts in cells(names).items():
        arms = cases.setdefault(question, {})
        arms[model] = [{"score": parts[0]["score"], "graders": []}]
    return [{"name": question, "arms": arms, "aggregates": {}} for question, arms in cases.items()]


@writes("skill-creator's benchmark")
def benchmark(names):
    return [
        {"configuration": model, "eval_id": question, "run_number": 1, "result": {"pass_rate": parts[0]["score"]}}
        for (model, question), parts in cells(names).items()
    ]


def test_runs(names: Names) -> list[dict]:
    runs: dict[str, list[dict]] = {}
    for (model, question), parts in cells(names).items():
        metrics = [{"name": r["judge"], "score": r["score"], "threshold": -1.0, "success": True} for r in parts]
        runs.setdefault(model, []).append({"name": "test_case_0", "input": question, "metricsData": metrics})
    return [{"identifier": model, "testCases": cases} for model, cases in runs.items()]


test_runs.__test__ = False
writes("deepeval's test run")(test_runs)


@writes("skill-creator's gradings")
def gradings(names):
    return [
        {
            "configuration": model,
            "eval_id": question,
            "run_number": 1,
            "expectations": [],
            "summary": {"pass_rate": parts[0]["score"]},
        }
        for (model, question), parts in cells(names).items()
    ]


@writes("deepeval's test results")
def test_results(names):
    return [
        {
            "identifier": run["identifier"],
            "input": case["input"],
            "success": True,
            "metrics_data": case["metricsData"],
        }
        for run in test_runs(names)
        for case in run["testCases"]
    ]


test_results.__test__ = False


@writes("deepeval's kept test run")
def kept_test_runs(names):
    return [{"testRunData": one} for one in test_runs(names)]


# what must stay the same

AS_THEY_ARE = Names(*({name: name for name in names} for names in (MODELS, JUDGES, QUESTIONS)))


def other_names(seed: int) -> Names:
    rng = random.Random(seed)

    def mapped(names):
        shuffled = rng.sample(
            [f"{letter}-{n}" for n, letter in enumerate("zyxwvutsrqponmlkjihgfedcba")], len(names)
        )
        return dict(zip(names, shuffled, strict=True))

    return Names(mapped(MODELS), mapped(JUDGES), mapped(QUESTIONS))


def judgments(name: str, names: Names, shuffle: int | None = None) -> Judgments:
    records = WRITTEN[name](names)
    if shuffle is not None:
        random.Random(shuffle).shuffle(records)
    columns = {
        "a wide table, one column a judge": {"judges": ",".join(names.judges.values())},
        "a wide table of scores, one column a task": {"tasks": ",".join(names.questions.values())},
        "a wide table of scores, one column a model": {"models": ",".join(names.models.values())},
    }.get(name, {})
    return judgments_from([Table(pd.DataFrame(records), columns, path=None)], "mine")


Results = dict[str, pd.DataFrame]
KNOWN: dict[tuple[str, ...], Results] = {}  # by all that was read: several layouts say the very same


def results(found: Judgments, names: Names, cluster: str = "question") -> Results:
    """`results_of`, once for judgments that are the same."""
    cells = found.comparisons
    arrays = (vars(cells)[field.name] for field in fields(cells))
    told = found.frame.to_csv(), *(repr(np.asarray(one).tolist()) for one in arrays), str(names), cluster
    if told not in KNOWN:
        KNOWN[told] = results_of(found, names, cluster)
    return KNOWN[told]


def results_of(found: Judgments, names: Names, cluster: str) -> Results:
    """Tables of a ranking by the usual member under the first names, in the order of these."""
    model = default_member([found.comparisons])[0]
    ranking = rank(found, model=f"{model}_ties" if cluster == "effects" else model, cluster=cluster)
    models, judges = ({new: old for old, new in one.items()} for one in names[:2])
    board = ranking.tables["leaderboard"].replace({"model": models}).sort_values("model")
    pairs = ranking.tables["pairs"].replace({"first": models, "second": models})
    pairs = pairs.assign(
        pair=["".join(sorted(pair)) for pair in zip(pairs["first"], pairs["second"], strict=True)]
    )
    told = ranking.tables["judges"].replace({"judge": judges}).sort_values("judge")
    status = pd.DataFrame(
        {
            "status": [str(fitted.status) for fitted in ranking.fits],
            "likelihood": [fitted.log_likelihood for fitted in ranking.fits],
        }
    )
    tables = {"board": board, "pairs": pairs.sort_values("pair"), "judges": told, "status": status}
    return {name: table.reset_index(drop=True) for name, table in tables.items()}


def same_results(one: Results, other: Results, rtol: float = 1e-6) -> None:
    for name, table in one.items():
        pd.testing.assert_frame_equal(table, other[name], rtol=rtol, atol=rtol / 10, check_exact=False, obj=name)


@pytest.mark.parametrize("name", [layout.name for layout in LAYOUTS if layout.recipe is None])
def test_new_names_and_another_order_of_records_change_nothing_but_names(name):
    assert name in WRITTEN, f"write a sample in the layout {name!r} here"
    plain = judgments(name, AS_THEY_ARE)
    assert plain.source["layout"] == name
    known = results(plain, AS_THEY_ARE)
    new = other_names(2)
    same_results(known, results(judgments(name, new, shuffle=3), new))


@pytest.mark.parametrize("name", ["the paper's columns", "a table of scores"])
def test_nor_do_they_where_questions_have_effects(name):
    known, new = results(judgments(name, AS_THEY_ARE), AS_THEY_ARE, "effects"), other_names(4)
    same_results(known, results(judgments(name, new, shuffle=5), new, "effects"), rtol=1e-4)
