"""What `judgerank gate` does, apart from its options, so that its help loads nothing of it."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from judgerank.cli.terminal import Messages, say, say_json, say_wrapped
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed
from judgerank.gating.answer_pairs import NEW, OLD, Pair, labels_of, paired, texts_of
from judgerank.gating.callers import as_called, tell_github_without_verdict
from judgerank.gating.decision import BLOCK, INCONCLUSIVE, SHIP
from judgerank.gating.gate import ALL, Gate, columns_beyond, decided, remarks_on, requests_in
from judgerank.gating.gate_result import votes_on_pair
from judgerank.gating.outputs import as_dict, contents, tell_github
from judgerank.gating.rule import Rule
from judgerank.gating.verdict_text import five_lines, lines, sentence
from judgerank.ranking.page_options import makers_among, makers_on
from judgerank.reading.file_formats import bare_name
from judgerank.reading.files import label_of, paths_of, plain
from judgerank.reading.read import read_judgments
from judgerank.writing.extras import asking
from judgerank.writing.targets import Outputs

WITHOUT_AND_WITH = (("without", "with"), ("without_skill", "with_skill"), ("old_skill", "new_skill"))
SKIPPED = "skipped"
COLOURS = {SHIP: "green", BLOCK: "red", INCONCLUSIVE: "yellow"}


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
    outputs = Outputs([*plain(paths_of(files)), *(answers or ())], force)
    for path in (paths.json, paths.junit, paths.markdown, paths.page):
        if path is not None:
            outputs.file(path)
    return outputs


def pairs_of(answers: tuple[Path, Path] | None) -> list[Pair]:
    """The questions of two files of answers, if any."""
    return paired(*answers) if answers else []


def read_by_criterion(
    files: list[Path], criteria: bool, read: Mapping[str, Any], rule: Rule, pairs: Sequence[Pair]
) -> dict[str, Judgments]:
    """Judgments in files, by criterion, with the columns of the rule; `read` is what `read_judgments` is told."""
    paths = paths_of(files)
    sources = {label_of(path): [path] for path in paths} if criteria else {ALL: paths}
    keep = columns_beyond(rule, pairs)
    return {name: read_judgments(source, keep=keep, **read) for name, source in sources.items()}


def default_pair(read: Mapping[str, Judgments], files: list[Path]) -> tuple[str, str] | None:
    """Baseline and candidate where nobody names them: runs without and with a change, or two files of scores.

    None where the names in the judgments do not say which is which.
    """
    models = models_in(read)
    for pair in WITHOUT_AND_WITH:
        if models == sorted(pair):
            return pair
    by_file = tuple(bare_name(path) for path in paths_of(files))
    return (by_file[0], by_file[1]) if len(by_file) == 2 and models == sorted(by_file) else None


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
    makers = dict(maker for judgments in read.values() for maker in makers_on(judgments, own_maker.facts))
    tables, own = votes_on_pair(
        read, pair, own_maker.choice, makers.items(), own_maker.candidate_model, rule.cluster, labels_of(pairs)
    )
    result = decided(tables, rule, own, question_cost)
    return replace(result, texts=texts_of(pairs), remarks=remarks_on(read), requests=requests_in(read))


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


def print_gate(result: Gate, outputs: Outputs, paths: OutputPaths, json: bool, verbose: bool) -> None:
    """Write and print the verdict: five lines, or all that is known of it."""
    outputs.write(contents(result, paths.json, paths.junit, paths.markdown, paths.page))
    if json:
        say_json("gate", as_dict(result))
    else:
        said = [sentence(result), *lines(result)] if verbose else five_lines(result, paths.page_name)
        first, *rest = map(as_called, said)
        say_wrapped([first], bold=True, colour=COLOURS[result.verdict])
        say_wrapped(rest)
    for remark in result.remarks:
        say(f"read: {remark}", err=True)
    tell_github(result)
