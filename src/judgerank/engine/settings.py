"""Settings that know their solver: every kind of them stands for one way to maximise."""

from __future__ import annotations

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine import adam, localized, penalised, search
from judgerank.engine.adam import Adam
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised
from judgerank.engine.solution import Solution
from judgerank.model.members import Model, Parameters

Settings = Newton | Adam | Localized | Penalised
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
    if isinstance(solver, Settings):
        return solver
    if not isinstance(solver, str):
        raise ConfigError(f"a solver is a name or its settings, not {solver!r}")
    found = kind(solver)
    return Adam.published(model) if found is Adam else found()


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
    match settings:
        case Newton() if start is not None and bar is not None:
            return search.resumed(cells, model, settings, start, bar)
        case Newton():
            return search.maximise(cells, model, settings, start)
        case Adam():
            return adam.maximise(cells, model, settings, start)
        case Localized():
            return localized.maximise(cells, model, settings, start)
        case Penalised():
            if start is not None:
                raise ConfigError("the penalised fit takes no start")
            return penalised.maximise(cells, model, settings)
