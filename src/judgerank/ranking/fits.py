"""Fits of members of the family to judgments of one's own: a component, a category, and what to know of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, NoIntervalError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.fits.said import sentences
from judgerank.fits.standings import has_errors, leaderboard, orders_of, pairs
from judgerank.fits.testing import without_blocks
from judgerank.model.members import Model
from judgerank.model.naming import member
from judgerank.ranking import panel, remarks
from judgerank.ranking.adjusted import block_tables
from judgerank.ranking.bands import with_bands
from judgerank.ranking.categories import categories_of
from judgerank.ranking.choices import EFFECTS, Settings
from judgerank.ranking.components import parts_of
from judgerank.ranking.rivals import on_rivals
from judgerank.ranking.suggestions import bounding_comparisons, first_links, next_comparisons
from judgerank.ranking.with_effects import is_usable, on_effects, with_effects
from judgerank.trust.findings import on_fragility


class RankedPart(NamedTuple):
    """One component: its fit, what to know of it, and its tables."""

    fitted: Fit
    remarks: list[str]
    tables: dict[str, pd.DataFrame]


def ranked_part(judgments: Judgments, name: str | Model, settings: Settings) -> RankedPart:
    """A component of the comparison graph by one member of the family, with further blocks or question effects."""
    level, few = settings.level, settings.few
    found, said = described(judgments, name, settings)
    comparisons = judgments.comparisons if found is None or found.raw is None else found.raw
    refit = partial(fitted_member, replace(comparisons, columns=None), solver=settings.solver)
    fitted = refit(name) if found is None else found.member
    if found is None and "question_id" in judgments.frame:
        fitted = replace(fitted, question=judgments.question, question_keys=judgments.question_keys)
    estimates = found if found is not None and is_usable(found) else fitted
    if judgments.ordered:
        test = remarks.leaning(estimates, refit, level)
        said += remarks.on_positions(test, level, fitted.model.has_position)
    said += on_rivals(fitted, refit) + remarks.on_fit(estimates) + on_fragility(fitted, comparisons)
    said += remarks.on_design(comparisons, few)
    plan = bounding_comparisons(fitted, settings.next, settings.next_size)
    with_questions, too_few = with_dependence(fitted, found, judgments, settings)
    tables: dict[str, pd.DataFrame] = {}
    if orders_of(with_questions) is not None:
        fitted = with_questions
        said += too_few
        plan = next_comparisons(fitted, settings.next, settings.next_size, level, few)
        if fitted.blocks:
            unblocked = without_blocks(fitted)
            tables = block_tables(fitted, unblocked, level)
            said += sentences(fitted, unblocked, level)
    compared = pairs(fitted, level)
    tables = {
        "leaderboard": with_bands(leaderboard(fitted, level), compared),
        "judges": panel.judges(fitted, judgments, level, few, {} if found is None else found.merged),
        "pairs": compared,
        "next": plan,
        **tables,
    }
    return RankedPart(fitted, said, tables)


def described(judgments: Judgments, name: str | Model, settings: Settings) -> tuple[Fit | None, list[str]]:
    """The fit with further blocks or question effects, where these are asked for; and what to know of it.

    Blocks without a maximum are left out, and that is said.

    Raises
    ------
    ConfigError, DataError
        If there is no such block, or the records lack what it needs; as `with_effects`.
    """
    effects = settings.cluster == EFFECTS
    if not settings.blocks and not effects:
        return None, []
    why, blocks = list[str](), settings.blocks
    try:
        if not effects:
            return fit(judgments, name, settings.solver, blocks=blocks), []
        found, said = with_effects(judgments, name, settings)
    except (NoMaximumError, NotIdentifiedError, NoIntervalError) as error:
        if not blocks:
            raise
        why = [f"Further blocks ({', '.join(blocks)}) are left out: {error}."]
        if not effects:
            return None, why
        found, said = with_effects(judgments, name, replace(settings, blocks=()))
    return found, [*why, *said, *on_effects(found, settings.level)]


def with_dependence(
    fitted: Fit, found: Fit | None, judgments: Judgments, settings: Settings
) -> tuple[Fit, list[str]]:
    """The fit with errors that allow for dependence within questions, where that is asked for; or why not.

    With question effects it is the fit with those; if sigma is zero, or they have no intervals, errors are by
    question as if none were asked for.
    """
    if found is not None and found.effects is not None and is_usable(found):
        return found, []
    if found is not None and found.effects is not None:
        found = found.without
    fitted = fitted if found is None else found
    wanted = settings.cluster != "none" and "question_id" in judgments.frame
    if not wanted or not has_errors(fitted):
        return fitted, []
    question = judgments.question if found is None else found.known_question  # whose judge ids may be merged
    too_few = remarks.on_questions(fitted, question)
    raw = judgments.comparisons if found is None else found.raw
    return (fitted if too_few else fitted.clustered(raw, question)), too_few


def by_category(
    judgments: Judgments, name: str | Model, settings: Settings
) -> tuple[pd.DataFrame | None, list[str]]:
    """The leaderboard of each category, fitted to its judgments alone, and what to know of it.

    Of a category whose comparisons fall apart, the largest component.
    """
    boards, said = [], []
    for category, within in categories_of(judgments).items():
        try:
            part = parts_of(within)[0]
            found = None
            if settings.cluster == EFFECTS:
                found, _ = with_effects(part, name, replace(settings, blocks=()))
            plain = fitted_member(part.comparisons, name, settings.solver) if found is None else found.member
            fitted, _ = with_dependence(plain, found, part, settings)
        except (DataError, NoMaximumError, NotIdentifiedError) as error:
            said.append(f"Category {category} is not ranked by itself: {error}.")
            continue
        board = leaderboard(fitted, settings.level)
        board = with_bands(board, pairs(fitted, settings.level))
        boards.append(board.assign(category=category)[["category", *board.columns]])
    return (pd.concat(boards, ignore_index=True) if boards else None), said


def fitted_member(comparisons: Comparisons, name: str | Model, solver: str = "newton") -> Fit:
    """A member of the family, or a refusal that says what would make it possible.

    Raises
    ------
    DataError
        If the member needs lengths, and there are none.
    NoMaximumError
        With the pairs to compare first.
    """
    if member(name).has_slope and comparisons.covariate is None:
        raise DataError(f"model {member(name).name!r} needs a column of lengths (--column length=NAME names it)")
    try:
        return fit(comparisons, name, solver)
    except NoMaximumError as error:
        links = "; ".join(f"{a} with {b}" for a, b in first_links(comparisons, error))
        shrunk = "solver=penalised ranks them all the same, by shrinking scores toward each other"
        advice = f" (to begin with, compare {links}; {shrunk})" if links else ""
        raise type(error)(f"{error}{advice}", error.models) from None
