"""Solvers: each is its settings with a method that maximises, and those of the library have a name."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine import search
from judgerank.engine.adam import Adam
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised
from judgerank.engine.solution import Solution
from judgerank.model.members import Model, Parameters


@runtime_checkable
class Solver(Protocol):
    """A solver of your own: a frozen dataclass of its settings with this method (docs/extend/models.md)."""

    def maximise(
        self, cells: Comparisons, model: Model, start: Parameters | None = None, bar: float | None = None
    ) -> Solution:
        """Maximise the likelihood of aggregated comparisons.

        Parameters
        ----------
        cells : Comparisons
        model : Model
        start : Parameters, optional
            Where to begin.
        bar : float, optional
            As of `search.resumed`; only a solver that compares several maxima needs it.
        """
        ...


Settings = Newton | Solver
SOLVERS: dict[str, type[Settings]] = {
    "newton": Newton,
    "adam": Adam,
    "localized": Localized,
    "penalised": Penalised,
}


def kind(name: str) -> type[Settings]:
    """The settings of a solver by its name.

    Raises
    ------
    ConfigError
        If there is no such solver.
    """
    if name not in SOLVERS:
        raise ConfigError(f"there is no solver {name!r} (known: {', '.join(SOLVERS)})")
    return SOLVERS[name]


def settings_of(solver: str | Settings, model: Model) -> Settings:
    """Settings as they are, or the defaults of a named solver: for Adam, those published for the model.

    Raises
    ------
    ConfigError
        If there is no such solver.
    """
    if isinstance(solver, Settings) and not isinstance(solver, type):
        return solver
    if not isinstance(solver, str):
        raise ConfigError(f"a solver is a name or settings with a method `maximise`, not {solver!r}")
    settings = kind(solver)
    return Adam.published(model) if settings is Adam else settings()


def maximise(
    cells: Comparisons,
    model: Model,
    settings: Settings,
    start: Parameters | None = None,
    bar: float | None = None,
) -> Solution:
    """Maximise the likelihood of aggregated comparisons, penalised or not, by the solver of the settings.

    Parameters
    ----------
    cells : Comparisons
    model : Model
    settings : Settings
    start : Parameters, optional
    bar : float, optional
        As of `search.resumed`, where the start is of a fit of a part of these comparisons.

    Raises
    ------
    ConfigError
        If the solver does not take the model, or takes no start.
    """
    if isinstance(settings, Newton):  # one climb knows nothing of the search that is made of climbs
        return search.run(cells, model, settings, start, bar)
    return settings.maximise(cells, model, start, bar)
