"""A board of people's scores: from a table, or by human votes alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import DataError
from judgerank.engine.information import zero_sum_basis
from judgerank.fits.fit import fit
from judgerank.people.items import Items
from judgerank.people.toward_panel import Published

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
