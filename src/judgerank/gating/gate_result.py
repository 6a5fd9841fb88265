"""Result of a gate: the verdict, the tests of every criterion, and judges' votes on models of their own maker.

The latter do not count, unless there are no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judgerank.data import QUESTION
from judgerank.data.arrays import BoolArray
from judgerank.data.errors import DataError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed
from judgerank.data.rankings import as_pairs
from judgerank.gating.answer_pairs import Pair
from judgerank.gating.checks import Checks
from judgerank.gating.decision import Category, Evidence
from judgerank.gating.judged import Judged, judged
from judgerank.gating.rule import Rule
from judgerank.gating.scores import Scores
from judgerank.model.kinds.family import family_of, own_table, plain, relations
from judgerank.ranking.recusal import BOTH, RECUSE, is_recusing, of_rows, on_one_maker, recusal_of

# Votes of judges on a gate's models of their own maker.
Makers = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class OwnVotes:
    """Judges by the maker of one of the two models.

    Attributes
    ----------
    own_maker : {"recuse", "count"}
        Whether their votes are left out where others are there.
    judges : tuple of str
    recused : tuple of str
        Those of them whose votes do not count, or who were not asked.
    n_left_out : int
        Votes that do not count.
    every : mapping of str to Judged
        By criterion, the votes of all judges, where some do not count.
    sentences : tuple of str
        How many votes do not count, by criterion where there are several.
    condition : str
        What to say beside the verdict where no other judge is there; empty where one is.
    """

    own_maker: str = RECUSE
    judges: tuple[str, ...] = ()
    recused: tuple[str, ...] = ()
    n_left_out: int = 0
    every: Mapping[str, Judged] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()
    condition: str = ""


def votes_on_pair(
    read: Mapping[str, Judgments],
    pair: tuple[str, str],
    own_maker: str = RECUSE,
    makers: Makers = (),
    candidate_model: str | None = None,
    cluster: str = QUESTION,
    labels: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[dict[str, Judged], OwnVotes]:
    """The votes that count, by criterion, and what those of judges by the maker of one of the two models are.

    Parameters
    ----------
    read : mapping of str to Judgments
        By criterion.
    pair : pair of str
        Baseline and candidate.
    own_maker, makers
        As of `judgerank.rank`.
    candidate_model : str, optional
        The model behind the candidate.
    cluster : str
        What was sampled, as of `gating.rule.Rule`.
    labels : mapping of str to mapping of str to str, optional
        As of `Judged`.

    Raises
    ------
    ConfigError
        If there is no such choice.
    DataError
        As `judged`.
    """
    recuse, makers = is_recusing(own_maker), makers_of(pair[1], makers, candidate_model)
    every: dict[str, Judged] = {}
    counted: dict[str, Judged] = {}
    judges, recused, sentences, conditions = set[str](), set[str](), [], []
    n_left_out = 0
    for name, judgments in read.items():
        pairs, on_criterion = as_pairs(judgments), f"{name}: " if len(read) > 1 else ""
        try:
            every[name] = table = judged(pairs, *pair, cluster=cluster, labels=labels)
        except DataError as error:
            raise DataError(f"{on_criterion}{error}") from None
        c = pairs.comparisons
        among = np.isin(np.array(c.models, object), pair)
        recusal = recusal_of(of_rows(pairs, np.flatnonzero(among[c.first] & among[c.second])), recuse, makers)
        heard = recusal.judgments.comparisons
        left_out = {heard.judges[k] for k in np.unique(heard.judge[~recusal.counts])}
        counted[name] = judged(pairs, *pair, left_out, cluster, labels) if left_out else table
        is_own = is_own_of(heard.judges, pair, makers)
        judges |= {heard.judges[k] for k in np.flatnonzero(is_own.any(axis=1))}
        recused |= left_out
        n_left_out += recusal.n_left_out
        sentences += [f"{on_criterion}{text}" for text in recusal.on_left_out()]
        conditions.append(condition_of(is_own))
    every = every if recused else {}
    condition = next(filter(None, conditions), "")
    own = OwnVotes(own_maker, _sorted(judges), _sorted(recused), n_left_out, every, tuple(sentences), condition)
    return counted, own


def unasked(
    judges: Sequence[str],
    pair: tuple[str, str],
    own_maker: str = RECUSE,
    makers: Makers = (),
    candidate_model: str | None = None,
) -> OwnVotes:
    """Judges of a panel whom nobody needs to ask, since their votes would not count."""
    recuse, makers = is_recusing(own_maker), makers_of(pair[1], makers, candidate_model)
    is_own = is_own_of(judges, pair, makers)
    own = tuple(np.array(judges, object)[np.flatnonzero(is_own.any(axis=1))].tolist())
    recused = own if recuse and len(own) < len(judges) else ()
    sentences = (f"Not asked, since a model of their maker is compared: {listed(recused)}.",) if recused else ()
    return OwnVotes(own_maker, _sorted(own), _sorted(recused), 0, {}, sentences, condition_of(is_own))


def makers_of(candidate: str, makers: Makers = (), candidate_model: str | None = None) -> Makers:
    """Makers by name, the candidate's being that of the model behind it; that model itself where nobody knows."""
    if candidate_model is None:
        return tuple(makers)
    by_name = {plain(name): maker for name, maker in makers}
    maker = by_name.get(plain(candidate_model)) or family_of(candidate_model, own_table()) or candidate_model
    return (*makers, (candidate_model, maker), (candidate, maker))


def is_own_of(judges: Sequence[str], pair: tuple[str, str], makers: Makers) -> BoolArray:
    """Whether baseline and candidate are of each judge's maker, shape (K, 2)."""
    return relations(judges, pair, dict(makers)).is_own


def condition_of(is_own: BoolArray) -> str:
    """What to say beside a verdict where every judge is by the maker of one of the two models; else empty."""
    if not is_own.any(axis=1).all():
        return ""
    of_baseline, of_candidate = (bool(column.all()) for column in is_own.T)
    if not of_baseline and not of_candidate:
        return f"{BOTH} Add a judge of a third maker."
    whose = f"the {'candidate' if of_candidate else 'baseline'}'s maker"
    if of_baseline and of_candidate:
        whose = "the maker of both models"
    return on_one_maker(len(is_own), whose)[1]


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


# Criteria, and the verdict on all of them.
EXIT = {"ship": 0, "block": 1, "inconclusive": 2}


@dataclass(frozen=True, eq=False, repr=False)
class Criterion:
    """One criterion's judgments, scores and tests; `p_block` with Holm's adjustment over all criteria.

    `judged` has the questions that count, and `silent` the judges without an answer to any question.
    """

    name: str
    judged: Judged
    scores: Scores
    evidence: Evidence
    p_block: float
    silent: tuple[str, ...]
    checks: Checks

    def __repr__(self) -> str:
        seen = self.evidence
        tested = f"p_ship {seen.p_ship:.3f}, p_block {self.p_block:.3f}"
        counts = f"win rate {seen.win_rate:.3f} on {counted(seen.questions, 'question')}"
        return f"<Criterion {self.name}: {counts}, {tested}>"


@dataclass(frozen=True)
class OtherUnit:
    """What a verdict would be if the values of another column were what was sampled.

    Attributes
    ----------
    name : str
    size : int
        How many values there are, on the criterion with fewest.
    verdict : str
    evidences : tuple of Evidence
        By criterion.
    """

    name: str
    size: int
    verdict: str
    evidences: tuple[Evidence, ...]


@dataclass(frozen=True, eq=False)
class Result:
    """A verdict.

    Attributes
    ----------
    verdict : str
        ``ship``, ``block`` or ``inconclusive``.
    rule : Rule
    criteria : tuple of Criterion
    needed : int, optional
        Further questions that probably decide; None where it is decided, or none would do.
    cost : float, optional
        What these cost, where a question's cost is known, in the `currency`.
    own : OwnVotes
        Judges by the maker of one of the two models.
    with_related, without_related : str, optional
        The verdict with their votes, and without them; None where there are none, or nobody else is without them.
    after : Rule, optional
        That of the next look, at which so many further questions probably decide; None where none is to come.
    uninformative : mapping of str to str
        Judges whose answers say nothing about the variants (`gating.uninformative`), and what they do.
    without_uninformative : str, optional
        The verdict without them; None where there are none or nobody else.
    categories : tuple of Category
        The candidate by category of questions, the most different first; none where there are no categories.
    for_this_panel : str, optional
        The verdict for this panel alone, where its judges differ significantly.
    without_losses : str, optional
        The verdict with missing answers for neither side, where some count as losses.
    for_random_orders : str, optional
        The verdict if the order of every answer was drawn at random, where judges with few answers are
        compared with themselves.
    texts : mapping of str to Pair
        Questions with both answers, by id, where they are known.
    remarks : tuple of str
        What to know of how the judgments were read.
    by_other_units : tuple of OtherUnit
        The verdict by other columns that may name what was sampled.
    requests : tuple of mapping
        Requests that left judgments out (`Judgments.requests`).
    """

    verdict: str
    rule: Rule
    criteria: tuple[Criterion, ...]
    needed: int | None = None
    cost: float | None = None
    currency: str = "USD"
    own: OwnVotes = field(default_factory=OwnVotes)
    with_related: str | None = None
    without_related: str | None = None
    after: Rule | None = None
    uninformative: Mapping[str, str] = field(default_factory=dict)
    without_uninformative: str | None = None
    categories: tuple[Category, ...] = ()
    for_this_panel: str | None = None
    without_losses: str | None = None
    for_random_orders: str | None = None
    texts: Mapping[str, Pair] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    requests: tuple[Mapping[str, Any], ...] = ()
    by_other_units: tuple[OtherUnit, ...] = ()

    @property
    def worst_category(self) -> Category | None:
        """The category in which the candidate does worst; of those where it is significantly worse, if it is."""
        worse = [category for category in self.categories if category.differs and category.win_rate < 0.5]
        return min(worse or self.categories, key=lambda category: category.win_rate, default=None)

    @property
    def related(self) -> tuple[str, ...]:
        """Judges by the maker of one of the two models."""
        return self.own.judges

    @property
    def next_look(self) -> int | None:
        """What ``--look`` is at the next look, where further questions decide; None where there is none."""
        if self.after is None or self.needed is None:
            return None
        return self.after.look if self.after.run is None else self.after.run

    @property
    def exit_code(self) -> int:
        """0 ship, 1 block, 2 inconclusive."""
        return EXIT[self.verdict]

    @property
    def different(self) -> tuple[Criterion, ...]:
        """Criteria that speak against the candidate, though it ships since it is within the margin."""
        differing = [criterion for criterion in self.criteria if criterion.p_block <= self.rule.level]
        return tuple(differing) if self.verdict == "ship" else ()

    @property
    def failed(self) -> tuple[Criterion, ...]:
        """Criteria that are significantly worse, where the verdict is block."""
        worse = [criterion for criterion in self.criteria if criterion.p_block <= self.rule.level]
        return tuple(worse) if self.verdict == "block" else ()
