"""Random judgments written in every layout that `judgerank.reading` recognises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

Records = list[dict[str, Any]]
Row = tuple[str, str, str, str, int]  # the model shown first, the second, the judge, the winner, the question
FIRST, SECOND, TIE = "model_a", "model_b", "tie"
BASELINE = "m0"


def drawn_records(rng: np.random.Generator) -> list[Row]:
    """Judgments of a random design: models far apart, equal or swept."""
    n, k, size = int(rng.integers(2, 7)), int(rng.integers(1, 5)), int(rng.integers(6, 80))
    scores = rng.normal(size=n) * rng.choice([0.0, 0.3, 1.0, 4.0])
    gamma = rng.choice([0.0, 0.5, 1.0, 2.0, -1.0], size=k, p=[0.1, 0.2, 0.4, 0.2, 0.1])
    questions, share = int(rng.integers(1, size + 1)), rng.choice([0.0, 0.2, 0.9], p=[0.5, 0.4, 0.1])
    rows = []
    for _ in range(size):
        i, j = rng.permutation(n)[:2]
        judge = int(rng.integers(k))
        first = rng.random() < expit(gamma[judge] * (scores[i] - scores[j]))
        winner = TIE if rng.random() < share else FIRST if first else SECOND
        rows.append((f"m{i}", f"m{j}", f"j{judge}", winner, int(rng.integers(questions))))
    return rows


def _columns(a: str, b: str, judge: str, winner: str, question: str) -> Callable[[list[Row]], Records]:
    """Records of one comparison each, by the names of their columns."""
    names = (a, b, judge, winner, question)
    return lambda rows: [dict(zip(names, row, strict=True)) for row in rows]


def _answered(
    records: Callable[[list[Row]], Records], **answers: tuple[object, object, object]
) -> Callable[[list[Row]], Records]:
    """The same with columns that say who won, by their values for the first, the second and a tie."""
    place = {FIRST: 0, SECOND: 1, TIE: 2}

    def written(rows: list[Row]) -> Records:
        return [
            {key: value for key, value in record.items() if key != "won"}
            | {name: values[place[record["won"]]] for name, values in answers.items()}
            for record in records(rows)
        ]

    return written


def _helpsteer(rows: list[Row]) -> Records:
    flat = _columns("model_a", "model_b", "judge", "won", "question")
    written = _answered(flat, overall_preference=(-2, 2, 0))(rows)
    return [record | {"response1": "one", "response2": "two"} for record in written]


def _judges_in(rows: list[Row]) -> list[str]:
    return sorted({judge for _, _, judge, _, _ in rows})


def _wide(rows: list[Row]) -> Records:
    judges = _judges_in(rows)
    return [
        {"question": q, "model_a": a, "model_b": b, **dict.fromkeys(judges), judge: won}
        for a, b, judge, won, q in rows
    ]


def _fastchat(rows: list[Row]) -> Records:
    winner = {FIRST: "model_1", SECOND: "model_2", TIE: "tie"}
    return [
        {
            "question_id": q,
            "model_1": a,
            "model_2": b,
            "judge": judge,
            "g1_winner": winner[won],
            "g2_winner": "error",
        }
        for a, b, judge, won, q in rows
    ]


def _arena_hard(rows: list[Row]) -> Records:
    """Comparisons with the baseline alone, as the first game where it was shown first, else as the second."""
    verdict = {FIRST: "A>B", SECOND: "B>A", TIE: "A=B"}
    records = []
    for a, b, judge, won, q in rows:
        if BASELINE in (a, b):
            game, none = {"score": verdict[won], "judgment": ""}, {"score": None, "judgment": ""}
            games = [game, none] if a == BASELINE else [none, game]
            model = b if a == BASELINE else a
            records.append({"uid": f"{q}", "model": model, "baseline": BASELINE, "judge": judge, "games": games})
    return records


def _battles(rows: list[Row]) -> Records:
    flat = _columns("model_a", "model_b", "judge_model", "won", "question_id")
    written = _answered(flat, winner=(FIRST, SECOND, TIE), pref=(0.0, 1.0, 0.5))(rows)
    return [record | {"source": "llm-judge", "question_id": f"{record['question_id']}"} for record in written]


def _reports(rows: list[Row]) -> Records:
    """A report for each judge and pair in the order shown, whose questions are known by their place."""
    share = {FIRST: 0.0, SECOND: 1.0, TIE: 0.5}
    preferences: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for a, b, judge, won, _ in rows:
        preferences[a, b, judge].append(share[won])
    return [
        {"task": "t", "model_A": a, "model_B": b, "judge_model": j, "swap_mode": "fixed", "preferences": listed}
        for (a, b, j), listed in preferences.items()
    ]


def _runs(rows: list[Row]) -> Records:
    """A run for each pair, an entry for each answer."""
    entries: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for a, b, judge, won, q in rows:
        low, high = sorted((a, b))
        label = "tie" if won == TIE else "A" if (won == FIRST) == (a == low) else "B"
        seen = [{"ordering": "ab" if a == low else "ba", "repetition": 0, "verdict": label}]
        votes = [{"model": judge, "vote": label, "observations": seen}]
        entries[low, high].append({"question": f"q{q}", "comparison": {"votes": votes}})
    return [
        {"judging": "pairwise", "label_a": a, "label_b": b, "swap": True, "entries": listed}
        for (a, b), listed in entries.items()
    ]


def _panel_log(rows: list[Row]) -> Records:
    """One log, a sample for each question."""
    letter = {FIRST: "a", SECOND: "b", TIE: "c"}
    judgments: dict[int, Records] = defaultdict(list)
    for a, b, judge, won, q in rows:
        judged = {
            "model_a": a,
            "model_b": b,
            "judge_model": judge,
            "judge_preferred_model": letter[won],
            "raw": "",
        }
        judgments[q].append(judged)
    samples = [
        {"id": q, "scores": {"pairwise": {"metadata": {"judgerank": listed}}}} for q, listed in judgments.items()
    ]
    return [{"eval": {"task": "t", "model": "m"}, "samples": samples}]


def _beside_people(rows: list[Row]) -> Records:
    """Every other answer is one by people, beside no answer of the judge's."""
    share = {FIRST: 0.0, SECOND: 1.0, TIE: 0.5}
    return [
        {
            "model_a": a,
            "model_b": b,
            "judge": judge,
            "judge_pref": None if number % 2 else share[won],
            "human_pref": share[won] if number % 2 else None,
            "instruction_id_hash": f"q{q}",
        }
        for number, (a, b, judge, won, q) in enumerate(rows)
    ]


def _winners(better: str, worse: str) -> Callable[[list[Row]], Records]:
    """The winner beside the loser, in no order of presentation."""

    def written(rows: list[Row]) -> Records:
        return [
            {better: b if won == SECOND else a, worse: a if won == SECOND else b, "tie": won == TIE}
            | {"judge": judge, "question_id": q}
            for a, b, judge, won, q in rows
        ]

    return written


def _rankings(has_order: bool) -> Callable[[list[Row]], Records]:
    """One ranking of two answers a record."""

    def written(rows: list[Row]) -> Records:
        records = []
        for a, b, judge, won, q in rows:
            ranking = f"{a} = {b}" if won == TIE else f"{a} > {b}" if won == FIRST else f"{b} > {a}"
            shown = {"shown": f"{a}, {b}"} if has_order else {}
            records.append({"ranking": ranking, "judge": judge, "question_id": q, **shown})
        return records

    return written


def _ranks(has_order: bool) -> Callable[[list[Row]], Records]:
    """Two rows for each answer, which is a question of its own."""

    def written(rows: list[Row]) -> Records:
        records = []
        for number, (a, b, judge, won, _) in enumerate(rows):
            ranks = {TIE: (1, 1), FIRST: (1, 2), SECOND: (2, 1)}[won]
            for place, (model, rank) in enumerate(zip((a, b), ranks, strict=True), 1):
                shown = {"place": place} if has_order else {}
                records.append({"question": number, "judge": judge, "model": model, "rank": rank, **shown})
        return records

    return written


def scores_of(rows: list[Row]) -> dict[tuple[str, str, int], int]:
    """A score of each model by each judge on each question, the last one that a comparison gives it."""
    points = {FIRST: (2, 1), SECOND: (1, 2), TIE: (1, 1)}
    return {
        (model, judge, q): score
        for a, b, judge, won, q in rows
        for model, score in zip((a, b), points[won], strict=True)
    }


def _score_table(rows: list[Row]) -> Records:
    return [
        {"model": model, "judge": judge, "question_id": q, "score": score}
        for (model, judge, q), score in scores_of(rows).items()
    ]


def _wide_scores(row: str, column: str) -> Callable[[list[Row]], Records]:
    """A row for each judge and model or task, a column for each of the others, empty where there is no score."""

    def written(rows: list[Row]) -> Records:
        records: dict[tuple[str, str], dict[str, Any]] = {}
        for name in _columns_of(rows, column):
            for (model, judge, q), score in scores_of(rows).items():
                of = {"model": model, "question_id": f"q{q}"}
                record = records.setdefault((of[row], judge), {row: of[row], "judge": judge})
                record.setdefault(name, None)
                if of[column] == name:
                    record[name] = score
        return list(records.values())

    return written


def _columns_of(rows: list[Row], column: str) -> list[str]:
    """Names of the models or tasks of some judgments, in order."""
    names = {f"q{q}" if column == "question_id" else model for model, _, q in scores_of(rows)}
    return sorted(names)


def _by_model(rows: list[Row]) -> dict[str, dict[int, dict[str, int]]]:
    """Scores by model, question and judge."""
    by_model: dict[str, dict[int, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for (model, judge, q), score in scores_of(rows).items():
        by_model[model][q][judge] = score
    return by_model


def _inspect_logs(rows: list[Row]) -> Records:
    """A log for each model, a scorer for each judge."""
    return [
        {
            "version": 2,
            "status": "success",
            "eval": {"task": "t", "model": model},
            "samples": [
                {"id": q, "epoch": 1, "scores": {judge: {"value": score} for judge, score in scores.items()}}
                for q, scores in samples.items()
            ],
        }
        for model, samples in _by_model(rows).items()
    ]


def _harness(rows: list[Row]) -> Records:
    """A metric for each judge."""
    return [
        {"doc_id": q, "doc": "?", "filtered_resps": ["1"], "filter": "none", "model": model, **scores}
        | {"metrics": list(scores), "doc_hash": f"{q}"}
        for model, samples in _by_model(rows).items()
        for q, scores in samples.items()
    ]


def _promptfoo_lines(rows: list[Row]) -> Records:
    """An assertion for each judge."""
    return [
        {
            "provider": {"id": model},
            "prompt": {"raw": "p"},
            "vars": {"question": f"q{q}"},
            "gradingResult": {
                "componentResults": [
                    {"score": score, "assertion": {"metric": judge}} for judge, score in scores.items()
                ]
            },
        }
        for model, samples in _by_model(rows).items()
        for q, scores in samples.items()
    ]


def _promptfoo(rows: list[Row]) -> Records:
    return [{"config": {}, "results": {"version": 3, "results": _promptfoo_lines(rows)}}]


def _by_run(rows: list[Row]) -> list[tuple[str, int, int, float]]:
    """Model, task, number of the run and pass rate: each judge's scores are a run."""
    return [
        (model, q, number, score / 2)
        for model, samples in _by_model(rows).items()
        for q, scores in samples.items()
        for number, score in enumerate(scores.values(), 1)
    ]


def _plugin_evals(rows: list[Row]) -> Records:
    arms: dict[int, dict[str, list[dict[str, float]]]] = defaultdict(lambda: defaultdict(list))
    for model, q, _, rate in _by_run(rows):
        arms[q][model].append({"score": rate})
    return [{"name": f"q{q}", "arms": dict(by_model), "aggregates": {}} for q, by_model in arms.items()]


def _skill_runs(of_run: Callable[[float], dict[str, object]]) -> Callable[[list[Row]], Records]:
    """Runs of skill-creator, with what a run holds of its pass rate."""
    return lambda rows: [
        {"configuration": model, "eval_id": q, "run_number": number, **of_run(rate)}
        for model, q, number, rate in _by_run(rows)
    ]


def _deepeval_cases(rows: list[Row], metrics: str) -> dict[str, Records]:
    """Test cases of each model, with a metric for each judge."""
    return {
        model: [
            {"input": f"q{q}", metrics: [{"name": judge, "score": score / 2} for judge, score in scores.items()]}
            for q, scores in samples.items()
        ]
        for model, samples in _by_model(rows).items()
    }


def _deepeval_runs(rows: list[Row]) -> Records:
    cases = _deepeval_cases(rows, "metricsData")
    return [{"identifier": model, "testCases": of_model} for model, of_model in cases.items()]


def _deepeval_results(rows: list[Row]) -> Records:
    return [
        {"identifier": model, "success": True, **case}
        for model, of_model in _deepeval_cases(rows, "metrics_data").items()
        for case in of_model
    ]


@dataclass(frozen=True)
class Layout:
    """How judgments are written in a layout.

    Attributes
    ----------
    written : callable
        From judgments to records.
    lacks : str
        What of the judgments the layout cannot hold, or what is written otherwise; empty if nothing.
    columns : callable
        From judgments to the columns that must be named to read them.
    """

    written: Callable[[list[Row]], Records]
    lacks: str = ""
    columns: Callable[[list[Row]], dict[str, str | None]] = lambda rows: {}


ORDER = "order shown"
SCORES = f"{ORDER}; models compared by their scores"
_LETTERS = ("a", "b", "c")
_ANY = _columns("model_a", "model_b", "judge", "won", "question")
LAYOUTS: dict[str, Layout] = {
    "the paper's columns": Layout(
        _answered(
            _columns("model_a", "model_b", "judge_model", "won", "question_id"), judge_preferred_model=_LETTERS
        )
    ),
    "the arena's columns (LMArena)": Layout(
        _columns("model_a", "model_b", "judge_model", "winner", "question_id"),
    ),
    "the arena's columns, models and winner alone": Layout(
        lambda rows: [{"model_a": a, "model_b": b, "winner": won} for a, b, _, won, _ in rows], "judges; questions"
    ),
    "LLMFAO's and Evalica's columns (left, right, winner)": Layout(
        _answered(_columns("left", "right", "judge", "won", "question_id"), winner=("left", "right", "tie"))
    ),
    "the winner as one of three columns (LMSYS on Kaggle)": Layout(
        _answered(_ANY, winner_model_a=(1, 0, 0), winner_model_b=(0, 1, 0), winner_tie=(0, 0, 1))
    ),
    "HelpSteer3's preferences, with names of models": Layout(_helpsteer),
    "a wide table, one column a judge": Layout(
        _wide, "a single judge", lambda rows: {"judges": ",".join(_judges_in(rows))}
    ),
    "FastChat's pairwise judgments": Layout(_fastchat),
    "arena-hard-auto's verdicts": Layout(_arena_hard, "comparisons without the baseline"),
    "AlpacaEval's annotations": Layout(
        _answered(
            _columns("generator_1", "generator_2", "annotator", "won", "instruction"), preference=(1, 2, 1.5)
        )
    ),
    "evaluatorq's judged comparisons": Layout(
        _answered(_columns("item_a", "item_b", "judge", "won", "question_id"), p_a=(1.0, 0.0, 0.5))
    ),
    "JudgeArena's battles": Layout(_battles),
    "JudgeArena's reports": Layout(_reports, "questions of several reports"),
    "evaluatorq's runs": Layout(_runs),
    "inspect_ai's log of samples": Layout(_inspect_logs, SCORES),
    "lm-evaluation-harness's log of samples": Layout(_harness, SCORES),
    "judgments of a panel in a log of inspect_ai": Layout(_panel_log),
    "promptfoo's report": Layout(_promptfoo, SCORES),
    "promptfoo's report, a line for each output": Layout(_promptfoo_lines, SCORES),
    "claude plugin eval's results": Layout(_plugin_evals, f"{SCORES}; judges"),
    "skill-creator's benchmark": Layout(
        _skill_runs(lambda rate: {"result": {"pass_rate": rate}}), f"{SCORES}; judges"
    ),
    "skill-creator's gradings": Layout(
        _skill_runs(lambda rate: {"expectations": [], "summary": {"pass_rate": rate}}), f"{SCORES}; judges"
    ),
    "deepeval's test run": Layout(_deepeval_runs, SCORES),
    "deepeval's kept test run": Layout(
        lambda rows: [{"testRunData": run} for run in _deepeval_runs(rows)], SCORES
    ),
    "deepeval's test results": Layout(_deepeval_results, SCORES),
    "a table of scores": Layout(_score_table, SCORES),
    "a wide table of scores, one column a task": Layout(
        _wide_scores("model", "question_id"),
        SCORES,
        lambda rows: {"tasks": ",".join(_columns_of(rows, "question_id"))},
    ),
    "a wide table of scores, one column a model": Layout(
        _wide_scores("question_id", "model"), SCORES, lambda rows: {"models": ",".join(_columns_of(rows, "model"))}
    ),
    **{
        f"winners and losers ({better}, {worse})": Layout(_winners(better, worse), ORDER)
        for better, worse in (
            ("winner", "loser"),
            ("winner_model", "loser_model"),
            ("chosen_model", "rejected_model"),
            ("chosen", "rejected"),
        )
    },
    "judges' preferences beside people's (Soft-Elo)": Layout(_beside_people),
    "rankings, best first": Layout(_rankings(False), ORDER),
    "rankings, best first, with the order shown": Layout(_rankings(True)),
    "ranks, a row for each answer": Layout(_ranks(False), f"{ORDER}; questions"),
    "ranks, a row for each answer, with the order shown": Layout(_ranks(True), "questions"),
}
