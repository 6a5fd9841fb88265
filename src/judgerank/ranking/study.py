"""Arguments and results of a study.

A study looks at a ranking and adds remarks and tables to it; they are in `judgerank.ranking.studies`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from judgerank.data.arrays import IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, JudgerankError, NoIntervalError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted
from judgerank.data.rankings import number_of_ranking
from judgerank.data.tied_choices import all_ties
from judgerank.fits.by_sizes import by_sizes, made_of_scores, sizes_of
from judgerank.fits.errors_by_question import by_clusters, by_question, number_of, questions_of
from judgerank.fits.favourites import Favourite, favourites
from judgerank.fits.fit import fit
from judgerank.fits.presentation import has_errors, orders_of, pairs
from judgerank.fits.result import Fit
from judgerank.fits.taste_test import TasteTest, taste_test
from judgerank.inference.clusters import JUDGMENT, RANKING, Clusters, crossing
from judgerank.inference.taste_errors import TASTE
from judgerank.model.members import Model
from judgerank.ranking.choices import (
    CLUSTERS,
    EFFECTS,
    EQUAL_WEIGHTS,
    LIKE_THESE,
    SHRUNK,
    THIS_PANEL,
    Settings,
    identified,
)
from judgerank.ranking.components import fit_highest, fit_member
from judgerank.ranking.recusal import Recusal
from judgerank.trust.sentences import MOST_PARAMETERS, MOST_ROWS

# Part of a large set of judgments, for studies that look at single records: whole questions at random.
MOST_SAMPLED = 200_000  # judgments that are looked at one by one


def sampled(judgments: Judgments) -> Judgments:
    """Whole questions with `MOST_SAMPLED` judgments at most, drawn at random; all if there are no more, or no ids.

    Which questions these are depends on their ids alone, and not on the order of the records. Where each question
    has more judgments than that, the sample is of single judgments.
    """
    c = judgments.comparisons
    if len(c) <= MOST_SAMPLED or "question_id" not in judgments.frame:
        return judgments
    question = judgments.question
    size = np.bincount(question)
    drawing = generator(0, "studies", "questions")
    order = drawing.permutation(len(size))
    order = order[size[order] <= MOST_SAMPLED]
    drawn = np.zeros(len(size), bool)
    drawn[order[np.cumsum(size[order]) <= MOST_SAMPLED]] = True
    rows = drawn[question] if drawn.any() else drawing.permutation(len(c)) < MOST_SAMPLED
    records = np.flatnonzero(judgments.parsed.to_numpy())[rows]
    frame = judgments.frame.iloc[records].reset_index(drop=True)
    frame = frame.astype({name: object for name in frame if frame[name].dtype == "category"})
    return replace(judgments, frame=frame, comparisons=c._rows(rows))


def description(sample: Judgments, judgments: Judgments) -> str:
    """Size of a sample, in words."""
    n_drawn, of = (int(part.question.max(initial=-1)) + 1 for part in (sample, judgments))
    return (
        f"{n_drawn:,} of {counted(of, 'question')}, drawn at random ({len(sample.comparisons):,} of "
        f"{counted(len(judgments.comparisons), 'judgment')})"
    )


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
        Those of its models that count.
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
    tastes : TasteTest, optional
        Whether judges have tastes of their own, where that was tested: `reported` allows for those that are found.
    recusal : Recusal, optional
        Which judgments of the set count; by default all do.
    """

    judgments: Judgments
    settings: Settings
    reported: Fit
    independent: Fit
    member: Fit
    requested: Fit
    departures: tuple[str, ...] = ()
    tastes: TasteTest | None = None
    recusal: Recusal | None = None

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
    def favourites(self) -> tuple[Favourite, ...]:
        """Judges whose taste for one model stands out in these judgments, no model of their own maker."""
        if self.tastes is None or self.recusal is None:
            return ()
        behind = _behind(self.independent, self.judgments, self.settings)
        return self.recusal.may_leave_out(favourites(*behind, self.tastes))

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
        return fit_member(self._without_columns, model, self.settings.solver)

    def refit_exactly(self, model: str | Model) -> Fit:
        """Fit another member without shrinkage, and without advice to shrink where there is no maximum."""
        return fit_highest(self._without_columns, model)

    @cached_property
    def _without_columns(self) -> Comparisons:
        """The comparisons without columns; themselves if they have none, with all that was computed of them."""
        c = self.comparisons
        return c if c.columns is None else replace(c, columns=None)


@dataclass(frozen=True, eq=False)
class Ranked:
    """A set of judgments and its components, each fitted by itself.

    Attributes
    ----------
    judgments : Judgments
        Those that count.
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
    recusal : Recusal
        Which judgments of the set count.
    """

    judgments: Judgments
    settings: Settings
    member: Model
    reason: str
    parts: tuple[Judgments, ...]
    components: tuple[Component, ...]
    refused: tuple[tuple[Judgments, JudgerankError], ...]
    recusal: Recusal


# The fits of one component: as the settings describe it, and what stands in where that is impossible.


def component_of(judgments: Judgments, model: Model, settings: Settings) -> Component:
    """Fit a component of the comparison graph, and choose which fit the ranking shows.

    Question effects whose sigma is zero, or that have no intervals, are not shown; errors are then by question.
    Errors are by question where that is asked for and there are enough questions; with fewer, pairs are tested by
    sign flips of whole questions. If the fit with all this has no intervals, the member alone is shown. Where all
    answers are ties there are no intervals. Where judges have tastes of their own, errors allow for them, unless
    the settings ask for this panel's.

    Where all judgments are made of scores, the models' scores and their errors are by the sizes of the
    differences, unless the settings name a model of judgments, blocks or question effects.

    Raises
    ------
    ConfigError, DataError
        If there is no such block, or the records lack what it needs.
    NoMaximumError, NotIdentifiedError
        If the component cannot be ranked.
    """
    unweighted = identified(model, judgments.comparisons) if settings.model is None else model
    requested, departures = _requested(judgments, unweighted, settings)
    if unweighted != model:
        departures.insert(0, f"Model {unweighted.name} in place of {model.name}. {EQUAL_WEIGHTS}")
    member_alone = requested.member
    independent = requested if requested.without is None or is_usable(requested) else requested.without
    by_size = may_use_sizes(settings) and made_of_scores(judgments) and has_errors(independent)
    sizes = sizes_of(judgments, judgments.unit(settings.units[0]) if settings.units else None) if by_size else None
    if by_size and sizes is None:
        departures.append(SIGNS_ALONE)
    if sizes is not None:
        units = units_behind(judgments, settings) if settings.units else None
        reported = replace(by_sizes(independent, sizes), clusters=units)
        return Component(judgments, settings, reported, independent, member_alone, requested, tuple(departures))
    clustered = _by_question(independent, judgments, settings)
    reported, tastes = _for_judges(independent, clustered, judgments, settings)
    if orders_of(reported) is None:
        if independent.blocks:
            departures.append(f"{_left_out(settings)}: the fit with them has no intervals.")
        independent = member_alone
        reported, tastes = _for_judges(independent, independent, judgments, settings)
    if all_ties(judgments.comparisons):  # their errors are those of shrinkage alone
        n = len(judgments.comparisons.models) + int(reported._free.sum())
        reported = reported._with_errors(robust=np.full((n, n), np.nan), meat=None)
    fits = reported, independent, member_alone, requested
    return Component(judgments, settings, *fits, tuple(departures), tastes)


SIGNS_ALONE = (
    "Scores are compared by which is higher, not by how much: there is one task, all scores are equal, or a model "
    "has too few tasks in common with the others to tell how far its mean is off."
)


def may_use_sizes(settings: Settings) -> bool:
    """Whether scores are compared by how much they differ: no model of judgments or their errors is asked for."""
    by_tasks = settings.cluster == CLUSTERS[0] or len(settings.units) == 1
    return by_tasks and settings.model is None and not settings.blocks


def _for_judges(
    independent: Fit, clustered: Fit, judgments: Judgments, settings: Settings
) -> tuple[Fit, TasteTest | None]:
    """The fit with errors for judges like these, or for this panel, and the test for their tastes."""
    tastes = _taste_test(independent, clustered, judgments, settings)
    if tastes is not None and tastes.found and settings.whose == LIKE_THESE:
        return clustered._for_judges_like_these(tastes.spread), tastes
    if settings.whose == THIS_PANEL and clustered._speaks_of_judges_like_these:  # by a block
        return clustered.for_this_panel(), tastes
    return clustered, tastes


def _taste_test(independent: Fit, reported: Fit, judgments: Judgments, settings: Settings) -> TasteTest | None:
    """The test for tastes of judges; None where they are fitted, or the test is not made.

    Sets of more than `MOST_SAMPLED` judgments are not tested.
    """
    is_fitted = any(block.name == TASTE for block in independent.blocks)
    is_large = len(judgments.comparisons) > MOST_SAMPLED
    if is_fitted or is_large or independent.effects is not None:
        return None
    if not has_errors(reported) or all_ties(judgments.comparisons):
        return None
    return taste_test(*_behind(independent, judgments, settings))


def _behind(fitted: Fit, judgments: Judgments, settings: Settings) -> tuple[Fit, Comparisons, IntArray | None]:
    """A fit, the comparisons behind it, and their questions where errors are by question."""
    question = fitted._require_question() if clusters(judgments, settings) else None
    return fitted, judgments.comparisons if fitted.raw is None else fitted.raw, question


def _requested(judgments: Judgments, model: Model, settings: Settings) -> tuple[Fit, list[str]]:
    """The fit that the settings describe, and what it lacks of that, with the reason."""
    described = _with_effects if settings.cluster == EFFECTS else _with_blocks
    try:
        return described(judgments, model, settings)
    except (NoMaximumError, NotIdentifiedError, NoIntervalError) as error:
        if not settings.blocks:
            raise
        why = f"{_left_out(settings)}: {error}."
    fitted, departures = described(judgments, model, replace(settings, blocks=()))
    return fitted, [why, *departures]


def _left_out(settings: Settings) -> str:
    return f"Further blocks ({', '.join(settings.blocks)}) are left out"


def _with_blocks(judgments: Judgments, model: Model, settings: Settings) -> tuple[Fit, list[str]]:
    """The member, with further blocks where there are any."""
    if settings.blocks:
        return fit(judgments, model, settings.solver, blocks=settings.blocks), []
    fitted = fit_member(judgments.comparisons, model, settings.solver)
    if "question_id" in judgments.frame:
        fitted = replace(fitted, question=judgments.question, question_keys=judgments.question_keys)
    return fitted, []


def _with_effects(judgments: Judgments, model: Model, settings: Settings) -> tuple[Fit, list[str]]:
    """The member with question effects and further blocks, and whether ties became an outcome of their own.

    They do where there are any, if the user did not name the member.

    Raises
    ------
    DataError
        If there are no questions.
    ConfigError, NoMaximumError, NotIdentifiedError
        As `judgerank.fit`.
    """
    if "question_id" not in judgments.frame:
        raise DataError(f"cluster={EFFECTS} needs a column of questions (--column question=NAME names it)")
    judgments.comparisons.require_pairs("a model with question effects")
    departures = []
    if settings.model is None and (judgments.comparisons.outcome == 0.5).any():
        plain, model = model.name, model.with_ties()
        why = "since with question effects ties have to be an outcome of their own"
        departures = [f"Model {model.name} in place of {plain}, {why}."]
    blocks, solver = settings.blocks, settings.solver
    try:
        return fit(judgments, model, solver, blocks=blocks, questions=EFFECTS, merge_copies=True), departures
    except NoMaximumError as error:
        advice = "cluster=question leaves question effects out, and allows for dependence in the errors"
        raise type(error)(f"{error} ({advice})", error.models) from None


def _by_question(fitted: Fit, judgments: Judgments, settings: Settings) -> Fit:
    """The fit with errors by question or sign flips, where they are asked for, possible and not in it already."""
    units = units_behind(judgments, settings)
    if not has_errors(fitted) or (units is None and not clusters(judgments, settings)):
        return fitted
    if units is not None:
        return by_clusters(fitted, units, fitted.raw)
    question = fitted._require_question()  # of these comparisons, whose judge ids may be merged
    if fitted.effects is not None and questions_of(fitted, fitted._require_raw(), question).enough:
        return fitted
    return by_question(fitted, fitted.raw, question)


def clusters(judgments: Judgments, settings: Settings) -> bool:
    """Whether errors should allow for dependence within questions, and no other unit is named."""
    return settings.cluster in CLUSTERS[:2] and "question_id" in judgments.frame


def units_behind(judgments: Judgments, settings: Settings) -> Clusters | None:
    """The units behind errors that are not by question: columns that are named, or, without questions, judgments.

    Comparisons of one ranking are one judgment.
    """
    c = judgments.comparisons
    if settings.units:
        return named_units(judgments, settings.units)
    if settings.cluster == "none" or clusters(judgments, settings):
        return None
    if c.stages is not None:
        return Clusters((RANKING,), (number_of_ranking(c),))
    return Clusters((JUDGMENT,))


def named_units(judgments: Judgments, names: Sequence[str]) -> Clusters:
    """The values of columns as units that were sampled; two columns are crossed, unless one lies within the other.

    Raises
    ------
    DataError
        If there is no such column, or it lacks values.
    """
    labels = [judgments.unit(name) for name in names]
    if len(names) > 1:
        n_cells, sizes = number_of(crossing(*labels)), [number_of(label) for label in labels]
        if n_cells in sizes:  # questions within templates: those of a template are not independent
            coarser = int(np.argmin(sizes))
            return Clusters((names[coarser],), (labels[coarser],))
    return Clusters(tuple(names), tuple(labels))


def is_usable(fitted: Fit) -> bool:
    """Whether the fit has no question effects, or some that are not zero and have intervals."""
    return fitted.effects is None or (fitted.effects.sigma > 0 and has_errors(fitted))
