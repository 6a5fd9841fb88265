"""`judgerank trust`: what would change a ranking, and how many independent judges its panel amounts to.

Its options; `trust_run` does what they say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    words_of,
)


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
            help="Folder for the tables, with every judgment of every set.",
        ),
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Stress-test a ranking: the smallest sets of judgments, questions or judges whose removal changes it.

    Every set is confirmed by ranking without it. The command also says how many independent judges the panel
    amounts to.
    """
    from judgerank.cli import trust_run

    files, words = words_of(winner_values, files)
    selection = selected(without_judge, only_judge, without_model, category)
    read = how_read(column, words, format, baseline, encoding, names, copies, selection)
    chosen = {"model": model, "solver": solver.value, "level": level, "own_maker": own_maker.value}
    trust_run.tested(files, read, chosen, models, most, output, force, json)
