"""Where people would place a model that none of them has judged: a prediction with two intervals, in Elo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import DataError
from judgerank.data.listing import counted, listed
from judgerank.data.representation import Shown
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile, require_level, two_sided
from judgerank.people.conformal import conformal_interval, highest_level, left_out
from judgerank.people.human_board import POINTS, HumanBoard
from judgerank.people.toward_panel import Drawn, drawn

FEWEST = 4  # models with human scores: the line, and what scatters about it


@dataclass(frozen=True, eq=False, repr=False)
class HumanScale(Shown):
    """Models that no person has judged, on the scale of a human board.

    Attributes
    ----------
    newcomers : DataFrame
        ``model, elo, low, high, conformal_low, conformal_high, comparisons``, best first. The first interval is by
        `people.toward_panel`; the conformal one (`people.conformal`) is infinite where no finite one exists.
    known : DataFrame
        ``model, human, predicted, by_mean``: models of the board, and their Elo as the others have it, by the
        panel and by the board's mean.
    board : HumanBoard
        Of the models that the panel judged.
    drawn : Drawn
    p_value : float
        Of the panel's scores telling nothing of people's (t-test of the slope).
    unjudged : tuple of str
        Models of the board that the panel did not judge: not used.
    level : float
    """

    newcomers: pd.DataFrame
    known: pd.DataFrame
    board: HumanBoard
    drawn: Drawn
    p_value: float
    unjudged: tuple[str, ...]
    level: float

    @property
    def error(self) -> float:
        """Mean absolute error of the left-out predictions, in Elo points."""
        return float((self.known["human"] - self.known["predicted"]).abs().mean())

    @property
    def error_of_mean(self) -> float:
        """The same without a panel: by the mean of the board's other models."""
        return float((self.known["human"] - self.known["by_mean"]).abs().mean())

    @property
    def informative(self) -> bool:
        """Whether the panel surely tells something of people's scores."""
        return self.p_value <= 1 - self.level and self.error < self.error_of_mean and self.drawn.slope > 0

    def __str__(self) -> str:
        return "\n".join(scale_text(self))

    def _line(self) -> str:
        return f"{len(self.newcomers)} models on the human scale of {len(self.known)} others"

    def _table(self) -> pd.DataFrame:
        return self.newcomers


def human_scale(panel: Fit, board: HumanBoard, level: float = 0.95, by_votes: Drawn | None = None) -> HumanScale:
    """Place the models of a panel's fit that are not on a human board on the board's scale.

    Parameters
    ----------
    panel : Fit
        Of judges' verdicts on the newcomers and on models of the board.
    board : HumanBoard
    level : float
        Of intervals.
    by_votes : Drawn, optional
        People's scores of all models of the panel, where there are votes behind the board.

    Raises
    ------
    DataError
        If the panel judged fewer than four models of the board, or no model that is not on it.
    NoIntervalError
        If the panel's scores have no errors.
    ConfigError
        If the level is not between 0 and 1.
    """
    require_level(level)
    models = panel.comparisons.models
    selected_board = board.among(models)
    n, new = (
        len(selected_board.models),
        [index for index, name in enumerate(models) if name not in selected_board.models],
    )
    if n < FEWEST:
        raise DataError(
            f"the human board has {n} of the models that the judges compared, and {FEWEST} or more are needed "
            "(names must be the same in both)"
        )
    if not new:
        raise DataError("every model that the judges compared is on the human board: there is none to place")
    posterior = drawn(selected_board.evidence(models), panel, models) if by_votes is None else by_votes
    old = [models.index(name) for name in selected_board.models]
    s, v = panel.scores.to_numpy(), np.diag(panel.covariance)
    variance = posterior.spread**2 + posterior.slope**2 * v
    w = 1 / (variance[old] + (selected_board.error / POINTS) ** 2)
    h = selected_board.elo / POINTS
    rows = [
        _newcomer(
            index,
            posterior,
            old,
            h.mean(),
            conformal_interval(s[old], h, w, s[index], 1 / variance[index], level),
            level,
        )
        for index in new
    ]
    c = panel.comparisons
    met = np.bincount(c.first, c.count, len(models)) + np.bincount(c.second, c.count, len(models))
    table = pd.DataFrame(rows, columns=["elo", "low", "high", "conformal_low", "conformal_high"])
    table.insert(0, "model", [models[index] for index in new])
    table["comparisons"] = met[new].round().astype(int)
    by_line, by_mean = left_out(s[old], h, w)
    reference = pd.DataFrame({"model": selected_board.models, "human": selected_board.elo})
    reference = reference.assign(predicted=POINTS * by_line, by_mean=POINTS * by_mean)
    unjudged = tuple(name for name in board.models if name not in models)
    ranked = table.sort_values("elo", ascending=False, ignore_index=True)
    return HumanScale(ranked, reference, selected_board, posterior, _slope_test(s[old], h, w), unjudged, level)


def _newcomer(
    model: int, posterior: Drawn, old: list[int], mean: float, conformal: tuple[float, float], level: float
) -> FloatArray:
    """Prediction and intervals in Elo: the board's mean, and how far from it people would see the model."""
    about = np.zeros(len(posterior.scores))
    about[old], about[model] = -1 / len(old), 1.0
    centre = mean + about @ posterior.scores
    reach = normal_quantile(level, posterior.degrees_of_freedom) * np.sqrt(about @ posterior.covariance @ about)
    return np.asarray(POINTS * np.r_[centre, centre - reach, centre + reach, conformal])


def _slope_test(s: FloatArray, h: FloatArray, w: FloatArray) -> float:
    """Two-sided p-value of no relation of people's scores to the panel's, by weighted least squares."""
    x, y = s - np.average(s, weights=w), h - np.average(h, weights=w)
    size = (w * x) @ x
    if size <= 0:
        return 1.0
    slope, freedom = float((w * x) @ y / size), len(s) - 2
    scatter = float(w @ (y - slope * x) ** 2) / freedom
    z = abs(slope) * np.sqrt(size / max(scatter, np.finfo(float).tiny))
    return float(two_sided(z, freedom))


def scale_text(scale: HumanScale) -> Iterator[str]:
    """The newcomers, how far such predictions are off, and what to beware of."""
    n, level, new = len(scale.known), scale.level, list(scale.newcomers["model"])
    yield f"{counted(len(new), 'model')} without human votes, placed on the human scale of {n} others (Elo points)"
    yield scale.newcomers.to_string(index=False, float_format=_points)
    yield (
        f"elo: predicted Elo from human votes; 400 points are odds of 10 to 1, and the {n} models have a mean of "
        f"{scale.board.elo.mean():.0f}\n"
        f"low, high: {level:.0%} interval, by a model of people's scores\n"
        f"conformal_low, conformal_high: {level:.0%} conformal interval, without that model; it assumes only that "
        "a new model is like the others\n"
    )
    most = highest_level(n)
    if level > most + 1e-12:
        highest, rounded = np.floor(1000 * most) / 10, np.floor(100 * most) / 100
        yield (
            f"- There is no {level:.0%} conformal interval: {n} models allow at most {highest:g}%. "
            f"Use --level {rounded:g} or less, or collect human votes on more models."
        )
    yield from _on_errors(scale)
    outside = scale.newcomers[~scale.newcomers["elo"].between(scale.board.elo.min(), scale.board.elo.max())]
    if len(outside):
        yield (
            f"- {listed(list(outside['model']))}: above or below every model with human votes, so the prediction "
            "extrapolates."
        )
    if scale.unjudged:
        yield f"- Not used, because no judge compared them: {listed(list(scale.unjudged))}."


def _points(value: float) -> str:
    return f"{value:.0f}" if np.isfinite(value) else "none"


def _on_errors(scale: HumanScale) -> Iterator[str]:
    """How far left-out models are off, with the panel and without."""
    errors = f"{scale.error:.0f} points on average; predicting the mean of the others, {scale.error_of_mean:.0f}"
    if scale.informative:
        yield f"- With each of the others left out in turn, the prediction is off by {errors}."
    else:
        yield (
            f"- WARNING: these judges do not predict people's scores (p {scale.p_value:.2g}). With each of the "
            f"others left out in turn, the prediction is off by {errors}. Rely on human votes instead."
        )
