"""A ranking as a folder: its page, its tables, and where they came from."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from judgerank.errors import ConfigError
from judgerank.leaderboard.kept import write_tables
from judgerank.leaderboard.page import to_html
from judgerank.publishing import staged, versions
from judgerank.targets import Outputs

if TYPE_CHECKING:
    from judgerank.leaderboard.ranking import Ranking

VERSIONED = ("judgerank", "numpy", "scipy", "pandas")
SECTION = "rank"  # by which an earlier ranking in a folder is known


def write(ranking: Ranking, target: Path, force: bool = False, raw: bool = False) -> Path:
    """Write everything into a folder, or nothing; see `Ranking.write`."""
    Outputs(ranking.judgments.files, force).folder(target, SECTION, ranking.judgments.source.get("path"))
    try:
        with staged(target, force=force) as folder:
            write_tables(ranking.tables, folder, raw)
            (folder / "index.html").write_text(to_html(ranking, beside=True), encoding="utf-8")
            (folder / "run.json").write_text(json.dumps(record(ranking), indent=2) + "\n")
    except OSError as error:  # no right to write there, no room, or a file where a folder should be
        raise ConfigError(f"the ranking cannot be written to {target}: {error.strerror or error}") from None
    return target / "index.html"


def record(ranking: Ranking) -> dict[str, object]:
    """What it takes to rank again: the source, the settings and the versions."""
    return {
        "section": SECTION,
        "source": ranking.judgments.source,
        "settings": asdict(ranking.settings),
        "versions": versions(VERSIONED),
    }
