"""Who leads in which category, where that is not the same model everywhere."""

from __future__ import annotations

import pandas as pd

from judgerank.data.cache import remembered
from judgerank.data.listing import listed
from judgerank.fits.standings import pairs
from judgerank.ranking.record import Record

NAMED = 4  # leaders up to which each is named


@remembered
def leaders(ranking: Record) -> dict[str, str]:
    """The leader of every category in which one model is significantly better than each other one.

    All pairs of a category are tested together (Holm), and all categories together (Bonferroni).
    """
    boards = ranking.tables.get("categories")
    if boards is None:
        return {}
    level, leading = 1 - (1 - ranking.settings.level) / len(ranking.categories), dict[str, str]()
    for name, fitted in ranking.categories.items():
        best, tested = boards["model"][boards["category"] == name].iloc[0], pairs(fitted, level)
        if "separated" in tested and _wins(tested, best, len(fitted.scores)):
            leading[name] = str(best)
    return leading


def _wins(tested: pd.DataFrame, best: str, models: int) -> bool:
    """Whether a model is separated from each other one."""
    tests = tested[(tested["first"] == best) | (tested["second"] == best)]
    return int(tests["separated"].fillna(False).sum()) == models - 1


def by_category(ranking: Record, overall: str) -> str:
    """Who leads where, in a sentence; empty unless categories differ in it from each other or from all judgments.

    `overall` is the model that leads by all judgments; empty if none does by itself.
    """
    leading = leaders(ranking)
    if len({*leading.values(), overall} - {""}) < 2:
        return ""
    where = {
        model: [name for name in leading if leading[name] == model] for model in dict.fromkeys(leading.values())
    }
    parts = "; ".join(f"{listed(names)}: {model} leads" for model, names in list(where.items())[:NAMED])
    more = f"; and {len(where) - NAMED} more leaders" if len(where) > NAMED else ""
    n_categories = len(ranking.categories)
    tests = f"significant, adjusted for {n_categories} categories" if n_categories > 1 else "significant"
    return f"The leader depends on the category. {parts}{more} ({tests})."
