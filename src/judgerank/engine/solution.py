"""Result of a solver, and the ways it can end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
import pandas as pd

from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted
from judgerank.engine.levels import EQUAL
from judgerank.engine.likelihood import CHUNK, Evaluation
from judgerank.engine.ordered_levels import ordered_judges
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

LARGEST_LOG_ODDS = 2e2  # of a typical pair under one judge; beyond it that judge's gamma counts as unbounded
ROUNDING = 1e-13  # relative error of a log-likelihood summed in double precision
LARGEST_TOLERANCE = 1e-5  # relative gradient beyond which no point may be called a maximum


class Status(StrEnum):
    """How a fit ended.

    The likelihood is not concave in scores and discriminations together: a maximum is the one reached from the
    solver's starts, on the boundary or not.
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
