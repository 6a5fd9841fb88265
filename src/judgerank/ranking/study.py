"""Arguments and results of a study.

A study looks at a ranking and adds remarks and tables to it, one file each in `judgerank.ranking.studies`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.fits.standings import orders_of, pairs
from judgerank.model.members import Model
from judgerank.ranking.choices import EXACT, SHRUNK, Settings
from judgerank.ranking.fit_member import fit_member
from judgerank.ranking.sampled import sampled
from judgerank.trust.sentences import MOST_PARAMETERS, MOST_ROWS


@dataclass(frozen=True)
class Finding:
    """Remarks and tables of a study.

    Attributes
    ----------
    remarks : sequence of str
        What a reader should know, a sentence or a few each.
    tables : mapping of str to DataFrame
        By the name that the table has in `Record.tables`, which is that of its file, too.
    categories : mapping of str to Fit
        Those of the judgments of single categories, which the page offers beside the ranking.
    """

    remarks: Sequence[str] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    categories: Mapping[str, Fit] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Component:
    """A connected component of the comparison graph and its fits.

    Attributes
    ----------
    judgments : Judgments
        Those of its models.
    settings : Settings
    reported : Fit
        The fit that the ranking reports.
    independent : Fit
        The same with errors that take comparisons for independent, unless questions have effects.
    member : Fit
        The member of the family by itself, without further blocks, question effects and errors by question.
    requested : Fit
        The fit with the further blocks and question effects of the settings, shown or not; `member` if none are
        asked for, or if it has no maximum.
    departures : tuple of str
        Where the fits are not those that the settings ask for, and why.
    """

    judgments: Judgments
    settings: Settings
    reported: Fit
    independent: Fit
    member: Fit
    requested: Fit
    departures: tuple[str, ...] = ()

    @property
    def comparisons(self) -> Comparisons:
        """The comparisons fitted, before rows that are alike were merged."""
        return self.judgments.comparisons if self.requested.raw is None else self.requested.raw

    @cached_property
    def sample(self) -> Judgments:
        """The judgments, or of many those of some questions (`sampled.sampled`), to look at one by one."""
        return sampled(self.judgments)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every pair of models by the shown fit (`standings.pairs`)."""
        return pairs(self.reported, self.settings.level)

    @cached_property
    def has_intervals(self) -> bool:
        """Whether the shown fit has a covariance that every difference of scores has an error by."""
        return orders_of(self.reported) is not None

    @cached_property
    def exact(self) -> Fit | JudgerankError | None:
        """The member that ranks fitted without shrinkage where the ranking is shrunk, or why there is none.

        None where the ranking is not shrunk, or so large that another fit would take long.
        """
        member, c = self.member.model, self.comparisons
        large = self.member.n_parameters > MOST_PARAMETERS or len(c) > MOST_ROWS
        if large or self.settings.solver != SHRUNK:
            return None
        try:
            return self.refit_exactly(member)
        except JudgerankError as error:
            return error

    def refit(self, model: str | Model) -> Fit:
        """Fit another member of the family to the same comparisons by the same solver.

        Raises
        ------
        JudgerankError
            As `fit_member.fit_member`.
        """
        return fit_member(replace(self.comparisons, columns=None), model, self.settings.solver)

    def refit_exactly(self, model: str | Model) -> Fit:
        """Fit another member without shrinkage, and without advice to shrink where there is no maximum."""
        return fit(replace(self.comparisons, columns=None), model, EXACT)


@dataclass(frozen=True, eq=False)
class Ranked:
    """A set of judgments and its components, each fitted by itself.

    Attributes
    ----------
    judgments : Judgments
    settings : Settings
    member : Model
        The member of the family that ranks.
    reason : str
        Why it is that one; empty if the settings name it.
    parts : tuple of Judgments
        The components of the comparison graph, that with most models first.
    components : tuple of Component
        Those that could be ranked.
    refused : tuple of (Judgments, JudgerankError)
        Those that could not, and why.
    """

    judgments: Judgments
    settings: Settings
    member: Model
    reason: str
    parts: tuple[Judgments, ...]
    components: tuple[Component, ...]
    refused: tuple[tuple[Judgments, JudgerankError], ...]
