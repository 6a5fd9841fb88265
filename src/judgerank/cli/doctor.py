"""`judgerank doctor`: what a file of judgments supports.

Functions import what takes long to load, so that its help loads nothing of it.
"""

from __future__ import annotations

from judgerank.cli.options import (
    RECUSE,
    FactsOption,
    FilesArgument,
    JsonOption,
    OwnMakerOption,
    Reading,
    reads_files,
)
from judgerank.cli.terminal import say, say_json


@reads_files
def doctor(
    files: FilesArgument,
    read: Reading,
    own_maker: OwnMakerOption = RECUSE,
    models: FactsOption = None,
    json: JsonOption = False,
) -> None:
    """Say how files of judgments are read, what they support, what is wrong, and which command to run next.

    The exit code is 0 if they can be ranked, and 1 if not.
    """
    from judgerank.ranking.diagnosis import RUN_NEXT, examine

    lines = examine(files, **read, own_maker=own_maker.value, facts=models)
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
            "own_maker": own_maker.value,
            "filter": judgments.requests,
            "findings": [{"topic": topic, "text": text} for topic, text in findings if topic != RUN_NEXT],
            "run_next": run_next,
        }
        say_json("doctor", document)
