"""A verdict in words: one sentence, a short table, JSON and Markdown."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite, isnan
from typing import Any

import numpy as np

from judgerank.data.listing import listed
from judgerank.gating.gate_result import Criterion, Result
from judgerank.gating.rule import EQUIVALENCE, SCORE, TWO_SIDED, WIN_RATE, Rule, score_of
from judgerank.gating.scores import Scores

SHOWN = 4  # criteria with a line of their own
SHORT = 0.001  # p-values below are not told more exactly
RULE = ("mode", "scale", "margin", "alpha", "power", "look", "run", "level")  # what JSON has of the rule
ORDERS = {
    "one": "only one order was shown: position bias cannot be told from quality; ask in both orders",
    "unknown": "who was shown first is not known: position bias is not allowed for",
}


def share(value: float) -> str:
    """A share in percent; whole ones without decimals."""
    return f"{100 * value:.1f}".removesuffix(".0") + "%"


def chance(p_value: float) -> str:
    """A p-value as a chance."""
    return f"less than {share(SHORT)}" if p_value < SHORT else share(p_value)


def p_text(p_value: float) -> str:
    """A p-value with its sign."""
    return f"p < {SHORT}" if p_value < SHORT else f"p = {p_value:.3f}"


def shown_on(rule: Rule, win_rate: float) -> str:
    """A win rate on the rule's scale: in percent, or as a lead in score."""
    return share(win_rate) if rule.scale == WIN_RATE else f"{score_of(win_rate):+.2f}"


def sentence(found: Result) -> str:
    """The verdict and its reason."""
    rule, one = found.rule, deciding(found)
    seen, table = one.evidence, one.judged
    names = f"{shown(table.candidate)} over {shown(table.baseline)}"
    on = f"On {one.name}, the" if len(found.criteria) > 1 else "The"
    rate = f"{on} panel prefers {names} {share(seen.win_rate)} of the time"
    if rule.scale == SCORE:
        rate += f", a lead of {shown_on(rule, seen.win_rate)} in score"
    if found.verdict == "block":
        way = "differ this clearly" if rule.mode == EQUIVALENCE else "look this much worse"
        equal = f"If {shown(table.candidate)} were as good, it would"
        return f"Block. {rate}. {equal} {way} in {chance(one.p_block)} of cases."
    if found.verdict == "ship" and rule.mode == TWO_SIDED:
        equal = f"If {shown(table.candidate)} were only as good, it would"
        return f"Ship. {rate}. {equal} look this good in {chance(seen.p_ship)} of cases."
    low, high = shown_on(rule, seen.low), shown_on(rule, seen.high)
    sure = f"between {low} and {high}" if rule.mode != "non-inferiority" else f"at least {low}"
    if found.verdict == "ship":
        told = f"Ship. {rate}, {sure} with {share(1 - rule.level)} confidence; {_wanted(rule)}."
        return " ".join([told, *_different(found)])
    return f"Inconclusive. {rate}, between {low} and {high}; {_wanted(rule)}. {_more(found)}"


def deciding(found: Result) -> Criterion:
    """The criterion that blocks, or that is furthest from passing."""
    if found.failed:
        return min(found.failed, key=lambda one: one.p_block)
    return max(found.criteria, key=lambda one: one.evidence.p_ship)


def _different(found: Result) -> list[str]:
    """That a candidate ships although it is significantly worse, or different where equivalence is to be shown."""
    if not found.different:
        return []
    table, rule = found.criteria[0].judged, found.rule
    better = {one.evidence.win_rate > 0.5 for one in found.different}
    how = "different from" if len(better) > 1 else "better than" if better.pop() else "worse than"
    on = f" on {listed([one.name for one in found.different])}" if len(found.criteria) > 1 else ""
    within = (
        f"the {share(rule.margin)} margin" if rule.scale == WIN_RATE else f"the margin of {rule.margin:g} in score"
    )
    names = f"{shown(table.candidate)} is significantly {how} {shown(table.baseline)}"
    return [f"But {names}{on}, though within {within}."]


def _wanted(rule: Rule) -> str:
    if rule.mode == TWO_SIDED:
        return f"better or worse than {shown_on(rule, 0.5)} is to be shown"
    low = shown_on(rule, rule.lowest)
    return (
        f"between {low} and {shown_on(rule, rule.highest)} is wanted"
        if rule.mode == EQUIVALENCE
        else f"more than {low} is needed"
    )


def _more(found: Result) -> str:
    if any(one.scores.order == "one" for one in found.criteria):
        return "The candidate was always shown in the same place: collect both orders."
    if found.needed is None:
        return "If the win rate is as observed, no number of questions within reach decides."
    cost = "" if found.cost is None else f", {found.cost:.2f} {found.currency}"
    more = f"about {found.needed:,} more {_plural('question', found.needed)} decide"
    more = f"If the win rate is as observed, {more} {share(found.rule.power)} of the time{cost}."
    return f"{more} Then run the gate again with --look {found.next_look}."


def table(found: Result) -> list[tuple[str, str]]:
    """What to know of the verdict: at most eleven lines of a name and a text, and four on categories."""
    rule, first = found.rule, found.criteria[0]
    lines = [_criterion(one, len(found.criteria) > 1, found) for one in found.criteria[:SHOWN]]
    if len(found.criteria) > SHOWN:
        lines[-1] = ("further criteria", listed([one.name for one in found.criteria[SHOWN - 1 :]]))
    look = "the only look" if rule.look is None else f"look {rule.look}"
    look += "" if rule.run is None else f" of run {rule.run}"
    margin = share(rule.margin) if rule.scale == WIN_RATE else f"{rule.margin:g} in score"
    mode = rule.mode + ("" if rule.mode == TWO_SIDED else f", margin {margin}")
    lines.append(("rule", f"{mode}, alpha {share(rule.alpha)} ({look}), power {share(rule.power)}"))
    lines.append(("judges", _judges(first)))
    notes = [_gaps(found), _position(first), _noise(first), _family(found), _weak(found)]
    return lines + [note for note in notes if note is not None] + _categories(found)


def _judges(one: Criterion) -> str:
    if one.judged.unnamed:
        return "not named: a question's answers in one order count as one judge's (name them: --column judge=NAME)"
    return f"{len(one.judged.judges)}: {listed(one.judged.judges)}"


def _criterion(one: Criterion, several: bool, found: Result) -> tuple[str, str]:
    seen = one.evidence
    rule = found.rule
    rate, low, high = (shown_on(rule, each) for each in (seen.win_rate, seen.low, seen.high))
    counted = f"{seen.questions:,} {_plural('question', seen.questions)}"
    tests = f"ship {p_text(seen.p_ship)}, block {p_text(one.p_block)}"
    name = "win rate" if rule.scale == WIN_RATE else "score"
    told = f"{rate} (one-sided {share(1 - rule.level)} bounds: {low} and {high}; {counted}; {tests})"
    return one.name if several else name, told


def _gaps(found: Result) -> tuple[str, str] | None:
    missing = sum(one.judged.missing for one in found.criteria)
    unread = sum(one.judged.unread for one in found.criteria)
    silent = sorted({name for one in found.criteria for name in one.silent})
    if not missing and not unread:
        return None
    asked = missing + sum(int(np.isfinite(one.judged.preference).sum()) for one in found.criteria)
    if missing > asked / 2 and not silent and not unread:
        return "missing", "most judges answered few of the questions; those they did not count for neither side"
    why = ["one per judge and question", *([f"{unread:,} unreadable"] if unread else [])]
    why += [f"none from {listed(silent)}"] if silent else []
    return "missing", f"{missing:,} of {asked:,} expected answers ({'; '.join(why)}). They count for neither side."


def _position(one: Criterion) -> tuple[str, str] | None:
    if one.scores.order in ORDERS:
        return "position", ORDERS[one.scores.order]
    if isnan(one.scores.first_gains):
        who = "every question was judged in" if one.judged.unnamed else "every judge saw"
        return "position", f"{who} both orders, which cancels position bias"
    points = 100 * one.scores.first_gains
    place = "first" if points >= 0 else "second"
    return (
        "position",
        f"the answer shown {place} gains {abs(points):.0f} points of win rate; {_orders(one.scores)}",
    )


def _orders(scores: Scores) -> str:
    """How often the candidate was shown in either place, and what follows."""
    first, second, both = (f"{count:,}" for count in scores.shown)
    told = f"the candidate was first in {first} answers, second in {second}"
    told += "" if both == "0" else f", and in both places in {both}"
    if scores.balanced:
        return f"the orders are balanced: {told}"
    tests = "all tests leave" if scores.order == "uneven" else "one of the two block tests leaves"
    return f"{told}: {tests} out each judge's surplus answers in the more frequent order"


def _noise(one: Criterion) -> tuple[str, str] | None:
    told = []
    if not isnan(one.judged.noise):
        pairs = one.judged.repeated
        unlike = f"{round(one.judged.noise * pairs):,} of {pairs:,} {_plural('pair', pairs)}"
        told.append(f"{unlike} of identical requests disagree ({share(one.judged.noise)})")
    if not isnan(one.judged.contradicted):
        told.append(f"{share(one.judged.contradicted)} of pairs changed winner with the order")
    return ("noise", "; ".join(told)) if told else None


def _family(found: Result) -> tuple[str, str] | None:
    if not found.related:
        return None
    who = f"{listed(found.related)} of the candidate's maker"
    return "partial?", f"{who}; without: {found.without_related or 'nobody is left to judge'}"


def _weak(found: Result) -> tuple[str, str] | None:
    """Judges whose answers say nothing about the variants, and the verdict without them where it is another."""
    if not found.uninformative:
        return None
    by_what: dict[str, list[str]] = {}
    for judge, what in found.uninformative.items():
        by_what.setdefault(what, []).append(judge)
    told = "; ".join(f"{listed(judges)}: {what}" for what, judges in by_what.items())
    other = found.without_uninformative
    differs = other is not None and other != found.verdict
    return "no signal", told + (f". Without these judges the verdict is {other}" if differs else "")


def _categories(found: Result) -> list[tuple[str, str]]:
    """A line for each category in which the two differ significantly; it does not change the verdict."""
    differ = [one for one in found.categories if one.differs]
    name = shown(found.criteria[0].judged.candidate)
    told = []
    for one in differ[:SHOWN]:
        where = f"{one.criterion}, {one.name}" if len(found.criteria) > 1 else one.name
        how = "better" if one.win_rate > 0.5 else "worse"
        seen = f"win rate {share(one.win_rate)} on {one.questions:,} {_plural('question', one.questions)}"
        sure = f"{p_text(one.p_value)}, adjusted for {len(found.categories)} categories"
        told.append(f"{shown(where)}: {name} is significantly {how} ({seen}; {sure})")
    if len(differ) > SHOWN:
        others = [one.name for one in differ[SHOWN - 1 :]]
        told[-1] = f"{len(others)} more differ significantly: {listed(others)}"
    return [("category", text) for text in told]


def lines(found: Result) -> list[str]:
    """The table as lines of text, one for each row."""
    rows = table(found)
    width = max(len(name) for name, _ in rows) + 2
    return [f"  {name:<{width}}{said}" for name, said in rows]


def text(found: Result) -> str:
    """Sentence and table as text."""
    return "\n".join([sentence(found), *lines(found)])


def markdown(found: Result) -> str:
    """Sentence and table for a pull request."""
    word, _, rest = sentence(found).partition(". ")
    rows = "\n".join(f"| {_cell(name)} | {_cell(said)} |" for name, said in table(found))
    return f"### {word}\n\n{_cell(rest)}\n\n| | |\n|---|---|\n{rows}\n"


def as_dict(found: Result) -> dict[str, Any]:
    """Everything as plain values, for JSON."""
    rule = found.rule
    return {
        "verdict": found.verdict,
        "sentence": sentence(found),
        "exit_code": found.exit_code,
        "failed": [one.name for one in found.failed],
        "needed": found.needed,
        "next_look": found.next_look,
        "cost": found.cost,
        "currency": found.currency,
        "rule": {name: getattr(rule, name) for name in RULE},
        "criteria": [_criterion_dict(one) for one in found.criteria],
        "related_judges": list(found.related),
        "verdict_without_related_judges": found.without_related,
        "categories": [asdict(one) for one in found.categories],
        "uninformative_judges": dict(found.uninformative),
        "verdict_without_uninformative_judges": found.without_uninformative,
        "read": list(found.remarks),
    }


def _criterion_dict(one: Criterion) -> dict[str, Any]:
    seen, judged = one.evidence, one.judged
    return {
        "name": one.name,
        "baseline": judged.baseline,
        "candidate": judged.candidate,
        **{name: getattr(seen, name) for name in ("questions", "win_rate", "low", "high", "p_ship")},
        "p_block": one.p_block,
        "score": {
            name: _known(score_of(value))
            for name, value in {"estimate": seen.win_rate, "low": seen.low, "high": seen.high}.items()
        },
        "judges": list(judged.judges),
        "judgments": len(judged.rows),
        "missing": judged.missing,
        "unread": judged.unread,
        "silent_judges": list(one.silent),
        "order": one.scores.order,
        "shown": dict(zip(("first", "second", "both"), one.scores.shown, strict=True)),
        "position": dict(zip(judged.judges, map(_known, one.scores.position), strict=True)),
        "noise": _known(judged.noise),
        "contradicted": _known(judged.contradicted),
    }


def _known(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def as_json(found: Result) -> str:
    """`as_dict` as text."""
    return json.dumps(as_dict(found), indent=2, ensure_ascii=False) + "\n"


def shown(name: str) -> str:
    """A name that fits into a sentence."""
    return listed([name])


def _cell(said: str) -> str:
    """A text that is only text in Markdown: no link, no tag, no end of its cell."""
    escaped = said.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")
    for sign in "[]`*_@":
        escaped = escaped.replace(sign, "\\" + sign) if sign != "@" else escaped.replace("@", "&#64;")
    return escaped


def _plural(word: str, count: int) -> str:
    return word if count == 1 else word + "s"
