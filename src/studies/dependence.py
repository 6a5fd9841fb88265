"""Comparisons of one question are not independent: the bootstrap over questions, and what intervals then hold.

Judges who answer the same question see the same two answers. If one of these is better or worse than its model
usually is, all of them err together, and errors computed comparison by comparison are too small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import expit, gammaln, stdtrit

from judgerank.data.arrays import generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, NoIntervalError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile
from judgerank.model.members import Parameters
from judgerank.order.pairs import Order, orders_by_errors, pairwise, rank_intervals
from judgerank.order.scale import standardised
from replication.replicate import Record
from replication.statistics import spearman

NODES = 40  # of the quadrature over a question's effect


@dataclass(frozen=True)
class QuestionData:
    """Raw comparisons with the question behind each; what the tasks below share.

    Attributes
    ----------
    comparisons : Comparisons
    question : int array, shape (T,)
    member : str
    truth : Parameters, optional
        Scores and log-discriminations that data are drawn from.
    start : Parameters, optional
        Where the fits of resamples begin: the fit of all comparisons. That saves the search for the highest of
        several maxima, which was made for that fit.
    """

    comparisons: Comparisons
    question: np.ndarray
    member: str
    truth: Parameters | None = None
    start: Parameters | None = None


def resampled(rng: np.random.Generator, comparisons: Comparisons, question: np.ndarray) -> Comparisons:
    """As many questions as there are, drawn with replacement, each with all its comparisons."""
    n_questions = int(question.max()) + 1
    weight = np.bincount(rng.integers(n_questions, size=n_questions), minlength=n_questions)[question].astype(
        float
    )
    rows = weight > 0
    return comparisons._rows(rows, count=weight[rows])


def bootstrap(settings: dict, rng: np.random.Generator, question_data: QuestionData) -> Record:
    """Standardised scores of one resample of the questions, or why there are none."""
    return {"scores": refitted(rng, question_data).tolist()}


def refitted(rng: np.random.Generator, question_data: QuestionData) -> np.ndarray:
    """Standardised scores of one resample of the questions, shape (N,)."""
    again = resampled(rng, question_data.comparisons, question_data.question)
    scores = fit(again, question_data.member, start=question_data.start).solution.parameters.scores
    return scores / scores.std()


def agreements(
    seed: int, resamples: int, judgments: Judgments, fits: Mapping[str, Fit], reference: pd.Series
) -> pd.DataFrame:
    """Spearman correlation of each fit's scores with a reference, on the same resamples of the questions for all.

    Parameters
    ----------
    seed, resamples : int
    judgments : Judgments
    fits : mapping of str to Fit
        Fits of all judgments, without penalty, by name.
    reference : Series
        By model; models that are not in it take no part.

    Returns
    -------
    DataFrame
        One column per fit, one row per resample on which all of them have a maximum.
    """
    comparisons, rows = judgments.comparisons.with_ties(), []
    indices = [comparisons.models.index(model) for model in reference.index]
    for number in range(resamples):
        again = resampled(generator(seed, "agreements", judgments.name, number), comparisons, judgments.question)
        try:
            scores = {
                name: fit(again, fitted.model.name, start=fitted.solution.parameters).solution.parameters.scores
                for name, fitted in fits.items()
            }
        except (NoMaximumError, DataError):
            continue
        rows.append({name: spearman(values[indices], reference) for name, values in scores.items()})
    return pd.DataFrame(rows, columns=list(fits))


def few_draws(values: np.ndarray, level: float) -> tuple[np.ndarray, float]:
    """Standard deviation of a statistic by few of its draws, and the quantile that an interval takes with it.

    A normal sample's standard deviation is divided by its mean over the true one, and Student's quantile allows
    for how little so few draws know of it: without both, few resamples would pass for errors that are too small.

    Parameters
    ----------
    values : float array, shape (B, N)
    level : float
    """
    free = len(values) - 1
    mean = np.sqrt(2 / free) * np.exp(gammaln((free + 1) / 2) - gammaln(free / 2))
    # the interval's coverage is Student's for the sample's own standard deviation
    return np.std(values, axis=0, ddof=1) / mean, mean * float(stdtrit(free, 0.5 + level / 2))


def drawn(rng: np.random.Generator, question_data: QuestionData, question_sd: float) -> Comparisons:
    """New outcomes on the same design, from the truth with every answer's own deviation.

    In question q model i performs as s_i + e_iq, e_iq normal with this standard deviation, for all judges alike.
    """
    c = question_data.comparisons
    effect = rng.normal(0.0, question_sd, (int(question_data.question.max()) + 1, len(c.models)))
    s = question_data.truth.scores + effect
    gamma = np.exp(question_data.truth.judges[0])[c.judge]
    eta = gamma * (s[question_data.question, c.first] - s[question_data.question, c.second])
    return replace(c, outcome=(rng.random(len(c)) < expit(eta)).astype(float))


def limit(question_data: QuestionData, question_sd: float) -> Fit:
    """What fits of such data converge to: the fit to the expected outcomes.

    The mean over questions of a logistic curve is flatter than the curve, so it is not the truth itself.
    """
    c = question_data.comparisons
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    gamma = np.exp(question_data.truth.judges[0])[c.judge]
    d = question_data.truth.scores[c.first] - question_data.truth.scores[c.second]
    differences = d[:, None] + np.sqrt(2) * question_sd * nodes
    mean = expit(gamma[:, None] * differences) @ (weights / weights.sum())
    return fit(replace(c, outcome=np.clip(mean, 0.0, 1.0)), question_data.member)


def calibrated(settings: dict, rng: np.random.Generator, question_data: QuestionData) -> Record:
    """One data set with question effects: what the errors of each kind cover, all true ranks at once among them.

    Settings are ``question_sd``, ``level``, ``bootstraps`` (resamples behind the bootstrap's errors) and ``limit``
    (the standardised scores that fits converge to).
    """
    data, target = drawn(rng, question_data, settings["question_sd"]), np.array(settings["limit"])
    try:
        plug_in = fit(data, question_data.member, start=question_data.start)
        kinds = {"plug_in": plug_in, "clustered": plug_in.clustered(data, question_data.question)}
        errors = {name: standardised_errors(result) for name, result in kinds.items()}
    except (NoMaximumError, NoIntervalError) as error:
        return {"status": type(error).__name__}
    scores, again = plug_in.scores.to_numpy(), []
    resample_of = replace(question_data, comparisons=data, start=plug_in.solution.parameters)
    for _ in range(settings["bootstraps"]):
        try:
            again.append(refitted(rng, resample_of))
        except (NoMaximumError, DataError):  # a judge or a model lost with its questions
            continue
    quantile = dict.fromkeys(errors, normal_quantile(settings["level"]))
    if len(again) > 1:
        errors["bootstrap"], quantile["bootstrap"] = few_draws(np.array(again), settings["level"])
    off = np.abs(scores / scores.std() - target)
    record: Record = {"status": str(plug_in.status), "resamples_lost": settings["bootstraps"] - len(again)}
    for name, error in errors.items():
        record[f"covered/{name}"] = float(np.mean(off <= quantile[name] * error))
        record[f"error/{name}"] = float(np.mean(error))
    index_of = {name: number for number, name in enumerate(plug_in.comparisons.models)}
    for name, fit_orders in zip(kinds, orders_by_errors(*kinds.values()), strict=True):
        held = _order_held(fit_orders, index_of, target, settings["level"])
        record |= {f"{key}/{name}": value for key, value in held.items()}
    return record


def standardised_errors(result: Fit) -> np.ndarray:
    """Standard errors of the standardised scores, shape (N,)."""
    n = len(result.scores)
    return np.sqrt(np.diag(standardised(result.scores.to_numpy(), result.covariance[:n, :n])[1]))


def _order_held(
    fit_orders: list[Order], index_of: Mapping[str, int], target: np.ndarray, level: float
) -> dict[str, float]:
    """Whether all true ranks are held, whether a pair is separated the wrong way, and how much is left open."""
    true_rank = np.argsort(np.argsort(-target)) + 1
    ranks = rank_intervals(fit_orders, level)
    true = true_rank[ranks["model"].map(index_of)]
    pairs = pairwise(fit_orders, level).query("separated")
    wrong = target[pairs["first"].map(index_of)] <= target[pairs["second"].map(index_of)]
    return {
        "ranks_held": float(((ranks["low"] <= true) & (true <= ranks["high"])).all()),
        "wrongly_separated": float(wrong.any()),
        "rank_width": float((ranks["high"] - ranks["low"]).mean()),
        "separated": float(len(pairs)),
    }
