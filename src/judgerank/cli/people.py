"""`judgerank people`: a few human votes as the anchor of a panel's many.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from judgerank.cli.options import (
    OUTPUT,
    RECUSE,
    UNCERTAINTY,
    FactsOption,
    FilesArgument,
    ForceOption,
    JsonOption,
    LevelOption,
    OwnMakerOption,
    RawOption,
    Reading,
    reads_files,
    shared_help,
)
from judgerank.cli.terminal import Screen, number, say, say_json
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted, p_of

if TYPE_CHECKING:
    import pandas as pd

    from judgerank.people.human_scale import HumanScale
    from judgerank.people.report import PeopleReport


@reads_files
def people(
    files: FilesArgument,
    human: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JUDGE",
            help="A judge who is a person; can be given several times. People can be marked in a column, too "
            "(--column human=NAME).",
        ),
    ] = None,
    leaderboard: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="A published leaderboard of human votes (columns model and elo). Models that are not on it are "
            "placed on its scale, from the judges' verdicts alone.",
        ),
    ] = None,
    *,
    read: Reading,
    own_maker: OwnMakerOption = RECUSE,
    models: FactsOption = None,
    level: LevelOption = 0.95,
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            metavar="[question|person|COLUMN]",
            help=shared_help(
                "--cluster",
                "Given twice, the two are crossed. By default question and person where ten people or more voted, "
                "some of them several times; else question.",
            ),
        ),
    ] = None,
    next_: Annotated[
        Path | None,
        typer.Option(
            "--next", rich_help_panel=OUTPUT, help=shared_help("--next", "judgerank vote asks for them.")
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", rich_help_panel=OUTPUT, help=shared_help("--verbose"))
    ] = False,
    json: JsonOption = False,
    force: ForceOption = False,
    raw: RawOption = False,
) -> None:
    """Calibrate scores to human votes or a human leaderboard, and test whether the judges agree with people."""
    items = NextItems(next_, force, raw)
    if leaderboard is not None:
        if cluster:
            raise typer.BadParameter("--cluster is of human votes, and --leaderboard has none: leave one out.")
        place_on_human_board(files, read, leaderboard, level, human or [], items, json, own_maker.value, models)
        return
    anchored(files, read, human or [], level, items, json, verbose, own_maker.value, models, tuple(cluster or ()))


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
    verbose: bool = False,
    own_maker: str = RECUSE.value,
    models: Path | None = None,
    cluster: tuple[str, ...] = (),
) -> None:
    """Report on files; `read` is what `read_judgments` is told."""
    from judgerank.people.report import KNOWN, people_report, units_named
    from judgerank.ranking.page_options import makers_on
    from judgerank.reading.files import paths_of, plain
    from judgerank.reading.read import read_judgments
    from judgerank.writing.spreadsheets import csv_of
    from judgerank.writing.targets import Outputs

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
    screen = screen_of(report, items.path)
    if verbose:
        screen.print_lead()
        say(f"\n{report}")
    else:
        screen.print()
    if items.path is not None:
        say(f"the items: {items.path}")


SHOWN = ["rank", "model", "score", "low", "high", "votes"]  # columns of the scores on one screen


def screen_of(report: PeopleReport, path: Path | None) -> Screen:
    """Who leads by people's votes, how sure that is, whether the panel agrees, and what to ask people next.

    Parameters
    ----------
    report : PeopleReport
    path : Path, optional
        Where all items to ask go.
    """
    from judgerank.people.agreement import agreement_text
    from judgerank.people.human_scale import scale_text
    from judgerank.ranking.first_screen import headline
    from judgerank.ranking.ranking import MOST_ROWS

    best = report.people.win_probabilities(report.level).iloc[0]
    interval = f"{report.level:.0%} confidence interval {best['low']:.0%} to {best['high']:.0%}"
    table = report.table[SHOWN].head(MOST_ROWS).to_string(index=False, float_format="{:.3f}".format)
    newcomers = [] if report.newcomers is None else list(islice(scale_text(report.newcomers), 2))  # and its table
    return Screen(
        headline(report.table, _pairs(report), "human votes"),
        f"{report.whose.capitalize()} would prefer {best['first']} to {best['second']} (2nd) "
        f"{best['probability']:.0%} of the time ({interval}).",
        "\n\n".join([table, "\n".join(newcomers)] if newcomers else [table]),
        [
            _basis(report),
            _on_panel(report),
            next(agreement_text(report.agreement, report.level)).strip(),
        ],
        [f"Warning: {warning}" for warning in _warnings(report)],
        report.remarks,
        [_advice(report, path)],
        len(report.table) - MOST_ROWS,
        ", with how often each judge agrees with people",
    )


def _basis(report: PeopleReport) -> str:
    """How much of what the scores rest on, and for whom their intervals hold."""
    items, persons = report.people.items, report.persons
    who = "one person" if persons == 1 else f"{persons:,} people"
    voted = f"{who} voted on {items.asked.sum():,} of them"
    panel = f"{counted(len(items.models), 'model')}, {counted(report.n_judges, 'judge')}"
    panel += f" on {counted(len(items.asked), 'item')}"
    return f"{panel}; {voted}. {report.level:.0%} intervals for {report.whose}."


def _pairs(report: PeopleReport) -> pd.DataFrame:
    """Which models people's votes separate, all pairs tested together (Bonferroni)."""
    n_models = len(report.table)
    level = 1 - (1 - report.level) / (n_models * (n_models - 1) / 2)
    pairs = report.people.win_probabilities(level)
    return pairs.assign(separated=pairs["low"] > 0.5)


def _on_panel(report: PeopleReport) -> str:
    """Whether people and the panel agree."""
    if report.helped is not None and isnan(report.p_value):
        return report.helped.questions.too_few_to_tell("whether people and panel disagree")
    finding = "disagree significantly" if report.disagree else "do not disagree significantly"
    return f"{report.whose.capitalize()} and the panel {finding} (p {p_of(report.p_value)})."


def _warnings(report: PeopleReport) -> list[str]:
    """What bears on whether to believe the scores: labels, then the panel, then how few people voted."""
    from judgerank.people.report import FEW

    warnings = []
    if report.is_reversed:
        warnings.append("People order the models the other way round than the panel. Are labels swapped?")
    elif report.disagree:
        warnings.append(f"The panel's own ranking is not what {report.whose} would say. Use the scores above.")
    if report.persons < FEW:
        warnings.append(
            f"Scores and intervals are of {report.whose} only. To speak of people at large, ask {FEW} or more."
        )
    return warnings


def _advice(report: PeopleReport, path: Path | None) -> str:
    """Which items to show to people next."""
    from judgerank.people.anchor import next_pairs

    if report.next.empty:
        return (
            "People voted on every item. For narrower intervals, let judges answer new questions, then ask people."
        )
    pair = next_pairs(report.next).iloc[0]
    share = f"{pair['share']:.0%} of the next votes"
    how = "" if path is not None else f" --next ask.csv writes all {counted(len(report.next), 'item')}."
    return f"Ask people about more items, most often {pair['first']} against {pair['second']} ({share}).{how}"


def place_on_human_board(
    files: list[Path],
    read: Mapping[str, Any],
    board: Path,
    level: float,
    human: list[str],
    items: NextItems,
    json: bool,
    own_maker: str = RECUSE.value,
    models: Path | None = None,
) -> None:
    """Report on models that are not on a human leaderboard."""
    from judgerank.people.human_scale import HumanBoard
    from judgerank.people.report import on_human_board
    from judgerank.ranking.page_options import makers_on
    from judgerank.reading.files import paths_of
    from judgerank.reading.read import read_judgments

    if human or items.path is not None:
        raise ConfigError("--leaderboard replaces human votes: leave out --human and --next")
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
    from judgerank.people.human_scale import scale_text
    from judgerank.writing.spreadsheets import records

    return {
        "headline": next(scale_text(scale)),
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
    from judgerank.people.anchor import next_pairs
    from judgerank.writing.spreadsheets import records

    screen = screen_of(report, path)
    return {
        "headline": screen.headline,
        "evidence": screen.evidence,
        "score": "toward_panel" if report.people is report.toward_panel else "helped",
        "level": report.level,
        "people": report.persons,
        "cluster": report.cluster,
        "disagree": bool(report.disagree),
        "chi_squared": number(report.statistic),
        "degrees_of_freedom": report.degrees_of_freedom,
        "p_value": number(report.p_value),
        "log_loss": {name: number(value) for name, value in report.losses.items()},
        "warnings": _warnings(report),
        "next": " ".join(screen.next),
        "notes": report.remarks,
        "scores": records(report.table),
        "agreement": records(report.agreement),
        "newcomers": [] if report.newcomers is None else records(report.newcomers.newcomers),
        "next_pairs": records(next_pairs(report.next)),
        "files": {"next": path},
    }
