"""Charts of a ranking: scores by rank, and judges; Vega-Lite by way of altair."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgerank.pages.embedded import Chart, library
from judgerank.ranking import panel
from judgerank.ranking.record import Record
from judgerank.writing.extras import needed

if TYPE_CHECKING:
    import altair as alt

log = logging.getLogger("judgerank")
NAMED = 60  # models, up to which each has a line with its name
BLUE, ORANGE = "#0072B2", "#D55E00"  # told apart by colour-blind readers (Okabe and Ito, 2008)
WIDEST = 2.0  # times the largest estimate, beyond which an interval leaves the chart
UNFITTED = ["unbounded", "no maximum", panel.MERGED]  # where the search stopped says nothing


def charts_of(ranking: Record) -> tuple[dict[str, Chart], str]:
    """``scores`` and ``judges``, and why there are none; a ranking is never lost for want of its charts."""
    try:
        library()
        return _charts(ranking), ""
    except ImportError:
        return {}, f"drawing them takes {needed('page')}"
    except Exception as error:  # whatever it is, the tables are of more worth
        told = str(error) or type(error).__name__
        log.warning("the page has no charts: %s", told)
        return {}, told


def _charts(ranking: Record) -> dict[str, Chart]:
    found = {"scores": _scores(ranking)}
    judges = ranking.tables["judges"]
    if "discrimination" in judges and (~judges["status"].isin(UNFITTED)).any():
        found["judges"] = _judges(judges, ranking.settings.level)
    return found


def _inline(frame: pd.DataFrame) -> alt.InlineData:
    """Rows as they are, however many; missing values as null."""
    import altair as alt

    return alt.InlineData(values=json.loads(frame.to_json(orient="records", double_precision=6)))


def _line(names: pd.Series) -> pd.Series:
    """Names that Vega can sort and group by: it fails where one is ``constructor``, and not after a blank."""
    return " " + names.astype(str)


def _scores(ranking: Record) -> Chart:
    import altair as alt

    board = ranking.tables["leaderboard"]
    n = len(board)
    board = board.assign(place=range(1, n + 1), line=_line(board["model"]))
    tips = [name for name in ("rank", "model", "score", "low", "high", "comparisons") if name in board]
    base = alt.Chart(_inline(board[["place", "line", *tips]]))
    tooltip = [
        alt.Tooltip(f"{name}:N") if name == "model" else alt.Tooltip(f"{name}:Q", format=".4~g") for name in tips
    ]
    score = alt.Axis(title="score, in log-odds")
    if n <= NAMED:
        at = alt.Y("line:N", sort=list(board["line"]), title=None)
        marks = [
            base.mark_rule(color=BLUE, strokeWidth=2).encode(alt.X("low:Q", axis=score), alt.X2("high:Q"), at),
            base.mark_point(color=BLUE, filled=True, size=60).encode(
                alt.X("score:Q", axis=score), at, tooltip=tooltip
            ),
        ]
        chart = alt.layer(*marks).properties(width="container", height=alt.Step(20))
    else:
        across = alt.X("place:Q", title="rank", scale=alt.Scale(domain=[0, n + 1], nice=False))
        marks = [
            base.mark_rule(color=BLUE, opacity=0.4).encode(across, alt.Y("low:Q", axis=score), alt.Y2("high:Q")),
            base.mark_point(color=BLUE, filled=True, size=25, opacity=1).encode(
                across, alt.Y("score:Q", axis=score), tooltip=tooltip
            ),
        ]
        chart = alt.layer(*marks).properties(width="container", height=360).interactive()
    first, last = board.iloc[0], board.iloc[-1]
    says = (
        f"Scores of {n} models with {ranking.settings.level:.0%} intervals, best first: from {first['model']} at "
        f"{first['score']:.2f} down to {last['model']} at {last['score']:.2f}. The leaderboard has the numbers."
    )
    return Chart(chart.properties(description=says).to_dict(), says)


def _judges(judges: pd.DataFrame, level: float) -> Chart:
    import altair as alt

    rows = judges[~judges["status"].isin(UNFITTED)].head(NAMED)
    columns = ["judge", "verdict", "discrimination", "low_discrimination", "high_discrimination", "comparisons"]
    rows = rows.assign(line=_line(rows["judge"]))
    at = alt.Y("line:N", sort=list(rows["line"]), title=None)
    texts, numbers = columns[:2], columns[2:]
    tooltip = [alt.Tooltip(f"{name}:N") for name in texts]
    tooltip += [alt.Tooltip(f"{name}:Q", format=".4~g") for name in numbers]
    base = alt.Chart(_inline(rows[["line", *columns]]))
    axis = alt.Axis(title="discrimination")
    ends = rows["high_discrimination"].clip(upper=WIDEST * rows["discrimination"].max())
    reach = float(np.nanmax([*ends, rows["discrimination"].max()]))  # one far end leaves the others seen
    scale = alt.Scale(domain=[0, reach], nice=True)
    rule = base.mark_rule(color=ORANGE, strokeWidth=2, clip=True)
    panels = [
        rule.encode(alt.X("low_discrimination:Q", axis=axis, scale=scale), alt.X2("high_discrimination:Q"), at),
        base.mark_point(color=ORANGE, filled=True, size=60).encode(
            alt.X("discrimination:Q", axis=axis, scale=scale), at, tooltip=tooltip
        ),
    ]
    best, worst = rows.iloc[0], rows.iloc[-1]
    fitted = int((~judges["status"].isin(UNFITTED)).sum())
    more = f", the first {NAMED} of {fitted}" if fitted > len(rows) else ""
    says = (
        f"Discrimination of {len(rows)} judges with {level:.0%} intervals{more}: from {best['judge']} at "
        f"{best['discrimination']:.2f} down to {worst['judge']} at {worst['discrimination']:.2f}. The table "
        "has the numbers."
    )
    chart = alt.layer(*panels).properties(width="container", height=alt.Step(20), description=says)
    return Chart(chart.to_dict(), says)
