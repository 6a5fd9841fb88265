"""A ranking as a page in HTML, and as a folder: page, tables, figures and where they came from."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from judgerank.errors import ConfigError
from judgerank.leaderboard.kept import write_tables
from judgerank.leaderboard.page import page
from judgerank.pages import whole_page
from judgerank.publishing import replaceable, staged, versions

if TYPE_CHECKING:
    from judgerank.leaderboard.ranking import Ranking

VERSIONED = ("judgerank", "numpy", "scipy", "pandas")
SECTION = "rank"  # by which an earlier ranking in a folder is known


def to_html(ranking: Ranking) -> str:
    """The page as one HTML text."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        return whole_page(page(ranking, draw(ranking, folder), beside=False), ranking.title, folder)


def write(ranking: Ranking, target: Path) -> Path:
    """Write everything into a folder, or nothing; see `Ranking.write`."""
    require_own_folder(target, ranking.judgments.source.get("path"))
    try:
        with staged(target) as folder:
            write_tables(ranking.tables, folder)
            text = whole_page(page(ranking, draw(ranking, folder)), ranking.title, folder)
            (folder / "index.html").write_text(text, encoding="utf-8")
            (folder / "run.json").write_text(json.dumps(record(ranking), indent=2) + "\n")
    except OSError as error:  # no right to write there, no room, or a file where a folder should be
        raise ConfigError(f"the ranking cannot be written to {target}: {error.strerror or error}") from None
    return target / "index.html"


def draw(ranking: Ranking, folder: Path) -> bool:
    """Draw the figures into ``figures/`` of a folder; false if the extra that draws them is not installed."""
    try:
        import matplotlib

        from judgerank.plots.own import judges, standings
        from judgerank.plots.style import save_figures
    except ImportError:
        return False
    (folder / "figures").mkdir()
    with matplotlib.rc_context():
        figures = {
            "standings": standings(ranking.tables["leaderboard"], ranking.title),
            "judges": judges(ranking.tables["judges"], f"Judges: {ranking.judgments.title}"),
        }
        save_figures(figures, folder / "figures")
    return True


def record(ranking: Ranking) -> dict[str, object]:
    """What it takes to rank again: the source, the settings and the versions."""
    return {
        "section": SECTION,
        "source": ranking.judgments.source,
        "settings": asdict(ranking.settings),
        "versions": versions(VERSIONED),
    }


def require_own_folder(target: Path, path: str | None) -> None:
    """Refuse a folder with anything but an earlier ranking of the same file.

    Raises
    ------
    ConfigError
    """
    replaceable(target, SECTION)
    if not (target / "run.json").is_file():
        return
    earlier = json.loads((target / "run.json").read_text()).get("source", {}).get("path")
    if earlier != path:
        raise ConfigError(
            f"{target} holds the ranking of {earlier or 'something else'}, which would be replaced "
            "(name another folder)"
        )
