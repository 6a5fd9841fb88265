"""Pairs of models by their own comparisons alone, for models of which one wins nearly all.

There both other tests lose power. The Wald test's error grows faster than the difference (Hauck and Donner, 1977),
and judges' weights under an equality that is far from true say nothing of the judges. What is left is how the two
fared against each other: in every question one lead, the sum of residuals from the answers that judges are
expected to give about equals. Exchanging the names of the two turns its sign, so that the sum over the root of the
sum of squares is about normal, and never above the root of the number of questions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array
from scipy.special import ndtr, ndtri

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.engine.at import in_parts
from judgerank.inference.uncertainty import Uncertainty
from judgerank.model.block import Role

PAID = 100.0  # times its p-value counts: what it adds to the chance of any false claim is a hundredth of the level
LOPSIDED = 0.5  # sum of leads, over the sum of their sizes, from which it is asked: three wins to a loss


def lopsided_leads(result: Uncertainty) -> FloatArray | None:
    """Leads of every model over every other, over their errors, after what the further test costs; shape (N, N).

    Zero of pairs of which none wins nearly all. By question where the fit's errors are, and else by judgment. None
    where raw comparisons are asked for and not there, and where claims are about other judges, of whose tastes a
    pair's comparisons say little.
    """
    known = result.independent_rows()
    if known is None or any(block.shrunk for block in result.model.further):
        return None
    rows, question = known
    if question is None and result.model.has(Role.STRONG):
        return None
    n = len(rows.models)
    at = replace(result.solution.parameters, scores=np.zeros(n))
    lead, pair = np.empty(len(rows)), np.empty(len(rows), np.int64)
    sizes, squares = np.empty((2, len(rows) if question is None else 0))
    for part, here in in_parts(rows, result.model, at):
        first, second = rows.first[part].astype(np.int64), rows.second[part].astype(np.int64)
        pair[part] = np.minimum(first, second) * n + np.maximum(first, second)
        lead[part] = np.where(first < second, here.residual, -here.residual)
        if question is None:  # of wins and losses: those of ties are less
            mean, outcome, count = here.law.mean, here.outcome, here.rows.count
            sizes[part] = count * (outcome * (1 - mean) + (1 - outcome) * mean)
            squares[part] = count * (outcome * (1 - 2 * mean) + mean**2)
    if question is not None:
        lead, pair = _by_question(lead, pair, question, n)
        sizes, squares = np.abs(lead), lead**2
    total, size, square = (np.bincount(pair, each, n * n).reshape(n, n) for each in (lead, sizes, squares))
    asked = (np.abs(total) >= LOPSIDED * size) & (square > 0)
    found = np.divide(total, np.sqrt(square), out=np.zeros((n, n)), where=asked)
    paid = -ndtri(np.minimum(PAID * ndtr(-np.abs(found)), 0.5)) * np.sign(found)
    return np.asarray(paid - paid.T, float)


def _by_question(lead: FloatArray, pair: IntArray, question: IntArray, n: int) -> tuple[FloatArray, IntArray]:
    """Leads summed by question and pair, and the pairs of the sums."""
    summed = coo_array((lead, (question, pair)), (int(question.max()) + 1, n * n)).tocsr()
    return np.asarray(summed.data, float), np.asarray(summed.indices)
