"""What `judgerank trust` does, apart from its options, so that its help loads nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgerank.cli.documents import sized
from judgerank.cli.terminal import Progress, say, say_json
from judgerank.ranking.choices import Settings
from judgerank.ranking.page_options import makers_on
from judgerank.ranking.trust_report import SECTION, TrustReport, trust_report
from judgerank.reading.files import paths_of, place_of, plain
from judgerank.reading.read import read_judgments
from judgerank.writing.targets import Outputs


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
