"""Ties between answers that are both bad: how often each model's answers are, and on which questions.

A ranking says which of two answers is better, and nothing of how good they are. Judges who may answer *both bad*
say that too. Such an answer stays a tie in the fit; here it is counted.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.judgments import Judgments
from judgerank.inference.wald import effective_trials, wilson
from judgerank.ranking.study import Finding, Ranked
from judgerank.reading.layouts.strength import BOTH_BAD

MOST = 20  # questions listed
COLUMNS = ["comparisons", BOTH_BAD, "share", "low", "high"]


def of_set(ranked: Ranked) -> Finding:
    """The tables ``failures`` by model and ``failed_questions``, and a remark, where some ties are *both bad*."""
    judgments, level = ranked.judgments, ranked.settings.level
    if BOTH_BAD not in judgments.frame:
        return Finding()
    bad = judgments.frame.loc[judgments.parsed, BOTH_BAD].fillna(False).to_numpy(bool)
    if not bad.any():
        return Finding()
    models = by_model(judgments, bad, level)
    tables = {"failures": models}
    has_questions = "question_id" in judgments.frame
    if has_questions:
        tables["failed_questions"] = by_question(judgments, bad, level)
    return Finding([_remark(judgments, bad, models)], tables)


def by_model(judgments: Judgments, bad: np.ndarray, level: float) -> pd.DataFrame:
    """``model, comparisons, both_bad, share, low, high``: share of a model's comparisons in which both are bad.

    Intervals are Wilson's. Comparisons of one question are not independent, so their number is divided by the
    design effect of questions, and less counts with few questions (`inference.proportions.effective_trials`).
    Where all questions of a model are alike, such as without any failure, it is their number that counts.
    """
    c = judgments.comparisons
    ends, weight = np.r_[c.first, c.second], np.tile(c.count, 2)
    question = judgments.question if "question_id" in judgments.frame else np.arange(len(c))
    rows = []
    for i, model in enumerate(c.models):
        of_model = ends == i
        rows.append(
            (model, *_row(np.tile(bad, 2)[of_model], weight[of_model], np.tile(question, 2)[of_model], level))
        )
    table = pd.DataFrame(rows, columns=["model", *COLUMNS])
    return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def by_question(judgments: Judgments, bad: np.ndarray, level: float) -> pd.DataFrame:
    """Failures by question, those first that surely fail most; at most `MOST`, none without a failure."""
    c, rows = judgments.comparisons, []
    question, names = judgments.question, judgments.question_ids
    for q in np.unique(question[bad]):
        selected = np.flatnonzero(question == q)
        rows.append((names[q], *_row(bad[selected], c.count[selected], np.arange(len(selected)), level)))
    table = pd.DataFrame(rows, columns=["question", *COLUMNS])
    return table.sort_values(["low", "share"], ascending=False, kind="stable", ignore_index=True)[:MOST]


def _row(
    bad: np.ndarray, weight: FloatArray, cluster: IntArray, level: float
) -> tuple[float, float, float, float, float]:
    """Comparisons, failures, their share and its interval."""
    _, code = np.unique(cluster, return_inverse=True)
    failures, comparisons = (np.bincount(code, values).astype(float) for values in (weight * bad, weight))
    total, failed = float(comparisons.sum()), float(failures.sum())
    share, trials = failed / total, total
    if len(comparisons) < len(cluster):
        share, trials = effective_trials(failures, comparisons, total, level)
    return total, failed, share, *wilson(share, trials, level)


def _remark(judgments: Judgments, bad: np.ndarray, models: pd.DataFrame) -> str:
    weight = judgments.comparisons.count
    failed, total = float(weight @ bad), float(weight.sum())
    ends = models.iloc[0], models.iloc[-1]
    most, least = (f"{row['model']} ({row['share']:.0%}, {row['low']:.0%} to {row['high']:.0%})" for row in ends)
    return (
        f"Both answers are bad in {failed / total:.1%} of comparisons ({failed:,.0f} of {total:,.0f}). They count "
        f"as ties in the ranking. Most often among those of {most}, least often among those of {least}: table "
        "failures. A share also depends on the models that a model met."
    )
