"""`judgerank doctor`: what a file of judgments supports."""

from __future__ import annotations

from judgerank.cli.options import (
    ASK_COPIES,
    ASK_NAMES,
    BaselineOption,
    ColumnOption,
    CopiesOption,
    EncodingOption,
    FilesArgument,
    FormatOption,
    NamesOption,
    WinnerValuesOption,
    columns_of,
    words_of,
)
from judgerank.cli.terminal import say
from judgerank.ranking.examination import examine


def doctor(
    files: FilesArgument,
    format: FormatOption = None,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
) -> None:
    """Say how files of judgments are read, what they support, what is wrong, and which command to run next.

    The exit code is 0 if they can be ranked, and 1 if not.
    """
    files, words = words_of(winner_values, files)
    read = columns_of(column), words, baseline, encoding, names.value, copies.value
    for topic, said in examine(files, format and format.value, *read):
        say(f"{topic + ':':<12}{said}")
