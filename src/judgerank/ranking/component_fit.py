"""The fits of one component: as the settings describe it, and what stands in where that is impossible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerank.data.errors import DataError, NoIntervalError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.data.tied_choices import all_ties
from judgerank.fits.errors_by_question import by_question, questions_of
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.fits.standings import has_errors, orders_of
from judgerank.model.members import Model
from judgerank.model.naming import member
from judgerank.ranking.choices import EFFECTS, Settings
from judgerank.ranking.fit_member import fit_member
from judgerank.ranking.study import Component


def component_of(judgments: Judgments, model: Model, settings: Settings) -> Component:
    """Fit a component of the comparison graph, and choose which fit the ranking shows.

    Question effects whose sigma is zero, or that have no intervals, are not shown; errors are then by question.
    Errors are by question where that is asked for and there are enough questions; with fewer, pairs are tested by
    sign flips of whole questions. If the fit with all this has no intervals, the member alone is shown. Where all
    answers are ties there are no intervals.

    Raises
    ------
    ConfigError, DataError
        If there is no such block, or the records lack what it needs.
    NoMaximumError, NotIdentifiedError
        If the component cannot be ranked.
    """
    requested, departures = _requested(judgments, model, settings)
    member_alone = requested.member
    independent = requested if requested.without is None or is_usable(requested) else requested.without
    reported = _by_question(independent, judgments, settings)
    if orders_of(reported) is None:
        if independent.blocks:
            departures.append(f"{_left_out(settings)}: the fit with them has no intervals.")
        independent = reported = member_alone
    if all_ties(judgments.comparisons):  # their errors are those of shrinkage alone
        n = len(judgments.comparisons.models) + int(reported.free.sum())
        reported = replace(reported, robust=np.full((n, n), np.nan), meat=None)
    return Component(judgments, settings, reported, independent, member_alone, requested, tuple(departures))


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
        plain, model = model.name, member(f"{model.name}_ties")
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
    if not clusters(judgments, settings) or not has_errors(fitted):
        return fitted
    question = fitted.known_question  # of these comparisons, whose judge ids may be merged
    if fitted.effects is not None and questions_of(fitted, fitted.known_raw, question).enough:
        return fitted
    return by_question(fitted, fitted.raw, question)


def clusters(judgments: Judgments, settings: Settings) -> bool:
    """Whether errors should allow for dependence within questions."""
    return settings.cluster != "none" and "question_id" in judgments.frame


def is_usable(fitted: Fit) -> bool:
    """Whether the fit has no question effects, or some that are not zero and have intervals."""
    return fitted.effects is None or (fitted.effects.sigma > 0 and has_errors(fitted))
