"""A fit as text, as HTML and as a figure."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgerank.data.errors import ConfigError
from judgerank.fits.fitted import Fitted
from judgerank.fits.standings import leaderboard
from judgerank.writing.extras import needed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST = 60  # rows of a table that are shown
SCORES = "in log-odds, their sum zero"
SIGMA = "standard deviation of an answer's quality about its model's score, and over that of the scores"


def text(fitted: Fitted, level: float) -> str:
    """The heading, and every table below its own."""
    parts = ["\n".join(heading(fitted))]
    for title, table in tables(fitted, level):
        table = table.assign(name=table["name"].str.ljust(table["name"].str.len().max()))
        rendered = table.to_string(index=False, float_format="%.3f", na_rep="", max_rows=MOST, line_width=None)
        parts.append(f"{title}\n{rendered}")
    return "\n\n".join(parts)


def html(fitted: Fitted) -> str:
    """The same for a notebook; names are escaped."""
    parts = [f"<p>{'<br>'.join(map(escape, heading(fitted)))}</p>"]
    for title, table in tables(fitted, 0.95):
        markup = table.to_html(index=False, float_format="{:.3f}".format, na_rep="", max_rows=MOST, border=0)
        parts.append(f"<p><b>{escape(title)}</b></p>\n{markup}")
    return "<div>\n" + "\n".join(parts) + "\n</div>"


def heading(fitted: Fitted) -> list[str]:
    """What was fitted to what, how it ended, and the judges by whose name it did not end well."""
    c, solution, effects = fitted.comparisons, fitted.solution, fitted.effects
    more = [block.name for block in fitted.blocks]
    described = fitted.model.name + (f" with {', '.join(more)}" if more else "")
    questions_text = ""
    if fitted.question is not None:
        times = np.unique(fitted.question, return_counts=True)[1]
        questions_text = f" of {len(times):,} questions, {(times > 1).sum():,} of them with several"
    lines = [
        f"{described}: {len(c.models):,} models, {len(c.judges):,} judges, "
        f"{c.n_comparisons:,.0f} comparisons{questions_text}",
        f"status {fitted.status} after {solution.iterations} iterations of {type(fitted.settings).__name__}, "
        f"log-likelihood {fitted.marginal_log_likelihood:.4f}",
    ]
    if effects is not None:
        statistic, p = effects.likelihood_ratio()
        lines[-1] += f", relative gradient {effects.relative_gradient:.1e}"
        lines.append(
            f"without question effects {effects.log_likelihood_without:.4f}: twice the gain is {statistic:.1f}, "
            f"p = {p:.2g}"
        )
    elif solution.spread is None and solution.alone is None:  # elsewhere the penalty's gradient balances it
        lines[-1] += f", relative gradient {solution.evaluation.relative_gradient:.1e}"
    if more and fitted.without is not None and effects is None:
        lines[-1] += f", without these blocks {fitted.without.marginal_log_likelihood:.4f}"
    named = {
        "judges at zero discrimination": fitted.judges_at_zero,
        "judges with unbounded discrimination": fitted.unbounded_judges,
        "judges whose slope is on its bound": fitted.slopes_at_bound,
    }
    lines += [f"{who}: {', '.join(names)}" for who, names in named.items() if names]
    if fitted.spread:
        spreads = ", ".join(f"{block} {spread:.3g}" for block, spread in fitted.spread.items())
        lines.append(f"standard deviations of what is shrunk: {spreads}")
    if effects is not None and effects.sigma == 0:
        lines.append("sigma is zero: judges of one question do not err together more than chance has it")
    elif effects is None and fitted.robust is not None:
        lines.append(_on_clusters(fitted))
    return [*lines, *fitted.remarks]


def _on_clusters(fitted: Fitted) -> str:
    clusters, effective = fitted.n_clusters or fitted.degrees_of_freedom + 1, fitted.effective_clusters
    less = effective is not None and round(effective) < clusters
    effective_text = f", which count as {effective:,.0f} of equal size" if less else ""
    return f"standard errors allow for dependence within {clusters:,.0f} clusters{effective_text}"


def tables(fitted: Fitted, level: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """A title and a table for every kind of parameter: scores by rank, then the judges', the largest first."""
    rows = fitted.to_frame(level).rename(columns={"standard_error": "std error"})
    relative = rows["parameter"] == "relative sigma"
    rows.loc[relative, ["parameter", "name"]] = "sigma", "over the scores' own"
    units = {"score": SCORES, "sigma": SIGMA, **{block.shown: block.unit for block in fitted.model.blocks}}
    units |= {block.name: block.what for block in fitted.blocks}
    for parameter, table in rows.groupby("parameter", sort=False):
        table = table.sort_values("estimate", ascending=False, kind="stable").drop(columns="parameter")
        if parameter == "score":
            table = table.drop(columns="status")
            table.insert(0, "rank", np.arange(1, len(table) + 1))
        yield f"{parameter} ({units[str(parameter)]}; {_percent(level)} intervals)", table


def figure(fitted: Fitted, level: float) -> Figure:
    """The leaderboard as a figure.

    Raises
    ------
    ConfigError
        If the extra ``plot`` is not installed.
    """
    try:
        from judgerank.plots.looks import in_style
        from judgerank.plots.own import standings
    except ImportError as error:
        message = f"a figure takes {needed('plot')}: there is no {error.name}"
        raise ConfigError(message) from None
    with in_style():
        drawn = standings(leaderboard(fitted, level), f"{fitted.model.name}, {_percent(level)} intervals")
        drawn.draw_without_rendering()  # ticks take their style when they are first drawn
    return drawn


def _percent(level: float) -> str:
    return f"{100 * level:.4g}%"
