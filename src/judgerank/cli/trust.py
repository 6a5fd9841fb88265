"""`judgerank trust`: what would change a ranking, and how many independent judges its panel amounts to.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    OUTPUT,
    RECUSE,
    SHRUNK,
    UNCERTAINTY,
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
    SolverOption,
    WinnerValuesOption,
    WithoutJudgeOption,
    WithoutModelOption,
    how_read,
    selected,
    shared_help,
    words_of,
)
from judgerank.cli.terminal import Progress, say, say_json, sized

if TYPE_CHECKING:
    from judgerank.ranking.trust_report import TrustReport


def trust(
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
    solver: SolverOption = SHRUNK,
    own_maker: OwnMakerOption = RECUSE,
    models: FactsOption = None,
    level: LevelOption = 0.95,
    most: Annotated[
        int,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            min=1,
            help="Pairs of neighbours tried, those nearest to a change by the forecast.",
        ),
    ] = 20,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            rich_help_panel=OUTPUT,
            help=shared_help("--output", "A folder, for tables with every judgment of every set."),
        ),
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Stress-test a ranking: the smallest sets of judgments, questions or judges whose removal changes it.

    Every set is confirmed by ranking without it. The command also says how many independent judges the panel
    amounts to.
    """
    files, words = words_of(winner_values, files)
    selection = selected(without_judge, only_judge, without_model, category)
    read = how_read(column, words, format, baseline, encoding, names, copies, selection)
    chosen = {"model": model, "solver": solver.value, "level": level, "own_maker": own_maker.value}
    tested(files, read, chosen, models, most, output, force, json)


def tested(
    files: list[Path],
    read: Mapping[str, Any],
    chosen: Mapping[str, Any],
    models: Path | None,
    most: int,
    output: Path | None,
    force: bool,
    json: bool,
) -> None:
    """Report on files; `read` is what `read_judgments` is told, `chosen` what `Settings` is."""
    from judgerank.ranking.choices import Settings
    from judgerank.ranking.page_options import makers_on
    from judgerank.ranking.trust_report import SECTION, trust_report
    from judgerank.reading.files import paths_of, place_of, plain
    from judgerank.reading.read import read_judgments
    from judgerank.writing.targets import Outputs

    settings, paths = Settings(**chosen), paths_of(files)
    if output is not None:
        Outputs(plain(paths), force).folder(output, SECTION, place_of(paths))  # before anything is computed
    judgments = read_judgments(files, **read)
    settings = replace(settings, makers=makers_on(judgments, models))
    report = trust_report(judgments, settings, most, Progress("searching for sets"))
    folder = None if output is None else report.write(output, force=force)
    if json:
        say_json("trust", {**_document(report, folder), "own_maker": settings.own_maker})
        return
    say(str(report))
    if folder is not None:
        say(f"\nthe tables: {folder}")


def _document(report: TrustReport, folder: Path | None) -> dict[str, object]:
    tables, large = sized(report.tables())
    return {
        "title": report.judgments.title,
        "model": report.fitted.model.name,
        "filter": report.judgments.requests,
        "notes": report.remarks,
        "same_judges": report.same,
        "tables": tables,
        "only_in_folder": large,
        "files": {"folder": folder},
    }
