"""Simulated stand-ins for judgments that are not at hand, of the published size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from judgerank.data.arrays import generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataUnavailableError
from judgerank.data.judgments import Judgments
from replication import published
from replication.config import ROOT
from replication.random_designs import draw_panel
from replication.schemas.section import Dataset

STORED = ROOT / "results/paper"  # the fits of the real data that surrogates are drawn from
NOT_IN_HOUSE = ("marin-community/marin-8b-instruct", "arcee_ai/arcee-spotlight", "arize-ai/qwen-2-1.5b-instruct")
AT_ZERO_IN_HOUSE = "zai-org/GLM-4.5-Air-FP8"


@dataclass(frozen=True)
class Panel:
    """Scores by model; discriminations and shares of ties by judge."""

    scores: pd.Series
    discrimination: pd.Series
    tie_share: pd.Series


def surrogate_judgments(dataset: Dataset, seed: int) -> Judgments:
    """A simulated stand-in of the published size, on uniformly random pairs and judges.

    Drawn from the judge-aware fit of the real data stored under ``results/paper/``, with each judge's share of
    ties; the in-house set, of which there is no such fit, from the paper's printed tables. Questions are
    drawn uniformly, their lengths log-normally.

    Raises
    ------
    DataUnavailableError
        If no fit of the real data is stored, or the set has no stand-in or no size.
    """
    if dataset.stand_in is None:
        raise DataUnavailableError(f"{dataset.title}: there is no surrogate of this set")
    if dataset.records is None:
        raise DataUnavailableError(f"{dataset.title}: no surrogate can be drawn, since `records` is not set")
    panel = printed_panel() if dataset.name == "in_house" else stored_panel(dataset.name)
    tie_share, wanted = panel.tie_share, dataset.stand_in
    if wanted.tie_share is not None:
        tie_share = pd.Series(wanted.tie_share, panel.discrimination.index)
    asking = generator(seed, "questions", dataset.name)
    lengths = np.exp(asking.normal(wanted.log_length_mean, wanted.log_length_sd, wanted.n_questions)).round()
    question = asking.integers(wanted.n_questions, size=dataset.records)
    log_length = np.log1p(lengths[question])
    comparisons = draw_panel(
        generator(seed, "surrogate", dataset.name),
        panel.scores.to_dict(),
        panel.discrimination.to_dict(),
        tie_share.to_dict(),
        dataset.records,
        dict(wanted.slopes),
        (log_length - log_length.mean()) / log_length.std(),
    )
    if wanted.random_order:
        comparisons = _shuffled(comparisons, generator(seed, "order", dataset.name))
    names = np.array([f"q{number:05d}" for number in range(wanted.n_questions)])
    frame = comparisons.to_frame().assign(question_id=names[question])
    source = {"surrogate": True, "seed": seed, "records": dataset.records}
    title = f"{dataset.title} (surrogate)"
    by_question = pd.Series(lengths, names, name="characters")
    truth = _truth(panel, dict(wanted.slopes))
    return Judgments(dataset.name, title, frame, comparisons, source, by_question, truth)


def _shuffled(comparisons: Comparisons, rng: np.random.Generator) -> Comparisons:
    """The same comparisons, the other model shown first in about half of them."""
    turned = rng.random(len(comparisons)) < 0.5
    return replace(
        comparisons,
        first=np.where(turned, comparisons.second, comparisons.first),
        second=np.where(turned, comparisons.first, comparisons.second),
        outcome=np.where(turned, 1 - comparisons.outcome, comparisons.outcome),
    )


def _truth(panel: Panel, slopes: dict[str, float]) -> pd.DataFrame:
    slope = pd.Series(slopes, dtype=float).reindex(panel.discrimination.index, fill_value=0.0)
    blocks = {"score": panel.scores, "discrimination": panel.discrimination, "slope": slope}
    frames = [
        pd.DataFrame({"parameter": parameter, "name": values.index, "value": values.to_numpy(float)})
        for parameter, values in blocks.items()
    ]
    return pd.concat(frames, ignore_index=True)


def stored_panel(name: str) -> Panel:
    """The stored judge-aware fit of a real set.

    Raises
    ------
    DataUnavailableError
        If there is none.
    """
    by_model = "chatbot_arena/ranking" if name == "chatbot_arena" else f"benchmark_alignment/{name}"
    try:
        scores = pd.read_csv(STORED / f"{by_model}.csv", index_col="model")
        reliability = STORED / "judge_reliability"
        tables = (pd.read_csv(reliability / f"{table}.csv") for table in ("discrimination", "answers"))
        judges, answers = (table[table["dataset"] == name].set_index("judge") for table in tables)
    except FileNotFoundError as error:
        missing = Path(error.filename).name
        raise DataUnavailableError(f"no surrogate of {name}: the stored {missing} is not there") from None
    return Panel(scores["score_judge_aware"], judges["discrimination"], answers["share_tie"])


def printed_panel() -> Panel:
    """The in-house panel as far as the paper prints it.

    Scores are the judge-aware ones of the complete ranking (Table A.7). Discriminations of eight judges are those
    of Table 2; those of nine others are UltraFeedback's of Table A.8, from which the in-house set takes its
    questions, times a constant that makes the two tables agree in geometric mean over the judges that are in both
    (but for Mixtral, whose UltraFeedback value is where an iteration stopped); GLM-4.5-Air is at zero (footnote of
    section 5.3). The others have geometric mean one.
    """
    scores = published.numbers("complete_ranking", "score_judge_aware")
    pool = published.numbers("mixed_judges", "discrimination")
    elsewhere = published.numbers("judge_discrimination", "ultrafeedback").drop(list(NOT_IN_HOUSE))
    shared = pool.index.intersection(elsewhere.index).drop("mistralai/Mixtral-8x7B-Instruct-v0.1")
    link = np.exp(np.log(pool[shared] / elsewhere[shared]).mean())
    gamma = pool.combine_first(elsewhere * link).drop(AT_ZERO_IN_HOUSE)
    gamma /= np.exp(np.log(gamma).mean())
    gamma[AT_ZERO_IN_HOUSE] = 0.0
    return Panel(scores - scores.mean(), gamma, pd.Series(dtype=float))
