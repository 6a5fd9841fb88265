"""May the candidate ship? From judgments to a verdict with its warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from itertools import product
from math import ceil, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any, Unpack

import numpy as np
import pandas as pd
from scipy.special import ndtri

from judgerank.data import QUESTION, UNITS
from judgerank.data.arrays import FloatArray
from judgerank.data.cache import Shown
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.gating.answer_pairs import Pair, labels_of, paired, texts_of
from judgerank.gating.checks import SURE, by_place, checked, leads_by_order, place_of_all
from judgerank.gating.decision import Evidence, by_category, holm, outcome
from judgerank.gating.gate_result import Criterion, OtherUnit, OwnVotes, Result, votes_on_pair
from judgerank.gating.judged import Judged
from judgerank.gating.rule import EQUIVALENCE, POINTS, RANDOM, SCORE, THIS_PANEL, TWO_SIDED, Rule
from judgerank.gating.scores import Scores
from judgerank.gating.verdict_text import sentence, text
from judgerank.ranking.recusal import RECUSE
from judgerank.reading.read import Source, read_judgments
from judgerank.reading.selection import Filters

# How many more questions a decision takes, if the candidate is as good as it looks.
MOST = 1_000_000  # questions; a decision that takes more is called out of reach
ROUNDING = 1e-6  # questions
PRIOR_QUESTIONS, PRIOR_SPREAD = 2, 0.35  # few questions may look alike by chance
Enough = Callable[[int], bool]


def more_needed(
    several: list[Scores],
    after: Rule,
    lowest: list[Scores] | None = None,
    tested: list[Scores] | None = None,
) -> int | None:
    """Questions beyond those there are, the same for all criteria; None where no number that is in reach decides.

    They decide at the next look, whose rule is `after`. A ship must hold with the `lowest` scores, and any
    decision with the `tested` ones.

    That is if the win rate is the observed one: as little as that is known, so far may the count be off.

    The count is approximate: normal quantiles at the observed mean and variance, with the score at the
    unfavourable end that the bound for a ship adds. It is a forecast, and no decision rests on it. Where questions
    were sampled together, so many more of them come from further units of the mean size.
    """
    n_questions = len(several[0].scores)
    lowest, tested = ([scores.of_units for scores in of or several] for of in (lowest, tested))
    ships = [_growth(partial(_ships, scores, after), scores) for scores in (*lowest, *tested)]
    blocks = [_growth(partial(_blocks, scores, after, len(several)), scores) for scores in tested]
    ship = None if None in ships else max(growth for growth in ships if growth is not None)
    block = min((growth for growth in blocks if growth is not None), default=None)
    growths = [growth for growth in (ship, block) if growth is not None]
    return max(1, ceil((min(growths) - 1) * n_questions - ROUNDING)) if growths else None


def _growth(enough: Enough, scores: Scores) -> float | None:
    """How many times as many questions are enough; all criteria and groups grow alike."""
    total = _first(enough, len(scores.scores))
    return None if total is None else total / len(scores.scores)


def _first(enough: Enough, current: int) -> int | None:
    """The least number of questions that is enough, beyond those there are."""
    high = current + 1
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = max(current, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _ships(scores: Scores, rule: Rule, n: int) -> bool:
    x = scores.fair
    if rule.mode == TWO_SIDED:
        return _is_beyond(float(x.mean()) - 0.5, _spread(x), rule, n)
    if rule.mode == EQUIVALENCE:  # both bounds must pass at once
        rule = replace(rule, power=(1 + rule.power) / 2)
        if scores.runs is not None:
            return all(_is_beyond(float(share.mean()) - rule.lowest, _spread(x), rule, n) for share in (x, 1 - x))
        return all(_bounded_above(share, rule.lowest, rule, n) for share in (x, 1 - x))
    if scores.runs is not None:
        return _is_beyond(float(x.mean()) - rule.lowest, _spread(x), rule, n)
    return _bounded_above(x, rule.lowest, rule, n)


def _bounded_above(x: FloatArray, threshold: float, rule: Rule, n: int) -> bool:
    """Whether the bound of n such questions and one of score 0 is likely to be above a threshold."""
    mean, spread = float(x.mean()), _spread(x)
    with_zero = n * mean / (n + 1)
    square = n * (spread**2 + mean**2) / (n + 1) - with_zero**2
    return with_zero - threshold >= _z(rule.level) * sqrt(square / (n + 2)) + _z(1 - rule.power) * spread / sqrt(n)


def _blocks(scores: Scores, rule: Rule, criteria: int, n: int) -> bool:
    lead = float(scores.differences.mean())
    distance = abs(lead) if rule.mode == EQUIVALENCE else -lead
    divided = 2 * criteria if rule.mode == EQUIVALENCE else criteria
    n = n * len(scores.differences) // len(scores.scores)  # as large a share of them is in balanced orders
    return _is_beyond(distance, _spread(scores.differences), rule, n, divided)


def _is_beyond(distance: float, spread: float, rule: Rule, n: int, divided: int = 1) -> bool:
    reach = _z(rule.level / divided) + _z(1 - rule.power)
    return 0.5**n <= rule.level / divided and distance >= reach * spread / sqrt(n)


def _spread(values: FloatArray) -> float:
    """Standard deviation over questions, that of a few questions drawn towards a usual one."""
    n = len(values)
    squares = float(((values - values.mean()) ** 2).sum())
    return sqrt((squares + PRIOR_QUESTIONS * PRIOR_SPREAD**2) / (n - 1 + PRIOR_QUESTIONS))


def _z(chance: float) -> float:
    return NormalDist().inv_cdf(1 - chance)


# Find judges whose answers say nothing about the two variants: they go by place, or are as random as a coin.
UNRELATED = 0.15  # correlation of a judge's answers in the two orders, below which they are as a coin's
FEW = 50  # questions with two clear answers, below which they do not tell
REACH, REACH_OF_BOTH = -ndtri(SURE), -ndtri(SURE / 2)  # standard errors of a one-sided and a two-sided test


def uninformative(table: Judged) -> dict[str, str]:
    """What each judge does who says nothing about the variants, by name."""
    leads = {judge: lead for judge in table.judges if (lead := leads_by_order(table, judge)) is not None}
    reasons = {judge: reason for judge, lead in leads.items() if (reason := by_place(lead))}
    remaining = {judge: _less_position(lead) for judge, lead in leads.items() if judge not in reasons}
    means = np.array([_mean(lead) for lead in remaining.values()]).reshape(len(remaining), len(table.questions))
    for number, (judge, lead) in enumerate(remaining.items()):
        if reason := _as_a_coin(lead, means[number], np.delete(means, number, axis=0)):
            reasons[judge] = reason
    return {judge: reasons[judge] for judge in leads if judge in reasons}


def _less_position(lead: FloatArray) -> FloatArray:
    """The leads less the judge's position bias, where both orders are there."""
    seen = ~np.isnan(lead).all(axis=0)
    if not seen.all():
        return lead
    first, second = np.nanmean(lead, axis=0)
    bias = (first - second) / 2
    return lead - np.array([bias, -bias])


def _as_a_coin(lead: FloatArray, judge_leads: FloatArray, panel_leads: FloatArray) -> str:
    """Whether a judge's answers agree neither in the two orders nor, if it saw one of them, with other judges'."""
    both = lead[~np.isnan(lead).any(axis=1)]
    product = both.prod(axis=1)
    if np.count_nonzero(product) >= FEW:
        means = both.mean(axis=1)
        if abs(means.mean()) > REACH_OF_BOTH * _error(means):  # it prefers one variant
            return ""
        size = float(np.sqrt((both**2).mean(axis=0).prod()))
        mean, reach = product.mean(), REACH * _error(product)
        if mean <= reach < UNRELATED * size - mean:
            return "answers the two orders of a question as independently as a coin"
        return ""
    is_shared = ~np.isnan(judge_leads) & ((~np.isnan(panel_leads)).sum(axis=0) > 1)
    judge_leads, panel_shared = judge_leads[is_shared], panel_leads[:, is_shared]
    if np.count_nonzero(judge_leads) < FEW:
        return ""
    if abs(judge_leads.mean()) > REACH_OF_BOTH * _error(judge_leads):
        return ""
    count = (~np.isnan(panel_shared)).sum(axis=0)
    total = np.nansum(panel_shared, axis=0)
    with_them, among_them = (
        judge_leads * total / count,
        (total**2 - np.nansum(panel_shared**2, axis=0)) / (count * (count - 1)),
    )
    short = with_them - among_them / 2
    unrelated = abs(with_them.mean()) <= REACH_OF_BOTH * _error(with_them)
    if unrelated and short.mean() + REACH * _error(short) < 0:
        return "agrees with the other judges no more than a coin"
    return ""


def _mean(lead: FloatArray) -> FloatArray:
    """Over both orders, shape (Q,); nan where there is neither."""
    is_answered = ~np.isnan(lead)
    count = is_answered.sum(axis=1)
    return np.where(count > 0, np.nansum(lead, axis=1) / np.maximum(count, 1), np.nan)


def _error(values: FloatArray) -> float:
    """Standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


ALL = "all"  # name of the one criterion where none is named


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Shown, Result):
    """A verdict, with ways to show it; attributes are those of `Result`."""

    def to_html(self) -> str:
        """The page as one HTML text that needs nothing beside it."""
        from judgerank.gating.verdict_page import to_html

        return to_html(self)

    def __str__(self) -> str:
        return text(self)

    def _line(self) -> str:
        return sentence(self)

    def _table(self) -> pd.DataFrame:
        return pd.DataFrame(
            [
                (criterion.name, *astuple(criterion.evidence)[:-1], criterion.p_block)
                for criterion in self.criteria
            ],
            columns=["criterion", *(field.name for field in fields(Evidence))],
        )


def gate(
    source: Source | Mapping[str, Source],
    baseline: str,
    candidate: str,
    rule: Rule | None = None,
    candidate_model: str | None = None,
    question_cost: float | None = None,
    currency: str = "USD",
    answers: tuple[str | Path, str | Path] | None = None,
    own_maker: str = RECUSE,
    makers: Mapping[str, str] | None = None,
    **filters: Unpack[Filters],
) -> Gate:
    """Decide whether a candidate may replace a baseline, from judgments of the two by a panel.

    Parameters
    ----------
    source : anything that `judgerank.read` reads, or a mapping of names of criteria to such
    baseline, candidate : str
        Their names in the judgments.
    rule : Rule, optional
        What is to be shown; by default that the candidate's win rate is not below one half by more than .05.
    candidate_model : str, optional
        The model behind the candidate, such as ``gpt-5``, by which its maker is known; its name by default.
    question_cost : float, optional
        What one more question costs, in the `currency`.
    answers : pair of paths, optional
        Files of the baseline's and the candidate's answers, to show on the page; JSON Lines with ``question_id``,
        ``question`` and ``answer``.
    own_maker : {"recuse", "count"}
        Whether votes of judges on models of their own maker are left out. They count where there are no others,
        and the verdict says so.
    makers : mapping of str to str, optional
        Makers of models or judges by name, where their names do not say it.
    filters
        ``without_judge``, ``only_judge``, ``without_model`` and ``category``, as of `judgerank.read`.

    Raises
    ------
    DataError, DataUnavailableError
        If the judgments cannot be read, or do not compare the two.
    ConfigError
        If a setting of the rule is out of range.

    Examples
    --------
    >>> import judgerank
    >>> verdict = judgerank.gate(judgerank.read(judgerank.example()), "oak", "maple")
    >>> type(verdict).__name__
    'Gate'
    """
    rule = rule or Rule()
    named = (
        {str(name): judgments_of for name, judgments_of in source.items()}
        if isinstance(source, Mapping)
        else {ALL: source}
    )
    if not named:
        raise ConfigError("there are no criteria")
    pairs = paired(*map(Path, answers)) if answers else []
    keep = columns_beyond(rule, pairs)
    read = {name: read_judgments(judgments_of, keep=keep, **filters) for name, judgments_of in named.items()}
    by_name = tuple((makers or {}).items())
    tables, own = votes_on_pair(
        read, (baseline, candidate), own_maker, by_name, candidate_model, rule.cluster, labels_of(pairs)
    )
    result = decided(tables, rule, own, question_cost, currency)
    return replace(result, texts=texts_of(pairs), remarks=remarks_on(read), requests=requests_in(read))


def columns_beyond(rule: Rule, pairs: Sequence[Pair] = ()) -> tuple[str, ...]:
    """Columns that a rule needs of the judgments, beyond what is read anyway and what the answers say."""
    wanted = {column for column, _ in rule.protect} | {rule.cluster} - {QUESTION}
    return tuple(sorted(wanted - {column for pair in pairs for column in pair.labels}))


def remarks_on(read: Mapping[str, Judgments]) -> tuple[str, ...]:
    """What to know of how judgments were read, by criterion where there are several."""
    several = len(read) > 1
    return tuple(
        f"{name}: {remark}" if several else remark
        for name, judgments_of in read.items()
        for remark in judgments_of.remarks
    )


def requests_in(read: Mapping[str, Judgments]) -> tuple[Mapping[str, Any], ...]:
    """What requests left out of judgments, of each criterion."""
    return tuple(request for judgments_of in read.values() for request in judgments_of.requests)


def decided(
    tables: Mapping[str, Judged],
    rule: Rule,
    own: OwnVotes | None = None,
    question_cost: float | None = None,
    currency: str = "USD",
    after: Rule | None = None,
) -> Gate:
    """The verdict on judgments that count, by criterion; `gate` says what the rest is.

    `after` is the rule of the next look, by default the one that follows the rule's.
    """
    rule = on_scores(tables, rule)
    after, own = after or rule.next_look, own or OwnVotes()
    criteria, verdict = _verdict(tables, rule)
    checks = [criterion.checks for criterion in criteria]
    differ = any(check.differences.differ for check in checks) and rule.like_these
    lacks = any(check.n_lost for check in checks)
    with_related = _verdict(own.every, rule)[1] if own.every else verdict
    without = _without(tables, {name: set(own.judges) for name in tables}, rule)
    weak = {name: uninformative(table) for name, table in tables.items()}
    without_weak = _without(tables, {name: set(judges_of) for name, judges_of in weak.items()}, rule)
    several = len(tables) > 1
    uninformative_texts = {
        f"{who} on {name}" if several else who: what for name in weak for who, what in weak[name].items()
    }
    alone = [check.within for check in checks if check.within is not None]
    is_biased = is_one_order(criteria) or any(check.bias_by_order or check.go_by_place for check in checks)
    is_biased |= any(of.scores is None for of in alone) or any(map(place_of_all, tables.values()))
    may_grow = verdict == "inconclusive" and not is_biased and not differ  # which no number of questions mends
    scores, lowest, tested = (
        [getattr(check, name) for check in checks] for name in ("scores", "lowest", "tested")
    )
    needed = more_needed(scores, after, lowest, tested) if may_grow else None
    cost = None if needed is None or question_cost is None else needed * question_cost
    judges_of = Gate(
        verdict,
        rule,
        criteria,
        needed,
        cost,
        currency,
        own,
        with_related if own.judges else None,
        without,
        after,
        uninformative_texts,
        without_weak,
    )
    return replace(
        judges_of,
        categories=by_category(tables, rule),
        by_other_units=_by_other_units(tables, rule),
        for_this_panel=_verdict(tables, replace(rule, whose=THIS_PANEL))[1] if differ else None,
        without_losses=_verdict(tables, replace(rule, missing=RANDOM))[1] if lacks else None,
        for_random_orders=_verdict(tables, replace(rule, random_orders=True))[1] if alone else None,
    )


def on_scores(tables: Mapping[str, Judged], rule: Rule) -> Rule:
    """The rule on the scale of what there is: points where answers were scored one by one.

    Raises
    ------
    ConfigError
        If the scale is not one of what there is.
    """
    is_scored = {table.is_scored for table in tables.values()}
    if len(is_scored) > 1:
        raise ConfigError("some criteria are scores, and others judgments of pairs: decide on them apart")
    if rule.scale == SCORE and is_scored == {True}:
        raise ConfigError("a scale of Bradley-Terry scores is for judgments of pairs, and these are scores")
    if rule.scale == POINTS and is_scored == {False}:
        raise ConfigError("a scale of points is for scores, and these are judgments of pairs")
    return replace(rule, scale=POINTS) if is_scored == {True} else rule


def _by_other_units(tables: Mapping[str, Judged], rule: Rule) -> tuple[OtherUnit, ...]:
    """What the verdict would be by other columns that may name what was sampled, where there are any."""
    others = []
    for name in UNITS:
        units = [table.units(name) for table in tables.values()]
        if name == rule.cluster or any(unit is None or len(set(unit)) in (1, len(unit)) for unit in units):
            continue
        criteria, verdict = _verdict(tables, replace(rule, cluster=name))
        evidences = tuple(criterion.evidence for criterion in criteria)
        others.append(
            OtherUnit(name, min(len(set(unit)) for unit in units if unit is not None), verdict, evidences)
        )
    return tuple(others)


def _without(tables: Mapping[str, Judged], judges: Mapping[str, set[str]], rule: Rule) -> str | None:
    """The verdict without some judges, by criterion; None where there are none or nobody else."""
    if not any(judges.values()):
        return None
    reduced = {name: table.without(judges[name]) for name, table in tables.items()}
    remaining = {name: table for name, table in reduced.items() if table is not None}
    if len(remaining) < len(tables) or any(
        table.part(*of) is None for table in remaining.values() for of in rule.protect
    ):
        return None
    return _verdict(remaining, rule)[1]


def with_groups(tables: Mapping[str, Judged], rule: Rule) -> dict[str, Judged]:
    """The criteria, and every protected group of each as one of its own.

    Raises
    ------
    ConfigError
        If there is no such column, or no question with such a value.
    """
    groups: dict[str, Judged] = {}
    for (name, table), (column, value) in product(tables.items(), rule.protect):
        group = table.part(column, value)
        if group is None:
            raise ConfigError(f"no question has {column}={value}, which is to be protected")
        groups[f"{column}={value}" if len(tables) == 1 else f"{name}, {column}={value}"] = group
    return {**tables, **groups}


def _verdict(tables: Mapping[str, Judged], rule: Rule) -> tuple[tuple[Criterion, ...], str]:
    tables = with_groups(tables, rule)
    scores = [table.scores(table.sampled(rule.cluster)) for table in tables.values()]
    checks = [checked(*each, rule) for each in zip(tables.values(), scores, strict=True)]
    evidences = [check.evidence(rule) for check in checks]
    adjusted = holm([criterion_scores.p_block for criterion_scores in evidences])
    used = [
        table.of(criterion_scores.used) for table, criterion_scores in zip(tables.values(), scores, strict=True)
    ]
    silent = [table.silent for table in tables.values()]
    criteria = tuple(map(Criterion, tables, used, scores, evidences, adjusted, silent, checks))
    return criteria, outcome(evidences, rule, is_one_order(criteria))


def is_one_order(criteria: Sequence[Criterion]) -> bool:
    """Whether the candidate always had the same place, on any criterion."""
    return any(criterion.scores.order == "one" for criterion in criteria)
