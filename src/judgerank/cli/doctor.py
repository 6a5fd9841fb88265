"""`judgerank doctor`: what a file of judgments supports. Its options; `doctor_run` does what they say."""

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
    JsonOption,
    NamesOption,
    WinnerValuesOption,
    how_read,
    words_of,
)


def doctor(
    files: FilesArgument,
    column: ColumnOption = None,
    winner_values: WinnerValuesOption = None,
    format: FormatOption = None,
    baseline: BaselineOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = ASK_NAMES,
    copies: CopiesOption = ASK_COPIES,
    json: JsonOption = False,
) -> None:
    """Say how files of judgments are read, what they support, what is wrong, and which command to run next.

    The exit code is 0 if they can be ranked, and 1 if not.
    """
    from judgerank.cli import doctor_run

    files, words = words_of(winner_values, files)
    doctor_run.examined(files, how_read(column, words, format, baseline, encoding, names, copies), json)
