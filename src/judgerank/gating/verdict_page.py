"""A verdict as one HTML page: the reason, the warnings, the questions behind it and the judges' words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.listing import counted
from judgerank.gating.answer_pairs import Pair
from judgerank.gating.gate_result import Criterion, Result
from judgerank.gating.judged import Judged
from judgerank.gating.verdict_text import deciding, sentence, share, table
from judgerank.pages import render

TEMPLATE = Path(__file__).parent / "gate.html"
MOST = 200  # questions on a page
LONGEST = 20_000  # characters of a text on a page


@dataclass(frozen=True)
class Reply:
    """What one judge said: who, what it preferred, which answer it saw first, and its words; empty if unknown."""

    judge: str
    preferred: str
    first: str
    words: str


@dataclass(frozen=True)
class Question:
    """A question on the page; `texts` are pairs of a heading and a text."""

    name: str
    score: str
    outcome: str
    texts: list[tuple[str, str]]
    replies: list[Reply]


def to_html(result: Result) -> str:
    """The page as one HTML text; halves of characters (lone surrogates) become question marks."""
    criterion = deciding(result)
    order = _order(result, criterion)
    page = render(
        TEMPLATE,
        title=f"Gate: {result.verdict}",
        headline=sentence(result),
        facts=table(result),
        criterion=criterion.name if len(result.criteria) > 1 else "",
        candidate=criterion.judged.candidate,
        worst_first=not _is_blocked_as_better(result, criterion),
        corrected=criterion.scores.order == "uneven",
        questions=_questions(criterion, order[:MOST], result.texts),
        rest=len(order) - len(order[:MOST]),
    )
    return page.encode(errors="replace").decode()


def _is_blocked_as_better(result: Result, criterion: Criterion) -> bool:
    """Whether a gate for equivalence blocks since the candidate is better."""
    return result.verdict == "block" and criterion.evidence.win_rate > 0.5


def _order(result: Result, criterion: Criterion) -> list[int]:
    """Places of the questions, the candidate's clearest losses first; its clearest wins where these block it."""
    scores = criterion.scores.scores
    return np.argsort(-scores if _is_blocked_as_better(result, criterion) else scores, kind="stable").tolist()


def _questions(criterion: Criterion, rows: list[int], texts: Mapping[str, Pair]) -> list[Question]:
    judged = criterion.judged
    replies: dict[str, list[Reply]] = {judged.questions[row]: [] for row in rows}
    columns = judged.rows[["question", "judge", "first", "preference", "reply"]]
    for question, judge, side, preference, words in columns.to_numpy(object).tolist():
        if question in replies:
            first = {1.0: judged.candidate, -1.0: judged.baseline}.get(side, "")
            replies[question].append(Reply(judge, _preferred(judged, preference), first, _cut(words)))
    return [
        Question(
            name := judged.questions[row],
            share(float(criterion.scores.scores[row])),
            _outcome(judged, judged.preference[row]),
            _texts(judged, texts.get(name)),
            replies[name],
        )
        for row in rows
    ]


def _preferred(judged: Judged, preference: float) -> str:
    if preference == 0.5:
        return "tie"
    return judged.candidate if preference > 0.5 else judged.baseline


def _outcome(judged: Judged, preference: FloatArray) -> str:
    """Who won a question, by the preferences of judges, shape (K,); a judge counts once, whatever it repeats."""
    wins, losses = int((preference > 0.5).sum()), int((preference < 0.5).sum())
    judges = counted(int((~np.isnan(preference)).sum()), "judge")
    if wins == losses:
        return f"undecided: {wins} to {losses} of {judges}"
    winner = judged.candidate if wins > losses else judged.baseline
    return f"{winner} wins: {max(wins, losses)} to {min(wins, losses)} of {judges}"


def _texts(judged: Judged, pair: Pair | None) -> list[tuple[str, str]]:
    if pair is None:
        return []
    heads = ("Question", f"Answer of {judged.baseline}", f"Answer of {judged.candidate}")
    texts = (pair.question, pair.old, pair.new)
    return [
        (head, _cut(text if isinstance(text, str) else "\n\n".join(text)))
        for head, text in zip(heads, texts, strict=True)
    ]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} [cut]"
