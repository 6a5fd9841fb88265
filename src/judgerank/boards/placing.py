"""Place a new model on an existing board by its own comparisons, without refitting the board.

With theta what was fitted before (scores of the board, parameters of the judges) and s the newcomers' scores, the
new comparisons' likelihood is maximised in s alone. Its information A in s and C between s and theta carry the
board's covariance V to the newcomers (Murphy and Topel, 1985):

    Var(s) = A^-1 M A^-1 + A^-1 C V C'A^-1,    Cov(s, theta) = -A^-1 C V,

with M the variance of the gradient, A itself or that over clusters of questions, and what the tastes of judges who
did not answer add (`boards.panel_tastes`).

On a shrunk board newcomers are shrunk as its models are: their scores are normal about the board's mean with its
own standard deviation, and the precision of that is part of A and of M. So a newcomer that won everything has a
score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from judgerank.boards.panel_tastes import PanelTastes, panel_tastes
from judgerank.data.arrays import BoolArray, FloatArray, IntArray, numbered
from judgerank.data.cache import Shown
from judgerank.data.comparisons import POOLED_JUDGE, Comparisons
from judgerank.data.connectivity import require_maximum
from judgerank.data.errors import DataError, NoMaximumError
from judgerank.data.listing import counted
from judgerank.data.rankings import pairs_in
from judgerank.engine.ascent import peak
from judgerank.engine.information import information
from judgerank.engine.likelihood import evaluate
from judgerank.fits.errors_by_question import Questions, number_of, too_few
from judgerank.fits.result import Fit
from judgerank.inference.clusters import cluster_gradients, effective_number
from judgerank.inference.wald import normal_quantile, require_level, two_sided, wald
from judgerank.model.members import Model, Parameters
from judgerank.order.claims import Claims, holm
from judgerank.order.scale import scale_of

# Errors of newcomers' scores by their own questions.
#
# With A the information in the newcomers' scores and u_q the gradient of question q in them, that question moves
# the estimates by z_q = A^-1 u_q. Were the board known, a newcomer's variance is the sum of its z_q^2 times Q / (Q
# - 1), Q being the number of its questions. Its degrees of freedom are their effective number less one. So each
# newcomer needs two questions, however many newcomers there are.
#
# Few questions can seem to agree, so no variance is below that of independent comparisons. The board's dispersion
# of half wins multiplies that, and the precision of what shrinks, as in its own errors (`engine.penalised`). What
# shrinkage and the judges' tastes add does not hang on the questions: degrees of freedom are Satterthwaite's.


class Errors(NamedTuple):
    """What is known of the errors of M newcomers' scores, and of the gradient in the board's D parameters.

    Attributes
    ----------
    own : float array, shape (M, M)
        Covariance of the newcomers' scores if the board were known, by tastes of judges who are missing, too.
    squares : float array, shape (D, D)
        Variance of the gradient in the board's parameters, the newcomers' scores regressed out.
    degrees_of_freedom : float array, shape (M,)
        Missing where the newcomer, or the board, has too few questions. Comparisons count as independent then.
    of_moves : float
        Degrees of freedom of the squares; missing likewise.
    board : Questions or None
        Those of a board that has too few.
    newcomers : tuple of Questions
        Of each newcomer; empty if questions are not known.
    by_question : float array, shape (Q, M), or None
        Gradient of every question in the newcomers' scores, if there are two questions or more.
    """

    own: FloatArray
    squares: FloatArray
    degrees_of_freedom: FloatArray
    of_moves: float
    board: Questions | None
    newcomers: tuple[Questions, ...] = ()
    by_question: FloatArray | None = None


class Pull(NamedTuple):
    """What bears on newcomers' scores besides their own comparisons.

    Attributes
    ----------
    precision : float array, shape (M, M)
        Of the normal distribution about the board's mean; zero on a board whose scores are not shrunk.
    by_spread : float array, shape (M, M)
        Covariance by what is not known of its standard deviation.
    by_tastes : float array, shape (M, M)
        Covariance by the tastes of the board's judges.
    degrees_of_freedom : float
        Of the variance of tastes.
    """

    precision: FloatArray
    by_spread: FloatArray
    by_tastes: FloatArray
    degrees_of_freedom: float


def errors_of(
    board: Fit,
    rows: Comparisons,
    at: Parameters,
    question: IntArray | None,
    info: tuple[FloatArray, FloatArray, FloatArray],
    pull: Pull,
) -> Errors:
    """Errors by question, where questions are known.

    Parameters
    ----------
    board : Fit
    rows : Comparisons
        Those with a newcomer, models of the board first.
    at : Parameters
    question : int array, shape (T,), optional
        From zero without gaps.
    info : float arrays, shapes (M, M), (M, D) and (D, D)
        A; A^-1 times the information that newcomers and board have in common; that on the board, the newcomers'
        scores regressed out.
    pull : Pull
    """
    a, carry, _ = info
    inverse, few = np.asarray(np.linalg.inv(a), float), too_few(board)
    independent, information = board.dispersion * inverse, board.dispersion * info[2]
    most = np.nan if few else board.degrees_of_freedom
    if question is None:
        freedom = _freedom_of_sum(np.full(len(a), np.inf), independent, 0.0 * inverse, pull, most)
        return Errors(independent + pull.by_spread + pull.by_tastes, information, freedom, most, few)
    new = np.arange(len(board.scores), len(at.scores))
    questions = tuple(
        questions_with((rows.first == model) | (rows.second == model), rows, question) for model in new
    )
    of_questions = np.array([_freedom(n_questions, np.inf) for n_questions in questions])
    every = questions_with(np.ones(len(rows), bool), rows, question)
    if not every.enough:
        freedom = _freedom_of_sum(of_questions, independent, 0.0 * inverse, pull, most)
        return Errors(independent + pull.by_spread + pull.by_tastes, information, freedom, np.nan, few, questions)
    chosen = np.r_[np.ones(len(at.scores), bool), board._free.ravel()]
    by = cluster_gradients(rows, board.model, at, question)[:, chosen]
    profiled = np.delete(by, new, axis=1) - by[:, new] @ carry
    squares = profiled.T @ profiled * few_clusters_factor(every)
    squares += board.dispersion * carry.T @ pull.precision @ carry
    by_pull = board.dispersion * inverse @ pull.precision @ inverse
    own = _own(by[:, new] @ inverse, independent, questions, by_pull)
    freedom = _freedom_of_sum(of_questions, own, by_pull, pull, most)
    own_errors = own + pull.by_spread + pull.by_tastes
    return Errors(own_errors, squares, freedom, _freedom(every, most), few, questions, by[:, new])


def _freedom_of_sum(
    of_questions: FloatArray, own: FloatArray, by_pull: FloatArray, pull: Pull, most: float
) -> FloatArray:
    """Degrees of freedom of every newcomer's variance, of which what shrinkage adds is known; shape (M,)."""
    by_questions, by_tastes = np.diag(own - by_pull), np.diag(pull.by_tastes)
    squares = by_questions**2 / of_questions + by_tastes**2 / pull.degrees_of_freedom
    total = np.diag(own + pull.by_spread) + by_tastes
    freedom = np.divide(total**2, squares, out=np.full_like(squares, np.inf), where=squares != 0)
    return np.asarray(np.minimum(freedom, most))


def questions_with(mine: BoolArray, rows: Comparisons, question: IntArray) -> Questions:
    """The questions of some rows, for one parameter."""
    model_questions = question[mine]
    return Questions(number_of(model_questions), effective_number(model_questions, rows.count[mine]), 1)


def few_clusters_factor(questions: Questions) -> float:
    """Q / (Q - 1), by which a sum of squares over questions is too small."""
    return questions.n_questions / (questions.n_questions - 1)


def _freedom(questions: Questions, most: float) -> float:
    return float(np.minimum(questions.effective - 1, most)) if questions.enough else np.nan  # missing if either is


def _own(
    influence: FloatArray, independent: FloatArray, questions: tuple[Questions, ...], by_pull: FloatArray
) -> FloatArray:
    """Covariance by the questions' influences, shape (Q, M); of independent comparisons where they are too few.

    No variance is below that of independent comparisons.
    """
    has_enough = np.array([model_questions.enough for model_questions in questions])
    z = influence * np.sqrt(
        [few_clusters_factor(model_questions) if model_questions.enough else 0.0 for model_questions in questions]
    )
    unknown = np.ix_(~has_enough, ~has_enough)
    covariance = z.T @ z + by_pull
    covariance[unknown] = independent[unknown]
    least = np.sqrt(np.maximum(np.diag(independent) / np.diag(covariance), 1.0))
    return np.asarray(least[:, None] * covariance * least)


BOARD = "the board"
NODES = 7  # of Gauss and Hermite, for the standard deviation of the scores


@dataclass(frozen=True, eq=False, repr=False)
class Anchored(Shown):
    """Newcomers' scores on a board that is held, and all that follows from their comparisons.

    Attributes
    ----------
    board : Fit
    comparisons : Comparisons
        Those with a newcomer by judges of the board, models of the board first.
    newcomers : tuple of str
    at : Parameters
    covariance : float array, shape (D + M, D + M)
        Of the board's free parameters and the M newcomers' scores.
    errors : Errors
        Of the newcomers if the board were known, and of the gradient.
    gradient : float array, shape (D,)
        Of the new comparisons in the board's free parameters.
    information : float array, shape (D, D)
        What the new comparisons tell of the board, the newcomers' scores regressed out.
    question : int array, shape (T,), or None
        Of the comparisons, from zero without gaps.
    left_out : dict of str to int
        Comparisons left out, by reason.
    tastes : PanelTastes
        Of the board's judges.
    """

    board: Fit
    comparisons: Comparisons
    newcomers: tuple[str, ...]
    at: Parameters
    covariance: FloatArray
    errors: Errors
    gradient: FloatArray
    information: FloatArray
    question: IntArray | None
    left_out: dict[str, int]
    tastes: PanelTastes

    def _line(self) -> str:
        return f"{counted(len(self.newcomers), 'newcomer')} on a board of {len(self.board.scores)} models"

    def _table(self) -> pd.DataFrame:
        return self.table()

    @property
    def scores(self) -> pd.Series:
        """Of the newcomers, on the board's reported scale (`judgerank.order.scale`)."""
        scores = scale_of(self.board).factor * self.at.scores[-len(self.newcomers) :]
        return pd.Series(scores, list(self.newcomers), name="score")

    @property
    def own(self) -> FloatArray:
        """Standard errors of the newcomers on the scale of the board's fit if the board were known, shape (M,)."""
        return np.asarray(np.sqrt(np.diag(self.errors.own)))

    @property
    def missing_judges(self) -> dict[str, tuple[str, ...]]:
        """Judges of the board who compared a newcomer with nothing, by newcomer; none where all did."""
        c = self.comparisons
        if not self.board.model.judge_blocks:
            return {}
        answered = np.zeros((len(c.models), len(c.judges)), bool)
        for end in (c.first, c.second):
            answered[end, c.judge] = True
        names, new = np.asarray(c.judges, object), answered[-len(self.newcomers) :]
        by_newcomer = zip(self.newcomers, new, strict=True)
        return {model: tuple(names[~those]) for model, those in by_newcomer if not those.all()}

    @cached_property
    def reported(self) -> FloatArray:
        """Covariance of the scores of the board and of the newcomers on that scale, shape (N + M, N + M)."""
        scale, n, d = scale_of(self.board), len(self.board.scores), len(self.covariance) - len(self.newcomers)
        jacobian = np.zeros((len(self.at.scores), d))
        jacobian[:n] = np.eye(n, d)
        to_scores = np.zeros((len(jacobian), len(self.covariance)))
        to_scores[:, :d] = scale.derivatives(jacobian, self.at.scores)
        to_scores[n:, d:] = scale.factor * np.eye(len(self.newcomers))
        return to_scores @ self.covariance @ to_scores.T

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """``model, score, standard_error, low, high, own_error, comparisons, rank, rank_low, rank_high``.

        The standard error carries the board's, ``own_error`` is that of a board known exactly. The rank is that on
        the board, newcomers beside each other left out, with an interval by `differences`: all newcomers are
        tested against all models together. There is no interval of a score where questions are too few.
        """
        require_level(level)
        error, board = np.sqrt(np.diag(self.reported)[-len(self.newcomers) :]), scale_of(self.board)
        scores, c = self.scores.to_numpy(), self.comparisons
        quantile = np.array([normal_quantile(level, freedom) for freedom in self.errors.degrees_of_freedom])
        low, high = scores - quantile * error, scores + quantile * error
        met = np.bincount(c.first, c.decided, len(c.models)) + np.bincount(c.second, c.decided, len(c.models))
        better = (board.scores[None, :] > scores[:, None]).sum(axis=1)
        frame = pd.DataFrame({"model": self.newcomers, "score": scores, "standard_error": error})
        frame = frame.assign(low=low, high=high, own_error=board.factor * self.own)
        frame = frame.assign(comparisons=met[-len(scores) :].round().astype(int), rank=better + 1)
        return frame.assign(**self._rank_intervals(level))

    def _rank_intervals(self, level: float) -> dict[str, list[int]]:
        """Ends of the newcomers' ranks, from the claims about each and the board's models."""
        ends: dict[str, list[int]] = {"rank_low": [], "rank_high": []}
        for name, tests in self.differences(level).groupby("newcomer", sort=False):
            by_difference = tests.sort_values("difference", ignore_index=True)  # the best model first
            position = int((by_difference["difference"] < 0).sum())
            models = [*by_difference["model"][:position], name, *by_difference["model"][position:]]
            separated, better = by_difference["separated"].to_numpy(bool), np.zeros((len(models),) * 2, bool)
            better[:position, position] = separated[:position]
            better[position, position + 1 :] = separated[position:]
            claims = Claims(tuple(models), better)
            ends["rank_low"].append(int(claims.best_rank[position]))
            ends["rank_high"].append(int(claims.worst_rank[position]))
        return ends

    def differences(self, level: float = 0.95) -> pd.DataFrame:
        """Every newcomer with every model of the board, closest first.

        ``newcomer, model, difference, standard_error, low, high, p_value, p_holm, separated``; Holm's adjustment
        is for all of them together.
        """
        require_level(level)
        v, board = self.reported, scale_of(self.board).scores
        n = len(board)
        rows = []
        for number, name in enumerate(self.newcomers):
            position = n + number
            error = np.sqrt(v[position, position] + np.diag(v)[:n] - 2 * v[position, :n])
            difference = self.scores.iloc[number] - board
            freedom = float(self.errors.degrees_of_freedom[number])
            low, high = wald(difference, error, level, freedom)
            columns = {"difference": difference, "standard_error": error, "low": low, "high": high}
            columns["p_value"] = two_sided(difference / error, freedom)
            frame = pd.DataFrame({"newcomer": name, "model": self.board.comparisons.models, **columns})
            rows.append(frame.sort_values("difference", key=abs, kind="stable"))
        table = pd.concat(rows, ignore_index=True)
        adjusted = holm(table["p_value"].to_numpy())
        return table.assign(p_holm=adjusted, separated=adjusted <= 1 - level)


def anchored(board: Fit, comparisons: Comparisons, question: IntArray | None = None) -> Anchored:
    """Place models that are not on a board by their comparisons, without refitting the board.

    Parameters
    ----------
    board : Fit
        With errors of its own, clustered or not: they are carried to the newcomers.
    comparisons : Comparisons
        Raw judgments, T rows. Those of judges who are not on the board, and those without a newcomer, are left out
        and counted.
    question : int array, shape (T,), optional
        Of each: the newcomers' errors are then clustered by it. A newcomer with a single question has no interval.

    Raises
    ------
    DataError
        If no model is new, no judge is known, or the member needs ties or a covariate that are not there.
    NoMaximumError
        If the board is not shrunk, and a newcomer won, or lost, all its comparisons with it; it is named.
    NoIntervalError
        If the board has no covariance.
    """
    rows, newcomers, selected, left_out = _onto(board, comparisons)
    n, m = len(board.scores), len(newcomers)
    if not board.solution.shrinks_scores:
        _require_bounds(board, rows, newcomers)
    base = board.solution.parameters
    start = Parameters(np.r_[base.scores, np.zeros(m)], base.judges)
    tastes = panel_tastes(board)
    precision, by_spread_of = _shrinkage(board, rows, start, tastes)
    at = best_scores(rows, board.model, start, slice(n, n + m), precision)
    evaluation = evaluate(rows, board.model, at, "expected")
    free, v = board._free, board.covariance
    info = information(evaluation, free)
    new = np.arange(n, n + m)
    rest = np.setdiff1d(np.arange(len(info)), new)
    a, c = info[np.ix_(new, new)] + precision, info[np.ix_(new, rest)]
    carry = np.asarray(np.linalg.solve(a, c), float)
    newcomer_information = info[np.ix_(rest, rest)] - c.T @ carry
    question_index = None if question is None else numbered(question[selected])[1]
    inverse = np.asarray(np.linalg.inv(a), float)
    by_spread, by_tastes = by_spread_of(at, inverse), tastes.added(board, rows, at, inverse)
    pull = Pull(precision, by_spread, by_tastes, tastes.degrees_of_freedom)
    errors = errors_of(board, rows, at, question_index, (a, carry, newcomer_information), pull)
    across = -carry @ v
    covariance = np.block([[v, across.T], [across, errors.own - across @ carry.T]])
    gradient = np.r_[evaluation.top_gradient[:n], evaluation.judge_gradient[free]]
    parts = covariance, errors, gradient, newcomer_information, question_index, left_out, tastes
    return Anchored(board, rows, newcomers, at, *parts)


def prior_precision(spread: float, n_models: int, n_newcomers: int) -> FloatArray:
    """Precision of newcomers' scores before their comparisons, that of models of a shrunk board; shape (M, M).

    They are normal about the mean of all models, of which the board's N are a sample.
    """
    return np.asarray(np.linalg.inv(spread**2 * (np.eye(n_newcomers) + 1 / n_models)), float)


def _shrinkage(
    board: Fit, rows: Comparisons, start: Parameters, tastes: PanelTastes
) -> tuple[FloatArray, Callable[..., FloatArray]]:
    """Precision of M newcomers' scores, shape (M, M), and what their covariance gains by not knowing it.

    The board knows the logarithm of its scores' standard deviation as normal, with the mean and the variance of
    the values that it is averaged over (`engine.penalised.mixture`). The newcomers tell of it by Bayes' rule, as
    models of the board would in a fit of all. Their log-likelihood counts for its share in the variance that the
    judges' tastes are part of: what one judge thinks of a newcomer says little of how far models lie apart.
    """
    n, m = len(board.scores), len(start.scores) - len(board.scores)
    if not board.solution.shrinks_scores:
        return np.zeros((m, m)), lambda *_: np.zeros((m, m))
    weights, logs = np.array([(weight, np.log(fitted.spread["scores"])) for weight, fitted in board._by_spread]).T
    mean = float(weights @ logs)
    z, of_node = np.polynomial.hermite_e.hermegauss(NODES)
    nodes = mean + np.sqrt(weights @ (logs - mean) ** 2) * z
    points, inverses, evidence, of_tastes = [], [], [], []
    for node in nodes:
        precision = board.dispersion * prior_precision(np.exp(node), n, m)
        at = best_scores(rows, board.model, start, slice(n, n + m), precision)
        evaluation = evaluate(rows, board.model, at, "expected", at_zero=False)
        told = evaluation.top_information[n:, n:]
        a, s = told + precision, at.scores[n:]
        of_tastes.append(
            np.trace(told @ tastes.added(board, rows, at, np.asarray(np.linalg.pinv(told), float))) / m
        )
        gained = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(a)[1]
        points.append(s)
        inverses.append(np.linalg.inv(a))
        height = evaluation.log_likelihood - 0.5 * float(s @ precision @ s)
        evidence.append(height / board.dispersion + 0.5 * float(gained))
    share = 1 / (1 + np.mean(of_tastes))
    posterior = of_node * np.exp(share * (np.array(evidence) - max(evidence)))
    posterior /= posterior.sum()

    def gain(at: Parameters, inverse: FloatArray) -> FloatArray:
        away = np.array(points) - at.scores[n:]
        parts = board.dispersion * (np.array(inverses) - inverse) + away[:, :, None] * away[:, None, :]
        return np.asarray(np.tensordot(posterior, parts, 1))

    return board.dispersion * prior_precision(np.exp(float(posterior @ nodes)), n, m), gain


def _onto(board: Fit, comparisons: Comparisons) -> tuple[Comparisons, tuple[str, ...], IntArray, dict[str, int]]:
    """What places newcomers, in the board's models and judges; newcomers; rows; how many are left out, by reason.

    Raises
    ------
    DataError
    """
    models, judges = board.comparisons.models, board.comparisons.judges
    newcomers = tuple(name for name in comparisons.models if name not in models)
    if not newcomers:
        raise DataError("every model of these comparisons is on the board already: there is none to place")
    missing = board.model.missing(comparisons)
    if missing is not None:
        raise DataError(f"the board's model {board.model.name!r} needs {missing}, and these comparisons have none")
    comparisons = board.model.observed(comparisons)
    position = pd.Index([*models, *newcomers]).get_indexer(pd.Index(comparisons.models))
    judge = pd.Index(judges).get_indexer(pd.Index(comparisons.judges)) if board.model.judge_blocks else None
    first, second = position[comparisons.first], position[comparisons.second]
    has_judge, new = by_board_and_new(board, comparisons)
    selected = np.flatnonzero(has_judge & new)
    if not len(selected):
        raise DataError(f"no judge of the board compared {', '.join(newcomers)} with another model")
    columns: dict[str, Any] = {name: getattr(comparisons, name)[selected] for name in ("outcome", "count")}
    for name in ("covariate", "tied", "strong"):
        values = getattr(comparisons, name)
        columns[name] = None if values is None else values[selected]
    stages = None if comparisons.stages is None else comparisons.stages.take(selected)
    who = np.zeros(len(selected), int) if judge is None else judge[comparisons.judge[selected]]
    rows = Comparisons(
        (*models, *newcomers),
        judges,
        first[selected],
        second[selected],
        who,
        ordered=comparisons.ordered,
        stages=stages,
        **columns,
    )
    return rows, newcomers, selected, left_out_of(comparisons, has_judge, new)


def by_board_and_new(board: Fit, comparisons: Comparisons) -> tuple[BoolArray, BoolArray]:
    """Whether comparisons are by judges of a board, and whether they have a newcomer, bool, shape (T,) each."""
    models, judges = board.comparisons.models, board.comparisons.judges
    is_new = ~np.isin(np.array(comparisons.models, object), models)
    new = is_new[comparisons.first] | is_new[comparisons.second]
    if comparisons.stages is not None:  # a choice stays whole
        new = np.logical_or.reduceat(new, comparisons.stages.first_rows)[comparisons.stages.alternatives.stage]
    by_board = np.isin(np.array(comparisons.judges, object), judges)[comparisons.judge]
    return (by_board if board.model.judge_blocks else np.ones(len(comparisons), bool)), new


def left_out_of(comparisons: Comparisons, has_judge: BoolArray, new: BoolArray) -> dict[str, int]:
    """How many comparisons place nobody, by reason."""
    reasons = {"by judges who are not on the board": ~has_judge, "without a newcomer": has_judge & ~new}
    return {why: round(float(comparisons.decided[mask].sum())) for why, mask in reasons.items() if mask.any()}


def _require_bounds(board: Fit, rows: Comparisons, newcomers: Sequence[str]) -> None:
    """Refuse a newcomer whose score would run off: the board counts as one model, judges at zero for none.

    Raises
    ------
    NoMaximumError
    """
    n = len(board.scores)
    rows = pairs_in(rows)
    in_play = board.solution.parameters.in_play[rows.judge] & ((rows.first >= n) | (rows.second >= n))
    first, second = (np.maximum(end[in_play] - n + 1, 0) for end in (rows.first, rows.second))
    if not in_play.any():
        names = ", ".join(newcomers)
        raise NoMaximumError(f"all judges of {names} are at zero discrimination", (tuple(newcomers),))
    labels = (BOARD, *newcomers)
    judge, outcome, count = np.zeros(len(first), int), rows.outcome[in_play], rows.count[in_play]
    pooled = Comparisons(labels, (POOLED_JUDGE,), first, second, judge, outcome, count)
    require_maximum(pooled.aggregate())


def best_scores(
    rows: Comparisons, model: Model, at: Parameters, moving: slice, precision: FloatArray | float = 0.0
) -> Parameters:
    """The point with some scores where the log-likelihood, which is concave in them, is largest.

    Less the penalty of a normal distribution about zero with a precision, by default none.

    Raises
    ------
    NoMaximumError
        If there is none, or the climb does not settle.
    """

    prior = precision * np.ones((len(at.scores[moving]),) * 2)

    def parameters_at(scores: FloatArray) -> Parameters:
        return replace(at, scores=np.r_[at.scores[: moving.start], scores, at.scores[moving.stop :]])

    def evaluate_at(scores: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        evaluation = evaluate(rows, model, parameters_at(scores), "expected", at_zero=False)
        pulled = prior @ scores
        return (
            evaluation.log_likelihood - 0.5 * float(scores @ pulled),
            evaluation.top_gradient[moving] - pulled,
            evaluation.top_information[moving, moving] + prior,
        )

    return parameters_at(peak(evaluate_at, at.scores[moving], "the newcomers' scores did not settle")[0])
