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
    difference = compare(old, new, level)
    moves, significant = difference.moves, frozenset(difference.moved)
    ranks = (moves["rank_old"] - moves["rank_new"]).tolist()
    rank_changes = {model: int(by) for model, by in zip(moves["model"], ranks, strict=True) if by}
    table = moves[["model", "rank_old", "rank_new", "change", "standard_error", "p_holm"]]
    table = table.rename(columns={"rank_old": "rank_then", "rank_new": "rank_now"})
    return Changelog(
        since, tuple(_sentences(difference)), rank_changes, significant, frozenset(difference.models[1]), table
    )


def _sentences(difference: Difference) -> Iterator[str]:
    yield "{1:,.0f} judgments now, {0:,.0f} then.".format(*difference.comparisons)
    for word, names in (("New", difference.models[1]), ("No longer here", difference.models[0])):
        if names:
            yield f"{word}: {listed(names)}."
    gone, came = difference.judges
    if gone or came:
        parts = [f"{word} {listed(names)}" for word, names in (("new", came), ("gone", gone)) if names]
        yield f"The judges changed: {'; '.join(parts)}."
    if difference.members[0] != difference.members[1]:
        before, now = difference.members
        yield f"Fitted with {now} now and {before} then: scores may differ for that reason alone."
    if difference.other_unit:
        yield OTHER_UNIT
    if difference.relation == "same":
        yield "Both rankings use the same judgments."
        return
    if difference.few is not None:
        yield few_questions(difference.few)
    elif not difference.moved:
        yield f"No model's score changed significantly ({difference.level:.0%}, Holm's adjustment)."
    for _, row in significant(difference.moves, difference.level).iterrows():
        direction = "rose" if row["change"] > 0 else "fell"
        size = abs(row["change"])
        yield f"{row['model']} {direction} by {size:.2f} (p {p_of(row['p_holm'])}, Holm's adjustment)."
