"""`judgerank plan`: how many comparisons and judges a wanted precision takes.

Its options; `plan_run` does what they say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    GOALS,
    RECUSE,
    SHRUNK,
    UNCERTAINTY,
    BaselineOption,
    CategoryOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FactsOption,
    FormatOption,
    JsonOption,
    LevelOption,
    ModelOption,
    NamesOption,
    OnlyJudgeOption,
    OwnMakerOption,
    SolverOption,
    WinnerValuesOption,
    WithoutJudgeOption,
    WithoutModelOption,
    between,
    finite,
    how_read,
    selected,
    words_of,
)
from judgerank.data.units import QUESTION
from judgerank.planning import USUAL, Assumption

POSITIVE = between(0, float("inf"))
ASSUMED, QUESTIONS = "Assumed panel, without a file", "Questions and repeats"


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
            help=f"What is wanted: a width of intervals, a power or a share. GOAL is one of {', '.join(GOALS)}. "
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
    seed: Annotated[int, typer.Option(min=0, help="Decides which judges are in random panels.")] = 2026,
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
    repeats: Annotated[
        int, typer.Option(rich_help_panel=QUESTIONS, min=1, help="How often a judge is asked the same.")
    ] = 1,
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
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    format: FormatOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    without_judge: WithoutJudgeOption = None,
    only_judge: OnlyJudgeOption = None,
    without_model: WithoutModelOption = None,
    category: CategoryOption = None,
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
            help="What is sampled: question, or a column of the file such as template, whose values then stand "
            "for questions.",
        ),
    ] = QUESTION,
    json: JsonOption = False,
) -> None:
    """Plan how many comparisons, questions and judges a wanted precision takes.

    The numbers come from the expected information of a design; widths are those that a ranking prints.
    """
    from judgerank.cli import plan_run

    files, words = words_of(winner_values, files or [])
    assumption = Assumption(n_models, n_judges, sigma_scores, sigma_discrimination)
    goals, selection = plan_run.goals_of(want), selected(without_judge, only_judge, without_model, category)
    if files:
        read = how_read(column, words, format, baseline, encoding, names, copies, selection)
        own = own_maker.value, models
        if "," in cluster:
            raise typer.BadParameter("a plan is for new values of one column.", param_hint="'--cluster'")
        read["keep"] = () if cluster == QUESTION else (cluster,)
        basis = plan_run.fitted_to(files, read, (model, solver.value), level, assumption, own, cluster)
    else:
        plan_run.require_no_file(selection, models)
        if cluster != QUESTION:
            raise typer.BadParameter("--cluster is about judgments: name a file of them.")
        basis = plan_run.assumed_panel(assumption, model)
    question_settings = {"sd": question_sd, "pairs": question_pairs, "judges": question_judges}
    design = plan_run.Design(question_settings, repeats, correlation)
    planned = plan_run.planned(basis, design, goals, pair, level)
    by_size = plan_run.by_size(planned, goals, by_judges, seed) if by_judges else None
    plan_run.print_result(planned, by_size, level, json)
