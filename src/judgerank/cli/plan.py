"""`judgerank plan`: how many comparisons and judges a given precision requires.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from judgerank.cli.options import (
    GOALS,
    RECUSE,
    SELECTION,
    SHRUNK,
    UNCERTAINTY,
    FactsOption,
    JsonOption,
    LevelOption,
    ModelOption,
    OwnMakerOption,
    Reading,
    SolverOption,
    between,
    finite,
    reads_files,
    shared_help,
)
from judgerank.cli.terminal import Progress, say, say_json, say_wrapped
from judgerank.data import QUESTION
from judgerank.data.errors import ConfigError, NoIntervalError, NoMaximumError
from judgerank.data.listing import counted, listed, p_of
from judgerank.planning import USUAL, Assumption

if TYPE_CHECKING:
    import pandas as pd

    from judgerank.data.judgments import Judgments
    from judgerank.fits.result import Fit
    from judgerank.fits.taste_test import TasteTest
    from judgerank.planning.panels import Panel
    from judgerank.planning.questions import Questions
    from judgerank.trust.repeats import Repeats


POSITIVE = between(0, float("inf"))
PAIR_POWER, USUAL_POWER = "pair_power", 0.8  # the goal of plans for scores
STANDARDISED, SCORE_WIDTH = "standardised", "score_width"  # how names of goals begin
OTHER_UNIT = "Scores lie further apart without such judges, so the same score_width is harder to reach."
ASSUMED, QUESTIONS = "Assumed panel, without a file", "Questions and repeats"


@reads_files
def plan(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Files of judgments, or patterns, whose fitted panel is planned for; by default one is assumed.",
        ),
    ] = None,
    want: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GOAL=NUMBER",
            help=f"What is wanted, such as score_width=0.3 or pair_power=0.8: a width of intervals, a power or a "
            f"share. GOAL is one of {', '.join(GOALS)}. "
            "Can be given several times; by default a moderate value of each.",
        ),
    ] = None,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="MODEL MODEL",
            help="Pair for pair_power; by default the file's two best models, or the pair of median difference.",
        ),
    ] = None,
    by_judges: Annotated[
        list[int] | None,
        typer.Option(
            min=1, help="Also plan for random panels of so many of the judges. Can be given several times."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help=shared_help("--seed", "It decides which judges are in random panels."))
    ] = 2026,
    n_models: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=ASSUMED, min=2, max=1000, help=f"Models of an assumed panel ({USUAL.n_models})."
        ),
    ] = None,
    n_judges: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=ASSUMED, min=1, max=1000, help=f"Judges of an assumed panel ({USUAL.n_judges})."
        ),
    ] = None,
    sigma_scores: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=ASSUMED,
            callback=POSITIVE,
            help="Standard deviation of its scores as a ranking reports them, in log-odds "
            f"({USUAL.sigma_scores}).",
        ),
    ] = None,
    sigma_discrimination: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=ASSUMED,
            min=0,
            callback=finite,
            help=f"Standard deviation of its log-discriminations ({USUAL.sigma_discrimination}).",
        ),
    ] = None,
    question_sd: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=QUESTIONS,
            min=0,
            max=20,
            callback=finite,
            help="By how much answers to a question are better or worse than their models usually are, a standard "
            "deviation in the scores' units; by default as in the file, else 0.",
        ),
    ] = None,
    question_pairs: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=QUESTIONS,
            min=1,
            max=10**6,
            help="Pairs compared on each question; by default as in the file.",
        ),
    ] = None,
    question_judges: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=QUESTIONS,
            min=1,
            max=10**6,
            help="Judges asked about each pair; by default as in the file.",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(rich_help_panel=QUESTIONS, min=1, help=shared_help("--repeats"))] = 1,
    correlation: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=QUESTIONS,
            min=0,
            max=1,
            callback=finite,
            help="Of a judge's answers to the same; by default as in the file where something was repeated.",
        ),
    ] = None,
    *,
    read: Reading,
    model: ModelOption = None,
    solver: SolverOption = SHRUNK,
    own_maker: OwnMakerOption = RECUSE,
    models: FactsOption = None,
    level: LevelOption = 0.95,
    cluster: Annotated[
        str,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            metavar="COLUMN",
            help=shared_help(
                "--cluster",
                "It is question, or a column of the file such as template, whose values then count as questions.",
            ),
        ),
    ] = QUESTION,
    json: JsonOption = False,
) -> None:
    """Plan how many comparisons, questions and judges a given precision requires.

    The numbers come from the expected information of a design; widths are those that a ranking prints. For a board
    of scores, the plan says how many tasks separate two models.
    """
    assumption = Assumption(n_models, n_judges, sigma_scores, sigma_discrimination)
    goals = goals_of(want)
    if files:
        own = own_maker.value, models
        if "," in cluster:
            raise typer.BadParameter("a plan is for new values of one column.", param_hint="'--cluster'")
        read = {**read, "keep": () if cluster == QUESTION else (cluster,)}
        judgments = judgments_of(files, read, model)
        if isinstance(judgments, Scored):
            others = (question_sd, question_pairs, question_judges, correlation, by_judges, *assumption)
            require_tasks_alone(
                want, repeats != 1 or cluster != QUESTION or any(other is not None for other in others)
            )
            print_tasks(judgments, own, pair, goals.get(PAIR_POWER, USUAL_POWER), level, json)
            return
        basis = fitted_to(judgments, read, (model, solver.value), level, assumption, own, cluster)
    else:
        require_no_file(read, models)
        if cluster != QUESTION:
            raise typer.BadParameter("--cluster is about judgments: name a file of them.")
        basis = assumed_panel(assumption, model)
    if not want and len(basis.panel.models) == 2:  # their standardised scores are constants
        goals = {goal: value for goal, value in goals.items() if not goal.startswith(STANDARDISED)}
    question_settings = {"sd": question_sd, "pairs": question_pairs, "judges": question_judges}
    design = Design(question_settings, repeats, correlation)
    result = planned(basis, design, goals, pair, level)
    smaller = by_size(result, goals, by_judges, seed) if by_judges else None
    print_result(result, smaller, level, json)


class Basis(NamedTuple):
    """What is planned for: a panel, questions as they were asked, repeats if there are any, and warnings.

    From a file also how many comparisons it has, and judges left out. Where judges have tastes, the ranking's fit
    for judges like these, and the test for tastes.
    """

    panel: Panel
    questions: Questions
    seen: Repeats | None
    collected: int = 0
    left_out: Sequence[str] = ()
    with_tastes: Fit | None = None
    tastes: TasteTest | None = None
    warnings: Sequence[str] = ()
    own_maker: str = RECUSE.value
    filter: Sequence[Mapping[str, Any]] = ()
    cluster: str = QUESTION


class Design(NamedTuple):
    """What is asked: of questions, where it is not as found; how often the same; and how repeats correlate."""

    questions: Mapping[str, Any]
    repeats: int
    correlation: float | None


@dataclass(frozen=True)
class Planned:
    """A plan, with what it takes to make another for panels of fewer judges."""

    basis: Basis
    questions: Questions
    make: Callable[[float], int]
    at: Mapping[str, Any]
    table: pd.DataFrame
    by_default: bool  # nobody named the pair


def assumed_panel(assumption: Assumption, model: str | None = None) -> Basis:
    """A panel without a file, its questions with nothing in common."""
    from judgerank.planning.panels import assumed
    from judgerank.planning.questions import INDEPENDENT
    from judgerank.ranking.choices import DEFAULT

    return Basis(assumed(*USUAL.but(assumption), model=model or DEFAULT), INDEPENDENT, None)


def fitted_to(
    files: list[Path] | Judgments,
    read: Mapping[str, Any],
    chosen: tuple[str | None, str],
    level: float,
    assumption: Assumption,
    own: tuple[str, Path | None] = (RECUSE.value, None),
    cluster: str = QUESTION,
) -> Basis:
    """The panel fitted to files by a model and a solver; nothing may be said of an assumed one.

    `own` says whether votes on models of a judge's own maker count, and where facts on the makers are.
    """
    from judgerank.order.scale import reported_covariance
    from judgerank.planning.plans import fitted_panel, questions_like, sampled_by
    from judgerank.ranking.choices import Settings
    from judgerank.ranking.components import fit_member, parts_of
    from judgerank.ranking.findings import ranked_set
    from judgerank.ranking.page_options import makers_on
    from judgerank.ranking.recusal import is_recusing, recusal_of
    from judgerank.reading.read import read_judgments
    from judgerank.trust.repeats import repeats_of

    overrides = [name for name, value in assumption._asdict().items() if value is not None]
    if overrides:
        raise typer.BadParameter(f"{', '.join(overrides)}: the file decides that.")
    (model, solver), (own_maker, facts) = chosen, own
    every = read_judgments(files, **read) if isinstance(files, list) else files
    every = sampled_by(every, cluster)
    makers = makers_on(every, facts)
    settings = Settings(model=model, solver=solver, level=level, own_maker=own_maker, makers=makers)
    recusal = recusal_of(every, is_recusing(own_maker), makers)
    judgments, *others = parts_of(recusal.counted)
    try:
        ranked = ranked_set(every, settings)  # so the plan is for the votes that count in the ranking
        recusal, (judgments, *others), ranking = ranked.recusal, ranked.parts, ranked.components[0]
        refit = partial(fit_member, judgments.comparisons, solver=solver)
        panel, fitted = fitted_panel(judgments, refit, model)
    except (NoIntervalError, NoMaximumError) as error:
        raise NoIntervalError(
            f"no plan can be made from this file: {error}. {_instead(judgments, solver)}"
        ) from None
    questions = replace(questions_like(panel, fitted, judgments), unit=cluster)
    seen, rows = None, judgments.comparisons
    if "question_id" in judgments.frame and rows.stages is None and cluster == QUESTION:
        seen = repeats_of(fitted, rows, judgments.question, level, judgments.item)
    remarks = [*every.left_out_by_request, *every.warnings, *recusal.sentences()]
    if others:
        remarks.append(
            f"The comparisons fall into {1 + len(others)} components: no comparison connects their models. This "
            f"plan is for the largest component: {listed(rows.models)}."
        )
    tastes = ranking.tastes if ranking.tastes is not None and ranking.tastes.found else None
    has_errors = tastes is not None and isfinite(reported_covariance(ranking.reported).sum())
    found = round(rows.n_comparisons), fitted.judges_at_zero, ranking.reported if has_errors else None, tastes
    return Basis(panel, questions, seen, *found, remarks, own_maker, every.requests, cluster)


@dataclass(frozen=True)
class Scored:
    """Judgments that are made of scores, which are planned for by tasks."""

    judgments: Judgments


def judgments_of(files: list[Path], read: Mapping[str, Any], model: str | None) -> Judgments | Scored:
    """The judgments of files, and whether they are planned for by tasks: no model of judgments is named."""
    from judgerank.fits.by_sizes import made_of_scores
    from judgerank.reading.read import read_judgments

    judgments = read_judgments(files, **read)
    return Scored(judgments) if model is None and made_of_scores(judgments) else judgments


def require_tasks_alone(want: list[str] | None, has_others: bool) -> None:
    """Refuse what goes with judgments alone in a plan for a board of scores."""
    if has_others or any(text.partition("=")[0] != PAIR_POWER for text in want or ()):
        raise typer.BadParameter(
            f"these are scores, which are planned for by tasks: --pair and --want {PAIR_POWER}=NUMBER say what is "
            "wanted (--model judge_aware plans comparisons by which score is higher)."
        )


def print_tasks(
    scored: Scored,
    own: tuple[str, Path | None],
    pair: tuple[str, str] | None,
    power: float,
    level: float,
    json: bool,
) -> None:
    """Print how many tasks separate two models, or every two neighbours."""
    from judgerank.planning.tasks import tasks_plan
    from judgerank.ranking.components import parts_of
    from judgerank.ranking.page_options import makers_on
    from judgerank.ranking.recusal import is_recusing, recusal_of
    from judgerank.writing.spreadsheets import records

    (own_maker, facts), every = own, scored.judgments
    recusal = recusal_of(every, is_recusing(own_maker), makers_on(every, facts))
    judgments = parts_of(recusal.counted)[0]
    table, rows = tasks_plan(judgments, pair, power, level), judgments.comparisons
    notes = [*every.left_out_by_request, *every.warnings, *recusal.sentences()]
    tasks = counted(judgments.n_questions, "task")
    notes.append(
        f"{tasks}. Each pair is tested by itself, by a paired t-test at {level:.0%} confidence, with {power:.0%} "
        "power. Differences are those of mean scores."
    )
    if json:
        document = {
            "own_maker": own_maker,
            "filter": every.requests,
            "cluster": QUESTION,
            "models": len(rows.models),
            "judges": len(rows.judges),
            "left_out": [],
            "collected": round(rows.n_comparisons),
            "tastes": None,
            "pair": table[["first", "second"]].iloc[0].tolist(),
            "notes": notes,
            "plan": records(table),
            "by_judges": None,
        }
        say_json("plan", document)
        return
    say_wrapped(notes)
    _show(table.drop(columns=["goal", "wanted"]))


def require_no_file(read: Mapping[str, Any], facts: Path | None) -> None:
    """Refuse options on judgments in a plan without any."""
    options = [f"--{name.replace('_', '-')}" for name in SELECTION if read[name]]
    options += [] if facts is None else ["--models"]
    if options:
        raise typer.BadParameter(
            f"{options[0]} is about judgments: name a file of them (--n-models and --n-judges assume a panel)."
        )


def _instead(judgments: Judgments, solver: str) -> str:
    """What to do where a file allows no plan by a solver."""
    from judgerank.ranking.choices import SHRUNK, default_member
    from judgerank.ranking.components import fit_member

    c = judgments.comparisons
    assumed = f"plan for an assumed panel (judgerank plan --n-models {len(c.models)} --n-judges {len(c.judges)})"
    shrunk = fit_member(c, default_member([c])[0], SHRUNK)
    if solver == SHRUNK or shrunk.scores.max() == shrunk.scores.min():
        return f"Collect more judgments first, or {assumed}"
    return f"Plan from the shrunk scores, which `judgerank rank` shows (--solver {SHRUNK}), or {assumed}"


def planned(
    basis: Basis, design: Design, goals: Mapping[str, float], pair: tuple[str, str] | None, level: float
) -> Planned:
    """The comparisons that each goal takes."""
    from judgerank.planning.judges import judges_needed
    from judgerank.planning.plans import asked_as, pair_of, plan_table, to_make

    panel, seen = basis.panel, basis.seen
    questions = asked_as(basis.questions, panel, design.questions, design.repeats)
    at = {"level": level, "pair": pair_of(panel, pair)}
    rho = design.correlation if design.correlation is not None else (seen and seen.correlation) or 0.0
    make = partial(to_make, questions, repeats=design.repeats, correlation=rho)
    judges = judges_needed(basis.with_tastes, goals, at)
    table = plan_table(panel, questions, goals, make, at, basis.collected, judges)
    return Planned(basis, questions, make, at, table, pair is None)


def by_size(planned: Planned, goals: Mapping[str, float], sizes: list[int], seed: int) -> pd.DataFrame:
    """The same for random panels of fewer judges."""
    from judgerank.planning.plans import DRAWS, by_judges, panels_by_size
    from judgerank.planning.precision import precision_of

    panels = panels_by_size(planned.basis.panel, sizes, DRAWS, seed)
    precisions = {
        n_judges: [precision_of(panel, planned.questions) for panel in some] for n_judges, some in panels.items()
    }
    return by_judges(precisions, goals, planned.make, planned.at, Progress("planning for smaller panels"))


def print_result(planned: Planned, smaller: pd.DataFrame | None, level: float, json: bool) -> None:
    """Print a plan."""
    from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES
    from judgerank.planning.plans import (
        constant_told,
        difference_told,
        least_told,
        left_out_told,
        more_told,
        spread_told,
        two_best_told,
        uninformative_told,
    )
    from judgerank.writing.spreadsheets import records

    panel, seen = planned.basis.panel, planned.basis.seen
    first, second = panel.pairs[planned.at["pair"]]
    of_pair = PAIR_POWER in set(planned.table["goal"])
    notes = [difference_told(panel, planned.at["pair"], level)] if of_pair and panel.doubt is not None else []
    if notes and planned.by_default:
        notes += two_best_told(panel, level)
    basis, table = planned.basis, planned.table
    notes = [*basis.warnings, *left_out_told(basis.left_out), *notes, *more_told(basis.collected, basis.cluster)]
    notes += _on_tastes(basis, table)
    # with equal weights, no judge is said to be uninformative
    if panel.doubt is not None and len(panel.at.judges):
        silent = list(uninformative_told(panel, planned.questions, table, planned.make, planned.at))
        notes += [*silent, *([OTHER_UNIT] if silent and table["goal"].str.startswith(SCORE_WIDTH).any() else [])]
    notes += spread_told(panel, planned.at["pair"], planned.table)
    notes += constant_told(panel, planned.table)
    notes += least_told(planned.table, panel, planned.make, planned.questions)
    if seen is not None:
        notes.append(" ".join(seen.sentences()))
    if json:
        document = {
            "own_maker": planned.basis.own_maker,
            "filter": planned.basis.filter,
            "cluster": planned.basis.cluster,
            "models": len(panel.models),
            "judges": len(panel.judges),
            "left_out": list(basis.left_out),
            "collected": basis.collected,
            "tastes": None if basis.tastes is None else basis.tastes.spread,
            "pair": [first, second],
            "notes": notes,
            "plan": records(planned.table),
        }
        say_json("plan", {**document, "by_judges": None if smaller is None else records(smaller)})
        return
    assumed = "An assumed panel" if panel.doubt is None else "The panel of the file"
    who = f"{counted(len(panel.models), 'model')} and {counted(len(panel.judges), 'judge')}"
    if FEW_JUDGES in panel.judges:
        who += f" (all judges with fewer than {FEW_ANSWERS} answers count as one)"
    pair = f" pair_power is for {first} against {second}." if of_pair else ""
    say_wrapped([f"{assumed}: {who}.{pair}", *notes])
    unused = {"more": not basis.collected, "judges": basis.with_tastes is None}
    _show(table.drop(columns=[name for name, is_unused in unused.items() if is_unused]))
    if smaller is not None:
        say("By number of judges: expected of random panels of so many, and quartiles of such panels")
        _show(smaller)


def _on_tastes(basis: Basis, table: pd.DataFrame) -> Iterator[str]:
    """Whose opinion a plan is about, where judges have tastes of their own, by the test that a ranking makes."""
    from judgerank.ranking.studies.whose_opinion import LEVEL

    if basis.tastes is None:
        return
    have = "have" if basis.tastes.p_value <= LEVEL else "may have"
    yield (
        f"The {len(basis.panel.judges)} judges {have} tastes of their own (standard deviation "
        f"{basis.tastes.spread:.2f} log-odds, p {p_of(basis.tastes.p_value)}), which more comparisons by them do "
        "not average out. The comparisons are for claims about these judges."
    )
    if basis.with_tastes is None:
        yield "For claims about judges like these no number is given: their errors are not known."
        return
    c = basis.with_tastes.comparisons
    yield (
        "For claims about judges like these, the column judges says how many judges it takes in all. Each is "
        f"asked about {c.n_comparisons / len(c.judges):,.0f} comparisons, as in the file."
    )
    beyond = table.loc[table["judges"].isna(), "goal"]
    if len(beyond):
        yield f"No number of judges reaches {listed(beyond)}."


def goals_of(pairs: Iterable[str] | None) -> Mapping[str, float]:
    """What is wanted, by goal; a moderate value of each where nothing is."""
    from judgerank.planning.plans import WANTED
    from judgerank.planning.precision import require_reasonable

    goals = {}
    for pair in pairs or ():
        goal, _, wanted = pair.partition("=")
        try:
            goals[goal] = float(wanted)
            require_reasonable(goal, goals[goal])
        except ConfigError as error:
            raise typer.BadParameter(f"{error}.", param_hint="'--want'") from None
        except ValueError:
            raise typer.BadParameter(f"{pair!r} is not GOAL=NUMBER.", param_hint="'--want'") from None
    return goals or WANTED


def _show(table: pd.DataFrame) -> None:
    """Print a table of texts, which pandas sets closer together than numbers: it fits 80 characters."""
    say(table.astype(object).map(_cell).to_string(index=False))


def _cell(value: Any) -> str:
    """A number to three digits, a large one whole, and no number as two dashes."""
    if isinstance(value, float) and isfinite(value):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return "--" if str(value) in ("<NA>", "nan") else str(value)
