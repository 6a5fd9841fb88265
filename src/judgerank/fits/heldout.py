"""Held-out prediction of whole questions, with a description and without it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import xlog1py, xlogy

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.rankings import with_tied_choices
from judgerank.data.tied_choices import chosen, is_choice
from judgerank.engine.likelihood import in_parts, row_by_row
from judgerank.engine.questions.groups import grouped
from judgerank.engine.questions.marginal import Marginal
from judgerank.engine.questions.maximum import SHARP
from judgerank.fits.fit import described
from judgerank.fits.fitted import Fitted
from judgerank.fits.result import Fit
from judgerank.inference.predictions import positions_of
from judgerank.model.block import Block, Records, Role
from judgerank.model.members import Model, Parameters
from judgerank.model.tied_law import TiedLaw


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
    model, parameters = fitted.model, _tying(fitted)
    c = c if model.further else replace(c, columns=None)
    c = model.observed(c)
    if fitted.effects is not None and fitted.effects.sigma > 0:
        sigma = fitted.effects.sigma
        fine = Marginal.fine(grouped(c, number), model, model.of_judges(parameters).gamma, sigma, SHARP)
        return fine.values(parameters, sigma, n_questions)
    total = np.zeros(n_questions)
    for rows, terms in in_parts(c, model, parameters):
        values = c.count[rows] * terms.log_likelihood
        total += np.bincount(number[rows], values, n_questions)
    return total


def _tying(fitted: Fitted) -> Parameters:
    """The estimates, with a chance of a tie for judges who gave none."""
    parameters, cells = fitted.solution.parameters, fitted.comparisons
    if not fitted.model.has(Role.TIE):
        return parameters
    judges, row = parameters.judges.copy(), fitted.model.row("log_tie")
    n_answers = np.bincount(cells.judge, cells.count, len(cells.judges))
    judges[row] = np.maximum(judges[row], -np.log(n_answers + 1))  # nu / (nu + 2) is about half of 1 / (many + 1)
    return replace(parameters, judges=judges)


# How well a fit predicts comparisons, and choices of rankings, that it has not seen.
# How well a fit predicts comparisons that it has not seen.


def losses(y: FloatArray, p: FloatArray) -> dict[str, float]:
    """Log-loss per comparison, and the share of decided ones whose winner had the larger probability.

    A probability of one half, as for a judge at zero, is half a hit.

    Parameters
    ----------
    y : float array, shape (T,)
        Outcomes, a tie being half a win; or their means, of which there is no accuracy.
    p : float array, shape (T,)
        Predicted means. They are held one rounding error away from zero and one, so that a loss is at most 36.
    """
    p = np.clip(p, np.finfo(float).eps, 1 - np.finfo(float).eps)
    decided = (y == 0) | (y == 1)
    lead = np.round(p[decided] - 0.5, 12)  # rounding error is no preference
    hits = float(np.mean((1 + np.sign(lead) * np.sign(y[decided] - 0.5)) / 2)) if decided.any() else np.nan
    return {"comparisons": len(y), "log_loss": -float(np.mean(xlogy(y, p) + xlog1py(1 - y, -p))), "accuracy": hits}


def three_outcomes(fitted: Fit, train: Comparisons, test: Comparisons) -> FloatArray:
    """Probabilities that the second model wins, of a tie, and that the first wins, shape (T, 3).

    Where a member takes ties for half a win, a judge ties as often as in training whoever is compared. Half a tie
    is added to every judge's, so that none is held to be impossible.
    """
    judge = pd.Index(train.judges).get_indexer(pd.Index(test.judges))[test.judge]
    n_answers = np.bincount(train.judge, train.count, len(train.judges))
    ties = np.bincount(train.judge, train.count * train.with_ties().known_ties, len(train.judges))
    p = fitted.probability(test)
    if fitted.model.has(Role.TIE):
        tie = fitted.tie_probability(test)
        # a judge who always tied in training may have no other answer left to be split
        decided = np.divide(p - tie / 2, 1 - tie, out=np.full(len(p), 0.5), where=tie < 1)
        tie = np.maximum(tie, 0.5 / (n_answers + 1)[judge])
    else:
        tie, decided = ((ties + 0.5) / (n_answers + 1))[judge], p
    return np.stack([(1 - tie) * (1 - decided), tie, (1 - tie) * decided], axis=1)


def losses_with_ties(fitted: Fit, train: Comparisons, test: Comparisons) -> FloatArray:
    """Log-loss of every row with a tie an outcome of its own (`three_outcomes`), shape (T,)."""
    p = np.maximum(three_outcomes(fitted, train, test), np.finfo(float).eps)
    tied = test.with_ties().known_ties
    share = np.stack([1 - test.outcome - tied / 2, tied, test.outcome - tied / 2], axis=1)
    return np.asarray(-(share * np.log(p)).sum(axis=1))


# How well a fit predicts the choices of rankings that it has not seen, where some of them are ties.
TINY = np.finfo(float).tiny


def choice_losses(fitted: Fit, train: Comparisons, test: Comparisons, sizes: tuple[int, ...]) -> FloatArray:
    """Log-loss of every row with a tie of each size an outcome of its own, shape (T,).

    Times counts of choices with ties, it adds up to the loss of the choice of a row's stage. The size of what is
    chosen is predicted first, then which set of that size. Where a member takes ties for their orders, a judge
    ties as often as in training whoever is compared. Half a tie of each size is added to every judge's, so that
    none is held to be impossible. Of two answers this is `crossvalidation.losses_with_ties`.

    Parameters
    ----------
    fitted : Fit
    train, test : Comparisons
        Rankings as they were read.
    sizes : tuple of int
        Numbers of answers that are tied anywhere.
    """
    assert test.stages is not None
    parameters, answers = fitted.solution.parameters, test.stages.alternatives
    judge_index = pd.Index(fitted.comparisons.judges).get_indexer(pd.Index(test.judges))
    of_ours = replace(parameters, judges=parameters.judges[:, judge_index])
    ties = fitted.model.has_ties
    terms = row_by_row(with_tied_choices(test) if ties else test, fitted.model, of_ours)
    even = TiedLaw(terms.eta, answers, {size: np.zeros(len(test)) for size in sizes})
    n_tied = chosen(test)
    # of the set that was chosen among those of its size
    among = even.log_likelihood(test.outcome, *(np.zeros(len(test)) for _ in sizes))
    even_chance = np.select([n_tied == size for size in sizes], [even.chance(Role.of_tie(size)) for size in sizes])
    alone = 1 - sum(even.chance(Role.of_tie(size)) for size in sizes)
    per_row = test.stages.size - 1  # rows of a stage times their counts, for one choice
    loss = -among + np.log(np.maximum(np.where(n_tied > 1, even_chance, alone), TINY)) / per_row
    judge = pd.Index(train.judges).get_indexer(pd.Index(test.judges))[test.judge]
    left, shares = np.ones(len(test)), dict[int, FloatArray]()
    for size in sizes:
        n_choices, tied = _choices(train, size)
        fits = test.stages.size >= size
        share = ((tied + 0.5) / (n_choices + 1))[judge]
        if ties:
            known_chance = isinstance(terms.law, TiedLaw) and size in fitted.model.tie_sizes
            chance = terms.law.chance(Role.of_tie(size)) if known_chance else 0.0
            share = np.maximum(chance, (0.5 / (n_choices + 1))[judge])
        shares[size] = np.where(fits, share, 0.0)
        left = left - shares[size]
    left = np.maximum(left, np.finfo(float).eps)
    whole_share = left + sum(shares.values())
    predicted = np.select([n_tied == size for size in sizes], [shares[size] for size in sizes], left) / whole_share
    return np.asarray(loss - np.log(np.maximum(predicted, TINY)) / per_row, float)


def _choices(train: Comparisons, size: int) -> tuple[FloatArray, FloatArray]:
    """Choices of every judge among so many answers or more, and those of them that tie so many, shape (K,)."""
    assert train.stages is not None
    starts = np.zeros(len(train), bool)
    starts[train.stages.first_rows] = True
    rows = is_choice(train) & starts & (train.stages.size >= size)
    k = len(train.judges)
    tied = np.bincount(train.judge[rows], chosen(train)[rows] == size, k)
    return np.bincount(train.judge[rows], minlength=k).astype(float), np.asarray(tied, float)
