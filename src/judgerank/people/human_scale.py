"""Where people would place a model that none of them has judged: a prediction with two intervals, in Elo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.cache import Shown
from judgerank.data.errors import DataError
from judgerank.data.listing import counted, listed
from judgerank.engine.information import zero_sum_basis
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile, require_level, two_sided
from judgerank.people.items import Items
from judgerank.people.toward_panel import Drawn, Published, drawn

# A board of people's scores: from a table, or by human votes alone.
POINTS = 400 / np.log(10)  # Elo points in one unit of log-odds
ORIGIN = 1000.0  # mean of the models that people judged, where no board says another
LEAST_ERROR = 0.5 / POINTS  # half a point: published scores are rounded
UNITS = {"elo": 1.0, "rating": 1.0, "score": POINTS}  # column: Elo points in one of its units
ERROR = "standard_error"


@dataclass(frozen=True, eq=False)
class HumanBoard:
    """People's scores of some models.

    Attributes
    ----------
    models : tuple of str
    elo, error : float array, shape (n,)
        In Elo points: 400 are odds of ten to one. Errors are standard errors, zero where none are given.
    """

    models: tuple[str, ...]
    elo: FloatArray
    error: FloatArray

    @classmethod
    def read(cls, path: Path) -> HumanBoard:
        """A CSV file with the columns ``model`` and ``elo`` (or ``rating``; or ``score``, in log-odds).

        A column ``standard_error``, in the same unit, is used where it is there.

        Raises
        ------
        DataError
            If it cannot be read, a column is missing, or a row has no model, no number, or a model of another row.
        """
        try:
            frame = pd.read_csv(path)
        except OSError as error:
            raise DataError(f"{path.name}: the human board cannot be read ({error.strerror})") from None
        except ValueError as error:
            raise DataError(f"{path.name}: the human board is no CSV file ({error})") from None
        return cls.of(frame, path.name)

    @classmethod
    def of(cls, frame: pd.DataFrame, name: str = "the human board") -> HumanBoard:
        """From a table, as `HumanBoard.read` says.

        Raises
        ------
        DataError
        """
        unit = next((column for column in UNITS if column in frame), None)
        if unit is None or "model" not in frame:
            raise DataError(f"{name}: a human board needs the columns model and elo (or score, in log-odds)")
        values = [pd.to_numeric(frame[column], errors="coerce") for column in (unit, ERROR) if column in frame]
        wrong = ~np.isfinite(np.column_stack(values)).all(axis=1) | frame["model"].isna().to_numpy()
        if wrong.any():
            raise DataError(f"{name}: row {int(wrong.argmax()) + 1} has no model, or no number for it")
        if (twice := frame["model"].duplicated()).any():
            raise DataError(f"{name}: row {int(twice.to_numpy().argmax()) + 1} has a model of an earlier row")
        if len(values) > 1 and (values[1] < 0).any():
            raise DataError(f"{name}: row {int((values[1] < 0).to_numpy().argmax()) + 1} has a negative error")
        elo, error = (UNITS[unit] * column.to_numpy(float) for column in (values[0], values[-1]))
        models = tuple(frame["model"].map(str))
        return cls(models, elo, error if len(values) > 1 else np.zeros(len(elo)))

    @classmethod
    def of_votes(cls, items: Items) -> HumanBoard:
        """By human votes alone, of the models that people judged; their mean is 1000.

        Raises
        ------
        NoMaximumError
            If votes alone do not determine every score.
        """
        rows = items.comparisons()
        seen = np.unique(np.r_[rows.first, rows.second])
        models = tuple(items.models[model] for model in seen)
        model = np.searchsorted(seen, [rows.first, rows.second])
        named = type(rows)(models, rows.judges, model[0], model[1], rows.judge, rows.outcome)
        result = fit(named, "btl")
        error = POINTS * np.sqrt(np.diag(result.clustered(named, items.question[items.asked]).covariance))
        return cls(models, ORIGIN + POINTS * result.scores.to_numpy(), error)

    @classmethod
    def given(cls, board: HumanBoard | pd.DataFrame | str | Path) -> HumanBoard:
        """A board, a table of one, or the path of its CSV file.

        Raises
        ------
        DataError
            As `HumanBoard.read`.
        """
        if isinstance(board, HumanBoard):
            return board
        return cls.of(board) if isinstance(board, pd.DataFrame) else cls.read(Path(board))

    def without(self, model: str) -> HumanBoard:
        """The board as if people had not judged one model."""
        remaining = np.array([name != model for name in self.models])
        return HumanBoard(
            tuple(np.array(self.models, object)[remaining]), self.elo[remaining], self.error[remaining]
        )

    def among(self, models: tuple[str, ...]) -> HumanBoard:
        """Those models of the board that are among some."""
        selected = np.array([name in models for name in self.models], bool)
        return HumanBoard(tuple(np.array(self.models, object)[selected]), self.elo[selected], self.error[selected])

    def evidence(self, models: tuple[str, ...]) -> Published:
        """What it says of the scores of some models, its own among them; its origin is free."""
        weight = np.zeros(len(models))
        index = [models.index(name) for name in self.models]
        weight[index] = 1 / np.maximum(self.error / POINTS, LEAST_ERROR) ** 2
        values = np.zeros(len(models))
        values[index] = self.elo / POINTS
        free = np.diag(weight) - np.outer(weight, weight) / weight.sum()
        basis = zero_sum_basis(len(models))
        return Published(basis.T @ free @ basis, basis.T @ free @ values)


# Conformal intervals for people's score of a model that no person has judged, by leaving models out.
#
# People's scores h of n models are regressed on the panel's s, with weights w. For a candidate y as the newcomer's
# score, all n + 1 points are fitted, and each has a studentised residual. The interval holds every y whose
# residual is not among the most extreme: more than alpha of the n + 1 residuals are as large. If the models are
# exchangeable, it holds the newcomer's score with a chance of at least 1 - alpha, whatever the law of the scores
# (Vovk, Gammerman and Shafer, 2005, section 2.3). Residuals are linear in y, so each model's comparison gives an
# interval about the same point, and the ends are found without a search.
SURE = 1e-12  # leverage short of one by less than this leaves a point no residual


def highest_level(n: int) -> float:
    """The highest level at which an interval by n models can be finite: n / (n + 1)."""
    return n / (n + 1)


def conformal_interval(
    s: FloatArray, h: FloatArray, w: FloatArray, new_s: float, new_w: float, level: float
) -> tuple[float, float]:
    """Ends of the interval of a newcomer's score; infinite where no such interval can be finite.

    Parameters
    ----------
    s, h, w : float array, shape (n,)
        Panel's and people's scores of the other models, and their weights (inverse variances about the line).
    new_s, new_w : float
        The newcomer's.
    level : float
    """
    out = int(np.floor((1 - level) * (len(s) + 1) + 1e-9))
    if out < 1:
        return -np.inf, np.inf
    root = np.sqrt(np.r_[w, new_w])
    rest = np.eye(len(root)) - _hat(np.r_[s, new_s], root)
    left = np.sqrt(np.maximum(np.diag(rest), SURE))
    base = rest[:, :-1] @ (root[:-1] * h) / left
    slope = rest[:, -1] * root[-1] / left
    a, b, a0, b0 = base[:-1], slope[:-1], base[-1], slope[-1]
    bounded = np.abs(b) < b0 * (1 - 1e-9)  # else this model's residual is as large as the newcomer's for every y
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.array([(a - a0) / (b0 - b), (-a - a0) / (b0 + b)])
    low = np.sort(np.where(bounded, ends.min(axis=0), -np.inf))
    high = np.sort(np.where(bounded, ends.max(axis=0), np.inf))
    return float(low[out - 1]), float(high[-out])


def left_out(s: FloatArray, h: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """People's score of every model as the line through the other models has it, and as their mean has it."""
    root = np.sqrt(w)
    rest = np.eye(len(s)) - _hat(s, root)
    off = rest @ (root * h) / np.maximum(np.diag(rest), SURE) / root
    mean = (w @ h - w * h) / (w.sum() - w)
    return h - off, mean


def _hat(s: FloatArray, root: FloatArray) -> FloatArray:
    """Projection on the line's two columns, weighed."""
    x = root[:, None] * np.column_stack([np.ones(len(s)), s - np.average(s, weights=root**2)])
    u, size, _ = np.linalg.svd(x, full_matrices=False)
    u = u[:, size > size[0] * 1e-10]
    return np.asarray(u @ u.T)


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
    remarks : tuple of str
        Which judgments do not count.
    """

    newcomers: pd.DataFrame
    known: pd.DataFrame
    board: HumanBoard
    drawn: Drawn
    p_value: float
    unjudged: tuple[str, ...]
    level: float
    remarks: tuple[str, ...] = ()

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
    yield from (f"- {remark}" for remark in scale.remarks)


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
