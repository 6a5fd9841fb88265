"""Your own models and judges: from judgments to a ranking, and to a folder with a page and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.errors import ConfigError, DataError, NoMaximumError
from judgerank.files import Files
from judgerank.fitting import fit
from judgerank.judgments import Judgments
from judgerank.leaderboard import remarks, standings
from judgerank.leaderboard.members import default_member, on_rivals
from judgerank.leaderboard.parts import links_between, never_compared, parts_of
from judgerank.leaderboard.suggestions import bounding_comparisons, first_links, next_comparisons
from judgerank.leaderboard.writing import to_html, write
from judgerank.model import MODELS
from judgerank.reading import judgments_of, read_judgments
from judgerank.result import FitResult
from judgerank.solvers.settings import SOLVERS

Source = Files | pd.DataFrame | Judgments
CLUSTERS = ("question", "none")
FEWEST, MOST_NEXT, MOST_SIZE = 10**9, 1000, 10**6  # largest values of few, next and next_size


@dataclass(frozen=True)
class Settings:
    """How judgments are ranked; see `rank`.

    Raises
    ------
    ConfigError
        Naming the setting that is unknown or out of range.
    """

    model: str | None = None
    solver: str = "newton"
    level: float = 0.95
    cluster: str = "question"
    few: int = 30
    next: int = 10
    next_size: int = 10

    def __post_init__(self) -> None:
        choices = {"model": (None, *MODELS), "solver": tuple(SOLVERS), "cluster": CLUSTERS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                listed = ", ".join(str(one) for one in known if one is not None)
                raise ConfigError(f"there is no {name} {getattr(self, name)!r} (known: {listed})")
        if not 0 < self.level < 1:
            raise ConfigError(f"level={self.level:g} is out of range: it must lie between 0 and 1")
        for name, low, high in (("few", 0, FEWEST), ("next", 1, MOST_NEXT), ("next_size", 1, MOST_SIZE)):
            if not low <= getattr(self, name) <= high:
                raise ConfigError(
                    f"{name}={getattr(self, name)} is out of range: it must lie from {low} to {high}"
                )


@dataclass(frozen=True, eq=False)
class Ranking:
    """All that is known of the models and judges of a set of judgments.

    Attributes
    ----------
    judgments : Judgments
    settings : Settings
    fits : list of FitResult
        One for each component of the comparison graph.
    remarks : list of str
        What to know first.
    tables : dict of str to DataFrame
        ``leaderboard``, ``judges``, ``pairs`` and ``next``; no rows in the last if there are no intervals.
    """

    judgments: Judgments
    settings: Settings
    fits: list[FitResult]
    remarks: list[str]
    tables: dict[str, pd.DataFrame]

    @property
    def fitted(self) -> FitResult:
        """Of the largest component."""
        return self.fits[0]

    @property
    def clustered(self) -> bool:
        """Whether the covariance of the largest component allows for dependence within questions."""
        return self.fitted.robust is not None

    @property
    def title(self) -> str:
        return f"Ranking of {sum(len(fitted.scores) for fitted in self.fits)} models: {self.judgments.title}"

    def to_html(self) -> str:
        """The page as one HTML text, with its figures inside where the extra ``plot`` is installed."""
        return to_html(self)

    def write(self, folder: str | Path) -> Path:
        """Write the page, the tables, the figures and ``run.json`` into a folder: all of them, or none.

        Tables are CSV; beyond 100,000 rows Parquet, where the extra ``parquet`` is installed.

        Returns
        -------
        Path
            The page.

        Raises
        ------
        ConfigError
            If the folder holds anything but an earlier ranking of the same source, or cannot be written to.
        """
        return write(self, Path(folder))

    def __repr__(self) -> str:
        board = self.tables["leaderboard"].astype(object).fillna("--")
        shown = board.to_string(index=False, float_format="{:.3f}".format)
        return "\n".join([self.title, shown, *(f"- {remark}" for remark in self.remarks)])


def rank(
    source: Source,
    *,
    model: str | None = None,
    solver: str = "newton",
    level: float = 0.95,
    cluster: str = "question",
    few: int = 30,
    next: int = 10,
    next_size: int = 10,
    columns: Mapping[str, str | None] | None = None,
    form: str | None = None,
    winner_values: Mapping[str, str] | None = None,
) -> Ranking:
    """Rank models from judgments of one's own.

    Parameters
    ----------
    source : path or several, DataFrame or Judgments
        Files or a table of judgments; see `read_judgments`.
    model : str, optional
        A member of the family (`judgerank.model.MODELS`). By default ``position_aware`` where the order of
        presentation identifies it, else ``judge_aware``.
    solver : {"newton", "penalised", "adam", "localized"}
    level : float
        Confidence level of the intervals, between 0 and 1.
    cluster : {"question", "none"}
        Whether answers to one question may depend on each other.
    few : int
        Judges and models with fewer comparisons are pointed out.
    next, next_size : int
        How many lines of comparisons to collect next, at most, and the comparisons in each.
    columns : mapping of str to str, optional
        Names of columns where they are not the usual ones, as in `read_judgments`.
    form : {"json", "jsonl", "csv", "tsv", "parquet", "eval"}, optional
        Of a file; by default what its name ends in.
    winner_values : mapping of str to str, optional
        Words for the winner, and what they mean, as in `read_judgments`.

    Raises
    ------
    ConfigError
        If a setting is unknown or out of range.
    DataError, DataUnavailableError
        If the source cannot be read as judgments.
    NoMaximumError
        If no component of the comparison graph can be ranked; it says what would make it possible.
    """
    settings = Settings(model, solver, level, cluster, few, next, next_size)
    return ranked(loaded(source, columns, form, winner_values), settings)


def loaded(
    source: Source,
    columns: Mapping[str, str | None] | None = None,
    form: str | None = None,
    winner_values: Mapping[str, str] | None = None,
) -> Judgments:
    """Judgments out of any of the sources of `rank`, which says what is raised."""
    if isinstance(source, Judgments | pd.DataFrame) and form is not None:
        raise ConfigError("a form is that of a file, and this source is none")
    if isinstance(source, Judgments):
        if columns or winner_values:
            raise ConfigError("columns are those of a file or a table, and this source has its own")
        return source
    if isinstance(source, pd.DataFrame):
        return judgments_of(source, columns, winner_values=winner_values)
    return read_judgments(source, form, columns, winner_values)


def ranked(judgments: Judgments, settings: Settings) -> Ranking:
    """Every component of the comparison graph ranked by itself; `rank` says what is raised."""
    parts = parts_of(judgments)
    name, said = settings.model, []
    if name is None:
        name, why = default_member([part.comparisons for part in parts])
        said.append(why)
    said += judgments.remarks
    groups = [part.comparisons.models for part in parts]
    said += remarks.on_parts(groups, links_between(judgments))
    said += remarks.on_dropped(judgments.comparisons, never_compared(judgments))
    done, refused = [], []
    for part in parts:
        try:
            done.append(ranked_part(part, name, settings))
        except NoMaximumError as error:
            refused.append(error)
            said.append(f"Not ranked: {remarks.listed(part.comparisons.models)}, since {error}.")
    if not done:
        raise refused[0]
    for number, one in enumerate(done, 1):
        said += [f"Component {number}: {text}" if len(parts) > 1 else text for text in one.remarks]
    tables = {key: standings.together([one.tables[key] for one in done]) for key in done[0].tables}
    if len(parts) > 1:
        tables["pairs"] = pd.concat([tables["pairs"], standings.across(groups)], ignore_index=True)
    return Ranking(judgments, settings, [one.fitted for one in done], said, tables)


class RankedPart(NamedTuple):
    """One component: its fit, what to know of it, and its tables."""

    fitted: FitResult
    remarks: list[str]
    tables: dict[str, pd.DataFrame]


def ranked_part(judgments: Judgments, name: str, settings: Settings) -> RankedPart:
    """A component of the comparison graph by one member of the family."""
    comparisons, level, few = judgments.comparisons, settings.level, settings.few
    refit = partial(fitted_member, comparisons, solver=settings.solver)
    fitted = refit(name)
    said = []
    if name in remarks.WITH_POSITIONS or name in remarks.WITHOUT_POSITIONS:
        test = remarks.leaning(fitted, refit, level)
        said += remarks.on_positions(test, level, fitted.model.has_position)
    said += on_rivals(fitted, refit) + remarks.on_fit(fitted) + remarks.on_design(comparisons, few)
    plan = bounding_comparisons(fitted, settings.next, settings.next_size)
    with_questions, too_few = for_questions(fitted, judgments, settings)
    if standings.orders_of(with_questions) is not None:
        fitted = with_questions
        said += too_few
        plan = next_comparisons(fitted, settings.next, settings.next_size, level, few)
    tables = {
        "leaderboard": standings.leaderboard(fitted, level),
        "judges": standings.judges(fitted, judgments, level),
        "pairs": standings.pairs(fitted, level),
        "next": plan,
    }
    return RankedPart(fitted, said, tables)


def for_questions(fitted: FitResult, judgments: Judgments, settings: Settings) -> tuple[FitResult, list[str]]:
    """The fit with errors that allow for dependence within questions, where that is asked for; or why not."""
    if settings.cluster != "question" or "question_id" not in judgments.frame or not standings.has_errors(fitted):
        return fitted, []
    too_few = remarks.on_questions(fitted, judgments.question)
    return (fitted if too_few else fitted.clustered(judgments.comparisons, judgments.question)), too_few


def fitted_member(comparisons: Comparisons, name: str, solver: str = "newton") -> FitResult:
    """A member of the family, or a refusal that says what would make it possible.

    Raises
    ------
    DataError
        If the member needs lengths, and there are none.
    NoMaximumError
        With the pairs to compare first.
    """
    if MODELS[name].has_slope and comparisons.covariate is None:
        raise DataError(f"model {name!r} needs a column of lengths (column length=NAME names it)")
    try:
        return fit(comparisons, name, solver)
    except NoMaximumError as error:
        links = "; ".join(f"{a} with {b}" for a, b in first_links(comparisons, error))
        shrunk = "solver=penalised ranks them all the same, by shrinking scores toward each other"
        advice = f" (to begin with, compare {links}; {shrunk})" if links else ""
        raise type(error)(f"{error}{advice}", error.models) from None
