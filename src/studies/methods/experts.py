"""Product of Gaussian experts: each comparison is an expert on the difference of two scores.

A. Liusie, V. Raina, Y. Fathullah and M. J. F. Gales (2024), Efficient LLM comparative assessment: a product of
experts framework for pairwise comparisons; Y. Fathullah and M. J. F. Gales (2025), Generalised probabilistic
modelling and improved uncertainty estimation in comparative LLM-as-a-judge. With p the probability that a judge
gives to the model shown first, here its hard outcome 1, 1/2 or 0, an expert says

    p(s_i - s_j | p) = N(s_i - s_j; alpha (p - beta), sigma^2),

and the product over comparisons, each a row of W with +1 and -1, is largest at the least-squares scores
(W'W)^+ W'(p - beta), with covariance sigma^2 (W'W)^+. beta removes a leaning toward one position. As in the
authors' code, alpha is one: it only sets the scale. The authors hold the first score at zero; here scores sum to
zero. To estimate sigma from residuals is this package's choice, and so is the prediction.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import components
from judgerank.data.errors import ConfigError, DisconnectedError
from studies.methods.ranking import Ranking

LEAST = 0.01  # predicted mean outcome: a straight line would leave (0, 1)


def product_of_experts(comparisons: Comparisons, *, debias: bool = True, ridge: float = 0.0) -> Ranking:
    """Least-squares scores of models, all judges being alike.

    Parameters
    ----------
    comparisons : Comparisons
        Raw or aggregated. Aggregated rows give the same scores; if they have forgotten their ties, standard errors
        are those of outcomes without ties.
    debias : bool
        Whether beta is the mean outcome of the model shown first, or else 1/2.
    ridge : float
        Weight of a further expert of N(0, sigma^2 / ridge) on each score; none by default, as in the papers.

    Returns
    -------
    Ranking
        `scores` by model, differences of mean outcomes; their standard errors `errors` about the models' mean;
        `predict`, the straight line beta + s_i - s_j clipped to [0.01, 0.99]: the mean outcome under the model,
        which is no law of hard outcomes. No `judges`.

    Raises
    ------
    ConfigError
        If `ridge` is below zero.
    DisconnectedError
        If models fall into groups that were never compared, and there is no ridge.
    """
    if not 0 <= ridge < np.inf:
        raise ConfigError(f"the ridge must be zero or above, not {ridge}")
    cells = _pooled(comparisons)
    groups = components(cells)
    if len(groups) > 1 and ridge == 0:
        first, second = groups[0][0], groups[1][0]
        raise DisconnectedError(f"no chain of comparisons joins the models {first!r} and {second!r}", groups)
    beta = float(np.average(cells.outcome, weights=cells.count)) if debias else 0.5
    scores, unit, rank = _least_squares(cells, beta, ridge)
    line = beta + scores[cells.first] - scores[cells.second]
    spread = _square_error(cells, line)
    freedom = cells.n_comparisons - rank - debias
    remark = "" if freedom > 0 else "There are too few comparisons for standard errors."
    errors = None
    if freedom > 0:
        errors = pd.Series(np.sqrt(spread / freedom * np.diag(unit)), cells.models, name="standard_error")
    series = pd.Series(scores, cells.models, name="score")

    def predict(new: Comparisons) -> np.ndarray:
        s = series.loc[list(new.models)].to_numpy()
        return np.clip(beta + s[new.first] - s[new.second], LEAST, 1 - LEAST)

    return Ranking(series, predict, errors, remark=remark)


def _pooled(comparisons: Comparisons) -> Comparisons:
    """Aggregated over judges too, with ties where they are known."""
    if comparisons.tied is None and np.all(comparisons.count == 1):
        comparisons = comparisons.with_ties()
    one = np.zeros(len(comparisons), np.int32)
    return replace(comparisons, judges=("all judges",), judge=one, covariate=None).aggregate()


def _least_squares(cells: Comparisons, beta: float, ridge: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Scores, their covariance over sigma^2, and the degrees of freedom they use."""
    n = len(cells.models)
    pair = np.bincount(cells.first.astype(np.intp) * n + cells.second, cells.count, n * n).reshape(n, n)
    gram = np.diag((pair + pair.T).sum(axis=1)) - pair - pair.T
    pull = cells.count * (cells.outcome - beta)
    moment = np.bincount(cells.first, pull, n) - np.bincount(cells.second, pull, n)
    unit = np.linalg.pinv(gram + ridge * np.eye(n), hermitian=True)
    centre = np.eye(n) - 1 / n
    unit = centre @ unit @ centre  # the level is no score: a ridge alone would give it a variance
    return unit @ moment, unit, float(np.sum(unit * gram))


def _square_error(cells: Comparisons, line: np.ndarray) -> float:
    """Squared residuals summed over raw comparisons, whose outcomes are 1, 1/2 and 0."""
    tied = np.zeros(len(cells)) if cells.tied is None else cells.tied
    square = cells.outcome - tied / 4
    return max(0.0, float(np.sum(cells.count * (square - 2 * line * cells.outcome + line**2))))
