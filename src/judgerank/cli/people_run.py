"""What `judgerank people` does, apart from its options, so that its help loads nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgerank.cli.documents import number, records
from judgerank.cli.terminal import say, say_json
from judgerank.data.errors import ConfigError
from judgerank.people.anchor import next_pairs
from judgerank.people.human_scale import HumanBoard, HumanScale
from judgerank.people.report import KNOWN, PeopleReport, on_human_board, people_report, units_named
from judgerank.ranking.page_options import makers_on
from judgerank.ranking.recusal import RECUSE
from judgerank.reading.files import paths_of, plain
from judgerank.reading.read import read_judgments
from judgerank.writing.spreadsheets import csv_of
from judgerank.writing.targets import Outputs


class NextItems(NamedTuple):
    """Where the items to show to people next go, if anywhere, and how."""

    path: Path | None
    force: bool
    raw: bool


def anchored(
    files: list[Path],
    read: Mapping[str, Any],
    human: list[str],
    level: float,
    items: NextItems,
    json: bool,
    own_maker: str = RECUSE,
    models: Path | None = None,
    cluster: tuple[str, ...] = (),
) -> None:
    """Report on files; `read` is what `read_judgments` is told."""
    paths = paths_of(files)
    outputs = Outputs(plain(paths), items.force)
    if items.path is not None:
        outputs.file(items.path)  # before anything is computed
    judgments = read_judgments(paths, **read, keep=[name for name in units_named(cluster) if name not in KNOWN])
    report = people_report(judgments, human, level, own_maker, dict(makers_on(judgments, models)), cluster)
    if items.path is not None:
        outputs.write({items.path: csv_of(report.next, raw=items.raw).encode()})
    if json:
        record = {"own_maker": own_maker, "filter": judgments.requests}
        say_json("people", {**_document(report, items.path), **record})
        return
    say(str(report))
    if items.path is not None:
        say(f"\nthe items: {items.path}")


def place_on_human_board(
    files: list[Path],
    read: Mapping[str, Any],
    board: Path,
    level: float,
    human: list[str],
    items: NextItems,
    json: bool,
    own_maker: str = RECUSE,
    models: Path | None = None,
) -> None:
    """Report on models that are not on a human leaderboard."""
    if human or items.path is not None:
        raise ConfigError("--board takes the place of human votes: leave out --human and --next")
    human_board = HumanBoard.read(board)
    judgments = read_judgments(paths_of(files), **read)
    makers = dict(makers_on(judgments, models))
    scale = on_human_board(judgments, human_board, level, own_maker, makers)
    if json:
        record = {"notes": scale.remarks, "own_maker": own_maker, "filter": judgments.requests}
        say_json("people", {**_placement_report(scale), **record})
        return
    say(str(scale))


def _placement_report(scale: HumanScale) -> dict[str, object]:
    return {
        "level": scale.level,
        "informative": scale.informative,
        "p_value": number(scale.p_value),
        "error": number(scale.error),
        "error_of_mean": number(scale.error_of_mean),
        "newcomers": records(scale.newcomers),
        "known": records(scale.known),
        "unjudged": scale.unjudged,
    }


def _document(report: PeopleReport, path: Path | None) -> dict[str, object]:
    return {
        "score": "toward_panel" if report.people is report.toward_panel else "helped",
        "level": report.level,
        "people": report.persons,
        "cluster": report.cluster,
        "disagree": bool(report.disagree),
        "chi_squared": number(report.statistic),
        "degrees_of_freedom": report.degrees_of_freedom,
        "p_value": number(report.p_value),
        "log_loss": {name: number(value) for name, value in report.losses.items()},
        "notes": report.remarks,
        "scores": records(report.table),
        "agreement": records(report.agreement),
        "newcomers": [] if report.newcomers is None else records(report.newcomers.newcomers),
        "next_pairs": records(next_pairs(report.next)),
        "files": {"next": path},
    }
