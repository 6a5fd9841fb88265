"""Do tests of fit and of few questions keep their level where that is hardest, and what do they find?

Every design is a panel whose judges answer about the same pairs of every question, or about one pair each. Null
designs are those that the fitted model describes, apart from what the judges of a question share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import components
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.fits.errors_by_question import by_question
from judgerank.fits.fit import fit
from judgerank.order.pairs import pairwise, rank_intervals
from judgerank.trust.fitness import fitness
from judgerank.trust.repeats import RELIABILITY, repeats_of
from replication.replicate import Record
from replication.tables import with_errors


@dataclass(frozen=True)
class Design:
    """A panel, its questions and what the model lacks of it.

    Attributes
    ----------
    models, judges, questions, pairs : int
        Pairs of every question, all judges asked about each; 0 takes every pair.
    sd : float
        Standard deviation of the models' scores.
    effect : float
        Of what all judges see of a pair in a question, in log-odds.
    position : float
        Standard deviation of the judges' positions.
    first, discrimination : float
        Discrimination of the first judge; by how much the others' logarithms differ.
    lead : float
        Of the first model over the others, which are then equal.
    cycle : float
        Log-odds added to each of three pairs of the first three models, in a circle.
    taste, all_tastes : float
        Standard deviation of what the last judge, or every judge, adds to each model.
    turned : int
        Questions whose answers are turned round.
    repeats : int
        How often every judge is asked the same.
    judge_sd : float
        Standard deviation of what one judge sees of a pair in a question, in log-odds.
    islands, one_question_each, has_questions : bool
        Whether models are compared within halves alone; every judgment is of another question; questions are told.
    """

    models: int = 6
    judges: int = 6
    questions: int = 60
    pairs: int = 5
    sd: float = 1.0
    effect: float = 0.0
    position: float = 0.4
    first: float = 1.0
    discrimination: float = 0.4
    lead: float = 0.0
    cycle: float = 0.0
    taste: float = 0.0
    all_tastes: float = 0.0
    turned: int = 0
    repeats: int = 1
    judge_sd: float = 0.0
    islands: bool = False
    one_question_each: bool = False
    has_questions: bool = True


FIT: dict[str, Design] = {
    "models differ": Design(),
    "models differ, judges share effects of 1.5": Design(effect=1.5),
    "models equal": Design(sd=0.0),
    "models equal, judges share effects of 1.5": Design(sd=0.0, effect=1.5),
    "coin flips, one question each": Design(sd=0.0, one_question_each=True),
    "one question each": Design(one_question_each=True),
    "no questions named": Design(one_question_each=True, has_questions=False),
    "two islands": Design(models=8, islands=True),
    "one runaway judge": Design(first=60.0),
    "one weak judge": Design(first=0.05),
    "20 questions, effects of 1.5": Design(questions=20, pairs=0, effect=1.5),
    "ten questions, models equal, effects of 1.5": Design(questions=10, pairs=0, sd=0.0, effect=1.5),
    "asked three times, effects of each judge": Design(questions=40, pairs=3, repeats=3, judge_sd=1.5),
    "cycle of three models": Design(cycle=0.8),
    "cycle, judges share effects of 1.5": Design(cycle=0.8, effect=1.5),
    "one judge with tastes of 1": Design(taste=1.0),
    "all judges with tastes of 0.5": Design(all_tastes=0.5),
    "one question turned round": Design(turned=1, pairs=15),
}
FEW: dict[str, Design] = {
    f"{questions} questions, {label}": Design(questions=questions, pairs=0, sd=0.0, effect=1.5, lead=lead)
    for questions in (5, 10, 20)
    for label, lead in (("models equal", 0.0), ("one model ahead by 3", 3.0))
}

REPEATED = {  # equal models and judges, so that the truth is the same in every set
    f"{times} answers each, {label}": Design(
        4, 4, questions, 3, 0.0, repeats=times, judge_sd=judge_sd, discrimination=0.0, position=0.0
    )
    for times, questions in ((2, 60), (4, 30))
    for label, judge_sd in (("little between questions", 0.3), ("much between questions", 3.0))
}


def drawn(design: Design, rng: np.random.Generator) -> tuple[Comparisons, np.ndarray]:
    """Raw comparisons in random order, and the question behind each."""
    n, k, n_questions = design.models, design.judges, design.questions
    scores = design.sd * rng.standard_normal(n)
    scores = np.where(np.arange(n) == 0, design.lead, 0.0) if design.lead else scores
    every = np.array(np.triu_indices(n, 1)).T
    if design.islands:
        every = every[(every[:, 0] < n // 2) == (every[:, 1] < n // 2)]
    pairs = design.pairs or len(every)
    chosen = np.array(
        [rng.choice(len(every), pairs, replace=pairs > len(every)) for _ in range(n_questions)]
    ).ravel()
    question, judge = (
        np.repeat(np.repeat(np.arange(n_questions), pairs), k),
        np.tile(np.arange(k), n_questions * pairs),
    )
    i, j = every[np.repeat(chosen, k)].T
    lead = scores[i] - scores[j] + _departures(design, rng, i, j, judge)
    lead += np.repeat(design.effect * rng.standard_normal(n_questions * pairs), k)
    lead += design.judge_sd * rng.standard_normal(len(lead))
    lead *= np.where(question < design.turned, -1.0, 1.0)
    turned = rng.random(len(i)) < 0.5
    i, j, judge, question, lead, turned = (
        np.repeat(x, design.repeats) for x in (i, j, judge, question, lead, turned)
    )
    gamma = np.exp(design.discrimination * rng.standard_normal(k))
    gamma[0] *= design.first
    eta = gamma[judge] * np.where(turned, -lead, lead) + design.position * rng.standard_normal(k)[judge]
    won = (rng.random(len(i)) < expit(eta)).astype(float)
    names = tuple(f"m{x}" for x in range(n)), tuple(f"j{x}" for x in range(k))
    first, second = np.where(turned, j, i), np.where(turned, i, j)
    rows = Comparisons(*names, first, second, judge, won, ordered=True)
    return rows, np.arange(len(i)) if design.one_question_each else question


def _departures(design: Design, rng: np.random.Generator, i, j, judge) -> np.ndarray:
    """What scores do not describe: a circle of three models, and tastes of judges."""
    n, k = design.models, design.judges
    circle = np.zeros((n, n))
    for winner, loser in ((0, 1), (1, 2), (2, 0)):
        circle[winner, loser], circle[loser, winner] = design.cycle, -design.cycle
    taste = design.all_tastes * rng.standard_normal((k, n))
    taste[-1] += design.taste * rng.standard_normal(n)
    taste -= taste.mean(axis=1, keepdims=True)
    return np.asarray(circle[i, j] + taste[judge, i] - taste[judge, j])


def largest(rows: Comparisons, question: np.ndarray) -> tuple[Comparisons, np.ndarray]:
    """The comparisons of the largest component."""
    group = max(components(rows), key=len)
    row_numbers = np.flatnonzero(np.isin(np.asarray(rows.models, object)[rows.first], group))
    part = rows.take(row_numbers)
    names = tuple(name for name in rows.models if name in group)
    index_of = np.array([names.index(name) if name in names else -1 for name in rows.models])
    within = Comparisons(
        names, part.judges, index_of[part.first], index_of[part.second], part.judge, part.outcome, ordered=True
    )
    return within, question[row_numbers]


def fit_tested(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """What the tests of fit find in one set: shares of sets, by test."""
    design = Design(**settings["design"])
    rows, question = largest(*drawn(design, rng))
    try:
        fitted = fit(rows, "position_aware")
        fitness_result = fitness(fitted, rows, question if design.has_questions else None, settings["level"])
    except JudgerankError:
        return {}
    judges, questions = set(fitness_result.found("judge")), set(fitness_result.found("question"))
    odd = {f"j{design.judges - 1}"} if design.taste else set(rows.judges) if design.all_tastes else set[str]()
    turned = {str(q) for q in range(design.turned)}
    return {
        "overall": float(bool(fitness_result.found("overall"))),
        "order": float(bool(fitness_result.found("order"))),
        "judge": float(bool(judges)),
        "question": float(bool(questions)),
        "judges_right": float(bool(judges & odd)) if odd else np.nan,
        "judges_wrong": float(bool(judges - odd)),
        "questions_right": float(bool(questions & turned)) if turned else np.nan,
        "questions_wrong": float(bool(questions - turned)),
    }


def few_tested(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """What the tests of pairs say of one set, by sign flips or clustered errors, and by errors that ignore it."""
    design = Design(**settings["design"])
    rows, question = drawn(design, rng)
    lead = np.where(np.arange(design.models) == 0, design.lead, 0.0)
    truth = dict(zip(rows.models, lead, strict=True))
    measures: dict[str, float] = {}
    try:
        alone = fit(rows, "position_aware")
        flips = alone._flipped(rows, question)
        kinds = {"rank": by_question(alone, rows, question), "flips": flips, "plain": alone}
        for name, fitted in kinds.items():
            pairs = pairwise(fitted, settings["level"])
            true_difference = pairs["first"].map(truth) - pairs["second"].map(truth)
            measures[f"{name}_false"] = float((pairs["separated"] & (true_difference <= 0)).any())
            measures[f"{name}_power"] = (
                float(pairs["separated"][true_difference > 0].mean()) if design.lead else np.nan
            )
            measures[f"{name}_ranks"] = float(_held(rank_intervals(fitted, settings["level"]), truth))
    except JudgerankError:
        return {}
    return measures


def _held(ranks: pd.DataFrame, truth: dict[str, float]) -> bool:
    """Whether every interval holds a rank that its model may have."""
    score = ranks["model"].map(truth).to_numpy()
    best = 1 + (score[:, None] < score).sum(axis=1)
    worst = (score[:, None] <= score).sum(axis=1)
    return bool(((ranks["low"] <= best) & (worst <= ranks["high"])).all())


def repeated(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """What repeated requests of one set tell of all judges, and whether a pair of models is said to differ."""
    design = Design(**settings["design"])
    rows, question = drawn(design, rng)
    try:
        fitted = fit(rows, "position_aware")
        repeats = repeats_of(fitted, rows, question, settings["level"])
        pairs = pairwise(by_question(fitted, rows, question), settings["level"])
    except JudgerankError:
        return {}
    assert repeats is not None
    names = ["flip_rate", "low", "high", "noise", "noise_low", "noise_high", *RELIABILITY]
    measures = {name: float(repeats.table[name].iloc[0]) for name in names}
    return measures | {"separated": float(pairs["separated"].any())}


def repeats_row(records: pd.DataFrame, name: str, design: Design) -> dict[str, Any]:
    """Means over sets, and how often intervals hold the truth, or else the mean of all sets.

    The true reliability is the share of the effects of a judge and a request in the latent variance, beside the
    logistic noise. Models are equal, so that no pair differs.
    """
    row: dict[str, Any] = {"design": name}
    complete_records = records.dropna()
    n = len(complete_records)
    true_reliability = design.judge_sd**2 / (design.judge_sd**2 + np.pi**2 / 3)
    measures = (("flip_rate", "low", "high"), ("noise", "noise_low", "noise_high"), RELIABILITY)
    for measure, low, high in measures:
        mean = complete_records[measure].mean()
        truth = true_reliability if measure == RELIABILITY[0] else mean
        held = (complete_records[low] <= truth) & (truth <= complete_records[high])
        row |= {measure: mean, f"{measure}_coverage": held.mean()}
        row[f"{measure}_coverage_se"] = held.std() / np.sqrt(n)
    row |= {"reliability_se": complete_records[RELIABILITY[0]].std() / np.sqrt(n)}
    row |= {"true_reliability": true_reliability, "separated": complete_records["separated"].mean()}
    row |= {"separated_se": complete_records["separated"].std() / np.sqrt(n)}
    return row | {"n_replications": len(records), "failed": len(records) - n}


def shares_row(records: pd.DataFrame, name: str, design: Design) -> dict[str, Any]:
    """Shares of sets with their Monte Carlo errors."""
    means = with_errors({measure: values.dropna() for measure, values in records.items()})
    counts = {"n_replications": len(records), "failed": int(records.isna().all(axis=1).sum())}
    return {"design": name, "n_questions": design.questions} | means | counts


def of_set(judgments: Judgments, member: str, level: float) -> tuple[dict[str, Any], pd.DataFrame]:
    """The tests of fit on one set, and the judges who depart."""
    fitted = fit(judgments.comparisons, member)
    fitness_result = fitness(fitted, judgments.comparisons, judgments.question, level, judgments.question_ids)
    overall = fitness_result.table.set_index("test")
    row: dict[str, Any] = {"dataset": judgments.name, "n_questions": len(judgments.question_ids)}
    for test in ("overall", "order"):
        row |= {f"{test}_ratio": overall.loc[test, "statistic"] / overall.loc[test, "expected"]}
        row |= {f"{test}_p": overall.loc[test, "p_value"]}
    row |= {"most": overall.loc["order", "most"], "judges": len(judgments.comparisons.judges)}
    row |= {
        "judges_depart": len(fitness_result.found("judge")),
        "questions_depart": len(fitness_result.found("question")),
    }
    row |= {"answers_sd": fitness_result.answers_sd}
    judges = fitness_result.table[(fitness_result.table["test"] == "judge") & fitness_result.table["departs"]]
    columns = ["name", "statistic", "expected", "p_value", "p_adjusted", "most"]
    return row, judges[columns].assign(dataset=judgments.name)[["dataset", *columns]]
