"""Components of the comparisons, ranked apart; the pairs that would connect them; and fits of a member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import components, split
from judgerank.data.errors import DataError, DisconnectedError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.engine.newton import Newton
from judgerank.engine.search import height
from judgerank.engine.solution import Status
from judgerank.engine.suprema import end_above, far_end, higher_end
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.model.block import Need
from judgerank.model.members import Model
from judgerank.model.naming import member
from judgerank.ranking.choices import EXACT

# Which pairs to compare before anything can be ranked.


def first_links(comparisons: Comparisons, error: NoMaximumError) -> list[tuple[str, str]]:
    """Pairs to compare first, one for each component or group of models that keeps the others from being ranked.

    In a graph that falls apart, the most compared model of the largest component with that of every other one. Of
    models that won, or lost, every comparison with the others, the most compared with the best, or the worst, of
    the others.
    """
    c = comparisons.pool_judges()
    n, names = len(c.models), list(c.models)
    met = np.bincount(c.first, c.decided, n) + np.bincount(c.second, c.decided, n)
    wins = np.bincount(c.first, c.choices * c.won, n) + np.bincount(c.second, c.choices * c.lost, n)
    times = dict(zip(names, met, strict=True))
    share = dict(zip(names, wins / np.maximum(met, 1), strict=True))
    if isinstance(error, DisconnectedError):
        centre, *remaining = (
            max(group, key=times.__getitem__) for group in sorted(error.models, key=len, reverse=True)
        )
        return [(centre, model) for model in remaining]
    links: list[tuple[str, str]] = []
    groups = (group for group in error.models if 0 < len(group) < n)  # none where no model runs off
    for group in groups:
        if not any(model in group for _, model in links):  # a loss of one group is a win of another
            inside = np.isin(names, group)
            a, b = inside[c.first], inside[c.second]
            unbeaten = np.any(c.won[a & ~b] > 0) or np.any(c.lost[b & ~a] > 0)
            most_compared = max((name for name in names if name in group), key=times.__getitem__)
            rest = [name for name in names if name not in group]
            nearest = max(rest, key=share.__getitem__) if unbeaten else min(rest, key=share.__getitem__)
            links.append((most_compared, nearest))
    return links


# Models that no chain of comparisons connects are not comparable: each component is ranked apart.


def parts_of(judgments: Judgments) -> list[Judgments]:
    """The judgments by connected component of the comparison graph, that with most models first.

    Models without a comparison that could be read are in none. A connected set is returned as it is.
    """
    if len(components(judgments.comparisons)) == 1:
        return [judgments]
    return [_restricted(judgments, part) for part, _ in split(judgments.comparisons)]


def never_compared(judgments: Judgments) -> tuple[str, ...]:
    """Models none of whose comparisons could be read."""
    return tuple(group[0] for group in components(judgments.comparisons) if len(group) == 1)


def links_between(judgments: Judgments) -> list[tuple[str, str]]:
    """Pairs to compare so that the components are connected, as in `first_links.first_links`."""
    groups = [group for group in components(judgments.comparisons) if len(group) > 1]
    return first_links(judgments.comparisons, DisconnectedError("", tuple(groups)))


def _restricted(judgments: Judgments, part: Comparisons) -> Judgments:
    """The judgments on the models of a component, by the judges who made any that could be read."""
    frame = judgments.frame
    sides = [frame[name].isin(part.models) for name in ("model_a", "model_b")]
    inside = sides[0] & sides[1] & frame["judge_model"].isin(part.judges)
    return replace(judgments, frame=frame[inside].reset_index(drop=True), comparisons=replace(part, dropped={}))


def across(components: Sequence[Sequence[str]]) -> pd.DataFrame:
    """The pairs of models of different components, none of them comparable: ``first, second, comparable``."""
    pairs = [(a, b, False) for first, second in combinations(components, 2) for a in first for b in second]
    return pd.DataFrame(pairs, columns=["first", "second", "comparable"])


def together(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables of components below each other, with the number of the component if there are several."""
    if len(tables) == 1:
        return tables[0]
    rows = [table.assign(component=number) for number, table in enumerate(tables, 1) if len(table)]
    joined = pd.concat(rows or [tables[0].assign(component=0)], ignore_index=True)
    return joined[["component", *joined.columns.drop("component")]]


# Fit a member of the family to the user's judgments, or say which pairs to compare first.


def fit_member(comparisons: Comparisons, name: str | Model, solver: str = "newton") -> Fit:
    """Fit a member of the family, or refuse in a way that says what would make it possible.

    Raises
    ------
    DataError
        If the member needs lengths, and there are none.
    NoMaximumError
        With the pairs to compare first.
    """
    if member(name).uses(Need.LENGTH) and comparisons.covariate is None:
        raise DataError(f"model {member(name).name!r} needs a column of lengths (--column length=NAME names it)")
    try:
        return fit_highest(comparisons, name) if solver == EXACT else fit(comparisons, name, solver)
    except NoMaximumError as error:
        links = "; ".join(f"{a} with {b}" for a, b in first_links(comparisons, error))
        shrunk = "the solver penalised ranks them without that, by shrinking scores toward each other"
        advice = f" (to begin with, compare {links}; {shrunk})" if links else ""
        raise type(error)(f"{error}{advice}", error.models) from None


def fit_highest(comparisons: Comparisons, name: str | Model) -> Fit:
    """The exact fit; where a judge runs off, or does so above its maximum, with the order of the highest supremum.

    What a ranking says of the exact fit is of this order.

    Raises
    ------
    NoMaximumError, NotIdentifiedError
        As `judgerank.fit`.
    """
    fitted = fit(comparisons, name, EXACT)
    unbounded = fitted.status is Status.UNBOUNDED
    if not (unbounded or fitted.converged) or not isinstance(fitted.settings, Newton) or fitted._at_mean.any():
        return fitted
    at, settings = fitted.solution.parameters, fitted.settings
    start = (higher_end if unbounded else end_above)(fitted.comparisons, fitted.model, at, settings)
    if start is None:
        return fitted
    try:
        other = fit(comparisons, name, EXACT, start)
    except NoMaximumError:  # with the judges who are at zero there set aside
        return fitted
    if not unbounded:
        return other if other.status is Status.UNBOUNDED else fitted
    # with those who run off held, another order may be the higher one again
    ends = [far_end(one.comparisons, one.model, one.solution.parameters, settings) for one in (fitted, other)]
    return other if height(ends[1]) > height(ends[0]) else fitted
