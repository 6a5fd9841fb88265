"""Scores of runs with and without a change: evals of Claude Code's plugins and skills, and runs of deepeval.

``claude plugin eval --json``: cases with their runs by arm, ``with`` the plugin and ``without`` it
(https://code.claude.com/docs/en/plugin-evals, schema 1).

skill-creator: ``benchmark.json``, or a ``grading.json`` in ``eval-N/CONFIGURATION/run-N`` (references/schemas.md
and scripts/aggregate_benchmark.py of skills/skill-creator in https://github.com/anthropics/skills).

deepeval: the run that ``deepeval test run`` keeps (``TestRun`` in deepeval/test_run/test_run.py of
https://github.com/confident-ai/deepeval), and results of ``evaluate``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.reading.layouts.sample_scores import SCORES, on_directions
from judgerank.reading.layouts.table import Layout, Table, values
from judgerank.reading.layouts.words import number

Row = tuple[str, str, str, str, float | None]
SCORE, PASS_RATE = "score", "pass rate"
RUN = "run-"  # begins the name of a run's folder
OF_FOLDERS = ("configuration", "eval_id", "run_number")
OF_RUNS = "A task's runs are compared one by one, in their order."


def _number(where: str, value: object) -> float | None:
    parsed = float(value) if isinstance(value, bool) else None if value is None else number(value)
    if value is not None and parsed is None:
        raise DataError(f"{where} has {value!r} as its score, not a number")
    return parsed


def _mapping(where: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"{where} is not an object")
    return value


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(SCORES))


def _plugin_evals(table: Table) -> pd.DataFrame:
    rows: list[Row] = []
    for name, arms in zip(values(table.frame, "name"), values(table.frame, "arms"), strict=True):
        for arm, runs in _mapping(f"case {name!r}: arms", arms).items():
            for position, run in enumerate(runs, 1):
                where = f"case {name!r}, run {position} {arm}"
                score = _number(where, _mapping(where, run).get("score"))
                rows.append((arm, str(name), f"run {position}", SCORE, score))
    return _frame(rows)


def _benchmark(table: Table) -> pd.DataFrame:
    names = ("configuration", "eval_id", "run_number", "result")
    columns = [values(table.frame, name) if name in table.frame else [1] * len(table.frame) for name in names]
    rows = []
    for position, (model, task, run, result) in enumerate(zip(*columns, strict=True), 1):
        where = f"run {position}"
        if not isinstance(model, str) or task is None:
            raise DataError(f"{where} names no {'configuration' if task is not None else 'eval_id'}")
        score = _number(where, _mapping(f"{where}: result", result).get("pass_rate"))
        rows.append((model, str(task), f"run {run}", PASS_RATE, score))
    return _frame(rows)


def _folders(table: Table) -> tuple[str, str, str]:
    """Configuration, task and run, as the folders of a ``grading.json`` name them."""
    parts = () if table.path is None else table.path.absolute().parent.parts
    is_run = bool(parts) and parts[-1].startswith(RUN)
    configuration, run = (parts[:-1], parts[-1]) if is_run else (parts, f"{RUN}1")
    if len(configuration) < 2:
        raise DataError("a grading is in a folder of its task and configuration: eval-N/with_skill/run-N")
    return configuration[-1], configuration[-2], run


def _grading(table: Table) -> pd.DataFrame:
    """Of a file, or of a table of gradings in which columns say what folders do."""
    if {*OF_FOLDERS} <= {*table.frame.columns}:
        where = list(zip(*(values(table.frame, name).astype(str) for name in OF_FOLDERS), strict=True))
    else:
        where = [_folders(table)] * len(table.frame)
    gradings = zip(where, values(table.frame, "summary"), values(table.frame, "expectations"), strict=True)
    return _frame([(*run, PASS_RATE, _rate(summary, expectations)) for run, summary, expectations in gradings])


def _rate(summary: object, expectations: object) -> float | None:
    """The share of expectations that passed, as the summary has it, or counted."""
    rate = _mapping("summary", summary).get("pass_rate")
    if rate is None and isinstance(expectations, list) and expectations:
        return sum(bool(_mapping("an expectation", one).get("passed")) for one in expectations) / len(expectations)
    return _number("the grading", rate)


def _cases_in(table: Table) -> Iterator[Mapping[str, Any]]:
    """Test cases of all runs in a table, with what the run is called, where it says so."""
    if "metrics_data" in table.frame:
        columns = {str(name): values(table.frame, name) for name in table.frame.columns}
        yield from (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        return
    key = "testRunData" if "testRunData" in table.frame else None
    runs = values(table.frame, key) if key else table.frame.to_dict("records")
    for position, run in enumerate(runs, 1):
        cases = _mapping(f"run {position}", run).get("testCases")
        if not isinstance(cases, list) or not cases:
            raise DataError(f"run {position} has no test cases")
        named = run.get("identifier")
        yield from ({**_mapping("a test case", case), "identifier": named} for case in cases)


def _metrics(case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = case.get("metricsData", case.get("metrics_data")) or []
    return [metric for metric in listed if isinstance(metric, Mapping)]


def _signs(table: Table) -> dict[str, float]:
    """-1 for metrics of which less is better, else 1, by what passed their thresholds."""
    above, below = Counter[str](), Counter[str]()
    for metric in (metric for case in _cases_in(table) for metric in _metrics(case)):
        score, threshold, passed = (metric.get(key) for key in ("score", "threshold", "success"))
        if isinstance(score, int | float) and isinstance(threshold, int | float) and score != threshold:
            agrees = (score > threshold) == bool(passed)
            above[str(metric.get("name"))] += agrees
            below[str(metric.get("name"))] += not agrees
    return {name: -1.0 if below[name] > above[name] else 1.0 for name in {*above, *below}}


def _deepeval(table: Table) -> pd.DataFrame:
    signs, rows = _signs(table), list[Row]()
    file = "this run" if table.path is None else table.path.name.split(".")[0]
    seen: Counter[tuple[str, str]] = Counter()
    for position, case in enumerate(_cases_in(table), 1):
        asked = case.get("input")
        task = asked if isinstance(asked, str) and asked else str(case.get("name") or position)
        model = str(case.get("identifier") or file)
        seen[model, task] += 1
        for metric in _metrics(case):
            name = str(metric.get("name"))
            score = None if metric.get("error") else _number(f"test case {position}: {name}", metric.get("score"))
            run = f"run {seen[model, task]}"
            rows.append((model, task, run, name, None if score is None else signs.get(name, 1.0) * score))
    return _frame(rows)


def _on_deepeval(table: Table) -> Iterator[str]:
    signs = _signs(table)
    less = {name for name, sign in signs.items() if sign < 0}
    yield on_directions(less, signs.keys() - less)


def _of_scores(
    name: str, needs: tuple[str, ...], to_frame: Any, used: Mapping[str, list[str]], remark: str, **more: Any
) -> Layout:
    return Layout(
        name,
        needs,
        to_frame,
        lambda table: {key: [column for column in of if column in table.frame] for key, of in used.items()},
        remark=f"{remark} {OF_RUNS}",
        of_scores=True,
        ordered=False,
        accepts=frozenset(),
        aliases={},
        **more,
    )


DEEPEVAL: dict[str, Any] = {
    "remark": "A task is a test case, by its input; each metric is a judge; a variant is a test run, by its "
    "identifier or its file.",
    "notes": _on_deepeval,
    "of_file": lambda table: "" if table.path is None else str(table.path),
}
LAYOUTS = (
    _of_scores(
        "claude plugin eval's results",
        ("name", "arms", "aggregates"),
        _plugin_evals,
        {"model and score": ["arms"], "question": ["name"]},
        "A task is a case, and a variant an arm; a run's score is over its graders.",
        of_file=lambda table: "" if table.path is None else str(table.path),
    ),
    _of_scores(
        "skill-creator's benchmark",
        ("configuration", "eval_id", "result"),
        _benchmark,
        {"model": ["configuration"], "question": ["eval_id"], "run": ["run_number"], "score": ["result"]},
        "A task is an eval, and a run's score is its pass rate.",
    ),
    _of_scores(
        "skill-creator's gradings",
        ("expectations", "summary"),
        _grading,
        {"score": ["summary", "expectations"], "run": [*OF_FOLDERS]},
        "Folders name the task, the variant and the run; a run's score is its pass rate.",
        of_file=lambda table: "" if table.path is None else str(table.path),
    ),
    _of_scores("deepeval's test run", ("testCases",), _deepeval, {"scores": ["testCases"]}, **DEEPEVAL),
    _of_scores("deepeval's kept test run", ("testRunData",), _deepeval, {"scores": ["testRunData"]}, **DEEPEVAL),
    _of_scores(
        "deepeval's test results",
        ("metrics_data", "success"),
        _deepeval,
        {"question": ["input", "name"], "scores": ["metrics_data"]},
        **DEEPEVAL,
    ),
)
