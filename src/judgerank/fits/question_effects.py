"""A fit with question effects: a random quality for every answer, shared by its judges and integrated out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, NoMaximumError, NotIdentifiedError
from judgerank.engine.penalised import Penalised
from judgerank.engine.questions.groups import grouped
from judgerank.engine.questions.maximum import MarginalMaximum, Plain, maximise
from judgerank.fits.certified import require_bounded
from judgerank.fits.extra_blocks import FittedKind
from judgerank.fits.fitted import Fitted
from judgerank.fits.same_judges import copies, with_one_vote
from judgerank.inference.clusters import (
    effective_number,
    information_by_cluster,
    residuals_by_cluster,
    sums_and_products,
)
from judgerank.inference.estimates import QuestionEffects
from judgerank.model.block import Role


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
    comparisons, question = without.require_raw(), without.require_question()
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
    comparisons, question = result.require_raw(), result.require_question()
    by_cluster = residuals_by_cluster(comparisons, without.model, without.solution.parameters, question)
    effective = effective_number(question, comparisons.count)
    information = information_by_cluster(comparisons, without.model, without.solution.parameters, question)
    return replace(
        result,
        robust=covariance[:-1, :-1],
        by_cluster=by_cluster,
        effective_clusters=effective,
        effective_by_pair=without.behind_pairs(*sums_and_products(information)),
    )


def _require_possible(without: Fitted) -> None:
    """Refuse a model that question effects do not go with, or that has no maximum without them."""
    model = without.model
    if model.weights_vary:
        raise ConfigError(f"question effects go with members without slopes, and {model.name!r} has them")
    if not model.has(Role.TIE) and without.require_raw().with_ties().known_ties.any():
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
    plain = Plain(without.comparisons, without.model, without.solution, without.free, without.free_common)
    return maximise(plain, groups, without.fitted_spreads)


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
