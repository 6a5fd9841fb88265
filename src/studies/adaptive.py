"""Collections by rounds: simulated to their stop, and data sets played back, by every rule of choosing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
import pandas as pd
from scipy.special import betaincinv, expit

from judgerank.adaptive import spent_at
from judgerank.adaptive.choosing import RULES
from judgerank.adaptive.goals import Goal
from judgerank.adaptive.rounds import Answers, Drawn, collect_until
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoIntervalError
from judgerank.fits.result import Fit
from judgerank.model.members import Parameters
from judgerank.order.pairs import Order, orders
from replication.replicate import Record
from replication.statistics import kendall
from studies.dependence import standardised_errors

MODEL = "position_aware"
N_JUDGES = 4
ALPHA_SPREAD = 0.8  # log-discriminations from minus that to that
GOALS = {"top 2": Goal("top", 2), "all": Goal("all")}
SPREAD = np.linspace(1.0, -1.0, 8)
# Scores in falling order; where two are equal, no claim about their order is so. Of 40 questions every judge is
# asked every pair in both orders in the end: then all is sure about these answers, and little about the models.
NULLS = {
    "second and third equal": {"scores": [0.9, 0.2, 0.2, -0.2, -0.4, -0.7], "goal": "top 2"},
    "two neighbours equal": {"scores": [1.2, 0.6, 0.0, 0.0, -0.6, -1.2], "goal": "all"},
    "all equal": {"scores": [0.0] * 6, "goal": "top 2"},
    "40 questions, second and third equal": {
        "scores": [0.9, 0.2, 0.2, -0.2, -0.4, -0.7], "goal": "top 2", "questions": 40, "question_sd": 1.0
    },
}  # fmt: skip
# Judges with tastes: what each of four thinks of eight models is gamma_k (s + t_k), in units of scores but for one
# judge's favourite, in log-odds as it shows in its answers. Sizes are those at which scores are compared.
PANELS: dict[str, dict[str, float]] = {
    "no tastes": {},
    "tastes of half a score's deviation": {"sd": 0.5},
    "the sharpest judge favours the third model": {"favourite": 1.5},
}
NEVER = 1 - 1e-15  # level at which no claim is sure: a collection goes on
GAMMA, FAVOURITE = np.array([2.0, 1.2, 0.6, 0.25]), 2
SIZES, HALF_WAY = (300, 600, 1200, 2400), 1200
MEASURES = ("pair", "claims", "scores")
SLOW = ("all equal", "40 questions, second and third equal")  # to fit, or to be asked all


class Replayed:
    """The judgments of a data set, each given out once, in random order within its pair, judge and order."""

    def __init__(self, rows: Comparisons, rng: np.random.Generator):
        self.models, self.judges = rows.models, rows.judges
        self.costs = np.ones(len(rows.judges))
        shape = len(rows.models), len(rows.models), len(rows.judges)
        cell = np.ravel_multi_index((rows.first, rows.second, rows.judge), shape)
        order = rng.permutation(len(cell))
        order = order[np.argsort(cell[order], kind="stable")]
        self._outcomes = rows.outcome[order]
        n_per_cell = np.bincount(cell, minlength=int(np.prod(shape)))
        self._next = np.cumsum(n_per_cell) - n_per_cell
        self.left = n_per_cell.reshape(shape)

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> Answers:
        outcomes = np.empty(len(first))
        cells = np.ravel_multi_index((first, second, judge), self.left.shape)
        for index, cell in enumerate(cells.tolist()):
            outcomes[index] = self._outcomes[self._next[cell]]
            self._next[cell] += 1
        np.subtract.at(self.left, (first, second, judge), 1)
        return Answers(outcomes)


def truth(scores: FloatArray) -> Parameters:
    """Scores before judges of unequal discrimination who each lean to a place."""
    position = np.where(np.arange(N_JUDGES) % 2, 0.3, -0.2)
    return Parameters(
        scores - scores.mean(), np.array([np.linspace(-ALPHA_SPREAD, ALPHA_SPREAD, N_JUDGES), position])
    )


def stopped(settings: dict, rng: np.random.Generator) -> Record:
    """One simulated collection: whether and when it stopped, and whether it then claimed what is not so.

    ``naive`` is whether looking at alpha, at every look, would have stopped at a false claim; ``independent``
    whether the rule would have, were errors the model's alone.
    """
    scores, goal = np.array(settings["scores"]), GOALS[settings["goal"]]
    alpha, questions = 1 - settings["level"], settings.get("questions")
    look_numbers = count(1)

    def claims(order: Order) -> tuple[float, bool]:
        """The least sure of the claims, and whether all of them are so."""
        i, j = goal.pairs(len(scores))
        scores_in_order = scores[[int(name.removeprefix("m")) for name in order.models]]
        return order.p_value[i, j].max() * goal.false_claims(len(scores)), bool(
            (scores_in_order[i] > scores_in_order[j]).all()
        )

    def watch(result: Fit, order: Order | None) -> dict[str, float]:
        hurdle = spent_at(next(look_numbers), alpha)
        if order is None:
            return {"p": np.nan, "right": np.nan, "independent": False}
        p, right = claims(order)
        alone = p if questions is None else claims(next(orders(result)))[0]
        return {"p": p, "right": right, "independent": alone <= hurdle and not right}

    oracle = Drawn(truth(scores), rng, questions=questions, question_sd=settings.get("question_sd", 0.0))
    run = collect_until(
        oracle, goal, rng, settings["rule"], settings["level"], settings["most"], MODEL, watch=watch
    )
    last = run.looks.iloc[-1]
    naive = run.looks[(run.looks["p"] <= alpha) & (run.looks["right"] == 0)]
    return {
        "stopped": run.reached,
        "wrong": bool(run.reached and not last["right"]),
        "naive": len(naive) > 0,
        "independent": bool(run.looks["independent"].any()),
        "comparisons": int(last["comparisons"]),
        "looks": len(run.looks),
    }


class Opinionated(Drawn):
    """Judges who each have an opinion of their own of every model."""

    def __init__(self, sd: float, favourite: float, rng: np.random.Generator):
        super().__init__(Parameters(SPREAD, np.array([np.log(GAMMA), [0.2, -0.3, 0.2, -0.3]])), rng)
        tastes = rng.normal(0.0, sd * SPREAD.std(), (len(GAMMA), len(SPREAD)))
        self.thought = GAMMA[:, None] * (SPREAD + tastes)
        self.thought[GAMMA.argmax(), FAVOURITE] += favourite

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> Answers:
        eta = self.thought[judge, first] - self.thought[judge, second] + self._truth.judges[1, judge]
        return Answers((self._rng.random(len(first)) < expit(eta)).astype(float))


def squared_errors(scores: FloatArray, goal: Goal) -> dict[str, float]:
    """Of standardised scores: the decisive pair's difference, all claims' differences, and all scores."""
    away = (scores - scores.mean()) / scores.std() - (SPREAD - SPREAD.mean()) / SPREAD.std()
    i, j = goal.pairs(len(scores))
    top = int(goal.size)
    differences = {"pair": away[top - 1] - away[top], "claims": away[i] - away[j], "scores": away}
    return {measure: float(np.mean(np.square(value))) for measure, value in differences.items()}


def asked_on(settings: dict, rng: np.random.Generator) -> Record:
    """One panel asked by one rule to the largest size, never stopped: squared errors against the true scores."""
    goal = GOALS["top 2"]
    oracle = Opinionated(settings.get("sd", 0.0), settings.get("favourite", 0.0), rng.spawn(1)[0])
    record: Record = {}

    def watch(result: Fit, order: Order | None) -> dict[str, float]:
        cells = result.comparisons
        size = int(cells.count.sum())
        if size in SIZES:
            scores = result.scores.to_numpy()
            errors = squared_errors(scores, goal)
            record.update({f"{measure}/{size}": value for measure, value in errors.items()})
            of_sharpest = cells.count[cells.judge == GAMMA.argmax()].sum()
            record[f"share/{size}"] = float(of_sharpest / size)
            record[f"wrong/{size}"] = float(set(np.argsort(-scores)[: int(goal.size)]) != {0, 1})
        return {}

    answers: Comparisons | None = None
    for most in SIZES:
        run = collect_until(oracle, goal, rng, settings["rule"], NEVER, most, MODEL, watch=watch, known=answers)
        answers = run.result.raw
    return record


def played_back(settings: dict, rng: np.random.Generator, shared: tuple[Comparisons, FloatArray]) -> Record:
    """One data set played back by one rule: Kendall's tau with the fit of all of it, and errors, at every look."""
    rows, reference = shared

    def watch(result: Fit, order: Order | None) -> dict[str, float]:
        tau = kendall(result.solution.parameters.scores, reference)
        try:
            return {"tau": tau, "error": float(standardised_errors(result).mean())}
        except NoIntervalError:
            return {"tau": tau, "error": np.nan}

    most = int(settings["share"] * len(rows))
    run = collect_until(
        Replayed(rows, rng),
        Goal("all"),
        rng,
        settings["rule"],
        settings["level"],
        most,
        MODEL,
        settings["growth"],
        watch,
    )
    columns = ("comparisons", "open", "tau", "error")
    return {
        f"{column}/{look}": float(run.looks[column].iloc[look])
        for look in range(len(run.looks))
        for column in columns
    }


def false_stops(records: pd.DataFrame) -> dict[str, float]:
    """Share of wrong stops with its Monte Carlo error and exact 95% upper end.

    Beside it what looking naively would have done, and what errors of independent comparisons would have.
    """
    n = len(records)
    wrong, naive, independent = (int(records[name].sum()) for name in ("wrong", "naive", "independent"))
    return {
        "runs": n,
        "wrong": wrong,
        "rate": wrong / n,
        "rate_se": np.sqrt(wrong * (n - wrong) / n**3),
        "rate_upper": 1.0 if wrong == n else float(betaincinv(wrong + 1, n - wrong, 0.95)),
        "naive": naive,
        "naive_rate": naive / n,
        "naive_rate_se": np.sqrt(naive * (n - naive) / n**3),
        "independent": independent,
        "independent_rate": independent / n,
        "independent_rate_se": np.sqrt(independent * (n - independent) / n**3),
        "looks": records["looks"].mean(),
    }


def asked_row(records: pd.DataFrame, size: int) -> dict[str, float]:
    """Root mean squared errors at one size, and the shares of the sharpest judge and of wrong tops."""
    row: dict[str, float] = {}
    for measure in MEASURES:
        squares = records[f"{measure}/{size}"]
        row[measure] = float(np.sqrt(squares.mean()))
        row[f"{measure}_se"] = float(squares.sem() / (2 * row[measure]))
    for name in ("share", "wrong"):
        row[name], row[f"{name}_se"] = records[f"{name}/{size}"].mean(), records[f"{name}/{size}"].sem()
    return row


def saved_at_true_error(information: pd.DataFrame, random: pd.DataFrame, measure: str) -> dict[str, float]:
    """Share of comparisons saved at random choice's error half way, with a jackknife error over panels.

    Between sizes errors are taken on the logarithm. A choice that is never as good counts with the largest size,
    one that is better at the smallest with that.
    """

    def saved(panels: pd.Index) -> float:
        looks = pd.DataFrame({"comparisons": SIZES})
        columns = [f"{measure}/{size}" for size in SIZES]
        looks["error"] = np.sqrt(information.loc[panels, columns].mean().to_numpy())
        target = np.sqrt(random.loc[panels, f"{measure}/{HALF_WAY}"].mean())
        n_needed = needed(looks, "error", target)
        return 1 - (SIZES[-1] if np.isnan(n_needed) else n_needed) / HALF_WAY

    n = len(information)
    without_one = np.array([saved(information.index.drop(index)) for index in information.index])
    spread = without_one - without_one.mean()
    return {"saved": saved(information.index), "saved_se": float(np.sqrt((n - 1) / n * (spread**2).sum()))}


def path(record: Record) -> pd.DataFrame:
    """The looks of one playback: ``comparisons, open, tau, error``."""
    cells = pd.Series({tuple(key.split("/")): value for key, value in record.items() if "/" in key}, dtype=float)
    table = cells.unstack(0)
    return table.set_axis(table.index.astype(int)).sort_index()


def paths(records: Iterator[Record], rule: str) -> pd.DataFrame:
    """All looks of all playbacks by one rule."""
    parts = [path(record).assign(playback=number) for number, record in enumerate(records)]
    return pd.concat(parts).rename_axis("look").reset_index().assign(rule=rule)


def needed(looks: pd.DataFrame, measure: str, target: float) -> float:
    """Comparisons of one playback at which a measure first is as good; NaN if never.

    Between looks it is taken on the logarithm. Errors fall and tau rises: the best so far counts.
    """
    size = np.log(looks["comparisons"].to_numpy())
    value = -np.log(looks["error"].to_numpy()) if measure == "error" else looks["tau"].to_numpy()
    goal = -np.log(target) if measure == "error" else target
    best = np.fmax.accumulate(value)
    first = int(np.searchsorted(best, goal))
    if first == 0:
        return float(np.exp(size[0]))
    if first == len(best):
        return np.nan
    share = (goal - best[first - 1]) / (best[first] - best[first - 1])
    return float(np.exp(size[first - 1] + share * (size[first] - size[first - 1])))


def savings(looks: pd.DataFrame) -> pd.DataFrame:
    """Comparisons that each rule takes to be as good as random ones are on average half way.

    Half way, since at the end of a playback little is left to choose from.

    ``rule, measure, target, comparisons, comparisons_se, saved, saved_se, never``: means over playbacks, and how
    many never were as good, which count with all their comparisons. Savings are against random ones; their errors
    have those of both.
    """
    n_all = looks["comparisons"].max()
    random = looks[looks["rule"] == "random"].groupby("look")[["comparisons", "tau", "error"]].mean()
    targets = random[random["comparisons"] >= n_all / 2].iloc[0][["tau", "error"]]
    rows = []
    for measure, target in targets.items():
        plain: tuple[float, float] = (np.nan, np.nan)
        for rule in [name for name in RULES if name in set(looks["rule"])]:
            parts = [part for _, part in looks[looks["rule"] == rule].groupby("playback")]
            n_needed = pd.Series([needed(part, measure, target) for part in parts])
            mean, error = n_needed.fillna(n_all).mean(), n_needed.fillna(n_all).sem()
            plain = (mean, error) if rule == "random" else plain
            relative = np.hypot(error / mean, plain[1] / plain[0])
            rows.append(
                {
                    "rule": rule,
                    "measure": measure,
                    "target": target,
                    "comparisons": mean,
                    "comparisons_se": error,
                    "saved": 1 - mean / plain[0],
                    "saved_se": 0.0 if rule == "random" else mean / plain[0] * relative,
                    "never": int(n_needed.isna().sum()),
                    "playbacks": len(n_needed),
                }
            )
    return pd.DataFrame(rows)
