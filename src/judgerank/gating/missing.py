"""Missing answers: whether judges are silent where the candidate does worse, and scores with them as losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.gating.judged import Judged
from judgerank.gating.score_runs import score_runs
from judgerank.gating.scores import Scores, scored
from judgerank.reading.layouts.table import SCORE_GAP

SIGNIFICANT = 0.05  # level of the test that judges are silent where the candidate does worse
MOSTLY = 0.75  # share of questions answered, from which a judge is taken to have been asked about all
FEWEST = 5  # questions with a silent judge, below which nothing is tested


@dataclass(frozen=True)
class Silence:
    """How the other judges answer where one is silent.

    Attributes
    ----------
    judges : tuple of str
        Judges with missing answers, where others answered.
    questions : int
        Questions with a silent judge and another's answer.
    win_rate, elsewhere : float
        The other judges' mean preference for the candidate where a judge is silent, and where it answered.
    p_value : float
        Of "the others prefer the candidate no less where a judge is silent", with questions as the unit.
    """

    judges: tuple[str, ...]
    questions: int
    win_rate: float
    elsewhere: float
    p_value: float

    @property
    def rejects(self) -> bool:
        """Whether answers are missing where the candidate does worse, significantly."""
        return self.p_value <= SIGNIFICANT


def silence(judges: tuple[str, ...], leads: FloatArray) -> Silence | None:
    """Test whether judges are silent where the others prefer the candidate less.

    Parameters
    ----------
    judges : tuple of str
    leads : float array, shape (Q, K)
        Preference for the candidate less one half and less position bias; nan where there is none.

    Returns
    -------
    Silence or None
        None where too few questions have a silent judge and another's answer.
    """
    is_answered = ~np.isnan(leads)
    heard = is_answered.any(axis=0)
    n_others = is_answered.sum(axis=1, keepdims=True) - is_answered
    others = (np.nansum(leads, axis=1, keepdims=True) - np.nan_to_num(leads)) / np.maximum(n_others, 1)
    is_compared = (n_others > 0) & heard
    is_silent, is_heard = is_compared & ~is_answered, is_compared & is_answered
    silent_questions = is_silent.any(axis=1)
    if silent_questions.sum() < FEWEST or not is_heard.any():
        return None
    parts = np.zeros(len(leads))
    for judge in np.flatnonzero(is_silent.any(axis=0)):
        rows = is_compared[:, judge]
        missing, lead = is_silent[rows, judge].astype(float), others[rows, judge]
        parts[rows] += (missing - missing.mean()) * (lead - lead.mean())
    error = float(np.sqrt((parts**2).sum()))
    degrees = int(silent_questions.sum()) - 1
    return Silence(
        tuple(np.array(judges, object)[is_silent.any(axis=0)]),
        int(silent_questions.sum()),
        0.5 + float(others[is_silent].mean()),
        0.5 + float(others[is_heard].mean()),
        float(stdtr(degrees, parts.sum() / error)) if error > 0 else 1.0,
    )


def requested(table: Judged) -> BoolArray:
    """Answers that a judge was asked for and that are missing, shape (Q, K).

    A record that cannot be read says so. So does a judge who answered nearly all questions, unless the file looks
    like a plan: as many judges for every question. A judge without any answer favours neither side.
    """
    is_answered = ~np.isnan(table.preference)
    n_answers = is_answered.sum(axis=1)
    is_planned = table.failed.empty and len(set(n_answers.tolist())) == 1
    is_asked = np.tile((is_answered.mean(axis=0) >= MOSTLY) & (not is_planned), (len(table.questions), 1))
    row = {name: number for number, name in enumerate(table.questions)}
    column = {name: number for number, name in enumerate(table.judges)}
    for question, judge in table.failed[["question", "judge"]].itertuples(index=False):
        if question in row and judge in column:
            is_asked[row[question], column[judge]] = True
    return is_asked & ~is_answered & is_answered.any(axis=0)


def unanswered(table: Judged) -> int:
    """Questions that some judge was asked about and that nobody answered."""
    return int(table.failed["question"][~table.failed["question"].isin(table.questions)].nunique())


def score_runs_with(table: Judged, difference: float, cluster: str) -> Scores:
    """Scores of answers that were scored one by one, with a difference in place of those that are missing.

    Parameters
    ----------
    table : Judged
    difference : float
        -1 for losses of the candidate, 1 for wins.
    cluster : str
        What was sampled, as of `gating.rule.Rule`; a question that nobody answered is one by itself.
    """
    rows = pd.concat([table.rows, table.failed.assign(**{SCORE_GAP: difference})], ignore_index=True)
    unit, questions = table.sampled(cluster), tuple(dict.fromkeys([*table.questions, *rows["question"]]))
    n_nobody = len(questions) - len(table.questions)
    preference = np.vstack([table.preference, np.full((n_nobody, len(table.judges)), (1 + difference) / 2)])
    if unit is not None:
        unit = np.r_[unit, unit.max() + 1 + np.arange(n_nobody)]
    runs = score_runs(rows, questions, unit)
    scores = scored(preference, np.full(preference.shape, np.nan), unit)
    return scores if runs is None else scores.with_runs(runs)


def scored_with(
    table: Judged, lost: BoolArray, preference: float, n_nobody: int, unit: IntArray | None = None
) -> Scores:
    """Scores with a preference in place of missing answers, in whatever order these were asked.

    Parameters
    ----------
    table : Judged
    lost : bool array, shape (Q, K)
        Which of the missing answers.
    preference : float
        0 for losses of the candidate, 1 for wins.
    n_nobody : int
        Questions that nobody answered, to be added.
    unit : int array, shape (Q,), optional
        Number of the unit that was sampled behind each question; one that nobody answered is one by itself.
    """
    nobody = np.full((n_nobody, len(table.judges)), np.nan)
    nobody[:, :1] = preference
    answers = np.vstack([np.where(lost, preference, table.preference), nobody])
    first = np.vstack([np.where(lost, 0.0, table.first), np.where(np.isnan(nobody), np.nan, 0.0)])
    if unit is not None:
        unit = np.r_[unit, unit.max() + 1 + np.arange(n_nobody)]
    return scored(answers, first, unit)
