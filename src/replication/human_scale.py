"""Newcomers on the human scale: simulated boards, and the Arena with every model left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import POOLED_JUDGE, Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.people.human_board import POINTS, HumanBoard
from judgerank.people.human_scale import human_scale
from judgerank.people.items import items_of
from judgerank.people.reference import on_scale_of
from judgerank.people.report import panel_of
from judgerank.people.toward_panel import Drawn, drawn_toward_panel
from replication.people import spearman
from replication.replicate import Record

NEWCOMERS = 4  # of every simulated board
VERDICTS = 150  # for every model, over all judges together
SLOPE, OWN = 0.8, 0.25  # of people's scores in the shared quality, and standard deviation of people's own tastes
SHARP, SPREAD = 1.4, 0.4  # judges' discriminations: e^(log SHARP + SPREAD z)
PEOPLE = "people"
WAYS = ("one judge", "panel, people as a judge", "panel on the human scale")
MEASURES = ("held", "held_band", "width", "width_band", "infinite", "told")


@dataclass(frozen=True)
class Setting:
    """One kind of simulated board.

    Attributes
    ----------
    models : int
        That people judged; newcomers come on top.
    judges : int
    sd : float
        Standard deviation of judges' own tastes, in log-odds.
    votes : int
        Of people on each model of the board.
    level : float
    related : bool
        Whether people and judges see one quality.
    """

    models: int
    judges: int
    sd: float
    votes: int = 150
    level: float = 0.9
    related: bool = True


@dataclass(frozen=True)
class Simulated:
    """Verdicts on all models, human votes on the first of them, and people's true scores."""

    verdicts: Comparisons
    votes: Comparisons
    truth: FloatArray

    def together(self) -> tuple[Comparisons, IntArray, BoolArray]:
        """All rows, the question of each (each verdict on one of its own, votes on those), and which are people's."""
        v, h = self.verdicts, self.votes
        columns = {x: np.r_[getattr(v, x), getattr(h, x)] for x in ("first", "second", "outcome")}
        judge = np.r_[v.judge, np.full(len(h), len(v.judges))]
        rows = Comparisons(v.models, (*v.judges, PEOPLE), judge=judge, **columns)
        return rows, np.r_[np.arange(len(v)), h.judge], np.r_[np.zeros(len(v), bool), np.ones(len(h), bool)]


def drawn_board(setting: Setting, rng: np.random.Generator) -> Simulated:
    """Verdicts of judges on random pairs, and human votes on those of them that have no newcomer.

    The judge of a row of `votes` is the number of the verdict whose answers people saw.
    """
    n, k = setting.models + NEWCOMERS, setting.judges
    quality = rng.normal(0.0, 1.0, n)
    shared = quality if setting.related else rng.normal(0.0, 1.0, n)
    truth = SLOPE * shared + rng.normal(0.0, OWN, n)
    thought = SHARP * np.exp(SPREAD * rng.normal(size=k))[:, None] * quality + rng.normal(0, setting.sd, (k, n))
    size = VERDICTS * n // 2
    first, judge = rng.integers(0, n, size), rng.integers(0, k, size)
    second = (first + rng.integers(1, n, size)) % n
    won = rng.random(size) < expit(thought[judge, first] - thought[judge, second])
    models, judges = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    verdicts = Comparisons(models, judges, first, second, judge, won.astype(float))
    known = np.flatnonzero((first < setting.models) & (second < setting.models))
    item = rng.choice(known, setting.votes * setting.models // 2)
    i, j = first[item], second[item]
    said = (rng.random(len(item)) < expit(truth[i] - truth[j])).astype(float)
    numbers = tuple(str(x) for x in range(size))
    votes = Comparisons(models, numbers, i, j, item, said)
    return Simulated(verdicts, votes, truth - truth[: setting.models].mean())


def placed_once(setting: Setting, rng: np.random.Generator) -> Record:
    """Errors of the newcomers by every way, in Elo points, and what intervals and bands hold."""
    board = drawn_board(setting, rng)
    n = setting.models
    new, truth = np.arange(n, n + NEWCOMERS), POINTS * board.truth[n:]
    rows, question, people = board.together()
    panel = fit(board.verdicts, "judge_aware")
    items = items_of(rows, question, people, panel)
    votes = drawn_toward_panel(items, panel)
    by_votes = Drawn(votes.scores, votes.covariance, votes.slope, votes.spread, votes.statistic)
    found = human_scale(panel, HumanBoard.of_votes(items), setting.level, by_votes)
    table = found.newcomers.set_index("model").loc[[panel.comparisons.models[i] for i in new]]
    one = board.verdicts.take(np.flatnonzero(board.verdicts.judge == 0))
    joined = _relative(on_scale_of(fit(rows, "judge_aware"), PEOPLE)[0], n)
    guesses = dict(zip(WAYS, (_at_face_value(one, n), joined, table["elo"].to_numpy() - 1000.0), strict=True))
    record: Record = {f"error/{way}": float(np.abs(guess - truth).mean()) for way, guess in guesses.items()}
    finite = bool(np.isfinite(table["band_high"]).all())
    return record | {
        "held": _share(table["low"] - 1000 <= truth, truth <= table["high"] - 1000),
        "held_band": _share(table["band_low"] - 1000 <= truth, truth <= table["band_high"] - 1000),
        "width": float((table["high"] - table["low"]).mean()),
        "width_band": float((table["band_high"] - table["band_low"]).mean()) if finite else np.nan,
        "infinite": float(not finite),
        "told": float(found.informative),
    }


def _share(above: Any, below: Any) -> float:
    return float((above & below).mean())


def _relative(scores: FloatArray, n: int) -> FloatArray:
    """Newcomers' scores in Elo points above the mean of the board's models."""
    return np.asarray(POINTS * (scores[n:] - scores[:n].mean()))


def _at_face_value(rows: Comparisons, n: int) -> FloatArray:
    """By one judge's verdicts as if they were people's votes."""
    pooled = replace(rows, judges=(POOLED_JUDGE,), judge=np.zeros(len(rows), int))
    try:
        return _relative(fit(pooled, "btl").scores.to_numpy(), n)
    except JudgerankError:
        return _relative(fit(pooled, "btl", "penalised").scores.to_numpy(), n)


def placed_row(records: pd.DataFrame, setting: Setting) -> dict[str, Any]:
    """Means over replications with Monte Carlo errors; ``failed`` counts those without a result."""
    kept = records[records["held"].notna()]
    row: dict[str, Any] = {name: getattr(setting, name) for name in ("models", "judges", "sd", "votes", "related")}
    for measure in (*(f"error/{way}" for way in WAYS), *MEASURES):
        values = kept[measure].dropna() if measure in kept else pd.Series(dtype=float)
        row |= {measure: values.mean(), f"{measure}_se": values.std() / np.sqrt(max(len(values), 1))}
    return row | {"failed": len(records) - len(kept), "n_replications": len(records)}


def arena_left_out(judgments: Judgments, board: HumanBoard, level: float) -> pd.DataFrame:
    """Every model of a published human board left off it, and placed on it by all judges' verdicts.

    ``model, human, elo, low, high, band_low, band_high, comparisons, panel, one_judge``: the last two are the
    panel's score and that of one judge at face value, the mean of the absolute errors over the judges.
    """
    c = judgments.comparisons
    here = board.among(c.models)
    panel, _ = panel_of(c, judgments.question)
    alone = _judges_alone(c)
    rows = []
    for name, human in zip(here.models, here.elo, strict=True):
        row = human_scale(panel, here.without(name), level).newcomers.set_index("model").loc[name].to_dict()
        others = [other for other in here.models if other != name]
        mean = here.without(name).elo.mean()
        errors = [abs(mean + POINTS * (s[name] - s[others].mean()) - human) for s in alone]
        face = mean + POINTS * (panel.scores[name] - panel.scores[others].mean())
        rows.append({"model": name, "human": human, **row, "panel": face, "one_judge": float(np.mean(errors))})
    return pd.DataFrame(rows)


def _judges_alone(c: Comparisons) -> list[pd.Series]:
    """Scores by every judge's verdicts alone; shrunk where they do not determine all of them."""
    found = []
    for number in range(len(c.judges)):
        rows = c.take(np.flatnonzero(c.judge == number))
        pooled = replace(rows, judges=(POOLED_JUDGE,), judge=np.zeros(len(rows), int))
        try:
            found.append(fit(pooled, "btl").scores)
        except JudgerankError:
            found.append(fit(pooled, "btl", "penalised").scores)
    return found


def arena_summary(left_out: pd.DataFrame, level: float) -> pd.DataFrame:
    """Mean absolute error of every way with its standard error over models; coverage and widths.

    ``way, error, error_se, spearman, held, held_se, width``.
    """
    d, rows = left_out, []
    for way, errors, guess in (
        ("one judge", d["one_judge"], None),
        ("panel at face value", (d["panel"] - d["human"]).abs(), d["panel"]),
        ("panel on the human scale", (d["elo"] - d["human"]).abs(), d["elo"]),
    ):
        rank = np.nan if guess is None else spearman(guess.to_numpy(), d["human"].to_numpy())
        rows.append(
            {"way": way, "error": errors.mean(), "error_se": errors.std() / np.sqrt(len(d)), "spearman": rank}
        )
    for way, low, high in (("interval", "low", "high"), ("band", "band_low", "band_high")):
        held = ((d[low] <= d["human"]) & (d["human"] <= d[high])).mean()
        se = np.sqrt(held * (1 - held) / len(d))
        rows.append({"way": way, "held": held, "held_se": se, "width": (d[high] - d[low]).mean()})
    return pd.DataFrame(rows).assign(level=level, models=len(d))
