"""A fit with question effects: a random quality for every answer, shared by its judges and integrated out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, NoMaximumError, NotIdentifiedError
from judgerank.engine.penalised import Penalised
from judgerank.engine.questions.climb import Plain
from judgerank.engine.questions.groups import grouped
from judgerank.engine.questions.maximum import maximise
from judgerank.fits.certified import require_bounded
from judgerank.fits.fitted import Fitted
from judgerank.fits.further import FittedKind
from judgerank.fits.same_judges import copies, with_one_vote
from judgerank.inference.clusters import effective_number
from judgerank.inference.effects import QuestionEffects
from judgerank.inference.residuals import residuals_by_cluster
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
    model, comparisons, asked = without.model, without.known_raw, without.known_question
    if model.weights_vary:
        raise ConfigError(f"question effects go with members without slopes, and {model.name!r} has them")
    if not model.has(Role.TIE) and comparisons.with_ties().known_ties.any():
        known = "position_aware_ties, judge_aware_ties or btl_ties"
        raise ConfigError(
            f"{model.name!r} takes ties for half a win, and with question effects that misleads: use {known}"
        )
    require_bounded(without)
    remarks, leader = list[str](), dict[str, str]()
    if member is not None:
        leader = copies(without, comparisons, asked, member)
    names = ", ".join(sorted({*leader, *leader.values()}))
    if leader and merge_copies:
        comparisons, asked = with_one_vote(comparisons.with_ties(), asked, leader)
        comparisons = model.observed(comparisons)
        without = again(comparisons, asked)
        require_bounded(without)
        remarks.append(f"These judge ids answer as one, and count as one judge: {names}.")
    elif leader:
        remarks.append(
            f"These judge ids answer as one: {names}. They agree because they are the same, and the question "
            "effect takes that for the answers' quality; merge_copies=True makes them one judge."
        )
    groups = grouped(comparisons, asked)
    if all((group.by_question(group.count) < 2).all() for group in groups):
        raise NotIdentifiedError(
            "no question has two comparisons that share a model, so that a question's effect cannot be told from "
            "the judges' own noise (ask several judges about the same question)"
        )
    solution = without.solution
    plain = Plain(without.comparisons, model, solution, without.free, without.free_common)
    try:
        found = maximise(plain, groups, without.fitted_spreads)
    except NoMaximumError as error:
        raise NoMaximumError(" ".join([f"{error}.", *remarks]).removesuffix("."), error.models) from None
    spread = found.spread if solution.spread is not None else None
    effects = QuestionEffects(
        found.sigma,
        found.log_likelihood,
        solution.parameters,
        solution.evaluation.log_likelihood,
        found.relative_gradient,
        None if found.covariance is None else found.covariance[-1],
    )
    status = found.status
    if isinstance(without.settings, Penalised) and status.converged:
        status = solution.status
    solution = replace(
        solution,
        parameters=found.parameters,
        status=status,
        rival=None,
        iterations=found.iterations,
        spread=spread,
    )
    result = replace(
        without,
        solution=solution,
        effects=effects,
        raw=comparisons,
        question=asked,
        without=without,
        remarks=(*without.remarks, *remarks),
        merged=leader if merge_copies else {},
    )
    if found.covariance is None:
        return result
    at = effects.without
    by_cluster = residuals_by_cluster(comparisons, model, at, asked)
    effective = effective_number(asked, comparisons.count)
    return replace(result, robust=found.covariance[:-1, :-1], by_cluster=by_cluster, effective_clusters=effective)
