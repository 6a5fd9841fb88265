"""Reports of promptfoo: scores of each provider's output on each test, one for every assertion.

``promptfoo eval --output report.json``, or ``report.jsonl`` with a line for each output (``EvaluateSummary`` and
``EvaluateResult`` in src/types/index.ts of https://github.com/promptfoo/promptfoo; summaries of version 2 and 3).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.reading.layouts.sample_scores import CHOICE, SCORES
from judgerank.reading.layouts.table import Layout, Table, values
from judgerank.reading.layouts.words import number

LONGEST_NAME = 60  # characters of a prompt that is a name
OF_CHOICE = ("select-best", "max-score")  # assertions that select one output of a test
OVERALL = "score"  # the judge of reports without assertions
REMARK = (
    "A model is a provider, by its label, or a prompt where there is one provider; a question is a test by its "
    "variables; each assertion is a judge, by "
    "its metric or type; scores of the same prompt are compared, and outputs that failed have none. "
    "Higher is better for every assertion, also latency and cost, since promptfoo scores how well they passed."
)
Row = tuple[str, str, str, str, float | None]


def outputs_in(table: Table) -> list[Any]:
    """The results of single tests in all reports of a table.

    Raises
    ------
    DataError
        If a report has none.
    """
    results: list[Any] = []
    for position, summary in enumerate(values(table.frame, "results"), 1):
        outputs = summary.get("results") if isinstance(summary, Mapping) else None
        if not isinstance(outputs, list) or not outputs:
            raise DataError(f"report {position} has no results of single tests")
        results += outputs
    return results


def _report(table: Table) -> pd.DataFrame:
    return _scored(outputs_in(table))


def _lines(table: Table) -> pd.DataFrame:
    columns = {str(name): values(table.frame, name) for name in table.frame.columns}
    return _scored(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _scored(outputs: Iterable[Any]) -> pd.DataFrame:
    rows: list[Row] = []
    overall: list[Row] = []
    choices: set[str] = set()
    seen: Counter[tuple[str, str, str]] = Counter()
    outputs = list(outputs)
    prompts = _prompts_of_one_provider(outputs)
    for position, output in enumerate(outputs, 1):
        provider, test, prompt = provider_of(position, output), test_of(position, output), prompt_of(output)
        cell = (prompts[prompt], test, "run") if prompts else (provider, test, prompt)
        seen[cell] += 1  # the same is asked several times with --repeat
        item = f"{cell[2]} #{seen[cell]}"
        failed = bool(output.get("error")) and not _components(output)
        overall.append((*cell[:2], item, OVERALL, None if failed else _score(position, OVERALL, output)))
        for judge, kind, score in _by_assertion(position, output):
            rows.append((*cell[:2], item, judge, score))
            choices |= {judge} if kind in OF_CHOICE else set()
    frame = pd.DataFrame(rows or overall, columns=list(SCORES))
    return frame.assign(**{CHOICE: frame["judge"].isin(choices)}) if choices else frame


def _prompts_of_one_provider(outputs: list[Any]) -> dict[str, str]:
    """Names of the prompts where these are what was varied, of one provider; none where there are several."""
    for position, output in enumerate(outputs, 1):
        if not isinstance(output, Mapping):
            raise DataError(f"result {position} is not an object")
    prompts = list(dict.fromkeys(prompt_of(output) for output in outputs))
    providers = {provider_of(position, output) for position, output in enumerate(outputs, 1)}
    if len(providers) > 1 or len(prompts) < 2:
        return {}
    short = all(len(prompt) <= LONGEST_NAME and "\n" not in prompt for prompt in prompts)
    return {prompt: prompt if short else f"prompt {place}" for place, prompt in enumerate(prompts, 1)}


def provider_of(position: int, output: Mapping[str, Any]) -> str:
    provider = output.get("provider")
    name = (provider.get("label") or provider.get("id")) if isinstance(provider, Mapping) else provider
    if not isinstance(name, str) or not name:
        raise DataError(f"result {position} does not name its provider")
    return name


def test_of(position: int, output: Mapping[str, Any]) -> str:
    variables = output.get("vars")
    if not isinstance(variables, Mapping):
        raise DataError(f"result {position} has no variables ('vars'), by which a test is known")
    texts = [
        value if isinstance(value, str) else json.dumps(value, sort_keys=True) for value in variables.values()
    ]
    if len(texts) == 1:
        return texts[0]
    return (
        "; ".join(f"{name}: {text}" for name, text in sorted(zip(variables, texts, strict=True))) or "no variables"
    )


def prompt_of(output: Mapping[str, Any]) -> str:
    prompt = output.get("prompt")
    label = (prompt.get("label") or prompt.get("raw")) if isinstance(prompt, Mapping) else prompt
    return str(label)


def _components(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Results of the assertions."""
    grading = output.get("gradingResult")
    components = grading.get("componentResults") if isinstance(grading, Mapping) else None
    return (
        [component for component in components if isinstance(component, Mapping)]
        if isinstance(components, list)
        else []
    )


def _by_assertion(position: int, output: Mapping[str, Any]) -> Iterator[tuple[str, str, float | None]]:
    """A name, a type and a score for each; a name that is there twice is numbered."""
    times: Counter[str] = Counter()
    for component in _components(output):
        assertion = component.get("assertion")
        details = assertion if isinstance(assertion, Mapping) else {}
        kind = str(details.get("type") or "")
        name = str(details.get("metric") or kind or "assertion")
        times[name] += 1
        unique = name if times[name] == 1 else f"{name} {times[name]}"
        # a choice says only which output was selected: scores may be those of another scale, or none
        passed = component.get("pass") if kind in OF_CHOICE else None
        yield unique, kind, float(passed) if isinstance(passed, bool) else _score(position, name, component)


def _score(position: int, name: str, component: Mapping[str, Any]) -> float | None:
    """The score, or whether it passed."""
    value = next((component[key] for key in ("score", "pass", "success") if component.get(key) is not None), None)
    score = float(value) if isinstance(value, bool) else number(value)
    if value is not None and score is None:
        raise DataError(f"result {position} has {value!r} as its score by {name!r}, not a number")
    return score


def _is_report(columns: frozenset[str], table: Table) -> bool:
    first = table.frame["results"].iloc[0]
    return isinstance(first, Mapping) and "results" in first


LAYOUTS = (
    Layout(
        "promptfoo's report",
        ("results", "config"),
        _report,
        lambda table: {"scores": ["results"]},
        also=_is_report,
        remark=REMARK,
        of_scores=True,
        ordered=False,
        accepts=frozenset(),
        aliases={},
    ),
    Layout(
        "promptfoo's report, a line for each output",
        ("provider", "prompt", "vars", "gradingResult"),
        _lines,
        lambda table: {"model": ["provider"], "question": ["vars", "prompt"], "scores": ["gradingResult"]},
        remark=REMARK,
        of_scores=True,
        ordered=False,
        accepts=frozenset(),
        aliases={},
    ),
)
