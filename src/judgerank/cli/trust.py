"""`judgerank trust`: what would change a ranking, and how many independent judges its panel amounts to.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgerank.cli.options import (
    OUTPUT,
    RECUSE,
    SHRUNK,
    UNCERTAINTY,
    FactsOption,
    FilesArgument,
    ForceOption,
    JsonOption,
    LevelOption,
    ModelOption,
    OwnMakerOption,
    Reading,
    SolverOption,
    reads_files,
    shared_help,
)
from judgerank.cli.terminal import Progress, say, say_json, say_wrapped, sized

if TYPE_CHECKING:
    from judgerank.ranking.trust_report import TrustReport


@reads_files
def trust(
    files: FilesArgument,
    read: Reading,
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
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            rich_help_panel=OUTPUT,
            help=shared_help("--verbose", "That is, also the judgments to remove and each judge's part."),
        ),
    ] = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Stress-test a ranking: the smallest sets of judgments, questions or judges whose removal changes it.

    Every set is confirmed by ranking without it. The command also says how many independent judges the panel
    amounts to.
    """
    from judgerank.ranking.choices import Settings
    from judgerank.ranking.page_options import makers_on
    from judgerank.ranking.trust_report import SECTION, trust_report
    from judgerank.reading.files import paths_of, place_of, plain
    from judgerank.reading.read import read_judgments
    from judgerank.writing.targets import Outputs

    settings = Settings(model=model, solver=solver.value, level=level, own_maker=own_maker.value)
    paths = paths_of(files)
    if output is not None:
        Outputs(plain(paths), force).folder(output, SECTION, place_of(paths))  # before anything is computed
    judgments = read_judgments(files, **read)
    settings = replace(settings, makers=makers_on(judgments, models))
    report = trust_report(judgments, settings, most, Progress("searching for sets"))
    folder = None if output is None else report.write(output, force=force)
    if json:
        say_json("trust", {**_document(report, folder), "own_maker": settings.own_maker})
        return
    if verbose:
        say(str(report))
    else:
        sentences, tables, legend = report.summary()
        say_wrapped(sentences)
        say(f"\n{tables}")
        say_wrapped([*legend, "The judgments to remove and each judge's part: --verbose"])
    if folder is not None:
        say(f"\nthe tables: {folder}")


def _document(report: TrustReport, folder: Path | None) -> dict[str, object]:
    tables, large = sized(report.tables())
    return {
        "title": report.judgments.title,
        "model": report.fitted.model.name,
        "filter": report.judgments.requests,
        "notes": report.remarks,
        "findings": report.summary()[0][1:],
        "same_judges": report.same,
        "tables": tables,
        "only_in_folder": large,
        "files": {"folder": folder},
    }
