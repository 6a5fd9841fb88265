"""What `judgerank doctor` does, apart from its options, so that its help loads nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgerank.cli.terminal import say, say_json
from judgerank.ranking.diagnosis import RUN_NEXT, examine


def examined(files: list[Path], read: Mapping[str, Any], json: bool) -> None:
    """Say what files support; `read` is what `examine` is told."""
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
            say(f"{topic + ':':<12}{sentence}")
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
