"""New models on human leaderboards, simulated and left off in turn: errors of each way to place them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import POOLED_JUDGE, Comparisons
from judgerank.data.errors import DataError, DataUnavailableError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.model.law import Law, draw_levels, graded_comparisons
from judgerank.people.human_scale import ORIGIN, POINTS, HumanBoard, human_scale
from judgerank.people.items import human_rows, items_of
from judgerank.people.report import on_scale_of, panel_of
from judgerank.people.toward_panel import drawn_toward_panel
from judgerank.reading.read import read_judgments
from replication import published
from replication.replicate import Record
from replication.statistics import spearman
from replication.tables import with_errors

# New models on simulated human leaderboards: errors of each way to place them, and what intervals hold.
NEWCOMERS = 4  # on every simulated board
VERDICTS = 150  # on each model, over all judges together
QUALITY, SLOPE = 1.0, 0.8  # standard deviation of the models' quality, and people's log-odds for one unit of it
SHARP, SPREAD = 1.4, 0.4  # judges' discriminations: e^(log SHARP + SPREAD z)
TIE, STRONG = 0.5, 1.0  # propensities of people and judges to tie, and of judges to say much better
PEOPLE = "people"
WAYS = (
    "one judge's verdicts in BT",
    "all verdicts in BT",
    "people as a judge",
    "people as a judge, ties as an outcome",
    "human scale",
    "human scale, verdicts with strength",
)
MEASURES = ("held", "held_conformal", "width", "width_conformal", "informative")
ENDS = ["elo", "low", "high", "conformal_low", "conformal_high"]


@dataclass(frozen=True)
class Board:
    """One kind of simulated board.

    Attributes
    ----------
    models : int
        That people compared; the new models come on top.
    judges : int
    tastes : float
        Standard deviation of each judge's own tastes, in log-odds.
    people_sd : float
        Standard deviation of people's own tastes, in log-odds.
    votes : int
        Of people on each model; zero for one vote on each pair of models.
    related : bool
        Whether people and judges see the same quality.
    quality_sd : float
        Standard deviation of the models' quality.
    at_random : bool
        Whether judges flip a coin: their answers depend on no model.
    """

    models: int = 20
    judges: int = 4
    tastes: float = 0.2
    people_sd: float = 0.25
    votes: int = 150
    related: bool = True
    quality_sd: float = QUALITY
    at_random: bool = False


BOARDS = {
    "20 models, 4 judges": Board(),
    "one judge": Board(judges=1),
    "8 judges": Board(judges=8),
    "10 models": Board(models=10),
    "judges with strong tastes": Board(tastes=0.6),
    "people with no tastes of their own": Board(people_sd=0.0),
    "one human vote on each pair": Board(votes=0),
    "judges unrelated to people": Board(related=False),
}
NULLS = {  # judges or models without anything to find; `judges unrelated to people` is a third
    "judges who flip a coin": Board(at_random=True),
    "equal models": Board(quality_sd=0.0, tastes=0.0, people_sd=0.0),
}


@dataclass(frozen=True)
class Simulated:
    """Verdicts on all models, human votes on the first of them, and people's scores of all.

    Attributes
    ----------
    verdicts : Comparisons
        Of judges, each on a question of its own.
    votes : Comparisons
        Of people; the judge of a row is the number of the verdict whose answers they saw.
    truth : float array, shape (N,)
        What scores of infinitely many human votes are, ties counting half; the mean of the models that people
        compared is zero.
    """

    verdicts: Comparisons
    votes: Comparisons
    truth: FloatArray

    def together(self) -> tuple[Comparisons, IntArray, BoolArray]:
        """All rows, people as one more judge; the question of each; and which are people's."""
        v, h = self.verdicts, self.votes
        columns = {x: np.r_[getattr(v, x), getattr(h, x)] for x in ("first", "second", "outcome", "tied")}
        judge = np.r_[v.judge, np.full(len(h), len(v.judges))]
        rows = Comparisons(v.models, (*v.judges, PEOPLE), judge=judge, **columns)
        return rows, np.r_[np.arange(len(v)), h.judge], np.r_[np.zeros(len(v), bool), np.ones(len(h), bool)]


def drawn_board(board: Board, rng: np.random.Generator) -> Simulated:
    """Verdicts on random pairs, and human votes on those of them that have no new model."""
    n, k = board.models + NEWCOMERS, board.judges
    quality = rng.normal(0.0, board.quality_sd, n)
    seen = quality if board.related else rng.normal(0.0, board.quality_sd, n)
    s = SLOPE * seen + rng.normal(0.0, board.people_sd, n)
    gamma = SHARP * np.exp(SPREAD * rng.normal(size=k))
    thought = gamma[:, None] * quality + rng.normal(0.0, board.tastes, (k, n))
    if board.at_random:
        thought = np.zeros((k, n))
    size = VERDICTS * n // 2
    first, judge = rng.integers(0, n, size), rng.integers(0, k, size)
    second = (first + rng.integers(1, n, size)) % n
    law = Law(thought[judge, first] - thought[judge, second], np.full(size, TIE), np.full(size, np.log(STRONG)))
    models, judges = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    verdicts = graded_comparisons(models, judges, np.array([first, second, judge]), draw_levels(rng, law.levels))
    item = _voted(board, first, second, rng)
    i, j = first[item], second[item]
    level = draw_levels(rng, Law(s[i] - s[j], np.full(len(item), TIE)).levels)
    numbers, outcome = tuple(str(x) for x in range(size)), np.array([0.0, 0.5, 1.0])[level]
    votes = Comparisons(models, numbers, i, j, item, outcome, tied=(level == 1).astype(float))
    truth = scores_of_votes(s)
    return Simulated(verdicts, votes, truth - truth[: board.models].mean())


def _voted(board: Board, first: IntArray, second: IntArray, rng: np.random.Generator) -> IntArray:
    """The verdicts whose answers people see too, by their numbers; one can be there several times."""
    on_board = np.flatnonzero((first < board.models) & (second < board.models))
    if board.votes:
        return np.asarray(rng.choice(on_board, board.votes * board.models // 2))
    on_board = rng.permutation(on_board)
    pair = np.sort([first[on_board], second[on_board]], axis=0)
    return np.asarray(on_board[np.unique(pair, axis=1, return_index=True)[1]])


def scores_of_votes(s: FloatArray) -> FloatArray:
    """What scores of votes converge to where ties count half a win, equally many on each pair."""
    i, j = np.triu_indices(len(s), 1)
    expected = Law(s[i] - s[j], np.full(len(i), TIE)).mean
    names = tuple(f"m{x}" for x in range(len(s)))
    return fit(Comparisons(names, (PEOPLE,), i, j, np.zeros(len(i), int), expected), "btl").scores.to_numpy()


def placed_once(cell: dict[str, Any], rng: np.random.Generator) -> Record:
    """Mean absolute error of the new models in Elo points by way, and what intervals hold."""
    board = Board(**cell["board"])
    simulated, n = drawn_board(board, rng), board.models
    truth = POINTS * simulated.truth[n:]
    rows, question, people = simulated.together()
    verdicts = replace(simulated.verdicts, strong=None)
    panel = exact_or_shrunk(verdicts, "judge_aware")
    items = items_of(rows, question, people, panel)
    human_board = HumanBoard.of_votes(items)
    placement = human_scale(panel, human_board, cell["level"], drawn_toward_panel(items, panel).drawn)
    graded = human_scale(exact_or_shrunk(simulated.verdicts, "judge_aware_graded"), human_board, cell["level"])
    new = list(verdicts.models[n:])
    elo, low, high, conformal_low, conformal_high = (
        placement.newcomers.set_index("model").loc[new, ENDS].to_numpy().T - ORIGIN
    )
    guesses = (
        points_above(at_face_value(verdicts.take(np.flatnonzero(verdicts.judge == 0))), n),
        points_above(at_face_value(verdicts), n),
        *(points_above(_people_as_a_judge(rows, f"judge_aware{ties}"), n) for ties in ("", "_ties")),
        elo,
        graded.newcomers.set_index("model").loc[new, "elo"].to_numpy() - ORIGIN,
    )
    record = {
        f"error/{variant}": float(np.abs(x - truth).mean()) for variant, x in zip(WAYS, guesses, strict=True)
    }
    return record | {
        "held": float(((low <= truth) & (truth <= high)).mean()),
        "held_conformal": float(((conformal_low <= truth) & (truth <= conformal_high)).mean()),
        "width": float((high - low).mean()),
        "width_conformal": float((conformal_high - conformal_low).mean()),
        "informative": float(placement.informative),
    }


def points_above(scores: FloatArray, n: int) -> FloatArray:
    """Scores of the models from the n-th on, in Elo points above the mean of the first n."""
    return np.asarray(POINTS * (scores[n:] - scores[:n].mean()))


def at_face_value(rows: Comparisons) -> FloatArray:
    """Scores by Bradley-Terry with all rows as one judge's and ties as half a win."""
    pooled = replace(rows, judges=(POOLED_JUDGE,), judge=np.zeros(len(rows), int), strong=None)
    return np.asarray(exact_or_shrunk(pooled, "btl").scores, float)


def exact_or_shrunk(rows: Comparisons, member: str) -> Fit:
    """The exact fit; where comparisons do not determine every score, the shrunk one."""
    try:
        return fit(rows, member)
    except NoMaximumError:
        return fit(rows, member, "penalised")


def _people_as_a_judge(rows: Comparisons, member: str) -> FloatArray:
    """Scores with people's discrimination as the unit; NaN where it is zero."""
    fitted = exact_or_shrunk(rows, member)
    try:
        return on_scale_of(fitted, PEOPLE)[0]
    except DataError:
        return np.full(len(rows.models), np.nan)


def board_row(records: pd.DataFrame, name: str) -> dict[str, Any]:
    """Coverage, widths and how often judges are found to predict people's scores, with Monte Carlo errors.

    ``failed`` counts the boards whose human votes do not determine every score.
    """
    complete_records = records[records["held"].notna()]
    row: dict[str, Any] = {"board": name} | with_errors(complete_records[list(MEASURES)])
    return row | {"failed": len(records) - len(complete_records), "n_replications": len(records)}


def error_rows(records: pd.DataFrame, name: str) -> Iterator[dict[str, Any]]:
    """Mean error by way; by how much it exceeds that on the human scale, on the same boards; Monte Carlo errors.

    ``none`` counts the boards on which people as a judge have no discrimination above zero.
    """
    complete_records = records[records["held"].notna()]
    for variant in WAYS:
        errors = complete_records[f"error/{variant}"].dropna()
        more = errors - complete_records.loc[errors.index, "error/human scale"]
        row: dict[str, Any] = {"board": name, "way": variant} | with_errors({"error": errors, "more": more})
        yield row | {"none": len(complete_records) - len(errors)}


# Every model of a human leaderboard left off it in turn, and placed on it by judges' verdicts.
FILES = "annotations_*.csv"


@dataclass(frozen=True)
class Judged:
    """Judges' verdicts, and the board of people's scores that they are held against.

    Attributes
    ----------
    verdicts : Comparisons
    question : int array, optional
        Of every verdict.
    board : HumanBoard
    """

    verdicts: Comparisons
    question: IntArray | None
    board: HumanBoard


def published_board(judgments: Judgments) -> Judged:
    """The paper's verdicts on Chatbot Arena and the Elo of people that was published of it."""
    elo = published.numbers("chatbot_arena_human", "elo")
    board = HumanBoard.of(elo.rename_axis("model").reset_index())
    return Judged(judgments.comparisons, judgments.question, board)


def arenas(folder: Path) -> dict[str, Judged]:
    """The files of Soft-Elo's release by arena: one folder each, with one file for each judge.

    The board is of the human votes that are beside the verdicts, by Bradley-Terry with ties as half a win.

    Raises
    ------
    DataUnavailableError
        If no folder in it has such files.
    DataError
        If a file is not in that form.
    """
    boards_by_arena = {}
    for arena_folder in sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []:
        if files := sorted(arena_folder.glob(FILES)):
            boards_by_arena[arena_folder.name] = verdicts_and_votes(files)
    if not boards_by_arena:
        raise DataUnavailableError(f"{folder} has no folder with files {FILES}")
    return boards_by_arena


def verdicts_and_votes(files: list[Path]) -> Judged:
    """Verdicts of some files, and the board of the human votes in them."""
    judgments = read_judgments(files)
    c, question, people = judgments.comparisons, judgments.question, human_rows(judgments)
    verdicts, questions_asked = c.take(np.flatnonzero(~people)), question[~people]
    panel, _ = panel_of(verdicts, questions_asked)
    return Judged(verdicts, questions_asked, HumanBoard.of_votes(items_of(c, question, people, panel)))


def left_off(judged: Judged, level: float) -> pd.DataFrame:
    """Every model of the board left off it and placed on it by the panel's verdicts.

    ``model, human, elo, low, high, conformal_low, conformal_high``, and by scores taken for people's as they are:
    ``one_judge`` and ``all_verdicts`` (Bradley-Terry on the verdicts of the judge with most of them, and on all),
    ``panel`` (its fit) and ``ties`` (the same with ties as an outcome).
    """
    panel, _ = panel_of(judged.verdicts, judged.question)
    board = judged.board.among(judged.verdicts.models)
    face = _at_face_value(judged, panel)
    rows = []
    for name, human in zip(board.models, board.elo, strict=True):
        rest = board.without(name)
        placement = human_scale(panel, rest, level).newcomers.set_index("model")
        placed_row = placement.loc[name].drop("comparisons").to_dict()
        other_models = list(rest.models)
        plain = {
            variant: rest.elo.mean() + POINTS * (s[name] - s[other_models].mean()) for variant, s in face.items()
        }
        rows.append({"model": name, "human": human, **placed_row, **plain})
    return pd.DataFrame(rows)


def _at_face_value(judged: Judged, panel: Fit) -> dict[str, pd.Series]:
    """Scores of all models by ways that do not know of people."""
    c = judged.verdicts
    most = int(np.bincount(c.judge, c.count).argmax())
    ties = exact_or_shrunk(c, f"{panel.model.name}_ties").scores.to_numpy()
    scores_of_judge = at_face_value(c.take(np.flatnonzero(c.judge == most)))
    scores_by_variant = {
        "one_judge": scores_of_judge,
        "all_verdicts": at_face_value(c),
        "panel": panel.scores.to_numpy(),
        "ties": ties,
    }
    return {variant: pd.Series(scores, c.models) for variant, scores in scores_by_variant.items()}


GUESSES = {
    "one judge's verdicts in BT": "one_judge",
    "all verdicts in BT": "all_verdicts",
    "judge-aware scores as Elo": "panel",
    "judge-aware scores as Elo, ties as an outcome": "ties",
    "human scale": "elo",
}


def summary(left: pd.DataFrame, arena: str, judges: int) -> Iterator[dict[str, Any]]:
    """Mean absolute error of every way with its standard error over models, and Spearman's correlation.

    On the human scale, also the share of models whose human Elo intervals hold, and how wide they are.
    """
    root = np.sqrt(len(left))
    for variant, column in GUESSES.items():
        errors = (left[column] - left["human"]).abs()
        row: dict[str, Any] = {"arena": arena, "models": len(left), "judges": judges, "way": variant}
        row |= {"error": errors.mean(), "error_se": errors.std() / root}
        row["spearman"] = spearman(left[column].to_numpy(), left["human"].to_numpy())
        if column == "elo":
            for kind, low, high in (("", "low", "high"), ("_conformal", "conformal_low", "conformal_high")):
                row[f"held{kind}"] = ((left[low] <= left["human"]) & (left["human"] <= left[high])).mean()
                row[f"width{kind}"] = (left[high] - left[low]).mean()
        yield row
