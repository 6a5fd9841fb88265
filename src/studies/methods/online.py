"""Win rates, and ratings updated comparison by comparison, whatever the judge."""

from __future__ import annotations

import math

import evalica
import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from studies.methods.ranking import Ranking

GLICKO_SCALE = 173.7178  # rating points in one unit of Glicko-2's internal scale
PRECISION = 1e-6  # of the logarithm of a squared volatility, Glickman's


def _as_evalica(comparisons: Comparisons) -> dict:
    """Rows as evalica takes them, in their order, models by number: names would be looked up row by row."""
    winner = np.array([evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X], object)
    c = comparisons
    return {
        "xs": c.first,
        "ys": c.second,
        "winners": winner[(2 * c.outcome).astype(int)].tolist(),
        "index": pd.RangeIndex(len(c.models)),
    }


def _by_name(scores: pd.Series, comparisons: Comparisons) -> pd.Series:
    """Scores by number of the model, in any order, by its name."""
    return scores.sort_index().set_axis(list(comparisons.models))


def win_rate(comparisons: Comparisons) -> Ranking:
    """Mean over opponents of the share of comparisons won against each, a tie being half (evalica)."""
    scores = evalica.average_win_rate(**_as_evalica(comparisons)).scores
    return Ranking(_by_name(scores, comparisons))


def elo(
    comparisons: Comparisons, *, initial: float = 1000.0, base: float = 10.0, scale: float = 400.0, k: float = 4.0
) -> Ranking:
    """Online Elo ratings in the order of the rows (Elo, 1978), by evalica with its defaults."""
    result = evalica.elo(**_as_evalica(comparisons), initial=initial, base=base, scale=scale, k=k)
    rating = _by_name(result.scores, comparisons)

    def predict(c: Comparisons) -> np.ndarray:
        r = rating[list(c.models)].to_numpy()
        return expit(math.log(base) * (r[c.first] - r[c.second]) / scale)

    return Ranking(rating, predict)


def glicko(
    comparisons: Comparisons,
    *,
    initial: float = 1500.0,
    deviation: float = 350.0,
    volatility: float = 0.06,
    tau: float = 0.5,
    games: int = 15,
) -> Ranking:
    """Glicko-2 ratings (Glickman, 2013), the system that REM adapts (Yang et al., 2024).

    The rows are cut, in their order, into rating periods of equal length in which a model has about `games`
    comparisons: Glickman asks for 10 to 15 at least. Errors are the rating deviations.
    """
    c, n = comparisons, len(comparisons.models)
    rating, rd, change = np.zeros(n), np.full(n, deviation / GLICKO_SCALE), np.full(n, volatility)
    n_periods = max(1, round(2 * len(c) / (n * games)))
    sides = np.array([c.first, c.second]), np.array([c.second, c.first]), np.array([c.outcome, 1.0 - c.outcome])
    for games_of_period in zip(*(np.array_split(values, n_periods, axis=1) for values in sides), strict=True):
        rating, rd, change = period(rating, rd, change, *(values.ravel() for values in games_of_period), tau)
    scores = pd.Series(initial + GLICKO_SCALE * rating, index=list(c.models))
    spread = pd.Series(GLICKO_SCALE * rd, index=list(c.models))

    def predict(c: Comparisons) -> np.ndarray:
        r, rd = (values[list(c.models)].to_numpy() / GLICKO_SCALE for values in (scores, spread))
        variance = rd[c.first] ** 2 + rd[c.second] ** 2
        return expit((r[c.first] - r[c.second]) / np.sqrt(1 + 3 * variance / np.pi**2))

    return Ranking(scores, predict, spread)


def period(
    rating, rd, volatility, player, opponent, outcome, tau: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ratings, deviations and volatilities after one period, all of its games being simultaneous.

    Parameters
    ----------
    rating, rd, volatility : float array, shape (N,)
        On Glicko-2's internal scale.
    player, opponent : int array, shape (G,)
        A player and the opponent of each game; every game is there from both sides.
    outcome : float array, shape (G,)
        For `player`: 1, 1/2 or 0.
    tau : float
        How much volatilities may change.
    """
    n = len(rating)
    g = 1 / np.sqrt(1 + 3 * rd[opponent] ** 2 / np.pi**2)
    expected = expit(g * (rating[player] - rating[opponent]))
    information = np.bincount(player, g**2 * expected * (1 - expected), n)
    surplus = np.bincount(player, g * (outcome - expected), n)
    played = np.bincount(player, minlength=n) > 0
    volatility = volatility.copy()
    information_played, gained = information[played], surplus[played]
    volatility[played] = _volatilities(
        gained / information_played, rd[played], 1 / information_played, volatility[played], tau
    )
    before = rd**2 + volatility**2
    rd = 1 / np.sqrt(1 / before + information)  # of those who did not play, no information
    return rating + rd**2 * surplus, rd, volatility


def _volatilities(delta, rd, v, volatility, tau: float) -> np.ndarray:
    """Step 5 of Glickman's description, all players at once: x = log volatility^2 by the Illinois method."""
    a = np.log(volatility**2)
    constants = np.array([a, delta**2, rd**2 + v])

    def f(x, constants):
        a, square, variances = constants
        change = np.exp(x)
        total = variances + change
        return change * (square - total) / (2 * total**2) - (x - a) / tau**2

    room = delta**2 - rd**2 - v
    low, high = a.copy(), np.log(np.where(room > 0, room, 1.0))
    below = np.flatnonzero(room <= 0)
    high[below] = a[below]
    while len(below):
        high[below] -= tau
        below = below[f(high[below], constants[:, below]) < 0]
    log_square, f_low, f_high = low.copy(), f(low, constants), f(high, constants)
    i = np.arange(len(a))
    while len(i):
        going = np.abs(high - low) > PRECISION
        if not going.all():
            i, low, high, f_low, f_high = (values[going] for values in (i, low, high, f_low, f_high))
            constants = constants[:, going]
            continue
        x = low + (low - high) * f_low / (f_high - f_low)
        f_x = f(x, constants)
        across = f_x * f_high <= 0
        low, f_low = np.where(across, high, low), np.where(across, f_high, f_low / 2)
        high, f_high = x, f_x
        log_square[i] = low
    return np.exp(log_square / 2)
