"""Statements about order: do any contradict each other, and how often are they false?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.errors import JudgerankError
from judgerank.fits.presentation import orders_of
from judgerank.order.pairs import claims_of
from judgerank.ranking.card import sentence
from judgerank.ranking.choices import Settings
from judgerank.ranking.exports import records
from judgerank.ranking.first_screen import headline, judges_of, largest, pictures
from judgerank.ranking.judge_policy import outweighing
from judgerank.ranking.page_options import Additions
from judgerank.ranking.ranking import Ranking, ranked, ranked_set
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.leaderboards import board_of
from judgerank.ranking.verdict import Verdict, verdict
from judgerank.reading.read import read_judgments
from studies.random_files import LAYOUTS, Records, drawn_records

LEVEL = 0.95


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
        *_of_scores(board, better),
    ]


def _of_pairs(tested: pd.DataFrame, better: set, models: list[str], level: float) -> Iterator[str]:
    for row in tested.itertuples():
        if row.separated != (row.p_holm <= 1 - level) or row.p_value > row.p_holm:
            yield f"{row.first}, {row.second}: p-values {row.p_value}, {row.p_holm}, separated {row.separated}"
        is_zero_out = row.low > 0 or row.high < 0
        if np.isfinite(row.low) and is_zero_out != (row.p_value <= 1 - level):
            yield f"{row.first}, {row.second}: interval {row.low} to {row.high}, p {row.p_value}"
        is_against = models.index(row.first) > models.index(row.second)
        if row.difference < 0 or (row.difference > 0 and is_against):  # equal scores stand in either order
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
    is_shared = "may be the best" in title
    if is_shared and not all(model in unbeaten for model in models[:2]):
        yield f"{title}: unbeaten are {unbeaten}"


def _of_scores(board: pd.DataFrame, better: set) -> Iterator[str]:
    """Scores and win rates, which fall from rank to rank, and intervals, on the side that is claimed."""
    if not (board["score"].is_monotonic_decreasing and (board["win_rate"].diff().fillna(0) < 1e-9).all()):
        yield f"scores {board['score'].tolist()} and win rates {board['win_rate'].tolist()}"
    for row in board.itertuples():
        others = [model for model in board["model"] if model != row.model]
        if np.isfinite(row.low) and not row.low <= row.score <= row.high:
            yield f"{row.model}: score {row.score} outside {row.low} to {row.high}"
        above = all((row.model, other) in better for other in others)
        below = all((other, row.model) in better for other in others)
        if (above and row.low <= 0) or (below and row.high >= 0):
            yield f"{row.model}: interval {row.low} to {row.high} of a model that differs from all others"


# The statements of a whole ranking: sentences, judges, card, picture, JSON and page.


def contradictions_of_ranking(ranking: Ranking) -> list[str]:
    """Which statements of a ranking, other than those of `contradictions`, contradict each other, in words."""
    board, pairs = (largest(ranking.tables[name]) for name in ("leaderboard", "pairs"))
    text_verdict, judges = verdict(ranking), largest(ranking.tables["judges"])
    better = set()
    if "separated" in pairs:
        claimed = pairs[pairs["separated"].fillna(False).astype(bool)]
        better = set(zip(claimed["first"], claimed["second"], strict=True))
    return [
        *_of_sentences(text_verdict, board, better, "separated" in pairs, len(ranking.fits) == 1),
        *_of_judges(ranking, text_verdict, judges, better),
        *_of_picture(ranking, board, better),
        *_of_forms(ranking, text_verdict),
    ]


def _of_sentences(
    text_verdict: Verdict, board: pd.DataFrame, better: set, is_tested: bool, is_single: bool
) -> Iterator[str]:
    models = list(board["model"])
    pair, all_ties = (models[0], models[1]), "All answers are ties" in text_verdict.lead
    if not is_tested:
        if not all_ties and any(
            word in f"{text_verdict.lead} {text_verdict.next}" for word in ("significant", "confidence)")
        ):
            yield f"without tests: {text_verdict.lead} {text_verdict.next}"
        return
    for words, is_meant in (
        ("a significant difference", pair in better),
        ("no significant difference", pair not in better),
    ):
        if (words in text_verdict.lead) != is_meant and not all_ties:
            yield f"{text_verdict.lead} {sorted(better)}"
    low, high = board["rank_low"].iloc[0], board["rank_high"].iloc[0]
    ranges = re.search(r"rank of (\S+) is between (\d+) and (\d+) ", text_verdict.lead)
    if ranges and (ranges[1], int(ranges[2]), int(ranges[3])) != (models[0], low, high):
        yield f"{text_verdict.lead} ranks {low} to {high}"
    if f"{models[0]} ranks first" in text_verdict.lead and (low, high) != (1, 1):
        yield f"{text_verdict.lead} ranks {low} to {high}"
    chance = re.search(r"preferred in (\d+)%|that is (\d+)%", text_verdict.lead)
    if chance and int(chance[1] or chance[2]) < 50:
        yield f"the first is preferred less often: {text_verdict.lead}"
    advised = re.search(r"[Dd]ecid(?:e|ing) between (\S+) and (\S+?),? ", text_verdict.next)
    if advised and ((advised[1], advised[2]) in better or (advised[2], advised[1]) in better):
        yield f"{text_verdict.next} {sorted(better)}"
    are_all = all((models[i], models[i + 1]) in better for i in range(len(models) - 1))
    if is_single and ("needs no more data" in text_verdict.next) and not are_all:
        yield f"{text_verdict.next} {sorted(better)}"
    if are_all and "collect about" in text_verdict.next:
        yield f"{text_verdict.next} though all differ"


def _of_judges(ranking: Ranking, text_verdict: Verdict, judges: pd.DataFrame, better: set) -> Iterator[str]:
    judges = judges[judges["status"] != panel.MERGED]
    flagged = set(panel.flagged(judges))
    for row in judges.itertuples():
        if row.verdict == panel.FINE and not better:
            yield f"{row.judge} is fine, and nothing is known of the order"
        if row.verdict == panel.CONTRARY and not row.agreement < 0.5:
            yield f"{row.judge} is contrary, and agrees in {row.agreement}"
    named = re.search(r"depends on judges? ([^,]+), which", text_verdict.headline)
    may_be_named = {*flagged, *outweighing(judges)}
    if named and not {name for name in judges["judge"] if name in named[1]} & may_be_named:
        yield f"{text_verdict.headline}: judges with a problem, or who outweigh all others, are {may_be_named}"
    counted_ = re.search(r"(\d+) of \d+ judges? ha(?:s|ve) a problem", " ".join(text_verdict.warnings))
    if counted_ and int(counted_[1]) != len(flagged):
        yield f"{counted_[0]}: judges with a problem are {flagged}"
    if flagged and not counted_:
        yield f"no warning of {flagged}"
    asks = re.search(r"questions(?: by (\S+)|, spread over (j[^(]*)) \(", text_verdict.next)
    for name in flagged if asks else ():
        if name in re.findall(r"\w+", asks[1] or asks[2]):
            yield f"{text_verdict.next} asks {name}"
    drawn = {judge.name: judge for judge in judges_of(ranking)}
    for row in judges.itertuples():
        if row.judge in drawn and drawn[row.judge].problem != row.verdict:
            yield f"{row.judge}: {drawn[row.judge].problem}, {row.verdict}"
    share = judges["information"]
    if share.notna().all() and abs(share.sum() - 1) > 1e-6:
        yield f"shares of the information sum to {share.sum()}"


def _of_picture(ranking: Ranking, board: pd.DataFrame, better: set) -> Iterator[str]:
    picture = pictures(ranking, Additions())[0]
    rows = [row for group in (*picture.groups, *picture.more) for row in group.rows]
    for row, line in zip(rows, board.itertuples(), strict=True):
        ends = (line.rank_low, line.rank_high)
        ranks = (
            f"{line.rank}"
            if pd.isna(ends[0])
            else f"{ends[0]}"
            if ends[0] == ends[1]
            else "\N{EN DASH}".join(map(str, ends))
        )
        if (row.model, row.ranks) != (line.model, ranks):
            yield f"{row.model}: {row.ranks} drawn, {line.model}: {ranks}"
        others = [model for model in board["model"] if model != row.model]
        if np.isfinite(row.low) and not row.low <= row.at <= row.high:
            yield f"{row.model}: win rate {row.at} outside {row.low} to {row.high}"
        above = all((row.model, other) in better for other in others)
        below = all((other, row.model) in better for other in others)
        if (above and row.low < picture.even) or (below and row.high > picture.even):
            yield f"{row.model}: {row.description}, though it differs from all others"
    for group in picture.groups:
        members = {row.model for row in group.rows}
        if group.head and any({first, second} <= members for first, second in better):
            yield f"{group.head}: {sorted(better)}"


def _of_forms(ranking: Ranking, text_verdict: Verdict) -> Iterator[str]:
    """Card, JSON and page beside the verdict and the tables."""
    text = sentence(ranking)
    if (
        not text.startswith(f"{text_verdict.headline}.")
        or text_verdict.lead not in text
        or text_verdict.caution not in text
    ):
        yield f"the card: {text}; the verdict: {text_verdict.headline}. {text_verdict.lead} {text_verdict.caution}"
    board = ranking.tables["leaderboard"]
    for record, row in zip(records(board), board.itertuples(), strict=True):
        ends = [None if pd.isna(end) else int(end) for end in (row.rank_low, row.rank_high)]
        if [record["model"], record["rank"], record["rank_low"], record["rank_high"]] != [
            row.model,
            row.rank,
            *ends,
        ]:
            yield f"JSON: {record}"
    page = unescape(ranking.to_html())
    ranks_on_page = re.findall(r'<td class="ranks">([^<]*)</td>', page)
    drawn = [
        row.ranks
        for picture in pictures(ranking, Additions())
        for group in (*picture.groups, *picture.more)
        for row in group.rows
    ]
    if f"<h1>{text_verdict.headline}" not in page or ranks_on_page != drawn:
        yield f"the page: {ranks_on_page}; the picture: {drawn}; {text_verdict.headline}"
    if text_verdict.lead and text_verdict.lead not in page:
        yield f"not on the page: {text_verdict.lead}"


# Random files, ranked: all of them for their order, and some as a whole.

SLOW = ("prediction", "top_change")  # studies that take most of the time, and say nothing of the order


@dataclass(frozen=True)
class File:
    """A layout of files, by its name in `LAYOUTS`, and the share of them of which every statement is compared."""

    layout: str
    whole: float = 0.0


@dataclass(frozen=True)
class Examined:
    """A random file: whether it was ranked, how many contradictions there are, and whether anything is claimed."""

    ranked: float
    contradictions: float | None = None
    claims: float | None = None
    whole: float | None = None


def examined(file: File, rng: np.random.Generator) -> Examined:
    """One random file, ranked as `judgerank rank` does, its statements compared with each other."""
    layout, drawn = LAYOUTS[file.layout], drawn_records(rng)
    rows, is_whole = layout.written(drawn), rng.random() < file.whole
    try:
        judgments = read_judgments(rows, columns=layout.columns(drawn))
        components = ranked_set(judgments, Settings()).components
        ranking = ranked(judgments, Settings(), without=SLOW) if is_whole else None
    except JudgerankError:
        return Examined(0.0)
    contradicted, claims = [], False
    for component in components:
        board, pairs = board_of(component), component.pairs
        contradicted += contradictions(board, pairs, headline(board, pairs))
        claims |= bool("separated" in pairs and pairs["separated"].any())
    contradicted += [] if ranking is None else contradictions_of_ranking(ranking)
    return Examined(1.0, float(len(contradicted)), float(claims), float(is_whole))


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


def file_row(name: str, files: pd.DataFrame) -> dict[str, object]:
    """Files of one layout, and the contradictions in them."""
    of_ranked = files[files["ranked"] == 1]
    return {
        "layout": name,
        "files": len(files),
        "ranked": len(of_ranked),
        "whole": int(of_ranked["whole"].sum()),
        "with_claims": int(of_ranked["claims"].sum()),
        "contradictions": int(of_ranked["contradictions"].sum()),
        "lacks": LAYOUTS[name].lacks,
    }


def null_row(name: str, records: pd.DataFrame) -> dict[str, object]:
    """Level and power of one design with their Monte Carlo errors."""
    row: dict[str, object] = {"design": name, "sets": int(records["false"].notna().sum())}
    for measure in ("false", "power"):
        if measure in records:
            row[measure], row[f"{measure}_se"] = share(records[measure])
    return row
