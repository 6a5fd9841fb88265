"""How far a ranking can be trusted: what would change it, and how much information its panel has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from judgerank.data.arrays import IntArray, numbered
from judgerank.data.cache import Shown
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.errors import ConfigError, DataError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import INDIVIDUAL, Judgments
from judgerank.data.listing import counted, listed
from judgerank.data.rankings import as_pairs, number_of_ranking
from judgerank.data.tied_choices import all_ties
from judgerank.fits.by_sizes import made_of_scores
from judgerank.fits.favourites import favourites
from judgerank.fits.presentation import has_errors
from judgerank.fits.result import Fit
from judgerank.fits.same_judges import same_judges
from judgerank.fits.taste_test import TasteTest, taste_test
from judgerank.model.naming import member
from judgerank.ranking import score_boards
from judgerank.ranking.choices import Settings, default_member, identified
from judgerank.ranking.components import fit_member, parts_of
from judgerank.ranking.findings import ranked_set
from judgerank.ranking.recusal import Recusal, recusal_of
from judgerank.ranking.study import MOST_SAMPLED, Component, Ranked, component_of, may_use_sizes
from judgerank.reading.files import behind
from judgerank.trust.effective_judges import EffectiveJudges, effective_judges
from judgerank.trust.fitness import Fitness, fitness_if_quick
from judgerank.trust.fragility import COLUMNS, OF_JUDGES, Fragility, RemovedRows, fragility
from judgerank.trust.sentences import (
    CLUSTERS,
    TASKS,
    TITLES,
    at_least_sentence,
    legend,
    neighbours,
    on_number,
    on_panel,
    top_sentence,
)
from judgerank.writing.atomic import staged, versions
from judgerank.writing.spreadsheets import csv_of
from judgerank.writing.targets import Outputs

SECTION = "trust"  # by which an earlier report in a folder is known
SHOWN = 10  # records in the text
RECORD = "record"  # column: number of a judgment as it was read, from 1
NO_ROWS = np.zeros(0, np.intp)
INCOMPLETE = "it is sought where every model has a score on every task"
ON_SCORES = (
    "These are scores. Whole tasks are removed, and models are ranked by their mean scores on the others, as in "
    "`judgerank rank`.",
    "How many to remove so that two models no longer differ significantly is not sought for scores.",
    "The effective number of judges and goodness of fit belong to models of judgments, so they are not reported. "
    "To get them, go by which score is higher: --model judge_aware.",
)


@dataclass(frozen=True, eq=False, repr=False)
class TrustReport(Shown):
    """The smallest changes of data that change a ranking, and how many independent judges its panel is worth.

    Attributes
    ----------
    judgments : Judgments
        Of the largest component of the comparison graph.
    fitted : Fit
    fragility : Fragility
    panel : EffectiveJudges or None
    remarks : tuple of str
        What could not be told, and why.
    same : dict of str to str
        For each judge that answers as another does, that one (`copies.same_judges`).
    fitness : Fitness or None
        Whether the model describes the answers; None for fits without intervals and for very large ones.
    """

    judgments: Judgments
    fitted: Fit
    fragility: Fragility
    panel: EffectiveJudges | None
    remarks: tuple[str, ...]
    same: dict[str, str]
    fitness: Fitness | None = None

    def records(self) -> pd.DataFrame:
        """The judgments of every set: ``set`` (row of the changes, from 1) and the records' own columns."""
        answered = self.judgments.frame[self.judgments.parsed]
        parts = [
            answered.iloc[removed.rows].assign(set=number, left_out=removed.judgments)
            for number, removed in enumerate(self.fragility.removed, 1)
            if len(removed.rows)
        ]
        columns = ["set", RECORD, *answered.columns.drop(RECORD)]
        if not parts:
            return pd.DataFrame(columns=[*columns, "left_out"])
        return pd.concat(parts, ignore_index=True)[[*columns, "left_out"]]

    def tables(self) -> dict[str, pd.DataFrame]:
        """``changes, records, judges`` (each left out alone), and if known ``worth, panel, another, fitness``."""
        changes = self.fragility.changes
        numbered = changes.assign(set=range(1, len(changes) + 1))[["set", *changes.columns]]
        by_name = {"changes": numbered, "records": self.records(), "judges": self.fragility.judges}
        if self.panel is not None:
            by_name |= {"worth": self.panel.worth, "panel": self.panel.judges, "another": self.panel.another()}
        return by_name if self.fitness is None else by_name | {"fitness": self.fitness.table}

    def write(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the tables as CSV and ``run.json`` into a folder, all or none.

        Parameters
        ----------
        folder : path
        force : bool
            Whether to write into a folder with other files, too; a copy is kept of those that are replaced.

        Raises
        ------
        ConfigError
            If the folder holds anything but an earlier report, or cannot be written to.
        """
        target = Path(folder)
        Outputs(behind(self.judgments), force).folder(target, SECTION, self.judgments.source.get("path"))
        record = {
            "section": SECTION,
            "source": self.judgments.source,
            "model": self.fitted.model.name,
            "versions": versions(("judgerank", "numpy", "scipy", "pandas")),
        }
        try:
            with staged(target, force=force) as staging:
                for name, table in self.tables().items():
                    (staging / f"{name}.csv").write_text(csv_of(table), encoding="utf-8", newline="")
                (staging / "run.json").write_text(json.dumps(record, indent=2) + "\n")
        except OSError as error:
            raise ConfigError(f"the tables cannot be written to {target}: {error.strerror or error}") from None
        return target

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def summary(self) -> tuple[list[str], str, list[str]]:
        """The findings in sentences, the tables of neighbours, and their legend: what fits one screen.

        Not in it: the judgments to remove, each judge's part and what another judge would add.
        """
        points = [*self.remarks, *_on_the_leader(self), *_on_judges(self), *_on_panel(self)]
        points += [] if self.fitness is None else self.fitness.sentences()
        table = neighbours(self.fragility.changes)
        more = len(table) - SHOWN
        hidden = [f"{counted(more, 'more pair')}: --verbose"] if more > 0 else []
        tables, explained = _neighbours(table.head(SHOWN))
        return [_title(self), *points], tables, [*hidden, *explained]

    def _line(self) -> str:
        return f"{self.judgments.title}: smallest removals that change the ranking, effective number of judges"

    def _table(self) -> pd.DataFrame:
        return self.fragility.changes


def trust_report(
    judgments: Judgments,
    settings: Settings | None = None,
    most: int = 20,
    progress: Callable[[int, int], None] | None = None,
) -> TrustReport:
    """How far the ranking of judgments can be trusted, for the largest component of their comparison graph.

    Parameters
    ----------
    judgments : Judgments
        As `judgerank.read` gives them.
    settings : Settings, optional
        How they are ranked.
    most : int
        Pairs of neighbours tried of every kind; see `fragility`.
    progress : callable, optional
        See `fragility`.

    Raises
    ------
    DataError, NoMaximumError, NoIntervalError, ConfigError
        If they cannot be ranked, or nothing can be said of what would change that.
    """
    settings = settings or Settings()
    every = replace(judgments, frame=judgments.frame.assign(**{RECORD: _numbers(judgments)}))
    remarks = [*judgments.left_out_by_request, *judgments.warnings]
    if may_use_sizes(settings) and made_of_scores(every):
        ranked = ranked_set(every, settings)
        if ranked.components[0].reported.errors.sizes is not None:
            return _of_scores(ranked, remarks)
    recusal, parts, fitted, tastes = _counted(every, settings)
    part = parts[0]
    remarks += [*recusal.sentences(), *_on_components(parts)]
    question = _behind(part, settings)[1]
    fragile = fragility(fitted, part.comparisons, question, settings.level, most, progress)
    fragile, panel = _with_single_judge(bounded(fragile), fitted, part.comparisons), None
    if part.comparisons.stages is not None:
        return _of_rankings(part, fitted, fragile, settings, remarks)
    if question is None:
        remarks.append(
            "The effective number of judges needs a column of questions (--column question=NAME names it)."
        )
    else:
        try:
            panel = effective_judges(fitted, part.comparisons, question, settings.level)
        except DataError as error:
            remarks.append(f"The effective number of judges is not known, since {error}.")
    same = same_judges(fitted, part, settings.level) if question is not None else {}
    ids = () if question is None else part.question_ids
    fit_tests = fitness_if_quick(fitted, part.comparisons, question, settings.level, ids, tastes)
    return TrustReport(part, fitted, fragile, panel, tuple(remarks), same, fit_tests)


def _on_components(parts: Sequence[Judgments]) -> list[str]:
    """Which of several components the report is on."""
    if len(parts) == 1:
        return []
    return [
        f"The comparisons fall into {len(parts)} components: no comparison connects their models. This report "
        f"is on the largest component: {listed(parts[0].comparisons.models)}."
    ]


def _of_scores(ranked: Ranked, remarks: list[str]) -> TrustReport:
    """The report on a board of scores, by the fit that ranks it."""
    component = ranked.components[0]
    said = [*remarks, *ranked.recusal.sentences(), *_on_components(ranked.parts), *ON_SCORES]
    return TrustReport(
        component.judgments, component.reported, _changes_of_scores(component), None, tuple(said), {}
    )


def _changes_of_scores(component: Component) -> Fragility:
    """The fewest tasks without which models change places by mean score, and the ranking without each judge."""
    c, judges = component.comparisons, _without_each(component)
    found = [*_by_tasks(component)]
    if len(judges) > 1:
        first, second = (str(found[0][0][name]) for name in ("first", "second"))
        others = judges[judges["top"].notna() & (judges["top"] != first)].head(1)
        for judge, top in zip(others["judge"], others["top"], strict=True):
            row = _removal("top", "judges", first, top, 1, len(judges))
            found.insert(1, (row, np.flatnonzero(c.judge == c.judges.index(judge))))
        if others.empty:
            why = "no single judge does, and sets of judges are not tried"
            found.insert(1, (_removal("top", "judges", first, second, None, len(judges), why), NO_ROWS))
    changes = pd.DataFrame([row for row, _ in found], columns=COLUMNS)
    return Fragility(
        changes, tuple(RemovedRows(rows, np.asarray(c.count[rows], float)) for _, rows in found), judges
    )


def _by_tasks(component: Component) -> Iterator[tuple[dict[str, object], IntArray]]:
    """Each change of places by the fewest tasks, and the comparisons on them; the first is that of the leader."""
    judgments, units, sizes = component.judgments, component.settings.units, component.reported.errors.sizes
    assert sizes is not None
    ranked = np.argsort(-sizes.scores, kind="stable").tolist()
    by, models = TASKS if sizes.n_tasks == sizes.n_clusters else CLUSTERS, component.comparisons.models
    if sizes.by_cluster is None:
        yield (
            _removal("top", by, models[ranked[0]], models[ranked[1]], None, sizes.n_clusters, INCOMPLETE),
            NO_ROWS,
        )
        return
    cluster = numbered(judgments.unit(units[0]) if units else judgments.question)[1]
    for change, i, j in [("top", ranked[0], ranked[1]), *(("swap", i, j) for i, j in pairwise(ranked))]:
        times, order = score_boards.fewest_to_pass(sizes.by_cluster, i)
        if change == "top" and times.min() < sizes.n_clusters:
            j = int(times.argmin())
        size = int(times[j]) if times[j] < sizes.n_clusters else None
        why = "" if size else "it does better on no task"
        rows = np.flatnonzero(np.isin(cluster, order[: size or 0, j]))
        yield _removal(change, by, models[i], models[j], size, sizes.n_clusters, why), rows


def _removal(
    change: str, by: str, first: str, second: str, size: int | None, total: int, why: str = ""
) -> dict[str, object]:
    """A row of `Fragility.changes` on the smallest set there is."""
    n, share = (pd.NA, np.nan) if size is None else (size, size / total)
    return dict(zip(COLUMNS, (change, by, first, second, n, n, total, share, np.nan, why), strict=True))


def _without_each(component: Component) -> pd.DataFrame:
    """The ranking of scores without each judge, as `Fragility.judges`."""
    judgments, settings, scores = component.judgments, component.settings, component.reported.scores
    c, records = component.comparisons, np.flatnonzero(component.judgments.parsed)
    rows: list[dict[str, object]] = []
    before = _separated(component)
    for k, judge in enumerate(c.judges if len(c.judges) > 1 else ()):
        kept = np.flatnonzero(c.judge != k)
        frame = judgments.frame.iloc[records[kept]].reset_index(drop=True)
        rest = replace(judgments, frame=frame, comparisons=c.take(kept))
        if len(parts_of(rest)) > 1:
            rows.append({"judge": judge, "why": "without this judge there is no ranking"})
            continue
        alone = component_of(rest, component.reported.model, settings)
        if alone.reported.errors.sizes is None:
            rows.append({"judge": judge, "why": "without this judge, models have too few tasks in common"})
            continue
        fitted, now = alone.reported, _separated(alone)
        row = {
            "judge": judge,
            "top": fitted.scores.idxmax(),
            "moved": (fitted.ranks != component.reported.ranks).sum(),
        }
        row |= {"correlation": fitted.scores.rank().corr(scores.rank()), "why": ""}
        rows.append(row | {"lost": len(before - now), "gained": len(now - before)})
    table = pd.DataFrame(rows).reindex(columns=OF_JUDGES)
    return table.astype(dict.fromkeys(["moved", "lost", "gained"], "Int64"))


def _separated(component: Component) -> set[tuple[str, str]]:
    """Pairs that differ significantly, the higher score first."""
    pairs = component.pairs[component.pairs["separated"]]
    return {*zip(pairs["first"], pairs["second"], strict=True)}


def _counted(judgments: Judgments, settings: Settings) -> tuple[Recusal, list[Judgments], Fit, TasteTest | None]:
    """Which judgments count, as in a ranking; their components; fit and test for tastes of the largest."""
    recusal = recusal_of(judgments, settings.is_recused, settings.makers)
    parts, fitted, tastes = _largest(recusal, settings)
    favoured = recusal.may_leave_out(favourites(fitted, *_behind(parts[0], settings), tastes))
    if favoured:
        try:
            others = recusal_of(judgments, settings.is_recused, settings.makers, favoured=favoured)
            return others, *_largest(others, settings)
        except (NoMaximumError, NotIdentifiedError):
            pass
    return recusal, parts, fitted, tastes


def _largest(recusal: Recusal, settings: Settings) -> tuple[list[Judgments], Fit, TasteTest | None]:
    parts = parts_of(recusal.counted)
    c = parts[0].comparisons
    name = settings.model or default_member([part.comparisons for part in parts])[0]
    if all_ties(c):
        raise DataError("all answers are ties, so there is no ranking that removals could change")
    chosen = member(name) if settings.model else identified(member(name), c)
    fitted = fit_member(c, chosen, settings.solver)
    is_tested = len(c) <= MOST_SAMPLED and has_errors(fitted)
    return parts, fitted, taste_test(fitted, *_behind(parts[0], settings)) if is_tested else None


def _behind(part: Judgments, settings: Settings) -> tuple[Comparisons, IntArray | None]:
    """The comparisons of a component, and their questions where errors are by question."""
    by_question = "question_id" in part.frame and settings.cluster == "question"
    return part.comparisons, part.question if by_question else None


def bounded(fragile: Fragility) -> Fragility:
    """The removals; a set that was found although its forecast had ruled it out has at least one member."""
    changes = fragile.changes
    at_least = changes["at_least"].mask(changes["at_least"].isna() & changes["size"].notna(), 1)
    return replace(fragile, changes=changes.assign(at_least=at_least))


def _with_single_judge(fragile: Fragility, fitted: Fit, comparisons: Comparisons) -> Fragility:
    """The removals, with one judge as the smallest set of judges wherever leaving one out changes the leader.

    The search goes by forecasts and tries few challengers, so it may miss what the ranking without a judge shows.
    """
    changes, judges, leader = fragile.changes, fragile.judges, fitted.scores.idxmax()
    at = np.flatnonzero(
        (changes["change"] == "top") & (changes["by"] == "judges") & (changes["size"] != 1).fillna(True)
    )
    alone = judges[judges["top"].notna() & (judges["top"] != leader)]
    if not len(at) or alone.empty:
        return fragile
    judge, second = alone.iloc[0][["judge", "top"]]
    row, changed = int(at[0]), changes.copy()
    found = {"second": second, "at_least": 1, "size": 1, "forecast": np.nan, "why": ""}
    found["share"] = 1 / changes["total"].iloc[row]
    for name, value in found.items():
        changed.loc[changed.index[row], name] = value
    rows = np.flatnonzero(comparisons.judge == comparisons.judges.index(judge))
    removed = list(fragile.removed)
    removed[row] = RemovedRows(rows, np.asarray(comparisons.count[rows], float))
    return replace(fragile, changes=changed, removed=tuple(removed))


def _numbers(judgments: Judgments) -> IntArray:
    """Number of every record's judgment as it was read, from 1; rows of one ranking have one."""
    c = judgments.comparisons
    if c.stages is None:
        return np.arange(1, len(judgments.frame) + 1)
    return 1 + number_of_ranking(c, judgments.question if "question_id" in judgments.frame else None)


def _of_rankings(
    part: Judgments, fitted: Fit, fragile: Fragility, settings: Settings, remarks: list[str]
) -> TrustReport:
    """The report on rankings: judges are compared by what they say of the same two answers of a question."""
    pairs = as_pairs(part)
    alike, panel = fit_member(pairs.comparisons, fitted.model.name, settings.solver), None
    try:
        effective = effective_judges(alike, pairs.comparisons, pairs.question, settings.level)
        panel = replace(effective, design_effect=np.nan)  # which would be that of rankings, too
        remarks.append("The effective number of judges takes each ranking as comparisons of two answers.")
    except DataError as error:
        remarks.append(f"The effective number of judges is not known, since {error}.")
    remarks.append(
        "Goodness of fit is not tested: the test takes answers as independent, and those of one ranking are not. "
        "To test it, collect comparisons of two answers."
    )
    return TrustReport(part, fitted, fragile, panel, tuple(remarks), same_judges(alike, pairs, settings.level))


def _lines(report: TrustReport) -> Iterator[str]:
    """The whole report, paragraph by paragraph."""
    yield _title(report)
    yield from (f"- {text}" for text in report.remarks)
    yield "\nSmallest removals found that change the ranking"
    yield from (f"- {text}" for text in _on_the_leader(report))
    tables, explained = _neighbours(neighbours(report.fragility.changes))
    yield f"\n{tables}"
    yield from explained
    yield ""
    yield from _first_records(report)
    of_judges = _on_judges(report)
    if of_judges:
        yield "The ranking without each judge"
        yield from (f"- {text}" for text in of_judges)
    if report.panel is not None:
        yield from on_panel(report.panel, report.same)
    if report.fitness is not None:
        yield "\nDoes the model describe the answers?"
        yield from (f"- {text}" for text in report.fitness.sentences())


def _title(report: TrustReport) -> str:
    c, sizes = report.judgments.comparisons, report.fitted.errors.sizes
    how = f"--model {report.fitted.model.name}" if sizes is None else "differences by their sizes"
    size = counted(sizes.n_tasks, "task") if sizes is not None else counted(round(c.n_comparisons), "judgment")
    if c.stages is not None:
        size = counted(int(report.judgments.frame[RECORD].nunique()), "ranking")
    return (
        f"How far can the ranking of {report.judgments.title} be trusted? {counted(len(c.models), 'model')}, "
        f"{counted(report.judgments.n_judges, 'judge')}, {size}, {how}"
    )


def _neighbours(table: pd.DataFrame) -> tuple[str, list[str]]:
    """A table for each kind of change, narrow enough for a terminal, below what it counts; and the legend."""
    tables = []
    for kind, title in TITLES.items():
        names = {name: name.removeprefix(kind).strip() for name in map(str, table) if name.startswith(kind)}
        if names:
            rows = table[["first", "second", *names]].rename(columns=names)
            rows = rows[(rows[[*names.values()]] != "").any(axis=1)]  # of pairs that can change so
            tables.append(f"{title}:\n{rows.to_string(index=False)}")
    return "\n\n".join(tables), [*legend(table)]


def _on_the_leader(report: TrustReport) -> list[str]:
    """The smallest removals that put another model first, by judgments, questions and judges."""
    changes = report.fragility.changes
    tops = changes[changes["change"] == "top"]
    texts = [f"{top_sentence(row)}{at_least_sentence(row)}" for _, row in tops.iterrows()]
    if len(report.judgments.few_judges) > 1 and len(report.judgments.comparisons.judges) > 1:
        texts.append(f"Here {_few_judges(report)} count as one judge.")
    return texts


def _on_panel(report: TrustReport) -> list[str]:
    """The effective number of judges, and who answers like whom, without what explains that number."""
    if report.panel is None:
        return []
    explained = {f"- {text}" for text in [*on_number(report.panel)][1:]}
    points = [line for line in on_panel(report.panel, report.same) if line.startswith("- ")]
    if report.panel.is_informative and len(report.same) < report.panel.n_judges - 1:
        points = points[:-1]  # what another judge would add
    return [line.removeprefix("- ") for line in points if line not in explained]


def _first_records(report: TrustReport) -> Iterator[str]:
    """The first judgments of the set that changes the top."""
    records = report.records()
    records = records[records["set"] == 1]
    if not len(records):
        return
    if report.fitted.errors.sizes is not None:
        by = report.fragility.changes["by"].iloc[0]
        yield f"The {by} whose removal changes the leader: {listed(records['question_id'].astype(str).unique())}\n"
        return
    names = ["record", "question_id", "model_a", "model_b", "judge_model", "judge_preferred_model"]
    what = "judgments"
    if report.judgments.comparisons.stages is not None:
        what, names = "rankings", [RECORD, "question_id", "judge_model"]
        records = records.drop_duplicates(RECORD)
    if INDIVIDUAL in records:
        records = records.assign(judge_model=records[INDIVIDUAL])
    columns = [name for name in names if name in records]
    more = f", the first {SHOWN} of {len(records)}" if len(records) > SHOWN else ""
    yield f"The {what} whose removal changes the leader{more} (all of them: --output FOLDER)"
    yield records[columns].head(SHOWN).to_string(index=False) + "\n"


def _on_judges(report: TrustReport) -> list[str]:
    """What the ranking without each judge changes; empty of a single judge."""
    judges = report.fragility.judges
    if len(judges) < 2:
        return []
    changed = judges[judges["top"].notna() & (judges["top"] != report.fitted.scores.idxmax())]
    texts = [
        f"Without {_named(report, row['judge'])}, {row['top']} is first." for row in changed.to_dict("records")
    ] or ["The leader stays the same without any one of the judges."]
    influential = judges[judges["moved"].fillna(0) > 0].sort_values("moved", ascending=False, kind="stable")
    for row in influential.head(1).to_dict("records"):
        who, matters = row["judge"], "matters most: without it"
        if who == FEW_JUDGES:
            who = f"T{_few_judges(report)[1:]}"
            if len(report.judgments.few_judges) > 1:
                matters = "matter most: without them"
        texts.append(f"{who} {matters}, {counted(row['moved'], 'model')} change rank.")
    unranked = judges[judges["why"] != ""].to_dict("records")
    return [*texts, *(f"{_named(report, row['judge'])}: {row['why']}." for row in unranked)]


def _named(report: TrustReport, judge: str) -> str:
    """A judge's name, or in words those who have one label."""
    return _few_judges(report) if judge == FEW_JUDGES else judge


def _few_judges(report: TrustReport) -> str:
    return f"the {counted(len(report.judgments.few_judges), 'judge')} with fewer than {FEW_ANSWERS} answers"
