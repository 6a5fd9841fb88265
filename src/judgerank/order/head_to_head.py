"""Pairs of models by their own comparisons alone, for models of which one wins nearly all.

There both other tests lose power. The Wald test's error grows faster than the difference (Hauck and Donner, 1977),
and judges' weights under an equality that is far from true say nothing of the judges. What is left is how the two
fared against each other: in every question one lead, the sum of residuals from the answers that judges are
expected to give about equals. Exchanging the names of the two turns its sign, so that the sum over the root of the
sum of squares is about normal, and never above the root of the number of questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array
from scipy.special import ndtr, ndtri

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.numbering import numbered
from judgerank.engine.likelihood_rows import At, in_parts
from judgerank.inference.uncertainty import Uncertainty
from judgerank.model.block import Role

PAID = 100.0  # times its p-value counts: what it adds to the chance of any false claim is a hundredth of the level
LOPSIDED = 0.5  # sum of leads, over the sum of their sizes, from which it is asked: three wins to a loss


def lopsided_leads(result: Uncertainty) -> FloatArray | None:
    """Leads of every model over every other, over their errors, after what the further test costs; shape (N, N).

    Zero of pairs of which none wins nearly all. By question where the fit's errors are, and else by judgment.
    Where part of the questions stand for all, errors are from that part, and leads from all. None where raw
    comparisons are asked for and not there, and where claims are about other judges, of whose tastes a pair says
    little.
    """
    row_data = result.independent_rows()
    if row_data is None or any(block.shrunk for block in result.model.further):
        return None
    rows, question = row_data
    if question is None and result.model.has(Role.STRONG):
        return None
    total, size, square = _by_judgment(result)
    if question is not None:
        size, square = _by_question(result, rows, question)
    is_lopsided = (np.abs(total) >= LOPSIDED * size) & (square > 0)
    z_scores = np.divide(total, np.sqrt(square), out=np.zeros_like(total), where=is_lopsided)
    paid = -ndtri(np.minimum(PAID * ndtr(-np.abs(z_scores)), 0.5)) * np.sign(z_scores)
    return np.asarray(paid - paid.T, float)


def _by_judgment(result: Uncertainty) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums of leads, of their sizes and of their squares, each of shape (N, N).

    The last two are of wins and losses: those of ties are less.
    """
    cells, (lead, size, square) = result.comparisons, np.empty((3, len(result.comparisons)))
    for part, terms in _at_equals(result, cells):
        mean, outcome, count = terms.law.mean, terms.outcome, terms.rows.count
        lead[part] = terms.residual
        size[part] = count * (outcome * (1 - mean) + (1 - outcome) * mean)
        square[part] = count * (outcome * (1 - 2 * mean) + mean**2)
    pair = cells.pair
    return _sums(cells, pair, _of_first(cells, lead)), _sums(cells, pair, size), _sums(cells, pair, square)


def _by_question(result: Uncertainty, rows: Comparisons, question: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sums of the sizes of leads by question, and of their squares, each of shape (N, N)."""
    lead, n = np.empty(len(rows)), len(rows.models)
    for part, terms in _at_equals(result, rows):
        lead[part] = terms.residual
    labels, number = numbered(question)
    summed = coo_array((_of_first(rows, lead), (number, rows.pair)), (len(labels), n * n)).tocsr()
    times = 1.0 if result.n_clusters is None else result.n_clusters / len(labels)
    pair, lead = summed.indices, summed.data
    return times * _sums(rows, pair, np.abs(lead)), times * _sums(rows, pair, lead**2)


def _at_equals(result: Uncertainty, rows: Comparisons) -> Iterator[tuple[slice, At]]:
    """All rows where models are equal, part by part."""
    return in_parts(rows, result.model, replace(result.solution.parameters, scores=np.zeros(len(rows.models))))


def _of_first(rows: Comparisons, lead: FloatArray) -> FloatArray:
    """Leads of the model shown first as those of the first by name, shape (T,)."""
    return np.where(rows.first < rows.second, lead, -lead)


def _sums(rows: Comparisons, pair: IntArray, values: FloatArray) -> FloatArray:
    """Values summed by pair, shape (N, N)."""
    n = len(rows.models)
    return np.asarray(np.bincount(pair, values, n * n).reshape(n, n), float)
