"""The marginal likelihood of all questions, with its exact gradient and, by differences of that, its curvature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.engine.penalty import penalty, pulled
from judgerank.engine.questions import laplace, quadrature
from judgerank.engine.questions.groups import Group
from judgerank.engine.questions.point import at_rows
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

STEP = 1e-4  # of a parameter, for second derivatives


@dataclass(frozen=True)
class Slopes:
    """The log marginal likelihood at a point, and its derivatives.

    Attributes
    ----------
    value : float
    scores : float array, shape (N,)
    judges : float array, shape (B, K)
        Of discriminations the derivatives in gamma.
    common : float array, shape (P,)
    log_sigma : float
    """

    value: float
    scores: FloatArray
    judges: FloatArray
    common: FloatArray
    log_sigma: float


@dataclass(frozen=True, eq=False)
class Marginal:
    """Log marginal likelihood of scores, judges' parameters, further blocks and log sigma, with its penalty.

    Attributes
    ----------
    groups : tuple of Group
    model : Model
    steps : tuple of float
        Between nodes, of groups that are integrated out by a rule.
    spread : mapping of str to float
        Standard deviations of what is shrunk.
    """

    groups: tuple[Group, ...]
    model: Model
    steps: tuple[float, ...]
    spread: Mapping[str, float] = field(default_factory=dict)
    _modes: dict[int, FloatArray] = field(init=False, default_factory=dict)

    @classmethod
    def fine(
        cls,
        groups: Sequence[Group],
        model: Model,
        gamma: FloatArray,
        sigma: float,
        digits: float,
        spread: Mapping[str, float] | None = None,
    ) -> Marginal:
        """With rules that hold each question's error near exp(-digits) at such gamma, shape (K,), and sigma."""
        parts, steps = [], []
        for group in groups:
            wanted = quadrature.wanted(group, gamma, sigma, digits) if group.exact else np.zeros(len(group))
            for step in np.unique(wanted):
                parts.append(group.only(wanted == step))
                steps.append(float(step))
        return cls(tuple(parts), model, tuple(steps), dict(spread or {}))

    def only(self, choose: Callable[[Group], BoolArray]) -> Marginal:
        """The same for chosen questions of each group, without the penalty."""
        chosen = [(group.only(choose(group)), step) for group, step in zip(self.groups, self.steps, strict=True)]
        kept = [(group, step) for group, step in chosen if len(group)]
        return Marginal(tuple(group for group, _ in kept), self.model, tuple(step for _, step in kept))

    def values(self, at: Parameters, sigma: float, size: int) -> FloatArray:
        """Log marginal likelihood of each question, shape (Q,), by its number."""
        total = np.zeros(size)
        for group, step in zip(self.groups, self.steps, strict=True):
            here = at_rows(group, self.model, at, sigma)
            parts = quadrature.look(group, here, step) if group.exact else laplace.look(group, here)[0]
            total += np.bincount(group.number, parts.value, size)
        return total

    def at(self, at: Parameters, sigma: float) -> Slopes:
        """Value and derivatives at a point; every mode is sought from the last one found, which is near."""
        n, k, value, by_log_sigma = len(at.scores), at.judges.shape[1], 0.0, 0.0
        scores, judges, common = np.zeros(n), np.zeros(at.judges.shape), np.zeros(len(at.common))
        gamma = self.model.of_judges(at).gamma
        for place, (group, step) in enumerate(zip(self.groups, self.steps, strict=True)):
            here = at_rows(group, self.model, at, sigma)
            if group.exact:
                parts = quadrature.look(group, here, step)
            else:
                parts, self._modes[place] = laplace.look(group, here, self._modes.get(place))
            value += float(parts.value.sum())
            by_log_sigma += parts.by_log_sigma
            signed = parts.by_eta * here.gamma
            scores += np.bincount(group.first, signed, n) - np.bincount(group.second, signed, n)
            by_role = {
                Role.WEIGHT: parts.by_gamma * here.shape,
                Role.OFFSET: parts.by_eta,
                Role.TIE: parts.by_log_nu,
            }
            by_role |= {Role(Role.STRONG + place): own for place, own in enumerate(parts.by_log_strong)}
            for total, block in zip(judges, self.model.blocks, strict=True):
                total += np.bincount(group.judge, by_role[block.role], k)
            if group.columns is not None:
                by_role |= {Role.QUALITY: signed, Role.WEIGHT: parts.by_gamma * here.gamma}
                for role, by_row in by_role.items():
                    common += np.where(np.equal(self.model.roles, role), group.columns.T @ by_row, 0.0)
        if self.spread:
            lost, pull = pulled(self.model, at, self.spread)
            value -= 0.5 * lost
            scores, common = scores - pull[:n], common - pull[n + judges.size :]
            of_judges = pull[n : n + judges.size].reshape(judges.shape)
            if self.model.has(Role.WEIGHT):  # in gamma
                of_judges[0] = np.divide(of_judges[0], gamma, out=np.zeros(k), where=gamma > 0)
            judges -= of_judges
        return Slopes(value, scores, judges, common, by_log_sigma)

    def gradient(self, at: Parameters, sigma: float, free: BoolArray, free_common: BoolArray) -> FloatArray:
        """Derivatives in (s, judges' and further blocks' free parameters, log sigma), shape (D + 1,)."""
        here = self.at(at, sigma)
        judges = here.judges.copy()
        if len(judges):
            judges[0] *= np.exp(at.judges[0])
        return np.r_[here.scores, judges[free], here.common[free_common], here.log_sigma]

    def hessian(self, at: Parameters, sigma: float, free: BoolArray, free_common: BoolArray) -> FloatArray:
        """Second derivatives in the same by central differences of the gradient, shape (D + 1, D + 1).

        Each parameter is moved for the questions that have its model or its judge alone; the penalty's are exact.
        """
        n, of_judges = len(at.scores), int(free.sum())
        kinds = [("model", place) for place in range(n)]
        kinds += [("judge", int(judge)) for judge in np.nonzero(free)[1]]
        kinds += [("all", 0)] * (int(free_common.sum()) + 1)
        parts: dict[tuple[str, int], Marginal] = {("all", 0): replace(self, spread={})}
        columns = []
        for place, key in enumerate(kinds):
            if key not in parts:
                parts[key] = self.only(partial(_asks, *key))
            ends = []
            for step in (STEP, -STEP):
                move = step * (np.arange(len(kinds)) == place)
                judges, common = at.judges.copy(), at.common.copy()
                judges[free] += move[n : n + of_judges]
                common[free_common] += move[n + of_judges : -1]
                there = Parameters(at.scores + move[:n], judges, common)
                ends.append(parts[key].gradient(there, sigma * float(np.exp(move[-1])), free, free_common))
            columns.append((ends[0] - ends[1]) / (2 * STEP))
        whole = np.array(columns)
        chosen = np.r_[np.ones(n, bool), free.ravel(), free_common]
        if self.spread:
            whole[:-1, :-1] -= penalty(self.model, at, self.spread, observed=True)[np.ix_(chosen, chosen)]
        return np.asarray((whole + whole.T) / 2)


def _asks(kind: str, place: int, group: Group) -> BoolArray:
    """Which questions have a model or a judge, shape (Q,)."""
    rows = group.judge == place if kind == "judge" else (group.first == place) | (group.second == place)
    return np.bincount(group.question, rows, len(group)) > 0
