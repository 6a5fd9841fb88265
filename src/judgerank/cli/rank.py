"""`judgerank rank`: from a file of judgments to a folder with a page and tables."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from judgerank.boards.reported import about_of
from judgerank.cli.model_options import SHRUNK, ModelOption, SolverOption
from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    BaselineOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FilesArgument,
    ForceOption,
    FormatOption,
    LevelOption,
    NamesOption,
    RawOption,
    WinnerValuesOption,
    columns_of,
    notes_of,
    words_of,
)
from judgerank.cli.page_options import (
    AnswersOption,
    CardOption,
    EachJudgeOption,
    FactsOption,
    SinceOption,
    additions_of,
    board_of,
)
from judgerank.cli.terminal import say, say_wrapped
from judgerank.data.errors import ConfigError
from judgerank.fits.storing import content, is_saved
from judgerank.model.naming import known
from judgerank.ranking.card import card as draw_card
from judgerank.ranking.card import require_card, sentence
from judgerank.ranking.choices import CLUSTERS, Settings
from judgerank.ranking.exports import FORMS, TABLES, Export, contents, export_of
from judgerank.ranking.ranking import ranked
from judgerank.ranking.verdict import verdict
from judgerank.ranking.writing import SECTION
from judgerank.reading.files import paths_of, place_of, plain, title_of
from judgerank.reading.read import read_judgments
from judgerank.writing.targets import Outputs

Cluster = StrEnum("Cluster", {name: name for name in CLUSTERS})  # type: ignore[misc]  # known when it runs
BY_QUESTION = Cluster("question")


def rank(
    files: FilesArgument,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    model: ModelOption = None,
    solver: SolverOption = SHRUNK,
    level: LevelOption = 0.95,
    cluster: Annotated[
        Cluster,
        typer.Option(
            help="How to treat judgments of the same question. question: cluster the standard errors by question. "
            "effects: model the quality of every single answer, which all its judges share. none: treat all "
            "judgments as independent."
        ),
    ] = BY_QUESTION,
    few: Annotated[
        int, typer.Option(min=0, max=10**9, help="Point out models and judges with fewer comparisons.")
    ] = 30,
    next_: Annotated[
        int, typer.Option("--next", min=1, max=1000, help="Lines of comparisons to collect next, at most.")
    ] = 10,
    next_size: Annotated[int, typer.Option(min=1, max=10**6, help="Comparisons in each of those lines.")] = 10,
    block: Annotated[
        list[str] | None,
        typer.Option(
            "--block",
            metavar="NAME[:COLUMNS]",
            help=f"Adjust the ranking for an effect besides quality: {', '.join(known())}, or a file NAME.py. "
            "style:length needs columns length_a and length_b. blocks.csv and adjusted.csv show what changes. It "
            "takes --solver newton or penalised. Can be given several times.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder to write to; by default rankings/ and the first file's name."),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            "--export",
            metavar="[TABLE=]FILE",
            help=f"File to write a table to as well, in the form that its name ends in: {', '.join(FORMS)}. TABLE "
            f"is one of {', '.join(TABLES)} (lmarena: the leaderboard in LMArena's columns; eee: files of Every "
            f"Eval Ever, as FILE.zip); by default {TABLES[0]}. Can be given several times.",
        ),
    ] = None,
    raw: RawOption = False,
    save: Annotated[
        Path | None,
        typer.Option(help="File to keep the fit in, for judgerank diff and judgerank place, such as board.npz."),
    ] = None,
    note: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TEXT", help="What to keep with --save, such as prompt=v2. Can be given several times."
        ),
    ] = None,
    models: FactsOption = None,
    since: SinceOption = None,
    answers: AnswersOption = None,
    card: CardOption = None,
    each_judge: EachJudgeOption = None,
    force: ForceOption = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print the notes of the page, too.")] = False,
) -> None:
    """Rank models: scores and ranks with intervals, the judges, pairs separated, what to collect next.

    The page is index.html in the output folder, beside its tables as CSV.

    Never overwrites an input. Without --force it overwrites nothing else but an earlier ranking of the same files,
    a saved fit, and an earlier export that was not edited since.
    """
    settings = Settings(model, solver.value, level, cluster.value, few, next_, next_size, tuple(block or ()))
    files, words = words_of(winner_values, files)
    paths = paths_of(files)
    target = output or Path("rankings", title_of(paths))
    exports = [_export(said) for said in export or ()]
    notes = notes_of(note, save)
    programs = [name for name in (said.partition(":")[0] for said in settings.blocks) if name.endswith(".py")]
    beside_page = [path for path in (models, since, answers) if path is not None]
    outputs = Outputs([*plain(paths), *programs, *beside_page], force)
    outputs.folder(target, SECTION, place_of(paths))
    for one in exports:
        outputs.file(one.path)
    if save is not None:
        outputs.file(save, is_saved)
    if card is not None:
        require_card(card)
        outputs.file(card)
    old = board_of(since)
    read = columns_of(column), words, baseline, encoding, names.value, copies.value
    judgments = read_judgments(paths, format and format.value, *read)
    ranking = ranked(judgments, settings)
    beside = contents(ranking, exports, raw)
    if save is not None:
        beside[save] = content(ranking.fitted, about_of(judgments, notes))
    if card is not None:
        beside[card] = draw_card(ranking, card)
    additions = additions_of(ranking, models, old, since, answers, each_judge)
    with outputs.writing(beside):
        page = ranking.write(target, force=force, raw=raw, additions=additions)
    headline, *lines = verdict(ranking).lines()
    say_wrapped([headline], bold=True)
    beside_verdict = ranking.remarks[len(judgments.remarks) :]
    say_wrapped([*lines, *(f"Read: {remark}" for remark in judgments.remarks)])
    say_wrapped(f"Note: {remark}" for remark in beside_verdict if verbose)
    say("\n" + ranking.board_text())
    if beside_verdict and not verbose:
        many = len(beside_verdict)
        say(f"{many} {'notes' if many > 1 else 'note'} on the page; --verbose prints them.")
    for one in exports:
        say(f"{one.table}: {one.path}")
    if card is not None:
        say(f"the card: {card}\nto paste: {sentence(ranking)}")
    say(f"the page: {page}")
    if save is not None:
        say(f"the fit: {save}")


def _export(said: str) -> Export:
    try:
        return export_of(said)
    except ConfigError as error:
        raise typer.BadParameter(f"{error}.", param_hint="'--export'") from None
