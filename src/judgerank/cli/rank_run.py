"""What `judgerank rank` does, apart from its options, so that its help loads nothing of it.

What takes long to load and only some options need is loaded where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from judgerank.cli.documents import records, sized
from judgerank.cli.terminal import Progress, say, say_json, say_wrapped
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted
from judgerank.fits import loading
from judgerank.fits.result import Fit
from judgerank.fits.storing import content, is_saved
from judgerank.ranking.card import card as draw_card
from judgerank.ranking.card import require_card, sentence
from judgerank.ranking.choices import Settings, kept_for
from judgerank.ranking.exports import Export, contents, export_of
from judgerank.ranking.page_options import Additions, Texts, facts_on, makers_in
from judgerank.ranking.ranking import MOST_ROWS, SECTION, Ranking, ranked
from judgerank.ranking.verdict import reading_lines, verdict
from judgerank.reading.files import paths_of, place_of, plain, title_of
from judgerank.reading.read import read_judgments
from judgerank.writing.spreadsheets import note_of_marks
from judgerank.writing.targets import Outputs


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

    def print(self, verbose: bool) -> None:
        """The verdict first, then the leaderboard, then where everything is."""
        headline, *lines = verdict(self.ranking).lines()
        say_wrapped([headline], bold=True)
        notes = self.ranking.remarks[len(self.ranking.judgments.remarks) :]
        say_wrapped([*lines, *reading_lines(self.ranking)])
        say_wrapped(f"Note: {remark}" for remark in notes if verbose)
        say("\n" + self.ranking.board_text(None if verbose else MOST_ROWS))
        more = len(self.ranking.tables["leaderboard"]) - MOST_ROWS
        hidden = [counted(len(notes), "note")] * bool(notes) + [counted(more, "more model")] * (more > 0)
        if hidden and not verbose:
            say(f"{' and '.join(hidden)} on the page; --verbose prints them.")
        for export in self.exports:
            say(f"{export.table}: {export.path}")
        if self.places.card is not None:
            say(f"the card: {self.places.card}\nto paste: {sentence(self.ranking)}")
        say(f"the page: {self.page}")
        if self.places.save is not None:
            say(f"the fit: {self.places.save}")

    def print_json(self) -> None:
        """The same as one document."""
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
            "categories": sentences.categories,
            "change": sentences.change,
            "next": sentences.next,
            "warnings": sentences.warnings,
            "caution": sentences.caution,
            "read": read,
            "filter": ranking.judgments.requests,
            "notes": ranking.remarks[len(read) :],
            "leaderboard": records(ranking.tables["leaderboard"]),
            "tables": {name: table for name, table in tables.items() if name != "leaderboard"},
            "only_in_folder": large,
            "files": {**files, "exports": [export.path for export in self.exports]},
        }
        say_json("rank", report)


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
    settings, paths = Settings(**chosen), paths_of(files)
    exports = [_export(spec) for spec in output_paths.export]
    target = output_paths.output or Path("rankings", title_of(paths))
    outputs = _outputs(paths, target, settings, exports, output_paths, page_options)
    old = None if page_options.since is None else loading.load(page_options.since)  # before anything is computed
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
    return Written(ranking, page, exports, output_paths)


def _outputs(
    paths: list[Path],
    target: Path,
    settings: Settings,
    exports: list[Export],
    output_paths: OutputPaths,
    page_options: PageOptions,
) -> Outputs:
    """What will be written, none of which is an input, nor anybody else's."""
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
    try:
        return export_of(spec)
    except ConfigError as error:
        raise typer.BadParameter(f"{error}.", param_hint="'--export'") from None
