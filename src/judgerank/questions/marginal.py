"""The marginal likelihood of all questions, with its exact gradient and, by differences of that, its curvature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.model.members import Model, Parameters
from judgerank.questions import laplace, quadrature
from judgerank.questions.groups import Group
from judgerank.questions.parts import at_rows

STEP = 1e-4  # of a parameter, for second derivatives


@dataclass(frozen=True)
class Slopes:
    """The log marginal likelihood at a point, and its derivatives.

    Attributes
    ----------
    value : float
    scores : float array, shape (N,)
    gamma, position, log_tie : float array, shape (K,)
    log_sigma : float
    """

    value: float
    scores: FloatArray
    gamma: FloatArray
    position: FloatArray
    log_tie: FloatArray
    log_sigma: float


@dataclass(frozen=True, eq=False)
class Marginal:
    """Log marginal likelihood of scores, judges' parameters and log sigma.

    Attributes
    ----------
    groups : tuple of Group
    model : Model
    steps : tuple of float
        Between nodes, of groups that are integrated out by a rule.
    """

    groups: tuple[Group, ...]
    model: Model
    steps: tuple[float, ...]
    _modes: dict[int, FloatArray] = field(init=False, default_factory=dict)

    @classmethod
    def fine(
        cls, groups: Sequence[Group], model: Model, gamma: FloatArray, sigma: float, digits: float
    ) -> Marginal:
        """With rules that hold each question's error near exp(-digits) at such gamma, shape (K,), and sigma."""
        parts, steps = [], []
        for group in groups:
            wanted = quadrature.wanted(group, gamma, sigma, digits) if group.exact else np.zeros(len(group))
            for step in np.unique(wanted):
                parts.append(group.only(wanted == step))
                steps.append(float(step))
        return cls(tuple(parts), model, tuple(steps))

    def only(self, choose: Callable[[Group], BoolArray]) -> Marginal:
        """The same for chosen questions of each group."""
        chosen = [(group.only(choose(group)), step) for group, step in zip(self.groups, self.steps, strict=True)]
        kept = [(group, step) for group, step in chosen if len(group)]
        return Marginal(tuple(group for group, _ in kept), self.model, tuple(step for _, step in kept))

    def values(self, at: Parameters, sigma: float, size: int) -> FloatArray:
        """Log marginal likelihood of each question, shape (Q,), by its number."""
        total, judges = np.zeros(size), judges_of(self.model, at)
        for group, step in zip(self.groups, self.steps, strict=True):
            here = at_rows(group, at.scores, judges, sigma)
            parts = quadrature.look(group, here, step) if group.exact else laplace.look(group, here)[0]
            total += np.bincount(group.number, parts.value, size)
        return total

    def at(self, at: Parameters, sigma: float) -> Slopes:
        """Value and derivatives at a point; every mode is sought from the last one found, which is near."""
        judges = judges_of(self.model, at)
        n, k, value, by_log_sigma = len(at.scores), len(judges[0]), 0.0, 0.0
        scores, rows = np.zeros(n), np.zeros((3, k))
        for place, (group, step) in enumerate(zip(self.groups, self.steps, strict=True)):
            here = at_rows(group, at.scores, judges, sigma)
            if group.exact:
                parts = quadrature.look(group, here, step)
            else:
                parts, self._modes[place] = laplace.look(group, here, self._modes.get(place))
            value += float(parts.value.sum())
            by_log_sigma += parts.by_log_sigma
            signed = parts.by_eta * here.gamma
            scores += np.bincount(group.first, signed, n) - np.bincount(group.second, signed, n)
            for total, by_row in zip(rows, (parts.by_gamma, parts.by_eta, parts.by_log_nu), strict=True):
                total += np.bincount(group.judge, by_row, k)
        return Slopes(value, scores, rows[0], rows[1], rows[2], by_log_sigma)

    def gradient(self, at: Parameters, sigma: float, free: BoolArray) -> FloatArray:
        """Derivatives in (s, judges' free parameters, log sigma), shape (D + 1,)."""
        here = self.at(at, sigma)
        of = {"position": here.position, "log_tie": here.log_tie}
        if self.model.judge_blocks:
            of["log_discrimination"] = here.gamma * np.exp(at.judges[0])
        judges = np.array([of[block] for block in self.model.judge_blocks]).reshape(free.shape)
        return np.r_[here.scores, judges[free], here.log_sigma]

    def hessian(self, at: Parameters, sigma: float, free: BoolArray) -> FloatArray:
        """Second derivatives in the same by central differences of the gradient, shape (D + 1, D + 1).

        Each parameter is moved for the questions that have its model or its judge alone.
        """
        n = len(at.scores)
        kinds = [("model", place) for place in range(n)]
        kinds += [("judge", int(judge)) for judge in np.nonzero(free)[1]]
        parts: dict[tuple[str, int], Marginal] = {("all", 0): self}
        columns = []
        for place, key in enumerate([*kinds, ("all", 0)]):
            if key not in parts:
                parts[key] = self.only(partial(_asks, *key))
            ends = []
            for step in (STEP, -STEP):
                move = step * (np.arange(n + free.sum() + 1) == place)
                judges = at.judges.copy()
                judges[free] += move[n:-1]
                there = Parameters(at.scores + move[:n], judges)
                ends.append(parts[key].gradient(there, sigma * float(np.exp(move[-1])), free))
            columns.append((ends[0] - ends[1]) / (2 * STEP))
        whole = np.array(columns)
        return np.asarray((whole + whole.T) / 2)


def judges_of(model: Model, at: Parameters) -> tuple[FloatArray, FloatArray, FloatArray]:
    """gamma, b and nu by judge, each of shape (K,): one, zero and zero where the member does not have them."""
    nothing = np.zeros(at.judges.shape[1])
    gamma = np.exp(at.judges[0]) if len(at.judges) else nothing + 1.0
    position = at.judges[model.row("position")] if model.has_position else nothing
    return gamma, position, np.exp(at.judges[model.row("log_tie")]) if model.has_ties else nothing


def _asks(kind: str, place: int, group: Group) -> BoolArray:
    """Which questions have a model or a judge, shape (Q,)."""
    rows = group.judge == place if kind == "judge" else (group.first == place) | (group.second == place)
    return np.bincount(group.question, rows, len(group)) > 0
