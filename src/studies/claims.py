"""Statements about order: do any contradict each other, and how often are they false?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.errors import JudgerankError
from judgerank.fits.presentation import orders_of
from judgerank.order.pairs import claims_of
from judgerank.ranking.choices import Settings
from judgerank.ranking.first_screen import headline
from judgerank.ranking.ranking import ranked_set
from judgerank.ranking.studies.leaderboard import board_of
from judgerank.reading.read import read_judgments

LEVEL = 0.95
Records = list[dict[str, object]]


# Contradictions, looked for without the code that makes the statements.


def contradictions(board: pd.DataFrame, pairs: pd.DataFrame, title: str, level: float = LEVEL) -> list[str]:
    """Which statements on one component contradict each other, in words; none if there are no tests.

    Parameters
    ----------
    board : DataFrame
        Leaderboard.
    pairs : DataFrame
        Every pair.
    title : str
        The headline.
    level : float
    """
    if "separated" not in pairs:
        return []
    models, tested = list(board["model"]), pairs[pairs["separated"].notna()]
    better = {(row.first, row.second) for row in tested.itertuples() if row.separated}
    return [
        *_of_pairs(tested, better, models, level),
        *_of_board(board, better),
        *_of_headline(title, better, models),
    ]


def _of_pairs(tested: pd.DataFrame, better: set, models: list[str], level: float) -> Iterator[str]:
    for row in tested.itertuples():
        if row.separated != (row.p_holm <= 1 - level) or row.p_value > row.p_holm:
            yield f"{row.first}, {row.second}: p-values {row.p_value}, {row.p_holm}, separated {row.separated}"
        is_zero_out = row.low > 0 or row.high < 0
        if np.isfinite(row.low) and is_zero_out != (row.p_value <= 1 - level):
            yield f"{row.first}, {row.second}: interval {row.low} to {row.high}, p {row.p_value}"
        if row.difference < 0 or models.index(row.first) > models.index(row.second):
            yield f"{row.first}, {row.second}: against the leaderboard"
    for first, second in better:
        for third in models:
            if (second, third) in better and (first, third) not in better:
                yield f"{first} > {second} > {third} without {first} > {third}"


def _of_board(board: pd.DataFrame, better: set) -> Iterator[str]:
    for row in board.itertuples():
        above = sum((other, row.model) in better for other in board["model"])
        below = sum((row.model, other) in better for other in board["model"])
        if (row.rank_low, row.rank_high) != (1 + above, len(board) - below):
            yield f"{row.model}: ranks {row.rank_low} to {row.rank_high}, {above} better, {below} worse"
        if not row.rank_low <= row.rank <= row.rank_high:
            yield f"{row.model}: rank {row.rank} outside {row.rank_low} to {row.rank_high}"
    letters = {row.model: set(re.findall(r"[a-z]\d*", row.group)) for row in board.itertuples()}
    for i, first in enumerate(letters):
        for second in list(letters)[i + 1 :]:
            if bool(letters[first] & letters[second]) == ((first, second) in better):
                yield f"{first}, {second}: letters {letters[first]} and {letters[second]}"


def _of_headline(title: str, better: set, models: list[str]) -> Iterator[str]:
    unbeaten = [model for model in models if not any((other, model) in better for other in models)]
    if title.startswith("Not enough data") != (not better):
        yield f"{title}: {len(better)} pairs are separated"
    if " leads" in title and (models[0] not in title or (" but " not in title) != (len(unbeaten) == 1)):
        yield f"{title}: unbeaten are {unbeaten}"
    is_shared = "share the lead" in title or "may be the best" in title
    if is_shared and not all(model in unbeaten for model in models[:2]):
        yield f"{title}: unbeaten are {unbeaten}"


# Random files in every layout.


def drawn_records(rng: np.random.Generator) -> list[tuple[str, str, str, str, int]]:
    """Judgments (first, second, judge, winner, question) of a random design: models far apart, equal or swept."""
    n, k, size = int(rng.integers(2, 7)), int(rng.integers(1, 5)), int(rng.integers(6, 80))
    scores = rng.normal(size=n) * rng.choice([0.0, 0.3, 1.0, 4.0])
    gamma = rng.choice([0.0, 0.5, 1.0, 2.0, -1.0], size=k, p=[0.1, 0.2, 0.4, 0.2, 0.1])
    questions, share = int(rng.integers(1, size + 1)), rng.choice([0.0, 0.2, 0.9], p=[0.5, 0.4, 0.1])
    rows = []
    for _ in range(size):
        i, j = rng.permutation(n)[:2]
        judge = int(rng.integers(k))
        first = rng.random() < expit(gamma[judge] * (scores[i] - scores[j]))
        winner = "tie" if rng.random() < share else "model_a" if first else "model_b"
        rows.append((f"m{i}", f"m{j}", f"j{judge}", winner, int(rng.integers(questions))))
    return rows


def in_columns(rows: list) -> Records:
    """LMArena's columns."""
    names = ("model_a", "model_b", "judge_model", "winner", "question_id")
    return [dict(zip(names, row, strict=True)) for row in rows]


def without_questions(rows: list) -> Records:
    """Two models and the winner alone."""
    return [{key: row[key] for key in ("model_a", "model_b", "winner")} for row in in_columns(rows)]


def as_preferences(rows: list) -> Records:
    """The winner beside the loser, in no order of presentation."""
    decided = [
        (a, b, judge, q) if won == "model_a" else (b, a, judge, q) for a, b, judge, won, q in rows if won != "tie"
    ]
    return [{"winner": a, "loser": b, "judge": judge, "question_id": q} for a, b, judge, q in decided]


def as_rankings(rows: list) -> Records:
    """One ranking of two answers a record."""
    sign = {"model_a": ("{} > {}", False), "model_b": ("{} > {}", True), "tie": ("{} = {}", False)}
    return [
        {"ranking": sign[won][0].format(*((b, a) if sign[won][1] else (a, b))), "judge": judge, "question_id": q}
        for a, b, judge, won, q in rows
    ]


def as_scores(rows: list) -> Records:
    """A score of each model on each question by each judge."""
    points = {"model_a": (2, 1), "model_b": (1, 2), "tie": (1, 1)}
    records: dict[tuple, dict[str, object]] = {}
    for a, b, judge, won, question in rows:
        for model, score in zip((a, b), points[won], strict=True):
            key = model, judge, question
            records[key] = {"model": model, "judge": judge, "question_id": question, "score": score}
    return list(records.values())


LAYOUTS: dict[str, Callable[[list], Records]] = {
    "columns": in_columns,
    "no questions": without_questions,
    "winner and loser": as_preferences,
    "rankings": as_rankings,
    "scores": as_scores,
}


@dataclass(frozen=True)
class File:
    """A layout of files, by its name in `LAYOUTS`."""

    layout: str


@dataclass(frozen=True)
class Examined:
    """A random file: whether it was ranked, how many contradictions there are, and whether anything is claimed."""

    ranked: float
    contradictions: float | None = None
    claims: float | None = None


def examined(file: File, rng: np.random.Generator) -> Examined:
    """One random file, ranked as `judgerank rank` does, its statements on order compared with each other."""
    records = LAYOUTS[file.layout](drawn_records(rng))
    try:
        components = ranked_set(read_judgments(records), Settings()).components
    except JudgerankError:
        return Examined(0.0)
    found, claims = 0, False
    for component in components:
        board, pairs = board_of(component), component.pairs
        found += len(contradictions(board, pairs, headline(board, pairs)))
        claims |= bool("separated" in pairs and pairs["separated"].any())
    return Examined(1.0, float(found), float(claims))


# The level of all claims together, and their power, where they are hardest to keep.


@dataclass(frozen=True)
class Null:
    """A design, some models of which are equal.

    Attributes
    ----------
    scores, gamma : tuple of float
    size : int
        Comparisons.
    questions : int
        Questions they are of; none if zero.
    clones : int
        Judges beyond the first who answer as the first does.
    one_vote : bool
        Whether every comparison is by another judge.
    balanced : bool
        Whether every pair is compared as often, by every judge alike.
    """

    scores: tuple[float, ...]
    gamma: tuple[float, ...]
    size: int
    questions: int = 0
    clones: int = 0
    one_vote: bool = False
    balanced: bool = False


NULLS = {
    "6 equal models, 6 judges": Null((0.0,) * 6, (1.0,) * 6, 600),
    "6 equal models, 16 judges": Null((0.0,) * 6, (1.0,) * 16, 1000),
    "3 equal models, 16 judges, 30 questions": Null((0.0,) * 3, (1.0,) * 16, 1000, questions=30),
    "two equal pairs, one of 3 judges contrary": Null((1.0, 1.0, -1.0, -1.0), (1.2, 1.0, -1.2), 300),
    "two equal pairs, one of 5 judges contrary": Null((0.6, 0.6, -0.6, -0.6), (1.2, 1.0, 1.0, 1.0, -1.5), 400),
    "two equal pairs, half of 8 judges coins": Null(
        (0.8, 0.8, -0.8, -0.8), (2.0, 2.0, 1.5, 1.5) + (0.0,) * 4, 600
    ),
    "4 equal models, clones of one judge": Null((0.0,) * 4, (1.0,) * 4, 400, questions=100, clones=3),
    "3 equal models, one vote a judge": Null((0.0,) * 3, (1.0,), 200, one_vote=True),
    "2 equal models, 12 questions": Null((0.0,) * 2, (1.0,), 12, questions=12),
    "6 equal models, double round robin": Null((0.0,) * 6, (1.0,), 30, balanced=True),
    "two equal pairs far apart, few": Null((3.0, 3.0, -3.0, -3.0), (1.0,), 48, balanced=True),
    "4 models apart, one of 3 judges contrary": Null((1.5, 0.5, -0.5, -1.5), (1.2, 1.0, -1.2), 300),
    "6 models in order, double round robin": Null((5.0, 3.0, 1.0, -1.0, -3.0, -5.0), (1.5,), 30, balanced=True),
}


@dataclass(frozen=True)
class Claimed:
    """Of one set: whether any claim is false, and the share of different models that are separated."""

    false: float | None = None
    power: float | None = None


def null_records(null: Null, rng: np.random.Generator) -> Records:
    """Judgments of a design."""
    n, k = len(null.scores), len(null.gamma)
    every = [(i, j) for i in range(n) for j in range(n) if i != j]
    rows = []
    for number in range(null.size):
        i, j = every[number % len(every)] if null.balanced else rng.permutation(n)[:2]
        judge = number if null.one_vote else int(rng.integers(k))
        gamma = null.gamma[0 if null.one_vote else judge]
        first = rng.random() < expit(gamma * (null.scores[i] - null.scores[j]))
        of_question = {"question_id": number % null.questions} if null.questions else {}
        winner = {"model_a": f"m{i}", "model_b": f"m{j}", "winner": "model_a" if first else "model_b"}
        rows.append({**winner, "judge_model": f"j{judge}", **of_question})
        if null.clones and judge == 0:
            rows += [{**rows[-1], "judge_model": f"j{judge} copy {copy}"} for copy in range(null.clones)]
    return rows


def claimed_once(null: Null, rng: np.random.Generator) -> Claimed:
    """One set of a design, ranked as `judgerank rank` does, and its claims compared with the truth."""
    try:
        (component,) = ranked_set(read_judgments(null_records(null, rng)), Settings()).components
    except (JudgerankError, ValueError):
        return Claimed()
    orders = orders_of(component.reported)
    if orders is None:
        return Claimed(false=0.0)
    (claims,) = claims_of(orders, LEVEL)
    s = np.array([null.scores[int(model[1:])] for model in claims.models])
    lead = np.subtract.outer(s, s)
    return Claimed(float((claims.better & (lead <= 0)).any()), _power(claims.is_separated, lead))


def _power(is_separated: BoolArray, lead: FloatArray) -> float | None:
    return float(is_separated[lead > 0].mean()) if (lead > 0).any() else None


# Tables.


def share(values: pd.Series) -> tuple[float, float]:
    """A mean and its Monte Carlo standard error."""
    values = values.dropna()
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
    return (float(values.mean()), error) if len(values) else (np.nan, np.nan)


def file_row(name: str, records: pd.DataFrame) -> dict[str, object]:
    """Files of one layout, and the contradictions in them."""
    ranked = records[records["ranked"] == 1]
    return {
        "layout": name,
        "files": len(records),
        "ranked": len(ranked),
        "with_claims": int(ranked["claims"].sum()),
        "contradictions": int(ranked["contradictions"].sum()),
    }


def null_row(name: str, records: pd.DataFrame) -> dict[str, object]:
    """Level and power of one design with their Monte Carlo errors."""
    row: dict[str, object] = {"design": name, "sets": int(records["false"].notna().sum())}
    for measure in ("false", "power"):
        if measure in records:
            row[measure], row[f"{measure}_se"] = share(records[measure])
    return row
