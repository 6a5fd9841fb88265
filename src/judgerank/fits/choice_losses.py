"""How well a fit predicts the choices of rankings that it has not seen, where some of them are ties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.rankings import with_tied_choices
from judgerank.data.tied_choices import chosen, whole
from judgerank.engine.likelihood_rows import row_by_row
from judgerank.fits.result import Fit
from judgerank.model.block import Role
from judgerank.model.tied_law import TiedLaw

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
    at, answers = fitted.solution.parameters, test.stages.alternatives
    judge_index = pd.Index(fitted.comparisons.judges).get_indexer(pd.Index(test.judges))
    of_ours = replace(at, judges=at.judges[:, judge_index])
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
    rows = whole(train) & starts & (train.stages.size >= size)
    k = len(train.judges)
    tied = np.bincount(train.judge[rows], chosen(train)[rows] == size, k)
    return np.bincount(train.judge[rows], minlength=k).astype(float), np.asarray(tied, float)
