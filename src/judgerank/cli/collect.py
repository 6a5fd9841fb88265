"""`judgerank collect`: from questions and answers to judgments.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgerank.cli.options import (
    ANSWER_COLUMNS,
    FILE,
    OUTPUT,
    RECUSE,
    JsonOption,
    OwnMakerOption,
    QuestionsArgument,
    answer_columns_help,
    answer_columns_of,
    between,
    finite,
    shared_help,
)
from judgerank.cli.terminal import number, say, say_json
from judgerank.data.errors import ConfigError
from judgerank.data.listing import listed
from judgerank.data.modules import needed

if TYPE_CHECKING:
    from judgerank.collecting.collection import Study


KEYS = (*ANSWER_COLUMNS, "reference")
POSITIVE = between(0, float("inf"))
RETEST, PAIR = 0.1, 2  # share of requests asked a second time, and answers in a request, by default
DRAWN, REQUESTS = "What is asked", "Requests"


class Again(StrEnum):
    """What is asked once more."""

    unreadable = "unreadable"
    refused = "refused"


class Order(StrEnum):
    """In which order two answers are shown."""

    random = "random"
    both = "both"


def collect(
    questions: QuestionsArgument,
    panel: Annotated[Path | None, typer.Option(help=shared_help("--panel"))] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEYS",
            help="One more judge, by the keys of the file: 'judge: NAME, model: PROVIDER/MODEL, api_key_env: "
            "VARIABLE'. Can be given several times.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Ask nothing; say what it would take.")] = False,
    budget: Annotated[
        float | None,
        typer.Option(callback=POSITIVE, help=shared_help("--budget", "All judgments in the file count.")),
    ] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=DRAWN,
            help="YAML file with text ({question}, {first}, {second}, or with --k {question}, {answers}; and if "
            "wanted {reference}, {criterion}), system, criteria, temperature and max_tokens.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=DRAWN,
            metavar="GOAL",
            help=shared_help(
                "--until",
                "GOAL is 'top 3 separated', 'all separated', 'width 0.3' or '5000 comparisons'. Until then, each "
                "round asks what adds the most information for its cost.",
            ),
        ),
    ] = None,
    comparisons: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=DRAWN,
            min=1,
            help=shared_help("--comparisons", "The first of a fixed random order; with --k, so many rankings."),
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(rich_help_panel=DRAWN, min=1, help=shared_help("--repeats"))] = 1,
    retest: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=DRAWN,
            min=0,
            max=1,
            callback=finite,
            help="Share of the requests to ask a second time, to see how often a judge changes its answer; 0 for "
            f"none. By default {RETEST:g}, or none with --repeats, --until or --k.",
        ),
    ] = None,
    anchors: Annotated[
        int,
        typer.Option(
            rich_help_panel=DRAWN,
            min=0,
            help="Requests of each judge to ask again, if they were answered on an earlier day: to see whether "
            "judges change.",
        ),
    ] = 0,
    k: Annotated[
        int,
        typer.Option(
            "--k",
            rich_help_panel=DRAWN,
            min=2,
            max=26,
            help="Answers in a request: 2 are compared, up to this many are ranked.",
        ),
    ] = PAIR,
    order: Annotated[
        Order,
        typer.Option(
            rich_help_panel=DRAWN,
            help=shared_help("--order", "Of more than two, both are an order and its reverse."),
        ),
    ] = Order.random,
    again: Annotated[
        Again | None,
        typer.Option(rich_help_panel=DRAWN, help="Ask once more where a reply could not be read, or refused."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            rich_help_panel=DRAWN,
            min=0,
            help=shared_help("--seed", "It decides what is asked and which answer comes first."),
        ),
    ] = 2026,
    own_maker: OwnMakerOption = RECUSE,
    pilot: Annotated[
        int,
        typer.Option(rich_help_panel=REQUESTS, min=0, help="Requests to each judge before the rest; 0 for none."),
    ] = 8,
    pilot_only: Annotated[
        bool, typer.Option("--pilot-only", rich_help_panel=REQUESTS, help="Stop after the pilot.")
    ] = False,
    concurrent: Annotated[
        int, typer.Option(rich_help_panel=REQUESTS, min=1, help="Requests at a time, of all judges.")
    ] = 8,
    per_minute: Annotated[
        float,
        typer.Option(
            rich_help_panel=REQUESTS,
            min=0,
            callback=finite,
            help="Requests a minute, of all judges; 0 for no limit.",
        ),
    ] = 120.0,
    patience: Annotated[
        str,
        typer.Option(
            rich_help_panel=REQUESTS,
            metavar="TIME",
            help="How long a judge may give no answer before it is given up: 90s, 30m, 2h.",
        ),
    ] = "30m",
    other_forms: Annotated[
        float,
        typer.Option(
            rich_help_panel=REQUESTS,
            min=0,
            max=1,
            callback=finite,
            help="Share of a judge's replies that may be in another form than the prompt asks for before it is "
            "asked no more; 1 for any.",
        ),
    ] = 0.1,
    attempts: Annotated[
        int,
        typer.Option(rich_help_panel=REQUESTS, min=1, help="Attempts at one judgment, where another may help."),
    ] = 6,
    timeout: Annotated[
        float, typer.Option(rich_help_panel=REQUESTS, callback=POSITIVE, help="Seconds that a reply may take.")
    ] = 120.0,
    first_wait: Annotated[
        float,
        typer.Option(
            rich_help_panel=REQUESTS,
            callback=POSITIVE,
            help="Seconds before a second attempt, twice as long each time.",
        ),
    ] = 1.0,
    poll: Annotated[
        float,
        typer.Option(rich_help_panel=REQUESTS, callback=POSITIVE, help="Seconds between two looks at a batch."),
    ] = 60.0,
    allow_env_url: Annotated[
        bool,
        typer.Option(
            "--allow-env-url",
            rich_help_panel=REQUESTS,
            help=shared_help("--allow-env-url"),
        ),
    ] = False,
    moved: Annotated[
        bool,
        typer.Option(
            "--moved",
            rich_help_panel=REQUESTS,
            help="The judges in the file of judgments are the same at new addresses.",
        ),
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=FILE,
            metavar="KEY=NAME",
            help=answer_columns_help(KEYS),
        ),
    ] = None,
    judgments: Annotated[Path, typer.Option(rich_help_panel=OUTPUT, help=shared_help("--judgments"))] = Path(
        "judgments.jsonl"
    ),
    json: JsonOption = False,
) -> None:
    """Ask LLM judges which of two answers is better, or to rank several.

    API keys are read from environment variables, never written, and sent only to their own server.

    Judgments are kept as they come, so a run that was ended goes on where it was.
    """
    if panel is None and not judge:
        raise typer.BadParameter("no judges given: name a file, or a judge (--judge).", param_hint="'--panel'")
    columns, answers = answer_columns_of(column, KEYS)
    say(f"reading {listed(questions)}")  # before what takes seconds to load
    try:
        import_module("judgerank.collecting.run")
    except ModuleNotFoundError as error:
        message = f"collecting requires {needed('collect')}: {error.name} is not installed"
        raise ConfigError(message) from None
    settings = {
        "questions": questions,
        "output": judgments,
        "columns": columns,
        "answers": answers,
        "comparisons": comparisons,
        "repeats": repeats,
        "retest": retest if retest is not None else RETEST * (repeats == 1 and until is None and k == PAIR),
        "anchors": anchors,
        "k": k,
        "order": order.value,
        "seed": seed,
        "again": again.value if again else None,
        "pilot": pilot,
        "until": until,
        "own_maker": own_maker.value,
        "budget": budget,
        "other_forms": other_forms,
        "max_concurrent": concurrent,
        "requests_per_minute": per_minute or None,
        "attempts": attempts,
        "patience": seconds(patience),
        "first_wait": first_wait,
        "timeout": timeout,
        "poll": poll,
        "allow_env_url": allow_env_url,
        "moved": moved,
    }
    collection = asked(settings, (panel, judge or []), prompt, dry_run, pilot_only)
    if json:
        print_json(collection, dry_run)


def seconds(text: str) -> float:
    """A length of time in seconds, of a number with s, m or h.

    Raises
    ------
    BadParameter
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", text.strip())
    if match is None or not float(match[1]):
        raise typer.BadParameter(f"{text!r} is not a duration such as 90s, 30m or 2h", param_hint="'--patience'")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


def asked(
    settings: Mapping[str, object],
    panel: tuple[Path | None, list[str]],
    prompt: Path | None,
    dry_run: bool,
    pilot_only: bool,
) -> list[Study]:
    """Ask a panel, given by a file and further judges; what was wanted, for each file of judgments."""
    from judgerank.collecting.checking import checked, read_settings
    from judgerank.collecting.run import collect
    from judgerank.collecting.settings import Collection, Prompt, read_panel

    extra = {"panel": read_panel(*panel), "prompt": read_settings(Prompt, prompt) if prompt else Prompt()}
    return collect(checked(Collection, {**settings, **extra}), dry_run, pilot_only)


def print_json(studies: list[Study], dry_run: bool) -> None:
    """Say what the files hold now, and what is left to ask."""
    first = studies[0]
    document = {
        "dry_run": dry_run,
        "questions": len(first.questions.text),
        "models": first.questions.models,
        "currency": first.settings.panel.currency,
        "files": [_on_file(study) for study in studies],
    }
    say_json("collect", document)


def _on_file(study: Study) -> dict[str, object]:
    from judgerank.collecting.costs import estimated, spent_into
    from judgerank.collecting.ledger import Ledger
    from judgerank.collecting.run import record_of
    from judgerank.writing.sidecars import content_of
    from judgerank.writing.spreadsheets import records

    settings = study.settings
    ledger = Ledger(settings.output)
    previous = ledger.records
    left = study.missing(previous)
    table = estimated(left, study.judges, study.questions, settings.prompt, previous, settings.pilot)
    return {
        "judgments": settings.output,
        "wanted": len(study.tasks),
        "there": len(previous),
        "left": len(left),
        "until": (content_of(record_of(settings.output)) or {}).get("until"),
        "spent": number(spent_into(ledger, study.judges)),
        "to_ask": records(table),
    }
