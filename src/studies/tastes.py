"""Judges' own tastes: how large they are on real sets, and what intervals and tests do where they are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.adaptive.goals import Goal
from judgerank.adaptive.rounds import Answers, Drawn, collect_until
from judgerank.data.arrays import IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.frames import question_name
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.presentation import pairs
from judgerank.fits.result import Fit
from judgerank.model.block import Records
from judgerank.order.pairs import pairwise
from judgerank.order.scale import scale_of
from judgerank.ranking.choices import LIKE_THESE, THIS_PANEL, Settings, default_member
from judgerank.ranking.findings import ranked_set
from judgerank.reading.read import read_judgments
from replication.replicate import Record
from replication.tables import with_errors
from studies.adaptive import truth
from studies.panel_blocks import held_out_gain

SCORES = np.linspace(1.0, -1.0, 8)
BLOCK = "taste"
LEVEL = 0.05  # of the test


def of_set(judgments: Judgments, folds: int, seed: int, level: float) -> dict[str, Any]:
    """Size and test of the tastes of one set, what they predict on unseen questions, and both kinds of interval.

    Returns
    -------
    dict
        Widths are means over the models on the reported scale; ``plain`` is the fit without tastes. Errors are not
        clustered by question, so that the three compare. The held-out gain is by comparison.
    """
    name, _ = default_member([judgments.comparisons])
    taste_fit = fit(judgments, name, blocks=[BLOCK])
    plain = fit(judgments, name)
    test = taste_fit.test(BLOCK)
    row: dict[str, Any] = {"dataset": judgments.name, "member": name, "models": len(taste_fit.scores)}
    row |= {"judges": len(taste_fit.discrimination), "sd": taste_fit.spread[BLOCK]}
    row |= {"sd_scores": float(scale_of(taste_fit).scores.std()), "twice_gain": test.statistic, "p": test.p_value}
    for kind, fitted in (("plain", plain), ("panel", taste_fit.for_this_panel()), ("like_these", taste_fit)):
        row[f"width_{kind}"], row[f"pairs_{kind}"] = (
            _width(fitted, level),
            int(pairwise(fitted)["separated"].sum()),
        )
    row["pairs"] = row["models"] * (row["models"] - 1) // 2
    return row | _gain(judgments, name, folds, seed)


def _width(fitted: Fit, level: float) -> float:
    rows = fitted.leaderboard(level)
    return float((rows["high"] - rows["low"]).mean())


def _gain(judgments: Judgments, member: str, folds: int, seed: int) -> dict[str, float]:
    """What tastes add to the log-likelihood of a comparison of an unseen question, and its standard error."""
    records = Records.of(judgments)
    question, names = pd.factorize(records.frame["question_id"].map(question_name))
    fold = (generator(seed, "taste folds", judgments.name).permutation(len(names)) % folds)[question]
    return held_out_gain(records, BLOCK, fold, member, question)


def drawn(rng: np.random.Generator, judges: int, sd: float, size: int) -> tuple[Comparisons, np.ndarray]:
    """Random comparisons by judges with tastes, and what each thinks of every model, shape (K, N)."""
    n, gamma = len(SCORES), np.exp(np.linspace(-0.4, 0.4, judges))
    thought = gamma[:, None] * SCORES + rng.normal(0.0, sd, (judges, n))
    return asked_at_random(thought, rng, size), thought


def asked_at_random(thought: np.ndarray, rng: np.random.Generator, size: int) -> Comparisons:
    """Comparisons of random pairs by random judges, who favour a side, by what they think, shape (K, N)."""
    judges, n = thought.shape
    position = rng.normal(0.0, 0.3, judges)
    i, k = rng.integers(0, n, size), rng.integers(0, judges, size)
    j = (i + rng.integers(1, n, size)) % n
    won = rng.random(size) < expit(thought[k, i] - thought[k, j] + position[k])
    names = tuple(f"m{x}" for x in range(n)), tuple(f"j{x}" for x in range(judges))
    return Comparisons(*names, i, j, k, won.astype(float), ordered=True)


def panel_scores(thought: np.ndarray) -> np.ndarray:
    """This panel's own scores: of the first singular pair, discriminations having the geometric mean one."""
    u, size, v = np.linalg.svd(thought - thought.mean(axis=1, keepdims=True))
    sign = np.sign(u[:, 0].sum())
    gamma = np.maximum(sign * u[:, 0], np.finfo(float).tiny)
    return np.asarray(sign * size[0] * v[0] * np.exp(np.log(gamma).mean()))


def held_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One set: the size of the tastes, their test, and whether every kind of interval holds its target."""
    rows, thought = drawn(rng, settings["judges"], settings["sd"], settings["size"])
    try:
        taste_fit = fit(rows, "position_aware", blocks=[BLOCK])
        targets = {
            "like_these": (taste_fit, SCORES),
            "panel": (taste_fit.for_this_panel(), panel_scores(thought)),
            "plain": (taste_fit.without, SCORES),
            "plain_panel": (taste_fit.without, panel_scores(thought)),
        }
        record: Record = {"sd": taste_fit.spread[BLOCK], "p": taste_fit.test(BLOCK).p_value}
        for name, (fitted, target) in targets.items():
            ends = fitted.confidence_intervals(settings["level"]).query("parameter == 'score'")
            record[name] = float(((ends["low"] <= target) & (target <= ends["high"])).mean())
    except JudgerankError:
        return dict.fromkeys(("sd", "p", "like_these", "panel", "plain", "plain_panel"), np.nan)
    return record


def held_row(records: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Means of one setting with Monte Carlo standard errors; sets without a maximum are counted."""
    complete_records = records[records["p"].notna()]
    complete_records = complete_records.assign(rejected=(complete_records["p"] < LEVEL).astype(float))
    row = {"judges": settings["judges"], "true_sd": settings["sd"], "n_comparisons": settings["size"]}
    row |= with_errors(complete_records[["sd", "rejected", "like_these", "panel", "plain", "plain_panel"]])
    return row | {"failed": len(records) - len(complete_records), "n_replications": len(records)}


# How often `judgerank rank` separates models that are equal for judges like these, by default and for this panel.
EQUAL_DESIGNS: dict[str, tuple[float, ...]] = {
    "all six models equal": (0.0,) * 6,
    "the two best of six equal": (0.8, 0.8, 0.2, -0.2, -0.6, -1.0),
}


def separated_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One set: the test for tastes, whom the ranking names as favouring which model, and what it separates.

    Whether equal models are separated, and how many pairs are, is by default and for this panel. ``others`` named
    are judges and models that no taste of their own was drawn for.
    """
    scores = np.array(EQUAL_DESIGNS[settings["design"]])
    n, k, size = len(scores), settings["judges"], settings["size"]
    gamma = np.exp(rng.normal(0.0, 0.3, k))
    thought = gamma[:, None] * scores + rng.normal(0.0, settings["sd"], (k, n))
    partial, ties = settings.get("partial", 1), settings.get("ties", 0.0)
    thought[:partial, 0] += settings["own"]
    comparisons = asked_at_random(thought, rng, size)
    question_id = question_ids(rng, size, settings["questions"])
    if ties:
        outcome = np.where(rng.random(size) < ties, 0.5, comparisons.outcome)
        comparisons = replace(comparisons, outcome=outcome)
    judgments = read_judgments(comparisons.to_frame().assign(question_id=question_id), copies="keep")
    ranked = ranked_set(judgments, Settings(level=settings["level"]))
    named, component = ranked.recusal.favoured, ranked.components[0]
    panel, of_panel = component, component.reported.errors.panel or component.reported
    if named:
        panel = ranked_set(judgments, Settings(level=settings["level"], whose=THIS_PANEL)).components[0]
        of_panel = panel.reported
    record, equal = Record(), {f"m{number}" for number in np.flatnonzero(scores == scores.max())}
    for whose, table in ((LIKE_THESE, component.pairs), (THIS_PANEL, pairs(of_panel, settings["level"]))):
        among = table["first"].isin(equal) & table["second"].isin(equal)
        record[f"wrong/{whose}"] = float(table.loc[among, "separated"].any())
        record[f"pairs/{whose}"] = float(table["separated"].sum())
    guilty = {(f"j{number}", "m0") for number in range(partial if settings["own"] else 0)}
    cells = {(one.judge, one.model) for one in named}
    record["named/favourite"], record["named/others"] = float(bool(cells & guilty)), float(bool(cells - guilty))
    record["sd"], record["p"] = panel.tastes.spread, panel.tastes.p_value
    return record


def question_ids(rng: np.random.Generator, size: int, n_questions: int) -> list[str]:
    """Ids of so many questions at random; of as many as there are comparisons, if none is given."""
    questions = rng.integers(0, n_questions, size) if n_questions else np.arange(size)
    return [f"q{number}" for number in questions]


def separated_row(records: pd.DataFrame, cell: dict[str, Any]) -> dict[str, Any]:
    """Means of one cell with Monte Carlo standard errors."""
    rejected = (records["p"] < LEVEL).astype(float)
    means = {column.replace("/", "_"): records[column] for column in records if "/" in column or column == "sd"}
    row = {"design": cell["design"], "judges": cell["judges"], "true_sd": cell["sd"], "own": cell["own"]}
    row |= {"partial": cell.get("partial", 1) if cell["own"] else 0, "ties": cell.get("ties", 0.0)}
    row |= {"n_comparisons": cell["size"], "questions": cell["questions"] or cell["size"]}
    return row | with_errors(pd.DataFrame(means).assign(rejected=rejected)) | {"n_replications": len(records)}


# Scores in falling order, standard deviation of tastes, and one judge's taste for the third model: at first, and
# within how many of its answers it turns into its opposite. Where two are equal, no stop is right.
EQUAL, FAR_AHEAD = [0.9, 0.2, 0.2, -0.2, -0.4, -0.7], [1.8, 1.5, -0.4, -0.7, -1.0, -1.2]
STOPS: dict[str, dict[str, Any]] = {
    "no tastes, second and third equal": {"scores": EQUAL, "sd": 0.0},
    "tastes, second and third equal": {"scores": EQUAL, "sd": 0.5},
    "tastes, two far ahead": {"scores": FAR_AHEAD, "sd": 0.5},
    "one judge's taste turns within 300 of its answers": {"scores": EQUAL, "sd": 0.0, "turns": (1.5, 300)},
    "one judge's taste turns within 4,000 of its answers": {"scores": EQUAL, "sd": 0.0, "turns": (1.0, 4000)},
}
TURNING = 3  # the most discriminating judge
GOALS = {
    "default": Goal("top", 2),
    "drift": Goal("top", 2, like_these=False),
    "like_these": Goal("top", 2, like_these=True),
}


class Tasting(Drawn):
    """Judges who have tastes, one of whom may change."""

    def __init__(self, scores: np.ndarray, sd: float, turns: tuple[float, int] | None, rng: np.random.Generator):
        super().__init__(truth(scores), rng)
        gamma = np.exp(self._truth.judges[0])
        self.thought = gamma[:, None] * self._truth.scores + rng.normal(0.0, sd, (len(gamma), len(scores)))
        self._turns, self._answered = turns, 0

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> Answers:
        """Answers, in the order asked."""
        eta = self.thought[judge, first] - self.thought[judge, second] + self._truth.judges[1, judge]
        if self._turns is not None:
            size, within = self._turns
            mine = judge == TURNING
            number = self._answered + np.cumsum(mine) - 1
            taste = size * np.clip(1 - 2 * number / within, -1.0, 1.0)
            eta = eta + mine * taste * ((first == 2).astype(float) - (second == 2))
            self._answered += int(mine.sum())
        return Answers((self._rng.random(len(first)) < expit(eta)).astype(float))


def stopped_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One collection by four rules: by default, this panel with a look for drift and without, judges like these.

    ``wrong`` is of judges like these, ``wrong_panel`` of what this panel thinks.
    """
    scores, record = np.array(settings["scores"]), Record()
    seeds = rng.spawn(2)
    for rule, goal in GOALS.items():
        draws = np.random.default_rng(seeds[0].bit_generator.seed_seq)
        oracle = Tasting(scores, settings["sd"], settings.get("turns"), draws)
        chooser = np.random.default_rng(seeds[1].bit_generator.seed_seq)
        run = collect_until(oracle, goal, chooser, level=settings["level"], most=settings["most"])
        best = run.result.scores.sort_values(ascending=False).index[:2]
        chosen = {int(model.removeprefix("m")) for model in best}
        true_scores = panel_scores(oracle.thought)
        right = scores[sorted(chosen)].min() > np.delete(scores, sorted(chosen)).max()
        drifted = bool(run.drifted)
        rules = {rule: (run.reached, drifted)}
        if rule == "drift":  # a look for drift is at the stop alone: without it, the run is the same
            rules = {"plain": (run.reached or drifted, False)} | rules
        for name, (reached, has_drifted) in rules.items():
            record[f"stopped/{name}"] = float(reached)
            record[f"wrong/{name}"] = float(reached and not right)
            record[f"wrong_panel/{name}"] = float(reached and set(np.argsort(-true_scores)[:2].tolist()) != chosen)
            record[f"drifted/{name}"] = float(has_drifted)
            record[f"comparisons/{name}"] = float(run.looks["comparisons"].iloc[-1])
    return record


def stops_row(records: pd.DataFrame, name: str) -> dict[str, Any]:
    """Means of one design with Monte Carlo standard errors."""
    means = with_errors({column.replace("/", "_"): records[column] for column in records if "/" in column})
    return {"design": name, "sd": STOPS[name]["sd"], "runs": len(records)} | means
