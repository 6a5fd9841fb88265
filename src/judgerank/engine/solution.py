"""Result of a solver, and the ways it can end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, eye_array, kron, vstack

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted
from judgerank.data.tied_choices import ROUNDING as TIE_ROUNDING
from judgerank.data.tied_choices import chosen, is_choice
from judgerank.engine.information import SINGULAR
from judgerank.engine.levels import EQUAL, GIVEN, contests, direction_raising, shares, thresholds, users
from judgerank.engine.likelihood import CHUNK, Evaluation
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import movable
from judgerank.model.tied_law import sets_of

LARGEST_LOG_ODDS = 2e2  # of a typical pair under one judge; beyond it that judge's gamma counts as unbounded
ROUNDING = 1e-13  # relative error of a log-likelihood summed in double precision
LARGEST_TOLERANCE = 1e-5  # relative gradient beyond which no point may be called a maximum


class Status(StrEnum):
    """How a fit ended.

    The likelihood is not concave in scores and discriminations together: a maximum is the one reached from the
    solver's starts, on the boundary or not.

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example(), 'btl')
    >>> result.status is judgerank.Status.INTERIOR, result.status.converged
    (True, True)
    """

    INTERIOR = "interior"  # a stationary point with every discrimination positive
    BOUNDARY = "boundary"  # the maximum over gamma >= 0 has judges at zero (KKT conditions certified)
    LOCALIZED = "localized"  # a maximum over a compact set (a box, bounded slopes) that lies on its edge
    STOPPING_RULE = "stopping_rule"  # the published algorithm's rule fired: the gradient is small, not zero
    SHRUNK = "shrunk"  # the maximum of a penalised likelihood, which always exists
    UNBOUNDED = "unbounded"  # some discrimination runs off to infinity: there is no maximum
    ITERATION_LIMIT = "iteration_limit"  # stopped before the tolerance was met: not a maximum

    @property
    def converged(self) -> bool:
        return self not in (Status.UNBOUNDED, Status.ITERATION_LIMIT)


@dataclass(frozen=True)
class Rival:
    """Another maximum of the same likelihood.

    Attributes
    ----------
    gap : float
        Log-likelihood by which it is lower.
    parameters : Parameters
    ambiguous : bool
        Whether the gap is so small that rounding could have decided between the two.
    """

    gap: float
    parameters: Parameters = field(repr=False)
    ambiguous: bool


@dataclass(frozen=True, repr=False)
class Solution(Shown):
    """Where a solver ended.

    Attributes
    ----------
    parameters : Parameters
        Normalised as in equation (3), over the judges in play.
    evaluation : Evaluation
        Log-likelihood and gradient there.
    status : Status
    iterations : int
    unbounded_judges : tuple of int
        Indices of the judges whose discrimination has no finite maximum.
    spread : mapping of str to float, optional
        Standard deviations of the penalty by block, where there is one.
    rival : Rival, optional
        The best other maximum that the search met. There is none where one climb was enough.
    alone : float, optional
        Standard deviation of the penalty on the unbounded judges, where they alone have one.
    integrated : float, optional
        Log-likelihood with all that has a standard deviation integrated out, where something has.
    expected : Evaluation, optional
        With the expected information there, where that was needed on the way.
    """

    parameters: Parameters
    evaluation: Evaluation
    status: Status
    iterations: int
    unbounded_judges: tuple[int, ...] = ()
    spread: Mapping[str, float] | None = None
    rival: Rival | None = None
    alone: float | None = None
    integrated: float | None = None
    expected: Evaluation | None = None

    def _line(self) -> str:
        ended = f"{self.status} after {counted(self.iterations, 'iteration')}"
        return f"{ended}, log-likelihood {self.evaluation.log_likelihood:.4f}"

    def _table(self) -> pd.DataFrame:
        ended = {"status": str(self.status), "iterations": self.iterations}
        evaluation = self.evaluation
        reached = {"log_likelihood": evaluation.log_likelihood, "relative_gradient": evaluation.relative_gradient}
        return pd.DataFrame([{**ended, **reached, "unbounded_judges": len(self.unbounded_judges)}])

    @property
    def shrinks_scores(self) -> bool:
        """Whether all is shrunk, and not further blocks alone."""
        return self.spread is not None and "scores" in self.spread

    def times(self, factor: float) -> Solution:
        """That of so many times as many comparisons, the parameters as they are."""
        rival = self.rival and replace(self.rival, gap=factor * self.rival.gap)
        alone = self.alone and self.alone / np.sqrt(factor)
        return replace(self, evaluation=self.evaluation.times(factor), rival=rival, alone=alone, expected=None)


def log_odds(parameters: Parameters) -> np.ndarray:
    """Of a typical pair under every judge: gamma_k times the standard deviation of the scores, shape (K,)."""
    return np.asarray(np.exp(parameters.judges[0]) * parameters.score_spread, float)


def unbounded_judges(model: Model, parameters: Parameters, furthest: float = LARGEST_LOG_ODDS) -> tuple[int, ...]:
    """Judges whose gamma has outgrown every sensible size: they order the models lexicographically.

    Such a judge never errs between clusters of models whose scores collapse as its gamma grows.
    """
    if not model.weighs_judges:
        return ()
    return tuple(np.flatnonzero(log_odds(parameters) > furthest).tolist())


def unerring_judges(
    cells: Comparisons, model: Model, parameters: Parameters, evaluation: Evaluation | None = None
) -> tuple[int, ...]:
    """Judges in play that never disagree with the order of the scores.

    The likelihood rises in such a judge's discrimination without end, so no finite point is a maximum. Where a
    judge may lean towards a position, that is a judge who prefers the first model exactly if it is better by more
    than some margin, or who never prefers one of the positions. Where ties are an outcome, it is one whose ties
    lie between its preferences, or who does nothing but tie.
    """
    if not model.judge_blocks:
        return ()
    if model.has(Role.STRONG) or (model.has(Role.TIE) and cells.stages is not None):
        return ordered_judges(cells, model, parameters, evaluation)
    if model.has(Role.TIE):
        return _separated_with_ties(cells, model, parameters)
    if model.has(Role.OFFSET):
        return _separated_by_a_margin(cells, parameters, not model.weighs_judges)
    slack = EQUAL * np.ptp(parameters.scores)
    errs, decides = np.zeros((2, len(cells.judges)), bool)
    won, lost = cells.won, cells.lost
    for start in range(0, len(cells), CHUNK):
        rows = slice(start, start + CHUNK)
        d = parameters.scores.take(cells.first[rows]) - parameters.scores.take(cells.second[rows])
        has_gap = np.abs(d) > slack  # between equal scores there is nothing to agree with
        against = np.where(d > 0, lost[rows] > 0, won[rows] > 0) & has_gap
        errs[cells.judge[rows][against]] = True
        decides[cells.judge[rows][has_gap]] = True
        if errs.all():
            break
    return tuple(np.flatnonzero(parameters.in_play & decides & ~errs).tolist())


def _separated_by_a_margin(cells: Comparisons, parameters: Parameters, alike: bool) -> tuple[int, ...]:
    """Judges whose least difference with a vote for the first model is no less than their largest against it.

    Where judges are `alike` in discrimination, those who only ever vote for one position.
    """
    least, largest = np.full(len(cells.judges), np.inf), np.full(len(cells.judges), -np.inf)
    slack, (first, second) = EQUAL * np.ptp(parameters.scores), (cells.won, cells.lost)
    for start in range(0, len(cells), CHUNK):
        rows = slice(start, start + CHUNK)
        d = parameters.scores.take(cells.first[rows]) - parameters.scores.take(cells.second[rows])
        if cells.apart is not None:
            d /= cells.apart[rows]
        won, lost = first[rows] > 0, second[rows] > 0
        np.minimum.at(least, cells.judge[rows][won], d[won])
        np.maximum.at(largest, cells.judge[rows][lost], d[lost])
    one_sided = np.isinf(least) | np.isinf(largest)
    if alike:  # what scores and positions do together is for `engine.existence` to say
        return tuple(np.flatnonzero(one_sided).tolist())
    return tuple(np.flatnonzero(one_sided | (parameters.in_play & (least >= largest - slack))).tolist())


def _separated_with_ties(cells: Comparisons, model: Model, parameters: Parameters) -> tuple[int, ...]:
    """Judges whose answers, in the order second, tie, first, never fall as the difference grows."""
    d = parameters.scores.take(cells.first) - parameters.scores.take(cells.second)
    slack = EQUAL * np.ptp(parameters.scores)
    tied = cells.known_ties
    shares = np.array([1 - cells.outcome - tied / 2, tied, cells.outcome - tied / 2])
    if not model.has(Role.OFFSET):  # either way round is alike: against the order, tie, with it
        shares = np.where(d < 0, shares[::-1], shares)
        shares[0] = np.where(np.abs(d) <= slack, 0.0, shares[0])
        d = np.abs(d)
    is_given = shares > EQUAL
    size = len(cells.judges)
    least, largest = np.full((3, size), np.inf), np.full((3, size), -np.inf)
    for answer, rows in enumerate(is_given):
        np.minimum.at(least[answer], cells.judge[rows], d[rows])
        np.maximum.at(largest[answer], cells.judge[rows], d[rows])
    never = np.isinf(least)
    in_order = (least[1] >= largest[0] - slack) & (least[2] >= np.maximum(largest[0], largest[1]) - slack)
    if model.has(Role.OFFSET):
        one_sided = never[0] | never[2]
    else:
        decides = np.bincount(cells.judge, cells.count * (1 - tied), size) > EQUAL
        one_sided, in_order = ~decides, in_order & never[0]
    moving = parameters.in_play & model.weighs_judges
    return tuple(np.flatnonzero(one_sided | (moving & in_order)).tolist())


def require_tolerance(tolerance: float) -> None:
    """Refuse a tolerance at which every point would count as a maximum, or none could.

    Raises
    ------
    ConfigError
    """
    if not 0 < tolerance <= LARGEST_TOLERANCE:
        raise ConfigError(f"tolerance must be positive and at most {LARGEST_TOLERANCE}, not {tolerance!r}")


def require_positive(settings: object, *names: str) -> None:
    """Refuse settings that would leave a solver nothing to do."""
    for name in names:
        value = getattr(settings, name)
        if not 0 < value < np.inf:
            raise ConfigError(f"{name} must be positive and finite, not {value!r}")


# Judges whose graded answers, or choices with ties, their thresholds explain without exception, given the scores.
#
# Their likelihood rises without end as discrimination, position and thresholds grow together.

# Choices of rankings with ties as linear forms: how far the set that was chosen is ahead of each other set.
#
# In the likelihood a set's exponent is the mean over its answers plus the threshold of its size
# (`judgerank.model.tied_law`).


def chosen_against_others(
    cells: Comparisons,
    model: Model,
    lead: csr_array,
    tau: Mapping[float, csr_array],
    used: Mapping[float, BoolArray],
) -> tuple[csr_array, IntArray]:
    """Forms in some variables, and the judge of each.

    Parameters
    ----------
    cells : Comparisons
        Rankings with ties as an outcome.
    model : Model
    lead : sparse float array, shape (T, D)
        What every row's predictor is in the variables.
    tau : mapping of float to sparse float array, shape (T, D)
        What the threshold of each size of ties is, by `Role.size`.
    used : mapping of float to bool array, shape (T,)
        Whether the row's judge uses such ties at all.

    Returns
    -------
    forms : sparse float array, shape (forms, D)
    judge : int array, shape (forms,)
    """
    assert cells.stages is not None
    a, is_decided = cells.stages.alternatives, is_choice(cells)[cells.stages.first_rows]
    share = np.where(a.reference, cells.won[a.row], cells.lost[a.row])
    n_tied = chosen(cells)[cells.stages.first_rows]
    lead_of_chosen = csr_array(lead[a.row].multiply(np.where(a.reference, 0.0, -1.0)[:, None]))
    forms, judges = [csr_array((0, lead.shape[1]))], [np.zeros(0, np.intp)]
    for m, which, positions, rows in a.by_size:
        decided_now = is_decided[which]
        if not decided_now.any():
            continue
        answers, first = positions[decided_now], rows[decided_now, 0]
        sets = sets_of(m, (1, *model.tie_sizes))
        exponent = csr_array(kron(eye_array(len(first)), sets.share)) @ lead_of_chosen[answers.ravel()]
        is_allowed = np.ones((len(first), len(sets.size)), bool)
        for size in model.tie_sizes:
            level, of_size = Role.of_tie(size).size, (sets.size == size).astype(float)
            exponent = exponent + csr_array(kron(tau[level][first], csr_array(of_size[:, None])))
            is_allowed &= (of_size == 0) | used[level][first][:, None]
        bits = (share[answers] > TIE_ROUNDING) * (1 << np.arange(m, dtype=np.int64))
        # of a weight between two answers, either of them alone
        one_by_one = n_tied[which[decided_now]] == 1
        stage, set_index = np.nonzero(np.where(one_by_one[:, None], bits, 0))
        code = np.concatenate([bits[stage, set_index], bits[~one_by_one].sum(axis=1)])
        stage = np.concatenate([stage, np.flatnonzero(~one_by_one)])
        chosen_set: IntArray = np.asarray(np.searchsorted(sets.code, code), np.intp)
        choice, alternative = np.nonzero(is_allowed[stage] & (np.arange(len(sets.size)) != chosen_set[:, None]))
        start, exponent = stage[choice] * len(sets.size), csr_array(exponent)
        forms.append(csr_array(exponent[start + chosen_set[choice]] - exponent[start + alternative]))
        judges.append(cells.judge[first][stage[choice]])
    return csr_array(vstack(forms)), np.concatenate(judges)


CERTAIN = 0.5  # change of log-odds that is surely below one; the rest is for rounding
LEVEL_ROUNDING = 1e-13  # relative error of sums over comparisons


def ordered_judges(
    cells: Comparisons, model: Model, parameters: Parameters, evaluation: Evaluation | None = None
) -> tuple[int, ...]:
    """Places of those judges.

    With the discrimination a number times which the differences of scores enter, positions and thresholds, every
    level that was given must be at least as likely as every other one that the judge uses.

    Parameters
    ----------
    here : Evaluation, optional
        With the information there, if it is known: at a maximum it rules out most judges without a program.
    """
    if cells.stages is not None:
        return _ordered_choices(cells, model, parameters)
    d = parameters.scores.take(cells.first) - parameters.scores.take(cells.second)
    d = np.where(np.abs(d) <= EQUAL * np.ptp(parameters.scores), 0.0, d) / max(
        np.abs(d).max(), np.finfo(float).tiny
    )
    of, used = shares(cells, model), users(cells, model)
    ordered, ruled_out = [], _ruled_out(cells, model, parameters, evaluation)
    for k in np.flatnonzero(~ruled_out).tolist():
        rows = np.flatnonzero(cells.judge == k)
        moves = model.weighs_judges and bool(parameters.in_play[k])
        forms = _forms(d[rows], {level: share[rows] for level, share in of.items()}, used, model, k, moves)
        if _rises(forms):
            ordered.append(k)
    return tuple(ordered)


def _ruled_out(
    cells: Comparisons, model: Model, parameters: Parameters, evaluation: Evaluation | None
) -> BoolArray:
    """Judges of whom the derivatives prove that they are none of those, shape (K,).

    As in `existence.near_maximum`, of one judge's parameters alone: if a step of Fisher scoring in these changes
    no log-odds of two levels by one, no direction of theirs has a form that rises and none that falls.
    """
    k, gap = len(cells.judges), np.diff(np.sort(parameters.scores)).min(initial=np.inf)
    if evaluation is None or not evaluation.judge_information.size or model.further or model.weights_vary:
        return np.zeros(k, bool)
    if not model.weighs_judges or gap <= EQUAL * np.ptp(parameters.scores):  # equal scores count as exactly equal
        return np.zeros(k, bool)
    free = model.free_rows
    values, vectors = np.linalg.eigh(evaluation.judge_information[:, free, free])
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.einsum("kij,ik->kj", vectors, evaluation.judge_gradient[free]) / values
        step = np.abs(np.einsum("kij,kj->ki", vectors, along))
    steepest = np.maximum(1.0, np.exp(parameters.judges[0]) * np.ptp(parameters.scores))
    terms = np.bincount(cells.judge, cells.count, k) * steepest
    # far out a gradient may be nothing but rounding
    is_determined = values[:, 0] > np.maximum(SINGULAR * values[:, -1], LEVEL_ROUNDING * terms)
    is_determined &= movable(model, parameters).all(axis=0) & np.all([*users(cells, model).values()], axis=0)
    return is_determined & (2 * max(thresholds(model)) * step.sum(axis=1) * steepest <= CERTAIN)


def _ordered_choices(cells: Comparisons, model: Model, parameters: Parameters) -> tuple[int, ...]:
    """The same of rankings with ties: no set of answers is more likely than the one that was chosen."""
    unit = max(EQUAL * np.ptp(parameters.scores), np.finfo(float).tiny)
    scores = np.round(parameters.scores / unit) * unit  # those that count as equal are
    d = scores.take(cells.first) - scores.take(cells.second)
    moves = parameters.in_play[cells.judge] & model.weighs_judges
    rank_gap = np.ones(len(cells)) if cells.apart is None else cells.apart
    lead = [d / max(np.abs(d).max(), np.finfo(float).tiny) * moves, rank_gap * model.has(Role.OFFSET)]
    sizes = [*thresholds(model)]
    none, ones = np.zeros(len(cells)), np.ones(len(cells))

    def columns(*columns_of_values: FloatArray) -> csr_array:
        return csr_array(
            np.stack([*columns_of_values, *[none] * (2 + len(sizes) - len(columns_of_values))], axis=1)
        )

    tau = {size: columns(*[none] * (2 + index), ones) for index, size in enumerate(sizes)}
    used = {size: is_used[cells.judge] for size, is_used in users(cells, model).items()}
    forms, judge = chosen_against_others(cells, model, columns(*lead), tau, used)
    return tuple(k for k in range(len(cells.judges)) if _rises(forms[judge == k].toarray()))


def _forms(
    d: FloatArray,
    of: dict[float, FloatArray],
    used: dict[float, BoolArray],
    model: Model,
    k: int,
    moves: bool,
) -> FloatArray:
    """Given levels against others, with a column for discrimination, position and each threshold."""
    sizes = [*thresholds(model)]
    lead = np.stack([d * moves, np.full(len(d), float(model.has(Role.OFFSET)))], axis=1)
    forms = []
    for level, alternative in contests(of):
        rows = of[level] > GIVEN
        if used[abs(alternative)][k] and rows.any():
            size_terms = [(abs(level) == size) - float(abs(alternative) == size) for size in sizes]
            forms.append(
                np.hstack([(level - alternative) * lead[rows], np.tile(size_terms, (int(rows.sum()), 1))])
            )
    return np.concatenate(forms) if forms else np.zeros((0, 2 + len(sizes)))


def _rises(forms: FloatArray) -> bool:
    """Whether some direction with a discrimination that does not fall lowers no form and raises some."""
    bounds = [(0.0, 1.0), *[(-1.0, 1.0)] * (forms.shape[1] - 1)]
    return direction_raising(np.unique(forms, axis=0), bounds) is not None
