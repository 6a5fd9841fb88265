"""What `judgerank plan` does, apart from its options, so that its help loads nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import typer

from judgerank.cli.documents import records
from judgerank.cli.terminal import Progress, say, say_json
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES
from judgerank.data.errors import ConfigError, NoIntervalError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted
from judgerank.data.units import QUESTION
from judgerank.fits.result import Fit
from judgerank.inference.taste_errors import TASTE
from judgerank.planning import USUAL, Assumption
from judgerank.planning.judges import fitted_tastes, judges_needed, tastes_shown
from judgerank.planning.panels import Panel, assumed
from judgerank.planning.plans import (
    DRAWS,
    WANTED,
    asked_as,
    by_judges,
    constant_told,
    difference_told,
    fitted_panel,
    least_told,
    left_out_told,
    more_told,
    pair_of,
    panels_by_size,
    plan_table,
    questions_like,
    sampled_by,
    spread_told,
    tastes_told,
    to_make,
    two_best_told,
    uninformative_told,
)
from judgerank.planning.precision import precision_of, require_reasonable
from judgerank.planning.questions import INDEPENDENT, Questions
from judgerank.ranking.choices import DEFAULT, SHRUNK, default_member
from judgerank.ranking.components import fit_member
from judgerank.ranking.page_options import makers_on
from judgerank.ranking.recusal import RECUSE, is_recusing, recusal_of
from judgerank.reading.read import read_judgments
from judgerank.trust.repeats import Repeats, repeats_of


class Basis(NamedTuple):
    """What is planned for: a panel, questions as they were asked, repeats if there are any, and warnings.

    From a file also how many comparisons it has, judges left out, and the fit with tastes where judges have any,
    of that standard deviation.
    """

    panel: Panel
    questions: Questions
    seen: Repeats | None
    collected: int = 0
    left_out: Sequence[str] = ()
    with_tastes: Fit | None = None
    tastes: float = 0.0
    warnings: Sequence[str] = ()
    own_maker: str = RECUSE
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
    return Basis(assumed(*USUAL.but(assumption), model=model or DEFAULT), INDEPENDENT, None)


def fitted_to(
    files: list[Path],
    read: Mapping[str, Any],
    chosen: tuple[str | None, str],
    level: float,
    assumption: Assumption,
    own: tuple[str, Path | None] = (RECUSE, None),
    cluster: str = QUESTION,
) -> Basis:
    """The panel fitted to files by a model and a solver; nothing may be said of an assumed one.

    `own` says whether votes on models of a judge's own maker count, and where facts on the makers are.
    """
    overrides = [name for name, value in assumption._asdict().items() if value is not None]
    if overrides:
        raise typer.BadParameter(f"{', '.join(overrides)}: the file decides that.")
    (model, solver), (own_maker, facts), every = chosen, own, read_judgments(files, **read)
    every = sampled_by(every, cluster)
    recusal = recusal_of(every, is_recusing(own_maker), makers_on(every, facts))
    judgments = recusal.counted
    try:
        panel, fitted = fitted_panel(judgments, partial(fit_member, judgments.comparisons, solver=solver), model)
    except (NoIntervalError, NoMaximumError) as error:
        raise NoIntervalError(
            f"no plan can be made from this file: {error}. {_instead(judgments, solver)}"
        ) from None
    questions = replace(questions_like(panel, fitted, judgments), unit=cluster)
    seen, rows = None, judgments.comparisons
    if "question_id" in judgments.frame and rows.stages is None and cluster == QUESTION:
        seen = repeats_of(fitted, rows, judgments.question, level, judgments.item)
    remarks = [*judgments.left_out_by_request, *judgments.warnings, *recusal.sentences()]
    tastes = tastes_shown(judgments, fitted)
    with_tastes = fitted_tastes(judgments, fitted, solver) if tastes else None
    tastes = tastes if with_tastes is None else with_tastes.spread[TASTE]
    found = round(rows.n_comparisons), fitted.judges_at_zero, with_tastes, tastes
    return Basis(panel, questions, seen, *found, remarks, own_maker, every.requests, cluster)


def require_no_file(selection: Mapping[str, Iterable[str] | None], facts: Path | None) -> None:
    """Refuse options on judgments in a plan without any."""
    options = [f"--{name.replace('_', '-')}" for name, names in selection.items() if names]
    options += [] if facts is None else ["--models"]
    if options:
        raise typer.BadParameter(
            f"{options[0]} is about judgments: name a file of them (--n-models and --n-judges assume a panel)."
        )


def _instead(judgments: Judgments, solver: str) -> str:
    """What to do where a file allows no plan by a solver."""
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
    panels = panels_by_size(planned.basis.panel, sizes, DRAWS, seed)
    precisions = {
        n_judges: [precision_of(panel, planned.questions) for panel in some] for n_judges, some in panels.items()
    }
    return by_judges(precisions, goals, planned.make, planned.at, Progress("planning for smaller panels"))


def print_result(planned: Planned, smaller: pd.DataFrame | None, level: float, json: bool) -> None:
    """Print a plan."""
    panel, seen = planned.basis.panel, planned.basis.seen
    first, second = panel.pairs[planned.at["pair"]]
    notes = [] if panel.doubt is None else [difference_told(panel, planned.at["pair"], level)]
    of_pair = "pair_power" in set(planned.table["goal"])
    if notes and planned.by_default and of_pair:
        notes += two_best_told(panel, level)
    basis, table = planned.basis, planned.table
    notes = [*basis.warnings, *left_out_told(basis.left_out), *notes, *more_told(basis.collected, basis.cluster)]
    notes += tastes_told(basis.with_tastes, table, basis.tastes)
    if panel.doubt is not None:
        notes += uninformative_told(panel, planned.questions, table, planned.make, planned.at)
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
            "tastes": basis.tastes or None,
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
    say(f"{assumed}: {who}.{pair}")
    for note in notes:
        say(note)
    unused = {"more": not basis.collected, "judges": basis.with_tastes is None}
    _show(table.drop(columns=[name for name, is_unused in unused.items() if is_unused]))
    if smaller is not None:
        say("By number of judges: expected of random panels of so many, and quartiles of such panels")
        _show(smaller)


def goals_of(pairs: Iterable[str] | None) -> Mapping[str, float]:
    """What is wanted, by goal; a moderate value of each where nothing is."""
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
    say(table.to_string(index=False, float_format="{:g}".format))
