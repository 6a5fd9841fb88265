"""A fitted member of the family: intervals and contrasts of its estimates, and ways to show, draw and keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgerank.fits import presentation, storing
from judgerank.inference.intervals import Intervals

if TYPE_CHECKING:  # an optional extra
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class FitResult(Intervals):
    """A fitted member of the family: its estimates, with covariance, intervals and contrasts.

    Attributes
    ----------
    comparisons, model, settings, solution, robust, by_cluster, n_clusters
        Those of `Intervals`.
    """

    def __repr__(self) -> str:
        c = self.comparisons
        return (
            f"<FitResult {self.model.name}, {self.status}: {len(c.models)} models, {len(c.judges)} judges, "
            f"{c.n_comparisons:.0f} comparisons, log-likelihood {self.log_likelihood:.2f}>"
        )

    def summary(self, level: float = 0.95) -> str:
        """What was fitted, how it ended, and a table of every kind of parameter; the best model is on top.

        Raises
        ------
        ConfigError
            If the level is not between 0 and 1.
        """
        return presentation.text(self, level)

    __str__ = summary

    def _repr_html_(self) -> str:
        return presentation.html(self)

    def plot(self, level: float = 0.95) -> Figure:
        """The leaderboard: scores and ranks with their intervals, best on top. It takes the extra ``plot``.

        Raises
        ------
        ConfigError
            If the extra is not installed, or the level is not between 0 and 1.
        """
        return presentation.figure(self, level)

    def save(
        self, path: str | PathLike[str], about: Mapping[str, Any] | None = None, *, force: bool = False
    ) -> None:
        """Keep the fit in one file, which `judgerank.load` reads back as it was.

        A fit that was saved there is replaced, whole or not at all; another file only by force.

        Parameters
        ----------
        path : path
        about : mapping, optional
            What else to keep, such as the prompt's version: JSON values by name, which `judgerank diff` compares.
        """
        storing.save(self, Path(path), about, force)
