"""`judgerank gate`: may a candidate replace a baseline?"""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FilesArgument,
    ForceOption,
    FormatOption,
    NamesOption,
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.cli.terminal import say
from judgerank.cli.values import between
from judgerank.data.errors import ConfigError
from judgerank.gating.answers import paired, texts_of
from judgerank.gating.decision import MODES, Rule
from judgerank.gating.gate import ALL, Gate, decided
from judgerank.gating.judged import judged
from judgerank.gating.outputs import contents, tell_github
from judgerank.gating.report import as_json, text
from judgerank.reading.files import label_of, paths_of, plain
from judgerank.reading.read import read_judgments
from judgerank.writing.extras import needed
from judgerank.writing.targets import Outputs

Mode = StrEnum("Mode", {mode: mode for mode in MODES})  # type: ignore[misc]  # members are known when it runs


class Until(StrEnum):
    """How much is asked."""

    decided = "decided"
    all = "all"


class Order(StrEnum):
    """In which order two answers are shown."""

    random = "random"
    both = "both"


DEFAULT_MODE = Mode(MODES[0])
RATE = between(0, 0.5)


def gate(
    files: FilesArgument,
    baseline: Annotated[
        str, typer.Option("--baseline", metavar="MODEL", help="The variant that is in use.")
    ] = "old",
    candidate: Annotated[
        str, typer.Option("--candidate", metavar="MODEL", help="The variant that may replace it.")
    ] = "new",
    margin: Annotated[
        float, typer.Option(callback=RATE, help="How far below 50% the candidate's win rate may be.")
    ] = 0.05,
    mode: Annotated[
        Mode,
        typer.Option(
            help="non-inferiority: ship what is not worse by the margin, block what is worse. two-sided: ship "
            "what is better. equivalence: ship what is as good within the margin, block what differs."
        ),
    ] = DEFAULT_MODE,
    alpha: Annotated[
        float, typer.Option(callback=RATE, help="Chance of a false ship, and of a false block, over all looks.")
    ] = 0.05,
    power: Annotated[
        float,
        typer.Option(callback=between(0.5, 1), help="Chance of a decision after the questions still needed."),
    ] = 0.8,
    look: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Which look at the growing judgments this is, from 1 on; without it, this is the only one. "
            "Looking again without --look makes false decisions more frequent.",
        ),
    ] = None,
    criteria: Annotated[
        bool,
        typer.Option(
            "--criteria", help="Each file is a criterion: ship if all pass, block if one is worse (Holm)."
        ),
    ] = False,
    candidate_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Model behind the candidate, to point out judges of the same maker."),
    ] = None,
    question_cost: Annotated[
        float | None,
        typer.Option(callback=between(0, float("inf")), help="What one more question costs, in USD."),
    ] = None,
    panel: Annotated[
        Path | None,
        typer.Option(
            help="YAML file of judges: ask them about two files of answers, OLD.jsonl NEW.jsonl, each with "
            "question_id, question and answer."
        ),
    ] = None,
    until: Annotated[
        Until, typer.Option(help="With --panel: ask by rounds until it is decided, or ask about all questions.")
    ] = Until.decided,
    budget: Annotated[
        float | None,
        typer.Option(callback=between(0, float("inf")), help="With --panel: what this run may spend."),
    ] = None,
    judgments: Annotated[
        Path, typer.Option(help="With --panel: file of judgments; what is there is not asked again.")
    ] = Path("judgments.jsonl"),
    order: Annotated[
        Order, typer.Option(help="With --panel: order of the two answers, one at random or both.")
    ] = Order.random,
    allow_env_url: Annotated[
        bool,
        typer.Option("--allow-env-url", help="With --panel: ask at addresses that environment variables name."),
    ] = False,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
    json_file: Annotated[Path | None, typer.Option(help="File for the verdict as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(help="File for the verdict as JUnit XML.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="File for the verdict as Markdown.")] = None,
    page: Annotated[
        Path | None,
        typer.Option(help="HTML file for the verdict, with the answers and the judges' replies behind it."),
    ] = None,
    answers: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="OLD.jsonl NEW.jsonl", help="Without --panel: files of both answers, for --page to show."
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Decide whether a candidate may replace a baseline: ship, block, or how many more questions.

    The exit code is 0 for ship, 1 for block, 2 if more questions are needed, and 3 if the input cannot be used.

    A question counts once, however many judges and repeats it has. In GitHub Actions the verdict also goes to the
    step's summary, and to its outputs verdict, failed and needed.
    """
    rule = Rule(mode.value, margin, alpha, power, look)
    files, words = words_of(winner_values, files)
    paths = paths_of(files)
    outputs = Outputs([*plain(paths), *(answers or ())], force)
    for place in (json_file, junit, markdown, page):
        if place is not None:
            outputs.file(place)
    if panel is not None:
        if answers:
            raise typer.BadParameter("--panel has the answers already: leave out --answers.")
        told = {"output": judgments, "budget": budget, "order": order.value, "allow_env_url": allow_env_url}
        found = _asked(files, panel, until, rule, candidate_model, told)
    else:
        read = columns_of(column), words, None, encoding, names.value, copies.value
        sources = {label_of(path): [path] for path in paths} if criteria else {ALL: paths}
        tables = {
            name: judged(read_judgments(one, format and format.value, *read), baseline, candidate)
            for name, one in sources.items()
        }
        texts = texts_of(paired(*answers)) if answers else {}
        found = replace(decided(tables, rule, candidate_model, question_cost), texts=texts)
    outputs.write(contents(found, json_file, junit, markdown, page))
    say(as_json(found).rstrip() if json else text(found))
    tell_github(found)
    raise typer.Exit(found.exit_code)


def _asked(
    files: list[Path], panel: Path, until: Until, rule: Rule, candidate_model: str | None, told: dict[str, Any]
) -> Gate:
    """The verdict of a panel that is asked now."""
    if len(files) != 2:
        raise typer.BadParameter(f"two files of answers are compared, and {len(files)} are named.")
    try:
        from judgerank.collecting.panel_files import read_panel
        from judgerank.gating.rounds import Asked, ask_all, ask_until_decided
    except ModuleNotFoundError as error:
        raise ConfigError(f"asking judges takes {needed('collect')}: there is no {error.name}") from None
    for handler in logging.getLogger("judgerank").handlers:  # how it goes; the verdict alone is on standard output
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(sys.stderr)
    asked = Asked(read_panel(panel, []), **told)
    ask = ask_until_decided if until is Until.decided else ask_all
    return ask(paired(*files), asked, rule, candidate_model)
