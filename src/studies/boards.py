"""Newcomers on boards, real and simulated: what intervals hold, and what is warned of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.boards.comparing import compare
from judgerank.boards.moving import place
from judgerank.boards.placing import anchored
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.fits.errors_by_question import by_question
from judgerank.fits.fit import fit
from judgerank.inference.wald import normal_quantile
from judgerank.order.scale import scale_by, scale_of, weights_of
from judgerank.planning.panels import Panel
from judgerank.ranking.recusal import COUNT
from replication.replicate import Record
from replication.tables import with_error, with_errors

SCORES = np.linspace(1.05, -1.05, 8)  # of the board's models, on average zero
NEWCOMER = 0.3
DISCRIMINATION = np.exp(np.linspace(-0.5, 0.5, 5))
TRUE_PANEL = Panel.of(*({str(i): value for i, value in enumerate(x)} for x in (SCORES, DISCRIMINATION)))
UNIT = TRUE_PANEL.scale.factor  # of reported scores, at the truth
# settings by name: the board's comparisons, the newcomer's, and the log-odds by which the first judge favours it
PLACED: dict[str, tuple[int, int, float]] = {
    "large board": (4000, 300, 0.0),
    "small board": (300, 1500, 0.0),
    "few comparisons": (2000, 60, 0.0),
    "a partial judge": (2000, 400, 1.5),
}
# boards compared: comparisons of the old, of the new, whether the latter hold the former, a model's true change,
# and the standard deviation of the tastes of a judge who gives all further comparisons, if one does
COMPARED: dict[str, tuple[int, int, bool, float, float | None]] = {
    "apart": (1500, 1500, False, 0.0, None),
    "grown": (1500, 3000, True, 0.0, None),
    "one model changed": (1500, 1500, False, 0.5, None),
    "a new judge with tastes": (1000, 1250, True, 0.0, 0.5),
    "a new judge without tastes": (1000, 1050, True, 0.0, 0.0),
}
# newcomers on shrunk boards: how many comparisons, which judges of the panel make them, and tastes of all judges
ANSWERED, ANSWERING = (10, 20, 50, 200, 400), {"all": (0, 1, 2, 3), "two of four": (1, 3), "one of four": (2,)}
TASTES, ON_BOARD, MANY = (0.0, 0.5), 1000, 1e5
PANEL = np.array([1.4, 1.0, 0.8, 0.5])  # discriminations
MODELS_SD = 0.6  # of the scores of the board's models and of newcomers


def left_out_and_placed(judgments: Judgments, member: str, level: float) -> pd.DataFrame:
    """Every model of a set taken off the board of the others and placed on it, beside the fit of all.

    ``dataset, model, comparisons, rank_all, rank_placed, score_all, placed, refit, standard_error, own_error,
    moved, partial, why``. Scores are on the scale of the board without the model, whose mean is zero.
    """
    c, rows = judgments.comparisons, []
    full_fit = fit(c, member)
    for number, model in enumerate(c.models):
        mine = (c.first == number) | (c.second == number)
        row: dict[str, Any] = {"dataset": judgments.name, "model": model, "rank_all": full_fit.ranks[model]}
        rest = [name for name in c.models if name != model]
        try:
            board = fit(_without(c, number, ~mine), member)
            unit = scale_by(full_fit, weights_of(board)).factor
            row["score_all"] = unit * (full_fit.scores[model] - full_fit.scores[rest].mean())
            placement = place(board, c.take(np.flatnonzero(mine)), judgments.question[mine], level, COUNT)
        except JudgerankError as error:
            rows.append(row | {"why": str(error)})
            continue
        newcomer = placement.newcomers.iloc[0]
        row |= {
            "comparisons": newcomer["comparisons"],
            "rank_placed": newcomer["rank"],
            "placed": newcomer["score"],
        }
        row |= {name: newcomer[name] for name in ("refit", "standard_error", "own_error")}
        rows.append(row | {"moved": len(placement.moved), "partial": len(placement.partial), "why": ""})
    return pd.DataFrame(rows)


def _without(c: Comparisons, number: int, keep: np.ndarray) -> Comparisons:
    """The comparisons that a model takes no part in."""
    part = c.take(np.flatnonzero(keep))
    names = tuple(name for index, name in enumerate(c.models) if index != number)
    shift = [end - (end > number) for end in (part.first, part.second)]
    return Comparisons(names, part.judges, *shift, part.judge, part.outcome, part.count, dropped=part.dropped)


def drawn(rng: np.random.Generator, scores: np.ndarray, size: int, newcomer: bool = False, favour: float = 0.0):
    """Comparisons of random pairs by random judges; the last model is in all of them if it is a newcomer."""
    n, k = len(scores), len(DISCRIMINATION)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    if newcomer:
        turn = rng.random(size) < 0.5
        opponent = rng.integers(n - 1, size=size)
        first, second = np.where(turn, n - 1, opponent), np.where(turn, opponent, n - 1)
    judge = rng.integers(k, size=size)
    eta = DISCRIMINATION[judge] * (scores[first] - scores[second])
    if newcomer:
        eta += favour * (judge == 0) * np.where(first == n - 1, 1.0, -1.0)
    models = tuple(f"m{i}" for i in range(n))
    outcome = (rng.random(size) < expit(eta)).astype(float)
    return Comparisons(models, tuple(f"j{i}" for i in range(k)), first, second, judge, outcome)


def placed_once(settings: dict, rng: np.random.Generator) -> Record:
    """One newcomer on one board: what intervals hold, with the board's uncertainty and without, and warnings."""
    board = fit(drawn(rng, SCORES, settings["board"]), "judge_aware")
    new = drawn(rng, np.r_[SCORES, NEWCOMER], settings["own"], True, settings["favour"])
    placement = place(board, new, level=settings["level"])
    row, z = placement.newcomers.iloc[0], normal_quantile(settings["level"])
    off = abs(row["score"] - UNIT * NEWCOMER)
    pairs = placement.differences.set_index("model")
    true = UNIT * (NEWCOMER - pd.Series(SCORES, board.comparisons.models)[pairs.index])
    return {
        "covered": float(row["low"] <= UNIT * NEWCOMER <= row["high"]),
        "covered_own": float(off <= z * row["own_error"]),
        "pairs_covered": float(((pairs["low"] <= true) & (true <= pairs["high"])).mean()),
        "beside_refit": float(abs(row["score"] - row["refit"]) / row["standard_error"]),
        "moved": float(bool(placement.moved)),
        "partial": float(bool(placement.partial)),
    }


def compared_once(settings: dict, rng: np.random.Generator) -> Record:
    """Two boards: whether a model is said to have moved."""
    now = SCORES + settings["change"] * (np.arange(len(SCORES)) == 2)
    old_board = drawn(rng, SCORES, settings["old"])
    n_new = settings["new"] - settings["old"] * settings["grown"]
    if settings["tastes"] is None:
        new_rows = drawn(rng, now, n_new)
    else:
        new_rows = drawn(rng, now + settings["tastes"] * rng.standard_normal(len(now)), n_new)
        new_rows = Comparisons.from_frame(new_rows.to_frame().assign(judge_model="newcomer"))
    if settings["grown"]:
        new_rows = old_board.extended(new_rows.to_frame())
    difference = compare(fit(old_board, "judge_aware"), fit(new_rows, "judge_aware"), settings["level"])
    return {"moved": float(bool(difference.moved)), "relation": difference.relation}


def answered_once(settings: dict, rng: np.random.Generator) -> Record:
    """Newcomers on one shrunk board, judged often or rarely, by all of its judges or some: what intervals hold.

    The truth is where all judges would put a newcomer by any number of comparisons, tastes and all.
    """
    cells = [(panel, size) for panel in ANSWERING for size in ANSWERED]
    n, m, k = len(SCORES), len(cells), len(PANEL)
    scores = MODELS_SD * rng.standard_normal(n + m)
    tastes = settings["tastes"] * rng.standard_normal((k, n + m))
    names = tuple(f"m{i}" for i in range(n + m)), tuple(f"j{i}" for i in range(k))

    def rows(first: np.ndarray, second: np.ndarray, judge: np.ndarray, models: int, expected: bool = False):
        leaning = tastes[judge, first] - tastes[judge, second]
        p = expit(PANEL[judge] * (scores[first] - scores[second]) + leaning)
        outcome = p if expected else (rng.random(len(p)) < p).astype(float)
        count = np.full(len(p), MANY if expected else 1.0)
        return Comparisons(names[0][:models], names[1], first, second, judge, outcome, count)

    i, j, judge = (x.ravel() for x in np.indices((n, n, k)))
    limit = fit(rows(i[i != j], j[i != j], judge[i != j], n, True), "judge_aware")
    i, j, judge = (x.ravel() for x in np.indices((m, n, k)))
    every = rows(np.r_[i + n, j], np.r_[j, i + n], np.r_[judge, judge], n + m, True)
    truth, on_board = anchored(limit, every).scores.to_numpy(), scale_of(limit).scores
    first = rng.integers(n, size=ON_BOARD)
    second = (first + rng.integers(1, n, size=ON_BOARD)) % n
    old = rows(first, second, rng.integers(k, size=ON_BOARD), n)
    board = by_question(fit(old, "judge_aware", "penalised"), old, np.arange(ON_BOARD))
    record: Record = {}
    for number, (panel, size) in enumerate(cells):
        opponent, turn = rng.integers(n, size=size), rng.random(size) < 0.5
        ends = np.where(turn, n + number, opponent), np.where(turn, opponent, n + number)
        new = rows(*ends, rng.choice(ANSWERING[panel], size=size), n + number + 1)
        held = anchored(board, Comparisons.from_frame(new.to_frame()), np.arange(size))
        row, rank = held.table(settings["level"]).iloc[0], 1 + int((on_board > truth[number]).sum())
        record[f"covered/{panel}/{size}"] = float(row["low"] <= truth[number] <= row["high"])
        record[f"rank/{panel}/{size}"] = float(row["rank_low"] <= rank <= row["rank_high"])
    return record


def answered(records: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One row for every standard deviation of tastes and number of comparisons, by who answered.

    Parameters
    ----------
    records : mapping of str to DataFrame
        Of `answered_once`, by the standard deviation.
    """
    table = []
    for tastes, frame in records.items():
        for size in ANSWERED:
            row: dict[str, Any] = {"tastes": float(tastes), "comparisons": size}
            for panel in ANSWERING:
                for measure in ("covered", "rank"):
                    row |= with_error(f"{measure}/{panel}", frame[f"{measure}/{panel}/{size}"])
            table.append(row | {"n_replications": len(frame)})
    return pd.DataFrame(table)


def summary(records: pd.DataFrame, name: str, measures: list[str]) -> dict[str, Any]:
    """Means of the records with their Monte Carlo errors, and how many failed."""
    complete_records = records[records[measures[0]].notna()]
    row: dict[str, Any] = {"setting": name} | with_errors(complete_records[measures])
    return row | {"failed": len(records) - len(complete_records), "n_replications": len(records)}
