"""`judgerank gate`, simulated: false decisions, power beside other tests, looks, and sets played back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import binom, t

from judgerank.data.arrays import FloatArray
from judgerank.data.judgments import Judgments
from judgerank.gating.decision import BLOCK, INCONCLUSIVE, SHIP, p_not_above
from judgerank.gating.judged import judged
from judgerank.gating.rule import Rule
from judgerank.gating.scores import Scores, scored
from replication.replicate import Record

RULE = Rule()
LIMIT = 0.5 - RULE.margin
TRUTHS = {"equal": 0.5, "inferior": LIMIT, "worse": 0.35, "better": 0.65}  # the candidate's win rate
RIGHT = {"equal": SHIP, "inferior": BLOCK, "worse": BLOCK, "better": SHIP}
SPREAD = 0.5  # log-discriminations from minus that to that
NODES = 60  # of the quadrature over questions
# what departs from independent judgments of alike questions
CONDITIONS: dict[str, dict[str, float]] = {
    "plain": {},
    "shared question errors": {"shared": 1.5},
    "clones": {"shared": 0.7, "clones": 1},
    "tastes": {"shared": 0.7, "taste": 1.0},
    "position bias": {"shared": 0.7, "position": 1.0},
    "30% ties": {"shared": 0.7, "ties": 0.3},
    "10% missing": {"shared": 0.7, "missing": 0.1},
    "uneven order": {"shared": 0.7, "position": 1.0, "first": 0.75},
    "crowd": {"shared": 0.7, "position": 1.0, "first": 0.65, "crowd": 60},  # each question before one of so many
    "everything": {"shared": 1.0, "taste": 0.5, "position": 1.0, "ties": 0.3, "missing": 0.1},
}
AT_LIMIT = "rarely broken"  # whose win rate is at the limit of the default margin
RARE = {AT_LIMIT: (0.1, 0.0, 0.5), "often slightly worse": (0.2, 0.9, 0.4)}  # share, score then, score else


def panel(k: int, condition: Mapping[str, float]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Discriminations, position biases and tastes of k judges, shape (K,) each."""
    positions = np.linspace(-1, 1, k) if k > 1 else np.zeros(1)
    return (
        np.exp(SPREAD * positions),
        condition.get("position", 0.0) * (1 + 0.5 * positions),
        condition.get("taste", 0.0) * positions,
    )


@lru_cache(maxsize=256)
def lead(k: int, name: str, win_rate: float) -> float:
    """The candidate's lead in log-odds that gives a win rate, by bisection over questions and orders."""
    condition = CONDITIONS[name]
    gamma, position, taste = panel(k, condition)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    quality = condition.get("shared", 0.0) * nodes[:, None]
    decided = 1 - condition.get("ties", 0.0)
    low, high = -8.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        eta = gamma * (middle + quality + taste)
        won = (expit(eta + position) + expit(eta - position)).mean(axis=1) / 2
        mean = 0.5 + decided * (float(weights @ won / weights.sum()) - 0.5)
        low, high = (middle, high) if mean < win_rate else (low, middle)
    return low


def drawn(rng: np.random.Generator, n: int, k: int, name: str, win_rate: float) -> tuple[FloatArray, FloatArray]:
    """Preferences and who was shown first, shape (Q, K) each; questions that nobody answered are left out."""
    condition = CONDITIONS[name]
    judges = 1 if condition.get("clones") else int(condition.get("crowd", k))
    gamma, position, taste = panel(judges, condition)
    quality = condition.get("shared", 0.0) * rng.normal(size=(n, 1))
    first = np.where(rng.random((n, judges)) < condition.get("first", 0.5), 1.0, -1.0)
    eta = gamma * (lead(judges, name, win_rate) + quality + taste) + position * first
    preference = (rng.random((n, judges)) < expit(eta)).astype(float)
    preference[rng.random((n, judges)) < condition.get("ties", 0.0)] = 0.5
    if condition.get("clones"):
        preference, first = np.repeat(preference, k, axis=1), np.repeat(first, k, axis=1)
    preference[rng.random(preference.shape) < condition.get("missing", 0.0)] = np.nan
    if "crowd" in condition:
        preference[np.arange(judges) != rng.integers(judges, size=(n, 1))] = np.nan
    is_answered = ~np.isnan(preference).all(axis=1)
    return preference[is_answered], first[is_answered]


def judged_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One data set of every truth: whether the gate and other tests decide, false or not."""
    n, k, name = settings["n_questions"], settings["n_judges"], settings["condition"]
    decisions: Record = {}
    for truth in ("equal", "worse"):
        preference, first = drawn(rng, n, k, name, TRUTHS[truth])
        if len(preference) == 0:
            continue
        scores = scored(preference, first)
        decisions[f"{truth}/gate"] = is_blocked(scores)
        decisions |= {f"{truth}/{rival}": worse for rival, worse in rivals(preference).items()}
    for truth in ("inferior", "better"):
        preference, first = drawn(rng, n, k, name, TRUTHS[truth])
        if len(preference) == 0:
            continue
        scores = scored(preference, first)
        decisions[f"{truth}/gate"] = is_shipped(scores)
        decisions[f"{truth}/t"] = t_above(scores.scores - LIMIT)
    return decisions


def is_shipped(scores: Scores, level: float = RULE.level) -> bool:
    """Whether the gate ships; a mean below the limit never does, and is not tested."""
    return bool(scores.win_rate > LIMIT and p_not_above(scores.within, scores.place_of(LIMIT)) <= level)


def is_blocked(scores: Scores, level: float = RULE.level) -> bool:
    """Whether the test of a block rejects; a lead never does, and is not tested."""
    return bool(scores.differences.sum() < 0 and scores.p_flips(-1) <= level)


def rivals(preference: FloatArray) -> dict[str, bool]:
    """What other tests say: is the candidate worse?

    The sign test is of the panel's mean by question, the t-test of the same means, McNemar's of all judgments as
    if they were independent; the majority vote has no test: it goes by most of the questions.
    """
    difference = np.nanmean(preference, axis=1) - 0.5
    lost, won = int((difference < 0).sum()), int((difference > 0).sum())
    losses, wins = int((preference < 0.5).sum()), int((preference > 0.5).sum())
    return {
        "sign": is_many(lost, won),
        "t": t_above(-difference),
        "mcnemar": is_many(losses, wins),
        "majority": lost > won,
    }


def is_many(these: int, those: int) -> bool:
    """Exact binomial test of one half."""
    return bool(binom_tail(these, these + those) <= RULE.alpha)


@lru_cache(maxsize=100_000)
def binom_tail(these: int, total: int) -> float:
    return float(binom.sf(these - 1, total, 0.5)) if total else 1.0


@lru_cache(maxsize=1000)
def t_hurdle(n: int) -> float:
    return float(t.ppf(1 - RULE.alpha, n - 1))


def t_above(values: FloatArray) -> bool:
    """One-sided t-test of a mean above zero; equal values above zero reject."""
    if len(values) < 2:
        return False
    error = values.std(ddof=1) / np.sqrt(len(values))
    return bool(values.mean() > t_hurdle(len(values)) * error)


def looked_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """Growing data with a look each day: whether any look decides falsely, and how many questions were asked.

    Beside it, what one look at a number of questions that is fixed beforehand decides.
    """
    sizes, k, name = settings["sizes"], settings["n_judges"], settings["condition"]
    decisions: Record = {}
    for truth, win_rate in TRUTHS.items():
        preference, first = drawn(rng, sizes[-1], k, name, win_rate)
        verdict, n_asked = INCONCLUSIVE, len(preference)
        for look, size in enumerate(sizes, 1):
            scores = scored(preference[:size], first[:size])
            if verdict == INCONCLUSIVE:
                verdict = verdict_of(scores, Rule(look=look).level)
                n_asked = n_asked if verdict == INCONCLUSIVE else min(size, n_asked)
            decisions[f"{truth}/fixed {size}"] = verdict_of(scores) == RIGHT[truth]
        decisions |= {f"{truth}/{outcome}": verdict == outcome for outcome in (SHIP, BLOCK)} | {
            f"{truth}/questions": n_asked
        }
    return decisions


def verdict_of(scores: Scores, level: float = RULE.level) -> str:
    """What the gate says at a level."""
    if is_shipped(scores, level):
        return SHIP
    return BLOCK if is_blocked(scores, level) else INCONCLUSIVE


def money(looks: pd.DataFrame, price: float) -> pd.DataFrame:
    """Questions and money until a right decision: looks at growing data beside a size fixed beforehand.

    ``fixed`` is the smallest of the sizes at which one look is right as often as the looks are; none where no size
    is. A user who fixes it must know how far the candidate is from the baseline.
    """
    rows = []
    for (condition, truth), part in looks.groupby(["condition", "case"], sort=False):
        share = part.set_index("rule")["share"]
        sizes = {int(rule.split()[1]): float(share[rule]) for rule in share.index if rule.startswith("fixed")}
        right, n_asked = float(share[RIGHT[str(truth)]]), float(share["questions"])
        enough = [size for size, right_share in sizes.items() if right_share >= right]
        fixed = float(min(enough)) if enough else np.nan
        row = {"condition": condition, "case": truth, "decision": RIGHT[str(truth)], "share": right}
        row |= {"questions": n_asked, "fixed": fixed, "largest": max(sizes)}
        rows.append(
            row | {"cost": n_asked * price, "fixed_cost": fixed * price, "largest_cost": max(sizes) * price}
        )
    return pd.DataFrame(rows)


def power_and_level(power: pd.DataFrame, levels: pd.DataFrame, rare: pd.DataFrame) -> pd.DataFrame:
    """Power with every test's own false decisions: in the same cell, and at the worst over conditions.

    ``worst_level`` is over all conditions with as many questions, and the skewed scores whose win rate is at the
    limit; ``gap`` is what a test has more than the gate; ``holds`` says whether it keeps its level in all of them.
    """
    false = {"worse": "equal", "better": "inferior"}
    skewed = rare[(rare["case"] == "ship") & (rare["condition"] == AT_LIMIT)].assign(case="inferior")
    every = pd.concat([levels, skewed])
    every = every.assign(over=~held(every))
    keys, rows = ["condition", "n_questions", "n_judges"], []
    for row in power.itertuples():
        like = every[(every["case"] == false[row.case]) & (every["rule"] == row.rule)]
        like = like[like["n_questions"] == row.n_questions]
        same_cell = like[(like[keys] == [getattr(row, key) for key in keys]).all(axis=1)]
        worst = like.loc[like["share"].idxmax()]
        rows.append((same_cell["share"].item(), worst["share"], worst["condition"], not like["over"].any()))
    columns = ["level", "worst_level", "worst_condition", "holds"]
    compared = power.reset_index(drop=True).join(pd.DataFrame(rows, columns=columns))
    gates = compared[compared["rule"] == "gate"].set_index([*keys, "case"])["share"]
    compared["gap"] = compared["share"] - gates.loc[pd.MultiIndex.from_frame(compared[[*keys, "case"]])].to_numpy()
    return compared


def rare_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """Scores that are skewed as much as changes are: decisions of the gate and of other tests."""
    chance, then, alternative = RARE[settings["condition"]]
    score = np.where(rng.random(settings["n_questions"]) < chance, then, alternative)
    scores = scored(score[:, None], np.zeros((len(score), 1)))
    tests = rivals(score[:, None])
    decisions = {"ship/gate": is_shipped(scores), "ship/t": t_above(score - LIMIT)}
    return (
        decisions | {"block/gate": is_blocked(scores)} | {f"block/{name}": tests[name] for name in ("sign", "t")}
    )


def shares(records: pd.DataFrame) -> pd.DataFrame:
    """``case, rule, share, share_se, n_replications`` of columns named case/rule."""
    rows = []
    for column in records:
        case, _, rule = str(column).partition("/")
        values = records[column].dropna().astype(float)
        error = values.std(ddof=1) / np.sqrt(len(values))
        rows.append((case, rule, values.mean(), error, len(values)))
    return pd.DataFrame(rows, columns=["case", "rule", "share", "share_se", "n_replications"])


def held(table: pd.DataFrame, level: float = RULE.alpha) -> pd.Series:
    """Whether a share is at most the level and three Monte Carlo errors of it."""
    error = np.sqrt(level * (1 - level) / table["n_replications"])
    return table["share"] <= level + 3 * error


def played_back(data: Judgments, sizes: list[int], draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """``pair, n_questions, truth, ship, block``: parts of two models' questions, and the answer of all as truth.

    Who was shown first is left out: in three of the sets it follows from the models' names. Pairs have at least
    twice as many questions as the largest part.
    """
    rows = []
    for baseline, candidate in pairs_of(data, 2 * max(sizes)):
        table = judged(data, baseline, candidate).preference
        truth = float((np.nanmean(table, axis=1)).mean())
        for size in np.repeat(sizes, draws):
            part = table[rng.permutation(len(table))[:size]]
            scores = scored(part, np.full(part.shape, np.nan))
            shipped = is_shipped(scores)
            verdict = {"ship": shipped, "block": not shipped and is_blocked(scores)}
            rows.append({"pair": f"{baseline} / {candidate}", "n_questions": int(size), "truth": truth, **verdict})
    return pd.DataFrame(rows, columns=["pair", "n_questions", "truth", "ship", "block"])


def pairs_of(data: Judgments, least: int) -> list[tuple[str, str]]:
    """Pairs of models with enough questions that somebody's answer to can be read, in the order of their names."""
    frame = data.frame[data.parsed.to_numpy()]
    ends = np.sort(frame[["model_a", "model_b"]].astype(str).to_numpy(), axis=1)
    count = frame["question_id"].groupby([ends[:, 0], ends[:, 1]]).nunique()
    return [(str(first), str(second)) for first, second in count.index[count >= least]]


def verdicts(rows: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """Shares of verdicts by what is true of a pair, with errors over pairs."""
    kinds = pd.cut(
        rows["truth"], [-1, LIMIT, 0.5 - 1e-9, 2], labels=["inferior", "within the margin", "not worse"]
    )
    rows_by_truth = []
    for (kind, size), part in rows.groupby([kinds, "n_questions"], observed=True):
        row: dict[str, Any] = {
            "dataset": name,
            "truth": kind,
            "n_questions": size,
            "pairs": part["pair"].nunique(),
        }
        for verdict in ("ship", "block"):
            by_pair = part.groupby("pair")[verdict].mean()
            error = by_pair.std(ddof=1) / np.sqrt(len(by_pair)) if len(by_pair) > 1 else np.nan
            row |= {verdict: by_pair.mean(), f"{verdict}_se": error}
        rows_by_truth.append(row)
    return rows_by_truth
