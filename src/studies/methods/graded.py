"""Graded response model of item response theory: judges who differ in discrimination and in how readily they tie.

N. Otani, T. Nakazawa, D. Kawahara and S. Kurohashi (2016), IRT-based aggregation model of crowdsourced pairwise
comparisons for evaluating machine translations, EMNLP, apply the model of F. Samejima (1969), Estimation of latent
ability using a response pattern of graded scores, to comparisons: a judge's answer is an item with the ordered
categories lose, tie, win. With discrimination a_k and thresholds b_c, P(answer >= c) = sigmoid(a_k (theta - b_c)).

There theta is the quality of one system. Here any two models meet, so that theta becomes theta_i - theta_j, and
the thresholds of a judge are symmetric, -b_k and b_k, lest the order of presentation matter:

    P(win) = sigmoid(a_k (theta_i - theta_j - b_k)), P(lose) = sigmoid(a_k (theta_j - theta_i - b_k)).

Estimates are the joint mode in (theta, log a, b) under independent priors: theta and log a normal, b half-normal.
The likelihood does not know the scale of theta, 1 / a and b: priors alone set it, which shrinks the scores.
The difference, the symmetric thresholds, the half-normal b, the joint mode and the spreads are this package's; the
paper's own priors, baseline and algorithm could not be checked beyond its abstract.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from studies.methods.ranking import Ranking
from studies.methods.unordered import unordered

LEAST_THRESHOLD = 1e-6  # of a judge with ties, whose probability is above zero
LARGEST_LOG = 10.0  # of a discrimination, up or down
LARGEST_GAP = 500.0  # between the predictors of a judge's thresholds; a tie is all but certain long before
START = 0.1  # thresholds of judges with ties
OPTIONS = {"maxiter": 5000, "maxfun": 20_000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-9}


def graded_response(
    comparisons: Comparisons,
    *,
    score_spread: float = 1.0,
    log_discrimination_spread: float = 1.0,
    threshold_spread: float = 1.0,
) -> Ranking:
    """Scores, discriminations and thresholds at the mode of the posterior.

    Parameters
    ----------
    comparisons : Comparisons
        Raw, or aggregated and with their ties known (`Comparisons.with_ties`).
    score_spread, log_discrimination_spread, threshold_spread : float
        Standard deviations of the priors of theta and log a (about zero), and scale of that of b.

    Returns
    -------
    Ranking
        `scores` theta by model, which sum to zero; `judges` a by judge, above zero, so that a contrary judge
        counts for little and not for the opposite; `predict`, P(win) + P(tie) / 2.

    Raises
    ------
    ConfigError
        If a spread is not above zero.
    DataError
        If the rows are aggregated and have forgotten their ties.
    """
    spread = np.array([score_spread, log_discrimination_spread, threshold_spread])
    if not np.all((spread > 0) & np.isfinite(spread)):
        raise ConfigError(f"the spreads of priors must be above zero, not {', '.join(f'{v:g}' for v in spread)}")
    cells = unordered(comparisons.with_ties()).aggregate()
    n, k = len(cells.models), len(cells.judges)
    ties = np.bincount(cells.judge, cells.count * cells.tied, k) > 0
    bounds = [(None, None)] * n + [(-LARGEST_LOG, LARGEST_LOG)] * k
    bounds += [(LEAST_THRESHOLD, None) if some else (0.0, 0.0) for some in ties]  # no ties: the mode is b = 0
    x = np.r_[np.zeros(n + k), np.where(ties, START, 0.0)]
    found = minimize(
        _loss, x, (cells, _answers(cells), spread), method="L-BFGS-B", jac=True, bounds=bounds, options=OPTIONS
    )
    scores = pd.Series(found.x[:n] - found.x[:n].mean(), cells.models, name="score")
    judges = pd.DataFrame({"a": np.exp(found.x[n : n + k]), "b": found.x[n + k :]}, cells.judges)

    def predict(new: Comparisons) -> np.ndarray:
        s = scores.loc[list(new.models)].to_numpy()
        a, b = judges.loc[list(new.judges)].to_numpy()[new.judge].T
        difference = s[new.first] - s[new.second]
        return (1 + expit(a * (difference - b)) - expit(-a * (difference + b))) / 2

    ended = found.nit < OPTIONS["maxiter"] and found.nfev < OPTIONS["maxfun"]
    remark = "" if ended else "The search stopped at its limit of iterations."
    return Ranking(scores, predict, judges=judges["a"].rename("discrimination"), remark=remark)


def _answers(cells: Comparisons) -> np.ndarray:
    """How many wins, ties and losses there are of the model shown first, shape (3, C)."""
    tie = cells.count * cells.tied
    win = np.maximum(cells.count * cells.outcome - tie / 2, 0.0)
    return np.array([win, tie, np.maximum(cells.count - win - tie, 0.0)])


def _loss(x: np.ndarray, cells: Comparisons, answers: np.ndarray, spread: np.ndarray) -> tuple[float, np.ndarray]:
    """Minus the log-posterior a comparison, and its gradient in (theta, log a, b), shape (N + 2 K,)."""
    n, k = len(cells.models), len(cells.judges)
    a, b = np.exp(x[n : n + k])[cells.judge], x[n + k :][cells.judge]
    difference = x[cells.first] - x[cells.second]
    upper, lower = a * (difference - b), a * (difference + b)  # of a win, and of a win or a tie
    win, tie, lose = answers
    log_upper, log_lower = log_expit(upper), log_expit(-lower)  # of a win, and of a loss
    # sigmoid(l) - sigmoid(u) = sigmoid(l) sigmoid(-u) (1 - exp(u - l)), and log sigmoid(-u) = log sigmoid(u) - u
    some = np.flatnonzero(tie)
    gap = np.minimum((lower - upper)[some], LARGEST_GAP)
    value = (win + tie) @ log_upper + (lose + tie) @ log_lower + tie @ (lower - upper)
    value += tie[some] @ np.log(-np.expm1(-gap))
    p_upper, p_lower = np.exp(log_upper), np.exp(log_lower)
    between = np.bincount(some, tie[some] / np.expm1(gap), len(cells))
    by_upper = win - (win + tie) * p_upper - between
    by_lower = (lose + tie) * p_lower - lose + between
    by_difference = a * (by_upper + by_lower)
    gradient = np.r_[
        np.bincount(cells.first, by_difference, n) - np.bincount(cells.second, by_difference, n),
        np.bincount(cells.judge, upper * by_upper + lower * by_lower, k),
        np.bincount(cells.judge, a * (by_lower - by_upper), k),
    ]
    precision = np.repeat(spread**-2.0, (n, k, k))
    value -= 0.5 * np.sum(precision * x**2)
    return -value / cells.n_comparisons, (precision * x - gradient) / cells.n_comparisons
