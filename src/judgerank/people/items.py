"""Items, each a question with two models: people's votes, and the panel's prediction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, numbered
from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, NoIntervalError
from judgerank.data.judgments import Judgments
from judgerank.engine.ascent import terms
from judgerank.engine.information import zero_sum_basis
from judgerank.engine.rows import sums_by_place
from judgerank.fits.errors_by_question import number_of
from judgerank.fits.result import Fit
from judgerank.inference.clusters import cluster_gradients, crossing, effective_number, two_way
from judgerank.inference.wald import require_level, wald

# How far each question that people were asked about moved the panel's scores.
#
# People and the panel see the same answers to a question. An answer that is better than its model's others moves
# both, so that the errors of the votes and of the panel's scores go together.


@dataclass(frozen=True, eq=False)
class PanelSteps:
    """Steps of the panel's scores by question.

    Attributes
    ----------
    question : int array, shape (Q,)
        Numbers of the questions, rising.
    steps : float array, shape (Q, N)
        By how much each moves the scores: the inverse of the observed information times its gradient. Their
        squares are multiplied by M / (M - 1) for the panel's M questions, as those of clustered errors are.
    """

    question: IntArray
    steps: FloatArray

    def of(self, question: IntArray) -> FloatArray:
        """Those of some questions, shape (M, N); zero where the panel has none."""
        position = np.minimum(np.searchsorted(self.question, question), len(self.question) - 1)
        return np.where((self.question[position] == question)[:, None], self.steps[position], 0.0)


def panel_steps(
    panel: Fit, comparisons: Comparisons, question: IntArray, voted_questions: IntArray
) -> PanelSteps | None:
    """Steps of the panel's scores by the questions that people were asked about.

    None where they are not known: these are other comparisons than those behind the fit, the fit has further
    blocks or question effects, or it has no errors.

    Parameters
    ----------
    panel : Fit
    comparisons : Comparisons
        The raw comparisons behind it.
    question : int array, shape (T,)
        Number of the question of each.
    asked : int array
        Numbers of the questions that people were asked about.
    """
    if panel.blocks or panel.effects is not None or panel._has_many_parameters:
        return None
    rows, is_voted = panel.model.observed(comparisons), np.isin(question, voted_questions)
    n_questions, panel_questions = number_of(question), np.unique(question[is_voted])
    if len(panel_questions) < 2:
        return None
    try:
        panel._require_fitted(rows.models, rows.judges, rows.n_comparisons)
        inverse = panel._inverse("observed")[:, : len(rows.models)]
    except (DataError, NoIntervalError):
        return None
    of_question = cluster_gradients(
        rows._rows(is_voted), panel.model, panel.solution.parameters, question[is_voted]
    )
    return PanelSteps(
        panel_questions, of_question[:, panel._chosen] @ inverse * np.sqrt(n_questions / (n_questions - 1))
    )


YES, NO = {"1", "1.0", "true", "yes", "human"}, {"0", "0.0", "false", "no", "", "nan", "none"}


@dataclass(frozen=True, eq=False, repr=False)
class Items(Shown):
    """Items that the panel judged; of some there are human votes.

    Attributes
    ----------
    models : tuple of str
    first, second, question : int array, shape (M,)
        Models, the first earlier among them, and the question.
    panel : float array, shape (M,)
        Share of the votes for the first that the panel lets one expect, from 0 to 1.
    human : float array, shape (M,)
        Share of the human votes for the first, ties half; NaN where there is none.
    unjudged : int
        Items that people judged and the panel did not: left out.
    steps : PanelSteps, optional
        How far questions that people were asked about moved the panel's scores; None where it is not known.
    votes : SingleVotes, optional
        Human votes with the units that were sampled; None where these are the questions alone.
    """

    models: tuple[str, ...]
    first: IntArray
    second: IntArray
    question: IntArray
    panel: FloatArray
    human: FloatArray
    unjudged: int = 0
    steps: PanelSteps | None = None
    votes: SingleVotes | None = None

    @property
    def counted_votes(self) -> SingleVotes | None:
        """Those on items that people are taken to be asked about."""
        return None if self.votes is None else self.votes.of(self.asked[self.votes.item])

    def _line(self) -> str:
        return f"{len(self.first):,} items with {len(self.models)} models, people asked about {self.asked.sum():,}"

    def _table(self) -> pd.DataFrame:
        names = np.array(self.models, object)
        ends = {"first": names[self.first], "second": names[self.second]}
        return pd.DataFrame({**ends, "question": self.question, "panel": self.panel, "human": self.human})

    @property
    def asked(self) -> BoolArray:
        """Whether people were asked, shape (M,)."""
        return ~np.isnan(self.human)

    def comparisons(self) -> Comparisons:
        """Of the items that people judged, one each."""
        rows = self.asked
        single_judge = np.zeros(int(rows.sum()), int)
        return Comparisons(
            self.models, ("people",), self.first[rows], self.second[rows], single_judge, self.human[rows]
        )


@dataclass(frozen=True, eq=False, repr=False)
class HumanScores(Shown):
    """Scores on the human scale: a person prefers a model that is one higher 73% of the time.

    Attributes
    ----------
    items : Items
    scores : float array, shape (N,)
        Zero-sum.
    covariance : float array, shape (N, N)
    """

    items: Items
    scores: FloatArray
    covariance: FloatArray

    def _line(self) -> str:
        has_votes = self.items.asked
        return (
            f"of {len(self.scores)} models, from people's votes on {has_votes.sum():,} of {len(has_votes):,} items"
        )

    def _table(self) -> pd.DataFrame:
        return self.table()

    @property
    def degrees_of_freedom(self) -> float:
        """Of the standard errors."""
        return float(np.inf)

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """``rank, model, score, standard_error, low, high, votes``, best first; votes are people's."""
        require_level(level)
        error, n = np.sqrt(np.maximum(np.diag(self.covariance), 0.0)), len(self.items.models)
        low, high = wald(self.scores, error, level, self.degrees_of_freedom)
        has_votes = self.items.asked
        votes = sum(np.bincount(end[has_votes], minlength=n) for end in (self.items.first, self.items.second))
        columns = {"score": self.scores, "standard_error": error, "low": low, "high": high, "votes": votes}
        frame = pd.DataFrame({"model": self.items.models, **columns})
        frame = frame.sort_values("score", ascending=False, ignore_index=True)
        frame.insert(0, "rank", range(1, len(frame) + 1))
        return frame

    def win_probabilities(self, level: float = 0.95) -> pd.DataFrame:
        """P(a person prefers the first), the higher score first: ``first, second, probability, low, high``."""
        require_level(level)
        order = np.argsort(-self.scores, kind="stable")
        i, j = (order[end] for end in np.triu_indices(len(order), 1))
        v, d = self.covariance, self.scores[i] - self.scores[j]
        error = np.sqrt(np.maximum(v[i, i] + v[j, j] - 2 * v[i, j], 0.0))
        low, high = wald(d, error, level, self.degrees_of_freedom)
        names = np.array(self.items.models, object)
        ends = {"probability": expit(d), "low": expit(low), "high": expit(high)}
        return pd.DataFrame({"first": names[i], "second": names[j], **ends})


def human_rows(judgments: Judgments, names: Collection[str] = ()) -> BoolArray:
    """Which comparisons are people's: by judges of these names, or marked in a column ``human``.

    Raises
    ------
    DataError
        If a name is no judge's, a mark is neither yes nor no, or none or all comparisons are people's.
    """
    frame = judgments.frame[judgments.parsed]
    unknown = [name for name in names if name not in judgments.comparisons.judges]
    if unknown:
        raise DataError(f"there is no judge {unknown[0]!r} to be taken for human")
    is_human = frame["judge_model"].isin(list(names)).to_numpy()
    if "human" in frame:
        is_human = is_human | human_marks(frame)
    if not is_human.any():
        raise DataError(
            "no judgment is by a person: name the judges who are people (--human JUDGE), or mark their judgments "
            "in a column human"
        )
    if is_human.all():
        raise DataError("every judgment is a person's: there is no panel to anchor")
    return np.asarray(is_human, bool)


def human_marks(frame: pd.DataFrame) -> BoolArray:
    """Which records are marked as a person's in the column ``human``.

    Raises
    ------
    DataError
        If a mark is neither yes nor no.
    """
    marks = frame["human"].map(str).str.strip().str.lower()
    wrong = marks[~marks.isin(YES | NO)]
    if len(wrong):
        raise DataError(f"record {wrong.index[0] + 1} has {wrong.iloc[0]!r} for human, neither yes nor no")
    return np.asarray(marks.isin(YES), bool)


def items_of(
    comparisons: Comparisons,
    question: IntArray,
    human: BoolArray,
    panel: Fit,
    units: Mapping[str, IntArray] | None = None,
) -> Items:
    """Items with human votes beside what the panel lets one expect.

    That is the fitted probability with neither model shown first, and what the judges of the item prefer beyond
    it, each weighed by its discrimination. A judge's preference for a position is thus left out.

    Parameters
    ----------
    comparisons : Comparisons
        Raw rows of the panel and of people, T of them.
    question : int array, shape (T,)
    human : bool array, shape (T,)
    panel : Fit
        Of the panel's rows alone, with all of the models.
    units : mapping of str to int array, shape (T,), optional
        Number of the unit behind each row, for one or two units that were sampled; questions by default.
    """
    comparisons.require_pairs("the human scale")
    c, n = comparisons, len(comparisons.models)
    turned = c.first > c.second
    outcome = np.where(turned, 1 - c.outcome, c.outcome)
    _, number = np.unique(question, return_inverse=True)
    _, start, item = np.unique(number * n**2 + c.pair, return_index=True, return_inverse=True)
    low, high = np.divmod(c.pair[start], n)
    size = len(start)
    mine = np.flatnonzero(~human)
    judged = c.take(mine).pool_few(keep=panel.comparisons.judges)  # as `report.panel_of` fitted them
    rows = replace(judged, tied=None)
    beyond = rows.outcome - panel.probability(rows)
    gamma = panel.discrimination[list(rows.judges)].to_numpy()[rows.judge] * rows.count
    weight = np.bincount(item[mine], gamma, size)
    more = np.bincount(item[mine], gamma * np.where(turned[mine], -beyond, beyond), size)
    s = panel.scores[list(c.models)].to_numpy()
    expected = panel.win_probability(s[low] - s[high])
    expected = np.clip(expected + more / np.maximum(weight, np.finfo(float).tiny), 0.0, 1.0)
    votes = np.bincount(item[human], c.count[human], size)
    outcome_sums = np.bincount(item[human], (outcome * c.count)[human], size)
    people = np.where(votes > 0, outcome_sums / np.maximum(votes, 1), np.nan)
    seen = np.bincount(item[mine], minlength=size) > 0
    selected = np.flatnonzero(seen)
    columns = (low[selected], high[selected], number[start][selected], expected[selected], people[selected])
    steps = panel_steps(panel, judged, number[mine], number[human])
    single = None
    if units:
        kept = np.flatnonzero(human & seen[item])
        place = (np.cumsum(seen) - 1)[item]
        weight = c.count[kept] / votes[item[kept]]
        single = SingleVotes(place[kept], outcome[kept], weight, units_of_votes(units, kept, place, seen[item]))
    return Items(c.models, *columns, unjudged=int((~seen).sum()), steps=steps, votes=single)


def table(items: Items, names: pd.Series | None = None) -> pd.DataFrame:
    """``first, second, question, panel, human``; questions by name where these are given, by number."""
    models = np.array(items.models, object)
    question = items.question if names is None else names.to_numpy()[items.question]
    columns = {"first": models[items.first], "second": models[items.second], "question": question}
    return pd.DataFrame({**columns, "panel": items.panel, "human": items.human})


# Rows e_i - e_j of a logistic regression in zero-sum coordinates, which are never written out.


@dataclass(frozen=True)
class PairedRows:
    """A vote or an item a row, and its two models among n.

    Attributes
    ----------
    n : int
    first, second : int array, shape (T,)
    """

    n: int
    first: IntArray
    second: IntArray

    @classmethod
    def of(cls, items: Items) -> PairedRows:
        """Those of all items."""
        return cls(len(items.models), items.first, items.second)

    def predictors(self, t: FloatArray) -> FloatArray:
        """Of every row, at zero-sum coordinates of shape (N - 1,), or a column for each of several such points."""
        scores = zero_sum_basis(self.n) @ t
        return np.asarray(scores[self.first] - scores[self.second])

    def logistic(self, won: FloatArray, count: FloatArray, t: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """As `engine.concave.logistic`, at zero-sum coordinates of shape (N - 1,)."""
        basis = zero_sum_basis(self.n)
        height, residual, weight = terms(self.predictors(t), won, count)
        gradient = sums_by_place(self.first, residual, self.n) - sums_by_place(self.second, residual, self.n)
        of_pair = sums_by_place(self.first * self.n + self.second, weight, self.n**2).reshape(self.n, self.n)
        both = of_pair + of_pair.T
        return height, gradient @ basis, basis.T @ (np.diag(both.sum(axis=0)) - both) @ basis

    def sums_by(self, group: IntArray, n_groups: int, values: FloatArray) -> FloatArray:
        """Sums of rows times values by group, shape (G, N - 1)."""
        first, second = (
            sums_by_place(group * self.n + end, values, n_groups * self.n) for end in (self.first, self.second)
        )
        return np.asarray((first - second).reshape(n_groups, self.n) @ zero_sum_basis(self.n))


# Single human votes and the units that were sampled: the questions, the people who voted, or other columns.
#
# People who vote on many items have tastes of their own, and questions have answers that all who see them judge.
# An error that allows for one of them takes the other for noise. So the gradient's variance is that of two crossed
# clusters (`inference.clusters.two_way`) where people come again as questions do.

PERSON = "person"  # the unit of the people who vote, whatever their column is called


class Unit(NamedTuple):
    """What was sampled: its name, and its number for every item, shape (M,), and for every vote, shape (V,).

    That of an item is missing where votes on one item are of several, such as people.
    """

    name: str
    of_item: IntArray | None
    of_vote: IntArray


Gradients = Callable[[Unit | None, IntArray, int], FloatArray]  # as of `SingleVotes.variance`


@dataclass(frozen=True, eq=False)
class SingleVotes:
    """Human votes one by one.

    Attributes
    ----------
    item : int array, shape (V,)
        Item of each.
    outcome, weight : float array, shape (V,)
        Share for the item's first model, and share of the item's votes that each is.
    units : tuple of Unit
        One, or two that are crossed.
    """

    item: IntArray
    outcome: FloatArray
    weight: FloatArray
    units: tuple[Unit, ...]

    def of(self, keep: np.ndarray) -> SingleVotes:
        """Those of some of the votes."""
        units = tuple(unit._replace(of_vote=unit.of_vote[keep]) for unit in self.units)
        return SingleVotes(self.item[keep], self.outcome[keep], self.weight[keep], units)

    @property
    def effective(self) -> float:
        """The smaller effective number of units."""
        return min(effective_number(numbered(unit.of_vote)[1], self.weight) for unit in self.units)

    def variance(self, gradients: Gradients, scale: FloatArray) -> FloatArray:
        """Variance of a gradient by the units, shape (D, D).

        Parameters
        ----------
        gradients : callable
            From a unit (None of pairs of two), the label of every vote and the number of labels to sums by label.
        scale : float array, shape (D,)
            As of `inference.clusters.two_way`.
        """
        squares = [self._squares(gradients, unit, numbered(unit.of_vote)) for unit in self.units]
        if len(squares) == 1:
            return squares[0]
        both = numbered(crossing(*(unit.of_vote for unit in self.units)))
        return two_way(squares[0], squares[1], self._squares(gradients, None, both), scale)

    @staticmethod
    def _squares(
        gradients: Gradients,
        unit: Unit | None,
        labels: tuple[IntArray, IntArray],
    ) -> FloatArray:
        n_units = len(labels[0])
        of_units = gradients(unit, labels[1], n_units) * np.sqrt(n_units / max(n_units - 1, 1))
        return np.asarray(of_units.T @ of_units)


def units_of_votes(
    units: Mapping[str, IntArray], votes: IntArray, item: IntArray, judged: BoolArray
) -> tuple[Unit, ...]:
    """Units of items and votes.

    Parameters
    ----------
    units : mapping of str to int array, shape (T,)
        Number of the unit behind every row, a vote or a verdict.
    votes : int array, shape (V,)
        The rows that are votes.
    item : int array, shape (T,)
        The item of every row.
    judged : bool array, shape (T,)
        Whether that is an item that the panel judged.
    """
    made = []
    for name, label in units.items():
        of_item = np.full(int(item[judged].max(initial=-1)) + 1, -1)
        of_item[item[judged]] = label[judged]
        has_one = name != PERSON and bool((of_item[item[judged]] == label[judged]).all())
        made.append(Unit(name, of_item if has_one else None, label[votes]))
    return tuple(made)
