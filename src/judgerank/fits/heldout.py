"""Held-out prediction of whole questions, with a description and without it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.engine.likelihood_rows import in_parts
from judgerank.engine.questions.groups import grouped
from judgerank.engine.questions.marginal import Marginal
from judgerank.engine.questions.maximum import SHARP
from judgerank.fits.fit import described
from judgerank.fits.fitted import Fitted
from judgerank.inference.predictions import positions_of
from judgerank.model.block import Block, Records, Role
from judgerank.model.members import Model, Parameters


def held_out(
    judgments: Comparisons | Records,
    fold: IntArray,
    model: str | Model = "position_aware",
    *,
    blocks: Iterable[str | Block] = (),
    questions: str | None = None,
    question: IntArray | None = None,
) -> pd.DataFrame:
    """Fit all folds but one and predict that one, the answers to each question together.

    The log-loss of a question is minus the logarithm of its likelihood. With question effects that is the marginal
    one: the second judge's answer is predicted with the first one's known, and so on.

    Parameters
    ----------
    judgments, model, blocks, questions, question
        As of `judgerank.fit`.
    fold : int array, shape (T,)
        Number of every comparison's fold, such as ``judgments.question % 5``. Questions are whole: all comparisons
        of one are in the same fold.

    Returns
    -------
    DataFrame
        ``fold, question, comparisons, described, without``: log-likelihoods of each question, held out. Where ties
        are an outcome, judges who gave none get half a tie's chance in one comparison more.

    Raises
    ------
    NoMaximumError, NotIdentifiedError, DataError
        If some folds cannot be fitted, as `judgerank.fit`.
    ConfigError
        If `fold` is not one number for each comparison, or all of them are the same.
    """
    description = described(judgments, blocks, question, model)
    fold = _folds(fold, len(description.comparisons))
    if description.question is None:
        raise DataError(
            "the questions are not known: judgments have them in question_id, comparisons take `question`"
        )
    parts = []
    for number in np.unique(fold):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        fitted = description.fitted(train, questions)
        table = log_likelihoods(fitted, description.comparisons.take(test), description.question[test])
        parts.append(table.assign(fold=number))
    frame = pd.concat(parts, ignore_index=True)
    return frame[["fold", "question", "comparisons", "described", "without"]]


def _folds(fold: IntArray, size: int) -> IntArray:
    """Folds as an array, refused if they are none.

    Raises
    ------
    ConfigError
    """
    folds = np.asarray(fold)
    if folds.shape != (size,) or not np.issubdtype(folds.dtype, np.integer):
        shown_value = repr(fold) if isinstance(fold, str) else f"an array of {folds.dtype}, shape {folds.shape}"
        raise ConfigError(
            f"fold is {shown_value}; expected a whole number for each of the {size:,} comparisons, such as "
            "judgments.question % 5 (the model is the third argument)"
        )
    if len(np.unique(folds)) < 2:
        raise ConfigError("all comparisons are in the same fold: held-out prediction takes at least two")
    return folds


def log_likelihoods(fitted: Fitted, comparisons: Comparisons, question: IntArray) -> pd.DataFrame:
    """How probable the answers to other questions are, all those of a question together.

    Parameters
    ----------
    fitted : Fitted
        With further blocks or question effects.
    comparisons : Comparisons
        Of the same models by the same judges; raw rows, with the blocks' columns.
    question : int array, shape (T,)

    Returns
    -------
    DataFrame
        ``question, comparisons, described, without``: log-likelihoods by question.

    Raises
    ------
    DataError
        If a model or a judge is not among those fitted.
    """
    c = comparisons.with_ties()
    models, judges = (
        positions_of(names, available)[:, 0]
        for names, available in ((c.models, fitted.comparisons.models), (c.judges, fitted.comparisons.judges))
    )
    at_ours = {"first": models[c.first], "second": models[c.second], "judge": judges[c.judge]}
    labels = {"models": fitted.comparisons.models, "judges": fitted.comparisons.judges}
    rows = c._rows(np.arange(len(c)), **at_ours, **labels)
    names, number = np.unique(question, return_inverse=True)
    ends = {"described": fitted, "without": fitted.without or fitted}
    table = {name: _by_question(result, rows, number, len(names)) for name, result in ends.items()}
    return pd.DataFrame({"question": names, "comparisons": np.bincount(number, c.count), **table})


def _by_question(fitted: Fitted, c: Comparisons, number: IntArray, n_questions: int) -> FloatArray:
    model, at = fitted.model, _tying(fitted)
    c = c if model.further else replace(c, columns=None)
    c = model.observed(c)
    if fitted.effects is not None and fitted.effects.sigma > 0:
        sigma = fitted.effects.sigma
        fine = Marginal.fine(grouped(c, number), model, model.of_judges(at).gamma, sigma, SHARP)
        return fine.values(at, sigma, n_questions)
    total = np.zeros(n_questions)
    for rows, terms in in_parts(c, model, at):
        values = c.count[rows] * terms.log_likelihood
        total += np.bincount(number[rows], values, n_questions)
    return total


def _tying(fitted: Fitted) -> Parameters:
    """The estimates, with a chance of a tie for judges who gave none."""
    at, cells = fitted.solution.parameters, fitted.comparisons
    if not fitted.model.has(Role.TIE):
        return at
    judges, row = at.judges.copy(), fitted.model.row("log_tie")
    n_answers = np.bincount(cells.judge, cells.count, len(cells.judges))
    judges[row] = np.maximum(judges[row], -np.log(n_answers + 1))  # nu / (nu + 2) is about half of 1 / (many + 1)
    return replace(at, judges=judges)
