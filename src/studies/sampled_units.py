"""What is sampled, simulated: questions from templates, questions crossed with raters, people who come again.

Answers of a model differ in quality between templates and between the questions of one; raters have tastes. Errors
are by question, by the other unit, or by both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.errors_by_question import by_clusters
from judgerank.fits.fit import fit
from judgerank.gating.decision import BLOCK, SHIP, evidence, outcome
from judgerank.gating.rule import Rule
from judgerank.gating.scores import scored
from judgerank.inference.clusters import Clusters
from judgerank.inference.wald import wald
from judgerank.order.pairs import pairwise
from judgerank.people.anchor import anchored_by_people
from judgerank.people.items import PERSON, items_of
from judgerank.people.toward_panel import drawn_toward_panel
from replication.replicate import Record
from replication.tables import with_errors
from studies.gates import LIMIT, lead
from studies.people import DISCRIMINATION, SCORES, human_scale

# templates, questions of each, and the share of an answer's variance that the questions of one have in common
TEMPLATES: dict[str, tuple[int, int, float]] = {
    "10 templates of 10 questions": (10, 10, 0.5),
    "8 templates of 5 questions": (8, 5, 0.8),
    "40 templates of 5 questions": (40, 5, 0.5),
}
# questions, raters, and votes
CROSSED: dict[str, tuple[int, int, int]] = {
    "60 questions, 40 raters": (60, 40, 1600),
    "30 questions, 20 raters": (30, 20, 800),
    "6 questions, 9 raters": (6, 9, 540),
}
# standard deviations of answers' quality and of people's tastes
RECURRING: dict[str, tuple[float, float]] = {"alike": (0.7, 0.7), "tastes differ more": (0.5, 1.0)}
QUALITY, SPREAD = 1.0, 0.7  # standard deviations of answers' quality, and of that and raters' tastes where crossed
N_JUDGES, N_MODELS = 3, 6
RECUR_QUESTIONS, RECUR_PEOPLE, RECUR_VOTES = 40, 30, 600


def _shared(
    rng: np.random.Generator, templates: int, size: int, icc: float, n: int
) -> tuple[FloatArray, IntArray]:
    """Quality of n answers to each question, shape (Q, n), and the question's template."""
    template = np.arange(templates).repeat(size)
    of_template = rng.normal(0.0, QUALITY * np.sqrt(icc), (templates, n))
    of_question = rng.normal(0.0, QUALITY * np.sqrt(1 - icc), (len(template), n))
    return of_template[template] + of_question, template


def gated_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """Whether a gate blocks an equal candidate, and ships one at the limit, by question and by template."""
    templates, size, icc = TEMPLATES[settings["design"]]
    record: Record = {}
    for case, win_rate, wrong in (("blocked", 0.5, BLOCK), ("shipped", LIMIT, SHIP)):
        quality, template = _shared(rng, templates, size, icc, 2)
        shift = lead(1, "shared question errors", win_rate)  # of log-odds, about which quality varies alike
        eta = shift + 1.5 / np.sqrt(2.0) * (quality[:, :1] - quality[:, 1:])
        preference = (rng.random((len(eta), N_JUDGES)) < expit(eta)).astype(float)
        for unit, label in (("question", None), ("template", template)):
            scores = scored(preference, np.zeros_like(preference), label)
            record[f"{case}/{unit}"] = float(outcome([evidence(scores, Rule())], Rule()) == wrong)
    return record


def separated_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """Whether any two of equal models are separated, by question and by template."""
    templates, size, icc = TEMPLATES[settings["design"]]
    quality, template = _shared(rng, templates, size, icc, N_MODELS)
    question = np.arange(len(template)).repeat(3)  # pairs on each
    ends = np.array([rng.permutation(N_MODELS)[:2] for _ in question])
    eta = np.diff(quality[question[:, None], ends[:, ::-1]]).ravel()
    rows = np.arange(len(eta)).repeat(N_JUDGES)
    won = (rng.random(len(rows)) < expit(eta[rows])).astype(float)
    names = tuple(f"m{i}" for i in range(N_MODELS)), tuple(f"j{k}" for k in range(N_JUDGES))
    c = Comparisons(*names, *ends[rows].T, np.tile(np.arange(N_JUDGES), len(eta)), won)
    fitted, of_row = fit(c, "judge_aware", shrink=True), question[rows]
    units = {"question": of_row, "template": template[of_row]}
    return {
        f"separated/{unit}": _separated(by_clusters(fitted, Clusters((unit,), (x,)))) for unit, x in units.items()
    }


def _separated(fitted: Any) -> float:
    return float(pairwise(fitted)["separated"].any())


def _rated(
    rng: np.random.Generator, scores: FloatArray, n_raters: int, n_votes: int, quality: FloatArray, taste_sd: float
) -> tuple[Comparisons, IntArray]:
    """Votes of raters with tastes on answers of some quality, shape (Q, N), and the question of each."""
    taste = rng.normal(0.0, taste_sd, (n_raters, len(scores)))
    question, rater = rng.integers(0, len(quality), n_votes), np.arange(n_votes) % n_raters
    ends = np.array([rng.permutation(len(scores))[:2] for _ in question])
    worth = scores + quality[question] + taste[rater]
    eta = np.diff(np.take_along_axis(worth, ends[:, ::-1], axis=1)).ravel()
    names = tuple(f"m{i}" for i in range(len(scores))), tuple(f"r{k}" for k in range(n_raters))
    return Comparisons(*names, *ends.T, rater, (rng.random(n_votes) < expit(eta)).astype(float)), question


def crossed_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """Coverage of scores, and false separations of equal models, by question, by rater and by both."""
    n_questions, n_raters, n_votes = CROSSED[settings["design"]]
    target = np.array(human_scale(float(np.hypot(SPREAD, SPREAD))))
    record: Record = {}
    quality = rng.normal(0.0, SPREAD, (n_questions, N_MODELS))
    c, question = _rated(rng, SCORES, n_raters, n_votes, quality, SPREAD)
    for name, clusters in _units(question, c.judge).items():
        labels = clusters.labels
        fitted = fit(c, "btl").clustered(cluster=(labels[0], labels[1]) if clusters.are_crossed else labels[0])
        error = np.sqrt(np.diag(fitted.covariance)[:N_MODELS])
        low, high = wald(fitted.scores.to_numpy(), error, settings["level"], fitted.degrees_of_scores)
        record[f"covered/{name}"] = float(((low <= target) & (target <= high)).mean())
    c, question = _rated(rng, np.zeros(N_MODELS), n_raters, n_votes, quality, SPREAD)
    fitted = fit(c, "btl", shrink=True)
    for name, clusters in _units(question, c.judge).items():
        record[f"separated/{name}"] = _separated(by_clusters(fitted, clusters))
    return record


def _units(question: IntArray, rater: IntArray) -> dict[str, Clusters]:
    return {
        "question": Clusters(("question",), (question,)),
        "rater": Clusters(("rater",), (rater,)),
        "both": Clusters(("question", "rater"), (question, rater)),
    }


def recurring_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """Coverage of scores on the human scale where people vote again and again, one way and two ways.

    Five judges compare all pairs of every question's answers, without ties.
    """
    sd = RECURRING[settings["design"]]
    target = np.array(human_scale(float(np.hypot(*sd))))
    record: Record = {}
    quality = rng.normal(0.0, sd[0], (RECUR_QUESTIONS, N_MODELS))
    votes, questions_voted = _rated(rng, SCORES, RECUR_PEOPLE, RECUR_VOTES, quality, sd[1])
    i, j = np.triu_indices(N_MODELS, 1)
    question, k = np.arange(RECUR_QUESTIONS).repeat(len(i)), len(DISCRIMINATION)
    first, second = np.tile(i, RECUR_QUESTIONS), np.tile(j, RECUR_QUESTIONS)
    worth = SCORES + quality
    eta = np.outer(worth[question, first] - worth[question, second], DISCRIMINATION)
    outcome = np.r_[(rng.random(eta.shape) < expit(eta)).astype(float).ravel(), votes.outcome]
    names = votes.models, (*(f"j{n}" for n in range(k)), *votes.judges)
    ends = np.r_[first.repeat(k), votes.first], np.r_[second.repeat(k), votes.second]
    judge = np.r_[np.tile(np.arange(k), len(question)), k + votes.judge]
    rows, of_row = Comparisons(*names, *ends, judge, outcome), np.r_[question.repeat(k), questions_voted]
    human = judge >= k
    judges = rows.take(np.flatnonzero(~human))
    panel = fit(judges, "judge_aware").clustered(judges, of_row[~human])
    for clustering, units in (("one way", None), ("two ways", {"question": of_row, PERSON: rows.judge})):
        items = items_of(rows, of_row, human, panel, units)
        anchored, drawn = anchored_by_people(items), drawn_toward_panel(items, panel)
        estimates = {
            "alone": (anchored.alone, anchored.covariance_alone, anchored.degrees_of_freedom),
            "helped": (anchored.scores, anchored.covariance, anchored.degrees_of_freedom),
            "toward the panel": (drawn.scores, drawn.covariance, drawn.degrees_of_freedom),
        }
        for name, (scores, covariance, freedom) in estimates.items():
            low, high = wald(scores, np.sqrt(np.diag(covariance)), settings["level"], freedom)
            record[f"{name}/{clustering}"] = float(((low <= target) & (target <= high)).mean())
    return record


# what is simulated, by name
STUDIES: dict[str, tuple[Callable[[dict[str, Any], np.random.Generator], Record], Mapping[str, object]]] = {
    "gate": (gated_once, TEMPLATES),
    "ranking": (separated_once, TEMPLATES),
    "raters": (crossed_once, CROSSED),
    "people": (recurring_once, RECURRING),
}


def unit_rows(records: pd.DataFrame, study: str, design: str) -> list[dict[str, Any]]:
    """``study, design, measure, by, share`` with its Monte Carlo error, a row for each measure and unit."""
    measures = records.drop(columns=["replication", "failure"], errors="ignore")
    rows = []
    for name, values in measures.items():
        measure, _, unit = str(name).partition("/")
        row = {"study": study, "design": design, "measure": measure, "by": unit, "n_replications": len(records)}
        rows.append(row | with_errors(pd.DataFrame({"share": values})))
    return rows
