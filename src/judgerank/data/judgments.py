"""One set of judgments: the records, the comparisons in them, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgerank.data import QUESTION
from judgerank.data.arrays import AnyArray, FloatArray, IntArray, UIntArray, numbered, places_among
from judgerank.data.cache import Shown
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.errors import DataError, DataUnavailableError
from judgerank.data.frames import (
    BY_REQUEST,
    OUTCOMES,
    STILL_COUNTED,
    UNHEARD,
    question_keys,
    standardised_log,
)

INDIVIDUAL = "individual_judge"  # the column of judges' own labels, where some share one (`Judgments.pool_few`)
ITEM = "item"  # the column that says which of several answers of a model to one question were judged


@dataclass(frozen=True, repr=False)
class Judgments(Shown):
    """One loaded set.

    Attributes
    ----------
    name, title : str
        The title says `surrogate` if the data are.
    frame : DataFrame
        The records, one row each, in the published columns.
    comparisons : Comparisons
        Those of them that could be parsed, in the same order.
    source : dict
        Where the data came from, for run.json.
    lengths : Series, optional
        Characters by question, where the questions' texts are known.
    truth : DataFrame, optional
        What a surrogate was drawn from: ``parameter, name, value``.
    remarks : tuple of str
        What to know of how the records were read.
    """

    name: str
    title: str
    frame: pd.DataFrame
    comparisons: Comparisons
    source: dict[str, Any]
    lengths: pd.Series | None = None
    truth: pd.DataFrame | None = None
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, comparisons: Comparisons) -> Judgments:
        """Comparisons as a set that names no questions: a record for every answer that a row holds.

        Raises
        ------
        DataError
            If a row does not say how many of its comparisons had which answer.
        """
        c = comparisons
        tied = (c.outcome == OUTCOMES["c"]) & (c.count == 1) if c.tied is None else c.tied
        strong = np.zeros((2, len(c))) if c.strong is None else c.strong.T
        wins = [
            c.outcome - tied / 2 - strong[::2].sum(axis=0),
            1 - c.outcome - tied / 2 - strong[1::2].sum(axis=0),
        ]
        answers = np.array([*wins, tied, *strong]) * c.count
        times = np.round(answers)
        unclear = np.flatnonzero(np.abs(answers - times).max(axis=0) > 1e-6 * np.maximum(1.0, c.count))
        if unclear.size:
            raise DataError(
                f"row {unclear[0] + 1} of the comparisons does not say how many of its {c.count[unclear[0]]:g} "
                "were won, lost or tied: give the records, or cells that keep track of ties (with_ties, aggregate)"
            )
        row, answer = np.nonzero(times.T)
        names = {"model_a": c.models, "model_b": c.models, "judge_model": c.judges}
        ends = {"model_a": c.first, "model_b": c.second, "judge_model": c.judge}
        frame = pd.DataFrame({name: np.array(names[name], object)[index[row]] for name, index in ends.items()})
        frame["judge_preferred_model"] = np.array(["a", "b", "c", *["a", "b"] * (len(strong) // 2)])[answer]
        n_answers = times[answer, row]
        counted = "count" if np.any(n_answers != 1) else None
        if counted:
            frame["count"] = n_answers
        z = None if c.covariate is None else c.covariate[row]
        rows = replace(Comparisons.from_frame(frame, count=counted), covariate=z, ordered=c.ordered)
        if c.strong is not None:
            frame["strength"] = np.maximum((answer + 1) // 2, 1.0)
            rows = replace(rows, strong=(answer[:, None] == 3 + np.arange(len(strong))).astype(float))
        return cls("judgments", "judgments", frame, replace(rows, dropped=c.dropped), {})

    def pool_few(self, least: int = FEW_ANSWERS) -> Judgments:
        """The same with one label for all judges with few answers, as `Comparisons.pool_few`; `rank` ranks these.

        Examples
        --------
        >>> import pandas as pd
        >>> votes = pd.DataFrame({"model_a": ["x", "y"] * 6, "model_b": ["y", "x"] * 6, "winner": ["a"] * 12})
        >>> votes["judge"] = ["regular"] * 10 + ["guest-1", "guest-2"]
        >>> import judgerank
        >>> judgerank.read(votes).pool_few().comparisons.judges
        ('regular', 'judges with few answers')
        """
        comparisons = self.comparisons.pool_few(least)
        if comparisons is self.comparisons:
            return self
        judge = self.frame["judge_model"].astype(object)
        few = judge.isin(set(self.comparisons.judges) - set(comparisons.judges))
        individual = self.frame.get(INDIVIDUAL, judge)
        frame = self.frame.assign(**{"judge_model": judge.mask(few, FEW_JUDGES), INDIVIDUAL: individual})
        return replace(self, frame=frame, comparisons=comparisons)

    @property
    def few_judges(self) -> tuple[str, ...]:
        """Judges whose answers `pool_few` put under one label."""
        if INDIVIDUAL not in self.frame:
            return ()
        pooled = self.parsed & (self.frame["judge_model"] == FEW_JUDGES)
        return tuple(self.frame.loc[pooled, INDIVIDUAL].unique())

    @property
    def n_judges(self) -> int:
        """Number of judges, those under one label counted one by one."""
        return len(self.comparisons.judges) - 1 + max(len(self.few_judges), 1)

    @property
    def is_surrogate(self) -> bool:
        return bool(self.source.get("surrogate", False))

    @property
    def warnings(self) -> list[str]:
        """Remarks without which no result should be read: who is left out, and what may be wrongly in."""
        return [remark for remark in self.remarks if remark.startswith((UNHEARD, STILL_COUNTED))]

    @property
    def left_out_by_request(self) -> list[str]:
        """The remarks on judgments that a request left out (`judgerank.reading.selection`)."""
        return [remark for remark in self.remarks if remark.startswith(BY_REQUEST)]

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Those requests, one by one: names, and how many judgments of how many they left out."""
        return list(self.source.get("filter", []))

    @property
    def ordered(self) -> bool:
        """Whether ``model_a`` was shown first; if not, it is only the first by name."""
        return self.comparisons.ordered

    @cached_property
    def parsed(self) -> pd.Series:
        """Which records have an answer that could be read, bool, shape (records,)."""
        return self.frame["judge_preferred_model"].isin(list(OUTCOMES))

    @property
    def _ids(self) -> pd.Series:
        """Id of the question of every record, shape (records,).

        Raises
        ------
        DataError
            If the judgments name no questions; so do all that is read from it.
        """
        if "question_id" not in self.frame:
            raise DataError(f"{self.title} names no questions (--column question=NAME names their column)")
        return self.frame["question_id"]

    @cached_property
    def _ids_and_rows(self) -> tuple[IntArray, NDArray[np.object_]]:
        """Number of the question behind each comparison, and the ids by number."""
        id_column, parsed = self._ids, self.parsed.to_numpy()
        id_column = id_column if parsed.all() else id_column[parsed]
        if isinstance(id_column.dtype, pd.CategoricalDtype) and id_column.cat.categories.is_monotonic_increasing:
            occupied, number = numbered(id_column.cat.codes.to_numpy())
            if occupied[0] >= 0:
                return number, np.asarray(id_column.cat.categories, object)[occupied]
        number, ids = pd.factorize(id_column, sort=True)
        return number, np.asarray(ids, object)

    @property
    def question(self) -> IntArray:
        """Number of the question behind each comparison, in the order of their ids; int array, shape (T,)."""
        return self._ids_and_rows[0]

    @property
    def item(self) -> IntArray:
        """Number of what each comparison judged: a question, and its epoch if there are several; shape (T,)."""
        if ITEM not in self.frame:
            return self.question
        part = pd.factorize(self.frame.loc[self.parsed, ITEM])[0] + 1
        return numbered(self.question * (part.max(initial=0) + 1) + part)[1]

    def unit(self, name: str) -> IntArray:
        """Number of the value that a column has for each comparison; int array, shape (T,).

        Parameters
        ----------
        name : str
            Of a column that was kept when the judgments were read, or ``question`` or ``judge``.

        Raises
        ------
        DataError
            If there is no such column, or it has no value for a comparison.
        """
        if name == QUESTION:
            return self.question
        judge = INDIVIDUAL if INDIVIDUAL in self.frame else "judge_model"
        column = {"judge": judge, "judge_model": judge}.get(name, name)
        if column not in self.frame:
            raise DataError(f"the judgments have no column {name!r} to cluster by")
        values = self.frame.loc[self.parsed, column]
        if values.isna().any():
            record = int(np.flatnonzero(self.parsed)[values.isna().to_numpy().argmax()]) + 1
            raise DataError(f"record {record} has no {name!r}, so that its cluster is not known")
        return np.asarray(pd.factorize(values.astype(str), sort=True)[0])

    def unit_if_known(self, name: str) -> IntArray | None:
        """As `unit`; None where a column is not there, or has no value for some comparisons."""
        try:
            return self.unit(name)
        except DataError:
            return None

    @cached_property
    def question_keys(self) -> UIntArray:
        """Hash of the id of every question by its number, shape (Q,)."""
        return question_keys(self._ids_and_rows[1])

    @cached_property
    def question_ids(self) -> list[str]:
        """Ids of the questions, by the numbers in `question`."""
        return [label if type(label) is str else str(label) for label in self._ids_and_rows[1].tolist()]

    @cached_property
    def n_questions(self) -> int:
        """How many different questions the judgments are about; zero where they name none."""
        if "question_id" not in self.frame:
            return 0
        return int(self.frame.loc[self.parsed, "question_id"].nunique())

    @cached_property
    def judges(self) -> pd.DataFrame:
        """What each judge answered: ``dataset, judge, comparisons, share_a, share_b, share_tie, unparsed``."""
        times = pd.to_numeric(self.frame["count"]) if "count" in self.frame else None
        if "comparisons" in self.frame:  # of rankings (`judgerank.data.rankings`)
            times = self.frame["comparisons"].fillna(1 if times is None else times)
        judge = self.frame["judge_model"].astype("category").cat
        answer = places_among(self.frame["judge_preferred_model"], pd.Index(["a", "b", "c"]))  # -1: not read
        cell = 4 * judge.codes.to_numpy().astype(np.intp) + answer + 1
        answer_counts = np.bincount(cell, times, 4 * len(judge.categories)).reshape(-1, 4)
        answer_counts = answer_counts if times is None else answer_counts.astype(times.to_numpy().dtype)
        read = answer_counts[:, 1:].sum(axis=1)
        answer_counts, read, names = answer_counts[read > 0], read[read > 0], judge.categories[read > 0]
        table = pd.DataFrame({"dataset": self.name, "judge": names.tolist(), "comparisons": read})
        table[["share_a", "share_b", "share_tie"]] = answer_counts[:, 1:] / read[:, None]
        table["unparsed"] = answer_counts[:, 0]
        return table

    def with_lengths(self) -> Comparisons:
        """The comparisons with their questions' standardised log lengths for covariate (appendix F.6.1).

        z = (l - mean l) / sd l over the comparisons, l = log(1 + characters).

        Raises
        ------
        DataUnavailableError
            If the lengths are not known.
        DataError
            If a question has none, or all are equally long; if the judgments name no questions.
        """
        if self.lengths is None:
            raise DataUnavailableError(
                f"{self.title}: the questions' lengths are not known (dataset.questions=FILE, JSON Lines with "
                "question_id and turns, gives their texts)"
            )
        ids = self._ids[self.parsed]
        unknown = ids[~ids.isin(self.lengths.index)]
        if len(unknown):
            raise DataError(f"{self.title}: the text of question {unknown.iloc[0]!r} is not known")
        try:
            return replace(self.comparisons, covariate=standardised_log(self.lengths[ids].to_numpy(float)))
        except DataError as error:
            raise DataError(f"{self.title}: {error}") from None

    def _line(self) -> str:
        return f"{self.title}: {self.comparisons._line()}"

    def _table(self) -> pd.DataFrame:
        return self.judges.drop(columns="dataset")


# Answers to the same request that differ.


def changed_answers(request: IntArray, answer: AnyArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Pairs of answers to every request that differ, and all pairs of them; float arrays, shape (R,) each.

    Parameters
    ----------
    request : int array, shape (T,)
        From 0.
    answer : array, shape (T,)
    count : float array, shape (T,)
        How often it was given.
    """
    kind = np.unique(answer, return_inverse=True)[1]
    of, which = np.unique(request * (int(kind.max(initial=0)) + 1) + kind, return_inverse=True)
    alike = np.bincount(which, count, len(of))
    n_requests, size = int(request.max(initial=-1)) + 1, np.bincount(request, count)
    pairs = size * (size - 1) / 2
    same = np.bincount(of // (int(kind.max(initial=0)) + 1), alike * (alike - 1) / 2, n_requests)
    return pairs - same, pairs
