"""Do errors of the reported scale hold, in crowds too, and do boards that did not change stay as they are?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.boards.comparing import compare
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.presentation import leaderboard, win_rate_intervals
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile
from judgerank.model.members import JUDGE_AWARE, Parameters
from judgerank.order.scale import scale_at, scale_of
from judgerank.ranking.studies.panel import information_share
from replication.replicate import Record
from replication.tables import with_errors

SCORES = np.linspace(1.2, -1.2, 6)
PANELS: dict[str, list[float]] = {  # discriminations
    "like judges": [1.0] * 5,
    "usual spread": list(np.exp([0.6, 0.5, 0.2, -0.1, -1.2])),
    "one weak judge": [1.6, 1.6, 1.3, 1.0, 0.06],
    "one judge at zero": [1.6, 1.6, 1.3, 1.0, 0.0],
}


@dataclass(frozen=True)
class Boards:
    """Two boards of six models: standard deviation of their scores, and how the second comes from the first."""

    sd: float
    size: int = 600  # comparisons of each, where they are apart
    further: int = 0  # judges who join on the same questions; none: boards apart
    change: float = 0.0  # of one model


@dataclass(frozen=True)
class Crowd:
    """Judges, answers of each, spread of log-discriminations, share who toss coins, and whether camps are two."""

    judges: int
    answers: int
    sd: float
    coins: float = 0.0
    camps: bool = False


CROWDS = {
    "150 judges, 4 answers each": Crowd(150, 4, 0.5),
    "150 judges, 10 answers each": Crowd(150, 10, 0.5),
    "150 judges, 4 answers each, unlike": Crowd(150, 4, 0.8),
    "150 judges, 4 answers each, alike": Crowd(150, 4, 0.0),
    "30 judges, 20 answers each": Crowd(30, 20, 0.5),
    "30 judges, 20 answers each, half toss coins": Crowd(30, 20, 0.5, coins=0.5),
    "6 judges, 100 answers each, half toss coins": Crowd(6, 100, 0.5, coins=0.5),
    "30 judges, 20 answers each, two camps": Crowd(30, 20, 0.5, camps=True),
}
CROWD_MODELS = 8
BOARDS = {
    "apart, near models": Boards(0.16),
    "apart": Boards(0.8),
    "apart, one model up by 0.5": Boards(0.8, 1500, change=0.5),
    "further judges": Boards(0.8, further=2),
    "further judges prefer one model by 0.5": Boards(0.8, further=2, change=0.5),
}
JUDGES, QUESTIONS, PAIRS, TASTE = 5, 60, 4, 0.5  # of boards: questions' pairs, and what answers differ by


def drawn(rng: np.random.Generator, scores: np.ndarray, gamma: np.ndarray, position: np.ndarray, size: int):
    """Comparisons of random pairs in random order by random judges."""
    n, judge = len(scores), rng.integers(0, len(gamma), size)
    first = rng.integers(0, n, size)
    second = (first + rng.integers(1, n, size)) % n
    return _answered(rng, scores[first] - scores[second], first, second, judge, gamma, position)


def _answered(rng: np.random.Generator, lead, first, second, judge, gamma, position) -> Comparisons:
    won = rng.random(len(judge)) < expit(gamma[judge] * lead + position[judge])
    models = tuple(f"m{i}" for i in range(max(first.max(), second.max()) + 1))
    judges = tuple(f"j{k}" for k in range(len(gamma)))
    return Comparisons(models, judges, first, second, judge, won.astype(float), ordered=True)


def true_factor(gamma: np.ndarray, scores: np.ndarray = SCORES) -> float:
    """What takes true scores to the reported scale, judges being asked equally often."""
    n, judge = len(scores), np.arange(len(gamma))
    with np.errstate(divide="ignore"):
        parameters = Parameters(scores, np.log(gamma)[None, :])
    first, second, even = np.zeros_like(judge), np.ones_like(judge), np.full(len(judge), 0.5)
    cells = Comparisons(tuple(map(str, range(n))), tuple(map(str, judge)), first, second, judge, even)
    free = (gamma > 0)[None, :]
    return scale_at(cells, JUDGE_AWARE, parameters, free, np.r_[np.ones(n, bool), free[0]]).factor


def scored_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """Reported and paper's scores of one set with the former's errors, as lists; nothing without intervals."""
    gamma = np.array(PANELS[settings["panel"]])
    fitted = fit(drawn(rng, SCORES, gamma, np.zeros(len(gamma)), settings["size"]), "judge_aware")
    try:
        scale = scale_of(fitted)
        error = np.sqrt(np.diag(scale.covariance(fitted.covariance)))
    except JudgerankError:
        return {}
    own_scores = fitted.scores.to_numpy()
    named = {"score": scale.scores, "error": error, "paper": own_scores}
    return {f"{name}_{i}": float(x) for name, values in named.items() for i, x in enumerate(values)}


def scores_row(records: pd.DataFrame, panel: str, size: int, level: float) -> dict[str, Any]:
    """Spread over errors, coverage, and the relative spread of the first score on either scale."""
    complete_records = records.dropna(subset="score_0") if "score_0" in records else records.iloc[:0]
    n, n_sets = len(SCORES), len(complete_records)
    score, error, paper = (
        complete_records[[f"{name}_{i}" for i in range(n)]].to_numpy() for name in ("score", "error", "paper")
    )
    truth = true_factor(np.array(PANELS[panel])) * SCORES
    ratio = score.std(axis=0, ddof=1) / np.sqrt((error**2).mean(axis=0))
    held = np.abs(score - truth) <= normal_quantile(level) * error
    row: dict[str, Any] = {"panel": panel, "n_comparisons": size, "spread_over_error": ratio.mean()}
    row["spread_over_error_se"] = 1 / np.sqrt(2 * (n_sets - 1))  # of one model: that of the mean is no larger
    for name, values in (("coverage", held.mean(axis=1)), ("first", held[:, 0]), ("last", held[:, -1])):
        row |= {name: values.mean(), f"{name}_se": values.std(ddof=1) / np.sqrt(n_sets)}
    row |= {
        f"relative_spread_{name}": x[:, 0].std() / x[:, 0].mean() for name, x in (("", score), ("paper", paper))
    }
    row = {key.removesuffix("_"): value for key, value in row.items()}
    return row | {"failed": len(records) - n_sets, "n_replications": len(records)}


def crowd_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One crowd: what intervals of scores and win rates hold, the slope of scores, and errors of win rates.

    In two camps, two judges of five have other scores, so there are no true ones of all.
    """
    how, n = Crowd(**settings["how"]), CROWD_MODELS
    scores = rng.standard_normal(n)
    scores = (scores - scores.mean()) / scores.std()
    gamma = np.exp(how.sd * rng.standard_normal(how.judges)) * (np.arange(how.judges) >= how.coins * how.judges)
    of_judge = np.tile(scores, (how.judges, 1))
    if how.camps:
        of_judge[np.arange(how.judges) % 5 >= 3] = rng.permutation(scores)
    judge = np.repeat(np.arange(how.judges), how.answers)
    first = rng.integers(0, n, len(judge))
    second = (first + rng.integers(1, n, len(judge))) % n
    lead = of_judge[judge, first] - of_judge[judge, second]
    c = _answered(rng, lead, first, second, judge, gamma, np.zeros(how.judges))
    fitted = fit(c, settings["member"], shrink=True).clustered(c, np.arange(len(c)))
    try:
        board = leaderboard(fitted, settings["level"]).set_index("model").loc[list(c.models)]
        rates = win_rate_intervals(fitted, settings["level"]).loc[list(c.models)]
    except JudgerankError:
        return {}
    quality = gamma[:, None] * of_judge
    true_rates = (expit(quality[:, :, None] - quality[:, None, :]).mean(axis=0).sum(axis=1) - 0.5) / (n - 1)
    row = {"win_rate": ((rates["low"] <= true_rates) & (true_rates <= rates["high"])).mean()}
    row |= {f"{x}_off": float(np.sqrt(np.mean((board[x] - true_rates) ** 2))) for x in ("win_rate", "share_won")}
    if not how.camps:
        true = true_factor(gamma, scores) * scores
        row["score"] = ((board["low"] <= true) & (true <= board["high"])).mean()
        row["slope"] = float(board["score"] @ true / (true @ true))
    return {name: float(value) for name, value in row.items()}


def crowd_row(records: pd.DataFrame, name: str) -> dict[str, Any]:
    """Means over the sets of one kind of crowd, with Monte Carlo errors."""
    complete_records = records.dropna(how="all")
    measured = complete_records.reindex(columns=["score", "slope", "win_rate", "win_rate_off", "share_won_off"])
    row = {"crowd": name, **asdict(CROWDS[name]), **with_errors(measured)}
    return row | {"failed": len(records) - len(complete_records), "n_replications": len(records)}


def compared_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """Two boards: whether any model is said to have moved, and whether the first is."""
    how = Boards(**settings["how"])
    scores = rng.standard_normal(len(SCORES))
    scores = (scores - scores.mean()) / scores.std() * how.sd
    changed_scores = scores + how.change * (np.arange(len(scores)) == 0)
    n_judges = JUDGES + how.further
    gamma, position = np.exp(0.4 * rng.standard_normal(n_judges)), 0.3 * rng.standard_normal(n_judges)
    if how.further:
        old, new = _grown(rng, scores, changed_scores, gamma, position)
    else:
        old, new = (
            fit(drawn(rng, x, gamma, position, how.size), "position_aware") for x in (scores, changed_scores)
        )
    moved_models = compare(old, new, settings["level"]).moved
    return {"any": float(bool(moved_models)), "first": float("m0" in moved_models)}


def _grown(rng, scores, changed_scores, gamma, position) -> tuple[Fit, Fit]:
    """The first judges' board, and that of all judges, on the same answers; errors by question."""
    n, n_judges = len(scores), len(gamma)
    answers = TASTE * rng.standard_normal((QUESTIONS, n))
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(QUESTIONS * PAIRS)])
    first, second = np.repeat(pairs, n_judges, axis=0).T
    question = np.repeat(np.arange(QUESTIONS), PAIRS * n_judges)
    judge = np.tile(np.arange(n_judges), len(pairs))
    quality = np.where((judge < JUDGES)[:, None], scores, changed_scores) + answers[question]
    row = np.arange(len(judge))
    all_rows = _answered(rng, quality[row, first] - quality[row, second], first, second, judge, gamma, position)
    rows = np.flatnonzero(judge < JUDGES)
    part = all_rows.take(rows).with_judges(all_rows.judges[:JUDGES])
    fits = (
        fit(c, "position_aware", question=question_of_row, cluster="question")
        for c, question_of_row in ((part, question[rows]), (all_rows, question))
    )
    return next(fits), next(fits)


def compared_row(records: pd.DataFrame, name: str) -> dict[str, Any]:
    """How often a model is said to have moved, with Monte Carlo errors."""
    complete_records = records.dropna(subset="any")
    row = {"boards": name, **asdict(BOARDS[name]), **with_errors(complete_records[["any", "first"]])}
    return row | {"failed": len(records) - len(complete_records), "n_replications": len(records)}


def without_useless(judgments: Judgments, member: str, least: float) -> dict[str, Any]:
    """The range of the scores with all judges and without those of less than a share of the information."""
    c = judgments.comparisons
    full_fit = fit(c, member)
    share = information_share(full_fit)
    useful = [judge for judge in c.judges if share[judge] >= least]
    rest = fit(c.with_judges(useful), member)
    ranges = {
        "range": (np.ptp(scale_of(full_fit).scores), np.ptp(scale_of(rest).scores)),
        "paper": (np.ptp(full_fit.scores), np.ptp(rest.scores)),
    }
    row: dict[str, Any] = {
        "dataset": judgments.name,
        "judges": len(c.judges),
        "useless": len(c.judges) - len(useful),
    }
    for name, (before, after) in ranges.items():
        row |= {name: before, f"{name}_without": after, f"{name}_change": after / before - 1}
    return row
