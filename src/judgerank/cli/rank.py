"""`judgerank rank`: from a file of judgments to a page and tables. Its options; `rank_run` does what they say."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    CLUSTERS,
    EXPORT_FORMS,
    EXPORT_TABLES,
    MODEL,
    OUTPUT,
    PAGE,
    RECUSE,
    SHRUNK,
    UNCERTAINTY,
    WHOSE,
    BaselineOption,
    CategoryOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FactsOption,
    FilesArgument,
    ForceOption,
    FormatOption,
    JsonOption,
    LevelOption,
    ModelOption,
    NamesOption,
    OnlyJudgeOption,
    OwnMakerOption,
    RawOption,
    SolverOption,
    WinnerValuesOption,
    WithoutJudgeOption,
    WithoutModelOption,
    how_read,
    notes_of,
    selected,
    words_of,
)
from judgerank.model.kinds import known

# Options of `judgerank rank` on what its page shows besides the ranking.
SinceOption = Annotated[
    Path | None,
    typer.Option(
        "--since",
        rich_help_panel=PAGE,
        metavar="BOARD",
        help="Show what changed since a board that --save wrote earlier.",
    ),
]
AnswersOption = Annotated[
    str | None,
    typer.Option(
        "--answers",
        rich_help_panel=PAGE,
        metavar="FILE",
        help="Questions and answers that were judged, to read on the page: the file that judgerank collect takes.",
    ),
]
CardOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--card",
        rich_help_panel=PAGE,
        metavar="FILE",
        help="Picture of the ranking for a slide or a message: NAME.svg or NAME.png.",
    ),
]
EachJudgeOption = Annotated[
    bool | None,
    typer.Option(
        "--each-judge/--no-each-judge",
        rich_help_panel=PAGE,
        help="Add the ranking without each of the judges to the page. By default only if it takes a few seconds.",
    ),
]


def one_card(paths: list[Path] | None) -> Path | None:
    """The card to write; more than one is refused, of which all but the last would be dropped in silence."""
    if paths and len(paths) > 1:
        message = f"given {len(paths)} times, and one card is written. Rank again for another one."
        raise typer.BadParameter(message, param_hint="'--card'")
    return paths[0] if paths else None


Whose = StrEnum("Whose", {name: name for name in WHOSE})  # type: ignore[misc]  # known when it runs
LIKE_THESE = Whose(WHOSE[0])


def rank(
    files: FilesArgument,
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
    block: Annotated[
        list[str] | None,
        typer.Option(
            "--block",
            rich_help_panel=MODEL,
            metavar="NAME[:COLUMNS]",
            help=f"Adjust the ranking for an effect besides quality: {', '.join(known())}, or a file NAME.py. "
            "style:length needs columns length_a and length_b. blocks.csv and adjusted.csv show what changes. It "
            "takes --solver newton or penalised. Can be given several times.",
        ),
    ] = None,
    solver: SolverOption = SHRUNK,
    own_maker: OwnMakerOption = RECUSE,
    models: FactsOption = None,
    level: LevelOption = 0.95,
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            metavar=f"[{'|'.join(CLUSTERS)}|COLUMN]",
            help="How to treat judgments of the same question. question: cluster the standard errors by question; "
            "without a column of questions, take each judgment by itself. effects: model the quality of every "
            "single answer, which all its judges share. none: treat all judgments as independent. COLUMN: cluster "
            "by another unit that was sampled, such as template. Given twice, the two are crossed: question and "
            "rater. By default question.",
        ),
    ] = None,
    whose: Annotated[
        Whose,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            help="Whose opinion intervals and significance are of. judges_like_these: where judges have tastes of "
            "their own, allow for which judges happen to be here. this_panel: these judges alone.",
        ),
    ] = LIKE_THESE,
    answers: AnswersOption = None,
    since: SinceOption = None,
    card: CardOption = None,
    next_: Annotated[
        int,
        typer.Option(
            "--next", rich_help_panel=PAGE, min=1, max=1000, help="Lines of comparisons to collect next, at most."
        ),
    ] = 10,
    next_size: Annotated[
        int, typer.Option(rich_help_panel=PAGE, min=1, max=10**6, help="Comparisons in each of those lines.")
    ] = 10,
    few: Annotated[
        int,
        typer.Option(
            rich_help_panel=PAGE, min=0, max=10**9, help="Point out models and judges with fewer comparisons."
        ),
    ] = 30,
    each_judge: EachJudgeOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            rich_help_panel=OUTPUT,
            help="Folder to write to; by default rankings/ and the first file's name.",
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", rich_help_panel=OUTPUT, help="Print the notes of the page, too.")
    ] = False,
    json: JsonOption = False,
    save: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=OUTPUT,
            help="File to keep the fit in, for judgerank diff and judgerank place, such as board.npz.",
        ),
    ] = None,
    note: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=OUTPUT,
            metavar="NAME=TEXT",
            help="What to keep with --save, such as prompt=v2. Can be given several times.",
        ),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            "--export",
            rich_help_panel=OUTPUT,
            metavar="[TABLE=]FILE",
            help="File to write a table to as well, in the form that its name ends in: "
            f"{', '.join(EXPORT_FORMS)}. TABLE is one of {', '.join(EXPORT_TABLES)} (lmarena: the leaderboard in "
            "LMArena's columns; eee: files of Every Eval Ever, as FILE.zip); by default "
            f"{EXPORT_TABLES[0]}. Can be given several times.",
        ),
    ] = None,
    force: ForceOption = False,
    raw: RawOption = False,
) -> None:
    """Rank models: scores and ranks with intervals, the judges, pairs separated, what to collect next.

    The page is index.html in the output folder, beside its tables as CSV.

    Never overwrites an input. Without --force it overwrites nothing else but an earlier ranking of the same files,
    a saved fit, and an earlier export that was not edited since.
    """
    from judgerank.cli import rank_run

    settings: dict[str, Any] = {
        "model": model,
        "solver": solver.value,
        "level": level,
        "cluster": tuple(cluster or CLUSTERS[:1]),
        "few": few,
    }
    settings |= {"next": next_, "next_size": next_size, "blocks": tuple(block or ())}
    settings |= {"own_maker": own_maker.value, "whose": whose.value}
    files, words = words_of(winner_values, files)
    selection = selected(without_judge, only_judge, without_model, category)
    read = how_read(column, words, format, baseline, encoding, names, copies, selection)
    output_paths = rank_run.OutputPaths(
        output, tuple(export or ()), save, notes_of(note, save), one_card(card), force, raw
    )
    page_options = rank_run.PageOptions(models, since, answers, each_judge)
    written = rank_run.ranked_into(files, read, settings, output_paths, page_options)
    if json:
        written.print_json()
    else:
        written.print(verbose)
