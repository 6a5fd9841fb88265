"""Win rates, and ratings updated comparison by comparison, whatever the judge."""

from __future__ import annotations

import math

import evalica
import glicko2
import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.comparisons import Comparisons
from judgerank.methods.ranking import Ranking

ELO_SCALE = 173.7178  # rating points in one unit of Glicko-2's internal scale


def _as_evalica(comparisons: Comparisons) -> dict:
    """Rows as evalica takes them, in their order."""
    winner = np.array([evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X], object)
    c = comparisons
    return {
        "xs": [c.models[i] for i in c.first],
        "ys": [c.models[j] for j in c.second],
        "winners": list(winner[(2 * c.outcome).astype(int)]),
        "index": pd.Index(c.models),
    }


def win_rate(comparisons: Comparisons) -> Ranking:
    """Mean over opponents of the share of comparisons won against each, a tie being half (evalica)."""
    scores = evalica.average_win_rate(**_as_evalica(comparisons)).scores
    return Ranking(scores[list(comparisons.models)])


def elo(
    comparisons: Comparisons,
    *,
    initial: float = 1000.0,
    base: float = 10.0,
    scale: float = 400.0,
    k: float = 4.0,
) -> Ranking:
    """Online Elo ratings in the order of the rows (Elo, 1978), by evalica with its defaults."""
    found = evalica.elo(**_as_evalica(comparisons), initial=initial, base=base, scale=scale, k=k)
    rating = found.scores[list(comparisons.models)]

    def predict(c: Comparisons) -> np.ndarray:
        r = rating[list(c.models)].to_numpy()
        return expit(math.log(base) * (r[c.first] - r[c.second]) / scale)

    return Ranking(rating, predict)


class _Player(glicko2.Player):
    """A player of the glicko2 package with the volatility's equation as Glickman has it.

    Version 2.1.0 puts the rating where the rating deviation belongs (`_f`), so that the volatility depends on
    where the origin of ratings is.
    """

    def _f(self, x: float, delta: float, v: float, a: float) -> float:
        total = (self.rd / ELO_SCALE) ** 2 + v + math.exp(x)
        return math.exp(x) * (delta**2 - total) / (2 * total**2) - (x - a) / self._tau**2


def glicko(
    comparisons: Comparisons,
    *,
    initial: float = 1500.0,
    deviation: float = 350.0,
    volatility: float = 0.06,
    games: int = 15,
) -> Ranking:
    """Glicko-2 ratings (Glickman, 2013), the system that REM adapts (Yang et al., 2024), by the package glicko2.

    The rows are cut, in their order, into rating periods of equal length in which a model has about `games`
    comparisons: Glickman asks for 10 to 15 at least. Errors are the rating deviations.
    """
    c = comparisons
    players = [_Player(initial, deviation, volatility) for _ in c.models]
    n_periods = max(1, round(2 * len(c) / (len(players) * games)))
    for rows in np.array_split(np.arange(len(c)), n_periods):
        before = [(player.rating, player.rd) for player in players]
        games_of = [([], [], []) for _ in players]
        for i, j, y in zip(c.first[rows], c.second[rows], c.outcome[rows], strict=True):
            for one, other, share in ((i, j, y), (j, i, 1.0 - y)):
                for values, value in zip(games_of[one], (*before[other], float(share)), strict=True):
                    values.append(value)
        for player, played in zip(players, games_of, strict=True):
            if played[0]:
                player.update_player(*played)
            else:
                player.did_not_compete()
    rating = pd.Series([player.rating for player in players], index=list(c.models))
    spread = pd.Series([player.rd for player in players], index=list(c.models))

    def predict(c: Comparisons) -> np.ndarray:
        r, rd = (values[list(c.models)].to_numpy() / ELO_SCALE for values in (rating, spread))
        variance = rd[c.first] ** 2 + rd[c.second] ** 2
        return expit((r[c.first] - r[c.second]) / np.sqrt(1 + 3 * variance / np.pi**2))

    return Ranking(rating, predict, spread)
