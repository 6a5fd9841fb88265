"""Which source files a task's results depend on, read off the import statements without running anything."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[1]
PACKAGES = ("judgerank", "replication", "studies")
PARTS = ("body", "orelse", "handlers", "finalbody", "cases")  # of a statement, with statements of their own


@cache
def code_digest(*modules: str) -> str:
    """Digest of the modules' sources and of all in our packages that they import, directly or through others.

    A module outside them counts itself, with what it imports from them.
    """
    digest = hashlib.sha256()
    for path in sorted(files_of(*modules), key=lambda path: path.relative_to(path.parents[1]).as_posix()):
        digest.update(f"{path.stem}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def files_of(*modules: str) -> set[Path]:
    """Source files of modules and of everything in our packages that they import."""
    found: set[Path] = set()
    waiting, known = list(modules), set(modules)
    while waiting:
        name = waiting.pop()
        path = _source(name)
        if path is not None and path not in found:
            found.add(path)
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            new = set(_imported(package, path.read_bytes())) - known
            waiting += new
            known |= new
    return found


def files_of_script(path: Path) -> set[Path]:
    """Source files of our packages that a script imports, directly or through others."""
    return files_of(*_imported("", path.read_bytes()))


def named_modules(settings: Any) -> set[str]:
    """Our modules that settings name: a method is configured as ``studies.methods.online.elo``."""
    if isinstance(settings, dict):
        return set().union(*map(named_modules, settings.values()))
    if isinstance(settings, list | tuple):
        return set().union(*map(named_modules, settings))
    if isinstance(settings, str) and settings.partition(".")[0] in PACKAGES and "." in settings:
        return {settings.rsplit(".", up)[0] for up in range(settings.count("."))}
    return set()


@cache
def _imported(package: str, source: bytes) -> list[str]:
    """Names that a module of a package imports from ours, modules or what is in them; also its own parents."""
    names = [package]
    for node in _statements(source):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        else:
            start = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
            names += [start, *(f"{start}.{alias.name}" for alias in node.names)]
            shown = _shown_by(start) if start in PACKAGES else {}
            names += [shown[alias.name] for alias in node.names if alias.name in shown]
    # importing a module runs the packages above it
    return [
        above
        for name in names
        if name.split(".")[0] in PACKAGES
        for above in (name.rsplit(".", up)[0] for up in range(name.count(".") + 1))
    ]


def _statements(source: bytes, for_types: bool = False) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements that run when a module is imported; or those for types alone.

    What a function imports of ours is to draw, to read or to show.
    """
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for node in ast.parse(source).body]
    while waiting:
        node, of_types = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            if of_types == for_types:
                yield node
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            of_types |= isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            waiting += [(child, of_types) for part in PARTS for child in getattr(node, part, ())]


@cache
def _shown_by(package: str) -> dict[str, str]:
    """The module behind every name that a package loads when it is asked for, as its imports for types say."""
    source = (SOURCES / package / "__init__.py").read_bytes()
    nodes = (node for node in _statements(source, for_types=True) if isinstance(node, ast.ImportFrom))
    return {alias.asname or alias.name: node.module or "" for node in nodes for alias in node.names}


def _source(name: str) -> Path | None:
    """The file of a module; None for what is no module, such as a function's name."""
    if name.split(".")[0] not in PACKAGES:
        file = getattr(sys.modules.get(name), "__file__", None)
        return Path(file) if file else None
    base = SOURCES.joinpath(*name.split("."))
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)
