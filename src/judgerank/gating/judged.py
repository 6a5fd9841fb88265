"""Judgments of two variants as a table: questions by judges, who preferred what, and who was shown first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data import QUESTION
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.frames import COLUMNS, OUTCOMES
from judgerank.data.judgments import ITEM, Judgments, changed_answers
from judgerank.data.listing import counted, listed
from judgerank.data.rankings import as_pairs
from judgerank.gating.score_runs import score_runs
from judgerank.gating.scores import Scores, scored
from judgerank.reading.layouts.table import ONE_JUDGE, SCORE_GAP, SCORE_SCALE

BASELINES, CANDIDATES, ASKED = (
    "answer_of_baseline",
    "answer_of_candidate",
    "question_text",
)  # texts in rows, if known
OF_JUDGMENTS = (
    "question",
    "judge",
    "first",
    "preference",
    "reply",
    "count",
)  # columns of rows that group no questions


@dataclass(frozen=True, eq=False, repr=False)
class Judged:
    """Judgments of a baseline and a candidate.

    Attributes
    ----------
    baseline, candidate : str
    questions, judges : tuple of str
        Questions that at least one judge answered; judges, those without a readable answer too.
    preference : float array, shape (Q, K)
        Mean preference for the candidate over repeats and orders, from 0 to 1; nan where there is none.
    first : float array, shape (Q, K)
        1 where the candidate was shown first, -1 second, 0 both; nan where it is not known or not judged.
    unread : int
        Judgments that could not be read.
    missing : int
        Answers of a judge to a question that are not there, those that could not be read among them.
    noise : float
        Share of pairs of identical requests with different answers; nan where nothing was repeated, or judges have
        no names: other answers to a question may be other judges'.
    repeated : int
        Pairs of identical requests.
    contradicted : float
        Share of pairs shown in both orders whose winner changed with the order; nan where none was, or judges have
        no names.
    rows : DataFrame
        ``question, judge, first, preference, reply`` of every judgment that was read, in the order of the file,
        and the columns that the judgments keep beyond those of every judgment, such as ``category``. Of answers
        that were scored one by one ``score_gap``, the candidate's score less the baseline's, of the scale.
    failed : DataFrame
        ``question, judge`` of judgments that were asked for and could not be read, or are not there, and their
        ``category``.
    labels : mapping of str to mapping of str to str
        Values of columns of the answers' files by question, by column, for what the judgments do not say.
    """

    baseline: str
    candidate: str
    questions: tuple[str, ...]
    judges: tuple[str, ...]
    preference: FloatArray
    first: FloatArray
    unread: int
    missing: int
    noise: float
    repeated: int
    contradicted: float
    rows: pd.DataFrame
    failed: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=["question", "judge"], dtype=object))
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Judged {counted(len(self.questions), 'question')}, {counted(len(self.judges), 'judge')}>"

    @property
    def unnamed(self) -> bool:
        """Whether the judgments do not say who judged."""
        return self.judges == (ONE_JUDGE,)

    @property
    def silent(self) -> tuple[str, ...]:
        """Judges none of whose answers are there."""
        heard = set(self.rows["judge"])
        return tuple(name for name in self.judges if name not in heard)

    def values(self, name: str) -> pd.DataFrame | None:
        """``question, value`` of a column that groups questions, every pair once; None where it is not there."""
        of_answers = self.labels.get(name, {})
        has_rows = name in self.rows and name not in OF_JUDGMENTS
        if not has_rows and not of_answers:
            return None
        labels = pd.DataFrame({"question": [*of_answers], "value": [*of_answers.values()]}, dtype=object)
        if not has_rows:
            return labels
        known = self.rows[["question", name]].set_axis(["question", "value"], axis=1).drop_duplicates()
        known["value"] = known["value"].where(known["value"].notna(), known["question"].map(of_answers))
        return pd.concat([known, labels[~labels["question"].isin(known["question"])]], ignore_index=True)

    def units(self, name: str) -> IntArray | None:
        """Number of the value that a column has for each question, shape (Q,).

        None where the column is not there, or a question has no value, or several.
        """
        known = self.values(name)
        if known is None or known["value"].isna().any() or known["question"].duplicated().any():
            return None
        value = dict(zip(known["question"], known["value"].astype(str), strict=True))
        if any(question not in value for question in self.questions):
            return None
        return np.asarray(pd.factorize(np.array([value[question] for question in self.questions], object))[0])

    def sampled(self, name: str) -> IntArray | None:
        """As `units`, of a unit as in `gating.rule.Rule`; None where each question is one."""
        return None if name == QUESTION else self.units(name)

    @property
    def is_scored(self) -> bool:
        """Whether answers were scored one by one, so that the sizes of differences count."""
        return SCORE_GAP in self.rows

    def scores(self, unit: IntArray | None = None) -> Scores:
        """Scores of the questions; `unit` is as of `gating.scores.scored`."""
        runs = score_runs(self.rows, self.questions, unit) if self.is_scored else None
        scores = scored(self.preference, self.first, unit)
        return scores if runs is None else scores.with_runs(runs)

    def labelled(self, labels: Mapping[str, Mapping[str, str]]) -> Judged:
        """The same with columns of the answers' files."""
        return replace(self, labels=labels)

    def called(self, baseline: str, candidate: str) -> Judged:
        """The same with other names of the two."""
        return replace(self, baseline=baseline, candidate=candidate)

    def asked(self, judges: Sequence[str], questions: Sequence[str], is_complete: bool) -> Judged:
        """The same of a panel that was asked these questions, some judges and questions without any answer.

        Where it was asked about all of them, `is_complete`, every answer that is not there has failed.
        """
        absent = [name for name in judges if name not in self.judges]
        nothing = np.full((len(self.questions), len(absent)), nan)
        answered = int((~np.isnan(self.preference)).sum())
        panel = (*self.judges, *absent)
        given = set(zip(self.rows["question"], self.rows["judge"], strict=True))
        lacking = [cell for cell in product(questions, panel) if cell not in given] if is_complete else []
        return replace(
            self,
            judges=panel,
            preference=np.hstack([self.preference, nothing]),
            first=np.hstack([self.first, nothing]),
            missing=len(questions) * len(panel) - answered,
            failed=pd.DataFrame(lacking, columns=["question", "judge"]) if is_complete else self.failed,
        )

    def of(self, index: IntArray) -> Judged:
        """The same of some questions, by their places."""
        if len(index) == len(self.questions):
            return self
        questions = tuple(self.questions[row] for row in index)
        nothing = np.isnan(self.preference)
        return replace(
            self,
            questions=questions,
            preference=self.preference[index],
            first=self.first[index],
            missing=self.missing - int(nothing.sum()) + int(nothing[index].sum()),
            rows=self.rows[self.rows["question"].isin(questions)],
        )

    def part(self, column: str, value: str) -> Judged | None:
        """The same of the questions with a value in a column of the rows; None if no answer to any is there.

        Raises
        ------
        ConfigError
            If there is no such column.
        """
        known = self.values(column)
        if known is None:
            raise ConfigError(f"neither the judgments nor the answers have a column {column!r} of questions")
        named = set(known["question"][[_is_called(one, value) for one in known["value"]]])
        is_within = self.failed["question"].isin(named)
        if column in self.failed:
            is_within |= np.array([_is_called(one, value) for one in self.failed[column]], bool)
        failed = self.failed[is_within]
        index = np.flatnonzero([question in named for question in self.questions])
        return replace(self.of(index), failed=failed) if len(index) else None

    def without(self, judges: set[str]) -> Judged | None:
        """The same without some judges; None if no question is left."""
        columns = [column for column, name in enumerate(self.judges) if name not in judges]
        is_judged = ~np.isnan(self.preference[:, columns]).all(axis=1)
        if not is_judged.any():
            return None
        return Judged(
            self.baseline,
            self.candidate,
            tuple(self.questions[column] for column in np.flatnonzero(is_judged)),
            tuple(self.judges[column] for column in columns),
            self.preference[is_judged][:, columns],
            self.first[is_judged][:, columns],
            0,
            0,
            nan,
            0,
            nan,
            self.rows[~self.rows["judge"].isin(judges)],
            self.failed[~self.failed["judge"].isin(judges)],
            self.labels,
        )


def judged(
    judgments: Judgments,
    baseline: str,
    candidate: str,
    without: Collection[str] = (),
    cluster: str = QUESTION,
    labels: Mapping[str, Mapping[str, str]] | None = None,
) -> Judged:
    """The judgments that compare the two, without those of some judges; `cluster` is as of `gating.rule.Rule`.

    `labels` are those of the answers' files (`Judged`).

    Raises
    ------
    DataError
        If there are none, or a question is not named; if a question has several values of the unit, or none.
    """
    judgments = as_pairs(judgments)
    frame = judgments.frame
    pair = {baseline, candidate}
    between = frame["model_a"].isin(pair) & frame["model_b"].isin(pair)
    if baseline == candidate:
        raise DataError(f"baseline and candidate are the same model, {baseline!r}")
    if not between.any():
        models = sorted({*frame["model_a"], *frame["model_b"]})
        roles = {"baseline": baseline, "candidate": candidate}
        absent = [
            f"there is no model {name!r}: name another {role}"
            for role, name in roles.items()
            if name not in models
        ]
        apart = (
            f"nobody compared {baseline!r} with {candidate!r}: have judges compare their answers to the same "
            "questions (judgerank collect), or name another baseline or candidate"
        )
        raise DataError(f"{next(iter(absent), apart)} (the models are: {listed(models)})")
    if "question_id" not in frame:
        raise DataError("a gate needs to know which question each judgment is about (--column question=NAME)")
    frame = frame[between & ~frame["judge_model"].isin([*without])]
    rows = pd.DataFrame(
        {
            "question": frame["question_id"].astype(str),
            "judge": frame["judge_model"].astype(str),
            "first": np.where(frame["model_a"] == candidate, 1.0, -1.0),
            "preference": _preference(frame, candidate),
            "reply": frame["reply"].fillna("").astype(str) if "reply" in frame else "",
            "count": pd.to_numeric(frame["count"]).to_numpy(float) if "count" in frame else 1.0,
        }
    )
    for name in frame.columns.difference(
        [*COLUMNS, *rows, "answer_a", "answer_b", SCORE_GAP, SCORE_SCALE], sort=False
    ):
        rows[name] = frame[name].to_numpy(object)
    if "answer_a" in frame:
        is_first = frame["model_a"] == candidate
        of_candidate, of_baseline = ("answer_a", "answer_b"), ("answer_b", "answer_a")
        for name, (where_first, elsewhere) in ((CANDIDATES, of_candidate), (BASELINES, of_baseline)):
            rows[name] = frame[where_first].where(is_first, frame[elsewhere]).to_numpy(object)
    if SCORE_GAP in frame and frame.loc[rows["preference"].notna(), SCORE_GAP].notna().all():
        rows = _of_scores(rows, frame, candidate)
    if not judgments.ordered:  # where every winner stands in one place, that may be all that a judge goes by
        side = judgments.source.get("winners_side", nan)
        rows["first"] = side * np.sign(rows["preference"] - 0.5)
    read = rows[rows["preference"].notna()]
    if read.empty:
        raise DataError(f"no judgment of {baseline!r} and {candidate!r} can be read")
    table = _table(rows, read, baseline, candidate).labelled(labels or {})
    if table.is_scored:  # runs are no identical requests
        table = replace(table, noise=nan, repeated=0)
    if cluster != QUESTION and table.units(cluster) is None:
        if cluster not in frame and cluster not in table.labels:
            raise DataError(f"the judgments have no column {cluster!r} to cluster by")
        raise DataError(f"a question has no {cluster!r}, or several: a gate takes each question to be of one")
    return table


def _of_scores(rows: pd.DataFrame, frame: pd.DataFrame, candidate: str) -> pd.DataFrame:
    """The rows with differences of scores and their runs, where all that can be read are made of two scores."""
    gap: pd.Series = frame[SCORE_GAP].astype(float) * np.where(frame["model_a"] == candidate, 1.0, -1.0)
    rows = rows.assign(**{SCORE_GAP: gap, "preference": (1 + gap) / 2})
    return rows.assign(**{ITEM: frame[ITEM]}) if ITEM in frame else rows


def with_ties(table: Judged | None, same: Sequence[str], judges: Sequence[str], names: tuple[str, str]) -> Judged:
    """The table with further questions whose two answers are equal, so that every judge of the panel ties.

    Raises
    ------
    DataError
        If there are no questions at all.
    """
    if not same:
        if table is None:
            raise DataError("no judge has answered yet: there is nothing to decide on")
        return table
    if table is None:
        nothing = np.empty((0, len(judges)))
        rows = pd.DataFrame(columns=["question", "judge", "first", "preference", "reply"])
        table = Judged(*names, (), tuple(judges), nothing, nothing, 0, 0, nan, 0, nan, rows)
    shape = len(same), len(table.judges)
    return replace(
        table,
        questions=(*table.questions, *same),
        preference=np.vstack([table.preference, np.full(shape, 0.5)]),
        first=np.vstack([table.first, np.zeros(shape)]),
    )


def _preference(frame: pd.DataFrame, candidate: str) -> FloatArray:
    of_first = frame["judge_preferred_model"].map(OUTCOMES).to_numpy(float)
    if "outcome" in frame:
        shares = pd.to_numeric(frame["outcome"]).to_numpy(float)
        of_first = np.where(np.isnan(shares) | np.isnan(of_first), of_first, shares)
    return np.where(frame["model_a"] == candidate, of_first, 1 - of_first)


def _table(rows: pd.DataFrame, read: pd.DataFrame, baseline: str, candidate: str) -> Judged:
    question, questions = pd.factorize(read["question"])
    judges = sorted(set(rows["judge"]))
    judge = pd.Categorical(read["judge"], judges).codes
    count, preference = read["count"].to_numpy(float), read["preference"].to_numpy(float)
    side = read["first"].to_numpy(float)
    order = np.where(side < 0, 0, 1)
    shape = (len(questions), len(judges), 2)
    cell = np.ravel_multi_index((question, judge, order), shape)
    size = int(np.prod(shape))
    counts = np.bincount(cell, count, size).reshape(shape)
    total = np.bincount(cell, count * preference, size).reshape(shape)
    with np.errstate(invalid="ignore"):
        by_order = total / np.where(counts > 0, counts, nan)
    orders = (counts > 0).sum(axis=2)
    mean = np.nansum(by_order, axis=2) / np.where(orders > 0, orders, nan)
    first = np.where(orders == 0, nan, (counts[..., 1] > 0) * 1.0 - (counts[..., 0] > 0))
    if np.isnan(side).any():
        first = np.full(first.shape, nan)
    n_requests = rows["question"].nunique() * len(judges)
    differ, repeated = (float(pairs.sum()) for pairs in changed_answers(cell, preference, count))
    contradicted = _contradicted(by_order)
    if judges == [ONE_JUDGE]:
        repeated, contradicted = 0.0, nan
    return Judged(
        baseline,
        candidate,
        tuple(map(str, questions)),
        tuple(judges),
        mean,
        first,
        int(rows["count"].sum() - count.sum()),
        n_requests - int((orders > 0).sum()),
        differ / repeated if repeated else nan,
        round(repeated),
        contradicted,
        read.drop(columns="count"),
        rows[rows["preference"].isna()].drop(columns=["first", "preference", "reply", "count"]),
    )


def _is_called(entry: Any, value: str) -> bool:
    """Whether an entry of a column is what a person calls by a text: 3.0 and True are 3 and true, too."""
    text = str(entry)
    return value in (text, text.removesuffix(".0"), {"True": "true", "False": "false"}.get(text))


def _contradicted(by_order: FloatArray) -> float:
    """Share of pairs shown in both orders of which each variant won one."""
    lead = by_order - 0.5
    both = ~np.isnan(lead).any(axis=2)
    return float((lead[both].prod(axis=1) < 0).mean()) if both.any() else nan
