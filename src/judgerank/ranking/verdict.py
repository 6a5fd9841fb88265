"""The verdict of a ranking in words: who is first, who cannot be told apart, who judges, what to worry about."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgerank.data.listing import listed
from judgerank.fits.standings import win_probability
from judgerank.ranking import panel
from judgerank.ranking.record import Record
from judgerank.ranking.remarks import counted
from judgerank.ranking.suggestions import CHANCE

Told = Iterator[tuple[str, str]]  # what it is about, and sentences
MANY_DROPPED = 0.05  # share of records that could not be read, from which it is worrying
FEW_JUDGES = 2.0  # effective judges, below which a ranking hangs on one


def verdict(ranking: Record) -> list[tuple[str, str]]:
    """What it is about, and a few sentences, computed from the tables; of the largest component."""
    board, pairs, judges = (_largest(ranking.tables[name]) for name in ("leaderboard", "pairs", "judges"))
    judges = judges[judges["status"] != panel.MERGED]
    parts = (
        _first(ranking, board, pairs),
        _groups(board, pairs),
        _panel(judges),
        _worries(ranking, judges),
        _next(ranking),
    )
    return [told for part in parts for told in part]


def _largest(table: pd.DataFrame) -> pd.DataFrame:
    """Of several components, the rows of the first."""
    return table[table["component"] == 1] if "component" in table else table


def _first(ranking: Record, board: pd.DataFrame, pairs: pd.DataFrame) -> Told:
    best, second = board.iloc[0], board.iloc[1]
    chance = float(win_probability(ranking.fitted, np.array(best["score"] - second["score"])))
    told = (
        f"{best['model']} is first. A judge of this panel prefers it to {second['model']}, the second, with "
        f"probability {chance:.2f}."
    )
    if board["rank_low"].isna().any():
        yield "First", f"{told} How surely cannot be said: this fit has no intervals."
        return
    low, high = best["rank_low"], best["rank_high"]
    range_ = f"is {low}" if low == high else f"lies between {low} and {high}"
    told += f" Its rank {range_} ({ranking.settings.level:.0%} confidence, all models at once)."
    mine = pairs[(pairs["first"] == best["model"]) | (pairs["second"] == best["model"])]
    rest = mine[~mine["separated"].fillna(False).astype(bool)]
    others = [b if a == best["model"] else a for a, b in zip(rest["first"], rest["second"], strict=True)]
    place = {name: number for number, name in enumerate(board["model"])}
    others.sort(key=place.__getitem__)
    if not others:
        yield "First", f"{told} It is separated from every other model."
    else:
        yield "First", f"{told} It is not separated from {counted(len(others), 'other')}: {listed(others)}."


def _groups(board: pd.DataFrame, pairs: pd.DataFrame) -> Told:
    if board["band"].isna().any():
        return
    known = pairs["separated"].notna()
    apart = int(pairs["separated"][known].astype(bool).sum())
    told = f"{apart} of {int(known.sum())} pairs of models are separated. "
    groups = [list(names) for _, names in board.groupby("band")["model"] if len(names) > 1]
    if not groups:
        yield "Told apart", f"{told}Every model is separated from the next."
        return
    shown = "; ".join("{" + listed(group) + "}" for group in groups[:4])
    more = f"; and {len(groups) - 4} more bands" if len(groups) > 4 else ""
    yield "Told apart", f"{told}Within each of these bands no two are: {shown}{more}."


def _panel(judges: pd.DataFrame) -> Told:
    share = judges["information"]
    if share.isna().any() or len(judges) < 2:
        return
    worth, heaviest = panel.effective_judges(share), judges["judge"].iloc[share.argmax()]
    told = (
        f"What is known of the scores comes from the {len(judges)} judges as unevenly as from {worth:.1f} that "
        f"give the same; {heaviest} gives most, {share.max():.0%}."
    )
    flagged = judges[judges["verdict"] != panel.TRUST]
    by = [f"{verdict}: {listed(rows['judge'])}" for verdict, rows in flagged.groupby("verdict", sort=True)]
    yield "Judges", told + (f" Not simply to be trusted: {'; '.join(by)}." if by else " None stands out.")


def _worries(ranking: Record, judges: pd.DataFrame) -> Told:
    found, fitted = [], ranking.fitted
    if len(ranking.fits) > 1:
        found.append(f"The comparisons fall into {len(ranking.fits)} groups of models, each ranked apart.")
    if not fitted.converged:
        found.append(f"The fit ended as {fitted.status}, not at a maximum.")
    if 2 * (judges["verdict"] == panel.SILENT).sum() >= len(judges):
        found.append("Half of the judges or more count for nothing: the others may be the contrary ones.")
    copies = judges[judges["verdict"].str.startswith(panel.SAME)]
    for one, group in copies.groupby(copies["verdict"].str.removeprefix(panel.SAME))["judge"]:
        found.append(f"These answer as one judge, and are counted as {len(group) + 1}: {listed([one, *group])}.")
    share = judges["information"]
    if len(judges) > 1 and share.notna().all() and panel.effective_judges(share) < FEW_JUDGES:
        found.append(f"The ranking all but hangs on one judge, {judges['judge'].iloc[share.argmax()]}.")
    c = ranking.judgments.comparisons
    dropped = sum(c.dropped.values())
    if dropped > MANY_DROPPED * (dropped + c.n_comparisons):
        found.append(f"{dropped:,} answers could not be read.")
    if not ranking.clustered:
        found.append("Comparisons are taken as independent: if questions recur, the intervals are too short.")
    yield "To worry about", " ".join(found) or "Nothing that stands out."


def _next(ranking: Record) -> Told:
    plan = _largest(ranking.tables["next"])
    if plan.empty:
        return
    line = plan.iloc[0]
    told = f"Show {line['model_a']} and {line['model_b']} to {line['judge_model']}, on new questions"
    if pd.isna(line["width"]):
        yield "Next", f"{told}: an answer against the order is likeliest there, and intervals need one."
        return
    told += f": it tells most of {line['first']} against {line['second']}, the pair known least of those open. "
    cost = line["to_separate"]
    total = ranking.judgments.comparisons.n_comparisons
    if pd.isna(cost):
        yield "Next", f"{told}No number of comparisons within reason is known to separate these two."
        return
    share = f"{cost / total:.1g} of" if cost < total else f"{cost / total:.2g} times"
    yield (
        "Next",
        f"{told}About {_rounded(cost):,} comparisons of these two, spread over the judges, separate them with a "
        f"chance of {CHANCE:.0%} if they differ as estimated. That is {share} the {total:,.0f} there are.",
    )


def _rounded(number: int) -> int:
    """To two significant digits."""
    return int(float(f"{number:.2g}"))
