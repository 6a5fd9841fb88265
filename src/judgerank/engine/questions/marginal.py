"""The marginal likelihood of all questions, with its exact gradient and, by differences of that, its curvature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.engine.penalty import penalty, pulled
from judgerank.engine.questions import laplace, quadrature
from judgerank.engine.questions.curvature import by_rule, of_modes
from judgerank.engine.questions.groups import Group, Parts, at_rows
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
    parts : sequence of Parts
        What each group says.
    """

    value: float
    scores: FloatArray
    judges: FloatArray
    common: FloatArray
    log_sigma: float
    parts: Sequence[Parts] = ()


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
    _modes: dict[int, FloatArray] = field(default_factory=dict)
    _last: list[tuple[Parameters, float, Slopes]] = field(default_factory=list)

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
        groups, steps, modes = list[Group](), list[float](), dict[int, FloatArray]()
        for position, (group, step) in enumerate(zip(self.groups, self.steps, strict=True)):
            chosen = choose(group)
            if not chosen.any():
                continue
            if position in self._modes:
                modes[len(groups)] = self._modes[position][chosen]
            groups.append(group if chosen.all() else group.only(chosen))
            steps.append(step)
        return Marginal(tuple(groups), self.model, tuple(steps), _modes=modes)

    def values(self, parameters: Parameters, sigma: float, size: int) -> FloatArray:
        """Log marginal likelihood of each question, shape (Q,), by its number."""
        total = np.zeros(size)
        for group, step in zip(self.groups, self.steps, strict=True):
            point = at_rows(group, self.model, parameters, sigma)
            parts = quadrature.look(group, point, step) if group.exact else laplace.look(group, point)[0]
            total += np.bincount(group.number, parts.value, size)
        return total

    def slopes(self, parameters: Parameters, sigma: float) -> Slopes:
        """Value and derivatives at a point; those of the last point asked for are known."""
        if not (self._last and self._last[0][0] is parameters and self._last[0][1] == sigma):
            self._last[:] = [(parameters, sigma, self._slopes(parameters, sigma))]
        return self._last[0][2]

    def _slopes(self, parameters: Parameters, sigma: float) -> Slopes:
        """Every mode is sought from the last one found, which is near."""
        n, k, value, by_log_sigma, every = (
            len(parameters.scores),
            parameters.judges.shape[1],
            0.0,
            0.0,
            list[Parts](),
        )
        scores, judges, common = np.zeros(n), np.zeros(parameters.judges.shape), np.zeros(len(parameters.common))
        gamma = self.model.of_judges(parameters).gamma
        for position, (group, step) in enumerate(zip(self.groups, self.steps, strict=True)):
            point = at_rows(group, self.model, parameters, sigma)
            if group.exact:
                parts = quadrature.look(group, point, step)
            else:
                parts, self._modes[position] = laplace.look(group, point, self._modes.get(position))
            every.append(parts)
            value += float(parts.value.sum() if group.alike is None else parts.value @ group.alike)
            by_log_sigma += parts.by_log_sigma
            signed = parts.by_eta * point.gamma
            scores += np.bincount(group.first, signed, n) - np.bincount(group.second, signed, n)
            by_role = {
                Role.WEIGHT: parts.by_gamma * point.shape,
                Role.OFFSET: parts.by_eta,
                Role.TIE: parts.by_log_nu,
            }
            strengths = Role.strengths(len(parts.by_log_strong))
            by_role |= dict(zip(strengths, parts.by_log_strong, strict=True))
            for total, block in zip(judges, self.model.blocks, strict=True):
                total += np.bincount(group.judge, by_role[block.role], k)
            if group.columns is not None:
                by_role |= {Role.QUALITY: signed, Role.WEIGHT: parts.by_gamma * point.gamma}
                for role, by_row in by_role.items():
                    common += np.where(np.equal(self.model.roles, role), group.columns.T @ by_row, 0.0)
        if self.spread:
            lost, pull = pulled(self.model, parameters, self.spread)
            value -= 0.5 * lost
            scores, common = scores - pull[:n], common - pull[n + judges.size :]
            of_judges = pull[n : n + judges.size].reshape(judges.shape)
            if self.model.has(Role.WEIGHT):  # in gamma
                of_judges[0] = np.divide(of_judges[0], gamma, out=np.zeros(k), where=gamma > 0)
            judges -= of_judges
        return Slopes(value, scores, judges, common, by_log_sigma, every)

    def gradient(
        self, parameters: Parameters, sigma: float, free: BoolArray, free_common: BoolArray
    ) -> FloatArray:
        """Derivatives in (s, judges' and further blocks' free parameters, log sigma), shape (D + 1,)."""
        point = self.slopes(parameters, sigma)
        judges = point.judges.copy()
        if len(judges):
            judges[0] *= np.exp(parameters.judges[0])
        return np.r_[point.scores, judges[free], point.common[free_common], point.log_sigma]

    def curvature(self, parameters: Parameters, sigma: float, slopes: Slopes) -> FloatArray:
        """Second derivatives in (s, judges' and further blocks' parameters, log sigma), shape (D + 1, D + 1).

        Discriminations are parameters in themselves. Of Laplace's approximation it is that of the modes' heights.
        """
        total = np.zeros((len(parameters.scores) + parameters.judges.size + len(parameters.common) + 1,) * 2)
        for position, (group, step) in enumerate(zip(self.groups, self.steps, strict=True)):
            point = at_rows(group, self.model, parameters, sigma)
            if group.exact:
                total += by_rule(group, self.model, parameters, point, step, slopes.parts[position])
            else:
                total += of_modes(
                    group, self.model, parameters, point, laplace.Mode(group, point, self._modes.get(position))
                )
        if self.spread:
            pull = pulled(self.model, parameters, self.spread)[1]
            lost = penalty(self.model, parameters, self.spread, observed=True)
            total[:-1, :-1] -= self._by_gamma(lost, pull, parameters, -1)
        return total

    def _by_gamma(self, second: FloatArray, first: FloatArray, parameters: Parameters, power: int) -> FloatArray:
        """Second derivatives in log-discriminations from those in discriminations (power 1), or back (-1)."""
        if not self.model.has(Role.WEIGHT):
            return second
        unit, gamma_rows = np.ones(len(second)), len(parameters.scores) + np.arange(parameters.judges.shape[1])
        gamma = self.model.of_judges(parameters).gamma
        unit[gamma_rows] = gamma if power > 0 else np.divide(1.0, gamma, out=np.zeros(len(gamma)), where=gamma > 0)
        second = second * unit * unit[:, None]
        second[gamma_rows, gamma_rows] += power * first[gamma_rows] * unit[gamma_rows] ** (1 if power > 0 else 2)
        return second

    def hessian(self, parameters: Parameters, sigma: float, free: BoolArray, free_common: BoolArray) -> FloatArray:
        """Second derivatives in the same as `gradient`, shape (D + 1, D + 1).

        They are exact where rules integrate. Those of Laplace's approximation are central differences of the
        gradient; each parameter is moved for the questions that have its model or its judge alone.
        """
        is_exact = not self.spread and all(group.exact for group in self.groups)
        rules = self if is_exact else self.only(lambda group: np.full(len(group), group.exact))
        chosen = np.r_[np.ones(len(parameters.scores), bool), free.ravel(), free_common, True]
        slopes = rules.slopes(parameters, sigma)
        first = np.r_[slopes.scores, slopes.judges.ravel(), slopes.common, slopes.log_sigma]
        total = self._by_gamma(rules.curvature(parameters, sigma, slopes), first, parameters, 1)[
            np.ix_(chosen, chosen)
        ]
        if len(rules.groups) < len(self.groups):
            modes = self.only(lambda group: np.full(len(group), not group.exact))
            total += modes.differences(parameters, sigma, free, free_common)
        if self.spread:
            lost = penalty(self.model, parameters, self.spread, observed=True)
            total[:-1, :-1] -= lost[np.ix_(chosen[:-1], chosen[:-1])]
        return np.asarray((total + total.T) / 2)

    def differences(
        self, parameters: Parameters, sigma: float, free: BoolArray, free_common: BoolArray
    ) -> FloatArray:
        """Second derivatives by central differences of the gradient, without the penalty's."""
        n, of_judges = len(parameters.scores), int(free.sum())
        kinds = [("model", position) for position in range(n)]
        kinds += [("judge", int(judge)) for judge in np.nonzero(free)[1]]
        kinds += [("all", 0)] * (int(free_common.sum()) + 1)
        parts: dict[tuple[str, int], Marginal] = {("all", 0): replace(self, spread={}, _last=[])}
        columns = []
        for position, key in enumerate(kinds):
            if key not in parts:
                parts[key] = self.only(partial(_asks, *key))
            ends = []
            for step in (STEP, -STEP):
                move = step * (np.arange(len(kinds)) == position)
                judges, common = parameters.judges.copy(), parameters.common.copy()
                judges[free] += move[n : n + of_judges]
                common[free_common] += move[n + of_judges : -1]
                shifted = Parameters(parameters.scores + move[:n], judges, common)
                ends.append(parts[key].gradient(shifted, sigma * float(np.exp(move[-1])), free, free_common))
            columns.append((ends[0] - ends[1]) / (2 * STEP))
        return np.array(columns)


def _asks(kind: str, position: int, group: Group) -> BoolArray:
    """Which questions have a model or a judge, shape (Q,)."""
    rows = group.judge == position if kind == "judge" else (group.first == position) | (group.second == position)
    return np.bincount(group.question, rows, len(group)) > 0
