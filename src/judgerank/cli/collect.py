"""`judgerank collect`: from questions and answers to judgments."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from judgerank.cli.options import between, finite, named
from judgerank.errors import ConfigError

KEYS = ("question_id", "question", "model", "answer")
POSITIVE = between(0, float("inf"))


class Order(StrEnum):
    """In which order two answers are shown."""

    random = "random"
    both = "both"


def collect(
    questions: Annotated[
        str,
        typer.Argument(
            metavar="QUESTIONS", help="File of questions and answers, or a set on the hub such as org/name."
        ),
    ],
    judges: Annotated[
        Path, typer.Option(help="YAML file with base_url, api_key_env and judges, such as examples/panel.yaml.")
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File of judgments; what is there is not asked again."),
    ] = Path("judgments.jsonl"),
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=NAME",
            help=f"Name of a column, if it is not {', '.join(KEYS)}. Can be given several times.",
        ),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with a list of answers; by default a row is one answer."),
    ] = None,
    comparisons: Annotated[
        int | None, typer.Option(min=1, help="Comparisons to draw at random; by default all there are.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often every judge is asked the same.")] = 1,
    order: Annotated[Order, typer.Option(help="Order of the two answers: one at random, or both.")] = Order.random,
    seed: Annotated[int, typer.Option(min=0, help="Decides what is drawn and which answer comes first.")] = 2026,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Ask nothing; say what it would take.")] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            callback=POSITIVE,
            help="What may be spent over all runs into the file, in the currency of the prices.",
        ),
    ] = None,
    concurrent: Annotated[int, typer.Option(min=1, help="Requests at a time.")] = 8,
    per_minute: Annotated[
        float, typer.Option(min=0, callback=finite, help="Requests a minute; 0 for no limit.")
    ] = 120.0,
    attempts: Annotated[int, typer.Option(min=1, help="Attempts at one judgment, where another may help.")] = 6,
    first_wait: Annotated[
        float,
        typer.Option(callback=POSITIVE, help="Seconds before a second attempt, twice as long each time."),
    ] = 1.0,
    timeout: Annotated[float, typer.Option(callback=POSITIVE, help="Seconds that a reply may take.")] = 120.0,
    prompt: Annotated[
        Path | None,
        typer.Option(help="YAML file with text ({question}, {first}, {second}), temperature and max_tokens."),
    ] = None,
) -> None:
    """Ask LLM judges behind an OpenAI-compatible endpoint which of two answers is better.

    The key comes from the environment and is written nowhere.

    Judgments are kept as they come, so a run that was ended goes on where it was.
    """
    try:
        from judgerank.collecting.run import collect as run
        from judgerank.collecting.settings import Collection, Panel, Prompt, checked, read_settings
    except ModuleNotFoundError as error:
        told = f"collecting takes the extra 'collect' (pip install 'judgerank[collect]'): there is no {error.name}"
        raise ConfigError(told) from None
    settings = {
        "questions": questions,
        "panel": read_settings(Panel, judges),
        "output": output,
        "columns": named(column, KEYS),
        "answers": answers,
        "prompt": read_settings(Prompt, prompt) if prompt else Prompt(),
        "comparisons": comparisons,
        "repeats": repeats,
        "order": order.value,
        "seed": seed,
        "budget": budget,
        "max_concurrent": concurrent,
        "requests_per_minute": per_minute or None,
        "attempts": attempts,
        "first_wait": first_wait,
        "timeout": timeout,
    }
    run(checked(Collection, settings), dry_run)
