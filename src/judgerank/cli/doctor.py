"""`judgerank doctor`: what a file of judgments supports.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    RECUSE,
    BaselineOption,
    CategoryOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FactsOption,
    FilesArgument,
    FormatOption,
    JsonOption,
    NamesOption,
    OnlyJudgeOption,
    OwnMakerOption,
    WinnerValuesOption,
    WithoutJudgeOption,
    WithoutModelOption,
    how_read,
    selected,
    words_of,
)
from judgerank.cli.terminal import say, say_json


def doctor(
    files: FilesArgument,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    format: FormatOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    without_judge: WithoutJudgeOption = None,
    only_judge: OnlyJudgeOption = None,
    without_model: WithoutModelOption = None,
    category: CategoryOption = None,
    own_maker: OwnMakerOption = RECUSE,
    models: FactsOption = None,
    json: JsonOption = False,
) -> None:
    """Say how files of judgments are read, what they support, what is wrong, and which command to run next.

    The exit code is 0 if they can be ranked, and 1 if not.
    """
    files, words = words_of(winner_values, files)
    selection = selected(without_judge, only_judge, without_model, category)
    read = how_read(column, words, format, baseline, encoding, names, copies, selection)
    examined(files, {**read, "own_maker": own_maker.value, "facts": models}, json)


def examined(files: list[Path], read: Mapping[str, Any], json: bool) -> None:
    """Say what files support; `read` is what `examine` is told."""
    from judgerank.ranking.diagnosis import RUN_NEXT, examine

    lines = examine(files, **read)
    findings = []
    while True:
        try:
            topic, sentence = next(lines)
        except StopIteration as end:
            judgments = end.value
            break
        findings.append((topic, sentence))
        if not json:
            say(f"{topic + ':':<11} {sentence}")
    if json:
        run_next = next((sentence for topic, sentence in findings if topic == RUN_NEXT), None)
        document = {
            "files": list(map(str, files)),
            "own_maker": read["own_maker"],
            "filter": judgments.requests,
            "findings": [{"topic": topic, "text": text} for topic, text in findings if topic != RUN_NEXT],
            "run_next": run_next,
        }
        say_json("doctor", document)
