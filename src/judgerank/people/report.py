"""A file with a panel's judgments and a few people's: scores on the human scale, and whom to ask next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data import QUESTION, UNITS
from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError, JudgerankError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, noun
from judgerank.data.rankings import BROKEN, as_pairs
from judgerank.fits.errors_by_question import number_of, questions_of
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile
from judgerank.order.scale import scale_by
from judgerank.people.agreement import COLUMNS as COLUMNS_OF_AGREEMENT
from judgerank.people.agreement import agreement_text, agreement_with_people
from judgerank.people.anchor import People, anchored_by_people, disagreement, next_items, next_pairs
from judgerank.people.human_scale import HumanBoard, HumanScale, human_scale, scale_text
from judgerank.people.items import PERSON, HumanScores, Items, human_marks, human_rows, items_of
from judgerank.people.toward_panel import TowardPanel, drawn_toward_panel
from judgerank.ranking.choices import CLUSTERS, cluster_of, default_member
from judgerank.ranking.components import fit_member
from judgerank.ranking.recusal import RECUSE, is_recusing, of_rows, recusal_of
from judgerank.reading.read import Source, read_judgments
from judgerank.reading.selection import Filters

# People as one more judge, whose discrimination is the unit: scores on the human scale, if the panel is right.
#
# If people and panel see one order with one set of gaps, all votes go into one fit, and on the scale on which
# their discrimination is one the scores are e^alpha s, alpha being theirs. That is much narrower than what needs
# no such assumption (`judgerank.people.anchor`), and wrong where they disagree.
#
# If the fit models ties as an outcome, one unit is the log-odds of a win against a loss. Elo points of human
# leaderboards count a tie as half a win, which makes differences smaller: do not convert such scores to Elo
# points.


def on_scale_of(fitted: Fit, judge: str) -> tuple[FloatArray, FloatArray]:
    """Scores on the scale on which a judge's discrimination is one, and their covariance by the delta method.

    Parameters
    ----------
    fitted : Fit
    judge : str

    Returns
    -------
    scores : float array, shape (N,)
    covariance : float array, shape (N, N)

    Raises
    ------
    DataError
        If there is no such judge, or its discrimination is not free and above zero.
    NoIntervalError
        If the fit has no covariance.
    """
    judges = fitted.comparisons.judges
    k = judges.index(judge) if judge in judges else None
    if k is None or not fitted._free[:1, k].any():
        raise DataError(
            f"{judge!r} is not a judge with a free discrimination: it cannot be the unit of the scores"
        )
    scale = scale_by(fitted, {judge: 1.0})
    return scale.scores, scale.covariance(fitted.covariance)


# Which scores on the human scale to report: those that predict held-out human votes better.
FOLDS, SEED = 5, 0


def vote_losses(items: Items, panel: Fit) -> dict[str, float]:
    """Log-loss of a human vote by scores that were fitted to the votes on other questions, in nats.

    Whole questions are held out, in five folds.

    Returns
    -------
    dict of str to float
        ``toward_panel`` (`people.toward_panel`) and ``helped`` (`people.anchor`); NaN if a fold has no such fit.
    """
    questions = np.unique(items.question[items.asked])
    fold = np.random.default_rng(SEED).permutation(len(questions)) % FOLDS
    of_item = np.full(len(items.first), -1)
    of_item[items.asked] = fold[np.searchsorted(questions, items.question[items.asked])]
    estimators: dict[str, Callable[[Items], HumanScores]] = {
        "toward_panel": lambda some: drawn_toward_panel(some, panel),
        "helped": anchored_by_people,
    }
    return {name: _loss(items, of_item, estimator) for name, estimator in estimators.items()}


def _loss(items: Items, fold: np.ndarray, estimator: Callable[[Items], HumanScores]) -> float:
    total = 0.0
    for number in range(min(FOLDS, int(fold.max()) + 1)):
        out = fold == number
        try:
            scores = estimator(replace(items, human=np.where(out, np.nan, items.human))).scores
        except JudgerankError:
            return float("nan")
        p, y = expit(scores[items.first[out]] - scores[items.second[out]]), items.human[out]
        total -= float((y * np.log(p) + (1 - y) * np.log1p(-p)).sum())
    return total / int((fold >= 0).sum())


PEOPLE = "people"
KNOWN = (QUESTION, PERSON)  # units that are no columns of the file
SHOWN = 10  # pairs in the text
FEW = 10  # people; scores of fewer are theirs, and say little of people at large
NO_SAVING = 0.005  # share of the variance that rounds to none
UNDETERMINED = "human votes alone do not determine every score"
COLUMNS = {
    "toward_panel": "people's votes, drawn toward the panel's scores",
    "helped": "people's votes with the panel's help, whatever the panel's errors",
    "alone": "people alone",
    "as_judge": "people as one more judge, right if panel and people see one order",
}


@dataclass(frozen=True, eq=False, repr=False)
class PeopleReport(Shown):
    """Scores on the human scale.

    Attributes
    ----------
    people : HumanScores
        The better of both at predicting human votes: `toward_panel` or `helped`.
    toward_panel : TowardPanel
        Scores drawn toward the panel's.
    helped : People, optional
        Prediction-powered scores; None where there are none.
    losses : dict of str to float
        Of a held-out human vote by each (`people.choosing`).
    panel : Fit
        By the panel's judgments alone.
    statistic, p_value, degrees_of_freedom
        Of the test that people and panel agree up to the scale (`people.anchor.disagreement`), or, where there are
        no scores by people alone, that people have no tastes of their own (`TowardPanel.p_value`).
    table : DataFrame
        `HumanScores.table`; ``alone``, ``helped`` and ``as_judge`` with their errors (`people.reference`), where
        there are such fits, and ``toward_panel``.
    next : DataFrame
        `people.asking.next_items`.
    newcomers : HumanScale, optional
        Models that no person compared, with intervals; None where there are none, or votes do not allow one.
    why : str
        Why there are no prediction-powered scores.
    agreement : DataFrame
        How often each judge gives a person's answer (`people.agreement.agreement_with_people`).
    persons : int
        How many people voted, by their names.
    cluster : tuple of str
        What was sampled, by which errors are clustered. Without ``person`` they do not allow for these being a
        sample of people.
    n_judges : int
        How many judges the panel has, those with few answers among them.
    remarks : tuple of str
    level : float
    """

    people: HumanScores
    toward_panel: TowardPanel
    helped: People | None
    losses: dict[str, float]
    panel: Fit
    statistic: float
    p_value: float
    degrees_of_freedom: int
    table: pd.DataFrame
    next: pd.DataFrame
    remarks: tuple[str, ...]
    level: float
    newcomers: HumanScale | None = None
    why: str = ""
    persons: int = 0
    n_judges: int = 0
    agreement: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=COLUMNS_OF_AGREEMENT))
    cluster: tuple[str, ...] = (QUESTION,)

    @property
    def whose(self) -> str:
        """Who voted, in words: people in general, or, if they are few, these."""
        if self.persons >= FEW:
            return "people"
        return f"these {self.persons} people" if self.persons > 1 else "one person"

    @property
    def disagree(self) -> bool:
        """Whether people and panel surely see the models otherwise."""
        return self.p_value <= 1 - self.level

    @property
    def is_reversed(self) -> bool:
        """Whether people's scores significantly fall where the panel's rise, by their least-squares slope."""
        drawn = self.toward_panel
        panel = self.panel.scores[list(drawn.items.models)].to_numpy()
        reach = normal_quantile(self.level, drawn.degrees_of_freedom) * np.sqrt(panel @ drawn.covariance @ panel)
        return drawn.slope < 0 and bool(panel @ drawn.scores + reach < 0)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _line(self) -> str:
        return f"scores of {len(self.table)} models on the human scale"

    def _table(self) -> pd.DataFrame:
        return self.table


def people_report(
    judgments: Source,
    human: str | Collection[str] = (),
    level: float = 0.95,
    own_maker: str = RECUSE,
    makers: Mapping[str, str] | None = None,
    cluster: str | Sequence[str] = (),
    **filters: Unpack[Filters],
) -> PeopleReport:
    """Scores on the human scale, from the judgments of people on some items and of a panel on more.

    Parameters
    ----------
    judgments : anything that `judgerank.read` reads
        With questions. People are told by their names as judges, or by a column ``human``.
    human : str or collection of str
    level : float
    own_maker : {"recuse", "count"}
        As of `judgerank.rank`.
    makers : mapping of str to str, optional
        As of `judgerank.rank`.
    cluster : str or sequence of str
        What was sampled, by which errors are clustered: ``question``, ``person``, or a column; two are crossed. By
        default question and person where ten people or more voted, some of them several times; else question.
    filters
        ``without_judge``, ``only_judge``, ``without_model`` and ``category``, as of `judgerank.read`.

    Raises
    ------
    DataError, NoMaximumError, NoIntervalError
        If there are no people, no panel or no questions, or the panel has no scores or no errors.

    Examples
    --------
    >>> import judgerank
    >>> report = judgerank.people_report(judgerank.example(), human='judge-large')
    >>> report.persons, report.table['model'].tolist()[:2]
    (1, ['oak', 'maple'])
    """
    names, human = units_named(cluster), [human] if isinstance(human, str) else human
    judgments = read_judgments(judgments, keep=[name for name in names if name not in KNOWN], **filters)
    broken = judgments.comparisons.stages is not None
    judgments = as_pairs(judgments)
    if "question_id" not in judgments.frame:
        raise DataError(
            "people and panel are compared question by question: name the column of questions (--column "
            "question=NAME)"
        )
    people = human_rows(judgments, human)
    panels = of_rows(judgments, np.flatnonzero(~people))
    recusal = recusal_of(panels, is_recusing(own_maker), (makers or {}).items())
    if recusal.n_left_out:
        counts = people.copy()
        counts[~people] = recusal.counts
        judgments, people = of_rows(judgments, np.flatnonzero(counts)), people[counts]
    c, question = judgments.comparisons, judgments.question
    panel, why = panel_of(c.take(np.flatnonzero(~people)), question[~people])
    persons, n_judges = (len(np.unique(c.judge[rows])) for rows in (people, ~people))
    names = names or ((QUESTION, PERSON) if FEW <= persons < people.sum() else (QUESTION,))
    units = {name: c.judge if name == PERSON else judgments.unit(name) for name in names}
    items = items_of(c, question, people, panel, None if names == (QUESTION,) else units)
    drawn, (helped, unhelped), losses = drawn_toward_panel(items, panel), _helped(items), vote_losses(items, panel)
    by_votes = helped is not None and losses["helped"] < losses["toward_panel"]
    human_scores: HumanScores = helped if helped is not None and by_votes else drawn
    remarks = [*judgments.left_out_by_request, *recusal.sentences(), why, *([BROKEN] if broken else [])]
    if items.unjudged:
        remarks.append(f"Left out: {items.unjudged:,} items that people judged and the panel did not.")
    table = _joined(human_scores.table(level), items, drawn, helped)
    try:
        columns = _columns("as_judge", *on_scale_of(_together(c, question, people, panel), PEOPLE))
        table = table.merge(pd.DataFrame({"model": c.models, **columns}), on="model")
    except JudgerankError as error:
        remarks.append(f"People as one more judge: no such fit, since {error}.")
    ids = pd.Series(pd.factorize(judgments.frame["question_id"][judgments.parsed], sort=True)[1])
    test = disagreement(helped, panel) if helped is not None else (drawn.statistic, drawn.p_value, 1)
    suggestions = next_items(human_scores, ids)
    newcomers = _newcomers(items, drawn, panel, level, remarks)
    report = PeopleReport(
        human_scores,
        drawn,
        helped,
        losses,
        panel,
        *test,
        table,
        suggestions,
        tuple(remarks),
        level,
        newcomers,
        unhelped,
        persons,
        n_judges,
    )
    more = tuple(_by_other_units(human_scores, panel, judgments, people, names, level))
    agreement = agreement_with_people(c, question, people, level)
    return replace(report, agreement=agreement, cluster=names, remarks=(*report.remarks, *more))


def _by_other_units(
    scores: HumanScores, panel: Fit, judgments: Judgments, people: BoolArray, names: tuple[str, ...], level: float
) -> Iterator[str]:
    """What intervals would be by other columns of the votes that may name what was sampled."""
    for name in UNITS:
        if name in names or name not in judgments.frame:
            continue
        label = judgments.unit_if_known(name)
        if label is None or number_of(label[people]) in (1, number_of(judgments.question[people])):
            continue
        items = items_of(judgments.comparisons, judgments.question, people, panel, {name: label})
        other = anchored_by_people(items) if isinstance(scores, People) else drawn_toward_panel(items, panel)
        widths = [_mean_width(of_scores, level) for of_scores in (other, scores)]
        wider = widths[0] / widths[1]
        n_units = number_of(label[people])
        yield f"By {name} ({n_units} values) intervals would be {wider:.2f} times as wide (--cluster {name})."


def _mean_width(scores: HumanScores, level: float) -> float:
    table = scores.table(level)
    return float((table["high"] - table["low"]).mean())


def units_named(cluster: str | Sequence[str]) -> tuple[str, ...]:
    """The units that are named; none where that is left to the votes.

    Raises
    ------
    ConfigError
        As of `ranking.choices.cluster_of`, and if comparisons are to be independent, or to have question effects.
    """
    if not cluster:
        return ()
    chosen = cluster_of(cluster)
    names = (chosen,) if isinstance(chosen, str) else chosen
    if {*names} & {*CLUSTERS[1:]}:
        raise ConfigError(f"the errors of people's scores are clustered by columns: there is no {names[0]} here")
    return tuple(PERSON if name == "judge" else name for name in names)


def panel_of(judges: Comparisons, question: IntArray | None) -> tuple[Fit, str]:
    """The fit of judges' verdicts, errors clustered by question where there are enough; and why this member.

    Of the fit only scores are used: it takes more questions than there are free ones.
    """
    judges = judges.pool_few()
    name, why = default_member([judges])
    panel = fit_member(judges, name)
    if question is None:
        return panel, why
    questions = questions_of(panel, judges, question)._replace(parameters=len(judges.models) - 1)
    if questions.enough:
        return panel.clustered(judges, question), why
    few = f"{noun(questions.n_questions, 'question')} for {len(judges.models)} models"
    return (
        panel,
        f"{why} The panel's standard errors count judgments as independent: "
        f"{questions.n_questions} {few} are too few.",
    )


def on_human_board(
    judgments: Source,
    board: HumanBoard | pd.DataFrame | str | Path,
    level: float = 0.95,
    own_maker: str = RECUSE,
    makers: Mapping[str, str] | None = None,
    **filters: Unpack[Filters],
) -> HumanScale:
    """Models that no person has judged on the scale of a published human board, from judges' verdicts.

    Parameters
    ----------
    judgments : anything that `judgerank.read` reads
        Judges' verdicts on the new models and on models of the board.
    board : HumanBoard, DataFrame or path
        With the columns ``model`` and ``elo``, as `HumanBoard.read` says.
    level : float
    own_maker : {"recuse", "count"}
        As of `judgerank.rank`.
    makers : mapping of str to str, optional
        As of `judgerank.rank`.
    filters
        ``without_judge``, ``only_judge``, ``without_model`` and ``category``, as of `judgerank.read`.

    Raises
    ------
    DataError, NoMaximumError, NoIntervalError, ConfigError
        If there are human votes among the judgments, or as `people.human_scale` says.

    Examples
    --------
    >>> import judgerank, pandas
    >>> elo = {'cedar': 1000, 'hazel': 900, 'maple': 1120, 'thorn': 890, 'willow': 1060}
    >>> board = pandas.DataFrame({'model': list(elo), 'elo': list(elo.values())})
    >>> scale = judgerank.on_human_board(judgerank.example(), board)
    >>> scale.newcomers['model'].tolist()
    ['oak']
    """
    judgments = read_judgments(judgments, **filters)
    if "human" in judgments.frame and human_marks(judgments.frame).any():
        raise DataError("some judgments are people's: leave them out, or leave out the human board")
    recusal = recusal_of(judgments, is_recusing(own_maker), (makers or {}).items())
    remarks, judgments = (*judgments.left_out_by_request, *recusal.sentences()), recusal.counted
    question = judgments.question if "question_id" in judgments.frame else None
    scale = human_scale(panel_of(judgments.comparisons, question)[0], HumanBoard.given(board), level)
    return replace(scale, remarks=remarks)


def _newcomers(
    items: Items, drawn: TowardPanel, panel: Fit, level: float, remarks: list[str]
) -> HumanScale | None:
    """Models without human votes on the scale of those that have some."""
    compared = np.unique(np.r_[items.first[items.asked], items.second[items.asked]])
    if len(compared) == len(items.models):
        return None
    try:
        return human_scale(panel, HumanBoard.of_votes(items), level, drawn.drawn)
    except (DataError, NoMaximumError) as error:
        remarks.append(f"Models without human votes have no place among the others: {error}.")
        return None


def _helped(items: Items) -> tuple[People | None, str]:
    """Prediction-powered scores, or why there are none."""
    try:
        return anchored_by_people(items), ""
    except DataError as error:
        return None, str(error)
    except JudgerankError:
        return None, UNDETERMINED


def _columns(name: str, scores: FloatArray, covariance: FloatArray) -> dict[str, FloatArray]:
    return {name: scores, f"{name}_error": np.sqrt(np.diag(covariance))}


def _joined(table: pd.DataFrame, items: Items, drawn: TowardPanel, helped: People | None) -> pd.DataFrame:
    """The table of the scores that are reported, with those that are not."""
    extra_columns: dict[str, FloatArray] = {}
    if helped is not None:
        if "alone" not in table:
            extra_columns |= _columns("alone", helped.alone, helped.covariance_alone)
        extra_columns |= _columns("helped", helped.scores, helped.covariance)
    extra_columns |= _columns("toward_panel", drawn.scores, drawn.covariance)
    return table.merge(pd.DataFrame({"model": items.models, **extra_columns}), on="model")


def _together(c: Comparisons, question: IntArray, people: BoolArray, panel: Fit) -> Fit:
    """Everyone in one fit, people as one judge."""
    c = c.pool_few(keep=panel.comparisons.judges)  # as the panel's fit has them
    names = (*panel.comparisons.judges, PEOPLE)
    judge_index = pd.Index(names).get_indexer(pd.Index(c.judges))
    rows = replace(c, judges=names, judge=np.where(people, len(names) - 1, judge_index[c.judge]))
    fitted = fit(rows, panel.model)
    return fitted.clustered(rows, question) if panel.errors.robust is not None else fitted


def _lines(report: PeopleReport) -> Iterator[str]:
    items = report.people.items
    n_items = int(items.asked.sum())
    yield (
        f"{len(items.models)} models, {counted(report.n_judges, 'judge')} on {len(items.asked):,} items, "
        f"{report.persons:,} {noun(report.persons, 'name')} of people on {n_items:,} of them"
    )
    yield from _on_few(report)
    yield from (f"- {text}" for text in report.remarks)
    yield f"\nScores on the human scale of {report.whose}: a model that is one higher is preferred 73% of the time"
    yield report.table.to_string(index=False, float_format="{:.3f}".format)
    yield from _on_scores(report)
    finding = "disagree significantly" if report.disagree else "do not disagree significantly"
    if report.helped is not None:
        test = f"Hotelling's T-squared {report.statistic:.1f} over {report.degrees_of_freedom} dimensions"
    else:
        test = (
            f"likelihood-ratio statistic {report.statistic:.1f} for tastes of their own; half of chi-squared's p "
            "on one degree of freedom, since a standard deviation is never negative"
        )
    if report.helped is not None and np.isnan(report.p_value):
        yield f"- {report.helped.questions.too_few_to_tell('whether people and panel disagree')}"
    else:
        who = report.whose.capitalize()
        what = f"{who} and the panel {finding} on the order and the gaps"
        if report.is_reversed:  # the test allows for any slope
            what = f"With the panel's order turned round, {report.whose} and the panel {finding} on the gaps"
        yield f"- {what} (p {report.p_value:.2g}: {test})."
    if report.disagree or report.is_reversed:
        yield f"- WARNING: as_judge and the panel's own ranking are not what {report.whose} would say."
    yield from agreement_text(report.agreement, report.level)
    if report.newcomers is not None:
        yield ""
        yield from scale_text(report.newcomers)
    if report.next.empty:
        yield "\nPeople voted on every item: there is none left to show them."
        return
    yield "\nShow people items of these pairs next, drawn at random within each"
    pairs = next_pairs(report.next).rename(columns={"share": "share of the next votes"})
    yield pairs.head(SHOWN).to_string(index=False, float_format="{:.0%}".format)


def _on_few(report: PeopleReport) -> Iterator[str]:
    """Whose the intervals are, where few people voted."""
    if report.persons >= FEW:
        return
    yield (
        f"- WARNING: scores and intervals are of {report.whose} only. Intervals do not allow for other people's "
        f"tastes, and a disagreement with the panel may be {report.whose}'s own. To speak of people at large, ask "
        f"{FEW} or more."
    )
    if report.persons == 1:
        yield "- If this name stands for many people, give each their own name as judge."


def _on_scores(report: PeopleReport) -> Iterator[str]:
    """What the columns are, which scores are reported, and why."""
    drawn, helped, losses = report.toward_panel, report.helped, report.losses
    if report.cluster != (QUESTION,):
        yield f"- Intervals allow for dependence within each {' and each '.join(report.cluster)}."
    yield "; ".join(f"{name}: {what}" for name, what in COLUMNS.items() if name in report.table) + "\n"
    both = (losses["toward_panel"], losses["helped"])
    if helped is None:
        why = report.why
    elif np.isnan(both[1]):
        why = f"without a fifth of the questions, {UNDETERMINED}"
    else:
        low, high, alternative = (*both, "helped") if report.people is drawn else (*both[::-1], "toward_panel")
        why = f"it predicts held-out human votes better (log-loss {low:.4f}, and {high:.4f} of {alternative})"
    yield f"- The score is {'toward_panel' if report.people is drawn else 'helped'}: {why}."
    tastes = f"with tastes of their own (standard deviation {drawn.spread:.2f})"
    if report.is_reversed:
        yield (
            f"- WARNING: people order the models the other way round than the panel ({drawn.slope:.2f} times the "
            f"panel's scores, {tastes}). Are labels swapped?"
        )
    else:
        sign = " (not significantly below zero)" if drawn.slope < 0 else ""
        yield f"- People's scores are {drawn.slope:.2f} times the panel's{sign}, {tastes}."
    unseen = int((report.table["votes"] == 0).sum())
    if unseen:
        yield f"- No person compared {unseen} of the models: their scores are what the panel lets one expect."
    if helped is not None:
        of_helped = f"- Of helped, the panel (weight {helped.weight:.2f}) takes"
        if helped.saving < NO_SAVING:
            yield f"{of_helped} nothing off the variance."
            return
        yield (
            f"{of_helped} {helped.saving:.0%} off the variance: as if people had voted on "
            f"{1 / (1 - helped.saving):.2f} times as many items."
        )
