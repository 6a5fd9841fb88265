"""The stored tables, and what is missing among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd

from judgerank.data.errors import DataUnavailableError
from replication import published

LOTS = ("paper", "beyond", "surrogate")
SURROGATE = LOTS[-1]


class Missing(DataUnavailableError):
    """A table, column or row that a check needs is not among the stored results."""


@dataclass(frozen=True)
class Results:
    """The stored tables.

    Attributes
    ----------
    folder : Path
        Usually ``results/``, with a folder for each lot of sections: the paper's, those beyond it, and runs on
        surrogates.
    """

    folder: Path

    def path(self, name: str) -> tuple[Path, bool]:
        """Where a table is stored, and whether it comes from a surrogate.

        Raises
        ------
        Missing
            If it is not stored.
        """
        for lot in LOTS:
            if (self.folder / lot / name).is_file():
                return self.folder / lot / name, lot == SURROGATE
        raise Missing(f"{name} is not stored (`make {name.split('/')[0]}`)")

    @property
    def audit(self) -> Path:
        """The folder of the audit, whose page links to tables and figures."""
        return self.folder / LOTS[0]

    def figure(self, name: str) -> Path | None:
        """Where a figure ``section/[set/]name.png`` is stored; None where it is not."""
        paths = (self.folder.parent / "figures" / lot / name for lot in LOTS)
        return next((path for path in paths if name and path.is_file()), None)

    def real(self, name: str) -> bool:
        """Whether a table is stored, and not of a surrogate."""
        return any((self.folder / lot / name).is_file() for lot in LOTS if lot != SURROGATE)

    def table(self, name: str) -> pd.DataFrame:
        """A stored CSV.

        Raises
        ------
        Missing
            If it is not stored.
        """
        path = self.path(name)[0]
        return _read(path, path.stat().st_mtime_ns)

    def rows(self, name: str, where: str) -> pd.DataFrame:
        """Rows of a table that meet conditions ``column=value``, separated by ``; ``; ``|`` separates values.

        A number meets a value if it is that value at the value's decimals.

        Raises
        ------
        Missing
            If the table, a column or every such row is missing.
        """
        frame = self.table(name)
        for condition in filter(None, where.split("; ")):
            column, _, values = condition.partition("=")
            frame = frame[_meet(self._column(frame, name, column), values.split("|"))]
            if frame.empty:
                raise Missing(f"{name} has no row with {condition}")
        return frame

    def column(self, name: str, where: str, value: str) -> pd.Series:
        """A column of the rows that meet conditions, as `rows` takes them."""
        return self._column(self.rows(name, where), name, value)

    def value(self, name: str, where: str, value: str) -> object:
        """The one value that a column has in the rows that meet conditions.

        Raises
        ------
        Missing
            If there is none, or more than one.
        """
        cells = self.column(name, where, value)
        if len(cells) != 1:
            raise Missing(f"{name} has {len(cells)} rows with {where or 'any value'}, not one")
        return cells.iloc[0]

    @staticmethod
    def _column(frame: pd.DataFrame, name: str, column: str) -> pd.Series:
        if column not in frame:
            raise Missing(f"{name} has no column {column}")
        return frame[column]


def _meet(cells: pd.Series, values: list[str]) -> list[bool]:
    if not pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_bool_dtype(cells):
        return cells.astype(str).isin(values).tolist()
    return [any(published.as_printed(cell, value) == value for value in values) for cell in cells]


@lru_cache(maxsize=256)
def _read(path: Path, _changed: int) -> pd.DataFrame:
    return pd.read_csv(path)
