"""What is planned for, and the comparisons that a wanted precision takes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data import QUESTION
from judgerank.data.arrays import FloatArray
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed
from judgerank.fits.errors_by_question import MOST_QUESTIONS, number_of, plural, questions_of
from judgerank.fits.result import Fit
from judgerank.inference.taste_errors import TASTE
from judgerank.inference.wald import is_informative
from judgerank.model.members import NAMED
from judgerank.order.scale import scale_of
from judgerank.planning import precision
from judgerank.planning.panels import Panel, sub_panels
from judgerank.planning.precision import Precision
from judgerank.planning.questions import INDEPENDENT, WIDEST, Questions, asked_in, deviation
from judgerank.ranking.choices import default_member

log = logging.getLogger("judgerank")
# goals by name, as in `precision.GOALS`, where none are named
WANTED = {
    "score_width": 0.4,
    "score_width_worst": 0.7,
    "standardised_width": 0.4,
    "standardised_width_worst": 0.6,
    "pair_power": 0.8,
    "pairs_interval_excludes_zero": 0.8,
    "separated": 0.7,
}
PLANNED = tuple(name for name, one in NAMED.items() if one.weighs_judges and not one.weights_vary)
MATTERS = 2.0  # times the scores' standard deviation, beyond which questions matter so much that it is all one
LITTLE = 0.1  # times the information of an average judge, below which a plan says what it takes without a judge
DRAWS = 50  # sub-panels of each size, if there are more
Precisions = Mapping[int, list[Precision]]  # of the panels by number of judges


def fitted_panel(judgments: Judgments, refit: Callable[[str], Fit], model: str | None = None) -> tuple[Panel, Fit]:
    """The panel fitted to judgments, and the fit.

    Parameters
    ----------
    judgments : Judgments
    refit : callable
        Fits a member of the family, given by name, to their comparisons.
    model : str, optional
        One of `PLANNED`; by default position_aware where the order of presentation identifies it, else
        judge_aware.

    Raises
    ------
    ConfigError
        If the model is another one.
    NoMaximumError, NoIntervalError
        If there is no fit, or none with intervals.
    """
    if model is not None and model not in PLANNED:
        raise ConfigError(f"a plan is for one of {', '.join(PLANNED)}, in which judges differ; not for {model}")
    if model is None:
        model, why = default_member([judgments.comparisons])
        log.info("%s: %s", judgments.title, why)
    fitted = refit(model)
    half_wins = 0.0 if fitted.model.has_ties else judgments.comparisons.share_of_ties
    return Panel.fitted(_by_question(fitted, judgments), half_wins), fitted


def _by_question(fitted: Fit, judgments: Judgments) -> Fit:
    """The fit with errors by question, where there are several, however few."""
    if not _has_questions(judgments):
        return fitted
    question = judgments.question
    questions = questions_of(fitted, judgments.comparisons, question)
    if not questions.enough:
        log.info(
            "%s: %s. That is few for standard errors by question, so the plan is rough.",
            *(judgments.title, questions),
        )
    return fitted.clustered(judgments.comparisons, question, MOST_QUESTIONS)


def questions_like(panel: Panel, fitted: Fit, judgments: Judgments) -> Questions:
    """New questions asked as those of the judgments were; with nothing in common if these name none.

    Nor where these are rankings: what is planned is comparisons of two answers.
    """
    if judgments.comparisons.stages is not None:
        log.info(
            "The file has rankings. The plan is for comparisons of two answers, each on a question of its own; "
            "one ranking replaces several of them."
        )
        return INDEPENDENT
    if not _has_questions(judgments):
        return INDEPENDENT
    rows_and_question = judgments.comparisons, judgments.question
    pairs, judges = asked_in(panel, *rows_and_question)
    sd, interval = deviation(panel, fitted, *rows_and_question, pairs, judges)
    is_known = is_informative(interval, (0.0, MATTERS * float(scale_of(fitted).scores.std())))
    return Questions(min(sd, WIDEST), pairs, judges, interval, is_known)


def sampled_by(judgments: Judgments, unit: str) -> Judgments:
    """The judgments with the values of a column in the place of questions: a plan is for new ones of these.

    Raises
    ------
    DataError
        If there is no such column, or it lacks values.
    """
    if unit == QUESTION:
        return judgments
    number = np.full(len(judgments.frame), -1)
    number[judgments.parsed.to_numpy()] = judgments.unit(unit)
    return replace(judgments, frame=judgments.frame.assign(question_id=[f"{value:09d}" for value in number]))


def _has_questions(judgments: Judgments) -> bool:
    """Whether there are several questions by which errors can be clustered."""
    return "question_id" in judgments.frame and number_of(judgments.question) > 1


def asked_as(assumed: Questions, panel: Panel, wanted: Mapping[str, Any], repeats: int = 1) -> Questions:
    """New questions as wanted (``sd``, ``pairs``, ``judges``), else as found; as far as the panel can.

    Raises
    ------
    ConfigError
        If one is out of range, or questions have something in common and judgments are repeated, too.
    """
    overrides = {key: value for key, value in wanted.items() if value is not None}
    known = (None, True) if "sd" in overrides else (assumed.interval, assumed.is_known)
    questions = replace(replace(assumed, **overrides), interval=known[0], is_known=known[1]).within(panel)
    if repeats > 1:
        if questions.sd > 0 or max(overrides.get("pairs", 1), overrides.get("judges", 1)) > 1:
            raise ConfigError("repeats are planned for without questions (a deviation of zero leaves those out)")
        return INDEPENDENT
    if questions.sd > 0 or questions.size > 1:
        log.info(
            "Every new %s has %s by each of %s. %s. Pairs, and the two orders of a pair, are compared equally "
            "often.",
            *(questions.unit, counted(questions.pairs, "comparison"), counted(questions.judges, "judge")),
            _told(questions),
        )
    return questions


def _told(questions: Questions) -> str:
    """What answers to one question have in common."""
    if questions.sd == 0 and questions.interval is None:
        return (
            f"Answers to one {questions.unit} are assumed to have nothing in common (--question-sd says how much "
            "they have)"
        )
    if not questions.is_known:
        return (
            f"The file does not show how much answers to one {questions.unit} have in common: a standard "
            f"deviation of {questions.sd:.2f} is assumed (--question-sd sets another)"
        )
    return (
        f"The quality of a model's answers varies between {plural(questions.unit)} with a standard deviation of "
        f"{_deviation_told(questions)}"
    )


def _deviation_told(questions: Questions) -> str:
    """The standard deviation with its interval, where it is estimated."""
    if questions.interval is None:
        return f"{questions.sd:.2f}"
    low, high = questions.interval
    if questions.sd >= WIDEST:
        return f"more than {WIDEST:g} (the plan assumes {WIDEST:g}, so it asks for too little)"
    return f"{questions.sd:.2f} (95% interval: " + (
        f"{low:.2f} to {high:.2f})" if high < WIDEST else f"{low:.2f} or more)"
    )


def pair_of(panel: Panel, names: Iterable[str] | None = None) -> int:
    """The pair named; else the two best models of a fitted panel, and the pair of median difference of another.

    In the order of `Panel.pair`.
    """
    if names is not None:
        return panel.pair(names, "pair")
    if panel.doubt is not None:
        return panel.pair(best_first(panel)[:2], "pair")
    i, j = np.triu_indices(len(panel.models), 1)
    return int(np.argsort(np.abs(panel.at.scores[i] - panel.at.scores[j]), kind="stable")[(len(i) - 1) // 2])


def best_first(panel: Panel) -> list[str]:
    """The models, the one with the highest score first."""
    return [panel.models[n] for n in np.argsort(-panel.at.scores, kind="stable")]


def two_best_told(panel: Panel, level: float) -> Iterator[str]:
    """Which models may be better than the second of a fitted panel, and what that means for the pair's power."""
    _, second, *rest = best_first(panel)
    ends = {name: panel.difference(panel.pair([second, name], "pair"), level)[1:] for name in rest}
    may_be = [name for name, (low, high) in ends.items() if low <= 0 <= high]
    if may_be:
        yield (
            f"The file does not show which two models are best: {listed(may_be)} may be better than {second}. If "
            "so, the power for this pair is usually higher than planned."
        )


def spread_told(panel: Panel, pair: int, table: pd.DataFrame) -> Iterator[str]:
    """How many comparisons of a plan (`plan_table`) for a pair's power are of that pair."""
    if len(panel.pairs) == 1:
        return
    share = panel.pair_weight[pair] / panel.pair_weight.sum()
    pair_count, (first, second) = counted(len(panel.pairs), "pair"), panel.pairs[pair]
    rows = table[table["goal"] == "pair_power"]
    for size, wanted in zip(rows["comparisons"], rows["wanted"], strict=True):
        yield (
            f"pair_power: the {size:,} comparisons are spread over {pair_count} of models. About "
            f"{share * size:,.0f} are of {first} against {second}, which gives {wanted:.0%} power. Comparing "
            "that pair alone takes far fewer in all."
        )


def constant_told(panel: Panel, table: pd.DataFrame) -> Iterator[str]:
    """Which goals of a plan (`plan_table`) mean nothing for two models."""
    goals = [goal for goal in table["goal"] if precision.WIDTHS.get(goal, ("",))[0] == "standardised"]
    if len(panel.models) == 2 and goals:
        yield (
            f"With two models, standardised scores are constants, so a width of theirs ({listed(goals)}) says "
            "nothing: plan for pair_power or score_width."
        )


def least_told(
    table: pd.DataFrame, panel: Panel, make: Callable[[float], int], questions: Questions = INDEPENDENT
) -> Iterator[str]:
    """Which goals of a plan (`plan_table`) would be reached with fewer comparisons if the formulas held there."""
    fewest = make(precision.fewest_comparisons(questions, panel.n_parameters))
    at_fewest = table[table["comparisons"] == fewest]
    if questions.size > 1 and len(at_fewest):
        yield (
            f"For {listed(at_fewest['goal'])} at least {fewest // questions.size:,} {plural(questions.unit)} are "
            f"planned, more than the model's {panel.n_parameters} parameters: with fewer, `judgerank rank` cannot "
            f"cluster errors by {questions.unit}."
        )
    least = make(precision.least_comparisons(panel))
    few = table[table["goal"].isin(precision.POWERS) & (table["comparisons"] == least)]
    if len(few):
        yield (
            f"For {listed(few['goal'])} at least {least:,} comparisons are planned, {precision.RELIABLE} for each "
            "parameter of the model: with fewer, tests have less power than the formulas say."
        )


def difference_told(panel: Panel, pair: int, level: float) -> str:
    """What a fitted panel knows of the difference of a pair, and how powers take it."""
    (first, second), (middle, low, high) = panel.pairs[pair], panel.difference(pair, level)
    return (
        f"{first} scores {middle:+.2f} against {second} ({level:.0%} interval: {low:+.2f} to {high:+.2f}). "
        "Power accounts for the uncertainty of this estimate."
    )


def panels_by_size(panel: Panel, sizes: Iterable[int], draws: int, seed: int) -> dict[int, list[Panel]]:
    """Panels of fewer judges by their number, and the whole panel last."""
    everyone = len(panel.judges)
    by_size = {size: sub_panels(panel, size, draws, seed) for size in dict.fromkeys(sizes) if size < everyone}
    return by_size | {everyone: [panel]}


def to_make(questions: Questions, size: float, repeats: int = 1, correlation: float = 0.0) -> int:
    """Comparisons to make that are worth `size` independent ones, in whole repeats or in whole questions."""
    return precision.whole(size, repeats, correlation) if repeats > 1 else questions.whole(size)


def comparisons_needed(
    precisions: list[Precision], wanted: Mapping[str, float], make: Callable[[float], int], at: Mapping[str, Any]
) -> dict[str, int]:
    """Comparisons to make for every goal.

    Parameters
    ----------
    precisions : list of Precision
    wanted : mapping of str to float
    make : callable
        From independent comparisons to those to make.
    at : mapping
        ``level`` and ``pair``.
    """
    return {goal: make(precision.needed(goal, value, precisions, **at)) for goal, value in wanted.items()}


def plan_table(
    panel: Panel,
    questions: Questions,
    wanted: Mapping[str, float],
    make: Callable[[float], int],
    at: Mapping[str, Any],
    collected: int = 0,
    judges: Mapping[str, int | None] | None = None,
) -> pd.DataFrame:
    """``goal, wanted, comparisons, more, questions, expected, judges``, a row for every goal.

    ``comparisons`` and ``questions`` are in all, ``more`` those still to make after the `collected` ones;
    ``expected`` is what they achieve, more than wanted where no fewer are planned. ``judges`` is how many a claim
    for judges like these takes (`planning.judges`), missing where none have tastes. Other parameters as of
    `comparisons_needed`.
    """
    rows, plan = [], precision.precision_of(panel, questions)
    for goal, value in wanted.items():
        size = precision.needed(goal, value, [plan], **at)
        comparisons = make(size)
        row = {"goal": goal, "wanted": value, "comparisons": comparisons, "more": max(comparisons - collected, 0)}
        row |= {"questions": comparisons // questions.size, "expected": precision.achieved(goal, plan, size, **at)}
        rows.append(row | {"judges": (judges or {}).get(goal)})
    return pd.DataFrame(rows).astype({"judges": "Int64"})


def left_out_told(left_out: Collection[str]) -> Iterator[str]:
    """Whom a plan leaves out, and why."""
    if left_out:
        yield (
            f"Left out of the plan: {listed(left_out)}. In the exact fit these answers do not follow the ranking "
            "(discrimination 0). Without --solver newton all judges are planned for."
        )


def uninformative_told(
    panel: Panel, questions: Questions, table: pd.DataFrame, make: Callable[[float], int], at: Mapping[str, Any]
) -> Iterator[str]:
    """Which judges tell next to nothing, and what a plan (`plan_table`) takes without them."""
    share = informative_shares(panel)
    telling = np.flatnonzero(share >= LITTLE)
    if len(telling) in (0, len(panel.judges)):
        return
    plan = precision.precision_of(panel.subset(telling), questions)
    fewer = {
        goal: make(precision.needed(goal, wanted, [plan], **at))
        for goal, wanted in zip(table["goal"], table["wanted"], strict=True)
    }
    silent = [name for name, own in zip(panel.judges, share, strict=True) if own < LITTLE]
    sizes = "; ".join(f"{goal} {size:,}" for goal, size in fewer.items())
    answers, judges = ("answers", "this judge") if len(silent) == 1 else ("answer", "these judges")
    yield (
        f"{listed(silent)} {answers} almost at random, and the plan asks as much of {judges} as of the others. "
        f"Comparisons in all without {judges}: {sizes}."
    )


def informative_shares(panel: Panel) -> FloatArray:
    """What each judge's answers tell of the scores, about gamma^2 an answer, over the mean judge's; shape (K,)."""
    information = panel.judge_weight * np.exp(2 * panel.at.judges[0])
    return np.asarray(information / information.mean(), float)


def more_told(collected: int, unit: str = QUESTION) -> Iterator[str]:
    """What the numbers of a plan from a file count, and what its questions are."""
    if collected:
        yield (
            f"Comparisons and questions are in all, including the {collected:,} comparisons of the file; more is "
            "what is still to collect, in comparisons."
        )
    if unit != QUESTION:
        yield f"Questions are {plural(unit)} here: new ones are planned for."


def tastes_told(with_tastes: Fit | None, table: pd.DataFrame, shown: float = 0.0) -> Iterator[str]:
    """Whose opinion a plan is about, where judges have tastes of their own, of this standard deviation."""
    if with_tastes is None:
        if shown:
            yield (
                f"The judges have tastes of their own (standard deviation {shown:.2f} log-odds), which more "
                "comparisons by them do not average out. The comparisons are for claims about these judges. How "
                "many judges a claim about judges like these takes is not told: that fit would take long, or has "
                "no errors."
            )
        return
    c = with_tastes.comparisons
    yield (
        f"The {len(c.judges)} judges have tastes of their own (standard deviation {with_tastes.spread[TASTE]:.2f} "
        f"log-odds), which more comparisons by them do not average out. The comparisons are for claims about "
        "these judges. For claims about judges like these, judges is how many it takes in all, each asked about "
        f"{c.n_comparisons / len(c.judges):,.0f} comparisons as in the file."
    )
    beyond = table.loc[table["judges"].isna(), "goal"]
    if len(beyond):
        yield f"No number of judges reaches {listed(beyond)}."


def by_judges(
    precisions: Precisions,
    wanted: Mapping[str, float],
    make: Callable[[float], int],
    at: Mapping[str, Any],
    progress: Callable[[float, float], None] | None = None,
) -> pd.DataFrame:
    """Comparisons at which a goal is expected to be met over sub-panels, and their quartiles over sub-panels.

    ``n_judges, n_panels, goal, wanted, comparisons, q25, q75``; parameters as of `comparisons_needed`. Once for
    each panel and goal `progress` is called, with how many are done, and how many there are.
    """
    rows, done = [], 0
    total = len(wanted) * sum(len(of_size) for of_size in precisions.values())
    for n_judges, of_size in precisions.items():
        for goal, value in wanted.items():
            alone = []
            for plan in of_size:
                alone.append(precision.needed(goal, value, [plan], **at))
                done += 1
                if progress is not None:
                    progress(done, total)
            sizes = [precision.needed(goal, value, of_size, **at), *np.quantile(alone, [0.25, 0.75])]
            row = {"n_judges": n_judges, "n_panels": len(of_size), "goal": goal, "wanted": value}
            rows.append(row | dict(zip(("comparisons", "q25", "q75"), map(make, sizes), strict=True)))
    return pd.DataFrame(rows)
