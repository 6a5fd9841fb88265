"""A fit as text, as HTML and as a figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgerank.data.errors import ConfigError
from judgerank.fits.standings import leaderboard
from judgerank.inference.intervals import Intervals
from judgerank.writing.extras import needed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST = 60  # rows of a table that are shown
UNITS = {
    "score": "in log-odds, their sum zero",
    "discrimination": "their geometric mean one over the judges in play",
    "slope": "of log discrimination, by standardised covariate",
    "position": "preference for the model shown first, in log-odds",
    "tie": "tie propensities, as odds of a tie between equals against either win",
}


def text(fitted: Intervals, level: float, lines: Sequence[str] | None = None) -> str:
    """The heading, or other lines in its place, and every table below its own."""
    parts = ["\n".join(heading(fitted) if lines is None else lines)]
    for title, table in tables(fitted, level):
        table = table.assign(name=table["name"].str.ljust(table["name"].str.len().max()))
        shown = table.to_string(index=False, float_format="%.3f", na_rep="", max_rows=MOST, line_width=None)
        parts.append(f"{title}\n{shown}")
    return "\n\n".join(parts)


def html(fitted: Intervals, level: float = 0.95, lines: Sequence[str] | None = None) -> str:
    """The same for a notebook; names are escaped."""
    parts = [f"<p>{'<br>'.join(map(escape, heading(fitted) if lines is None else lines))}</p>"]
    for title, table in tables(fitted, level):
        shown = table.to_html(index=False, float_format="{:.3f}".format, na_rep="", max_rows=MOST, border=0)
        parts.append(f"<p><b>{escape(title)}</b></p>\n{shown}")
    return "<div>\n" + "\n".join(parts) + "\n</div>"


def heading(fitted: Intervals) -> list[str]:
    """What was fitted to what, how it ended, and the judges by whose name it did not end well."""
    c, found = fitted.comparisons, fitted.solution
    lines = [
        f"{fitted.model.name}: {len(c.models)} models, {len(c.judges)} judges, {c.n_comparisons:.0f} comparisons",
        f"status {fitted.status} after {found.iterations} iterations of {type(fitted.settings).__name__}, "
        f"log-likelihood {fitted.log_likelihood:.4f}",
    ]
    if (
        found.spread is None and found.alone is None and fitted.effects is None
    ):  # elsewhere the penalty's gradient balances it
        lines[-1] += f", relative gradient {found.evaluation.relative_gradient:.1e}"
    named = {
        "judges at zero discrimination": fitted.judges_at_zero,
        "judges with unbounded discrimination": fitted.unbounded_judges,
        "judges whose slope is on its bound": fitted.slopes_at_bound,
    }
    lines += [f"{who}: {', '.join(names)}" for who, names in named.items() if names]
    if found.spread is not None:
        spreads = ", ".join(f"{block} {spread:.3g}" for block, spread in found.spread.items())
        lines.append(f"standard deviations of the penalty: {spreads}")
    if fitted.effects is not None:
        lines.append(f"question effects integrated out, their standard deviation {fitted.effects.sigma:.3g}")
    elif fitted.robust is not None:
        lines.append(f"standard errors allow for dependence within {fitted.degrees_of_freedom + 1:.0f} clusters")
    return lines


def tables(fitted: Intervals, level: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """A title and a table for every kind of parameter: scores by rank, then the judges', the largest first."""
    rows = fitted.to_frame(level).rename(columns={"standard_error": "std error"})
    for parameter, table in rows.groupby("parameter", sort=False):
        table = table.sort_values("estimate", ascending=False, kind="stable").drop(columns="parameter")
        if parameter == "score":
            table = table.drop(columns="status")
            table.insert(0, "rank", np.arange(1, len(table) + 1))
        yield f"{parameter} ({UNITS[str(parameter)]}; {_percent(level)} intervals)", table


def figure(fitted: Intervals, level: float) -> Figure:
    """The leaderboard as a figure.

    Raises
    ------
    ConfigError
        If the extra ``plot`` is not installed.
    """
    try:
        from judgerank.plots.own import standings
    except ImportError as error:
        told = f"a figure takes {needed('plot')}: there is no {error.name}"
        raise ConfigError(told) from None
    return standings(leaderboard(fitted, level), f"{fitted.model.name}, {_percent(level)} intervals")


def _percent(level: float) -> str:
    return f"{100 * level:.4g}%"
