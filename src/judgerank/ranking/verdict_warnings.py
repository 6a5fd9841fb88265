"""Warnings of the verdict, to know before trusting a ranking, one sentence or two each."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgerank.data.listing import counted, listed, noun, shortened
from judgerank.ranking.partial_judges import Without
from judgerank.ranking.record import Record
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.by_judge import BY_JUDGE
from judgerank.ranking.studies.exact_fit import HARMLESS, WHICH_FIT
from judgerank.ranking.studies.rivals import DISAGREE

MANY_DROPPED = 0.05  # share of records that could not be read, from which it is a warning
NAMED = 3  # judges up to which the problem of each is named
MOST_WEIGHT = 2 / 3  # share of the information from which one judge outweighs all others two to one


def warnings_of(ranking: Record, judges: pd.DataFrame, fewer: Without | None = None) -> list[str]:
    """The warnings on the largest component, by the table of its judges; `fewer` is without some of them."""
    fitted = ranking.fitted
    warnings = [
        note.removeprefix(start)
        for start in (WHICH_FIT, BY_JUDGE)
        for note in (remark.removeprefix("Component 1: ") for remark in ranking.remarks)
        if note.startswith(start) and not note.endswith(HARMLESS)
    ]
    if len(ranking.fits) > 1:
        warnings.append(
            f"The comparisons fall into {len(ranking.fits)} groups of models that were never compared with each "
            "other. Each group is ranked by itself, and scores of different groups are not comparable."
        )
    if not fitted.converged:
        warnings.append(f"The fit ended as {fitted.status}, not at a maximum.")
    warnings += _on_judges(judges, fewer)
    if 2 * (judges["verdict"] == panel.RANDOM).sum() >= len(judges):
        warnings.append("At least half of the judges disagree with the ranking or ignore it.")
    share = judges["information"]
    if len(judges) > 1 and share.notna().all() and share.max() >= MOST_WEIGHT:
        most = judges["judge"].iloc[share.argmax()]
        warnings.append(f"One judge, {most}, largely decides the ranking: it has {share.max():.0%} of the weight.")
    warnings += [*ranking.judgments.warnings, *unread(ranking)]
    if any(DISAGREE in note for note in ranking.remarks):
        warnings.append("The ranking changes a lot if all judges count equally (see the notes).")
    if not ranking.clustered or ranking.fitted.flips is not None:
        warnings.append(_on_dependence(ranking))
    return warnings


def _on_judges(judges: pd.DataFrame, fewer: Without | None) -> Iterator[str]:
    """Which judges have a problem, or may have, and what the ranking is without those who favour a leader."""
    unsure = judges["verdict"] == panel.UNSURE
    if unsure.any():
        who = f": {listed(judges['judge'][unsure])}" if unsure.sum() <= NAMED else ""
        yield (
            f"For {unsure.sum()} of {len(judges)} judges, the answers do not tell what kind of judge it is{who}."
        )
    doubtful = judges[~unsure & (judges["verdict"] != panel.FINE)]
    if len(doubtful):
        have = "has" if len(doubtful) == 1 else "have"
        names = list(doubtful["judge"])
        if len(doubtful) <= NAMED:
            names = [
                f"{shortened(judge)} ({what})" for judge, what in zip(names, doubtful["verdict"], strict=True)
            ]
        yield (
            f"{len(doubtful)} of {len(judges)} judges {have} a problem (see Judges on the page): {listed(names)}."
        )
    if fewer:
        yield fewer.sentence()


def unread(ranking: Record) -> list[str]:
    """A warning where many answers could not be read."""
    c = ranking.judgments.comparisons
    dropped = sum(c.dropped.values())
    exceeds_limit = dropped > MANY_DROPPED * (dropped + c.n_comparisons)
    return [f"{dropped:,} {noun(dropped, 'answer')} could not be read."] if exceeds_limit else []


def _on_dependence(ranking: Record) -> str:
    """A warning on dependence that intervals cannot allow for, without enough questions or their names."""
    frame = ranking.judgments.frame
    if "question_id" not in frame:
        return (
            "No questions are named, so judgments of the same item and judges that copy each other cannot be "
            "recognised. If there are any, the intervals are too narrow (--column question=NAME names them)."
        )
    if ranking.fitted.flips is not None:
        narrow = " The intervals of scores may be too narrow." if ranking.fitted.robust is None else ""
        return (
            f"Only {counted(ranking.judgments.n_questions, 'question')}: significance is tested by exchanging "
            f"the names of two models in whole questions.{narrow}"
        )
    return "Judgments are taken as independent. If questions repeat, the intervals are too narrow."
