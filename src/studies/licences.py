"""Licences and known vulnerabilities of every package in the lock file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

import pandas as pd
from packaging.markers import Marker

COPYLEFT = re.compile(r"(?<!L)GPL|(?<!Lesser )General Public Licen[sc]e|SSPL|BUSL|Commons Clause", re.IGNORECASE)
# Their metadata state none. Whoever adds a package here says where its licence was read.
READ = {
    "agent-client-protocol": "Apache-2.0",  # LICENSE in the wheel; inspect-ai requires it
    "axe-playwright-python": "MIT and MPL-2.0",  # LICENSE in the wheel, head of axe.min.js; used by tests alone
    "orq-ai-sdk": "MIT",  # LICENSE in github.com/orq-ai/orq-python; evaluatorq requires it
}
UNKNOWN, ELSEWHERE = "unknown", "not needed on this machine"


def licences(lock: Path) -> pd.DataFrame:
    """Return one row for each pin of the lock file: package, version, licence, source and problem, if any.

    Licences come from the metadata of the installed packages. A pin for another platform or Python is not
    installed, and is listed without one.
    """
    pins = re.findall(r"^([\w.-]+)==([^ ;\\]+)(?: *;([^\\\n]+))?", lock.read_text(), re.MULTILINE)
    rows = [(name, version, *_facts(name, marker.strip())) for name, version, marker in pins]
    return pd.DataFrame(rows, columns=["package", "version", "licence", "source", "problem"])


def _facts(name: str, marker: str) -> tuple[str, str, str]:
    """Licence, source and problem of one package."""
    if marker and not Marker(marker).evaluate():
        return ELSEWHERE, "", ""
    try:
        package = metadata(name)
    except PackageNotFoundError:
        return UNKNOWN, "", "is not installed: run make environment"
    licence = stated_licence(package)
    licence = READ.get(name, licence) if licence == UNKNOWN else licence
    return licence, source(package), problem(licence)


def stated_licence(package: PackageMetadata) -> str:
    """Return the SPDX expression of a package, else its classifiers, else the first line of its own words."""
    lines = [text for text in package.get_all("Classifier") or [] if text.startswith("License ::")]
    named = [line.rsplit(" :: ", 1)[-1] for line in lines if line != "License :: OSI Approved"]
    licence_text = (package.get("License") or "").strip().partition("\n")[0]
    return package.get("License-Expression") or "; ".join(named) or licence_text or UNKNOWN


def source(package: PackageMetadata) -> str:
    """Return the address of a package's code, else of its home page; empty if it names neither."""
    entries = [text.partition(",") for text in package.get_all("Project-URL") or []]
    addresses = {label.strip().lower(): address.strip() for label, _, address in entries}
    labels = ("source", "source code", "repository", "code", "github", "homepage", "home")
    return next((addresses[label] for label in labels if label in addresses), package.get("Home-page") or "")


def problem(licence: str) -> str:
    """Return why a licence is not accepted, or nothing. Of several to choose from, one is enough."""
    if licence == UNKNOWN:
        return "states no licence"
    choices = re.split(r"\s+OR\s+", licence)
    return "is copyleft" if all(COPYLEFT.search(choice) for choice in choices) else ""


def advisories(lock: Path) -> pd.DataFrame | None:
    """Return the known vulnerabilities: package, version, advisory, fixed in. None if no database answers."""
    audit = [sys.executable, "-m", "pip_audit", "--vulnerability-service", "osv", "--timeout", "10"]
    pins = ["--requirement", str(lock), "--require-hashes", "--disable-pip"]
    command = [*audit, *pins, "--format", "json", "--progress-spinner", "off"]
    report = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    try:
        audited = json.loads(report)["dependencies"]
    except ValueError:
        return None
    rows = [
        (entry["name"], entry["version"], advisory["id"], ", ".join(advisory["fix_versions"]))
        for entry in audited
        for advisory in entry.get("vulns", [])
    ]
    return pd.DataFrame(rows, columns=["package", "version", "advisory", "fixed in"])
