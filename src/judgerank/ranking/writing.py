"""A ranking as a folder: its page, its tables, and where they came from."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from judgerank.data.errors import ConfigError
from judgerank.ranking.page import to_html
from judgerank.ranking.page_options import Additions
from judgerank.ranking.record import Record
from judgerank.ranking.table_files import write_tables
from judgerank.reading.files import behind
from judgerank.writing.atomic import staged, versions
from judgerank.writing.targets import Outputs

VERSIONED = ("judgerank", "numpy", "scipy", "pandas")
SECTION = "rank"  # by which an earlier ranking in a folder is known


def write(
    ranking: Record, target: Path, force: bool = False, raw: bool = False, additions: Additions | None = None
) -> Path:
    """Write everything into a folder, or nothing; see `Record.write`."""
    Outputs(behind(ranking.judgments), force).folder(target, SECTION, ranking.judgments.source.get("path"))
    try:
        with staged(target, force=force) as folder:
            write_tables(ranking.tables, folder, raw)
            (folder / "index.html").write_text(to_html(ranking, True, additions), encoding="utf-8")
            (folder / "run.json").write_text(json.dumps(record(ranking), indent=2) + "\n")
    except OSError as error:  # no right to write there, no room, or a file where a folder should be
        raise ConfigError(f"the ranking cannot be written to {target}: {error.strerror or error}") from None
    return target / "index.html"


def record(ranking: Record) -> dict[str, object]:
    """All that is needed to rank again: the source, the settings and the versions."""
    return {
        "section": SECTION,
        "source": ranking.judgments.source,
        "settings": asdict(ranking.settings),
        "versions": versions(VERSIONED),
    }
