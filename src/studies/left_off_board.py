"""Every model of a human leaderboard left off it in turn, and placed on it by judges' verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataUnavailableError
from judgerank.data.judgments import Judgments
from judgerank.fits.result import Fit
from judgerank.people.human_board import POINTS, HumanBoard
from judgerank.people.human_scale import human_scale
from judgerank.people.items import human_rows, items_of
from judgerank.people.report import panel_of
from judgerank.reading.read import read_judgments
from replication import published
from replication.correlation import spearman
from studies.simulated_boards import at_face_value, exact_or_shrunk

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
    found = {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []:
        if files := sorted(place.glob(FILES)):
            found[place.name] = judged_beside_people(files)
    if not found:
        raise DataUnavailableError(f"{folder} has no folder with files {FILES}")
    return found


def judged_beside_people(files: list[Path]) -> Judged:
    """Verdicts of some files, and the board of the human votes in them."""
    judgments = read_judgments(files)
    c, question, people = judgments.comparisons, judgments.question, human_rows(judgments)
    verdicts, asked = c.take(np.flatnonzero(~people)), question[~people]
    panel, _ = panel_of(verdicts, asked)
    return Judged(verdicts, asked, HumanBoard.of_votes(items_of(c, question, people, panel)))


def left_off(judged: Judged, level: float) -> pd.DataFrame:
    """Every model of the board left off it and placed on it by the panel's verdicts.

    ``model, human, elo, low, high, conformal_low, conformal_high``, and by scores taken for people's as they are:
    ``one_judge`` and ``all_verdicts`` (Bradley-Terry on the verdicts of the judge with most of them, and on all),
    ``panel`` (its fit) and ``ties`` (the same with ties as an outcome).
    """
    panel, _ = panel_of(judged.verdicts, judged.question)
    here = judged.board.among(judged.verdicts.models)
    face = _at_face_value(judged, panel)
    rows = []
    for name, human in zip(here.models, here.elo, strict=True):
        rest = here.without(name)
        found = human_scale(panel, rest, level).newcomers.set_index("model")
        own = found.loc[name].drop("comparisons").to_dict()
        others = list(rest.models)
        plain = {way: rest.elo.mean() + POINTS * (s[name] - s[others].mean()) for way, s in face.items()}
        rows.append({"model": name, "human": human, **own, **plain})
    return pd.DataFrame(rows)


def _at_face_value(judged: Judged, panel: Fit) -> dict[str, pd.Series]:
    """Scores of all models by ways that do not know of people."""
    c = judged.verdicts
    most = int(np.bincount(c.judge, c.count).argmax())
    ties = exact_or_shrunk(c, f"{panel.model.name}_ties").scores.to_numpy()
    one = at_face_value(c.take(np.flatnonzero(c.judge == most)))
    ways = {"one_judge": one, "all_verdicts": at_face_value(c), "panel": panel.scores.to_numpy(), "ties": ties}
    return {way: pd.Series(scores, c.models) for way, scores in ways.items()}


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
    for way, column in GUESSES.items():
        errors = (left[column] - left["human"]).abs()
        row: dict[str, Any] = {"arena": arena, "models": len(left), "judges": judges, "way": way}
        row |= {"error": errors.mean(), "error_se": errors.std() / root}
        row["spearman"] = spearman(left[column].to_numpy(), left["human"].to_numpy())
        if column == "elo":
            for kind, low, high in (("", "low", "high"), ("_conformal", "conformal_low", "conformal_high")):
                row[f"held{kind}"] = ((left[low] <= left["human"]) & (left["human"] <= left[high])).mean()
                row[f"width{kind}"] = (left[high] - left[low]).mean()
        yield row
