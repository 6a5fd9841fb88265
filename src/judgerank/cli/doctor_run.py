"""What `judgerank doctor` does, apart from its options, so that its help loads nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgerank.cli.terminal import say, say_json
from judgerank.ranking.diagnosis import RUN_NEXT, examine


def examined(files: list[Path], read: Mapping[str, Any], json: bool) -> None:
    """Say what files support; `read` is what `examine` is told."""
    if json:
        findings_by_topic = list(examine(files, **read))
        findings = [
            {"topic": topic, "text": sentence} for topic, sentence in findings_by_topic if topic != RUN_NEXT
        ]
        run_next = next((sentence for topic, sentence in findings_by_topic if topic == RUN_NEXT), None)
        say_json("doctor", {"files": list(map(str, files)), "findings": findings, "run_next": run_next})
        return
    for topic, sentence in examine(files, **read):
        say(f"{topic + ':':<12}{sentence}")
