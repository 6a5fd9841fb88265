"""A verdict as JUnit XML, which CI systems show as tests: one test a criterion."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from judgerank.gating.gate_result import Result
from judgerank.gating.verdict_text import sentence, table

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
