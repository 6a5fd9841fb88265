"""`judgerank doctor`: what a file of judgments supports. Its options; `doctor_run` does what they say."""

from __future__ import annotations

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
    from judgerank.cli import doctor_run

    files, words = words_of(winner_values, files)
    selection = selected(without_judge, only_judge, without_model, category)
    read = how_read(column, words, format, baseline, encoding, names, copies, selection)
    doctor_run.examined(files, {**read, "own_maker": own_maker.value, "facts": models}, json)
