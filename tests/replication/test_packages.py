"""The packages import one way: studies -> replication -> judgerank."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from replication.config import ROOT, SCRIPTS

ABOVE = {"judgerank": {"replication", "studies"}, "replication": {"studies"}}  # what each may not import


def imported(path: Path) -> set[str]:
    """Top-level packages that a file imports anywhere, inside functions too."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    modules += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("package", ABOVE)
def test_a_package_imports_none_above_it(package):
    files = sorted((ROOT / "src" / package).rglob("*.py"))
    assert len(files) > 20
    upward = {path.relative_to(ROOT): names for path in files if (names := imported(path) & ABOVE[package])}
    assert upward == {}


def test_the_papers_scripts_need_nothing_of_the_studies():
    scripts = sorted(SCRIPTS.glob("*.py"))
    assert len(scripts) > 13
    assert not [path.name for path in scripts if "studies" in imported(path)]
