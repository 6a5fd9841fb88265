"""A fit with further blocks or question effects, from the fit without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, NoMaximumError, NotIdentifiedError
from judgerank.engine import penalised
from judgerank.engine.levels import GIVEN
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised
from judgerank.engine.questions.groups import grouped
from judgerank.engine.questions.maximum import MarginalMaximum, Plain, maximise
from judgerank.fits.certified import require_blocks, require_bounded
from judgerank.fits.fitted import Fitted
from judgerank.fits.same_judges import copies, with_one_vote
from judgerank.inference.clusters import (
    effective_number,
    information_by_cluster,
    residuals_by_cluster,
    sums_and_products,
)
from judgerank.inference.estimates import QuestionEffects
from judgerank.model.block import Placed, Role, with_means
from judgerank.model.members import Parameters

MOST_PARAMETERS = 3_000  # of one matrix
FittedKind = TypeVar("FittedKind", bound=Fitted)


def with_blocks(
    without: FittedKind,
    comparisons: Comparisons,
    extra: tuple[Placed, ...],
    fixed_spread: Mapping[str, float] | None = None,
    certified: bool = True,
) -> FittedKind:
    """The maximum with further blocks that the fit without leads to, certified.

    Standard deviations of shrunk blocks are those at which the likelihood is highest when these are integrated
    out, in Laplace's approximation; where all is shrunk, all of them.

    Parameters
    ----------
    without : Fitted
        Exact or penalised.
    comparisons : Comparisons
        With the blocks' columns; raw or with counts. Rows that are alike are fitted together.
    further : tuple of Placed
    known : mapping of str to float, optional
        Standard deviations to take as they are: zero leaves a shrunk block out.
    certified : bool
        Whether what has no maximum is refused, or fitted as far as it goes.

    Raises
    ------
    ConfigError
        If there are too many parameters.
    NoMaximumError, NotIdentifiedError
        If something runs off to infinity, with the blocks or without, or blocks are not identified.
    """
    cells = comparisons.aggregate()
    model = replace(without.model, further=with_means(extra, cells))
    n_parameters = len(cells.models) + without.solution.parameters.judges.size + len(model.roles)
    if n_parameters > MOST_PARAMETERS:
        raise ConfigError(
            f"further blocks go with {MOST_PARAMETERS:,} parameters at most, and these are {n_parameters:,}"
        )
    if certified:
        require_bounded(without)
    parameters = without.solution.parameters
    start = Parameters(parameters.scores, parameters.judges, np.zeros(len(model.roles)))
    if isinstance(without.settings, Penalised):
        solution = penalised.maximise(cells, model, without.settings)
    else:
        assert isinstance(without.settings, Newton)  # no other solver goes with blocks
        settings = Penalised(tolerance=without.settings.tolerance)
        solution = penalised.with_further(cells, model, start, _moving(without), settings, fixed_spread)
    errors = replace(without.errors, robust=None)
    result = replace(
        without, comparisons=cells, raw=comparisons, model=model, solution=solution, without=without, errors=errors
    )
    if certified:
        require_bounded(result)
        require_blocks(result)
    return result


def _moving(without: Fitted) -> BoolArray:
    """Parameters of the judges that further blocks move, shape (B, K).

    Held are slopes on their bound, judges who run off, and positions and ties of a judge at zero discrimination
    who never gives one of the answers: they have no maximum and say nothing of anybody else.
    """
    free, cells, model = without._free.copy(), without.comparisons, without.model
    tied = cells.tied if cells.tied is not None else np.zeros(len(cells))
    wins = [
        np.bincount(cells.judge, cells.count * (y - tied / 2), len(cells.judges))
        for y in (cells.outcome, 1 - cells.outcome)
    ]
    one_sided = ~without.solution.parameters.in_play & (np.minimum(*wins) <= GIVEN)
    free[model.offsets, one_sided] = False
    free[:, list(without.solution.unbounded_judges)] = False
    return free


# A fit with question effects: a random quality for every answer, shared by its judges and integrated out.


def with_question_effects(
    without: FittedKind,
    again: Callable[[Comparisons, IntArray], FittedKind],
    member: Callable[[Comparisons, str], Fitted] | None = None,
    merge_copies: bool = False,
) -> FittedKind:
    """Maximum marginal likelihood, from the fit without question effects.

        eta = gamma_k (s_i - s_j + u_qi - u_qj) + b_k,   u_qi normal with mean zero and standard deviation sigma

    The u are integrated out: to about five digits where few comparisons of two or three models hang together
    (`quadrature`), and by Laplace's approximation elsewhere (`laplace`). That costs next to nothing on questions
    with a hundred comparisons, and some accuracy on those with few comparisons of four models or more.

    Parameters
    ----------
    without : Fitted
        With the raw comparisons and their questions.
    again : callable
        Fits the same without question effects to other comparisons and their questions.
    member : callable, optional
        Fits a member by its name: then judge ids that answer as one are looked for.
    merge_copies : bool
        Whether judge ids that answer as one become one judge, with one vote an item. If they do not, and there are
        any, the result says so in its `remarks`.

    Raises
    ------
    ConfigError
        If the model has slopes, or takes ties for half a win where there are ties.
    NotIdentifiedError
        If no question has two comparisons.
    NoMaximumError
        If the likelihood has no maximum, without question effects or with them.
    """
    _require_possible(without)
    comparisons, question = without._require_raw(), without._require_question()
    leader = {} if member is None else copies(without, comparisons, question, member)
    names = ", ".join(sorted({*leader, *leader.values()}))
    remarks: tuple[str, ...] = ()
    if leader and merge_copies:
        comparisons, question = with_one_vote(comparisons.with_ties(), question, leader)
        comparisons = without.model.observed(comparisons)
        without = again(comparisons, question)
        require_bounded(without)
        remarks = (f"These judge ids answer as one, and count as one judge: {names}.",)
    elif leader:
        remarks = (
            f"These judge ids answer as one: {names}. They agree because they are the same, and the question "
            "effect takes that for the answers' quality; merge_copies=True makes them one judge.",
        )
    try:
        maximum = _maximum(without, comparisons, question)
    except NoMaximumError as error:
        raise NoMaximumError(" ".join([f"{error}.", *remarks]).removesuffix("."), error.models) from None
    result = replace(
        _with_effects(maximum, without),
        raw=comparisons,
        question=question,
        without=without,
        remarks=(*without.remarks, *remarks),
        merged=leader if merge_copies else {},
    )
    return result if maximum.covariance is None else _with_errors(result, maximum.covariance, without)


def _with_errors(result: FittedKind, covariance: FloatArray, without: FittedKind) -> FittedKind:
    """With the covariance of all but sigma, and what questions say of its degrees of freedom."""
    comparisons, question = result._require_raw(), result._require_question()
    by_cluster = residuals_by_cluster(comparisons, without.model, without.solution.parameters, question)
    effective = effective_number(question, comparisons.count)
    information = information_by_cluster(comparisons, without.model, without.solution.parameters, question)
    return result._with_errors(
        robust=covariance[:-1, :-1],
        by_cluster=by_cluster,
        effective_clusters=effective,
        effective_by_pair=without._behind_pairs(*sums_and_products(information)),
    )


def _require_possible(without: Fitted) -> None:
    """Refuse a model that question effects do not go with, or that has no maximum without them."""
    model = without.model
    if model.weights_vary:
        raise ConfigError(f"question effects go with members without slopes, and {model.name!r} has them")
    if not model.has(Role.TIE) and without._require_raw().with_ties().known_ties.any():
        alternatives = "position_aware_ties, judge_aware_ties or btl_ties"
        raise ConfigError(
            f"{model.name!r} takes ties for half a win, and with question effects that misleads: "
            f"use {alternatives}"
        )
    require_bounded(without)


def _maximum(without: Fitted, comparisons: Comparisons, question: IntArray) -> MarginalMaximum:
    groups = grouped(comparisons, question)
    if all((group.by_question(group.count) < 2).all() for group in groups):
        raise NotIdentifiedError(
            "no question has two comparisons that share a model, so that a question's effect cannot be told from "
            "the judges' own noise (ask several judges about the same question)"
        )
    plain = Plain(without.comparisons, without.model, without.solution, without._free, without._free_common)
    return maximise(plain, groups, without._fitted_spreads)


def _with_effects(maximum: MarginalMaximum, without: FittedKind) -> FittedKind:
    """The fit at the maximum of the marginal likelihood."""
    before, status = without.solution, maximum.status
    if isinstance(without.settings, Penalised) and status.converged:
        status = before.status
    effects = QuestionEffects(
        maximum.sigma,
        maximum.log_likelihood,
        before.parameters,
        before.evaluation.log_likelihood,
        maximum.relative_gradient,
        None if maximum.covariance is None else maximum.covariance[-1],
    )
    solution = replace(
        before,
        parameters=maximum.parameters,
        status=status,
        rival=None,
        iterations=maximum.iterations,
        spread=None if before.spread is None else maximum.spread,
    )
    return replace(without, solution=solution, effects=effects)
