"""Where a verdict goes: five lines for the terminal, JSON and other files, what a GitHub step shows."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from judgerank.data.listing import counted
from judgerank.gating.callers import OUTPUT, SUMMARY, append, as_called
from judgerank.gating.decision import BLOCK, INCONCLUSIVE, SHIP
from judgerank.gating.gate import Gate
from judgerank.gating.gate_result import Criterion, Result
from judgerank.gating.rule import EQUIVALENCE, TWO_SIDED, Rule, score_of
from judgerank.gating.shared_bias import WithinJudges
from judgerank.gating.verdict_text import (
    deciding,
    is_hidden,
    markdown,
    on_category,
    p_text,
    protection_of,
    sentence,
    share,
    shown,
    shown_on,
    table,
    verdict_line,
    warnings,
    what_decides,
)

RULE = (
    "mode",
    "scale",
    "margin",
    "alpha",
    "power",
    "look",
    "run",
    "level",
    "missing",
    "whose",
    "cluster",
    "random_orders",
)  # what JSON has of the rule

# A verdict as JUnit XML, which CI systems show as tests: one test a criterion.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_dict(result: Result) -> dict[str, Any]:
    """Everything as plain values, for JSON."""
    rule = result.rule
    return {
        "verdict": result.verdict,
        "sentence": sentence(result),
        "exit_code": result.exit_code,
        "failed": [criterion.name for criterion in result.failed],
        "needed": result.needed,
        "next_look": result.next_look,
        "cost": result.cost,
        "currency": result.currency,
        "rule": {**{name: getattr(rule, name) for name in RULE}, "protect": ["=".join(of) for of in rule.protect]},
        "by_other_units": [asdict(other) for other in result.by_other_units],
        "criteria": [_criterion_dict(criterion) for criterion in result.criteria],
        "own_maker": result.own.own_maker,
        "related_judges": list(result.related),
        "recused_judges": list(result.own.recused),
        "recused_votes": result.own.n_left_out,
        "verdict_with_related_judges": result.with_related,
        "verdict_without_related_judges": result.without_related,
        "categories": [asdict(criterion) for criterion in result.categories],
        "uninformative_judges": dict(result.uninformative),
        "verdict_without_uninformative_judges": result.without_uninformative,
        "worst_category": None if result.worst_category is None else asdict(result.worst_category),
        "verdict_for_this_panel": result.for_this_panel,
        "verdict_without_missing_as_losses": result.without_losses,
        "verdict_for_random_orders": result.for_random_orders,
        "read": list(result.remarks),
        "filter": [dict(request) for request in result.requests],
    }


def _criterion_dict(criterion: Criterion) -> dict[str, Any]:
    seen, judged = criterion.evidence, criterion.judged
    return {
        "name": criterion.name,
        "baseline": judged.baseline,
        "candidate": judged.candidate,
        **{name: getattr(seen, name) for name in ("questions", "win_rate", "low", "high", "p_ship")},
        "p_block": criterion.p_block,
        "score": {
            name: _known(score_of(value)) if criterion.scores.runs is None else None
            for name, value in {"estimate": seen.win_rate, "low": seen.low, "high": seen.high}.items()
        },
        "difference": _difference(criterion),
        "judges": list(judged.judges),
        "judgments": len(judged.rows),
        "missing": judged.missing,
        "unread": judged.unread,
        "silent_judges": list(criterion.silent),
        "order": criterion.scores.order,
        "shown": dict(zip(("first", "second", "both"), criterion.scores.shown, strict=True)),
        "position": dict(zip(judged.judges, map(_known, criterion.scores.position), strict=True)),
        **_checks_dict(criterion),
        "noise": _known(judged.noise),
        "contradicted": _known(judged.contradicted),
    }


def _difference(criterion: Criterion) -> dict[str, float] | None:
    """The mean difference of scores as a share of the scale, with its bounds; None where pairs were judged."""
    seen = criterion.evidence
    if criterion.scores.runs is None:
        return None
    return {"estimate": 2 * seen.win_rate - 1, "low": 2 * seen.low - 1, "high": 2 * seen.high - 1}


def _checks_dict(criterion: Criterion) -> dict[str, Any]:
    """What departs from the assumptions of the tests."""
    checks, silence = criterion.checks, criterion.checks.silence
    return {
        "judges_differ": {"differ": checks.differences.differ, "p_value": checks.differences.p_value},
        "missing_as_losses": checks.n_lost,
        "silence": None if silence is None else asdict(silence),
        "shared_bias_p": checks.shared_bias,
        "few_answers": None if checks.within is None else _few_answers(checks.within),
    }


def _few_answers(within: WithinJudges) -> dict[str, int]:
    """Judges compared with themselves, and the questions that leaves."""
    return {"judges": within.n_judges, "questions": 0 if within.scores is None else len(within.scores.scores)}


def _known(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def as_json(result: Result) -> str:
    """`as_dict` as text."""
    return json.dumps(as_dict(result), indent=2, ensure_ascii=False) + "\n"


def junit(result: Result) -> bytes:
    """One test suite. A criterion that is worse failed; where nothing is decided, tests are skipped."""
    skipped = len(result.criteria) if result.verdict == "inconclusive" else 0
    counts = {"tests": len(result.criteria), "failures": len(result.failed), "errors": 0, "skipped": skipped}
    suite = Element("testsuite", {"name": "judgerank gate", **{key: str(value) for key, value in counts.items()}})
    message = NOT_XML.sub("?", sentence(result))
    for criterion in result.criteria:
        case = SubElement(
            suite, "testcase", {"classname": "judgerank.gate", "name": NOT_XML.sub("?", criterion.name)}
        )
        if criterion in result.failed:
            SubElement(case, "failure", {"message": message, "type": "block"}).text = message
        elif skipped:
            SubElement(case, "skipped", {"message": message})
    lines = "\n".join(f"{name}: {text}" for name, text in table(result))
    SubElement(suite, "system-out").text = NOT_XML.sub("?", f"{message}\n{lines}")
    indent(suite)
    return tostring(suite, encoding="utf-8", xml_declaration=True)


def contents(
    result: Gate, json: Path | None, xml: Path | None, text: Path | None, page: Path | None
) -> dict[Path, bytes]:
    """What goes into each file that was asked for: JSON, JUnit XML, Markdown and HTML."""
    made = {json: as_json(result).encode(), xml: junit(result), text: markdown(result).encode()}
    if page is not None:
        made[page] = result.to_html().encode()
    return {path: content for path, content in made.items() if path is not None}


def tell_github(result: Gate) -> None:
    """Append the Markdown to the step's summary, and ``verdict``, ``failed`` and ``needed`` to its outputs."""
    append(SUMMARY, as_called(markdown(result)))
    needed = "" if result.needed is None else str(result.needed)
    failed = "true" if result.verdict == "block" else "false"
    append(OUTPUT, f"verdict={result.verdict}\nfailed={failed}\nneeded={needed}\n")


# Five lines for the terminal: verdict, evidence, the worst group, one warning, and what to do.


def five_lines(result: Result, page: str | None = None) -> list[str]:
    """Verdict, evidence, the worst group, one warning, and what to do; those that there are.

    Parameters
    ----------
    result : Result
    page : str, optional
        Name of the page that shows the judgments.
    """
    first, *more = warnings(result) or [""]
    rest = f" ({len(more)} more: -v)" if more else ""
    rows = {
        "evidence": _evidence(result),
        "worst": _worst_group(result),
        "warning": first + rest,
        "next": _next_step(result, page),
    }
    return [verdict_line(result), *(f"  {name:<10}{said}" for name, said in rows.items() if said)]


def _evidence(result: Result) -> str:
    rule, criterion = result.rule, deciding(result)
    seen = criterion.evidence
    low, high = shown_on(rule, seen.low), shown_on(rule, seen.high)
    judges = len(criterion.judged.judges)
    who = "" if criterion.judged.unnamed else f", {counted(judges, 'judge')}"
    recused = len(result.own.recused)
    left_out = f"; left out: {counted(recused, 'judge')} by the maker of either model (--own-maker count)"
    sizes = f"{counted(seen.questions, 'question')}{who}{left_out if recused else ''}"
    interval = f"{low} to {high} (one-sided {share(1 - rule.level)})"
    if result.verdict == BLOCK:
        interval += f", {p_text(criterion.p_block)}"
    elif result.verdict == SHIP and rule.mode == TWO_SIDED:
        interval += f", {p_text(seen.p_ship)}"
    return f"{interval}; {_limit(rule)}; {sizes}"


def _limit(rule: Rule) -> str:
    if rule.mode == TWO_SIDED:
        return f"even: {shown_on(rule, 0.5)}"
    low, high = shown_on(rule, rule.lowest), shown_on(rule, rule.highest)
    return f"wanted: {low} to {high}" if rule.mode == EQUIVALENCE else f"needed: above {low}"


def _worst_group(result: Result) -> str:
    worst = result.worst_category
    if worst is None:
        return ""
    return on_category(result, worst) + (
        f"; to make it count: {protection_of(worst)}" if is_hidden(result, worst) else ""
    )


def _next_step(result: Result, page: str | None) -> str:
    if result.verdict == INCONCLUSIVE:
        return what_decides(result)
    names, worst = result.criteria[0].judged, result.worst_category
    step = "See why"
    if result.verdict == SHIP:
        step = f"{shown(names.candidate)} may replace {shown(names.baseline)}"
        if worst is not None and is_hidden(result, worst):
            step = f"Decide whether {shown(worst.name)} may get worse"
    return f"{step}; answers and replies: {page or '--page FILE'}; numbers: -v."
