"""Fits of small random designs: several maxima or none, few judgments, and the same judgments told otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DisconnectedError, NoIntervalError, NoMaximumError, NotIdentifiedError
from judgerank.engine import search
from judgerank.engine.boundary import guess
from judgerank.engine.newton import Newton
from judgerank.fits.fit import fit
from judgerank.model.members import MODELS, Model, Parameters
from replication.replicate import Record

# Small random designs on which likelihoods have several maxima, or none, and fits that are checked on them.
HIGHER = 1e-6  # relative difference of log-likelihoods that is more than rounding


def drawn(settings: dict, rng: np.random.Generator) -> Comparisons:
    """Raw rows of a few models by a few judges of any quality, with some ties; a covariate where one is needed.

    Settings are ``member``, ``models``, ``judges`` and ``comparisons``, the last three the least and the most.
    """
    n, k, size = (
        int(rng.integers(low, high + 1)) for low, high in map(settings.get, ("models", "judges", "comparisons"))
    )
    i, judge = rng.integers(n, size=size), rng.permutation(np.arange(size) % k)
    j = (i + rng.integers(1, n, size=size)) % n
    s, gamma, b = rng.normal(size=n), rng.normal(0.6, 0.8, k), rng.normal(size=k)
    y = (rng.random(size) < 1 / (1 + np.exp(-gamma[judge] * (s[i] - s[j]) - b[judge]))).astype(float)
    y[rng.random(size) < 0.1] = 0.5
    names = (tuple(f"{kind}{x}" for x in range(n_of_kind)) for kind, n_of_kind in (("m", n), ("j", k)))
    covariate = rng.choice([-1.0, 1.0], size) if MODELS[settings["member"]].weights_vary else None
    return Comparisons(*names, i, j, judge, y, None, covariate)


def maximum_missed(settings: dict, rng: np.random.Generator) -> Record:
    """Whether any of many climbs from random ``starts`` ends higher than the maximum that was found.

    And, as ``one_climb``, whether that itself is higher than where the one climb from the unweighted scores ends.
    """
    try:
        fitted = fit(drawn(settings, rng), settings["member"])
    except (NoMaximumError, NotIdentifiedError) as error:
        return {"status": type(error).__name__, "bad": 0, "gap": 0.0}
    if not fitted.status.converged:
        return {"status": str(fitted.status), "bad": 0, "gap": 0.0}
    cells, model, height, gap = fitted.comparisons, fitted.model, fitted.log_likelihood, 0.0
    least = HIGHER * max(1.0, abs(height))
    first = guess(cells, model, search.unweighted_scores(cells, Newton()))
    single_climb = search.maximise(cells, model, Newton(), first).evaluation.log_likelihood
    for _ in range(settings["starts"]):
        judges = 1.5 * rng.normal(size=(len(model.judge_blocks), len(cells.judges)))
        start = Parameters(rng.normal(size=len(cells.models)), judges)
        climbed = search.maximise(cells, model, Newton(), start)
        if climbed.status.converged:
            gap = max(gap, climbed.evaluation.log_likelihood - height)
    record = {"status": str(fitted.status), "bad": int(gap > least), "gap": float(gap)}
    return record | {"one_climb": int(height - single_climb > least)}


def certificate_false(settings: dict, rng: np.random.Generator) -> Record:
    """Whether a fit is called interior where a linear program finds no maximum, or refused where it finds one.

    The program is written out here row by row, apart from the one that decides. Where discriminations are free it
    can only show that there is none.
    """
    rows, model = drawn(settings, rng), MODELS[settings["member"]]
    try:
        status = str(fit(rows, settings["member"]).status)
    except (DisconnectedError, NotIdentifiedError) as error:
        return {"status": type(error).__name__, "bad": 0}
    except NoMaximumError as error:
        status = type(error).__name__
    if status == "interior":
        return {"status": status, "bad": int(rises(rows, model))}
    concave = not model.weighs_judges
    return {"status": status, "bad": int(concave and not rises(rows, model))}


def rises(rows: Comparisons, model: Model) -> bool:
    """Whether the likelihood rises without end along some direction of scores, positions and tie propensities.

    Along a direction an outcome's weight grows by its form: half the model shown first over the second, position
    with it, less than none for the second, and the propensity of a tie. What was observed must never fall behind.
    """
    n, k = len(rows.models), len(rows.judges)
    ties = set(rows.judge[rows.outcome == 0.5].tolist()) if model.has_ties else set()
    gaps = []
    for i, j, judge, y in zip(rows.first, rows.second, rows.judge, rows.outcome, strict=True):
        half = np.zeros(n + 2 * k)
        half[[i, j]] = 0.5, -0.5
        half[n + judge] = 0.5 * model.has_position
        tie = np.zeros(n + 2 * k)
        tie[n + k + judge] = 1.0
        forms = {1.0: half, 0.0: -half} | ({0.5: tie} if judge in ties else {})
        observed = (y,) if y in forms else (1.0, 0.0)  # without propensities, a tie is half of either
        gaps += [
            forms[seen] - form
            for seen in observed
            for other_outcome, form in forms.items()
            if other_outcome != seen
        ]
    matrix = np.array(gaps)
    optimum = linprog(
        -matrix.sum(axis=0), A_ub=-matrix, b_ub=np.zeros(len(matrix)), bounds=(-1, 1), method="highs"
    )
    return -optimum.fun > 1e-6


# The same judgments told otherwise: counted more often, written twice, turned round, names in another order.
SHARE = 1e-2  # of a standard error: where a likelihood is flat, rounding moves its maximum


class Answer(NamedTuple):
    """How a fit ended: status or error, whom or what it names, log-likelihood a comparison, and scores by name.

    Standard errors of scores are infinite where there is no maximum, so that a climb stops anywhere.
    """

    status: str
    named: tuple[frozenset[str], ...]
    height: float
    scores: np.ndarray
    errors: np.ndarray


def differs_by_version(settings: dict, rng: np.random.Generator) -> Record:
    """Whether a fit ends otherwise for any telling of the same judgments, counts times ``factors`` among them."""
    rows = drawn(settings, rng)
    first = answer(rows, settings["member"])
    versions = tellings(rows.with_ties(), settings["factors"], rng)
    differing = [
        name for name, rows_of_version in versions if differ(first, answer(rows_of_version, settings["member"]))
    ]
    return {"status": first.status, "bad": int(len(differing) > 0), "told": ", ".join(differing)}


def tellings(
    rows: Comparisons, factors: list[float], rng: np.random.Generator
) -> Iterator[tuple[str, Comparisons]]:
    """The same judgments in other ways, each with its name."""
    for factor in factors:
        yield f"x{factor:g}", replace(rows, count=factor * rows.count)
    yield "twice", rows.take(np.tile(np.arange(len(rows)), 2))
    yield "turned", replace(rows, first=rows.second, second=rows.first, outcome=1 - rows.outcome)
    models, judges = rng.permutation(len(rows.models)), rng.permutation(len(rows.judges))
    label_columns = {"first": models[rows.first], "second": models[rows.second], "judge": judges[rows.judge]}
    names = {
        kind: tuple(np.array(labels)[np.argsort(order)].tolist())
        for kind, labels, order in (("models", rows.models, models), ("judges", rows.judges, judges))
    }
    yield "renamed", replace(rows, **label_columns, **names).take(rng.permutation(len(rows)))


def answer(rows: Comparisons, member: str) -> Answer:
    """How the fit ends."""
    try:
        fitted = fit(rows, member)
    except (DisconnectedError, NotIdentifiedError, NoMaximumError) as error:
        named = (frozenset(re.findall(r"\w+", str(error))),)
        return Answer(type(error).__name__, named, 0.0, np.zeros(1), np.zeros(1))
    named = frozenset(fitted.judges_at_zero), frozenset(fitted.unbounded_judges)
    height = fitted.log_likelihood / fitted.comparisons.n_comparisons
    scores = fitted.scores
    try:
        errors = np.sqrt(np.diag(fitted.covariance)[: len(scores)])
    except NoIntervalError:
        errors = np.full(len(scores), np.inf)
    order = np.argsort(scores.index)
    return Answer(str(fitted.status), named, height, scores.to_numpy()[order], errors[order])


def differ(first: Answer, second: Answer) -> bool:
    """Whether two answers are not the same but for rounding."""
    if first[:2] != second[:2]:
        return True
    slack = np.maximum(HIGHER * max(1.0, np.abs(first.scores).max()), SHARE * first.errors)
    is_different = np.abs(first.scores - second.scores) > slack
    return bool(is_different.any() or abs(first.height - second.height) > HIGHER * abs(first.height))


# Few judgments of many models: where a judge may run off above an ordinary maximum, and an optimiser of its own.
#
# The optimiser is the method of Levenberg and Marquardt over gamma >= 0, with an active set. It shares no code
# with the solvers of the library, and works on gamma instead of its logarithm.
TIMES = (3.0, 10.0)  # that one judge's judgments are counted, for a start
SPREADS = (0.5, 1.5, 3.0)  # standard deviations of log gamma at random starts
STEPS, DONE = 60, 1e-4  # steps of a climb; rise of the log-likelihood at which it ends
DAMPED, HARDER, EASIER, TRIES = 1e-2, 6.0, 5.0, 12  # damping at first, its factors, attempts at one step


def runaway_missed(settings: dict, rng: np.random.Generator) -> Record:
    """Whether another optimiser gets higher than the maximum found: from judges counted more often, and at random.

    ``starts`` is the number of random ones.
    """
    rows = drawn(settings, rng)
    try:
        fitted = fit(rows, settings["member"])
    except (DisconnectedError, NoMaximumError, NotIdentifiedError) as error:
        return {"status": type(error).__name__, "bad": 0, "gap": 0.0}
    if not fitted.status.converged:
        return {"status": str(fitted.status), "bad": 0, "gap": 0.0}
    problem, parameters = Problem(fitted.comparisons, fitted.model.has_position), fitted.solution.parameters
    start = np.r_[parameters.scores, np.exp(parameters.judges[0]), parameters.judges[1:].ravel()]
    starts = [problem.climb(start, factors)[1] for factors in _counted_more(problem.k)]
    for number in range(settings["starts"]):
        gamma = np.exp(SPREADS[number % len(SPREADS)] * rng.normal(size=problem.k))
        offsets = rng.normal(size=len(start) - problem.n - problem.k)
        starts.append(np.r_[rng.normal(size=problem.n), gamma, offsets])
    gap = max(problem.climb(start_point)[0] for start_point in starts) - fitted.log_likelihood
    bad = gap > HIGHER * max(1.0, abs(fitted.log_likelihood))
    return {"status": str(fitted.status), "bad": int(bad), "gap": float(max(gap, 0.0))}


def _counted_more(k: int) -> list[np.ndarray]:
    """Factors of every judge's counts, one judge at a time."""
    return [1.0 + (times - 1.0) * row for times in TIMES for row in np.eye(k)]


class Problem:
    """The likelihood of gamma_k (s_i - s_j) + b_k, ties as half wins, and climbs of it.

    A point is (s, gamma, b), shape (N + 2 K,), or without b, shape (N + K,).
    """

    def __init__(self, cells: Comparisons, has_position: bool):
        self.n, self.k = len(cells.models), len(cells.judges)
        self.cells, self.judge = cells, cells.judge.astype(np.intp)
        rows = np.arange(len(cells))
        self.pairs, self.of_judge = np.zeros((len(rows), self.n)), np.zeros((len(rows), self.k))
        self.pairs[rows, cells.first], self.pairs[rows, cells.second] = 1.0, -1.0
        self.of_judge[rows, self.judge] = 1.0
        self.has_position = has_position

    def climb(self, x: np.ndarray, factors: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Height and end of a climb; with `factors`, of judges' counts, of that likelihood."""
        count = self.cells.count * (1.0 if factors is None else factors[self.judge])
        damping, height, gammas = DAMPED, self._height(x, count), slice(self.n, self.n + self.k)
        for _ in range(STEPS):
            jacobian, eta = self._jacobian(x), self._predictor(x)
            p = expit(eta)
            gradient = jacobian.T @ (count * (self.cells.outcome - p))
            free = np.ones(len(x), bool)
            free[gammas] = (x[gammas] > 0) | (gradient[gammas] > 0)
            part = jacobian[:, free]
            info = part.T @ ((count * p * (1 - p))[:, None] * part)
            scale = np.diag(info) + 1e-3 * np.diag(info).mean() + 1e-10
            before = height
            for _ in range(TRIES):
                candidate = x.copy()
                candidate[free] += np.linalg.solve(info + damping * np.diag(scale), gradient[free])
                candidate[gammas] = np.maximum(candidate[gammas], 0.0)
                if (candidate_height := self._height(candidate, count)) >= height:
                    x, height, damping = candidate, candidate_height, max(damping / EASIER, 1e-8)
                    break
                damping *= HARDER
            if height - before < DONE:
                break
        return height, x

    def _predictor(self, x: np.ndarray) -> np.ndarray:
        gamma = x[self.n : self.n + self.k]
        eta = gamma[self.judge] * (self.pairs @ x[: self.n])
        return eta + x[self.n + self.k :][self.judge] if self.has_position else eta

    def _jacobian(self, x: np.ndarray) -> np.ndarray:
        gamma = x[self.n : self.n + self.k]
        blocks = [gamma[self.judge][:, None] * self.pairs, (self.pairs @ x[: self.n])[:, None] * self.of_judge]
        return np.hstack([*blocks, self.of_judge] if self.has_position else blocks)

    def _height(self, x: np.ndarray, count: np.ndarray) -> float:
        eta = self._predictor(x)
        return float(count @ (self.cells.outcome * eta - np.logaddexp(0.0, eta)))
