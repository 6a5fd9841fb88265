"""`judgerank gate`: may a candidate replace a baseline?

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgerank.cli.options import (
    LIKE_THESE,
    OUTPUT,
    READING,
    RECUSE,
    FactsOption,
    FilesArgument,
    ForceOption,
    JsonOption,
    OwnMakerOption,
    Reading,
    Whose,
    between,
    reads_files,
    shared_help,
)
from judgerank.cli.terminal import Messages, say, say_json, say_wrapped
from judgerank.data import QUESTION
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted, listed
from judgerank.data.modules import asking
from judgerank.gating.callers import as_called, tell_github_without_verdict
from judgerank.gating.rule import MISSING, MODES, SCALES, SCORE, Rule

if TYPE_CHECKING:
    from judgerank.data.judgments import Judgments
    from judgerank.gating.answer_pairs import Pair
    from judgerank.gating.gate import Gate
    from judgerank.writing.targets import Outputs


Mode = StrEnum("Mode", {mode: mode for mode in MODES})  # type: ignore[misc]  # members are known when it runs
Missing = StrEnum("Missing", {way: way for way in MISSING})  # type: ignore[misc]  # likewise
Scale = StrEnum("Scale", {scale: scale for scale in SCALES})  # type: ignore[misc]  # likewise
SKIPPED = "skipped"


class Until(StrEnum):
    """How much is asked."""

    decided = "decided"
    all = "all"


class Order(StrEnum):
    """In which order two answers are shown."""

    random = "random"
    both = "both"


class WithoutKeys(StrEnum):
    """What happens where a judge's key is missing."""

    fail = "fail"
    skip = "skip"


DEFAULT_MODE, DEFAULT_SCALE, DEFAULT_MISSING = Mode(MODES[0]), Scale(SCALES[0]), Missing(MISSING[0])
SURENESS, PANEL = "Uncertainty", "Asking a panel"
OF_PANEL = (  # options that say how a panel is asked
    *("until", "budget", "judgments", "prune", "allow_env_url", "allow_host", "without_keys"),
)
OF_FILES = (  # options on judgments that are there
    *("criteria", "question_cost", "answers"),
    *(name for name in READING if name != "baseline"),
)


def protected(texts: list[str] | None) -> list[str] | None:
    """The groups as they are given; each needs a column and a value."""
    for text in texts or ():
        column, _, value = text.partition("=")
        if not column or not value:
            raise typer.BadParameter(f"{text!r} is not COLUMN=VALUE, such as category=safety.")
    return texts


@reads_files
def gate(
    ctx: typer.Context,
    files: FilesArgument,
    baseline: Annotated[
        str,
        typer.Option(
            "--baseline", metavar="MODEL", help=shared_help("--baseline", "Here it is the variant in use.")
        ),
    ] = "old",
    candidate: Annotated[
        str, typer.Option("--candidate", metavar="MODEL", help="The variant that may replace it.")
    ] = "new",
    margin: Annotated[float, typer.Option(help="How far below 50% the candidate's win rate may be.")] = 0.05,
    mode: Annotated[
        Mode,
        typer.Option(
            help="non-inferiority: ship what is not worse by the margin, block what is worse. two-sided: ship "
            "what is better. equivalence: ship what is as good within the margin, block what differs."
        ),
    ] = DEFAULT_MODE,
    scale: Annotated[
        Scale,
        typer.Option(help="Scale of the margin and the verdict. score: the difference of Bradley-Terry scores."),
    ] = DEFAULT_SCALE,
    criteria: Annotated[
        bool,
        typer.Option(
            "--criteria", help="Each file is a criterion: ship if all pass, block if one is worse (Holm)."
        ),
    ] = False,
    protect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            callback=protected,
            help="Questions that must pass by themselves, by a column of the judgments or the answers, such as "
            "category=safety; as often as needed.",
        ),
    ] = None,
    candidate_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Model behind the candidate, by which --own-maker knows its maker."),
    ] = None,
    question_cost: Annotated[
        float | None,
        typer.Option(callback=between(0, float("inf")), help="What one more question costs, in USD."),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(
            rich_help_panel=SURENESS, help="Chance of a false ship, and of a false block, over all looks."
        ),
    ] = 0.05,
    power: Annotated[
        float,
        typer.Option(rich_help_panel=SURENESS, help="Chance of a decision after the questions still needed."),
    ] = 0.8,
    look: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=SURENESS,
            help="Which look at the growing judgments this is, from 1 on; without it, this is the only one. An "
            "inconclusive verdict names the next. Looking again without --look makes false decisions more "
            "frequent. With --panel: which run.",
        ),
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(
            rich_help_panel=SURENESS,
            metavar="COLUMN",
            help=shared_help(
                "--cluster",
                "It is question, or a column of the judgments or the answers such as template or conversation, "
                "all of whose questions are then tested together.",
            ),
        ),
    ] = QUESTION,
    missing: Annotated[
        Missing,
        typer.Option(
            rich_help_panel=SURENESS,
            help="losses: ship only if missing answers could all be losses. random: they count for neither side, "
            "unless the other judges prefer the candidate less there.",
        ),
    ] = DEFAULT_MISSING,
    whose: Annotated[
        Whose,
        typer.Option(
            rich_help_panel=SURENESS,
            help=shared_help(
                "--whose",
                "judges_like_these: where judges differ significantly, a verdict is for others like them. "
                "this_panel: for these judges alone.",
            ),
        ),
    ] = LIKE_THESE,
    panel: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=PANEL,
            help=shared_help(
                "--panel",
                "They are asked about two files of answers, OLD.jsonl NEW.jsonl, each with question_id, question "
                "and answer.",
            ),
        ),
    ] = None,
    until: Annotated[
        Until,
        typer.Option(
            rich_help_panel=PANEL,
            help=shared_help(
                "--until", "decided: ask by rounds until there is a verdict. all: ask about all questions."
            ),
        ),
    ] = Until.decided,
    budget: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=PANEL,
            callback=between(0, float("inf")),
            help=shared_help("--budget", "Judgments of these answers count."),
        ),
    ] = None,
    judgments: Annotated[
        Path,
        typer.Option(rich_help_panel=PANEL, help=shared_help("--judgments")),
    ] = Path("judgments.jsonl"),
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            rich_help_panel=PANEL,
            help="Move judgments of earlier answers to these questions to a file beside the others.",
        ),
    ] = False,
    order: Annotated[
        Order,
        typer.Option(
            rich_help_panel=PANEL,
            help=shared_help("--order", "Without --panel: random, if that of every answer was drawn so."),
        ),
    ] = Order.random,
    allow_env_url: Annotated[
        bool,
        typer.Option("--allow-env-url", rich_help_panel=PANEL, help=shared_help("--allow-env-url")),
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=PANEL,
            metavar="HOST",
            help="Host that a judge may be asked at, beside providers' own and this computer; as often as needed.",
        ),
    ] = None,
    without_keys: Annotated[
        WithoutKeys,
        typer.Option(
            rich_help_panel=PANEL,
            help="Where the environment lacks a judge's key, as in pull requests from forks: fail, or skip the "
            "gate with exit code 0.",
        ),
    ] = WithoutKeys.fail,
    *,
    read: Reading,
    own_maker: OwnMakerOption = RECUSE,
    models: FactsOption = None,
    json: JsonOption = False,
    json_file: Annotated[
        Path | None, typer.Option(rich_help_panel=OUTPUT, help="File for the verdict as JSON.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(rich_help_panel=OUTPUT, help="File for the verdict as JUnit XML.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(rich_help_panel=OUTPUT, help="File for the verdict as Markdown.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=OUTPUT,
            help=shared_help("--page", "It has the verdict, and behind it the answers and the judges' replies."),
        ),
    ] = None,
    answers: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            rich_help_panel=OUTPUT,
            metavar="OLD.jsonl NEW.jsonl",
            help=shared_help("--answers", "Name both, for --page to show beside judgments that are there."),
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", rich_help_panel=OUTPUT, help=shared_help("--verbose"))
    ] = False,
    force: ForceOption = False,
) -> None:
    """Decide whether a candidate may replace a baseline: ship, block, or how many more questions.

    The exit code is 0 for ship, 1 for block, 2 if more questions are needed, and 3 if the input cannot be used.

    A question counts once, however many judges and repeats it has. In GitHub Actions the
    verdict also goes to the step's summary, and to its outputs verdict, failed and needed.
    """
    _refuse_misplaced(ctx, OF_PANEL if panel is None else OF_FILES, "needs" if panel is None else "is without")
    if panel is None and order is Order.both:
        raise typer.BadParameter("--order both needs --panel, the judges to ask.")
    if scale.value == SCORE and not _is_given(ctx, "margin"):
        raise typer.BadParameter("--scale score needs a --margin in score, such as 0.2 (a win rate of 45%).")
    groups = tuple((name, value) for name, _, value in (text.partition("=") for text in protect or ()))
    rule = Rule(
        *(mode.value, margin, alpha, power, look, None, scale.value, missing.value, whose.value, groups, cluster),
        random_orders=_is_given(ctx, "order"),
    )
    paths = OutputPaths(json_file, junit, markdown, page)
    outputs = outputs_of(files, answers, paths, force)
    pair, own = (baseline, candidate), OwnMaker(own_maker.value, models, candidate_model)
    if panel is not None:
        request_settings = {
            "output": judgments,
            "budget": budget,
            "order": order.value,
            "allow_env_url": allow_env_url,
            "allow_hosts": tuple(allow_host or ()),
            "prune": prune,
        }
        by_rounds = until is Until.decided
        if without_keys is WithoutKeys.skip:
            skip_without_keys(panel, json)
        result = asked_now(files, panel, by_rounds, rule, own, {**request_settings, "names": pair})
    else:
        from judgerank.ranking.two_variants import variants_of
        from judgerank.reading.files import paths_of

        pairs = pairs_of(answers)
        judgments_by_criterion = read_by_criterion(files, criteria, read, rule, pairs)
        named = {"baseline": baseline, "candidate": candidate}
        by_default = {option: name for option, name in named.items() if not _is_given(ctx, option)}
        if len(by_default) == len(named):
            pair = variants_of(models_in(judgments_by_criterion), paths_of(files)) or pair
            by_default = dict(zip(named, pair, strict=True))
        require_defaults(judgments_by_criterion, by_default)
        result = decided_on(judgments_by_criterion, pair, rule, own, question_cost, pairs)
    print_gate(result, outputs, paths, json, verbose)
    raise typer.Exit(result.exit_code)


def _is_given(ctx: typer.Context, option: str) -> bool:
    source = ctx.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _refuse_misplaced(ctx: typer.Context, options: tuple[str, ...], how: str) -> None:
    """Refuse options that would do nothing, since they go with a panel, or without one."""
    for option in options:
        if _is_given(ctx, option):
            name = f"--{option.replace('_', '-')}"
            message = f"{name} needs --panel, the judges to ask" if how == "needs" else f"leave out {name}"
            why = "." if how == "needs" else ": with --panel the judges are asked about the two files of answers."
            raise typer.BadParameter(message + why)


@dataclass(frozen=True)
class OutputPaths:
    """Files that a verdict goes to; None where it does not."""

    json: Path | None
    junit: Path | None
    markdown: Path | None
    page: Path | None

    @property
    def page_name(self) -> str | None:
        """What the page is called."""
        return None if self.page is None else self.page.name


@dataclass(frozen=True)
class OwnMaker:
    """Whether votes of judges on models of their own maker count, and where makers are known from."""

    choice: str
    facts: Path | None
    candidate_model: str | None


def outputs_of(files: list[Path], answers: tuple[Path, Path] | None, paths: OutputPaths, force: bool) -> Outputs:
    """The files to write, none of which is an input, nor anybody else's."""
    from judgerank.reading.files import paths_of, plain
    from judgerank.writing.targets import Outputs

    outputs = Outputs([*plain(paths_of(files)), *(answers or ())], force)
    for path in (paths.json, paths.junit, paths.markdown, paths.page):
        if path is not None:
            outputs.file(path)
    return outputs


def pairs_of(answers: tuple[Path, Path] | None) -> list[Pair]:
    """The questions of two files of answers, if any."""
    from judgerank.gating.answer_pairs import paired

    return paired(*answers) if answers else []


def read_by_criterion(
    files: list[Path], criteria: bool, read: Mapping[str, Any], rule: Rule, pairs: Sequence[Pair]
) -> dict[str, Judgments]:
    """Judgments in files, by criterion, with the columns of the rule; `read` is what `read_judgments` is told."""
    from judgerank.gating.gate import ALL, columns_beyond
    from judgerank.reading.files import label_of, paths_of
    from judgerank.reading.read import read_judgments

    paths = paths_of(files)
    sources = {label_of(path): [path] for path in paths} if criteria else {ALL: paths}
    keep = columns_beyond(rule, pairs)
    return {name: read_judgments(source, keep=keep, **read) for name, source in sources.items()}


def models_in(read: Mapping[str, Judgments]) -> list[str]:
    """Names of all models in the judgments, in their order."""
    return sorted(
        {name for judgments in read.values() for side in ("model_a", "model_b") for name in judgments.frame[side]}
    )


def require_defaults(read: Mapping[str, Judgments], by_default: Mapping[str, str]) -> None:
    """Refuse names that nobody typed, since they are defaults of options, where no model has them.

    Raises
    ------
    ConfigError
    """
    models = models_in(read)
    for option, name in by_default.items():
        if name not in models:
            message = f"name a model with --{option}: there is none called {name!r}, the default"
            raise ConfigError(f"{message} (the models are: {listed(models)})")


def decided_on(
    read: Mapping[str, Judgments],
    pair: tuple[str, str],
    rule: Rule,
    own_maker: OwnMaker,
    question_cost: float | None,
    pairs: Sequence[Pair],
) -> Gate:
    """The verdict on judgments that are there; `pairs` are the answers, where they are known."""
    from judgerank.gating.answer_pairs import labels_of, texts_of
    from judgerank.gating.gate import decided, remarks_on, requests_in
    from judgerank.gating.gate_result import votes_on_pair
    from judgerank.ranking.page_options import makers_on

    makers = dict(maker for judgments in read.values() for maker in makers_on(judgments, own_maker.facts))
    tables, own = votes_on_pair(
        read, pair, own_maker.choice, makers.items(), own_maker.candidate_model, rule.cluster, labels_of(pairs)
    )
    result = decided(tables, rule, own, question_cost)
    remarks = tuple(map(as_used, remarks_on(read)))
    return replace(result, texts=texts_of(pairs), remarks=remarks, requests=requests_in(read))


# What a reader of files says of winners who all stand in one column. A gate uses what rankings do not.
ALWAYS_WRITTEN = re.compile(
    r"Winners seem to be written (\w+): (model_[ab]) won in all ([\d,]+) records that could be read, so .+"
)


def as_used(remark: str) -> str:
    """A remark on how judgments were read, with what a gate makes of winners who all stand in one column."""
    found = ALWAYS_WRITTEN.search(remark)
    if found is None:
        return remark
    place, winners, count = found.groups()
    losers = "model_b" if winners == "model_a" else "model_a"
    return (
        f"{remark[: found.start()]}{winners} won in all {count} records that could be read. The gate takes this "
        f"for the order shown, in which every judge chose the {place} answer. If winners are only written "
        f"{place}, rename {winners} to winner and {losers} to loser."
    )


def skip_without_keys(panel: Path, json: bool) -> None:
    """End with exit code 0 and a sentence where the environment holds no key for a judge of the panel."""
    with asking():
        from judgerank.collecting.settings import read_panel
    names = [judge.api_key_env for judge in read_panel(panel, []).judges]
    missing = sorted({name for name in names if name and not os.environ.get(name)})
    if not missing:
        return
    message = f"Skipped: the environment has no {listed(missing)}, so no judge is asked."
    if json:
        say_json("gate", {"verdict": SKIPPED, "sentence": message, "exit_code": 0})
    else:
        say(message)
    tell_github_without_verdict(SKIPPED, message)
    raise typer.Exit


def asked_now(
    files: list[Path],
    panel: Path,
    by_rounds: bool,
    rule: Rule,
    own_maker: OwnMaker,
    request_settings: dict[str, Any],
) -> Gate:
    """The verdict of a panel that is asked now."""
    from judgerank.gating.answer_pairs import NEW, OLD, paired
    from judgerank.ranking.page_options import makers_among

    if len(files) != 2:
        raise typer.BadParameter(
            f"--panel compares two files, OLD.jsonl NEW.jsonl, not {counted(len(files), 'file')}."
        )
    with asking():
        from judgerank.collecting.settings import read_panel
        from judgerank.gating.panel_rounds import Asked, ask_all, ask_until_decided, without_own_maker
    for handler in logging.getLogger("judgerank").handlers:  # how it goes; the verdict alone is on standard output
        if isinstance(handler, Messages):
            handler.err = True
            handler.setFormatter(AsCalled())
    old, new = (path.name.removesuffix(".jsonl") for path in files)
    named = {OLD: old, NEW: new} if old != new else {}
    request_settings["names"] = tuple(
        named.get(name, name) for name in request_settings["names"]
    )  # defaults give way to the files' names
    asked = Asked(read_panel(panel, []), **request_settings)
    names = (*asked.names, *(judge.judge for judge in asked.panel.judges))
    makers = makers_among(names, own_maker.facts)
    requests = without_own_maker(asked, own_maker.choice, makers, own_maker.candidate_model)
    decide = ask_until_decided if by_rounds else ask_all
    return decide(paired(*files), requests, rule)


class AsCalled(logging.Formatter):
    """Lines of the log with the options that they name as the caller writes them."""

    def format(self, record: logging.LogRecord) -> str:
        """The text of a record, in which each option has its caller's name."""
        return as_called(super().format(record))


def print_gate(result: Gate, outputs: Outputs, paths: OutputPaths, json: bool, verbose: bool) -> None:
    """Write and print the verdict: five lines, or all that is known of it."""
    from judgerank.gating.decision import BLOCK, INCONCLUSIVE, SHIP
    from judgerank.gating.outputs import as_dict, contents, five_lines, tell_github
    from judgerank.gating.verdict_text import lines, sentence

    outputs.write(contents(result, paths.json, paths.junit, paths.markdown, paths.page))
    if json:
        say_json("gate", as_dict(result))
    else:
        said = [sentence(result), *lines(result)] if verbose else five_lines(result, paths.page_name)
        colours = {SHIP: "green", BLOCK: "red", INCONCLUSIVE: "yellow"}
        first, *rest = map(as_called, said)
        say_wrapped([first], bold=True, colour=colours[result.verdict])
        say_wrapped(rest)
    for remark in result.remarks:
        say(f"read: {remark}", err=True)
    tell_github(result)
