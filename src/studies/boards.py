"""Newcomers on boards, real and simulated: what intervals hold, and what is warned of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.boards.comparing import compare
from judgerank.boards.moving import place
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.inference.wald import normal_quantile
from judgerank.order.scale import scale_by, weights_of
from judgerank.planning.panels import Panel
from judgerank.ranking.recusal import COUNT
from replication.replicate import Record
from replication.tables import with_error

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
# boards compared: comparisons of the old, of the new, whether the latter hold the former, a model's true change
COMPARED: dict[str, tuple[int, int, bool, float]] = {
    "apart": (1500, 1500, False, 0.0),
    "grown": (1500, 3000, True, 0.0),
    "one model changed": (1500, 1500, False, 0.5),
}


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
    new_rows = drawn(rng, now, settings["new"] - settings["old"] * settings["grown"])
    if settings["grown"]:
        new_rows = old_board.extended(new_rows.to_frame())
    difference = compare(fit(old_board, "judge_aware"), fit(new_rows, "judge_aware"), settings["level"])
    return {"moved": float(bool(difference.moved)), "relation": difference.relation}


def summary(records: pd.DataFrame, name: str, measures: list[str]) -> dict[str, Any]:
    """Means of the records with their Monte Carlo errors, and how many failed."""
    complete_records = records[records[measures[0]].notna()]
    row: dict[str, Any] = {"setting": name}
    for measure in measures:
        row |= with_error(measure, complete_records[measure])
    return row | {"failed": len(records) - len(complete_records), "n_replications": len(records)}
