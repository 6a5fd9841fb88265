"""Dependence within questions, or other units that were sampled: clustered errors, and sign flips of few units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import md5
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack, vstack
from scipy.special import pdtr

from judgerank.data import QUESTION
from judgerank.data.arrays import FloatArray, IntArray, sizes
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.listing import counted
from judgerank.fits.result import Fit
from judgerank.inference.clusters import (
    JUDGMENT,
    RANKING,
    Clusters,
    effective_number,
    effective_of,
    information_by_cluster,
    residuals_by_cluster,
    single_judgments,
    sums_and_products,
)
from judgerank.model.members import Model, Parameters
from judgerank.reading.files import Files
from judgerank.reading.large.cells import cells_of, checked, comparisons_of, places_of
from judgerank.reading.large.numbered import FAULT, Columns, Rows, refuse, rows_of
from judgerank.reading.large.sources import MEMORY, Engine, session

MOST_QUESTIONS = 100_000  # that errors are computed from; of more, so many at random stand for all


class Questions(NamedTuple):
    """How many questions there are, and how many it takes for errors by question.

    Attributes
    ----------
    n_questions : int
    effective : float
        How many of equal size they count as (`inference.clusters.effective_number`).
    parameters : int
        Free ones; errors by question take more questions than these.
    unit : str
        What these are where they are no questions: `inference.clusters.JUDGMENT`, or a column of the file.
    """

    n_questions: int
    effective: float
    parameters: int
    unit: str = QUESTION

    @property
    def enough(self) -> bool:
        """Whether errors by question exist."""
        return self.effective > self.parameters

    def too_few_to_tell(self, what: str) -> str:
        """Why something is left open, in a sentence of its own."""
        are, units = "is" if self.n_questions == 1 else "are", plural(self.unit)
        return f"Too few {units} to tell {what}: there {are} {self}, and it takes more {units} than parameters."

    def __str__(self) -> str:
        """Both numbers in words."""
        questions = number_and_unit(self.n_questions, self.unit)
        if round(self.effective) < self.n_questions:
            questions += f" of unequal size, which count as {self.effective:.0f} of equal size,"
        return f"{questions} and {counted(self.parameters, 'free parameter')}"


NAMED = (QUESTION, JUDGMENT, RANKING)  # units with a plural; any other is a column of the file


def number_and_unit(n_units: int, unit: str) -> str:
    """How many units there are, in words."""
    return counted(n_units, unit if unit in NAMED else "value") + ("" if unit in NAMED else f" of {unit}")


def plural(unit: str) -> str:
    """Units in words, without their number."""
    return f"{unit}s" if unit in NAMED else f"values of {unit}"


def questions_of(fitted: Fit, comparisons: Comparisons, question: IntArray) -> Questions:
    """The questions behind the raw comparisons of a fit: the one place that decides whether they are enough."""
    return Questions(number_of(question), effective_number(question, comparisons.count), fitted.n_parameters)


def too_few(fitted: Fit) -> Questions | None:
    """The questions of a fit whose errors should allow for them, and cannot; None of any other fit.

    Only its pairs have a test whose level is known, that of sign flips. Errors of other claims are rough, or take
    comparisons as independent.
    """
    if fitted.clusters is not None:
        units = units_of(fitted, fitted._require_raw(), fitted.clusters)
        return None if units.enough else units
    if fitted.errors.flips is not None:
        if fitted.raw is not None and fitted.question is not None:
            return questions_of(fitted, fitted.raw, fitted.question)
        n_questions = fitted.errors.flips.shape[0]
        return Questions(n_questions, float(n_questions), fitted.n_parameters)
    effective = fitted.errors.effective_clusters
    if effective is None or fitted.effects is not None:
        return None
    questions = Questions(fitted.errors.n_clusters or 0, effective, fitted.n_parameters)
    return None if questions.enough else questions


def number_of(question: IntArray) -> int:
    """How many different questions there are."""
    return len(sizes(question))


def least_questions(n_parameters: int) -> int:
    """The fewest questions of equal size with which a model of so many parameters has errors by question.

    The sandwich's rank is below their number.
    """
    return n_parameters + 1


def by_question(fitted: Fit, comparisons: Comparisons | None, question: IntArray) -> Fit:
    """The fit with errors by question, and, where there are too few questions, with sign flips for tests of pairs.

    With too few, errors by question exist only where the scores are shrunk: then those of scores and win rates
    are by question, too, with what few clusters leave out (`clusters.for_few_clusters`). Else errors stay as they
    are, and take comparisons as independent.

    Of more than `MOST_QUESTIONS`, that many stand for all (`inference.uncertainty.Uncertainty.clustered`).

    Parameters
    ----------
    fitted : Fit
    comparisons : Comparisons, optional
        The raw comparisons behind it, where it does not hold them.
    question : int array, shape (T,)
        Question of each of them.

    Raises
    ------
    DataError
        If these are other comparisons than those fitted.
    NoIntervalError
        If the fit has no intervals.
    """
    rows = fitted._require_raw() if comparisons is None else comparisons
    question_index = questions_of(fitted, rows, question)
    if question_index.enough:
        return fitted.clustered(comparisons, question, MOST_QUESTIONS)
    if fitted.solution.shrinks_scores and fitted.effects is None and question_index.n_questions > 1:
        return fitted.clustered(comparisons, question, MOST_QUESTIONS)._flipped(comparisons, question)
    return fitted._flipped(comparisons, question)


def units_of(fitted: Fit, comparisons: Comparisons, clusters: Clusters) -> Questions:
    """The units behind the raw comparisons of a fit; of crossed ones those that count as fewer."""
    if clusters.are_judgments:
        total = round(float(comparisons.count.sum()))
        return Questions(total, float(total), fitted.n_parameters, JUDGMENT)
    kinds = [
        questions_of(fitted, comparisons, label)._replace(unit=name)
        for name, label in zip(clusters.names, clusters.labels, strict=True)
    ]
    return min(kinds, key=lambda units: units.effective)


def sampled(fitted: Fit) -> str:
    """The units behind the errors of a fit and their numbers, in words, such as 12 values of template."""
    if fitted.clusters is None or fitted.clusters.are_judgments:
        return number_and_unit(fitted.errors.n_clusters or 0, QUESTION if fitted.clusters is None else JUDGMENT)
    units = zip(fitted.clusters.names, fitted.clusters.labels, strict=True)
    return " and ".join(number_and_unit(number_of(label), name) for name, label in units)


def by_clusters(fitted: Fit, clusters: Clusters, comparisons: Comparisons | None = None) -> Fit:
    """The fit with errors by the units that were sampled, as `by_question` has them by question.

    With too few units of either kind where they are crossed, flips of both count (`order.flips.tests_by_flips`).
    """
    rows = fitted._require_raw() if comparisons is None else comparisons
    enough = units_of(fitted, rows, clusters).enough
    labels: tuple[IntArray, ...] = clusters.labels
    result = fitted
    if enough or (fitted.solution.shrinks_scores and min(map(number_of, labels), default=2) > 1):
        cluster: IntArray | tuple[IntArray, IntArray] | str = labels[0] if labels else JUDGMENT
        cluster = (labels[0], labels[1]) if clusters.are_crossed else cluster
        result = fitted.clustered(comparisons, cluster, MOST_QUESTIONS)
    if not enough:
        if clusters.are_judgments:
            rows = single_judgments(rows, None)[1]
            labels = (np.arange(len(rows)),)
        result = result._flipped(rows, *labels)
    return replace(result, clusters=clusters)


# Comparisons of one question at scale: clustered errors by a second pass over files, and resampled questions.

LARGEST_WEIGHT = 18  # of a question: larger ones are rarer than a double can tell


def clustered(
    fitted: Fit,
    files: Files,
    form: str | None = None,
    columns: Columns | None = None,
    winner_values: Mapping[str, str] | None = None,
    memory: str = MEMORY,
    residuals: bool = False,
) -> Fit:
    """The same fit with a covariance that allows for dependence within questions.

    That of `Fit.clustered`, in one more pass over the files: the engine puts the records in order of their
    questions, spilling to disk, and each question's gradient is forgotten once its square is added.

    Parameters
    ----------
    fitted : Fit
        A fit of ``judgerank.aggregate(files)``.
    files, form, columns, winner_values, memory
        Those of `judgerank.reading.large.cells.aggregate`; there must be a column of questions.
    residuals : bool
        Whether to keep every question's residuals, which pairs and ranks by these errors take: up to 24 bytes a
        comparison.

    Raises
    ------
    DataUnavailableError, DataError, ConfigError
        As of `large.cells.aggregate`; if the files hold other comparisons than those fitted, fewer than
        two questions, or a record without one; if the model has a slope in a covariate.
    NoIntervalError
        If the fit has no intervals.
    """
    if any(block.column for block in fitted.model.blocks):
        raise ConfigError(f"questions at scale take a model without a covariate, and not {fitted.model.name!r}")
    linear = _to_gradients(fitted.model, fitted.solution.parameters)
    squares, n_questions, total, sizes_squared = np.zeros((linear.shape[1],) * 2), 0, 0.0, 0.0
    n, residual_parts = len(fitted.comparisons.models), []
    sums, products = np.zeros(n), np.zeros((n, n))
    with session(memory) as db:
        rows = rows_of(db, files, form, columns, winner_values, ["question"])
        judges = _heard(db, rows, fitted.comparisons.judges)
        for part, sizes in _by_question(db, rows, fitted, judges):
            question_gradients, information = part[:, : linear.shape[0]], part[:, linear.shape[0] :]
            gradients = question_gradients @ linear
            squares += (gradients.T @ gradients).toarray()
            n_questions, total = n_questions + len(sizes), total + float(sizes.sum())
            sizes_squared += float(sizes @ sizes)
            sums, products = map(np.add, (sums, products), sums_and_products(information))
            residual_parts += [question_gradients] if residuals else []
    fitted._require_fitted(rows.names.models, judges, total)
    if n_questions < 2:
        raise DataError(
            f"{counted(total, 'comparison')} in {counted(n_questions, 'question')}: two questions are needed"
        )
    chosen = np.ix_(fitted._chosen, fitted._chosen)
    by_cluster = csr_array(vstack(residual_parts)) if residuals else None
    effective = float(effective_of(np.array(total), np.array(sizes_squared)))
    return fitted._sandwiched(
        squares[chosen], n_questions, by_cluster, effective, fitted._behind_pairs(sums, products)
    )


def _to_gradients(model: Model, parameters: Parameters) -> csr_array:
    """What makes gradients in (s, judges' blocks) of the residuals of `residuals_by_cluster`, a linear map.

    With r_km a cluster's net residual of judge k and model m, the gradient is sum_k gamma_k r_km in s_m, and
    gamma_k sum_m s_m r_km in log gamma_k; what the offsets' residuals say is their own gradient.
    """
    n, (b, k) = len(parameters.scores), parameters.judges.shape
    if not b:
        return csr_array(np.eye(n))
    gamma, row = np.exp(parameters.judges[0]), np.arange(k * n)
    offsets = np.arange(b)[model.offsets]
    n_offsets = len(offsets)  # of every judge
    offset = k * n + np.arange(k * n_offsets)
    block = n + np.tile(offsets, k) * k + np.repeat(np.arange(k), n_offsets)
    values = np.r_[np.repeat(gamma, n), np.outer(gamma, parameters.scores).ravel(), np.ones(k * n_offsets)]
    coords = np.r_[row, row, offset], np.r_[np.tile(np.arange(n), k), n + np.repeat(np.arange(k), n), block]
    return csr_array((values, coords), shape=(k * (n + n_offsets), n + b * k))


def _heard(db: Engine, rows: Rows, fitted: tuple[str, ...]) -> tuple[str, ...]:
    """Judges in the files with an answer that could be read: looked for where they are not those of the fit."""
    names = rows.names.judges
    if names == fitted:
        return names
    query = f"SELECT DISTINCT cell % {len(names)} AS judge FROM ({rows.query()}) WHERE cell >= 0 ORDER BY judge"
    return tuple(names[judge] for judge in db.fetched(query)["judge"])


def _by_question(
    db: Engine, rows: Rows, fitted: Fit, judges: tuple[str, ...]
) -> Iterator[tuple[csr_array, FloatArray]]:
    """Residuals of whole questions and their information in the scores, side by side, and their comparisons."""
    query = f"SELECT question, cell, answer, times FROM ({rows.query(also=', r.question')}) ORDER BY question"
    waiting, last, count = None, None, np.zeros(0)  # of the question that the next rows may go on with
    parameters, judge_index = fitted.solution.parameters, pd.Index(judges).get_indexer(pd.Index(rows.names.judges))
    stream = db.batches(query)
    for batch in stream:
        cell = batch["cell"]
        if cell.min() < 0:
            if cell.min() == FAULT:
                stream.close()
                refuse(db, rows)
            batch = {name: column[cell >= 0] for name, column in batch.items()}
            if not len(batch["cell"]):
                continue
        question, times = batch["question"], batch["times"]
        number = np.r_[0, np.cumsum(question[1:] != question[:-1])]
        first, second, judge = places_of(rows.names, batch["cell"])
        outcome = batch["answer"] / 2.0
        tied = (outcome == 0.5).astype(float)
        raw = Comparisons(rows.names.models, judges, first, second, judge_index[judge], outcome, times, tied=tied)
        answers = fitted.model.observed(raw)
        both = (
            of(answers, fitted.model, parameters, number) for of in (residuals_by_cluster, information_by_cluster)
        )
        part = csr_array(hstack(list(both)))
        sizes = np.asarray(np.bincount(number, times), float)
        if waiting is not None:
            goes_on = question[0] == last
            part = csr_array(vstack([waiting + part[:1], part[1:]] if goes_on else [waiting, part]))
            sizes = np.r_[count + sizes[:1], sizes[1:]] if goes_on else np.r_[count, sizes]
        waiting, last, count = part[-1:], question[-1], sizes[-1:]
        yield part[:-1], sizes[:-1]
    if waiting is not None:
        yield waiting, count


def resampled(
    files: Files,
    replicates: int,
    seed: int,
    form: str | None = None,
    columns: Columns | None = None,
    winner_values: Mapping[str, str] | None = None,
    memory: str = MEMORY,
    ties: bool = False,
) -> Iterator[Comparisons]:
    """Comparisons of questions resampled: every question counts a Poisson number of times, with mean one.

    The weight of a question hangs on the seed, the replicate and the question's id alone (`weight_of`), so that it
    is the same on any machine, whatever the order of the records. Questions, cells and answers are written down
    once, to disk where memory does not hold them; every replicate is one pass over that.

    Parameters
    ----------
    replicates : int
        How many to give.
    seed : int
    files, form, columns, winner_values, memory, ties
        Those of `judgerank.reading.large.cells.aggregate`; there must be a column of questions.

    Yields
    ------
    Comparisons
        Aggregated, with the judges that have comparisons; models stay as they are.

    Raises
    ------
    DataUnavailableError, DataError, ConfigError
        As of `judgerank.reading.large.cells.aggregate`.
    """
    with session(memory) as db:
        rows = rows_of(db, files, form, columns, winner_values, ["question"])
        text = "r.question::JSON->>'$'" if rows.sources[0].of_json else "r.question"
        db.rows(
            f"CREATE TEMP TABLE kept AS SELECT question, cell, answer, sum(times) AS times FROM "
            f"({rows.query(also=f', {text} AS question')}) GROUP BY ALL"
        )
        weighted = db.fetched(
            "SELECT cell, sum(times) AS count FROM kept WHERE cell < 0 GROUP BY cell ORDER BY cell"
        )
        dropped = checked(db, rows, weighted["cell"], weighted["count"])
        db.rows("CREATE TEMP TABLE questions AS SELECT DISTINCT question FROM kept WHERE cell >= 0")
        for replicate in range(replicates):
            drawn = (
                "SELECT cell, answer, times * weight AS times FROM kept "
                f"JOIN ({_weights(seed, replicate)}) USING (question) WHERE weight > 0 AND cell >= 0"
            )
            comparisons = comparisons_of(
                rows.names,
                db.fetched(cells_of(rows.names, drawn, ties or rows.counted, alike=False)),
            )
            yield replace(comparisons, dropped=dropped)


def weight_of(seed: int, replicate: int, question: str) -> int:
    """How often a question counts: the quantile of a Poisson variable with mean one, at its hash over 2^53.

    The hash is the last 64 bits of the MD5 of ``seed:replicate:question``, read as a little-endian number, without
    its last 11.
    """
    digest = md5(f"{seed}:{replicate}:{question}".encode(), usedforsecurity=False).digest()
    return int(np.searchsorted(_thresholds(), int.from_bytes(digest[8:], "little") >> 11, side="right"))


def _weights(seed: int, replicate: int) -> str:
    """A query for the ``weight`` of every question, as in `weight_of`."""
    steps = " ".join(
        f"WHEN u < {threshold} THEN {number}" for number, threshold in enumerate(_thresholds().tolist())
    )
    hashed = f"SELECT question, md5_number_lower('{seed}:{replicate}:' || question) >> 11 AS u FROM questions"
    return f"SELECT question, CASE {steps} ELSE {LARGEST_WEIGHT} END AS weight FROM ({hashed})"


def _thresholds() -> IntArray:
    """Hashes from which on a question counts once, twice and so on, int array."""
    return np.floor(pdtr(np.arange(LARGEST_WEIGHT), 1.0) * 2.0**53).astype(np.int64)
