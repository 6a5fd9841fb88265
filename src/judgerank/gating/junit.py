"""A verdict as JUnit XML, which CI systems show as tests: one test a criterion."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from judgerank.gating.gate_result import Result
from judgerank.gating.verdict_text import sentence, table

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(found: Result) -> bytes:
    """One test suite. A criterion that is worse failed; where nothing is decided, tests are skipped."""
    skipped = len(found.criteria) if found.verdict == "inconclusive" else 0
    counts = {"tests": len(found.criteria), "failures": len(found.failed), "errors": 0, "skipped": skipped}
    suite = Element("testsuite", {"name": "judgerank gate", **{key: str(value) for key, value in counts.items()}})
    said = NOT_XML.sub("?", sentence(found))
    for one in found.criteria:
        case = SubElement(suite, "testcase", {"classname": "judgerank.gate", "name": NOT_XML.sub("?", one.name)})
        if one in found.failed:
            SubElement(case, "failure", {"message": said, "type": "block"}).text = said
        elif skipped:
            SubElement(case, "skipped", {"message": said})
    lines = "\n".join(f"{name}: {told}" for name, told in table(found))
    SubElement(suite, "system-out").text = NOT_XML.sub("?", f"{said}\n{lines}")
    indent(suite)
    return tostring(suite, encoding="utf-8", xml_declaration=True)
