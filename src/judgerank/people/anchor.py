"""Scores on the human scale from few human votes and a panel's many, by prediction-powered inference.

People prefer model i to j with probability sigmoid(t_i - t_j). With y what people said of the items they were
asked about, f what the panel lets one expect of every item, and l the loss of scores on an answer, t minimises

    mean_asked l(t; y) + lambda (mean_others l(t; f) - mean_asked l(t; f)).

The panel's errors cancel, whatever they are, if the items that people were asked about are a random sample. The
weight lambda from 0 (people alone) to 1 is that of the least variance (Angelopoulos and others, 2023,
arXiv 2301.09633; Angelopoulos, Duchi and Zrnic, arXiv 2311.01453). Errors are clustered by question, which that
work's own code does not do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import expit, fdtrc

from judgerank.data.arrays import FloatArray, IntArray, numbered
from judgerank.data.errors import DataError
from judgerank.engine.ascent import Look, peak
from judgerank.engine.information import zero_sum_basis
from judgerank.fits.errors_by_question import Questions, number_of
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.clusters import effective_number
from judgerank.people.items import HumanScores, Items, PairedRows, SingleVotes, Unit, table


@dataclass(frozen=True, eq=False, repr=False)
class People(HumanScores):
    """Scores on the human scale with the panel's help, and by people alone.

    Attributes
    ----------
    items, scores, covariance
        Those of `HumanScores`.
    alone : float array, shape (N,)
        Scores by people alone; zero-sum.
    covariance_alone : float array, shape (N, N)
    weight : float
        Lambda: zero if the panel is of no help.
    questions : Questions
        Those that people were asked, and the free scores by people alone.
    """

    alone: FloatArray
    covariance_alone: FloatArray
    weight: float
    questions: Questions

    @property
    def degrees_of_freedom(self) -> float:
        """One less than the effective number of questions, or of the units that were sampled; at least one."""
        if (votes := self.items.counted_votes) is not None:
            return max(min(self.questions.effective, votes.effective) - 1.0, 1.0)
        return self.questions.effective - 1.0

    @property
    def saving(self) -> float:
        """Share of the variance of the scores that the panel takes away, on average over the models."""
        return 1 - float(np.trace(self.covariance) / np.trace(self.covariance_alone))

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """As `HumanScores.table`, with ``alone, alone_error`` beside it."""
        alone = {"alone": self.alone, "alone_error": np.sqrt(np.diag(self.covariance_alone))}
        return super().table(level).merge(pd.DataFrame({"model": self.items.models, **alone}), on="model")


def anchored_by_people(items: Items) -> People:
    """Scores on the human scale, the panel's weight that of the least variance.

    Raises
    ------
    DataError
        If people were asked about fewer than two questions, or about all items.
    NoMaximumError
        If the human votes alone do not determine every score; the models are named.
    """
    has_votes = items.asked
    question, free = items.question[has_votes], len(items.models) - 1
    questions = Questions(number_of(question), effective_number(question, np.ones(len(question))), free)
    if questions.n_questions < 2:
        raise DataError(
            f"people were asked about {questions.n_questions} questions, and this requires two or more"
        )
    if has_votes.all():
        raise DataError("people were asked about every item: there is nothing for the panel to add")
    start = fit(items.comparisons(), "btl").scores.to_numpy()
    weight = _best_weight(items, start)
    scores, alone = _minimum(items, weight, start), _minimum(items, 0.0, start)
    v, v_alone = (_covariance(items, lam, t) for lam, t in ((weight, scores), (0.0, alone)))
    return People(items, scores, v, alone, v_alone, weight, questions)


def disagreement(people: People, panel: Fit) -> tuple[float, float, int]:
    """Test that people's scores are the panel's up to their scale: T^2, its p-value, and how many it is over.

    The scores by people alone are held against c times the panel's, c at its best. Both are on the same questions,
    which makes their errors go together: the test is cautious for that. Few questions know the covariance badly.
    So the test is Hotelling's: with d = N - 2 dimensions and m degrees of freedom, T^2 (m - d + 1) / (m d) is
    compared with F on d and m - d + 1 degrees of freedom. With too few questions the p-value is missing.
    """
    n = len(people.alone)
    basis = zero_sum_basis(n)
    s = panel.scores[list(people.items.models)].to_numpy()
    index = [panel.comparisons.models.index(model) for model in people.items.models]
    v_panel = panel.covariance[np.ix_(index, index)]
    c = float(people.alone @ s / (s @ s))
    for _ in range(20):  # weights depend on c, and settle at once
        v = basis.T @ (people.covariance_alone + c**2 * v_panel) @ basis
        inverse, x = np.linalg.pinv(v, hermitian=True), basis.T @ s
        c = float(x @ inverse @ (basis.T @ people.alone) / (x @ inverse @ x))
    off = basis.T @ (people.alone - c * s)
    statistic = float(off @ np.linalg.pinv(v, hermitian=True) @ off)
    d, m = n - 2, people.degrees_of_freedom
    if not people.questions.enough:
        return statistic, np.nan, d
    return statistic, float(fdtrc(d, m - d + 1, statistic * (m - d + 1) / (m * d))) if d else 1.0, d


def _shares(items: Items) -> tuple[FloatArray, FloatArray]:
    """Weight of every item in the means over those asked and over the others, shape (M,) each."""
    has_votes = items.asked
    return has_votes / max(has_votes.sum(), 1), ~has_votes / max((~has_votes).sum(), 1)


def _look(items: Items, weight: float) -> Look:
    """Minus the loss at zero-sum coordinates, a concave function: lambda is at most one."""
    human_share, panel_share = _shares(items)
    won = (
        human_share * np.where(items.asked, items.human, 0.0) + weight * (panel_share - human_share) * items.panel
    )
    return partial(PairedRows.of(items).logistic, won, (1 - weight) * human_share + weight * panel_share)


def _minimum(items: Items, weight: float, start: FloatArray) -> FloatArray:
    """Scores of the least loss, shape (N,).

    Raises
    ------
    NoMaximumError
        If the climb to them does not settle.
    """
    basis = zero_sum_basis(len(items.models))
    unsettled = "the scores on the human scale did not settle: ask people about more items"
    return np.asarray(basis @ peak(_look(items, weight), basis.T @ start, unsettled)[0])


def inverse_information(items: Items, weight: float, t: FloatArray) -> FloatArray:
    """Inverse of the information in zero-sum coordinates at some scores, shape (N - 1, N - 1)."""
    return np.asarray(np.linalg.inv(_look(items, weight)(zero_sum_basis(len(t)).T @ t)[2]), float)


def _by_question(items: Items, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The gradient of the loss by people alone, and what a weight of one adds, shape (Q, N - 1) each."""
    rows, (human_share, panel_share) = PairedRows.of(items), _shares(items)
    p = expit(t[items.first] - t[items.second])
    y = np.where(items.asked, items.human, 0.0)
    questions, question = np.unique(items.question, return_inverse=True)
    alone = rows.sums_by(question, len(questions), human_share * (p - y))
    return alone, rows.sums_by(question, len(questions), (panel_share - human_share) * (p - items.panel))


def _best_weight(items: Items, t: FloatArray) -> float:
    """Of the least trace of the variance, which is a parabola in the weight."""
    inverse = inverse_information(items, 0.0, t)
    a, b = (by @ inverse for by in _by_question(items, t))
    return float(np.clip(-np.sum(a * b) / np.sum(b * b), 0.0, 1.0))


def _covariance(items: Items, weight: float, t: FloatArray) -> FloatArray:
    """Sandwich over questions, or the units that were sampled, shape (N, N)."""
    if (votes := items.counted_votes) is not None:
        return _by_units(items, votes, weight, t)
    alone, more = _by_question(items, t)
    n_questions = len(np.unique(items.question[items.asked]))
    by_question = (
        (alone + weight * more) @ inverse_information(items, weight, t) * np.sqrt(n_questions / (n_questions - 1))
    )
    basis = zero_sum_basis(len(items.models))
    return np.asarray(basis @ (by_question.T @ by_question) @ basis.T)


def _by_units(items: Items, votes: SingleVotes, weight: float, t: FloatArray) -> FloatArray:
    """`_covariance` by the units that were sampled: items that nobody voted on count where their unit is known."""
    rows, (human_share, panel_share) = PairedRows.of(items), _shares(items)
    p = expit(t[items.first] - t[items.second])
    item = votes.item
    voted = PairedRows(rows.n, items.first[item], items.second[item])
    of_votes = human_share[item] * votes.weight
    of_votes = of_votes * ((p[item] - votes.outcome) - weight * (p - items.panel)[item])
    of_others = weight * panel_share * (p - items.panel)

    def gradients(unit: Unit | None, label: IntArray, n_labels: int) -> FloatArray:
        sums = voted.sums_by(label, n_labels, of_votes)
        if unit is None or unit.of_item is None:
            return sums
        names, of_item = numbered(np.r_[unit.of_vote, unit.of_item])
        more = rows.sums_by(of_item[len(item) :], len(names), of_others)
        more[np.unique(of_item[: len(item)])] += sums
        return more

    basis, inverse = zero_sum_basis(rows.n), inverse_information(items, weight, t)
    information = np.diag(np.linalg.inv(inverse))
    return np.asarray(basis @ inverse @ votes.variance(gradients, information) @ inverse @ basis.T)


# Which items to send to people next: those whose votes add most information on the scores.
#
# An answer to an item x moves the scores by about H^-1 x (y - lambda f), so its worth is the length of H^-1 x
# times the spread of y - lambda f, which is learned from the items that people were asked about: it is larger
# where the panel is split. Votes are spread best in proportion to that (Neyman, 1934; Zrnic and Candes, arXiv
# 2403.03208).
LEAST = 0.05  # spread of an answer, lest items be never asked about that the panel agrees on


def next_items(human_scores: HumanScores, names: pd.Series | None = None) -> pd.DataFrame:
    """Items that people were not asked about, the most telling first: ``first, second, question, panel, worth``.

    ``worth`` is in units of the mean item's. Of a pair, draw items at random: the intervals take those that people
    were asked about for a random sample.

    Parameters
    ----------
    found : HumanScores
        Scores that are drawn toward the panel's know more of some models than votes alone do: an answer is then
        worth what it takes off their errors.
    names : Series, optional
        Names of the questions, by number.
    """
    items = human_scores.items
    rows = PairedRows.of(items)
    p = expit(human_scores.scores[items.first] - human_scores.scores[items.second])
    if isinstance(human_scores, People):
        predictors = rows.predictors(inverse_information(items, 0.0, human_scores.scores))
        worth = np.linalg.norm(predictors, axis=1) * _spread(human_scores, p)
    else:
        basis = zero_sum_basis(len(items.models))
        left = rows.predictors(basis.T @ human_scores.covariance @ basis)
        worth = np.linalg.norm(left, axis=1) * np.sqrt(p * (1 - p))
    frame = table(items, names).drop(columns="human").assign(worth=worth / worth.mean())[~items.asked]
    return frame.sort_values("worth", ascending=False, kind="stable", ignore_index=True)


def next_pairs(listed: pd.DataFrame) -> pd.DataFrame:
    """Items by pair of models: ``first, second, items, share``, the share of the next votes that suits each."""
    by = listed.groupby(["first", "second"], sort=False)["worth"].agg(["size", "sum"]).reset_index()
    by = by.assign(share=by["sum"] / by["sum"].sum()).rename(columns={"size": "items"}).drop(columns="sum")
    return by.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def _spread(people: People, p: FloatArray) -> FloatArray:
    """Standard deviation of y - lambda f of every item, a line in the panel's split f (1 - f)."""
    items, has_votes = people.items, people.items.asked
    split = items.panel * (1 - items.panel)
    off = (items.human - p - people.weight * (items.panel - p))[has_votes]
    design = np.column_stack([np.ones(int(has_votes.sum())), split[has_votes]])
    (base, slope), *_ = np.linalg.lstsq(design, off**2, rcond=None)
    return np.asarray(np.sqrt(np.maximum(base + slope * split, LEAST**2)))
