"""What changed between a saved board and a ranking, for the page."""

from __future__ import annotations

from collections.abc import Iterator

from judgerank.boards.comparing import Difference, compare
from judgerank.boards.reported import OTHER_UNIT, few_questions
from judgerank.data.listing import listed, p_of
from judgerank.fits.result import Fit
from judgerank.order.pairs import significant
from judgerank.ranking.page_options import Changelog


def changelog_of(old: Fit, new: Fit, since: str, level: float = 0.95) -> Changelog:
    """What changed between two fits, in words, by model and as a table.

    Parameters
    ----------
    old, new : Fit
        The saved board, and the fit of the ranking.
    since : str
        What the old one is called, such as its file's name.
    level : float

    Raises
    ------
    DataError, NoIntervalError, ConfigError
        As `judgerank.boards.comparing.compare`.
    """
    found = compare(old, new, level)
    moves, significant = found.moves, frozenset(found.moved)
    ranks = (moves["rank_old"] - moves["rank_new"]).tolist()
    moved = {model: int(by) for model, by in zip(moves["model"], ranks, strict=True) if by}
    table = moves[["model", "rank_old", "rank_new", "change", "standard_error", "p_holm"]]
    table = table.rename(columns={"rank_old": "rank_then", "rank_new": "rank_now"})
    return Changelog(since, tuple(_sentences(found)), moved, significant, frozenset(found.models[1]), table)


def _sentences(found: Difference) -> Iterator[str]:
    yield "{1:,.0f} judgments now, {0:,.0f} then.".format(*found.comparisons)
    for word, names in (("New", found.models[1]), ("No longer here", found.models[0])):
        if names:
            yield f"{word}: {listed(names)}."
    gone, came = found.judges
    if gone or came:
        parts = [f"{word} {listed(names)}" for word, names in (("new", came), ("gone", gone)) if names]
        yield f"The judges changed: {'; '.join(parts)}."
    if found.members[0] != found.members[1]:
        before, now = found.members
        yield f"Fitted with {now} now and {before} then: scores may differ for that reason alone."
    if found.other_unit:
        yield OTHER_UNIT
    if found.relation == "same":
        yield "Both rankings use the same judgments."
        return
    if found.few is not None:
        yield few_questions(found.few)
    elif not found.moved:
        yield f"No model's score changed significantly ({found.level:.0%}, Holm's adjustment)."
    for _, row in significant(found.moves, found.level).iterrows():
        way = "rose" if row["change"] > 0 else "fell"
        yield f"{row['model']} {way} by {abs(row['change']):.2f} (p {p_of(row['p_holm'])}, Holm's adjustment)."
