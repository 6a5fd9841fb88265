"""`judgerank rank`: from a file of judgments to a page and tables.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgerank.cli.options import (
    CLUSTERS,
    EXPORT_FORMS,
    EXPORT_TABLES,
    LIKE_THESE,
    MODEL,
    OUTPUT,
    PAGE,
    RECUSE,
    SHRUNK,
    UNCERTAINTY,
    WHOSE,
    FactsOption,
    FilesArgument,
    ForceOption,
    JsonOption,
    LevelOption,
    ModelOption,
    OwnMakerOption,
    RawOption,
    Reading,
    SolverOption,
    Whose,
    notes_of,
    reads_files,
    shared_help,
)
from judgerank.cli.terminal import Progress, Screen, say, say_json, sized
from judgerank.data.errors import ConfigError
from judgerank.model.kinds import known

if TYPE_CHECKING:
    import pandas as pd

    from judgerank.fits.result import Fit
    from judgerank.ranking.choices import Settings
    from judgerank.ranking.exports import Export
    from judgerank.ranking.page_options import Additions, Changelog
    from judgerank.ranking.ranking import Ranking
    from judgerank.ranking.verdict import Verdict
    from judgerank.writing.targets import Outputs


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
        help=shared_help("--answers", "It has the questions, too: the file that judgerank collect takes."),
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


@reads_files
def rank(
    files: FilesArgument,
    read: Reading,
    model: ModelOption = None,
    block: Annotated[
        list[str] | None,
        typer.Option(
            "--block",
            rich_help_panel=MODEL,
            metavar="NAME[:COLUMNS]",
            help=f"Adjust the ranking for an effect besides quality: {', '.join(known())}, or a file NAME.py. "
            "style:length needs columns length_a and length_b. blocks.csv and adjusted.csv show what changes. It "
            "requires --solver newton or penalised. Can be given several times.",
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
            help=shared_help(
                "--cluster",
                "question: without a column of questions, each judgment is taken by itself. effects: the quality "
                "of every single answer is modelled, which all its judges share. none: all judgments are taken as "
                "independent. COLUMN: another unit, such as template. Given twice, the two are crossed: question "
                "and rater. By default question.",
            ),
        ),
    ] = None,
    whose: Annotated[
        Whose,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            help=shared_help(
                "--whose",
                "judges_like_these: where judges have tastes of their own, allow for which judges happen to be "
                "here. this_panel: these judges alone.",
            ),
        ),
    ] = LIKE_THESE,
    answers: AnswersOption = None,
    since: SinceOption = None,
    card: CardOption = None,
    next_lines: Annotated[
        int,
        typer.Option(rich_help_panel=PAGE, min=1, max=1000, help="Lines of comparisons to collect next, at most."),
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
            help=shared_help("--output", "A folder; by default rankings/ and the first file's name."),
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", rich_help_panel=OUTPUT, help=shared_help("--verbose"))
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
    settings: dict[str, Any] = {
        "model": model,
        "solver": solver.value,
        "level": level,
        "cluster": tuple(cluster or CLUSTERS[:1]),
        "few": few,
    }
    settings |= {"next": next_lines, "next_size": next_size, "blocks": tuple(block or ())}
    settings |= {"own_maker": own_maker.value, "whose": whose.value}
    output_paths = OutputPaths(output, tuple(export or ()), save, notes_of(note, save), one_card(card), force, raw)
    page_options = PageOptions(models, since, answers, each_judge)
    written = ranked_into(files, read, settings, output_paths, page_options)
    if json:
        written.print_json()
    else:
        written.print(verbose)


@dataclass(frozen=True)
class OutputPaths:
    """What a ranking is written to; None or empty where it is not."""

    output: Path | None
    export: tuple[str, ...]
    save: Path | None
    notes: Mapping[str, str]
    card: Path | None
    force: bool
    raw: bool


@dataclass(frozen=True)
class PageOptions:
    """What the page shows besides the ranking, by where it comes from."""

    models: Path | None
    since: Path | None
    answers: str | None
    each_judge: bool | None

    @property
    def files(self) -> list[Path | str]:
        """The files."""
        return [path for path in (self.models, self.since, self.answers) if path is not None]

    def of(self, ranking: Ranking, old: Fit | None, facts: pd.DataFrame | None) -> Additions:
        """Read the rest.

        Raises
        ------
        JudgerankError
            If a file cannot be read, or the board has too few models in common with the ranking.
        """
        from judgerank.ranking.page_options import Additions, Texts

        log = None
        if old is not None and self.since is not None:
            from judgerank.boards.reported import changelog_of

            log = changelog_of(old, ranking.panel_fit, self.since.name, ranking.settings.level)
        texts = None
        if self.answers is not None:
            from judgerank.collecting.answer_sources import read_questions

            read = read_questions(self.answers, {})
            texts = Texts(read.text, read.answers)
        return Additions(facts, log, texts, self.each_judge, Progress("drawing the page"))


@dataclass(frozen=True)
class Written:
    """A ranking that was written, and where."""

    ranking: Ranking
    page: Path
    exports: list[Export]
    places: OutputPaths
    changes: Changelog | None = None

    def print(self, verbose: bool) -> None:
        """The headline and its evidence, the leaderboard, what to beware of, what to do, where everything is."""
        from judgerank.ranking.ranking import MOST_ROWS
        from judgerank.ranking.studies.whose_opinion import SAID
        from judgerank.ranking.verdict import reading_lines, verdict

        summary, rows = verdict(self.ranking), len(self.ranking.tables["leaderboard"])
        caveats, notes = summary.caveats(), self.ranking.remarks[len(self.ranking.judgments.remarks) :]
        evidence = summary.lead if verbose else summary.evidence
        Screen(
            summary.headline,
            evidence,
            self.ranking.board_text(None if verbose else MOST_ROWS),
            [_basis(self.ranking, summary), *reading_lines(self.ranking), *self._on_changes()],
            [text for text in caveats if text.removeprefix(SAID) not in evidence],
            [note for note in notes if not _is_among(note, caveats)],
            [text for text in (summary.next, summary.gate) if text],
            rows - MOST_ROWS,
            ", or the page",
        ).print(verbose)
        self._print_files()

    def _on_changes(self) -> list[str]:
        """What changed since an earlier ranking, in one paragraph."""
        if self.changes is None:
            return []
        return [f"Since {self.changes.since}: {' '.join(self.changes.sentences)}"]

    def _print_files(self) -> None:
        """Where everything is."""
        from judgerank.ranking.card import sentence

        for export in self.exports:
            say(f"{export.table}: {export.path}")
        if self.places.card is not None:
            say(f"the card: {self.places.card}\nto paste: {sentence(self.ranking)}")
        say(f"the page: {self.page}")
        if self.places.save is not None:
            say(f"the fit: {self.places.save}")

    def print_json(self) -> None:
        """The same as one document."""
        from judgerank.ranking.score_boards import lead_of
        from judgerank.ranking.verdict import verdict
        from judgerank.writing.spreadsheets import records

        ranking, sentences = self.ranking, verdict(self.ranking)
        read = ranking.judgments.remarks
        tables, large = sized(ranking.tables)
        files = {"page": self.page, "fit": self.places.save, "card": self.places.card}
        report = {
            "title": ranking.title,
            "model": ranking.fit.model.name,
            "solver": ranking.settings.solver,
            "level": ranking.settings.level,
            "cluster": ranking.sampled_by,
            "own_maker": ranking.settings.own_maker,
            "whose": ranking.whose,
            "headline": sentences.headline,
            "lead": sentences.lead,
            "evidence": sentences.evidence,
            "corrected_lead": lead_of(ranking.fit),
            "categories": sentences.categories,
            "change": sentences.change,
            "next": sentences.next,
            "warnings": sentences.warnings,
            "warning_kinds": [warning.kind for warning in sentences.warnings],
            "favourites": [asdict(favours) for favours in sentences.favourites],
            "caution": sentences.caution,
            "since": [] if self.changes is None else self.changes.sentences,
            "read": read,
            "filter": ranking.judgments.requests,
            "notes": ranking.remarks[len(read) :],
            "leaderboard": records(ranking.tables["leaderboard"]),
            "tables": {name: table for name, table in tables.items() if name != "leaderboard"},
            "only_in_folder": large,
            "files": {**files, "exports": [export.path for export in self.exports]},
        }
        say_json("rank", report)


def _is_among(note: str, caveats: Sequence[str]) -> bool:
    """Whether a note, or what follows its label, stands in one of the caveats."""
    parts = (note, note.partition(": ")[2])
    return any(part in caveat for caveat in caveats for part in parts if part)


def _basis(ranking: Ranking, summary: Verdict) -> str:
    """How much of what the leaderboard rests on, and for which judges or tasks its intervals hold."""
    facts = ", ".join(f"{number} {what}" for number, what in summary.facts)
    only = "this judge only" if ranking.judgments.n_judges == 1 else "these judges only"
    whose = "judges like these" if ranking.whose == WHOSE[0] else only
    whose = "tasks like these" if ranking.fit.errors.sizes is not None else whose
    intervals = f"{ranking.settings.level:.0%} intervals for {whose}."
    has_any = ranking.tables["leaderboard"]["low"].notna().any()
    return f"{facts}. {intervals}" if has_any else f"{facts}."


def ranked_into(
    files: list[Path],
    read: Mapping[str, Any],
    chosen: Mapping[str, Any],
    output_paths: OutputPaths,
    page_options: PageOptions,
) -> Written:
    """Rank files and write what was asked for: all of it, or nothing.

    Parameters
    ----------
    files : list of Path
    read : mapping
        What `read_judgments` is told.
    chosen : mapping
        What `Settings` is told.
    places : Places
    beside : Beside
    """
    from judgerank.fits.result import load
    from judgerank.fits.storing import content
    from judgerank.ranking.card import card as draw_card
    from judgerank.ranking.choices import Settings, kept_for
    from judgerank.ranking.exports import contents
    from judgerank.ranking.page_options import facts_on, makers_in
    from judgerank.ranking.ranking import ranked
    from judgerank.reading.files import paths_of, title_of
    from judgerank.reading.read import read_judgments
    from judgerank.writing.spreadsheets import note_of_marks

    settings, paths = Settings(**chosen), paths_of(files)
    exports = [_export(spec) for spec in output_paths.export]
    target = output_paths.output or Path("rankings", title_of(paths))
    outputs = _outputs(paths, target, settings, exports, output_paths, page_options)
    old = None if page_options.since is None else load(page_options.since)  # before anything is computed
    judgments = read_judgments(files, **read, keep=kept_for(settings.cluster))
    facts = facts_on(judgments, page_options.models)
    settings = replace(settings, makers=makers_in(facts))
    ranking = ranked(judgments, settings, Progress("ranking"))
    extra_contents = contents(ranking, exports, output_paths.raw)
    if output_paths.save is not None:
        from judgerank.boards.reported import about_of

        extra_contents[output_paths.save] = content(
            ranking.panel_fit, about_of(judgments, output_paths.notes, settings)
        )
    if output_paths.card is not None:
        extra_contents[output_paths.card] = draw_card(ranking, output_paths.card)
    additions = page_options.of(ranking, old, facts)
    with outputs.writing(extra_contents):
        page = ranking.write(target, force=output_paths.force, raw=output_paths.raw, additions=additions)
    note = (
        "" if output_paths.raw else note_of_marks([*judgments.comparisons.models, *judgments.comparisons.judges])
    )
    if note:
        say(note, err=True)
    return Written(ranking, page, exports, output_paths, additions.changelog)


def _outputs(
    paths: list[Path],
    target: Path,
    settings: Settings,
    exports: list[Export],
    output_paths: OutputPaths,
    page_options: PageOptions,
) -> Outputs:
    """What will be written, none of which is an input, nor anybody else's."""
    from judgerank.fits.storing import is_saved
    from judgerank.ranking.card import require_card
    from judgerank.ranking.ranking import SECTION
    from judgerank.reading.files import place_of, plain
    from judgerank.writing.targets import Outputs

    programs = [name for name in (spec.partition(":")[0] for spec in settings.blocks) if name.endswith(".py")]
    outputs = Outputs([*plain(paths), *programs, *page_options.files], output_paths.force)
    outputs.folder(target, SECTION, place_of(paths))
    for export in exports:
        outputs.file(export.path)
    if output_paths.save is not None:
        outputs.file(output_paths.save, is_saved)
    if output_paths.card is not None:
        require_card(output_paths.card)
        outputs.file(output_paths.card)
    return outputs


def _export(spec: str) -> Export:
    from judgerank.ranking.exports import export_of

    try:
        return export_of(spec)
    except ConfigError as error:
        raise typer.BadParameter(f"{error}.", param_hint="'--export'") from None
