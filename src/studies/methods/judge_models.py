"""Other models with parameters of judges: Crowd-BT, BT-sigma, a product of experts, graded responses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import components
from judgerank.data.errors import ConfigError, DisconnectedError
from judgerank.engine.likelihood import evaluate
from judgerank.model.members import JUDGE_AWARE, Parameters
from studies.methods.ranking import Ranking, expected, unordered

# Crowd-BT: judges who now and then say the opposite of what they see.
#
# X. Chen, P. N. Bennett, K. Collins-Thompson and E. Horvitz (2013), Pairwise ranking aggregation in a crowdsourced
# setting, WSDM. With an honesty eta_k in [0, 1] for each judge,
#
#     P(i beats j | judge k) = eta_k sigmoid(s_i - s_j) + (1 - eta_k) sigmoid(s_j - s_i),
#
# and every model plays a virtual one of score zero, which it beats once and loses to once, with weight lambda:
#
#     sum log P + lambda sum_i [log sigmoid(s_i) + log sigmoid(-s_i)].
#
# Turning all scores and all honesties over (s to -s, eta to 1 - eta) changes nothing, so the maximum looked for is
# the one reached from honest judges: scores first, with every eta at its start, and then both together. So most of
# a panel is taken to be honest. Which lambda the paper takes could not be checked; public code that follows it
# takes 1, and so does this.
FAR = 15.0  # between two scores: the outcome is certain, and the search ends for want of a slope
FARTHEST = 30.0  # of a score from zero: the probabilities of outcomes stay above zero
CROWD_OPTIONS = {"maxiter": 5000, "maxfun": 20_000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-9}


def crowd_bt(comparisons: Comparisons, *, strength: float = 1.0, start: float = 0.9) -> Ranking:
    """Scores of models and honesties of judges that maximise the penalised likelihood of Crowd-BT.

    Parameters
    ----------
    comparisons : Comparisons
        Raw or aggregated. The paper has no ties: here a tie adds half of the log-likelihood of a win and half of
        that of a loss.
    strength : float
        lambda, the weight of the virtual model; 0 for none.
    start : float
        Honesty from which every judge starts, above one half.

    Returns
    -------
    Ranking
        Log-odds scores by model, `judges` with eta by judge, and `predict`. A judge without comparisons keeps the
        honesty from which it started.

    Raises
    ------
    ConfigError
        If `strength` is below zero, or `start` is not between one half and one.
    """
    if not 0 <= strength < np.inf:
        raise ConfigError(f"the strength of the virtual model must be zero or above, not {strength}")
    if not 0.5 < start <= 1:
        raise ConfigError(f"judges must start from an honesty above one half and up to one, not {start}")
    cells = replace(comparisons, covariate=None, tied=None).aggregate()
    n, k = len(cells.models), len(cells.judges)
    x, _ = _maximise(cells, strength, np.r_[np.zeros(n), np.full(k, start)], (start, start))
    x, done = _maximise(cells, strength, x, (0.0, 1.0))
    scores = pd.Series(x[:n], cells.models, name="score")
    judges = pd.Series(x[n:], cells.judges, name="honesty")

    def predict(new: Comparisons) -> np.ndarray:
        s, eta = scores.loc[list(new.models)].to_numpy(), judges.loc[list(new.judges)].to_numpy()
        return _win(s[new.first] - s[new.second], eta[new.judge])

    return Ranking(scores, predict, judges=judges, remark=_remark(x[:n], done))


def _win(difference: np.ndarray, honesty: np.ndarray) -> np.ndarray:
    return honesty * expit(difference) + (1 - honesty) * expit(-difference)


def _maximise(cells: Comparisons, strength: float, x: np.ndarray, honesty: tuple[float, float]):
    """The maximum reached from x with honesties in a box, and whether the search ended by itself."""
    bounds = [(-FARTHEST, FARTHEST)] * len(cells.models) + [honesty] * len(cells.judges)
    optimum = minimize(
        _crowd_loss, x, (cells, strength), method="L-BFGS-B", jac=True, bounds=bounds, options=CROWD_OPTIONS
    )
    return optimum.x, optimum.nit < CROWD_OPTIONS["maxiter"] and optimum.nfev < CROWD_OPTIONS["maxfun"]


def _crowd_loss(x: np.ndarray, cells: Comparisons, strength: float) -> tuple[float, np.ndarray]:
    """Minus the penalised log-likelihood a comparison, and its gradient in (s, eta), shape (N + K,)."""
    n, k = len(cells.models), len(cells.judges)
    s, eta = x[:n], x[n:][cells.judge]
    difference = s[cells.first] - s[cells.second]
    p = expit(difference)
    win, loss = _win(difference, eta), _win(-difference, eta)
    y = cells.outcome
    value = np.sum(cells.count * (y * np.log(win) + (1 - y) * np.log(loss)))
    value += strength * np.sum(np.log(expit(s)) + np.log(expit(-s)))
    slope = cells.count * (y / win - (1 - y) / loss)
    by_difference = slope * (2 * eta - 1) * p * expit(-difference)
    by_score = np.bincount(cells.first, by_difference, n) - np.bincount(cells.second, by_difference, n)
    by_score += strength * (expit(-s) - expit(s))
    by_honesty = np.bincount(cells.judge, slope * (p - expit(-difference)), k)
    return -value / cells.n_comparisons, -np.r_[by_score, by_honesty] / cells.n_comparisons


def _remark(scores: np.ndarray, done: bool) -> str:
    remarks = [] if done else ["The search stopped at its limit of iterations."]
    if np.ptp(scores) > FAR:
        remarks.append("Some scores run off to infinity; they are where the search ended.")
    return " ".join(remarks)


# BT-sigma, the paper's model found by others at the same time, with the priors of their library.
#
# "Who can we trust? LLM-as-a-jury for comparative assessment" (arXiv:2602.16610) has skills s and a discriminator
# sigma_k = 1 / gamma_k per judge. With p = sigmoid((s_i - s_j) / sigma_k) the library evaluatorq maximises
#
#     sum n [y log p + (1 - y) log(1 - p)] - r sum s^2 / 2 - r sum (log sigma)^2 / 2,
#
# r = 0.01 and y held a millionth away from zero and one, by Adam in plain Python: rows times up to 20,000
# iterations, minutes for 36,000 comparisons. Here the same function is maximised by L-BFGS. The library's search
# ends a little below: the scale of the skills, which priors alone set, is the last thing it finds.
RIDGE = 1e-2  # the library's, for skills and for log sigma
CERTAIN = 1e-6  # the library's least distance of an outcome from zero and one
SIGMA_OPTIONS = {"maxiter": 5000, "maxfun": 20_000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-9}


def bt_sigma(comparisons: Comparisons, *, ridge: float = RIDGE) -> Ranking:
    """Skills and discriminations 1 / sigma_k at the maximum of BT-sigma's penalised likelihood.

    Parameters
    ----------
    comparisons : Comparisons
        Raw or aggregated; a tie is half a win.
    ridge : float
        Precision of the normal priors of the skills and of log sigma.

    Returns
    -------
    Ranking
        `scores` by model, which sum to zero; `judges` 1 / sigma by judge; `predict`. A lone judge has sigma one.
    """
    cells = _cells(comparisons)
    n, k = len(cells.models), len(cells.judges)
    # all sigmas one first: from scores of zero, nothing would tell which judge is sharp
    x = np.zeros(n + k)
    for free in (0.0, np.inf) if k > 1 else (0.0,):
        bounds = [(None, None)] * n + [(-free, free)] * k
        optimum = minimize(
            _sigma_loss, x, (cells, ridge), method="L-BFGS-B", jac=True, bounds=bounds, options=SIGMA_OPTIONS
        )
        x = optimum.x
    scores = pd.Series(x[:n] - x[:n].mean(), cells.models, name="score")
    gamma = pd.Series(np.exp(x[n:]), cells.judges, name="discrimination")
    ended = optimum.nit < SIGMA_OPTIONS["maxiter"] and optimum.nfev < SIGMA_OPTIONS["maxfun"]
    remark = "" if ended else "The search stopped at its limit of iterations."
    return Ranking(scores, expected(scores, gamma), judges=gamma, remark=remark)


def _cells(comparisons: Comparisons) -> Comparisons:
    """Aggregated over positions too, to which the model is blind."""
    c = unordered(comparisons)
    return replace(c, outcome=np.clip(c.outcome, CERTAIN, 1 - CERTAIN), tied=None).aggregate()


def _sigma_loss(x: np.ndarray, cells: Comparisons, ridge: float) -> tuple[float, np.ndarray]:
    """Minus the penalised log-likelihood a comparison, and its gradient in (s, -log sigma), shape (N + K,)."""
    n = len(cells.models)
    evaluation = evaluate(cells, JUDGE_AWARE, Parameters(x[:n], x[None, n:]))
    value = evaluation.log_likelihood - 0.5 * ridge * x @ x
    gradient = np.r_[evaluation.top_gradient, evaluation.judge_gradient[0]] - ridge * x
    return -value / cells.n_comparisons, -gradient / cells.n_comparisons


def by_evaluatorq(comparisons: Comparisons) -> Ranking:
    """The same by the library, whose settings are fixed."""
    from evaluatorq.ranking import JudgedComparison, fit_bt

    c = _cells(comparisons)
    records = [
        JudgedComparison(judge=c.judges[k], item_a=c.models[i], item_b=c.models[j], p_a=float(y), weight=float(n))
        for i, j, k, y, n in zip(c.first, c.second, c.judge, c.outcome, c.count, strict=True)
    ]
    fitted = fit_bt(records)
    scores = pd.Series(fitted.skills)[list(c.models)]
    gamma = 1.0 / pd.Series(fitted.sigmas, dtype=float).reindex(list(c.judges), fill_value=1.0)
    return Ranking(scores, expected(scores, gamma), judges=gamma, remark="; ".join(fitted.warnings))


# Product of Gaussian experts: each comparison is an expert on the difference of two scores.
#
# A. Liusie, V. Raina, Y. Fathullah and M. J. F. Gales (2024), Efficient LLM comparative assessment: a product of
# experts framework for pairwise comparisons; Y. Fathullah and M. J. F. Gales (2025), Generalised probabilistic
# modelling and improved uncertainty estimation in comparative LLM-as-a-judge. With p the probability that a judge
# gives to the model shown first, here its hard outcome 1, 1/2 or 0, an expert says
#
#     p(s_i - s_j | p) = N(s_i - s_j; alpha (p - beta), sigma^2),
#
# and the product over comparisons, each a row of W with +1 and -1, is largest at the least-squares scores
# (W'W)^+ W'(p - beta), with covariance sigma^2 (W'W)^+. beta removes a leaning toward one position. As in the
# authors' code, alpha is one: it only sets the scale. The authors hold the first score at zero; here scores sum to
# zero. To estimate sigma from residuals is this package's choice, and so is the prediction.
LEAST = 0.01  # predicted mean outcome: a straight line would leave (0, 1)


def product_of_experts(comparisons: Comparisons, *, debias: bool = True, ridge: float = 0.0) -> Ranking:
    """Least-squares scores of models, all judges being alike.

    Parameters
    ----------
    comparisons : Comparisons
        Raw or aggregated. Aggregated rows give the same scores; if they have forgotten their ties, standard errors
        are those of outcomes without ties.
    debias : bool
        Whether beta is the mean outcome of the model shown first, or else 1/2.
    ridge : float
        Weight of a further expert of N(0, sigma^2 / ridge) on each score; none by default, as in the papers.

    Returns
    -------
    Ranking
        `scores` by model, differences of mean outcomes; their standard errors `errors` about the models' mean;
        `predict`, the straight line beta + s_i - s_j clipped to [0.01, 0.99]: the mean outcome under the model,
        which is no law of hard outcomes. No `judges`.

    Raises
    ------
    ConfigError
        If `ridge` is below zero.
    DisconnectedError
        If models fall into groups that were never compared, and there is no ridge.
    """
    if not 0 <= ridge < np.inf:
        raise ConfigError(f"the ridge must be zero or above, not {ridge}")
    cells = _pooled(comparisons)
    groups = components(cells)
    if len(groups) > 1 and ridge == 0:
        first, second = groups[0][0], groups[1][0]
        raise DisconnectedError(f"no chain of comparisons joins the models {first!r} and {second!r}", groups)
    beta = float(np.average(cells.outcome, weights=cells.count)) if debias else 0.5
    scores, unit, rank = _least_squares(cells, beta, ridge)
    line = beta + scores[cells.first] - scores[cells.second]
    spread = _square_error(cells, line)
    freedom = cells.n_comparisons - rank - debias
    remark = "" if freedom > 0 else "There are too few comparisons for standard errors."
    errors = None
    if freedom > 0:
        errors = pd.Series(np.sqrt(spread / freedom * np.diag(unit)), cells.models, name="standard_error")
    series = pd.Series(scores, cells.models, name="score")

    def predict(new: Comparisons) -> np.ndarray:
        s = series.loc[list(new.models)].to_numpy()
        return np.clip(beta + s[new.first] - s[new.second], LEAST, 1 - LEAST)

    return Ranking(series, predict, errors, remark=remark)


def _pooled(comparisons: Comparisons) -> Comparisons:
    """Aggregated over judges too, with ties where they are known."""
    if comparisons.tied is None and np.all(comparisons.count == 1):
        comparisons = comparisons.with_ties()
    judge = np.zeros(len(comparisons), np.int32)
    return replace(comparisons, judges=("all judges",), judge=judge, covariate=None).aggregate()


def _least_squares(cells: Comparisons, beta: float, ridge: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Scores, their covariance over sigma^2, and the degrees of freedom they use."""
    n = len(cells.models)
    pair = np.bincount(cells.first.astype(np.intp) * n + cells.second, cells.count, n * n).reshape(n, n)
    gram = np.diag((pair + pair.T).sum(axis=1)) - pair - pair.T
    pull = cells.count * (cells.outcome - beta)
    moment = np.bincount(cells.first, pull, n) - np.bincount(cells.second, pull, n)
    unit = np.linalg.pinv(gram + ridge * np.eye(n), hermitian=True)
    centre = np.eye(n) - 1 / n
    unit = centre @ unit @ centre  # the level is no score: a ridge alone would give it a variance
    return unit @ moment, unit, float(np.sum(unit * gram))


def _square_error(cells: Comparisons, line: np.ndarray) -> float:
    """Squared residuals summed over raw comparisons, whose outcomes are 1, 1/2 and 0."""
    tied = np.zeros(len(cells)) if cells.tied is None else cells.tied
    square = cells.outcome - tied / 4
    return max(0.0, float(np.sum(cells.count * (square - 2 * line * cells.outcome + line**2))))


# Graded response model of item response theory: judges who differ in discrimination and in how readily they tie.
#
# N. Otani, T. Nakazawa, D. Kawahara and S. Kurohashi (2016), IRT-based aggregation model of crowdsourced pairwise
# comparisons for evaluating machine translations, EMNLP, apply the model of F. Samejima (1969), Estimation of
# latent ability using a response pattern of graded scores, to comparisons: a judge's answer is an item with the
# ordered categories lose, tie, win. With discrimination a_k and thresholds b_c, P(answer >= c) = sigmoid(a_k
# (theta - b_c)).
#
# There theta is the quality of one system. Here any two models meet, so that theta becomes theta_i - theta_j, and
# the thresholds of a judge are symmetric, -b_k and b_k, lest the order of presentation matter:
#
#     P(win) = sigmoid(a_k (theta_i - theta_j - b_k)), P(lose) = sigmoid(a_k (theta_j - theta_i - b_k)).
#
# Estimates are the joint mode in (theta, log a, b) under independent priors: theta and log a normal, b half-
# normal. The likelihood does not know the scale of theta, 1 / a and b: priors alone set it, which shrinks the
# scores. The difference, the symmetric thresholds, the half-normal b, the joint mode and the spreads are this
# package's; the paper's own priors, baseline and algorithm could not be checked beyond its abstract.
LEAST_THRESHOLD = 1e-6  # of a judge with ties, whose probability is above zero
LARGEST_LOG = 10.0  # of a discrimination, up or down
LARGEST_GAP = 500.0  # between the predictors of a judge's thresholds; a tie is all but certain long before
START = 0.1  # thresholds of judges with ties
GRADED_OPTIONS = {"maxiter": 5000, "maxfun": 20_000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-9}


def graded_response(
    comparisons: Comparisons,
    *,
    score_spread: float = 1.0,
    log_discrimination_spread: float = 1.0,
    threshold_spread: float = 1.0,
) -> Ranking:
    """Scores, discriminations and thresholds at the mode of the posterior.

    Parameters
    ----------
    comparisons : Comparisons
        Raw, or aggregated and with their ties known (`Comparisons.with_ties`).
    score_spread, log_discrimination_spread, threshold_spread : float
        Standard deviations of the priors of theta and log a (about zero), and scale of that of b.

    Returns
    -------
    Ranking
        `scores` theta by model, which sum to zero; `judges` a by judge, above zero, so that a contrary judge
        counts for little and not for the opposite; `predict`, P(win) + P(tie) / 2.

    Raises
    ------
    ConfigError
        If a spread is not above zero.
    DataError
        If the rows are aggregated and have forgotten their ties.
    """
    spread = np.array([score_spread, log_discrimination_spread, threshold_spread])
    if not np.all((spread > 0) & np.isfinite(spread)):
        raise ConfigError(f"the spreads of priors must be above zero, not {', '.join(f'{v:g}' for v in spread)}")
    cells = unordered(comparisons.with_ties()).aggregate()
    n, k = len(cells.models), len(cells.judges)
    ties = np.bincount(cells.judge, cells.count * cells.tied, k) > 0
    bounds = [(None, None)] * n + [(-LARGEST_LOG, LARGEST_LOG)] * k
    bounds += [(LEAST_THRESHOLD, None) if some else (0.0, 0.0) for some in ties]  # no ties: the mode is b = 0
    x = np.r_[np.zeros(n + k), np.where(ties, START, 0.0)]
    optimum = minimize(
        _graded_loss,
        x,
        (cells, _answers(cells), spread),
        method="L-BFGS-B",
        jac=True,
        bounds=bounds,
        options=GRADED_OPTIONS,
    )
    scores = pd.Series(optimum.x[:n] - optimum.x[:n].mean(), cells.models, name="score")
    judges = pd.DataFrame({"a": np.exp(optimum.x[n : n + k]), "b": optimum.x[n + k :]}, cells.judges)

    def predict(new: Comparisons) -> np.ndarray:
        s = scores.loc[list(new.models)].to_numpy()
        a, b = judges.loc[list(new.judges)].to_numpy()[new.judge].T
        difference = s[new.first] - s[new.second]
        return (1 + expit(a * (difference - b)) - expit(-a * (difference + b))) / 2

    ended = optimum.nit < GRADED_OPTIONS["maxiter"] and optimum.nfev < GRADED_OPTIONS["maxfun"]
    remark = "" if ended else "The search stopped at its limit of iterations."
    return Ranking(scores, predict, judges=judges["a"].rename("discrimination"), remark=remark)


def _answers(cells: Comparisons) -> np.ndarray:
    """How many wins, ties and losses there are of the model shown first, shape (3, C)."""
    tie = cells.count * cells.tied
    win = np.maximum(cells.count * cells.outcome - tie / 2, 0.0)
    return np.array([win, tie, np.maximum(cells.count - win - tie, 0.0)])


def _graded_loss(
    x: np.ndarray, cells: Comparisons, answers: np.ndarray, spread: np.ndarray
) -> tuple[float, np.ndarray]:
    """Minus the log-posterior a comparison, and its gradient in (theta, log a, b), shape (N + 2 K,)."""
    n, k = len(cells.models), len(cells.judges)
    a, b = np.exp(x[n : n + k])[cells.judge], x[n + k :][cells.judge]
    difference = x[cells.first] - x[cells.second]
    upper, lower = a * (difference - b), a * (difference + b)  # of a win, and of a win or a tie
    win, tie, lose = answers
    log_upper, log_lower = log_expit(upper), log_expit(-lower)  # of a win, and of a loss
    # sigmoid(l) - sigmoid(u) = sigmoid(l) sigmoid(-u) (1 - exp(u - l)), and log sigmoid(-u) = log sigmoid(u) - u
    some = np.flatnonzero(tie)
    gap = np.minimum((lower - upper)[some], LARGEST_GAP)
    value = (win + tie) @ log_upper + (lose + tie) @ log_lower + tie @ (lower - upper)
    value += tie[some] @ np.log(-np.expm1(-gap))
    p_upper, p_lower = np.exp(log_upper), np.exp(log_lower)
    between = np.bincount(some, tie[some] / np.expm1(gap), len(cells))
    by_upper = win - (win + tie) * p_upper - between
    by_lower = (lose + tie) * p_lower - lose + between
    by_difference = a * (by_upper + by_lower)
    gradient = np.r_[
        np.bincount(cells.first, by_difference, n) - np.bincount(cells.second, by_difference, n),
        np.bincount(cells.judge, upper * by_upper + lower * by_lower, k),
        np.bincount(cells.judge, a * (by_lower - by_upper), k),
    ]
    precision = np.repeat(spread**-2.0, (n, k, k))
    value -= 0.5 * np.sum(precision * x**2)
    return -value / cells.n_comparisons, (precision * x - gradient) / cells.n_comparisons
