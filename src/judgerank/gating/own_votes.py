"""Votes of judges on a gate's models of their own maker: they do not count, unless there are no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from judgerank.data.arrays import BoolArray
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed
from judgerank.data.rankings import as_pairs
from judgerank.data.units import QUESTION
from judgerank.gating.judged import Judged, judged
from judgerank.model.kinds.family import family_of, own_table, plain, relations
from judgerank.ranking.recusal import BOTH, RECUSE, is_recusing, of_rows, on_one_maker, recusal_of

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
        pairs = as_pairs(judgments)
        every[name] = table = judged(pairs, *pair, cluster=cluster, labels=labels)
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
        on_criterion = f"{name}: " if len(read) > 1 else ""
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
