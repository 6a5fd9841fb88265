"""Crowd-BT: judges who now and then say the opposite of what they see.

X. Chen, P. N. Bennett, K. Collins-Thompson and E. Horvitz (2013), Pairwise ranking aggregation in a crowdsourced
setting, WSDM. With an honesty eta_k in [0, 1] for each judge,

    P(i beats j | judge k) = eta_k sigmoid(s_i - s_j) + (1 - eta_k) sigmoid(s_j - s_i),

and every model plays a virtual one of score zero, which it beats once and loses to once, with weight lambda:

    sum log P + lambda sum_i [log sigmoid(s_i) + log sigmoid(-s_i)].

Turning all scores and all honesties over (s to -s, eta to 1 - eta) changes nothing, so the maximum looked for is
the one reached from honest judges: scores first, with every eta at its start, and then both together. So most of a
panel is taken to be honest. Which lambda the paper takes could not be checked; public code that follows it takes
1, and so does this.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from studies.methods.ranking import Ranking

FAR = 15.0  # between two scores: the outcome is certain, and the search ends for want of a slope
FARTHEST = 30.0  # of a score from zero: the probabilities of outcomes stay above zero
OPTIONS = {"maxiter": 5000, "maxfun": 20_000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-9}


def crowd_bt(comparisons: Comparisons, *, strength: float = 1.0, start: float = 0.9) -> Ranking:
    """Scores of models and honesties of judges that maximise the penalised likelihood of Crowd-BT.

    Parameters
    ----------
    comparisons : Comparisons
        Raw or aggregated. The paper has no ties: here a tie adds half of the log-likelihood of a win and half of
        that of a loss.
    strength : float
        lambda, the weight of the virtual model; 0 for none.
    start : float
        Honesty from which every judge starts, above one half.

    Returns
    -------
    Ranking
        Log-odds scores by model, `judges` with eta by judge, and `predict`. A judge without comparisons keeps the
        honesty from which it started.

    Raises
    ------
    ConfigError
        If `strength` is below zero, or `start` is not between one half and one.
    """
    if not 0 <= strength < np.inf:
        raise ConfigError(f"the strength of the virtual model must be zero or above, not {strength}")
    if not 0.5 < start <= 1:
        raise ConfigError(f"judges must start from an honesty above one half and up to one, not {start}")
    cells = replace(comparisons, covariate=None, tied=None).aggregate()
    n, k = len(cells.models), len(cells.judges)
    x, _ = _maximise(cells, strength, np.r_[np.zeros(n), np.full(k, start)], (start, start))
    x, done = _maximise(cells, strength, x, (0.0, 1.0))
    scores = pd.Series(x[:n], cells.models, name="score")
    judges = pd.Series(x[n:], cells.judges, name="honesty")

    def predict(new: Comparisons) -> np.ndarray:
        s, eta = scores.loc[list(new.models)].to_numpy(), judges.loc[list(new.judges)].to_numpy()
        return _win(s[new.first] - s[new.second], eta[new.judge])

    return Ranking(scores, predict, judges=judges, remark=_remark(x[:n], done))


def _win(difference: np.ndarray, honesty: np.ndarray) -> np.ndarray:
    return honesty * expit(difference) + (1 - honesty) * expit(-difference)


def _maximise(cells: Comparisons, strength: float, x: np.ndarray, honesty: tuple[float, float]):
    """The maximum reached from x with honesties in a box, and whether the search ended by itself."""
    bounds = [(-FARTHEST, FARTHEST)] * len(cells.models) + [honesty] * len(cells.judges)
    found = minimize(_loss, x, (cells, strength), method="L-BFGS-B", jac=True, bounds=bounds, options=OPTIONS)
    return found.x, found.nit < OPTIONS["maxiter"] and found.nfev < OPTIONS["maxfun"]


def _loss(x: np.ndarray, cells: Comparisons, strength: float) -> tuple[float, np.ndarray]:
    """Minus the penalised log-likelihood a comparison, and its gradient in (s, eta), shape (N + K,)."""
    n, k = len(cells.models), len(cells.judges)
    s, eta = x[:n], x[n:][cells.judge]
    difference = s[cells.first] - s[cells.second]
    p = expit(difference)
    win, loss = _win(difference, eta), _win(-difference, eta)
    y = cells.outcome
    value = np.sum(cells.count * (y * np.log(win) + (1 - y) * np.log(loss)))
    value += strength * np.sum(np.log(expit(s)) + np.log(expit(-s)))
    slope = cells.count * (y / win - (1 - y) / loss)
    by_difference = slope * (2 * eta - 1) * p * expit(-difference)
    by_score = np.bincount(cells.first, by_difference, n) - np.bincount(cells.second, by_difference, n)
    by_score += strength * (expit(-s) - expit(s))
    by_honesty = np.bincount(cells.judge, slope * (p - expit(-difference)), k)
    return -value / cells.n_comparisons, -np.r_[by_score, by_honesty] / cells.n_comparisons


def _remark(scores: np.ndarray, done: bool) -> str:
    remarks = [] if done else ["The search stopped at its limit of iterations."]
    if np.ptp(scores) > FAR:
        remarks.append("Some scores run off to infinity; they are where the search ended.")
    return " ".join(remarks)
