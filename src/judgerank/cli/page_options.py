"""Options of `judgerank rank` on what its page shows besides the ranking."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgerank.boards.changelog import changelog_of
from judgerank.collecting.answer_sources import read_questions
from judgerank.fits import loading
from judgerank.fits.result import Fit
from judgerank.ranking.additions import Additions, Texts
from judgerank.ranking.model_facts import FACTS, read_facts
from judgerank.ranking.ranking import Ranking

FactsOption = Annotated[
    Path | None,
    typer.Option(
        "--models",
        metavar="FILE",
        help="Facts on the models to show and to filter by: a table with a column model and any of "
        f"{', '.join(FACTS)}.",
    ),
]
SinceOption = Annotated[
    Path | None,
    typer.Option("--since", metavar="BOARD", help="Show what changed since a board that --save wrote earlier."),
]
AnswersOption = Annotated[
    str | None,
    typer.Option(
        "--answers",
        metavar="FILE",
        help="Questions and answers that were judged, to read on the page: the file that judgerank collect takes.",
    ),
]
CardOption = Annotated[
    Path | None,
    typer.Option(
        "--card", metavar="FILE", help="Picture of the ranking for a slide or a message: NAME.svg or NAME.png."
    ),
]
EachJudgeOption = Annotated[
    bool | None,
    typer.Option(
        "--each-judge/--no-each-judge",
        help="Add the ranking without each of the judges to the page. By default only if it takes a few seconds.",
    ),
]


def additions_of(
    ranking: Ranking,
    models: Path | None,
    old: Fit | None,
    since: Path | None,
    answers: str | None,
    each: bool | None,
) -> Additions:
    """What the page shows besides the ranking.

    Raises
    ------
    JudgerankError
        If a file cannot be read, or the board has too few models in common with the ranking.
    """
    facts = None if models is None else read_facts(models, ranking.tables["leaderboard"]["model"])
    log = None
    if old is not None and since is not None:
        log = changelog_of(old, ranking.fitted, since.name, ranking.settings.level)
    texts = None
    if answers is not None:
        read = read_questions(answers, {})
        texts = Texts(read.text, read.answers)
    return Additions(facts, log, texts, each)


def board_of(since: Path | None) -> Fit | None:
    """The board of --since; refused before anything is computed if it is none."""
    return None if since is None else loading.load(since)
