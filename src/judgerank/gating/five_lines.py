"""A verdict in five lines for the terminal: verdict, evidence, the worst group, one warning, and what to do."""

from __future__ import annotations

from textwrap import shorten

from judgerank.data.listing import listed
from judgerank.gating.decision import BLOCK, INCONCLUSIVE, SHIP
from judgerank.gating.gate_result import Result
from judgerank.gating.rule import EQUIVALENCE, TWO_SIDED, Rule
from judgerank.gating.verdict_text import (
    ORDERS,
    deciding,
    is_hidden,
    on_category,
    on_judges,
    own_maker_row,
    p_text,
    plural,
    preference_rate,
    protection_of,
    share,
    shown,
    shown_on,
    what_decides,
    where_different,
    where_silent,
    without_signal,
)

LONGEST = 88  # characters of a warning that fit a line of the terminal beside its name


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
        "warning": shorten(first, LONGEST - len(rest), placeholder=" ... (-v)") + rest,
        "next": _next_step(result, page),
    }
    return [verdict_line(result), *(f"  {name:<10}{said}" for name, said in rows.items() if said)]


def verdict_line(result: Result) -> str:
    """The verdict, how often the candidate is preferred, and where it is significantly worse."""
    how, worst = "", result.worst_category
    if result.verdict == BLOCK:
        how = ": different" if result.rule.mode == EQUIVALENCE else ": worse"
    elif result.verdict == SHIP and result.rule.mode == TWO_SIDED:
        how = ": better"
    if result.verdict != BLOCK and worst is not None and is_hidden(result, worst):
        how += f", but it is worse on {shown(worst.name)}"
    return f"{result.verdict.capitalize()}. {preference_rate(result)}{how}."


def _evidence(result: Result) -> str:
    rule, criterion = result.rule, deciding(result)
    seen = criterion.evidence
    low, high = shown_on(rule, seen.low), shown_on(rule, seen.high)
    judges = len(criterion.judged.judges)
    who = "" if criterion.judged.unnamed else f", {judges:,} {plural('judge', judges)}"
    sizes = f"{seen.questions:,} {plural('question', seen.questions)}{who}"
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


def warnings(result: Result) -> list[str]:
    """What speaks against resting on the verdict, the most serious first."""
    own, rule = own_maker_row(result), result.rule
    differs = {result.with_related, result.without_related} - {None, result.verdict}
    could_decide = [other for other in result.by_other_units if 0.5**other.size <= rule.level]
    silent = sorted({name for criterion in result.criteria for name in criterion.silent})
    n_lost = sum(criterion.checks.n_lost for criterion in result.criteria)
    found = [
        result.own.condition,
        *where_different(result),
        *without_signal(result),
        own[1] if own and differs else "",
        *where_silent(result),
        f"There is no answer from {listed(silent)}" if silent else "",
        f"For a ship, {n_lost:,} missing {plural('answer', n_lost)} count as losses" if n_lost else "",
        *(
            f"If values of {other.name} were sampled, the verdict is {other.verdict}: --cluster {other.name}"
            for other in could_decide
            if other.verdict != result.verdict
        ),
        on_judges(deciding(result), rule) if result.verdict != INCONCLUSIVE else "",
        ORDERS.get(deciding(result).scores.order, ""),
    ]
    return [f"{text[0].upper()}{text[1:].removesuffix('.')}." for text in found if text]


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
