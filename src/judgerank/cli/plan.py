"""`judgerank plan`: how many comparisons and judges a wanted precision takes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import pandas as pd
import typer

from judgerank.cli.model_options import NEWTON, ModelOption, SolverOption
from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    BaselineOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FormatOption,
    LevelOption,
    NamesOption,
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.cli.terminal import say
from judgerank.cli.values import between, finite
from judgerank.data.errors import ConfigError
from judgerank.planning.assumed_panels import assumed
from judgerank.planning.plans import (
    DRAWS,
    WANTED,
    asked_as,
    difference_told,
    fitted_panel,
    pair_of,
    panels_by_size,
    plan_table,
    questions_like,
    to_make,
)
from judgerank.planning.plans import by_judges as plan_by_judges
from judgerank.planning.precision import GOALS, precision_of, require_reasonable
from judgerank.planning.questions import INDEPENDENT
from judgerank.ranking.fits import fitted_member
from judgerank.reading.read import read_judgments
from judgerank.trust.repeats import repeats_of

# of an assumed panel; much like the one fitted to Chatbot Arena
MODELS, JUDGES, SIGMA_SCORES, SIGMA_DISCRIMINATION = 20, 10, 0.85, 1.1
POSITIVE = between(0, float("inf"))
Number = TypeVar("Number", int, float)


def plan(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Files of judgments, or patterns, whose fitted panel is planned for; by default one is assumed.",
        ),
    ] = None,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    model: ModelOption = None,
    solver: SolverOption = NEWTON,
    models: Annotated[int | None, typer.Option(min=2, max=1000, help="Models of an assumed panel (20).")] = None,
    judges: Annotated[int | None, typer.Option(min=1, max=1000, help="Judges of an assumed panel (10).")] = None,
    sigma_scores: Annotated[
        float | None,
        typer.Option(
            callback=POSITIVE,
            help="Standard deviation of its scores as a ranking reports them, in log-odds (0.85).",
        ),
    ] = None,
    sigma_discrimination: Annotated[
        float | None,
        typer.Option(min=0, callback=finite, help="And of its log-discriminations (1.1)."),
    ] = None,
    want: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GOAL=NUMBER",
            help=f"What is wanted: a width of intervals, a power or a share. GOAL is one of {', '.join(GOALS)}. "
            "Can be given several times; by default a moderate value of each.",
        ),
    ] = None,
    level: LevelOption = 0.95,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="MODEL MODEL",
            help="Of pair_power; by default the two best models of the file, or the pair of median difference.",
        ),
    ] = None,
    by_judges: Annotated[
        list[int] | None,
        typer.Option(
            min=1, help="Also plan for random panels of so many of the judges. Can be given several times."
        ),
    ] = None,
    question_sd: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=20,
            callback=finite,
            help="By how much answers to a question are better or worse than their models usually are, a standard "
            "deviation in the scores' units; by default as in the file, else 0.",
        ),
    ] = None,
    question_pairs: Annotated[
        int | None,
        typer.Option(min=1, max=10**6, help="Pairs compared on each question; by default as in the file."),
    ] = None,
    question_judges: Annotated[
        int | None, typer.Option(min=1, max=10**6, help="Judges asked about each pair; by default as in the file.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often a judge is asked the same.")] = 1,
    correlation: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            callback=finite,
            help="Of a judge's answers to the same; by default as in the file where something was repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides which judges are in random panels.")] = 2026,
) -> None:
    """Plan: how many comparisons, questions and judges a wanted precision takes.

    The numbers are formulas of what a design is expected to tell; widths are those that a ranking states.
    """
    goals = _goals(want) or WANTED
    files, words = words_of(winner_values, files or [])
    if not files:
        panel = assumed(
            _or(models, MODELS),
            _or(judges, JUDGES),
            _or(sigma_scores, SIGMA_SCORES),
            _or(sigma_discrimination, SIGMA_DISCRIMINATION),
        )
        found, seen = INDEPENDENT, None
    else:
        _refuse(models=models, judges=judges, sigma_scores=sigma_scores, sigma_discrimination=sigma_discrimination)
        read = columns_of(column), words, baseline, encoding, names.value, copies.value
        judgments = read_judgments(files, format and format.value, *read)
        refit = partial(fitted_member, judgments.comparisons, solver=solver.value)
        panel, fitted = fitted_panel(judgments, refit, model)
        found = questions_like(panel, fitted, judgments)
        named = "question_id" in judgments.frame
        seen = repeats_of(fitted, judgments.comparisons, judgments.question, level) if named else None
    asked = {"sd": question_sd, "pairs": question_pairs, "judges": question_judges}
    questions = asked_as(found, panel, asked, repeats)
    place = pair_of(panel, pair)
    at = {"level": level, "pair": place}
    rho = correlation if correlation is not None else seen.correlation if seen is not None else 0.0
    make = partial(to_make, questions, repeats=repeats, correlation=rho)
    first, second = panel.pairs[place]
    say(f"{len(panel.models)} models, {len(panel.judges)} judges; the pair is {first} and {second}")
    if panel.doubt is not None:
        say(difference_told(panel, place, level))
    if seen is not None:
        say(" ".join(seen.sentences()))
    _show(plan_table(panel, questions, goals, make, at))
    if by_judges:
        panels = panels_by_size(panel, by_judges, DRAWS, seed)
        precisions = {many: [precision_of(one, questions) for one in some] for many, some in panels.items()}
        say("By number of judges: expected of random panels of so many, and quartiles of such panels")
        _show(plan_by_judges(precisions, goals, make, at))


def _or(value: Number | None, usual: Number) -> Number:
    return usual if value is None else value


def _refuse(**options: float | None) -> None:
    """Refuse what is said of an assumed panel, where there is a file."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise typer.BadParameter(f"{', '.join(given)}: the file decides that.")


def _goals(pairs: Iterable[str] | None) -> dict[str, float]:
    """What is wanted, by goal."""
    goals = {}
    for pair in pairs or ():
        goal, _, number = pair.partition("=")
        try:
            goals[goal] = float(number)
            require_reasonable(goal, goals[goal])
        except ConfigError as error:
            raise typer.BadParameter(f"{error}.", param_hint="'--want'") from None
        except ValueError:
            raise typer.BadParameter(f"{pair!r} is not GOAL=NUMBER.", param_hint="'--want'") from None
    return goals


def _show(table: pd.DataFrame) -> None:
    say(table.to_string(index=False, float_format="{:g}".format))
