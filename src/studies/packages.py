"""Other packages on the same judgments: order, intervals and time, each with its own defaults unless stated here.

The packages are not in the lock file: arena-rank fixes versions of numpy and jax. `make packages` installs them in
an environment of their own. What is not installed is left out, and the table of methods says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

import judgerank
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, JudgerankError
from judgerank.gating.decision import BLOCK, INCONCLUSIVE, SHIP
from judgerank.gating.scores import scored
from replication.replicate import Record
from replication.statistics import spearman
from studies.gates import RULE, TRUTHS, drawn, verdict_of
from studies.methods.judge_models import by_evaluatorq
from studies.methods.study import drawn_panel

Frame = pd.DataFrame
OURS = "judgerank"
RIDGE = 0.1  # of choix: without it, a model that wins or loses everything has no score
WINNER = {"a": "model_a", "b": "model_b", "c": "tie"}  # as judgerank and arena-rank name them
NOT_INSTALLED = ""
COMMAND = "rank"  # the command with all its tests and tables, beside the fits
LONG = 5.0  # seconds after which a method is timed once


@dataclass(frozen=True)
class Scored:
    """Scores of the models on the method's own scale, larger is better, and their intervals if it has any."""

    scores: pd.Series
    low: pd.Series | None = None
    high: pd.Series | None = None


@dataclass(frozen=True)
class Settings:
    """What methods depend on: the level of intervals, and how many resamples a bootstrap has."""

    level: float
    bootstraps: int


# Methods: from comparisons to scores.


def by_default(rows: Comparisons, settings: Settings) -> Scored:
    """The fit that `judgerank rank` reports unless a user says otherwise."""
    return _of_fit(judgerank.fit(rows, "position_aware", shrink=True), settings)


def by_equal_weights(rows: Comparisons, settings: Settings) -> Scored:
    return _of_fit(judgerank.fit(rows, "btl"), settings)


def _of_fit(fitted: judgerank.Fit, settings: Settings) -> Scored:
    intervals = fitted.confidence_intervals(settings.level).query("parameter == 'score'").set_index("name")
    return Scored(fitted.scores, intervals["low"], intervals["high"])


def by_evalica(rows: Comparisons, settings: Settings) -> Scored:
    """Bradley-Terry with evalica's percentile bootstrap, of log scores about their mean."""
    import evalica

    result = evalica.bootstrap(
        evalica.bradley_terry,
        *_columns_of_evalica(rows),
        n_resamples=settings.bootstraps,
        bootstrap_method="percentile",
        random_state=0,
    )
    drawn_scores = np.log(result.distribution)
    drawn_scores = drawn_scores.sub(drawn_scores.mean(axis=1), axis=0)
    ends = drawn_scores.quantile([0.5 - settings.level / 2, 0.5 + settings.level / 2])
    scores = np.log(result.result.scores)
    return Scored(scores - scores.mean(), *(ends.iloc[row].set_axis(drawn_scores.columns) for row in (0, 1)))


def by_win_rate(rows: Comparisons, settings: Settings) -> Scored:
    import evalica

    return Scored(evalica.average_win_rate(*_columns_of_evalica(rows)).scores)


def _columns_of_evalica(rows: Comparisons) -> tuple[pd.Series, pd.Series, list]:
    import evalica

    frame = rows.to_frame()
    winner = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "c": evalica.Winner.Draw}
    return frame["model_a"], frame["model_b"], frame["judge_preferred_model"].map(winner).tolist()


def by_choix(rows: Comparisons, settings: Settings) -> Scored:
    import choix

    wins = np.zeros((len(rows.models), len(rows.models)))
    np.add.at(wins, (rows.first, rows.second), rows.count * rows.outcome)
    np.add.at(wins, (rows.second, rows.first), rows.count * (1 - rows.outcome))
    return Scored(pd.Series(choix.ilsr_pairwise_dense(wins, alpha=RIDGE), list(rows.models)))


def by_arena_rank(rows: Comparisons, settings: Settings) -> Scored:
    """Ratings with its sandwich intervals."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    frame = rows.to_frame()
    pairs = PairDataset.from_pandas(frame.assign(winner=frame["judge_preferred_model"].map(WINNER)))
    model = BradleyTerry(n_competitors=pairs.n_competitors)
    intervals = model.compute_ratings_and_cis(pairs, significance_level=1 - settings.level)
    names = [str(name) for name in intervals["competitors"]]
    columns = (intervals[key] for key in ("ratings", "rating_lower", "rating_upper"))
    return Scored(*(pd.Series(np.asarray(values), names) for values in columns))


def by_fit_bt(rows: Comparisons, settings: Settings) -> Scored:
    return Scored(by_evaluatorq(rows).scores)


def by_noisy(rows: Comparisons, settings: Settings) -> Scored:
    from crowdkit.aggregation.pairwise.noisy_bt import NoisyBradleyTerry

    scores = NoisyBradleyTerry().fit_predict(_rows_of_workers(rows))
    return Scored(pd.Series(scores.to_numpy(), scores.index.tolist()))


def _rows_of_workers(rows: Comparisons) -> Frame:
    """As crowd-kit has them: it knows no ties, so they are left out."""
    frame = rows.to_frame().query("judge_preferred_model != 'c'")
    label = frame["model_a"].where(frame["judge_preferred_model"] == "a", frame["model_b"])
    return pd.DataFrame(
        {"worker": frame["judge_model"], "left": frame["model_a"], "right": frame["model_b"], "label": label}
    )


# method: its package, what it is called there, and its function
METHODS: dict[str, tuple[str, str, Callable[[Comparisons, Settings], Scored]]] = {
    "default": (OURS, "position-aware, shrunk (default)", by_default),
    "equal weights": (OURS, "`--model btl`", by_equal_weights),
    "noisy": ("crowd-kit", "`NoisyBradleyTerry`", by_noisy),
    "fit_bt": ("evaluatorq", "`fit_bt` (BT-sigma)", by_fit_bt),
    "arena_rank": ("arena-rank", "`BradleyTerry`", by_arena_rank),
    "evalica": ("evalica", "`bradley_terry`, bootstrap", by_evalica),
    "win_rate": ("evalica", "`average_win_rate`", by_win_rate),
    "choix": ("choix", "`ilsr_pairwise_dense`, ridge", by_choix),
}
OF_SCORES, OF_GATES = "honestboard", "statgate"  # not for judgments of pairs: compared on boards and on changes


def installed_version(package: str) -> str:
    """Its version; `NOT_INSTALLED` where it is not there. This one is there in any case."""
    if package == OURS:
        return judgerank.__version__
    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_INSTALLED


def methods_at_hand(chosen: Sequence[str] = ()) -> list[str]:
    """Methods whose package is installed; of those chosen, if any are."""
    return [
        name
        for name, (package, *_) in METHODS.items()
        if installed_version(package) and name in (chosen or METHODS)
    ]


# One data set: every method against what is known.


def against(truth: pd.Series, scored_models: Scored) -> dict[str, float]:
    """Spearman's correlation with the truth and, where there are intervals, the share that covers it.

    Scales differ by method: intervals are compared with the true scores about their mean times the constant, zero
    or above, that fits the method's scores best.
    """
    scores = scored_models.scores.reindex(truth.index)
    record = {"spearman": spearman(scores, truth)}
    if scored_models.low is not None and scored_models.high is not None:
        middle, centred = scores.mean(), truth - truth.mean()
        target = middle + centred * max(0.0, float((scores - middle) @ centred / (centred @ centred)))
        covers = (scored_models.low[truth.index] <= target) & (target <= scored_models.high[truth.index])
        record["coverage"] = float(covers.mean())
    return record


def by_every_method(rows: Comparisons, truth: pd.Series, settings: Settings, chosen: Sequence[str] = ()) -> Record:
    """What `against` says of every method by name, or why it gives no scores."""
    record: Record = {}
    for name in methods_at_hand(chosen):
        try:
            record[name] = against(truth, METHODS[name][2](rows, settings))
        except ConfigError:
            raise
        except (JudgerankError, ArithmeticError, ValueError, RuntimeError) as error:
            record[name] = {"failure": f"{type(error).__name__}: {error}"}
    return record


def sampled(cell: dict[str, Any], rng: np.random.Generator, shared: tuple[Comparisons, pd.Series]) -> Record:
    """A sample without replacement of a set, or all of it where its size is 0, against people."""
    rows, people = shared
    if cell["size"]:
        rows = rows.take(np.sort(rng.permutation(len(rows))[: cell["size"]]))
    return by_every_method(rows, people, Settings(cell["level"], cell["bootstraps"]))


def simulated(cell: dict[str, Any], rng: np.random.Generator) -> Record:
    """A panel whose truth is drawn anew."""
    rows, truth, _ = drawn_panel(cell["panel"], rng)
    return by_every_method(rows, truth, Settings(cell["level"], cell["bootstraps"]))


def with_fixed_idea(cell: dict[str, Any], rng: np.random.Generator) -> Record:
    """Honest judges and one who always prefers the alphabetically first model; what `rank` says of that one."""
    rows, truth, question = drawn_fixed_idea(cell, rng)
    record = by_every_method(rows, truth, Settings(cell["level"], cell["bootstraps"]), cell["methods"])
    ranking = judgerank.rank(rows.to_frame().assign(question_id=question))
    fixed = rows.judges[-1]
    judge = ranking.judges.set_index("judge").loc[fixed]
    warned = any(line.startswith("Warning") and fixed in line for line in ranking.summary().splitlines())
    return record | {
        "weight": float(judge["information"]),
        "decides": float(judge["information"] > 0.5),
        "warned": float(warned),
        "verdict": str(judge["verdict"]),
    }


def drawn_fixed_idea(
    cell: Mapping[str, Any], rng: np.random.Generator
) -> tuple[Comparisons, pd.Series, np.ndarray]:
    """Comparisons, true scores, and the question of each: one pair a question, seen by all in orders at random."""
    n, k, size = cell["n_models"], cell["n_honest"] + 1, cell["n_questions"]
    models = tuple(f"m{i:02d}" for i in range(n))
    scores = rng.normal(size=n)
    pair = np.array([rng.choice(n, 2, replace=False) for _ in range(size)])
    question, judge = (index.ravel() for index in np.indices((size, k)))
    is_turned = rng.random(len(question)) < 0.5
    first, second = (np.where(is_turned, pair[question, 1 - end], pair[question, end]) for end in (0, 1))
    won = rng.random(len(question)) < expit(cell["discrimination"] * (scores[first] - scores[second]))
    won = np.where(judge == k - 1, first < second, won)
    judges = (*(f"honest-{i}" for i in range(k - 1)), "fixed-idea")
    rows = Comparisons(models, judges, first, second, judge, won.astype(float))
    return rows, pd.Series(scores, list(models)), question


def on_board(cell: dict[str, Any], rng: np.random.Generator) -> Record:
    """Rank intervals on a board of scores: how many ranks they hold, whether all, and how wide they are."""
    n, size = cell["n_models"], cell["n_tasks"]
    quality = 0.5 + cell["sigma_models"] * rng.normal(size=n)
    task = cell["sigma_tasks"] * rng.normal(size=(size, 1))
    scores = np.clip(quality + task + cell["sigma_noise"] * rng.normal(size=(size, n)), 0, 1)
    names = [f"model-{i}" for i in range(n)]
    truth = pd.Series(quality, names)
    board = pd.DataFrame(scores, columns=names)
    board.insert(0, "task", [f"task-{i:03d}" for i in range(size)])
    ours = judgerank.rank(board).leaderboard.set_index("model")
    record = {OURS: held(truth, ours["score"], ours["rank_low"], ours["rank_high"])}
    if installed_version(OF_SCORES):
        import honestboard

        summary = honestboard.Board(names, scores.T).rank_summary(B=cell["bootstraps"])
        theirs = pd.DataFrame(summary).set_index("name")
        record[OF_SCORES] = held(truth, theirs["score"], theirs["rank_lo"], theirs["rank_hi"])
    return record


def held(truth: pd.Series, scores: pd.Series, low: pd.Series, high: pd.Series) -> dict[str, float]:
    """Correlation with the truth, share of true ranks within their intervals, whether all are, and mean width."""
    rank = truth.rank(ascending=False)
    covers = (low[truth.index] <= rank) & (rank <= high[truth.index])
    return {
        "spearman": spearman(scores[truth.index], truth),
        "ranks_held": float(covers.mean()),
        "all_held": float(covers.all()),
        "width": float((high - low + 1).mean()),
    }


def gated(cell: dict[str, Any], rng: np.random.Generator) -> Record:
    """What either gate says of a change, at the same margin and the same one-sided level."""
    preference, first = drawn(rng, cell["n_questions"], cell["n_judges"], cell["condition"], TRUTHS[cell["truth"]])
    record = {OURS: verdict_of(scored(preference, first))}
    if installed_version(OF_GATES):
        from statgate import EvalRecord, GateSettings, evaluate_gate

        share = np.nanmean(preference, axis=1)
        sides = (
            [EvalRecord(case_id=f"q{q}", score=float(value)) for q, value in enumerate(values)]
            for values in (1 - share, share)
        )
        rule = GateSettings(
            alpha=2 * RULE.alpha, margin=2 * RULE.margin, resamples=cell["bootstraps"], permutations=100, seed=0
        )
        words = {"SHIP": SHIP, "BLOCK": BLOCK, "INCONCLUSIVE": INCONCLUSIVE}
        record[OF_GATES] = words[str(evaluate_gate(*sides, rule).verdict)]
    return record


# Time, in one run.


def times(frame: Frame, settings: Settings, repeats: int) -> dict[str, float]:
    """Processor seconds of every method at hand on one set, from its records.

    The median of the repeats counts. A first one, with all that is imported and compiled, does not, unless it took
    so long that there is no other.
    """
    runs = {name: partial(_from_frame, METHODS[name][2], frame, settings) for name in methods_at_hand()}
    seconds = {}
    for name, run in (runs | {COMMAND: partial(judgerank.rank, frame)}).items():
        spent = [_spent(run)]
        while len(spent) <= repeats and spent[0] < LONG:
            spent.append(_spent(run))
        seconds[name] = median(spent[1:] or spent)
    return seconds


def _from_frame(method: Callable[[Comparisons, Settings], Scored], frame: Frame, settings: Settings) -> Scored:
    return method(Comparisons.from_frame(frame), settings)


def _spent(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


# Tables.


def agreement_rows(kind: str, title: str, records: list[Record], measures: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each method: means with Monte Carlo errors over the data sets that it could rank."""
    rows = []
    for name in (name for name in METHODS if name in records[0]):
        frame = pd.DataFrame([record[name] for record in records])
        failed = int(frame["failure"].notna().sum()) if "failure" in frame else 0
        row: dict[str, Any] = {"kind": kind, "data": title, "package": METHODS[name][0], "method": name}
        row |= {"n": len(frame), "n_ranked": len(frame) - failed}
        rows.append(row | means(frame, measures))
    return rows


def of_fixed_idea(records: Frame) -> dict[str, Any]:
    """Weight of the judge with the fixed idea, how often it decides and is named in a warning, and its verdict."""
    return means(records, ("weight", "decides", "warned")) | {"verdict": records["verdict"].mode()[0]}


def board_rows(title: str, records: list[Record]) -> list[dict[str, Any]]:
    """A row for each package that ranks boards of scores."""
    rows = []
    for package in (package for package in (OURS, OF_SCORES, OF_GATES) if package in records[0]):
        frame = pd.DataFrame([record[package] for record in records])
        row: dict[str, Any] = {"kind": "board", "data": title, "package": package, "method": package}
        row |= {"n": len(frame), "n_ranked": len(frame)}
        rows.append(row | means(frame, ("spearman", "ranks_held", "all_held", "width")))
    return rows


def gate_rows(condition: str, truth: str, records: list[Record]) -> list[dict[str, Any]]:
    """A row for each gate: shares of its verdicts."""
    rows = []
    for package in (package for package in (OURS, OF_SCORES, OF_GATES) if package in records[0]):
        verdicts = pd.Series([record[package] for record in records])
        shares = {word: float((verdicts == word).mean()) for word in (SHIP, BLOCK, INCONCLUSIVE)}
        row: dict[str, Any] = {"kind": "gate", "data": condition, "package": package, "method": package}
        rows.append(row | {"n": len(verdicts), "truth": truth, "win_rate": TRUTHS[truth]} | shares)
    return rows


def means(frame: Frame, measures: Sequence[str]) -> dict[str, float]:
    """Means of the measures that the frame has, over data sets, and their Monte Carlo errors."""
    row = {}
    for measure in measures:
        values = frame[measure].dropna() if measure in frame else pd.Series(dtype=float)
        if len(values):
            row[measure] = values.mean()
        if len(values) > 1:
            row[f"{measure}_se"] = values.std() / np.sqrt(len(values))
    return row


def methods_table(seconds: Mapping[str, float], ours: str = "default") -> Frame:
    """Packages with versions, and the time of each method over that of `judgerank`'s default fit."""
    rows = [
        {"package": package, "version": installed_version(package), "method": name, "title": title}
        | {"ratio": seconds[name] / seconds[ours] if name in seconds else np.nan}
        for name, (package, title, _) in METHODS.items()
    ]
    others = {
        COMMAND: (OURS, "`judgerank rank` with all its tests"),
        OF_SCORES: (OF_SCORES, "`Board.rank_summary`"),
        OF_GATES: (OF_GATES, "`evaluate_gate`"),
    }
    rows += [
        {"package": package, "version": installed_version(package), "method": name, "title": title}
        | {"ratio": seconds[name] / seconds[ours] if name in seconds else np.nan}
        for name, (package, title) in others.items()
    ]
    return pd.DataFrame(rows)
