"""Where a verdict goes: files that were asked for, and the summary and outputs of a step in GitHub Actions."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from judgerank.gating.callers import OUTPUT, SUMMARY, append, as_called
from judgerank.gating.gate import Gate
from judgerank.gating.gate_result import Result
from judgerank.gating.verdict_text import as_json, markdown, sentence, table

# A verdict as JUnit XML, which CI systems show as tests: one test a criterion.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(result: Result) -> bytes:
    """One test suite. A criterion that is worse failed; where nothing is decided, tests are skipped."""
    skipped = len(result.criteria) if result.verdict == "inconclusive" else 0
    counts = {"tests": len(result.criteria), "failures": len(result.failed), "errors": 0, "skipped": skipped}
    suite = Element("testsuite", {"name": "judgerank gate", **{key: str(value) for key, value in counts.items()}})
    message = NOT_XML.sub("?", sentence(result))
    for criterion in result.criteria:
        case = SubElement(
            suite, "testcase", {"classname": "judgerank.gate", "name": NOT_XML.sub("?", criterion.name)}
        )
        if criterion in result.failed:
            SubElement(case, "failure", {"message": message, "type": "block"}).text = message
        elif skipped:
            SubElement(case, "skipped", {"message": message})
    lines = "\n".join(f"{name}: {text}" for name, text in table(result))
    SubElement(suite, "system-out").text = NOT_XML.sub("?", f"{message}\n{lines}")
    indent(suite)
    return tostring(suite, encoding="utf-8", xml_declaration=True)


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
    append(SUMMARY, as_called(markdown(result)))
    needed = "" if result.needed is None else str(result.needed)
    failed = "true" if result.verdict == "block" else "false"
    append(OUTPUT, f"verdict={result.verdict}\nfailed={failed}\nneeded={needed}\n")
