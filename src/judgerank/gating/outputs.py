"""Where a verdict goes: files that were asked for, and the summary and outputs of a step in GitHub Actions."""

from __future__ import annotations

import os
from pathlib import Path

from judgerank.gating.gate import Gate
from judgerank.gating.junit import junit
from judgerank.gating.verdict_text import as_json, markdown

SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"  # environment variables that name files to append to


def contents(
    result: Gate, json: Path | None, xml: Path | None, text: Path | None, page: Path | None
) -> dict[Path, bytes]:
    """What goes into each file that was asked for: JSON, JUnit XML, Markdown and HTML."""
    made = {json: as_json(result).encode(), xml: junit(result), text: markdown(result).encode()}
    if page is not None:
        made[page] = result.to_html().encode()
    return {path: content for path, content in made.items() if path is not None}


def tell_github(result: Gate) -> None:
    """Append the Markdown to the step's summary, and ``verdict``, ``failed`` and ``needed`` to its outputs."""
    _append(SUMMARY, markdown(result))
    needed = "" if result.needed is None else str(result.needed)
    failed = "true" if result.verdict == "block" else "false"
    _append(OUTPUT, f"verdict={result.verdict}\nfailed={failed}\nneeded={needed}\n")


def _append(variable: str, text: str) -> None:
    path = os.environ.get(variable)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)
