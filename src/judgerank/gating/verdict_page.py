"""A verdict as one HTML page: badge, intervals, categories, and the judgments behind it with both answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from judgerank.data.arrays import FloatArray
from judgerank.data.listing import counted
from judgerank.gating.answer_pairs import Pair, Text
from judgerank.gating.decision import INCONCLUSIVE, Category, Evidence
from judgerank.gating.gate_result import Criterion, Result
from judgerank.gating.judged import ASKED, BASELINES, CANDIDATES, Judged
from judgerank.gating.rule import EQUIVALENCE, POINTS, SCORE, TWO_SIDED, WIN_RATE, Rule
from judgerank.gating.verdict_text import (
    deciding,
    p_text,
    points,
    share,
    shown_on,
    table,
    verdict_line,
    warnings,
    what_decides,
)
from judgerank.pages import render

TEMPLATE = Path(__file__).parent / "gate.html"
MOST = 200  # questions on a page
LONGEST = 20_000  # characters of a text on a page
FIRST_LINE = 120  # characters of a question in the list
NO_BREAK = "\N{NO-BREAK SPACE}"
SCALE = {  # what bars show: their name, and what their ends stand for
    WIN_RATE: ("win rate", "How often {candidate} is preferred, from 0% to 100%"),
    SCORE: ("score", "The lead of {candidate} in score, drawn by win rates from 0% to 100%"),
    POINTS: ("difference", "The mean score of {candidate} less that of {baseline}, from -100 to +100 points"),
}
WON, LOST, EVEN = "won", "lost", "even"


@dataclass(frozen=True)
class Bar:
    """A win rate with its bounds, in percent of the width; `kind` is ``better``, ``worse`` or empty."""

    name: str
    rate: str
    about: str
    low: float
    high: float
    at: float
    kind: str = ""


@dataclass(frozen=True)
class Reply:
    """What one judge said: who, what it preferred, which answer it saw first, and its words; empty if unknown."""

    judge: str
    preferred: str
    first: str
    words: str


@dataclass(frozen=True)
class Question:
    """A question on the page.

    Attributes
    ----------
    name, first_line : str
        Its id, and how its text begins; empty if that is not known.
    score : float
        The panel's mean preference for the candidate, or one half and half the difference of scores.
    rate : str
        The same in percent, or the difference in points.
    outcome, described : str
        ``won``, ``lost`` or ``even``, and by how many judges.
    groups : str
        Its category and values of protected columns, one a line.
    text : str
    answers : list of pair of str
        Name and answer of baseline and candidate; none if they are not known.
    replies : list of Reply
    """

    name: str
    first_line: str
    score: float
    rate: str
    outcome: str
    described: str
    groups: str
    text: str
    answers: list[tuple[str, str]]
    replies: list[Reply]


def to_html(result: Result) -> str:
    """The page as one HTML text; halves of characters (lone surrogates) become question marks."""
    criterion = deciding(result)
    order = _order(result, criterion)
    word, _, rest = verdict_line(result).partition(". ")
    page = render(
        TEMPLATE,
        title=f"Gate: {result.verdict}",
        headline=Markup('<span class="badge {}">{}</span> {}').format(result.verdict, word, rest),
        bars=[_criterion_bar(one, result.rule) for one in result.criteria],
        categories=list(_category_bars(result)),
        even=50,
        limits=_limits(result.rule),
        bounded=share(1 - result.rule.level),
        limit=_limit_text(result.rule),
        warnings=warnings(result),
        step=what_decides(result) if result.verdict == INCONCLUSIVE else "",
        facts=table(result),
        criterion=criterion.name if len(result.criteria) > 1 else "",
        baseline=criterion.judged.baseline,
        candidate=criterion.judged.candidate,
        worst_first=not _is_blocked_as_better(result, criterion),
        corrected=criterion.scores.order == "uneven",
        questions=(questions := _questions(criterion, order[:MOST], result)),
        groups=sorted({name for question in questions for name in question.groups.split("\n") if name}),
        scale=SCALE[result.rule.scale],
        of_points=result.rule.scale == POINTS,
        rest=len(order) - len(order[:MOST]),
    )
    return page.encode(errors="replace").decode()


def _criterion_bar(criterion: Criterion, rule: Rule) -> Bar:
    seen = criterion.evidence
    low, high = shown_on(rule, seen.low), shown_on(rule, seen.high)
    about = f"{low} to {high} · {counted(seen.questions, 'question')}"
    return _bar(criterion.name, seen, about, rule)


def _category_bars(result: Result) -> Iterator[Bar]:
    """Categories, the worst first."""
    several = len({category.criterion for category in result.categories}) > 1
    for category in sorted(result.categories, key=lambda one: one.win_rate):
        kind = ("better" if category.win_rate > 0.5 else "worse") if category.differs else ""
        sure = p_text(category.p_value).replace(" ", NO_BREAK)
        about = counted(category.questions, "question") + (f" · {kind}, {sure}" if kind else "")
        name = f"{category.criterion}, {category.name}" if several else category.name
        yield _bar(name, category, about, result.rule, kind)


def _bar(name: str, seen: Evidence | Category, about: str, rule: Rule, kind: str = "") -> Bar:
    low, high, at = map(_percent, (seen.low, seen.high, seen.win_rate))
    return Bar(name, shown_on(rule, seen.win_rate), about, low, high, at, kind)


def _percent(share_of_one: float) -> float:
    return round(100 * share_of_one, 2)


def _limits(rule: Rule) -> list[float]:
    """What the win rate must be above, and below for equivalence, in percent."""
    if rule.mode == TWO_SIDED:
        return []
    return [*map(_percent, [rule.lowest, rule.highest] if rule.mode == EQUIVALENCE else [rule.lowest])]


def _limit_text(rule: Rule) -> str:
    if rule.mode == TWO_SIDED:
        return f"The line is {shown_on(rule, 0.5)}: no difference."
    lines = " and ".join(shown_on(rule, rate) for rate in [rule.lowest, rule.highest][: len(_limits(rule))])
    what = "the interval must lie between them" if rule.mode == EQUIVALENCE else "the interval must lie above it"
    return f"Red: {lines}, the margin; {what} for a ship. Grey: {shown_on(rule, 0.5)}, no difference."


def _is_blocked_as_better(result: Result, criterion: Criterion) -> bool:
    """Whether a gate for equivalence blocks since the candidate is better."""
    return result.verdict == "block" and criterion.evidence.win_rate > 0.5


def _order(result: Result, criterion: Criterion) -> list[int]:
    """Places of the questions, the candidate's clearest losses first; its clearest wins where these block it."""
    scores = criterion.scores.scores
    return np.argsort(-scores if _is_blocked_as_better(result, criterion) else scores, kind="stable").tolist()


def _questions(criterion: Criterion, rows: list[int], result: Result) -> list[Question]:
    judged, groups = criterion.judged, _groups(criterion.judged, result.rule)
    replies: dict[str, list[Reply]] = {judged.questions[row]: [] for row in rows}
    columns = judged.rows[["question", "judge", "first", "preference", "reply"]]
    for question, judge, side, preference, words in columns.to_numpy(object).tolist():
        if question in replies:
            first = {1.0: judged.candidate, -1.0: judged.baseline}.get(side, "")
            replies[question].append(Reply(judge, _preferred(judged, preference), first, _cut(words)))
    texts = {**_texts_in(judged), **result.texts}
    return [_question(criterion, row, result.rule, texts, groups, replies) for row in rows]


def _question(
    criterion: Criterion,
    row: int,
    rule: Rule,
    texts: Mapping[str, Pair],
    groups: Mapping[str, Sequence[str]],
    replies: Mapping[str, list[Reply]],
) -> Question:
    judged, name = criterion.judged, criterion.judged.questions[row]
    outcome, described = _outcome(judged, judged.preference[row])
    score = float(criterion.scores.scores[row])
    pair = texts.get(name)
    text = "" if pair is None else _joined(pair.question)
    answers = [] if pair is None else [(judged.baseline, _joined(pair.old)), (judged.candidate, _joined(pair.new))]
    first_line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return Question(
        name,
        first_line if len(first_line) <= FIRST_LINE else f"{first_line[:FIRST_LINE]} …",
        score,
        shown_on(rule, score) if rule.scale == POINTS else share(score),
        outcome,
        described,
        "\n".join(groups.get(name, ())),
        text,
        answers,
        replies[name],
    )


def _groups(judged: Judged, rule: Rule) -> dict[str, list[str]]:
    """Category and values of protected columns by question."""
    groups: dict[str, list[str]] = {}
    for column in dict.fromkeys(["category", *(name for name, _ in rule.protect)]):
        known = judged.values(column)
        if known is not None:
            for question, value in known.dropna().to_numpy(object).tolist():
                text = " ".join(str(value).split())
                groups.setdefault(question, []).append(text if column == "category" else f"{column}={text}")
    return groups


def _texts_in(judged: Judged) -> dict[str, Pair]:
    """Questions with both answers, where the judgments have them."""
    rows = judged.rows
    if CANDIDATES not in rows:
        return {}
    known = rows[rows[CANDIDATES].notna() & rows[BASELINES].notna()].drop_duplicates("question")
    asked = known[ASKED].fillna("") if ASKED in known else [""] * len(known)
    columns = known["question"], asked, known[BASELINES], known[CANDIDATES]
    return {name: Pair(name, name, *texts) for name, *texts in zip(*columns, strict=True)}


def _preferred(judged: Judged, preference: float) -> str:
    if judged.is_scored:
        return f"{points(2 * preference - 1)} points"
    if preference == 0.5:
        return "tie"
    return judged.candidate if preference > 0.5 else judged.baseline


def _outcome(judged: Judged, preference: FloatArray) -> tuple[str, str]:
    """Who won a question, by the preferences of judges, shape (K,); a judge counts once, whatever it repeats."""
    wins, losses = int((preference > 0.5).sum()), int((preference < 0.5).sum())
    judges = counted(int((~np.isnan(preference)).sum()), "judge")
    if wins == losses:
        return EVEN, f"undecided: {wins} to {losses} of {judges}"
    winner = judged.candidate if wins > losses else judged.baseline
    described = f"{winner} wins: {max(wins, losses)} to {min(wins, losses)} of {judges}"
    return WON if wins > losses else LOST, described


def _joined(text: Text | Any) -> str:
    return _cut(text if isinstance(text, str) else "\n\n".join(map(str, text)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} [cut]"
