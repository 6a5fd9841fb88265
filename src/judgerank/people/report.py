"""A file with a panel's judgments and a few people's: scores on the human scale, and whom to ask next."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, JudgerankError
from judgerank.data.frames import OUTCOMES
from judgerank.data.judgments import Judgments
from judgerank.data.shown import Shown
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.people.anchor import People, anchored_by_people, disagreement
from judgerank.people.items import human_rows, items_of
from judgerank.people.next_items import next_items, next_pairs
from judgerank.people.reference import on_scale_of
from judgerank.ranking.default_member import default_member
from judgerank.ranking.fits import fitted_member
from judgerank.reading.read import Source, read_judgments

PEOPLE = "people"
SHOWN = 10  # pairs in the text


@dataclass(frozen=True, eq=False, repr=False)
class PeopleReport(Shown):
    """Scores on the human scale.

    Attributes
    ----------
    people : People
    panel : Fit
        By the panel's judgments alone.
    statistic, p_value, degrees_of_freedom
        Of the test that people and panel agree up to the scale (`people.anchor.disagreement`).
    table : DataFrame
        `People.table`, with ``as_judge`` and ``as_judge_error`` (`people.reference`) if there is such a fit.
    next : DataFrame
        `people.asking.next_items`.
    remarks : tuple of str
    level : float
    """

    people: People
    panel: Fit
    statistic: float
    p_value: float
    degrees_of_freedom: int
    table: pd.DataFrame
    next: pd.DataFrame
    remarks: tuple[str, ...]
    level: float

    @property
    def disagree(self) -> bool:
        """Whether people and panel surely see the models otherwise."""
        return self.p_value <= 1 - self.level

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _line(self) -> str:
        return f"scores of {len(self.table)} models on the human scale"

    def _table(self) -> pd.DataFrame:
        return self.table


def people_report(judgments: Source, human: str | Collection[str] = (), level: float = 0.95) -> PeopleReport:
    """Scores on the human scale, from the judgments of people on some items and of a panel on more.

    Parameters
    ----------
    judgments : anything that `judgerank.read` reads
        With questions. People are told by their names as judges, or by a column ``human``.
    human : str or collection of str
    level : float

    Raises
    ------
    DataError, NoMaximumError, NoIntervalError
        If there are no people, no panel or no questions, or the votes do not determine the scores.
    """
    judgments, human = read_judgments(judgments), [human] if isinstance(human, str) else human
    if "question_id" not in judgments.frame:
        raise DataError("people and panel are compared question by question: name the column of questions")
    c, question, people = judgments.comparisons, judgments.question, human_rows(judgments, human)
    judges = c.take(np.flatnonzero(~people))
    name, why = default_member([judges])
    panel = fitted_member(judges, name)
    if len(np.unique(question[~people])) > panel.n_parameters:
        panel = panel.clustered(judges, question[~people])
    found = anchored_by_people(items_of(c, question, people, panel))
    said = [why]
    if found.items.unjudged:
        said.append(f"Left out: {found.items.unjudged:,} items that people judged and the panel did not.")
    table = found.table(level)
    try:
        scores, v = on_scale_of(_together(c, question, people, panel), PEOPLE)
        columns = {"as_judge": scores, "as_judge_error": np.sqrt(np.diag(v))}
        table = table.merge(pd.DataFrame({"model": c.models, **columns}), on="model")
    except JudgerankError as error:
        said.append(f"People as one more judge: no such fit, since {error}.")
    names = pd.Series(pd.factorize(judgments.frame["question_id"][_answered(judgments)], sort=True)[1])
    test = disagreement(found, panel)
    return PeopleReport(found, panel, *test, table, next_items(found, names), tuple(said), level)


def _answered(judgments: Judgments) -> pd.Series:
    return judgments.frame["judge_preferred_model"].isin(list(OUTCOMES))


def _together(c: Comparisons, question: IntArray, people: BoolArray, panel: Fit) -> Fit:
    """Everyone in one fit, people as one judge."""
    names = (*panel.comparisons.judges, PEOPLE)
    place = pd.Index(names).get_indexer(pd.Index(c.judges))
    judge = np.where(people, len(names) - 1, place[c.judge])
    fitted = fit(replace(c, judges=names, judge=judge), panel.model)
    rows = replace(c, judges=names, judge=judge)
    return fitted.clustered(rows, question) if panel.robust is not None else fitted


def _lines(report: PeopleReport) -> Iterator[str]:
    found, items = report.people, report.people.items
    asked = int(items.asked.sum())
    yield (
        f"{len(items.models)} models, {len(report.panel.comparisons.judges)} judges on {len(items.asked):,} "
        f"items, people on {asked:,} of them"
    )
    yield from (f"- {text}" for text in report.remarks)
    yield "\nScores on the human scale: a person prefers a model that is one higher with probability 0.73"
    yield report.table.to_string(index=False, float_format="{:.3f}".format)
    yield (
        "score: people, helped by the panel, right whatever the panel's errors; alone: people alone; as_judge: "
        "people as one more judge, right if panel and people see one order\n"
    )
    yield (
        f"- The panel's help (weight {found.weight:.2f}) takes {found.saving:.0%} off the variance: as if people "
        f"had voted on {1 / (1 - found.saving):.2f} times as many items."
    )
    said = "disagree" if report.disagree else "are not known to disagree"
    yield (
        f"- People and panel {said} on the order and the gaps (chi-squared {report.statistic:.1f} on "
        f"{report.degrees_of_freedom} degrees of freedom, p {report.p_value:.2g})."
    )
    if report.disagree:
        yield "- WARNING: as_judge and the panel's own ranking are not what people prefer."
    yield "\nShow people items of these pairs next, drawn at random within each"
    yield next_pairs(report.next).head(SHOWN).to_string(index=False, float_format="{:.3f}".format)
