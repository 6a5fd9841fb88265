"""All findings on a set of judgments: every study asked, its remarks and tables put together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import pandas as pd

from judgerank.data.errors import ConfigError, JudgerankError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.model.naming import member
from judgerank.ranking.choices import LIKE_THESE, Settings, default_member
from judgerank.ranking.components import across, parts_of, together
from judgerank.ranking.recusal import Recusal, recusal_of
from judgerank.ranking.studies import CLOSING, COSTS, OF_COMPONENT, OPENING, found_in, found_in_component, unlisted
from judgerank.ranking.study import Component, Finding, Ranked, component_of


def ranked_set(judgments: Judgments, settings: Settings) -> Ranked:
    """Fit every component of the comparison graph by itself, of the judgments that count (`recusal_of`).

    Where a judge's taste for one model stands out, and the ranking is to be for judges like these, all is fitted
    again without the judge's votes on that model; not if fewer components could be ranked then.

    Raises
    ------
    ConfigError, DataError
        As `described.component_of`.
    NoMaximumError, NotIdentifiedError
        If no component can be ranked: that of the largest.
    """
    every = _ranked(recusal_of(judgments, settings.is_recused, settings.makers), settings)
    favoured = [favourite for component in every.components for favourite in component.favourites]
    if not favoured or settings.whose != LIKE_THESE:
        return every
    try:
        others = _ranked(recusal_of(judgments, settings.is_recused, settings.makers, favoured=favoured), settings)
    except (NoMaximumError, NotIdentifiedError):
        return every
    return others if len(others.components) == len(every.components) else every


def _ranked(recusal: Recusal, settings: Settings) -> Ranked:
    parts = parts_of(recusal.counted)
    if settings.model is None:
        name, reason = default_member([part.comparisons for part in parts])
        chosen = member(name)
    else:
        chosen, reason = member(settings.model), ""
    components, refused = list[Component](), list[tuple[Judgments, JudgerankError]]()
    for part in parts:
        try:
            components.append(replace(component_of(part, chosen, settings), recusal=recusal))
        except (NoMaximumError, NotIdentifiedError) as error:
            refused.append((part, error))
    if not components:
        raise refused[0][1]
    counted, every, left = recusal.counted, tuple(components), tuple(refused)
    return Ranked(counted, settings, chosen, reason, tuple(parts), every, left, recusal)


def findings(
    ranked: Ranked, progress: Callable[[float, float], None] | None = None, without: Collection[str] = ()
) -> Finding:
    """Ask every study, in the order of `studies`, and join what they find.

    Parameters
    ----------
    ranked : Ranked
    progress : callable, optional
        Called after each study with the work that is done, and all of it (`studies.COSTS`).
    without : collection of str
        Names of studies that are not asked.

    Raises
    ------
    ConfigError
        If two studies return a table of the same name, or one returns no finding.
    """
    additional = unlisted()
    first, within, last = (
        tuple(name for name in names if name not in without)
        for names in (OPENING, (*OF_COMPONENT, *additional), (*CLOSING, *additional))
    )
    report = _teller([*first, *within * len(ranked.components), *last], progress)
    opening = _joined(found_in(ranked, first, report))
    by_component = [_joined(found_in_component(component, within, report)) for component in ranked.components]
    closing = _joined(found_in(ranked, last, report))
    joined = _together(ranked, by_component)
    remarks = [*opening.remarks, *joined.remarks, *closing.remarks]
    every = _joined([joined, opening, closing])
    return Finding(remarks, every.tables, every.categories)


def _teller(names: Sequence[str], progress: Callable[[float, float], None] | None) -> Callable[[str], None]:
    """A callback for the name of each study that is done, which reports how far all of them are."""
    total, done = sum(COSTS.get(name, 1.0) for name in names), [0.0]

    def report(name: str) -> None:
        done[0] += COSTS.get(name, 1.0)
        if progress is not None:
            progress(done[0], total)

    return report


def _joined(findings: Sequence[Finding]) -> Finding:
    """Several findings as one."""
    tables: dict[str, pd.DataFrame] = {}
    for finding in findings:
        twice = sorted(finding.tables.keys() & tables.keys())
        if twice:
            raise ConfigError(f"two studies return a table {twice[0]!r}: rename one")
        tables |= finding.tables
    categories = {name: fitted for finding in findings for name, fitted in finding.categories.items()}
    return Finding([text for finding in findings for text in finding.remarks], tables, categories)


def _together(ranked: Ranked, findings: Sequence[Finding]) -> Finding:
    """The findings on all components as one; each says of which it is if there are several."""
    several = len(ranked.parts) > 1
    remarks = [
        f"Component {number}: {text}" if several else text
        for number, finding in enumerate(findings, 1)
        for text in finding.remarks
    ]
    names = dict.fromkeys(name for finding in findings for name in finding.tables)
    tables = {name: together([finding.tables.get(name, pd.DataFrame()) for finding in findings]) for name in names}
    if several:
        unconnected = across([part.comparisons.models for part in ranked.parts])
        tables["pairs"] = pd.concat([tables["pairs"], unconnected], ignore_index=True)
    return Finding(remarks, tables)
