"""Contents of a page besides the ranking: facts on the models, an earlier ranking, the texts that were judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd

Text = str | tuple[str, ...]  # of one turn, or of several


@dataclass(frozen=True)
class Changelog:
    """Changes since an earlier ranking.

    Attributes
    ----------
    since : str
        What the earlier one is called.
    sentences : tuple of str
    rank_changes : mapping of str to int
        By model of both rankings: by how many ranks it rose among these, negative if it fell.
    significant : frozenset of str
        Models whose scores changed significantly.
    new : frozenset of str
        Models that the earlier one did not have.
    table : DataFrame
        ``model, rank_then, rank_now, change, standard_error, p_holm``.
    """

    since: str
    sentences: tuple[str, ...]
    rank_changes: Mapping[str, int]
    significant: frozenset[str]
    new: frozenset[str]
    table: pd.DataFrame


@dataclass(frozen=True)
class Texts:
    """The texts behind the judgments: questions by id, and answers by question and model."""

    questions: Mapping[str, Text] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Text]] = field(default_factory=dict)


@dataclass(frozen=True)
class Additions:
    """Contents of a page besides the ranking.

    Attributes
    ----------
    facts : DataFrame, optional
        By model, as `judgerank.ranking.model_facts.read_facts` returns them.
    changelog : Changelog, optional
        `judgerank.boards.changelog.changelog_of` makes one.
    texts : Texts, optional
        By default those in the judgments, if they have any.
    each_judge : bool, optional
        Whether the page also has the ranking without each of the judges. By default it has if that is quick
        (`judgerank.ranking.views.is_quick`).
    progress : callable, optional
        Called while other rankings are drawn, with how many are done, and how many there are.
    """

    facts: pd.DataFrame | None = None
    changelog: Changelog | None = None
    texts: Texts | None = None
    each_judge: bool | None = None
    progress: Callable[[float, float], None] | None = None
