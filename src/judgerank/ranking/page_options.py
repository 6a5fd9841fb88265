"""What a page shows besides the ranking: facts on the models, an earlier ranking, and what was asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed
from judgerank.reading.file_formats import read_table

# Contents of a page besides the ranking: facts on the models, an earlier ranking, the texts that were judged.
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
        By model, as `judgerank.ranking.page_options.read_facts` returns them.
    changelog : Changelog, optional
        `judgerank.boards.reported.changelog_of` makes one.
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


# Facts on the models, from a file: who makes each, under which licence, what it costs.
# fact: the names that its column may have
FACTS: dict[str, tuple[str, ...]] = {
    "organisation": ("organisation", "organization", "org", "maker", "vendor", "provider"),
    "licence": ("licence", "license"),
    "price": ("price", "cost", "price_per_million_tokens"),
    "context": ("context", "context_length", "context_window"),
    "link": ("link", "url", "href"),
    "date": ("date", "released", "release_date"),
}
FILTERS = ("organisation", "licence")
MODEL = ("model", "name", "model_name", "model_id")
WEB = re.compile(r"https?://\S+")


def read_facts(path: str | Path, models: Iterable[str] | None = None) -> pd.DataFrame:
    """Read facts on models from a file: CSV, TSV, JSON, Parquet or any other form that judgments may have.

    Parameters
    ----------
    path : path
        One row for each model. It needs a column ``model``; all of `FACTS` are optional.
    models : iterable of str, optional
        Those ranked: at least one must be in the file.

    Returns
    -------
    DataFrame
        Indexed by model, with those of `FACTS` that the file has, as text; empty where a fact is missing.

    Raises
    ------
    DataUnavailableError, ConfigError
        If there is no such file, or its form is unknown.
    DataError
        If it names no models, one of them twice, none of the ranked ones, or no fact; or if a link is no web
        address.
    """
    path = Path(path)
    table = read_table(path)
    plain = {re.sub(r"\W+", "_", str(name).strip().lower()): name for name in table.columns}
    model = next((plain[name] for name in MODEL if name in plain), None)
    if model is None:
        raise DataError(f"{path.name} has no column 'model' (it has: {listed(map(str, table.columns))})")
    columns = {fact: plain[name] for fact, names in FACTS.items() for name in reversed(names) if name in plain}
    if not columns:
        raise DataError(f"{path.name} has no facts on models; known columns are {', '.join(FACTS)}")
    names = table[model].map(_text)
    facts = pd.DataFrame({fact: table[name].map(_text) for fact, name in columns.items()})
    facts.index = pd.Index(names, name="model")
    _check(path, facts, set(facts.index if models is None else models))
    return facts


def makers_in(facts: pd.DataFrame | None) -> tuple[tuple[str, str], ...]:
    """Names and makers of models, where facts have a column ``organisation``; empty ones are left out."""
    if facts is None or "organisation" not in facts:
        return ()
    return tuple((str(name), str(maker)) for name, maker in facts["organisation"].items() if maker)


def facts_on(judgments: Judgments, path: str | Path | None) -> pd.DataFrame | None:
    """Facts on models and judges of judgments, if there is a file of them; `read_facts` says what is raised."""
    c = judgments.comparisons
    return None if path is None else read_facts(path, (*c.models, *c.judges))


def makers_on(judgments: Judgments, path: str | Path | None) -> tuple[tuple[str, str], ...]:
    """Makers of models and judges of judgments by a file of facts, if there is one, as `makers_among`."""
    c = judgments.comparisons
    return makers_among((*c.models, *c.judges), path)


def makers_among(names: Iterable[str], path: str | Path | None) -> tuple[tuple[str, str], ...]:
    """Makers of models and judges by a file of facts, if there is one, which must have one of some names.

    Raises
    ------
    DataError
        If the file has no makers; as `read_facts`.
    """
    makers = () if path is None else makers_in(read_facts(path, names))
    if path is not None and not makers:
        raise DataError(f"{Path(path).name} has no column 'organisation', by which --own-maker goes")
    return makers


def _check(path: Path, facts: pd.DataFrame, models: set[str]) -> None:
    twice = facts.index[facts.index.duplicated()]
    if len(twice):
        raise DataError(f"{path.name} has the model {twice[0]!r} twice: keep one row for each model")
    if not models & set(facts.index):
        raise DataError(f"{path.name} has none of the ranked models (it has: {listed(facts.index)})")
    for number, link in enumerate(facts.get("link", ()), 1):
        if link and not WEB.fullmatch(link):
            raise DataError(f"record {number} of {path.name} has {link!r} as link; expected https://...")


def _text(value: object) -> str:
    missing = value is None or value is pd.NA or (isinstance(value, float) and value != value)
    if missing:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value).strip()
