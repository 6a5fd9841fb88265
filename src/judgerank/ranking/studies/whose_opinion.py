"""Whose opinion the scores are: this panel's, or that of judges like these; and who favours which model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

from judgerank.data.listing import counted, p_of, shortened
from judgerank.fits.favourites import Favourite
from judgerank.fits.result import Fit
from judgerank.inference.taste_errors import TASTE
from judgerank.inference.wald import wald_by_covariance
from judgerank.order.pairs import pairwise
from judgerank.order.scale import reported_covariance, scale_of
from judgerank.ranking.choices import THIS_PANEL
from judgerank.ranking.study import Component, Finding

NAME = "whose_opinion"
LEVEL = 0.05  # of the test for tastes, as it is said
FAVOURITES, SAID = "favourites", "Favourites: "  # the table, and how the remark begins
NAMED = 3  # judges and models up to which each is named
LARGEST = 20.0  # log-odds
COLUMNS = ["judge", "model", "p_value", "log_odds", "votes", "left_out", "share_won", "share_expected"]


def of_component(component: Component) -> Finding:
    """The tables ``whose_opinion`` and ``favourites`` and remarks, where tastes are tested or fitted."""
    opinion, table = _opinion(component), favourites_of(component)
    if table.empty:
        return opinion
    remarks = [*opinion.remarks, SAID + " ".join(_on_favourites(component, table))]
    return Finding(remarks, {**opinion.tables, FAVOURITES: table})


def favourites_of(component: Component) -> pd.DataFrame:
    """Judges whose taste for one model stands out, and their votes on it.

    Returns
    -------
    DataFrame
        ``judge, model, p_value, log_odds, votes, left_out, share_won, share_expected``. ``log_odds`` is the taste,
        by these votes and the scores without them, or as tested where they count. Shares are of wins of the model,
        a tie being half a win: as counted, and by the scores, the judge's discrimination and its position bias.
    """
    recusal, models = component.recusal, component.judgments.comparisons.models
    left_out = () if recusal is None else recusal.favoured
    chosen = [one for one in left_out or component.favourites if one.model in models]
    rows = [(one.judge, one.model, one.p_value, *_votes(component, one)) for one in chosen]
    return pd.DataFrame(rows, columns=COLUMNS)


def _votes(component: Component, favourite: Favourite) -> tuple[float, int, int, float, float]:
    """The taste in log-odds, how many votes there are and do not count, and shares of wins: seen and expected."""
    recusal, fitted = component.recusal, component.member
    if recusal is None:
        return favourite.log_odds, 0, 0, np.nan, np.nan
    votes, left_out = recusal.votes_on(favourite)
    every, _ = recusal.with_left_out(component.judgments)
    c = every.comparisons
    if favourite.judge not in c.judges:  # nothing else by that judge counts
        return favourite.log_odds, votes, left_out, np.nan, np.nan
    model = c.models.index(favourite.model)
    rows = np.flatnonzero(
        (c.judge == c.judges.index(favourite.judge)) & ((c.first == model) | (c.second == model))
    )
    c = c._rows(rows)
    is_first, n = c.first == model, c.count / c.count.sum()
    p = fitted.probability(fitted.model.observed(c))
    won, expected = np.where(is_first, c.outcome, 1 - c.outcome) @ n, np.where(is_first, p, 1 - p)
    shares = float(won), float(expected @ n)
    eta = logit(expected)

    def excess(taste: float) -> float:
        return float(expit(eta + taste) @ n - won)

    if not left_out or not excess(-LARGEST) < 0 < excess(LARGEST):  # all are won, or lost
        return favourite.log_odds, votes, left_out, *shares
    return float(brentq(excess, -LARGEST, LARGEST)), votes, left_out, *shares


def _on_favourites(component: Component, table: pd.DataFrame) -> Iterator[str]:
    """Who favours whom, and whether those votes count."""
    option = f" (--whose {THIS_PANEL} counts them)"
    for row in table.head(NAMED).to_dict("records"):
        judge, model = shortened(row["judge"]), shortened(row["model"])
        verb = "favours" if row["log_odds"] > 0 else "slights"
        text = f"{judge} {verb} {model} by {abs(row['log_odds']):.1f} log-odds (p {p_of(row['p_value'])})"
        if row["left_out"]:
            yield f"{text}, so {counted(row['left_out'], 'vote')} of {judge} on {model} do not count{option}."
            option = ""
        elif component.settings.whose == THIS_PANEL:
            yield f"{text}; these votes count, as the ranking is for this panel."
        else:
            yield f"{text}; these votes count, as the models cannot be ranked without them."
    if len(table) > NAMED:
        yield f"{len(table) - NAMED} more of the kind are in the table {FAVOURITES}."


def _opinion(component: Component) -> Finding:
    """The table ``whose_opinion`` and a remark."""
    reported, level = component.reported, component.settings.level
    is_fitted = any(block.name == TASTE for block in reported.blocks)
    if not component.has_intervals or not (is_fitted or component.tastes is not None):
        return Finding()
    if not reported._speaks_of_judges_like_these:
        has_both = is_fitted and not reported.errors.of_panel
        return Finding([_on_this_panel(component)], {NAME: both_intervals(reported, level)} if has_both else {})
    table = both_intervals(reported, level)
    return Finding([_on_both(component, table)], {NAME: table})


def both_intervals(fitted: Fit, level: float) -> pd.DataFrame:
    """Reported scores with intervals in both senses, best first.

    Returns
    -------
    DataFrame
        ``rank, model, score, low_this_panel, high_this_panel, low_judges_like_these, high_judges_like_these``.
    """
    columns = {"rank": fitted.ranks.to_numpy(), "model": fitted.ranks.index, "score": scale_of(fitted).scores}
    for name, result in (("this_panel", fitted.for_this_panel()), ("judges_like_these", fitted)):
        scores, covariance = scale_of(result).scores, reported_covariance(result)
        ends = wald_by_covariance(scores, covariance, level, result.degrees_of_scores)
        columns[f"low_{name}"], columns[f"high_{name}"] = ends
    return pd.DataFrame(columns).sort_values("rank", ignore_index=True)


def _test(component: Component) -> tuple[float, float | None]:
    """Standard deviation of tastes, and the p-value of none; None where that is not tested."""
    if component.tastes is not None:
        return component.tastes.spread, component.tastes.p_value
    fitted = component.reported
    return fitted.spread[TASTE], None if fitted.effects is not None else fitted.test(TASTE).p_value


def _on_this_panel(component: Component) -> str:
    spread, p_value = _test(component)
    n_judges = len(component.reported.comparisons.judges)
    tested = "" if p_value is None else f", p {p_of(p_value)}"
    if component.settings.whose == THIS_PANEL and spread > 0:
        return (
            f"Whose opinion: the ranking and its intervals are for this panel of {n_judges} alone, as asked for "
            f"(tastes of its judges: standard deviation {spread:.2f} log-odds{tested})."
        )
    return (
        f"Whose opinion: the {n_judges} judges show no tastes of their own{_beside(component)} (standard "
        f"deviation {spread:.2g}{tested}), so intervals are for this panel."
    )


def _beside(component: Component) -> str:
    """That tastes are beside the opinion of a judge who contradicts the others, where there is one."""
    contradicts = component.tastes is not None and component.tastes.signed
    return ", beside a contrary opinion" if contradicts else ""


def _on_both(component: Component, table: pd.DataFrame) -> str:
    fitted, level = component.reported, component.settings.level
    spread, p_value = _test(component)
    n_judges = len(fitted.comparisons.judges)
    tested = "" if p_value is None else f", p {p_of(p_value)}"
    have = "may have" if p_value is not None and p_value > LEVEL else "have"
    widths = {
        name: float((table[f"high_{name}"] - table[f"low_{name}"]).mean())
        for name in ("this_panel", "judges_like_these")
    }
    counts = [int(pairwise(result, level)["separated"].sum()) for result in (fitted.for_this_panel(), fitted)]
    return (
        f"Whose opinion: judges {have} tastes of their own{_beside(component)} (standard deviation {spread:.2f} "
        f"log-odds{tested}). The ranking and its intervals are for judges like these: another panel drawn "
        f"as this one was would agree with them. An interval is {widths['judges_like_these']:.2f} wide "
        f"on average. For this panel of {n_judges} as it is, it is {widths['this_panel']:.2f} wide, and "
        f"{counts[0]} pairs are significantly different instead of {counts[1]}. More comparisons narrow the "
        "intervals for this panel; to narrow those for judges like these, add judges."
    )
