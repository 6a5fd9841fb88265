"""What the data cover: models, judges, pairs and questions with few comparisons or none, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, comb, log2

import numpy as np

from judgerank.data import QUESTION, UNITS
from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.frames import LEFT_OUT, OUTCOMES
from judgerank.data.listing import LISTED, counted, listed
from judgerank.data.rankings import sizes_of_rankings
from judgerank.fits.errors_by_question import (
    MOST_QUESTIONS,
    Questions,
    by_clusters,
    number_and_unit,
    number_of,
    plural,
    questions_of,
    units_of,
)
from judgerank.fits.presentation import pairs
from judgerank.fits.result import Fit
from judgerank.inference.clusters import Clusters
from judgerank.inference.wald import two_sided, wald_by_covariance
from judgerank.model.members import JUDGE_AWARE_TIES, POSITION_AWARE_TIES
from judgerank.order.scale import reported_covariance
from judgerank.ranking.choices import SHRUNK
from judgerank.ranking.components import links_between, never_compared
from judgerank.ranking.study import Component, Finding, Ranked, clusters, description
from judgerank.trust import fitness, sentences
from judgerank.trust.sentences import MOST_ROWS

# Groups of models that no chain of comparisons connects.


def unconnected(ranked: Ranked) -> Finding:
    """A remark that names the groups and what to compare to connect them."""
    if len(ranked.parts) < 2:
        return Finding()
    return Finding(on_parts([part.comparisons.models for part in ranked.parts], links_between(ranked.judgments)))


def on_parts(components: Sequence[Sequence[str]], links: Iterable[tuple[str, str]]) -> list[str]:
    """That models which no chain of comparisons connects are ranked apart, where there are any."""
    if len(components) < 2:
        return []
    groups = "; ".join(f"({number}) {listed(group)}" for number, group in enumerate(components, 1))
    first = "; ".join(f"{a} with {b}" for a, b in links)
    return [
        f"No chain of comparisons connects these {len(components)} groups of models, so each is ranked by itself: "
        f"{groups}. To connect them, compare {first}."
    ]


# Records that could not be read, and models that are not ranked.


def left_out(ranked: Ranked) -> Finding:
    """Remarks on what was dropped, and on components without a ranking."""
    refused = [(listed(part.comparisons.models), str(error)) for part, error in ranked.refused]
    unranked = [f"Not ranked: {models}. {why[:1].upper()}{why[1:]}." for models, why in refused]
    return Finding([*on_dropped(ranked.judgments.comparisons, never_compared(ranked.judgments)), *unranked])


def on_dropped(comparisons: Comparisons, never: Iterable[str]) -> list[str]:
    """Records left out, and models that are left without a comparison by it."""
    remarks, never = [], list(never)
    unread = {reason: count for reason, count in comparisons.dropped.items() if count and reason not in LEFT_OUT}
    if unread:
        reasons = ", ".join(f"{count} {reason}" for reason, count in unread.items())
        remarks.append(f"Dropped because the answer could not be read: {reasons}.")
    if never:
        remarks.append(f"Not ranked because no answer about them could be read: {listed(never)}.")
    return remarks


# Pairs, models and judges with few comparisons or none, and how such judges count.


NAMED = 3  # judges with few answers up to which each is named


def few_comparisons(component: Component) -> Finding:
    """Remarks on the design."""
    c = component.requested.comparisons
    return Finding([*on_pooled(c, component.judgments.few_judges), *on_few(c, component.settings.few)])


def on_pooled(comparisons: Comparisons, judges: Sequence[str]) -> list[str]:
    """How the judges count whose answers have one label."""
    if not judges:
        return []
    who = f" ({listed(judges)})" if len(judges) <= NAMED else ""
    start = f"{counted(len(judges), 'judge')} with fewer than {FEW_ANSWERS} answers{who}"
    count = "counts" if len(judges) == 1 else "count"
    position = " and share one position bias" if comparisons.ordered and len(judges) > 1 else ""
    if comparisons.is_pooled.all():
        return [f"{start}: nobody has more, so all judges count equally{position}."]
    if not comparisons.at_mean.any():
        return [f"{start} {count} like one judge{position}: too few to tell how well each of them judges."]
    return [
        f"{start} {count} with the panel's average discrimination{position}: answers are too few to tell how well "
        "each of them judges."
    ]


def on_few(comparisons: Comparisons, few: int) -> list[str]:
    """Pairs never compared, and models and judges with few comparisons."""
    c, remarks = comparisons, []
    n = len(c.models)
    low, high = np.minimum(c.first, c.second), np.maximum(c.first, c.second)
    never = np.triu(np.ones((n, n), bool), 1)
    never[low, high] = False
    n_never, pairs = int(never.sum()), np.argwhere(never)[: LISTED + 1]
    if n_never:
        named = [f"{c.models[a]} and {c.models[b]}" for a, b in pairs]
        remarks.append(
            f"{n_never} of {n * (n - 1) // 2} pairs of models were never compared directly; they are ranked "
            "through "
            f"comparisons with other models: {listed(named, n_never)}."
        )
    compared = np.bincount(c.first, c.decided, n) + np.bincount(c.second, c.decided, n)
    by_judge = np.bincount(c.judge, c.count, len(c.judges))
    for kind, names, times in (("models", c.models, compared), ("judges", c.judges, by_judge)):
        thin = [
            f"{name} ({count:.0f})"
            for name, count in zip(names, times, strict=True)
            if count < few and name != FEW_JUDGES
        ]
        if thin:
            remarks.append(f"{kind.capitalize()} with fewer than {few} comparisons: {listed(thin)}.")
    return remarks


# Too few questions for errors that allow for dependence within them.


def few_questions(component: Component) -> Finding:
    """A remark where errors by question are asked for and not shown."""
    reported, settings = component.reported, component.settings
    by_question = clusters(component.judgments, settings)
    if not component.has_intervals or (reported.clusters is None and not by_question):
        return Finding()
    if reported.clusters is not None:
        questions = units_of(reported, reported._require_raw(), reported.clusters)
    else:
        questions = questions_of(reported, reported._require_raw(), reported._require_question())
    independent = not reported._is_robust
    return Finding(
        [] if questions.enough else on_questions(questions, len(reported.scores), settings.level, independent)
    )


def on_questions(questions: Questions, n_models: int, level: float, independent: bool) -> list[str]:
    """How pairs are tested where there are too few questions for clustered errors, and what the intervals lack.

    The sandwich covariance is no larger in rank than the number of questions less one.
    """
    least = ceil(log2(2 * comb(n_models, 2) / (1 - level)))  # 2^(1 - n) is the smallest p-value of n questions
    units = plural(questions.unit)
    of_scores = f"allow for dependence within {units}, and are wide."
    if independent:
        of_scores = "take comparisons as independent, and may be too short."
    remark = (
        f"There are {questions}: too few {units} to test pairs by clustered standard errors. So pairs "
        f"are tested by sign flips of whole {units}, an exact test. Intervals of scores {of_scores}"
    )
    if questions.n_questions < least:
        remark += f" No pair can be significantly different with fewer than {least} {units}."
    return [remark]


# What intervals and pairs would be by other columns that may name what was sampled, such as templates.


SAMPLED = "Sampling: "  # how the remarks begin


def other_units(component: Component) -> Finding:
    """A remark for each such column that is there and was not named."""
    reported = component.reported
    large = len(component.comparisons) > MOST_ROWS
    if large or not component.has_intervals or reported.effects is not None or reported.errors.robust is None:
        return Finding()
    named = () if reported.clusters is None else reported.clusters.names
    own: tuple[float, int] | None = None
    remarks = []
    for name in UNITS:
        label = None if name in named else component.judgments.unit_if_known(name)
        if label is None or not 1 < number_of(label) < (reported.errors.n_clusters or 0):
            continue
        try:
            fitted = by_clusters(component.independent, Clusters((name,), (label,)), component.independent.raw)
            own = own or _size(component, reported)
            remarks.append(_remark(name, number_of(label), _size(component, fitted), own))
        except JudgerankError:
            continue
    return Finding(remarks)


def _size(component: Component, fitted: Fit) -> tuple[float, int]:
    """Mean width of the intervals of scores, and how many pairs are significantly different."""
    level = component.settings.level
    covariance, degrees = reported_covariance(fitted), fitted.degrees_of_scores
    low, high = wald_by_covariance(np.zeros(len(covariance)), covariance, level, degrees)
    return float((high - low).mean()), int(pairs(fitted, level)["separated"].sum())


def _remark(name: str, n_units: int, size: tuple[float, int], own: tuple[float, int]) -> str:
    return (
        f"{SAMPLED}By {name} ({n_units} values) intervals would be {size[0] / own[0]:.2f} times as wide, and "
        f"{counted(size[1], 'pair')} of models significantly different instead of {own[1]}. If {name} is what was "
        f"sampled: --cluster {name}."
    )


# Models that shrinkage moves by more than their standard error, and that lie far from all others.


RARE = 0.02  # chance of a model so far out, were all drawn alike


def far_models(component: Component) -> Finding:
    """A warning that names them."""
    reported = component.reported
    if not component.has_intervals or "scores" not in reported.spread:
        return Finding()
    models = np.array(reported.comparisons.models, object)
    shrunk_by = reported.dispersion * reported._inverse("expected")  # variances by which the fit shrinks
    error = np.sqrt(np.diag(shrunk_by)[: len(models)])
    far = far_from_the_rest(reported.scores.to_numpy(), error, reported.spread["scores"])
    if not far.any():
        return Finding()
    is_single = far.sum() == 1
    return Finding(
        [
            f"{listed(list(models[far]))} {'lies' if is_single else 'lie'} far from the other models and "
            f"{'has' if is_single else 'have'} few comparisons. Shrinkage moves "
            f"{'this score' if is_single else 'these scores'} "
            "toward the others by more than the interval says. Compare more, or use --solver newton, which does "
            "not shrink."
        ]
    )


def far_from_the_rest(scores: FloatArray, error: FloatArray, tau: float) -> BoolArray:
    """Which shrunk scores are drawn from far out by more than their errors, shape (N,).

    Parameters
    ----------
    scores, error : float array, shape (N,)
        Shrunk scores, with mean zero, and their standard errors.
    tau : float
        Standard deviation that scores are shrunk by, in the same units.
    """
    n, variance = len(scores), error**2
    left = tau**2 - variance
    identified = left > 0
    factor = np.divide(tau**2, left, out=np.ones(n), where=identified)
    alone, of_others = factor * scores, (np.sum(scores**2 + variance) - scores**2 - variance) / max(n - 1, 1)
    z = alone / np.sqrt(of_others + factor * variance)
    shifted = np.abs(alone - scores) > error
    far: BoolArray = identified & shifted & (two_sided(z) <= RARE)
    return far


# Rankings of several answers: how many, of how many answers, and what is not computed for them.


AVERAGED = (
    "Ties inside rankings are averaged over the orders of the tied answers, which does not model how often judges "
    "tie. To model ties: --model {}."
)
MODELLED = "Ties inside rankings are an outcome of their own: a judge may choose several answers at once."
UNCOMPARED = (
    " Members are not compared on held-out choices, since --model names one: leave it out to compare them."
)


def several_answers(component: Component) -> Finding:
    """A remark where judges ranked several answers."""
    c = component.comparisons
    if c.stages is None:
        return Finding()
    sizes = sizes_of_rankings(component.judgments)
    among = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
    remark = (
        f"Judges ranked several answers: {counted(len(sizes), 'ranking')} of {among} answers. "
        "A ranking of k answers counts as k (k - 1) / 2 comparisons. Not computed here: the smallest change of "
        "the data that changes the leader (judgerank trust has it), goodness of fit, and effects by judge."
    )
    tied = bool(((c.outcome == OUTCOMES["c"]) & (c.stages.neither < 1)).any())
    with_ties = POSITION_AWARE_TIES if c.ordered else JUDGE_AWARE_TIES
    of_ties = MODELLED if component.reported.model.has_ties else AVERAGED.format(with_ties.name)
    if component.settings.model is not None:
        of_ties += UNCOMPARED
    return Finding([remark, *([of_ties] if tied else [])])


# Remarks on a large set: results from part of it, and those left out since they would take long.


def large_set(component: Component) -> Finding:
    """Remarks on a component with many questions, judgments or parameters."""
    return Finding([*_on_errors(component), *_on_sample(component), *_on_left_out(component)])


def _on_errors(component: Component) -> Iterator[str]:
    """That standard errors come from part of the questions, where they do."""
    reported = component.reported
    clusters = reported.clusters
    by_question = clusters is None and reported.question is not None
    if reported.errors.n_clusters is None or reported.effects is not None or not (clusters or by_question):
        return
    if reported.errors.n_clusters > MOST_QUESTIONS and not (clusters and clusters.are_crossed):
        unit = clusters.names[0] if clusters else QUESTION
        of_all = number_and_unit(reported.errors.n_clusters, unit)
        yield f"Standard errors by {unit} come from {MOST_QUESTIONS:,} of {of_all}, drawn at random."


def _on_sample(component: Component) -> Iterator[str]:
    """That studies of single records looked at part of them, where they did."""
    if component.sample is not component.judgments:
        where = description(component.sample, component.judgments)
        yield f"Judges who answer alike and repeated requests were looked for in {where}."


def _on_left_out(component: Component) -> Iterator[str]:
    """A remark on results that are not computed by default."""
    size, parameters = len(component.comparisons), component.member.n_parameters
    left = []
    if size > fitness.MOST_ROWS or parameters > fitness.MOST_PARAMETERS:
        left.append("goodness of fit")
    if size > sentences.MOST_ROWS or parameters > sentences.MOST_PARAMETERS:
        left += ["the fit without shrinkage"] if component.settings.solver == SHRUNK else []
        left.append("the smallest removals that change the leader (judgerank trust FILE finds them, in minutes)")
    if left:
        yield (
            f"Not computed for {size:,} judgments and {parameters:,} parameters, since it takes long: "
            f"{', '.join(left)}."
        )
